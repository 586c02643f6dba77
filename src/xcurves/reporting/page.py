"""A whole analysis on one page: a file of HTML that needs no network and no script."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from math import prod
from pathlib import Path
from string import Template
from typing import Any

import pandas as pd
import xarray as xr

from xcurves import results
from xcurves.core import labels, provenance, validation
from xcurves.core.applicability import is_lower_better
from xcurves.core.atomic_write import atomic_write, check_place
from xcurves.core.wording import count, label_of
from xcurves.plotting.curves import CURVES_CAPTION
from xcurves.reporting import digests, markup, pictures
from xcurves.results import kind_of, left_out, missing_parts, parts_of, prepare, say_final

Parts = Mapping[str, xr.Dataset]

_GENERATOR = b'<meta name="generator" content="xcurves">'


def report(tree: xr.DataTree, path: str | os.PathLike[str]) -> Path:
    """Write a whole analysis as one HTML page, which needs neither network nor script.

    Parameters
    ----------
    tree : DataTree
        What `analyze` returned, or any tree with results of methods in its groups, and curves in group ``curves``.
    path : str or path
        The file. A page that was written here is replaced whole or not at all; any other file is refused.

    Returns
    -------
    Path
        The path.

    Raises
    ------
    ValueError, TypeError
        If `tree` is no DataTree, or none of its groups is a result.
    FileExistsError
        If the path holds anything but a page that `report` wrote.
    OSError
        If the folder is missing or cannot be written to.

    Warns
    -----
    UserWarning
        As `plot`, whose pictures are on the page.

    Notes
    -----
    The page says first which algorithm is better, by how much and where, with what that does not claim, and shows one
    picture and one table of it. Below, folded: what was compared, every part with its tables and pictures, each task
    with its curves and its rows of the tables, and the settings and versions that repeat it; all numbers are in the
    archive.
    Pictures need matplotlib (extra ``plot``); without it the page says so. The same tree gives the same page, byte for
    byte, with the same versions.

    Examples
    --------
    >>> import tempfile, xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> tree = scores.curves.analyze(include=["anova"], n_resamples=99, rng=0)
    >>> folder = tempfile.TemporaryDirectory()
    >>> page = tree.curves.report(f"{folder.name}/tictactoe.html")
    >>> page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    True
    >>> folder.cleanup()
    """
    path = validation.check_path(path)
    parts = parts_of(tree)
    curves = _curves_of(tree)
    page = _page(tree.attrs, parts, curves)
    atomic_write(path, lambda part: part.write_text(page, encoding="utf-8"), is_own=_is_page)
    return path


def check_replaceable(path: Path) -> None:
    """Refuse a path where `report` would refuse to write."""
    check_place(path, is_own=_is_page)


def _is_page(path: Path) -> bool:
    """Return whether a file begins as the pages of `report` do."""
    if not path.is_file():
        return False
    with path.open("rb") as opened:
        return _GENERATOR in opened.read(1024)


def _curves_of(tree: xr.DataTree) -> xr.DataArray | None:
    """Return the curves of a tree, computed, if it has them."""
    group = tree.children.get("curves")
    variables = [] if group is None else list(group.data_vars.values())
    return variables[0].compute() if variables and set(labels.DIMS) <= set(variables[0].dims) else None


def _page(attrs: Mapping[Any, Any], parts: Parts, curves: xr.DataArray | None) -> str:
    names = [] if curves is None else [name.removesuffix(": ") for name in labels.task_names(curves)]
    single = [_single(result) for result in parts.values()]

    def is_by_task(result: xr.Dataset) -> bool:
        return len(names) < 2 or _n_tasks(result) > 1

    by_task = [*filter(is_by_task, single)]
    over_all = len(by_task) < len(single)
    frames = ((kind_of(result).question, _frame(result)) for result in by_task)
    links = pictures.links_of(curves) if curves is not None and len(names) > 1 else {}
    first = next(filter(_opens, single), single[0])
    ordered = sorted(single, key=is_by_task)  # those over all tasks first
    drawn = [
        (result, [] if _n_tasks(result) > 1 else list(_pictures(result, only_default=not over_all)))
        for result in ordered
    ]
    leading = next(own for result, own in drawn if result is first)
    drawn_first = (
        _drawn_curves(curves, _lead(curves, names)) if curves is not None and not links else "".join(leading[:1])
    )
    headline = drawn_first + _table(first, links)
    sections = [
        ("answer", "In short", _answer(attrs, single, curves) + headline),
        ("compared", "What was compared", "" if curves is None else _compared(curves, names, links)),
        *(
            (f"part-{number}", kind_of(result).question, _part(result, links, headline, own))
            for number, (result, own) in enumerate(drawn, 1)
        ),
        ("tasks", "Each task", "" if curves is None or not links else pictures.gallery(curves, names, frames)),
        ("settings", "Settings and versions", digests.settings_section(attrs, parts)),
        ("references", "References", markup.references(provenance.references_of(parts.values()))),
    ]
    shown = (markup.section(*each, is_open=each[0] == "answer") for each in sections if each[-1])
    template = Template(files("xcurves.reporting").joinpath("page.html").read_text(encoding="utf-8"))
    lead = "" if curves is None else markup.paragraph(_lead(curves, names), "lead")
    return template.substitute(title=markup.text(_title(curves)), lead=lead, sections="\n".join(shown))


def _title(curves: xr.DataArray | None) -> str:
    if curves is None:
        return "Comparison of algorithms"
    names = [str(name) for name in curves["algorithm"].to_numpy()]
    said = f"{', '.join(names[:-1])} and {names[-1]}" if 1 < len(names) <= 5 else f"{len(names)} algorithms"
    return f"Comparison of {said}" if len(names) > 1 else f"Curves of {names[0]}"


def _lead(curves: xr.DataArray, tasks: Sequence[str]) -> str:
    runs = int(curves.notnull().any("training").sum())
    where = f" on {len(tasks)} tasks" if len(tasks) > 1 else f" on {tasks[0]}" * bool(tasks[0])
    levels = curves["training"].to_numpy()[curves.notnull().any([dim for dim in curves.dims if dim != "training"])]
    training = curves["training"]
    units = f" {training.attrs['units']}" if training.attrs.get("units", "1") not in ("1", "") else ""
    span = f"{markup.as_cell(levels[0])} to {markup.as_cell(levels[-1])}" if len(levels) else "none"
    return (
        f"{label_of(curves)}: {runs} runs of {curves.sizes['algorithm']} algorithms"
        f"{where}, {training.attrs.get('long_name', 'training')} {span}{units}."
    )


def _answer(attrs: Mapping[Any, Any], single: list[xr.Dataset], curves: xr.DataArray | None) -> str:
    """Return who is better, by how much and where; the other answers, what they do not say, and missing parts."""
    said: dict[bool, list[str]] = {True: [], False: []}
    for result in single:
        said[_opens(result)].append(markup.without_code(kind_of(result).answer(result)))
    cautions = dict.fromkeys(each for result in single for each in kind_of(result).said(result, "caution"))
    lower = curves is not None and said[True] and is_lower_better(curves)
    return "".join(
        [
            *(markup.paragraph(each, "verdict") for each in said[True]),
            markup.paragraph("Low scores are better.") if lower else "",
            markup.items(said[False]),
            *(markup.paragraph(markup.without_code(each), "caution") for each in cautions),
            markup.folded("Not in this analysis", markup.items(map(_plain, missing_parts(attrs)))),
        ]
    )


def _opens(result: xr.Dataset) -> bool:
    """Return whether a result answers first: who is better, over all tasks."""
    part = kind_of(result).part
    return part is not None and part.opens and _n_tasks(result) == 1


def _plain(words: str) -> str:
    """Return why a part is missing without names of Python."""
    return markup.without_code(words).replace("_", " ")


def _compared(curves: xr.DataArray, names: list[str], links: Mapping[tuple[Any, ...], str]) -> str:
    frame = digests.counts_by_task(curves, names) if links else digests.counts(curves)
    one_dim = links if len(labels.extra_dims(curves)) == 1 else None
    return markup.html_table(frame, f"Runs and training levels. Scores: {label_of(curves)}.", one_dim)


def _drawn_curves(curves: xr.DataArray, said: str) -> str:
    task = curves.squeeze(labels.extra_dims(curves), drop=True).transpose(*labels.DIMS)
    found = pictures.draw(task, CURVES_CAPTION)
    if found is None:
        return markup.paragraph(pictures.MISSING)
    return markup.figure(*found, f"{found.caption} {said}")


def _single(result: xr.Dataset) -> xr.Dataset:
    """Return a result in memory; with a single task, without the dims that name it."""
    kind, result = prepare(result)
    if _n_tasks(result) > 1:
        return result
    dims = kind.panel_dims(result)
    return result.squeeze(dims).drop_vars(dims, errors="ignore")


def _n_tasks(result: xr.Dataset) -> int:
    return prod(result.sizes[dim] for dim in kind_of(result).panel_dims(result))


def _frame(result: xr.Dataset) -> pd.DataFrame:
    return digests.of_result(kind_of(result), result, _n_tasks(result))


def _part(result: xr.Dataset, links: Mapping[tuple[Any, ...], str], headline: str, drawn: list[str]) -> str:
    """Return picture and table of one result that the headline does not show, then the rest, folded."""
    left = left_out(result.attrs)
    missing = markup.paragraph("Tasks left out:") + markup.items(map(_plain, left)) if left else ""
    final = markup.paragraph(say_final(result)) if "final" in result.attrs else ""
    drawn, tables = ([each for each in own if each not in headline] for own in (drawn, [_table(result, links)]))
    more = markup.folded("More pictures", "".join(drawn[1:]))
    said = [markup.without_code(line) for line in results.summary(result).splitlines()]
    sentences = markup.folded(f"In {count(len(said), 'sentence')}", markup.items(said))
    return "".join([final, *drawn[:1], *tables, sentences, more, missing])


def _table(result: xr.Dataset, links: Mapping[tuple[Any, ...], str]) -> str:
    """Return the table; a row of one task leads to it."""
    frame = _frame(result)
    dims = [str(dim).replace("_", " ") for dim in kind_of(result).panel_dims(result)]
    return markup.html_table(
        frame, frame.attrs["caption"], links if list(frame.index.names[: len(dims)]) == dims else None
    )


def _pictures(result: xr.Dataset, *, only_default: bool = True) -> Iterator[str]:
    """Yield the pictures of one task's result that suit it, each with its alternative text."""
    kind = kind_of(result)
    views = {name: view for name, view in kind.views.items() if view.default or not only_default}
    drawn = (pictures.draw(result, view.caption, name) for name, view in views.items() if view.drawing.suits(result))
    for each in filter(None, drawn):
        yield markup.figure(*each, f"{each.caption} {kind.answer(result)}")
