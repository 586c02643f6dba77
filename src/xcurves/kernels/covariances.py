"""Covariances of fitted learning curves, with the exponent as estimated or as known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from xcurves.kernels import powerlaw
from xcurves.kernels.moments import Floats
from xcurves.kernels.wls import pseudo_inverse


def covariance(
    theta: Floats,
    n: Floats,
    at: Floats,
    weights: Floats,
    variance: Floats,
    *,
    gamma_free: bool,
    quadratic: bool,
    at_bound: NDArray[np.bool_] | None = None,
) -> Floats:
    """Return M Σ Mᵀ, shape (curve, 4, 4), `variance` being that of the mean errors; 0 for what is not fitted.

    With `gamma_free` M linearises in γ too (a sandwich); without it this is the paper's covariance given γ. Curves
    `at_bound` vary with α = 0 only.
    """
    used = [powerlaw.ERROR, powerlaw.RELIANCE]
    used += [powerlaw.GAMMA] * gamma_free + [powerlaw.DELTA] * quadratic
    known = np.where(weights > 0, variance, 0.0)
    found = np.zeros((len(theta), 4, 4))
    bound = np.zeros(len(theta), dtype=bool) if at_bound is None else at_bound
    free = np.flatnonzero(~bound)
    if free.size:
        slopes = powerlaw.gradient(theta[free], n, at[free])
        places = np.array(used)
        inner = _sandwich([slopes[..., i] for i in used], weights[free], known[free])
        found[np.ix_(free, places, places)] = inner
    zero = np.flatnonzero(bound)
    if zero.size:
        tangent = _tangent(theta[zero], at[zero], [i for i in used if i != powerlaw.RELIANCE])
        slopes = powerlaw.gradient(theta[zero], n, at[zero]) @ tangent
        inner = _sandwich(list(np.moveaxis(slopes, -1, 0)), weights[zero], known[zero])
        found[zero] = tangent @ inner @ tangent.swapaxes(-1, -2)
    return found


def _sandwich(slopes: Sequence[Floats], weights: Floats, variance: Floats) -> Floats:
    """Return M Σ Mᵀ, shape (curve, parameter, parameter), from the derivatives by each parameter."""
    operator = pseudo_inverse(slopes, weights)
    return np.asarray((operator * variance[:, np.newaxis]) @ operator.swapaxes(-1, -2))


def _tangent(theta: Floats, at: Floats, kept: Sequence[int]) -> Floats:
    """Return the derivatives of θ by what is fitted of it where α = 0, shape (curve, 4, parameter): β_N follows."""
    error, _, gamma, delta = theta.T
    power = at ** (2 * gamma)
    by = {  # β_N = -2 γ (e_N + δ N^{2γ})
        powerlaw.ERROR: -2 * gamma,
        powerlaw.GAMMA: -2 * (error + delta * power * (1 + 2 * gamma * np.log(at))),
        powerlaw.DELTA: -2 * gamma * power,
    }
    found = np.zeros((len(theta), 4, len(kept)))
    found[:, kept, range(len(kept))] = 1
    for place, i in enumerate(kept):
        found[:, powerlaw.RELIANCE, place] = by[i]
    return found
