"""What a paper takes from a result: a table, a paragraph for the methods section, and its references."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from html import escape
from importlib.resources import files
from textwrap import wrap
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from xcurves import kinds
from xcurves.core import provenance, validation
from xcurves.core.labels import ordered, relabelled
from xcurves.core.refusal import UNSAID, Refusal, WrongType
from xcurves.core.validation import is_without_training
from xcurves.reporting.score_table import (
    SPREADS,
    Mark,
    Spread,
    as_csv,
    as_html,
    as_latex,
    as_markdown,
    latex_text,
    score_table,
)
from xcurves.results import ask, parts_of, prepare, table
from xcurves.say.numbers import percent, span
from xcurves.say.pairs import REFERENCE_FIRST, heading
from xcurves.say.result_frames import without_controls
from xcurves.say.tables import Column, columns_of, in_words

# what would be read as more than text
_MARKDOWN = re.compile(r"[\\`*<>|$\[\]]|~~|&(?=[\w#]+;)|(?<!\w)_|_(?!\w)")
# what LaTeX would read as an argument of the end of a row or of a rule
_STARTS = re.compile(r"^(?=\s*[*\[])")
_POWERS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_POWER = re.compile(" × 10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
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
_NOTE = {"markdown": "\n\n{}", "latex": "\n\n{{\\footnotesize {}\\par}}", "html": "<p>{}</p>\n"}  # below a table
_NEW_LINE = r" \\ "  # of LaTeX
_LEAST_LINE = 15  # letters in a line of a heading
_MARK = re.compile(r"^(?P<author>[\w-]+)(?:, [\w-]+)*(?P<more> & [\w-]+| et al\.)?(?: \((?P<year>\d{4})\))?")


def format_table(
    result: xr.Dataset,
    to: Literal["latex", "markdown", "html", "csv"] = "latex",
    *,
    rows: Literal["pair", "task"] = "pair",
    spread: Spread = "ci",
    best: Mark | None = None,
    ties: Mark | None = None,
    precision: int | None = None,
    labels: Mapping[Any, str] | None = None,
    order: Sequence[Any] | None = None,
    caption: str | None = None,
    label: str | None = None,
) -> str:
    r"""Return a table of a result as text for a paper.

    Parameters
    ----------
    result : Dataset
        As for `table`.
    to : {"latex", "markdown", "html", "csv"}
        The language: LaTeX with the rules of booktabs, a table of Markdown, HTML, or CSV with all digits.
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
        Digits after the decimal point; whole numbers and p have their own. If left out, an estimate and its interval
        have two significant digits of the half-width, with ``rows="task"`` as many as the spread supports.
    labels : mapping, optional
        Other names for algorithms: ``{"sac": "SAC"}``.
    order : sequence, optional
        With ``rows="task"``, names of algorithms in the order of their columns, the others behind.
    caption, label : str, optional
        Caption of the table, and its label in LaTeX. With ``rows="task"`` it has both if they are left out.

    Returns
    -------
    str
        The table, labels escaped, cells without a number empty, the unit of a variable beside its name, true minus
        signs, both ends of an interval in one column, p as ".023" or "< .001". Intervals of several pairs hold for all
        of them together. Pairs with a reference are "reference over other", positive where the reference is better.
        An end that a test set has its footnote below the table; headings of LaTeX stand in lines as long as cells.
        CSV has the columns of `table` as they are. Columns without any finite number are left out.

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
    | pair                     |   difference (games) |   95 % interval |    p |   p of changes |
    |:-------------------------|---------------------:|----------------:|-----:|---------------:|
    | rate 0.001 over rate 0.8 |                 2.12 |   −2.13 to 6.38 | .603 |           .723 |
    | rate 0.1 over rate 0.8   |                 1.44 |   −2.50 to 5.44 | .695 |              1 |
    | rate 0.001 over rate 0.1 |                 0.69 |   −3.84 to 5.19 | .695 |              1 |
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
    validation.check_choice("to", to, ("latex", "markdown", "html", "csv"))
    validation.check_choice("rows", rows, ("pair", "task"))
    validation.check_choice("spread", spread, SPREADS)
    digits = validation.check_count("precision", precision, 0, 17)
    for mark in (best, ties):
        if mark is not None:
            validation.check_choice("best and ties", mark, ("bold", "italic", "underline"))
    for name, text in (("caption", caption), ("label", label)):
        if text is not None and not isinstance(text, str):
            raise WrongType(name, type(text), "must be a text", "Leave it out for none")
    if order is not None and rows != "task":
        raise Refusal("order", UNSAID, "is for rows='task'; pairs stand by their differences", "Leave it out")
    _, result = prepare(result)
    result = relabelled(ordered(result, order), labels)
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
    if to == "csv":
        return as_csv(made, spread)
    return as_html(made, caption)


def _table_of_rows(
    result: xr.Dataset,
    to: str,
    best: Mark | None,
    ties: Mark | None,
    digits: int | None,
    caption: str | None,
    label: str | None,
) -> str:
    """Return the table of a result in one language."""
    result = result.assign_attrs({REFERENCE_FIRST: 1})
    given = {rank: mark for rank, mark in (("best", best), ("tie", ties)) if mark is not None}
    frame = _without_infinite_columns(without_controls(table(result)))
    if given and "marks" not in frame.attrs:
        raise Refusal(
            "result",
            UNSAID,
            "this table has no value for each algorithm to mark",
            "Leave out best and ties",
        )
    if to == "csv":
        return frame.to_csv(index=not isinstance(frame.index, pd.RangeIndex), lineterminator="\n")
    marked = {row: given[rank] for row, rank in enumerate(frame.attrs.get("marks", ())) if rank in given}
    columns = columns_of(frame, digits)
    units = {name: str(var.attrs.get("units", "1")) for name, var in result.data_vars.items()}
    heads = [_heading(column, units, heading(result).partition(",")[0], to) for column in columns]
    cells = [[_escaped(text, column.role, to) for text in column.texts] for column in columns]
    n_levels = sum(column.role == "label" for column in columns)
    try:
        if to == "markdown":
            made = _markdown_table(heads, cells, n_levels, marked, caption)
        else:
            if to == "latex":
                heads = [_in_lines(head, texts) for head, texts in zip(heads, cells, strict=True)]
            made = _styled_table(heads, cells, n_levels, marked, caption, label, to)
    except (ImportError, AttributeError):
        raise ImportError(
            "format_table needs jinja2 and tabulate. Install them: pip install 'xcurves[tables]'"
        ) from None
    if "note" not in frame.attrs:
        return made
    note = _NOTE[to].format(_escaped(str(frame.attrs["note"]), "text", to))
    table_text, end, after = made.partition(r"\end{tabular}")  # of LaTeX: before the float ends
    return f"{table_text}{end}{note}{after}"


def _heading(column: Column, units: Mapping[Any, str], level: str, to: str) -> str:
    """Return the heading of a column as a paper has it: with its unit, the level of an interval, p as a symbol."""
    text = column.heading
    if column.role == "interval":
        _, _, claim = text.partition("together, ")
        prefix = column.name.removesuffix("lower").rstrip("_")
        of = claim or (prefix and in_words(prefix))
        text = f"{level} interval"
        if of:
            text += f", {of}"
    unit = units.get(column.name, "1")
    if column.role == "number" and unit != "1":
        text += f" ({unit})"
    head = _escaped(text, "label", to)
    if to == "latex" and column.role == "p":
        return re.sub(r"\bp\b", "$p$", head, count=1)
    return head


def _in_lines(head: str, cells: Sequence[str]) -> str:
    """Return a heading in lines about as long as the cells below it: LaTeX breaks none of its own accord."""
    lines = wrap(head, max(_LEAST_LINE, *map(len, cells)), break_long_words=False, break_on_hyphens=False)
    return head if len(lines) < 2 else rf"\shortstack[r]{{{_NEW_LINE.join(lines)}}}"


def _escaped(text: str, role: str, to: str) -> str:
    """Return the text of a cell in one language."""
    if to == "markdown":
        return _MARKDOWN.sub(r"\\\g<0>", text)
    if to == "html":
        return escape(text)
    latex = _POWER.sub(lambda found: rf" $\times 10^{{{found[1].translate(_POWERS)}}}$", latex_text(text))
    if role == "label":
        return _STARTS.sub("{}", latex)
    return latex


def _at(heads: Sequence[str], place: Any) -> str:
    """Return the heading of a column by its number."""
    return str(heads[place])


def _markdown_table(
    heads: Sequence[str],
    cells: Sequence[Sequence[str]],
    n_levels: int,
    marked: Mapping[int, Mark],
    caption: str | None,
) -> str:
    """Return columns, the first of which are labels, as a table of Markdown below its caption."""
    frame = pd.DataFrame(dict(enumerate(cells)))
    for row, mark in marked.items():
        frame.iloc[row, n_levels] = _MARKS["markdown"][mark].format(frame.iloc[row, n_levels])
    sides = ["left"] * n_levels + ["right"] * (len(cells) - n_levels)
    table_text = str(frame.to_markdown(index=False, headers=heads, disable_numparse=True, colalign=sides))
    if caption:
        return f"{_escaped(caption, 'text', 'markdown')}\n\n{table_text}"
    return table_text


def _styled_table(
    heads: Sequence[str],
    cells: Sequence[Sequence[str]],
    n_levels: int,
    marked: Mapping[int, Mark],
    caption: str | None,
    label: str | None,
    to: str,
) -> str:
    """Return columns, the first of which are labels, as a table of HTML or LaTeX."""
    frame = pd.DataFrame(dict(enumerate(cells)))
    styler = frame.style.hide(axis="index").format_index(partial(_at, heads), axis="columns")
    if marked:
        looks = [_MARKS[to][marked[row]] if row in marked else "" for row in range(len(frame))]
        styler = styler.apply(lambda _: looks, subset=[n_levels])
    if to == "html":
        if caption:
            styler = styler.set_caption(escape(caption))
        return str(styler.to_html())
    if caption is not None:
        caption = latex_text(caption)
    columns = "l" * n_levels + "r" * (len(cells) - n_levels)
    place: Literal["centering"] | None = "centering" if caption or label else None
    return str(styler.to_latex(hrules=True, column_format=columns, caption=caption, label=label, position_float=place))


def _without_infinite_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table without columns of numbers, ends of intervals apart, that have an infinite one and no finite."""
    empty = []
    for place, (name, column) in enumerate(frame.items()):
        is_end = str(name).endswith(("lower", "upper"))
        if not is_end and column.dtype.kind == "f" and np.isinf(column).any() and not np.isfinite(column).any():
            empty.append(place)
    kept = frame.iloc[:, [place for place in range(frame.shape[1]) if place not in empty]]
    kept.attrs = frame.attrs
    return kept


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
    level = percent(result.attrs["confidence_level"], 6)
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
        f"{level}. Computed with `{kind.name}` of xcurves {version}. To be added: how the hyper-parameters of each "
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
