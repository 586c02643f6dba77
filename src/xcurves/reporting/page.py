"""A whole analysis on one page: a file of HTML that needs no network and no script."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from importlib.resources import files
from math import prod
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xcurves import results
from xcurves.core import labels, provenance, validation
from xcurves.core.applicability import is_lower_better
from xcurves.core.atomic_write import atomic_write, check_place
from xcurves.core.wording import count, interval, label_of, listed, span
from xcurves.plotting.curves import CURVES_CAPTION
from xcurves.reporting import markup, pictures
from xcurves.results import kind_of, left_out, missing_parts, parts_of, prepare, say_final

Links = Mapping[tuple[Any, ...], str]  # the anchor of each task, by its labels

_GIVEN = {
    "rng": "Seed",
    "confidence_level": "Confidence level",
    "n_resamples": "Reassignments at most",
    "paired": "Runs matched over algorithms (1: yes)",
}
_ABSENT = 8  # runs that are named
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
    The page says first which algorithm is better, by how much and where, and shows one picture and one table of it.
    Below, folded: what was compared, every part with its tables and pictures, each task with its curves and its rows of
    the tables, and the settings and versions that repeat it. Pictures need matplotlib (extra ``plot``). The same tree
    gives the same page, byte for byte, with the same versions.

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


def _page(attrs: Mapping[Any, Any], parts: Mapping[str, xr.Dataset], curves: xr.DataArray | None) -> str:
    names = [] if curves is None else [name.removesuffix(": ") for name in labels.task_names(curves)]
    links = pictures.links_of(curves) if curves is not None and len(names) > 1 else {}
    single = [_single(result) for result in parts.values()]
    first = next(filter(_opens, single), single[0])
    over_all = [result for result in single if links and _n_tasks(result) == 1]
    by_task = [result for result in single if not any(result is each for each in over_all)]
    ordered = [*over_all, *by_task]
    drawn = [[] if _n_tasks(result) > 1 else list(_pictures(result)) for result in ordered]
    lead = "" if curves is None else _lead(curves, names)
    if curves is not None and not links:
        task = curves.squeeze(labels.extra_dims(curves), drop=True).transpose(*labels.DIMS)
        headline = _figure(pictures.draw(task, CURVES_CAPTION), lead) or markup.paragraph(pictures.MISSING)
    else:
        headline = "".join(next(own for result, own in zip(ordered, drawn, strict=True) if result is first)[:1])
    headline += _table(first, links)
    if curves is not None:
        said = f"Runs and training levels. Scores: {label_of(curves)}."
        compared = markup.html_table(counts(curves), said, links)
    frames = ((kind_of(result).question, _frame(result)) for result in by_task)
    sections = [
        ("answer", "In short", _answer(attrs, single, curves) + headline),
        ("compared", "What was compared", "" if curves is None else compared),
        *(
            (f"part-{number}", kind_of(result).question, _part(result, links, headline, own))
            for number, (result, own) in enumerate(zip(ordered, drawn, strict=True), 1)
        ),
        ("tasks", "Each task", pictures.gallery(curves, names, frames) if curves is not None and links else ""),
        ("settings", "Settings and versions", _settings(attrs, parts)),
        ("references", "References", markup.references(provenance.references_of(parts.values()))),
    ]
    shown = (markup.section(*each, is_open=each[0] == "answer") for each in sections if each[-1])
    template = Template(files("xcurves.reporting").joinpath("page.html").read_text(encoding="utf-8"))
    lead = markup.paragraph(lead, "lead") if lead else ""
    return template.substitute(title=markup.text(_title(curves)), lead=lead, sections="\n".join(shown))


def _title(curves: xr.DataArray | None) -> str:
    if curves is None:
        return "Comparison of algorithms"
    names = [str(name) for name in curves["algorithm"].to_numpy()]
    said = listed(names) if len(names) <= 5 else f"{len(names)} algorithms"
    return f"Comparison of {said}" if len(names) > 1 else f"Curves of {said}"


def _lead(curves: xr.DataArray, tasks: Sequence[str]) -> str:
    runs = int(curves.notnull().any("training").sum())
    where = f" on {len(tasks)} tasks" if len(tasks) > 1 else f" on {tasks[0]}" * bool(tasks[0])
    training = curves["training"]
    units = training.attrs.get("units", "1")
    levels = span(training.to_numpy()[curves.notnull().any([dim for dim in curves.dims if dim != "training"])], 4)
    return (
        f"{label_of(curves)}: {runs} runs of {curves.sizes['algorithm']} algorithms{where}, "
        f"{training.attrs.get('long_name', 'training')} {levels or 'none'}{'' if units in ('1', '') else f' {units}'}."
    )


def _answer(attrs: Mapping[Any, Any], single: list[xr.Dataset], curves: xr.DataArray | None) -> str:
    """Return who is better, by how much and where; the other answers, what they do not say, and missing parts."""
    said: dict[bool, list[str]] = {True: [], False: []}
    for result in single:
        said[_opens(result)].append(kind_of(result).answer(result))
    cautions = dict.fromkeys(each for result in single for each in kind_of(result).said(result, "caution"))
    verdicts = [markup.paragraph(markup.without_code(each), "verdict") for each in said[True]]
    if verdicts and curves is not None and is_lower_better(curves):
        verdicts.append(markup.paragraph("Low scores are better."))
    warned = (markup.paragraph(markup.without_code(each), "caution") for each in cautions)
    missing = markup.folded("Not in this analysis", markup.items(missing_parts(attrs), plain=True))
    return "".join([*verdicts, markup.items(said[False]), *warned, missing])


def _opens(result: xr.Dataset) -> bool:
    """Return whether a result answers first: who is better, over all tasks."""
    part = kind_of(result).part
    return part is not None and part.opens and _n_tasks(result) == 1


def counts(curves: xr.DataArray) -> pd.DataFrame:
    """Return a row for each task and algorithm: its runs and those that are absent, and its training levels."""
    dims = [*(dim for dim in labels.extra_dims(curves) if curves.sizes[dim] > 1), "algorithm"]
    runs, training = curves["run"].to_numpy(), curves["training"].to_numpy()
    has = curves.notnull().transpose(..., *labels.DIMS).to_numpy().reshape(-1, len(runs), len(training))
    present, at_level = np.asarray(has.any(axis=2)), np.asarray(has.any(axis=1))
    levels = [training[each] for each in at_level]
    columns = {
        "runs": present.sum(axis=1),
        "absent runs": [listed(runs[~each], _ABSENT) or "none" for each in present],
        "training levels": list(map(len, levels)),
        "from": [each[0] if len(each) else np.nan for each in levels],
        "to": [each[-1] if len(each) else np.nan for each in levels],
    }
    index = pd.MultiIndex.from_product([pd.Index(curves[dim].to_numpy(), dtype=object) for dim in dims], names=dims)
    return pd.DataFrame(columns, index)


def _single(result: xr.Dataset) -> xr.Dataset:
    """Return a result in memory; with a single task, without the dims that name it."""
    kind, result = prepare(result)
    if _n_tasks(result) > 1:
        return result
    dims = kind.panel_dims(result)
    return result.squeeze(dims).drop_vars(dims, errors="ignore")


def _n_tasks(result: xr.Dataset) -> int:
    return prod(result.sizes[dim] for dim in kind_of(result).panel_dims(result))


def _part(result: xr.Dataset, links: Links, headline: str, drawn: list[str]) -> str:
    """Return pictures and table of one result that the headline does not show, then the rest, folded."""
    left = left_out(result.attrs)
    missing = markup.paragraph("Tasks left out:") + markup.items(left, plain=True) if left else ""
    final = markup.paragraph(say_final(result)) if "final" in result.attrs else ""
    shown, table = ([each for each in own if each not in headline] for own in (drawn, [_table(result, links)]))
    said = results.summary(result).splitlines()
    sentences = markup.folded(f"In {count(len(said), 'sentence')}", markup.items(said))
    more = markup.folded("More pictures", "".join(shown[1:]))
    return "".join([final, *shown[:1], *table, sentences, more, missing])


def _table(result: xr.Dataset, links: Links) -> str:
    """Return the table; a row of one task leads to it."""
    frame = _frame(result)
    dims = [str(dim).replace("_", " ") for dim in kind_of(result).panel_dims(result)]
    of_tasks = list(frame.index.names[: len(dims)]) == dims
    return markup.html_table(frame, frame.attrs["caption"], links if of_tasks else None)


def _frame(result: xr.Dataset) -> pd.DataFrame:
    """Return the table of a result, of several tasks a short one; both ends of an interval stand in one column."""
    kind = kind_of(result)
    frame = kind.digest(result) if _n_tasks(result) > 1 and kind.digest else kind.table(result)
    for name in [name for name in frame if str(name).endswith("lower")]:
        ends = zip(frame[name], frame.pop(str(name).replace("lower", "upper")), strict=True)
        frame[name] = [np.nan if low != low or high != high else interval(low, high) for low, high in ends]

    def words(name: Any) -> Any:
        return name and str(name).replace("lower", "interval").replace("_", " ")

    return frame.rename(columns=words).rename_axis(index=words)


def _pictures(result: xr.Dataset) -> Iterator[str]:
    """Yield the pictures of one task's result that suit it, each with its alternative text."""
    kind = kind_of(result)
    for name, view in kind.views.items():
        if view.default and view.drawing.suits(result):
            yield _figure(pictures.draw(result, view.caption, name), kind.answer(result))


def _figure(picture: pictures.Picture | None, said: str) -> str:
    return markup.figure(*picture, f"{picture.caption} {said}") if picture else ""


def _settings(attrs: Mapping[Any, Any], parts: Mapping[str, xr.Dataset]) -> str:
    """Return the settings that give the same numbers again."""
    seeds = "; ".join(f"{name} {result.attrs['rng']}" for name, result in parts.items() if "rng" in result.attrs)
    packages = ", ".join(f"{name} {version(name)}" for name in ("xcurves", "numpy", "scipy", "pandas", "xarray"))
    said = [f"{words}: {attrs[name]}" for name, words in _GIVEN.items() if name in attrs]
    said += [f"Seed of each part: {seeds.replace('_', ' ')}"]
    said += [f"This page was made with {packages}, Python {platform.python_version()}"]
    return markup.items(said) + markup.paragraph(
        "This page holds no data: the archive of the analysis does, with every number and how each part was made."
    )
