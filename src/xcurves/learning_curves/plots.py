"""Pictures of learning curves and of scaling laws."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xcurves import kinds
from xcurves.array_types import Floats
from xcurves.draw.drawn_names import wrapped
from xcurves.draw.look import fill_band
from xcurves.draw.ticks import scale_training
from xcurves.kernels.laws import scaling_intervals
from xcurves.learning_curves.scaling_laws import COST
from xcurves.learning_curves.scaling_text import ONE_SIDED, amount
from xcurves.learning_curves.text import MISSED
from xcurves.learning_curves.unfit_curves import REASONS
from xcurves.learning_curves.unfit_laws import LAW_REASONS
from xcurves.pictures.rows import Row, RowsPicture, marks_of
from xcurves.pictures.styles import Style, bounds_of, style_in
from xcurves.say.numbers import label_of, number, short_level, with_units

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 200
_FARTHER = 4.0  # times the largest size: how far curves are drawn
_FARTHER_COMPUTE = 100.0  # times the largest compute of the runs
_BUDGETS = 6
# ratios of errors below which the axis has more ticks than powers of ten
_DECADE, _NARROW = (30.0, 3.0)
_EDGE: dict[str, Any] = {"markeredgecolor": "black", "markeredgewidth": 0.5}
_MOST_MARKED = 12  # predicted sizes that have a diamond each
_APART = 1.05  # from one interval at a size to the next, as a ratio
_WORDS = {
    "error_at_n": "error",
    "data_reliance": "data-reliance",
    "large_sample_error": "large-sample error",
}
_LONG = 14  # letters of a name beside which error and data-reliance have no room


def draw_learning_curves(fit: xr.Dataset, ax: Axes) -> None:
    """Draw mean errors, fitted curves with intervals and predictions against training size, both axes logarithmic."""
    has = (fit["n_folds"] > 0).any([dim for dim in fit["n_folds"].dims if dim != "training"])
    levels = fit["training"].to_numpy()[has.to_numpy()]
    if not levels.size:
        ax.text(0.5, 0.5, "no errors", transform=ax.transAxes, ha="center", va="center")
        return
    x = np.geomspace(levels[0], _FARTHER * levels[-1], _POINTS)
    predicted = kinds.function("predict")(fit, x)
    alone, heights = len(ax.figure.axes) == 1, []
    for style, curve, name in _curves(fit):
        found = predicted.sel(algorithm=curve["algorithm"]) if "algorithm" in predicted.dims else predicted
        heights += [
            _draw_curve(ax, x, found, curve, style),
            _draw_errors(ax, levels, curve, style),
        ]
        said = name + _legend(curve, short=len(name) > _LONG) if alone else name.removesuffix(": ")
        ax.plot(
            [],
            [],
            label=said or None,
            gid="missed" if said.endswith("*") else None,
            **style._asdict(),
            **_EDGE,
        )
    ax.axvline(levels[-1], color="black", linewidth=0.8, linestyle=":", zorder=1)
    ax.set_yscale("log")
    _leave_room(ax, np.concatenate(heights))
    # The axis has labels beyond the measured sizes too, as far as curves are drawn.
    _scale_sizes(
        ax,
        [*levels, levels[-1] * _FARTHER**0.5, levels[-1] * _FARTHER],
        fit["training"],
    )
    ax.set_ylabel(with_units("error", fit["error_at_n"]))


def _scale_sizes(ax: Axes, sizes: Sequence[float] | Floats, training: xr.DataArray) -> None:
    """Scale and label the x axis for training sizes, on a logarithmic scale up to the largest."""
    known = np.unique(np.asarray(sizes, float))
    scale_training(
        ax,
        xr.DataArray(known, dims="training", name="training", attrs=training.attrs),
        log=True,
    )


def draw_predictions(predicted: xr.Dataset, ax: Axes) -> None:
    """Draw measured errors, the curve fitted to them and predicted errors with intervals, both axes logarithmic."""
    curves = list(_algorithms(predicted))
    sizes, heights = [], []
    for place, (style, curve, name) in enumerate(curves):
        levels, errors, fitted = _measured_of(curve)
        asked, found, bounds = _predicted_of(curve)
        sizes += [*levels, *asked]
        heights += [errors, fitted, found, *bounds]
        if levels.size:
            ax.plot(levels, errors, style.marker, color=style.color, gid="measured", **_EDGE)
            ax.plot(
                levels,
                fitted,
                linestyle=style.linestyle,
                color=style.color,
                gid="fitted",
            )
        many = len(asked) > _MOST_MARKED
        ahead = _ahead_of(levels, fitted, asked, found)
        ax.plot(
            *ahead,
            color=style.color,
            linestyle=(0, (2, 2)),
            gid="predicted" if many else "asked",
        )
        if many:
            fill_band(ax, asked, bounds, style.color)
        else:
            # so that intervals of several do not cover each other
            apart = _APART ** (place - (len(curves) - 1) / 2)
            look: dict[str, Any] = {
                "fmt": "D",
                "markersize": 5,
                "capsize": 3,
                "color": style.color,
            }
            ax.errorbar(asked * apart, found, np.abs(bounds - found), **look)
        ax.plot([], [], label=name or None, **style._asdict(), **_EDGE)
    ax.set_yscale("log")
    ax.set_ylabel(with_units("error", predicted["prediction"]))
    _scale_sizes(ax, sizes, predicted["n"])
    _leave_room(ax, np.concatenate(heights))


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


def _algorithms(result: xr.Dataset) -> Iterator[tuple[Style, xr.Dataset, str]]:
    """Yield the style, the part and the name of each algorithm, "" where there is one."""
    if "algorithm" not in result.dims:
        yield style_in(result), result, ""
        return
    for place, label in enumerate(result["algorithm"].to_numpy().tolist()):
        part = result.isel(algorithm=place)
        yield style_in(part), part, str(label)


def learners(compared: xr.Dataset) -> RowsPicture:
    """Return by how much one parameter of each learner differs from that of the reference, with its interval."""
    rows = []
    for style, part, name in _algorithms(compared):
        (mark,) = marks_of(part["difference"], part["difference_ci_simultaneous"], style)
        is_shown = mark.low > 0 or mark.high < 0
        named = name or str(part.coords.get("algorithm", xr.DataArray("difference")).item())
        rows.append(Row(named, (mark._replace(filled=is_shown, flag="shown" if is_shown else None),)))
    (param,) = compared["param"].to_numpy().tolist()
    where = ""
    sizes = np.unique(compared["at"].to_numpy())
    if param != "large_sample_error":
        where = f" at n = {sizes[0]:g}" if len(sizes) == 1 else " at N"
    said = with_units(_WORDS[param] + where, compared["difference"])
    return RowsPicture(tuple(rows), wrapped(f"{said}, less that of {compared.attrs['reference']}"))


def _draw_curve(ax: Axes, x: Floats, found: xr.Dataset, curve: xr.Dataset, style: Style) -> Floats:
    """Draw one curve with its interval from the first size that it is fitted to, dashed beyond the last one."""
    known = x >= curve["fitted_from"].item()
    y = found["prediction"].to_numpy()
    fill_band(ax, x[known], bounds_of(found["prediction_ci"])[:, known], style.color)
    for part, flag, dashes in (
        (known & (x <= x[-1] / _FARTHER), "fitted", style.linestyle),
        (known & (x >= x[-1] / _FARTHER), "predicted", (0, (2, 2))),
    ):
        if np.isfinite(y[part]).any():
            ax.plot(x[part], y[part], color=style.color, linestyle=dashes, gid=flag)
    if "n" in curve.dims:
        asked = curve["prediction"].to_numpy()
        ends = np.abs(bounds_of(curve["prediction_ci"]) - asked)
        ax.errorbar(
            curve["n"],
            asked,
            ends,
            fmt="D",
            markersize=4,
            capsize=3,
            color=style.color,
            gid="asked",
        )
    return np.asarray(y[known])


def _draw_errors(ax: Axes, levels: Floats, curve: xr.Dataset, style: Style) -> Floats:
    """Draw mean errors, open where the curve is not fitted to them."""
    errors = curve["mean_error"].sel(training=levels).to_numpy()
    used = levels >= curve["fitted_from"].item()
    ax.plot(levels[used], errors[used], style.marker, color=style.color, **_EDGE)
    out = ~used & np.isfinite(errors)
    if out.any():
        look: dict[str, Any] = {
            "markerfacecolor": "white",
            "markeredgecolor": style.color,
            "gid": "left out",
        }
        ax.plot(levels[out], errors[out], style.marker, **look)
    return errors


def _leave_room(ax: Axes, heights: Floats) -> None:
    """Leave room on the y axis around what is drawn, and label it where no power of ten falls within."""
    heights = heights[heights > 0]
    if not heights.size:
        return
    low, high = heights.min(), heights.max()
    margin = max(high / low, 1.1) ** 0.1
    low, high = low / margin, high * margin
    # Panels that share their scale keep what those drawn before need.
    if any(other is not ax and other.has_data() for other in ax.get_shared_y_axes().get_siblings(ax)):
        before = ax.get_ylim()
        low, high = min(low, before[0]), max(high, before[1])
    ax.set_ylim(low, high)
    if high / low < _DECADE:
        from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 3, 5) if high / low > _NARROW else range(1, 10)))
        ax.yaxis.set_major_formatter(StrMethodFormatter("{x:.3g}"))
        ax.yaxis.set_minor_formatter(NullFormatter())


def _legend(curve: xr.Dataset, *, short: bool) -> str:
    """Return the parameters of a curve, with a star if it misses its own last octaves."""
    if curve["unfit"].item():
        return f"not fitted ({REASONS[int(curve['unfit'].item())]})"
    parameters = [rf"$\gamma$ = {curve['gamma'].item():.2f}"]
    if not short:
        at = short_level(curve["at"].item())
        parameters.append(f"$e_{{{at}}}$ = {curve['error_at_n'].item():.4g}")
        parameters.append(rf"$\beta_{{{at}}}$ = {curve['data_reliance'].item():.4g}")
    legend = ", ".join(parameters)
    if curve["backtest_error"] > MISSED:
        legend += " *"
    return legend


def draw_scatter(fit: xr.Dataset, ax: Axes) -> None:
    """Draw error against data-reliance, with intervals, a point for each fitted curve."""
    fitted = [(style, curve, name) for style, curve, name in _curves(fit) if not curve["unfit"].item()]
    for style, curve, name in fitted:
        names = ["data_reliance", "error_at_n"]
        x, y = (curve[each].item() for each in names)
        arms = np.abs(bounds_of(curve["estimate_ci"].sel(param=names)) - [x, y])
        look: dict[str, Any] = {"color": style.color, "fmt": style.marker, "capsize": 3}
        ax.errorbar(
            x,
            y,
            xerr=arms[:, :1],
            yerr=arms[:, 1:],
            label=name.removesuffix(": ") or None,
            **look,
        )
    sizes = np.unique([curve["at"].item() for _, curve, _ in fitted])
    where = f"at n = {sizes[0]:g}" if len(sizes) == 1 else "each at its own N"
    for name, setter in (
        ("data_reliance", ax.set_xlabel),
        ("error_at_n", ax.set_ylabel),
    ):
        setter(label_of(fit[name]).replace("at the size N", where))


def _curves(fit: xr.Dataset) -> Iterator[tuple[Style, xr.Dataset, str]]:
    """Yield the style of each algorithm that has errors, its curve and its name."""
    if "algorithm" not in fit.dims:
        yield style_in(fit), fit, ""
        return
    for place, label in enumerate(fit["algorithm"].to_numpy()):
        curve = fit.isel(algorithm=place)
        if curve["n_folds"].any():
            yield style_in(curve), curve, f"{label}: "


def draw_isoflop(fit: xr.Dataset, ax: Axes) -> None:
    """Draw losses against model size, with curves of the law at equal compute, coloured by compute."""
    from matplotlib import colormaps
    from matplotlib.colors import LogNorm

    law, runs = _law_of(fit, ax)
    if law is None:
        return
    n, loss, flop, cost = (
        runs["model_size"],
        runs["loss"],
        runs["flop"],
        fit.attrs[COST],
    )
    first, last = np.floor(np.log10(flop.min())), np.ceil(np.log10(flop.max()))
    colours, colour_map = LogNorm(10**first, 10**last), colormaps["viridis"]
    x = np.geomspace(n.min() / 2, n.max() * 2, _POINTS)
    for budget in 10 ** np.arange(first, last + 1, np.ceil((last - first + 1) / _BUDGETS)):
        y = scaling_intervals.predicted_losses(law["estimate"].to_numpy()[np.newaxis], x, budget / cost / x)[0]
        near = y <= loss.max() * 1.1
        ax.plot(
            x[near],
            y[near],
            color=colour_map(colours(budget)),
            label=f"{number(budget)} FLOP",
        )
    ax.scatter(
        n,
        loss,
        c=flop,
        norm=colours,
        cmap=colour_map,
        edgecolors="black",
        linewidths=0.5,
        zorder=3,
    )
    ax.set_xscale("log")
    ax.set_xlabel("parameters of the model")
    ax.set_ylabel(label_of(law["loss"]))


def draw_fitted(fit: xr.Dataset, ax: Axes) -> None:
    """Draw measured against fitted losses; later runs against what earlier ones predicted for them."""
    law, runs = _law_of(fit, ax)
    if law is None:
        return
    ax.plot(runs["fitted"], runs["loss"], "o", markersize=4, label="fitted, all runs")
    ax.plot(
        runs["backtest_prediction"],
        runs["loss"],
        "x",
        markersize=5,
        label="predicted by the runs before",
    )
    drawn = [runs[name] for name in ("fitted", "backtest_prediction", "loss")]
    ends = np.nanmin(drawn), np.nanmax(drawn)
    ax.plot(ends, ends, color="black", linewidth=0.8)
    ax.set_xlabel("loss by the law")
    ax.set_ylabel("measured loss")


def draw_allocation(fit: xr.Dataset, ax: Axes) -> None:
    """Draw the best model size against compute with its interval; sizes of the runs as dots."""
    law, runs = _law_of(fit, ax, "allocation_exponent")
    if law is None:
        return
    flop = runs["flop"]
    budgets = law["flop"].to_numpy() if "flop" in law.dims else np.empty(0)
    x = np.geomspace(flop.min(), max([flop.max() * _FARTHER_COMPUTE, *budgets]), _POINTS)
    found = kinds.function("optimal_allocation")(law, x)
    (line,) = ax.plot(x, found["n_opt"], label="best model size")
    fill_band(ax, x, bounds_of(found["n_opt_ci"]), line.get_color())
    ax.plot(flop, runs["model_size"], "o", color="grey", markersize=3, label="runs")
    ax.axvline(flop.max(), color="black", linewidth=0.8, linestyle="--")
    for budget, size in zip(budgets, law["n_opt"].to_numpy() if budgets.size else [], strict=True):
        ax.plot(budget, size, "s", color=line.get_color())
        ax.annotate(f" {amount(size)}", (budget, size), va="top")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("compute (FLOP)")
    ax.set_ylabel("parameters of the model")


def _law_of(fit: xr.Dataset, ax: Axes, needed: str = "") -> tuple[xr.Dataset | None, dict[str, Floats]]:
    """Return the one law that is drawn, and its runs with their compute; None, the panel saying why, if unknown."""
    law = fit.squeeze(list(fit["backtest_error"].dims))
    one_sided = ONE_SIDED if needed and law[needed].isnull() else ""
    reason = LAW_REASONS.get(int(law["unfit"].item()), one_sided)
    if reason:
        ax.text(
            0.5,
            0.5,
            reason,
            transform=ax.transAxes,
            ha="center",
            va="center",
            wrap=True,
        )
        return None, {}
    names = ("model_size", "tokens", "loss", "fitted", "backtest_prediction")
    runs = {name: law[name].to_numpy()[law["loss"].notnull().to_numpy()] for name in names}
    return law, runs | {"flop": fit.attrs[COST] * runs["model_size"] * runs["tokens"]}
