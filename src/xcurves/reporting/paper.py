"""What a paper takes from a result: a table, a paragraph for the methods section, and its references."""

from __future__ import annotations

import re
from functools import partial
from importlib.resources import files
from typing import Any, Literal

import pandas as pd
import xarray as xr

from xcurves.core import provenance, validation
from xcurves.core.tables import without_controls
from xcurves.core.wording import span
from xcurves.results import parts_of, prepare, table

Mark = Literal["bold", "italic", "underline"]

_MARKDOWN = re.compile(r"[\\`*<>|$\[\]]|~~|&(?=[\w#]+;)|(?<!\w)_|_(?!\w)")  # what would be read as more than text
_LATEX = str.maketrans({"<": r"\textless{}", ">": r"\textgreater{}"})  # which pandas leaves
_STARTS = re.compile(r"^(?=\s*[*\[])")  # what LaTeX would read as an argument of the end of a row or of a rule
_MARKS: dict[str, dict[Mark, str]] = {
    "latex": {"bold": "textbf:--rwrap;", "italic": "textit:--rwrap;", "underline": "underline:--rwrap;"},
    "markdown": {"bold": "**{}**", "italic": "*{}*", "underline": "<u>{}</u>"},
    "html": {"bold": "font-weight: bold;", "italic": "font-style: italic;", "underline": "text-decoration: underline;"},
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
    best: Mark | None = None,
    ties: Mark | None = None,
    precision: int = 3,
) -> str:
    r"""Return the table of a result as text for a paper.

    Parameters
    ----------
    result : Dataset
        As for `table`.
    to : {"latex", "markdown", "html"}
        The language: LaTeX with the rules of booktabs, a table of Markdown, or HTML.
    best, ties : {"bold", "italic", "underline"}, optional
        How to mark the best algorithm, and those whose intervals overlap with its own: they are not shown to differ,
        at a confidence of at least 90 % for intervals of 95 %, unadjusted. For tables with a value of each algorithm.
    precision : int, default 3
        Digits after the decimal point. Whole numbers have none.

    Returns
    -------
    str
        The table, labels escaped, cells without a number empty, the unit of a variable beside its name.

    Raises
    ------
    ImportError
        If the extra `tables` is not installed (jinja2, tabulate).
    ValueError, TypeError
        If options are not as described, or what `table` refuses.

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> pairs = scores.curves.pairwise(rng=0)
    >>> print(xcurves.format_table(pairs, "markdown", precision=2))
    | pair                     |   difference (games) |   lower |   upper |   p_algorithm |   p_interaction |
    |:-------------------------|---------------------:|--------:|--------:|--------------:|----------------:|
    | rate 0.001 over rate 0.8 |                 2.12 |   -2.13 |    6.38 |          0.60 |            0.72 |
    | rate 0.1 over rate 0.8   |                 1.44 |   -2.50 |    5.44 |          0.69 |            1.00 |
    | rate 0.001 over rate 0.1 |                 0.69 |   -3.84 |    5.19 |          0.69 |            1.00 |
    """
    validation.check_choice("to", to, ("latex", "markdown", "html"))
    digits = validation.check_count("precision", precision, 0, 17)
    given = {rank: mark for rank, mark in (("best", best), ("tie", ties)) if mark is not None}
    for mark in given.values():
        validation.check_choice("best and ties", mark, ("bold", "italic", "underline"))
    frame = without_controls(table(result))
    if given and "marks" not in frame.attrs:
        raise ValueError("this table has no value for each algorithm to mark. Leave out best and ties")
    marked = {row: given[rank] for row, rank in enumerate(frame.attrs.get("marks", ())) if rank in given}
    units = {name: var.attrs.get("units", "1") for name, var in result.data_vars.items()}
    named = not isinstance(frame.index, pd.RangeIndex)
    levels = [str(name or "") for name in frame.index.names] if named else []
    headers = (f"{name} ({units[name]})" if units.get(name, "1") != "1" else str(name) for name in frame.columns)
    whole = frame.reset_index(drop=not named, allow_duplicates=True)
    whole.columns = pd.Index([*levels, *headers])
    cell = partial(_cell, to=to, digits=3 if digits is None else digits)
    sides = ["left"] * len(levels) + ["right"] * frame.shape[1]
    try:
        if to == "markdown":
            written = whole.map(cell).rename(columns=cell)
            for row, mark in marked.items():
                written.iloc[row, len(levels)] = _MARKS[to][mark].format(written.iloc[row, len(levels)])
            return str(written.to_markdown(index=False, disable_numparse=True, colalign=sides))
        styler = whole.style.hide(axis="index").format(cell, na_rep="", escape=to).format_index(cell, escape=to, axis=1)
        looks = [_MARKS[to][marked[row]] if row in marked else "" for row in range(len(whole))]
        styler = styler.apply(lambda _: looks, subset=[whole.columns[len(levels)]])
        if to == "html":
            return str(styler.to_html())
        return str(styler.to_latex(hrules=True, column_format="".join(side[0] for side in sides)))
    except (ImportError, AttributeError):
        raise ImportError(
            "format_table needs jinja2 and tabulate. Install them: pip install 'xcurves[tables]'"
        ) from None


def _cell(value: Any, *, to: str, digits: int) -> str:
    """Return a cell as text: a number in so many digits after the point, or one where these would all be 0."""
    if isinstance(value, str):
        if to == "markdown":
            return _MARKDOWN.sub(r"\\\g<0>", value)
        return _STARTS.sub("{}", value.translate(_LATEX)) if to == "latex" else value
    if pd.isna(value):
        return ""
    if not isinstance(value, float):
        return str(value)
    rounded = f"{value:.{digits}f}"
    return rounded if value == 0 or float(rounded) else f"{value:.0e}"


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
    options = dict(re.findall(r"(\w+)=([^,]*)", call[1])) if call else {}
    said = {str(name): _SAID.get(str(value), str(value)) for name, value in (options | result.attrs).items()}
    papers = "; ".join(map(_cited, provenance.references_of([result])))
    method, unit = (each.format_map(said) for each in kind.method)
    if "weights" in result:  # of a contrast, whose other algorithms have no part in it
        result = result.sel(algorithm=result["weights"] != 0)
    counts = "; ".join(
        f"{variable.long_name}: {span(values[values > 0]) or 'none'}"
        for name, variable in kind.variables.items()
        if name.startswith("n_") and variable.long_name.startswith("number") and name in result
        for values in [result[name].to_numpy()]
    )
    matched = " Runs were matched over algorithms." if result.attrs.get("paired") else ""
    version, level = result.attrs["xcurves_version"], 100 * float(result.attrs["confidence_level"])
    counted = f"{counts[:1].upper()}{counts[1:]}. " if counts else ""
    calls = str(result.attrs.get("history", "")).replace("\n", " | ")
    repeated = [calls, f"unit: {unit}", counts, f"seed {result.attrs.get('rng', 'none')}", f"xcurves {version}"]
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
    many = reference[: found.end()].count(",") > 0
    authors = f"{found['author']} et al." if many else f"{found['author']}{found['more'] or ''}"
    return ", ".join(filter(None, [authors, found["year"], "longer version" * ("longer version" in reference)]))


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
    parts = parts_of(result).values() if isinstance(result, xr.DataTree) else [prepare(result)[1]]
    text = files("xcurves.reporting").joinpath("references.bib").read_text(encoding="utf-8")
    known = {entry[entry.index("{") + 1 : entry.index(",")]: entry for entry in text.strip().split("\n\n")}
    entries = []
    for number, reference in enumerate(provenance.references_of(parts), 1):
        found = _MARK.match(reference)
        key = f"{found['author']}{found['year'] or ''}" if found else ""
        note = re.sub("([&%$#_])", r"\\\1", reference)
        entries.append(known.get(key) or f"@misc{{reference{number},\n  note = {{{note}}}\n}}")
    version = next(iter(parts)).attrs["xcurves_version"]
    software = f"author = {{{{The xcurves developers}}}},\n  title = {{{{xcurves}}}},\n  note = {{Version {version}}}"
    return "\n\n".join([*entries, f"@misc{{xcurves,\n  {software}\n}}"])
