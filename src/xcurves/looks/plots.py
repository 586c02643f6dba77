"""Pictures of looks: statistics with their boundary, and the record of the champions of a gate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xcurves.looks.gate_replay import KEPT
from xcurves.pictures.cells import CellsPicture, by_task, pair_cells, task_labels
from xcurves.pictures.styles import OTHER_COLOURS, bounds_of
from xcurves.say.numbers import label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_NAMED = 20  # candidates on the axis
_HALF_WIDTH = 0.35  # of a band of the audit, in candidates
_LONG = 14  # letters of a name that a label has no room for
_LARGEST = 10.0  # times the median; larger statistics stand at the edge


def draw_boundary(result: xr.Dataset, ax: Axes) -> None:
    """Draw the statistic of a pair against looks, with the boundary."""
    pair = result.isel(pair=0)
    looks, done = pair["look"].to_numpy(), ~np.isnan(pair["pvalue"].to_numpy())
    statistic, boundary = (
        pair["statistic"].to_numpy(),
        pair["critical_value"].to_numpy(),
    )
    finite = np.array([2.0, *(each for each in (*statistic, *boundary) if np.isfinite(each))])
    # larger statistics stand near it
    top = 1.25 * min(float(finite.max()), _LARGEST * float(np.median(finite)))
    shown, some = np.minimum(statistic, 0.97 * top), done & np.isfinite(boundary)
    ax.plot(
        looks[some],
        np.minimum(boundary[some], 0.97 * top),
        "--_",
        color="black",
        linewidth=1,
        markersize=12,
    )
    none = done & np.isinf(boundary)
    ax.plot(
        looks[none],
        np.full(np.count_nonzero(none), 0.97 * top),
        "^",
        color="0.6",
        markersize=5,
    )
    ax.plot(
        looks[done],
        shown[done],
        "-o",
        color=OTHER_COLOURS[0],
        markerfacecolor="white",
        markersize=5,
    )
    decided = np.flatnonzero(pair["rejected"].to_numpy() == 1)[:1]
    ax.plot(
        looks[decided],
        shown[decided],
        "*",
        color=OTHER_COLOURS[2],
        markersize=13,
        zorder=4,
    )
    ax.set_ylim(0, top)
    ax.set_xlim(0.5, len(looks) + 0.5)
    ax.set_xticks(looks)
    ax.grid(axis="y", alpha=0.3)
    ax.set_xlabel(f"look ({answer_of(pair)})")
    ax.set_ylabel("statistic T")


def answer_of(pair: xr.Dataset) -> str:
    """Return what is known of one pair: who scores higher and from which look on, or that it is open."""
    looks = pair["look"].to_numpy()
    done = np.flatnonzero(pair["pvalue"].notnull().to_numpy())
    rejected = np.flatnonzero(pair["rejected"].to_numpy() == 1)
    if rejected.size:
        at = rejected[0]
        is_first = bool(pair["difference"].to_numpy()[at] > 0)
        name = str(pair["algorithm_a" if is_first else "algorithm_b"].item())
        if len(name) > _LONG:  # the title has it
            name = "the first" if is_first else "the second"
        return f"shown at {looks[at]}: {name} is higher"
    n_done = len(done)
    if pair["undecided"] == 1:
        return f"open after {n_done} of {len(looks)}"
    return f"not shown after {n_done} of {len(looks)}"


def one_pair(result: xr.Dataset) -> str:
    """Return the pair, as a title, if there is only one."""
    return str(result["pair"].to_numpy()[0]) if result.sizes["pair"] == 1 else ""


def states(result: xr.Dataset) -> CellsPicture:
    """Return a cell for every pair: the look at which it was decided; of one task a matrix of algorithms."""
    decided = result["look"].where(result["rejected"] == 1).min("look")
    values, said = by_task(decided, "pair"), "look of decision"
    look: dict[str, Any] = {
        "limits": (1.0, float(result.sizes["look"])),
        "palette": "falling",
        "form": "{:.0f}",
        "x_label": said,
    }
    if decided.ndim == 1:
        return pair_cells(result, values[0], values[0], said, **look)
    tasks = tuple(task_labels(result["undecided"], ["pair"]))
    return CellsPicture(values, tasks, tuple(result["pair"].to_numpy().tolist()), said=said, **look)


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
