"""Loss as a law of model size and tokens."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core import provenance
from xcurves.core.driver import per_task
from xcurves.core.jobs import Group
from xcurves.core.refusal import UNSAID, Refusal
from xcurves.core.run_checks import Context
from xcurves.core.validation import check_curves
from xcurves.kernels.intervals import t_quantile
from xcurves.kernels.laws import scaling_intervals
from xcurves.kernels.laws.powerlaw import around, around_in_logs
from xcurves.kernels.laws.scaling_law import ALPHA, HIGHEST, LOWEST, A, B, E, Runs
from xcurves.learning_curves import kinds, unfit_laws
from xcurves.learning_curves import scaling_laws as laws
from xcurves.learning_curves.curvefit import blank, put, say_unfit
from xcurves.learning_curves.error_rates import LARGEST, check_n, check_number

_CURES = {
    unfit_laws.TOGETHER: "Vary tokens at one model size, or fit compute alone: losses as a curve over training",
    unfit_laws.NOT_POSITIVE: "Give losses above 0, or mask the others: losses.where(losses > 0)",
    unfit_laws.EQUAL: "Check which losses were given",
}


def fit_scaling_law(
    losses: xr.DataArray,
    *,
    delta: float | None = None,
    predict_at: Sequence[tuple[float, float]] | Floats | None = None,
    compute: float | Sequence[float] | Floats | None = None,
    flops_per_token_and_parameter: float = 6.0,
    confidence_level: float = 0.95,
) -> xr.Dataset:
    r"""Fit loss as a law of model size and tokens: what more of both would give, and how to divide compute.

    Parameters
    ----------
    losses : DataArray
        Losses of finished runs, with the coordinates `model_size` (N, parameters) and `tokens` (D). The dims that these
        two span are the runs, and so is `run`; NaN is an absent run. All other dims (validation, training_set)
        broadcast, a law for each.
    delta : float, optional
        Where Huber's loss of log residuals turns linear; by default 1.345 times their robust standard deviation after
        relative least squares. 0.001 is the objective of Hoffmann et al., ``inf`` least squares in logarithms.
    predict_at : sequence of (float, float), optional
        Pairs of model size and tokens at which losses are predicted.
    compute : float or sequence, optional
        FLOP to be divided between model size and tokens.
    flops_per_token_and_parameter : float, default 6
        The cost c in C = c N D. Other costs are brought in by the N that one gives.
    confidence_level : float, default 0.95
        Of each interval.

    Returns
    -------
    Dataset
        With the further dims of `losses` in front. On (param), which lists E, A, B, alpha, beta: `estimate`,
        `estimate_ci_given_law` (param, ci_bound), `stderr`, `covariance` (param, cov_param), and the coordinate
        `at_bound`, 1 for a coefficient of 0 and for an exponent of 0.01 or 2.5. `backtest_error`, by how much the law
        misses its own later runs, and the same of the exponent a and of ln N_opt, `exponent_backtest_error` and
        `n_opt_backtest_error`; `delta`, `objective` and `n_runs`; `allocation_exponent` and `allocation_exponent_ci`.
        With `predict_at`, on (n): `prediction`, `prediction_ci`, `prediction_ci_given_law`, and the coordinates
        `at_model_size`, `at_tokens` and `extrapolated`. With `compute`, on (flop): what `optimal_allocation` returns.
        On (run), coordinates: `model_size`, `tokens`, `loss`, `fitted`, and `backtest_prediction`, what the runs below
        the last cut before a run predict for it. `unfit` says why a law is NaN, 0 for fitted ones.

    Raises
    ------
    ValueError, TypeError
        If losses have not these coordinates, are rates, or an option is not as described; if no law can be fitted:
        fewer than ten runs, fewer than three model sizes or amounts of tokens, model size and tokens that move together
        (a fixed ratio, or one budget of compute: fit a power law to compute), losses that do not vary or are not
        positive.

    Warns
    -----
    UserWarning
        Once, not for lazy losses: which laws are not fitted, and why.

    Notes
    -----
    .. math:: f(N, D) = E + A N^{-\alpha} + B D^{-\beta}, \quad
              \min \sum_i H_\delta(\ln L_i - \ln f(N_i, D_i)), \quad E, A, B \ge 0, \quad .01 \le \alpha, \beta \le 2.5

    with Huber's loss H. *Backtest.* The runs up to the quantiles .3, .4, ..., .8 of N D are fitted by themselves, as
    far as eight runs of three sizes are kept and two left out, and r = ln L - ln f taken at all later runs, h octaves
    further in N D, N or D, whichever is furthest: ρ² is the mean over cuts of the mean over runs of
    :math:`r^2 / \max(h, 1/2)`.

    *Intervals* are those of a run's loss, f e^{±H}, not of the mean of many. With d the octaves beyond the runs in N D,
    N or D, whichever is furthest, and at least 1,

    .. math:: H^2 = (t\, se)^2 + z^2 \rho^2 d

    se by the law alone (`prediction_ci_given_law`, `estimate_ci_given_law`), and likewise for a and ln N_opt, whose
    errors are their drift over the cuts. On nine suites of published runs these hold .95 of later runs; intervals from
    a bootstrap of the runs, or by the law alone, .48, and with the residual spread added .66. Without a cut they are
    NaN. A law is a statement on the measured recipe: other schedules, repeated data, other ways of counting parameters
    are not in it.

    References
    ----------
    .. [1] Hoffmann, J. et al. (2022). Training compute-optimal large language models. doi:10.48550/arXiv.2203.15556
    .. [2] Besiroglu, T., Erdil, E., Barnett, M. & You, J. (2024). Chinchilla scaling: a replication attempt.
       doi:10.48550/arXiv.2404.10102

    Examples
    --------
    >>> import numpy as np, xarray as xr, xcurves
    >>> size, tokens = np.meshgrid(np.geomspace(1e7, 1e9, 6), np.geomspace(1e9, 1e11, 6))
    >>> loss = 1.8 + 400 * size.ravel() ** -0.34 + 2000 * tokens.ravel() ** -0.37
    >>> noise = np.exp(0.01 * np.random.default_rng(0).normal(size=36))
    >>> runs = {"model_size": ("run", size.ravel()), "tokens": ("run", tokens.ravel())}
    >>> fit = xcurves.fit_scaling_law(xr.DataArray(loss * noise, runs, ["run"]), compute=1e21)
    >>> fit.estimate.sel(param=["E", "alpha", "beta"]).round(2).values.tolist()
    [1.88, 0.36, 0.4]
    >>> bool(fit.n_opt_ci[0, 0] < fit.n_opt[0] < fit.n_opt_ci[0, 1])
    True
    """
    found = laws.check_losses(losses)
    found = check_curves(
        found,
        core=["run"],
        name="losses",
        reserved=kinds.FIT_SCALING_LAW.reserved() - {"run"},
    )
    limits = 1 / LARGEST, LARGEST
    cost = check_number(laws.COST, flops_per_token_and_parameter, "Usual: 6", *limits)
    width = None if delta is None else check_number("delta", delta, "Hoffmann's is 0.001", limits[0], np.inf)
    at = np.empty((0, 2)) if predict_at is None else laws.check_pairs("predict_at", predict_at)
    budgets = np.empty(0) if compute is None else check_n("compute", compute, "1e21", LARGEST**2)
    context = Context.of(found, confidence_level=confidence_level, core=["run"])
    sizes: dict[Hashable, Any] = {name: found[name].variable for name in laws.SIZES}
    when = []
    coords: dict[Hashable, Any] = {
        "param": list(laws.PARAMS),
        "cov_param": list(laws.PARAMS),
        **sizes,
    }
    if len(at):
        when.append("predict_at")
        coords |= {"at_model_size": ("n", at[:, 0]), "at_tokens": ("n", at[:, 1])}
    if len(budgets):
        when.append("compute")
        coords |= laws.flop_coords(budgets)
    return per_task(
        kinds.FIT_SCALING_LAW,
        partial(_fit_laws, delta=width, at=at.T, product=budgets / cost),
        found,
        *map(xr.DataArray, sizes.values()),
        context=context,
        core=["run"],
        sizes={
            "param": 5,
            "cov_param": 5,
            "ci_bound": 2,
            "n": len(at),
            "flop": len(budgets),
        },
        when=when,
        coords=coords,
        attrs={"delta": delta, laws.COST: cost},
        warn=partial(_warn_of_laws, names=context.names),
    )


def _warn_of_laws(result: xr.Dataset, names: list[str]) -> None:
    """Warn once of laws that cannot be fitted; refuse a computed result without any."""
    unfit = result["unfit"].to_numpy().ravel()
    if (unfit != unfit_laws.FITTED).all():
        why = int(unfit[0])
        cure = _CURES.get(why, "Add runs of other sizes and amounts of tokens")
        raise Refusal(
            "result",
            UNSAID,
            f"{names[0]}no law can be fitted: {unfit_laws.LAW_REASONS[why]}",
            cure,
        )
    for said in say_unfit(unfit, names, unfit_laws.LAW_REASONS, "law"):
        provenance.warn(said)


def _fit_laws(group: Group, **options: Any) -> dict[str, Any]:
    """Return the variables of laws, NaN for those that cannot be fitted."""
    losses, *sizes = group.data
    runs = laws.runs_of(losses, *sizes, names=group.names)
    reasons = laws.unfit_laws(runs, losses)
    out: dict[str, Any] = blank(group.layout, len(losses))
    out |= {"unfit": reasons, "loss": losses, "n_runs": (~np.isnan(losses)).sum(axis=1)}
    fitted = np.flatnonzero(reasons == unfit_laws.FITTED)
    if fitted.size:
        put(
            out,
            fitted,
            _fit(runs, losses[fitted], alpha=group.context.alpha, **options),
        )
    return out


def _fit(
    runs: Runs,
    losses: Floats,
    *,
    delta: float | None,
    at: Floats,
    product: Floats,
    alpha: float,
) -> dict[str, Floats]:
    """Fit laws, all of which can be fitted."""
    known, law, fitted, predicted = scaling_intervals.know(runs, losses, ~np.isnan(losses), delta)
    variances = np.maximum(np.diagonal(known.covariance, axis1=1, axis2=2), 0.0)
    stderr = np.where(law.free & ~np.isnan(known.estimate), np.sqrt(variances), np.nan)
    half = t_quantile(alpha, known.degrees)[:, np.newaxis] * stderr
    interval = around(known.estimate, half)
    interval[:, E] = np.maximum(interval[:, E], 0.0)
    coefficients, exponents = known.estimate[:, [A, B]], known.estimate[:, ALPHA:]
    with np.errstate(divide="ignore", invalid="ignore"):
        interval[:, [A, B]] = around_in_logs(coefficients, half[:, [A, B]] / coefficients)
    ends = (exponents <= LOWEST * (1 + 1e-12)) | (exponents >= HIGHEST * (1 - 1e-12))
    return {
        "estimate": known.estimate,
        "estimate_ci_given_law": interval,
        "stderr": stderr,
        "covariance": known.covariance,
        "at_bound": np.concatenate([known.estimate[:, :ALPHA] == 0, ends], axis=1),
        "backtest_error": known.rho,
        "exponent_backtest_error": known.nu_exponent,
        "n_opt_backtest_error": known.nu_n,
        "delta": law.delta,
        "objective": law.objective,
        "fitted": fitted,
        "backtest_prediction": predicted,
        **scaling_intervals.loss(known, at[0], at[1], alpha),
        **scaling_intervals.allocation(known, alpha, product),
    }
