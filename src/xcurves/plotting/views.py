"""Which views of a result to draw: those asked for, or those that suit it and take the options that are given."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from xcurves.core import validation
from xcurves.core.refusal import UNSAID, Refusal, WrongType
from xcurves.core.schema import ResultKind
from xcurves.pictures.pair_rows import NAMES_OF_COLUMNS
from xcurves.results import views_of


def chosen_views(
    kind: ResultKind, data: xr.Dataset, view: str | None, claim: str | None, options: Mapping[str, Any]
) -> tuple[str, ...]:
    """Return the names of the views to draw; refuse one that needs more, and options that none takes."""
    views = views_of(kind)
    names = check_view(views, _default_views(kind, data), view)
    check_axes(kind, names[0], data)
    if claim is not None:
        names = _views_with_claims(kind, names, view)
    for option in options:
        if option != "title":
            names = _views_with_option(kind, names, view, option)
    return names


def check_axes(kind: ResultKind, view: str, data: xr.Dataset) -> None:
    """Refuse a result without a dim along which a view is drawn."""
    for dim in kind.views[view].axes:
        if dim not in data.dims:
            raise Refusal(
                "view",
                UNSAID,
                f"{view!r} needs a result with the dim {dim!r}; got {tuple(data.dims)}",
                f"Take {kind.name} of curves",
            )


def check_view(views: Collection[str], default: tuple[str, ...], view: str | None) -> tuple[str, ...]:
    """Return the view that is asked for, by default these."""
    if view is None:
        return default
    return (validation.check_choice("view", view, list(views)),)


def _default_views(kind: ResultKind, data: xr.Dataset) -> tuple[str, ...]:
    """Return the views to draw where none is named: the first one if none suits, which then says why."""
    suiting = [name for name, view in kind.views.items() if view.drawing.suits(data)]
    defaults = [name for name in suiting if kind.views[name].default]
    return tuple(defaults or suiting[:1] or list(kind.views)[:1])


def _views_with_option(kind: ResultKind, names: tuple[str, ...], view: str | None, option: str) -> tuple[str, ...]:
    """Return the views to draw with an option; refuse a view that does not take it."""
    taking = [name for name, each in kind.views.items() if option in each.drawing.options]
    if view is None:
        names = tuple(name for name in names if name in taking) or tuple(taking[:1])
    if not names or any(name not in taking for name in names):
        known = f"no view of {kind.name} takes it"
        if taking:
            known = f"of {kind.name} these views take it: {', '.join(map(repr, taking))}"
        raise Refusal(
            option,
            UNSAID,
            f"{option} is for other pictures; {known}",
            "Leave it out",
        )
    return names


def _views_with_claims(kind: ResultKind, names: tuple[str, ...], view: str | None) -> tuple[str, ...]:
    """Return the views to draw of one claim; refuse a view that has none."""
    having = [name for name, each in kind.views.items() if each.drawing.claims]
    if view is None:
        names = tuple(name for name in names if name in having)
    if not names or any(name not in having for name in names):
        known = f"those with one: {', '.join(map(repr, having))}" if having else f"no view of {kind.name} has one"
        raise Refusal(
            "claim",
            UNSAID,
            f"claim is for views of results over tasks; {known}",
            "Leave claim out",
        )
    return names


def of_claim(data: xr.Dataset, dim: str, claim: str) -> xr.Dataset:
    """Return the part of a result that is about one claim, its dim kept."""
    known = [str(label) for label in data[dim].to_numpy().tolist()]
    return data.sel({dim: [validation.check_choice("claim", claim, known)]})


def checked_columns(columns: Any) -> list[str]:
    """Return the columns beside rows of pairs that are asked for."""
    if isinstance(columns, str) or not isinstance(columns, Sequence):
        raise WrongType("columns", columns, "must be a list", "Give ['estimate', 'p']")
    for name in columns:
        validation.check_choice("columns", name, list(NAMES_OF_COLUMNS))
    return list(columns)


def without_bands(kind: ResultKind, data: xr.Dataset) -> xr.Dataset:
    """Return a result whose curves have no bands."""
    bands = [band for _, band in kind.curves_with_bands() if band in data]
    return data.assign({band: xr.full_like(data[band], np.nan) for band in bands})
