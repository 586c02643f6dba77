"""The kinds of results of methods over several tasks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import xarray as xr

from xcurves.core.applicability import NotApplicableError, comparable
from xcurves.core.calls import later
from xcurves.core.labels import CI_BOUNDS, QUARTILES, extra_dims
from xcurves.core.schema import (
    ALONG,
    OF_PAIRS,
    PAIR_COORDS,
    Comparison,
    Drawing,
    Part,
    ResultKind,
    Var,
    View,
)
from xcurves.multi_task.claims import TASK_CLAIMS, for_tasks_like_these
from xcurves.say.compared_pairs import mean_score
from xcurves.say.pairs import MOST_LISTED, NAMED_PAIRS, ONE_PAIR, OPEN_ENDS, OVER_TRAINING
from xcurves.say.result_frames import captioned

if TYPE_CHECKING:
    from xcurves.multi_task import (
        about,
        answers_shown,
        next_tasks,
        place_plots,
        plots,
        profile_text,
        tables,
        task_options,
        task_scores,
        text,
        too_few,
    )
else:
    answers_shown, task_options, task_scores = later(
        "xcurves.multi_task", "answers_shown", "task_options", "task_scores"
    )
    about, next_tasks, too_few = later("xcurves.multi_task", "about", "next_tasks", "too_few")
    place_plots, plots, tables = later("xcurves.multi_task", "place_plots", "plots", "tables")
    profile_text, text = later("xcurves.multi_task", "profile_text", "text")

_Made = TypeVar("_Made")
_PAIR = ("task", "pair")
_CLAIM = ("task", "pair", "task_effect")
_TASK = ("task", "pair", "joined_task")
_GROUP = ("task", "pair", "group")
_FRACTION = ("task", "pair", "budget_fraction")
_ALGORITHM = ("task", "algorithm")
_MOST_MEANS = 12  # that one panel shows: means over tasks have narrow bands
_CURVE = ("task", "algorithm", "budget_fraction")
_REFERENCES = (
    "Janssen (1997), Stat. Probab. Lett. 36, 9-21, doi:10.1016/S0167-7152(97)00043-6",
    "Hartigan (1969), J. Am. Stat. Assoc. 64, 1303-1317, doi:10.1080/01621459.1969.10501057",
    "Westfall & Young (1993), Resampling-Based Multiple Testing, Wiley",
)

_OPTIONS = ("n_resamples", "paired", "progress", "reference")
_MOST_DOTS = 1_000  # differences of tasks that a page shows; a vector picture of more is large


def _has_task_differences(result: xr.Dataset) -> bool:
    needed = {"task_difference", "task_difference_quartiles"}
    if not needed <= {*result} or result.sizes["pair"] > MOST_LISTED:
        return False
    return bool(result["task_difference"].size <= _MOST_DOTS)


def _several(result: xr.Dataset) -> bool:
    return result.sizes["algorithm"] > 2  # of two the pair says all


_COMPARED = "Algorithms were compared over tasks by the mean over tasks of the difference of mean scores"
_CLAIMS_TESTED = (
    "There are two claims: for these tasks by reassigning whole runs within each task (p adjusted over pairs by Holm's "
    "step-down procedure), and for tasks like these by turning the signs of the tasks' differences (p adjusted over "
    "pairs by the step-down smallest p). Intervals hold the shifts of a pair that its test does not reject, at a level "
    "divided by the number of pairs. P-values of single tasks were adjusted over tasks within a pair by "
    "{task_correction}."
)


def several_tasks(curves: xr.DataArray, least_levels: int = 1) -> tuple[xr.DataArray, dict[str, Any], dict[str, str]]:
    """Return the curves of the tasks that can be compared, if there is one dim of several tasks."""
    dims = extra_dims(curves)
    if len(dims) != 1 or curves.sizes[dims[0]] < 2:
        raise NotApplicableError("scores are not of several tasks, along one dim", obvious=True)
    # whose tasks would be left out, as those of one algorithm only
    task_options.refuse_strangers(curves, str(dims[0]))
    taken, _, attrs = comparable(curves, least_levels, single_runs=True, least_tasks=2)
    return taken, {"task": str(dims[0])}, attrs


def _of_shown(make: Callable[..., _Made]) -> Callable[..., _Made]:
    """Return what makes sentences, a table or a picture, of a result as it is shown: answers in per cent."""

    @wraps(make)
    def made(result: xr.Dataset, *more: Any) -> _Made:
        return make(_shown(result), *more)

    return made


def _shown(result: xr.Dataset) -> xr.Dataset:
    """Return a result as it is shown: answers in per cent."""
    of_scores = [name for name, var in ACROSS_TASKS.variables.items() if var.units == "score"]
    return answers_shown.as_shown(result, of_scores)


ACROSS_TASKS = ResultKind(
    name="across_tasks",
    question="Which algorithm is better over all tasks?",
    argument="curves",
    variables={
        "difference": Var(_PAIR, "weighted mean over tasks of the difference of mean scores", "score"),
        "difference_ci": Var((*_CLAIM, "ci_bound"), "confidence interval of the mean difference", "score"),
        "difference_ci_simultaneous": Var(
            (*_CLAIM, "ci_bound"),
            "interval of the mean difference, for all pairs together",
            "score",
        ),
        "pvalue_adjusted": Var(_CLAIM, "randomization p-value adjusted over pairs"),
        "pvalue": Var(_CLAIM, "randomization p-value"),
        "pvalue_adjusted_least": Var(_CLAIM, "smallest adjusted p-value that these runs and tasks allow"),
        "score_mean_common": Var(
            _ALGORITHM,
            "weighted mean of mean scores over the tasks of the verdict",
            "score",
        ),
        "score_mean": Var(_ALGORITHM, "weighted mean of mean scores over its own tasks", "score"),
        "score_mean_ci": Var(
            (*_ALGORITHM, "ci_bound"),
            "interval of the mean over its own tasks, for all algorithms together",
            "score",
        ),
        "may_be_best": Var(
            (*_ALGORITHM, "task_effect"),
            "1 where no other algorithm is shown to be better",
        ),
        "prob_greater": Var(
            _PAIR,
            "mean over tasks of the probability that the first scores higher, ties half",
        ),
        "prob_greater_pvalue_adjusted": Var(_CLAIM, "randomization p-value of that probability, adjusted over pairs"),
        "prob_greater_pvalue": Var(_CLAIM, "randomization p-value of that probability"),
        "share_better": Var(
            _PAIR,
            "share of tasks, or families, without ties in which the first is better",
        ),
        "share_better_ci": Var((*_PAIR, "ci_bound"), "confidence interval of that share"),
        "task_difference": Var(_TASK, "difference of mean scores in the task", "score", when="per_task"),
        "task_difference_ci": Var(
            (*_TASK, "ci_bound"),
            "confidence interval of the difference in the task",
            "score",
            when="per_task",
        ),
        "task_difference_stderr": Var(_TASK, "standard error of that difference", "score", when="per_task"),
        "task_difference_quartiles": Var(
            (*_PAIR, "quartile"), "quartiles over tasks of the difference of mean scores", "score", when="per_task"
        ),
        "task_pvalue_adjusted": Var(
            _TASK,
            "randomization p-value of the task, adjusted over tasks",
            when="per_task",
        ),
        "task_mean": Var(("task", "joined_task", "algorithm"), "mean score in the task", "score"),
        "task_mean_sd": Var(
            ("task", "joined_task", "algorithm"),
            "standard deviation of runs in the task",
            "score",
        ),
        "task_mean_ci": Var(
            ("task", "joined_task", "algorithm", "ci_bound"),
            "Student's interval of that mean",
            "score",
        ),
        "task_sd": Var(
            _PAIR,
            "standard deviation over tasks, or families, of true differences",
            "score",
        ),
        "task_sd_ci": Var(
            (*_PAIR, "ci_bound"),
            "confidence interval of that standard deviation",
            "score",
        ),
        "noise_share": Var(_PAIR, "share of the variance between tasks that is due to the runs"),
        "tasks_to_show": Var(
            _PAIR,
            "tasks, or families, that would show such a difference in 8 of 10 cases",
        ),
        "tasks_at_least": Var(
            _PAIR,
            "tasks, or families, that would show the largest difference of the interval in 8 of 10 cases",
        ),
        "smallest_to_show": Var(
            _PAIR,
            "difference that so many tasks, or families, show in 8 of 10 cases",
            "score",
        ),
        "new_task_ci": Var(
            (*_PAIR, "ci_bound"),
            "interval of the difference in one more task like these",
            "score",
        ),
        "new_task_level": Var(_PAIR, "confidence level of that interval"),
        "interaction_pvalue": Var(
            _PAIR,
            "randomization p-value of the task-by-algorithm interaction",
            when="per_task",
        ),
        "rank_mean": Var(_ALGORITHM, "mean rank over the tasks that have all algorithms, 1 the best"),
        "place_ci": Var(
            (*_ALGORITHM, "task_effect", "ci_bound"),
            "first and last place by which pairs are shown to differ, 1 the best",
        ),
        "n_tasks": Var(_PAIR, "number of tasks in which both have runs", dtype=np.int64),
        "n_tasks_algorithm": Var(_ALGORITHM, "number of tasks in which it has runs", dtype=np.int64),
        "n_tasks_common": Var(("task",), "number of tasks that the verdict is about", dtype=np.int64),
        "n_ties": Var(_PAIR, "tasks, or families, in which both score the same", dtype=np.int64),
        "n_resamples": Var(_CLAIM, "number of reassignments evaluated", dtype=np.int64),
        "n_runs": Var(("task", "joined_task", "algorithm"), "number of runs", dtype=np.int64),
        "margin_pvalue_adjusted": Var(
            _CLAIM,
            "p-value of being worse by the margin or more, adjusted",
            when="margin",
        ),
        "margin_pvalue": Var(
            _CLAIM,
            "randomization p-value of being worse by the margin or more",
            when="margin",
        ),
        "margin_limit": Var(
            _CLAIM,
            "one-sided lower limit of how much better the first is",
            "score",
            when="margin",
        ),
        "difference_by": Var(_GROUP, "difference of mean scores over the tasks of the group", "score", when="by"),
        "difference_by_ci": Var(
            (*_GROUP, "ci_bound"),
            "interval of that difference on these tasks, for all pairs and groups together",
            "score",
            when="by",
        ),
        "difference_by_pvalue_adjusted": Var(
            _GROUP,
            "randomization p-value on these tasks, adjusted over pairs and groups",
            when="by",
        ),
        "task_weights": Var(("joined_task",), "weight of the task", when="given"),
        "training_weights": Var(("training",), "weight of the training level", when="given"),
    },
    coords={
        "pair": (),
        "task_effect": TASK_CLAIMS,
        "ci_bound": CI_BOUNDS,
        "quartile": QUARTILES,
        **PAIR_COORDS,
    },
    rows=("pair", "task_effect"),
    references=_REFERENCES,
    method=(
        f"{_COMPARED}; the score of a run is its mean over training, unless weights are given "
        f"(training_weights={{training_weights}}). {_CLAIMS_TESTED}",
        "whole runs within a task (for these tasks), whole tasks (for tasks like these)",
    ),
    scores_method=f"{_COMPARED}. {_CLAIMS_TESTED}",
    comparison=Comparison(
        estimate="difference",
        interval="difference_ci_simultaneous",
        p="pvalue_adjusted",
        mean="score_mean_common",
        noun=about.mean_over_tasks,
        claims=about.claims,
        about=about.about,
        pair=_shown,
        reasons=too_few.reasons,
        floor=too_few.floors,
        what_next=next_tasks.tasks_that_tell,
        verdicts=4,
        own=text.own_statements,
        holds=text.holds,
        caption="Pairs of algorithms over all tasks, {order}: mean difference, its interval and adjusted p for "
        "tasks like these and for these tasks, the probability that a run of the first is better, the "
        "standard deviation of true differences over tasks, and in how many tasks the mean of the first is better, "
        "equal or worse (win/tie/loss), and is shown to be better or worse.",
        columns=_of_shown(tables.further_columns),
    ),
    by_task=task_scores.scores_by_task,
    part=Part(
        5,
        several_tasks,
        (*_OPTIONS, "by"),
        algorithms=_of_shown(tables.algorithm_table),
    ),
    views={
        "forest": View(
            Drawing(
                picture=_of_shown(plots.forest),
                suits=plots.are_pairs_readable,
                options=OF_PAIRS,
                claims="task_effect",
            ),
            {
                "task": "Difference of mean scores in every task, sorted, with its interval.",
                "pairs": "By how much the algorithm of the heading is better than that of the row, with the interval "
                "for all pairs together and adjusted p.",
                "named pairs": NAMED_PAIRS,
                "one pair": ONE_PAIR,
                "of random": "For tasks like these.",
                "of fixed": "For these very tasks.",
                "over training": OVER_TRAINING,
                "shown": "Filled: shown.",
                "open end": OPEN_ENDS,
                "standard error": "Circles: plus or minus a standard error, where runs are too few for an interval.",
                "fixed mean": "Filled diamonds: the mean over tasks, with its interval for these tasks.",
                "random mean": "Open diamonds: the same for tasks like these.",
                "arrow": "Arrows mark sides without a limit.",
            },
        ),
        "task_differences": View(
            Drawing(picture=_of_shown(plots.task_differences), suits=_has_task_differences),
            {
                "": "Differences of each pair in all tasks, the better first. Dots are tasks, boxes their quartiles "
                "with the median, diamonds means with the intervals for all pairs together.",
                "of random": "Intervals are for tasks like these.",
                "of fixed": "Intervals are for these very tasks.",
                "over training": OVER_TRAINING,
                "open end": OPEN_ENDS,
                "arrow": "Arrows mark sides without a limit.",
            },
            default=False,
        ),
        "places": View(
            Drawing(
                picture=_of_shown(place_plots.places),
                tall=True,
                suits=_several,
            ),
            {
                "": "Between which places each algorithm is, for all together, and its mean with its interval; in "
                "colour those that may be the best. For what critical-difference diagrams are drawn.",
                "over training": OVER_TRAINING,
                "joined": "A bar joins neighbours of which no two are shown to differ; others that are not shown to "
                "differ may have none.",
            },
            default=False,
        ),
        "prob_greater": View(
            Drawing(
                picture=plots.probabilities,
                suits=_several,
            ),
            {
                "": "Probability that the algorithm of the row scores higher than that of the column, mean over tasks.",
                "bold": "Bold: shown to differ from one half on tasks like these, adjusted over pairs.",
            },
            default=False,
        ),
    },
    overlaid=plots.joined_dims,
)

PROFILE_ACROSS_TASKS = ResultKind(
    name="profile_across_tasks",
    question="Where along the budget do algorithms differ over all tasks?",
    argument="curves",
    variables={
        "difference": Var(_FRACTION, "mean over tasks of the difference of mean scores", "score"),
        "difference_ci": Var(
            (*_FRACTION, "ci_bound"),
            "confidence interval of the mean difference by itself",
            "score",
        ),
        "difference_ci_simultaneous": Var(
            (*_FRACTION, "ci_bound"),
            "interval of the mean difference, for all fractions of all pairs together",
            "score",
        ),
        "difference_band": Var((*_FRACTION, "ci_bound"), "band of the mean difference of the pair", "score"),
        "band_method": Var(
            _PAIR,
            "how the band was made: 0 not, 1 by residuals, 2 by subset means",
            dtype=np.int8,
        ),
        "pvalue_adjusted": Var(_FRACTION, "randomization p-value adjusted over all fractions and pairs"),
        "pvalue": Var(_FRACTION, "randomization p-value of the fraction by itself"),
        "mean_difference": Var(_PAIR, "mean over tasks of the difference of means over training", "score"),
        "mean_difference_ci_simultaneous": Var(
            (*_PAIR, "ci_bound"), "interval of that difference, for all pairs together", "score"
        ),
        "mean_pvalue_adjusted": Var(
            _PAIR,
            "randomization p-value of the mean over training, adjusted over pairs",
        ),
        "mean_curve": Var(_CURVE, "mean score over the tasks that have all algorithms", "score"),
        "mean_curve_band": Var(
            (*_CURVE, "ci_bound"),
            "simultaneous band of the mean score, for these tasks",
            "score",
        ),
        "n_tasks": Var(_PAIR, "number of tasks in which both have runs", dtype=np.int64),
        "n_resamples": Var(_PAIR, "number of flips evaluated", dtype=np.int64),
    },
    coords={"pair": (), "budget_fraction": (), "ci_bound": CI_BOUNDS, **PAIR_COORDS},
    rows=("pair", "budget_fraction"),
    references=_REFERENCES[2:],
    method=(
        "Algorithms were compared at fractions of each task's training budget by the mean over tasks of their "
        "differences; p-values hold for all fractions of all pairs together, by turning the signs of whole tasks.",
        "whole tasks",
    ),
    table=captioned(
        tables.aggregate_table,
        "Pairs of algorithms at fractions of the budget: mean difference over tasks, its interval and p, which "
        "hold for all fractions of all pairs together and for tasks like these.",
    ),
    comparison=Comparison(
        estimate="mean_difference",
        interval="mean_difference_ci_simultaneous",
        p="mean_pvalue_adjusted",
        noun=mean_score,
        claims=for_tasks_like_these,
        about=profile_text.about,
        reasons=profile_text.untested,
        verdicts=4,
        own=profile_text.each_pair,
        holds=profile_text.about_bands,
    ),
    part=Part(
        6,
        partial(several_tasks, least_levels=2),
        _OPTIONS,
        along=True,
    ),
    views={
        "mean_curve": View(
            Drawing(picture=plots.mean_curves, options=ALONG),
            {
                "": "Mean curves over tasks against the share of each task's budget.",
                "band": "The bands hold along the whole curve, for these tasks.",
                "bars": "Bars below: where a pair differs on tasks like these, by the step-down p, which can "
                "show more than the bands of differences.",
            },
            panels={"algorithm": _MOST_MEANS},
        ),
        "difference": View(
            Drawing(picture=plots.aggregate_differences, options=ALONG),
            {
                "": "Mean differences over tasks against the share of each task's budget.",
                "highest": "Of all pairs, those of the algorithm with the highest mean.",
                "closest": "Of more than four pairs, the closest.",
                "band": "The bands hold at all fractions together, for tasks like these.",
            },
            default=False,
        ),
    },
)
