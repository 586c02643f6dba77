"""Claims of a gate: how often a candidate is kept, and what is said of the progress at the end of a stream."""

from __future__ import annotations

from functools import partial

import numpy as np
import xarray as xr

from calibration.claims import ALPHA, Claim, Simulation, labelled, near
from xcurves.core.run_checks import Context
from xcurves.kernels.intervals import welch_interval
from xcurves.looks.gate_replay import KEPT, Champion, Rule, meet, pvalue_moved, race
from xcurves.looks.gate_runs import numbers_of_runs

LEVELS = (0.05, 0.1, 0.2, 0.5)
LOOKS, START, MOST = (1, 2, 4, 8), 4, 8
AUDIT = 10  # runs of each champion that decide nothing
REFRESHED = 15  # most runs that are added to those of a champion
TWO = xr.DataArray(np.zeros((2, 1)), {"algorithm": ["a", "b"], "run": [0]}, ["algorithm", "run"])
EXACT = Context.of(TWO)
# All deals of 8 v 16 runs, which a stream may ask for, take a second.
QUICK = Context.of(TWO, 999)
SPARSE, HILL = "sparse", "hill"


def rule_of(level, context=EXACT, refresh=2):
    return Rule(
        looks=LOOKS,
        level=level,
        margin=0.0,
        start=START,
        context=context,
        refresh=refresh,
    )


def pairs(n_datasets, *, gain=0.0, spread=1.0, skewed=False, crashing=0.0, low=0.0, rng):
    """Runs of a champion and of a candidate; a share `crashing` of the candidate's fails, of both is 4 sd `low`."""
    values = rng.lognormal(size=(n_datasets, 2, MOST)) if skewed else rng.normal(size=(n_datasets, 2, MOST))
    values[:, 1] = gain + spread * values[:, 1]
    values -= 4.0 * (rng.random(values.shape) < low)
    values[:, 1] = np.where(rng.random(values[:, 1].shape) < crashing, -np.inf, values[:, 1])
    return labelled(values, algorithm=["champion", "candidate"], run=np.arange(MOST))


def judged(data, *, levels=LEVELS, rng=None):
    """The p of the last look, 1 where the candidate was dropped before, as a p of .05 at each level."""
    p = []
    for dataset in data:
        champion, candidate = numbers_of_runs(dataset, None, None, 1.0)
        found, _ = race(candidate, Champion.of(0, champion, START), rule_of(0.5))
        p.append(1.0 if np.isnan(found.pvalue) else found.pvalue)
    return {f"level {level:g}": labelled(np.array(p) * ALPHA / level) for level in levels}


def shapes(n_datasets, *, shape, rng):
    """Runs of a champion and of a candidate with the same mean, of unlike shapes."""
    champion = rng.normal(size=(n_datasets, MOST))
    candidate = rng.normal(size=(n_datasets, MOST))
    if shape == "exponential":
        champion = rng.exponential(size=(n_datasets, MOST)) - 1
        candidate = 1 - rng.exponential(size=(n_datasets, MOST))
    if shape == "lognormal":
        candidate = np.exp(0.5) - rng.lognormal(size=(n_datasets, MOST))
        champion *= np.sqrt((np.e - 1) * np.e)  # the standard deviation of the candidate
    if shape == "low":
        candidate += 1 - 10.0 * (rng.random(candidate.shape) < 0.1)
    values = np.stack([champion, candidate], axis=1)
    return labelled(values, algorithm=["champion", "candidate"], run=np.arange(MOST))


def streams(n_datasets, *, n_candidates, gains=None, spreads=0.0, rng):
    """Gains of candidates over the champion of their time, then noise of runs, champion first; column 0 is the gain."""
    n_runs = MOST + REFRESHED + AUDIT
    noise = rng.normal(size=(n_datasets, 1 + n_candidates, n_runs))
    noise *= np.exp(spreads * rng.normal(size=(n_datasets, 1 + n_candidates, 1)))
    gain = np.zeros((n_datasets, 1 + n_candidates, 1))
    if gains == HILL:
        gain[:, 1:] = rng.normal(-0.5, 0.7, gain[:, 1:].shape)
    if gains == SPARSE:
        share = rng.random(gain[:, 1:].shape)
        better, worse = (
            rng.uniform(0, 1.5, share.shape),
            rng.uniform(-2, 0, share.shape),
        )
        gain[:, 1:] = np.where(share < 0.1, better, np.where(share < 0.3, worse, 0.0))
    values = np.concatenate([gain, noise], axis=-1)
    return labelled(
        values,
        algorithm=np.arange(1 + n_candidates),
        run=np.arange(values.shape[-1]) - 1,
    )


def play(stream, level=0.2, refresh=2):
    """Return the decisions, the truth of the last champion, and the first and the last champion."""
    rule = rule_of(level, QUICK, refresh)
    first = champion = Champion.of(0, stream[0, 1:], START)
    truth, decisions = 0.0, []
    for number, (gain, *noise) in enumerate(stream[1:], 1):
        candidate = truth + gain + np.array(noise)
        met, _ = meet(champion, rule)
        found, champion = race(candidate[:MOST], met, rule)
        first = champion if champion.name == 0 else first
        decisions.append(found.decision)
        if found.decision == KEPT:
            champion, truth = Champion.of(number, candidate, MOST), truth + gain
    return decisions, truth, first, champion


def kept_of_nothing(data, *, rng=None):
    """Whether a candidate that does nothing is kept, early and late in a stream, at level .2."""
    decisions = np.array([play(stream)[0] for stream in data.to_numpy()])
    places = {"first": 0, "5th": 4, "20th": 19}
    return {f"{name} candidate": labelled(np.where(decisions[:, k] == KEPT, 0.0, 1.0)) for name, k in places.items()}


def kept_anything(data, *, rng=None):
    """Whether any of candidates that do nothing is kept in a stream."""
    found = {}
    for level, refresh in ((0.2, 2), (0.2, 0), (0.05, 0)):
        kept = [KEPT in play(stream, level, refresh)[0] for stream in data.to_numpy()]
        name = f"level {level:g}, refresh {refresh}"
        found[name] = labelled(np.where(kept, 0.0, 1.0))
    return found


def progress(data, *, rng=None):
    """Progress that its interval misses, and champions that are said to have moved, kept ones and the first."""
    misses, of_kept, of_first = [], [], []
    for stream in data.to_numpy():
        _, truth, first, champion = play(stream)
        kept = champion.name != 0
        before, after = (each.audit[:AUDIT] for each in (first, champion))
        _, (low, high) = welch_interval(after, before, ALPHA)
        misses.append(float(low <= truth <= high) if kept else np.nan)
        moved = pvalue_moved(after, rule_of(0.2))
        of_kept.append(moved if kept else np.nan)
        of_first.append(np.nan if kept else moved)
    return {
        "progress, where something was kept": labelled(np.array(misses)),
        "champion moved, a kept one": labelled(np.array(of_kept)),
        "champion moved, the first": labelled(np.array(of_first)),
    }


def _candidate(setting, rates, *, full=4_000, short=400, **options):
    claims = {f"level {level:g}": each for level, each in zip(LEVELS, rates, strict=True)}
    return Simulation(
        "Keep or drop, a candidate",
        setting,
        partial(pairs, **options),
        judged,
        claims,
        short,
        full,
    )


def around(*rates):
    """Rates that were measured elsewhere, by plain loops, to two digits."""
    return tuple(near(max(rate - 0.02, 0.0), rate + 0.02) for rate in rates)


NO_BETTER = tuple(Claim(0.0, level) for level in LEVELS)
UNLIKE = tuple(Claim(0.0, level + 0.02) for level in LEVELS)

SIMULATIONS = [
    _candidate("no difference", NO_BETTER, full=10_000),
    _candidate("no difference, skewed", NO_BETTER, skewed=True, full=10_000),
    _candidate(
        "no difference, a tenth of the candidate's runs fails",
        NO_BETTER,
        crashing=0.1,
        full=10_000,
    ),
    _candidate("no difference, a tenth of all runs 4 sd low", NO_BETTER, low=0.1, full=10_000),
    _candidate("no difference, sd 3 v 1", UNLIKE, spread=3.0, full=10_000),
    _candidate("no difference, sd 1 v 3", UNLIKE, spread=1 / 3, full=10_000),
    _candidate("0.5 sd worse", around(0.00, 0.01, 0.02, 0.07), gain=-0.5),
    _candidate("0.5 sd better", around(0.19, 0.29, 0.41, 0.53), gain=0.5),
    _candidate("1 sd better", around(0.54, 0.64, 0.71, 0.75), gain=1.0),
    _candidate("2 sd better", around(0.94, 0.95, 0.95, 0.95), gain=2.0),
    *(
        Simulation(
            "Keep or drop, unlike shapes of the same mean",
            setting,
            partial(shapes, shape=shape),
            partial(judged, levels=(0.05,)),
            {"level 0.05": around(rate)[0]},
            short=400,
            full=800,
        )
        for setting, shape, rate in (
            ("negative exponential v exponential", "exponential", 0.10),
            ("negative lognormal v normal of the same sd", "lognormal", 0.08),
            ("a candidate 10 sd low in a tenth of its runs", "low", 0.22),
        )
    ),
    Simulation(
        "Keep or drop, a stream that does nothing",
        "20 candidates, level 0.2",
        partial(streams, n_candidates=20),
        kept_of_nothing,
        dict.fromkeys(("first candidate", "5th candidate", "20th candidate"), Claim(0.0, 0.2)),
        short=150,
        full=300,
    ),
    Simulation(
        "Keep or drop, a stream that does nothing",
        "30 candidates: any is kept",
        partial(streams, n_candidates=30),
        kept_anything,
        {
            "level 0.2, refresh 2": near(0.79, 0.85),
            "level 0.2, refresh 0": near(0.66, 0.72),
            "level 0.05, refresh 0": near(0.33, 0.39),
        },
        short=50,
        full=200,
    ),
    *(
        Simulation(
            "Keep or drop, at the end of a stream",
            setting,
            partial(streams, n_candidates=15, **options),
            progress,
            {
                "progress, where something was kept": near(0.04, 0.06),
                "champion moved, a kept one": Claim(0.0, ALPHA),
                "champion moved, the first": Claim(0.0, ALPHA),
            },
            short=150,
            full=200,
        )
        for setting, options in (
            ("no candidate does anything", {}),
            ("gains of a tenth of candidates", {"gains": SPARSE}),
            ("gains N(-0.5, 0.7)", {"gains": HILL}),
            (
                "gains N(-0.5, 0.7), spreads of their own",
                {"gains": HILL, "spreads": 0.7},
            ),
        )
    ),
]
