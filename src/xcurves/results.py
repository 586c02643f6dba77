"""Results of any kind: which kind, as a table, in sentences, as a tidy frame."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import xarray as xr

from xcurves import kinds
from xcurves.core.labels import DIMS, pick_one
from xcurves.core.schema import ResultKind, View

T = TypeVar("T")

_DESCRIBED = ("units", "long_name")
_NO_ROWS = "resample"  # the null distribution is no part of a frame


def find_kind(dataset: xr.Dataset) -> ResultKind | None:
    """Return the kind of a result, by its attrs or by its variables; None if it is no result."""
    named = dataset.attrs.get("xcurves_result")
    if named in kinds.NAMES:
        return kinds.kind(named)
    matching = [kind for kind in map(kinds.kind, kinds.NAMES) if kind.required() <= set(dataset.variables)]
    return max(matching, key=lambda kind: len(kind.required()), default=None)


def kind_of(result: xr.Dataset) -> ResultKind:
    """Return the kind of a result; refuse anything else."""
    if not isinstance(result, xr.Dataset):
        raise TypeError(f"result must be a Dataset that a method of .curves returned; got {type(result).__name__}")
    kind = find_kind(result)
    if kind is None:
        raise ValueError(f"this Dataset is no result of xcurves. {pick_one(result)}")
    return kind


def prepare(result: xr.Dataset) -> tuple[ResultKind, xr.Dataset]:
    """Return the kind of a result, and the result in memory; dims of which one label was selected are restored."""
    kind = kind_of(result)
    result = result.compute()
    selected = [dim for dim in kind.coords if dim in result.coords and not result[dim].dims]
    for dim in selected:
        label = result[dim].item()
        of_dim = [name for name, var in kind.variables.items() if name in result and dim in var.dims]
        result = result.drop_vars(dim)
        result = result.assign({name: result[name].expand_dims({dim: [label]}) for name in of_dim})
    _refuse_changed(kind, result)
    return kind, result


def _refuse_changed(kind: ResultKind, result: xr.Dataset) -> None:
    """Refuse a Dataset whose attrs say it is a result, but whose values show that arithmetic changed it."""
    cure = "Arithmetic keeps attrs; delete attrs['xcurves_result'], or work on single variables"
    for name, var in kind.variables.items():
        if name not in result:
            continue
        values = result[name].to_numpy()
        if values.dtype.kind not in "iuf":
            raise ValueError(f"{name} of a result of {kind.name} must be numeric; got dtype {values.dtype}. {cure}")
        known = values[~np.isnan(values)]
        if np.issubdtype(var.dtype, np.integer) and (known != np.round(known)).any():
            raise ValueError(f"{name} of a result of {kind.name} must be whole numbers; got {known.max():g}. {cure}")
        if name.startswith("pvalue") and ((known < 0) | (known > 1 + 1e-9)).any() and name != "pvalue_stderr":
            raise ValueError(f"{name} of a result of {kind.name} must lie in [0, 1]; got {known.max():g}. {cure}")


def ask(kind: ResultKind, result: xr.Dataset, what: Callable[[xr.Dataset], T], name: str) -> T:
    """Call a function of a kind on a prepared result; an error names what a selection removed."""
    try:
        return what(result)
    except (KeyError, IndexError, ValueError) as error:
        missing = [each for each in kind.variables if each not in result and repr(each) in str(error)]
        if missing:
            cure = f"It was dropped; keep it in the selection: result[[{missing[0]!r}, ...]]"
            raise ValueError(f"{name} of a result of {kind.name} needs the variable {missing[0]!r}. {cure}") from error
        lacking = [dim for dim, labels in kind.coords.items() if labels and result.sizes.get(dim, 0) < len(labels)]
        if lacking:
            cure = f"Some labels were selected away; take .curves.{name}() of the whole result"
            raise ValueError(f"{name} of a result of {kind.name} needs all of dim {lacking[0]!r}. {cure}") from error
        gone = [
            dim
            for each, var in kind.variables.items()
            if each in result
            for dim in var.core
            if dim not in result[each].dims
        ]
        if gone or not isinstance(error, ValueError):
            what_is_gone = f"the dim {gone[0]!r}" if gone else "labels that were selected away"
            cure = f"Select with lists, isel(dim=[0]), or take .curves.{name}() of the whole result"
            raise ValueError(f"{name} of a result of {kind.name} needs {what_is_gone}. {cure}") from error
        raise


def table(result: xr.Dataset | xr.DataTree) -> pd.DataFrame:
    """Return a result as a table to print.

    Parameters
    ----------
    result : Dataset or DataTree
        What a method returned, or a selection of it, or the group of an analysis; a lazy one is computed.

    Returns
    -------
    DataFrame
        Of `randomized_anova`, the split-plot table: rows Algorithm, Runs, Training, Interaction, Runs × training,
        Total; columns df, SS, MS, F and p. Algorithm is compared with Runs, Training and Interaction with Runs ×
        training; Training has no p, since no reassignment of runs can change its F. With
        ``anova.sel(error_term="pooled")`` the table of the paper: rows Interaction, Algorithm, Training, Error, Total.
        Of `pairwise`, a row for each pair:
        difference, its interval (lower, upper), and the adjusted p of both effects. Of `contrast`, one row: estimate,
        lower, upper, T, p. Of `ss_profile`, a row for each training level: SS, its fraction and cumulative fraction of
        the simple profile, and, if asked for, F, p, p_adjusted and equivalent. Of `fit_power_law`, the paper's table
        of learning curves, a row for each: e_N, beta_N, gamma, alpha, eta (and delta). Of `predict`, a row for each
        size: prediction, lower, upper, change (from the size N), its bounds, extrapolated. Of `leave_one_size_out`, the
        table of the paper's Figure 2, a row for each variant: R2, the RMSE at every size, their average, p. Of
        `compare_learners`, a row for each algorithm: differences with their intervals, crossings, the data multiplier.
        Of `performance_cdf`, a row for each statistic: value and interval. Of `compare_distributions`, a row for each
        pair: probability that the first scores higher, its interval, and with independent trials the verdict, the
        Kolmogorov-Smirnov distance and its adjusted p. Of `type_i_error` and `power`, a row for each setting and
        p-value: rate, its interval, the number n of data sets. Of `runs_needed`, a row for each number of runs: power,
        its interval, and the runs needed. With extra dims, the same for each task.

    Raises
    ------
    ValueError, TypeError
        If `result` is no result of this library, or a selection removed what the table needs.

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> result = scores.curves.randomized_anova(rng=0)
    >>> list(result.curves.table().columns)
    ['df', 'SS', 'MS', 'F', 'p']
    """
    if isinstance(result, xr.DataTree):
        parts = parts_of(result)
        if len(parts) > 1:
            first = next(iter(parts))
            raise ValueError(f"a whole analysis has a table for each part: tree[{first!r}].curves.table()")
        (result,) = parts.values()
    kind, result = prepare(result)
    return ask(kind, result, kind.table, "table")


def summary(result: xr.Dataset | xr.DataTree) -> str:
    r"""Say in plain sentences what a result shows and what it does not.

    Parameters
    ----------
    result : Dataset or DataTree
        What a method returned, or a selection of it, or a whole analysis; a lazy one is computed.

    Returns
    -------
    str
        A line for each statement, then how it was computed and what it can claim. Tests are reported with the
        split-plot error terms. Of an analysis, the same for each part, under a heading; then the missing parts,
        and why.

    Raises
    ------
    ValueError, TypeError
        If `result` is no result of this library, or holds none, or a selection removed what the sentences need.

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> print(scores.curves.randomized_anova(rng=0).curves.summary().split("\n")[0])
    Compared: rate 0.001 (10 runs), rate 0.8 (10 runs), rate 0.1 (10 runs), at 8 training levels.
    """
    if isinstance(result, xr.DataTree):
        return "\n\n".join(_paragraphs(result))
    kind, result = prepare(result)
    return ask(kind, result, lambda result: "\n".join(kind.sentences(result)), "summary")


def to_frame(data: xr.DataArray | xr.Dataset) -> pd.DataFrame:
    """Turn curves or a result into a tidy frame.

    Parameters
    ----------
    data : DataArray or Dataset
        Curves, or what `to_dataset` or a method of curves returned; lazy ones are computed.

    Returns
    -------
    DataFrame
        Of curves, one row for each task, algorithm, run and training level, gaps too, so that `to_dataarray` gives
        back the same; labels that are not in sorted order are categories in theirs. Of `randomized_anova`, one row for
        each task, effect and error term; of `pairwise`, for each task, effect and pair; of `ss_profile`, for each task,
        effect and training level; of `compare_distributions`, for each task and pair; of `predict`, for each task and
        size; of `leave_one_size_out`, for each task and variant; of others, for each task. Variables with further dims
        have a column ``variable_label`` for each label; the null distribution is left out. Units, names and attrs
        are in ``frame.attrs``.

    Raises
    ------
    ValueError, TypeError
        If `data` is neither curves nor a result.

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> frame = scores.curves.to_frame()
    >>> frame.shape
    (240, 4)
    >>> result = scores.curves.randomized_anova(rng=0).curves.to_frame()
    >>> result[["effect", "error_term", "f", "pvalue"]].round(3)
            effect  error_term      f  pvalue
    0    algorithm      pooled  1.265   0.411
    1    algorithm  split_plot  0.926   0.408
    2    algorithm       welch  0.963   0.399
    3  interaction      pooled  0.834   0.551
    4  interaction  split_plot  0.879   0.551
    5  interaction       welch    NaN     NaN
    """
    if not isinstance(data, xr.DataArray | xr.Dataset):
        raise TypeError(f"data must be a DataArray or a Dataset; got {type(data).__name__}. Give curves or a result")
    if isinstance(data, xr.DataArray):
        return _curves_frame(data.to_dataset(name=data.name or "score"), data.attrs)
    if find_kind(data) is None and set(DIMS) & set(data.dims):
        return _curves_frame(data, data.attrs)
    kind, result = prepare(data)
    dims = (*kind.task_dims(result), *(dim for dim in kind.rows if dim in result.dims))
    return _frame(_spread(result, dims), dims, result.attrs)


def _curves_frame(data: xr.Dataset, attrs: Mapping[Hashable, Any]) -> pd.DataFrame:
    tasks = [dim for dim in data.dims if dim not in DIMS]
    dims = [*tasks, *(dim for dim in DIMS if dim in data.dims)]
    data = _with_usable_labels(data, dims)
    frame = _frame(data, dims, attrs)
    for dim in dims:
        values = data[dim].to_numpy()
        if values.tolist() != sorted(values.tolist()):
            frame[dim] = pd.Categorical(frame[dim], values)
    return frame


def _with_usable_labels(data: xr.Dataset, dims: Sequence[Hashable]) -> xr.Dataset:
    """Return curves with labels in the machine's byte order; refuse those that a column of a frame cannot have."""
    for dim in dims:
        values = data[dim].to_numpy()
        cure = f"Number them: assign_coords({dim}=range({len(values)}))"
        if pd.isna(values).any() or len(set(values.tolist())) < len(values):
            raise ValueError(f"{dim} labels must be there and differ; got {values.tolist()[:5]!r}. {cure}")
        if any(isinstance(label, str) and not label.isascii() and _is_broken(label) for label in values.tolist()):
            raise ValueError(f"{dim} labels must be text that can be encoded; got {values.tolist()[:5]!r}. {cure}")
        if not values.dtype.isnative:
            data = data.assign_coords({dim: values.astype(values.dtype.newbyteorder("="))})
    return data


def _is_broken(label: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in label)


def _spread(result: xr.Dataset, dims: Sequence[Hashable]) -> xr.Dataset:
    """Make a variable for each label of the dims that have no rows."""
    columns = {}
    result = result.reset_coords()
    for name, variable in result.data_vars.items():
        others = [dim for dim in variable.dims if dim not in dims]
        if _NO_ROWS in others:
            continue
        for place in product(*(range(variable.sizes[dim]) for dim in others)):
            chosen = dict(zip(others, place, strict=True))
            words = [str(result[dim].to_numpy()[i]) for dim, i in chosen.items()]
            columns["_".join([str(name), *words])] = variable.isel(chosen, drop=True)
    spread = xr.Dataset(columns)
    return spread.drop_vars([name for name, coord in spread.coords.items() if not set(coord.dims) <= set(dims)])


def _frame(data: xr.Dataset, dims: Sequence[Hashable], attrs: Mapping[Hashable, Any]) -> pd.DataFrame:
    if dims:
        frame = data.to_dataframe([str(dim) for dim in dims]).reset_index()
    else:
        frame = pd.DataFrame({name: [variable.to_numpy().item()] for name, variable in data.variables.items()})
    carried = {name: told for name, told in attrs.items() if name not in _DESCRIBED}
    described = {key: {name: data[name].attrs[key] for name in frame if key in data[name].attrs} for key in _DESCRIBED}
    frame.attrs = dict(carried) | described
    return frame


def parts_of(tree: xr.DataTree) -> dict[str, xr.Dataset]:
    """Return the results in a tree by their groups, in the order of `kinds`; of a group that is one, itself."""
    if not isinstance(tree, xr.DataTree):
        raise TypeError(f"tree must be a DataTree that analyze returned; got {type(tree).__name__}")
    nodes = {str(name): node.to_dataset() for name, node in tree.children.items()}
    nodes = nodes or {tree.name or "result": tree.to_dataset()}
    found = {name: kind for name, dataset in nodes.items() if (kind := find_kind(dataset))}
    if not found:
        raise ValueError(
            f"this DataTree is no analysis: none of its groups ({', '.join(nodes)}) is a result of xcurves. "
            "Make one: curves.curves.analyze()"
        )
    return {name: nodes[name] for name in sorted(found, key=lambda name: kinds.NAMES.index(found[name].name))}


def summary_of_part(part: xr.Dataset) -> str:
    """Return the sentences of one part of an analysis, with its training level and the tasks left out."""
    final = [say_final(part)] if "final" in part.attrs else []
    return "\n".join([*final, summary(part), *(f"Left out: {each}" for each in left_out(part.attrs))])


def _paragraphs(tree: xr.DataTree) -> Iterator[str]:
    for part in parts_of(tree).values():
        yield f"{kind_of(part).question}\n{summary_of_part(part)}"
    missing = missing_parts(tree.attrs)
    if missing:
        yield "\n".join(["Not in this analysis:", *missing])


def say_final(part: xr.Dataset) -> str:
    """Return at which training level the scores of a distribution are."""
    return f"Scores at the last training level that all runs have: {part.attrs['final']}."


def missing_parts(attrs: Mapping[Any, Any]) -> list[str]:
    """Return which parts an analysis does not have and why, those with one reason together."""
    parts: dict[str, list[str]] = {}
    for line in left_out(attrs):
        part, _, why = line.partition(": ")
        parts.setdefault(why, []).append(part)
    return [f"{', '.join(them)}: {why}" for why, them in parts.items()]


def left_out(attrs: Mapping[Any, Any]) -> list[str]:
    """Return what an analysis, or one of its parts, left out and why."""
    return str(attrs["left_out"]).split("\n") if "left_out" in attrs else []


def no_method(dataset: xr.Dataset, name: str) -> str:
    """Return the message for a method that a Dataset does not have."""
    kind = find_kind(dataset)
    if kind is None:
        return f"a Dataset has no .curves.{name}. {pick_one(dataset)}.{name}"
    taking = [other for other in kinds.NAMES if kinds.kind(other).argument == kind.name]
    has = ["table", "summary", *["plot"] * bool(kind.views), *taking, "to_frame"]
    *methods, last = (f".curves.{method}()" for method in has)
    return f"a result of {kind.name} has no .curves.{name}. It has {', '.join(methods)} and {last}"


def no_tree_method(tree: xr.DataTree, name: str) -> str:
    """Return the message for a method that a DataTree does not have."""
    return (
        f"a DataTree has no .curves.{name}. It has .curves.table(), .curves.summary(), .curves.plot() and "
        f".curves.report(path); of one result: tree[{next(iter(tree.children), '/')!r}].to_dataset().curves.{name}"
    )


def views_of(kind: ResultKind) -> dict[str, View]:
    """Return the views of a kind; refuse one that has none."""
    if not kind.views:
        raise AttributeError(f"a result of {kind.name} has no picture. {kind.no_view}")
    return dict(kind.views)
