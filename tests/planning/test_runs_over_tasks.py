"""How many runs of each task a benchmark needs, where tasks are drawn anew with their runs."""

import itertools

import numpy as np
import pytest
from scipy import stats

import xcurves
from refusals import refused
from strategies import make_curves
from xcurves.planning import pilots

pytestmark = pytest.mark.filterwarnings("ignore:an algorithm has", "ignore:power 0.8 is reached")


@pytest.fixture(scope="module", autouse=True)
def _few_sets():
    """Try few other pilots, of which nothing is said here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pilots, "N_SETS", 3)
        patch.setattr(pilots, "N_DATASETS", 2)
        yield


def benchmark(differences, *, n_runs=4, sd=1e-3, seed=0):
    """Return pilots of two algorithms whose means differ by so much in each task."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(len(differences), 2, n_runs, 1))
    noise -= noise.mean(axis=2, keepdims=True)
    values = sd * noise
    values[:, 0] += np.asarray(differences)[:, np.newaxis, np.newaxis]
    return make_curves(values, env=[f"t{i}" for i in range(len(differences))])


def power_of_loops(differences, rng, n=600):
    """Return how often sign flips of as many differences, drawn with replacement, reject: plain loops."""
    n_tasks = len(differences)
    centre = differences.mean()
    flips = np.array(list(itertools.product([1, -1], repeat=n_tasks)))
    rejected = 0
    for _ in range(n):
        drawn = rng.choice(differences, n_tasks)
        drawn = centre + np.sqrt(n_tasks / (n_tasks - 1)) * (drawn - centre)
        sums = np.abs(flips @ drawn)
        rejected += (sums >= sums[0] - 1e-12).mean() <= 0.05
    return rejected / n


@pytest.fixture(scope="module")
def eight():
    """Differences with a mean and a standard deviation of 1 in eight tasks."""
    scores = stats.norm.ppf((np.arange(8) + 0.5) / 8)
    return 1 + scores / scores.std(ddof=1)


@pytest.fixture(scope="module")
def plan(eight):
    options = {"n_runs": [4, 8], "n_replications": 1000, "rng": 0}
    return xcurves.runs_needed(benchmark(eight), test="across_tasks", **options)


def test_so_many_tasks_limit_the_power_for_tasks_like_these(plan, eight):
    random = plan.sel(task_effect="random").squeeze("pair")
    expected = power_of_loops(eight, np.random.default_rng(1))
    assert random["power_at_many_runs"].item() == pytest.approx(expected, abs=0.06)
    # of normal differences
    assert random["power_at_many_runs"].item() == pytest.approx(0.66, abs=0.1)
    assert np.isinf(random["runs_needed"])
    fixed = plan.sel(task_effect="fixed").squeeze("pair")
    assert np.isnan(fixed["power_at_many_runs"])
    assert fixed["runs_needed"] == 4  # these tasks differ beyond any noise


def test_where_tasks_are_what_lacks_the_first_sentence_says_tasks(plan):
    said = plan.curves.summary().split("\n")[0]
    ceiling = plan["power_at_many_runs"].sel(task_effect="random").item()
    assert said.startswith("No number of runs reaches a power of 0.8 on envs like these: with so few envs")
    assert f"at most {100 * ceiling:.3g} % of cases" in said
    assert said.endswith("Add envs, not runs.")


def test_differences_that_are_noise_of_the_pilots_are_not_taken_for_tasks_that_differ():
    rng = np.random.default_rng(2)
    noisy = make_curves(rng.normal(size=(200, 2, 3, 1)), env=[f"t{i}" for i in range(200)])
    drawn = pilots.of_tasks_like_these(pilots.pilots(noisy))
    apart = (drawn.means[0] - drawn.means[1])[:, 0]
    seen = (noisy.isel(algorithm=0) - noisy.isel(algorithm=1)).mean("run").to_numpy()[:, 0]
    assert apart.std() < 0.5 * seen.std()
    assert apart.mean() == pytest.approx(seen.mean())
    clear = pilots.of_tasks_like_these(pilots.pilots(benchmark(np.arange(10.0))))
    np.testing.assert_allclose((clear.means[0] - clear.means[1])[:, 0], np.arange(10.0), atol=1e-5)


def test_drawn_benchmarks_vary_as_new_ones_do(eight):
    given = pilots.of_tasks_like_these(pilots.pilots(benchmark(eight, sd=0.5, n_runs=6)))
    drawn = given(4000, n_runs=3, rng=np.random.default_rng(3))
    apart = (drawn.isel(algorithm=0) - drawn.isel(algorithm=1)).mean("run").squeeze("training")
    of_means = (given.means[0] - given.means[1])[:, 0].var(ddof=1)
    of_runs = sum(each[..., 0].var(axis=1, ddof=1).mean() for each in given.residuals) / 3
    assert float(apart.var()) == pytest.approx(of_means + of_runs, rel=0.05)
    assert float(apart.mean()) == pytest.approx(1.0, abs=0.03)


@pytest.mark.slow
def test_the_first_sentence_has_one_number():
    rng = np.random.default_rng(4)
    values = rng.normal(size=(2, 10, 3)) + np.array([0.0, 1.0])[:, np.newaxis, np.newaxis]
    plan = make_curves(values).curves.runs_needed(n_runs=[8, 12, 16], n_replications=200, rng=0)
    needed = plan["runs_needed"].sel(effect="algorithm", error_term="split_plot").item()
    assert plan.curves.summary().split("\n")[0].startswith(f"{needed:g} runs per algorithm detect the difference in")
    three = make_curves(rng.normal(size=(3, 10, 1)) + np.array([0, 2.0, 2.1])[:, np.newaxis, np.newaxis])
    plan = three.curves.runs_needed(test=xcurves.pairwise, n_runs=[5, 9], n_replications=60, rng=0)
    said = plan.curves.summary().split("\n")[0]
    assert said.startswith("The one of 3 that takes most, ")


@pytest.mark.plain(1)
@pytest.mark.parametrize("difference", [0.0, 0.25, 1.2])
def test_sequential_and_runs_needed_do_not_advise_opposite_things(difference):
    rng = np.random.default_rng(5)
    values = rng.normal(size=(2, 12, 1))
    values = (values - values.mean(axis=1, keepdims=True)) / values.std(axis=1, ddof=1, keepdims=True)
    values[0] += difference
    curves = make_curves(values)
    looked = xcurves.sequential(curves.curves.assign_looks(6), n_looks=4).isel(pair=0, look=1)
    plan = curves.curves.runs_needed(n_runs=[12, 24], n_replications=200, rng=0)
    power = plan["rate"].sel(effect="algorithm", error_term="split_plot", n_runs=24).item()
    if looked["rejected"] == 1 or looked["chance"] > 0.9:
        assert power > 0.6
    elif looked["futile"] == 1:
        assert power < 0.3
    else:
        assert abs(power - looked["chance"].item()) < 0.3


def test_items_with_one_answer_say_that_items_are_planned_instead(eight):
    answers = benchmark(eight).isel(run=[0]).rename(env="question_id")
    with refused(
        "curves",
        cure="Run each question twice, or ask how many questions it",
        names=r"every question has one run.*across_tasks\(task='question_id'\)",
    ):
        xcurves.runs_needed(answers, test="across_tasks", rng=0)
    assert answers.curves.across_tasks(task="question_id").tasks_to_show.size == 1
