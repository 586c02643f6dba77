"""A whole analysis on one page: a file of HTML that needs no network and no script."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from importlib.resources import files
from math import prod
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.core import labels, provenance, validation
from xcurves.core.applicability import is_lower_better
from xcurves.core.atomic_write import atomic_write, check_place
from xcurves.core.schema import ResultKind, Statement
from xcurves.core.wording import count, interval, label_of, listed, span
from xcurves.plotting.curve_lines import anchors, panels_of
from xcurves.plotting.curves import curves_caption
from xcurves.reporting import interactive as scripts
from xcurves.reporting import markup, pictures
from xcurves.reporting.paper import describe_methods
from xcurves.reporting.score_table import score_table
from xcurves.reporting.small_pictures import levels_drawn, small_legend, small_picture
from xcurves.results import (
    ask,
    left_out,
    lines_of,
    missing_parts,
    parts_of,
    prepare,
    say_final,
)

Links = Mapping[tuple[Any, ...], str]  # the anchor of each task, by its labels

_GIVEN = {
    "rng": "Seed",
    "confidence_level": "Confidence level",
    "n_resamples": "Reassignments at most",
    "paired": "Runs matched over algorithms (1: yes)",
}
_ABSENT, _NAMED = 8, 5  # runs and algorithms that are named
_EXPLORED = (
    "Means of runs with 95 % t intervals at each level. Click a name to hide an algorithm, double-click to see it "
    "alone; drag to zoom, double-click to go back."
)
_GENERATOR = b'<meta name="generator" content="xcurves">'


def report(
    tree: xr.DataTree, path: str | os.PathLike[str], *, interactive: bool = False
) -> Path:
    """Write a whole analysis as one HTML page, which needs no network.

    Parameters
    ----------
    tree : DataTree
        What `analyze` returned, or any tree with results of methods in its groups, and curves in group ``curves``.
    path : str or path
        The file. A page that was written here is replaced whole or not at all; any other file is refused.
    interactive : bool, default False
        Whether the curves are the figure of `explore`, and tables can be sorted and filtered, by scripts within the
        page (extra ``interactive``, about 6 MB). Else the page has no script.

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
    ModuleNotFoundError
        If an interactive page is asked for and the extra ``interactive`` is not installed.

    Warns
    -----
    UserWarning
        As `plot`, whose pictures are on the page.

    Notes
    -----
    The page says first who is best and who may be, then shows the curves, the differences with their intervals, and of
    several tasks the score of every algorithm in each. Below, folded: each task with its curves, the other questions of
    the analysis, how it was done, with what repeats it, and all numbers. Pictures need matplotlib (extra ``plot``). The
    same tree gives the same page, byte for byte, with the same versions.

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
    if validation.check_flag("interactive", interactive):
        scripts.check_installed()
    parts = parts_of(tree)
    curves = _curves_of(tree)
    page = _page(tree.attrs, parts, curves, interactive=interactive)
    atomic_write(
        path, lambda part: part.write_text(page, encoding="utf-8"), is_own=_is_page
    )
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
    return (
        variables[0].compute()
        if variables and set(labels.DIMS) <= set(variables[0].dims)
        else None
    )


def _page(
    attrs: Mapping[Any, Any],
    results_of: Mapping[str, xr.Dataset],
    curves: xr.DataArray | None,
    *,
    interactive: bool,
) -> str:
    names = (
        []
        if curves is None
        else [name.removesuffix(": ") for name in labels.task_names(curves)]
    )
    links = anchors(curves) if curves is not None and len(names) > 1 else {}
    parts = [_Part.of(result, links) for result in results_of.values()]
    verdict = next((part for part in parts if part.opens), parts[0])
    others = [part for part in parts if part is not verdict]

    # What is open: the verdict, the curves, the differences, the scores by task.
    title, lead = _title(curves, names)
    top = _top_pictures(
        verdict, others, curves, several=bool(links), interactive=interactive
    )
    scores = "" if verdict.kind.by_task is None else _scores(verdict, links)
    answer = [
        _answer(verdict),
        f'<div class="top">{"".join(top)}</div>' if top else "",
        scores,
    ]

    # What is folded: each task, the other questions, other pictures, then how it was done and all numbers.
    ordered = sorted(others, key=lambda part: not part.opens)
    sections = [("answer", verdict.kind.question, "".join(answer))]
    sections.append(
        ("tasks", "Each task", _tasks(curves) if curves is not None and links else "")
    )
    sections += [
        (f"part-{number}", part.kind.question, part.body())
        for number, part in enumerate(ordered, 1)
    ]
    sections += [
        (f"picture-{number}", *each)
        for number, each in enumerate(verdict.other_pictures(), 1)
    ]
    sections += [
        ("methods", "How it was done", _methods(attrs, results_of)),
        ("numbers", "All numbers", _numbers(verdict, curves, links)),
        (
            "missing",
            "Not in this analysis",
            markup.items(missing_parts(attrs), plain=True),
        ),
    ]
    is_open = {"answer"} if top else {"answer", "tasks"}
    shown = [
        markup.section(*each, is_open=each[0] in is_open)
        for each in sections
        if each[-1]
    ]
    template = Template(
        files("xcurves.reporting").joinpath("page.html").read_text(encoding="utf-8")
    )
    lead = markup.paragraph(lead, "lead") if lead else ""
    return template.substitute(
        title=markup.text(title),
        lead=lead,
        sections="\n".join(shown),
        policy=scripts.POLICY if interactive else "img-src data:;",
        scripts=scripts.tables_script() if interactive else "",
    )


def _title(curves: xr.DataArray | None, tasks: Sequence[str]) -> tuple[str, str]:
    """Return what was compared: as a title, and by how many runs."""
    if curves is None:
        return "Comparison of algorithms", ""
    algorithms = list(map(str, curves["algorithm"].to_numpy()))
    what = "Comparison" if algorithms[1:] else "Curves"
    return f"{what} of {listed(algorithms, _NAMED)}", _lead(curves, tasks)


def _lead(curves: xr.DataArray, tasks: Sequence[str]) -> str:
    runs = int(curves.notnull().any("training").sum())
    where = ""
    if len(tasks) > 1:
        where = f" on {len(tasks)} tasks"
    elif tasks[0]:
        where = f" on {tasks[0]}"
    training = curves["training"]
    levels = span(
        training.to_numpy()[
            curves.notnull().any([dim for dim in curves.dims if dim != "training"])
        ],
        4,
    )
    better = " Low scores are better." if is_lower_better(curves) else ""
    of = f"{runs} runs of {count(curves.sizes['algorithm'], 'algorithm')}{where}"
    return f"{label_of(curves)}: {of}, {label_of(training)} {levels or 'none'}.{better}"


def _answer(verdict: _Part) -> str:
    """Return the verdict, and what must not be taken from it."""
    return (
        markup.paragraph(markup.without_code(verdict.answer), "verdict")
        + verdict.cautions()
    )


def _top_pictures(
    verdict: _Part,
    others: Sequence[_Part],
    curves: xr.DataArray | None,
    *,
    several: bool,
    interactive: bool,
) -> list[str]:
    """Return the curves, and the differences of the verdict; the curves over several tasks are those of a part."""
    drawn: list[str] = []
    if curves is not None and interactive:
        drawn = [scripts.curves_figure(curves, _EXPLORED)]
    elif curves is not None and not several:
        task = curves.squeeze(labels.extra_dims(curves), drop=True).transpose(
            *labels.DIMS
        )
        drawn = _figures(
            [pictures.draw(task, curves_caption(task))], _lead(curves, [""])
        )
    elif several:
        drawn = next(
            (
                found
                for part in others
                if part.opens and (found := part.take_first_picture())
            ),
            [],
        )
    drawn = [*drawn, *verdict.take_first_picture(listed_first=True)]
    if not drawn and not pictures.can_draw():
        return [markup.paragraph(pictures.MISSING)]
    return drawn


def _scores(verdict: _Part, links: Links) -> str:
    """Return the scores of tasks and algorithms; of a single task there is no table."""
    scores = verdict.kind.by_task
    if scores is None or not links:
        return ""
    return markup.score_table(
        score_table(scores(verdict.result)), [links[key] for key in links]
    )


def _tasks(curves: xr.DataArray) -> str:
    """Return the curves of each task."""
    panels = panels_of(curves)
    dims = labels.extra_dims(curves)
    if len(dims) == 1:
        names = [
            labels.escape_controls(str(label))
            for label in curves[dims[0]].to_numpy().tolist()
        ]
        panels = [
            replace(panel, title=name)
            for panel, name in zip(panels, names, strict=True)
        ]
    what = f"{label_of(curves)} against {label_of(curves['training'])}"
    most = levels_drawn(panels)
    figures = []
    for anchor, panel in zip(anchors(curves).values(), panels, strict=True):
        drawing = small_picture(panel, f"{what}: means of runs on {panel.title}.", most)
        figures.append(
            f'<figure><h3 id="{anchor}">{markup.text(panel.title)}</h3>{drawing}</figure>'
        )
    lines = {line.place: line for panel in panels for line in panel.lines}
    said = markup.paragraph(
        f"{what}: means of runs and their 95 % t intervals at each level, each task on its own axes."
    )
    legend = small_legend([lines[place] for place in sorted(lines)])
    return f'{said}{legend}<div class="gallery">{"".join(figures)}</div>'


def _methods(attrs: Mapping[Any, Any], results_of: Mapping[str, xr.Dataset]) -> str:
    """Return how each part was done, for a paper, with what repeats it and the papers."""
    said = []
    for result in results_of.values():
        paragraph, _, _ = describe_methods(result).partition("\n\n")
        said.append(markup.paragraph(paragraph.replace("`", "")))
    papers = markup.references(provenance.references_of(results_of.values()))
    return "".join([*said, _settings(attrs, results_of), "<h3>References</h3>", papers])


def _numbers(verdict: _Part, curves: xr.DataArray | None, links: Links) -> str:
    """Return the table and all sentences of the verdict, and what was compared."""
    compared = ""
    if curves is not None:
        compared = markup.html_table(
            counts(curves),
            f"Runs and training levels. Scores: {label_of(curves)}.",
            links,
        )
    return verdict.table + verdict.sentences() + compared


def counts(curves: xr.DataArray) -> pd.DataFrame:
    """Return a row for each task and algorithm: its runs and those that are absent, and its training levels."""
    dims = [
        *(dim for dim in labels.extra_dims(curves) if curves.sizes[dim] > 1),
        "algorithm",
    ]
    runs, training = curves["run"].to_numpy(), curves["training"].to_numpy()
    has = (
        curves.notnull()
        .transpose(..., *labels.DIMS)
        .to_numpy()
        .reshape(-1, len(runs), len(training))
    )
    present, at_level = np.asarray(has.any(axis=2)), np.asarray(has.any(axis=1))
    levels = [training[each] for each in at_level]
    columns = {
        "runs": present.sum(axis=1),
        "absent runs": [listed(runs[~each], _ABSENT) or "none" for each in present],
        "training levels": list(map(len, levels)),
        "from": [each[0] if len(each) else np.nan for each in levels],
        "to": [each[-1] if len(each) else np.nan for each in levels],
    }
    index = pd.MultiIndex.from_product(
        [pd.Index(curves[dim].to_numpy(), dtype=object) for dim in dims], names=dims
    )
    return pd.DataFrame(columns, index)


@dataclass
class _Part:
    """One result on the page, with its table; of a single task, without the dims that name it, with its pictures."""

    kind: ResultKind
    result: xr.Dataset
    single: bool
    table: str
    said: list[Statement]
    views: list[str]  # that are not drawn yet

    @classmethod
    def of(cls, result: xr.Dataset, links: Links) -> _Part:
        kind, result = prepare(result)
        dims = kind.panel_dims(result)
        single = prod(result.sizes[dim] for dim in dims) == 1
        if single:
            result = result.squeeze(dims).drop_vars(dims, errors="ignore")
            dims = kind.panel_dims(result)
        digest = kind.part.digest if kind.part and not single else None
        frame = _with_intervals(ask(kind, result, digest or kind.table, "report"))
        of_tasks = list(frame.index.names[: len(dims)]) == [_words(dim) for dim in dims]
        table = markup.html_table(
            frame, frame.attrs["caption"], links if of_tasks else None
        )
        views = [
            name
            for name, view in kind.views.items()
            if single and view.drawing.suits(result)
        ]
        return cls(
            kind, result, single, table, list(kind.every_statement(result)), views
        )

    @property
    def answer(self) -> str:
        """What it answers to its question."""
        return " ".join(each.text for each in self.said if each.role == "answer")

    @property
    def opens(self) -> bool:
        """Whether it answers first: who is better, over all tasks."""
        return self.kind.part is not None and self.kind.part.opens and self.single

    def take_first_picture(self, *, listed_first: bool = False) -> list[str]:
        """Return the picture that opens the page, if it has one; it is not shown again.

        `listed_first`: one that lists pairs or algorithms in rows is taken before others.
        """
        defaults = [name for name in self.views if self.kind.views[name].default]
        listing = [name for name in self.views if self.kind.views[name].drawing.rows]
        if not defaults:
            return []
        first = [*listing, *defaults][0] if listed_first and self.opens else defaults[0]
        self.views.remove(first)
        return self._draw(first, narrow=True)

    def other_pictures(self) -> list[tuple[str, str]]:
        """Return each picture that is not drawn yet, below the first sentence of its caption."""
        found = []
        for name in self.views:
            drawn = (
                self._draw(name) if self.opens or self.kind.views[name].default else []
            )
            if drawn:
                found.append(
                    (_first_sentence(self.kind.views[name].caption), "".join(drawn))
                )
        return found

    def body(self) -> str:
        """Return answer, pictures that are not shown above, table, then all sentences, folded."""
        final = (
            markup.paragraph(say_final(self.result))
            if "final" in self.result.attrs
            else ""
        )
        answer = markup.paragraph(markup.without_code(self.answer))
        drawn = [
            each
            for name in self.views
            if self._is_shown(name)
            for each in self._draw(name)
        ]
        left = left_out(self.result.attrs)
        missing = (
            markup.paragraph("Tasks left out:") + markup.items(left, plain=True)
            if left
            else ""
        )
        return "".join(
            [
                final,
                answer,
                self.cautions(),
                *drawn,
                self.table,
                self.sentences(),
                missing,
            ]
        )

    def _is_shown(self, name: str) -> bool:
        """Whether a picture is for everybody, or the part has no other that the page has not shown."""
        return self.kind.views[name].default or (self.opens and name == self.views[0])

    def cautions(self) -> str:
        """Return what must not be taken from the result."""
        said = dict.fromkeys(each.text for each in self.said if each.role == "caution")
        return "".join(
            markup.paragraph(markup.without_code(each), "caution") for each in said
        )

    def sentences(self) -> str:
        """Return all sentences, folded."""
        said = lines_of(self.said)
        return markup.folded(f"In {count(len(said), 'sentence')}", markup.items(said))

    def _draw(self, name: str, *, narrow: bool = False) -> list[str]:
        return _figures(
            [
                pictures.draw(
                    self.result, self.kind.views[name].caption, name, narrow=narrow
                )
            ],
            self.answer,
        )


def _first_sentence(caption: str | Mapping[str, str]) -> str:
    """Return the first sentence of a caption without its stop."""
    said = caption if isinstance(caption, str) else next(iter(caption.values()))
    return re.split(r"(?<=\.) ", said)[0].removesuffix(".")


def _with_intervals(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table with both ends of an interval in one column, headings as words."""
    for name in [name for name in frame if str(name).endswith("lower")]:
        ends = zip(
            frame[name], frame.pop(str(name).replace("lower", "upper")), strict=True
        )
        frame[name] = [
            np.nan if low != low or high != high else interval(low, high)
            for low, high in ends
        ]
    return frame.rename(columns=_words).rename_axis(index=_words)


def _words(name: Any) -> Any:
    return name and str(name).replace("lower", "interval").replace("_", " ")


def _figures(drawn: Sequence[pictures.Picture | None], said: str) -> list[str]:
    """Return pictures with their alternative texts."""
    return [markup.figure(*each, f"{each.caption} {said}") for each in drawn if each]


def _settings(attrs: Mapping[Any, Any], parts: Mapping[str, xr.Dataset]) -> str:
    """Return the settings that give the same numbers again."""
    seeds = "; ".join(
        f"{name} {result.attrs['rng']}"
        for name, result in parts.items()
        if "rng" in result.attrs
    )
    packages = ", ".join(
        f"{name} {version(name)}"
        for name in ("xcurves", "numpy", "scipy", "pandas", "xarray")
    )
    said = [
        f"{words}: {attrs[name]}" for name, words in _GIVEN.items() if name in attrs
    ]
    said += [f"Seed of each part: {seeds.replace('_', ' ')}"]
    said += [f"This page was made with {packages}, Python {platform.python_version()}"]
    return markup.items(said) + markup.paragraph(
        "This page holds no data: the archive of the analysis does, with every number and how each part was made."
    )
