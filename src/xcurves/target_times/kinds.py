"""The kinds of results about times to a target."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xcurves.core.applicability import NotApplicableError
from xcurves.core.calls import later
from xcurves.core.labels import CI_BOUNDS, EVALUATION
from xcurves.core.scales import SPEED
from xcurves.core.schema import DASHED, JOINED, PAIR_COORDS, Comparison, Drawing, Part, ResultKind, Var, View
from xcurves.multi_task.claims import TASK_CLAIMS, for_tasks_like_these
from xcurves.say.result_frames import captioned, table_of_variables

if TYPE_CHECKING:
    from xcurves.multi_task import plots as task_plots
    from xcurves.target_times import plots, text
else:
    (task_plots,) = later("xcurves.multi_task", "plots")
    plots, text = later("xcurves.target_times", "plots", "text")

_CELL = ("task", "algorithm")
_JOINED = ("task", JOINED, "algorithm")  # of each task where tasks are joined
_CLAIM = (*_CELL, "task_effect")
_FIELLER = "Fieller (1954), J. R. Stat. Soc. B 16, 175-185, doi:10.1111/j.2517-6161.1954.tb00159.x"
_HARTIGAN = "Hartigan (1969), J. Am. Stat. Assoc. 64, 1303-1317, doi:10.1080/01621459.1969.10501057"
_GAP = "1 where the interval holds values that are rejected"


def _of_runs(cell: tuple[str, ...]) -> dict[str, Var]:
    """Return what is said of the runs of a cell."""
    return {
        "reason": Var(cell, "why there is no estimate", dtype=np.int8),
        "score_best": Var(cell, "best score of any run that is read", "score"),
        "training_last": Var(cell, "last training level that all runs have", "training"),
        "n_runs": Var(cell, "number of runs", dtype=np.int64),
        "n_ended_early": Var(cell, "number of runs that end earlier than others", dtype=np.int64),
    }


def against_reference(curves: xr.DataArray) -> tuple[xr.DataArray, dict[str, Any], dict[str, str]]:
    """Return curves and the algorithm that ``attrs["reference"]`` names, else the first, where there are several."""
    algorithms = curves["algorithm"].to_numpy().tolist()
    if len(algorithms) < 2:
        raise NotApplicableError("there is one algorithm")
    reference = curves.attrs.get("reference", algorithms[0])
    return curves, {"reference": reference}, {}


MEAN_TIME_TO_TARGET = ResultKind(
    name="mean_time_to_target",
    question="When does each mean curve reach the target?",
    argument="curves",
    variables={
        "time": Var(_CELL, "training at which the mean score reaches the target", "training"),
        "time_ci": Var((*_CELL, "ci_bound"), "confidence interval of the time", "training"),
        **_of_runs(_CELL),
    },
    coords={"ci_bound": CI_BOUNDS},
    rows=("algorithm",),
    references=(_FIELLER,),
    method=(
        "The training at which the mean score of an algorithm reaches {target} was read from its mean curve, with the "
        "interval of all levels at which a t test of the mean against the target does not reject.",
        "runs are taken to be independent, their mean to be normally distributed",
    ),
    table=captioned(
        table_of_variables({"time": "time"}, "algorithm"),
        "The training at which the mean curve of each algorithm reaches the target, with its interval.",
    ),
    statements=text.time_statements,
    views={
        "time": View(
            Drawing(picture=plots.times),
            "The training at which each mean curve reaches the target, with its interval; an arrow marks a side that "
            "the curve leaves open, and an open marker at its end a curve that does not reach the target.",
        )
    },
)

SPEEDUP = ResultKind(
    name="speedup",
    question="How much sooner than the reference?",
    argument="curves",
    variables={
        "speedup": Var(_CELL, "time of the reference over that of the algorithm; over tasks the geometric mean"),
        "speedup_ci_simultaneous": Var(
            (*_CLAIM, "ci_bound"), "confidence interval of the speed-up, for all comparisons together"
        ),
        "speedup_ci": Var((*_CLAIM, "ci_bound"), "confidence interval of the speed-up, by itself"),
        "pvalue_adjusted": Var(_CLAIM, "p-value of no speed-up, adjusted over algorithms"),
        "pvalue": Var(_CLAIM, "p-value of no speed-up"),
        "time": Var(_JOINED, "training at which the mean score reaches the level", "training"),
        "time_ci": Var((*_JOINED, "ci_bound"), "confidence interval of that time", "training"),
        "reference_time": Var(("task", JOINED), "training at which the reference has the level", "training"),
        "reference_time_ci": Var(("task", JOINED, "ci_bound"), "confidence interval of that time", "training"),
        "reference_level": Var(("task", JOINED), "score that is to be reached", "score"),
        "reference_falls": Var(("task", JOINED), "1 where the mean of the reference is better before its last level"),
        "rise_speedup": Var(_CELL, "speed-up to the level where the reference had 90 % of its rise", when="last"),
        "rise_speedup_ci": Var(
            (*_CELL, "ci_bound"), "confidence interval of that, for all comparisons together", when="last"
        ),
        "rise_time": Var(_CELL, "training at which the mean score reaches that level", "training", when="last"),
        "rise_reference_time": Var(("task",), "training at which the reference does", "training", when="last"),
        "rise_level": Var(("task",), "score where the reference had 90 % of its rise", "score", when="last"),
        "speedup_gap": Var(_CELL, _GAP, when="each"),
        "mean_curve": Var((*_CELL, EVALUATION), "mean score", "score", when="each"),
        "reference_curve": Var(("task", EVALUATION), "mean score of the reference", "score", when="each"),
        "curve_training": Var(("task", EVALUATION), "training of mean scores", "training", when="each"),
        "median_speedup": Var(_CELL, "median over tasks of speed-ups", when="task"),
        "median_speedup_ci": Var((*_CELL, "ci_bound"), "confidence interval of the median", when="task"),
        "task_speedup": Var(_JOINED, "speed-up in the task", when="task"),
        "task_speedup_ci": Var((*_JOINED, "ci_bound"), "confidence interval in the task", when="task"),
        "task_pvalue": Var(_JOINED, "p-value of no speed-up in the task", when="task"),
        "task_speedup_gap": Var(_JOINED, _GAP, when="task"),
        **_of_runs(_JOINED),
        "n_tasks": Var(_CELL, "number of tasks that say something", dtype=np.int64, when="task"),
        "n_censored": Var(_CELL, "number of those that bound the ratio on one side only", dtype=np.int64, when="task"),
    },
    coords={"task_effect": TASK_CLAIMS, "ci_bound": CI_BOUNDS},
    rows=("algorithm", "task_effect"),
    references=(
        _FIELLER,
        "Satterthwaite (1946), Biometrics Bull. 2, 110-114, doi:10.2307/3002019",
        "Zou & Donner (2008), Stat. Med. 27, 1693-1702, doi:10.1002/sim.3095",
        _HARTIGAN,
    ),
    method=(
        "The speed-up over {reference} is the ratio of the training levels at which mean curves reach a score. Its "
        "interval holds all ratios that Welch's test of the two means does not reject; ratios of times to a "
        "fixed target, and geometric means over given tasks, have their limits combined by root sum of squares, and "
        "claims about tasks like these come from turning the signs of the tasks' log ratios.",
        "runs are taken to be independent; over tasks like these, whole tasks",
    ),
    scores_method="The speed-up over {reference} is the ratio of the median times. Claims about tasks like these come "
    "from turning the signs of the tasks' log ratios.",
    comparison=Comparison(
        estimate="speedup",
        interval="speedup_ci_simultaneous",
        p="pvalue_adjusted",
        noun=text.level_to_reach,
        claims=text.claims_over_tasks,
        direction=lambda _: "higher",
        pair=text.pairs_of_speedups,
        reasons=text.without_speedup,
        more=text.more_of_speedups,
        scale=SPEED,
        column="speedup",
        caption="Speed-ups of algorithms over the reference with their intervals and p for all pairs together, the "
        "time at which the level is reached and how much sooner that is, and the speed-up to the level where the "
        "reference had 90 % of its rise; over tasks for tasks like these and for these.",
        columns=text.columns_of_speedups,
    ),
    part=Part(9, against_reference, on_request=True),
    views={
        "speedup": View(
            Drawing(picture=plots.speedups, title=plots.against),
            "Speed-ups with their intervals, on a logarithmic axis; arrows mark sides that curves leave open. Over "
            "tasks each task stands in a row, diamonds are geometric means: filled for these tasks, open for tasks "
            "like these.",
        ),
        "curves": View(
            Drawing(picture=plots.levels, title=plots.against, suits=plots.has_curves, options=DASHED),
            "Mean curves, the score that is to be reached (dashed), and when each algorithm reaches it, with its "
            "interval; the distance to the large marker, the reference, is the speed-up. Where that is open at an end, "
            "hollow markers say when each reaches the level where the reference had 90 % of its rise (dotted).",
            panels={EVALUATION: inf},
        ),
    },
    overlaid=task_plots.joined_dims,
)


def _of_each_task(var: Var) -> Var:
    """Return a variable of `SPEEDUP` as it is where each task stands by itself."""
    dims = tuple(dim for dim in var.dims if dim not in (JOINED, "task_effect"))
    if var.when == "each":
        return replace(var, dims=dims, when=None)
    return replace(var, dims=dims)


EACH_SPEEDUP = replace(
    SPEEDUP, variables={name: _of_each_task(var) for name, var in SPEEDUP.variables.items() if var.when != "task"}
)

PERFORMANCE_PROFILE = ResultKind(
    name="performance_profile",
    question="How often is each within a factor of the best?",
    argument="times",
    variables={
        "score": Var(_CELL, "mean over tasks of the area under the profile, 1 the best everywhere"),
        "score_ci": Var((*_CLAIM, "ci_bound"), "confidence interval of the score"),
        "share": Var((*_CELL, "tau"), "share of tasks within that factor of the best time"),
        "difference": Var(("task", "pair"), "difference of scores"),
        "difference_ci": Var(("task", "pair", "task_effect", "ci_bound"), "confidence interval of the difference"),
        "difference_ci_simultaneous": Var(
            ("task", "pair", "ci_bound"), "interval of the difference, for tasks like these and all pairs together"
        ),
        "pvalue": Var(("task", "pair"), "p-value of the difference, for tasks like these"),
        "pvalue_adjusted": Var(("task", "pair"), "p-value of the difference, adjusted over pairs"),
        "n_reached": Var(_CELL, "number of tasks that are solved", dtype=np.int64),
        "n_tasks": Var(("task",), "number of tasks", dtype=np.int64),
    },
    coords={"tau": (), "task_effect": TASK_CLAIMS, "ci_bound": CI_BOUNDS, "pair": (), **PAIR_COORDS},
    rows=("algorithm", "task_effect"),
    core=("algorithm", "run"),
    references=(
        "Dolan & Moré (2002), Math. Program. 91, 201-213, doi:10.1007/s101070100263",
        "Dahl et al. (2023), Benchmarking Neural Network Training Algorithms, arXiv:2306.07179",
        _HARTIGAN,
    ),
    method=(
        "Times were compared by performance profiles, the share of tasks in which an algorithm takes at most tau times "
        "as long as the best, and their area up to tau = {tau_max}, with intervals from drawing runs within tasks (for "
        "these tasks) and from turning the signs of tasks (for tasks like these).",
        "whole tasks (for tasks like these), runs within a task (for these tasks)",
    ),
    table=captioned(
        text.score_table,
        "Scores of algorithms by performance profiles with both intervals, for these tasks and for tasks like these, "
        "and the number of tasks solved.",
    ),
    comparison=Comparison(
        estimate="difference",
        interval="difference_ci_simultaneous",
        p="pvalue_adjusted",
        noun=text.profile_score,
        mean="score",
        claims=for_tasks_like_these,
        direction=lambda _: "higher",
        about=text.over_tasks,
        floor=text.too_few_tasks,
        more=text.more_of_profiles,
    ),
    views={
        "profile": View(
            Drawing(picture=plots.profiles, options=DASHED),
            "The share of tasks in which each algorithm takes at most so many times as long as the best of them.",
        )
    },
    overlaid=task_plots.joined_dims,
)
