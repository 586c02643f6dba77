"""A whole analysis on one page: a file of HTML that needs no network and no script."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import xarray as xr

from xcurves.core import labels, provenance, validation
from xcurves.core.applicability import MOST_TASKS
from xcurves.core.atomic_write import atomic_write, check_place
from xcurves.core.validation import is_without_training
from xcurves.plotting.curves import curves_caption
from xcurves.reporting import interactive as scripts
from xcurves.reporting import markup, pictures
from xcurves.reporting.curves_section import anchors, counts, counts_over_tasks, gallery_of_tasks, lead_of, title_of
from xcurves.reporting.page_part import Links, PagePart, figures
from xcurves.reporting.paper import describe_methods
from xcurves.reporting.score_table import score_table
from xcurves.results import missing_parts, parts_of
from xcurves.say.numbers import label_of

_GIVEN = {
    "rng": "Seed",
    "confidence_level": "Confidence level",
    "n_resamples": "Reassignments at most",
    "paired": "Runs matched over algorithms (1: yes)",
}
_EXPLORED = (
    "Means of runs with 95 % t intervals at each level. Click a name to hide an algorithm, double-click to see it "
    "alone; drag to zoom, double-click to go back."
)
_GENERATOR = b'<meta name="generator" content="xcurves">'


def report(tree: xr.DataTree, path: str | os.PathLike[str], *, interactive: bool = False) -> Path:
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
    if group is None or not group.data_vars:
        return None
    variable = next(iter(group.data_vars.values()))
    if not set(labels.DIMS) <= set(variable.dims):
        return None
    return variable.compute()


def _page(
    attrs: Mapping[Any, Any],
    results_of: Mapping[str, xr.Dataset],
    curves: xr.DataArray | None,
    *,
    interactive: bool,
) -> str:
    tasks: list[str] = []
    links: Links = {}
    title, lead = "Comparison of algorithms", ""
    if curves is not None:
        tasks = [name.removesuffix(": ") for name in labels.task_names(curves)]
        title = title_of(curves)
        lead = markup.paragraph(lead_of(curves, tasks), "lead")
        if 1 < len(tasks) <= MOST_TASKS and not is_without_training(curves):
            links = anchors(curves)

    parts = [PagePart.of(result, links) for result in results_of.values()]
    verdict = next((part for part in parts if part.opens), parts[0])
    others = [part for part in parts if part is not verdict]

    # What is open: the verdict, the curves, the differences, the scores by task.
    top = _top_pictures(verdict, others, curves, tasks, interactive=interactive)
    answer = markup.paragraph(markup.without_code(verdict.answer), "verdict")
    answer += verdict.cautions()
    if top:
        answer += f'<div class="top">{"".join(top)}</div>'
    answer += _scores(verdict, tasks, links)
    sections = [("answer", verdict.kind.question, answer)]

    # What is folded: each task, the other questions, other pictures, then how it was done and all numbers.
    if curves is not None and links:
        sections.append(("tasks", "Each task", gallery_of_tasks(curves)))
    ordered = sorted(others, key=lambda part: not part.opens)
    for number, part in enumerate(ordered, 1):
        sections.append((f"part-{number}", part.kind.question, part.body()))
    for number, picture in enumerate(verdict.other_pictures(), 1):
        sections.append((f"picture-{number}", *picture))
    missing = markup.items(missing_parts(attrs), plain=True)
    sections += [
        ("methods", "How it was done", _methods(attrs, results_of)),
        ("numbers", "All numbers", _numbers(verdict, curves, len(tasks), links)),
        ("missing", "Not in this analysis", missing),
    ]

    is_open = {"answer"}
    if not top:
        is_open.add("tasks")
    shown = [
        markup.section(anchor, heading, body, is_open=anchor in is_open) for anchor, heading, body in sections if body
    ]
    template = files("xcurves.reporting").joinpath("page.html")
    policy, scripts_of_page = "img-src data:;", ""
    if interactive:
        policy, scripts_of_page = scripts.POLICY, scripts.tables_script()
    return Template(template.read_text(encoding="utf-8")).substitute(
        title=markup.text(title),
        lead=lead,
        sections="\n".join(shown),
        policy=policy,
        scripts=scripts_of_page,
    )


def _top_pictures(
    verdict: PagePart,
    others: Sequence[PagePart],
    curves: xr.DataArray | None,
    tasks: Sequence[str],
    *,
    interactive: bool,
) -> list[str]:
    """Return the curves, and the differences of the verdict."""
    drawn = _curves_on_top(others, curves, tasks, interactive=interactive)
    drawn += verdict.take_first_picture(listed_first=True)
    if not drawn and not pictures.can_draw():
        return [markup.paragraph(pictures.MISSING)]
    return drawn


def _curves_on_top(
    others: Sequence[PagePart],
    curves: xr.DataArray | None,
    tasks: Sequence[str],
    *,
    interactive: bool,
) -> list[str]:
    """Return the picture of the curves; over several tasks it is that of a part, which then does not show it again."""
    if curves is not None and interactive:
        return [scripts.curves_figure(curves, _EXPLORED)]
    if len(tasks) > 1:
        for part in others:
            picture = part.take_first_picture() if part.opens else []
            if picture:
                return picture
        return []
    if curves is None:
        return []
    task = curves.squeeze(labels.extra_dims(curves), drop=True)
    task = task.transpose(*labels.DIMS)
    picture_of_task = pictures.draw(task, curves_caption(task))
    return figures([picture_of_task], lead_of(curves, [""]))


def _scores(verdict: PagePart, tasks: Sequence[str], links: Links) -> str:
    """Return the scores of tasks and algorithms; of a single task there is no table."""
    scores = verdict.kind.by_task
    if scores is None or not 1 < len(tasks) <= MOST_TASKS:
        return ""
    table = score_table(scores(verdict.result))
    return markup.score_table(table, list(links.values()))


def _methods(attrs: Mapping[Any, Any], results_of: Mapping[str, xr.Dataset]) -> str:
    """Return how each part was done, for a paper, with what repeats it and the papers."""
    blocks = []
    for result in results_of.values():
        paragraph, _, _ = describe_methods(result).partition("\n\n")
        blocks.append(markup.paragraph(paragraph.replace("`", "")))
    papers = markup.references(provenance.references_of(results_of.values()))
    blocks += [_settings(attrs, results_of), "<h3>References</h3>", papers]
    return "".join(blocks)


def _numbers(verdict: PagePart, curves: xr.DataArray | None, n_tasks: int, links: Links) -> str:
    """Return the table and all sentences of the verdict, and what was compared."""
    numbers = verdict.table + verdict.sentences()
    if curves is not None:
        what = "Runs" if is_without_training(curves) else "Runs and training levels"
        caption = f"{what}. Scores: {label_of(curves)}."
        table = counts(curves) if n_tasks <= MOST_TASKS else counts_over_tasks(curves)
        numbers += markup.html_table(table, caption, links)
    return numbers


def _settings(attrs: Mapping[Any, Any], parts: Mapping[str, xr.Dataset]) -> str:
    """Return the settings that give the same numbers again."""
    seeds = "; ".join(f"{name} {result.attrs['rng']}" for name, result in parts.items() if "rng" in result.attrs)
    packages = ", ".join(f"{name} {version(name)}" for name in ("xcurves", "numpy", "scipy", "pandas", "xarray"))
    settings = [f"{words}: {attrs[name]}" for name, words in _GIVEN.items() if name in attrs]
    settings.append(f"Seed of each part: {seeds.replace('_', ' ')}")
    settings.append(f"This page was made with {packages}, Python {platform.python_version()}")
    return markup.items(settings) + markup.paragraph(
        "This page holds no data: the archive of the analysis does, with every number and how each part was made."
    )
