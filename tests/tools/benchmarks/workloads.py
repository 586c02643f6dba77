"""Five workloads of the randomized ANOVA, and what people would use for them without this library.

A peer is a function of scores, shape (task, algorithm, run, training), and a number of shuffles. It
returns the statistic as observed and its p-value, one of each for every task. Every peer shuffles whole
curves and starts from the raw scores. A peer tests one F; `randomized_anova` tests four and brings the table,
critical values and effect sizes along.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy
import xarray as xr
from numpy.typing import NDArray

import xcurves  # noqa: F401  # registers .curves

Scores = NDArray[np.float64]
Found = tuple[NDArray[np.float64], NDArray[np.float64]]
Statistic = Callable[..., NDArray[np.float64]]

SEED = 1998
# doubles gathered at once from a sample: the fastest of 2**11 .. 2**19 for each statistic
_BATCH = 2**16


def make_scores(n_tasks: int, n_algorithms: int, n_runs: int, n_levels: int) -> Scores:
    """Draw AR(1) curves with an offset of their own, around a rising curve that all of them share."""
    rng = np.random.default_rng(SEED)
    shape = (n_tasks, n_algorithms, n_runs, n_levels)
    wiggles = scipy.signal.lfilter([1.0], [1.0, -0.8], rng.normal(size=shape), axis=-1)
    return 10 * np.sqrt(np.linspace(0, 1, n_levels)) + rng.normal(size=(*shape[:-1], 1)) + wiggles


@dataclass(frozen=True)
class Workload:
    """Equal numbers of runs. Peers draw `n_random` shuffles where `n_resamples` is None: every assignment."""

    name: str
    n_algorithms: int
    n_runs: int
    n_levels: int
    n_resamples: int | None
    n_random: int
    n_tasks: int = 1

    @cached_property
    def scores(self) -> Scores:
        return make_scores(self.n_tasks, self.n_algorithms, self.n_runs, self.n_levels)

    @cached_property
    def curves(self) -> xr.DataArray:
        coords = {
            "task": [f"task {i}" for i in range(self.n_tasks)],
            "algorithm": [f"algorithm {i}" for i in range(self.n_algorithms)],
            "run": np.arange(self.n_runs),
            "training": np.arange(self.n_levels) * 100.0,
        }
        curves = xr.DataArray(self.scores, coords, list(coords), name="score", attrs={"units": "1"})
        return curves if self.n_tasks > 1 else curves.isel(task=0, drop=True)


WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("m2 l10 k8, 1,000", 2, 10, 8, 1_000, 1_000),
        Workload("m2 l10 k8, exact 92,378", 2, 10, 8, None, 100_000),
        Workload("m5 l10 k1,000, 10,000", 5, 10, 1_000, 10_000, 10_000),
        Workload("m10 l30 k10,000, 10,000", 10, 30, 10_000, 10_000, 10_000),
        Workload("50 tasks of m4 l10 k100, 10,000", 4, 10, 100, 10_000, 10_000, n_tasks=50),
    )
}


# --- xcurves ---


def call(workload: Workload) -> xr.Dataset:
    """Test through the accessor, as users do."""
    return workload.curves.curves.randomized_anova(n_resamples=workload.n_resamples, rng=0)


# --- SciPy: scipy.stats.permutation_test with three vectorized statistics of the algorithm effect ---


def scipy_default(scores: Scores, n_resamples: int) -> Found:
    """F_algorithm with the paper's pooled error, by its definition, in SciPy's single batch.

    The straightforward vectorized statistic: samples are the numbers of the curves, and every shuffle gathers
    its curves, since the error needs every score again.
    """
    return _each_task(partial(_scipy_task, _statistic_of_curves, batched=False), scores, n_resamples)


def scipy_gram(scores: Scores, n_resamples: int) -> Found:
    """Find the same F from curve means and the Gram matrix of the level-centred curves.

    What somebody who has done the algebra would write: no shuffle touches the scores.
    """
    return _each_task(partial(_scipy_task, _statistic_of_gram), scores, n_resamples)


def scipy_means(scores: Scores, n_resamples: int) -> Found:
    """F_algorithm with its split-plot error: a one-way ANOVA of curve means, all tasks at once.

    The least work that `permutation_test` can be given: most of its time goes into drawing permutations.
    """
    means = scores.mean(axis=-1)
    means -= means.mean(axis=(1, 2), keepdims=True)
    n_tasks, n_algorithms, n_runs = means.shape
    total = (means**2).sum(axis=(1, 2))
    ratio = n_algorithms * (n_runs - 1) / (n_algorithms - 1)

    def statistic(*samples: Scores, axis: int) -> Scores:
        effect = sum(sample.sum(axis=axis) ** 2 for sample in samples) / n_runs
        return ratio * effect / (total - effect)

    return _permutation_test(list(means.swapaxes(0, 1)), statistic, n_resamples, _BATCH // (n_tasks * n_runs))


def _statistic_of_curves(curves: Scores, n_algorithms: int) -> tuple[Statistic, int]:
    n_curves, n_levels = curves.shape
    n_runs = n_curves // n_algorithms
    ratio = n_levels * (n_curves - n_algorithms) / (n_algorithms - 1)
    grand = curves.mean()

    def statistic(*samples: NDArray[np.int64], axis: int) -> Scores:
        effect = error = 0.0
        for sample in samples:
            group = curves[sample]
            cell = group.mean(axis=-2, keepdims=True)
            effect = effect + n_levels * n_runs * (cell.mean(axis=(-2, -1)) - grand) ** 2
            error = error + ((group - cell) ** 2).sum(axis=(-2, -1))
        return ratio * effect / error

    return statistic, n_runs * n_levels


def _statistic_of_gram(curves: Scores, n_algorithms: int) -> tuple[Statistic, int]:
    n_curves, n_levels = curves.shape
    n_runs = n_curves // n_algorithms
    ratio = n_levels * (n_curves - n_algorithms) / (n_algorithms - 1)
    centred = curves - curves.mean(axis=0)
    gram, means, total = centred @ centred.T, centred.mean(axis=1), (centred**2).sum()

    def statistic(*samples: NDArray[np.int64], axis: int) -> Scores:
        effect = both = 0.0
        for sample in samples:
            effect = effect + n_levels * means[sample].sum(axis=-1) ** 2 / n_runs
            block = gram[sample[..., :, np.newaxis], sample[..., np.newaxis, :]]
            both = both + block.sum(axis=(-2, -1)) / n_runs
        return ratio * effect / (total - both)

    return statistic, n_runs**2


def _scipy_task(
    make: Callable[..., tuple[Statistic, int]],
    scores: Scores,
    n_resamples: int,
    batched: bool = True,
) -> Found:
    n_algorithms, n_runs, n_levels = scores.shape
    statistic, n_gathered = make(scores.reshape(-1, n_levels), n_algorithms)
    numbers = list(np.arange(n_algorithms * n_runs).reshape(n_algorithms, n_runs))
    return _permutation_test(
        numbers,
        statistic,
        n_resamples,
        _BATCH // n_gathered if batched else n_resamples,
    )


_RNG = "rng" if "rng" in inspect.signature(scipy.stats.permutation_test).parameters else "random_state"


def _permutation_test(samples: list[Any], statistic: Statistic, n_resamples: int, batch: int) -> Found:
    result = scipy.stats.permutation_test(
        samples,
        statistic,
        permutation_type="independent",
        vectorized=True,
        n_resamples=n_resamples,
        batch=max(1, batch),
        alternative="greater",
        axis=-1,
        **{_RNG: np.random.default_rng(0)},
    )
    return result.statistic, result.pvalue


# --- scikit-bio and statsmodels ---


def skbio_permanova(scores: Scores, n_resamples: int) -> Found:
    """PERMANOVA on the Euclidean distances of the curves, which are computed here: the omnibus pseudo-F.

    Its between-groups sum of squares is SS_algorithm + SS_interaction, its within-groups one is SS_error.
    """
    from scipy.spatial.distance import pdist, squareform
    from skbio.stats.distance import DistanceMatrix, permanova

    def task(scores: Scores, n_resamples: int) -> Found:
        n_algorithms, n_runs, n_levels = scores.shape
        distances = DistanceMatrix(squareform(pdist(scores.reshape(-1, n_levels))))
        groups = np.repeat(np.arange(n_algorithms), n_runs)
        result = permanova(distances, groups, permutations=n_resamples, seed=np.random.default_rng(0))
        return result["test statistic"], result["p-value"]

    return _each_task(task, scores, n_resamples)


def statsmodels_loop(scores: Scores, n_resamples: int) -> Found:
    """Fit the two-way table anew for every shuffle of the labels: `anova_lm`, pooled F_algorithm."""
    import pandas as pd
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    def task(scores: Scores, n_resamples: int) -> Found:
        n_algorithms, n_runs, n_levels = scores.shape
        labels = np.repeat(np.arange(n_algorithms), n_runs)
        levels = np.tile(np.arange(n_levels), len(labels))
        rng = np.random.default_rng(0)

        def f_algorithm(labels: NDArray[np.int64]) -> float:
            columns = {
                "score": scores.ravel(),
                "algorithm": labels.repeat(n_levels),
                "training": levels,
            }
            fit = ols("score ~ C(algorithm) * C(training)", pd.DataFrame(columns)).fit()
            return anova_lm(fit).loc["C(algorithm)", "F"]

        observed = f_algorithm(labels)
        shuffled = np.array([f_algorithm(rng.permutation(labels)) for _ in range(n_resamples)])
        return observed, (1 + np.count_nonzero(shuffled >= observed)) / (1 + n_resamples)

    return _each_task(task, scores, n_resamples)


def _each_task(task: Callable[[Scores, int], Found], scores: Scores, n_resamples: int) -> Found:
    found = [task(each, n_resamples) for each in scores]
    return np.array([statistic for statistic, _ in found]), np.array([pvalue for _, pvalue in found])


PEERS = {
    "scipy default": scipy_default,
    "scipy gram": scipy_gram,
    "scipy means": scipy_means,
    "scikit-bio": skbio_permanova,
    "statsmodels": statsmodels_loop,
}


def job(peer: str, workload: Workload) -> tuple[Callable[[], Found], float]:
    """Return a part of a workload that a peer does in bearable time, and how much longer the whole takes.

    Tasks are looped over, and where shuffles are cut each costs far more than what is done once, so time is
    proportional to both.
    """
    n_tasks, n_resamples = workload.n_tasks, workload.n_random
    if peer == "statsmodels":
        n_tasks, n_resamples = 1, 10
    elif peer != "scipy means":
        n_tasks = min(n_tasks, 10)
    # One evaluation more than shuffles: the curves as they are.
    scale = workload.n_tasks / n_tasks * (workload.n_random + 1) / (n_resamples + 1)
    return partial(PEERS[peer], workload.scores[:n_tasks], n_resamples), scale
