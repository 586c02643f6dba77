"""Validation of options and of arrays: every `check_*` returns what it checked."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from decimal import Decimal
from keyword import iskeyword
from numbers import Integral, Real
from pathlib import Path
from time import time
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import magnitudes
from xcurves.core.labels import (
    DIMS,
    EVALUATION,
    RESERVED,
    native_labels,
    nearest,
    pick_one,
    plain_labels,
)
from xcurves.core.names import dim_of, dims_called
from xcurves.core.refusal import UNSAID, Cure, Refusal, Text, Verbatim, WrongType, call, give, of_path

NO_TRAINING = "no_training"  # the attr of scores that have none, and of results of them
_DIFFERENCES = ("curves", "scores")  # arguments of which differences are taken
LARGEST = 1e140  # of numbers as options: their squares do not overflow
Labelled = TypeVar("Labelled", xr.DataArray, xr.Dataset)
Rng = int | np.random.Generator | None
Bar = Callable[..., Iterable[Any]]

_ASKED_FIRST = ("run", "algorithm", "training")
_LONG_CALL = 5.0  # seconds after which a call shows a bar by itself


def check_share(name: str, value: float, usual: str = "0.05") -> float:
    """Return a number between 0 and 1."""
    if not isinstance(value, Real) or not 0 < value < 1:
        raise Refusal(name, value, "must lie between 0 and 1", f"Usual: {usual}")
    return float(value)


def check_confidence_level(confidence_level: float) -> float:
    """Return alpha = 1 - confidence_level in decimal digits: 1 - 0.9 is not 0.1 in binary."""
    level = check_share("confidence_level", confidence_level, "0.95")
    return round(1 - level, 12) or float(1 - Decimal(repr(level)))


def check_total(name: str, value: int, usual: str = "1000", *, least: int = 1, most: int = 10**12) -> int:
    """Return a whole number from `least` to `most`."""
    return _whole(name, value, f"Usual: {usual}", least, most)


def check_count(name: str, value: int | None, least: int = 1, most: int = 10**12) -> int | None:
    """Return a whole number from `least` to `most`, or None."""
    if value is None:
        return None
    return _whole(name, value, "Leave it out for the default", least, most)


def _whole(name: str, value: int, cure: str, least: int, most: int) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise WrongType(name, value, "must be a whole number", cure)
    if not least <= value <= most:
        bound = f"most {most:,}"
        if value < least:
            bound = f"least {least}"
        raise Refusal(name, value, f"must be at {bound}", cure)
    return int(value)


def check_number(name: str, value: float) -> float:
    """Return a finite number."""
    # A number of a short dtype cannot be compared with 1e140.
    if isinstance(value, np.floating):
        value = float(value)
    odd = not isinstance(value, Real) or isinstance(value, bool | np.timedelta64)
    if odd or not abs(value) <= LARGEST:
        raise Refusal(name, value, "must be a finite number", f"At most {LARGEST:g} in size")
    return float(value)


def check_margin(margin: float | None) -> float | None:
    """Return a margin of at least 0, or None."""
    # A number of a short dtype cannot be compared with 1e140.
    if isinstance(margin, np.floating):
        margin = float(margin)
    number = isinstance(margin, Real) and not isinstance(margin, bool)
    if margin is not None and not (number and 0 <= margin <= LARGEST):
        raise Refusal(
            "margin",
            margin,
            "must be a number of at least 0, in score units",
            Cure("Try ", give(margin=1.0)),
        )
    return margin


def check_flag(name: str, value: bool) -> bool:
    """Return a truth value."""
    if not isinstance(value, bool | np.bool_):
        raise WrongType(name, value, "must be True or False")
    return bool(value)


def check_progress(
    progress: bool | None,
    what: str = "shuffles",
    unit: str = "block",
    *,
    lazy: bool = False,
) -> Bar:
    """Return a function that wraps blocks of a computation in a bar; it takes their `total`.

    With None there is one in a terminal or notebook, where tqdm is installed, for a long call; dask shows its own.
    """
    by_itself = progress is None
    if progress is None:
        wanted = is_watched()
    else:
        wanted = check_flag("progress", progress)
    if lazy or not wanted:
        return no_bar
    try:
        from tqdm.auto import tqdm
    except ImportError:
        if by_itself:
            return no_bar
        raise ImportError("progress=True needs tqdm. Install it: pip install 'xcurves[progress]'") from None
    begin = time()

    def bar(blocks: Iterable[Any], total: int | None = None) -> Iterable[Any]:
        delay = 0.0
        if by_itself:
            delay = max(begin + _LONG_CALL - time(), 0.0)
        wrapped: Iterable[Any] = tqdm(blocks, what, total, leave=False, unit=unit, delay=delay)
        return wrapped

    return bar


def no_bar(blocks: Iterable[Any], **_: Any) -> Iterable[Any]:
    """Return the blocks as they are."""
    return blocks


def is_watched() -> bool:
    """Return whether errors and bars are written to a terminal or a notebook, not to a pipe or a file."""
    ipython = sys.modules.get("IPython")
    return hasattr(ipython and ipython.get_ipython(), "kernel") or bool(sys.stderr and sys.stderr.isatty())


def check_choice(name: str, value: str, choices: Sequence[str]) -> str:
    """Return one of the choices."""
    if not isinstance(value, str) or value not in choices:
        allowed = repr(choices[-1])
        if len(choices) > 1:
            allowed = f"{', '.join(map(repr, choices[:-1]))} or {allowed}"
        raise Refusal(name, value, f"must be {allowed}", nearest(value, choices))
    return value


def check_function(name: str, value: Any) -> Any:
    """Return what can be called."""
    if not callable(value):
        raise WrongType(
            name,
            value,
            "must be a function",
            "Give the function itself: xcurves.randomized_anova",
        )
    return value


def check_path(path: str | os.PathLike[str]) -> Path:
    """Return a path."""
    if not isinstance(path, str | os.PathLike):
        raise WrongType("path", path, "must be a string or a Path", "Give the name of a file")
    return Path(path)


def nearest_path(path: Path, also: Iterable[str] = ()) -> str:
    """Return the cure of a path that is not there: the nearest name, of files beside it or of `also`."""
    beside: list[str] = []
    if path.parent.is_dir():
        beside = [each.name for each in path.parent.iterdir()]
    return nearest(path.name, [*beside, *also], 0.75) or "Check the path"


def existing_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file or a folder; of what is not there say the nearest name."""
    path = check_path(path)
    if not path.exists():
        raise FileNotFoundError(f"{of_path(path)} does not exist. {nearest_path(path)}")
    if not (path.is_file() or path.is_dir()):
        reason = Text(of_path(path), " is a pipe or a device, which is read only once")
        raise Refusal("path", str(path), reason, "Write what comes from it to a file, and name that")
    return path


def check_rng(rng: Rng, *, random: bool = True) -> int:
    """Return the seed of a plan: a given int itself, else one that is drawn from the generator.

    Where none is given and the options leave nothing `random`, it is 0: any seed gives the same result.
    """
    if rng is None and not random:
        return 0
    if isinstance(rng, Integral) and not isinstance(rng, bool):
        if rng < 0:
            raise Refusal(
                "rng",
                Verbatim(rng),
                "must not be negative",
                "Give a whole number from 0, a Generator or None",
            )
        return int(rng)
    if rng is not None and not isinstance(rng, np.random.Generator):
        raise WrongType(
            "rng",
            rng,
            "must be a whole number, a numpy Generator or None",
            Cure("Try ", give(rng=0)),
        )
    return int(np.random.default_rng(rng).integers(2**63))


def check_array(name: str, array: xr.DataArray) -> xr.DataArray:
    """Return an array of numbers whose size is known."""
    if isinstance(array, xr.Dataset):
        raise WrongType(name, Verbatim("a Dataset"), "must be a DataArray", pick_one(array))
    if not isinstance(array, xr.DataArray):
        raise WrongType(
            name,
            type(array),
            "must be an xarray.DataArray",
            "Make one: df.curves.to_dataarray(...)",
        )
    if array.dtype.kind not in "biuf":
        raise WrongType(
            name,
            Verbatim(f"dtype {array.dtype}"),
            "must be numeric",
            f"Convert: {name}.astype(float)",
        )
    for dim, size in array.sizes.items():
        if size != size:
            raise Refusal(
                name,
                UNSAID,
                f"{name} has unknown chunks along {dim!r}",
                f"Find them: {name}.data.compute_chunk_sizes()",
            )
    return array


def check_not_empty(name: str, array: xr.DataArray) -> None:
    """Refuse an array without elements."""
    if not array.size:
        raise Refusal(name, UNSAID, f"{name} is empty: sizes {dict(array.sizes)}", "Check the selection that made it")


def numbers_of(values: Any) -> NDArray[np.float64] | None:
    """Return numbers of any shape, None if they are none."""
    try:
        numbers = np.asarray(values)
    except (TypeError, ValueError):  # such as lists of different lengths
        return None
    if numbers.dtype.kind not in "biuf":
        return None
    return numbers.astype(np.float64)


def check_curves(
    curves: xr.DataArray,
    core: Sequence[str] = DIMS,
    name: str = "curves",  # of the argument
    *,
    levels: bool = True,  # False drops training once it is checked: 10^8 levels of a pandas.RangeIndex take no memory
    own_levels: bool = False,
    reserved: Collection[str] = (),  # names of the variables of the result
    any_offset: bool = False,  # whether the method keeps all digits of scores far from zero
    named: Collection[str] = (),  # dims that the call names, which no cure renames
) -> xr.DataArray:
    """Return the array as float64, the core dims of a method last, with checked coordinates.

    Dims that are not core broadcast; of those, algorithm, run and training are checked like the core ones where they
    are present. With `own_levels`, runs may have levels of their own: the dim `evaluation` then stands for `training`,
    which is a coordinate on all dims, NaN after a run's last level.
    """
    check_array(name, curves)
    own = has_own_levels(curves)
    if own and not own_levels:
        raise Refusal(
            name,
            UNSAID,
            f"{name}: runs have their own levels",
            Cure("Bring them to common ones: ", call(".curves.align", 20)),
        )
    taken = RESERVED.union(reserved)
    if own:
        core = [{"training": EVALUATION}.get(dim, dim) for dim in core]
        # The dim may be there, unless a result has a variable of that name.
        taken = (RESERVED - {EVALUATION}).union(reserved)
    _check_dims(curves, core, name, taken, named)

    curves = native_labels(curves)
    checked: dict[str, NDArray[Any]] = {
        dim: _checked_labels(curves, dim) for dim in ("algorithm", "run") if dim in curves.dims
    }
    if own:
        curves = _check_own_levels(curves, name)
    elif _needs_training(curves, core):
        _check_training(curves, name)
        if levels:
            training = curves.coords.variables["training"]
            checked["training"] = training.to_numpy().astype(np.float64)
        else:
            curves = curves.drop_vars("training")
    for dim in curves.dims:
        if dim not in (*core, *checked) and dim in curves.xindexes:
            _check_unique(str(dim), curves.xindexes[dim].to_pandas_index())

    curves = _as_checked(curves, checked, core)
    if reserved and name in _DIFFERENCES and not any_offset:
        magnitudes.check_range(curves, core, name)
    return curves


def _needs_training(curves: xr.DataArray, core: Sequence[str]) -> bool:
    """Return whether curves must have levels: along a dim of theirs, or because the method takes levels."""
    if "training" in curves.coords:
        return "training" in curves.dims
    return "training" in core


def _as_checked(curves: xr.DataArray, checked: dict[str, NDArray[Any]], core: Sequence[str]) -> xr.DataArray:
    """Return curves as float64 with checked labels, the core dims last.

    Assigning, transposing or casting without need would be most of the cost of the whole check.
    """
    known = curves.coords.variables
    changed: dict[str, Any] = {}
    for dim, values in checked.items():
        if dim not in known:
            changed[dim] = (dim, values)
        elif known[dim].dtype != values.dtype:
            changed[dim] = (dim, values, known[dim].attrs)
    if changed:
        curves = curves.assign_coords(changed)
    if curves.dims[-len(core) :] != tuple(core):
        curves = curves.transpose(..., *core)
    if curves.dtype != np.float64:
        curves = curves.astype(np.float64)
    return curves


def with_training(scores: xr.DataArray, named: Collection[str] = ()) -> xr.DataArray:
    """Return scores without training at one level of it, and anything else as it is; `named` dims are of tasks.

    Methods that compare one number of each run take scores as they are; this is where they do.
    """
    if not (isinstance(scores, xr.DataArray) and has_no_training(scores, named)):
        return scores
    return at_one_level(scores)


def at_one_level(scores: xr.DataArray) -> xr.DataArray:
    """Return scores that are known to have no training at one level of it."""
    return scores.expand_dims(training=[0.0], axis=-1).assign_attrs({NO_TRAINING: 1})


def is_without_training(made: xr.DataArray | xr.Dataset) -> bool:
    """Whether curves, or a result of them, are of scores that had no training: nothing is said about training then."""
    return NO_TRAINING in made.attrs


def are_means_over_training(result: xr.Dataset) -> bool:
    """Whether the score of each run in a result is its mean over training, and not a single or a weighted score."""
    is_weighted = "training_weights" in result.attrs or "training_weights" in result.variables
    return not is_without_training(result) and not is_weighted


def has_no_training(scores: xr.DataArray, named: Collection[str] = ()) -> bool:
    """Whether an array is of scores: algorithms, runs, tasks, `named` ones too, no dim that could be of training."""
    dims = set(map(str, scores.dims))
    has_runs = {"algorithm", "run"} <= dims
    has_levels = "training" in scores.coords or dims & {"training", EVALUATION}
    if not has_runs or has_levels:
        return False
    tasks = [dim for dim in scores.dims if dim not in ("algorithm", "run")]
    return all(dim in named or dim_of(dim) == "task" or _has_words(scores, dim) for dim in tasks)


def _has_words(scores: xr.DataArray, dim: Hashable) -> bool:
    """Return whether the labels of a dim are texts."""
    return dim in scores.coords and scores.coords[dim].dtype.kind in "UOT"


def has_own_levels(curves: xr.DataArray | xr.Dataset) -> bool:
    """Whether each run has training levels of its own, numbered along the dim `evaluation`."""
    return EVALUATION in curves.dims and "training" in curves.coords


def _check_own_levels(curves: xr.DataArray, name: str) -> xr.DataArray:
    """Return curves whose training, NaN after a run's last level, is a coordinate of floats on all of their dims."""
    given = curves.coords["training"]
    cure = "Make them from rows: frame.curves.to_dataarray(..., levels='run')"
    if EVALUATION not in given.dims or given.dtype.kind not in "iuf":
        raise Refusal(
            name,
            Verbatim(f"{given.dtype} {given.dims}"),
            f"{name}: training must be numbers along {EVALUATION!r}",
            cure,
        )
    training = given.astype(np.float64).broadcast_like(curves).transpose(*curves.dims)
    if training.chunks is None:
        levels = np.moveaxis(training.to_numpy(), curves.dims.index(EVALUATION), -1)
        before, after = levels[..., :-1], levels[..., 1:]
        if np.isinf(levels).any() or not ((after > before) | np.isnan(after)).all():
            raise Refusal(
                name,
                UNSAID,
                f"{name}: training must be finite and increase in each run, NaN only after its last level",
                cure,
            )
        if curves.chunks is None and (np.isnan(training.to_numpy()) & ~np.isnan(curves.to_numpy())).any():
            raise Refusal(
                name,
                UNSAID,
                f"{name}: some scores have no training level",
                f"Give it, or mask them: {name}.where(...)",
            )
    return curves.assign_coords(training=training.assign_attrs(given.attrs))


def _check_dims(
    curves: xr.DataArray,
    core: Sequence[str],
    name: str,
    reserved: Collection[str],
    named: Collection[str],
) -> None:
    dims = tuple(map(str, curves.dims))
    if "training" in core and has_no_training(curves, named):
        over = ", ".join(f"task={dim!r}" for dim in curves.dims if dim in named)
        cure = f"Compare them: .curves.pairwise(), or across_tasks({over}) over tasks"
        raise Refusal(
            name,
            Verbatim(dims),
            f"{name}: dims must include 'training'",
            f"Scores have no training. {cure}",
        )
    in_order = core
    if set(core) <= set(DIMS):
        in_order = sorted(core, key=_ASKED_FIRST.index)
    for needed in in_order:
        if needed not in dims:
            raise Refusal(
                "dims",
                Verbatim(dims),
                f"must include {needed!r}",
                _cure_dims(curves, core, needed, named),
            )
    lasting = {str(coord) for coord, each in curves.coords.variables.items() if not set(each.dims) & set(core)}
    taken = sorted(lasting.union(dims).intersection(reserved))
    if taken:
        cure = ", ".join(f"{each}='{each}_'" for each in taken)
        raise Refusal(
            name,
            UNSAID,
            f"{name} has the name {taken[0]!r}, which is reserved for results",
            f"Rename: da.rename({cure})",
        )
    for dim, size in curves.sizes.items():
        if not isinstance(dim, str):
            raise WrongType(
                "dims",
                dim,
                "must have texts as names",
                f"Rename: da.rename({{{dim!r}: 'task'}})",
            )
        if size == 0:
            raise Refusal(
                name,
                UNSAID,
                f"{name} is empty: dim {dim!r} has length 0",
                "Check the selection that made it",
            )


def _cure_dims(curves: xr.DataArray, core: Sequence[str], needed: str, named: Collection[str]) -> str:
    """Return the call that gives curves a core dim that they lack, for an error message."""
    if needed in curves.coords:
        label = repr(curves[needed].to_numpy().item())
        selection = f"sel({needed}=[{label}, ...])"
        if needed == "training":
            selection = "isel(training=[-1])"
        return f"A selection dropped it; keep it with a list: da.{selection}"

    renames = _likely_renames(curves, core, named)
    if needed not in renames.values():
        example = 0
        if needed == "training":
            example = -1
        return f"Keep it when you select (da.isel({needed}=[{example}])) or add it: da.expand_dims({needed}=[0])"

    # Names that are no keywords of Python go into a dict.
    names = {old: renames[str(old)] for old in curves.dims if str(old) in renames}
    arguments = repr(names)
    if all(isinstance(old, str) and old.isidentifier() and not iskeyword(old) for old in names):
        arguments = ", ".join(f"{old}={new!r}" for old, new in names.items())
    return f"Rename: da.rename({arguments})"


def _likely_renames(curves: xr.DataArray, core: Sequence[str], named: Collection[str]) -> dict[str, str]:
    """Return which core dim each dim that is not `named` is likely to be: by synonyms, then in order."""
    missing = [name for name in core if name not in curves.dims]
    taken = {*DIMS, *core, *named}
    others = [str(dim) for dim in curves.dims if dim not in taken]
    renames = {other: dim for other, dim in dims_called(others, {}).items() if dim in missing}
    left = [other for other in others if other not in renames and dim_of(other) != "task"]
    unmet = [name for name in missing if name not in renames.values()]
    renames.update(zip(left, unmet, strict=False))
    return renames


def _check_unique(dim: str, labels: pd.Index) -> None:
    """Refuse labels that are there twice."""
    if not labels.is_unique:
        first = labels[labels.duplicated()].tolist()[0]
        raise Refusal(
            "curves",
            Verbatim(f"{first!r} {np.count_nonzero(labels == first)} times"),
            f"{dim} labels must be unique",
            f"Number them: da.assign_coords({dim}=range(da.sizes[{dim!r}]))",
        )


def _checked_labels(curves: xr.DataArray, name: str) -> NDArray[Any]:
    """Return labels that are unique, and all strings or all numbers."""
    mixed = f"{name} labels must be all strings or all numbers; got"
    if isinstance(curves.xindexes.get(name), xr.indexes.PandasMultiIndex):
        raise WrongType(
            "curves",
            UNSAID,
            f"{mixed} a MultiIndex",
            f"Number them: da.reset_index({name!r}, drop=True)",
        )
    given: Any = np.arange(curves.sizes[name])
    if name in curves.coords.variables:
        given = curves.coords.variables[name].values
    labels = plain_labels(given)
    as_strings = f"Convert: da.assign_coords({name}=da.{name}.astype(str))"
    if labels.dtype.kind not in "Uiuf":
        got = f"dtype {labels.dtype}"
        if labels.dtype == object:
            types = {type(label).__name__ for label in labels.tolist()}
            got = " and ".join(sorted(types))
        raise WrongType("curves", UNSAID, f"{mixed} {got}", as_strings)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise Refusal(
            name,
            Verbatim(labels[~np.isfinite(labels)][0]),
            f"{name} labels must be finite",
            as_strings,
        )
    # otherwise all differ, which is found faster
    if not (labels[1:] > labels[:-1]).all():
        _check_unique(name, pd.Index(labels.tolist(), dtype=object))
    return labels


def _check_training(curves: xr.DataArray, name: str) -> None:
    """Refuse training levels that are not finite, strictly increasing amounts."""
    if "training" not in curves.coords:
        raise Refusal(
            name,
            UNSAID,
            f"{name} has no training coordinate",
            "Say the amounts of training: da.assign_coords(training=[...])",
        )
    levels = curves.coords.variables["training"]
    index = None
    if "training" in curves.xindexes:
        index = curves.xindexes["training"].to_pandas_index()
    _check_amounts(levels, index)
    # A range needs no memory, and stays one.
    if isinstance(index, pd.RangeIndex) and (index.step > 0 or len(index) == 1):
        return
    _check_increasing(levels.to_numpy().astype(np.float64))


def _check_amounts(levels: xr.Variable, index: pd.Index | None) -> None:
    """Refuse training levels that are texts, durations, dates or combinations."""
    units = str(levels.attrs.get("units", levels.encoding.get("units", "")))
    got = str(levels.dtype)
    cure = ""
    if index is not None and index.nlevels > 1:
        got = "a MultiIndex"
        cure = "Number it: da.reset_index('training', drop=True).assign_coords(training=[...])"
    elif levels.dtype.kind == "m":
        cure = "Convert, here to hours: da.assign_coords(training=da.training / np.timedelta64(1, 'h'))"
    elif levels.dtype.kind == "M":
        seconds = "(da.training - da.training[0]) / np.timedelta64(1, 's')"
        cure = f"Convert, here to seconds: da.assign_coords(training={seconds})"
    elif levels.dtype.kind not in "iuf":
        cure = "Say the amounts of training: da.assign_coords(training=[...])"
    elif " since " in units:
        got = f"units {units!r}"
        cure = "Name another unit"
    if cure:
        raise WrongType(
            "training",
            Verbatim(f"{got}"),
            "must be numbers, amounts and no dates",
            cure,
        )


def _check_increasing(values: NDArray[np.float64]) -> None:
    """Refuse training levels that are not finite or do not increase strictly."""
    if not np.isfinite(values).all():
        raise Refusal(
            "training",
            Verbatim(values[~np.isfinite(values)][0]),
            "must be finite",
            "Drop it: da.isel(training=np.isfinite(da.training))",
        )
    falls = np.flatnonzero(values[1:] <= values[:-1])
    if falls.size:
        before = values[falls[0]]
        after = values[falls[0] + 1]
        cure = "da.sortby('training')"
        if before == after:
            cure = "da.drop_duplicates('training')"
        raise Refusal(
            "training",
            Verbatim(f"{after:g} after {before:g}"),
            "must be strictly increasing",
            f"Correct it: {cure}",
        )
