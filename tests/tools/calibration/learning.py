"""Claims of the intervals of learning curves."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import xarray as xr

import xcurves
from calibration.claims import AT_MOST, Simulation, fails, missed, near, outside

FIT = partial(xcurves.fit_power_law, asymptote="free")  # the model of the paper
N = np.array([25.0, 50, 100, 200, 400])
PAPER = (16, 8, 4, 2, 1)
FAMILY, LEARNERS = "Power law, free asymptote", "Two learners, free asymptote"
NAMES = ("error_at_n", "data_reliance", "gamma")
AT = 1600.0


def curves(n_datasets, *, folds=PAPER, sd_at_infinity=0.02**0.5, exponent=None, rng):
    """Folds around power laws of e_N, β_N, γ that are coordinates beside them."""
    gamma, error, reliance, slope = rng.uniform([-0.8, 15, 2, 5], [-0.2, 60, 20, 130], (n_datasets, 4)).T
    gamma = gamma if exponent is None else np.broadcast_to(exponent, gamma.shape)
    mean = _errors(N, error, reliance, gamma)
    sd = np.sqrt(sd_at_infinity**2 + slope[:, np.newaxis] / N)
    values = mean[:, np.newaxis] + sd[:, np.newaxis] * rng.normal(size=(n_datasets, max(folds), len(N)))
    values[:, np.arange(max(folds))[:, np.newaxis] >= np.array(folds)] = np.nan
    truth = {"true_error": error, "true_reliance": reliance, "true_exponent": gamma}
    coords = {"run": np.arange(max(folds)), "training": N} | {name: ("replication", of) for name, of in truth.items()}
    return xr.DataArray(
        values,
        coords,
        ("replication", "run", "training"),
        name="test_error",
        attrs={"units": "%"},
    )


def _errors(n, error, reliance, gamma):
    """The power law through e_N with slope β_N, at sizes n."""
    ratio = (n / N[-1]) ** gamma[:, np.newaxis]
    return error[:, np.newaxis] - (reliance / gamma)[:, np.newaxis] * (ratio - 1) / 2


def _true(data):
    return [data[name].drop_vars(data[name].coords) for name in ("true_error", "true_reliance", "true_exponent")]


def fitted(data, *, rows=NAMES, rng=None, **options):
    """Intervals of the parameters, and of a prediction at four times the data if it is among the rows."""
    truths = dict(zip(NAMES, _true(data), strict=True))
    predicting = {"predict_at": [AT]} if "prediction" in rows else {}
    fit = FIT(
        data,
        **predicting,
        **options,
        **({"rng": rng} if "n_resamples" in options else {}),
    )
    found = {row: missed(fit.estimate_ci.sel(param=row, drop=True), truths[row]) for row in rows if row in NAMES}
    if predicting:
        at = _errors(np.array([AT]), *(truths[name].to_numpy() for name in NAMES))
        found["prediction"] = missed(
            fit.prediction_ci.isel(n=0, drop=True),
            xr.DataArray(at[:, 0], dims="replication"),
        )
    return found


def asymptote_and_scale(data, *, rng=None):
    """Intervals of α and η."""
    error, reliance, gamma = _true(data)
    fit = FIT(data)
    truths = {
        "alpha": error + reliance / (2 * gamma),
        "eta": -reliance / (2 * gamma) * N[-1] ** -gamma,
    }
    return {name: missed(fit.estimate_ci.sel(param=name, drop=True), true) for name, true in truths.items()}


def summarised(data, *, rng=None):
    """Intervals from means and their standard errors alone."""
    means = data.mean("run")
    error = data.std("run", ddof=1) / data.sizes["run"] ** 0.5
    fit = FIT(means, standard_error=error, n_folds=data.sizes["run"], prior_strength=0)
    return {
        name: missed(fit.estimate_ci.sel(param=name, drop=True), true)
        for name, true in zip(NAMES, _true(data), strict=True)
    }


def predicted_given_gamma(data, *, rng=None):
    """The paper's bounds of a prediction."""
    at = _errors(np.array([AT]), *(each.to_numpy() for each in _true(data)))[:, 0]
    found = xcurves.predict(FIT(data), [AT]).prediction_ci_given_gamma.isel(n=0, drop=True)
    return {"prediction": missed(found, xr.DataArray(at, dims="replication"))}


EXPONENTS = (-0.35, -0.65)
EITHER = {f"gamma {gamma:g}": {"gamma": gamma} for gamma in EXPONENTS}
CURVES = 4


def _of_exponents(n_datasets, share, rng):
    """Four curves a data set, each of one of two exponents."""
    gamma = np.where(rng.random(n_datasets * CURVES) < share, *EXPONENTS)
    flat = curves(n_datasets * CURVES, exponent=gamma, rng=rng)
    values = flat.to_numpy().reshape(n_datasets, CURVES, *flat.shape[1:])
    names = [f"a{i + 1}" for i in range(CURVES)]
    coords = {"algorithm": names, "run": flat.run, "training": flat.training}
    return xr.DataArray(
        values,
        coords,
        ("replication", "algorithm", "run", "training"),
        attrs=flat.attrs,
    )


@cache
def _share():
    """How many curves must be of the first exponent for both fixed ones to predict equally well: by simulation."""
    gaps = []
    for share in (0.0, 1.0):
        many = _of_exponents(5_000, share, np.random.default_rng(1))
        one_by_one = many.stack(curve=("replication", "algorithm"), create_index=False).transpose("curve", ...)
        bare = one_by_one.drop_vars(["replication", "algorithm"], errors="ignore")
        # of a curve by itself: the absolute error
        wrong_by = xcurves.leave_one_size_out(bare, variants=EITHER).rmse
        gaps.append(wrong_by.mean(["training", "curve"]).diff("variant").item())
    return gaps[0] / (gaps[0] - gaps[1])


def equally_good(n_datasets, *, rng):
    """Data sets for which neither of two fixed exponents predicts better on average."""
    return _of_exponents(n_datasets, _share(), rng)


def left_out(data, *, rng=None):
    """The p of one fixed exponent against another."""
    found = xcurves.leave_one_size_out(data, variants=EITHER)
    return {"leave one size out, paired t": found.pvalue.isel(variant=1, drop=True)}


def given_gamma(data, *, rng=None):
    """The paper's bounds, 1.96 standard errors conditional on γ."""
    fit = FIT(data)
    found = {}
    for name, true in zip(NAMES[:2], _true(data)[:2], strict=True):
        half = 1.96 * fit.stderr_given_gamma.sel(param=name, drop=True)
        bounds = xr.concat([fit[name] - half, fit[name] + half], "ci_bound").assign_coords(ci_bound=["lower", "upper"])
        found[name] = missed(bounds, true)
    return found


def two_learners(n_datasets, *, rng):
    """Two independent curves each."""
    pair = [curves(n_datasets, rng=rng) for _ in range(2)]
    truth = {
        name: ("replication", (pair[0][name] - pair[1][name]).to_numpy()) for name in ("true_error", "true_reliance")
    }
    both = xr.concat(
        [each.drop_vars(["true_error", "true_reliance", "true_exponent"]) for each in pair],
        "algorithm",
    )
    return both.assign_coords(algorithm=["a", "b"], **truth).transpose("replication", ...)


def differences(data, *, rng=None):
    """Intervals of the differences of two learners."""
    found = xcurves.compare_learners(FIT(data), reference="b").isel(algorithm=0, drop=True)
    truths = (data[name].drop_vars(data[name].coords) for name in ("true_error", "true_reliance"))
    return {
        f"difference of {name}": missed(found.difference_ci.sel(param=name, drop=True), true)
        for name, true in zip(NAMES[:2], truths, strict=True)
    }


def large_samples(data, *, rng=None):
    """The interval of the difference of e_N - β_N."""
    found = xcurves.compare_learners(FIT(data), reference="b").isel(algorithm=0, drop=True)
    truth = data.true_error.drop_vars(data.true_error.coords) - data.true_reliance.drop_vars(data.true_reliance.coords)
    return {
        "difference of large_sample_error": missed(
            found.difference_ci.sel(param="large_sample_error", drop=True), truth
        )
    }


def changed(data, *, rng=None):
    """The interval of the change from N to four times the data."""
    error, reliance, gamma = (each.to_numpy() for each in _true(data))
    truth = xr.DataArray(
        _errors(np.array([AT]), error, reliance, gamma)[:, 0] - error,
        dims="replication",
    )
    found = xcurves.predict(FIT(data), [AT])
    return {"change": missed(found.change_ci.isel(n=0, drop=True), truth)}


def one_better(n_datasets, *, nearer=0.3, rng):
    """Two curves of one exponent, of which the first is nearer to the asymptote of the second, by this share."""
    reference = curves(n_datasets, rng=rng)
    gap = -reference.true_reliance / (2 * reference.true_exponent)  # e_N - α
    again = curves(n_datasets, rng=rng)
    noise = again - _errors(N, *(each.to_numpy() for each in _true(again)))[:, np.newaxis]
    mean = _errors(
        N,
        (reference.true_error - nearer * gap).to_numpy(),
        *(each.to_numpy() for each in _true(reference)[1:]),
    )
    better = reference.copy(data=mean[:, np.newaxis] + noise.to_numpy())
    both = xr.concat([better, reference], "algorithm", coords="minimal", compat="override")
    return both.assign_coords(algorithm=["a", "b"]).transpose("replication", ...)


def multiplied(data, *, rng=None):
    """The interval of the data multiplier, where there is one."""
    found = xcurves.compare_learners(FIT(data), reference="b").isel(algorithm=0, drop=True)
    truth = 0.7 ** (1 / _true(data)[2])
    p = missed(found.data_multiplier_ci, truth)
    return {"data multiplier": p.where(found.data_multiplier_ci.notnull().all("ci_bound"))}


def crossings(data, *, fit=FIT, rng=None):
    """Whether equal learners are said to cross or to differ at any size, and whether the fitted curves cross."""
    fitted_curves = fit(data)
    found = xcurves.compare_learners(fitted_curves, reference="b").isel(algorithm=0, drop=True)
    errors = xcurves.predict(fitted_curves, np.geomspace(N[0], AT, 97)).prediction
    higher = errors.sel(algorithm="a") > errors.sel(algorithm="b")
    alike = np.isclose(found.equal_from, N[0]) & np.isclose(found.equal_to, N[-1])
    return {
        "said to cross": outside(found.crossing_size.notnull().any("crossing")),
        "said to differ at some size": xr.DataArray(outside(~alike.any(axis=-1)), dims="replication"),
        "fitted curves cross": outside(higher.any("n") & ~higher.all("n")),
    }


def _fit(setting, claims, *, short=1_000, folds=PAPER, sd=0.02**0.5, **options):
    make = partial(curves, folds=folds, sd_at_infinity=sd)
    return Simulation(
        FAMILY,
        setting,
        make,
        partial(fitted, rows=list(claims), **options),
        claims,
        short=short,
    )


GOOD = near(0.02, 0.08)
CLOSE = near(0.03, 0.06)  # so that an interval at 90 % would be seen
# of β_N and γ, by folds
PRIOR = {5: near(0.04, 0.12), 10: fails(0.07), 20: fails(0.12), 30: fails(0.15)}
ALL = dict.fromkeys(NAMES, GOOD)
SIMULATIONS = [
    _fit("folds 16 8 4 2 1", dict.fromkeys((*NAMES, "prediction"), CLOSE), short=2_000),
    _fit(
        "folds 10 8 4 2 1",
        dict.fromkeys(NAMES, CLOSE),
        short=2_000,
        folds=(10, 8, 4, 2, 1),
    ),
    _fit(
        "folds 16 8 4 2 1, bootstrap",
        {name: near(0.03, 0.08) for name in (*NAMES[:2], "prediction")},
        n_resamples=199,
        short=500,
    ),
    Simulation(
        FAMILY,
        "folds 16 8 4 2 1, the paper's bounds given γ",
        curves,
        given_gamma,
        {"error_at_n": fails(0.08), "data_reliance": fails(0.5)},
        short=1_000,
    ),
    *(
        simulation
        for n in (5, 10, 20, 30)
        for simulation in (
            _fit(
                f"{n} folds of every size",
                {
                    "error_at_n": near(0.03, 0.13),
                    "data_reliance": PRIOR[n],
                    "gamma": PRIOR[n],
                },
                folds=(n,) * 5,
            ),
            _fit(
                f"{n} folds of every size, no prior",
                ALL,
                folds=(n,) * 5,
                prior_strength=0,
            ),
            _fit(
                f"{n} folds of every size, prior 5/{n}",
                ALL,
                folds=(n,) * 5,
                prior_strength=5 / n,
            ),
            _fit(
                f"{n} folds of every size, weights by variance",
                ALL,
                folds=(n,) * 5,
                weighting="variance",
            ),
        )
    ),
    *(
        simulation
        for sd, claim in ((0.3, fails(0.055)), (0.5, fails(0.09)), (1.0, fails(0.15)))
        for simulation in (
            _fit(
                f"true sd {sd:g} at infinite size, σ0² = 0.02",
                dict.fromkeys(NAMES, claim),
                sd=sd,
            ),
            _fit(
                f"true sd {sd:g} at infinite size, σ0² = {sd**2:g}",
                ALL,
                sd=sd,
                sigma0_sq=sd**2,
            ),
        )
    ),
    Simulation(
        LEARNERS,
        "folds 16 8 4 2 1 of each",
        two_learners,
        differences,
        {"difference of error_at_n": CLOSE, "difference of data_reliance": CLOSE},
        short=2_000,
    ),
    Simulation(
        LEARNERS,
        "the first three tenths nearer to the asymptote",
        one_better,
        multiplied,
        {"data multiplier": near(0.02, 0.12)},
        short=1_000,
        full=11_000,  # of which one in a hundred has no multiplier
    ),
    Simulation(
        FAMILY,
        "folds 16 8 4 2 1, from 400 to 1600",
        curves,
        changed,
        {"change": CLOSE},
        short=2_000,
    ),
    Simulation(
        FAMILY,
        "folds 16 8 4 2 1, α and η",
        curves,
        asymptote_and_scale,
        dict.fromkeys(("alpha", "eta"), GOOD),
    ),
    *(
        Simulation(
            FAMILY,
            f"{n} folds of every size, means and standard errors only, no prior",
            partial(curves, folds=(n,) * 5),
            summarised,
            dict.fromkeys(NAMES, claim),
            short=1_000,
        )
        for n, claim in ((5, fails(0.07)), (30, GOOD))
    ),
    Simulation(
        FAMILY,
        "folds 16 8 4 2 1, the paper's bounds given γ, at 1600",
        curves,
        predicted_given_gamma,
        {"prediction": fails(0.2)},
    ),
    Simulation(
        FAMILY,
        "γ known to be -0.5",
        partial(curves, exponent=-0.5),
        partial(fitted, rows=NAMES[:2], gamma=-0.5),
        dict.fromkeys(NAMES[:2], GOOD),
    ),
    Simulation(
        FAMILY,
        "quadratic fit of a power law",
        curves,
        partial(fitted, rows=NAMES[:2], quadratic=True),
        dict.fromkeys(NAMES[:2], near(0.005, 0.08)),
    ),
    Simulation(
        FAMILY,
        "uniform weights",
        curves,
        partial(fitted, rows=NAMES, weighting="uniform"),
        ALL,
    ),
    Simulation(
        FAMILY,
        "two exponents equally good, 4 curves",
        equally_good,
        left_out,
        {"leave one size out, paired t": fails(0.15)},
    ),
    Simulation(
        LEARNERS,
        "folds 16 8 4 2 1 of each, at infinite size",
        two_learners,
        large_samples,
        {"difference of large_sample_error": CLOSE},
    ),
    *(
        Simulation(
            family,
            "two equal learners, folds 16 8 4 2 1 of each",
            partial(one_better, nearer=0.0),
            partial(crossings, fit=fit),
            {
                "said to cross": AT_MOST,
                "said to differ at some size": fails(0.055),
                "fitted curves cross": fails(0.7),
            },
            short=1_000,
        )
        for family, fit in (
            (LEARNERS, FIT),
            ("Two learners, asymptote 0 or more", xcurves.fit_power_law),
        )
    ),
]
