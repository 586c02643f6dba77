"""Loss as a law of model size and tokens, f(N, D) = E + A N^−α + B D^−β: the fit of many laws at once.

A law is θ = (E, A', B', ln α, ln β), A' = A N0^−α and B' = B D0^−β at the geometric means of all runs: A and B change
by a factor of 1,000 for a digit of α. All laws share the runs; `present` says which ones each is fitted to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from xcurves.array_types import Bools, Floats
from xcurves.kernels.resampling.batches import stretches

E, A, B, ALPHA, BETA = range(5)
LOWEST, HIGHEST = 0.01, 2.5  # exponents
_GRID = np.geomspace(0.02, 2.4, 25)
# of free coefficients, not all
_SETS = [np.array(each) for each in ([0], [1], [2], [0, 1], [0, 2], [1, 2])]
_OF_NORMAL = 1.345 * 1.4826  # Huber's constant, times the median absolute residual
_EXACT = 1e-9  # median absolute log residual from which on the law is exact
_STEPS = 300
_SAME = 1e-11  # of θ
_LAWS = 64  # whose grids fit into memory


class Runs(NamedTuple):
    """The runs that all laws share, shape (run,), with their geometric means."""

    n: Floats
    d: Floats

    @property
    def centre(self) -> tuple[float, float]:
        """N0 and D0."""
        return float(np.exp(np.log(self.n).mean())), float(np.exp(np.log(self.d).mean()))

    @property
    def logs(self) -> Floats:
        """Ln N/N0 and ln D/D0, shape (2, run)."""
        both = np.log(np.stack([self.n, self.d]))
        return np.asarray(both - both.mean(axis=1, keepdims=True))


class Law(NamedTuple):
    """Fitted laws."""

    theta: Floats  # (law, 5)
    free: Bools  # (law, 5): what is not at a bound
    delta: Floats  # (law,): where Huber's loss turns linear
    objective: Floats  # (law,): its sum G

    def take(self, some: slice) -> Law:
        """Return some of the laws."""
        return Law(self.theta[some], self.free[some], self.delta[some], self.objective[some])


def fit(runs: Runs, losses: Floats, present: Bools, delta: float | None) -> Law:
    """Minimise the sum of Huber's loss of log residuals, losses and present of shape (law, run)."""
    logs, loss = runs.logs, np.where(present, losses, 1.0)
    theta = np.concatenate([_best_of_grid(logs, loss[i], present[i]) for i in stretches(len(loss), _LAWS)])
    # Relative least squares first: its residuals say where Huber's loss turns linear, and it is near the minimum.
    none = np.full(len(loss), np.inf)
    theta, _ = _minimise(theta, logs, loss, present, none, _relative_squares)
    residuals = np.abs(np.log(loss) - np.log(fitted_losses(theta, logs)))
    if delta is not None:
        width = np.full(len(loss), float(delta))
    else:
        typical = np.nanmedian(np.where(present, residuals, np.nan), axis=1)
        count = present.sum(axis=1)
        # 1.4826 times the median is a normal standard deviation; five parameters make residuals too small. An exact
        # law has no residuals to judge by: least squares in logs.
        with np.errstate(divide="ignore"):
            width = np.where(
                typical < _EXACT,
                np.inf,
                _OF_NORMAL * typical * np.sqrt(count / (count - 5)),
            )
    theta, free = _minimise(theta, logs, loss, present, width, _huber)
    return Law(
        theta,
        free,
        width,
        _huber(fitted_losses(theta, logs), loss, present, width, width > 0)[0],
    )


def fitted_losses(theta: Floats, logs: Floats) -> Floats:
    """Return f, shape (law, run), at ln N/N0 and ln D/D0, shape (2, run) or (2, law, run)."""
    exponents = np.exp(theta[:, ALPHA:, np.newaxis])
    terms = [theta[:, A + i, np.newaxis] * np.exp(-exponents[:, i] * logs[i]) for i in range(2)]
    return np.asarray(theta[:, E, np.newaxis] + terms[0] + terms[1])


def slopes_of(theta: Floats, logs: Floats) -> Floats:
    """Return the derivatives of f by θ, shape (law, 5, run)."""
    # of A' exp(-α ln N/N0) by ln α: A' (-α ln N/N0) exp(-α ln N/N0), as dα / d ln α = α
    steep = -np.exp(theta[:, ALPHA:, np.newaxis]) * logs
    powers = np.exp(steep)
    by_exponents = theta[:, A : B + 1, np.newaxis] * steep * powers
    return np.concatenate([np.ones_like(steep[:, :1]), powers, by_exponents], axis=1)


def _best_of_grid(logs: Floats, loss: Floats, present: Bools) -> Floats:
    """Return the best exponents of the grid with coefficients by nonnegative relative least squares, (law, 5)."""
    # Given exponents the law is linear in E, A' and B', with columns 1, x and y: their products under the weights are
    # matrix products for all laws and all exponents at once.
    weights = np.where(present, loss**-2.0, 0.0)
    x, y = (np.exp(-_GRID[:, np.newaxis] * log) for log in logs)
    gram = np.empty((3, 3, len(loss), len(_GRID), len(_GRID)))
    gram[0, 0] = weights.sum(axis=1)[:, np.newaxis, np.newaxis]
    gram[0, 1] = gram[1, 0] = (weights @ x.T)[:, :, np.newaxis]
    gram[0, 2] = gram[2, 0] = (weights @ y.T)[:, np.newaxis]
    gram[1, 1] = (weights @ x.T**2)[:, :, np.newaxis]
    gram[2, 2] = (weights @ y.T**2)[:, np.newaxis]
    products = (x[:, np.newaxis] * y).reshape(-1, x.shape[1])
    gram[1, 2] = gram[2, 1] = (weights @ products.T).reshape(len(loss), len(_GRID), len(_GRID))
    wanted = weights * loss
    target = np.empty(gram.shape[1:])
    target[0] = wanted.sum(axis=1)[:, np.newaxis, np.newaxis]
    target[1] = (wanted @ x.T)[:, :, np.newaxis]
    target[2] = (wanted @ y.T)[:, np.newaxis]
    gain, coefficients = nonnegative(gram, target)
    best = gain.reshape(len(loss), -1).argmax(axis=1)
    law, (i, j) = np.arange(len(loss)), np.unravel_index(best, gain.shape[1:])
    exponents = np.log(_GRID[np.stack([i, j], axis=1)])
    return np.concatenate([coefficients[:, law, i, j].T, exponents], axis=1)


def nonnegative(gram: Floats, target: Floats) -> tuple[Floats, Floats]:
    """Return by how much nonnegative least squares, of (3, 3, ...), lower the sum of squares, and coefficients."""
    # With normal equations G c = t solved, the sum of squares falls by c · t. Where a coefficient is negative, the
    # solution is one of those with fewer columns: the best of the sets whose coefficients are all positive.
    found = _solve(gram, target)
    gain = (found * target).sum(axis=0)
    # all three where they are positive: seldom the rest
    bound = np.nonzero(~(found >= 0).all(axis=0))
    three = np.arange(3)[:, np.newaxis]
    matrix = gram[three[..., np.newaxis], three, *bound]
    wanted = target[three, *bound]
    best = np.full(wanted.shape[1], -np.inf)
    coefficients = np.zeros(wanted.shape)
    for chosen in _SETS:
        solved = _solve(matrix[np.ix_(chosen, chosen)], wanted[chosen])
        gained = (solved * wanted[chosen]).sum(axis=0)
        better = (solved >= 0).all(axis=0) & (gained > best)
        best[better] = gained[better]
        coefficients[:, better] = 0.0
        coefficients[np.ix_(chosen, better)] = solved[:, better]
    gain[bound] = best
    found[three, *bound] = coefficients
    return gain, found


def _solve(matrix: Floats, wanted: Floats) -> Floats:
    """Return the coefficients of least squares, NaN or infinite where columns depend on each other."""
    with np.errstate(invalid="ignore"):
        return np.asarray((_inverse(matrix) * wanted).sum(axis=1))


def _inverse(matrix: Floats) -> Floats:
    """Return the inverses of symmetric matrices, shape (size, size, ...), of up to three columns, by cofactors."""
    size = len(matrix)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Fewer columns by themselves: 100 laws take .21 s; as equations of three with zeros .29 s.
        if size == 1:
            return 1 / matrix
        if size == 2:
            (a, b), (_, c) = matrix
            return np.asarray(np.array([[c, -b], [-b, a]]) / (a * c - b * b))
        (a, b, c), (_, d, e), (_, _, f) = matrix
        cofactors = [
            [d * f - e * e, c * e - b * f, b * e - c * d],
            [c * e - b * f, a * f - c * c, b * c - a * e],
        ]
        cofactors.append([cofactors[0][2], cofactors[1][2], a * d - b * b])
        return np.asarray(np.array(cofactors) / (a * cofactors[0][0] + b * cofactors[0][1] + c * cofactors[0][2]))


# (fitted, losses, present, whether exact) -> the objective, its first and its second derivative by fitted values
Objective = Callable[[Floats, Floats, Bools, Floats, Bools], tuple[Floats, Floats, Floats]]


def _relative_squares(
    fitted: Floats, loss: Floats, present: Bools, *_: Floats | Bools
) -> tuple[Floats, Floats, Floats]:
    """Half the sum of squared relative residuals."""
    residual = np.where(present, 1 - fitted / loss, 0.0)
    return (
        (residual**2).sum(axis=1) / 2,
        -residual / loss,
        np.where(present, loss**-2.0, 0.0),
    )


def _huber(fitted: Floats, loss: Floats, present: Bools, delta: Floats, exact: Bools) -> tuple[Floats, Floats, Floats]:
    """Huber's loss of log residuals, turning linear at `delta`; not exact: the quadratic that bounds it from above."""
    with np.errstate(divide="ignore", invalid="ignore"):
        residual = np.where(present, np.log(loss / fitted), 0.0)
        turn = delta[:, np.newaxis]
        slope = np.clip(residual, -turn, turn)
        size = np.abs(residual)
        # height (size - height / 2) is r² / 2 up to δ, where height = size, and δ (|r| - δ / 2) beyond
        height = np.abs(slope)
        # r = ln L - ln f: dH/df = -ψ / f, and d²H/df² = (ψ' + ψ) / f², with ψ' 1 up to δ and 0 beyond. Not exact: 1, or
        # δ / |r| beyond δ, the curvature of a parabola that touches the loss from above; it is never negative.
        bounded = np.where(size > turn, turn / size, 1.0)
        curvature = np.where(exact[:, np.newaxis], (size <= turn) + slope, bounded)
        return (
            (height * (size - height / 2)).sum(axis=1),
            -slope / fitted,
            np.where(present, curvature, 0.0) / fitted**2,
        )


def _minimise(
    theta: Floats,
    logs: Floats,
    loss: Floats,
    present: Bools,
    delta: Floats,
    objective: Objective,
) -> tuple[Floats, Bools]:
    """Return θ at the minimum within bounds, and what is free: damped Newton steps, all laws at once."""
    # Levenberg's damping: a step that does not lower the objective is tried again shorter, and with a curvature that is
    # surely positive; one that does makes the next step longer.
    theta = theta.copy()
    free_all = np.ones(theta.shape, dtype=bool)
    damping = np.full(len(theta), 1e-4)
    exact = np.ones(len(theta), dtype=bool)
    left, places = np.arange(len(theta)), np.arange(5)
    for _ in range(_STEPS):
        here = theta[left]
        part = (loss[left], present[left], delta[left], exact[left])
        value, gradient, hessian, scale = _derivatives(here, logs, part, objective)
        # what may not move has a row and a column of the unit matrix, and a gradient of 0: it stays
        free = _may_move(here, gradient)
        free_all[left] = free
        damped = np.where(free[:, :, np.newaxis] & free[:, np.newaxis], hessian, 0.0)
        damped[:, places, places] += np.where(free, damping[left, np.newaxis] * scale, 1.0)
        move = -np.linalg.solve(damped, np.where(free, gradient, 0.0)[..., np.newaxis])[..., 0]
        trial = _within(here + move, here)
        accepted = objective(fitted_losses(trial, logs), *part)[0] <= value
        theta[left[accepted]] = trial[accepted]
        damping[left] = np.clip(np.where(accepted, damping[left] / 10, damping[left] * 10), 1e-12, 1e10)
        exact[left] = accepted
        # laws that have come to rest, or can go nowhere, leave
        moved = np.abs(trial - here).max(axis=1)
        left = left[(moved > _SAME) & (damping[left] < 1e10)]
        if not left.size:
            break
    return theta, free_all


def _derivatives(
    theta: Floats,
    logs: Floats,
    part: tuple[Floats, Bools, Floats, Bools],
    objective: Objective,
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the objective, its gradient and Hessian by θ, and the scale of damping, shape (law, 5)."""
    slopes = slopes_of(theta, logs)
    curved = slopes[:, ALPHA:] * (1 - np.exp(theta[:, ALPHA:, np.newaxis]) * logs)
    fitted = theta[:, E, np.newaxis] + (theta[:, A : B + 1, np.newaxis] * slopes[:, A : B + 1]).sum(axis=1)
    # Chain rule: Σ over runs of the first derivative times slopes, and of the second times products of slopes. What
    # the second derivatives of f by θ add is in the loop below; without it the Hessian is Gauss-Newton's.
    value, first, second = objective(fitted, *part)
    gradient = (slopes * first[:, np.newaxis]).sum(axis=-1)
    hessian = (slopes * second[:, np.newaxis]) @ slopes.swapaxes(-1, -2)
    scale = np.abs(np.diagonal(hessian, axis1=1, axis2=2))
    scale = np.maximum(scale, 1e-8 * scale.max(axis=1, keepdims=True) + 1e-300)
    exact = part[-1]
    for i in range(2):
        # d² (A' x) / d ln α² = slope (1 - α ln N/N0), and d² (A' x) / dA' d ln α = slope / A': sums of the latter are
        # the gradient by ln α over A'
        own = (curved[:, i] * first).sum(axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            mixed = np.where(
                exact & (theta[:, A + i] > 0),
                gradient[:, ALPHA + i] / theta[:, A + i],
                0.0,
            )
        hessian[:, ALPHA + i, ALPHA + i] += np.where(exact, own, 0.0)
        hessian[:, ALPHA + i, A + i] += mixed
        hessian[:, A + i, ALPHA + i] += mixed
    return value, gradient, hessian, scale


def _may_move(theta: Floats, gradient: Floats) -> Bools:
    """Return what may move: not a coefficient at 0 or an exponent at an end that the objective pushes outwards."""
    # of a term that is 0 the exponent does not matter: it stays
    free = np.ones(theta.shape, dtype=bool)
    coefficients = slice(E, B + 1)
    exponents = slice(ALPHA, BETA + 1)
    free[:, coefficients] = (theta[:, coefficients] > 0) | (gradient[:, coefficients] < 0)
    low = (theta[:, exponents] <= np.log(LOWEST)) & (gradient[:, exponents] > 0)
    high = (theta[:, exponents] >= np.log(HIGHEST)) & (gradient[:, exponents] < 0)
    free[:, exponents] = ~(low | high) & (theta[:, A : B + 1] > 0)
    return free


def _within(theta: Floats, before: Floats) -> Floats:
    """Return θ within its bounds; exponents move by a factor of 2 at most."""
    found = theta.copy()
    found[:, : B + 1] = np.maximum(found[:, : B + 1], 0.0)
    step = np.clip(found[:, ALPHA:] - before[:, ALPHA:], -np.log(2), np.log(2))
    found[:, ALPHA:] = np.clip(before[:, ALPHA:] + step, np.log(LOWEST), np.log(HIGHEST))
    return found
