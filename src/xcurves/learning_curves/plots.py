"""Pictures of learning curves and of scaling laws."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import xarray as xr

from xcurves import kinds
from xcurves.array_types import Bools, Floats
from xcurves.learning_curves.scaling_laws import COST
from xcurves.learning_curves.scaling_text import ONE_SIDED, amount
from xcurves.learning_curves.text import MISSED
from xcurves.learning_curves.unfit_curves import REASONS
from xcurves.learning_curves.unfit_laws import LAW_REASONS
from xcurves.pictures.curves import CurvesPicture, Key, Line, Points, Rule, Scale, Shade
from xcurves.pictures.rows import Row, RowsPicture, marks_of, only_param
from xcurves.pictures.styles import BLACK, SHADE, Style, bounds_of, rising, style_of, styled_parts
from xcurves.say.numbers import label_of, number, rounded, short_level, with_units

_POINTS = 200
_FARTHER = 4.0  # times the largest size: how far curves are drawn
_FARTHER_COMPUTE = 100.0  # times the largest compute of the runs
_BUDGETS = 6
_MOST_MARKED = 12  # predicted sizes that have a diamond each
_APART = 1.05  # from one interval at a size to the next, as a ratio
_SMALL, _DIAMOND = 0.6, 0.8  # of the usual size of points
_DASHES = (0, (2, 2))  # of what is predicted
_WORDS = {
    "error_at_n": "error",
    "data_reliance": "data-reliance",
    "large_sample_error": "large-sample error",
}
_LONG, _FEW = 14, 3  # letters of a name, and curves, beside which error and data-reliance have no room


def learning_curves(fit: xr.Dataset) -> CurvesPicture:
    """Return mean errors, fitted curves with intervals and predictions against training size, on logarithmic axes."""
    has = (fit["n_folds"] > 0).any([dim for dim in fit["n_folds"].dims if dim != "training"])
    levels = fit["training"].to_numpy()[has.to_numpy()].astype(float)
    if not levels.size:
        return CurvesPicture((), empty="no errors")
    last, end = levels[-1], _FARTHER * levels[-1]
    ahead = np.geomspace(last, end, _POINTS // 4)
    x = np.concatenate([np.geomspace(levels[0], last, _POINTS - len(ahead)), ahead[1:]])
    predicted = kinds.function("predict")(fit, x)
    lines, shades, points, keys, heights = [], [], [], [], []
    curves = list(_curves(fit))
    for style, curve, name in curves:
        found = predicted.sel(algorithm=curve["algorithm"]) if "algorithm" in predicted.dims else predicted
        known = x >= curve["fitted_from"].item()
        y = found["prediction"].to_numpy()
        shades.append(_shade(x[known], bounds_of(found["prediction_ci"])[:, known], style, name))
        dashed = style._replace(linestyle=_DASHES)
        for part, flag, own in ((known & (x <= last), "fitted", style), (known & (x >= last), "predicted", dashed)):
            if np.isfinite(y[part]).any():
                lines.append(Line("", own, x[part], y[part], flag=flag, of=name))
        points += [replace(each, of=name) for each in (*_errors(levels, curve, style), *_asked(curve, style))]
        parameters, missed = _parameters(curve, short=len(name) > _LONG or len(curves) > _FEW)
        keys.append(Key(name, style, parameters, missed))
        heights += [y[known], curve["mean_error"].to_numpy()]
    return CurvesPicture(
        lines,
        Scale(label_of(fit["training"]), "log"),
        _log_around(with_units("error", fit["error_at_n"]), heights),
        shades=shades,
        points=points,
        keys=keys,
        rules=(Rule("x", last, "black", ":", 0.8),),
        # labels beyond the measured sizes too, as far as curves are drawn
        ticks=np.unique([*levels, last * _FARTHER**0.5, end]),
    )


def _shade(x: Floats, ends: Floats, style: Style, of: str) -> Shade:
    """Return the band of a curve between the ends of intervals, shape (2, x)."""
    low, high = ends
    return Shade("", x, low, high, style.color, SHADE, "band", of)


def _errors(levels: Floats, curve: xr.Dataset, style: Style) -> list[Points]:
    """Return mean errors, open where the curve is not fitted to them."""
    errors = curve["mean_error"].sel(training=levels).to_numpy()
    used = levels >= curve["fitted_from"].item()
    out = ~used & np.isfinite(errors)
    found = [Points(levels[used], errors[used], style, edged=True, flag="measured")]
    if out.any():
        found.append(Points(levels[out], errors[out], style, filled=False, flag="left out"))
    return found


def _asked(curve: xr.Dataset, style: Style) -> list[Points]:
    """Return the predictions that were asked of a fit, with their intervals."""
    if "n" not in curve.dims:
        return []
    found = _diamonds(curve["n"].to_numpy(), curve["prediction"].to_numpy(), bounds_of(curve["prediction_ci"]), style)
    return [replace(found, flag="asked")]


def _diamonds(x: Floats, y: Floats, ends: Floats, style: Style) -> Points:
    """Return predictions with their intervals, shape (2, x)."""
    return Points(x.astype(float), y, style._replace(marker="D"), y_ends=ends, size=_DIAMOND)


def _log_around(label: str, heights: Sequence[Floats]) -> Scale:
    """Return a logarithmic axis with room around all heights."""
    every = np.concatenate(heights)
    every = every[np.isfinite(every) & (every > 0)]
    if not every.size:
        return Scale(label, "log")
    low, high = float(every.min()), float(every.max())
    margin = max(high / low, 1.1) ** 0.1
    return Scale(label, "log", low=low / margin, high=high * margin)


def predictions(predicted: xr.Dataset) -> CurvesPicture:
    """Return measured errors, the curve fitted to them and predicted errors with intervals, on logarithmic axes."""
    curves = list(styled_parts(predicted))
    lines, shades, points, sizes, heights = [], [], [], [], []
    for place, (style, curve, name) in enumerate(curves):
        levels, errors, fitted = _measured_of(curve)
        asked, found, bounds = _predicted_of(curve)
        sizes += [*levels, *asked]
        heights += [errors, fitted, found, *bounds]
        if levels.size:
            points.append(Points(levels, errors, style, edged=True, flag="measured", of=name))
            lines.append(Line("", style, levels, fitted, flag="fitted", of=name))
        is_many = len(asked) > _MOST_MARKED
        ahead = _ahead_of(levels, fitted, asked, found)
        lines.append(
            Line("", style._replace(linestyle=_DASHES), *ahead, flag="predicted" if is_many else "asked", of=name),
        )
        if is_many:
            shades.append(_shade(asked, bounds, style, name))
        else:
            # so that intervals of several do not cover each other
            apart = _APART ** (place - (len(curves) - 1) / 2)
            points.append(replace(_diamonds(asked * apart, found, bounds, style), of=name))
    return CurvesPicture(
        lines,
        Scale(label_of(predicted["n"]), "log"),
        _log_around(with_units("error", predicted["prediction"]), heights),
        shades=shades,
        points=points,
        keys=[Key(name, style) for style, _, name in curves],
        ticks=np.unique(sizes),
    )


def _measured_of(curve: xr.Dataset) -> tuple[Floats, Floats, Floats]:
    """Return the measured sizes of one curve, the mean errors and the curve there; none if the result has them not."""
    if not {"mean_error", "fitted"} <= set(curve.variables):
        return np.empty(0), np.empty(0), np.empty(0)
    known = curve["mean_error"].notnull().to_numpy()
    return tuple(curve[name].to_numpy()[known] for name in ("training", "mean_error", "fitted"))


def _predicted_of(curve: xr.Dataset) -> tuple[Floats, Floats, Floats]:
    """Return the sizes of the predictions of one curve in their order, the predictions, and their intervals."""
    asked = np.atleast_1d(curve["n"].to_numpy()).astype(float)
    found = np.atleast_1d(curve["prediction"].to_numpy())
    bounds = bounds_of(curve["prediction_ci"]).reshape(2, -1)
    order = np.argsort(asked)
    return asked[order], found[order], bounds[:, order]


def _ahead_of(levels: Floats, fitted: Floats, asked: Floats, found: Floats) -> tuple[Floats, Floats]:
    """Return the line of predictions beyond the measured sizes, which begins where the fitted curve ends."""
    if not levels.size:
        return asked, found
    beyond = asked > levels[-1]
    return np.append(levels[-1], asked[beyond]), np.append(fitted[-1], found[beyond])


def learners(compared: xr.Dataset) -> RowsPicture:
    """Return by how much one parameter of each learner differs from that of the reference, with its interval."""
    param = only_param(compared, "parameter")
    rows = []
    for style, part, name in styled_parts(compared):
        (mark,) = marks_of(part["difference"], part["difference_ci_simultaneous"], style)
        is_shown = mark.low > 0 or mark.high < 0
        rows.append(Row(name or "difference", (mark._replace(filled=is_shown, flag="shown" if is_shown else None),)))
    where = ""
    sizes = np.unique(compared["at"].to_numpy())
    if param != "large_sample_error":
        where = f" at n = {number(sizes[0])}" if len(sizes) == 1 else " at N"
    said = with_units(_WORDS[param] + where, compared["difference"])
    return RowsPicture(tuple(rows), f"{said}, less that of {compared.attrs['reference']}")


def _parameters(curve: xr.Dataset, *, short: bool) -> tuple[str, str | None]:
    """Return the parameters of a curve, with a star and its flag if it misses its own last octaves."""
    if curve["unfit"].item():
        return f"not fitted ({REASONS[int(curve['unfit'].item())]})", None
    parameters = [rf"$\gamma$ = {rounded(curve['gamma'].item(), 2)}"]
    if not short:
        at = short_level(curve["at"].item())
        parameters.append(f"$e_{{{at}}}$ = {number(curve['error_at_n'].item(), 4)}")
        parameters.append(rf"$\beta_{{{at}}}$ = {number(curve['data_reliance'].item(), 4)}")
    said = ", ".join(parameters)
    if curve["backtest_error"] > MISSED:
        return f"{said} *", "missed"
    return said, None


def scatter(fit: xr.Dataset) -> CurvesPicture:
    """Return error against data-reliance, with intervals, a point for each fitted curve."""
    points, sizes = [], []
    for style, curve, name in _curves(fit):
        if curve["unfit"].item():
            continue
        sizes.append(curve["at"].item())
        x, y = (curve[each].to_numpy().reshape(1) for each in ("data_reliance", "error_at_n"))
        across, along = (bounds_of(curve["estimate_ci"].sel(param=[each])) for each in ("data_reliance", "error_at_n"))
        points.append(Points(x, y, style, name, x_ends=across, y_ends=along))
    where = f"at n = {number(sizes[0])}" if len({*sizes}) == 1 else "each at its own N"
    x_label, y_label = (label_of(fit[each]).replace("at the size N", where) for each in ("data_reliance", "error_at_n"))
    return CurvesPicture((), Scale(x_label), Scale(y_label), points=points, empty="no fitted curve")


def _curves(fit: xr.Dataset) -> Iterator[tuple[Style, xr.Dataset, str]]:
    """Return the style of each algorithm that has errors, its curve and its name."""
    return (each for each in styled_parts(fit) if each[1]["n_folds"].any())


def isoflop(fit: xr.Dataset) -> CurvesPicture:
    """Return losses against model size, with curves of the law at equal compute, coloured by compute."""
    law, reason = _law_of(fit)
    if reason:
        return CurvesPicture((), empty=reason)
    n, flop, has = _runs_of(law)
    loss = law["loss"].to_numpy()[has]
    first, last = np.floor(np.log10(flop.min())), np.ceil(np.log10(flop.max()))

    def color(compute: float) -> str:
        return rising((np.log10(compute) - first) / max(last - first, 1))

    x = np.geomspace(n.min() / 2, n.max() * 2, _POINTS)
    budgets = 10 ** np.arange(first, last + 1, np.ceil((last - first + 1) / _BUDGETS))
    tokens = xr.DataArray(budgets[:, np.newaxis] / law.attrs[COST] / x, dims=("budget", "size"))
    predicted = kinds.function("predict_loss")(law, model_size=xr.DataArray(x, dims="size"), tokens=tokens)
    lines = []
    for budget, y in zip(budgets, predicted["prediction"].transpose("budget", "size").to_numpy(), strict=True):
        near = y <= loss.max() * 1.1
        if near.any():
            lines.append(Line(f"{number(budget)} FLOP", Style(color(budget), "-", "o"), x[near], y[near]))
    runs = Points(n, loss, BLACK, colors=[color(each) for each in flop])
    return CurvesPicture(lines, Scale("parameters of the model", "log"), Scale(label_of(law["loss"])), points=[runs])


def fitted(fit: xr.Dataset) -> CurvesPicture:
    """Return measured against fitted losses; later runs against what earlier ones predicted for them."""
    law, reason = _law_of(fit)
    if reason:
        return CurvesPicture((), empty=reason)
    _, _, has = _runs_of(law)
    by_law, before, loss = (law[name].to_numpy()[has] for name in ("fitted", "backtest_prediction", "loss"))
    drawn = [by_law, before, loss]
    ends = np.array([np.nanmin(drawn), np.nanmax(drawn)])
    is_later = np.isfinite(before)
    later = style_of(1)._replace(marker="x")
    points = [
        Points(by_law, loss, style_of(0), "fitted, all runs", size=_SMALL),
        Points(before[is_later], loss[is_later], later, "predicted by the runs before"),
    ]
    equal = Line("", BLACK, ends, ends, width=0.5)
    return CurvesPicture([equal], Scale("loss by the law"), Scale("measured loss"), points=points)


def allocation(fit: xr.Dataset) -> CurvesPicture:
    """Return the best model size against compute with its interval; sizes of the runs as dots."""
    law, reason = _law_of(fit, "allocation_exponent")
    if reason:
        return CurvesPicture((), empty=reason)
    n, flop, _ = _runs_of(law)
    budgets, best = (law[name].to_numpy() if "flop" in law.dims else np.empty(0) for name in ("flop", "n_opt"))
    x = np.geomspace(flop.min(), max([flop.max() * _FARTHER_COMPUTE, *budgets]), _POINTS)
    found = kinds.function("optimal_allocation")(law, x)
    style = style_of(0)
    return CurvesPicture(
        [Line("best model size", style, x, found["n_opt"].to_numpy(), *bounds_of(found["n_opt_ci"]))],
        Scale("compute (FLOP)", "log"),
        Scale("parameters of the model", "log"),
        points=[
            Points(flop, n, style._replace(color="0.5"), "runs", size=_SMALL),
            Points(budgets, best, style._replace(marker="s"), texts=[amount(each) for each in best]),
        ],
        rules=[Rule("x", float(flop.max()), "black", "--", 0.8)],
    )


def _law_of(fit: xr.Dataset, needed: str = "") -> tuple[xr.Dataset, str]:
    """Return the one law that is drawn, and why it cannot be, "" if it can."""
    law = fit.squeeze(list(fit["backtest_error"].dims))
    one_sided = ONE_SIDED if needed and law[needed].isnull() else ""
    return law, LAW_REASONS.get(int(law["unfit"].item()), one_sided)


def _runs_of(law: xr.Dataset) -> tuple[Floats, Floats, Bools]:
    """Return the sizes of the runs of a law, their compute, and which of all runs they are."""
    has = law["loss"].notnull().to_numpy()
    sizes, tokens = (law[name].to_numpy()[has] for name in ("model_size", "tokens"))
    return sizes, law.attrs[COST] * sizes * tokens, has
