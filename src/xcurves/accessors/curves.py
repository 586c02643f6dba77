"""`.curves` of arrays: every method of curves, errors or scores."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import xarray as xr
from numpy.typing import NDArray

import xcurves
from xcurves.accessors.documented import documented
from xcurves.accessors.errors import ErrorCurves
from xcurves.accessors.pictures import Drawable
from xcurves.accessors.preparation import CurvePreparation
from xcurves.core import validation

if TYPE_CHECKING:
    from xcurves.anova.contrast_weights import Weights
    from xcurves.core.weights import TrainingWeights
    from xcurves.distributions.options import Dims, Numbers
    from xcurves.distributions.trials import Interval
    from xcurves.kernels.contrasts import Alternative
    from xcurves.multi_task.options import TaskGroups, TaskWeights
    from xcurves.profile.intervals import Intervals
    from xcurves.simulation.modifications import Case
    from xcurves.simulation.replications import Test


@xr.register_dataarray_accessor("curves")  # type: ignore[no-untyped-call]  # xarray's decorators have no annotations
class DataArrayCurves(CurvePreparation, ErrorCurves, Drawable[xr.DataArray]):
    """Methods of curves: a DataArray with dims (..., algorithm, run, training)."""

    @documented
    def randomized_anova(
        self,
        *,
        n_resamples: int | None = None,
        paired: bool = False,
        confidence_level: float = 0.95,
        keep_null: bool = False,
        batch: int | None = None,
        progress: bool = False,
        rng: validation.Rng = None,
    ) -> xr.Dataset:
        """Call :func:`xcurves.randomized_anova`."""
        return xcurves.randomized_anova(
            self._data, n_resamples=n_resamples, paired=paired, confidence_level=confidence_level,
            keep_null=keep_null, batch=batch, progress=progress, rng=rng,
        )  # fmt: skip

    @documented
    def pairwise(
        self,
        *,
        n_resamples: int | None = None,
        paired: bool = False,
        reference: Hashable | None = None,
        correction: Literal["holm", "bonferroni"] = "holm",
        confidence_level: float = 0.95,
        rng: validation.Rng = None,
    ) -> xr.Dataset:
        """Call :func:`xcurves.pairwise`."""
        return xcurves.pairwise(
            self._data, n_resamples=n_resamples, paired=paired, reference=reference, correction=correction,
            confidence_level=confidence_level, rng=rng,
        )  # fmt: skip

    @documented
    def sequential(
        self,
        *,
        look: str = "look",
        n_looks: int,
        spending: Literal["square", "linear"] = "square",
        task: str | None = None,
        training_weights: TrainingWeights = None,
        reference: Any = None,
        higher_is_better: bool = True,
        n_resamples: int = 9999,
        confidence_level: float = 0.95,
        intervals: bool = True,
        rng: validation.Rng = 0,
    ) -> xr.Dataset:
        """Call :func:`xcurves.sequential`."""
        return xcurves.sequential(
            self._data, look=look, n_looks=n_looks, spending=spending, task=task, training_weights=training_weights,
            reference=reference, higher_is_better=higher_is_better, n_resamples=n_resamples,
            confidence_level=confidence_level, intervals=intervals, rng=rng,
        )  # fmt: skip

    @documented
    def contrast(
        self,
        weights: Weights,
        *,
        training_weights: xr.DataArray | Sequence[float] | None = None,
        n_resamples: int | None = None,
        paired: bool = False,
        alternative: Alternative = "two-sided",
        confidence_level: float = 0.95,
        rng: validation.Rng = None,
    ) -> xr.Dataset:
        """Call :func:`xcurves.contrast`."""
        return xcurves.contrast(
            self._data, weights, training_weights=training_weights, n_resamples=n_resamples, paired=paired,
            alternative=alternative, confidence_level=confidence_level, rng=rng,
        )  # fmt: skip

    @documented
    def ss_profile(
        self,
        *,
        intervals: Intervals | None = None,
        margin: float | None = None,
        step_down: bool = True,
        cluster_threshold: float | None = None,
        n_resamples: int | None = None,
        paired: bool = False,
        confidence_level: float = 0.95,
        batch: int | None = None,
        progress: bool = False,
        rng: validation.Rng = None,
    ) -> xr.Dataset:
        """Call :func:`xcurves.ss_profile`."""
        return xcurves.ss_profile(
            self._data, intervals=intervals, margin=margin, step_down=step_down, cluster_threshold=cluster_threshold,
            n_resamples=n_resamples, paired=paired, confidence_level=confidence_level, batch=batch, progress=progress,
            rng=rng,
        )  # fmt: skip

    @documented
    def across_tasks(
        self,
        *,
        task: str = "task",
        training_weights: TrainingWeights = None,
        task_weights: TaskWeights | None = None,
        task_groups: TaskGroups | None = None,
        paired: bool = False,
        reference: Hashable | None = None,
        higher_is_better: bool = True,
        correction: Literal["holm", "benjamini-hochberg"] = "holm",
        n_resamples: int | None = None,
        confidence_level: float = 0.95,
        progress: bool = False,
        rng: validation.Rng = None,
    ) -> xr.Dataset:
        """Call :func:`xcurves.across_tasks`."""
        return xcurves.across_tasks(
            self._data, task=task, training_weights=training_weights, task_weights=task_weights,
            task_groups=task_groups, paired=paired, reference=reference, higher_is_better=higher_is_better,
            correction=correction, n_resamples=n_resamples, confidence_level=confidence_level, progress=progress,
            rng=rng,
        )  # fmt: skip

    @documented
    def profile_across_tasks(
        self,
        *,
        fractions: int | Sequence[float] = 20,
        task: str = "task",
        task_groups: TaskGroups | None = None,
        paired: bool = False,
        reference: Hashable | None = None,
        n_resamples: int | None = None,
        confidence_level: float = 0.95,
        progress: bool = False,
        rng: validation.Rng = None,
    ) -> xr.Dataset:
        """Call :func:`xcurves.profile_across_tasks`."""
        return xcurves.profile_across_tasks(
            self._data, fractions=fractions, task=task, task_groups=task_groups, paired=paired, reference=reference,
            n_resamples=n_resamples, confidence_level=confidence_level, progress=progress, rng=rng,
        )  # fmt: skip

    @documented
    def performance_cdf(
        self,
        *,
        dim: Dims = "run",
        scores_at: Numbers | None = None,
        probabilities: Numbers | None = None,
        cvar_level: Numbers = 0.5,
        cvar: Literal["tail-mean", "conditional"] = "tail-mean",
        iqm: Literal["trim", "fractional"] = "trim",
        threshold: Numbers | None = None,
        target: float | None = None,
        bounds: tuple[float, float] | None = None,
        higher_is_better: bool = True,
        interval: Interval = "exact",
        n_resamples: int | None = None,
        strata: Dims | None = None,
        unit: Dims | None = None,
        simultaneous: Literal["training"] | None = None,
        confidence_level: float = 0.95,
        rng: validation.Rng = None,
    ) -> xr.Dataset:
        """Call :func:`xcurves.performance_cdf`."""
        return xcurves.performance_cdf(
            self._data, dim=dim, scores_at=scores_at, probabilities=probabilities, cvar_level=cvar_level, cvar=cvar,
            iqm=iqm, threshold=threshold, target=target, bounds=bounds, higher_is_better=higher_is_better,
            interval=interval, n_resamples=n_resamples, strata=strata, unit=unit, simultaneous=simultaneous,
            confidence_level=confidence_level, rng=rng,
        )  # fmt: skip

    @documented
    def compare_distributions(
        self,
        *,
        dim: Dims = "run",
        n_resamples: int | None = None,
        paired: bool = False,
        correction: Literal["holm", "bonferroni"] = "holm",
        strata: Dims | None = None,
        unit: Dims | None = None,
        confidence_level: float = 0.95,
        rng: validation.Rng = None,
    ) -> xr.Dataset:
        """Call :func:`xcurves.compare_distributions`."""
        return xcurves.compare_distributions(
            self._data, dim=dim, n_resamples=n_resamples, paired=paired, correction=correction, strata=strata,
            unit=unit, confidence_level=confidence_level, rng=rng,
        )  # fmt: skip

    @documented
    def runs_needed(
        self,
        *,
        test: Test | None = None,
        power: float = 0.8,
        alpha: float = 0.05,
        n_runs: Sequence[int] | None = None,
        n_replications: int = 1000,
        replace: bool = False,
        modification: Case | None = None,
        factor: float = 0.0,
        stretch: float = 1.0,
        pvalue: str = "pvalue",
        progress: bool = False,
        confidence_level: float = 0.95,
        rng: validation.Rng = None,
    ) -> xr.Dataset:
        """Call :func:`xcurves.runs_needed`."""
        return xcurves.runs_needed(
            self._data, test=test, power=power, alpha=alpha, n_runs=n_runs, n_replications=n_replications,
            replace=replace, modification=modification, factor=factor, stretch=stretch, pvalue=pvalue,
            progress=progress, confidence_level=confidence_level, rng=rng,
        )  # fmt: skip

    @documented
    def plot_benchmark(
        self,
        *,
        task: str = "task",
        target: float | None = None,
        figsize: tuple[float, float] | None = None,
        colors: Mapping[Any, Any] | Sequence[Any] | None = None,
        labels: Mapping[Any, str] | None = None,
        order: Sequence[Any] | None = None,
        n_resamples: int | None = None,
        confidence_level: float = 0.95,
        rng: validation.Rng = None,
    ) -> NDArray[Any]:
        """Call :func:`xcurves.plot_benchmark`."""
        return xcurves.plot_benchmark(
            self._data, task=task, target=target, figsize=figsize, colors=colors, labels=labels, order=order,
            n_resamples=n_resamples, confidence_level=confidence_level, rng=rng,
        )  # fmt: skip

    @documented
    def analyze(
        self,
        *,
        include: Sequence[str] | None = None,
        paired: bool = False,
        n_resamples: int | None = None,
        confidence_level: float = 0.95,
        progress: bool = False,
        rng: validation.Rng = None,
    ) -> xr.DataTree:
        """Call :func:`xcurves.analyze`."""
        return xcurves.analyze(
            self._data, include=include, paired=paired, n_resamples=n_resamples, confidence_level=confidence_level,
            progress=progress, rng=rng,
        )  # fmt: skip
