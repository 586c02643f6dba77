"""Actor-critic with eligibility traces, linear in the Fourier basis, on the pendulum: many learners at once.

    δ = r + γ v(s') - v(s),   v = w·φ,   a ~ Normal(p·φ, σ²),   torque = 5 a
    e_v = γλ e_v + φ(s),      e_p = γλ e_p + ∇ log π(a|s)
    w += α_v δ e_v,           (p, log σ) += α_p δ e_p

(Sutton & Barto). Episodes end only by time, so their last value is estimated like any other; then traces are reset.
A learner whose δ exceeds a million has diverged: it continues to act, but does not learn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from xcurves.experiments import swingup
from xcurves.experiments.swingup import POLICY, SCALE, Floats

DISCOUNT = 0.99
LOG_SIGMA = (-2.0, 0.5)
_DIVERGED = 1e6


def dot(one: Floats, other: Floats) -> Floats:
    """Return scalar products of rows, independent of the number of rows; `other` may be one row."""
    return np.asarray(np.einsum("...j,...j->...", one, other))


def for_policy(seen: Floats) -> Floats:
    """Return the features that policies see, in contiguous rows: sums over other layouts round differently."""
    return np.take(seen, POLICY, axis=1)


def start(stream: np.random.Generator) -> tuple[float, Floats]:
    """Draw the first angle of an episode and the noise of its actions."""
    return stream.uniform(-np.pi, np.pi), stream.standard_normal(swingup.ACTIONS)


def learn(settings: Mapping[str, Floats], streams: Sequence[np.random.Generator], n_episodes: int) -> Floats:
    """Return returns, shape (trial, episode), of learners with the given settings, one value for each trial."""
    n_trials = len(streams)
    basis = swingup.in_basis(settings["independent_order"], settings["dependent_order"])
    critic_rate = settings["critic_rate"][:, np.newaxis] * SCALE * basis
    actor_rate = settings["actor_rate"][:, np.newaxis] * SCALE[POLICY]
    fading = DISCOUNT * settings["trace_decay"]
    weights, policy = np.zeros((n_trials, swingup.N_FEATURES)), np.zeros((n_trials, len(POLICY)))
    log_sigma, learns = np.zeros(n_trials), np.ones(n_trials, bool)
    returns = np.zeros((n_trials, n_episodes))
    for episode in range(n_episodes):
        angles, noises = zip(*map(start, streams), strict=True)
        angle, speed, noise = np.array(angles), np.zeros(n_trials), np.array(noises)
        trace, policy_trace, sigma_trace = np.zeros_like(weights), np.zeros_like(policy), np.zeros(n_trials)
        seen = swingup.features(angle, speed)
        for step in range(swingup.ACTIONS):
            chosen, sigma = for_policy(seen), np.exp(log_sigma)
            mean = dot(policy, chosen)
            angle, speed = swingup.swing(angle, speed, swingup.MAX_TORQUE * (mean + sigma * noise[:, step]))
            reward, after = np.cos(angle), swingup.features(angle, speed)
            surprise = reward + DISCOUNT * dot(weights, after) - dot(weights, seen)
            learns &= np.abs(surprise) < _DIVERGED
            surprise = np.where(learns, surprise, 0)[:, np.newaxis]
            _fade(trace, fading, seen)
            _fade(policy_trace, fading, chosen * (noise[:, step] / sigma)[:, np.newaxis])
            sigma_trace = fading * sigma_trace + noise[:, step] ** 2 - 1
            weights += critic_rate * surprise * trace
            policy += actor_rate * surprise * policy_trace
            log_sigma += settings["actor_rate"] * surprise[:, 0] * sigma_trace
            np.clip(log_sigma, *LOG_SIGMA, out=log_sigma)
            returns[:, episode] += reward
            seen = after
    return returns


def _fade(trace: Floats, fading: Floats, gradient: Floats) -> None:
    trace *= fading[:, np.newaxis]
    trace += gradient
