"""Runs that are one training evaluated on all tasks are warned of; independent runs, as a rule, are not."""

import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

import xcurves
from xcurves.multi_task.task_options import runs_together

SAID = "go up and down together over"


def scored(shared: float, *, n_tasks: int = 6, n_runs: int = 5, seed: int = 0) -> np.ndarray:
    """Return scores (task, algorithm, run) of unlike spreads; `shared` is the part that all tasks of a run have."""
    rng = np.random.default_rng(seed)
    own = rng.normal(size=(n_tasks, 2, n_runs)) + shared * rng.normal(size=(2, n_runs))
    return own * rng.uniform(1, 9, (n_tasks, 1, 1)) + rng.normal(0, 20, (n_tasks, 1, 1))


def as_curves(scores: np.ndarray) -> xr.DataArray:
    dims = ("task", "algorithm", "run", "training")
    return xr.DataArray(scores[..., np.newaxis], dims=dims, coords={"training": [1.0]})


@pytest.mark.parametrize("shared", [0.0, 1.0])
def test_p_is_that_of_the_runs_of_a_two_way_analysis_of_variance(shared):
    scores = scored(shared)
    centred = scores - scores.mean(axis=-1, keepdims=True)
    squares = {"C(run)": 0.0, "Residual": 0.0}
    degrees = dict.fromkeys(squares, 0.0)
    for algorithm in range(2):
        rows = [
            {"task": t, "run": r, "z": scores[t, algorithm, r] / np.sqrt(np.mean(centred[t] ** 2))}
            for t in range(6)
            for r in range(5)
        ]
        table = anova_lm(ols("z ~ C(task) + C(run)", pd.DataFrame(rows)).fit())
        for name in squares:
            squares[name] += table.loc[name, "sum_sq"]
            degrees[name] += table.loc[name, "df"]
    between, within = (squares[name] / degrees[name] for name in squares)
    expected = stats.f.sf(between / within, *degrees.values())
    assert runs_together(scores) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("family", ["normal", "heavy", "skewed"])
def test_independent_runs_are_hardly_ever_warned_of(family):
    draw = {"normal": stats.norm, "heavy": stats.t(4), "skewed": stats.expon}[family]
    n = 2000
    found = np.array([runs_together(draw.rvs(size=(6, 2, 5), random_state=seed)) for seed in range(n)])
    for alpha in (0.05, 0.001):
        assert (found < alpha).sum() <= stats.binom.ppf(0.9999, n, 1.3 * alpha)


def test_runs_that_all_tasks_share_are_warned_of_and_their_means_are_the_cure():
    curves = as_curves(scored(1.5))
    with pytest.warns(UserWarning, match=rf"{SAID} tasks .p < .*curves\.mean\('task'\)"):
        curves.curves.across_tasks(rng=0, n_resamples=99)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", f".*{SAID}")
        curves.curves.across_tasks(rng=0, n_resamples=99, paired=True)
        as_curves(scored(0.0)).curves.across_tasks(rng=0, n_resamples=99)
        assert curves.mean("task").curves.pairwise(rng=0, n_resamples=99).sizes["pair"] == 1


@pytest.mark.parametrize("kind", ["items", "numbered"])
def test_numbers_of_answers_and_of_rows_mean_nothing(kind):
    curves = as_curves(scored(1.5)).assign_coords(run=range(5))
    if kind == "numbered":
        curves["run"].attrs["numbered"] = 1
    else:
        curves = curves.rename(task="question_id")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", f".*{SAID}")
        curves.curves.across_tasks(rng=0, n_resamples=99)


@pytest.mark.slow
def test_shared_runs_that_are_taken_as_independent_reject_too_often_and_their_means_do_not():
    n, alpha = 300, 0.05
    by_tasks = by_means = warned = 0
    for seed in range(n):
        curves = as_curves(scored(1.0, n_tasks=8, seed=seed))
        warned += runs_together(curves.to_numpy()[..., 0]) < 0.001
        with warnings.catch_warnings(action="ignore"):
            result = xcurves.across_tasks(curves, rng=0, n_resamples=199, per_task=False)
            by_tasks += bool(result.pvalue.sel(task_effect="fixed") <= alpha)
            by_means += stats.ttest_ind(*curves.mean("task").squeeze().to_numpy()).pvalue <= alpha
    assert by_tasks > stats.binom.ppf(0.9999, n, 2 * alpha)
    assert by_means <= stats.binom.ppf(0.9999, n, alpha)
    assert warned > n / 2


@pytest.mark.parametrize("lacking", ["a run", "two tasks only", "no spread"])
def test_where_nothing_can_be_said_nothing_is(lacking):
    scores = scored(1.5)
    if lacking == "a run":
        scores[:, :, 0] = np.nan
    elif lacking == "two tasks only":
        scores = scores[:2]
    else:
        scores[:] = 1.0
    assert np.isnan(runs_together(scores))
