"""The kinds of results of scaling laws."""

from __future__ import annotations

import numpy as np

from xcurves.core.labels import CI_BOUNDS
from xcurves.core.schema import ResultKind, Var, View, captioned
from xcurves.learning_curves import scaling_plots, scaling_text
from xcurves.learning_curves.scaling_points import REASONS

_LAW = ("task",)
_PARAM = ("task", "param")
_RUN = ("task", "run")
_N = ("task", "n")
_FLOP = ("task", "flop")
_OF_PARAM = "that of param"
_PAPERS = (
    "Hoffmann et al. (2022), Training Compute-Optimal Large Language Models, doi:10.48550/arXiv.2203.15556",
    "Besiroglu, Erdil, Barnett & You (2024), Chinchilla Scaling: A Replication Attempt, doi:10.48550/arXiv.2404.10102",
)


def _with_interval(
    name: str, dims: tuple[str, ...], words: str, units: str = "1", when: str | None = None
) -> dict[str, Var]:
    """Return a variable and its interval."""
    interval = Var((*dims, "ci_bound"), f"confidence interval of the {words}", units, when=when)
    return {name: Var(dims, words, units, when=when), f"{name}_ci": interval}


def _allocation(when: str | None = None) -> dict[str, Var]:
    """Return the variables of an allocation of compute."""
    return {
        **_with_interval("n_opt", _FLOP, "best number of parameters", when=when),
        **_with_interval("d_opt", _FLOP, "best number of tokens", when=when),
        **_with_interval("tokens_per_parameter", _FLOP, "best number of tokens for each parameter", when=when),
        **_with_interval("loss_at_optimum", _FLOP, "loss at the best division of compute", "score", when=when),
        "ratio_extrapolated": Var(
            _FLOP, "1 where tokens per parameter are outside those of the runs", dtype=np.int8, when=when
        ),
    }


def _prediction(dims: tuple[str, ...], when: str | None = None) -> dict[str, Var]:
    """Return the variables of predicted losses."""
    return {
        **_with_interval("prediction", dims, "predicted loss of a run", "score", when),
        "prediction_ci_given_law": Var(
            (*dims, "ci_bound"), "confidence interval of the predicted loss, given the law", "score", when=when
        ),
        "extrapolated": Var(dims, "1 where the size is far outside those of the runs", dtype=np.int8, when=when),
    }


_EXPONENT = _with_interval("allocation_exponent", _LAW, "exponent of compute in the best number of parameters")
_METHOD = (
    "Loss was modelled as E + A N^-alpha + B D^-beta of parameters N and tokens D, by Huber's loss of log residuals; "
    "intervals of runs are widened by how badly the law predicts its own later runs."
)

FIT_SCALING_LAW = ResultKind(
    name="fit_scaling_law",
    question="What would more compute buy?",
    argument="losses",
    variables={
        **_allocation("compute"),
        **_EXPONENT,
        "estimate": Var(_PARAM, "parameter of the law", _OF_PARAM),
        "estimate_ci_given_law": Var(
            (*_PARAM, "ci_bound"), "confidence interval of the parameter, given the law", _OF_PARAM
        ),
        "stderr": Var(_PARAM, "standard error of the parameter, given the law", _OF_PARAM),
        "covariance": Var(
            (*_PARAM, "cov_param"), "covariance of the parameters", "that of param times that of cov_param"
        ),
        "at_bound": Var(_PARAM, "1 where the parameter is at an end of what is fitted", dtype=np.int8),
        "backtest_error": Var(
            _LAW, "root mean squared log error, per root octave, of predicting the law's own later runs"
        ),
        "exponent_backtest_error": Var(_LAW, "root mean squared drift of the allocation exponent, per root octave"),
        "n_opt_backtest_error": Var(_LAW, "root mean squared drift of the log of the best model size, per root octave"),
        "delta": Var(_LAW, "log residual at which Huber's loss turns linear"),
        "objective": Var(_LAW, "sum of Huber's loss of log residuals"),
        "n_runs": Var(_LAW, "number of runs", dtype=np.int64),
        **_prediction(_N, "predict_at"),
        "loss": Var(_RUN, "loss", "score"),
        "fitted": Var(_RUN, "loss by the law", "score"),
        "backtest_prediction": Var(_RUN, "loss as the runs below the last cut before predict it", "score"),
        "unfit": Var(
            _LAW,
            "why the law is not fitted: 0 fitted, " + ", ".join(f"{code} {why}" for code, why in REASONS.items()),
            dtype=np.int8,
        ),
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
    references=_PAPERS,
    table=captioned(
        scaling_text.fit_table,
        "Scaling laws: the parameters, by how much each law misses its own later runs (as a share of the loss for one "
        "octave), and the exponent a of compute in the best model size.",
    ),
    statements=scaling_text.fit_statements,
    views={
        "isoflop": View(
            scaling_plots.draw_isoflop,
            "Loss against model size. Dots are runs, curves the law at equal compute, both coloured by compute.",
            panels={"algorithm": 1},
        ),
        "fitted": View(
            scaling_plots.draw_fitted,
            "Measured loss against loss by the law. Crosses are later runs as the runs below a cut predict them.",
            default=False,
            panels={"algorithm": 1},
        ),
        "allocation": View(
            scaling_plots.draw_allocation,
            "Best model size against compute, with the interval shaded. Dots are runs; the largest run is at the "
            "dashed line.",
            default=False,
            panels={"algorithm": 1},
        ),
    },
    method=(_METHOD, "runs"),
    overlaid=("algorithm",),
)

PREDICT_LOSS = ResultKind(
    name="predict_loss",
    question="Which losses are predicted?",
    argument="fit_scaling_law",
    variables=_prediction(_LAW),
    coords={"ci_bound": CI_BOUNDS},
    core=(),
    references=_PAPERS,
    table=captioned(scaling_text.prediction_table, "Predicted losses of a run, with intervals."),
    statements=scaling_text.prediction_statements,
    method=(_METHOD, "runs"),
)

OPTIMAL_ALLOCATION = ResultKind(
    name="optimal_allocation",
    question="How is compute best divided?",
    argument="fit_scaling_law",
    variables={**_allocation(), **_EXPONENT},
    coords={"flop": (), "ci_bound": CI_BOUNDS},
    rows=("flop",),
    core=(),
    references=_PAPERS,
    table=captioned(
        scaling_text.allocation_table,
        "Best division of compute: parameters, tokens, tokens per parameter and loss, with intervals.",
    ),
    statements=scaling_text.allocation_statements,
    method=(_METHOD, "runs"),
)

COMPARE_SCALING_LAWS = ResultKind(
    name="compare_scaling_laws",
    question="Which suite needs less compute?",
    argument="fit_scaling_law",
    variables={
        **_with_interval("exponent_difference", _LAW, "difference of the allocation exponents, second minus first"),
        **_with_interval("loss_ratio", _LAW, "loss of the second suite over that of the first", when="at"),
        **_with_interval(
            "compute_multiplier",
            _FLOP,
            "times the compute that the second suite needs for the same loss",
            when="compute",
        ),
    },
    coords={
        "flop": (),
        "ci_bound": CI_BOUNDS,
        "algorithm_a": Var(("pair",), "first suite of the pair"),
        "algorithm_b": Var(("pair",), "second suite of the pair"),
    },
    rows=("flop",),
    core=(),
    references=_PAPERS,
    table=captioned(
        scaling_text.comparison_table,
        "Pairs of suites: the loss of the second over that of the first, and how many times the compute it needs for "
        "the same loss, with intervals.",
    ),
    statements=scaling_text.comparison_statements,
    method=(_METHOD, "runs"),
)
