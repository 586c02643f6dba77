"""Weighted least squares of learning curves: all exponents of the grid and all curves in matrix products.

A curve is known by number of folds, mean error and sample variance of each size; with total weights ω_i the objective
is Σ ω_i (mean_i − e(n_i))². Covariances are with the exponent as estimated or as known.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.kernels.laws import powerlaw
from xcurves.kernels.resampling.batches import stretches

# -0.99 to -0.01: without -1, which the authors' code has besides
GAMMAS = -np.arange(99, 0, -1) / 100
_CURVES = 512  # measured at once, which bounds the memory
_OF_GRID = 128  # curves whose objective over the grid fits into a core's cache


def size_statistics(errors: Floats) -> tuple[Floats, Floats, Floats]:
    """Return folds, mean (or 0) and sample variance (or NaN) by size of errors, (curve, fold, size), NaN absent."""
    parts = [_measure(errors[some]) for some in stretches(len(errors), _CURVES)]
    folds, means, spread = (np.concatenate(part) for part in zip(*parts, strict=True))
    return folds, means, spread


def _measure(errors: Floats) -> tuple[Floats, Floats, Floats]:
    # sums over the first axis are the quickest
    values = np.ascontiguousarray(errors.swapaxes(0, 1))
    has = ~np.isnan(values)
    folds = has.sum(axis=0, dtype=float)
    # Differences from one of the folds: equal errors have a variance of exactly zero.
    least = np.fmin.reduce(values, axis=0)
    centred = np.where(has, values - least, 0.0)
    shift = centred.sum(axis=0) / np.maximum(folds, 1)
    centred = np.where(has, centred - shift, 0.0)
    within = np.einsum("fcs,fcs->cs", centred, centred)
    means = np.where(folds > 0, least + shift, 0.0)
    return folds, means, np.where(folds > 1, within / np.maximum(folds - 1, 1), np.nan)


def pooled_variance(
    n: Floats,
    folds: Floats,
    spread: Floats,
    sigma0_sq: float,
    sigma_hat_sq: float | None,
) -> Floats:
    """Return σ_i² = σ0² + σ̂² / n_i; NaN where no size has two folds and σ̂² is not given."""
    if sigma_hat_sq is not None:
        return np.broadcast_to(sigma0_sq + sigma_hat_sq / n, folds.shape)
    # Least squares of s_i² - σ0² on 1 / n_i with weights F_i - 1:
    # σ̂² = Σ (F_i - 1)(s_i² - σ0²) / n_i / Σ (F_i - 1) / n_i².
    degrees = np.maximum(folds - 1, 0)
    excess = np.where(degrees > 0, spread - sigma0_sq, 0.0)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):  # sizes near 0
        slope = (degrees * excess) @ (1 / n) / (degrees @ (1 / n**2))
    # A negative slope would make variances of small sizes negative.
    return np.asarray(sigma0_sq + np.maximum(slope, 0.0)[:, np.newaxis] / n)


def variance_pvalue(folds: Floats, spread: Floats, variance: Floats) -> Floats:
    """Return the two-sided p of Σ (F_i - 1) s_i² / σ_i² as a chi-square, shape (curve,); 1 where no fold varies."""
    degrees = np.maximum(folds - 1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.where(degrees > 0, degrees * spread / variance, 0.0).sum(axis=1)
    total = degrees.sum(axis=1)
    # variances may be too small or too large: twice the smaller tail
    lower = scipy.special.chdtr(total, found)
    upper = scipy.special.chdtrc(total, found)
    pvalue = np.minimum(2 * np.minimum(lower, upper), 1.0)
    return np.where((total > 0) & (found > 0), pvalue, 1.0)


def size_weights(scheme: str, folds: Floats, variance: Floats) -> Floats:
    """Return ω_i = F_i w_i by the weights w_i = 1 / (F_i σ_i²), 1 / σ_i² (relative: by the residuals) or 1."""
    if scheme == "uniform":
        return folds
    if scheme in ("variance", "relative"):
        per_variance = folds
    else:
        per_variance = np.ones_like(folds)  # F_i cancels
    with np.errstate(divide="ignore"):
        return np.where(folds > 0, per_variance / variance, 0.0)


def search_exponents(
    n: Floats,
    all_weights: Floats,
    all_means: Floats,
    strength: float,
    *,
    quadratic: bool = False,
    nonnegative: bool = False,
    logarithmic: bool = False,
) -> Floats:
    """Return the γ of the grid with the least criterion, S or k ln S, plus strength |γ + 0.5|, shape (curve,)."""

    def search(some: slice) -> Floats:
        weights = all_weights[some]
        means = all_means[some]
        # The sum of squares about the mean less what a curve explains: the curves themselves are not computed.
        centre, centred = _centre(weights, means)
        reduction = _reductions(n, weights, centre, centred, quadratic=quadratic, nonnegative=nonnegative)
        prior = strength * np.abs(GAMMAS + 0.5)
        if not logarithmic:
            return np.asarray(GAMMAS[np.argmin(prior - reduction, axis=1)])
        # Of unknown variance the likelihood is k ln S; a perfect fit would win whatever the prior says.
        total = _dot(weights * centred, centred)[:, np.newaxis]
        # below this it is rounding error
        left = np.maximum(total - reduction, np.maximum(1e-15 * total, 1e-300))
        n_sizes = (weights > 0).sum(axis=1, keepdims=True)
        return np.asarray(GAMMAS[np.argmin(n_sizes * np.log(left) + prior, axis=1)])

    # of no curves one empty stretch
    parts = stretches(len(all_means), _OF_GRID) or [slice(0)]
    return np.concatenate([search(some) for some in parts])


def _centre(weights: Floats, means: Floats) -> tuple[Floats, Floats]:
    """Return the weighted mean, shape (curve, 1), and what the means differ from it."""
    with np.errstate(invalid="ignore"):  # of curves without sizes
        centre = (_dot(weights, means) / weights.sum(axis=1))[:, np.newaxis]
    return centre, means - centre


def _reductions(
    n: Floats,
    weights: Floats,
    centre: Floats,
    centred: Floats,
    *,
    quadratic: bool,
    nonnegative: bool,
) -> Floats:
    """Return by how much a curve of each γ of the grid lowers the sum of squares about the mean, shape (curve, γ)."""
    # The columns are 1, v and v², made orthogonal one after the other (Gram-Schmidt): each lowers the sum of squares by
    # product² / spread, product and spread being those of what is left of the column. Moments of v of all exponents are
    # products of matrices. About the middle size v stays small.
    middle = np.exp(np.log(n).mean())
    v = np.ascontiguousarray(powerlaw.basis(n, np.full(len(GAMMAS), middle), GAMMAS).T)
    total = weights.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):  # of curves without sizes
        # so that (root @ v)² is what the mean takes from Σ ω v²
        root = weights / np.sqrt(total)
        weighted = weights * centred
    first = root @ v
    product = weighted @ v
    spread = weights @ v**2
    spread -= first**2
    with np.errstate(invalid="ignore", divide="ignore"):
        slope = product / spread
        explained = slope * product
        # With α < 0 the fit is constrained to α = 0, which costs α² / var(α), var for a unit of variance: α is a sum of
        # the orthogonal coefficients, each times its column at infinite size.
        if nonnegative:
            # v is -1/γ at infinite size
            distance = -1 / GAMMAS - first / np.sqrt(total)
            alpha = centre + slope * distance
            variance = 1 / total + distance**2 / spread
        if quadratic:
            # of v²: less its parts along 1 and along v
            second = root @ v**2
            common = weights @ v**3 - first * second
            rest = weights @ v**4 - second**2 - common**2 / spread
            product = weighted @ v**2 - common * slope
            explained += product**2 / rest
            if nonnegative:
                distance = GAMMAS**-2 - second / np.sqrt(total) - common / spread * distance
                alpha += product / rest * distance
                variance += distance**2 / rest
        if nonnegative:
            explained -= np.minimum(alpha, 0.0) ** 2 / variance
    return explained


def solve(
    n: Floats,
    at: Floats,
    weights: Floats,
    means: Floats,
    gammas: Floats,
    *,
    quadratic: bool = False,
) -> Floats:
    """Return θ, shape (curve, 4), by weighted least squares given γ, shape (curve,)."""
    # about the mean: errors that hardly differ keep their digits
    centre, centred = _centre(weights, means)
    v = powerlaw.basis(n, at, gammas)
    columns = [np.ones_like(v), -v / 2]
    if quadratic:
        columns.append(powerlaw.squared(v, at, gammas))
    found = np.einsum("cps,cs->cp", pseudo_inverse(columns, weights), centred)
    error = centre[:, 0] + found[:, 0]
    delta = np.zeros(len(at))
    if quadratic:
        delta = found[:, 2]
    return np.stack([error, found[:, 1], gammas, delta], axis=1)


def solve_zero_asymptote(
    n: Floats,
    at: Floats,
    weights: Floats,
    means: Floats,
    gammas: Floats,
    *,
    quadratic: bool = False,
) -> Floats:
    """Return θ, shape (curve, 4), by weighted least squares given γ and α = 0."""
    v = powerlaw.basis(n, at, gammas)
    ratio = 1 + gammas[:, np.newaxis] * v  # (n / N)^γ
    # e(n) = e_N (n / N)^γ + δ N^{2γ} ((n / N)^{2γ} − (n / N)^γ)
    columns = [ratio]
    if quadratic:
        columns.append((at**gammas)[:, np.newaxis] ** 2 * ratio * (ratio - 1))
    found = np.einsum("cps,cs->cp", pseudo_inverse(columns, weights), means)
    error = found[:, 0]
    delta = np.zeros(len(at))
    if quadratic:
        delta = found[:, 1]
    # from α = e_N + β_N / 2γ + δ N^{2γ} = 0
    reliance = -2 * gammas * (error + delta * at ** (2 * gammas))
    return np.stack([error, reliance, gammas, delta], axis=1)


def pseudo_inverse(columns: Sequence[Floats], weights: Floats) -> Floats:
    """Return (W^½ A)⁺ W^½, (curve, column, size), of columns (curve, size), by Gram-Schmidt; NaN if dependent."""
    # W^½ A = Q R: its pseudo-inverse is R⁻¹ Qᵀ. By hand, as LAPACK takes one curve after the other; the modified form
    # of Gram-Schmidt keeps the columns orthogonal.
    root = np.sqrt(weights)
    rest = [column * root for column in columns]
    norms = [_dot(column, column) for column in rest]
    unit: list[Floats] = []
    triangle: dict[tuple[int, int], Floats] = {}
    for j in range(len(rest)):
        length = _dot(rest[j], rest[j])
        # what is left of a dependent column is rounding: 1e-12 of its length
        dependent = ~(length > 1e-24 * norms[j])
        scale = np.sqrt(np.where(dependent, np.nan, length))
        triangle[j, j] = scale
        unit.append(rest[j] / scale[:, np.newaxis])
        for k in range(j + 1, len(rest)):
            triangle[j, k] = _dot(unit[j], rest[k])
            rest[k] = rest[k] - triangle[j, k][:, np.newaxis] * unit[j]
    # R X = Qᵀ W^½ from the last row upwards
    found: list[Floats] = [root] * len(rest)
    for j in reversed(range(len(rest))):
        row = unit[j] * root
        for k in range(j + 1, len(rest)):
            row = row - triangle[j, k][:, np.newaxis] * found[k]
        found[j] = row / triangle[j, j][:, np.newaxis]
    return np.stack(found, axis=1)


def _dot(a: Floats, b: Floats) -> Floats:
    return np.asarray(np.einsum("cs,cs->c", a, b))


def objective(folds: Floats, spread: Floats, weights: Floats, residuals: Floats) -> Floats:
    """Return G (Eq. 2) from the residuals of the means and the variances within sizes."""
    # Σ_j w_ij (e_ij - e(n_i))² = ω_i (mean_i - e(n_i))² + w_i (F_i - 1) s_i², w_i = ω_i / F_i
    share = np.where(folds > 0, weights / np.maximum(folds, 1), 0.0)
    within = np.where(folds > 1, (folds - 1) * spread, 0.0)
    return np.asarray((weights * residuals**2 + share * within).sum(axis=1))


def r_squared(folds: Floats, means: Floats, fitted: Floats) -> Floats:
    """Return the share of the variance of mean errors over sizes that a curve explains; NaN where there is none."""
    has = folds > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(has, means, 0.0).sum(axis=1, keepdims=True) / has.sum(axis=1, keepdims=True)
        total = np.where(has, (means - mean) ** 2, 0.0).sum(axis=1)
        found = 1 - np.where(has, (means - fitted) ** 2, 0.0).sum(axis=1) / total
    return np.where(np.isfinite(found), found, np.nan)


def covariance(
    theta: Floats,
    n: Floats,
    at: Floats,
    weights: Floats,
    variance: Floats,
    *,
    gamma_free: bool,
    quadratic: bool,
    at_bound: NDArray[np.bool_],
) -> Floats:
    """Return M Σ Mᵀ, (curve, 4, 4), given γ as the paper's or linear in it; `at_bound` with α = 0 only."""
    used = [powerlaw.ERROR, powerlaw.RELIANCE]
    if gamma_free:
        used.append(powerlaw.GAMMA)
    if quadratic:
        used.append(powerlaw.DELTA)
    # Σ_e is diagonal; M is the pseudo-inverse of the derivatives by what is fitted. Given a gradient it is linear.
    known = np.where(weights > 0, variance, 0.0)
    found = np.zeros((len(theta), 4, 4))
    for bound in (False, True):
        some = np.flatnonzero(at_bound == bound)
        if some.size:
            # what follows from the fitted parameters moves with them
            tangent = _tangent(theta[some], at[some], used, bound)
            slopes = powerlaw.gradient(theta[some], n, at[some]) @ tangent
            operator = pseudo_inverse(list(np.moveaxis(slopes, -1, 0)), weights[some])
            inner = (operator * known[some, np.newaxis]) @ operator.swapaxes(-1, -2)
            found[some] = tangent @ inner @ tangent.swapaxes(-1, -2)
    return found


def _tangent(theta: Floats, at: Floats, used: Sequence[int], bound: bool) -> Floats:
    """Return the derivatives of θ by what is fitted of it, shape (curve, 4, parameter); where α = 0 β_N follows."""
    kept = [i for i in used if not (bound and i == powerlaw.RELIANCE)]
    found = np.zeros((len(theta), 4, len(kept)))
    found[:, kept, range(len(kept))] = 1
    if bound:  # β_N = -2 γ (e_N + δ N^{2γ})
        error, _, gamma, delta = theta.T
        power = at ** (2 * gamma)
        by_gamma = -2 * (error + delta * power * (1 + 2 * gamma * np.log(at)))
        derivatives = np.stack([-2 * gamma, np.zeros(len(theta)), by_gamma, -2 * gamma * power], axis=1)
        found[:, powerlaw.RELIANCE] = derivatives[:, kept]
    return found
