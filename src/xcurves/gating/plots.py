"""The picture of a gate: the record of the champions, with what runs that decided nothing say of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from xcurves.core.wording import label_of
from xcurves.gating.replay import KEPT
from xcurves.plotting.look import OTHER_COLOURS, bounds_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_NAMED = 20  # candidates on the axis
_HALF_WIDTH = 0.35  # of a band of the audit, in candidates


def draw_record(result: xr.Dataset, ax: Axes) -> None:
    """Draw the means of the candidates in their order, kept ones joined, and the audit of two champions."""
    means = (result["champion_mean"] + result["difference"]).to_numpy()
    kept = result["decision"].to_numpy() == KEPT
    places = np.arange(1, len(means) + 1)
    # The first champion stands before the candidates, with the mean that the first of them met.
    record = np.concatenate([[result["champion_mean"].to_numpy()[0]], means[kept]])
    at = np.concatenate([[0], places[kept]])

    ax.plot(places[~kept], means[~kept], "o", color="0.6", markersize=3)
    ax.plot(at, record, "-o", color=OTHER_COLOURS[0], markersize=5)
    _draw_audit(result, ax, [0, int(at[-1])])

    names = [str(result.attrs["baseline"]), *map(str, result["candidate"].to_numpy())]
    if len(names) <= _MOST_NAMED:
        ax.set_xticks(range(len(names)), names, rotation=45, ha="right")
    ax.set_xlim(-0.5, len(names) - 0.5)
    ax.set_xlabel("candidates in their order")
    ax.set_ylabel(_score_label(result))
    ax.grid(axis="y", alpha=0.3)


def _draw_audit(result: xr.Dataset, ax: Axes, at: list[int]) -> None:
    """Draw the mean of the runs that decided nothing of the first and the present champion, with its interval."""
    means = result["audit_mean"].sel(which=["first", "present"]).to_numpy()
    low, high = bounds_of(result["audit_mean_ci"].sel(which=["first", "present"]))
    for place, mean, below, above in zip(at, means, low, high, strict=True):
        if not np.isfinite([mean, below, above]).all():
            continue
        ax.fill_between(
            [place - _HALF_WIDTH, place + _HALF_WIDTH], below, above, color=OTHER_COLOURS[2], alpha=0.3, linewidth=0,
            gid="band",
        )  # fmt: skip
        ax.plot(place, mean, "D", color=OTHER_COLOURS[2], markersize=5)


def _score_label(result: xr.Dataset) -> str:
    """Return what the scores are called, with their unit."""
    label = label_of(result["champion_mean"])
    unit = label.partition(" (")[2]
    return f"mean score ({unit}" if unit else "mean score"
