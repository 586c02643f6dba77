"""Claims of scaling laws: intervals of parameters, optima and later runs under the law, and of published runs.

`cd tests/tools && python -m calibration.scaling` writes the table of published runs into docs/calibration.md.
"""

from __future__ import annotations

import warnings
from functools import partial
from unittest.mock import patch

import numpy as np
import pandas as pd
import xarray as xr

import xcurves
from calibration.claims import Claim, Simulation, fails, missed, near, outside
from places import SHARED
from xcurves.kernels.laws import scaling_intervals, scaling_law

LAW = np.array([1.8, 400.0, 2000.0, 0.34, 0.37])
# both, size, tokens: two octaves beyond the largest
LATER = ((4e9, 4e11), (4e9, 1e10), (1e8, 4e11))
COMPUTE = 6 * 4e9 * 4e11
SUITES = {"chinchilla": "chinchilla_points.csv", "Gadre": "gadre_points.csv"}
SHARES = (0.4, 0.5, 0.6, 0.7)  # of the runs, by N D, that are fitted
DRAWS = 200
TITLES = {
    "chinchilla": "Chinchilla, 240 runs",
    "Gadre": "Gadre et al., 24 suites of 34 or 35 runs",
}
HEADER = [
    "suite",
    "fits",
    "bootstrap of the runs",
    "and residual spread",
    "by the law alone",
    "cuts of few sizes too",
    "widened",
]
MARKS = "<!-- later runs: start -->\n", "<!-- later runs: end -->\n"


def loss(n, d):
    """The law."""
    return LAW[0] + LAW[1] * n ** -LAW[3] + LAW[2] * d ** -LAW[4]


def suites(n_datasets, *, noise, shape, rng):
    """Runs of a grid of sizes and tokens with relative normal noise, and at the later ones."""
    size, tokens = np.meshgrid(np.geomspace(1e7, 1e9, shape[0]), np.geomspace(1e9, 1e11, shape[1]))
    n, d = (np.append(each.ravel(), later) for each, later in zip((size, tokens), np.transpose(LATER), strict=True))
    values = loss(n, d) * np.exp(noise * rng.normal(size=(n_datasets, len(n))))
    return xr.DataArray(values, {"model_size": ("run", n), "tokens": ("run", d)}, ["replication", "run"])


def fitted(data, *, rng=None):
    """Intervals of parameters given the law, of the optimum, and of later runs, that do not hold what is true."""
    later = data.isel(run=slice(-len(LATER), None))
    fit = xcurves.fit_scaling_law(data.isel(run=slice(-len(LATER))), predict_at=LATER, compute=COMPUTE)
    share = LAW[4] / (LAW[3] + LAW[4])
    ratio = (LAW[3] * LAW[1] / (LAW[4] * LAW[2])) ** (1 / (LAW[3] + LAW[4]))
    found = {
        name: missed(fit.estimate_ci_given_law.sel(param=name, drop=True), LAW[place])
        for place, name in enumerate(fit.param.to_numpy())
    }
    found["exponent of the optimum, widened"] = missed(fit.allocation_exponent_ci, share)
    found["best size, widened"] = missed(fit.n_opt_ci.isel(flop=0, drop=True), ratio * (COMPUTE / 6) ** share)
    for i, what in enumerate(("size and tokens", "size", "tokens")):
        truth = later.isel(run=i).drop_vars(["model_size", "tokens"])
        for name, how in (
            ("prediction_ci_given_law", "by the law"),
            ("prediction_ci", "widened"),
        ):
            found[f"a run of four times the {what}, {how}"] = missed(fit[name].isel(n=i, drop=True), truth)
    return found


def _simulation(shape, noise):
    claims = dict.fromkeys(("E", "A", "B", "alpha", "beta"), near(0.02, 0.08))
    claims |= dict.fromkeys(("exponent of the optimum, widened", "best size, widened"), Claim(0, 0.05))
    for what in ("size and tokens", "size", "tokens"):
        claims[f"a run of four times the {what}, by the law"] = Claim(0.05, 1)
        claims[f"a run of four times the {what}, widened"] = Claim(0, 0.08)
    setting = f"{shape[0]} sizes × {shape[1]} amounts of tokens, noise {100 * noise:g} %"
    return Simulation(
        "Scaling law",
        setting,
        partial(suites, noise=noise, shape=shape),
        fitted,
        claims,
        500,
    )


BEND = 5e9  # tokens from which a law falls less
WITHIN = 6 * 1e9 * 2e10  # FLOP: of the largest run


def bent_loss(n, d, *, at=BEND, before=0.28, after=0.10):
    """A law whose slope in tokens changes at so many."""
    of_tokens = np.where(d <= at, (d / at) ** -before, (d / at) ** -after)
    return LAW[0] + LAW[1] * n ** -LAW[3] + 0.5 * of_tokens


def bent_suites(n_datasets, *, rng):
    """Runs of a grid whose tokens go on beyond the bend."""
    size, tokens = np.meshgrid(np.geomspace(1e7, 1e9, 6), np.geomspace(1e8, 2e10, 6))
    values = bent_loss(size.ravel(), tokens.ravel()) * np.exp(0.003 * rng.normal(size=(n_datasets, size.size)))
    sizes = {"model_size": ("run", size.ravel()), "tokens": ("run", tokens.ravel())}
    return xr.DataArray(values, sizes, ["replication", "run"])


def best_size_of_bent(data, *, rng=None):
    """Whether the interval of the best model size misses it, and whether the backtest finds the bend."""
    fit = xcurves.fit_scaling_law(data, compute=WITHIN)
    sizes = np.geomspace(1e7, 1e12, 200_001)
    true = sizes[np.argmin(bent_loss(sizes, WITHIN / 6 / sizes))]
    found = missed(fit.n_opt_ci.isel(flop=0, drop=True), true)
    return {
        "best model size": found,
        "named by its backtest": outside(fit.backtest_error > 0.02),
    }


def levelled(n_datasets, *, rng):
    """Errors of a power law that falls no further from the largest size on."""
    n = np.array([25.0, 50, 100, 200, 400])
    values = (10 + 150 * n**-0.5) * np.exp(0.02 * rng.normal(size=(n_datasets, 4, len(n))))
    return xr.DataArray(
        values,
        {"training": n},
        ["replication", "run", "training"],
        attrs={"units": "%"},
    )


def beyond_a_break(data, *, rng=None):
    """Whether the interval of the error at four times the data misses that of a curve that is level from there on."""
    fit = xcurves.fit_power_law(data)
    more = fit.curves.predict(1600)
    true = 10 + 150 * 400**-0.5
    fall = outside(more.change_ratio_ci.sel(ci_bound="upper", drop=True).isel(n=0, drop=True) < 1)
    return {
        "prediction at 4 N": missed(more.prediction_ci.isel(n=0, drop=True), true),
        "a fall is predicted": fall,
    }


def _bends(setting, generator, procedure, claims):
    return Simulation(
        "Laws that bend",
        setting,
        generator,
        procedure,
        claims,
        short=100,
        full=1_000,
        block=100,
    )


SIMULATIONS = [
    *(_simulation(shape, noise) for shape, noise in (((6, 6), 0.01), ((6, 6), 0.003), ((8, 12), 0.01))),
    _bends(
        "36 runs, slope in tokens .28 to 5e9, .10 beyond",
        bent_suites,
        best_size_of_bent,
        {"best model size": fails(0.9), "named by its backtest": near(0.0, 0.1)},
    ),
    _bends(
        "errors that are level from the largest of five sizes on",
        levelled,
        beyond_a_break,
        {"prediction at 4 N": fails(0.9), "a fall is predicted": fails(0.9)},
    ),
]


def published():
    """Yield the name, sizes, tokens and losses of each published suite."""
    for name, file in SUITES.items():
        frame = pd.read_csv(SHARED / "data" / file)
        if name == "chinchilla":
            frame = frame.sort_values("loss").iloc[:-5]  # as Epoch leaves out
        keys = [key for key in ("training_set", "validation") if key in frame]
        parts = [part for _, part in frame.groupby(keys)] if keys else [frame]
        for part in parts:
            yield (
                name,
                *(part[column].to_numpy(float) for column in ("model_size", "tokens", "loss")),
            )


def later_runs():
    """Return, for each suite, the share of later runs held and half the width of each interval: (fit, interval, 2)."""
    rows = {}
    for name, n, d, losses in published():
        for share in SHARES:
            kept = n * d <= np.quantile(n * d, share)
            if kept.sum() < 10 or len(set(n[kept])) < 3:
                continue
            law, residual, ours = _intervals(n, d, losses, kept)
            boot = _bootstrap(n, d, losses, kept, law.delta[0])
            with patch.multiple(scaling_intervals, _KEPT=6, DISTINCT=1):
                more = _intervals(n, d, losses, kept)[2]
            error = np.abs(np.log(losses[~kept] / ours["prediction"]))
            law_s, six, eight = (
                np.log(each[..., 1] / ours["prediction"])
                for each in (
                    ours["prediction_ci_given_law"],
                    more["prediction_ci"],
                    ours["prediction_ci"],
                )
            )
            widths = [boot, np.hypot(boot, 1.96 * residual), law_s, six, eight]
            rows.setdefault(name, []).append([[(error <= width).mean(), np.mean(width)] for width in widths])
    return {name: np.array(each) for name, each in rows.items()}


def _intervals(n, d, losses, kept):
    """Return the law of the runs that are kept, its residual deviation, and predictions of the later runs."""
    runs, present = scaling_law.Runs(n[kept], d[kept]), np.ones((1, kept.sum()), bool)
    known, law, fits, _ = scaling_intervals.know(runs, losses[np.newaxis, kept], present, None)
    residual = np.log(losses[kept] / fits[0]).std(ddof=5)
    found = scaling_intervals.loss(known, n[~kept], d[~kept], 0.05)
    return law, residual, {name: each[0] for name, each in found.items()}


def _bootstrap(n, d, losses, kept, delta):
    """Return half the width of the interval of redrawn runs, of the logarithm of later losses."""
    rng = np.random.default_rng(0)
    ahead = []
    runs, place = scaling_law.Runs(n, d), np.flatnonzero(kept)
    for _ in range(DRAWS):
        drawn = rng.choice(place, len(place))
        some = scaling_law.Runs(n[drawn], d[drawn])
        with np.errstate(all="ignore"):
            law = scaling_law.fit(some, losses[np.newaxis, drawn], np.ones((1, len(drawn)), bool), delta)
        shift = np.log(np.array([runs.n, runs.d]) / np.array(some.centre)[:, np.newaxis])
        ahead.append(np.log(scaling_law.fitted_losses(law.theta, shift)[0, ~kept]))
    low, high = np.quantile(ahead, [0.025, 0.975], axis=0)
    return (high - low) / 2


def main():
    """Write the table of published runs into the page."""
    from calibration.__main__ import PAGE, made_with  # which imports this module

    warnings.simplefilter("ignore")
    found = later_runs()
    rows = [(TITLES[name], each) for name, each in found.items()] + [("all", np.concatenate(list(found.values())))]
    lines = [f"| {' | '.join(HEADER)} |", "|---" * len(HEADER) + "|"]
    for title, each in rows:
        said = [f"{held:.2f} (± {width:.3f})".replace("0.", ".") for held, width in each.mean(axis=0)]
        lines.append(f"| {title} | {len(each)} | {' | '.join(said)} |")
    print(*lines, sep="\n")
    before, rest = PAGE.read_text().split(MARKS[0])
    PAGE.write_text(before + MARKS[0] + "\n".join([*lines, "", made_with(), ""]) + MARKS[1] + rest.split(MARKS[1])[1])


if __name__ == "__main__":
    main()
