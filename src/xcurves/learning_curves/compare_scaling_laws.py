"""Suites of runs compared by their scaling laws."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from xcurves.core import labels
from xcurves.kernels import scaling_intervals
from xcurves.kernels.moments import Floats
from xcurves.kernels.powerlaw import around, around_in_logs
from xcurves.kernels.scaling_intervals import Known
from xcurves.learning_curves.kinds import COMPARE_SCALING_LAWS, FIT_SCALING_LAW
from xcurves.learning_curves.scaling_laws import FLAGS, SIZES, check_flop, check_pairs, laws_of, of_laws


def compare_scaling_laws(
    fit: xr.Dataset,
    *,
    at: tuple[float, float] | None = None,
    compute: float | Sequence[float] | Floats | None = None,
) -> xr.Dataset:
    r"""Compare the scaling laws of two suites: their losses at one size, and what compute the difference is worth.

    Parameters
    ----------
    fit : Dataset
        What `fit_scaling_law` returned, with a dim `algorithm`, or with one further dim, whose labels are the suites.
    at : (float, float), optional
        Model size and tokens at which losses are compared.
    compute : float or sequence, optional
        FLOP at which the compute multiplier is stated. At least one of the two is needed.

    Returns
    -------
    Dataset
        For every pair of suites a and b, with the other dims of `fit`: `loss_ratio`, that of b over that of a, and
        `loss_ratio_ci` (ci_bound), with `at`; `compute_multiplier` (flop) and `compute_multiplier_ci` (flop, ci_bound),
        with `compute`: how many times the compute b needs, each at its optimum, for the loss of a;
        `exponent_difference` and `exponent_difference_ci` (ci_bound), of the exponents of compute in the best model
        size, b's minus a's. The coordinates `algorithm_a` and `algorithm_b`.

    Raises
    ------
    ValueError, TypeError
        If `fit` is no such result, has no dim or several dims of suites, or neither `at` nor `compute` is given.

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
    >>> both = losses.curves.fit_scaling_law().curves.compare_scaling_laws(at=(1e9, 1e11))
    >>> both.pair.item(), both.loss_ratio.round(2).item()
    ('a - b', 1.05)
    """
    FIT_SCALING_LAW.check(fit, "fit")
    if at is None and compute is None:
        raise ValueError("at and compute are both missing. Give one: at=(model_size, tokens), or compute=1e21")
    dim = _suites(fit)
    where = np.full((1, 2), np.nan) if at is None else check_pairs("at", at)
    if len(where) > 1:
        raise ValueError(f"at must be one pair of model size and tokens; got {len(where)}. Call once for each")
    budgets = np.empty(0) if compute is None else check_flop("compute", compute)
    suites = xr.DataArray(fit[dim].to_numpy(), {"algorithm": fit[dim].to_numpy()}, ["algorithm"])
    both, coords = np.array(labels.algorithm_pairs(suites)).T, labels.pair_coords(suites)
    own = [name for name, each in fit.coords.items() if dim in each.dims and name not in (*SIZES, *FLAGS)]
    pairs = [fit.isel({dim: each}).drop_vars(own).rename({dim: "pair"}).assign_coords(coords) for each in both]
    return of_laws(
        COMPARE_SCALING_LAWS,
        _compare,
        fit,
        *(array for each in pairs for array in laws_of(each)),
        compute=budgets,
        when=[name for name, each in (("at", at), ("compute", compute)) if each is not None],
        attrs={} if at is None else {"model_size": float(where[0, 0]), "tokens": float(where[0, 1])},
        at=where[0],
    )


def _suites(fit: xr.Dataset) -> str:
    """Return the dim whose labels are the suites."""
    dims = [str(dim) for dim in FIT_SCALING_LAW.task_dims(fit)]
    dim = "algorithm" if "algorithm" in dims else dims[0] if len(dims) == 1 else None
    if dim is None:
        what = f"has the dims {', '.join(dims)}" if dims else "has one law"
        raise ValueError(f"fit {what}; suites are the labels of the dim 'algorithm'. Rename or join: fit.rename(...)")
    if fit.sizes[dim] < 2:
        raise ValueError(f"fit has one label of {dim!r}; a comparison needs two suites. Fit them in one array")
    return dim


def _compare(one: Known, other: Known, *, at: Floats, products: Floats, alpha: float) -> dict[str, Floats]:
    """Compare pairs of laws."""
    laws = np.ones(len(one.rho))
    one_optimum, optimum = (scaling_intervals.optimum(each, laws, alpha) for each in (one, other))
    difference = optimum["exponent"] - one_optimum["exponent"]
    a, b = (scaling_intervals.loss(each, laws * at[0], laws * at[1], alpha) for each in (one, other))
    ratio = b["prediction"] / a["prediction"]
    found = [scaling_intervals.multiplier(one, other, laws * product, alpha) for product in products]
    multipliers = np.stack(found, axis=1) if found else np.empty((len(laws), 0, 3))
    return {
        "exponent_difference": difference,
        "exponent_difference_ci": around(difference, np.hypot(one_optimum["half_exponent"], optimum["half_exponent"])),
        "loss_ratio": ratio,
        "loss_ratio_ci": around_in_logs(ratio, np.hypot(a["half"], b["half"])),
        "compute_multiplier": multipliers[..., 0],
        "compute_multiplier_ci": multipliers[..., 1:],
    }
