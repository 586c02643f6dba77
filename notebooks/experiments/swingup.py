"""A pendulum that a weak motor must swing up (Doya 2000), and two algorithms that learn it, many learners at once.

Both are linear in the Fourier basis. Episodes end only by time, so their last value is estimated like any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from xcurves.array_types import Floats

GRAVITY, FRICTION, MAX_TORQUE = 9.8, 0.01, 5.0
# At which speeds are clipped; a pendulum that falls from the top reaches 6.3.
MAX_SPEED = 8.0
# seconds; an episode is 20 s, from rest at a random angle
TIME_STEP, STEPS_PER_ACTION, ACTIONS = (0.02, 5, 200)

ORDER = 10  # highest frequency of the basis in either variable
_MULTIPLES = np.pi * np.arange(ORDER + 1)
_FIRST, _SECOND = (axis.ravel() for axis in np.indices((ORDER + 1, ORDER + 1)))
N_FEATURES = len(_FIRST)


def _acceleration(angle: Floats, speed: Floats, torque: Floats) -> Floats:
    """Return θ'' of m l² θ'' = -μ θ' + m g l sin θ + u, where m = l = 1 and θ is 0 upright."""
    return GRAVITY * np.sin(angle) - FRICTION * speed + torque


def swing(angle: Floats, speed: Floats, torque: Floats) -> tuple[Floats, Floats]:
    """Return angles within [-π, π) and speeds after an action, by the method of Runge and Kutta."""
    torque, h = np.clip(torque, -MAX_TORQUE, MAX_TORQUE), TIME_STEP
    for _ in range(STEPS_PER_ACTION):
        a1 = _acceleration(angle, speed, torque)
        v2 = speed + h / 2 * a1
        a2 = _acceleration(angle + h / 2 * speed, v2, torque)
        v3 = speed + h / 2 * a2
        a3 = _acceleration(angle + h / 2 * v2, v3, torque)
        v4 = speed + h * a3
        a4 = _acceleration(angle + h * v3, v4, torque)
        angle = angle + h / 6 * (speed + 2 * v2 + 2 * v3 + v4)
        speed = np.clip(speed + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4), -MAX_SPEED, MAX_SPEED)
    return (angle + np.pi) % (2 * np.pi) - np.pi, speed


def features(angle: Floats, speed: Floats) -> Floats:
    """Return cos(π c·x) for all frequencies c of both variables, scaled to [0, 1], (trial, feature) (Konidaris)."""
    x = (angle[:, np.newaxis] / np.pi + 1) / 2 * _MULTIPLES
    y = (speed[:, np.newaxis] / MAX_SPEED + 1) / 2 * _MULTIPLES
    waves = np.cos(x)[:, :, np.newaxis] * np.cos(y)[:, np.newaxis]
    waves -= np.sin(x)[:, :, np.newaxis] * np.sin(y)[:, np.newaxis]
    return waves.reshape(len(angle), N_FEATURES)


def in_basis(independent: ArrayLike, dependent: ArrayLike) -> NDArray[np.bool_]:
    """Return which features are in bases: both frequencies up to `dependent`, or one alone up to `independent`."""
    highest, lowest = np.maximum(_FIRST, _SECOND), np.minimum(_FIRST, _SECOND)
    both = highest <= np.asarray(dependent)[..., np.newaxis]
    return np.asarray(both | ((lowest == 0) & (highest <= np.asarray(independent)[..., np.newaxis])))


DISCOUNT = 0.99
_LOG_SIGMA = (-2.0, 0.5)
_DIVERGED = 1e6
_BETA, _EPSILON = (0.9, 0.999), 1e-5  # of Adam
# of both algorithms, Appendix B
POLICY = np.flatnonzero(in_basis(np.array(6), np.array(5)))
# of learning rates, by frequency (Konidaris et al.)
SCALE = 1 / np.maximum(np.hypot(_FIRST, _SECOND), 1)


def dot(one: Floats, other: Floats) -> Floats:
    """Return scalar products of rows, independent of the number of rows; `other` may be one row."""
    return np.asarray(np.einsum("...j,...j->...", one, other))


def for_policy(seen: Floats) -> Floats:
    """Return the features that policies see, in contiguous rows: sums over other layouts round differently."""
    return np.take(seen, POLICY, axis=1)


def learn(
    algorithm: str,
    settings: Mapping[str, Floats],
    streams: Sequence[np.random.Generator],
    n_episodes: int,
) -> Floats:
    """Return returns, shape (trial, episode), of learners with the given settings, one value for each trial."""
    n_trials = len(streams)
    learner = ActorCritic(settings, streams) if algorithm == "actor-critic" else Ppo(settings, streams)
    returns = np.zeros((n_trials, n_episodes))
    for episode in range(n_episodes):
        starts = [(stream.uniform(-np.pi, np.pi), stream.standard_normal(ACTIONS)) for stream in streams]
        angle, noise = (np.array(drawn) for drawn in zip(*starts, strict=True))
        speed, seen = np.zeros(n_trials), features(angle, np.zeros(n_trials))
        for step in range(ACTIONS):
            mean = dot(learner.policy, for_policy(seen))
            angle, speed = swing(angle, speed, MAX_TORQUE * (mean + learner.sigma * noise[:, step]))
            reward, after = np.cos(angle), features(angle, speed)
            # δ = r + γ v(s') - v(s), v = w·φ
            surprise = reward + DISCOUNT * dot(learner.weights, after) - dot(learner.weights, seen)
            learner.learn(seen, noise[:, step], surprise, step == ACTIONS - 1)
            returns[:, episode] += reward
            seen = after
    return returns


class ActorCritic:
    """Actor-critic with eligibility traces, reset in each episode (Sutton & Barto)."""

    def __init__(self, settings: Mapping[str, Floats], streams: Sequence[np.random.Generator]) -> None:
        n_trials = len(streams)
        basis = in_basis(settings["independent_order"], settings["dependent_order"])
        self.critic_rate = settings["critic_rate"][:, np.newaxis] * SCALE * basis
        self.rate = settings["actor_rate"]
        self.fading = DISCOUNT * settings["trace_decay"]
        self.weights, self.policy = (
            np.zeros((n_trials, N_FEATURES)),
            np.zeros((n_trials, len(POLICY))),
        )
        self.log_sigma, self.sigma = np.zeros(n_trials), np.ones(n_trials)
        self.traces = [np.zeros_like(each) for each in (self.weights, self.policy)]
        self.sigma_trace = np.zeros(n_trials)
        self.learns = np.ones(n_trials, bool)

    def learn(self, seen: Floats, noise: Floats, surprise: Floats, is_last: bool) -> None:
        """Learn from a step of each learner."""
        self.learns &= np.abs(surprise) < _DIVERGED  # others go on to act
        surprise = np.where(self.learns, surprise, 0)[:, np.newaxis]
        ahead = for_policy(seen) * (noise / self.sigma)[:, np.newaxis]
        for trace, gradient in zip(self.traces, (seen, ahead), strict=True):
            trace *= self.fading[:, np.newaxis]
            trace += gradient  # e = γλ e + φ(s), or ∇ log π(a|s)
        self.sigma_trace = self.fading * self.sigma_trace + noise**2 - 1
        self.weights += self.critic_rate * surprise * self.traces[0]  # w += α δ e
        self.policy += self.rate[:, np.newaxis] * SCALE[POLICY] * surprise * self.traces[1]
        self.log_sigma += self.rate * surprise[:, 0] * self.sigma_trace
        np.clip(self.log_sigma, *_LOG_SIGMA, out=self.log_sigma)
        self.sigma = np.exp(self.log_sigma)
        if is_last:
            self.traces = [np.zeros_like(trace) for trace in self.traces]
            self.sigma_trace = np.zeros_like(self.sigma_trace)


class PpoLearner:
    """What one trial of PPO learns, policy, log σ and critic in one vector, and the moments of Adam."""

    def __init__(self, settings: Mapping[str, float], stream: np.random.Generator) -> None:
        self.basis = np.flatnonzero(in_basis(settings["independent_order"], settings["dependent_order"]))
        self.settings, self.stream = settings, stream
        self.n_steps = int(settings["steps_per_batch"])
        # of the batch: features, noise, surprise, whether the last of an episode
        self.steps: list[tuple[Any, ...]] = []
        self.parameters = np.zeros(len(POLICY) + 1 + len(self.basis))
        # views
        self.policy, self.log_sigma, self.weights = np.split(self.parameters, [len(POLICY), len(POLICY) + 1])
        self.moments = np.zeros((2, len(self.parameters)))
        self.n_updates = 0

    def update(self) -> None:
        """Learn from a batch of steps."""
        seen, noise, surprise, ends = map(np.array, zip(*self.steps, strict=True))
        self.steps = []
        chosen, seen = for_policy(seen), np.take(seen, self.basis, axis=1)
        actions = dot(chosen, self.policy) + np.exp(self.log_sigma) * noise
        old = -(noise**2) / 2 - self.log_sigma
        advantage = advantages(surprise, ends, DISCOUNT * self.settings["trace_decay"])
        target = advantage + dot(seen, self.weights)  # λ-returns
        advantage = (advantage - advantage.mean()) / max(advantage.std(), 1e-8)
        size = min(int(self.settings["batch_size"]), self.n_steps)
        for _ in range(int(self.settings["epochs"])):
            order = self.stream.permutation(self.n_steps)
            for first in range(0, self.n_steps - size + 1, size):
                rows = order[first : first + size]
                self.descend(self.gradient(*(each[rows] for each in (chosen, seen, actions, old, advantage, target))))

    def gradient(
        self,
        chosen: Floats,
        seen: Floats,
        actions: Floats,
        old: Floats,
        advantage: Floats,
        target: Floats,
    ) -> Floats:
        """Return the gradient of the squared error of the critic less the clipped surrogate."""
        sigma, clip = np.exp(self.log_sigma), self.settings["clip"]
        noise = (actions - dot(chosen, self.policy)) / sigma
        ratio = np.exp(np.minimum(-(noise**2) / 2 - self.log_sigma - old, 50))
        # where the surrogate is not clipped
        pays = np.where(advantage > 0, ratio <= 1 + clip, ratio >= 1 - clip)
        push = advantage * ratio * pays / len(ratio)
        wrong = 2 * (dot(seen, self.weights) - target) / len(ratio)
        pushed = np.einsum("i,ij->j", push * noise / sigma, chosen)
        return np.concatenate(
            [
                -pushed,
                [-(push * (noise**2 - 1)).sum()],
                np.einsum("i,ij->j", wrong, seen),
            ]
        )

    def descend(self, gradient: Floats) -> None:
        """Take a step of Adam."""
        self.n_updates += 1
        for moment, beta, power in zip(self.moments, _BETA, (gradient, gradient**2), strict=True):
            moment += (1 - beta) * (power - moment)
        first, second = (1 - beta**self.n_updates for beta in _BETA)
        step = self.moments[0] / first / (np.sqrt(self.moments[1] / second) + _EPSILON)
        self.parameters -= self.settings["learning_rate"] * step
        np.clip(self.log_sigma, *_LOG_SIGMA, out=self.log_sigma)


def advantages(surprise: Floats, ends: NDArray[np.bool_], fading: float) -> Floats:
    """Return the discounted sums of later temporal-difference errors, up to the end of each episode."""
    found = surprise.copy()
    for step in range(len(found) - 2, -1, -1):
        if not ends[step]:
            found[step] += fading * found[step + 1]
    return found


class Ppo:
    """Proximal policy optimization as in the OpenAI Baselines: batches of steps that may span several episodes."""

    def __init__(self, settings: Mapping[str, Floats], streams: Sequence[np.random.Generator]) -> None:
        n_trials = len(streams)
        each = [{name: float(values[trial]) for name, values in settings.items()} for trial in range(n_trials)]
        self.learners = list(map(PpoLearner, each, streams))
        self.weights, self.policy = (
            np.zeros((n_trials, N_FEATURES)),
            np.zeros((n_trials, len(POLICY))),
        )
        self.sigma = np.ones(n_trials)

    def learn(self, seen: Floats, noise: Floats, surprise: Floats, is_last: bool) -> None:
        """Keep a step of each learner; those whose batch is full learn."""
        for trial, learner in enumerate(self.learners):
            learner.steps.append((seen[trial], noise[trial], surprise[trial], is_last))
            if len(learner.steps) == learner.n_steps:
                learner.update()
                self.policy[trial], self.weights[trial, learner.basis] = (
                    learner.policy,
                    learner.weights,
                )
                self.sigma[trial] = np.exp(learner.log_sigma).item()
