"""What a notebook shows for a result in the last line of a cell: question, answer and table."""

from __future__ import annotations

from html import escape

import pandas as pd
import xarray as xr

from xcurves.core.schema import ResultKind
from xcurves.results import ask, find_kind, prepare


def as_text(result: xr.Dataset) -> str | None:
    """Return question, answer and table as text; None for a Dataset that is no result."""
    kind = find_kind(result)
    if kind is None:
        return None
    if _is_lazy(result):
        return f"{kind.question}\nNot computed yet: a lazy result of {kind.name}. Compute it: result.compute()"
    answer, table = _shown(kind, result)
    return f"{kind.question}\n{answer}\n{table}"


def as_html(result: xr.Dataset) -> str | None:
    """Return question, answer and table as HTML; None for a Dataset that is no result."""
    kind = find_kind(result)
    if kind is None:
        return None
    question = f"<p><strong>{escape(kind.question)}</strong></p>"
    if _is_lazy(result):
        return f"{question}<p>A lazy result of {kind.name}, not computed yet.</p>"
    answer, table = _shown(kind, result)
    return f"{question}<p>{escape(answer)}</p>{table.to_html(border=0, max_rows=40, float_format='{:.4g}'.format)}"


def _shown(kind: ResultKind, result: xr.Dataset) -> tuple[str, pd.DataFrame]:
    """Return the answer and the table of a result."""
    _, result = prepare(result)
    return ask(kind, result, kind.answer, "repr"), ask(kind, result, kind.table, "repr")


def _is_lazy(result: xr.Dataset) -> bool:
    return any(variable.chunks is not None for variable in result.variables.values())
