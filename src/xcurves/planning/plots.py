"""The picture of a plan: power over numbers of runs, each line a p-value, with exact intervals."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np
import xarray as xr

from xcurves.pictures.curves import CurvesPicture, Points, Rule, Scale
from xcurves.pictures.styles import Style, bounds_of, style_of
from xcurves.planning.text import number_needed
from xcurves.say.numbers import label_of, number

_LINES = ("effect", "error_term", "pair")
_STYLES = {"split_plot": "-", "pooled": "--", "welch": "-."}
_MARKERS = {"pooled": "o", "welch": "s"}  # hollow; others are filled
_SIZE = 0.7  # of marks, of the usual


def power(result: xr.Dataset) -> CurvesPicture:
    """Return the power over the numbers of runs, with the power wanted dotted."""
    colours: dict[str, str] = {}
    rates = []
    for name, term, line in _lines(result):
        colour = colours.setdefault(name.split(",")[0], style_of(len(colours)).color)
        rates.append(
            Points(
                np.atleast_1d(line["n_runs"].to_numpy()).astype(float),
                np.atleast_1d(line["rate"].to_numpy()),
                Style(colour, _STYLES.get(term, "-"), _MARKERS.get(term, "o")),
                name.replace("_", "-"),
                y_ends=bounds_of(line["rate_ci"]).reshape(2, -1),
                joined=True,
                filled=term not in _MARKERS,
                size=_SIZE,
            )
        )
    wanted = float(result.attrs.get("power", 0.8))
    said, needed = _needed(result, wanted)
    dotted = partial(Rule, color="0.4", linestyle=":")
    rules = [dotted("y", wanted), *(dotted("x", at, flag="needed") for at in needed)]
    x = Scale(f"{label_of(result['n_runs'])}\n{said}", whole=True)
    return CurvesPicture((), x, Scale("power", low=0, high=1.02), points=rates, rules=rules)


def _needed(result: xr.Dataset, wanted: float) -> tuple[str, list[float]]:
    """Return what is said of the number of runs that reaches the power wanted, and that number if there is one."""
    name, needed = number_needed(result)
    of_which = f" ({name})" if name else ""
    if np.isfinite(needed):
        return f"{number(needed)} runs reach power {number(wanted)}{of_which}", [needed]
    if np.isnan(needed):
        return "the test gives no p", []
    return f"{result['n_runs'].to_numpy()[-1]} runs do not reach power {number(wanted)}{of_which}", []


def _lines(result: xr.Dataset) -> Iterator[tuple[str, str, xr.Dataset]]:
    """Yield the name, error term ("" if none) and rates of each p-value that the test gives."""
    dims = [dim for dim in _LINES if dim in result.dims]
    for labelled in product(*(result[dim].to_numpy().tolist() for dim in dims)):
        chosen = dict(zip(dims, labelled, strict=True))
        line = result.sel(chosen)
        if bool(line["rate"].notnull().any()):
            yield ", ".join(labelled), chosen.get("error_term", ""), line
