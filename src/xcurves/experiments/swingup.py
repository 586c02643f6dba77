"""A pendulum that a weak motor must swing up (Doya 2000), and the Fourier basis of its features.

    m l² θ'' = -μ θ' + m g l sin θ + u,    m = l = 1, g = 9.8, μ = 0.01, |u| <= 5,

where θ is 0 upright. Equations are integrated by Runge and Kutta's fourth-order rule in steps of 0.02 s. A torque is
held for five of them; an episode is 20 s long, 200 actions, from rest at a random angle. The reward of an action is
cos θ after it. Speeds are clipped to ±8 rad/s: a pendulum that falls from the top reaches 6.3.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

GRAVITY, FRICTION, MAX_TORQUE, MAX_SPEED = 9.8, 0.01, 5.0, 8.0
TIME_STEP, STEPS_PER_ACTION, ACTIONS = 0.02, 5, 200

ORDER = 10  # highest frequency of the basis in either variable
_MULTIPLES = np.pi * np.arange(ORDER + 1)
_FIRST, _SECOND = (axis.ravel() for axis in np.indices((ORDER + 1, ORDER + 1)))
N_FEATURES = len(_FIRST)


def _acceleration(angle: Floats, speed: Floats, torque: Floats) -> Floats:
    return GRAVITY * np.sin(angle) - FRICTION * speed + torque


def swing(angle: Floats, speed: Floats, torque: Floats) -> tuple[Floats, Floats]:
    """Return angles within [-π, π) and speeds after an action."""
    torque = np.clip(torque, -MAX_TORQUE, MAX_TORQUE)
    for _ in range(STEPS_PER_ACTION):
        angle, speed = _runge_kutta(angle, speed, torque)
        speed = np.clip(speed, -MAX_SPEED, MAX_SPEED)
    return (angle + np.pi) % (2 * np.pi) - np.pi, speed


def _runge_kutta(angle: Floats, speed: Floats, torque: Floats) -> tuple[Floats, Floats]:
    h = TIME_STEP
    a1 = _acceleration(angle, speed, torque)
    v2 = speed + h / 2 * a1
    a2 = _acceleration(angle + h / 2 * speed, v2, torque)
    v3 = speed + h / 2 * a2
    a3 = _acceleration(angle + h / 2 * v2, v3, torque)
    v4 = speed + h * a3
    a4 = _acceleration(angle + h * v3, v4, torque)
    return angle + h / 6 * (speed + 2 * v2 + 2 * v3 + v4), speed + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)


def features(angle: Floats, speed: Floats) -> Floats:
    """Return cos(π c·x) for all frequencies c up to `ORDER` in both variables, scaled to [0, 1] (Konidaris et al.).

    Shape (trial, feature). The cosines of sums are computed from those of the parts.
    """
    x = (angle[:, np.newaxis] / np.pi + 1) / 2 * _MULTIPLES
    y = (speed[:, np.newaxis] / MAX_SPEED + 1) / 2 * _MULTIPLES
    waves = np.cos(x)[:, :, np.newaxis] * np.cos(y)[:, np.newaxis]
    waves -= np.sin(x)[:, :, np.newaxis] * np.sin(y)[:, np.newaxis]
    return waves.reshape(len(angle), N_FEATURES)


def in_basis(independent: NDArray[Any], dependent: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which features are in bases of the given orders, shape (..., feature).

    The dependent order bounds frequencies in both variables at once, the independent one those in one of them alone.
    """
    highest, lowest = np.maximum(_FIRST, _SECOND), np.minimum(_FIRST, _SECOND)
    both = highest <= np.asarray(dependent)[..., np.newaxis]
    return np.asarray(both | ((lowest == 0) & (highest <= np.asarray(independent)[..., np.newaxis])))


POLICY = np.flatnonzero(in_basis(np.array(6), np.array(5)))  # of both algorithms, Appendix B
SCALE = 1 / np.maximum(np.hypot(_FIRST, _SECOND), 1)  # of learning rates, by frequency (Konidaris et al.)
