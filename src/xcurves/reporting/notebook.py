"""What the last line of a cell shows: of a result question, answer and table; of curves what they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import pandas as pd
import xarray as xr

from xcurves.core.refusal import escape_controls
from xcurves.core.run_checks import cure_incomplete
from xcurves.results import ask, find_kind, prepare
from xcurves.say.tables import as_written

_LOOK: dict[str, Any] = {"max_rows": 40, "index": False}


def as_text(result: xr.Dataset) -> str | None:
    """Return question, answer and table as text; None for a Dataset that is no result."""
    if (said := _said(result)) is None:
        return None
    *lines, table = said
    shown = [] if table is None else [table.to_string(line_width=100, **_LOOK)]
    return "\n".join([*lines, *shown])


def as_html(result: xr.Dataset) -> str | None:
    """Return question, answer and table as HTML; None for a Dataset that is no result."""
    if (said := _said(result)) is None:
        return None
    question, answer, table = said
    shown = "" if table is None else table.to_html(border=0, **_LOOK)
    return f"<p><strong>{escape(question)}</strong></p><p>{escape(answer)}</p>{shown}"


def curves_text(curves: xr.DataArray, calls_of: Mapping[tuple[str, ...], Sequence[str]]) -> str:
    """Return the dims of curves, how complete they are, and what to call: the methods of the first dims they have."""
    sizes = " × ".join(f"{size} {dim}" for dim, size in curves.sizes.items()) or "one number"
    calls = next((calls for dims, calls in calls_of.items() if set(dims) <= set(curves.dims)), ())
    said = ", ".join(f".curves.{call}()" for call in calls)
    cure = f"Call {said}" if said else "Name the dims algorithm, run and training: array.rename(...)"
    return f"{escape_controls(sizes)}{_completeness(curves)}\n{cure}"


def _completeness(curves: xr.DataArray) -> str:
    """Return how many runs are absent or lack levels that others of their task have."""
    if not {"run", "training"} <= set(curves.dims):
        return ""
    if curves.chunks is not None:
        return "; not computed yet"
    has = curves.notnull()
    levels, every = (
        has.sum("training"),
        has.any([dim for dim in ("algorithm", "run") if dim in has.dims]),
    )
    absent, lacking = (
        int((levels == 0).sum()),
        int(((levels > 0) & (levels < every.sum("training"))).sum()),
    )
    if not absent + lacking:
        return "; every run is complete"
    curable = lacking and "algorithm" in curves.dims and curves["training"].dtype.kind in "iuf"
    cure = f". {cure_incomplete(curves)}" if curable else ""
    return f"; of {levels.size} runs {absent} are absent and {lacking} lack levels{cure}"


def _said(result: xr.Dataset) -> tuple[str, str, pd.DataFrame | None] | None:
    """Return question, answer and table, or why there is none: the result is lazy, or lacks variables."""
    kind = find_kind(result)
    if kind is None:
        return None
    if any(variable.chunks is not None for variable in result.variables.values()):
        return (
            kind.question,
            f"Not computed yet: a lazy result of {kind.name}. Compute it: result.compute()",
            None,
        )
    try:
        kind, result = prepare(result)
        answer, table = (
            ask(kind, result, kind.answer, "table"),
            ask(kind, result, kind.table, "table"),
        )
    except (ValueError, IndexError) as error:  # which a repr must not raise
        return (
            kind.question,
            escape_controls(f"No answer of this selection: {error}"),
            None,
        )
    return kind.question, escape_controls(answer), as_written(table)
