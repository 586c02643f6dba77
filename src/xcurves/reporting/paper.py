"""What a paper takes from a result: a table, a paragraph for the methods section, and its references."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from html import escape
from importlib.resources import files
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from xcurves import kinds
from xcurves.core import provenance, validation
from xcurves.core.refusal import UNSAID, Refusal, WrongType
from xcurves.core.result_frames import without_controls
from xcurves.core.validation import is_without_training
from xcurves.core.wording import span
from xcurves.reporting.score_table import (
    MINUS,
    SPREADS,
    Mark,
    Spread,
    as_html,
    as_latex,
    as_markdown,
    infinity,
    latex_text,
    score_table,
)
from xcurves.results import ask, parts_of, prepare, table

# what would be read as more than text
_MARKDOWN = re.compile(r"[\\`*<>|$\[\]]|~~|&(?=[\w#]+;)|(?<!\w)_|_(?!\w)")
# which pandas leaves
_LATEX = str.maketrans({"<": r"\textless{}", ">": r"\textgreater{}"})
# what LaTeX would read as an argument of the end of a row or of a rule
_STARTS = re.compile(r"^(?=\s*[*\[])")
_MARKS: dict[str, dict[Mark, str]] = {
    "latex": {
        "bold": "textbf:--rwrap;",
        "italic": "textit:--rwrap;",
        "underline": "underline:--rwrap;",
    },
    "markdown": {"bold": "**{}**", "italic": "*{}*", "underline": "<u>{}</u>"},
    "html": {
        "bold": "font-weight: bold;",
        "italic": "font-style: italic;",
        "underline": "text-decoration: underline;",
    },
}
_SAID = {
    "holm": "Holm's step-down procedure",
    "bonferroni": "Bonferroni's correction",
    "benjamini-hochberg": "Benjamini and Hochberg's procedure",
}
_MARK = re.compile(r"^(?P<author>[\w-]+)(?:, [\w-]+)*(?P<more> & [\w-]+| et al\.)?(?: \((?P<year>\d{4})\))?")


def format_table(
    result: xr.Dataset,
    to: Literal["latex", "markdown", "html"] = "latex",
    *,
    rows: Literal["pair", "task"] = "pair",
    spread: Spread = "ci",
    best: Mark | None = None,
    ties: Mark | None = None,
    precision: int | None = None,
    caption: str | None = None,
    label: str | None = None,
) -> str:
    r"""Return a table of a result as text for a paper.

    Parameters
    ----------
    result : Dataset
        As for `table`.
    to : {"latex", "markdown", "html"}
        The language: LaTeX with the rules of booktabs, a table of Markdown, or HTML.
    rows : {"pair", "task"}, default "pair"
        ``"pair"``: the rows of `table`, whatever they are. ``"task"``: a row for each task and a column for each
        algorithm, "83.1 ± 0.7", then rows of the mean over tasks and of the mean rank; for results over several
        tasks.
    spread : {"ci", "sd", "se"}, default "ci"
        With ``rows="task"``, what stands behind ±: half of the t interval of the mean of runs, their standard
        deviation, or the standard error. The caption says which.
    best, ties : {"bold", "italic", "underline"}, optional
        How to mark the best algorithm, and those that are not shown to be worse. With ``rows="task"`` bold and
        underlined if left out; ties are those of which p of the task, adjusted over tasks, does not show it where it
        could have; a dagger stands where runs are too few for that. Else for
        tables with a value of each algorithm; ties are those whose intervals overlap with that of the best, at a
        confidence of at least 90 % for intervals of 95 %, unadjusted.
    precision : int, optional
        Digits after the decimal point. Whole numbers have none. If left out 3, with ``rows="task"`` as many as the
        spread supports.
    caption, label : str, optional
        Caption of the table, and its label in LaTeX. With ``rows="task"`` it has both if they are left out.

    Returns
    -------
    str
        The table, labels escaped, cells without a number empty, the unit of a variable beside its name, true minus
        signs. Columns without any finite number are left out.

    Raises
    ------
    ImportError
        If the extra `tables` is not installed (jinja2, tabulate).
    ValueError, TypeError
        If options are not as described, if a result has no scores by task, or what `table` refuses.

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> pairs = scores.curves.pairwise(rng=0)
    >>> print(xcurves.format_table(pairs, "markdown", precision=2))
    | pair                     |   difference (games) |   lower |   upper |   p_algorithm |   p_interaction |
    |:-------------------------|---------------------:|--------:|--------:|--------------:|----------------:|
    | rate 0.001 over rate 0.8 |                 2.12 |   −2.13 |    6.38 |          0.60 |            0.72 |
    | rate 0.1 over rate 0.8   |                 1.44 |   −2.50 |    5.44 |          0.69 |            1.00 |
    | rate 0.001 over rate 0.1 |                 0.69 |   −3.84 |    5.19 |          0.69 |            1.00 |
    >>> accuracy = xcurves.tutorial.open_dataset("benchmark")["accuracy"].isel(task=slice(6), algorithm=slice(3))
    >>> answer = accuracy.curves.across_tasks(rng=0)
    >>> print(answer.curves.format_table("markdown", rows="task").split("\n\n")[1])
    | task          | logistic regression |        5 neighbours |                 SVM |
    |:--------------|--------------------:|--------------------:|--------------------:|
    | breast cancer |    **94.54** ± 1.68 | <u>94.12</u> ± 2.97 | <u>93.90</u> ± 1.97 |
    | digits        |    **87.21** ± 0.86 |        80.31 ± 1.29 | <u>85.33</u> ± 1.64 |
    | iris          |    **94.86** ± 4.41 | <u>91.52</u> ± 1.89 | <u>93.71</u> ± 3.51 |
    | wine          | <u>95.65</u> ± 3.45 | <u>94.97</u> ± 2.26 |    **96.53** ± 2.47 |
    | chess endgame |        20.36 ± 0.91 |        22.81 ± 0.53 |    **25.12** ± 1.07 |
    | tic-tac-toe   |    **84.94** ± 1.26 |        79.94 ± 1.27 |        81.87 ± 0.66 |
    | mean          |               79.59 |               77.28 |               79.41 |
    | mean rank     |                1.50 |                2.67 |                1.83 |
    """
    validation.check_choice("to", to, ("latex", "markdown", "html"))
    validation.check_choice("rows", rows, ("pair", "task"))
    validation.check_choice("spread", spread, SPREADS)
    digits = validation.check_count("precision", precision, 0, 17)
    for mark in (best, ties):
        if mark is not None:
            validation.check_choice("best and ties", mark, ("bold", "italic", "underline"))
    for name, text in (("caption", caption), ("label", label)):
        if text is not None and not isinstance(text, str):
            raise WrongType(name, type(text), "must be a text", "Leave it out for none")
    if rows == "task":
        return _table_of_tasks(
            result,
            to,
            spread,
            best or "bold",
            ties or "underline",
            digits,
            caption,
            label,
        )
    if digits is None:
        digits = 3
    return _table_of_rows(result, to, best, ties, digits, caption, label)


def _table_of_tasks(
    result: xr.Dataset,
    to: str,
    spread: Spread,
    best: Mark,
    ties: Mark,
    digits: int | None,
    caption: str | None,
    label: str | None,
) -> str:
    """Return scores of tasks and algorithms in one language."""
    kind, result = prepare(result)
    if kind.by_task is None:
        have = " and ".join(name for name in kinds.NAMES if kinds.kind(name).by_task)
        raise Refusal(
            "rows",
            "task",
            f"is for results of {have}; got one of {kind.name}",
            "Leave rows out",
        )
    try:
        scores = kind.by_task(result)
    except KeyError:  # a variable or label was selected away: say which
        scores = ask(kind, result, kind.by_task, "format_table")
    made = score_table(scores, spread=spread, precision=digits, best=best, ties=ties)
    if to == "latex":
        return as_latex(made, caption, label)
    if to == "markdown":
        return as_markdown(made, caption)
    return as_html(made, caption)


def _table_of_rows(
    result: xr.Dataset,
    to: str,
    best: Mark | None,
    ties: Mark | None,
    digits: int,
    caption: str | None,
    label: str | None,
) -> str:
    """Return the table of a result in one language."""
    given = {rank: mark for rank, mark in (("best", best), ("tie", ties)) if mark is not None}
    frame = _without_infinite_columns(without_controls(table(result)))
    if given and "marks" not in frame.attrs:
        raise Refusal(
            "result",
            UNSAID,
            "this table has no value for each algorithm to mark",
            "Leave out best and ties",
        )
    marked = {row: given[rank] for row, rank in enumerate(frame.attrs.get("marks", ())) if rank in given}
    units = {name: var.attrs.get("units", "1") for name, var in result.data_vars.items()}
    is_named = not isinstance(frame.index, pd.RangeIndex)
    levels: list[str] = []
    if is_named:
        levels = [str(name or "") for name in frame.index.names]
    whole = frame.reset_index(drop=not is_named, allow_duplicates=True)
    headers = [_with_unit(name, units.get(name, "1")) for name in frame.columns]
    whole.columns = pd.Index([*levels, *headers])
    try:
        if to == "markdown":
            return _markdown_table(whole, len(levels), marked, digits, caption)
        return _styled_table(whole, len(levels), marked, digits, caption, label, to)
    except (ImportError, AttributeError):
        raise ImportError(
            "format_table needs jinja2 and tabulate. Install them: pip install 'xcurves[tables]'"
        ) from None


def _with_unit(name: Any, unit: str) -> str:
    """Return the heading of a column, with the unit of what it holds if that has one."""
    if unit == "1":
        return str(name)
    return f"{name} ({unit})"


def _markdown_table(
    frame: pd.DataFrame,
    n_levels: int,
    marked: Mapping[int, Mark],
    digits: int,
    caption: str | None,
) -> str:
    """Return a frame, whose first columns are labels, as a table of Markdown below its caption."""
    cell = partial(_cell, to="markdown", digits=digits)
    written = frame.map(cell).rename(columns=cell)
    for row, mark in marked.items():
        value = written.iloc[row, n_levels]
        written.iloc[row, n_levels] = _MARKS["markdown"][mark].format(value)
    sides = ["left"] * n_levels + ["right"] * (frame.shape[1] - n_levels)
    table_text = str(written.to_markdown(index=False, disable_numparse=True, colalign=sides))
    if caption:
        return f"{cell(caption)}\n\n{table_text}"
    return table_text


def _styled_table(
    frame: pd.DataFrame,
    n_levels: int,
    marked: Mapping[int, Mark],
    digits: int,
    caption: str | None,
    label: str | None,
    to: str,
) -> str:
    """Return a frame, whose first columns are labels, as a table of HTML or LaTeX."""
    cell = partial(_cell, to=to, digits=digits)
    styler = frame.style.hide(axis="index")
    styler = styler.format(cell, na_rep="", escape=to)
    styler = styler.format_index(cell, escape=to, axis=1)
    if marked:
        looks = [""] * len(frame)
        for row, mark in marked.items():
            looks[row] = _MARKS[to][mark]
        styler = styler.apply(lambda _: looks, subset=[frame.columns[n_levels]])
    if to == "html":
        if caption:
            styler = styler.set_caption(escape(caption))
        return str(styler.to_html())
    if caption is not None:
        caption = latex_text(caption)
    columns = "l" * n_levels + "r" * (frame.shape[1] - n_levels)
    latex: str = styler.to_latex(hrules=True, column_format=columns, caption=caption, label=label)
    return latex.replace(MINUS, "$-$").replace("∞", r"$\infty$")


def _without_infinite_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table without columns of numbers that have an infinite one and no finite one."""
    empty = []
    for place, (_, column) in enumerate(frame.items()):
        if column.dtype.kind == "f" and np.isinf(column).any() and not np.isfinite(column).any():
            empty.append(place)
    kept = frame.iloc[:, [place for place in range(frame.shape[1]) if place not in empty]]
    kept.attrs = frame.attrs
    return kept


def _cell(value: Any, *, to: str, digits: int) -> str:
    """Return a cell as text: a number in so many digits after the point, or one where these would all be 0."""
    if isinstance(value, str):
        if to == "markdown":
            return _MARKDOWN.sub(r"\\\g<0>", value)
        if to == "latex":
            return _STARTS.sub("{}", value.translate(_LATEX))
        return value
    if pd.isna(value):
        return ""
    if not isinstance(value, float):
        return str(value)
    if np.isinf(value):
        return infinity(value)
    number = f"{value:.{digits}f}"
    if value != 0 and float(number) == 0:
        number = f"{value:.0e}"
    if value < 0:
        return number.replace("-", MINUS, 1)
    return number


def describe_methods(result: xr.Dataset) -> str:
    """Describe how a result was computed, for the methods section of a paper and for a checklist.

    Parameters
    ----------
    result : Dataset
        What a method returned; a lazy one is computed.

    Returns
    -------
    str
        A paragraph: what was done, its papers, the unit, the counts of runs, levels, tasks and reassignments, the
        confidence level, the version, and what is to be added; then, after an empty line, a sentence for a
        reproducibility checklist: the calls with their options, the unit, the counts, the seed and the version.

    Raises
    ------
    ValueError, TypeError
        If `result` is no result of this library.

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> described = xcurves.describe_methods(scores.curves.randomized_anova(rng=0))
    >>> print(described.split(": ")[0])
    Algorithms were compared by a randomized analysis of variance of whole performance curves
    """
    kind, result = prepare(result)
    call = re.search(rf"{kind.name}\((.*)\)$", str(result.attrs.get("history", "")))
    options: dict[Any, Any] = {}
    if call:
        options = dict(re.findall(r"(\w+)=([^,]*)", call[1]))
    words = {str(name): _SAID.get(str(value), str(value)) for name, value in (options | result.attrs).items()}
    papers = "; ".join(map(_cited, provenance.references_of([result])))
    method, unit = (sentence.format_map(words) for sentence in kind.method)
    if kind.scores_method and is_without_training(result):
        method = kind.scores_method.format_map(words)
    if "weights" in result:  # of a contrast, whose other algorithms have no part in it
        result = result.sel(algorithm=result["weights"] != 0)
    counts = "; ".join(
        f"{variable.long_name}: {span(values[values > 0]) or 'none'}"
        for name, variable in kind.variables.items()
        if name.startswith("n_") and variable.long_name.startswith("number") and name in result
        if name != "n_levels" or not is_without_training(result)
        for values in [result[name].to_numpy()]
    )
    matched, counted = "", ""
    if result.attrs.get("paired"):
        matched = " Runs were matched over algorithms."
    if counts:
        counted = f"{counts[:1].upper()}{counts[1:]}. "
    version = result.attrs["xcurves_version"]
    level = 100 * float(result.attrs["confidence_level"])
    calls = str(result.attrs.get("history", "")).replace("\n", " | ")
    repeated = [
        calls,
        f"unit: {unit}",
        counts,
        f"seed {result.attrs.get('rng', 'none')}",
        f"xcurves {version}",
    ]
    return (
        f"{method.removesuffix('.')} ({papers}).{matched} Unit: {unit}. {counted}Intervals have a confidence level of "
        f"{level:g} %. Computed with `{kind.name}` of xcurves {version}. To be added: how the hyper-parameters of each "
        f"algorithm were chosen, and what crashed.\n\nReproducibility: {'; '.join(filter(None, repeated))}."
    )


def _cited(reference: str) -> str:
    """Return authors and year of a paper, as they are cited in a text."""
    found = _MARK.match(reference)
    if found is None:
        return reference
    authors = f"{found['author']}{found['more'] or ''}"
    has_many = reference[: found.end()].count(",") > 0
    if has_many:
        authors = f"{found['author']} et al."
    parts = [authors, found["year"]]
    if "longer version" in reference:
        parts.append("longer version")
    return ", ".join(filter(None, parts))


def bibtex(result: xr.Dataset | xr.DataTree) -> str:
    r"""Return the references of a result as BibTeX.

    Parameters
    ----------
    result : Dataset or DataTree
        What a method returned, or a whole analysis.

    Returns
    -------
    str
        An entry for each paper, and one for xcurves in its version.

    Raises
    ------
    ValueError, TypeError
        If `result` is no result of this library, or holds none.

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> print(xcurves.bibtex(scores.curves.performance_cdf()).split("\n\n")[1])
    @article{Aldor-Noiman2013,
      author = {Aldor-Noiman, Sivan and Brown, Lawrence D. and Buja, Andreas and Rolke, Wolfgang and Stine, Robert A.},
      title = {The Power to See: A New Graphical Test of Normality},
      journal = {The American Statistician},
      volume = {67},
      pages = {249--260},
      year = {2013},
      doi = {10.1080/00031305.2013.847865}
    }
    """
    if isinstance(result, xr.DataTree):
        parts = list(parts_of(result).values())
    else:
        parts = [prepare(result)[1]]
    known = _known_entries()
    entries = []
    for number, reference in enumerate(provenance.references_of(parts), 1):
        key = ""
        found = _MARK.match(reference)
        if found:
            key = f"{found['author']}{found['year'] or ''}"
        note = re.sub("([&%$#_])", r"\\\1", reference)
        entries.append(known.get(key) or f"@misc{{reference{number},\n  note = {{{note}}}\n}}")
    version = parts[0].attrs["xcurves_version"]
    software = f"author = {{{{The xcurves developers}}}},\n  title = {{{{xcurves}}}},\n  note = {{Version {version}}}"
    return "\n\n".join([*entries, f"@misc{{xcurves,\n  {software}\n}}"])


def _known_entries() -> dict[str, str]:
    """Return the entries of the file of references by their keys."""
    file = files("xcurves.reporting").joinpath("references.bib")
    entries = file.read_text(encoding="utf-8").strip().split("\n\n")
    return {entry[entry.index("{") + 1 : entry.index(",")]: entry for entry in entries}
