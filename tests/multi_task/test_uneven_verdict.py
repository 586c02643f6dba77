"""What is said where not all algorithms have all tasks: who has the best mean, who is left out, circles of pairs."""

import re
from itertools import product

import numpy as np
import pytest

import xcurves
import xcurves.kinds
from layers import every
from strategies import make_curves
from xcurves.say.verdict import MOST_WORDS

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
N_STUDIES = 200  # a tenth of them in the plain run
SEEDS = [
    pytest.param(range(6), id="few"),
    pytest.param(range(6, N_STUDIES), id="many", marks=pytest.mark.slow),
]
NAMES = ["alpha", "beta", "gamma", "delta", "epsilon"]


def study(values, has=None):
    """Return curves of one level from scores (task, algorithm, run), NaN where an algorithm lacks the task."""
    values = np.array(values, float)
    if has is not None:
        values[~np.asarray(has, bool)] = np.nan
    tasks = [f"t{i}" for i in range(len(values))]
    made = make_curves(values[..., np.newaxis], task=tasks)
    return made.assign_coords(algorithm=NAMES[: values.shape[1]])


def uneven_study(seed):
    """Return a study of which some algorithms lack tasks, few or many, on tasks of unlike difficulty."""
    rng = np.random.default_rng(seed)
    n_tasks, n_algorithms = int(rng.integers(3, 13)), int(rng.integers(2, 5))
    effects = rng.choice([0.0, 0.3, 1.5], n_algorithms)
    difficulty = rng.normal(0, 4, (n_tasks, 1, 1))
    noise = rng.normal(size=(n_tasks, n_algorithms, 3))
    values = difficulty + effects[:, np.newaxis] + noise
    share = rng.choice([0.4, 0.8, 0.97])
    has = rng.random((n_tasks, n_algorithms)) < share
    has[:, : int(rng.integers(0, 3))] = True
    return study(values, has), values, has


def best_by_loops(values, has, *, lower):
    """Return the name of the best mean over the tasks of the verdict and the mean; None where there is no verdict."""
    n_tasks, n_algorithms = has.shape
    used = [t for t in range(n_tasks) if any(has[t])]
    some = [a for a in range(n_algorithms) if any(has[t][a] for t in used)]
    common = [t for t in used if all(has[t][a] for a in some)]
    full = [a for a in some if all(has[t][a] for t in used)]
    if 10 * len(common) >= 9 * len(used):
        of, over = some, common
    elif len(full) >= 2:
        of, over = full, used
    elif len(common) >= 2:
        of, over = some, common
    else:
        return None, None
    means = {}
    for algorithm in of:
        of_tasks = [sum(values[t][algorithm]) / len(values[t][algorithm]) for t in over]
        means[NAMES[algorithm]] = sum(of_tasks) / len(of_tasks)
    chosen = min(means, key=means.get) if lower else max(means, key=means.get)
    return chosen, means[chosen]


def beaten_by_loops(found, *, lower):
    """Return over whom another is shown to be better, on tasks like these or, without such a claim, on these."""
    for claim in ("random", "fixed"):
        p = found.pvalue_adjusted.sel(task_effect=claim).values
        if not np.isnan(p).all():
            break
    beaten = set()
    for a, b, d, each in zip(
        found.algorithm_a.values,
        found.algorithm_b.values,
        found.difference.values,
        p,
        strict=True,
    ):
        if each <= 0.05 + 1e-12 and d != 0:
            beaten.add(str(b if (d > 0) != lower else a))
    return beaten


@pytest.mark.parametrize("seeds", SEEDS)
def test_the_best_mean_of_200_uneven_studies_is_that_of_plain_loops(seeds):
    seen = {"none": 0, "named": 0, "not named": 0, "left out": 0}
    for seed in seeds:
        lower = bool(seed % 3 == 0)
        curves, values, has = uneven_study(seed)
        found = xcurves.across_tasks(curves, higher_is_better=not lower, n_resamples=99, rng=seed)
        every = list(xcurves.kinds.kind("across_tasks").every_statement(found))
        said = " ".join(each.text for each in every if each.role == "answer")
        assert len(said.split()) <= MOST_WORDS
        scales = r"^Scales differ .*? the mean(; normalized, \w+ leads)?\. "
        said = re.sub(scales, "", said)
        if found.difference.isnull().all():
            assert said.startswith("Nothing can be said: no two algorithms have")
            continue
        name, mean = best_by_loops(values, has, lower=lower)
        if name is None:
            assert re.match(r"(No|Only one) task has all \d algorithms: read pairs\.", said)
            seen["none"] += 1
            continue
        match = re.match(
            r"(No best can be named: )?([Oo]f the \d algorithms that have all \d+ tasks, )?(\w+) has the "
            r"(?:highest|higher|lowest|lower) mean score, ([−\d.,]+)",
            said,
        )
        assert match[3] == name
        assert float(match[4].rstrip(".,").replace("−", "-")) == pytest.approx(mean, rel=6e-3)
        is_beaten = name in beaten_by_loops(found, lower=lower)
        assert bool(match[1]) == is_beaten
        seen["not named" if is_beaten else "named"] += 1
        seen["left out"] += match[2] is not None
        summary = "\n".join(each.text for each in every)
        assert not re.search(r"[;:,.] +(is|are) (shown|not)|  |;\s*\.|\(\)", summary)
    assert seen["named"] > len(seeds) / 4
    if len(seeds) > 100:
        assert min(seen.values()) > 0


def test_an_algorithm_of_seven_of_20_tasks_has_a_clause_and_not_the_best_mean():
    """A has seven easy tasks: its mean is the highest, and it is behind on all seven."""
    rng = np.random.default_rng(0)
    values = 0.3 * rng.normal(size=(20, 3, 4)) + np.array([0.0, 0.5, 0.3])[:, None]
    values[:7] += 3
    has = np.ones((20, 3), bool)
    has[7:, 0] = False
    curves = study(values, has)
    assert (values[:7, 1].mean(axis=-1) > values[:7, 0].mean(axis=-1)).all()
    assert curves.mean(["run", "training"]).mean("task").argmax("algorithm") == 0
    found = xcurves.across_tasks(curves, rng=0)
    said = xcurves.kinds.kind("across_tasks").answer(found)
    assert said.startswith("Of the 2 algorithms that have all 20 tasks, beta has the higher mean score, ")
    ahead = (values[:7, 1] - values[:7, 0]).mean()
    clause = re.search(
        r"alpha has 7 of the 20 tasks; on these beta is higher by ([\d.]+) \(([\d.]+) to",
        said,
    )
    assert float(clause[1]) == pytest.approx(ahead, abs=0.006)
    assert float(clause[2]) > 0
    table = xcurves.kinds.kind("across_tasks").part.algorithms(found)
    assert table.index.tolist() == ["beta", "gamma", "alpha"]
    assert table["tasks"].tolist() == [20, 20, 7]
    for place, name in enumerate(NAMES[:3]):
        own = values[has[:, place], place].mean()
        np.testing.assert_allclose(table.loc[name, "mean"], own)


@pytest.mark.slow
def test_a_circle_has_no_best_and_is_named():
    """alpha beats beta, beta gamma and gamma alpha, each on 6 tasks of that pair alone; all three have 3 more tasks."""
    rng = np.random.default_rng(1)
    values = 0.01 * rng.normal(size=(21, 3, 4))
    has = np.zeros((21, 3), bool)
    for first, other, start in ((0, 1, 0), (1, 2, 6), (2, 0, 12)):
        has[start : start + 6, [first, other]] = True
        values[start : start + 6, first] += 1
    has[18:] = True
    found = xcurves.across_tasks(study(values, has), rng=0)
    assert found.may_be_best.sel(task_effect="random").isnull().all()
    said = xcurves.kinds.kind("across_tasks").answer(found)
    assert said.startswith("No best can be named: ")
    links = [
        "alpha is shown to be higher than beta, beta than gamma and gamma than alpha",
        "beta is shown to be higher than gamma, gamma than alpha and alpha than beta",
        "gamma is shown to be higher than alpha, alpha than beta and beta than gamma",
    ]
    assert any(link in said for link in links)
    assert "no difference is shown" not in found.curves.summary()


def test_the_highest_mean_is_not_called_best_where_another_is_shown_to_be_higher():
    """gamma leads over the four tasks that all have, beta on each of the twelve that these two have."""
    rng = np.random.default_rng(2)
    values = 0.01 * rng.normal(size=(20, 3, 4))
    has = np.ones((20, 3), bool)
    has[4:, 0] = False
    has[12:, 1] = False
    values[:12, 1] += 0.1 * np.arange(1, 13)[:, None]
    values[:4, 2] += np.array([0.11, 0.21, 0.31, 0.9])[:, None]
    values[:4, 1] = values[:4, 2] + 0.005
    values[3, 1] = values[3, 2] - 0.4
    found = xcurves.across_tasks(study(values, has), rng=0)
    pair = found.sel(pair="beta - gamma")
    assert pair.difference > 0
    assert pair.pvalue_adjusted.sel(task_effect="random") <= 0.05
    said = xcurves.kinds.kind("across_tasks").answer(found)
    assert said.startswith("No best can be named: gamma has the highest mean score, ")
    assert "over the 4 of 20 tasks that all have, but beta is shown to be higher than gamma." in said


def test_of_an_algorithm_with_few_tasks_the_reason_is_said():
    rng = np.random.default_rng(3)
    has = np.ones((20, 3), bool)
    has[5:, 0] = False
    found = xcurves.across_tasks(study(rng.normal(size=(20, 3, 4)), has), rng=0)
    said = found.curves.summary()
    assert re.search(
        r"alpha has 5 of the 20 tasks; there \w+ is higher by [\d.]+: they share 5 tasks, too few for a p\.",
        said,
    )


def test_no_sentence_lacks_its_subject():
    """An algorithm that shares no task with others is no candidate, and nobody is shown not to be one."""
    rng = np.random.default_rng(4)
    curves = make_curves(rng.normal(size=(3, 5, 4)))
    found = xcurves.pairwise(curves.where(curves.algorithm != "a2"), rng=0)
    said = xcurves.kinds.kind("pairwise").answer(found)
    assert re.search(r"\. a[01] or a[01] may be the best: no difference is shown\.", said)
    assert re.search(r"Untested beside a[01]: a2 \(no runs\)\.", said)


@pytest.mark.plain(1)
@pytest.mark.parametrize(
    ("gap", "higher_is_better"),
    every(3, list(product([-3.0, -0.3, 0.3, 3.0], [True, False]))),
)
def test_a_reference_or_a_margin_changes_not_who_is_best(gap, higher_is_better):
    """These pairs keep their direction in tables; the verdict has the better one first all the same."""
    rng = np.random.default_rng(3)
    values = rng.normal(size=(8, 1, 1)) + rng.normal(0, 0.5, (8, 2, 5))
    values[:, 1] += gap
    curves = study(values)
    options = {"higher_is_better": higher_is_better, "rng": 0}
    means = values.mean(axis=(0, 2))
    best = NAMES[int(np.argmax(means if higher_is_better else -means))]

    plain = xcurves.across_tasks(curves, **options).curves.summary().split("\n")[0]
    assert plain.startswith(f"{best} has the ")
    for changed in ({"reference": "alpha"}, {"reference": "beta"}, {"margin": 0.1}):
        found = xcurves.across_tasks(curves, **options, **changed)
        assert found.curves.summary().split("\n")[0] == plain
    pairs = xcurves.pairwise(curves.isel(task=0), **options)
    plain = pairs.curves.summary().split("\n")[0]
    for reference in NAMES[:2]:
        found = xcurves.pairwise(curves.isel(task=0), reference=reference, **options)
        assert found.curves.summary().split("\n")[0] == plain


@pytest.mark.slow
def test_a_margin_changes_not_who_is_best_of_three():
    rng = np.random.default_rng(4)
    values = rng.normal(0, 0.5, (8, 3, 5)) + np.array([0.0, -3.0, 4.0])[:, np.newaxis]
    plain = xcurves.across_tasks(study(values), rng=0).curves.summary().split("\n")[0]
    assert plain.startswith("gamma has the highest mean score, ")
    assert "it is shown to be higher than all others" in plain
    found = xcurves.across_tasks(study(values), rng=0, margin=0.5)
    assert found.curves.summary().split("\n")[0] == plain


@pytest.mark.plain(3)
@pytest.mark.parametrize("reference", [None, *NAMES[:3]])
@pytest.mark.parametrize("higher_is_better", [True, False])
def test_in_how_many_tasks_each_is_best_is_counted_from_means(reference, higher_is_better):
    """Of several tasks of `pairwise`: the best by plain means, also of two that are compared with a third only."""
    rng = np.random.default_rng(5)
    values = rng.normal(0, 0.3, (7, 3, 6)) + rng.normal(0, 2, (7, 3, 1))
    found = xcurves.pairwise(study(values), reference=reference, higher_is_better=higher_is_better, rng=0)
    means = values.mean(axis=2)
    place = np.argmax(means if higher_is_better else -means, axis=1)
    summary = found.curves.summary()
    counts = {NAMES[each]: int((place == each).sum()) for each in range(3)}
    assert len(set(place)) == 3
    for name, n in counts.items():
        assert f"{name} in {n}" in summary
    n_shown = 0
    p = found.pvalue_adjusted.sel(effect="algorithm")
    for task, each in enumerate(place):
        has = (found.algorithm_a == NAMES[each]) | (found.algorithm_b == NAMES[each])
        n_shown += bool((p.isel(task=task)[has.to_numpy()] <= 0.05).all())
    is_shown = "the best is shown" if n_shown else "is the best shown"
    assert f"In {n_shown or 'none'} of them, each tested by itself, {is_shown} to be" in summary


def test_an_algorithm_without_runs_in_a_task_is_none_of_the_others_there():
    rng = np.random.default_rng(6)
    values = rng.normal(0, 0.3, (4, 3, 6)) + np.array([0.0, 5.0, 9.0])[:, np.newaxis]
    has = np.ones((4, 3))
    has[2:, 0] = 0
    has[3, 2] = 0  # here no pair is left
    summary = xcurves.pairwise(study(values, has), rng=0).curves.summary()
    assert "score over training of 3 tasks: gamma in 3. In 3 of them, each tested by itself, the best is" in summary
    bare = study(values, has).isel(training=0, drop=True)
    summary = xcurves.pairwise(bare, rng=0).curves.summary()
    assert "The highest mean score of 3 tasks: gamma in 3. In 3 of them" in summary
