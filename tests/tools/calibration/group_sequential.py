"""Claims of tests that are looked at after every batch of runs, and of what is done instead."""

from __future__ import annotations

from functools import partial

import numpy as np
import xarray as xr
from scipy import stats

import xcurves
from calibration.claims import (
    ALPHA,
    AT_MOST,
    EXACT,
    Simulation,
    fails,
    labelled,
    near,
)
from calibration.randomization import BLOCK

RESAMPLES = 999  # 1,000 with the observed one: a p of exactly .05 exists
ROWS = ("sequential", "permutation once", "Welch t once", "Welch t at each look")


def runs(
    n_datasets,
    *,
    sizes,
    spread=None,
    drift=0.0,
    skewed=False,
    exponential=False,
    shifts=(0.0, 0.0),
    n_tasks=None,
    rng,
):
    """One number a run, batch after batch; `sizes` has the runs of every algorithm in each batch, or one for all.

    Runs are normal; `skewed`: lognormal; `exponential`: exponential of mean 0, so that means are equal whatever
    spreads.
    """
    n_algorithms, lead = len(shifts), () if n_tasks is None else (n_tasks,)
    sizes = [(size,) * n_algorithms if isinstance(size, int) else size for size in sizes]
    parts = []
    for batch in sizes:
        shape = (n_datasets, *lead, n_algorithms, max(batch))
        if exponential:
            values = rng.exponential(size=shape) - 1
        elif skewed:
            values = rng.lognormal(size=shape)
        else:
            values = rng.normal(size=shape)
        values = values * np.array(spread or (1.0,) * n_algorithms)[:, np.newaxis] + np.array(shifts)[:, np.newaxis]
        values += drift * rng.normal(size=(n_datasets, *lead, 1, 1))
        for algorithm, n_runs in enumerate(batch):
            values[..., algorithm, n_runs:] = np.nan
        parts.append(values)
    every = np.concatenate(parts, axis=-1)
    look = np.repeat(np.arange(len(sizes)) + 1, [max(batch) for batch in sizes])
    coords = {
        **({} if n_tasks is None else {"task": np.arange(n_tasks)}),
        "algorithm": [f"a{i}" for i in range(n_algorithms)],
        "run": np.arange(every.shape[-1]),
    }
    made = labelled(every, **coords).expand_dims(training=[1.0], axis=-1)
    return made.assign_coords(look=("run", look))


def sequential(data, n_looks, rng, **options):
    """The result of the sequential test without intervals."""
    return xcurves.sequential(
        data,
        n_looks=n_looks,
        n_resamples=RESAMPLES,
        repeated_intervals=False,
        rng=rng,
        **options,
    )


def last(result, name="pvalue"):
    """The p by the last look done."""
    return result[name].min("look")


def numbers(data):
    """The numbers of two algorithms, shape (replication, algorithm, run), and the batches of the runs."""
    return data.isel(training=0).transpose("replication", "algorithm", "run").to_numpy(), data["look"].to_numpy()


def permuted(data, rng):
    """The p of one permutation test of all runs, labels dealt within batches: plain sums, no code of the package."""
    u, look = numbers(data)
    draw = np.random.default_rng(rng)
    z, labels = [], []
    for batch in np.unique(look):
        pool = u[:, :, look == batch].reshape(len(u), -1)
        pool = pool[:, ~np.isnan(pool[0])]
        first = np.count_nonzero(~np.isnan(u[0, 0, look == batch]))
        dealt = np.tile(np.arange(pool.shape[1]) < first, (RESAMPLES + 1, 1))
        dealt[1:] = draw.permuted(dealt[1:], axis=1)
        z.append(pool - pool.mean(axis=1, keepdims=True))
        labels.append(dealt)
    numbers_of_runs, mine = (
        np.concatenate(z, axis=1),
        np.concatenate(labels, axis=1).T.astype(float),
    )
    t = np.abs(welch(numbers_of_runs, mine))
    return labelled((t >= t[:, :1] * (1 - 1e-10)).mean(axis=1))


def welch(z, mine):
    """Welch's t of data sets (row) under labels (column)."""
    means, variances = [], []
    for side in (mine, 1 - mine):
        n = side.sum(axis=0)
        mean = z @ side / n
        means.append(mean)
        variances.append((z**2 @ side - n * mean**2) / (n - 1) / n)
    return (means[0] - means[1]) / np.sqrt(variances[0] + variances[1])


def welch_by_look(data):
    """SciPy's p of Welch's t of all runs by each look, from the first with two runs of both."""
    u, look = numbers(data)
    every = []
    for k in np.unique(look):
        a, b = (side[:, ~np.isnan(side[0])] for side in u[:, :, look <= k].swapaxes(0, 1))
        if min(a.shape[1], b.shape[1]) > 1:
            every.append(stats.ttest_ind(a, b, axis=1, equal_var=False).pvalue)
    return np.array(every)


def compared(data, *, rng=None):
    """The test of this package, two tests that look once at the end, and one at each look without a correction."""
    n_looks, by_look = int(data["look"].max()), welch_by_look(data)
    found = {
        "sequential": last(sequential(data, n_looks, rng)).squeeze("pair", drop=True),
        "permutation once": permuted(data, rng),
        "Welch t once": labelled(by_look[-1]),
        "Welch t at each look": labelled(by_look.min(axis=0)),
    }
    return {row: found[row] for row in ROWS}


def powerful(data, *, rng=None):
    """A true difference: shown by the last look, and by one look at the end."""
    return {row: p for row, p in compared(data, rng=rng).items() if row != ROWS[-1]}


def dropped(data, *, n_equal, rng=None):
    """The least adjusted p of the pairs without a difference; algorithms end when all their pairs are decided."""
    n_looks, so_far = int(data["look"].max()), data
    for k in range(1, n_looks + 1):
        done = so_far.isel(run=(data["look"] <= k).to_numpy())
        found = sequential(done, n_looks, rng)
        is_open = last(found, "pvalue_adjusted") > ALPHA + 1e-12
        takes_part = (found["algorithm"] == found["algorithm_a"]) | (found["algorithm"] == found["algorithm_b"])
        so_far = so_far.where((is_open & takes_part).any("pair") | (data["look"] <= k))
    names = found["algorithm"].to_numpy()[-n_equal:]
    equal = found["algorithm_a"].isin(names) & found["algorithm_b"].isin(names)
    return {"any pair without a difference": last(found, "pvalue_adjusted").where(equal).min("pair")}


def together(data, *, rng=None):
    """All tasks together."""
    p = last(sequential(data, int(data["look"].max()), rng, task="task"))
    return {"sequential": p.squeeze("pair", drop=True)}


def replanned(data, *, rng=None):
    """What no p-value stands for: the number of looks chosen when results are known."""
    n_looks = int(data["look"].max())

    def at(k, planned):
        done = data.isel(run=(data["look"] <= k).to_numpy())
        return last(sequential(done, planned, rng)).squeeze("pair", drop=True)

    last_of = [at(k, k) for k in range(1, n_looks + 1)]
    planned, hopeful = at(n_looks - 1, n_looks - 1), at(n_looks, n_looks)
    return {
        "as planned": at(n_looks, n_looks),
        "each look as if it were the last": xr.concat(last_of, "k").min("k"),
        "one look more where p is .05 to .2": xr.where((planned > ALPHA) & (planned <= 0.2), hopeful, planned),
    }


def _level(setting, claims, *, short=150, family="Sequential tests", **options):
    every = dict(zip(ROWS, claims, strict=True))
    return Simulation(
        family,
        setting,
        partial(runs, **options),
        compared,
        every,
        short=short,
        block=BLOCK,
    )


def _power(name, d, least):
    generator = partial(runs, sizes=LOOKS[name], shifts=(d, 0.0))
    claims = dict(zip(ROWS[:-1], (near(*each) for each in least), strict=True))
    return Simulation(
        "Sequential tests, power",
        f"{name}, d = {d:g}",
        generator,
        powerful,
        claims,
        150,
        block=BLOCK,
    )


# never above; what is left is the discreteness of early looks
BY_EXCHANGE = near(0.04, 0.05)
UNLIKE, ONCE = near(0.035, 0.07), near(0.035, 0.06)
LOOKS = {"5×6": (5,) * 6, "5, 3, 2": (5, 3, 2), "1×10": (1,) * 10, "3×8": (3,) * 8}

SIMULATIONS = [
    *(
        _level(
            f"{name}, {what}",
            (
                BY_EXCHANGE if "spread" not in options else UNLIKE,
                EXACT if "spread" not in options else ONCE,
                near(0.0, 0.02) if "drift" in options else ONCE,
                near(0.03, 0.12) if "drift" in options else fails(0.06),
            ),
            sizes=sizes,
            **options,
        )
        for name, sizes in LOOKS.items()
        for what, options in (
            ("equal", {}),
            ("sd 4 v 1", {"spread": (4.0, 1.0)}),
            ("drift", {"drift": 1.0}),
            *([("skewed", {"skewed": True})] if name == "5×6" else []),
        )
    ),
    _level(
        "6 v 3 three times, sd 4 v 1",
        (UNLIKE, ONCE, ONCE, fails(0.06)),
        sizes=((6, 3),) * 3,
        spread=(4.0, 1.0),
    ),
    _level(
        "6 v 3 three times, sd 1 v 4",
        (fails(0.07), fails(0.055), ONCE, fails(0.06)),
        sizes=((6, 3),) * 3,
        spread=(1.0, 4.0),
    ),
    *(
        Simulation(
            "Sequential tests of several algorithms",
            f"{len(shifts)} algorithms, {len(shifts) - n_equal} above, 5×{n_looks}",
            partial(runs, sizes=(5,) * n_looks, shifts=shifts),
            partial(dropped, n_equal=n_equal),
            {"any pair without a difference": AT_MOST},
            short=short,
            block=BLOCK,
        )
        for shifts, n_equal, n_looks, short in (
            ((0.0, 0.0, 0.0), 3, 6, 50),
            ((1.5, 0.0, 0.0), 2, 6, 50),
            ((0.0,) * 5, 5, 3, 50),
            ((2.5, 2.5, 0.0, 0.0, 0.0), 3, 3, 50),
        )
    ),
    *(
        _power(name, d, (sequentially, once, once))
        for name, d, sequentially, once in (
            ("5×6", 0.8, (0.80, 0.84), (0.84, 0.87)),
            ("5×6", 1.2, (0.985, 1.0), (0.985, 1.0)),
            ("3×8", 0.8, (0.71, 0.75), (0.74, 0.785)),
            ("3×8", 1.2, (0.965, 0.985), (0.97, 0.99)),
        )
    ),
    _level(
        "2, 1, 3 v 4, 3, 5, sd 4 v 1",
        (fails(0.11), near(0.07, 0.105), near(0.05, 0.07), fails(0.06)),
        sizes=((2, 4), (1, 3), (3, 5)),
        spread=(4.0, 1.0),
        family="Sequential tests of few and unlike runs",
    ),
    *(
        Simulation(
            "Sequential tests of exponential runs, sd 4 v 1",
            name,
            partial(runs, sizes=LOOKS[name], spread=(4.0, 1.0), exponential=True),
            compared,
            {
                ROWS[0]: fails(0.08),
                ROWS[1]: fails(0.06),
                ROWS[2]: fails(0.06),
                ROWS[3]: fails(0.1),
            },
            short=150,
            full=2_000,
            block=BLOCK,
        )
        for name in ("5×6", "3×8")
    ),
    Simulation(
        "Sequential tests of several tasks",
        "10 tasks, one run a batch, 1×6",
        partial(runs, sizes=(1,) * 6, n_tasks=10),
        together,
        {"sequential": BY_EXCHANGE},
        short=100,
        block=BLOCK,
    ),
    Simulation(
        "Looks that are not planned",
        "5×6, equal",
        partial(runs, sizes=(5,) * 6),
        replanned,
        {
            "as planned": BY_EXCHANGE,
            "each look as if it were the last": fails(0.08),
            "one look more where p is .05 to .2": fails(0.055),
        },
        short=100,
        block=BLOCK,
    ),
]
