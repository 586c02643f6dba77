"""The vocabulary of the labelled layer, and its doors: every `check_*` returns what it checked."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import product
from numbers import Integral, Real
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

Rng = int | np.random.Generator | None

DIMS = ("algorithm", "run", "training")
# fmt: off
RESERVED = frozenset((
    "effect", "error_term", "source", "shuffle", "pair", "ci_bound", "param", "cov_param", "n", "crossing", "score",
    "probability", "cvar_level", "threshold", "interval", "variant",
))
_RESULTS = frozenset((  # variables of results, which a coordinate that lasts into them would clash with
    "pvalue", "f", "ss", "df", "critical_value", "pvalue_stderr", "pvalue_parametric", "pvalue_rank", "eta_sq_partial",
    "eta_sq_generalized", "error_ss", "error_df", "n_runs", "n_levels", "n_shuffles", "n_assignments",
    "null_distribution", "pvalue_adjusted", "difference", "difference_ci", "statistic", "estimate", "estimate_ci",
    "weights", "training_weights", "algorithm_a", "algorithm_b",
))
# fmt: on
EFFECTS = ("algorithm", "interaction")
ERROR_TERMS = ("pooled", "stratum")
CI_BOUNDS = ("lower", "upper")
SOURCES = ("interaction", "algorithm", "training", "error", "total")
_SYNONYMS = {
    "algorithm": "agent agents algo algorithms alg classifier estimator learner method model optimizer policy",
    "run": "cv fold folds repeat repetition replicate rep runs seed seeds split trial trials",
    "training": "env_step env_steps episode epoch game games global_step iteration n_train step steps time timestep "
    "timesteps train_size train_sizes",
}
_USUAL_EXTRAS = frozenset(["benchmark", "dataset", "env", "environment", "level", "metric", "task", "tasks"])
_KINDS = {
    "randomized_anova": ({"pvalue", "f", "ss", "df"}, {"effect", "error_term", "source"}),
    "pairwise": ({"pvalue_adjusted", "pvalue", "difference", "difference_ci"}, {"effect", "pair", "ci_bound"}),
    "contrast": ({"pvalue", "statistic", "estimate", "estimate_ci"}, {"ci_bound"}),
}


def check_curves(curves: xr.DataArray) -> xr.DataArray:
    """Return the curves as float64 with dims (..., algorithm, run, training) and checked coordinates."""
    if isinstance(curves, xr.Dataset):
        raise TypeError(f"curves must be a DataArray; got a Dataset. {_pick_one(curves)}")
    if not isinstance(curves, xr.DataArray):
        raise TypeError(
            f"curves must be an xarray.DataArray; got {type(curves).__name__}. Make one: df.curves.to_dataarray(...)"
        )
    _check_dims(curves)
    if curves.dtype.kind not in "biuf":
        raise TypeError(f"curves must be numeric; got dtype {curves.dtype}. Convert: curves.astype(float)")
    values = {name: _check_labels(curves, name) for name in ("algorithm", "run")} | {"training": _check_levels(curves)}
    changed = {
        name: (name, checked, _attrs(curves, name))
        for name, checked in values.items()
        if name not in curves.coords or curves[name].dtype != checked.dtype
    }
    # To assign, turn or cast what is right already would be most of the cost of this door.
    curves = curves.assign_coords(changed) if changed else curves
    curves = curves if curves.dims[-3:] == DIMS else curves.transpose(..., *DIMS)
    return curves if curves.dtype == np.float64 else curves.astype(np.float64)


def _attrs(curves: xr.DataArray, name: str) -> dict[Hashable, Any]:
    return curves[name].attrs if name in curves.coords else {}


def _check_dims(curves: xr.DataArray) -> None:
    dims = tuple(map(str, curves.dims))
    for needed in ("run", "algorithm", "training"):
        if needed not in dims:
            raise ValueError(f"dims must include {needed!r}; got {dims}. {_cure_dims(curves, needed)}")
    lasting = {str(name) for name, coord in curves.coords.items() if not set(coord.dims) & set(DIMS)}
    reserved = sorted((RESERVED | _RESULTS) & lasting.union(dims))
    if reserved:
        cure = ", ".join(f"{name}='{name}_'" for name in reserved)
        raise ValueError(
            f"curves has the name {reserved[0]!r}, which is reserved for results. Rename: da.rename({cure})"
        )
    for name, size in curves.sizes.items():
        if size == 0:
            raise ValueError(f"curves is empty: dim {name!r} has length 0. Check the selection that made it")


def _cure_dims(curves: xr.DataArray, needed: str) -> str:
    if needed in curves.coords:
        label = repr(curves[needed].to_numpy().item())
        kept = "isel(training=[-1])" if needed == "training" else f"sel({needed}=[{label}, ...])"
        return f"A selection dropped it; keep it with a list: da.{kept}"
    missing = [name for name in DIMS if name not in curves.dims]
    strange = [str(name) for name in curves.dims if name not in DIMS]
    renames = {s: name for name in missing for s in strange if s.lower() in _SYNONYMS[name].split()}
    left = [s for s in strange if s not in renames and s.lower() not in _USUAL_EXTRAS]
    unmet = [name for name in missing if name not in renames.values()]
    renames.update(zip(left, unmet, strict=False))
    if needed not in renames.values():
        example = -1 if needed == "training" else 0
        return f"Keep it when you select (da.isel({needed}=[{example}])) or add it: da.expand_dims({needed}=[0])"
    return "Rename: da.rename(" + ", ".join(f"{old}={renames[old]!r}" for old in strange if old in renames) + ")"


def _check_labels(curves: xr.DataArray, name: str) -> NDArray[Any]:
    """Return labels that are unique, and all strings or all numbers."""
    index = curves.indexes.get(name)
    if index is not None and index.nlevels > 1:
        raise TypeError(
            f"{name} labels must be all strings or all numbers; got a MultiIndex. "
            f"Number them: da.reset_index({name!r}, drop=True)"
        )
    labels = curves[name].to_numpy()
    as_strings = f"Convert: da.assign_coords({name}=da.{name}.astype(str))"
    if labels.dtype.kind in "OT":
        kinds = sorted({type(label).__name__ for label in labels.tolist()})
        if len(kinds) > 1 and kinds != ["float", "int"]:
            raise TypeError(
                f"{name} labels must be all strings or all numbers; got {' and '.join(kinds)}. {as_strings}"
            )
        labels = np.array(labels.tolist())
    if labels.dtype.kind not in "Uiuf":
        raise TypeError(f"{name} labels must be all strings or all numbers; got dtype {labels.dtype}. {as_strings}")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError(f"{name} labels must be finite; got {labels[~np.isfinite(labels)][0]}. {as_strings}")
    values, counts = np.unique(labels, return_counts=True)
    if len(values) < len(labels):
        repeated = values[counts > 1].tolist()
        raise ValueError(
            f"{name} labels must be unique; got {repeated[0]!r} {counts[counts > 1][0]} times. "
            f"Number them: da.assign_coords({name}=range(da.sizes[{name!r}]))"
        )
    return labels


def _check_levels(curves: xr.DataArray) -> NDArray[np.float64]:
    """Return training levels that are finite, strictly increasing floats."""
    if "training" not in curves.coords:
        raise ValueError(
            "curves has no training coordinate. Say the amounts of training: da.assign_coords(training=[...])"
        )
    levels = curves["training"].to_numpy()
    units = str(curves["training"].attrs.get("units", curves["training"].encoding.get("units", "")))
    if levels.dtype.kind == "m":
        raise TypeError(
            f"training must be numeric; got {levels.dtype}, which decoding makes of time units. "
            "Open with xr.open_dataset(path, decode_timedelta=False)"
        )
    if levels.dtype.kind == "M" or " since " in units:
        dated = levels.dtype.kind == "M"
        got = levels.dtype if dated else f"units {units!r}"
        cure = "Make it one: (da.training - da.training[0]) / np.timedelta64(1, 's')" if dated else "Name another unit"
        raise TypeError(f"training must be an amount, not a date; got {got}. {cure}")
    if levels.dtype.kind not in "iuf":
        raise TypeError(
            f"training must be numeric; got dtype {levels.dtype}. "
            "Convert: da.assign_coords(training=da.training.astype(float))"
        )
    levels = levels.astype(np.float64)
    if not np.isfinite(levels).all():
        raise ValueError(
            f"training must be finite; got {levels[~np.isfinite(levels)][0]}. "
            "Drop it: da.isel(training=np.isfinite(da.training))"
        )
    falls = np.flatnonzero(np.diff(levels) <= 0)
    if falls.size:
        before, after = levels[falls[0]], levels[falls[0] + 1]
        cure = "da.drop_duplicates('training')" if before == after else "da.sortby('training')"
        raise ValueError(f"training must be strictly increasing; got {after:g} after {before:g}. Mend: {cure}")
    return levels


def check_confidence_level(confidence_level: float) -> float:
    """Return alpha = 1 - confidence_level, without the dust of binary fractions."""
    if not isinstance(confidence_level, Real) or not 0 < confidence_level < 1:
        raise ValueError(f"confidence_level must lie between 0 and 1; got {confidence_level!r}. Usual: 0.95")
    return round(1 - float(confidence_level), 12)


def check_count(name: str, value: int | None) -> int | None:
    """Return a positive whole number, or None."""
    if value is None:
        return None
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number or None; got {value!r}. Leave it out for the default")
    if value < 1:
        raise ValueError(f"{name} must be at least 1; got {value}. Leave it out for the default")
    return int(value)


def check_flag(name: str, value: bool) -> bool:
    """Return a truth value."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False; got {value!r}")
    return bool(value)


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


def extra_dims(curves: xr.DataArray) -> tuple[Hashable, ...]:
    """Return the dims that broadcast."""
    return tuple(dim for dim in curves.dims if dim not in DIMS)


def task_names(curves: xr.DataArray) -> list[str]:
    """Return a prefix for messages about each task, in C order over the extra dims: "task 'Hopper': "."""
    dims = extra_dims(curves)
    labels = [[f"{dim} {label}" for label in words(curves[dim].to_numpy())] for dim in dims]
    return [", ".join(parts) + ": " if parts else "" for parts in product(*labels)]


def task_numbers(array: xr.DataArray, dims: Sequence[Hashable]) -> xr.DataArray:
    """Return the position of each task in `task_names`, for an array whose extra dims are `dims`."""
    shape = [array.sizes[dim] for dim in dims]
    return xr.DataArray(np.arange(int(np.prod(shape))).reshape(shape), dims=list(dims))


def kind_of(result: xr.Dataset) -> str:
    """Return the name of the method that made a result, known by its variables and dims."""
    if not isinstance(result, xr.Dataset):
        raise TypeError(f"result must be a Dataset that a method of .curves returned; got {type(result).__name__}")
    kind = find_kind(result)
    if kind is None:
        raise ValueError(f"this Dataset is no result of xcurves. {_pick_one(result)}")
    return kind


def find_kind(dataset: xr.Dataset) -> str | None:
    """Return what `kind_of` does, None for a Dataset that is no result."""
    for kind, (variables, dims) in _KINDS.items():
        if variables <= set(dataset.data_vars) and dims <= set(dataset.dims):
            return kind
    return None


def task_dims(result: xr.Dataset) -> tuple[Hashable, ...]:
    """Return the dims of a result that broadcast."""
    return tuple(dim for dim in result["n_shuffles"].dims if dim not in RESERVED)


def result_names(result: xr.Dataset) -> list[str]:
    """Return the prefix of `task_names` for each task of a result."""
    dims = task_dims(result)
    return task_names(result["n_shuffles"].isel({dim: 0 for dim in result["n_shuffles"].dims if dim not in dims}))


def _pick_one(dataset: xr.Dataset) -> str:
    name = next(iter(dataset.data_vars), "return")
    return f"Pick one variable: ds[{name!r}].curves"


def no_method(dataset: xr.Dataset, name: str) -> str:
    """Return the message for a method that a Dataset does not have."""
    kind = find_kind(dataset)
    if kind is None:
        return f"a Dataset has no .curves.{name}. {_pick_one(dataset)}.{name}"
    return f"a result of {kind} has no .curves.{name}. It has .curves.table() and .curves.summary()"
