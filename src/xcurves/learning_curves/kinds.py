"""The kinds of results of learning curves and of scaling laws."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xcurves.core.applicability import NotApplicableError
from xcurves.core.labels import CI_BOUNDS
from xcurves.core.later import later
from xcurves.core.schema import (
    MOST_CURVES,
    PAIR_COORDS,
    Comparison,
    Drawing,
    Part,
    ResultKind,
    Var,
    View,
)
from xcurves.learning_curves.unfit_curves import REASONS
from xcurves.learning_curves.unfit_laws import LAW_REASONS
from xcurves.say.result_frames import captioned

if TYPE_CHECKING:
    from xcurves.learning_curves import error_rates, plots, scaling_text, tables, text
else:
    error_rates, scaling_text = later("xcurves.learning_curves", "error_rates", "scaling_text")
    plots, tables, text = later("xcurves.learning_curves", "plots", "tables", "text")

COMPARED = ("error_at_n", "data_reliance", "large_sample_error")
_TASK = ("task",)
_SIZE = ("task", "training")
_PARAM = ("task", "param")
_RUN = ("task", "run")
_N = ("task", "n")
_FLOP = ("task", "flop")
_CROSSING = ("task", "crossing")
_OF_PARAM = "that of param"
_OF_BOTH = "that of param times that of cov_param"
_AT = {"at": Var(_TASK, "the size N", "training")}
_HOIEM = (
    "Hoiem, Gupta, Li & Shlapentokh-Rothman (2021), Learning Curves for Analysis of Deep Networks, ICML, PMLR 139, "
    "4287-4296",
)
_HOFFMANN = (
    "Hoffmann et al. (2022), Training Compute-Optimal Large Language Models, doi:10.48550/arXiv.2203.15556",
    "Besiroglu, Erdil, Barnett & You (2024), Chinchilla Scaling: A Replication Attempt, doi:10.48550/arXiv.2404.10102",
)


def points_of_law(
    losses: xr.DataArray,
) -> tuple[xr.DataArray, dict[str, Any], dict[str, str]]:
    """Return losses at points of model size and tokens, of which readers or calls say which they are."""
    if not {"model_size", "tokens"} <= set(losses.coords) or losses.sizes["training"] > 1:
        raise NotApplicableError("scores have no coordinates model_size and tokens", obvious=True)
    points = losses.isel(training=0, drop=True)
    if points.sizes["algorithm"] == 1:
        points = points.squeeze("algorithm", drop=True)
    return points, {}, {}


def _one_where(dims: tuple[str, ...], words: str, when: str | None = None, *, coord: bool = False) -> Var:
    return Var(dims, f"1 where {words}", dtype=np.int8, when=when, coord=coord)


def _unfit(thing: str, reasons: dict[int, str]) -> Var:
    codes = ", ".join(f"{code} {why}" for code, why in reasons.items())
    return Var(
        _TASK,
        f"why the {thing} is not fitted: 0 fitted, {codes}",
        dtype=np.int8,
        coord=True,
    )


def _with_interval(
    name: str,
    dims: tuple[str, ...],
    words: str,
    units: str = "1",
    when: str | None = None,
) -> dict[str, Var]:
    """Return a variable and its interval."""
    interval = Var((*dims, "ci_bound"), f"confidence interval of the {words}", units, when=when)
    return {name: Var(dims, words, units, when=when), f"{name}_ci": interval}


def _predicted(
    dims: tuple[str, ...],
    words: str,
    units: str,
    given: str,
    far: str,
    when: str | None = None,
) -> dict[str, Var]:
    """Return the variables of predicted errors or losses: with intervals, also if the law is `given`."""
    of_law = Var(
        (*dims, "ci_bound"),
        f"confidence interval of the {words}, {given}",
        units,
        when=when,
    )
    both = _with_interval("prediction", dims, words, units, when)
    return {
        **both,
        "prediction_ci_given_law": of_law,
        "extrapolated": _one_where(dims, far, when),
    }


_ERRORS = (
    _N,
    "predicted error",
    "rate",
    "if it is a power law",
    "the size lies far outside the measured ones",
)
_LOSSES = (
    "predicted loss of a run",
    "score",
    "given the law",
    "the size is far outside those of the runs",
)


FIT_POWER_LAW = ResultKind(
    name="fit_power_law",
    question="What would more data buy?",
    argument="errors",
    variables={
        "error_at_n": Var(_TASK, "error at the size N", "rate"),
        "data_reliance": Var(_TASK, "data-reliance at the size N", "rate"),
        "gamma": Var(_TASK, "exponent of the learning curve"),
        "alpha": Var(_TASK, "asymptotic error", "rate"),
        "eta": Var(_TASK, "factor of n^gamma", "eta"),
        "delta": Var(_TASK, "factor of n^(2 gamma)", "delta", when="quadratic"),
        "backtest_error": Var(
            _TASK,
            "root mean squared log error, per root octave, at its own last octaves",
        ),
        "backtest_error_law": Var(_TASK, "the same of the power law alone"),
        "backtest_error_last_fall": Var(_TASK, "the same of the last fall alone"),
        "n_cuts": Var(_TASK, "number of cuts at which the curve was backtested", dtype=np.int64),
        "fitted_from": Var(
            _TASK,
            "smallest size that the power law is fitted to",
            "training",
            coord=True,
        ),
        "n_sizes_used": Var(_TASK, "number of sizes that the power law is fitted to", dtype=np.int64),
        "asymptote_at_bound": _one_where(_TASK, "the asymptotic error is 0, its lower bound"),
        "estimate_ci": Var((*_PARAM, "ci_bound"), "confidence interval of the parameter", _OF_PARAM),
        "stderr": Var(
            _PARAM,
            "standard error of the parameter, with that of the exponent",
            _OF_PARAM,
        ),
        "stderr_given_gamma": Var(_PARAM, "standard error of the parameter, given the exponent", _OF_PARAM),
        "covariance": Var(
            (*_PARAM, "cov_param"),
            "covariance of the parameters, with the exponent's",
            _OF_BOTH,
        ),
        "fitted": Var(_SIZE, "error by the learning curve", "rate"),
        "r_squared": Var(_TASK, "share of the variance of the mean errors that the curve explains"),
        "objective": Var(_TASK, "weighted sum of squares (Eq. 2), errors in percent", "objective"),
        "error_sd": Var(_SIZE, "standard deviation of the error of one fold", "rate"),
        "n_folds": Var(_SIZE, "number of folds", dtype=np.int64),
        "gamma_at_edge": _one_where(_TASK, "the exponent is -0.99 or -0.01, an end of the grid", coord=True),
        "unfit": _unfit("curve", REASONS),
        "at_extrapolated": _one_where(_TASK, "N lies far outside the measured sizes", coord=True),
        "mean_error": Var(_SIZE, "measured error, mean over folds", "rate", coord=True),
        **_predicted(*_ERRORS, when="predict_at"),
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
        "Learning curves: error e_N and data-reliance beta_N at N, parameters, by how much each misses its own last "
        "octaves an octave, and what to know of it.",
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
        **_predicted(*_ERRORS),
        "prediction_by_law": Var(_N, "predicted error by the power law alone", "rate"),
        "prediction_last_fall": Var(_N, "predicted error if the last fall goes on", "rate"),
        "prediction_ci_given_gamma": Var((*_N, "ci_bound"), "interval of the prediction, given the exponent", "rate"),
        **_with_interval("change", _N, "predicted error less that at the size N", "rate"),
        **_with_interval("change_ratio", _N, "predicted error over that at the size N"),
        **_with_interval(
            "difference",
            _N,
            "difference to the prediction for the reference",
            "rate",
            "reference",
        ),
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
        tables.prediction_table,
        "Predicted errors with intervals, and the change from the size N.",
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
        ),
    },
    overlaid=("algorithm",),
)

LEAVE_ONE_SIZE_OUT = ResultKind(
    name="leave_one_size_out",
    question="Does the power law fit?",
    argument="errors",
    variables={
        "rmse": Var(
            ("task", "variant", "training"),
            "root mean squared error at a size, from others",
            "rate",
        ),
        "r_squared": Var(
            ("task", "variant"),
            "share of the variance of mean errors explained, all sizes fitted",
        ),
        "pvalue": Var(
            ("task", "variant"),
            "p-value of the paired t-test against the first variant",
        ),
        "n_curves": Var(_TASK, "number of curves", dtype=np.int64),
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
        "Variants: R², root mean squared error of predicting each size from the others, their mean, and p.",
    ),
    statements=text.left_out_statements,
)

COMPARE_LEARNERS = ResultKind(
    name="compare_learners",
    question="Which learner needs more data?",
    argument="fit_power_law",
    variables={
        **_with_interval("difference", _PARAM, "difference to the reference learner", "rate"),
        "difference_ci_simultaneous": Var(
            (*_PARAM, "ci_bound"),
            "confidence interval of the difference, for all learners together",
            "rate",
        ),
        "equal_from": Var(_CROSSING, "smallest size from where no difference is shown", "training"),
        "equal_to": Var(_CROSSING, "largest size up to where no difference is shown", "training"),
        "crossing_size": Var(
            _CROSSING,
            "size at which the curves cross, with shown differences around it",
            "training",
        ),
        **_with_interval(
            "data_multiplier",
            _TASK,
            "times the data that the reference needs for the same error",
        ),
        "data_multiplier_ci_simultaneous": Var(
            (*_TASK, "ci_bound"),
            "confidence interval of that, for all learners together",
        ),
        "data_multiplier_extrapolated": _one_where(_TASK, "that is far outside the reference's measured sizes"),
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
        "Learners beside the reference: differences, sizes between which none is shown, crossings, worth in data; "
        "intervals are for all learners together.",
    ),
    comparison=Comparison(
        estimate="difference",
        interval="difference_ci_simultaneous",
        p="",
        noun=text.error_at,
        direction=lambda _: "lower",
        pair=text.pairs_of_learners,
        reasons=text.without_curves,
        more=text.more_of_learners,
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
        ),
    },
    overlaid=("algorithm",),
)


def _predicted_losses(dims: tuple[str, ...], when: str | None = None) -> dict[str, Var]:
    """Return the variables of predicted losses; whether they are extrapolated is a coordinate."""
    found = _predicted(dims, *_LOSSES, when)
    found["extrapolated"] = replace(found["extrapolated"], coord=True)
    return found


def _allocated(when: str | None = None) -> dict[str, Var]:
    """Return the variables of an allocation of compute."""
    return {
        **_with_interval("n_opt", _FLOP, "best number of parameters", when=when),
        **_with_interval("d_opt", _FLOP, "best number of tokens", when=when),
        **_with_interval(
            "tokens_per_parameter",
            _FLOP,
            "best number of tokens for each parameter",
            when=when,
        ),
        **_with_interval(
            "loss_at_optimum",
            _FLOP,
            "loss at the best division of compute",
            "score",
            when=when,
        ),
        "ratio_extrapolated": _one_where(
            _FLOP,
            "tokens per parameter are outside those of the runs",
            when,
            coord=True,
        ),
    }


_EXPONENT = _with_interval("allocation_exponent", _TASK, "exponent of compute in the best number of parameters")
_METHOD = (
    "Loss was modelled as E + A N^-alpha + B D^-beta of parameters N and tokens D, by Huber's loss of log residuals; "
    "intervals of runs are widened by how badly the law predicts its own later runs."
)

_of_law = partial(  # what follows from fitted laws
    ResultKind,
    argument="fit_scaling_law",
    core=(),
    references=_HOFFMANN,
    method=(_METHOD, "runs"),
)

FIT_SCALING_LAW = ResultKind(
    name="fit_scaling_law",
    question="What would more compute buy?",
    argument="losses",
    variables={
        **_allocated("compute"),
        **_EXPONENT,
        "estimate": Var(_PARAM, "parameter of the law", _OF_PARAM),
        "estimate_ci_given_law": Var((*_PARAM, "ci_bound"), "interval of the parameter, given the law", _OF_PARAM),
        "stderr": Var(_PARAM, "standard error of the parameter, given the law", _OF_PARAM),
        "covariance": Var((*_PARAM, "cov_param"), "covariance of the parameters", _OF_BOTH),
        "at_bound": _one_where(_PARAM, "the parameter is at an end of what is fitted", coord=True),
        "backtest_error": Var(_TASK, "root mean squared log error, per root octave, at its own later runs"),
        "exponent_backtest_error": Var(_TASK, "root mean squared drift of the allocation exponent, per root octave"),
        "n_opt_backtest_error": Var(_TASK, "root mean squared drift of log best model sizes, per root octave"),
        "delta": Var(_TASK, "log residual at which Huber's loss turns linear"),
        "objective": Var(_TASK, "sum of Huber's loss of log residuals"),
        "n_runs": Var(_TASK, "number of runs", dtype=np.int64),
        **_predicted_losses(_N, when="predict_at"),
        "loss": Var(_RUN, "loss", "score", coord=True),
        "fitted": Var(_RUN, "loss by the law", "score", coord=True),
        "backtest_prediction": Var(
            _RUN,
            "loss as the runs below the last cut before predict it",
            "score",
            coord=True,
        ),
        "unfit": _unfit("law", LAW_REASONS),
    },
    coords={
        "param": (),
        "cov_param": (),
        "ci_bound": CI_BOUNDS,
        "n": (),
        "flop": (),
        "at_model_size": Var(("n",), "parameters of the model"),
        "at_tokens": Var(("n",), "tokens"),
    },
    core=("run",),
    references=_HOFFMANN,
    table=captioned(
        scaling_text.law_table,
        "Scaling laws: parameters, by how much each misses its own later runs an octave, and the exponent a.",
    ),
    statements=scaling_text.law_statements,
    part=Part(None, points_of_law, refuses=True),
    views={
        "isoflop": View(
            Drawing(picture=plots.isoflop),
            "Loss against model size. Dots are runs, curves the law at equal compute, both coloured by compute.",
            panels={"algorithm": 1},
        ),
        "fitted": View(
            Drawing(picture=plots.fitted),
            "Measured loss against loss by the law. Crosses are later runs as the runs below a cut predict them.",
            default=False,
            panels={"algorithm": 1},
        ),
        "allocation": View(
            Drawing(picture=plots.allocation),
            "Best model size against compute, its interval shaded. Dots: runs; the dashed line: the largest.",
            default=False,
            panels={"algorithm": 1},
        ),
    },
    method=(_METHOD, "runs"),
    overlaid=("algorithm",),
)

PREDICT_LOSS = _of_law(
    name="predict_loss",
    question="Which losses are predicted?",
    variables=_predicted_losses(_TASK),
    coords={"ci_bound": CI_BOUNDS},
    table=captioned(scaling_text.loss_table, "Predicted losses of a run, with intervals."),
    statements=scaling_text.loss_statements,
)

OPTIMAL_ALLOCATION = _of_law(
    name="optimal_allocation",
    question="How is compute best divided?",
    variables={**_allocated(), **_EXPONENT},
    coords={"flop": (), "ci_bound": CI_BOUNDS},
    rows=("flop",),
    table=captioned(
        scaling_text.allocation_table,
        "Best division of compute, with intervals.",
    ),
    statements=scaling_text.allocation_statements,
)


def _of_suites(name: str, dims: tuple[str, ...], words: str, when: str | None = None) -> dict[str, Var]:
    """Return a variable of pairs with its interval, by itself and for all pairs together."""
    together = Var(
        (*dims, "ci_bound"),
        f"confidence interval of the {words}, for all pairs together",
        when=when,
    )
    return _with_interval(name, dims, words, when=when) | {f"{name}_ci_simultaneous": together}


COMPARE_SCALING_LAWS = _of_law(
    name="compare_scaling_laws",
    question="Which suite needs less compute?",
    variables={
        **_of_suites(
            "exponent_difference",
            _TASK,
            "difference of the allocation exponents, second minus first",
        ),
        **_of_suites(
            "loss_ratio",
            _TASK,
            "loss of the second suite over that of the first",
            when="at",
        ),
        **_of_suites(
            "compute_multiplier",
            _FLOP,
            "times the compute of the second suite",
            when="compute",
        ),
    },
    coords={
        "flop": (),
        "ci_bound": CI_BOUNDS,
        **PAIR_COORDS,
    },
    rows=("flop",),
    table=captioned(
        scaling_text.suite_table,
        "Pairs of suites: ratio of losses, and how many times the compute the second needs for the same loss, with "
        "intervals for all pairs together.",
    ),
    statements=scaling_text.suite_statements,
)
