"""Claims of times to a target, speed-ups and performance profiles: intervals hold the true time, ratio and score."""

from __future__ import annotations

from functools import partial

import numpy as np
import xarray as xr

import xcurves
from calibration.claims import (
    AT_MOST,
    Claim,
    Simulation,
    fails,
    labelled,
    missed,
    near,
    outside,
)

LEVELS = np.arange(1, 41) / 40
RATIO = 1.3  # of most settings
TARGET = 0.8
FULL = 2_000


def saturating(speed, u=LEVELS):
    """1 - exp(-3 speed u), which most mean curves are."""
    return 1 - np.exp(-3 * np.multiply.outer(speed, u))


def bent(speed):
    """A curve of another shape: later off, then steeper."""
    return 1 - np.exp(-3 * (speed * LEVELS) ** 1.5)


def waving(speed):
    """A curve that falls behind again after it has reached the target."""
    return saturating(speed) + 0.06 * np.sin(8 * np.pi * LEVELS)


def crossing(curve, level):
    """Where a curve that is linear between its levels first is at a level."""
    after = int(np.argmax(curve >= level))
    return LEVELS[after - 1] + (level - curve[after - 1]) / (curve[after] - curve[after - 1]) / len(LEVELS)


def noisy(rng, mean, n_runs, sd, *, skewed=False, constant=0.5):
    """Runs about mean curves (..., 2, level): an offset, with a `constant` share of the variance, and AR(1) of .7."""
    values = np.full((*mean.shape[:-1], max(n_runs), len(LEVELS)), np.nan)
    for algorithm, (n, spread) in enumerate(zip(n_runs, sd, strict=True)):
        shape = (*mean.shape[:-2], n)
        offset = rng.exponential(size=shape) - 1 if skewed else rng.normal(size=shape)
        along = rng.normal(size=(*shape, len(LEVELS)))
        for level in range(1, len(LEVELS)):
            along[..., level] = 0.7 * along[..., level - 1] + np.sqrt(0.51) * along[..., level]
        noise = np.sqrt(constant) * offset[..., np.newaxis] + np.sqrt(1 - constant) * along
        values[..., algorithm, :n, :] = mean[..., algorithm, np.newaxis, :] + spread * noise
    return values


def two(
    n_datasets,
    *,
    ratio=RATIO,
    shape=saturating,
    sd=(0.05, 0.05),
    n_runs=(5, 5),
    rng,
    **noise,
):
    """A reference b, and a, `ratio` times as fast."""
    mean = np.broadcast_to(np.stack([shape(ratio), saturating(1.0)]), (n_datasets, 2, len(LEVELS)))
    values = noisy(rng, mean, n_runs, sd, **noise)
    return labelled(values, algorithm=["a", "b"], run=np.arange(max(n_runs)), training=LEVELS)


def to_last_level(data, *, ratio, rng=None):
    """The p-values of the true ratio, a being read there alone, and whether the interval misses that ratio.

    By randomization that p is the one of `pairwise`, as tests say, which is faster for many data sets.
    """
    time = crossing(np.append(saturating(ratio), 2.0), saturating(1.0)[-1]) if ratio > 1 else 1.0
    read = data.sel(algorithm=["a"]).interp(training=[time]).assign_coords(training=[1.0])
    there = xr.concat([read, data.sel(algorithm=["b"], training=[1.0])], "algorithm")
    welch, whole = (
        xcurves.speedup(there, reference="b"),
        xcurves.speedup(data, reference="b"),
    )
    dealt = xcurves.pairwise(there, n_resamples=999, rng=rng).pvalue.sel(effect="algorithm")
    return {
        "true ratio rejected, welch": welch.pvalue.isel(algorithm=0, drop=True),
        "true ratio rejected, randomization": dealt.isel(pair=0, drop=True),
        "outside the interval, welch": missed(whole.speedup_ci.isel(algorithm=0, drop=True), 1 / time),
    }


def to_target(data, *, ratio, shape, rng=None):
    """Whether intervals of a time and of a ratio to a target miss them."""
    found = xcurves.speedup(data, reference="b", target=TARGET, rng=rng).isel(algorithm=0, drop=True)
    time = crossing(shape(ratio), TARGET)
    return {
        "time": missed(found.time_ci, time),
        "ratio": missed(found.speedup_ci, crossing(saturating(1.0), TARGET) / time),
    }


def to_most_of_rise(data, *, ratio, shape, rng=None):
    """Whether the interval of the ratio misses it where the reference has 90 % of its rise, and whether it is open."""
    found = xcurves.speedup(data, reference="b", rng=rng).isel(algorithm=0, drop=True)
    base = saturating(1.0)
    level = base[0] + 0.9 * (base[-1] - base[0])
    true = crossing(base, level) / crossing(shape(ratio), level)
    low, high = (found.rise_speedup_ci.sel(ci_bound=bound, drop=True) for bound in ("lower", "upper"))
    return {
        "ratio at 90 % of the rise": missed(found.rise_speedup_ci, true),
        "open at an end there": outside((low == 0) | np.isinf(high)),
        "open at an end at the last level": outside(
            (found.speedup_ci.sel(ci_bound="lower", drop=True) == 0)
            | np.isinf(found.speedup_ci.sel(ci_bound="upper", drop=True))
        ),
    }


def failing(n_datasets, *, n_runs, rng):
    """As `two`, with a tenth of the runs of a that never learn: the truth is about the mean of all."""
    data = two(n_datasets, ratio=2.0, sd=(0.02, 0.02), n_runs=(n_runs, n_runs), rng=rng)
    fails = labelled(
        rng.random((n_datasets, 1, n_runs)) < 0.1,
        algorithm=["a"],
        run=np.arange(n_runs),
    )
    return data.where(~fails.reindex(algorithm=["a", "b"], fill_value=False), 0.0)


def to_target_of_failing(data, *, rng=None):
    """Whether intervals of a time and of a ratio miss those of the mean that holds the failures."""
    found = xcurves.speedup(data, reference="b", target=0.7, rng=rng).isel(algorithm=0, drop=True)
    time = crossing(0.9 * saturating(2.0), 0.7)
    return {
        "time": missed(found.time_ci, time),
        "ratio": missed(found.speedup_ci, crossing(saturating(1.0), 0.7) / time),
    }


def tasks(n_datasets, *, spread, drawn, n_runs=(5, 5), sd=0.03, n_tasks=8, rng, **noise):
    """Tasks whose log ratios spread about that of RATIO: drawn for each data set, or the same in all."""
    z = rng.normal(size=(n_datasets, n_tasks)) if drawn else np.linspace(-1.5, 1.5, n_tasks)
    ratio = RATIO * np.exp(spread * np.broadcast_to(z, (n_datasets, n_tasks)))
    mean = np.stack(
        [
            saturating(ratio),
            np.broadcast_to(saturating(1.0), (*ratio.shape, len(LEVELS))),
        ],
        axis=2,
    )
    coords = {
        "task": np.arange(n_tasks),
        "algorithm": ["a", "b"],
        "run": np.arange(max(n_runs)),
        "training": LEVELS,
    }
    return labelled(noisy(rng, mean, n_runs, (sd, sd), **noise), **coords)


def over_tasks(data, *, claim, target=TARGET, rng=None):
    """Whether the interval of a claim misses the geometric mean."""
    found = xcurves.speedup(data, reference="b", target=target, task="task", rng=rng).isel(algorithm=0, drop=True)
    return {"geometric mean": missed(found.speedup_ci.sel(task_effect=claim, drop=True), RATIO)}


ALGORITHMS = np.linspace(0.0, 0.75, 6)  # log times of six algorithms
PROFILED = {"score of the best": 0, "score of the third": 2, "score of the last": 5}


def areas(log_times):
    """The share of each task in the score of each algorithm, from log times (..., task, algorithm)."""
    ratio = np.exp(log_times - log_times.min(axis=-1, keepdims=True))
    return np.maximum(0.0, (4 - ratio) / 3)


def log_times(rng, *shape):
    """Algorithms in tasks that suit them more or less."""
    return ALGORITHMS + 0.4 * rng.normal(size=(*shape, len(ALGORITHMS)))


EIGHT = log_times(np.random.default_rng(11), 8)
SCORES = {
    "fixed": areas(EIGHT).mean(axis=0),
    "random": areas(log_times(np.random.default_rng(12), 2**20)).mean(axis=0),
}


def studies(n_datasets, *, claim, sd, n_studies, rng):
    """Times of studies about those of eight tasks: the same in all data sets, or drawn."""
    centre = np.broadcast_to(EIGHT, (n_datasets, *EIGHT.shape)) if claim == "fixed" else log_times(rng, n_datasets, 8)
    values = np.exp(centre[..., np.newaxis] + sd * rng.normal(size=(*centre.shape, n_studies)))
    return labelled(values, task=np.arange(8), algorithm=list("abcdef"), run=np.arange(n_studies))


def profiled(data, *, claim, rng=None):
    """Whether intervals of scores miss what runs without noise have, in these tasks or in all."""
    found = xcurves.performance_profile(data, rng=rng).score_ci.sel(task_effect=claim, drop=True)
    return {
        row: missed(found.isel(algorithm=place, drop=True), SCORES[claim][place]) for row, place in PROFILED.items()
    }


def about(least, most=None, error=0.005):
    """A rate that earlier simulations of 2,000 data sets, of which this is the error, found between two numbers."""
    return near(max(0.0, least - error), (least if most is None else most) + error)


def up_to(rate):
    """A rate that is at most what earlier simulations found: data sets differ in what leaves an interval open."""
    return near(0.0, about(rate).most)


NONE = near(0.0, 0.0)  # of 20 deals no p-value is small enough


def _last(setting, welch, randomization, *, ratio=RATIO, **options):
    rows = (
        "true ratio rejected, welch",
        "true ratio rejected, randomization",
        "outside the interval, welch",
    )
    return Simulation(
        "Speed-up to the reference's last level",
        setting,
        partial(two, ratio=ratio, **options),
        partial(to_last_level, ratio=ratio),
        dict(zip(rows, (welch, randomization, welch._replace(least=0.0)), strict=True)),
        short=250,
        full=FULL,
    )


def _target(setting, time, ratio, *, shape=saturating, **options):
    return Simulation(
        "Times and speed-up to a target",
        setting,
        partial(two, shape=shape, **options),
        partial(to_target, ratio=RATIO, shape=shape),
        {"time": time, "ratio": ratio},
        short=250,
        full=FULL,
    )


def _tasks(setting, rate, *, target=TARGET, drawn=False, **options):
    return Simulation(
        "Speed-up over 8 tasks",
        setting,
        partial(tasks, drawn=drawn, **options),
        partial(over_tasks, claim="random" if drawn else "fixed", target=target),
        {"geometric mean": rate},
        short=100,
        full=FULL,
        block=100,
    )


def _profile(setting, claim, rates, *, sd, n_studies=5):
    return Simulation(
        "Scores of performance profiles",
        setting,
        partial(studies, claim=claim, sd=sd, n_studies=n_studies),
        partial(profiled, claim=claim),
        dict.fromkeys(PROFILED, rates),
        short=100,
        full=FULL,
        block=100,
    )


def _equal(n, rate):
    return {"n_runs": (n, n), "sd": (rate, rate)}


LAST: dict[int, tuple[Claim, Claim]] = {  # of equal spread, at 1, 1.3 and 2 times as fast
    3: (about(0.031, 0.043), NONE),
    5: (about(0.040, 0.049), about(0.042, 0.052)),
    10: (about(0.048, 0.053), about(0.048, 0.056)),
}
SIMULATIONS = [
    *(
        _last(
            f"{n} v {n}, ratio {ratio:g}, sd {sd:g}",
            *claims,
            ratio=ratio,
            **_equal(n, sd),
        )
        for n, claims in LAST.items()
        for sd in (0.03, 0.08)
        for ratio in (1.0, 1.3, 2.0)
    ),
    *(
        _last(
            f"{n} v {n}, sd .08 v .02",
            about(welch),
            dealt,
            n_runs=(n, n),
            sd=(0.08, 0.02),
        )
        for n, welch, dealt in (
            (3, 0.059, NONE),
            (5, 0.051, about(0.083)),
            (10, 0.053, about(0.070)),
        )
    ),
    *(
        _last(
            f"{n} v {n}, sd .02 v .08",
            about(welch),
            dealt,
            n_runs=(n, n),
            sd=(0.02, 0.08),
        )
        for n, welch, dealt in (
            (3, 0.059, NONE),
            (5, 0.059, about(0.087)),
            (10, 0.051, about(0.068)),
        )
    ),
    *(
        _last(
            f"{n} v {n}, sd .05, exponential offsets",
            *claims,
            n_runs=(n, n),
            skewed=True,
        )
        for n, claims in (
            (3, (about(0.025), NONE)),
            (5, (about(0.026, 0.034), about(0.043, 0.049))),
            (10, (about(0.029, 0.042), about(0.038, 0.047))),
        )
    ),
    _last("4 v 10, sd .05", about(0.056), about(0.051), n_runs=(4, 10)),
    _last("10 v 4, sd .05", about(0.052), about(0.054), n_runs=(10, 4)),
    _last(
        "4 v 10, sd .08 v .02",
        about(0.066),
        about(0.123),
        n_runs=(4, 10),
        sd=(0.08, 0.02),
    ),
    _last(
        "4 v 10, sd .02 v .08",
        about(0.051),
        about(0.033),
        n_runs=(4, 10),
        sd=(0.02, 0.08),
    ),
    *(
        _target(f"{n} v {n}, sd .03", about(time), about(ratio), **_equal(n, 0.03))
        for n, time, ratio in ((3, 0.037, 0.017), (5, 0.042, 0.038), (10, 0.049, 0.040))
    ),
    *(
        _target(
            f"{n} v {n}, sd .03, unlike shapes",
            about(time),
            about(ratio),
            shape=bent,
            **_equal(n, 0.03),
        )
        for n, time, ratio in ((3, 0.036, 0.022), (5, 0.056, 0.047), (10, 0.048, 0.044))
    ),
    *(
        _target(
            f"{n} v {n}, sd .08, unlike shapes",
            about(time),
            up_to(ratio),
            shape=bent,
            **_equal(n, 0.08),
        )
        for n, time, ratio in ((3, 0.009, 0.009), (5, 0.040, 0.017), (10, 0.054, 0.033))
    ),
    *(
        _target(
            f"{n} v {n}, sd .05, not monotone",
            about(time),
            about(ratio),
            shape=waving,
            **_equal(n, 0.05),
        )
        for n, time, ratio in ((5, 0.046, 0.036), (10, 0.049, 0.037))
    ),
    *(
        _target(
            f"{n} v {n}, sd .05, exponential offsets",
            up_to(time),
            about(ratio),
            n_runs=(n, n),
            skewed=True,
        )
        for n, time, ratio in ((5, 0.098, 0.030), (10, 0.080, 0.045))
    ),
    *(
        _target(
            f"{n} v {n}, sd .05, exponential runs",
            about(time),
            near(0.0, 0.055),
            n_runs=(n, n),
            skewed=True,
            constant=1.0,
        )
        for n, time in ((3, 0.115), (5, 0.116), (10, 0.099))
    ),
    _target(
        "4 v 10, sd .08 v .02",
        up_to(0.034),
        up_to(0.049),
        n_runs=(4, 10),
        sd=(0.08, 0.02),
    ),
    _target(
        "10 v 4, sd .08 v .02",
        about(0.047),
        about(0.044),
        n_runs=(10, 4),
        sd=(0.08, 0.02),
    ),
    *(
        Simulation(
            "Speed-up to the level where the reference had 90 % of its rise",
            f"{n} v {n}, sd {sd:g}, {'unlike' if shape is bent else 'like'} shapes",
            partial(two, shape=shape, **_equal(n, sd)),
            partial(to_most_of_rise, ratio=RATIO, shape=shape),
            {
                "ratio at 90 % of the rise": AT_MOST,
                "open at an end there": there,
                "open at an end at the last level": last,
            },
            short=250,
            full=FULL,
        )
        for shape in (saturating, bent)
        for n, sd, there, last in (
            (5, 0.03, near(0.0, 0.02), near(0.5, 0.85)),
            (10, 0.03, near(0.0, 0.01), near(0.2, 0.6)),
            (10, 0.08, near(0.0, 0.12), near(0.75, 0.95)),
        )
    ),
    *(
        Simulation(
            "Times and speed-up to a target, a tenth of the runs of one algorithm fail",
            f"{n} v {n}",
            partial(failing, n_runs=n),
            to_target_of_failing,
            {"time": fails(least), "ratio": fails(least)},
            short=100,
            full=FULL,
        )
        for n, least in ((3, 0.5), (5, 0.45), (10, 0.25))
    ),
    *(
        _tasks(
            f"these tasks, target, {n} v {m}{how}",
            about(rate),
            spread=0.2,
            n_runs=(n, m),
            skewed=bool(how),
        )
        for n, m, how, rate in (
            (3, 3, "", 0.023),
            (5, 5, "", 0.028),
            (10, 10, "", 0.042),
            (4, 10, "", 0.036),
            (5, 5, ", exponential offsets", 0.029),
        )
    ),
    *(
        _tasks(
            f"these tasks, last level, {n} v {n}, spread {spread:g}",
            up_to(rate),
            target=None,
            spread=spread,
            n_runs=(n, n),
        )
        for n, spread, rate in (
            (3, 0.0, 0.013),
            (3, 0.1, 0.023),
            (5, 0.0, 0.029),
            (5, 0.1, 0.040),
            (10, 0.0, 0.032),
            (10, 0.1, 0.041),
        )
    ),
    _tasks("tasks drawn, target, 5 v 5", about(0.034), spread=0.2, drawn=True),
    _tasks(
        "tasks drawn, target, 5 v 5, sd .06",
        about(0.044),
        spread=0.2,
        drawn=True,
        sd=0.06,
    ),
    _profile("tasks drawn, 5 studies, sd .1", "random", near(0.04, 0.14), sd=0.1),
    _profile("these tasks, 5 studies, sd .1", "fixed", AT_MOST, sd=0.1),
    _profile("these tasks, 5 studies, sd .3", "fixed", near(0.0, 0.16), sd=0.3),
    _profile("these tasks, 3 studies, sd .1", "fixed", near(0.0, 0.11), sd=0.1, n_studies=3),
]
