"""The vocabulary of the labelled layer, and the doors of options: every `check_*` returns what it checked."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from itertools import combinations, product
from math import prod
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

Rng = int | np.random.Generator | None

DIMS = ("algorithm", "run", "training")
# fmt: off
RESERVED = frozenset((
    "effect", "error_term", "source", "shuffle", "pair", "ci_bound", "param", "cov_param", "n", "crossing", "score",
    "probability", "cvar_level", "threshold", "interval", "variant",
))
# Variables of results by the argument they come from: a coordinate that lasts into them must not be called like one.
RESULTS = {
    "curves": frozenset((
        "pvalue", "f", "ss", "df", "critical_value", "pvalue_stderr", "pvalue_parametric", "pvalue_rank",
        "eta_sq_partial", "eta_sq_generalized", "error_ss", "error_df", "n_runs", "n_levels", "n_shuffles",
        "n_assignments", "null_distribution", "pvalue_adjusted", "difference", "difference_ci", "statistic",
        "estimate", "estimate_ci", "weights", "training_weights", "algorithm_a", "algorithm_b", "fraction",
        "cumulative_fraction", "ss_null_upper", "ss_null_upper_simultaneous", "cluster", "cluster_pvalue",
        "first_significant", "last_significant", "equivalent", "interval_fraction", "interval_pvalue",
        "interval_pvalue_adjusted", "interval_left", "interval_right", "rate", "rate_ci", "n_replications",
        "runs_needed", "runs_needed_ci",
    )),
    "errors": frozenset((
        "error_at_n", "data_reliance", "gamma", "alpha", "eta", "delta", "estimate_ci", "stderr", "stderr_given_gamma",
        "covariance", "fitted", "r_squared", "objective", "error_sd", "n_folds", "gamma_at_edge", "at",
        "at_extrapolated", "mean_error", "prediction", "prediction_ci", "prediction_ci_given_gamma", "extrapolated",
        "change", "change_ci", "n_curves", "rmse", "pvalue", "difference", "difference_ci", "crossing_size",
        "crossing_extrapolated", "data_multiplier", "data_multiplier_ci", "data_multiplier_extrapolated",
    )),
    "scores": frozenset((
        "score_mean", "score_median", "score_std", "iqm", "cvar", "cvar_lower", "statistic_ci", "score_quantile",
        "score_quantile_ci", "cdf", "cdf_ci", "cdf_band", "partial_mean_above", "prob_above", "optimality_gap",
        "n_trials", "n_units", "algorithm_a", "algorithm_b", "prob_greater", "prob_greater_ci", "ks_statistic",
        "ks_pvalue", "ks_pvalue_adjusted", "quantile_difference", "quantile_difference_band", "dominance",
    )),
}
# fmt: on
EFFECTS = ("algorithm", "interaction")
ERROR_TERMS = ("pooled", "stratum")
PARTS = ("anova", "pairwise", "profile", "power_law", "distribution")  # of a whole analysis
CI_BOUNDS = ("lower", "upper")
SOURCES = ("interaction", "algorithm", "training", "error", "total")


class Kind(NamedTuple):
    """What tells a kind of result: its variables and dims.

    One of them, the `scalar`, has the dims of its tasks, reserved ones, and the `core` dims of the method. In a frame
    each task has a row for every combination of `rows`.
    """

    variables: frozenset[str]
    dims: frozenset[str]
    scalar: str = "n_shuffles"
    methods: str = "table summary"
    core: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()


def _kind(variables: str, dims: str, **more: Any) -> Kind:
    return Kind(frozenset(variables.split()), frozenset(dims.split()), **more)


_KINDS = {
    "randomized_anova": _kind(
        "pvalue f ss df", "effect error_term source", methods="table summary plot", rows=("effect", "error_term")
    ),
    "pairwise": _kind(
        "pvalue_adjusted pvalue difference difference_ci",
        "effect pair ci_bound",
        methods="table summary plot",
        rows=("effect", "pair"),
    ),
    "contrast": _kind("pvalue statistic estimate estimate_ci", "ci_bound", methods="table summary plot"),
    "ss_profile": Kind(
        frozenset(["fraction", "cumulative_fraction", "ss"]),
        frozenset(["effect", "training"]),
        scalar="fraction",
        methods="table summary plot",
        core=("training",),
        rows=("effect", "training"),
    ),
    "fit_power_law": _kind(
        "error_at_n data_reliance gamma alpha eta covariance",
        "param cov_param training",
        scalar="error_at_n",
        methods="table summary plot predict compare_learners",
    ),
    "predict": _kind("prediction prediction_ci extrapolated", "n ci_bound", scalar="at_extrapolated", rows=("n",)),
    "leave_one_size_out": _kind("rmse r_squared pvalue", "variant training", scalar="n_curves", rows=("variant",)),
    "compare_learners": _kind("difference difference_ci data_multiplier", "param crossing", scalar="data_multiplier"),
    "performance_cdf": _kind(
        "score_mean iqm score_quantile", "probability param", scalar="score_mean", methods="table summary plot"
    ),
    "compare_distributions": _kind(
        "prob_greater prob_greater_ci quantile_difference",
        "pair probability",
        scalar="prob_greater",
        methods="table summary plot",
        rows=("pair",),
    ),
    "runs_needed": _kind(
        "rate rate_ci n_replications runs_needed runs_needed_ci",
        "n_runs ci_bound",
        scalar="runs_needed",
        methods="table summary plot",
        core=("n_runs",),
        rows=("effect", "error_term", "pair", "n_runs"),
    ),
    "study": _kind(
        "rate rate_ci n_replications",
        "ci_bound",
        scalar="n_replications",
        methods="table summary plot",
        rows=("effect", "error_term", "pair"),
    ),
}


def check_confidence_level(confidence_level: float) -> float:
    """Return alpha = 1 - confidence_level, without the dust of binary fractions."""
    if not isinstance(confidence_level, Real) or not 0 < confidence_level < 1:
        raise ValueError(f"confidence_level must lie between 0 and 1; got {confidence_level!r}. Usual: 0.95")
    return round(1 - float(confidence_level), 12)


def check_alpha(alpha: float) -> float:
    """Return a significance level."""
    if not isinstance(alpha, Real) or isinstance(alpha, bool) or not 0 < alpha < 1:
        raise ValueError(f"alpha must lie between 0 and 1; got {alpha!r}. Usual: 0.05")
    return float(alpha)


def check_count(name: str, value: int | None, least: int = 1) -> int | None:
    """Return a whole number that is not too small, or None."""
    if value is None:
        return None
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number or None; got {value!r}. Leave it out for the default")
    if value < least:
        raise ValueError(f"{name} must be at least {least}; got {value}. Leave it out for the default")
    return int(value)


def check_number(name: str, value: float) -> float:
    """Return a finite number."""
    if not isinstance(value, Real) or isinstance(value, bool) or not np.isfinite(value):
        raise ValueError(f"{name} must be a finite number; got {value!r}")
    return float(value)


def check_flag(name: str, value: bool) -> bool:
    """Return a truth value."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False; got {value!r}")
    return bool(value)


def check_choice(name: str, value: str, choices: Sequence[str]) -> str:
    """Return one of the choices."""
    if value not in choices:
        said = f"{', '.join(map(repr, choices[:-1]))} or {choices[-1]!r}"
        raise ValueError(f"{name} must be {said}; got {value!r}")
    return value


def check_rng(rng: Rng) -> int:
    """Return the seed of a plan: a given int itself, else one that is drawn from the generator."""
    if isinstance(rng, Integral) and not isinstance(rng, bool):
        if rng < 0:
            raise ValueError(f"rng must not be negative; got {rng}. Give a whole number from 0, a Generator or None")
        return int(rng)
    if rng is not None and not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be a whole number, a numpy Generator or None; got {rng!r}. Try rng=0")
    return int(np.random.default_rng(rng).integers(2**63))


def words(values: Iterable[Any]) -> list[str]:
    """Return labels as they are written in messages."""
    return [repr(value) for value in np.asarray(values).tolist()]


def extra_dims(curves: xr.DataArray, core: Collection[Hashable] = DIMS) -> tuple[Hashable, ...]:
    """Return the dims that broadcast: all but the core dims of a method."""
    return tuple(dim for dim in curves.dims if dim not in core)


def task_names(curves: xr.DataArray, core: Collection[Hashable] = DIMS) -> list[str]:
    """Return a prefix for messages about each task, in C order over the extra dims: "task 'Hopper': "."""
    dims = extra_dims(curves, core)
    labels = [[f"{dim} {label}" for label in words(curves[dim].to_numpy())] for dim in dims]
    return [", ".join(parts) + ": " if parts else "" for parts in product(*labels)]


def task_numbers(array: xr.DataArray, dims: Sequence[Hashable]) -> xr.DataArray:
    """Return the position of each task in `task_names`, for an array whose extra dims are `dims`."""
    shape = [array.sizes[dim] for dim in dims]
    return xr.DataArray(np.arange(prod(shape)).reshape(shape), dims=list(dims))


def pair_coords(curves: xr.DataArray) -> dict[Hashable, Any]:
    """Return the coordinates of all pairs of algorithms: their labels "a - b", and each of the two."""
    first, second = zip(*combinations(curves["algorithm"].to_numpy(), 2), strict=True)
    return {
        "pair": [f"{a} - {b}" for a, b in zip(first, second, strict=True)],
        "algorithm_a": ("pair", np.array(first)),
        "algorithm_b": ("pair", np.array(second)),
    }


def kind_of(result: xr.Dataset) -> str:
    """Return the name of the method that made a result, known by its variables and dims."""
    if not isinstance(result, xr.Dataset):
        raise TypeError(f"result must be a Dataset that a method of .curves returned; got {type(result).__name__}")
    kind = find_kind(result)
    if kind is None:
        raise ValueError(f"this Dataset is no result of xcurves. {pick_one(result)}")
    return kind


def find_kind(dataset: xr.Dataset) -> str | None:
    """Return what `kind_of` does, None for a Dataset that is no result."""
    for name, kind in _KINDS.items():
        if kind.variables <= set(dataset.data_vars) and kind.dims <= set(dataset.dims):
            return name
    return None


def parts_of(tree: xr.DataTree) -> dict[str, xr.Dataset]:
    """Return the results in a tree by their groups, in the order of an analysis; of a group that is one, itself."""
    if not isinstance(tree, xr.DataTree):
        raise TypeError(f"tree must be a DataTree that analyze returned; got {type(tree).__name__}")
    nodes = {str(name): node.to_dataset() for name, node in tree.children.items()}
    nodes = nodes or {tree.name or "result": tree.to_dataset()}
    parts = {name: dataset for name, dataset in nodes.items() if find_kind(dataset)}
    if not parts:
        raise ValueError(
            f"this DataTree is no analysis: none of its groups ({', '.join(nodes)}) is a result of xcurves. "
            "Make one: curves.curves.analyze()"
        )
    return {name: parts[name] for name in sorted(parts, key=lambda name: (*PARTS, name).index(name))}


def task_dims(result: xr.Dataset) -> tuple[Hashable, ...]:
    """Return the dims of a result that broadcast."""
    return extra_dims(*_scalar(result))


def row_dims(result: xr.Dataset) -> tuple[Hashable, ...]:
    """Return the dims of which every combination is a row in a frame."""
    return (*task_dims(result), *(dim for dim in _KINDS[kind_of(result)].rows if dim in result.dims))


def result_names(result: xr.Dataset) -> list[str]:
    """Return the prefix of `task_names` for each task of a result."""
    return task_names(*_scalar(result))


def _scalar(result: xr.Dataset) -> tuple[xr.DataArray, frozenset[str]]:
    kind = _KINDS[kind_of(result)]
    return result[kind.scalar], RESERVED.union(kind.core)


def pick_one(dataset: xr.Dataset) -> str:
    """Return the advice for a Dataset where one of its variables is wanted."""
    name = next(iter(dataset.data_vars), "return")
    return f"Pick one variable: ds[{name!r}].curves"


def no_tree_method(tree: xr.DataTree, name: str) -> str:
    """Return the message for a method that a DataTree does not have."""
    group = next(iter(tree.children), None)
    dataset = "tree.to_dataset()" if group is None else f"tree[{group!r}].to_dataset()"
    return (
        f"a DataTree has no .curves.{name}. It has .curves.summary(), .curves.plot() and .curves.report(path); of one "
        f"result: {dataset}.curves.{name}"
    )


def no_method(dataset: xr.Dataset, name: str) -> str:
    """Return the message for a method that a Dataset does not have."""
    kind = find_kind(dataset)
    if kind is None:
        return f"a Dataset has no .curves.{name}. {pick_one(dataset)}.{name}"
    *methods, last = (f".curves.{method}()" for method in [*_KINDS[kind].methods.split(), "to_frame"])
    return f"a result of {kind} has no .curves.{name}. It has {', '.join(methods)} and {last}"
