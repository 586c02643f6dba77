"""What fitted scaling laws predict, how they miss their own later runs, and intervals of runs widened by that."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.kernels import scaling_law
from xcurves.kernels.moments import Floats
from xcurves.kernels.plans import halve
from xcurves.kernels.powerlaw import t_quantile
from xcurves.kernels.scaling_law import ALPHA, BETA, A, B, E, Law, Mask, Runs

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

    def take(self, some: NDArray[np.intp]) -> Known:
        """Return some of the laws."""
        return Known(*(each[some] for each in self))


def know(runs: Runs, losses: Floats, present: Mask, delta: float | None) -> tuple[Known, Law, Floats, Floats]:
    """Fit laws and backtest them; return also fitted losses and what the last cut before a run predicts, (law, run)."""
    law_of_cut, kept = _cuts(runs, present)
    every = scaling_law.fit(runs, np.concatenate([losses, losses[law_of_cut]]), np.concatenate([present, kept]), delta)
    n_laws = len(losses)
    law, refits = every.take(slice(n_laws)), every.take(slice(n_laws, None))
    residuals = np.where(present, np.log(losses) - np.log(scaling_law.fitted_losses(law.theta, runs.logs)), np.nan)
    extent = extent_of(*(np.where(present, each, np.nan) for each in runs))
    estimate = _coefficients(law, runs)
    errors = _backtest(runs, losses, present, law_of_cut, kept, refits, estimate, extent)
    degrees = present.sum(axis=1) - law.free.sum(axis=1)
    known = Known(estimate, _covariance(law, runs, residuals), degrees.astype(float), *errors, extent)
    predicted, most = np.full(losses.shape, np.nan), np.zeros(losses.shape)
    for one, below, ahead in zip(law_of_cut, kept, scaling_law.fitted_losses(refits.theta, runs.logs), strict=True):
        later = present[one] & ~below  # cuts come in any order: a run keeps what most runs before it predict
        most[one, later], better = np.maximum(most[one, later], below.sum()), most[one, later] < below.sum()
        predicted[one, np.flatnonzero(later)[better]] = ahead[later][better]
    return known, law, np.where(present, losses * np.exp(-residuals), np.nan), predicted


def extent_of(n: Floats, d: Floats) -> Floats:
    """Return the extents of `Known`, of sizes and tokens of shape (law, run), NaN for runs that a law does not have."""
    ends = [end.reduce(each, axis=1) for each in (n, d, d / n) for end in (np.fmin, np.fmax)]
    return np.stack([*ends, np.fmax.reduce(n * d, axis=1)], axis=1)


def _coefficients(law: Law, runs: Runs) -> Floats:
    """Return E, A, B, α, β."""
    found = law.theta.copy()
    exponents = np.where(found[:, A : B + 1] > 0, np.exp(found[:, ALPHA:]), np.nan)
    for i, centre in enumerate(runs.centre):
        with np.errstate(over="ignore"):
            found[:, A + i] = np.where(found[:, A + i] > 0, found[:, A + i] * centre ** exponents[:, i], 0.0)
    found[:, ALPHA:] = exponents
    return found


def _cuts(runs: Runs, present: Mask) -> tuple[NDArray[np.intp], Mask]:
    """Return the law of each cut and the runs that it keeps: those up to a quantile of N D, distinct sets only."""
    product = runs.n * runs.d
    patterns, which = np.unique(present, axis=0, return_inverse=True)
    laws = [np.empty(0, np.intp)]
    kept = [np.empty((0, len(product)), dtype=bool)]
    for i, pattern in enumerate(patterns):
        below = np.unique((product <= np.quantile(product[pattern], _CUTS)[:, np.newaxis]) & pattern, axis=0)
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
    present: Mask,
    law: NDArray[np.intp],
    kept: Mask,
    refits: Law,
    estimate: Floats,
    extent: Floats,
) -> tuple[Floats, Floats, Floats]:
    """Return ρ, ν_a and ν_N, shape (law,), NaN where no cut is possible; refits and `kept` have a row for each cut."""
    product = runs.n * runs.d
    later = present[law] & ~kept
    horizon = np.full(kept.shape, -np.inf)
    for each in (product, runs.n, runs.d):
        largest = np.where(kept, each, -np.inf).max(axis=1, keepdims=True)
        horizon = np.maximum(horizon, np.log2(each / largest))
    residual = np.log(np.where(later, losses[law], 1.0)) - np.log(scaling_law.fitted_losses(refits.theta, runs.logs))
    squares = np.where(later, residual**2 / np.maximum(horizon, _LEAST_OCTAVES), 0.0).sum(axis=1) / later.sum(axis=1)
    of_cut, full = _coefficients(refits, runs), estimate[law]
    most = extent[law, -1]
    octaves = np.maximum(np.log2(most / np.where(kept, product, -np.inf).max(axis=1)), _LEAST_OCTAVES)
    drift = [
        (function(of_cut) - function(full)) ** 2 / octaves
        for function in (exponent, lambda here: log_optimum(here, most))
    ]
    rho, nu_exponent, nu_n = (_root_mean(each, law, len(losses)) for each in (squares, *drift))
    return rho, nu_exponent, nu_n


def _root_mean(squares: Floats, law: NDArray[np.intp], n_laws: int) -> Floats:
    """Return the root of the mean over the cuts of each law, of those that are known."""
    known = ~np.isnan(squares)
    totals = np.bincount(law[known], squares[known], n_laws)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.sqrt(totals / np.bincount(law[known], minlength=n_laws)))


def _covariance(law: Law, runs: Runs, residuals: Floats) -> Floats:
    """Return the covariance of E, A, B, α, β, shape (law, 5, 5): Huber's, 0 for what is at a bound."""
    count = (~np.isnan(residuals)).sum(axis=1)
    n_free = law.free.sum(axis=1)
    size = np.abs(np.where(np.isnan(residuals), np.inf, residuals))
    slopes = np.where(np.isnan(residuals), 0.0, np.clip(residuals, -law.delta[:, np.newaxis], law.delta[:, np.newaxis]))
    inner = (size <= law.delta[:, np.newaxis]) & np.isfinite(size)
    share = inner.sum(axis=1) / count
    with np.errstate(divide="ignore", invalid="ignore"):
        kappa = 1 + n_free / count * (1 - share) / share
        scale = kappa**2 * (slopes**2).sum(axis=1) / (count - n_free) / share**2
    estimate = _coefficients(law, runs)
    # Derivatives by A' and α at fixed A': well conditioned where those by A are not.
    slopes = scaling_law.slopes_of(law.theta, runs.logs)
    slopes[:, ALPHA:] /= np.exp(law.theta[:, ALPHA:, np.newaxis])
    here = (slopes / scaling_law.fitted_losses(law.theta, runs.logs)[:, np.newaxis]).swapaxes(-1, -2)
    here = np.where(~np.isnan(residuals)[..., np.newaxis] & law.free[:, np.newaxis], here, 0.0)
    information = here.swapaxes(-1, -2) @ here
    places = np.arange(5)
    information[:, places, places] += ~law.free
    inverse = np.linalg.pinv(information, hermitian=True)
    inverse[~law.free] = 0.0
    inverse.swapaxes(-1, -2)[~law.free] = 0.0
    outward = np.zeros((len(estimate), 5, 5))
    outward[:, places, places] = 1.0
    factors, coefficients = law.theta[:, [A, B]], estimate[:, [A, B]]
    with np.errstate(divide="ignore", invalid="ignore"):
        outward[:, [A, B], [A, B]] = np.where(factors > 0, coefficients / factors, 0.0)
    outward[:, [A, B], [ALPHA, BETA]] = coefficients * np.log(runs.centre)
    return np.asarray(scale[:, np.newaxis, np.newaxis] * (outward @ inverse @ outward.swapaxes(-1, -2)))


def predicted_losses(estimate: Floats, n: Floats, d: Floats) -> Floats:
    """Return f(N, D), shape (law,), a size and tokens for each law."""
    terms = _terms(estimate, n, d)
    return np.asarray(estimate[:, E] + estimate[:, A] * terms[0] + estimate[:, B] * terms[1])


def _terms(estimate: Floats, n: Floats, d: Floats) -> list[Floats]:
    """Return N^−α and D^−β, 0 for terms that are 0."""
    pairs = ((A, ALPHA, n), (B, BETA, d))
    return [np.where(estimate[:, c] > 0, size ** -np.nan_to_num(estimate[:, e]), 0.0) for c, e, size in pairs]


def exponent(estimate: Floats) -> Floats:
    """Return a = β / (α + β), NaN where a term is 0."""
    return np.asarray(estimate[:, BETA] / (estimate[:, ALPHA] + estimate[:, BETA]))


def log_optimum(estimate: Floats, product: Floats) -> Floats:
    """Return ln N_opt where N D is `product`, shape (law,)."""
    alpha, beta = estimate[:, ALPHA], estimate[:, BETA]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(alpha * estimate[:, A] / (beta * estimate[:, B]))
    return np.asarray((ratio + beta * np.log(product)) / (alpha + beta))


def _sd(known: Known, slopes: Floats) -> Floats:
    """Return the standard error of what has these derivatives by E, A, B, α, β, shape (law, 5)."""
    spread = np.einsum("li,lij,lj->l", slopes, known.covariance, slopes)
    return np.asarray(np.sqrt(np.maximum(spread, 0.0)))


def octaves_beyond(known: Known, n: Floats, d: Floats) -> Floats:
    """Return how far N, D or their product lies beyond the runs, in octaves, one at least."""
    largest = known.extent[:, 1], known.extent[:, 3], known.extent[:, 6]
    found = [np.log2(each / most) for each, most in zip((n, d, n * d), largest, strict=True)]
    return np.asarray(np.maximum(np.max(found, axis=0), 1.0))


def loss(known: Known, n: Floats, d: Floats, alpha: float) -> dict[str, Floats]:
    """Return f(N, D), half the widths of its intervals of ln f, and whether it lies outside the runs, shape (law,)."""
    predicted = predicted_losses(known.estimate, n, d)
    terms = _terms(known.estimate, n, d)
    slopes = np.stack(
        [
            np.ones_like(predicted),
            *terms,
            -known.estimate[:, A] * np.log(n) * terms[0],
            -known.estimate[:, B] * np.log(d) * terms[1],
        ],
        axis=-1,
    )
    law = t_quantile(alpha, known.degrees) * _sd(known, slopes / predicted[:, np.newaxis])
    octaves = octaves_beyond(known, n, d)
    below = (n < known.extent[:, 0] / 2) | (d < known.extent[:, 2] / 2)
    return {
        "prediction": predicted,
        "half_law": law,
        "half": np.hypot(law, t_quantile(alpha, _NORMAL) * known.rho * np.sqrt(octaves)),
        "extrapolated": np.where(np.isnan(predicted), 0.0, (octaves > 1) | below),
    }


def optimum(known: Known, product: Floats, alpha: float) -> dict[str, Floats]:
    """Return how to divide N D between N and D, with half the widths of intervals, shape (law,)."""
    a, b, alphas, betas = (known.estimate[:, i] for i in (A, B, ALPHA, BETA))
    total, quantile, z = alphas + betas, t_quantile(alpha, known.degrees), t_quantile(alpha, _NORMAL)
    share, log_n = exponent(known.estimate), log_optimum(known.estimate, product)
    with np.errstate(divide="ignore", invalid="ignore"):
        zero = np.zeros_like(total)
        of_share = np.stack([zero, zero, zero, -betas / total**2, alphas / total**2], axis=-1)
        by_exponents = [(1 / alphas - log_n) / total, (np.log(product) - 1 / betas - log_n) / total]
        of_log_n = np.stack([zero, 1 / (a * total), -1 / (b * total), *by_exponents], axis=-1)
    octaves = np.maximum(np.log2(product / known.extent[:, 6]), 1.0)
    n = np.exp(log_n)
    d = product / n
    here = loss(known, n, d, alpha)
    outside = (d / n < known.extent[:, 4]) | (d / n > known.extent[:, 5])
    return {
        "exponent": share,
        "half_exponent": np.hypot(quantile * _sd(known, of_share), z * known.nu_exponent),
        "n": n,
        "d": d,
        "half_n": np.hypot(quantile * _sd(known, of_log_n), z * known.nu_n * np.sqrt(octaves)),
        "loss": here["prediction"],
        "half_loss": here["half"],
        "ratio_extrapolated": np.where(np.isnan(n), 0.0, outside),
    }


def multiplier(one: Known, other: Known, product: Floats, alpha: float) -> Floats:
    """Return by how much compute of the other laws is multiplied for the same loss, and its interval: (law, 3)."""
    first = optimum(one, product, alpha)

    def apart(log: Floats) -> Floats:
        """Return by how much the difference of ln f exceeds its half width, at multipliers exp(log)."""
        there = optimum(other, product * np.exp(log), alpha)
        gap = np.abs(np.log(first["loss"]) - np.log(there["loss"]))
        return np.asarray(gap - np.hypot(first["half_loss"], there["half_loss"]))

    alphas, betas = other.estimate[:, ALPHA], other.estimate[:, BETA]
    steep = alphas * betas / (alphas + betas)  # f* = E + K (N D)^-steep
    here = optimum(other, product, alpha)["loss"] - other.estimate[:, E]
    with np.errstate(divide="ignore", invalid="ignore"):
        wanted = first["loss"] - other.estimate[:, E]
        centre = np.where(wanted > 0, np.log(here / wanted) / steep, np.nan)
    ends = [_end(apart, centre, sign) for sign in (-1.0, 1.0)]
    unknown = np.isnan(centre) | np.isnan(first["half_loss"]) | np.isnan(other.rho)
    found = np.exp(np.stack([centre, *ends], axis=-1))
    found[unknown, 1:] = np.nan
    return np.asarray(found)


def _end(apart: Callable[[Floats], Floats], centre: Floats, sign: float) -> Floats:
    """Return where, outwards from the centre, the difference first exceeds its half width: by steps, then halving."""
    inner = centre.copy()
    left = ~np.isnan(centre)
    outer = np.full(centre.shape, np.nan)
    for _ in range(int(np.ceil(_FARTHEST / _STEP))):
        trial = inner + sign * _STEP
        with np.errstate(all="ignore"):
            beyond = left & (apart(trial) > 0)
        outer[beyond] = trial[beyond]
        left &= ~beyond
        inner = np.where(left, trial, inner)
        if not left.any():
            break
    with np.errstate(all="ignore"):
        inner, found = halve(lambda log: ~(apart(log) > 0), inner, outer, _HALVINGS)
    return np.where(np.isnan(outer), sign * np.inf, (inner + found) / 2)
