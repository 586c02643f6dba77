"""What is said where two algorithms differ on few of many tasks, families are unlike, and no run differs."""

import numpy as np
import pytest
import xarray as xr

import xcurves  # noqa: F401  # registers .curves

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def items(values, **coords):
    values = np.asarray(values, float)
    if values.ndim == 2:
        values = values[:, :, np.newaxis]
    return xr.DataArray(
        values,
        {
            "algorithm": [f"m{place}" for place in range(len(values))],
            "question": np.arange(values.shape[1]),
            "run": np.arange(values.shape[2]),
            **coords,
        },
        ("algorithm", "question", "run"),
        name="points",
        attrs={"higher_is_better": 1},
    )


def ahead_on(n, n_questions=300):
    """Two algorithms with the same points but on `n` questions."""
    points = np.random.default_rng(0).normal(size=n_questions)
    better = points.copy()
    better[:n] += 1
    return items([better, points])


@pytest.mark.parametrize(
    ("n", "said"),
    [
        (4, "m0 and m1 differ on 4 questions only, too few for an interval."),
        (8, "m0 and m1 differ on 8 questions only."),
        (30, None),
    ],
)
def test_few_questions_on_which_two_differ_are_numbered(n, said):
    result = ahead_on(n).curves.across_tasks(task="question", rng=0)
    has_interval = result["difference_ci"].sel(task_effect="random").notnull().all()
    assert has_interval == (n >= 6)
    assert result["pvalue"].sel(task_effect="random").notnull().all()
    summary = result.curves.summary()
    if said is None:
        assert "questions only" not in summary
    else:
        assert summary.count(said) == 1


@pytest.mark.parametrize(("n_models", "n_questions"), [(2, 300), (4, 500), (8, 1_000)])
def test_the_interval_of_two_that_never_differ_holds_differences_that_may_not_show(n_models, n_questions):
    right = np.random.default_rng(3).random(n_questions) < 0.5
    every = np.repeat(right[np.newaxis], n_models, axis=0)
    alike = items(every.astype(float)).curves.across_tasks(task="question", rng=0).sel(task_effect="random")
    assert alike.attrs["pair_correction"].endswith("max-t (random)")
    for ends in (alike.difference_ci, alike.difference_ci_simultaneous):
        beyond = ends.sel(ci_bound="upper")
        np.testing.assert_allclose(ends.sel(ci_bound="lower"), -beyond)
        # that no question shows a difference beyond the interval has about the chance of the level, or less
        assert ((1 - beyond) ** n_questions < 0.065).all()
        assert (beyond < 8 / n_questions).all()
    narrow, wide = alike.difference_ci.sel(ci_bound="upper"), alike.difference_ci_simultaneous.sel(ci_bound="upper")
    assert (wide > narrow).all() or n_models == 2

    # beside pairs that differ the interval of the pair by itself is the same
    every[-1, :9] ^= True
    some = items(every.astype(float)).curves.across_tasks(task="question", rng=0).sel(task_effect="random")
    never = some.pair.to_numpy() == "m0 - m1"
    if n_models > 2:
        np.testing.assert_allclose(some.difference_ci.sel(ci_bound="upper")[never], narrow[never])


@pytest.mark.slow
def test_passages_of_unlike_size_are_said_with_what_may_give_intervals():
    sizes = [256, 128, 64, 32, 16, 8, 4, 2, 1, 1]
    right = np.random.default_rng(0).random((6, 512)) < 0.5
    answers = items(right, passage=("question", np.repeat(np.arange(10), sizes)))
    options = {"task": "question", "task_groups": "passage", "rng": 0}
    result = answers.curves.across_tasks(n_resamples=300, **options)
    ends = result["difference_ci_simultaneous"].sel(task_effect="random")
    n_without = int(np.isinf(ends).all("ci_bound").sum())
    assert n_without > 1
    assert (
        f"Passages are of unlike size, so that intervals of {n_without} pairs have no ends for all pairs together: "
        "fewer pairs, reference=, or more passages may have them."
    ) in result.curves.summary()


@pytest.mark.slow
def test_runs_that_never_differ_are_no_single_runs():
    one_answer = np.random.default_rng(0).random((3, 60, 1)) < 0.5
    result = items(np.repeat(one_answer, 3, axis=2)).curves.across_tasks(task="question", rng=0)
    assert result["pvalue"].sel(task_effect="fixed").isnull().all()
    summary = result.curves.summary()
    assert "no score changed from run to run" in summary
    assert "single run" not in summary


def test_no_number_of_tasks_below_the_present_one_is_what_it_takes():
    right = np.repeat(np.random.default_rng(0).random((1, 300)) < 0.6, 2, axis=0)
    right[0, :4], right[1, :4] = True, False
    result = items(right).curves.across_tasks(task="question", rng=0)
    assert result["tasks_at_least"].item() < 300
    summary = result.curves.summary()
    assert "takes about" in summary
    assert "at least" not in summary
