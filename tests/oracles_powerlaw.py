"""Slow, plain answers about learning curves: literal pseudo-inverses, dense matrices, decimal arithmetic.

A curve is a dict of lists of errors (percent) by size; nothing here is shared with the library.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import scipy.optimize

GRID = [round(-0.99 + 0.01 * i, 2) for i in range(99)]


def variance_model(curve, sigma0_sq=0.02, floor=True):
    """σ̂² and σ_i² by size (least squares of s_i² - σ0² on 1/n_i with weights F_i - 1)."""
    over = under = 0.0
    for n, errors in curve.items():
        if len(errors) > 1:
            mean = math.fsum(errors) / len(errors)
            s_sq = math.fsum((e - mean) ** 2 for e in errors) / (len(errors) - 1)
            over += (len(errors) - 1) * (s_sq - sigma0_sq) / n
            under += (len(errors) - 1) / n**2
    sigma_hat_sq = over / under
    sigma_hat_sq = max(sigma_hat_sq, 0.0) if floor else sigma_hat_sq
    return sigma_hat_sq, {n: sigma0_sq + sigma_hat_sq / n for n in curve}


def weights_of(curve, variances, scheme):
    return {
        n: {
            "variance-folds": 1 / (len(e) * variances[n]),
            "variance": 1 / variances[n],
            "uniform": 1.0,
        }[scheme]
        for n, e in curve.items()
    }


def design(curve, gamma, quadratic=False):
    rows, errors = [], []
    for n, values in curve.items():
        for e in values:
            rows.append([1.0, n**gamma] + ([n ** (2 * gamma)] if quadratic else []))
            errors.append(e)
    return np.array(rows), np.array(errors)


def given_gamma(curve, gamma, variances, scheme="variance-folds", quadratic=False):
    """(θ, Σ_θ, G) by M = (W^½ A)⁺ W^½."""
    a, e = design(curve, gamma, quadratic)
    by_size = weights_of(curve, variances, scheme)
    w = np.array([by_size[n] for n, values in curve.items() for _ in values])
    v = np.array([variances[n] for n, values in curve.items() for _ in values])
    root = np.sqrt(w)
    m = np.linalg.pinv(root[:, np.newaxis] * a) * root
    theta = m @ e
    return theta, (m * v) @ m.T, float((w * (e - a @ theta) ** 2).sum())


def search(curve, variances, scheme="variance-folds", strength=5.0, quadratic=False):
    """The γ with the least G + λ |γ + 0.5|, one literal fit for each of the 99, and all objectives."""
    by_size = weights_of(curve, variances, scheme)
    root = np.sqrt([by_size[n] for n, values in curve.items() for _ in values])
    designs = np.stack([design(curve, gamma, quadratic)[0] for gamma in GRID])
    errors = design(curve, GRID[0])[1]
    theta = np.linalg.pinv(root[:, np.newaxis] * designs) @ (root * errors)
    fitted = np.einsum("gdp,gp->gd", designs, theta)
    totals = (root**2 * (errors - fitted) ** 2).sum(axis=1) + strength * np.abs(np.array(GRID) + 0.5)
    return GRID[int(np.argmin(totals))], totals.tolist()


def sandwich(curve, parameters, variances, scheme="variance-folds"):
    """Covariance of (α, η, γ) with J = [1, n^γ, η n^γ ln n], a row for each fold."""
    _, eta, gamma = parameters
    n = np.array([size for size, values in curve.items() for _ in values], dtype=float)
    by_size = weights_of(curve, variances, scheme)
    w = np.diag([by_size[size] for size, values in curve.items() for _ in values])
    v = np.diag([variances[size] for size, values in curve.items() for _ in values])
    j = np.column_stack([np.ones_like(n), n**gamma, eta * n**gamma * np.log(n)])
    scale = np.diag(1 / np.sqrt(np.diag(j.T @ w @ j)))
    m = scale @ np.linalg.inv(scale @ j.T @ w @ j @ scale) @ scale @ j.T @ w
    return m @ v @ m.T


def decimal_line(sizes, means, weights, gamma):
    """(α, η) by weighted normal equations with 60 digits."""
    with localcontext() as context:
        context.prec = 60
        g = Decimal(gamma)
        x = [(g * Decimal(n).ln()).exp() for n in sizes]
        y, w = [Decimal(m) for m in means], [Decimal(v) for v in weights]
        s0, s1, s2 = (sum(wi * xi**p for wi, xi in zip(w, x, strict=True)) for p in range(3))
        t0, t1 = (sum(wi * yi * xi**p for wi, xi, yi in zip(w, x, y, strict=True)) for p in range(2))
        eta = (s0 * t1 - s1 * t0) / (s0 * s2 - s1 * s1)
        return float((t0 - eta * s1) / s0), float(eta)


def bounded(n, means, weights, gamma, powers=(1,)):
    """Coefficients of 1 and n^γ (and n^{2γ}), the first not below 0, by SciPy's bounded least squares; and S."""
    root = np.sqrt(weights)
    columns = [np.ones_like(n)] + [(n / n[-1]) ** (power * gamma) for power in powers]
    a = np.column_stack(columns) * root[:, np.newaxis]
    scale = np.linalg.norm(a, axis=0)
    low = [0.0] + [-np.inf] * len(powers)
    x = scipy.optimize.lsq_linear(a / scale, root * means, (low, np.inf), method="bvls").x / scale
    return x, float(((root * means - a @ x) ** 2).sum())


def relative(n, means, *, strength=5.0, weights=None):
    """(γ, coefficients of 1 and (n/N)^γ, S) with α >= 0 and weights 1 / mean²: one bounded fit for each γ."""
    weights = means**-2.0 if weights is None else weights
    best = None
    for gamma in GRID:
        x, squares = bounded(n, means, weights, gamma)
        criterion = len(n) * math.log(max(squares, 1e-300)) + strength * abs(gamma + 0.5)
        if best is None or criterion < best[0]:
            best = criterion, gamma, x, squares
    return best[1:]


def cuts(n):
    """The sizes at which backtests cut, the largest first."""
    octaves = math.log2(n[-1] / n[0])
    half = (len(n) - 1) / octaves >= 1.5
    found = []
    for back in [0.5, 1, 1.5, 2, 2.5, 3] if half else [1, 2, 3]:
        cut = min(n, key=lambda size: abs(math.log(size) - math.log(n[-1] / 2**back)))
        if cut not in found and cut < n[-1] and sum(size <= cut for size in n) >= 4:
            found.append(cut)
    return found


def backtest(n, means, predict):
    """ρ, given a function of sizes, means and later sizes that refits and predicts."""
    terms = []
    for cut in cuts(n):
        kept = n <= cut
        logs = np.log(means[~kept]) - np.log(predict(n[kept], means[kept], n[~kept]))
        terms.append(np.mean([r**2 / max(math.log2(m / cut), 0.5) for r, m in zip(logs, n[~kept], strict=True)]))
    return math.sqrt(np.mean(terms)) if terms else math.nan


def last_octaves(n, octaves=3):
    """The sizes that a law is fitted to: of the last octaves, five at least."""
    kept = [size for size in n if size >= 0.95 * n[-1] / 2**octaves]
    return kept if len(kept) >= 5 else list(n)[-5:]


def refit(n, means, later):
    """The law of all sizes, with relative weights, at later sizes."""
    gamma, x, _ = relative(n, means)
    return x[0] + x[1] * (later / n[-1]) ** gamma


def refit_last(n, means, later):
    """The law of the last octaves."""
    kept = len(last_octaves(n))
    return refit(n[-kept:], means[-kept:], later)


def last_fall(n, means, later):
    """The last mean error, falling on as it did from the size nearest to half the largest."""
    half = min(range(len(n) - 1), key=lambda i: abs(math.log(n[i]) - math.log(n[-1] / 2)))
    slope = min(0.0, (math.log(means[-1]) - math.log(means[half])) / math.log2(n[-1] / n[half]))
    return [math.exp(math.log(means[-1]) + slope * math.log2(size / n[-1])) for size in later]


def combined(n, means, later):
    """The law of the last octaves and the last fall, together."""
    found = []
    for size, f, g in zip(later, refit_last(n, means, later), last_fall(n, means, later), strict=True):
        share = min(max(0.0, math.log2(size / n[-1])), 1.0) / 2
        found.append(math.exp((1 - share) * math.log(f) + share * math.log(g)))
    return found
