"""The names of dims, labels and tasks, and how messages write them."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import combinations, product
from numbers import Real
from typing import Any, TypeVar

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core.refusal import UNSAID, Refusal, Verbatim, WrongType

_Data = TypeVar("_Data", xr.DataArray, xr.Dataset)

DIMS = ("algorithm", "run", "training")
# Words at the end of names whose labels name or number things: env_id, model_name, fold_nr.
OF_LABELS = ("id", "name", "idx", "index", "nr", "no", "num")
# the coordinate of algorithms that says by number which look each has in pictures, and those of pairs
COLOR_INDEX = "color_index"
PAIR_COLORS = ("color_index_a", "color_index_b")
REFERENCE_COLOR = "color_index_reference"  # of a reference that is no label of a result
# so that a plan does not depend on the order in which they come
ORDERED = ("algorithm", "run")
EVALUATION = "evaluation"  # stands for training where each run has its own levels
EFFECTS = ("algorithm", "interaction")
ERROR_TERMS = ("pooled", "split_plot", "welch")
CI_BOUNDS = ("lower", "upper")
SIDES = ("algorithm_a", "algorithm_b")  # of pairs
QUARTILES = ("lower", "median", "upper")
VARIATION_SOURCES = ("interaction", "algorithm", "training", "error", "total")
# Dims of results, which no input may have, with their long names.
LONG_NAMES = {
    "evaluation": "number of the evaluation",
    "effect": "effect",
    "error_term": "error term",
    "source": "source of variation",
    "resample": "number of the reassignment",
    "pair": "pair of algorithms",
    "ci_bound": "bound of the interval",
    "quartile": "quartile",
    "param": "parameter or statistic",
    "cov_param": "parameter of the second dim of the covariance",
    "n": "training size of the prediction",
    "crossing": "number of the crossing",
    "score": "score",
    "probability": "probability",
    "cvar_level": "level of the conditional value at risk",
    "threshold": "threshold of the score",
    "interval": "training interval",
    "variant": "variant of the power law",
    "task_effect": "claim: for these tasks (fixed), or for tasks like these (random)",
    "budget_fraction": "fraction of the training budget",
    "look": "number of the look",
    "trials": "number of trials",
    "tau": "time as a multiple of the best",
    "flop": "compute",
    "candidate": "candidate",
    "which": "first or present champion",
}
RESERVED = frozenset(LONG_NAMES)
_CAMEL_ENDING = re.compile(rf"(?<=[a-z])(?:ID|{'|'.join(map(str.title, OF_LABELS))})$")  # of DatasetName
_SEVERAL = frozenset(["benchmarks", "datasets", "environments", "envs", "problems", "tasks", "workloads"])


def words(values: Iterable[Any]) -> list[str]:
    """Return labels as they are written in messages."""
    return [repr(value) for value in np.asarray(values).tolist()]


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """Return the end of a message about an unknown name: the known one that is most like it, nothing if none is."""
    near = nearest(name, known)
    return f". {near}" if near else ""


def nearest(name: object, known: Iterable[object], likeness: float = 0.6) -> str:
    """Return which known name is most like an unknown one, by a share of letters, as a cure, "" if none is."""
    plain = {_simplified(each): each for each in known}
    near = get_close_matches(_simplified(name), plain, 1, likeness)
    return f"Did you mean {plain[near[0]]!r}?" if near else ""


def _simplified(name: object) -> str:
    # the dashes of an option make no likeness
    return str(name).strip().casefold().removeprefix("--")


def native_labels(data: _Data) -> _Data:
    """Return the data with labels of numpy in the machine's byte order: pandas cannot look up others."""
    native = {}
    for dim, label in data.coords.variables.items():
        if dim in data.dims and not getattr(label.dtype, "isnative", False):
            native[dim] = (dim, _native_values(label), label.attrs)
    if not native:
        return data
    return data.assign_coords(native)


def _native_values(label: xr.Variable) -> NDArray[Any]:
    """Return labels as an array of numpy's own, in the machine's byte order."""
    values = label.to_numpy()
    if isinstance(label.dtype, np.dtype):
        return np.asarray(values.astype(values.dtype.newbyteorder("=")))
    return np.array(values.tolist())


def plain_labels(values: Any) -> NDArray[Any]:
    """Return labels as an array of numpy's own text or numbers, of objects where they are not all of one kind."""
    labels = np.asarray(values)
    if labels.dtype.kind not in "OT":
        return labels
    for kind in (str, Real):
        if all(isinstance(label, kind) for label in labels.tolist()):
            return np.array(labels.tolist())
    return labels.astype(object)


def extra_dims(curves: xr.DataArray, core: Collection[Hashable] = (*DIMS, EVALUATION)) -> tuple[Hashable, ...]:
    """Return the dims that broadcast: all but the core dims of a method."""
    return tuple(dim for dim in curves.dims if dim not in core)


def task_names(curves: xr.DataArray, core: Collection[Hashable] = (*DIMS, EVALUATION)) -> list[str]:
    """Return a prefix for messages about each task, in C order over the extra dims: "task 'Hopper': "."""
    return task_prefixes(curves, extra_dims(curves, core))


def task_prefixes(data: xr.DataArray | xr.Dataset, dims: Sequence[Hashable]) -> list[str]:
    """Return a prefix for messages about each combination of labels of dims."""
    if not dims:
        return [""]
    labels = [[f"{dim} {label}" for label in words(data[dim].to_numpy())] for dim in dims]
    return [f"{', '.join(parts)}: " for parts in product(*labels)]


def algorithm_pairs(
    curves: xr.DataArray, reference: Hashable | None = None, *, name: str = "curves"
) -> list[tuple[int, int]]:
    """Return the places of both algorithms of every pair: all pairs, or every other algorithm with the reference."""
    algorithms = curves["algorithm"].to_numpy().tolist()
    if len(algorithms) < 2:
        raise Refusal(name, UNSAID, f"{name} has one algorithm; a comparison needs two", "Add one")
    if reference is None:
        return list(combinations(range(len(algorithms)), 2))
    if not isinstance(reference, Hashable) or reference not in algorithms:
        known = ", ".join(map(repr, algorithms[:10]))
        raise Refusal(
            "reference",
            reference,
            "must be an algorithm of the curves",
            f"They have {known}{did_you_mean(reference, algorithms)}",
        )
    second = algorithms.index(reference)
    return [(first, second) for first in range(len(algorithms)) if first != second]


def pair_coords(curves: xr.DataArray, reference: Hashable | None = None) -> dict[Hashable, Any]:
    """Return the coordinates of pairs of algorithms: their labels "a - b", and each of the two."""
    pairs = np.array(algorithm_pairs(curves, reference))
    first, second = curves["algorithm"].to_numpy()[pairs].T
    coords: dict[Hashable, Any] = {
        "pair": [f"{a} - {b}" for a, b in zip(first, second, strict=True)],
        "algorithm_a": ("pair", first),
        "algorithm_b": ("pair", second),
    }
    if has_color_index(curves):
        for name, places in zip(PAIR_COLORS, pairs.T, strict=True):
            coords[name] = ("pair", curves[COLOR_INDEX].to_numpy()[places])
    return coords


def ordered(data: _Data, order: Sequence[Any] | None) -> _Data:
    """Return data with the algorithms in the order asked for, the others behind."""
    if order is None:
        return data
    if isinstance(order, str) or not isinstance(order, Sequence | np.ndarray):
        raise WrongType("order", order, "must be a list of names", "Give ['sac', 'td3']")
    if "algorithm" not in data.dims:
        raise Refusal(
            "order",
            UNSAID,
            "is of algorithms; this has none",
            "Leave it out",
        )
    names = data["algorithm"].to_numpy().tolist()
    wanted = list(order)
    for name in wanted:
        if name not in names:
            cure = did_you_mean(name, names) or f". There are {', '.join(map(repr, names[:10]))}"
            raise Refusal("order", Verbatim(f"{name!r}{cure}"), "must have names of algorithms")
        if wanted.count(name) > 1:
            raise Refusal(
                "order",
                Verbatim(f"{name!r} twice"),
                "must have each name once",
                "Leave one out",
            )
    places: list[int] = [names.index(name) for name in wanted]
    others: list[int] = [place for place in range(len(names)) if place not in places]
    return data.isel(algorithm=[*places, *others])


def relabelled(data: _Data, names: Mapping[Any, str] | None) -> _Data:
    """Return curves or a result whose algorithms have other names, in pairs and as the reference too."""
    if names is None:
        return data
    if not isinstance(names, Mapping):
        raise WrongType("labels", names, "must be a mapping", "Give {'sac': 'SAC'}")
    sides = [name for name in ("algorithm", "algorithm_a", "algorithm_b") if name in data.coords]
    known = [label for side in sides for label in data[side].to_numpy().ravel().tolist()]
    for name in names:
        if name not in known:
            raise Refusal(
                "labels", Verbatim(f"{name!r}{did_you_mean(name, known)}"), "must have names of algorithms as its keys"
            )
    renamed = {side: [str(names.get(label, label)) for label in np.ravel(data[side]).tolist()] for side in sides}
    if len(set(renamed.get("algorithm", ()))) < len(renamed.get("algorithm", ())):
        raise Refusal("labels", names, "gives two algorithms one name", "Give each its own")
    coords: dict[Hashable, Any] = {}
    for side, labels in renamed.items():
        coords[side] = (data[side].dims, np.reshape(labels, data[side].shape), data[side].attrs)
    if "pair" in data.coords and {"algorithm_a", "algorithm_b"} <= renamed.keys():
        pairs = [f"{a} - {b}" for a, b in zip(renamed["algorithm_a"], renamed["algorithm_b"], strict=True)]
        coords["pair"] = (data["pair"].dims, np.reshape(pairs, data["pair"].shape), data["pair"].attrs)
    data = data.assign_coords(coords)
    if data.attrs.get("reference") in names:
        data = data.assign_attrs(reference=names[data.attrs["reference"]])
    return data


def has_color_index(data: xr.DataArray | xr.Dataset) -> bool:
    """Return whether the algorithms of data are numbered for their colours, each once.

    Arrays that were put together can lack numbers or have one twice: then the places count.
    """
    if COLOR_INDEX not in data.coords or data[COLOR_INDEX].dims != ("algorithm",):
        return False
    numbers = data[COLOR_INDEX].to_series()
    return bool(numbers.is_unique and numbers.notna().all())


def with_color_index(data: _Data) -> _Data:
    """Return data whose algorithms are numbered by their places, unless they are already."""
    if "algorithm" not in data.dims or has_color_index(data):
        return data
    places = np.arange(data.sizes["algorithm"])
    attrs = {"long_name": "number of the colour in pictures"}
    return data.assign_coords({COLOR_INDEX: ("algorithm", places, attrs)})


def without_color_index(data: xr.Dataset) -> xr.Dataset:
    """Return data without the numbers of colours, which no table shows."""
    numbers = [COLOR_INDEX, *PAIR_COLORS, REFERENCE_COLOR]
    return data.drop_vars(numbers, errors="ignore")


def pick_one(dataset: xr.Dataset) -> str:
    """Return the advice for a Dataset where one of its variables is wanted."""
    name = next(iter(dataset.data_vars), "return")
    return f"Pick one variable: ds[{name!r}].curves"


def task_dims(variable: xr.DataArray, core: Collection[Hashable] = ()) -> tuple[Hashable, ...]:
    """Return the dims of a variable of a result that broadcast: all but reserved ones and those of the method."""
    return extra_dims(variable, RESERVED.union(core))


def task_noun(variable: xr.DataArray, core: Collection[Hashable] = ()) -> str:
    """Return what a task of a result is called: the name of its dim, "task" where there are several."""
    dims = task_dims(variable, core)
    if dims == ("training",):
        return "training level"
    if len(dims) == 1:
        return noun(str(dims[0]))
    return "task"


# nouns whose plural takes more than an s, by their ends, and names that are none: n, key1, tokens_seen
_IRREGULAR = re.compile(r"(?:[^aeiou]y|s|x|z|ch|sh|\d|seen)$|^.{1,2}$", re.IGNORECASE)


def noun(dim: str) -> str:
    """Return the name of a dim as a noun: "env" of env_name, "data set" of data_set and data, "dataset" of Key_Dataset.

    Its plural has an s: "difficulty task" of difficulty.
    """
    words = re.sub(
        rf"^.*/|^(?:[a-z_]\w*\.)+(?=[a-z_])|^key_|_(?:key|{'|'.join(OF_LABELS)})$", "", dim, flags=re.IGNORECASE
    )
    words = _CAMEL_ENDING.sub("", words)
    if words in _SEVERAL:  # a column may bear the name of all of its labels
        words = words.removesuffix("s")
    words = words.replace("_", " ").strip()
    if words.lower() == "unique":  # unique_id, as forecasts have it
        words = "series"
    if words.lower() == "data":  # which has no plural
        words += " set"
    if words != dim and words.istitle():  # words of a name; MNIST and pH are as they are written
        words = words.lower()
    if _IRREGULAR.search(words):
        words += " task"
    return words or "task"


def result_names(variable: xr.DataArray, core: Collection[Hashable] = ()) -> list[str]:
    """Return the prefix of `task_names` for each task of a variable of a result."""
    return task_names(variable, RESERVED.union(core))


def tasks_of(result: xr.Dataset, variable: str, core: Collection[Hashable] = ()) -> Iterator[xr.Dataset]:
    """Yield the tasks of a result in C order; the variable has the dims of tasks."""
    dims = task_dims(result[variable], core)
    for indices in product(*(range(result.sizes[dim]) for dim in dims)):
        yield result.isel(dict(zip(dims, indices, strict=True)))


def named_tasks(result: xr.Dataset, variable: str, core: Collection[Hashable] = ()) -> Iterator[tuple[xr.Dataset, str]]:
    """Yield what `tasks_of` does, each task with its prefix in messages."""
    return zip(
        tasks_of(result, variable, core),
        result_names(result[variable], core),
        strict=True,
    )


def each_of(result: xr.Dataset, dim: str) -> Iterator[xr.Dataset]:
    """Yield the part of a result at each label of a dim."""
    return (result.isel({dim: index}) for index in range(result.sizes[dim]))


def in_label_order(curves: xr.DataArray, core: Collection[Hashable] = DIMS) -> xr.DataArray:
    """Sort algorithms and runs that are core dims, so that a plan does not depend on the order in which they come."""
    unsorted = list(label_order(curves, core))
    if not unsorted:
        return curves
    return curves.sortby(unsorted)


def label_order(curves: xr.DataArray, core: Collection[Hashable] = DIMS) -> dict[str, NDArray[np.intp]]:
    """Return the index of each algorithm and run among those in the order of their labels, where that is another."""
    index = {dim: curves.xindexes[dim].to_pandas_index() for dim in ORDERED if dim in core and dim in curves.xindexes}
    return {
        dim: each.sort_values().get_indexer(each) for dim, each in index.items() if not each.is_monotonic_increasing
    }


def pairs_in_label_order(curves: xr.DataArray, reference: Hashable | None = None) -> NDArray[np.intp]:
    """Return the indices of both algorithms of every pair among those in label order, shape (pair, 2)."""
    pairs = np.array(algorithm_pairs(curves, reference))
    order = label_order(curves).get("algorithm")
    if order is None:
        return pairs
    return np.asarray(order[pairs])
