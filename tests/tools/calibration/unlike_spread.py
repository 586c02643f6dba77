"""Claims where one algorithm is more variable than the others: ANOVA, pairs, contrasts, profiles, equivalence."""

from __future__ import annotations

from functools import partial

import numpy as np
import xarray as xr

import xcurves
from calibration.claims import Claim, Simulation, fails, missed, near
from calibration.randomization import BLOCK, RESAMPLES


def unlike(n_datasets, *, n_runs, spread, rng):
    """Normal scores of equal means at one level; `n_runs` and `spread` have a number for each algorithm."""
    values = rng.normal(size=(n_datasets, len(n_runs), max(n_runs), 1)) * np.array(spread)[:, None, None]
    return of_runs(values, n_runs)


def of_runs(values, n_runs):
    """Label scores of so many runs of each algorithm."""
    for algorithm, runs in enumerate(n_runs):
        values[:, algorithm, runs:] = np.nan
    coords = {
        "algorithm": [f"a{i}" for i in range(len(n_runs))],
        "run": np.arange(max(n_runs)),
        "training": np.arange(1.0, values.shape[-1] + 1),
    }
    return xr.DataArray(values, coords, ("replication", *coords))


def unlike_curves(n_datasets, *, n_runs, spread, apart=0.0, rng):
    """Curves of equal means along eight levels, the first algorithm so far `apart`, now above and now below."""
    shape = (n_datasets, len(n_runs), max(n_runs))
    values = (rng.normal(size=(*shape, 1)) + rng.normal(size=(*shape, 8))) * np.array(spread)[:, None, None] / 2**0.5
    values[:, 0] += apart * np.resize([1, -1], 8)
    return of_runs(values, n_runs)


def lognormal(n_datasets, *, n_runs, spread, rng):
    """Lognormal scores less their mean, exp(1/2), at one level."""
    values = rng.lognormal(size=(n_datasets, len(n_runs), max(n_runs), 1))
    return of_runs((values - np.exp(0.5)) * np.array(spread)[:, None, None], n_runs)


def level(data, *, rng=None):
    """The p of the algorithm effect by F and by Welch's statistic."""
    p = xcurves.randomized_anova(data, n_resamples=RESAMPLES, rng=rng).pvalue.sel(effect="algorithm", drop=True)
    return {f"algorithm, {term}": p.sel(error_term=term, drop=True) for term in ("split_plot", "welch")}


def choices(data, *, rng=None):
    """The p of the test that speaks, and of Welch's where the ratio of spreads is large, F's otherwise."""
    found = xcurves.randomized_anova(data, n_resamples=RESAMPLES, rng=rng)
    p = found.pvalue.sel(effect="algorithm", drop=True)
    f, welch = (p.sel(error_term=term, drop=True) for term in ("split_plot", "welch"))
    return {
        "the test that speaks": xr.where(found.level_test == 1, welch, f),
        "chosen by the ratio of spreads": xr.where(found.sd_ratio > found.sd_ratio_limit, welch, f),
    }


def disagree(found, level):
    """1 - whether p and interval of any pair disagree: p <= level with 0 in the interval, or the reverse."""
    p, outside = (
        found.pvalue.sel(effect="algorithm", drop=True),
        missed(found.difference_ci, 0.0) == 0,
    )
    return 1.0 - ((p <= level + 1e-12) != outside).any("pair")


def pairs(data, *, rng=None):
    """The smallest adjusted p, whether the first pair's interval misses 0, whether p and interval of any disagree."""
    found = xcurves.pairwise(data, n_resamples=RESAMPLES, rng=rng)
    return {
        "any pair, adjusted": found.pvalue_adjusted.sel(effect="algorithm", drop=True).min("pair"),
        "interval of the first pair": missed(found.difference_ci, 0.0).isel(pair=0, drop=True),
        "p and interval disagree": disagree(found, 0.05),
    }


def agreement(data, *, level, rng=None):
    """Whether p and interval disagree, and whether they do without a gap in the accepted shifts."""
    found = xcurves.pairwise(data, confidence_level=1 - level, n_resamples=2_000, rng=rng)
    both = disagree(found, level)
    return {
        "p and interval disagree": both,
        "and no gap is said": xr.where(found.difference_ci_gap[..., 0] == 1, 1.0, both),
    }


def contrast(data, *, rng=None):
    """A contrast of the first algorithm with the mean of the others, and whether its interval misses 0."""
    names = data.algorithm.to_numpy().tolist()
    weights = dict.fromkeys(names[1:], -1 / (len(names) - 1)) | {names[0]: 1.0}
    found = xcurves.contrast(data, weights, n_resamples=RESAMPLES, rng=rng)
    return {"contrast": found.pvalue, "its interval": missed(found.estimate_ci, 0.0)}


def profile(data, *, rng=None):
    """The smallest adjusted p of any level."""
    found = xcurves.ss_profile(data, n_resamples=RESAMPLES, rng=rng)
    return {"any level, step-down": found.pvalue_adjusted.min("training")}


def shown_of_pairs(data, *, rng=None):
    """The smallest p over pairs, each by itself and adjusted."""
    found = xcurves.pairwise(data, n_resamples=RESAMPLES, rng=rng)
    return {
        f"any pair{words}": found[name].sel(effect="algorithm", drop=True).min("pair")
        for words, name in ((", adjusted", "pvalue_adjusted"), ("", "pvalue"))
    }


def equivalence(data, *, rng=None):
    """Whether algorithms of which one differs from the others by the margin are called equivalent anywhere."""
    found = xcurves.ss_profile(data, margin=MARGIN, n_resamples=RESAMPLES, rng=rng)
    return {"equivalent anywhere": xr.where(found.equivalent.max("training") > 0, 0.0, 1.0)}


def shaped(n_datasets, *, n_runs, shape, difference=0.0, rng):
    """Two algorithms at one level: normal scores, skewed ones, or whole numbers, of unlike spread."""
    draw = {
        "normal": lambda size: rng.normal(size=size),
        "skewed": lambda size: rng.exponential(size=size) - 1,
        "whole": lambda size: rng.poisson(2.0, size).astype(float),
    }[shape]
    values = draw((n_datasets, 2, max(n_runs), 1)) * np.array([3.0, 1.0])[:, None, None]
    values[:, 0] += difference
    return of_runs(values, n_runs).assign_coords(algorithm=["a", "b"])


MARGIN = 30.0
SPREAD = 4.0
DESIGNS = [
    (10, 10),
    (5, 15),
    (5,) * 3,
    (5, 15, 15),
    (5,) * 5,
    (5,) + (15,) * 4,
    (5,) * 10,
    (5,) + (10,) * 9,
]


def _setting(sizes):
    several = f"{sizes[0]} v {sizes[1]}" if len(sizes) == 2 else f"{sizes[0]} v {len(sizes) - 1} of {sizes[1]}"
    return f"first sd {SPREAD:g} times, {several} runs"


def _designs(family, generator, procedure, claims, short, **options):
    """A simulation for each design, with the claims of its place."""
    return [
        Simulation(
            family,
            _setting(sizes),
            partial(
                generator,
                n_runs=sizes,
                spread=(SPREAD,) + (1.0,) * (len(sizes) - 1),
                **options,
            ),
            procedure,
            {row: claim[place] if isinstance(claim, list) else claim for row, claim in claims.items()},
            short=short,
            block=BLOCK,
        )
        for place, sizes in enumerate(DESIGNS)
    ]


def _unlike(family, setting, procedure, claims, short, **options):
    return Simulation(
        family,
        setting,
        partial(unlike, **options),
        procedure,
        claims,
        short=short,
        block=BLOCK,
    )


def _anova(n_algorithms, n_runs, f, w, spread=4.0):
    sizes = (n_runs,) * n_algorithms if isinstance(n_runs, int) else n_runs
    spreads = (spread,) + (1.0,) * (len(sizes) - 1)
    return _unlike(
        "Unlike spread",
        f"one sd {spread:g} times the others', {' v '.join(map(str, sizes))}",
        level,
        {"algorithm, split_plot": f, "algorithm, welch": w},
        1_000,
        n_runs=sizes,
        spread=spreads,
    )


NEVER = Claim(0, 0)
# .06 at 10 v 10, .083 at 15 v 5; several pairs are adjusted
STUDENTIZED = near(0.03, 0.11)
SIMULATIONS = [
    _anova(2, 10, near(0.04, 0.09), near(0.04, 0.09)),
    _anova(3, 5, fails(0.08), near(0.05, 0.13)),
    _anova(5, 5, fails(0.1), near(0.06, 0.13)),
    _anova(5, 30, fails(0.08), near(0.04, 0.08)),
    _anova(10, 5, fails(0.1), near(0.05, 0.14)),
    _anova(10, 10, fails(0.1), near(0.04, 0.11)),
    _anova(2, (15, 5), near(0, 0.03), near(0.03, 0.09), spread=4.0),
    _anova(2, (5, 15), fails(0.18), near(0.05, 0.13), spread=4.0),
    _anova(2, (20, 60), fails(0.18), near(0.035, 0.075), spread=4.0),
    _anova(3, (5, 15, 15), fails(0.18), near(0.05, 0.13)),
    _anova(5, (5, 15, 15, 15, 15), fails(0.18), near(0.05, 0.13)),
    _anova(10, (5,) + (10,) * 9, fails(0.18), near(0.05, 0.14)),
    *(
        _unlike(
            "Pairs of unlike spread",
            f"sd {spread[0]:g} v {spread[1]:g}, {sizes[0]} v {sizes[1]}",
            pairs,
            {
                "any pair, adjusted": claim,
                "interval of the first pair": claim,
                "p and interval disagree": NEVER,
            },
            500,
            n_runs=sizes,
            spread=spread,
        )
        for sizes, spread, claim in (
            ((10, 10), (1, 4), near(0.04, 0.09)),
            ((15, 5), (1, 4), near(0.05, 0.13)),
            ((5, 15), (1, 4), near(0.03, 0.09)),
            ((60, 20), (1, 4), near(0.035, 0.08)),
        )
    ),
    *_designs(
        "Pairs of unlike spread",
        unlike,
        pairs,
        {
            "any pair, adjusted": near(0, 0.11),
            "interval of the first pair": STUDENTIZED,
            "p and interval disagree": NEVER,
        },
        100,
    ),
    *(
        Simulation(
            "Pairs of lognormal runs of unlike spread",
            setting,
            partial(lognormal, n_runs=n_runs, spread=spread),
            shown_of_pairs,
            {"any pair, adjusted": fails(least), "any pair": fails(least)},
            short=400,
            full=4_000,
            block=BLOCK,
        )
        for setting, n_runs, spread, least in (
            ("3 × 8 runs, sd 1, 1, 4", (8, 8, 8), (1, 1, 4), 0.1),
            ("8 v 8 runs, sd 1 v 4", (8, 8), (1, 4), 0.12),
            ("6 v 3 runs, sd 1 v 3", (6, 3), (1, 3), 0.19),
        )
    ),
    *_designs(
        "Contrast, unlike spread",
        unlike,
        contrast,
        {"contrast": STUDENTIZED, "its interval": STUDENTIZED},
        300,
    ),
    *_designs(
        "Profile, unlike spread",
        unlike_curves,
        profile,
        {"any level, step-down": [fails(0.07), *[fails(0.15)] * 7]},
        400,
    ),
    *_designs(
        "Equivalence, unlike spread",
        unlike_curves,
        equivalence,
        {"equivalent anywhere": [near(0.02, 0.09), fails(0.08), *[near(0, 0.09)] * 6]},
        400,
        apart=MARGIN,
    ),
    *(
        Simulation(
            "Pairs, p and interval",
            f"{shape} scores, sd 3 v 1, {sizes[0]} v {sizes[1]}, level {level:g}, difference {difference:g}",
            partial(shaped, n_runs=sizes, shape=shape, difference=difference),
            partial(agreement, level=level),
            {"p and interval disagree": claim, "and no gap is said": NEVER},
            short=100,
            block=BLOCK,
        )
        for sizes, shape, level, difference, claim in (
            ((3, 3), "normal", 0.1, 4, NEVER),
            ((4, 4), "whole", 0.05, 0, NEVER),
            ((3, 9), "skewed", 0.05, 2, NEVER),
            ((9, 3), "normal", 0.05, 2, NEVER),
            ((5, 12), "whole", 0.05, 0, NEVER),
            ((7, 5), "skewed", 0.05, 0, NEVER),
            ((2, 8), "normal", 0.1, 4, Claim(0, 0.19)),
        )
    ),
    *(
        Simulation(
            "Which test of level",
            setting,
            partial(unlike, n_runs=n_runs, spread=spread),
            choices,
            {
                "the test that speaks": speaks,
                "chosen by the ratio of spreads": near(*ratio),
            },
            400,
            block=BLOCK,
        )
        for setting, n_runs, spread, speaks, ratio in (
            (
                "5 × 5, sd 4 v 1 four times",
                (5,) * 5,
                (4, 1, 1, 1, 1),
                near(0.11, 0.15),
                (0.1, 1),
            ),
            ("4 × 3, sd 4 v 1 twice", (4,) * 3, (4, 1, 1), near(0.11, 0.17), (0.1, 1)),
            ("20 v 4, sd 1 v 2", (20, 4), (1, 2), near(0.05, 0.11), (0.1, 1)),
            ("2 v 5 v 5, sd 4 v 1 twice", (2, 5, 5), (4, 1, 1), fails(0.1), (0, 1)),
            ("2 v 10 v 10, sd 3 v 1 twice", (2, 10, 10), (3, 1, 1), fails(0.1), (0, 1)),
            *(
                (
                    f"{' v '.join(map(str, n_runs))}, equal sd",
                    n_runs,
                    (1,) * len(n_runs),
                    near(0.025, 0.06),
                    (0, 1),
                )
                for n_runs in ((15, 5), (10, 5, 5), (2, 5), (3, 2, 2), (2, 10, 10))
            ),
        )
    ),
]
