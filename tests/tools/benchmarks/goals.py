"""What each method should reach, measured in processor time beside its peers: `python tests/tools/benchmarks/goals.py`.

In every round each contender of a goal has its turn; a run takes the best of its rounds, and the ratio of the best. Of
three runs the smallest, middle and largest ratio are printed. Processor time is that of all threads; BLAS has one.
`--write` puts the rows into docs/benchmarks.md; words as arguments choose the goals whose names contain one of them,
and the other rows stay.
"""

from __future__ import annotations

import os

# before numpy
os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import gc
import platform
import sys
import time
import warnings
from collections.abc import Callable
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[3] / "notebooks"))

import plain_chess
import plain_pendulum
from benchmarks import (
    distributions,
    evaluations,
    frames,
    learning,
    profiles,
    programs,
    scaling,
    simulation,
    workloads,
)
from benchmarks.workloads import WORKLOADS, Workload
from experiments import endgames
from places import ROOT
from xcurves import archive, tutorial
from xcurves.kernels.distributions import ecdf

PAGE = ROOT / "docs" / "benchmarks.md"
MARKS = "<!-- goals -->\n", "<!-- end of goals -->\n"
# of a goal in a run: at most so many rounds, and about so many seconds
RUNS, ROUNDS, SECONDS = (3, 15, 5)


class Goal(NamedTuple):
    """One line of the table.

    Attributes
    ----------
    name : str
    ours, peer : callable
        The same work; without a peer, the aim is in seconds.
    aim : float
        The smallest ratio of the peer's time by ours, or the largest number of seconds.
    scale : float
        How often the peer's part has to be done for the whole.
    unit : str
        Without a peer: "s", or "MB" of a call that returns them.
    """

    name: str
    ours: Callable[[], Any]
    peer: Callable[[], Any] | None
    aim: float
    scale: float = 1.0
    unit: str = "s"


@cache
def curves(n_tasks: int, n_algorithms: int, n_runs: int, n_levels: int) -> xr.DataArray:
    """Return curves of tasks; without the dim of a single one."""
    return Workload("", n_algorithms, n_runs, n_levels, None, 1, n_tasks).curves


def anova_goals() -> list[Goal]:
    """Return the goals of fixed costs and of many runs."""
    three, twenty = curves(1, 3, 10, 8), curves(20, 2, 10, 100)
    few, many = curves(1, 2, 2_000, 8), curves(1, 2, 4_000, 8)
    long, longer = curves(1, 5, 10, 1_000), curves(1, 5, 10, 2_000)
    random = {"n_resamples": 1_000, "rng": 0}
    of_peers = []
    for (name, peer), aim in GOALS_OF_PEERS.items():
        part, scale = workloads.job(peer, WORKLOADS[name])
        ours = partial(workloads.call, WORKLOADS[name])
        of_peers.append(Goal(f"`randomized_anova`, {name}: {peer}", ours, part, aim, scale))
    return [
        *of_peers,
        Goal(
            "`pairwise` of 3 algorithms, 10 runs, 8 levels, 1,000",
            partial(three.curves.pairwise, **random),
            None,
            8e-3,
        ),
        Goal(
            "`pairwise` of 20 tasks of 10 v 10: `randomized_anova` of these, exact",
            partial(twenty.curves.pairwise, rng=0),
            partial(twenty.curves.randomized_anova, rng=0),
            0.5,
        ),
        Goal(
            "`randomized_anova` of 2 × 2,000 runs, 8 levels: the same of 2 × 4,000",
            partial(few.curves.randomized_anova, **random),
            partial(many.curves.randomized_anova, **random),
            0.0,
        ),
        Goal(
            "`randomized_anova` of 5 × 10 × 1,000, 9,999: the same of 2,000 levels",
            partial(long.curves.randomized_anova, rng=0),
            partial(longer.curves.randomized_anova, rng=0),
            0.0,
        ),
    ]


PAPER, EXACT, LONG, LARGE, TASKS = WORKLOADS
GOALS_OF_PEERS = {
    (PAPER, "scipy default"): 1.0,
    (EXACT, "scipy default"): 100.0,
    (EXACT, "scipy gram"): 0.0,
    (EXACT, "scikit-bio"): 0.0,
    (EXACT, "statsmodels"): 0.0,
    (LONG, "scikit-bio"): 0.0,
    (LARGE, "scikit-bio"): 6.0,
    (TASKS, "scipy means"): 0.0,
}


def profile_goals() -> list[Goal]:
    """Return the goals of profiles."""
    large, usual = curves(1, 10, 30, 1_000), profiles.make_curves(5, 10, 1_000)
    long = profiles.make_curves(4, 10, 1_000_000)
    return [
        Goal(
            "`ss_profile` of 10 × 30 × 1,000, 9,999",
            partial(large.curves.ss_profile, rng=0),
            None,
            4.9 / 3,
        ),
        Goal(
            "`ss_profile` of 5 × 10 × 1,000, 1,000: mne, clusters alone",
            partial(profiles.infer, usual),
            partial(profiles.mne_clusters, usual),
            10.0,
        ),
        Goal(
            "`ss_profile` of 4 × 10 × 1,000,000 without inference: `numpy.sum`",
            partial(profiles.alone, long),
            long.to_numpy().sum,
            0.25,
        ),
    ]


def distribution_goals() -> list[Goal]:
    """Return the goals of large samples. Ours makes quantiles, statistics and all intervals too."""
    trials = distributions.trials()
    ours = partial(distributions.describe, trials)
    peers = {
        "statsmodels `ECDF`": (distributions.statsmodels_cdf, 1.5),
        "`scipy.stats.ecdf`": (distributions.scipy_cdf, 8.0),
        "statsmodels `ECDF` and its inverse": (distributions.statsmodels_both, 4.0),
        "`np.sort` alone": (lambda scores: np.sort(scores.to_numpy()), 0.0),
    }
    return [
        Goal(
            f"`performance_cdf` of 2 × 3,000,000: {name}",
            ours,
            partial(peer, trials),
            aim,
        )
        for name, (peer, aim) in peers.items()
    ]


def benchmark_goals() -> list[Goal]:
    """Return the goals of a whole benchmark. Ours makes all other statistics too."""
    scores = distributions.benchmark_scores()
    return [
        Goal(
            "profiles of 5 × 26 × 10 with bands, 50,000: rliable",
            partial(distributions.profile, scores),
            partial(distributions.rliable_profile, scores),
            500.0,
            distributions.PROFILE_SHARE,
        ),
        Goal(
            "IQM of 26 × 10 with interval, 50,000: rliable",
            partial(distributions.aggregate, scores),
            partial(distributions.rliable_iqm, scores),
            20.0,
            distributions.IQM_SHARE,
        ),
    ]


def band_goals() -> list[Goal]:
    """Return the goals of many levels, of exact bands that no call has made yet, and of tuning curves."""

    def of_levels() -> xr.Dataset:
        return curves(1, 2, 10, 100_000).curves.performance_cdf()

    def band(n: int) -> None:
        ecdf.local_level.cache_clear()
        ecdf.local_level(n, 0.05)

    def simulated() -> None:
        from opda import nonparametric

        nonparametric._ld_band_weights.cache_clear()
        sample = np.arange(200.0)
        nonparametric.EmpiricalDistribution.confidence_bands(sample, 0.95, method="ld_equal_tailed", n_jobs=1)

    draws = distributions.trials(1_000)
    return [
        Goal("`performance_cdf` of 2 × 10 × 100,000 levels", of_levels, None, 5.0),
        Goal(
            "exact band of 200 trials: opda, `ld_equal_tailed`",
            partial(band, 200),
            simulated,
            8.0,
        ),
        Goal("exact band of 1,000 trials", partial(band, 1_000), None, 8.0),
        Goal("exact band of 20,000 trials", partial(band, 20_000), None, 0.0),
        Goal(
            "`tuning_curve` of 2 × 1,000, k to 100",
            partial(draws.curves.tuning_curve, n_trials=100),
            None,
            0.2,
        ),
    ]


def frame_goals() -> list[Goal]:
    """Return the goals of ragged runs; ours checks labels, order and repeated rows too."""
    frame = frames.make_frame(250)
    ten_million = cache(partial(frames.make_frame, 1_667))
    return [
        Goal(
            "1.5 million rows of frames to arrays: `groupby` and `np.interp`",
            partial(frames.by_xcurves, frame),
            partial(frames.by_loop, frame),
            1.0,
        ),
        Goal(
            "10 million rows of frames to arrays",
            lambda: frames.by_xcurves(ten_million()),
            None,
            3.0,
        ),
    ]


def learning_goals() -> list[Goal]:
    """Return the goals of fits; ours makes covariances, intervals and the backtest too."""
    errors = learning.make_curves()
    peers = {
        "curve_fit": ("`curve_fit` in a loop", 100.0),
        "curve_fit bounded": ("`curve_fit` with −0.99 ≤ γ ≤ −0.01", 100.0),
        "xarray curvefit": ("`DataArray.curvefit`", 1_000.0),
    }
    return [
        Goal(
            f"`fit_power_law` of 1,000 curves: {title}",
            partial(learning.call, errors),
            partial(learning.PEERS[name], errors[: learning.PEERS_DO[name]]),
            aim,
            len(errors) / learning.PEERS_DO[name],
        )
        for name, (title, aim) in peers.items()
    ]


def scaling_goals() -> list[Goal]:
    """Return the goals of scaling laws; ours makes covariances, intervals and the backtest too."""
    many, one = scaling.runs(100, 6, 10), scaling.runs()
    return [
        Goal(
            "`fit_scaling_law` of 100 laws of 60 runs",
            partial(scaling.call, many),
            None,
            2.0,
        ),
        Goal("`fit_scaling_law` of 240 runs", partial(scaling.call, one), None, 0.15),
        Goal(
            "`fit_scaling_law` of 240 runs, delta=0.001: SciPy's BFGS from Epoch's 4,500 starts",
            partial(scaling.call, one, delta=scaling.DELTA),
            partial(scaling.from_starts, one),
            400.0,
            len(scaling.STARTS) / len(scaling.SOME),
        ),
    ]


def task_goals() -> list[Goal]:
    """Return the goals of many tasks, and of looks."""
    tasks = curves(60, 5, 10, 200)
    nested = curves(1, 5, 30, 20).assign_coords(look=("run", np.repeat(np.arange(1, 7), 5)))
    looks = partial(nested.curves.sequential, n_looks=6, n_resamples=10_000, rng=0)
    sooner = partial(
        curves(20, 5, 10, 200).curves.speedup,
        reference="algorithm 0",
        task="task",
        rng=0,
    )
    bundled = partial(tutorial.open_dataset("benchmark")["accuracy"].curves.across_tasks, rng=0)
    return [
        Goal(
            "`across_tasks`, 60 × 5 × 10 × 200",
            partial(tasks.curves.across_tasks, rng=0),
            None,
            1.0,
        ),
        Goal(
            "`profile_across_tasks` of the same",
            partial(tasks.curves.profile_across_tasks, rng=0),
            None,
            2.0,
        ),
        Goal(
            "`sequential`, 10,000 nested assignments, 6 looks, 10 pairs",
            looks,
            None,
            1.0,
        ),
        Goal("`speedup` over tasks, 20 × 5 × 10 × 200", sooner, None, 1.0),
        Goal(
            "`sequential` of 2 × 100 runs, 100 looks",
            partial(looked_at, 2, 100, 1, 100),
            None,
            10.0,
        ),
        Goal(
            "`sequential` of 10 × 50 × 100, 10 looks",
            partial(looked_at, 10, 50, 100, 10),
            None,
            8.0,
        ),
        Goal(
            "`across_tasks`, 200 × 5 × 10 × 1",
            lambda: curves(200, 5, 10, 1).curves.across_tasks(rng=0),
            None,
            5.0,
        ),
        Goal(
            "`across_tasks`, 1,000 × 5 × 10 × 10",
            lambda: curves(1_000, 5, 10, 10).curves.across_tasks(rng=0),
            None,
            25.0,
        ),
        Goal(
            "`across_tasks`, 10 × 2 × 2,000 × 1",
            lambda: curves(10, 2, 2_000, 1).curves.across_tasks(rng=0),
            None,
            6.0,
        ),
        Goal("`across_tasks` of the bundled benchmark", bundled, None, 0.5),
        Goal(
            "`ss_profile` of 2 × 5 × 1,000,000",
            lambda: curves(1, 2, 5, 1_000_000).curves.ss_profile(rng=0),
            None,
            10.0,
        ),
    ]


def item_goals() -> list[Goal]:
    """Return the goals of items of evaluations."""
    goals = []
    for name, items, aim, most in (
        ("100 × 10,000 of 0 and 1", {"n_algorithms": 100, "n_items": 10_000}, 3.0, 300.0),
        ("100 × 10,000 points", {"n_algorithms": 100, "n_items": 10_000, "points": True}, 4.0, 300.0),
        ("100 × 10,000, ten with gaps", {"n_algorithms": 100, "n_items": 10_000, "gaps": 10}, 8.0, None),
        ("20 × 2,000", {"n_algorithms": 20, "n_items": 2_000}, 0.4, None),
        ("10 × 1,000 × 5 answers", {"n_algorithms": 10, "n_items": 1_000, "n_answers": 5}, 0.5, None),
        ("181 × 41 points", {"n_algorithms": 181, "n_items": 41, "points": True}, 5.0, None),
        ("65 × 115,000", {"n_algorithms": 65, "n_items": 115_000}, 25.0, 1_500.0),
    ):
        compare = partial(_compare_items, items)
        goals.append(Goal(f"items: `across_tasks`, {name}", compare, None, aim))
        if most is not None:
            memory = partial(evaluations.peak_memory, items)
            goals.append(Goal(f"items: memory of `across_tasks`, {name}", memory, None, most, unit="MB"))
        if name in EVALSTATS_DOES:
            n_some = EVALSTATS_DOES[name]
            peer = partial(evaluations.by_evalstats, **items | {"n_algorithms": n_some})
            scale = _n_pairs(items["n_algorithms"]) / _n_pairs(n_some)
            goals.append(Goal(f"items: `across_tasks`, {name}: evalstats", compare, peer, 0.0, scale))
    trained = evaluations.checkpoints(3, 1_000, 10).curves
    more = {
        **_shown_items("20 × 2,000", 20, 2_000),
        **_shown_items("100 × 10,000 of 0 and 1", 100, 10_000),
        **_shown_items("181 × 41 points", 181, 41, points=True),
        "items: `profile_across_tasks`, 3 × 1,000 × 10 checkpoints": (
            partial(trained.profile_across_tasks, task="item", rng=0),
            2.0,
        ),
        "items: `across_tasks`, 3 × 1,000 × the last of 10 checkpoints": (
            partial(trained.across_tasks, task="item", training_weights="final", rng=0),
            2.0,
        ),
        "items: `sequential` of 2 × 1,000 × 8 answers, 8 looks": (_items_looked_at, 30.0),
        "items: `runs_needed` of 2 × 200 × 3 answers": (_items_planned, 30.0),
    }
    return [*goals, *(Goal(name, call, None, aim) for name, (call, aim) in more.items())]


def _shown_items(name: str, *sizes: int, **options: bool) -> dict[str, tuple[Callable[[], Any], float]]:
    """Return what a reader sees of a comparison, with the seconds that it may take."""
    return {
        f"items: sentences, table, picture of {name}": (partial(evaluations.show, *sizes, **options), 3.0),
        f"items: page of {name}": (partial(evaluations.write_page, *sizes, **options), 3.0),
    }


# of how many algorithms the peer compares the pairs; its time is that of all pairs, in proportion
EVALSTATS_DOES = {
    "100 × 10,000 of 0 and 1": 3,
    "20 × 2,000": 8,
    "10 × 1,000 × 5 answers": 10,
    "181 × 41 points": 12,
}


def _n_pairs(n_algorithms: int) -> int:
    return n_algorithms * (n_algorithms - 1) // 2


def _items_looked_at() -> xr.Dataset:
    items = evaluations.make_items(2, 1_000, 8)
    return items.assign_coords(look=("run", np.arange(1, 9))).curves.sequential(task="item", n_looks=8, rng=0)


def _items_planned() -> xr.Dataset:
    items = evaluations.make_items(2, 200, 3).rename(item="task")
    return items.curves.runs_needed(test="across_tasks", rng=0)


def _compare_items(items: dict[str, Any]) -> xr.Dataset:
    return evaluations.compare(evaluations.make_items(**items))


def plan_goals() -> list[Goal]:
    """Return the goals of numbers of runs to plan for."""
    pilots, tasks = (
        curves(1, 2, 10, 201),
        tutorial.open_dataset("benchmark")["accuracy"].isel(algorithm=slice(2)),
    )
    return [
        Goal(
            "`runs_needed` of 2 × 10 × 201 levels",
            partial(pilots.curves.runs_needed, rng=0),
            None,
            6.0,
        ),
        Goal(
            "`runs_needed` over 16 tasks of 2 × 5",
            partial(tasks.curves.runs_needed, test="across_tasks", rng=0),
            None,
            30.0,
        ),
    ]


def looked_at(n_algorithms: int, n_runs: int, n_levels: int, n_looks: int) -> xr.Dataset:
    """Look at the same number of runs again and again, until all have been run."""
    nested = curves(1, n_algorithms, n_runs, n_levels)
    look = np.repeat(np.arange(1, n_looks + 1), n_runs // n_looks)
    return nested.assign_coords(look=("run", look)).curves.sequential(n_looks=n_looks, rng=0)


def experiment_goals() -> list[Goal]:
    """Return the goals of experiments beside plain Python; `dse` saves each trial, which the loop does not."""

    def kept() -> None:
        with TemporaryDirectory() as folder:
            programs.kept_trials(Path(folder) / "trials")

    n_learners, n_swings = programs.N_LEARNERS, programs.N_SWINGS
    return [
        Goal(
            "`dse`, 1,000 trials: a loop that saves nothing",
            kept,
            programs.plain_trials,
            1.0,
        ),
        Goal(
            "king and rook against king, all positions: plain Python",
            endgames.depths,
            plain_chess.plain_depths,
            0.0,
        ),
        Goal(
            "tic-tac-toe, 300 learners of 200 games: plain Python",
            programs.learners,
            partial(programs.plain_learner, 0.1, 0),
            0.0,
            n_learners,
        ),
        Goal(
            "pendulum, an episode of 100 learners: plain Python",
            programs.swings,
            partial(plain_pendulum.plain_episode, 0),
            0.0,
            n_swings,
        ),
    ]


def simulation_goals() -> list[Goal]:
    """Return the goal of error rates."""
    name = "rates of rejections of 1,000 data sets, 2 × 20 × 8, 399: a loop over data sets"
    return [
        Goal(
            name,
            partial(simulation.by_study, 1_000),
            partial(simulation.by_loop, 50),
            0.0,
            20,
        )
    ]


def archive_goals() -> list[Goal]:
    """Return the goal of an archive: ours makes its digest, and reads names, attributes and text back."""
    scores = curves(10, 5, 20, 1_000).to_dataset()

    def in_folder(write: Callable[[Path], Any]) -> None:
        with TemporaryDirectory() as folder:
            write(Path(folder) / "curves.nc")

    ours, peer = partial(archive.write, scores), scores.to_netcdf
    return [
        Goal(
            "`archive.write` of 8 MB: `to_netcdf`",
            partial(in_folder, ours),
            partial(in_folder, peer),
            0.4,
        )
    ]


FAMILIES = (
    anova_goals, profile_goals, distribution_goals, benchmark_goals, band_goals, frame_goals, learning_goals,
    scaling_goals, task_goals, item_goals, plan_goals, simulation_goals, experiment_goals, archive_goals,
)  # fmt: skip


def measure(goal: Goal) -> np.ndarray:
    """Return the ratio (peer by ours), or our seconds or megabytes, of each run."""
    if goal.unit != "s":
        return np.array([goal.ours() for _ in range(RUNS)])
    contenders = [goal.ours, goal.peer] if goal.peer else [goal.ours]
    for contender in contenders:
        contender()
    once = sum(_seconds(contender) for contender in contenders)
    rounds = int(np.clip(SECONDS / once, 1, ROUNDS))
    times = np.array([[[_seconds(each) for each in contenders] for _ in range(rounds)] for _ in range(RUNS)]).min(
        axis=1
    )
    return times[:, 1] * goal.scale / times[:, 0] if goal.peer else times[:, 0]


def _seconds(contender: Callable[[], Any]) -> float:
    """Return the processor time of a call, with the garbage collector off as in `timeit`."""
    gc.collect()
    gc.disable()
    try:
        start = time.process_time()
        contender()
        return time.process_time() - start
    finally:
        gc.enable()


def row(goal: Goal) -> str:
    """Measure a goal; return its row."""
    try:
        found = measure(goal)
    except ImportError as error:
        return f"| {goal.name} | | not measured: {error} | | | |"
    met = (np.median(found) >= goal.aim) if goal.peer else (np.median(found) <= goal.aim)
    unit = "" if goal.peer else f" {goal.unit}"
    aim = f"{'≥' if goal.peer else '≤'} {show(goal.aim)}{unit}" if goal.aim else "none"
    cells = [goal.name, aim, *(show(each) + unit for each in np.sort(found))]
    return f"| {' | '.join(cells)} | {'' if not goal.aim else 'met' if met else '**not met**'} |"


def show(number: float) -> str:
    """Return two figures, three from 100."""
    return f"{float(f'{number:.2g}' if number < 100 else f'{number:.3g}'):,g}"


def main(*words: str, write: bool = False) -> None:
    """Print the table, row by row, and write it to the page if asked."""
    warnings.simplefilter("ignore")
    lines = [
        "| goal: peer | aim | smallest | middle | largest | |",
        "|---|---|---|---|---|---|",
    ]
    before, rest = PAGE.read_text().split(MARKS[0])
    table, after = rest.split(MARKS[1])
    written = {line.split(" | ")[0]: line for line in table.splitlines()}
    print(*lines, sep="\n")
    for family in FAMILIES:
        for goal in family():
            if not words or any(word in goal.name for word in words):
                lines.append(row(goal))
                print(lines[-1], flush=True)
            elif f"| {goal.name}" in written:
                lines.append(written[f"| {goal.name}"])
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "xarray"))
    print(f"Python {platform.python_version()}, {versions}; {os.cpu_count()} cores")
    if write:
        PAGE.write_text(before + MARKS[0] + "\n".join(lines) + "\n" + MARKS[1] + after)


if __name__ == "__main__":
    main(
        *(word for word in sys.argv[1:] if word != "--write"),
        write="--write" in sys.argv,
    )
