"""Slow, plain answers about scaling laws: SciPy's least squares from many starts, loops over cuts and runs."""

from __future__ import annotations

import math

import numpy as np
import scipy.optimize
from scipy import stats


def law(p, n, d):
    return p[0] + p[1] * n ** -p[3] + p[2] * d ** -p[4]


def fit(n, d, loss, delta=None, alpha=None):
    """E, A, B, α, β, the objective and δ: the best of SciPy's bounded Huber least squares from many starts.

    With `alpha` the others at that α.
    """
    n0, d0 = np.exp(np.log(n).mean()), np.exp(np.log(d).mean())
    given = [] if alpha is None else [alpha]
    lows, highs = np.array([[0, 0, 0, 0.01, 0.01], [np.inf, np.inf, np.inf, 2.5, 2.5]])
    free = [0, 1, 2, 4] if given else [0, 1, 2, 3, 4]

    def curve(p):
        return law([*p[:3], *given, *p[3:]], n / n0, d / d0)

    def best(residuals, starts, **how):
        bounds = lows[free], highs[free]
        options = {
            "bounds": bounds,
            "xtol": 1e-15,
            "ftol": 1e-15,
            "gtol": 1e-15,
            "x_scale": "jac",
            "max_nfev": 4000,
        }
        tried = [scipy.optimize.least_squares(residuals, start, **options, **how) for start in starts]
        return min(tried, key=lambda found: found.cost)

    pairs = [(a, b) for a in (0.05, 0.3, 1.0) for b in (0.1, 0.3, 0.8)]
    levels = [0.6 * loss.min(), 0.2 * loss.mean(), 0.2 * loss.mean()]
    starts = [[*levels, b] if given else [*levels, a, b] for a, b in pairs]
    relative = best(lambda p: 1 - curve(p) / loss, starts).x
    if delta is None:
        typical = np.median(np.abs(np.log(loss / curve(relative))))
        delta = 1.345 * 1.4826 * typical * math.sqrt(len(n) / (len(n) - 5))
    how = {"loss": "huber", "f_scale": delta} if math.isfinite(delta) else {}
    inside = np.clip(relative, lows[free] + 1e-9, highs[free] - 1e-9)
    found = best(lambda p: np.log(loss / curve(p)), [inside, *starts], **how)
    e, a, b, *exponents = found.x
    alpha, beta = [*given, *exponents]
    return np.array([e, a * n0**alpha, b * d0**beta, alpha, beta]), found.cost, delta


def cuts(n, d):
    """The sets of runs that backtests keep."""
    product, kept = n * d, []
    for q in np.arange(3, 9) / 10:
        below = product <= np.quantile(product, q)
        few = below.sum() < 8 or (~below).sum() < 2
        alike = min(len(set(n[below])), len(set(d[below]))) < 3
        if not few and not alike and not any((below == other).all() for other in kept):
            kept.append(below)
    return kept


def exponent(p):
    return p[4] / (p[3] + p[4])


def best_size(p, product):
    """ln N at the lowest loss with N D fixed, by a search along N."""
    found = scipy.optimize.minimize_scalar(
        lambda x: law(p, math.exp(x), product / math.exp(x)), bounds=(0, math.log(product)), method="bounded",
        options={"xatol": 1e-10},
    )  # fmt: skip
    return found.x


def backtest(n, d, loss, fitted):
    """ρ, ν_a and ν_N by refitting every cut; `fitted` is the law of all runs."""
    squares, drift_a, drift_n = [], [], []
    for kept in cuts(n, d):
        refit = fit(n[kept], d[kept], loss[kept])[0]
        terms = []
        for i in np.flatnonzero(~kept):
            h = max(
                math.log2(n[i] * d[i] / (n * d)[kept].max()),
                math.log2(n[i] / n[kept].max()),
                math.log2(d[i] / d[kept].max()),
            )
            terms.append(math.log(loss[i] / law(refit, n[i], d[i])) ** 2 / max(h, 0.5))
        squares.append(np.mean(terms))
        octaves = max(math.log2((n * d).max() / (n * d)[kept].max()), 0.5)
        drift_a.append((exponent(refit) - exponent(fitted)) ** 2 / octaves)
        top = (n * d).max()
        drift_n.append((best_size(refit, top) - best_size(fitted, top)) ** 2 / octaves)
    return [math.sqrt(np.mean(each)) for each in (squares, drift_a, drift_n)]


def covariance(p, n, d, loss, delta):
    """Huber's covariance of E, A, B, α, β from numerical derivatives, in scaled parameters."""
    scale = np.abs(p)
    residual = np.log(loss / law(p, n, d))
    steps = 1e-6 * np.eye(5)
    x = np.column_stack([(np.log(law(p + s * scale, n, d)) - np.log(law(p - s * scale, n, d))) / 2e-6 for s in steps])
    k, m = len(n), np.mean(np.abs(residual) <= delta)
    kappa = 1 + 5 / k * (1 - m) / m
    psi = np.clip(residual, -delta, delta)
    v = kappa**2 * (psi**2).sum() / (k - 5) / m**2 * np.linalg.inv(x.T @ x)
    return v * np.outer(scale, scale)


def half_width(p, cov, n, d, loss, rho, size, tokens):
    """H of ln f at a size, 95 %."""
    scale = np.abs(p)
    steps = 1e-6 * np.eye(5)
    x = [(np.log(law(p + s * scale, size, tokens)) - np.log(law(p - s * scale, size, tokens))) / 2e-6 for s in steps]
    gradient = np.array(x) / scale
    se = math.sqrt(gradient @ cov @ gradient)
    octaves = max(
        1,
        math.log2(size * tokens / (n * d).max()),
        math.log2(size / n.max()),
        math.log2(tokens / d.max()),
    )
    t, z = stats.t.ppf(0.975, len(n) - 5), stats.norm.ppf(0.975)
    return math.hypot(t * se, z * rho * math.sqrt(octaves))
