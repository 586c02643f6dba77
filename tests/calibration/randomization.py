"""Claims of the tests that shuffle whole curves."""

from __future__ import annotations

from functools import partial

import numpy as np
import xarray as xr

import xcurves
from calibration.claims import AT_MOST, EXACT, Claim, Simulation, fails, missed, near, outside
from xcurves import study

RESAMPLES = 199  # 200 with the observed one: a p of exactly .05 exists
FEW = 79  # where intervals take time: 80 with the observed one, and .05 on two sides is 2 of 80 on each
MAIN, SHAPE, LEVELS = 10.0, 5.0, 8
EFFECTS, TERMS = ("algorithm", "interaction"), ("pooled", "stratum")
simulated = study.autoregressive


def anova(data, *, rows, n_resamples=RESAMPLES, paired=False, rng=None):
    """The randomized ANOVA's p of the rows "effect, error term"."""
    p = xcurves.randomized_anova(data, n_resamples=n_resamples, paired=paired, rng=rng).pvalue
    return {row: p.sel(dict(zip(("effect", "error_term"), row.split(", "), strict=True)), drop=True) for row in rows}


def conventional(data, *, rng=None):
    """The F distribution's p: both terms of both effects."""
    p = xcurves.randomized_anova(data, n_resamples=1, rng=rng).pvalue_parametric
    return {
        f"{effect}, {term}": p.sel(effect=effect, error_term=term, drop=True) for effect in EFFECTS for term in TERMS
    }


def _anova(setting, generator, claims, **options):
    return Simulation(
        "Randomized ANOVA", setting, generator, partial(anova, rows=list(claims), **options), claims, short=2_000
    )


ALL = {f"{effect}, {term}": EXACT for effect in EFFECTS for term in TERMS}
STRATUM = {f"{effect}, stratum": EXACT for effect in EFFECTS}


def real(name, variable, n_runs):
    """A generator that deals the real curves of one algorithm to two."""
    curves = xcurves.tutorial.open_dataset(name)[variable].isel(algorithm=[0])
    return partial(study.resampled, curves=curves, n_runs=n_runs, shuffled=True)


def modified_and_shuffled(case, factor):
    """The conference paper's Section 5.1: curves and modified curves in one pool."""
    curves = xcurves.tutorial.open_dataset("chess")["accuracy"].isel(algorithm=[0])
    return partial(study.resampled, curves=curves, n_runs=20, modification=case, factor=factor, shuffled=True)


ANOVAS = [
    _anova("no effect, 10 v 10", partial(simulated, n_runs=10), ALL),
    _anova("no effect, 15 v 5", partial(simulated, n_runs=(15, 5)), ALL),
    _anova("no effect, random walks", partial(simulated, correlation=1, offset=0), ALL),
    _anova("no effect, 6 v 6 v 6", partial(simulated, n_runs=6, n_algorithms=3), ALL),
    _anova(
        "no effect, 5 v 5, all 126 assignments: 6/126 is the level",
        partial(simulated, n_runs=5),
        dict.fromkeys(ALL, Claim(6 / 126, 6 / 126)),
        n_resamples=None,
    ),
    *(
        _anova(f"{name}, shuffled", real(name, variable, n), ALL)
        for name, variable, n in (
            ("chess", "accuracy", 10),
            ("endgame", "accuracy", 10),
            ("tictactoe_100", "score", 10),
        )
    ),
    _anova("chess and M_b of it, f = 9, shuffled", modified_and_shuffled("b", 9), ALL),
    *(
        _anova(
            f"a real algorithm effect, {sizes[0]} v {sizes[1]}",
            partial(simulated, n_runs=sizes, algorithm_effect=MAIN),
            {"interaction, stratum": EXACT, "interaction, pooled": fails(0.5)},
        )
        for sizes in ((10, 10), (15, 5), (5, 15))
    ),
    *(
        _anova(
            f"a real interaction, {sizes[0]} v {sizes[1]}",
            partial(simulated, n_runs=sizes, interaction_effect=SHAPE),
            {"algorithm, stratum": EXACT, "algorithm, pooled": fails(0.06)},
        )
        for sizes in ((10, 10), (15, 5), (5, 15))
    ),
    _anova("no effect, 8 matched runs", partial(simulated, n_runs=8, shared=4), STRATUM, paired=True),
    _anova(
        "a real algorithm effect, 8 matched runs",
        partial(simulated, n_runs=8, shared=4, algorithm_effect=MAIN),
        {"interaction, stratum": EXACT, "interaction, pooled": fails(0.1)},
        paired=True,
    ),
    _anova(
        "a real interaction, 8 matched runs",
        partial(simulated, n_runs=8, shared=4, interaction_effect=SHAPE),
        {"algorithm, stratum": EXACT},
        paired=True,
    ),
    _anova(
        "no effect, spread 1 v 4, 10 v 10",
        partial(simulated, noise=(1, 4)),
        {"algorithm, stratum": near(0.05, 0.08), "interaction, stratum": near(0.05, 0.1)},
    ),
    _anova(
        "no effect, spread 1 v 4, 15 v 5",
        partial(simulated, noise=(1, 4), n_runs=(15, 5)),
        {"algorithm, stratum": fails(0.15), "interaction, stratum": fails(0.15)},
    ),
    _anova(
        "no effect, spread 1 v 4, 5 v 15",
        partial(simulated, noise=(1, 4), n_runs=(5, 15)),
        {"algorithm, stratum": near(0, 0.02), "interaction, stratum": near(0, 0.02)},
    ),
]
CONVENTIONAL = [
    Simulation(
        "Conventional ANOVA",
        "no effect, 10 v 10 (F distribution)",
        partial(simulated, n_runs=10),
        conventional,
        {
            "algorithm, pooled": fails(0.2),
            "algorithm, stratum": EXACT,
            "interaction, pooled": near(0, 0.03),
            "interaction, stratum": fails(0.06),
        },
    )
]


def folds_of_one_data_set(n_datasets, *, rng):
    """Folds that share data: algorithms differ from data set to data set by more than folds say."""
    curves = simulated(n_datasets, n_runs=10, rng=rng)
    return curves + rng.normal(scale=1.0, size=(n_datasets, 2, 1, 1))


FOLDS = [
    Simulation(
        "Randomized ANOVA",
        "folds of one data set, for all data sets",
        folds_of_one_data_set,
        partial(anova, rows=["algorithm, stratum"]),
        {"algorithm, stratum": fails(0.08)},
    )
]


def contrast(data, *, truth=0.0, alternative="two-sided", paired=False, rng=None):
    """The p of a contrast of two algorithms, and whether its interval misses the truth."""
    result = xcurves.contrast(
        data, {"a1": 1, "a2": -1}, alternative=alternative, paired=paired, n_resamples=FEW, rng=rng
    )
    if truth:
        return {"interval": missed(result.estimate_ci, truth)}
    if alternative != "two-sided":
        return {"p": result.pvalue}
    return {"p": result.pvalue, "interval": missed(result.estimate_ci, 0.0)}


def exponential(n_datasets, *, spread, n_runs, rng):
    """Scores with exponential offsets of mean 0."""
    values = (rng.exponential(size=(n_datasets, 2, n_runs, 1)) - 1) * np.array(spread)[:, None, None]
    coords = {"algorithm": ["a1", "a2"], "run": np.arange(n_runs), "training": [1.0]}
    return xr.DataArray(values, coords, ("replication", *coords))


def _contrast(setting, generator, claims, short=300, **options):
    return Simulation("Contrast", setting, generator, partial(contrast, **options), claims, short=short)


BOTH = {"p": EXACT, "interval": EXACT}
CONTRASTS = [
    _contrast("no difference, 8 v 8, beside a third far away", partial(simulated, n_runs=8, n_algorithms=3), BOTH),
    *(
        _contrast(f"no difference, 8 v 8, {side}", partial(simulated, n_runs=8), {"p": EXACT}, alternative=side)
        for side in ("less", "greater")
    ),
    _contrast("no difference, 8 matched runs", partial(simulated, n_runs=8, shared=4), BOTH, paired=True),
    _contrast(
        "a difference of 10, 8 v 8",
        partial(simulated, n_runs=8, algorithm_effect=MAIN),
        {"interval": EXACT},
        truth=MAIN,
    ),
    *(
        _contrast(
            f"spread 1 v 4, {sizes[0]} v {sizes[1]}",
            partial(simulated, n_runs=sizes, noise=(1, 4)),
            {"p": claim, "interval": claim},
        )
        for sizes, claim in (((10, 10), near(0.045, 0.08)), ((15, 5), near(0.05, 0.18)), ((5, 15), near(0.01, 0.05)))
    ),
    _contrast(
        "exponential scores, spread 1 v 4, 10 v 10",
        partial(exponential, spread=(1, 4), n_runs=10),
        {"p": fails(0.07), "interval": fails(0.07)},
    ),
]


def pairwise(data, *, rng=None):
    """Holm's p of the equal pair and of any equal pair, and the interval of the equal one."""
    result = xcurves.pairwise(data, n_resamples=FEW, rng=rng)
    adjusted = result.pvalue_adjusted
    equal = {"pair": "a2 - a3"}
    return {
        "algorithm, adjusted, the equal pair": adjusted.sel(effect="algorithm", **equal, drop=True),
        "interaction, adjusted, any pair": adjusted.sel(effect="interaction", drop=True).min("pair"),
        "interval of the equal pair": missed(result.difference_ci.sel(**equal, drop=True), 0.0),
    }


PAIRS = [
    Simulation(
        "Pairwise (Holm)",
        "7 v 7 v 7, one far away",
        partial(simulated, n_runs=7, n_algorithms=3, algorithm_effect=MAIN),
        pairwise,
        {
            "algorithm, adjusted, the equal pair": AT_MOST,
            "interaction, adjusted, any pair": AT_MOST,
            "interval of the equal pair": EXACT,
        },
        short=200,
    )
]

EDGES = [1, 5, 8]
LATE = slice(5, None)


def early(n_datasets, *, n_runs, shared=0.0, rng):
    """A difference at the first half of the levels only."""
    curves = simulated(n_datasets, n_runs=n_runs, shared=shared, rng=rng)
    differs = (curves.training < 5) * xr.DataArray([20.0, 0.0], {"algorithm": curves.algorithm})
    return curves + differs


def profile_null(data, *, paired=False, rng=None):
    """Every p of a profile without any difference."""
    options = {"n_resamples": RESAMPLES, "paired": paired, "rng": rng}
    result = xcurves.ss_profile(data, intervals=EDGES, **options)
    single = xcurves.ss_profile(data, step_down=False, **options)
    given = xcurves.ss_profile(data, cluster_threshold=3.0, **options)
    return {
        "level, pointwise": result.pvalue.isel(training=3, drop=True),
        "any level, unadjusted": result.pvalue.min("training"),
        "any level, step-down": result.pvalue_adjusted.min("training"),
        "any level, single-step": single.pvalue_adjusted.min("training"),
        "any stretch (clusters)": result.cluster_pvalue.fillna(1).min("training"),
        "any stretch, threshold 3": given.cluster_pvalue.fillna(1).min("training"),
        "interval": result.interval_pvalue.isel(interval=0, drop=True),
        "any interval, step-down": result.interval_pvalue_adjusted.min("interval"),
    }


def any_level(data, *, rng=None):
    """The smallest p of any level."""
    result = xcurves.ss_profile(data, n_resamples=RESAMPLES, rng=rng)
    return {"any level, step-down": result.pvalue_adjusted.min("training")}


def profile_late(data, *, paired=False, rng=None):
    """Marks where there is no difference, beside a large one."""
    options = {"n_resamples": RESAMPLES, "paired": paired, "rng": rng}
    result = xcurves.ss_profile(data, intervals=EDGES, **options)
    single = xcurves.ss_profile(data, step_down=False, **options)
    return {
        "any equal level, step-down": result.pvalue_adjusted.sel(training=LATE).min("training"),
        "any equal level, single-step": single.pvalue_adjusted.sel(training=LATE).min("training"),
        "the equal interval, step-down": result.interval_pvalue_adjusted.isel(interval=1, drop=True),
    }


def _sided(n_datasets, *, n_runs, n_algorithms=2, shared=0.0, rng):
    """A difference of just the margin, now to one side and now to the other."""
    curves = simulated(n_datasets, n_runs=n_runs, n_algorithms=n_algorithms, shared=shared, rng=rng)
    curves[:, 0] += 20 * np.resize([1, -1], LEVELS)
    return curves


def equivalence(data, *, paired=False, rng=None):
    """Whether curves are called equivalent anywhere."""
    result = xcurves.ss_profile(data, margin=20.0, paired=paired, n_resamples=RESAMPLES, rng=rng)
    return {"equivalent anywhere": outside(result.equivalent.max("training") > 0)}


NULL_ROWS = {
    "level, pointwise": EXACT,
    "any level, unadjusted": fails(0.1),
    **dict.fromkeys(
        (
            "any level, step-down",
            "any level, single-step",
            "any stretch (clusters)",
            "any stretch, threshold 3",
            "interval",
            "any interval, step-down",
        ),
        EXACT,
    ),
}
LATE_ROWS = {
    "any equal level, step-down": EXACT,
    "any equal level, single-step": AT_MOST,
    "the equal interval, step-down": EXACT,
}
PROFILES = [
    *(
        Simulation(
            "Profile",
            f"no difference, {name}",
            partial(simulated, n_runs=sizes, shared=shared),
            partial(profile_null, paired=paired),
            NULL_ROWS,
        )
        for name, sizes, shared, paired in (
            ("10 v 10", 10, 0, False),
            ("15 v 5", (15, 5), 0, False),
            ("8 matched runs", 8, 4, True),
        )
    ),
    *(
        Simulation(
            "Profile",
            f"a large difference at half of the levels, {name}",
            partial(early, n_runs=sizes, shared=shared),
            partial(profile_late, paired=paired),
            LATE_ROWS,
        )
        for name, sizes, shared, paired in (
            ("10 v 10", 10, 0, False),
            ("15 v 5", (15, 5), 0, False),
            ("8 matched runs", 8, 4, True),
        )
    ),
    Simulation(
        "Profile",
        "no difference, spread 1 v 3, 15 v 5",
        partial(simulated, n_runs=(15, 5), noise=(1, 3)),
        any_level,
        {"any level, step-down": fails(0.15)},
    ),
    *(
        Simulation(
            "Profile",
            f"a difference of the margin everywhere, {name}",
            partial(_sided, n_runs=sizes, n_algorithms=m, shared=shared),
            partial(equivalence, paired=paired),
            {"equivalent anywhere": AT_MOST},
        )
        for name, sizes, m, shared, paired in (
            ("10 v 10", 10, 2, 0, False),
            ("15 v 5", (15, 5), 2, 0, False),
            ("5 v 5 v 5", 5, 3, 0, False),
            ("8 matched runs", 8, 2, 4, True),
        )
    ),
]

SIMULATIONS = [*CONVENTIONAL, *ANOVAS, *FOLDS, *PAIRS, *CONTRASTS, *PROFILES]
