"""Pictures of performance distributions, of comparisons of them, and of statistics along training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np
import xarray as xr

from xcurves.core.refusal import UNSAID, Refusal
from xcurves.distributions.text import say_statistic, statistics
from xcurves.pictures.cells import CellsPicture, by_task, probability_cells, sign_cells
from xcurves.pictures.curves import CurvesPicture, Line, Rule, Scale, along_training
from xcurves.pictures.pair_rows import MOST_ROWS
from xcurves.pictures.rows import Row, RowsPicture, marks_of, only_param, plain_rows
from xcurves.pictures.styles import Style, bounds_of, styled_parts
from xcurves.say.numbers import label_of, percent, with_units
from xcurves.say.pairs import pairs_by_size


def _groups(result: xr.Dataset, dim: str = "algorithm") -> Iterator[tuple[Style, xr.Dataset, str]]:
    """Return the style, the part and the name of each label of a dim, of algorithms only those that have trials."""
    parts = styled_parts(result, dim)
    return (each for each in parts if dim not in result.dims or dim != "algorithm" or each[1]["n_trials"].any())


def say_shade(result: xr.Dataset, what: str) -> str:
    """Return what is shaded, for the label of an axis."""
    return f"shade: {percent(result.attrs['confidence_level'], 6)}, {what}"


def _lines(
    result: xr.Dataset,
    x: str,
    name: str,
    band: str,
    steps: Literal["mid", "post"] | None = None,
    *,
    dim: str = "algorithm",
    limits: tuple[float, float] = (-np.inf, np.inf),  # at which infinite ends are drawn
) -> list[Line]:
    """Return a line of a variable against x for each label of a dim, with its band where there is one."""
    lines = []
    for place, (style, group, label) in enumerate(_groups(result, dim)):
        ends = {}
        if band in group:
            low, high = bounds_of(group[band]).clip(*limits)
            ends = {"low": low, "high": high}
        at, values = group[x].to_numpy().astype(float), group[name].to_numpy()
        lines.append(Line(label, style, at, values, **ends, steps=steps, place=place))
    return lines


def _limits_of(*drawn: xr.DataArray) -> tuple[float, float]:
    """Return limits around all that is finite."""
    values = np.concatenate([np.ravel(each) for each in drawn])
    values = values[np.isfinite(values)]
    if not values.size:
        return 0.0, 1.0
    margin = 0.05 * np.ptp(values) or 0.5
    return float(values.min() - margin), float(values.max() + margin)


def inverse_cdf(result: xr.Dataset) -> CurvesPicture:
    """Return scores against probability with pointwise intervals."""
    result = result.sortby("probability")
    limits = _limits_of(result["score_quantile"], result["score_quantile_ci"])
    lines = _lines(result, "probability", "score_quantile", "score_quantile_ci", "mid", limits=limits)
    x = Scale(f"probability ({say_shade(result, 'pointwise')})", low=0, high=1)
    return CurvesPicture(lines, x, Scale(label_of(result["score_quantile"]), low=limits[0], high=limits[1]))


def cdf(result: xr.Dataset) -> CurvesPicture:
    """Return the share of trials at or below a score."""
    return _over_scores(result, above=False)


def profile(result: xr.Dataset) -> CurvesPicture:
    """Return the share of trials above a score."""
    return _over_scores(result, above=True)


def _over_scores(result: xr.Dataset, *, above: bool) -> CurvesPicture:
    if "cdf" not in result:
        raise Refusal(
            "result",
            UNSAID,
            "this result has no CDF",
            "Give scores: performance_cdf(scores_at=...)",
        )
    result = result.sortby("score")
    band = "cdf_band" if "cdf_band" in result else "cdf_ci"
    drawn = result.assign({name: 1 - result[name] for name in ("cdf", band) if above})
    shade = say_shade(result, "simultaneous" if band == "cdf_band" else "pointwise")
    share = f"share of trials {'above' if above else 'at or below'}\n{shade}"
    x = Scale(with_units("score", result["score_mean"]))
    return CurvesPicture(_lines(drawn, "score", "cdf", band, "post"), x, Scale(share, low=-0.02, high=1.02))


def statistic(result: xr.Dataset) -> RowsPicture:
    """Return one statistic with its intervals, a row for each group of trials."""
    name, rows = only_param(result, "statistic"), []
    for style, group, label in _groups(result):
        (mark,) = marks_of(statistics(group), group["statistic_ci"], style)
        rows.append(Row(label, (mark,)))
    label = with_units(say_statistic(result, name), result["score_mean"])
    return RowsPicture(tuple(rows), label, reference=None)


def prob_greater(result: xr.Dataset) -> RowsPicture | CellsPicture:
    """Return the probability of every pair with its interval; of many pairs, a cell for each two algorithms."""
    if result.sizes["pair"] > MOST_ROWS:
        return probability_cells(result, _leaves_out_half(result).to_numpy())
    names = ["prob_greater", "prob_greater_ci_simultaneous"]
    result = pairs_by_size(result, result["prob_greater"] - 0.5, [], names)
    marks = marks_of(result["prob_greater"], result["prob_greater_ci_simultaneous"])
    rows = plain_rows(result["pair"].to_numpy().tolist(), marks)
    return RowsPicture(rows, "probability that the first scores higher", reference=0.5, limits=(0.0, 1.0))


def prob_greater_of_tasks(result: xr.Dataset) -> CellsPicture:
    """Return a cell for each task and pair: which one scores higher more often, and whether its interval says so."""
    return sign_cells(result["prob_greater"] - 0.5, by_task(_leaves_out_half(result), "pair"))


def _leaves_out_half(result: xr.Dataset) -> xr.DataArray:
    """Return whether the interval of each probability leaves out one half."""
    ends = result["prob_greater_ci_simultaneous"]
    return (ends.min("ci_bound") > 0.5) | (ends.max("ci_bound") < 0.5)


def quantile_difference(result: xr.Dataset) -> CurvesPicture:
    """Return the difference of inverse CDFs of every pair with its band."""
    names = ("quantile_difference", "quantile_difference_band")
    limits = _limits_of(*(result[name] for name in names if name in result))
    lines = _lines(result, "probability", *names, "mid", dim="pair", limits=limits)
    label = f"probability ({say_shade(result, 'simultaneous')})" if names[1] in result else "probability"
    y = Scale(label_of(result["quantile_difference"]), low=limits[0], high=limits[1])
    return CurvesPicture(lines, Scale(label, low=0, high=1), y, rules=(Rule("y", 0),))


def along_training_of(result: xr.Dataset) -> CurvesPicture:
    """Return one statistic of every algorithm against training, with its intervals or band."""
    name = only_param(result, "statistic")
    drawn = result.assign(statistic=statistics(result)).isel(param=0)
    lines = [replace(line, marked="all") for line in _lines(drawn, "training", "statistic", "statistic_ci")]
    x = along_training(result["training"])
    shade = say_shade(result, "simultaneous" if "simultaneous" in result.attrs else "pointwise")
    y = Scale(with_units(say_statistic(result, name), result["score_mean"]))
    return CurvesPicture(lines, replace(x, label=f"{x.label}\n{shade}"), y)


def best(result: xr.Dataset) -> CurvesPicture:
    """Return the median best score against the number of trials, with the band of all numbers together."""
    names = ["best_median", "best_median_band"]
    ends = [float(end) for end in str(result.attrs.get("bounds", "inf to inf")).split(" to ")]
    drawn = [result[name] for name in names if name in result]
    # shades go on to bounds, out of sight
    limits = _limits_of(*(each.where(~each.isin(ends)) for each in drawn))
    lines = _lines(result, "trials", names[0], names[1], limits=limits)
    y = Scale(label_of(result["best_median"]), low=limits[0], high=limits[1])
    return CurvesPicture(lines, _trials(result, names[1]), y)


def difference(result: xr.Dataset) -> CurvesPicture:
    """Return the difference of median best scores of each pair against the number of trials, with its band."""
    if "difference" not in result:
        raise Refusal(
            "result",
            UNSAID,
            "one algorithm has no difference",
            "Give scores of two: plot('best') draws one",
        )
    lines = _lines(result, "trials", "difference", "difference_band", dim="pair")
    x, y = _trials(result, "difference_band"), Scale(label_of(result["difference"]))
    return CurvesPicture(lines, x, y, rules=(Rule("y", 0),))


def _trials(result: xr.Dataset, band: str) -> Scale:
    """Return the axis of numbers of trials, on a log scale, which says what is shaded if the band is there."""
    trials = result["trials"].to_numpy().tolist()
    label = f"trials ({say_shade(result, 'simultaneous')})" if band in result else "trials"
    return Scale(label, asked="log", low=trials[0], high=trials[-1])
