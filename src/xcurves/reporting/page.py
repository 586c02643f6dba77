"""A whole analysis on one page: a file of HTML that needs no network and no script."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from importlib.resources import files
from math import prod
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
import xarray as xr

from xcurves import results
from xcurves.core import labels, provenance, validation
from xcurves.core.atomic_write import atomic_write, check_place
from xcurves.core.axes import label_of
from xcurves.core.schema import ResultKind
from xcurves.plotting import captions
from xcurves.reporting import digests, markup, pictures
from xcurves.results import kind_of, left_out, missing_parts, parts_of, prepare, say_final

Parts = Mapping[str, xr.Dataset]

_DRAWN = 12  # tasks whose curves are drawn
_GENERATOR = b'<meta name="generator" content="xcurves">'
_SAID = 12  # sentences of a part; more are folded
_GIVEN = {
    "rng": "Seed",
    "confidence_level": "Confidence level",
    "n_resamples": "Reassignments at most",
    "paired": "Runs matched over algorithms (1: yes)",
    "include": "Parts asked for",
}


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
    The page says what was compared, the answer in sentences with what it does not claim, tables and pictures, and the
    settings and versions that repeat it. With several tasks, tables are short and the curves of the first 12 are drawn;
    all numbers are in the archive. Pictures need matplotlib (extra ``plot``); without it the page says so. The same
    tree gives the same page, byte for byte, with the same versions.

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
    sections = [
        ("answer", "In short", _answer(attrs, parts)),
        *([("compared", "What was compared", _compared(curves))] if curves is not None else []),
        *(
            (f"part-{number}", kind_of(result).question, _part(result))
            for number, result in enumerate(parts.values(), 1)
        ),
        ("settings", "Settings and versions", _settings(attrs, parts)),
        ("references", "References", markup.references(provenance.references_of(parts.values()))),
    ]
    title = _title(curves)
    body = [
        f"<header><h1>{markup.text(title)}</h1>",
        markup.paragraph(_lead(curves), "lead") if curves is not None else "",
        markup.contents((anchor, heading) for anchor, heading, _ in sections),
        "</header>\n<main>",
        *(markup.section(anchor, heading, content) for anchor, heading, content in sections),
        "</main>",
    ]
    template = Template(files("xcurves.reporting").joinpath("page.html").read_text(encoding="utf-8"))
    return template.substitute(title=markup.text(title), body="\n".join(each for each in body if each))


def _title(curves: xr.DataArray | None) -> str:
    if curves is None:
        return "Comparison of algorithms"
    names = [str(name) for name in curves["algorithm"].to_numpy()]
    said = f"{', '.join(names[:-1])} and {names[-1]}" if 1 < len(names) <= 5 else f"{len(names)} algorithms"
    return f"Comparison of {said}" if len(names) > 1 else f"Curves of {names[0]}"


def _lead(curves: xr.DataArray) -> str:
    runs = int(curves.notnull().any("training").sum())
    tasks = [name.removesuffix(": ") for name in labels.task_names(curves)]
    where = f" on {len(tasks)} tasks" if len(tasks) > 1 else f" on {tasks[0]}" * bool(tasks[0])
    levels = curves["training"].to_numpy()[curves.notnull().any([dim for dim in curves.dims if dim != "training"])]
    training = curves["training"]
    units = f" {training.attrs['units']}" if training.attrs.get("units", "1") not in ("1", "") else ""
    span = f"{markup.number(levels[0])} to {markup.number(levels[-1])}" if len(levels) else "none"
    return (
        f"{label_of(curves)}: {runs} runs of {curves.sizes['algorithm']} algorithms"
        f"{where}, {training.attrs.get('long_name', 'training')} {span}{units}."
    )


def _answer(attrs: Mapping[Any, Any], parts: Parts) -> str:
    """Return the answers in a few sentences, what they do not say, and which parts are missing."""
    known = [(kind_of(result), _single(result)) for result in parts.values()]
    cautions = dict.fromkeys(each for kind, result in known if kind.caution for each in kind.caution(result))
    missing = missing_parts(attrs)
    return "".join(
        [
            markup.items([kind.answer(result) for kind, result in known]),
            *(markup.paragraph(each, "caution") for each in cautions),
            markup.paragraph("Not in this analysis:") + markup.items(missing) if missing else "",
        ]
    )


def _compared(curves: xr.DataArray) -> str:
    names = [name.removesuffix(": ") for name in labels.task_names(curves)]
    frame = digests.counts(curves) if len(names) == 1 else digests.counts_by_task(curves, names)
    drawn = _draw_curves(curves, names)
    history = str(curves.attrs.get("history", ""))
    steps = markup.folded("How the curves were prepared", markup.items(history.splitlines())) if history else ""
    return markup.html_table(frame, f"Runs and training levels. Scores: {label_of(curves)}.") + steps + drawn


def _draw_curves(curves: xr.DataArray, names: list[str]) -> str:
    extra = labels.extra_dims(curves)
    sizes = [curves.sizes[dim] for dim in extra]
    figures = []
    for place, name in enumerate(names[:_DRAWN]):
        where = dict(zip(extra, np.unravel_index(place, sizes), strict=True)) if extra else {}
        task = curves.isel(where, drop=True).transpose(*labels.DIMS)
        uri = pictures.draw(task)
        if uri is None:
            return markup.paragraph(pictures.MISSING)
        caption = f"{name}." if len(names) > 1 else captions.CURVES_CAPTION
        figures.append(markup.figure(uri, captions.curves_alternative(task), caption))
    if len(names) == 1:
        return figures[0]
    rest = len(names) - len(figures)
    more = f" The first {len(figures)} of {len(names)} tasks are drawn; the archive has all." if rest else ""
    return f'<div class="gallery">{"".join(figures)}</div>' + markup.paragraph(captions.CURVES_CAPTION + more)


def _single(result: xr.Dataset) -> xr.Dataset:
    """Return a result in memory; with a single task, without the dims that name it."""
    kind, result = prepare(result)
    dims = kind.panel_dims(result)
    if prod(result.sizes[dim] for dim in dims) > 1:
        return result
    return result.squeeze(dims).drop_vars(dims, errors="ignore")


def _part(result: xr.Dataset) -> str:
    """Return sentences, table and pictures of one result."""
    kind, result = kind_of(result), _single(result)
    tasks = prod(result.sizes[dim] for dim in kind.panel_dims(result))
    said = results.summary(result).splitlines()
    sentences = markup.items(said)
    if len(said) > _SAID:
        sentences = markup.folded(f"In {len(said)} sentences", sentences)
    left = left_out(result.attrs)
    missing = markup.paragraph("Tasks left out:") + markup.items(left) if left else ""
    final = markup.paragraph(say_final(result)) if "final" in result.attrs else ""
    table = markup.html_table(*digests.of_result(kind, result, tasks))
    return final + sentences + missing + table + _pictures(kind, result, tasks)


def _pictures(kind: ResultKind, result: xr.Dataset, tasks: int) -> str:
    """Return the default pictures of one task's result, each with its alternative text, or why there is none."""
    if not kind.views:
        return markup.paragraph(kind.no_view)
    if tasks > 1:
        return markup.paragraph("Pictures are for one task: select it, and call .curves.plot() of the selection.")
    figures = []
    for name, view in kind.views.items():
        uri = pictures.draw(result, name) if view.default else None
        figures.append("" if uri is None else markup.figure(uri, view.alternative(result), view.caption))
    return "".join(figures)


def _settings(attrs: Mapping[Any, Any], parts: Parts) -> str:
    """Return the settings that give the same numbers again."""
    given = {
        name: attrs[name] for name in ("rng", "confidence_level", "n_resamples", "paired", "include") if name in attrs
    }
    seeds = "; ".join(f"{name} {result.attrs['rng']}" for name, result in parts.items() if "rng" in result.attrs)
    calls = [f"{name}: {str(result.attrs['history']).splitlines()[-1]}" for name, result in parts.items()]
    packages = ", ".join(f"{name} {version(name)}" for name in ("xcurves", "numpy", "scipy", "pandas", "xarray"))
    return "".join(
        [
            markup.html_terms([(_GIVEN[name], value) for name, value in given.items()]),
            markup.html_terms(
                [
                    ("Seed of each part", seeds),
                    ("This page was made with", f"{packages}, Python {platform.python_version()}"),
                ]
            ),
            markup.paragraph("Each part was made by"),
            markup.items(calls),
            markup.paragraph("This page holds no data. To open its archive and repeat the analysis:"),
            markup.code(_again(given, parts)),
        ]
    )


def _again(given: Mapping[Any, Any], parts: Parts) -> str:
    """Return the code that opens an archive and repeats the analysis."""
    options = {
        "include": repr(str(given.get("include", "")).split(", ")),
        "paired": str(bool(given.get("paired", 0))),
        "n_resamples": str(given.get("n_resamples")),
        "confidence_level": str(given.get("confidence_level")),
        "rng": str(given.get("rng")),
    }
    call = "".join(f"\n    {name}={said}," for name, said in options.items() if given.get(name) is not None)
    return (
        "import xcurves\n\n"
        '# what xcurves.archive.write(tree, "analysis.nc") wrote\n'
        'tree = xcurves.archive.read("analysis.nc")\n'
        f"print(tree[{next(iter(parts))!r}].to_dataset().curves.table())\n\n"
        "# the same again\n"
        '(curves,) = tree["curves"].data_vars.values()\n'
        f"again = curves.curves.analyze({call}\n)\n"
        'again.curves.report("again.html")'
    )
