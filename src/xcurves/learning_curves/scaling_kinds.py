"""The kinds of results of scaling laws."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xcurves.core.applicability import NotApplicableError
from xcurves.core.calls import later
from xcurves.core.labels import CI_BOUNDS
from xcurves.core.scales import RATIO
from xcurves.core.schema import PAIR_COORDS, Comparison, Drawing, Part, ResultKind, Var, View
from xcurves.core.variables import one_where, with_interval
from xcurves.learning_curves.shared_variables import OF_BOTH, OF_PARAM, TASK, predicted, unfit
from xcurves.learning_curves.unfit_laws import LAW_REASONS
from xcurves.say.result_frames import captioned, table_of_variables

if TYPE_CHECKING:
    from xcurves.learning_curves import plots, scaling_text
else:
    plots, scaling_text = later("xcurves.learning_curves", "plots", "scaling_text")

_PARAM = ("task", "param")
_RUN = ("task", "run")
_N = ("task", "n")
_FLOP = ("task", "flop")
_LOSSES = ("predicted loss of a run", "score", "given the law", "the size is far outside those of the runs")
_HOFFMANN = (
    "Hoffmann et al. (2022), Training Compute-Optimal Large Language Models, doi:10.48550/arXiv.2203.15556",
    "Besiroglu, Erdil, Barnett & You (2024), Chinchilla Scaling: A Replication Attempt, doi:10.48550/arXiv.2404.10102",
)


def points_of_law(losses: xr.DataArray) -> tuple[xr.DataArray, dict[str, Any], dict[str, str]]:
    """Return losses at points of model size and tokens, of which readers or calls say which they are."""
    if not {"model_size", "tokens"} <= set(losses.coords) or losses.sizes["training"] > 1:
        raise NotApplicableError("scores have no coordinates model_size and tokens", obvious=True)
    points = losses.isel(training=0, drop=True)
    if points.sizes["algorithm"] == 1:
        points = points.squeeze("algorithm", drop=True)
    return points, {}, {}


def _losses_at(dims: tuple[str, ...], when: str | None = None) -> dict[str, Var]:
    """Return the variables of predicted losses; whether they are extrapolated is a coordinate."""
    found = predicted(dims, *_LOSSES, when)
    found["extrapolated"] = replace(found["extrapolated"], coord=True)
    return found


def _allocated(when: str | None = None) -> dict[str, Var]:
    """Return the variables of an allocation of compute."""
    return {
        **with_interval("n_opt", _FLOP, "best number of parameters", when=when),
        **with_interval("d_opt", _FLOP, "best number of tokens", when=when),
        **with_interval("tokens_per_parameter", _FLOP, "best number of tokens for each parameter", when=when),
        **with_interval("loss_at_optimum", _FLOP, "loss at the best division of compute", "score", when=when),
        "ratio_extrapolated": one_where(_FLOP, "tokens per parameter are outside those of the runs", when, coord=True),
    }


_EXPONENT = with_interval("allocation_exponent", TASK, "exponent of compute in the best number of parameters")
_METHOD = (
    "Loss was modelled as E + A N^-alpha + B D^-beta of parameters N and tokens D, by Huber's loss of log residuals; "
    "intervals of runs are widened by how badly the law predicts its own later runs."
)

_of_law = partial(  # what follows from fitted laws
    ResultKind, argument="fit_scaling_law", core=(), references=_HOFFMANN, method=(_METHOD, "runs")
)

FIT_SCALING_LAW = ResultKind(
    name="fit_scaling_law",
    question="What would more compute buy?",
    argument="losses",
    variables={
        **_allocated("compute"),
        **_EXPONENT,
        "estimate": Var(_PARAM, "parameter of the law", OF_PARAM),
        "estimate_ci_given_law": Var((*_PARAM, "ci_bound"), "interval of the parameter, given the law", OF_PARAM),
        "stderr": Var(_PARAM, "standard error of the parameter, given the law", OF_PARAM),
        "covariance": Var((*_PARAM, "cov_param"), "covariance of the parameters", OF_BOTH),
        "at_bound": one_where(_PARAM, "the parameter is at an end of what is fitted", coord=True),
        "backtest_error": Var(TASK, "root mean squared log error, per root octave, at its own later runs"),
        "exponent_backtest_error": Var(TASK, "root mean squared drift of the allocation exponent, per root octave"),
        "n_opt_backtest_error": Var(TASK, "root mean squared drift of log best model sizes, per root octave"),
        "delta": Var(TASK, "log residual at which Huber's loss turns linear"),
        "objective": Var(TASK, "sum of Huber's loss of log residuals"),
        "n_runs": Var(TASK, "number of runs", dtype=np.int64),
        **_losses_at(_N, when="predict_at"),
        "loss": Var(_RUN, "loss", "score", coord=True),
        "fitted": Var(_RUN, "loss by the law", "score", coord=True),
        "backtest_prediction": Var(_RUN, "loss as the runs below the last cut before predict it", "score", coord=True),
        "unfit": unfit("law", LAW_REASONS),
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
        "Scaling laws: parameters E, A, B, alpha and beta, by how much each misses its own later runs an octave "
        "(backtest), and the exponent a.",
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
    variables=_losses_at(TASK),
    coords={"ci_bound": CI_BOUNDS},
    table=captioned(
        table_of_variables({name: name for name in ("model_size", "tokens", "prediction", "extrapolated")}),
        "Predicted losses of a run by model size and tokens, with intervals; extrapolated: outside the sizes of the "
        "runs.",
    ),
    statements=scaling_text.loss_statements,
)

OPTIMAL_ALLOCATION = _of_law(
    name="optimal_allocation",
    question="How is compute best divided?",
    variables={**_allocated(), **_EXPONENT},
    coords={"flop": (), "ci_bound": CI_BOUNDS},
    rows=("flop",),
    table=captioned(
        table_of_variables(
            {name: name for name in ("n_opt", "d_opt", "tokens_per_parameter", "loss_at_optimum")}, "flop"
        ),
        "Best division of compute: parameters (n opt), tokens (d opt), their ratio, tokens per parameter, and the "
        "loss at the optimum, with intervals.",
    ),
    statements=scaling_text.allocation_statements,
)


COMPARE_SCALING_LAWS = _of_law(
    name="compare_scaling_laws",
    question="Which suite needs less compute?",
    variables={
        **with_interval(
            "exponent_difference", TASK, "difference of the allocation exponents, second minus first", together="pairs"
        ),
        **with_interval(
            "loss_ratio", TASK, "loss of the second suite over that of the first", when="at", together="pairs"
        ),
        **with_interval(
            "compute_multiplier", _FLOP, "times the compute of the second suite", when="compute", together="pairs"
        ),
    },
    coords={"flop": (), "ci_bound": CI_BOUNDS, **PAIR_COORDS},
    rows=("flop",),
    table=captioned(
        table_of_variables(
            {name: name for name in ("loss_ratio", "compute_multiplier", "exponent_difference")}, "flop"
        ),
        "Pairs of suites: ratio of losses, how many times the compute the second needs for the same loss (compute "
        "multiplier), and the difference of the exponents of compute, second less first, with intervals for all pairs "
        "together.",
    ),
    comparison=Comparison(
        estimate="ratio",
        interval="ratio_ci",
        p="",
        noun=scaling_text.need,
        claims=scaling_text.claims_of_suites,
        direction=lambda _: "lower",
        pair=scaling_text.pairs_of_suites,
        reasons=scaling_text.without_ratio,
        more=scaling_text.more_of_suites,
        scale=RATIO,
    ),
)
