"""Differences of curves of pairs with their bands, along training or a budget."""

from __future__ import annotations

import numpy as np
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core.labels import each_of
from xcurves.core.refusal import UNSAID, Refusal
from xcurves.core.validation import is_without_training
from xcurves.pictures.curves import CurvesPicture, Line, Rule, Scale, along_training
from xcurves.pictures.styles import bounds_of, style_in
from xcurves.say.numbers import label_of
from xcurves.say.pairs import MOST_PAIRS, pairs_by_size

_TASKS = 4


def suits_along_training(result: xr.Dataset) -> bool:
    """Return whether differences along training are drawn where nobody asked for them: of few tasks."""
    if is_without_training(result):
        return False
    known = result.get("curve_difference")
    return known is not None and {"pair", "training"} <= set(known.dims) and known[..., 0, 0].size <= _TASKS


def differences_along_training(result: xr.Dataset) -> CurvesPicture:
    """Return the difference of every pair along training, with its band."""
    if "curve_difference" not in result:
        raise Refusal(
            "result",
            UNSAID,
            f"more than {MOST_PAIRS} pairs have no curves here",
            "Select algorithms before comparing them",
        )
    x = along_training(result["training"])
    return pair_curves(result, result["training"].to_numpy(), x, "curve_difference", "curve_difference_band")


def pair_curves(
    result: xr.Dataset, levels: Floats, x: Scale, difference: str, band: str, said: frozenset[str] = frozenset()
) -> CurvesPicture:
    """Return the difference of every pair with its band, turned so that its mean is positive, the largest first."""
    size = result[difference].mean([dim for dim in result[difference].dims if dim != "pair"])
    turned = pairs_by_size(result, size, [difference, band])
    places = np.argsort(-np.abs(size.to_numpy()), kind="stable").tolist()
    lines = []
    for place, pair in zip(places, each_of(turned, "pair"), strict=True):
        y = pair[difference].to_numpy()
        known = np.isfinite(y)
        low, high = bounds_of(pair[band])[:, known]
        of, as_given = str(pair["pair"].item()), result.isel(pair=place)
        name = of if len(places) > 1 else ""
        is_turned = bool(pair["algorithm_a"] != as_given["algorithm_a"])
        lines.append(
            Line(name, style_in(pair, "pair"), levels[known], y[known], low, high, place=place, of=of,
                 given=str(as_given["pair"].item()), is_turned=is_turned)
        )  # fmt: skip
    return CurvesPicture(lines, x, Scale(label_of(turned[difference])), rules=[Rule("y", 0.0)], ticks=levels, said=said)
