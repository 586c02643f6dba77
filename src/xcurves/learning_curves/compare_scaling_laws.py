"""Suites of runs compared by their scaling laws."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core import labels
from xcurves.core.refusal import UNSAID, Cure, Refusal, Verbatim, give
from xcurves.kernels.laws import scaling_intervals as intervals
from xcurves.kernels.laws.powerlaw import around
from xcurves.kernels.laws.scaling_intervals import Known
from xcurves.learning_curves import kinds
from xcurves.learning_curves.error_rates import LARGEST, check_n
from xcurves.learning_curves.scaling_laws import (
    SIZES,
    check_pairs,
    laws_of,
    of_laws,
)


def compare_scaling_laws(
    fit: xr.Dataset,
    *,
    at_size_and_tokens: tuple[float, float] | None = None,
    compute: float | Sequence[float] | Floats | None = None,
) -> xr.Dataset:
    r"""Compare the scaling laws of two suites: losses at one size, and what compute the difference is worth.

    Parameters
    ----------
    fit : Dataset
        What `fit_scaling_law` returned, with a dim `algorithm`, or with one further dim, whose labels are the suites.
    at_size_and_tokens : (float, float), optional
        Model size and tokens at which losses are compared.
    compute : float or sequence, optional
        FLOP at which the compute multiplier is stated. At least one of the two is needed.

    Returns
    -------
    Dataset
        For every pair of suites a and b, with the other dims of `fit`: `loss_ratio`, that of b over that of a,
        `loss_ratio_ci` (ci_bound), by itself, and `loss_ratio_ci_simultaneous` (ci_bound), for all pairs together, with
        `at_size_and_tokens`; `compute_multiplier` (flop), `compute_multiplier_ci` (flop, ci_bound) and
        `compute_multiplier_ci_simultaneous` (flop, ci_bound), with `compute`: how many times the compute b needs, each
        at its optimum, for the loss of a; `exponent_difference`, `exponent_difference_ci` (ci_bound) and
        `exponent_difference_ci_simultaneous` (ci_bound), of the exponents of compute in the best model size, b's minus
        a's. Those for all pairs together are at the level over the number of pairs. The coordinates `algorithm_a` and
        `algorithm_b`.

    Raises
    ------
    ValueError, TypeError
        If `fit` is no such result, has no dim or several dims of suites, or neither `at_size_and_tokens` nor `compute`
        is given.

    Notes
    -----
    Suites are trained separately: with H their half widths of ln f (see `fit_scaling_law`) that of the difference is
    :math:`(H_a^2 + H_b^2)^{1/2}`, too wide where backtests miss alike. The interval of the multiplier x holds those
    round the estimate for which :math:`|\ln f^*_a(C) - \ln f^*_b(x C)| \le (H_a(C)^2 + H_b(x C)^2)^{1/2}`, f* being the
    loss at the optimum; an end that is not found up to 2^±60 is 0 or infinite. All NaN where the law of b never reaches
    the loss of a.

    References
    ----------
    .. [1] Hoffmann, J. et al. (2022). Training compute-optimal large language models. doi:10.48550/arXiv.2203.15556

    Examples
    --------
    >>> import numpy as np, xarray as xr, xcurves
    >>> size, tokens = np.meshgrid(np.geomspace(1e7, 1e9, 6), np.geomspace(1e9, 1e11, 6))
    >>> loss = 1.8 + 400 * size.ravel() ** -0.34 + 2000 * tokens.ravel() ** -0.37
    >>> noise = np.exp(0.01 * np.random.default_rng(0).normal(size=(2, 36)))
    >>> runs = {"model_size": ("run", size.ravel()), "tokens": ("run", tokens.ravel()), "algorithm": ["a", "b"]}
    >>> losses = xr.DataArray(loss * np.array([[1.0], [1.05]]) * noise, runs, ["algorithm", "run"])
    >>> both = losses.curves.fit_scaling_law().curves.compare_scaling_laws(at_size_and_tokens=(1e9, 1e11))
    >>> both.pair.item(), both.loss_ratio.round(2).item()
    ('a - b', 1.05)
    """
    kinds.FIT_SCALING_LAW.check(fit, "fit")
    if at_size_and_tokens is None and compute is None:
        raise Refusal(
            "at_size_and_tokens",
            UNSAID,
            "and compute are both missing",
            Cure(
                "Give one: at_size_and_tokens=(model_size, tokens), or ",
                give(compute=1e21),
            ),
        )
    dim = _suites(fit)
    where = np.full((1, 2), np.nan)
    if at_size_and_tokens is not None:
        where = check_pairs("at_size_and_tokens", at_size_and_tokens)
    if len(where) > 1:
        raise Refusal(
            "at_size_and_tokens",
            Verbatim(len(where)),
            "must be one pair of model size and tokens",
            "Call once for each",
        )
    budgets = np.empty(0) if compute is None else check_n("compute", compute, "1e21", LARGEST**2)
    suites = xr.DataArray(fit[dim].to_numpy(), {"algorithm": fit[dim].to_numpy()}, ["algorithm"])
    both, coords = (
        np.array(labels.algorithm_pairs(suites)).T,
        labels.pair_coords(suites),
    )
    own = [
        name
        for name, each in fit.coords.items()
        if dim in each.dims and name not in {*SIZES, *kinds.FIT_SCALING_LAW.variables}
    ]
    pairs = [fit.isel({dim: each}).drop_vars(own).rename({dim: "pair"}).assign_coords(coords) for each in both]
    return of_laws(
        kinds.COMPARE_SCALING_LAWS,
        _compare,
        fit,
        *(array for each in pairs for array in laws_of(each)),
        compute=budgets,
        when=[name for name, given in (("at", at_size_and_tokens), ("compute", compute)) if given is not None],
        attrs={} if at_size_and_tokens is None else dict(zip(SIZES, where[0].tolist(), strict=True)),
        at=where.T,
        n_pairs=both.shape[1],
    )


def _suites(fit: xr.Dataset) -> str:
    """Return the dim whose labels are the suites."""
    dims = [str(dim) for dim in kinds.FIT_SCALING_LAW.task_dims(fit)]
    dim = "algorithm"
    if "algorithm" not in dims and len(dims) == 1:
        dim = dims[0]
    if fit.sizes.get(dim, 0) < 2:
        raise Refusal(
            "fit",
            UNSAID,
            f"has the dims {dims}; suites are the labels of 'algorithm', two at least",
            "Fit them in one array, or rename: fit.rename(...)",
        )
    return dim


def _compare(one: Known, other: Known, *, at: Floats, product: Floats, alpha: float, n_pairs: int) -> dict[str, Floats]:
    """Compare pairs of laws, at one size and tokens and at products N D."""
    own = _with_intervals(one, other, at, product, alpha)
    together = _with_intervals(one, other, at, product, alpha / n_pairs)
    return own | {f"{name}_simultaneous": ends for name, ends in together.items() if name.endswith("_ci")}


def _with_intervals(one: Known, other: Known, at: Floats, product: Floats, alpha: float) -> dict[str, Floats]:
    a, b = (intervals.share_of_size(each, alpha) for each in (one, other))
    log_ratio, half = intervals.log_ratio(*(intervals.loss(each, at[0], at[1], alpha) for each in (one, other)))
    times, ends = intervals.multiplier(one, other, product, alpha)
    return {
        "exponent_difference": b[0] - a[0],
        "exponent_difference_ci": around(b[0] - a[0], np.hypot(a[1], b[1])),
        "loss_ratio": np.exp(log_ratio[:, 0]),
        "loss_ratio_ci": np.exp(around(log_ratio, half)[:, 0]),
        "compute_multiplier": times,
        "compute_multiplier_ci": ends,
    }
