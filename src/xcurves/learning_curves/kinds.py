"""The kinds of results of learning curves."""

from __future__ import annotations

import numpy as np

from xcurves.core.axes import MOST_CURVES
from xcurves.core.labels import CI_BOUNDS
from xcurves.core.schema import Part, ResultKind, Var, View, captioned
from xcurves.learning_curves import plots, tables, text
from xcurves.learning_curves.error_rates import REASONS, applicable_errors
from xcurves.learning_curves.scaling_kinds import COMPARE_SCALING_LAWS as COMPARE_SCALING_LAWS
from xcurves.learning_curves.scaling_kinds import FIT_SCALING_LAW as FIT_SCALING_LAW
from xcurves.learning_curves.scaling_kinds import OPTIMAL_ALLOCATION as OPTIMAL_ALLOCATION
from xcurves.learning_curves.scaling_kinds import PREDICT_LOSS as PREDICT_LOSS

COMPARED = ("error_at_n", "data_reliance", "large_sample_error")
_SIZE = ("task", "training")
_PARAM = ("task", "param")
_N = ("task", "n")
_CROSSING = ("task", "crossing")
_HOIEM = (
    "Hoiem, Gupta, Li & Shlapentokh-Rothman (2021), Learning Curves for Analysis of Deep Networks, ICML, PMLR 139, "
    "4287-4296",
)
_PREDICTION = Var(_N, "predicted error", "rate")
_PREDICTION_CI = Var((*_N, "ci_bound"), "confidence interval of the predicted error", "rate")
_GIVEN_LAW = Var((*_N, "ci_bound"), "confidence interval of the predicted error, if it is a power law", "rate")
_EXTRAPOLATED = Var(_N, "1 where the size lies far outside the measured ones", dtype=np.int8)
_OF_PARAM = "that of param"
_AT = {"at": Var(("task",), "the size N", "training")}

FIT_POWER_LAW = ResultKind(
    name="fit_power_law",
    question="What would more data buy?",
    argument="errors",
    variables={
        "error_at_n": Var(("task",), "error at the size N", "rate"),
        "data_reliance": Var(("task",), "data-reliance at the size N", "rate"),
        "gamma": Var(("task",), "exponent of the learning curve"),
        "alpha": Var(("task",), "asymptotic error", "rate"),
        "eta": Var(("task",), "factor of n^gamma", "eta"),
        "delta": Var(("task",), "factor of n^(2 gamma)", "delta", when="quadratic"),
        "backtest_error": Var(
            ("task",), "root mean squared log error, per root octave, of predicting the curve's own last octaves"
        ),
        "backtest_error_law": Var(("task",), "the same of the power law alone"),
        "backtest_error_last_fall": Var(("task",), "the same of the last fall alone"),
        "n_cuts": Var(("task",), "number of cuts at which the curve was backtested", dtype=np.int64),
        "fitted_from": Var(("task",), "smallest size that the power law is fitted to", "training"),
        "n_sizes_used": Var(("task",), "number of sizes that the power law is fitted to", dtype=np.int64),
        "asymptote_at_bound": Var(("task",), "1 where the asymptotic error is 0, its lower bound", dtype=np.int8),
        "estimate_ci": Var((*_PARAM, "ci_bound"), "confidence interval of the parameter", _OF_PARAM),
        "stderr": Var(_PARAM, "standard error of the parameter, the exponent's uncertainty included", _OF_PARAM),
        "stderr_given_gamma": Var(_PARAM, "standard error of the parameter, given the exponent", _OF_PARAM),
        "covariance": Var(
            (*_PARAM, "cov_param"),
            "covariance of the parameters, the exponent's uncertainty included",
            "that of param times that of cov_param",
        ),
        "fitted": Var(_SIZE, "error by the learning curve", "rate"),
        "r_squared": Var(("task",), "share of the variance of the mean errors that the curve explains"),
        "objective": Var(("task",), "weighted sum of squares (Eq. 2), errors in percent", "objective"),
        "error_sd": Var(_SIZE, "standard deviation of the error of one fold", "rate"),
        "n_folds": Var(_SIZE, "number of folds", dtype=np.int64),
        "gamma_at_edge": Var(("task",), "1 where the exponent is -0.99 or -0.01, an end of the grid", dtype=np.int8),
        "unfit": Var(
            ("task",),
            "why the curve is not fitted: 0 fitted, " + ", ".join(f"{code} {why}" for code, why in REASONS.items()),
            dtype=np.int8,
        ),
        "at_extrapolated": Var(("task",), "1 where N lies far outside the measured sizes", dtype=np.int8),
        "mean_error": Var(_SIZE, "measured error, mean over folds", "rate"),
        "prediction": Var(_N, _PREDICTION.long_name, "rate", when="predict_at"),
        "prediction_ci": Var((*_N, "ci_bound"), _PREDICTION_CI.long_name, "rate", when="predict_at"),
        "prediction_ci_given_law": Var((*_N, "ci_bound"), _GIVEN_LAW.long_name, "rate", when="predict_at"),
        "extrapolated": Var(_N, _EXTRAPOLATED.long_name, dtype=np.int8, when="predict_at"),
    },
    coords={"param": (), "cov_param": (), "ci_bound": CI_BOUNDS, "n": (), **_AT},
    core=("run", "training"),
    references=_HOIEM,
    method=(
        "Error was modelled as a power law of the training size, e(n) = alpha + eta n^gamma, fitted by weighted "
        "least squares (weights: {weights}, asymptote: {asymptote}), and reported as error and data-reliance at one "
        "size.",
        "folds",
    ),
    table=captioned(
        tables.fit_table,
        "Learning curves: error e_N and data-reliance beta_N at the size N, the parameters, by how much the "
        "curve misses its own last octaves, as a share of the error for one octave, and what to know of a curve.",
    ),
    statements=text.fit_statements,
    part=Part("power_law", 3, applicable_errors, refuses=True),
    views={
        "curve": View(
            plots.draw_learning_curves,
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
            plots.draw_scatter,
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
        "prediction": _PREDICTION,
        "prediction_ci": _PREDICTION_CI,
        "prediction_by_law": Var(_N, "predicted error by the power law alone", "rate"),
        "prediction_ci_given_law": _GIVEN_LAW,
        "prediction_last_fall": Var(_N, "predicted error if the last fall goes on", "rate"),
        "prediction_ci_given_gamma": Var(
            (*_N, "ci_bound"), "confidence interval of the predicted error, given the exponent", "rate"
        ),
        "change": Var(_N, "predicted error less that at the size N", "rate"),
        "change_ci": Var((*_N, "ci_bound"), "confidence interval of the change of the error", "rate"),
        "change_ratio": Var(_N, "predicted error over that at the size N"),
        "change_ratio_ci": Var((*_N, "ci_bound"), "confidence interval of the ratio of errors"),
        "difference": Var(_N, "difference to the prediction for the reference", "rate", when="reference"),
        "difference_ci": Var((*_N, "ci_bound"), "confidence interval of the difference", "rate", when="reference"),
        "extrapolated": _EXTRAPOLATED,
    },
    coords={"n": (), "ci_bound": CI_BOUNDS, **_AT},
    rows=("n",),
    core=(),
    references=_HOIEM,
    method=(
        "Errors at other training sizes were predicted from power laws and last falls (rule: {method}), with "
        "intervals that allow for the error of extrapolation.",
        "folds",
    ),
    table=captioned(
        tables.prediction_table,
        "Predicted errors with intervals, and the change from the size N.",
    ),
    statements=text.prediction_statements,
)

LEAVE_ONE_SIZE_OUT = ResultKind(
    name="leave_one_size_out",
    question="Does the power law fit?",
    argument="errors",
    variables={
        "rmse": Var(
            ("task", "variant", "training"),
            "root mean squared error of predicting the mean error at a size from the other sizes",
            "rate",
        ),
        "r_squared": Var(
            ("task", "variant"), "share of the variance of the mean errors that the curve explains, all sizes fitted"
        ),
        "pvalue": Var(("task", "variant"), "p-value of the paired t-test against the first variant"),
        "n_curves": Var(("task",), "number of curves", dtype=np.int64),
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
        "Variants of the learning curve: R², root mean squared error of predicting each size from the "
        "others, their mean, and p of the comparison with the first variant.",
    ),
    statements=text.left_out_statements,
)

COMPARE_LEARNERS = ResultKind(
    name="compare_learners",
    question="Which learner needs more data?",
    argument="fit_power_law",
    variables={
        "difference": Var(_PARAM, "difference to the reference learner", "rate"),
        "difference_ci": Var((*_PARAM, "ci_bound"), "confidence interval of the difference", "rate"),
        "equal_from": Var(_CROSSING, "smallest size from where no difference is shown", "training"),
        "equal_to": Var(_CROSSING, "largest size up to where no difference is shown", "training"),
        "crossing_size": Var(
            _CROSSING, "training size at which the curves cross, opposite differences being shown around it", "training"
        ),
        "data_multiplier": Var(("task",), "times the data that the reference needs for the same error"),
        "data_multiplier_ci": Var(("task", "ci_bound"), "confidence interval of the data multiplier"),
        "data_multiplier_extrapolated": Var(
            ("task",), "1 where the multiplied data lie far outside the reference's measured sizes", dtype=np.int8
        ),
    },
    coords={"param": COMPARED, "ci_bound": CI_BOUNDS, "crossing": (), **_AT},
    core=(),
    references=_HOIEM,
    method=(
        "The learning curve of each algorithm, a power law of the training size, was compared with that of the "
        "reference: differences of error and data-reliance, and the sizes at which the curves cross.",
        "folds",
    ),
    table=captioned(
        tables.learner_table,
        "Learners beside the reference: differences with their intervals, the sizes between which none is "
        "shown and at which the curves cross, and how many times the data the difference is worth.",
    ),
    statements=text.learner_statements,
)
