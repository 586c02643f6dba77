"""The kinds of results of performance distributions."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xcurves.core.applicability import NotApplicableError, have_single_runs, refuse_many_tasks
from xcurves.core.calls import later
from xcurves.core.labels import CI_BOUNDS
from xcurves.core.scales import PROBABILITY
from xcurves.core.schema import (
    DASHED,
    MOST_CURVES,
    PAIR_COORDS,
    SCALED,
    Comparison,
    Drawing,
    Part,
    ResultKind,
    Var,
    View,
)
from xcurves.core.validation import is_without_training
from xcurves.core.variables import with_interval
from xcurves.say.numbers import span, units_of
from xcurves.say.result_frames import captioned

if TYPE_CHECKING:
    from xcurves.distributions import plots, text, tuning_text
    from xcurves.frames import align
else:
    plots, text, tuning_text = later("xcurves.distributions", "plots", "text", "tuning_text")
    (align,) = later("xcurves.frames", "align")

JORDAN = "Jordan, Cohen & Thomas, Using Cumulative Distribution Based Performance Analysis to Benchmark Models"
LOCAL_LEVELS = (
    "Aldor-Noiman, Brown, Buja, Rolke & Stine (2013), Am. Stat. 67, 249-260, doi:10.1080/00031305.2013.847865"
)
MOSCOVICH = "Moscovich & Nadler (2017), Stat. Probab. Lett. 123, 177-182, doi:10.48550/arXiv.1503.04363"
WILKS = "Wilks (1941), Ann. Math. Stat. 12, 91-96, doi:10.1214/aoms/1177731788"
LOURIE = "Lourie, Cho & He (2023), Confidence Bands for Tuning Curves, doi:10.48550/arXiv.2311.09480"
TANG = "Tang, Lee, Xin, Liu, Yu & Lin (2020), Showing Your Work Doesn't Always Work, doi:10.48550/arXiv.2004.13705"
EFRON_1987 = "Efron (1987), J. Am. Stat. Assoc. 82, 171-185, doi:10.1080/01621459.1987.10478410"
NEWCOMBE = "Newcombe (2006), Part 2, Stat. Med. 25, 559-573, doi:10.1002/sim.2324"
BAND = "exact equal local levels (beyond 20,000 trials Dvoretzky-Kiefer-Wolfowitz-Massart), everywhere at once"


def final_scores(curves: xr.DataArray) -> tuple[xr.DataArray, dict[str, Any], dict[str, str]]:
    """Return scores at the last level that all runs of a task have, no options, and which level."""
    if is_without_training(curves):
        return curves.isel(training=0, drop=True), {}, {}
    try:
        final = align.align(curves, "final", runs_short="cut").compute()
    except ValueError as error:
        raise NotApplicableError(str(error)) from error
    level = final["training"].where(final.notnull().any(["algorithm", "run"])).max("training")
    # of the one level that the task has
    scores: xr.DataArray = final.max("training", keep_attrs=True)
    level.attrs = curves["training"].attrs
    scores = scores.assign_coords(training=level)
    units, name = units_of(level), level.attrs.get("long_name", "")
    ends = span([level.min().item(), level.max().item()], 12)
    said = f"{name} {ends}".strip() if units in ("1", "") else f"{ends} {units}"
    by_task = ", task by task: see the coordinate training" if level.min() < level.max() else ""
    return scores, {}, {"final": said + by_task}


def final_scores_of_runs(curves: xr.DataArray) -> tuple[xr.DataArray, dict[str, Any], dict[str, str]]:
    """Return what `final_scores` does, of tasks that are few and have runs to describe."""
    refuse_many_tasks(curves)
    if have_single_runs(curves):
        raise NotApplicableError("each algorithm has one run in each task", expected=True)
    return final_scores(curves)


def trials_of_search(scores: xr.DataArray) -> tuple[xr.DataArray, dict[str, Any], dict[str, str]]:
    """Return the scores of a search, of which readers say what chose its trials."""
    if "sampler" not in scores.attrs or scores.sizes["training"] > 1:
        raise NotApplicableError("scores are not of trials of a search: they have no attr 'sampler'", obvious=True)
    return asked_trials(scores)


def asked_trials(scores: xr.DataArray) -> tuple[xr.DataArray, dict[str, Any], dict[str, str]]:
    """Return the scores of trials, whatever chose them; of curves those at the end."""
    return scores.isel(training=-1, drop=True), {}, {}


_TASK = ("task",)
_PAIR = ("task", "pair")
_CVAR = ("task", "cvar_level")
_THRESHOLD = ("task", "threshold")
_SCORE_CI = ("task", "score", "ci_bound")
_DOMINANCE = "1: first higher somewhere outside the band, lower nowhere; -1: second; 2: each somewhere; 0: none"


def _up_to_budget(result: xr.Dataset, budget: xr.DataArray) -> xr.DataArray:
    """Return where the CDF of times is known; what comes later is not."""
    return result["score"] <= budget


def _both_reached(result: xr.Dataset, _: xr.DataArray) -> xr.DataArray:
    """Return the quantiles that both reach: one that is not reached differs by an unknown time."""
    return abs(result["quantile_difference"]) < inf


PERFORMANCE_CDF = ResultKind(
    name="performance_cdf",
    question="How do runs spread?",
    argument="scores",
    variables={
        "score_mean": Var(_TASK, "mean score", "score"),
        "score_median": Var(_TASK, "median score", "score"),
        "score_std": Var(_TASK, "standard deviation of scores", "score"),
        "iqm": Var(_TASK, "interquartile mean of scores", "score"),
        "cvar": Var(_CVAR, "CVaR of the best scores", "score"),
        "cvar_lower": Var(_CVAR, "CVaR of the worst scores", "score"),
        "statistic_ci": Var(("task", "param", "ci_bound"), "confidence interval of a statistic, in its units", "score"),
        "score_quantile": Var(("task", "probability"), "score", "score"),
        "score_quantile_ci": Var(("task", "probability", "ci_bound"), "interval of the inverse CDF", "score"),
        "cdf": Var(("task", "score"), "share of trials at or below the score", when="scores_at", known=_up_to_budget),
        "cdf_ci": Var(_SCORE_CI, "confidence interval of the CDF", when="scores_at", known=_up_to_budget),
        "cdf_band": Var(
            _SCORE_CI, "confidence band of the CDF", when="scores_at, interval='exact'", known=_up_to_budget
        ),
        "partial_mean_above": Var(_THRESHOLD, "mean score, 0 below the threshold", "score", when="threshold"),
        "prob_above": Var(_THRESHOLD, "share of trials that meet the threshold", when="threshold"),
        "optimality_gap": Var(_TASK, "mean distance to the target, none beyond it", "score", when="target"),
        "tolerance": Var(("task", "ci_bound"), "interval of the share of trials", "score", when="tolerance"),
        "tolerance_lower": Var(_TASK, "score that the share of trials reaches", "score", when="tolerance"),
        "tolerance_n": Var(_TASK, "trials that the interval of the share needs", dtype=np.int64, when="tolerance"),
        "share_infinite": Var(_TASK, "share of trials that failed, or of times not reached", coord=True),
        "n_trials": Var(_TASK, "number of trials", dtype=np.int64, coord=True),
        "n_units": Var(
            _TASK, "number of units in the smallest stratum", dtype=np.int64, when="strata or unit", coord=True
        ),
        "strata_unlike": Var(
            _TASK, "whether strata have unlike numbers of trials", dtype=np.int64, when="strata", coord=True
        ),
    },
    coords={"cvar_level": (), "param": (), "probability": (), "ci_bound": CI_BOUNDS, "score": (), "threshold": ()},
    core=("run",),
    references=(JORDAN, LOCAL_LEVELS, MOSCOVICH, EFRON_1987),
    method=(
        "Scores over trials were described by their empirical distribution function, its inverse, and statistics "
        "with {interval} intervals.",
        "trials along {dim}",
    ),
    table=captioned(
        text.statistic_table,
        "Values of statistics of the final scores with their intervals; ∞ where the runs set no limit.",
    ),
    statements=text.statistic_statements,
    part=Part(
        4,
        final_scores_of_runs,
        select_asked=final_scores,
        digest=captioned(text.statistic_digest, "Statistics of the final scores, a row for each task and algorithm."),
    ),
    views={
        "inverse_cdf": View(
            Drawing(picture=plots.inverse_cdf, options=DASHED),
            "Score that a share of runs does not exceed, with pointwise intervals: the steeper, the more runs differ.",
            panels={"algorithm": MOST_CURVES},
        ),
        "cdf": View(
            Drawing(picture=plots.cdf, options=DASHED),
            "Share of trials at or below each score, with the band or, of a bootstrap, pointwise intervals.",
            default=False,
            panels={"algorithm": MOST_CURVES},
        ),
        "statistics": View(
            Drawing(picture=plots.statistic),
            "Statistics on the scale of scores with their intervals; arrows mark unbounded sides.",
            default=False,
            panels={"param": 1},
        ),
        "profile": View(
            Drawing(picture=plots.profile, options=DASHED),
            "Share of trials above each score, with the band or, of a bootstrap, pointwise intervals.",
            default=False,
            panels={"algorithm": MOST_CURVES},
        ),
        "training": View(
            Drawing(picture=plots.along_training_of, options=SCALED),
            "Statistics of scores against training: with simultaneous='training' each band holds at all levels "
            "together, otherwise the intervals are those of each level by itself.",
            default=False,
            panels={"param": 1, "algorithm": MOST_CURVES, "training": inf},
        ),
    },
    overlaid=("algorithm",),
)

COMPARE_DISTRIBUTIONS = ResultKind(
    name="compare_distributions",
    question="Whose runs score higher?",
    argument="scores",
    variables={
        **with_interval("prob_greater", _PAIR, "probability that the first scores higher, ties half", together="pairs"),
        "quantile_difference": Var((*_PAIR, "probability"), "difference of scores", "score", known=_both_reached),
        "share_infinite_a": Var(_PAIR, "share of trials of the first that failed, or of times not reached", coord=True),
        "share_infinite_b": Var(
            _PAIR, "share of trials of the second that failed, or of times not reached", coord=True
        ),
        "n_trials": Var(("task", "algorithm"), "number of trials", dtype=np.int64, coord=True),
        "n_units": Var(
            _PAIR, "number of trials in the smallest stratum of either", dtype=np.int64, when="strata", coord=True
        ),
        "quantile_difference_band": Var(
            (*_PAIR, "probability", "ci_bound"),
            "confidence band of the difference of scores",
            "score",
            when="no strata",
            known=_both_reached,
        ),
        "dominance": Var(_PAIR, _DOMINANCE, dtype=np.int8, when="no strata"),
        "ks_statistic": Var(_PAIR, "Kolmogorov-Smirnov distance", when="no strata"),
        "ks_pvalue": Var(_PAIR, "permutation p-value of the Kolmogorov-Smirnov distance", when="no strata"),
        "ks_pvalue_adjusted": Var(_PAIR, "Kolmogorov-Smirnov p-value adjusted over pairs", when="no strata"),
    },
    coords={"pair": (), "ci_bound": CI_BOUNDS, "probability": (), **PAIR_COORDS},
    rows=("pair",),
    core=("algorithm", "run"),
    references=(JORDAN, NEWCOMBE, LOCAL_LEVELS, MOSCOVICH),
    method=(
        "Every pair of algorithms was compared by the probability that a trial of the first scores higher than one "
        "of the second, and by the largest distance of their distribution functions, with p-values adjusted for the "
        "number of pairs by {correction}.",
        "trials along {dim}",
    ),
    comparison=Comparison(
        estimate="prob_greater",
        interval="prob_greater_ci_simultaneous",
        p="",
        noun=text.probability,
        reasons="trials are missing",
        more=text.more_of_pairs,
        scale=PROBABILITY,
        caption="Pairs of algorithms, {order}: probability that the first scores higher with its interval, the verdict "
        "by the band (dominance), the Kolmogorov-Smirnov distance and its adjusted p.",
        columns=text.columns_of_bands,
    ),
    views={
        "prob_greater": View(
            Drawing(picture=plots.prob_greater),
            "Probabilities that the first of a pair scores higher, with their intervals; at 0.5 neither does.",
            many=View(
                Drawing(picture=plots.prob_greater_of_tasks),
                "Which algorithm of a pair scores higher more often in each task; dark where the interval of the "
                "probability leaves out 0.5.",
            ),
        ),
        "quantile_difference": View(
            Drawing(picture=plots.quantile_difference, options=DASHED),
            "Differences of the scores that a share of trials does not exceed, first minus second, with bands that "
            "hold everywhere at once.",
            default=False,
            panels={"pair": MOST_CURVES},
        ),
    },
)

_CURVE = ("task", "algorithm", "trials")
_PAIRS = ("task", "pair", "trials")
_CURVE_CI, _PAIRS_CI = (*_CURVE, "ci_bound"), (*_PAIRS, "ci_bound")
_MATCH = "pairs, no select"

TUNING_CURVE = ResultKind(
    name="tuning_curve",
    question="How good is the best of k trials?",
    argument="scores",
    variables={
        "best_median": Var(_CURVE, "median best score seen", "score"),
        "best_median_ci": Var(_CURVE_CI, "pointwise interval of the median best", "score", when="no select"),
        "best_median_band": Var(_CURVE_CI, "simultaneous band of the median best", "score", when="no select"),
        "best_mean": Var(_CURVE, "mean best score seen", "score"),
        "best_mean_band": Var(_CURVE_CI, "simultaneous band of the mean best", "score", when="no select"),
        "difference": Var(_PAIRS, "difference of median best scores", "score", when="pairs"),
        "difference_band": Var(_PAIRS_CI, "simultaneous band of the difference of medians", "score", when=_MATCH),
        "difference_band_simultaneous": Var(
            _PAIRS_CI, "band of the difference of medians, for all pairs together", "score", when=_MATCH
        ),
        "trials_to_match": Var(_PAIRS, "trials of the first with the median best of k of the second", when=_MATCH),
        "trials_to_match_ci": Var(_PAIRS_CI, "trials of the first that may match k of the second", when=_MATCH),
        "trials_to_match_reversed": Var(
            _PAIRS, "trials of the second with the median best of k of the first", when=_MATCH
        ),
        "trials_to_match_reversed_ci": Var(
            _PAIRS_CI, "trials of the second that may match k of the first", when=_MATCH
        ),
        "n_trials": Var(("task", "algorithm"), "number of trials", dtype=np.int64, coord=True),
    },
    coords={"pair": (), "trials": (), "ci_bound": CI_BOUNDS, **PAIR_COORDS},
    rows=("algorithm", "trials"),
    core=("algorithm", "run"),
    references=(LOURIE, TANG, LOCAL_LEVELS, MOSCOVICH),
    method=(
        "The best score of k trials of random search was estimated by its median and its mean, with exact bands that "
        "hold for all k together.",
        "trials along {dim}",
    ),
    table=captioned(
        tuning_text.tuning_table,
        "Median and mean of the best score that an algorithm has seen in so many trials; the interval of the median "
        "holds for all numbers of trials together.",
    ),
    comparison=Comparison(
        estimate="difference",
        interval="difference_band_simultaneous",
        p="",
        noun=tuning_text.best_of_trials,
        mean="best_median",
        about=tuning_text.about,
        pair=tuning_text.after_usual_trials,
        reasons="scores that others select have no intervals",
        own=tuning_text.trials_that_match,
        more=tuning_text.more_of_trials,
    ),
    part=Part(None, trials_of_search, select_asked=asked_trials, refuses=True),
    views={
        "best": View(
            Drawing(picture=plots.best, options=SCALED),
            "Median of the best score seen in so many trials, with bands that hold for all numbers of trials together.",
            panels={"algorithm": MOST_CURVES},
        ),
        "difference": View(
            Drawing(picture=plots.difference, options=DASHED | {"xscale"}),
            "Difference of the median best scores of two algorithms after equally many trials, first minus second.",
            default=False,
            panels={"pair": MOST_CURVES},
        ),
    },
)
