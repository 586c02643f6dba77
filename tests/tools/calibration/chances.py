"""Whether the chance that the looks left show a pair comes true, and how often futile pairs are shown."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np

from calibration.claims import ALPHA, Claim, Simulation, labelled, near, outside
from calibration.group_sequential import RESAMPLES, numbers, runs
from calibration.randomization import BLOCK
from xcurves.core.provenance import significant
from xcurves.kernels.looks.sequential_chances import (
    UNLIKELY,
    chances,
    levels_left,
    seen_by,
)
from xcurves.kernels.looks.sequential_pvalues import spent
from xcurves.kernels.looks.sequential_tests import sequential_tests
from xcurves.kernels.over_tasks.task_plans import nest

N_LOOKS, BATCH = 5, 6
TENTHS = [tenth / 10 for tenth in range(11)]


def studies(n_datasets, *, differences, rng):
    """Normal runs of two algorithms; the true difference is one of these, None: drawn from N(0, 1), in sd of runs."""
    data = runs(n_datasets, sizes=(BATCH,) * N_LOOKS, rng=rng)
    if differences is None:
        true = rng.normal(size=n_datasets)
    else:
        true = rng.choice(differences, n_datasets)
    data[:, 0] += true[:, np.newaxis, np.newaxis]
    return data


def said_and_shown(data, rng):
    """The chance at each look but the last, NaN where the pair is shown, and whether it is in the end: no intervals."""
    u, look = numbers(data)
    of_run = look - 1
    sizes = np.full((N_LOOKS, 1, 2), BATCH)
    nested, share = nest(sizes, RESAMPLES, rng), spent("square", N_LOOKS)
    said = np.full((len(u), N_LOOKS - 1), np.nan)
    shown = np.zeros(len(u), bool)
    for number, of_study in enumerate(u[:, :, np.newaxis]):
        test = sequential_tests(of_study, of_run, nested, share, ALPHA, n_intervals=0)
        by_look = significant(test["pvalue"], ALPHA)
        shown[number] = by_look[-1]
        for k in np.flatnonzero(~by_look[:-1]).tolist():
            seen = seen_by(of_study, of_run, k, test["difference"][k], test["scale"][k])
            left = levels_left(seen, sizes[: k + 1], N_LOOKS, "square", ALPHA, RESAMPLES)
            said[number, k] = chances(seen, left, np.zeros(0), rng, k)[0]
    return said, shown


def rows_of_looks():
    """The rows of all looks and tenths; look 1 of this plan says .2 at least."""
    return {
        _row(look, low, high): (look, low, high)
        for look in range(1, N_LOOKS)
        for low, high in pairwise(TENTHS)
        if look > 1 or low >= 0.2
    }


def _row(look, low, high):
    return f"look {look}, said {low:.1f} to {high:.1f}"


def came_true(data, *, rng=None):
    """Whether pairs are shown in the end, of those whose chance is within a tenth; others do not count."""
    said, shown = said_and_shown(data, rng)
    found = {}
    for row, (look, low, high) in rows_of_looks().items():
        chance = said[:, look - 1]
        is_in = (chance >= low) & ((chance < high) | (high == 1))
        found[row] = outside(labelled(shown)).where(labelled(is_in))
    return found


def given_up(data, *, rng=None):
    """Whether some look calls a pair futile, and whether those pairs are shown by the last look all the same."""
    said, shown = said_and_shown(data, rng)
    futile = labelled((said < UNLIKELY).any(axis=1))
    return {
        "called futile by some look": outside(futile),
        "of these shown after all": outside(labelled(shown)).where(futile),
    }


def _chances(setting, differences, below, short):
    """What a chance within a tenth comes to: at most so much less than its lower end, .1 more than the upper one."""
    claims = {
        row: Claim(round(max(low - below, 0), 2), round(min(high + 0.1, 1), 2))
        for row, (_, low, high) in rows_of_looks().items()
    }
    return Simulation(
        f"Chances of the looks left, {setting}",
        "6×5",
        partial(studies, differences=differences),
        came_true,
        claims,
        short=short,
        full=2_000,
        block=BLOCK,
        bold_above=1.0,
    )


def _futile(setting, differences, called, shown):
    return Simulation(
        "Pairs that are called futile",
        f"6×5, {setting}",
        partial(studies, differences=differences),
        given_up,
        {
            "called futile by some look": near(*called),
            "of these shown after all": near(*shown),
        },
        short=200,
        full=1_000,
        block=BLOCK,
        bold_above=1.0,
    )


SIMULATIONS = [
    _chances("d drawn from N(0, 1)", None, 0.05, 400),
    _chances("d = 0, 0.4 or 0.8", (0.0, 0.4, 0.8), 0.25, 400),
    _futile("d = 0", (0.0,), (0.8, 0.95), (0.0, 0.02)),
    _futile("d = 0.4", (0.4,), (0.4, 0.65), (0.0, 0.06)),
    _futile("d = 0.8", (0.8,), (0.05, 0.2), (0.05, 0.2)),
    _futile("d drawn from N(0, 1)", None, (0.2, 0.45), (0.0, 0.08)),
]
