"""Pictures of looks: statistics with their boundary, and the record of the champions of a gate."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from xcurves.looks.gate_replay import KEPT
from xcurves.pictures.cells import CellsPicture, by_task, pair_cells, task_labels
from xcurves.pictures.curves import CurvesPicture, Points, Scale, Shade
from xcurves.pictures.styles import OTHER_COLOURS, Style, bounds_of
from xcurves.say.numbers import label_of

_MOST_NAMED = 20  # candidates on the axis
_HALVES, _OPACITY = np.array([-0.35, 0.35]), 0.3  # ends of a band of the audit, in candidates, and its opacity
_LONG = 14  # letters of a name that a label has no room for
_LARGEST = 10.0  # times the median; larger statistics stand at the edge
_EDGE = 0.97  # of the height of the panel


def boundary(result: xr.Dataset) -> CurvesPicture:
    """Return the statistic of a pair against looks, with the boundary."""
    pair = result.isel(pair=0)
    looks, done = pair["look"].to_numpy().astype(float), ~np.isnan(pair["pvalue"].to_numpy())
    statistic, critical = pair["statistic"].to_numpy(), pair["critical_value"].to_numpy()
    finite = np.array([2.0, *(each for each in (*statistic, *critical) if np.isfinite(each))])
    # larger statistics stand near it
    top = 1.25 * min(float(finite.max()), _LARGEST * float(np.median(finite)))
    edge = _EDGE * top
    shown = np.minimum(statistic, edge)
    some, none = done & np.isfinite(critical), done & np.isinf(critical)
    decided = np.flatnonzero(pair["rejected"].to_numpy() == 1)[:1]
    return CurvesPicture(
        [],
        Scale(f"look ({answer_of(pair)})", low=0.5, high=len(looks) + 0.5, whole=True),
        Scale("statistic T", low=0.0, high=top),
        points=[
            Points(looks[some], np.minimum(critical[some], edge), Style("black", "--", "_"), joined=True, size=2.4),
            Points(looks[none], np.full(np.count_nonzero(none), edge), Style("0.6", "-", "^")),
            Points(looks[done], shown[done], Style(OTHER_COLOURS[0], "-", "o"), joined=True, filled=False),
            Points(looks[decided], shown[decided], Style(OTHER_COLOURS[2], "-", "*"), size=2.6),
        ],
        empty="no look",
    )


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
        "decimals": 0,
        "x_label": said,
    }
    if decided.ndim == 1:
        return pair_cells(result, values[0], values[0], said, **look)
    tasks = tuple(task_labels(result["undecided"], ["pair"]))
    return CellsPicture(values, tasks, tuple(result["pair"].to_numpy().tolist()), said=said, **look)


def record(result: xr.Dataset) -> CurvesPicture:
    """Return the means of the candidates in their order, kept ones joined, and the audit of two champions."""
    means = (result["champion_mean"] + result["difference"]).to_numpy()
    kept = result["decision"].to_numpy() == KEPT
    places = np.arange(1.0, len(means) + 1)
    # The first champion stands before the candidates, with the mean that the first of them met.
    at = np.concatenate([[0.0], places[kept]])
    champions = np.concatenate([[result["champion_mean"].to_numpy()[0]], means[kept]])
    names = [str(result.attrs["baseline"]), *map(str, result["candidate"].to_numpy())]
    audit = Style(OTHER_COLOURS[2], "-", "D")
    audited = _audited(result, [0.0, float(at[-1])])
    return CurvesPicture(
        [],
        Scale(
            "candidates in their order",
            low=-0.5,
            high=len(names) - 0.5,
            names=tuple(names) if len(names) <= _MOST_NAMED else (),
        ),
        Scale(_score_label(result)),
        shades=[
            Shade("", place + _HALVES, np.full(2, low), np.full(2, high), audit.color, _OPACITY, flag="band")
            for place, _, low, high in audited
        ],
        points=[
            Points(places[~kept], means[~kept], Style("0.6", "-", "o"), size=0.6),
            Points(at, champions, Style(OTHER_COLOURS[0], "-", "o"), joined=True),
            *(Points(np.array([place]), np.array([mean]), audit) for place, mean, _, _ in audited),
        ],
    )


def _audited(result: xr.Dataset, at: list[float]) -> list[tuple[float, float, float, float]]:
    """Return the places of two champions with the mean of runs that decided nothing, and its interval, if known."""
    means = result["audit_mean"].sel(which=["first", "present"]).to_numpy().tolist()
    low, high = bounds_of(result["audit_mean_ci"].sel(which=["first", "present"])).tolist()
    return [each for each in zip(at, means, low, high, strict=True) if np.isfinite(each).all()]


def _score_label(result: xr.Dataset) -> str:
    """Return what the scores are called, with their unit."""
    label = label_of(result["champion_mean"])
    unit = label.partition(" (")[2]
    return f"mean score ({unit}" if unit else "mean score"
