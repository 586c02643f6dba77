"""The kinds of results of learning curves; those of scaling laws are in `scaling_kinds`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xcurves.core.calls import later
from xcurves.core.labels import CI_BOUNDS
from xcurves.core.schema import MOST_CURVES, Comparison, Drawing, Part, ResultKind, Var, View
from xcurves.core.variables import one_where, with_interval
from xcurves.learning_curves.scaling_kinds import (
    COMPARE_SCALING_LAWS,
    FIT_SCALING_LAW,
    OPTIMAL_ALLOCATION,
    PREDICT_LOSS,
)
from xcurves.learning_curves.shared_variables import OF_BOTH, OF_PARAM, TASK, predicted, unfit
from xcurves.learning_curves.unfit_curves import REASONS
from xcurves.say.result_frames import captioned, table_of_variables

if TYPE_CHECKING:
    from xcurves.learning_curves import error_rates, plots, tables, text
else:
    error_rates, plots, tables, text = later("xcurves.learning_curves", "error_rates", "plots", "tables", "text")

COMPARED = ("error_at_n", "data_reliance", "large_sample_error")
_SIZE = ("task", "training")
_PARAM = ("task", "param")
_N = ("task", "n")
_CROSSING = ("task", "crossing")
_AT = {"at": Var(TASK, "the size N", "training")}
_HOIEM = (
    "Hoiem, Gupta, Li & Shlapentokh-Rothman (2021), Learning Curves for Analysis of Deep Networks, ICML, PMLR 139, "
    "4287-4296",
)
_ERRORS = (_N, "predicted error", "rate", "if it is a power law", "the size lies far outside the measured ones")
__all__ = [  # by their names, among them those of scaling laws
    "COMPARE_LEARNERS",
    "COMPARE_SCALING_LAWS",
    "FIT_POWER_LAW",
    "FIT_SCALING_LAW",
    "LEAVE_ONE_SIZE_OUT",
    "OPTIMAL_ALLOCATION",
    "PREDICT",
    "PREDICT_LOSS",
]

FIT_POWER_LAW = ResultKind(
    name="fit_power_law",
    question="What would more data buy?",
    argument="errors",
    variables={
        "error_at_n": Var(TASK, "error at the size N", "rate"),
        "data_reliance": Var(TASK, "data-reliance at the size N", "rate"),
        "gamma": Var(TASK, "exponent of the learning curve"),
        "alpha": Var(TASK, "asymptotic error", "rate"),
        "eta": Var(TASK, "factor of n^gamma", "eta"),
        "delta": Var(TASK, "factor of n^(2 gamma)", "delta", when="quadratic"),
        "backtest_error": Var(TASK, "root mean squared log error, per root octave, at its own last octaves"),
        "backtest_error_law": Var(TASK, "the same of the power law alone"),
        "backtest_error_last_fall": Var(TASK, "the same of the last fall alone"),
        "n_cuts": Var(TASK, "number of cuts at which the curve was backtested", dtype=np.int64),
        "fitted_from": Var(TASK, "smallest size that the power law is fitted to", "training", coord=True),
        "n_sizes_used": Var(TASK, "number of sizes that the power law is fitted to", dtype=np.int64),
        "asymptote_at_bound": one_where(TASK, "the asymptotic error is 0, its lower bound"),
        "estimate_ci": Var((*_PARAM, "ci_bound"), "confidence interval of the parameter", OF_PARAM),
        "stderr": Var(_PARAM, "standard error of the parameter, with that of the exponent", OF_PARAM),
        "stderr_given_gamma": Var(_PARAM, "standard error of the parameter, given the exponent", OF_PARAM),
        "covariance": Var((*_PARAM, "cov_param"), "covariance of the parameters, with the exponent's", OF_BOTH),
        "fitted": Var(_SIZE, "error by the learning curve", "rate"),
        "r_squared": Var(TASK, "share of the variance of the mean errors that the curve explains"),
        "objective": Var(TASK, "weighted sum of squares (Eq. 2), errors in percent", "objective"),
        "error_sd": Var(_SIZE, "standard deviation of the error of one fold", "rate"),
        "n_folds": Var(_SIZE, "number of folds", dtype=np.int64),
        "gamma_at_edge": one_where(TASK, "the exponent is -0.99 or -0.01, an end of the grid", coord=True),
        "unfit": unfit("curve", REASONS),
        "at_extrapolated": one_where(TASK, "N lies far outside the measured sizes", coord=True),
        "mean_error": Var(_SIZE, "measured error, mean over folds", "rate", coord=True),
        **predicted(*_ERRORS, when="predict_at"),
    },
    coords={"param": (), "cov_param": (), "ci_bound": CI_BOUNDS, "n": (), **_AT},
    core=("run", "training"),
    references=_HOIEM,
    method=(
        "Error was modelled as a power law of the training size, e(n) = alpha + eta n^gamma, fitted by weighted "
        "least squares (weights: {weighting}, asymptote: {asymptote}), and reported as error and data-reliance at one "
        "size.",
        "folds",
    ),
    table=captioned(
        tables.fit_table,
        "Learning curves: error e_N and data-reliance beta_N at N, parameters (gamma, alpha, eta), by how much each "
        "misses its own last octaves an octave (backtest), and a note of what to know of it.",
    ),
    statements=text.fit_statements,
    part=Part(3, error_rates.applicable_errors, refuses=True),
    views={
        "curve": View(
            Drawing(picture=plots.learning_curves),
            {
                "": "Mean errors against training size, both axes logarithmic.",
                "fitted": "Lines: the fitted curve.",
                "left out": "Open markers: sizes that the curve is not fitted to.",
                "predicted": "Dashes beyond the last size: what the curve predicts.",
                "band": "Shades: intervals of the curve.",
                "asked": "Diamonds: the predictions that were asked for, with their intervals.",
                "missed": "A star names curves that miss their own last octaves.",
            },
            panels={"algorithm": MOST_CURVES},
        ),
        "scatter": View(
            Drawing(picture=plots.scatter),
            "Error against data-reliance, a point for each learner, with intervals.",
            default=False,
        ),
    },
    overlaid=("algorithm",),
)

PREDICT = ResultKind(
    name="predict",
    question="Which errors are predicted?",
    argument="fit_power_law",
    variables={
        **predicted(*_ERRORS),
        "prediction_by_law": Var(_N, "predicted error by the power law alone", "rate"),
        "prediction_last_fall": Var(_N, "predicted error if the last fall goes on", "rate"),
        "prediction_ci_given_gamma": Var((*_N, "ci_bound"), "interval of the prediction, given the exponent", "rate"),
        **with_interval("change", _N, "predicted error less that at the size N", "rate"),
        **with_interval("change_ratio", _N, "predicted error over that at the size N"),
        **with_interval("difference", _N, "difference to the prediction for the reference", "rate", "reference"),
        "mean_error": Var(_SIZE, "measured error, mean over folds", "rate", when="the fit"),
        "fitted": Var(_SIZE, "error by the learning curve", "rate", when="the fit"),
    },
    coords={"n": (), "ci_bound": CI_BOUNDS, **_AT},
    rows=("n",),
    core=(),
    references=_HOIEM,
    method=(
        "Errors at other training sizes were predicted from power laws and last falls (rule: {rule}), with "
        "intervals that allow for the error of extrapolation.",
        "folds",
    ),
    table=captioned(
        table_of_variables(
            {name: name for name in ("n", "prediction", "change")}
            | {"ratio": "change_ratio", "extrapolated": "extrapolated"},
            "n",
        ),
        "Predicted errors with intervals, the change from the size N and the ratio to its error; extrapolated: far "
        "outside the measured sizes.",
    ),
    statements=text.prediction_statements,
    views={
        "prediction": View(
            Drawing(picture=plots.predictions),
            {
                "": "Predicted errors against training size, both axes logarithmic.",
                "measured": "Points: measured errors.",
                "fitted": "Lines: the fitted curve.",
                "asked": "Diamonds: predicted errors with their intervals, joined by dashes.",
                "predicted": "Dashes: predicted errors.",
                "band": "Shades: their intervals.",
            },
            panels={"algorithm": MOST_CURVES},
        )
    },
    overlaid=("algorithm",),
)

LEAVE_ONE_SIZE_OUT = ResultKind(
    name="leave_one_size_out",
    question="Does the power law fit?",
    argument="errors",
    variables={
        "rmse": Var(("task", "variant", "training"), "root mean squared error at a size, from others", "rate"),
        "r_squared": Var(("task", "variant"), "share of the variance of mean errors explained, all sizes fitted"),
        "pvalue": Var(("task", "variant"), "p-value of the paired t-test against the first variant"),
        "n_curves": Var(TASK, "number of curves", dtype=np.int64),
    },
    coords={"variant": ()},
    rows=("variant",),
    references=_HOIEM,
    method=(
        "The power law was checked by predicting the mean error at each training size from all other sizes, for "
        "several variants of the model, compared by a paired randomization test over curves.",
        "curves",
    ),
    table=captioned(
        tables.left_out_table,
        "Variants: R², root mean squared error of predicting each size from the others, their average (avg), and p.",
    ),
    statements=text.left_out_statements,
)

COMPARE_LEARNERS = ResultKind(
    name="compare_learners",
    question="Which learner needs more data?",
    argument="fit_power_law",
    variables={
        **with_interval("difference", _PARAM, "difference to the reference learner", "rate", together="learners"),
        "equal_from": Var(_CROSSING, "smallest size from where no difference is shown", "training"),
        "equal_to": Var(_CROSSING, "largest size up to where no difference is shown", "training"),
        "crossing_size": Var(_CROSSING, "size at which the curves cross, with shown differences around it", "training"),
        **with_interval(
            "data_multiplier", TASK, "times the data that the reference needs for the same error", together="learners"
        ),
        "data_multiplier_extrapolated": one_where(TASK, "that is far outside the reference's measured sizes"),
    },
    coords={"param": COMPARED, "ci_bound": CI_BOUNDS, "crossing": (), **_AT},
    core=(),
    references=_HOIEM,
    method=(
        "The learning curve of each algorithm, a power law of the training size, was compared with that of the "
        "reference: differences of error and data-reliance, and the sizes at which the curves cross.",
        "folds",
    ),
    comparison=Comparison(
        estimate="difference",
        interval="difference_ci_simultaneous",
        p="",
        noun=text.error_at,
        direction=lambda _: "lower",
        pair=text.pairs_of_learners,
        reasons="no fitted curve",
        more=text.more_of_learners,
        column="error_at_n",
        caption="Learners beside the reference: differences of the error at N, of the data-reliance and of the "
        "large-sample error; from which size to which both are equal, as far as is shown, and where they cross "
        "(crossing); how many times the data each is worth (multiplier), extrapolated where that is far outside the "
        "measured sizes.",
        columns=tables.columns_of_learners,
    ),
    views={
        "difference": View(
            Drawing(picture=plots.learners),
            {
                "": "Each learner less the reference, with the interval for all learners together.",
                "shown": "Filled: shown.",
                "arrow": "Arrows mark sides without a limit.",
            },
            panels={"param": 1},
        )
    },
    overlaid=("algorithm",),
)
