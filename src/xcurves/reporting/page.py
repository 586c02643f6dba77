"""A whole analysis on one page: a file of HTML that needs no network and no script."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from xcurves.core.schema import ResultKind
from xcurves.core.wording import count, interval, label_of, listed, span
from xcurves.plotting.curves import CURVES_CAPTION
from xcurves.reporting import markup, pictures
from xcurves.results import left_out, missing_parts, parts_of, prepare, say_final

Links = Mapping[tuple[Any, ...], str]  # the anchor of each task, by its labels

_GIVEN = {
    "rng": "Seed",
    "confidence_level": "Confidence level",
    "n_resamples": "Reassignments at most",
    "paired": "Runs matched over algorithms (1: yes)",
}
_ABSENT, _NAMED = 8, 5  # runs and algorithms that are named
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


def _page(attrs: Mapping[Any, Any], results_of: Mapping[str, xr.Dataset], curves: xr.DataArray | None) -> str:
    names = [] if curves is None else [name.removesuffix(": ") for name in labels.task_names(curves)]
    links = pictures.links_of(curves) if curves is not None and len(names) > 1 else {}
    parts = [_Part.of(result, links) for result in results_of.values()]
    first = next((part for part in parts if part.opens), parts[0])
    by_task = [part for part in parts if not (links and part.single)]
    ordered = [*(part for part in parts if links and part.single), *by_task]
    headline, title, lead, compared, gallery = first.pictures[:1], "Comparison of algorithms", "", "", ""
    if curves is not None:
        algorithms = list(map(str, curves["algorithm"].to_numpy()))
        title = f"{'Comparison' if algorithms[1:] else 'Curves'} of {listed(algorithms, _NAMED)}"
        lead = _lead(curves, names)
        compared = markup.html_table(counts(curves), f"Runs and training levels. Scores: {label_of(curves)}.", links)
    if curves is not None and links:
        gallery = pictures.gallery(curves, names, ((part.kind.question, part.frame) for part in by_task))
    elif curves is not None:
        task = curves.squeeze(labels.extra_dims(curves), drop=True).transpose(*labels.DIMS)
        headline = _figures([pictures.draw(task, CURVES_CAPTION)], lead) or [markup.paragraph(pictures.MISSING)]
    headline = [*headline, first.table]
    sections = [
        ("answer", "In short", _answer(attrs, parts, curves) + "".join(headline)),
        ("compared", "What was compared", compared),
        *(
            (f"part-{number}", part.kind.question, part.body(without=headline))
            for number, part in enumerate(ordered, 1)
        ),
        ("tasks", "Each task", gallery),
        ("settings", "Settings and versions", _settings(attrs, results_of)),
        ("references", "References", markup.references(provenance.references_of(results_of.values()))),
    ]
    shown = (markup.section(*each, is_open=each[0] == "answer") for each in sections if each[-1])
    template = Template(files("xcurves.reporting").joinpath("page.html").read_text(encoding="utf-8"))
    lead = markup.paragraph(lead, "lead") if lead else ""
    return template.substitute(title=markup.text(title), lead=lead, sections="\n".join(shown))


def _lead(curves: xr.DataArray, tasks: Sequence[str]) -> str:
    runs = int(curves.notnull().any("training").sum())
    where = f" on {len(tasks)} tasks" if len(tasks) > 1 else f" on {tasks[0]}" * bool(tasks[0])
    training = curves["training"]
    levels = span(training.to_numpy()[curves.notnull().any([dim for dim in curves.dims if dim != "training"])], 4)
    of = f"{runs} runs of {curves.sizes['algorithm']} algorithms{where}"
    return f"{label_of(curves)}: {of}, {label_of(training)} {levels or 'none'}."


def _answer(attrs: Mapping[Any, Any], parts: Sequence[_Part], curves: xr.DataArray | None) -> str:
    """Return who is better, by how much and where; the other answers, what they do not say, and missing parts."""
    verdicts = [markup.paragraph(markup.without_code(part.answer), "verdict") for part in parts if part.opens]
    if verdicts and curves is not None and is_lower_better(curves):
        verdicts.append(markup.paragraph("Low scores are better."))
    others = markup.items(part.answer for part in parts if not part.opens)
    cautions = dict.fromkeys(each for part in parts for each in part.kind.said(part.result, "caution"))
    warned = (markup.paragraph(markup.without_code(each), "caution") for each in cautions)
    missing = markup.folded("Not in this analysis", markup.items(missing_parts(attrs), plain=True))
    return "".join([*verdicts, others, *warned, missing])


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


@dataclass(frozen=True)
class _Part:
    """One result on the page, with its table; of a single task, without the dims that name it, with its pictures."""

    kind: ResultKind
    result: xr.Dataset
    single: bool
    frame: pd.DataFrame
    table: str
    answer: str
    pictures: list[str]

    @classmethod
    def of(cls, result: xr.Dataset, links: Links) -> _Part:
        kind, result = prepare(result)
        dims = kind.panel_dims(result)
        single = prod(result.sizes[dim] for dim in dims) == 1
        if single:
            result = result.squeeze(dims).drop_vars(dims, errors="ignore")
            dims = kind.panel_dims(result)
        frame = _with_intervals(kind.digest(result) if kind.digest and not single else kind.table(result))
        of_tasks = list(frame.index.names[: len(dims)]) == [_words(dim) for dim in dims]
        table = markup.html_table(frame, frame.attrs["caption"], links if of_tasks else None)
        answer, drawn = kind.answer(result), []
        for name, view in kind.views.items():
            if single and view.default and view.drawing.suits(result):
                drawn.append(pictures.draw(result, view.caption, name))
        return cls(kind, result, single, frame, table, answer, _figures(drawn, answer))

    @property
    def opens(self) -> bool:
        """Whether it answers first: who is better, over all tasks."""
        return self.kind.part is not None and self.kind.part.opens and self.single

    def body(self, without: Sequence[str]) -> str:
        """Return pictures and table that the page does not show before, then sentences, folded."""
        left, said = left_out(self.result.attrs), results.summary(self.result).splitlines()
        final = markup.paragraph(say_final(self.result)) if "final" in self.result.attrs else ""
        shown = [each for each in (*self.pictures, self.table) if each not in without]
        sentences = markup.folded(f"In {count(len(said), 'sentence')}", markup.items(said))
        missing = markup.paragraph("Tasks left out:") + markup.items(left, plain=True) if left else ""
        return "".join([final, *shown, sentences, missing])


def _with_intervals(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table with both ends of an interval in one column, headings as words."""
    for name in [name for name in frame if str(name).endswith("lower")]:
        ends = zip(frame[name], frame.pop(str(name).replace("lower", "upper")), strict=True)
        frame[name] = [np.nan if low != low or high != high else interval(low, high) for low, high in ends]
    return frame.rename(columns=_words).rename_axis(index=_words)


def _words(name: Any) -> Any:
    return name and str(name).replace("lower", "interval").replace("_", " ")


def _figures(drawn: Sequence[pictures.Picture | None], said: str) -> list[str]:
    """Return pictures with their alternative texts."""
    return [markup.figure(*each, f"{each.caption} {said}") for each in drawn if each]


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
