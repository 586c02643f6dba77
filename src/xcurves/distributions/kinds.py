"""The kinds of results of performance distributions."""

from __future__ import annotations

import numpy as np

from xcurves.core.labels import CI_BOUNDS
from xcurves.core.matrices import n_pair_columns, n_pair_rows
from xcurves.core.schema import PAIR_COORDS, Part, ResultKind, Var, View
from xcurves.distributions import plots, tables, text, training_plots
from xcurves.distributions.final_scores import final_scores

JORDAN = "Jordan, Cohen & Thomas, Using Cumulative Distribution Based Performance Analysis to Benchmark Models"
MASSART = (
    "Massart (1990), The Tight Constant in the Dvoretzky-Kiefer-Wolfowitz Inequality, Ann. Probab. 18, 1269-1283, "
    "doi:10.1214/aop/1176990746"
)
EFRON_1987 = (
    "Efron (1987), Better Bootstrap Confidence Intervals, J. Am. Stat. Assoc. 82, 171-185, "
    "doi:10.1080/01621459.1987.10478410"
)
NEWCOMBE = (
    "Newcombe (2006), Confidence Intervals for an Effect Size Measure Based on the Mann-Whitney Statistic, Part 2, "
    "Stat. Med. 25, 559-573, doi:10.1002/sim.2324"
)
BAND = "Dvoretzky-Kiefer-Wolfowitz-Massart, everywhere at once"

_TASK = ("task",)
_PAIR = ("task", "pair")
_CVAR = ("task", "cvar_level")
_THRESHOLD = ("task", "threshold")

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
        "score_quantile_ci": Var(
            ("task", "probability", "ci_bound"), "confidence interval of the inverse CDF", "score"
        ),
        "cdf": Var(("task", "score"), "share of trials at or below the score", when="scores_at"),
        "cdf_ci": Var(("task", "score", "ci_bound"), "confidence interval of the CDF", when="scores_at"),
        "cdf_band": Var(
            ("task", "score", "ci_bound"), "confidence band of the CDF", when="scores_at, interval='exact'"
        ),
        "partial_mean_above": Var(
            _THRESHOLD, "mean of scores that meet the threshold, others counted as 0", "score", when="threshold"
        ),
        "prob_above": Var(_THRESHOLD, "share of trials that meet the threshold", when="threshold"),
        "optimality_gap": Var(_TASK, "mean distance to the target, none beyond it", "score", when="target"),
        "share_infinite": Var(_TASK, "share of trials with an infinite score: times never reached"),
        "n_trials": Var(_TASK, "number of trials", dtype=np.int64),
        "n_units": Var(
            _TASK,
            "number of units that are resampled, in the smallest stratum",
            dtype=np.int64,
            when="strata or unit",
        ),
    },
    coords={"cvar_level": (), "param": (), "probability": (), "ci_bound": CI_BOUNDS, "score": (), "threshold": ()},
    core=("run",),
    references=(JORDAN, MASSART, EFRON_1987),
    method="Scores over trials were described by their empirical distribution function, its inverse, and statistics "
    "with {interval} intervals.",
    unit="trials along {dim}",
    table=tables.statistic_table,
    table_caption="Statistics of the final scores with their intervals; ∞ where the runs set no limit.",
    sentences=text.statistic_sentences,
    answer=text.statistic_answer,
    digest=tables.statistic_digest,
    ranking=tables.statistic_ranking,
    part=Part("distribution", 4, final_scores),
    views={
        "inverse_cdf": View(
            plots.draw_inverse_cdf,
            "Score that a share of runs does not exceed, with pointwise intervals: the steeper, the more runs differ.",
            plots.say_inverse_cdf,
            overlaid="algorithm",
        ),
        "cdf": View(
            plots.draw_cdf,
            "Share of trials at or below each score, with the band or, of a bootstrap, pointwise intervals.",
            plots.say_cdf,
            overlaid="algorithm",
            default=False,
        ),
        "statistics": View(
            plots.draw_statistics,
            "Statistics on the scale of scores with their intervals; arrows mark unbounded sides.",
            plots.say_statistics,
            panels=("param",),
            default=False,
            rows=plots.statistic_rows,
        ),
        "profile": View(
            plots.draw_profile,
            "Share of trials above each score, with the band or, of a bootstrap, pointwise intervals.",
            plots.say_profile,
            overlaid="algorithm",
            default=False,
        ),
        "training": View(
            training_plots.draw_along_training,
            "Statistics of scores against training: with simultaneous='training' each band holds at all levels "
            "together, otherwise the intervals are those of each level by itself.",
            training_plots.say_along_training,
            panels=("param",),
            overlaid="algorithm",
            along="training",
            default=False,
        ),
    },
    overlaid=("algorithm",),
)

COMPARE_DISTRIBUTIONS = ResultKind(
    name="compare_distributions",
    question="Whose runs score higher?",
    argument="scores",
    variables={
        "prob_greater": Var(_PAIR, "probability that the first scores higher, ties half"),
        "prob_greater_ci": Var(
            (*_PAIR, "ci_bound"), "confidence interval of the probability that the first scores higher"
        ),
        "quantile_difference": Var((*_PAIR, "probability"), "difference of scores", "score"),
        "share_infinite_a": Var(_PAIR, "share of trials of the first with an infinite score: times never reached"),
        "share_infinite_b": Var(_PAIR, "share of trials of the second with an infinite score: times never reached"),
        "n_trials": Var(("task", "algorithm"), "number of trials", dtype=np.int64),
        "n_units": Var(_PAIR, "number of trials in the smallest stratum of either", dtype=np.int64, when="strata"),
        "quantile_difference_band": Var(
            (*_PAIR, "probability", "ci_bound"),
            "confidence band of the difference of inverse CDFs",
            "score",
            when="no strata",
        ),
        "dominance": Var(
            _PAIR,
            "1: first higher somewhere outside the band, lower nowhere; -1: second; 2: each somewhere; 0: none",
            dtype=np.int8,
            when="no strata",
        ),
        "ks_statistic": Var(_PAIR, "Kolmogorov-Smirnov distance", when="no strata"),
        "ks_pvalue": Var(_PAIR, "permutation p-value of the Kolmogorov-Smirnov distance", when="no strata"),
        "ks_pvalue_adjusted": Var(
            _PAIR,
            "permutation p-value of the Kolmogorov-Smirnov distance, adjusted over pairs",
            when="no strata",
        ),
    },
    coords={"pair": (), "ci_bound": CI_BOUNDS, "probability": ()},
    coord_vars=PAIR_COORDS,
    rows=("pair",),
    core=("algorithm", "run"),
    references=(JORDAN, NEWCOMBE, MASSART),
    method="Every pair of algorithms was compared by the probability that a trial of the first scores higher than one "
    "of the second, and by the largest distance of their distribution functions, with p-values adjusted for the "
    "number of pairs by {correction}.",
    unit="trials along {dim}",
    table=tables.comparison_table,
    table_caption="Pairs of algorithms: probability that the first scores higher, its interval (not adjusted for the "
    "number of pairs), the verdict by the band (dominance), the Kolmogorov-Smirnov distance and its adjusted p.",
    sentences=text.comparison_sentences,
    answer=text.comparison_answer,
    views={
        "prob_greater": View(
            plots.draw_prob_greater,
            "Probabilities that the first of a pair scores higher, with their intervals; at 0.5 neither does.",
            plots.say_prob_greater,
            rows=n_pair_rows,
            columns=n_pair_columns,
            many=View(
                plots.draw_prob_greater_of_tasks,
                "Which algorithm of a pair scores higher more often in each task; dark where the interval of the "
                "probability leaves out 0.5.",
                plots.say_prob_greater_of_tasks,
                rows=plots.n_tasks,
                columns=lambda result: result.sizes["pair"],
            ),
        ),
        "quantile_difference": View(
            plots.draw_quantile_difference,
            "Differences of the scores that a share of trials does not exceed, first minus second, with bands that "
            "hold everywhere at once.",
            plots.say_quantile_difference,
            overlaid="pair",
            default=False,
        ),
    },
)
