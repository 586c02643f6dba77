"""The kinds of results of randomization tests."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from xcurves.core.applicability import comparable
from xcurves.core.calls import later
from xcurves.core.labels import CI_BOUNDS, EFFECTS, ERROR_TERMS, VARIATION_SOURCES
from xcurves.core.provenance import PIATER
from xcurves.core.schema import (
    ALONG,
    MOST_BANDS,
    OF_PAIRS,
    PAIR_COORDS,
    Comparison,
    Drawing,
    Part,
    ResultKind,
    Var,
    View,
)
from xcurves.say.compared_pairs import mean_score
from xcurves.say.pairs import ALONG_TRAINING, IN_BAND, NAMED_PAIRS, ONE_PAIR, OPEN_ENDS, OVER_TRAINING
from xcurves.say.result_frames import captioned

if TYPE_CHECKING:
    from xcurves.anova import plots, tables, text
    from xcurves.pictures import pair_curves
else:
    plots, tables, text = later("xcurves.anova", "plots", "tables", "text")
    (pair_curves,) = later("xcurves.pictures", "pair_curves")

_BY_EFFECT = ("task", "effect", "error_term")
_BY_PAIR = ("task", "effect", "pair")
_PAIR = ("task", "pair")
_ALONG = ("task", "pair", "training")
_N_RUNS = "number of runs"
_N_RESAMPLES = "number of reassignments evaluated"
_N_ASSIGNMENTS = "number of distinct assignments"

RANDOMIZED_ANOVA = ResultKind(
    name="randomized_anova",
    question="Do the algorithms differ?",
    argument="curves",
    variables={
        "pvalue": Var(_BY_EFFECT, "randomization p-value"),
        "f": Var(_BY_EFFECT, "F ratio; of the error term welch, Welch's statistic"),
        "ss": Var(("task", "source"), "sum of squares", "score^2"),
        "df": Var(("task", "source"), "degrees of freedom"),
        "critical_value": Var(_BY_EFFECT, "critical value of the F ratio: reject above it"),
        "pvalue_stderr": Var(_BY_EFFECT, "Monte Carlo standard error of the p-value"),
        "pvalue_parametric": Var(_BY_EFFECT, "p-value by the F distribution, for comparison only"),
        "eta_sq_partial": Var(_BY_EFFECT, "partial eta squared"),
        "omega_sq_partial": Var(_BY_EFFECT, "partial omega squared"),
        "eta_sq_generalized": Var(_BY_EFFECT, "generalized eta squared"),
        "error_ss": Var(_BY_EFFECT, "sum of squares of the error term", "score^2"),
        "error_df": Var(_BY_EFFECT, "degrees of freedom of the error term"),
        "sd_ratio": Var(
            ("task",),
            "largest over smallest standard deviation of the algorithms' curve means",
        ),
        "sd_ratio_limit": Var(("task",), "0.95 quantile of that ratio under equal normal spread"),
        "level_test": Var(("task",), "which test of level speaks: 0 F, 1 Welch's", dtype=np.int8),
        "n_runs": Var(("task", "algorithm"), _N_RUNS, dtype=np.int64),
        "n_levels": Var(("task",), "number of training levels", dtype=np.int64),
        "n_resamples": Var(("task",), _N_RESAMPLES, dtype=np.int64),
        "n_assignments": Var(("task",), _N_ASSIGNMENTS),
        "pvalue_rank": Var(
            _BY_EFFECT,
            "p-value by the rank of the closest null value",
            when="keep_null",
        ),
        "null_distribution": Var((*_BY_EFFECT, "resample"), "F ratio of a reassignment", when="keep_null"),
    },
    coords={"effect": EFFECTS, "error_term": ERROR_TERMS, "source": VARIATION_SOURCES},
    rows=("effect", "error_term"),
    references=PIATER,
    method=(
        "Algorithms were compared by a randomized analysis of variance of whole performance curves: F of the "
        "algorithm effect against differences between runs and F of the algorithm-by-training interaction against "
        "their changes with training (split-plot error terms), with p-values from reassigning whole runs to "
        "algorithms.",
        "whole runs",
    ),
    scores_method=(
        "Algorithms were compared by a randomized analysis of variance: F of the algorithm effect against differences "
        "between runs, with p-values from reassigning runs to algorithms."
    ),
    table=captioned(
        tables.anova_table,
        "Analysis of variance by source. F is against the error of each effect itself: runs for the algorithm effect, "
        "runs by training for the interaction.",
        "Analysis of variance by source. F is against the differences between runs.",
    ),
    statements=text.anova_statements,
    part=Part(
        0,
        partial(comparable, few_tasks=True),
        ("n_resamples", "paired", "progress"),
        select_asked=comparable,
        digest=captioned(
            tables.anova_digest,
            "Analyses of variance, a row for each task: F and p by the error of each effect itself (split-plot), which "
            "the sentences use, then by the paper's pooled one.",
            "Analyses of variance, a row for each task.",
        ),
    ),
    views={
        "f": View(
            Drawing(picture=plots.f_ratios, title=plots.compared),
            {
                "": "F ratios over their critical values: beyond 1 is significant.",
                "split_plot": "Filled: the split-plot error terms, which conclusions rest on.",
                "pooled": "Open: the pooled one of the paper.",
                "welch": "Grey: Welch's statistic, which is the test of level here.",
                "null": "Grey areas: F ratios of reassignments.",
            },
            many=View(
                Drawing(picture=plots.f_ratios_of_tasks, title=plots.compared),
                "F ratios over their critical values, a row for each task, by the split-plot error terms: beyond 1 "
                "is significant.",
            ),
        )
    },
)

PAIRWISE = ResultKind(
    name="pairwise",
    question="Which ones differ, and by how much?",
    argument="curves",
    variables={
        "pvalue_adjusted": Var(_BY_PAIR, "randomization p-value adjusted over pairs"),
        "pvalue": Var(_BY_PAIR, "randomization p-value"),
        "f": Var(_BY_PAIR, "F ratio, split-plot error term"),
        "difference": Var(_PAIR, "difference of mean scores over training", "score"),
        "difference_ci": Var((*_PAIR, "ci_bound"), "confidence interval of the difference", "score"),
        "difference_ci_simultaneous": Var(
            (*_PAIR, "ci_bound"),
            "confidence interval of the difference, for all pairs together",
            "score",
        ),
        "curve_difference": Var(_ALONG, "difference of mean scores at the level", "score", when="few pairs"),
        "curve_difference_band": Var(
            (*_ALONG, "ci_bound"),
            "band of the difference at the level, for all levels of the pair together",
            "score",
            when="few pairs",
        ),
        "difference_ci_gap": Var(_PAIR, "1 where a shift within the interval is rejected"),
        "pvalue_adjusted_least": Var(_PAIR, "smallest adjusted p-value that these numbers of runs allow"),
        "runs_to_show": Var(_PAIR, "runs of each that would show such a difference in 8 of 10 cases"),
        "runs_at_least": Var(
            _PAIR,
            "runs of each that would show the largest difference of the interval in 8 of 10 cases",
        ),
        "score_mean": Var(("task", "algorithm"), "mean score over training", "score", when="given"),
        "may_be_best": Var(
            ("task", "algorithm"),
            "1 where no other algorithm is shown to have a better mean",
        ),
        "n_runs": Var(("task", "algorithm"), _N_RUNS, dtype=np.int64),
        "n_resamples": Var(_PAIR, _N_RESAMPLES, dtype=np.int64),
        "n_assignments": Var(_PAIR, _N_ASSIGNMENTS),
    },
    coords={"effect": EFFECTS, "pair": (), "ci_bound": CI_BOUNDS, **PAIR_COORDS},
    rows=("effect", "pair"),
    references=PIATER,
    method=(
        "Every pair of algorithms was compared on its own runs, in mean score over training by a studentized "
        "randomization test, whose inversion gives the interval of the difference, and in change with training by F "
        "with the split-plot error. P-values of each effect were adjusted for the number of pairs by {correction}; "
        "intervals hold for all pairs together (Bonferroni).",
        "whole runs",
    ),
    scores_method=(
        "Every pair of algorithms was compared on its own runs, in mean score by a studentized randomization test, "
        "whose inversion gives the interval of the difference. P-values were adjusted for the number of pairs by "
        "{correction}; intervals hold for all pairs together (Bonferroni)."
    ),
    comparison=Comparison(
        estimate="difference",
        interval="difference_ci_simultaneous",
        p="pvalue_adjusted",
        noun=mean_score,
        pair=text.of_level,
        reasons=text.reasons,
        floor=text.pair_floors,
        what_next=text.runs_that_tell,
        more=text.more_of_pairs,
        caption="Pairs of algorithms, {order}: difference of mean scores over training with its interval, and p of "
        "level and of shape, adjusted.",
        scores_caption="Pairs of algorithms, {order}: difference of mean scores with its interval, and adjusted p.",
        columns=tables.shapes_of_pairs,
    ),
    part=Part(
        1,
        partial(comparable, few_tasks=True),
        ("n_resamples", "paired", "reference"),
        select_asked=comparable,
    ),
    views={
        "curve_difference": View(
            Drawing(
                picture=pair_curves.differences_along_training,
                suits=pair_curves.suits_along_training,
                options=ALONG,
            ),
            {"": ALONG_TRAINING, "band": f"The band holds for all levels of its pair together: {IN_BAND}"},
            panels={"pair": MOST_BANDS},
        ),
        "difference": View(
            Drawing(picture=plots.differences, options=OF_PAIRS),
            {
                "pairs": "By how much the algorithm of the heading is better than that of the row in mean score, with "
                "the interval for all pairs together and adjusted p.",
                "named pairs": NAMED_PAIRS,
                "one pair": ONE_PAIR,
                "over training": OVER_TRAINING,
                "shown": "Filled: shown.",
                "open end": OPEN_ENDS,
                "arrow": "Arrows mark sides without a limit.",
            },
            many=View(
                Drawing(picture=plots.differences_of_tasks),
                "Which algorithm of a pair has the higher mean score in each task; dark where shown by p of the level, "
                "adjusted over pairs.",
            ),
        ),
    },
)

CONTRAST = ResultKind(
    name="contrast",
    question="A planned comparison",
    argument="curves",
    variables={
        "pvalue": Var(("task",), "randomization p-value"),
        "statistic": Var(("task",), "studentized contrast"),
        "estimate": Var(("task",), "contrast of scores", "score"),
        "estimate_ci": Var(("task", "ci_bound"), "confidence interval of the contrast", "score"),
        "margin_pvalue": Var(
            ("task",),
            "randomization p-value of being worse by the margin or more",
            when="margin",
        ),
        "margin_limit": Var(
            ("task",),
            "one-sided lower limit of how much better",
            "score",
            when="margin",
        ),
        "n_runs": Var(
            ("task", "algorithm"),
            "number of runs of an algorithm with a weight",
            dtype=np.int64,
        ),
        "n_resamples": Var(("task",), _N_RESAMPLES, dtype=np.int64),
        "n_assignments": Var(("task",), _N_ASSIGNMENTS),
        "weights": Var(("algorithm",), "weight of the algorithm in the contrast", when="given"),
        "training_weights": Var(
            ("training",),
            "weight of the training level; NaN: equal weights over each task's grid",
            when="given",
        ),
    },
    coords={"ci_bound": CI_BOUNDS},
    references=PIATER,
    method=(
        "A planned contrast of algorithms was tested by a studentized randomization test of weighted mean scores "
        "({alternative}), whose inversion gives the interval.",
        "whole runs",
    ),
    comparison=Comparison(
        estimate="estimate",
        interval="estimate_ci",
        p="pvalue",
        noun=text.contrasted,
        pair=text.as_pair,
        reasons="T is undefined",
        more=text.more_of_contrast,
        caption="The contrast of scores as a pair, {order}: the difference with its interval, p, and the studentized "
        "statistic T.",
        columns=text.statistic,
    ),
    views={
        "estimate": View(
            Drawing(
                picture=plots.contrasts,
                title=text.title_of_contrast,
            ),
            {
                "": "The contrast of scores with its interval.",
                "arrow": "Arrows mark sides without a limit.",
            },
        )
    },
    overlaid=None,
)
