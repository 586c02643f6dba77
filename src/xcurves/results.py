"""Results of any kind: which kind, as a table, as a tidy frame, in sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import xarray as xr

from xcurves import kinds
from xcurves.core import direction
from xcurves.core.labels import DIMS, pick_one
from xcurves.core.refusal import UNSAID, Cure, Refusal, Verbatim, WrongType, call, shown
from xcurves.core.schema import ResultKind, Statement, View
from xcurves.say.result_frames import columns_by_label

T = TypeVar("T")
CURVES = "curves"  # the group of an analysis that has them
MOST_LINES = 12  # of a summary
_MOST_MISSING = 4  # parts, or tasks, that are missing for reasons of their own


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
        raise WrongType(
            "result",
            type(result),
            "must be a Dataset that a method of .curves returned",
        )
    kind = find_kind(result)
    if kind is None:
        raise Refusal("result", UNSAID, "this Dataset is no result of xcurves", pick_one(result))
    return kind


def prepare(result: xr.Dataset) -> tuple[ResultKind, xr.Dataset]:
    """Return the kind of a result, and the result in memory; dims of which one label was selected are restored."""
    kind = kind_of(result)
    kind.check_attrs(result)
    result = result.compute()
    compared = {"algorithm"} & {dim for var in kind.variables.values() for dim in var.core}
    selected = [dim for dim in (*kind.own_dims(), *compared) if dim in result.coords and not result[dim].dims]
    for dim in selected:
        label = _along(dim, result[dim])
        of_dim = [name for name, var in kind.variables.items() if name in result and dim in var.dims]
        result = result.drop_vars(dim)
        restored = {name: result[name].expand_dims(dim) for name in of_dim}
        in_order = {name: each.transpose(..., *_core_of(kind, each)) for name, each in restored.items()}
        result = result.assign(in_order).assign_coords({dim: label})
        beside = [name for name, var in kind.coordinates().items() if var.dims == (dim,) and name in result.coords]
        result = result.assign_coords({name: _along(dim, result[name]) for name in beside})
    _refuse_changed(kind, result)
    return kind, result


def _along(dim: str, label: xr.DataArray) -> xr.Variable:
    """Return one label as a coordinate along a dim."""
    return xr.Variable((dim,), np.atleast_1d(label.to_numpy()), label.attrs)


def _core_of(kind: ResultKind, variable: xr.DataArray) -> list[str]:
    """Return the dims of a variable that are no tasks, in the order of its kind."""
    return [dim for dim in kind.variables[str(variable.name)].core if dim in variable.dims]


def _refuse_changed(kind: ResultKind, result: xr.Dataset) -> None:
    """Refuse a Dataset whose attrs say it is a result, but whose values show that arithmetic changed it."""
    for name, var in kind.variables.items():
        if name not in result:
            continue
        cure = f"Arithmetic keeps attrs but makes no result; work on single variables: result[{name!r}]"
        values = result[name].to_numpy()
        if values.dtype.kind not in "iuf":
            raise Refusal(
                name,
                Verbatim(f"dtype {values.dtype}"),
                f"{name} of a result of {kind.name} must be numeric",
                cure,
            )
        known = values[~np.isnan(values)]
        if np.issubdtype(var.dtype, np.integer) and (known != np.round(known)).any():
            raise Refusal(
                name,
                Verbatim(f"{known.max():g}"),
                f"{name} of a result of {kind.name} must be whole numbers",
                cure,
            )
        if name.startswith("pvalue") and ((known < 0) | (known > 1 + 1e-9)).any() and name != "pvalue_stderr":
            raise Refusal(
                name,
                Verbatim(f"{known.max():g}"),
                f"{name} of a result of {kind.name} must lie in [0, 1]",
                cure,
            )


def ask(kind: ResultKind, result: xr.Dataset, what: Callable[[xr.Dataset], T], name: str) -> T:
    """Call a function of a kind on a prepared result; an error names what a selection removed."""
    try:
        return what(result)
    except (KeyError, IndexError, ValueError) as error:
        needs = f"{name} of a result of {kind.name} needs"
        missing = [each for each in kind.variables if each not in result and repr(each) in str(error)]
        if missing:
            cure = f"It was dropped; keep it in the selection: result[[{missing[0]!r}, ...]]"
            raise Refusal("result", UNSAID, f"{needs} the variable {missing[0]!r}", cure) from error
        if isinstance(error, Refusal):  # says itself what is wrong
            raise
        used = [dim for each, var in kind.variables.items() if each in result for dim in var.core]
        n_labels = dict.fromkeys(used, 1) | {dim: max(1, len(labels)) for dim, labels in kind.own_dims().items()}
        for dim, n in n_labels.items():
            lacks_some = dim in used and result.sizes.get(dim, 0) < n
            # xarray says so of labels that a dim does not have.
            lacks_asked = isinstance(error, KeyError) and repr(dim) in str(error)
            if lacks_some or lacks_asked:
                cure = f"Select with lists, isel(dim=[0]), or take .curves.{name}() of the whole result"
                raise Refusal(
                    "result",
                    UNSAID,
                    f"{needs} all of dim {dim!r}",
                    f"Some labels were selected away. {cure}",
                ) from error
        away = _algorithms_away(result)
        if away:
            whole = f"Select pairs and algorithms alike, or take .curves.{name}() of the whole result"
            raise Refusal(
                "result", UNSAID, f"{needs} algorithm {shown(away[0])}, which its pairs name", whole
            ) from error
        raise


def _algorithms_away(result: xr.Dataset) -> list[Any]:
    """Return the algorithms that pairs of a result name and that were selected away."""
    if not {"algorithm", "algorithm_a", "algorithm_b"} <= set(result.coords):
        return []
    there = set(np.atleast_1d(result["algorithm"]).tolist())
    named = [name for side in ("algorithm_a", "algorithm_b") for name in np.atleast_1d(result[side]).tolist()]
    return [name for name in named if name not in there]


def table(result: xr.Dataset | xr.DataTree) -> pd.DataFrame:
    """Return a result as a table to print.

    Parameters
    ----------
    result : Dataset or DataTree
        What a method returned, or a selection of it, or the group of an analysis; a lazy one is computed.

    Returns
    -------
    DataFrame
        What its rows and columns are stands in ``attrs["caption"]`` of the frame. With extra dims, the same for each
        task. With one error term, effect or pair selected, the table of that selection.

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
            raise Refusal(
                "result",
                UNSAID,
                f"a whole analysis has a table for each part: tree[{first!r}].curves.table()",
            )
        (result,) = parts.values()
    kind, result = prepare(result)
    return ask(kind, result, kind.table, "table")


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
        back the same; labels that are not in sorted order are categories in theirs. Of a result, a row for each task
        and each combination of the labels that its kind declares as rows. Variables with further dims have a column
        ``variable_label`` for each label; the null distribution is left out. Units, names and attrs are in
        ``frame.attrs``.

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
    from xcurves.frames.from_curves import check_text, described_frame, frame_of_curves

    if not isinstance(data, xr.DataArray | xr.Dataset):
        raise WrongType(
            "data",
            type(data),
            "must be a DataArray or a Dataset",
            "Give curves or a result",
        )
    if isinstance(data, xr.DataArray):
        data = direction.named(data)
        return frame_of_curves(data.to_dataset().assign_attrs(data.attrs))
    if find_kind(data) is None and set(DIMS) & set(data.dims):
        return frame_of_curves(data)
    kind, result = prepare(data)
    dims = (*kind.task_dims(result), *(dim for dim in kind.rows if dim in result.dims))
    for name, coord in result.coords.items():
        check_text(name, np.atleast_1d(coord).tolist())
    return described_frame(columns_by_label(result, dims), dims, result.attrs)


def summary(result: xr.Dataset | xr.DataTree) -> str:
    r"""Say in plain sentences what a result shows and what it does not.

    Parameters
    ----------
    result : Dataset or DataTree
        What a method returned, or a selection of it, or a whole analysis; a lazy one is computed.

    Returns
    -------
    str
        A line for each statement, at most 12: the answer first, then how it was computed and what it does not say.
        Tasks stand in the table. Of an analysis, the answer of each part under its question, then the missing parts,
        and why, and which end of scores is taken as better if nothing says it.

    Raises
    ------
    ValueError, TypeError
        If `result` is no result of this library, or holds none, or a selection removed what the sentences need.

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> print(scores.curves.randomized_anova(rng=0).curves.summary().split("\n")[0])
    The algorithms' mean scores over training are not shown to differ (p = .408); their changes of score with training
    are not shown to differ (p = .551).
    """
    if isinstance(result, xr.DataTree):
        return "\n\n".join(_paragraphs(result))
    kind, result = prepare(result)
    said = ask(kind, result, kind.every_statement, "summary")
    return "\n".join(lines_of(said))


def lines_of(said: Iterable[Statement]) -> list[str]:
    """Return statements as the lines of a summary: answers, then details as far as there is room, then cautions."""
    every = list(said)
    by_role = {role: [each for each in every if each.role == role] for role in ("answer", "detail", "caution")}
    room = MOST_LINES - len(by_role["answer"]) - len(by_role["caution"])
    by_role["detail"] = by_role["detail"][: max(room, 0)]
    return [each.text for each in [*chain.from_iterable(by_role.values())][:MOST_LINES]]


def parts_of(tree: xr.DataTree) -> dict[str, xr.Dataset]:
    """Return the results in a tree by their groups, in the order of `kinds`; of a group that is one, itself."""
    if not isinstance(tree, xr.DataTree):
        raise WrongType("tree", type(tree), "must be a DataTree that analyze returned")
    nodes = {str(name): node.to_dataset() for name, node in tree.children.items()}
    nodes = nodes or {tree.name or "result": tree.to_dataset()}
    places = {}
    for name, dataset in nodes.items():
        kind = None
        if name != CURVES:
            kind = find_kind(dataset)
        if kind is not None:
            places[name] = kinds.NAMES.index(kind.name)
    if not places:
        raise Refusal(
            "",
            UNSAID,
            f"this DataTree is no analysis: none of its groups ({', '.join(nodes)}) is a result of xcurves",
            Cure("Make one: ", call("curves.curves.analyze")),
        )
    return {name: nodes[name] for name in sorted(places, key=places.__getitem__)}


def summary_of_part(part: xr.Dataset) -> str:
    """Return the sentences of one part of an analysis, with its training level and the tasks left out."""
    return "\n".join([*_final(part), summary(part), *_left(part)])


def _final(part: xr.Dataset) -> list[str]:
    """Return the line about the training level of a part, if it has one."""
    if "final" not in part.attrs:
        return []
    return [say_final(part)]


def _left(part: xr.Dataset) -> list[str]:
    """Return a line that names the first task left out and counts the others."""
    gone = left_out(part.attrs)
    if not gone:
        return []
    line = f"Left out: {gone[0]}"
    if len(gone) > 1:
        line += f" (and {len(gone) - 1} more)"
    return [line]


def _paragraphs(tree: xr.DataTree) -> Iterator[str]:
    """Yield question and answer of every part of an analysis, then what is missing or was assumed."""
    for part in parts_of(tree).values():
        kind, result = prepare(part)
        answer = ask(kind, result, kind.answer, "summary")
        yield "\n".join([kind.question, " ".join([*_final(part), answer]), *_left(part)])
    missing = missing_parts(tree.attrs)
    if missing:
        lines = ["Not in this analysis:", *missing[:_MOST_MISSING]]
        if len(missing) > _MOST_MISSING:
            lines.append(f"and {len(missing) - _MOST_MISSING} more")
        yield "\n".join(lines)
    assumed = direction.assumed_in(tree.to_dataset())
    if assumed:
        yield f"{assumed} (else: curves.{direction.ATTRS} = 0)."


def say_final(part: xr.Dataset) -> str:
    """Return at which training level the scores of a distribution are."""
    return f"Scores at the last training level that all runs have: {part.attrs['final']}."


def missing_parts(attrs: Mapping[Any, Any]) -> list[str]:
    """Return which parts an analysis does not have and why, those with one reason together."""
    return by_reason(line.partition(": ")[::2] for line in left_out(attrs))


def by_reason(reasons: Iterable[tuple[str, ...]]) -> list[str]:
    """Return the reason of each part, of pairs of a part and why, parts with one reason together."""
    parts: dict[str, list[str]] = {}
    for part, why in reasons:
        parts.setdefault(why, []).append(part)
    return [f"{', '.join(them)}: {why}" for why, them in parts.items()]


def left_out(attrs: Mapping[Any, Any]) -> list[str]:
    """Return what an analysis, or one of its parts, left out and why."""
    if "left_out" not in attrs:
        return []
    return str(attrs["left_out"]).split("\n")


def methods_of(dataset: xr.Dataset) -> list[str]:
    """Return the methods of `.curves` that apply to a Dataset."""
    kind = find_kind(dataset)
    if kind is None:
        return ["to_frame"]
    methods = ["table", "summary"]
    if kind.views:
        methods.append("plot")
    if any({*each} <= set(dataset.data_vars) for each in kind.curves_with_bands()):
        methods.append("explore")
    # the methods that take such a result, then those that share it
    methods += [name for name in kinds.NAMES if kinds.kind(name).argument == kind.name]
    return [*methods, "to_frame", "to_dict", "format_table", "describe_methods", "bibtex"]


def no_method(dataset: xr.Dataset, name: str) -> str:
    """Return the message for a method that a Dataset does not have."""
    kind = find_kind(dataset)
    if kind is None:
        return f"a Dataset has no .curves.{name}. {pick_one(dataset)}.{name}"
    *methods, last = (f".curves.{method}()" for method in methods_of(dataset))
    return f"a result of {kind.name} has no .curves.{name}. It has {', '.join(methods)} and {last}"


def no_tree_method(tree: xr.DataTree, name: str) -> str:
    """Return the message for a method that a DataTree does not have."""
    names_of_results = [child for child, node in tree.children.items() if find_kind(node.to_dataset()) is not None]
    example = next(iter(names_of_results), "/")
    return (
        f"a DataTree has no .curves.{name}. It has .curves.table(), .curves.summary(), .curves.plot() and "
        f".curves.report(path); of one result: tree[{example!r}].to_dataset().curves.{name}"
    )


def views_of(kind: ResultKind) -> dict[str, View]:
    """Return the views of a kind; refuse one that has none."""
    if not kind.views:
        raise AttributeError(f"a result of {kind.name} has no picture; its table has all numbers: .curves.table()")
    return dict(kind.views)
