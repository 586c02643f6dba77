"""`.curves` of arrays, results, analyses and tidy frames: one line for each method, no logic and no state."""

# Written by tests/tools/stubs.py from public_names.py.
import os
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from numpy.typing import NDArray
from plotly.graph_objects import Figure

from xcurves.anova.contrast import Weights
from xcurves.array_types import Floats
from xcurves.core import validation
from xcurves.core.known import AlignMethod, Duplicates, Find, On
from xcurves.core.short_runs import RunsShort
from xcurves.core.weights import TrainingWeights
from xcurves.distributions.descriptions import Interval
from xcurves.distributions.trial_checks import Dims, Numbers
from xcurves.frames.normalize import Reference
from xcurves.kernels.looks.sequential_pvalues import Spending
from xcurves.kernels.one_task.shifted_contrasts import Alternative
from xcurves.learning_curves.error_rates import Asymptote, At, Gamma, Weighting
from xcurves.learning_curves.leave_one_size_out import Variants
from xcurves.learning_curves.predict import Rule
from xcurves.learning_curves.predict_loss import Size
from xcurves.multi_task.task_options import TaskGroups, TaskWeights
from xcurves.planning.replications import Test
from xcurves.profile.training_intervals import Intervals
from xcurves.reporting.score_table import Mark, Spread

class DataArrayCurves:
    """Methods of curves, a DataArray with dims (..., algorithm, run, training); of errors and of scores."""

    def __init__(self, data: xr.DataArray) -> None: ...
    def across_tasks(
        self,
        *,
        task: str | Sequence[str] = "task",
        training_weights: TrainingWeights = None,
        task_weights: TaskWeights | None = None,
        task_groups: TaskGroups | None = None,
        by: str | None = None,
        paired: bool = False,
        reference: Hashable | None = None,
        higher_is_better: bool | None = None,
        margin: float | None = None,
        task_correction: Literal["holm", "benjamini-hochberg"] = "holm",
        per_task: bool | None = None,
        n_resamples: int | None = None,
        confidence_level: float = 0.95,
        progress: bool | None = None,
        rng: validation.Rng = None,
    ) -> xr.Dataset:
        """Compare algorithms over all tasks of a benchmark: on these tasks, and on tasks like these."""
    def align(
        self,
        on: On | int = "intersection",
        *,
        method: AlignMethod | None = None,
        tolerance: float | None = None,
        relative_to: Literal["budget"] | None = None,
        runs_short: RunsShort | None = None,
        higher_is_better: bool | None = None,
    ) -> xr.DataArray:
        """Bring runs to common training levels, task by task and run by run, and record what was dropped."""
    def analyze(
        self,
        *,
        include: Sequence[str] | None = None,
        paired: bool | None = None,
        reference: Hashable | None = None,
        by: str | None = None,
        n_resamples: int | None = None,
        confidence_level: float = 0.95,
        progress: bool | None = None,
        rng: validation.Rng = None,
    ) -> xr.DataTree:
        """Make a whole analysis: the curves and the results of every method that fits them, in one tree."""
    def assign_looks(
        self,
        by: int | Mapping[Any, Any] | pd.Series[Any],
        *,
        n_looks: int | None = None,
        spending: Spending | None = None,
    ) -> xr.DataArray:
        """Say in which batch every run was made, for `sequential`."""
    def compare_distributions(
        self,
        *,
        dim: Dims = "run",
        n_resamples: int | None = None,
        correction: Literal["holm", "bonferroni"] = "holm",
        strata: Dims | None = None,
        unit: Dims | None = None,
        higher_is_better: bool | None = None,
        confidence_level: float = 0.95,
        rng: validation.Rng = None,
    ) -> xr.Dataset:
        """Compare every pair of algorithms by the distributions of their scores over trials."""
    def contrast(
        self,
        weights: Weights,
        *,
        training_weights: TrainingWeights = None,
        n_resamples: int | None = None,
        paired: bool = False,
        alternative: Alternative = "two-sided",
        higher_is_better: bool | None = None,
        margin: float | None = None,
        confidence_level: float = 0.95,
        rng: validation.Rng = None,
    ) -> xr.Dataset:
        """Test one planned comparison of algorithms, over all of training or a profile of it."""
    def drop_incomplete(self) -> xr.DataArray:
        """Leave out the runs that lack some of their task's training levels."""
    def explore(
        self, view: str | None = None, *, smooth: float = 0.0, save: str | os.PathLike[str] | None = None
    ) -> Figure:
        """Draw curves, or a result, as an interactive figure of Plotly."""
    def fill_failed(
        self, replacement: str | Reference = "worst", *, higher_is_better: bool | None = None
    ) -> xr.DataArray:
        """Give runs that failed a score, so that means can be taken."""
    def fit_power_law(
        self,
        *,
        at: float | Literal["largest"] | xr.DataArray = "largest",
        units: Literal["percent", "fraction", "loss"] | None = None,
        gamma: Gamma = "search",
        quadratic: bool = False,
        asymptote: Asymptote = "nonnegative",
        weighting: Weighting | None = None,
        octaves: float | Literal["auto"] | None = "auto",
        sigma0_sq: float = 0.02,
        sigma_hat_sq: float | None = None,
        standard_error: xr.DataArray | None = None,
        n_folds: int | xr.DataArray | None = None,
        prior_strength: float = 5.0,
        predict_at: At | None = None,
        n_resamples: int = 0,
        confidence_level: float = 0.95,
        rng: validation.Rng = None,
    ) -> xr.Dataset:
        """Fit learning curves: error as a power law of the training size, with error and data-reliance at one size."""
    def fit_scaling_law(
        self,
        *,
        delta: float | None = None,
        predict_at: Sequence[tuple[float, float]] | Floats | None = None,
        compute: float | Sequence[float] | Floats | None = None,
        flops_per_token_and_parameter: float = 6.0,
        confidence_level: float = 0.95,
    ) -> xr.Dataset:
        """Fit loss as a law of model size and tokens: what more of both would give, and how to divide compute."""
    def gate(
        self,
        *,
        baseline: Any,
        candidates: Sequence[Any] | None = None,
        looks: Sequence[int] = ...,
        level: float = 0.2,
        margin: float = 0.0,
        start: int | None = None,
        refresh: int = 2,
        share_failed: float = 0.0,
        training_weights: TrainingWeights = None,
        task: str | None = None,
        higher_is_better: bool | None = None,
        previous: xr.Dataset | str | os.PathLike[str] | None = None,
        n_resamples: int | None = None,
        confidence_level: float = 0.95,
        rng: validation.Rng = 0,
    ) -> xr.Dataset:
        """Keep or drop each of a stream of candidates, or say which runs to make first."""
    def leave_one_size_out(
        self,
        *,
        variants: Variants | None = None,
        units: Literal["percent", "fraction", "loss"] | None = None,
        sigma0_sq: float = 0.02,
        sigma_hat_sq: float | None = None,
        prior_strength: float = 5.0,
    ) -> xr.Dataset:
        """Predict the mean error at each size from all other sizes, by several variants of the learning curve."""
    def mean_curves(
        self,
        *,
        band: str | None = "pointwise",
        smooth: float = 0.0,
        n_resamples: int | None = None,
        confidence_level: float = 0.95,
        rng: validation.Rng = None,
    ) -> xr.Dataset:
        """Return the mean of the runs of each algorithm along training, with a band."""
    def mean_time_to_target(
        self,
        target: Reference,
        *,
        higher_is_better: bool | None = None,
        training_scale: Literal["linear", "log"] = "linear",
        confidence_level: float = 0.95,
    ) -> xr.Dataset:
        """Return the training at which the mean curve of each algorithm reaches a target."""
    def normalize(self, *, low: Reference, high: Reference) -> xr.DataArray:
        """Scale scores so that a low reference becomes 0 and a high one 1."""
    def pairwise(
        self,
        *,
        n_resamples: int | None = None,
        paired: bool = False,
        reference: Hashable | None = None,
        higher_is_better: bool | None = None,
        correction: Literal["holm", "bonferroni"] = "holm",
        confidence_level: float = 0.95,
        rng: validation.Rng = None,
    ) -> xr.Dataset:
        """Compare every pair of algorithms, in level and in shape."""
    def pass_all(self, k: int, *, higher_is_better: bool | None = None) -> xr.DataArray:
        """Estimate for each item the chance that all of k answers are right."""
    def pass_at(self, k: int, *, higher_is_better: bool | None = None) -> xr.DataArray:
        """Estimate for each item the chance that at least one of k answers is right."""
    def performance_cdf(
        self,
        *,
        dim: Dims = "run",
        scores_at: Numbers | None = None,
        probabilities: Numbers | None = None,
        cvar_level: Numbers = 0.5,
        cvar: Literal["tail-mean", "conditional"] = "tail-mean",
        threshold: Numbers | None = None,
        target: float | None = None,
        bounds: tuple[float, float] | None = None,
        tolerance: float | None = None,
        higher_is_better: bool | None = None,
        interval: Interval = "exact",
        n_resamples: int | None = None,
        strata: Dims | None = None,
        unit: Dims | None = None,
        simultaneous: Literal["training"] | None = None,
        confidence_level: float = 0.95,
        rng: validation.Rng = None,
    ) -> xr.Dataset:
        """Describe the distribution of scores over trials: CDF, inverse CDF, statistics, and intervals of each."""
    def performance_profile(
        self,
        *,
        task: str | Sequence[str] = "task",
        tau_max: float = 4.0,
        points: int | None = None,
        gates: Mapping[Any, Any] | None = None,
        confidence_level: float = 0.95,
        rng: validation.Rng = None,
    ) -> xr.Dataset:
        """Compare times over tasks by performance profiles and their area."""
    def plot(
        self,
        view: str | None = None,
        *,
        ax: Axes | None = None,
        col: Hashable | None = None,
        row: Hashable | None = None,
        col_wrap: int | None = None,
        figsize: tuple[float, float] | None = None,
        colors: Mapping[Any, Any] | Sequence[Any] | None = None,
        order: Sequence[Any] | None = None,
        labels: Mapping[Any, str] | None = None,
        legend: str | None = "direct",
        runs: bool | None = None,
        band: str | None = "own",
        smooth: float | None = None,
        linestyles: bool | None = None,
        xscale: str | None = None,
        yscale: str | None = None,
        title: str | None = None,
        fontsize: float | None = None,
        n_resamples: int | None = None,
        confidence_level: float | None = None,
        claim: str | None = None,
        columns: Sequence[str] | None = None,
        save: str | os.PathLike[str] | None = None,
        rng: validation.Rng = None,
    ) -> Axes | NDArray[Any]:
        """Draw curves, or a result."""
    def plot_benchmark(
        self,
        *,
        task: str = "task",
        target: float | None = None,
        figsize: tuple[float, float] | None = None,
        colors: Mapping[Any, Any] | Sequence[Any] | None = None,
        n_resamples: int | None = None,
        confidence_level: float = 0.95,
        rng: validation.Rng = None,
    ) -> NDArray[Any]:
        """Draw the figures of rliable for a benchmark, in one figure."""
    def profile_across_tasks(
        self,
        *,
        fractions: int | Sequence[float] = 20,
        task: str | Sequence[str] = "task",
        task_groups: TaskGroups | None = None,
        paired: bool = False,
        reference: Hashable | None = None,
        higher_is_better: bool | None = None,
        n_resamples: int | None = None,
        confidence_level: float = 0.95,
        progress: bool | None = None,
        rng: validation.Rng = None,
    ) -> xr.Dataset:
        """Compare algorithms along the budget, over all tasks of a benchmark."""
    def randomized_anova(
        self,
        *,
        n_resamples: int | None = None,
        paired: bool = False,
        level_test: Literal["f", "welch"] | None = None,
        confidence_level: float = 0.95,
        keep_null: bool = False,
        progress: bool | None = None,
        rng: validation.Rng = None,
    ) -> xr.Dataset:
        """Test whether algorithms differ in level and in shape, by shuffling whole curves."""
    def runs_needed(
        self,
        *,
        test: Test | Literal["across_tasks"] | None = None,
        power: float = 0.8,
        alpha: float = 0.05,
        n_runs: Sequence[int] | None = None,
        n_replications: int = 1000,
        progress: bool | None = None,
        confidence_level: float = 0.95,
        rng: validation.Rng = None,
    ) -> xr.Dataset:
        """Say from pilot curves how many runs per algorithm it takes to detect their difference."""
    def sequential(
        self,
        *,
        look: str = "look",
        n_looks: int | None = None,
        previous: xr.Dataset | str | os.PathLike[str] | None = None,
        spending: Spending | None = None,
        task: str | None = None,
        training_weights: TrainingWeights = None,
        reference: Hashable | None = None,
        higher_is_better: bool | None = None,
        n_resamples: int = 9999,
        confidence_level: float = 0.95,
        repeated_intervals: bool = True,
        rng: validation.Rng = 0,
    ) -> xr.Dataset:
        """Compare algorithms after every batch of runs, and stop when it is clear."""
    def speedup(
        self,
        *,
        reference: Hashable,
        target: Reference | None = None,
        higher_is_better: bool | None = None,
        training_scale: Literal["linear", "log"] = "linear",
        task: str | Sequence[str] | None = None,
        task_groups: TaskGroups | None = None,
        confidence_level: float = 0.95,
        rng: validation.Rng = None,
    ) -> xr.Dataset:
        """Return how much sooner each algorithm reaches a score than the reference, with an interval."""
    def ss_profile(
        self,
        *,
        intervals: Intervals | None = None,
        margin: float | None = None,
        cluster_threshold: float | None = None,
        n_resamples: int | None = None,
        paired: bool = False,
        confidence_level: float = 0.95,
        progress: bool | None = None,
        rng: validation.Rng = None,
    ) -> xr.Dataset:
        """Find where along training the algorithms differ, and by how much, with p-values."""
    def time_to_target(
        self, target: Reference, *, sustained: int = 1, higher_is_better: bool | None = None
    ) -> xr.DataArray:
        """Return the training level at which each run first reaches a target."""
    def to_frame(self) -> pd.DataFrame:
        """Turn curves or a result into a tidy frame."""
    def tuning_curve(
        self,
        *,
        dim: Dims = "run",
        n_trials: int | Sequence[int] = 50,
        unit: Dims | None = None,
        select: xr.DataArray | None = None,
        bounds: tuple[float, float] | None = None,
        higher_is_better: bool | None = None,
        confidence_level: float = 0.95,
    ) -> xr.Dataset:
        """Estimate the best score of k trials drawn by random search, for every k, from the scores of some trials."""

class DatasetCurves:
    """Methods of results: a Dataset that a method of curves returned."""

    def __init__(self, data: xr.Dataset) -> None: ...
    def bibtex(self) -> str:
        """Return the references of a result as BibTeX."""
    def compare_learners(self, *, reference: Hashable | None = None, at: float | None = None) -> xr.Dataset:
        """Compare every algorithm's learning curve with that of a reference."""
    def compare_scaling_laws(
        self,
        *,
        at_size_and_tokens: tuple[float, float] | None = None,
        compute: float | Sequence[float] | Floats | None = None,
    ) -> xr.Dataset:
        """Compare the scaling laws of two suites: losses at one size, and what compute the difference is worth."""
    def describe_methods(self) -> str:
        """Describe how a result was computed, for the methods section of a paper and for a checklist."""
    def explore(
        self, view: str | None = None, *, smooth: float = 0.0, save: str | os.PathLike[str] | None = None
    ) -> Figure:
        """Draw curves, or a result, as an interactive figure of Plotly."""
    def format_table(
        self,
        to: Literal["latex", "markdown", "html", "csv"] = "latex",
        *,
        rows: Literal["pair", "task"] = "pair",
        spread: Spread = "ci",
        best: Mark | None = None,
        ties: Mark | None = None,
        precision: int | None = None,
        labels: Mapping[Any, str] | None = None,
        order: Sequence[Any] | None = None,
        caption: str | None = None,
        label: str | None = None,
    ) -> str:
        """Return a table of a result as text for a paper."""
    def optimal_allocation(self, compute: float | Sequence[float] | Floats) -> xr.Dataset:
        """Divide compute between model size and tokens so that the fitted loss is lowest."""
    def plot(
        self,
        view: str | None = None,
        *,
        ax: Axes | None = None,
        col: Hashable | None = None,
        row: Hashable | None = None,
        col_wrap: int | None = None,
        figsize: tuple[float, float] | None = None,
        colors: Mapping[Any, Any] | Sequence[Any] | None = None,
        order: Sequence[Any] | None = None,
        labels: Mapping[Any, str] | None = None,
        legend: str | None = "direct",
        runs: bool | None = None,
        band: str | None = "own",
        smooth: float | None = None,
        linestyles: bool | None = None,
        xscale: str | None = None,
        yscale: str | None = None,
        title: str | None = None,
        fontsize: float | None = None,
        n_resamples: int | None = None,
        confidence_level: float | None = None,
        claim: str | None = None,
        columns: Sequence[str] | None = None,
        save: str | os.PathLike[str] | None = None,
        rng: validation.Rng = None,
    ) -> Axes | NDArray[Any]:
        """Draw curves, or a result."""
    def predict(self, n: At, *, rule: Rule = "combined", reference: Hashable | None = None) -> xr.Dataset:
        """Predict the error at other training sizes."""
    def predict_loss(self, *, model_size: Size, tokens: Size) -> xr.Dataset:
        """Predict the loss of a run at other model sizes and amounts of tokens."""
    def summary(self) -> str:
        """Say in plain sentences what a result shows and what it does not."""
    def table(self) -> pd.DataFrame:
        """Return a result as a table to print."""
    def to_dict(self) -> dict[str, Any]:
        """Return an answer as an object that JSON can hold: what ``--json`` prints."""
    def to_frame(self) -> pd.DataFrame:
        """Turn curves or a result into a tidy frame."""

class DataTreeCurves:
    """Methods of whole analyses: a DataTree that `analyze` returned, or a group of it."""

    def __init__(self, data: xr.DataTree) -> None: ...
    def bibtex(self) -> str:
        """Return the references of a result as BibTeX."""
    def plot(
        self,
        view: str | None = None,
        *,
        ax: Axes | None = None,
        col: Hashable | None = None,
        row: Hashable | None = None,
        col_wrap: int | None = None,
        figsize: tuple[float, float] | None = None,
        colors: Mapping[Any, Any] | Sequence[Any] | None = None,
        order: Sequence[Any] | None = None,
        labels: Mapping[Any, str] | None = None,
        legend: str | None = "direct",
        runs: bool | None = None,
        band: str | None = "own",
        smooth: float | None = None,
        linestyles: bool | None = None,
        xscale: str | None = None,
        yscale: str | None = None,
        title: str | None = None,
        fontsize: float | None = None,
        n_resamples: int | None = None,
        confidence_level: float | None = None,
        claim: str | None = None,
        columns: Sequence[str] | None = None,
        save: str | os.PathLike[str] | None = None,
        rng: validation.Rng = None,
    ) -> Axes | NDArray[Any]:
        """Draw curves, or a result."""
    def report(self, path: str | os.PathLike[str], *, interactive: bool = False) -> Path:
        """Write a whole analysis as one HTML page, which needs no network."""
    def summary(self) -> str:
        """Say in plain sentences what a result shows and what it does not."""
    def table(self) -> pd.DataFrame:
        """Return a result as a table to print."""
    def to_dict(self) -> dict[str, Any]:
        """Return an answer as an object that JSON can hold: what ``--json`` prints."""

class DataFrameCurves:
    """Methods of tidy frames: one row per score."""

    def __init__(self, data: pd.DataFrame) -> None: ...
    def to_dataarray(
        self,
        value: str | Find = ...,
        *,
        algorithm: str | Sequence[str] | Find | None = ...,
        run: str | Sequence[str] | Find | None = ...,
        training: str | Find | None = ...,
        extra: str | Sequence[str] | Find | None = ...,
        coords: str | Sequence[str] = ...,
        levels: Literal["union", "run"] = "union",
        on: On | None = None,
        method: AlignMethod | None = None,
        tolerance: float | None = None,
        duplicates: Duplicates = "raise",
        resumed: bool = False,
        missing_scores: Literal["absent", "failed"] | None = None,
        higher_is_better: bool | None = None,
        columns: str | Mapping[str, Sequence[str]] | None = None,
    ) -> xr.DataArray:
        """Turn a tidy frame, one row per score, into curves."""
    def to_dataset(
        self,
        values: Sequence[str],
        *,
        algorithm: str | Sequence[str] | Find | None = ...,
        run: str | Sequence[str] | Find | None = ...,
        training: str | Find | None = ...,
        extra: str | Sequence[str] | Find = ...,
        coords: str | Sequence[str] = ...,
        levels: Literal["union", "run"] = "union",
        on: On | None = None,
        method: AlignMethod | None = None,
        tolerance: float | None = None,
        duplicates: Duplicates = "raise",
        resumed: bool = False,
        missing_scores: Literal["absent", "failed"] | None = None,
        higher_is_better: bool | None = None,
        columns: str | Mapping[str, str | Mapping[str, Sequence[str]]] | None = None,
    ) -> xr.Dataset:
        """Turn a tidy frame with several columns of scores into a Dataset of curves."""

def register_polars() -> None:
    """Give frames of polars `.curves`; importing xcurves does this if polars is imported already."""
