"""What fitted scaling laws predict, how they miss their own later runs, and intervals of runs widened by that."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Bools, Floats
from xcurves.kernels.intervals import t_quantile
from xcurves.kernels.laws import scaling_law
from xcurves.kernels.laws.powerlaw import around, around_in_logs, variance
from xcurves.kernels.laws.scaling_law import ALPHA, BETA, A, B, Law, Runs
from xcurves.kernels.resampling.shifts import halve

_CUTS = np.arange(3, 9) / 10  # quantiles of N D
_KEPT, _LEFT_OUT = 8, 2  # runs below a cut, and beyond it, at least
DISTINCT = 3  # sizes and amounts of tokens that identify an exponent
_LEAST_OCTAVES = 0.5
_NORMAL = np.array(np.inf)  # degrees of freedom
_STEP, _FARTHEST = 0.05, 60 * np.log(2)  # of the logarithm of a compute multiplier
_HALVINGS = 50


class Known(NamedTuple):
    """Laws and how well they are known, laws (or what is broadcast with them) on the first axis."""

    estimate: Floats  # (law, 5): E, A, B, α, β; the exponent of a term that is 0 is NaN
    covariance: Floats  # (law, 5, 5)
    degrees: Floats  # (law,)
    rho: Floats  # backtest error of ln f
    nu_exponent: Floats  # of a = β/(α + β)
    nu_n: Floats  # of ln N_opt
    extent: Floats  # (law, 7): smallest and largest N, D and D/N of the runs, and largest N D


def know(runs: Runs, losses: Floats, present: Bools, delta: float | None) -> tuple[Known, Law, Floats, Floats]:
    """Fit laws and backtest them; return also fitted losses and what the last cut before a run predicts, (law, run)."""
    # Laws and their refits to the runs below cuts are fitted together: all of them share matrix products.
    law_of_cut, kept = _cuts(runs, present)
    every = scaling_law.fit(
        runs,
        np.concatenate([losses, losses[law_of_cut]]),
        np.concatenate([present, kept]),
        delta,
    )
    law, refits = every.take(slice(len(losses))), every.take(slice(len(losses), None))
    fitted = np.where(present, scaling_law.fitted_losses(law.theta, runs.logs), np.nan)
    extent = extent_of(*(np.where(present, each, np.nan) for each in runs))
    estimate = _coefficients(law, runs)
    ahead = scaling_law.fitted_losses(refits.theta, runs.logs)
    errors = _backtest(
        runs,
        losses,
        present,
        law_of_cut,
        kept,
        ahead,
        _coefficients(refits, runs),
        estimate,
        extent,
    )
    degrees = present.sum(axis=1) - law.free.sum(axis=1)
    known = Known(
        estimate,
        _covariance(law, runs, np.log(losses / fitted)),
        degrees.astype(float),
        *errors,
        extent,
    )
    predicted, most = np.full(losses.shape, np.nan), np.zeros(losses.shape)
    for one, below, there in zip(law_of_cut, kept, ahead, strict=True):
        # Cuts come in any order: a run keeps what most runs before it predict.
        better = present[one] & ~below & (most[one] < below.sum())
        most[one, better], predicted[one, better] = below.sum(), there[better]
    return known, law, fitted, predicted


def extent_of(n: Floats, d: Floats) -> Floats:
    """Return the extents of `Known`, of sizes and tokens of shape (law, run), NaN for runs that a law does not have."""
    ends = [end.reduce(each, axis=1) for each in (n, d, d / n) for end in (np.fmin, np.fmax)]
    return np.stack([*ends, np.fmax.reduce(n * d, axis=1)], axis=1)


def _coefficients(law: Law, runs: Runs) -> Floats:
    """Return E, A, B, α, β."""
    # A = A' N0^α and B = B' D0^β; the exponent of a term that is 0 says nothing
    found = law.theta.copy()
    factors = found[:, [A, B]]
    exponents = np.where(factors > 0, np.exp(found[:, ALPHA:]), np.nan)
    with np.errstate(over="ignore"):
        found[:, [A, B]] = np.where(factors > 0, factors * np.array(runs.centre) ** exponents, 0.0)
    found[:, ALPHA:] = exponents
    return found


def _cuts(runs: Runs, present: Bools) -> tuple[NDArray[np.intp], Bools]:
    """Return the law of each cut and the runs that it keeps: those up to a quantile of N D, distinct sets only."""
    product = runs.n * runs.d
    patterns, which = np.unique(present, axis=0, return_inverse=True)
    laws = [np.empty(0, np.intp)]
    kept = [np.empty((0, len(product)), dtype=bool)]
    # laws of the same runs have the same cuts
    for i, pattern in enumerate(patterns):
        below = np.unique(
            (product <= np.quantile(product[pattern], _CUTS)[:, np.newaxis]) & pattern,
            axis=0,
        )
        count = below.sum(axis=1)
        below = below[(count >= _KEPT) & (pattern.sum() - count >= _LEFT_OUT)]
        # Of one or two sizes every exponent fits alike: predictions from them are arbitrary.
        below = below[[all(len(np.unique(each[one])) >= DISTINCT for each in runs) for one in below]]
        theirs = np.flatnonzero(which.ravel() == i)
        laws.append(np.repeat(theirs, len(below)))
        kept.append(np.tile(below, (len(theirs), 1)))
    return np.concatenate(laws), np.concatenate(kept)


def _backtest(
    runs: Runs,
    losses: Floats,
    present: Bools,
    law: NDArray[np.intp],  # of each cut
    kept: Bools,  # (cut, run)
    ahead: Floats,  # (cut, run): losses by the refits
    refits: Floats,  # (cut, 5)
    estimate: Floats,
    extent: Floats,
) -> tuple[Floats, Floats, Floats]:
    """Return ρ, ν_a and ν_N, shape (law,), NaN where no cut is possible."""
    # octaves beyond the kept runs, in whatever direction a run is furthest: by N D, N or D
    later = present[law] & ~kept
    beyond = [
        np.log2(each / np.where(kept, each, -np.inf).max(axis=1, keepdims=True))
        for each in (runs.n * runs.d, runs.n, runs.d)
    ]
    horizon = np.maximum(np.max(beyond, axis=0, initial=-np.inf), _LEAST_OCTAVES)
    squares = np.log(np.where(later, losses[law], 1.0) / ahead) ** 2 / horizon
    # Of the allocation there is no later truth: refits are compared with the whole law, at the largest N D.
    most = extent[law, -1:]
    full = estimate[law]
    octaves = np.maximum(
        np.where(present[law], beyond[0], -np.inf).max(axis=1, initial=-np.inf),
        _LEAST_OCTAVES,
    )
    drifts = (
        exponent(refits) - exponent(full),
        (log_optimum(refits, most) - log_optimum(full, most))[:, 0],
    )
    of_losses = np.where(later, squares, 0.0).sum(axis=1) / later.sum(axis=1)
    rho, nu_exponent, nu_n = (
        _root_mean(each, law, len(losses)) for each in (of_losses, *(drift**2 / octaves for drift in drifts))
    )
    return rho, nu_exponent, nu_n


def _root_mean(squares: Floats, law: NDArray[np.intp], n_laws: int) -> Floats:
    """Return the root of the mean over the cuts of each law, of those that are known."""
    known = ~np.isnan(squares)
    totals = np.bincount(law[known], squares[known], n_laws)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.sqrt(totals / np.bincount(law[known], minlength=n_laws)))


def _covariance(law: Law, runs: Runs, residuals: Floats) -> Floats:
    """Return the covariance of E, A, B, α, β, shape (law, 5, 5): Huber's, 0 for what is at a bound."""
    # Huber: κ² [Σψ² / (k - p)] / m² · (XᵀX)⁻¹, ψ the residuals clipped at δ, m the share of those within δ, k runs, p
    # free parameters, κ = 1 + (p / k) (1 - m) / m, X the derivatives of ln f.
    has = ~np.isnan(residuals)
    turn = law.delta[:, np.newaxis]
    residuals = np.where(has, residuals, 0.0)
    count = has.sum(axis=1)
    n_free = law.free.sum(axis=1)
    share = (has & (np.abs(residuals) <= turn)).sum(axis=1) / count
    squares = (np.clip(residuals, -turn, turn) ** 2).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = (1 + n_free / count * (1 - share) / share) ** 2 * squares / (count - n_free) / share**2
    # Derivatives by A' and α at fixed A': well conditioned where those by A are not.
    slopes = scaling_law.slopes_of(law.theta, runs.logs)
    slopes[:, ALPHA:] /= np.exp(law.theta[:, ALPHA:, np.newaxis])
    slopes /= scaling_law.fitted_losses(law.theta, runs.logs)[:, np.newaxis]
    slopes = np.where(has[:, np.newaxis] & law.free[..., np.newaxis], slopes, 0.0)
    inverse = np.linalg.pinv(slopes @ slopes.swapaxes(-1, -2), hermitian=True)
    inverse *= law.free[:, np.newaxis] & law.free[..., np.newaxis]
    # to E, A, B, α, β: A = A' N0^α, dA / dA' = A / A', dA / dα = A ln N0
    outward = np.tile(np.eye(5), (len(share), 1, 1))
    factors, coefficients = law.theta[:, [A, B]], _coefficients(law, runs)[:, [A, B]]
    outward[:, [A, B], [A, B]] = np.divide(coefficients, factors, out=np.zeros_like(factors), where=factors > 0)
    outward[:, [A, B], [ALPHA, BETA]] = coefficients * np.log(runs.centre)
    return np.asarray(scale[:, np.newaxis, np.newaxis] * (outward @ inverse @ outward.swapaxes(-1, -2)))


# Below, sizes, tokens and their products are of shape (law, place), and so are the answers.


def predicted_losses(estimate: Floats, n: Floats, d: Floats) -> Floats:
    """Return f(N, D)."""
    e, a, b, _, _ = _columns(estimate)
    of_n, of_d = _terms(estimate, n, d)
    return np.asarray(e + a * of_n + b * of_d)


def _columns(estimate: Floats) -> Floats:
    """Return E, A, B, α, β, shape (5, law, 1)."""
    return estimate.T[..., np.newaxis]


def _terms(estimate: Floats, n: Floats, d: Floats) -> list[Floats]:
    """Return N^−α and D^−β, 0 for terms that are 0."""
    _, a, b, alpha, beta = _columns(estimate)
    pairs = ((a, alpha, n), (b, beta, d))
    return [np.where(factor > 0, size ** -np.nan_to_num(power), 0.0) for factor, power, size in pairs]


def exponent(estimate: Floats) -> Floats:
    """Return a = β / (α + β), shape (law,), NaN where a term is 0."""
    return np.asarray(estimate[:, BETA] / (estimate[:, ALPHA] + estimate[:, BETA]))


def log_optimum(estimate: Floats, product: Floats) -> Floats:
    """Return ln N_opt where N D is `product`."""
    # with D = P / N, d/dN (A N^-α + B D^-β) = 0 where α A N^-α = β B (P / N)^-β: N^(α+β) = α A / (β B) P^β
    _, a, b, alpha, beta = _columns(estimate)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((np.log(alpha * a / (beta * b)) + beta * np.log(product)) / (alpha + beta))


def _half(known: Known, slopes: Floats, spread: Floats, octaves: Floats | float, alpha: float) -> tuple[Floats, Floats]:
    """Return half the intervals of what has these slopes: by the law alone, and widened by a backtest error."""
    # a variance is not negative but for rounding
    sd = np.sqrt(np.maximum(variance(slopes, known.covariance), 0.0))
    by_law = t_quantile(alpha, known.degrees)[:, np.newaxis] * sd
    return by_law, np.hypot(by_law, t_quantile(alpha, _NORMAL) * spread[:, np.newaxis] * np.sqrt(octaves))


def loss(known: Known, n: Floats, d: Floats, alpha: float) -> dict[str, Floats]:
    """Return f(N, D) with its intervals, and whether it lies outside the runs."""
    _, a, b, _, _ = _columns(known.estimate)
    predicted, (of_n, of_d) = (
        predicted_losses(known.estimate, n, d),
        _terms(known.estimate, n, d),
    )
    # by E, A, B, α, β; divided by f below, of ln f
    slopes = np.stack(
        [
            np.ones_like(predicted),
            of_n,
            of_d,
            -a * np.log(n) * of_n,
            -b * np.log(d) * of_d,
        ],
        axis=-1,
    )
    # One octave at least: misses of backtests hold the spread of single runs, which they have within the data too.
    least_n, most_n, least_d, most_d, _, _, most = known.extent.T[..., np.newaxis]
    octaves = np.maximum(np.log2(np.maximum(np.maximum(n / most_n, d / most_d), n * d / most)), 1.0)
    by_law, half = _half(known, slopes / predicted[..., np.newaxis], known.rho, octaves, alpha)
    outside = (octaves > 1) | (n < least_n / 2) | (d < least_d / 2)
    return {
        "prediction": predicted,
        "prediction_ci": around_in_logs(predicted, half),
        "prediction_ci_given_law": around_in_logs(predicted, by_law),
        "extrapolated": outside & ~np.isnan(predicted),
    }


def share_of_size(known: Known, alpha: float) -> tuple[Floats, Floats]:
    """Return the exponent a of compute in the best model size, and half its interval, shape (law,)."""
    alphas, betas = known.estimate[:, ALPHA], known.estimate[:, BETA]
    # a = β / (α + β): da/dα = -β / (α + β)², da/dβ = α / (α + β)²
    zero = np.zeros_like(alphas)
    slopes = np.stack([zero, zero, zero, -betas, alphas], axis=-1) / (alphas + betas)[:, np.newaxis] ** 2
    return exponent(known.estimate), _half(known, slopes[:, np.newaxis], known.nu_exponent, 1.0, alpha)[1][:, 0]


def allocation(known: Known, alpha: float, product: Floats) -> dict[str, Floats]:
    """Return how to divide N D, shape (budget,), between N and D, and the exponent of that."""
    _, a, b, alphas, betas = _columns(known.estimate)
    # of ln N_opt = [ln(α A) - ln(β B) + β ln P] / (α + β), by E, A, B, α, β
    total = alphas + betas
    log_n = log_optimum(known.estimate, product)
    least, most, largest = known.extent[:, 4:].T[..., np.newaxis]
    with np.errstate(divide="ignore", invalid="ignore"):
        by_exponents = [
            (1 / alphas - log_n) / total,
            (np.log(product) - 1 / betas - log_n) / total,
        ]
        by_factors = [0 * total, 1 / (a * total), -1 / (b * total)]
    slopes = np.stack(np.broadcast_arrays(*by_factors, *by_exponents), axis=-1)
    _, half = _half(known, slopes, known.nu_n, np.maximum(np.log2(product / largest), 1.0), alpha)
    # N D is given: ln D errs as much as ln N, and ln(D / N) twice as much
    n = np.exp(log_n)
    d = product / n
    ratio = d / n
    share, half_share = share_of_size(known, alpha)
    there = loss(known, n, d, alpha)
    return {
        "allocation_exponent": share,
        "allocation_exponent_ci": np.clip(around(share, half_share), 0.0, 1.0),
        "n_opt": n,
        "n_opt_ci": around_in_logs(n, half),
        "d_opt": d,
        "d_opt_ci": around_in_logs(d, half),
        "tokens_per_parameter": ratio,
        "tokens_per_parameter_ci": around_in_logs(ratio, 2 * half),
        "loss_at_optimum": there["prediction"],
        "loss_at_optimum_ci": there["prediction_ci"],
        "ratio_extrapolated": (ratio < least) | (ratio > most),
    }


def log_ratio(one: dict[str, Floats], other: dict[str, Floats]) -> tuple[Floats, Floats]:
    """Return ln of the other predicted losses over the first, and half its interval."""
    with np.errstate(divide="ignore", invalid="ignore"):
        halves = [np.log(each["prediction_ci"][..., 1] / each["prediction"]) for each in (one, other)]
        return np.log(other["prediction"] / one["prediction"]), np.hypot(*halves)


def multiplier(one: Known, other: Known, product: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Return by how much compute of the other laws is multiplied for the same loss, and its interval."""

    def at_optimum(known: Known, log: Floats) -> dict[str, Floats]:
        """Return the losses at the optimum of products exp(log)."""
        log_n = log_optimum(known.estimate, np.exp(log))
        return loss(known, np.exp(log_n), np.exp(log - log_n), alpha)

    def apart(log: Floats) -> NDArray[np.bool_]:
        """Return where the difference of ln f exceeds its half width, at multipliers exp(log)."""
        gap, half = log_ratio(first, at_optimum(other, here + log))
        return np.asarray(np.abs(gap) > half)

    here = np.broadcast_to(np.log(product), (len(one.rho), len(product)))
    first = at_optimum(one, here)
    least, _, _, alphas, betas = _columns(other.estimate)
    steep = alphas * betas / (alphas + betas)  # f* = E + K (N D)^-steep
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (at_optimum(other, here)["prediction"] - least) / (first["prediction"] - least)
        # it never has a loss at or below its own E
        centre = np.where(first["prediction"] > least, np.log(ratio) / steep, np.nan)
    ends = np.exp(np.stack([_end(apart, centre, sign) for sign in (-1.0, 1.0)], axis=-1))
    unknown = np.isnan(centre) | np.isnan(one.rho + other.rho)[:, np.newaxis]
    return np.exp(centre), np.where(unknown[..., np.newaxis], np.nan, ends)


def _end(apart: Callable[[Floats], NDArray[np.bool_]], centre: Floats, sign: float) -> Floats:
    """Return where, outwards from the centre, the difference first exceeds its half width: by steps, then halving."""
    # Steps, as the difference need not be monotone: the first time it is shown ends the interval.
    inner, outer = centre, np.full(centre.shape, np.nan)
    with np.errstate(all="ignore"):
        for _ in range(int(np.ceil(_FARTHEST / _STEP))):
            trial = inner + sign * _STEP
            left = np.isnan(outer) & ~np.isnan(centre)
            beyond = left & apart(trial)
            outer = np.where(beyond, trial, outer)
            inner = np.where(left & ~beyond, trial, inner)
            if not (left & ~beyond).any():
                break
        inner, found = halve(lambda log: ~apart(log), inner, outer, _HALVINGS)
    return np.where(np.isnan(outer), sign * np.inf, (inner + found) / 2)
