"""How a scaling law divides compute between model size and tokens."""

from __future__ import annotations

from collections.abc import Sequence

import xarray as xr

from xcurves.array_types import Floats
from xcurves.kernels.laws.scaling_intervals import allocation
from xcurves.learning_curves import kinds
from xcurves.learning_curves.error_rates import LARGEST, check_n
from xcurves.learning_curves.scaling_laws import laws_of, of_laws


def optimal_allocation(fit: xr.Dataset, compute: float | Sequence[float] | Floats) -> xr.Dataset:
    r"""Divide compute between model size and tokens so that the fitted loss is lowest.

    Parameters
    ----------
    fit : Dataset
        What `fit_scaling_law` returned.
    compute : float or sequence
        FLOP, C = c N D with the c of the fit.

    Returns
    -------
    Dataset
        With the further dims of `fit` in front, on (flop): `n_opt`, `d_opt`, `tokens_per_parameter` and
        `loss_at_optimum`, each with `_ci` (flop, ci_bound), and the coordinate `ratio_extrapolated`, 1 where D/N is
        outside those of the runs; `allocation_exponent` (a) and `allocation_exponent_ci` (ci_bound). NaN where a term
        of the law is 0: the loss then depends on one of the two only.

    Raises
    ------
    ValueError, TypeError
        If `fit` is no such result, or compute is not positive.

    Notes
    -----
    .. math:: a = \frac{\beta}{\alpha + \beta}, \quad N_{opt} = \left( \frac{\alpha A}{\beta B} \right)^{1/(\alpha +
              \beta)} \left( \frac{C}{c} \right)^a, \quad D_{opt} = \frac{C}{c N_{opt}}

    Intervals are widened by how the optimum drifts over the cuts of the backtest; that of ln D_opt is as wide as that
    of ln N_opt, that of their ratio twice as wide.

    References
    ----------
    .. [1] Hoffmann, J. et al. (2022). Training compute-optimal large language models. doi:10.48550/arXiv.2203.15556

    Examples
    --------
    >>> import numpy as np, xarray as xr, xcurves
    >>> size, tokens = np.meshgrid(np.geomspace(1e7, 1e9, 6), np.geomspace(1e9, 1e11, 6))
    >>> loss = 1.8 + 400 * size.ravel() ** -0.34 + 2000 * tokens.ravel() ** -0.37
    >>> runs = {"model_size": ("run", size.ravel()), "tokens": ("run", tokens.ravel())}
    >>> fit = xcurves.fit_scaling_law(xr.DataArray(loss, runs, ["run"]))
    >>> fit.curves.optimal_allocation([1e20, 1e21]).tokens_per_parameter.round(1).values.tolist()
    [18.2, 16.5]
    """
    kinds.FIT_SCALING_LAW.check(fit, "fit")
    return of_laws(
        kinds.OPTIMAL_ALLOCATION,
        allocation,
        fit,
        *laws_of(fit),
        compute=check_n("compute", compute, "1e21", LARGEST**2),
    )
