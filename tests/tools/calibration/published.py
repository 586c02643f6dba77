"""Claims over tasks whose differences are those of published curves: tasks drawn anew from TD-MPC2's 104.

Scores are means over training, returns in thousands or shares of successes, and over the three seeds of a task.
"""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import pandas as pd
from scipy import stats

from calibration.across import mean_differences, numbers_of
from calibration.claims import AT_MOST, Simulation, labelled, missed, near, outside
from places import SHARED

FILE = SHARED / "data" / "tdmpc2_results.csv.gz"
SKEWED = 1.5


@cache
def scores():
    """The mean score of four algorithms, shape (algorithm, task)."""
    frame = pd.read_csv(FILE).query("algorithm != 'tdmpc2-pixels'")
    frame = frame.drop_duplicates(["task", "algorithm", "seed", "step"], keep="last")
    frame["score"] = (frame["reward"] / 1000).fillna(frame["success"])
    of_seeds = frame.groupby(["algorithm", "task", "seed"])["score"].mean()
    return of_seeds.groupby(["algorithm", "task"]).mean().unstack("task").to_numpy()


def drawn(n_datasets, *, n_tasks, rng):
    """Two of the algorithms on tasks drawn with replacement, beside their true difference, the mean of all tasks."""
    known = scores()
    pairs = rng.permuted(np.tile(np.arange(len(known)), (n_datasets, 1)), axis=1)[:, :2]
    tasks = rng.integers(known.shape[1], size=(n_datasets, n_tasks, 1))
    first, second = known.mean(axis=1)[pairs].T
    values = known[pairs[:, np.newaxis], tasks][..., np.newaxis, np.newaxis]
    coords = {
        "task": np.arange(n_tasks),
        "algorithm": ["a", "b"],
        "run": [0],
        "training": [1.0],
    }
    return labelled(values, **coords).assign_coords(true=("replication", first - second))


def over_tasks(data, *, rng=None):
    """Whether the interval of the mean difference misses, by the skewness of the differences, and on which side."""
    interval, true = mean_differences(data, rng), data.true.drop_vars("true")
    skewness = true.copy(data=stats.skew(numbers_of(data)[2], axis=1))
    p, skewed = missed(interval, true), abs(skewness) > SKEWED
    end = interval.sel(ci_bound="lower", drop=True).where(skewness > 0, interval.sel(ci_bound="upper", drop=True))
    other_side = outside((end - true) * np.sign(skewness) > 0)
    return {
        "all": p,
        f"skewness up to {SKEWED}": p.where(~skewed),
        f"skewness beyond {SKEWED}": p.where(skewed),
        "the same, on the side not said": other_side.where(skewed),
    }


SIMULATIONS = [
    Simulation(
        "Across tasks, differences of published curves",
        f"{n_tasks} of 104 tasks",
        partial(drawn, n_tasks=n_tasks),
        over_tasks,
        {
            "all": near(0.01, 0.08),
            f"skewness up to {SKEWED}": near(0.01, 0.08),
            f"skewness beyond {SKEWED}": near(0.05, 0.25),
            "the same, on the side not said": AT_MOST,
        },
        short=200,
        data=FILE,
    )
    for n_tasks in (10, 26)
]
