"""What a paper takes from a result: a table, a paragraph for the methods section, and its references."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import escape
from typing import Literal

import numpy as np
import pandas as pd
import xarray as xr

from xcurves import kinds
from xcurves.core import provenance, validation
from xcurves.core.schema import ResultKind
from xcurves.results import parts_of, prepare, table

Mark = Literal["bold", "italic", "underline"]

_DOI = re.compile(r"(?:,\s*)?doi:\s*(10\.\S+)")
_DATED = re.compile(r"^(?P<authors>.+?) \((?P<year>\d{4})\), (?P<title>[^,]+)(?:, (?P<rest>.+))?$")
_UNDATED = re.compile(r"^(?P<authors>(?:[^,&]+, )*[^,&]+ & [^,]+|[^,]+), (?P<title>[^,]+)(?:, (?P<rest>.+))?$")
_LATEX = str.maketrans({**{mark: f"\\{mark}" for mark in "&%$#_{}"}, "~": r"\textasciitilde{}", "^": r"\^{}"})
_MARKS = {
    "latex": {"bold": r"\textbf{{{}}}", "italic": r"\textit{{{}}}", "underline": r"\underline{{{}}}"},
    "markdown": {"bold": "**{}**", "italic": "*{}*", "underline": "<u>{}</u>"},
    "html": {"bold": "<b>{}</b>", "italic": "<i>{}</i>", "underline": "<u>{}</u>"},
}
_INFINITE = {"latex": r"$\infty$", "markdown": "∞", "html": "∞"}
_ADJUSTED = {"holm": "Holm's step-down procedure", "bonferroni": "Bonferroni's correction"}


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
        How to mark the best algorithm, and those that are not shown to differ from it: their intervals overlap. Two
        intervals of 95 % that do not overlap show a difference at a confidence of at least 90 %, not adjusted for the
        number of algorithms. For tables with a value for each algorithm, those of `performance_cdf`.
    precision : int, default 3
        Digits after the decimal point. Whole numbers have none.

    Returns
    -------
    str
        The table, labels escaped, cells without a number empty.

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
    | pair                  |   difference |   lower |   upper |   p_algorithm |   p_interaction |
    |:----------------------|-------------:|--------:|--------:|--------------:|----------------:|
    | rate 0.001 - rate 0.8 |         2.12 |   -1.25 |    5.48 |          0.60 |            0.72 |
    | rate 0.001 - rate 0.1 |         0.69 |   -2.88 |    4.25 |          0.69 |            1.00 |
    | rate 0.8 - rate 0.1   |        -1.44 |   -4.59 |    1.70 |          0.69 |            1.00 |
    """
    validation.check_choice("to", to, ("latex", "markdown", "html"))
    digits = validation.check_count("precision", precision, 0, 17)
    frame = table(result)
    cell = _cells(to, 3 if digits is None else digits)
    written = frame.map(cell)
    for place, mark in _marked(result, frame, {"best": best, "tie": ties}):
        written.iloc[place] = _MARKS[to][mark].format(written.iloc[place])
    written.columns = pd.Index([cell(str(name)) for name in frame.columns])
    named = any(name is not None for name in frame.index.names) or frame.index.inferred_type == "string"
    labels = frame.index.to_frame(index=False).map(cell) if named else pd.DataFrame(index=frame.index)
    labels.columns = pd.Index([cell(str(name or "")) for name in frame.index.names][: labels.shape[1]])
    written = pd.concat([labels, written.reset_index(drop=True)], axis=1)
    sides = ["left"] * labels.shape[1] + ["right"] * frame.shape[1]
    try:
        if to == "markdown":
            return str(written.to_markdown(index=False, disable_numparse=True, colalign=sides))
        styler = written.style.hide(axis="index")
        if to == "html":
            return str(styler.to_html())
        return str(styler.to_latex(hrules=True, column_format="".join(side[0] for side in sides)))
    except (ImportError, AttributeError):
        raise ImportError(
            "format_table needs jinja2 and tabulate. Install them: pip install 'xcurves[tables]'"
        ) from None


def _marked(
    result: xr.Dataset, frame: pd.DataFrame, marks: dict[str, Mark | None]
) -> Iterator[tuple[tuple[int, int], Mark]]:
    """Yield the place of each cell that is marked, and how."""
    given = [mark for mark in marks.values() if mark is not None]
    if not given:
        return
    for asked in given:
        validation.check_choice("best and ties", asked, ("bold", "italic", "underline"))
    kind, result = prepare(result)
    if kind.ranking is None:
        raise ValueError(f"the table of {kind.name} has no value for each algorithm. Leave out best and ties")
    for row, rank in enumerate(kind.ranking(result, frame)):
        mark = marks.get(rank)
        if mark is not None:
            yield (row, 0), mark


def _cells(to: str, digits: int) -> Callable[[object], str]:
    """Return what writes a cell: numbers in so many digits, text escaped, nothing where there is no number."""

    def cell(value: object) -> str:
        if isinstance(value, str):
            escaped = {"latex": value.translate(_LATEX), "markdown": value.replace("|", r"\|"), "html": escape(value)}
            return escaped[to]
        if value is pd.NA or value is None:
            return ""
        number = float(str(value))
        if np.isnan(number):
            return ""
        if np.isinf(number):
            return "-" * (number < 0) + _INFINITE[to]
        if isinstance(value, int | np.integer):
            return str(value)
        rounded = f"{number:.{digits}f}"
        return rounded if number == 0 or float(rounded) else f"{number:.0e}"

    return cell


def describe_methods(result: xr.Dataset) -> str:
    """Describe how a result was computed, for the methods section of a paper and for a checklist.

    Parameters
    ----------
    result : Dataset
        What a method returned; a lazy one is computed.

    Returns
    -------
    str
        A paragraph: the method, the data, the reassignments or resamples, the adjustment, the confidence level and the
        papers; then, after an empty line, one sentence for a reproducibility checklist, with the options, the seed and
        the version.

    Raises
    ------
    ValueError, TypeError
        If `result` is no result of this library.

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> described = xcurves.describe_methods(scores.curves.randomized_anova(rng=0))
    >>> print(described[:94])
    Do the algorithms differ? We used `randomized_anova` of xcurves 0.1.0: Test whether algorithms
    """
    kind, result = prepare(result)
    return f"{' '.join(_paragraph(kind, result))}\n\n{_checklist(kind, result)}"


def _paragraph(kind: ResultKind, result: xr.Dataset) -> Iterator[str]:
    attrs = result.attrs
    first = str(kinds.function(kind.name).__doc__).strip().split("\n\n")[0].strip()
    yield f"{kind.question} We used `{kind.name}` of xcurves {attrs['xcurves_version']}: {first}"
    counts = [f"{name.removeprefix('n_').replace('_', ' ')}: {_range(result[name])}" for name in _counts(kind, result)]
    if counts:
        yield f"Numbers: {', '.join(counts)}."
    if attrs.get("paired"):
        yield "Runs are matched over algorithms."
    if "correction" in attrs:
        yield f"P-values are adjusted by {_ADJUSTED.get(str(attrs['correction']), str(attrs['correction']))}."
    yield f"Confidence level: {100 * float(attrs.get('confidence_level', 0.95)):g} %."
    yield "Method: " + "; ".join(provenance.references_of([result])) + "."


def _counts(kind: ResultKind, result: xr.Dataset) -> list[str]:
    return [name for name in kind.variables if name.startswith("n_") and name in result]


def _range(counts: xr.DataArray) -> str:
    """Return a count, or the range of counts."""
    known = counts.to_numpy()[~np.isnan(counts.to_numpy())]
    ends = sorted({known.min(), known.max()}) if known.size else []
    return " to ".join(f"{end:,.0f}" for end in ends) or "none"


def _checklist(kind: ResultKind, result: xr.Dataset) -> str:
    """Return one sentence from which another can repeat the call."""
    steps = str(result.attrs["history"]).split("\n")
    seed = f"seed {result.attrs['rng']}" if "rng" in result.attrs else "no seed"
    return f"Reproducibility: {' | '.join(steps)}; {seed}; xcurves {result.attrs['xcurves_version']}; {kind.name}."


def bibtex(result: xr.Dataset | xr.DataTree) -> str:
    r"""Return the references of a result as BibTeX.

    Parameters
    ----------
    result : Dataset or DataTree
        What a method returned, or a whole analysis.

    Returns
    -------
    str
        An entry for each paper that the result names, each once, and one for xcurves in its version. What follows the
        title stands in `note`.

    Raises
    ------
    ValueError, TypeError
        If `result` is no result of this library, or holds none.

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> print(xcurves.bibtex(scores.curves.performance_cdf()).split("\n\n")[1])
    @misc{Massart1990,
      author = {Massart},
      title = {{The Tight Constant in the Dvoretzky-Kiefer-Wolfowitz Inequality}},
      year = {1990},
      note = {Ann. Probab. 18, 1269-1283},
      doi = {10.1214/aop/1176990746}
    }
    """
    parts = parts_of(result).values() if isinstance(result, xr.DataTree) else [prepare(result)[1]]
    entries: dict[str, str] = {}
    for reference in provenance.references_of(parts):
        key, fields = _entry(reference)
        while key in entries:
            key += "b"
        entries[key] = _written(key, fields)
    version = str(next(iter(parts)).attrs["xcurves_version"])
    software = {"author": "{The xcurves developers}", "title": "{xcurves}", "note": f"Version {version}"}
    return "\n\n".join([*entries.values(), _written("xcurves", software)])


def _entry(reference: str) -> tuple[str, dict[str, str]]:
    """Return the key and the fields of a paper, "Authors (year), Title, Journal 1, 2-3, doi:..."."""
    doi = _DOI.search(reference)
    bare = _DOI.sub("", reference)
    found = _DATED.match(bare) or _UNDATED.match(bare)
    if found is None:
        return "reference", {"note": reference}
    authors = re.split(r", | & ", found["authors"].replace(" et al.", ", others"))
    year = found.groupdict().get("year")
    is_journal = re.search(r" \d+$", found["title"])  # of a paper that is named without its title
    rest = [found["title"], found["rest"]] if is_journal else [found["rest"]]
    fields = {
        "author": " and ".join(authors),
        "title": "" if is_journal else f"{{{found['title']}}}",
        "year": year,
        "note": ", ".join(filter(None, rest)),
        "doi": doi and doi[1],
    }
    key = re.sub(r"\W", "", authors[0].split()[-1]) + (year or "")
    return key, {name: value for name, value in fields.items() if value}


def _written(key: str, fields: dict[str, str]) -> str:
    lines = [
        f"  {name} = {{{value if name == 'doi' else value.replace('&', chr(92) + '&')}}}"
        for name, value in fields.items()
    ]
    return f"@misc{{{key},\n" + ",\n".join(lines) + "\n}"
