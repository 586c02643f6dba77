"""Proximal policy optimization, linear in the Fourier basis, on the pendulum: many learners at once.

As in the OpenAI Baselines: batches of steps that may span several episodes; advantages by λ-returns, standardised;
epochs of minibatches, without incomplete ones; one Adam step for the clipped surrogate and the squared error of the
critic together. Episodes end only by time, so their last value is estimated like any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from xcurves.experiments import swingup
from xcurves.experiments.actor_critic import DISCOUNT, LOG_SIGMA, dot, for_policy, start
from xcurves.experiments.swingup import POLICY, Floats

_BETA = (0.9, 0.999)
_EPSILON = 1e-5


class Learner:
    """What one trial learns: policy, log σ and critic in one vector, and the moments of Adam."""

    def __init__(self, settings: Mapping[str, float], stream: np.random.Generator) -> None:
        basis = swingup.in_basis(np.array(settings["independent_order"]), np.array(settings["dependent_order"]))
        self.basis = np.flatnonzero(basis)
        self.settings = settings
        self.stream = stream
        self.n_steps = int(settings["steps_per_batch"])
        self.size = min(int(settings["batch_size"]), self.n_steps)
        self.parameters = np.zeros(len(POLICY) + 1 + len(self.basis))
        self.moments = np.zeros((2, len(self.parameters)))
        self.n_updates = 0

    def update(self, seen: Floats, noise: Floats, surprise: Floats, ends: NDArray[np.bool_]) -> None:
        """Learn from a batch of steps."""
        chosen, seen = for_policy(seen), np.take(seen, self.basis, axis=1)
        n_policy = len(POLICY)
        policy, log_sigma, weights = (
            self.parameters[:n_policy],
            self.parameters[n_policy],
            self.parameters[n_policy + 1 :],
        )
        actions = dot(chosen, policy) + np.exp(log_sigma) * noise
        old = -(noise**2) / 2 - log_sigma
        advantage = advantages(surprise, ends, DISCOUNT * self.settings["trace_decay"])
        target = advantage + dot(seen, weights)
        advantage = (advantage - advantage.mean()) / max(advantage.std(), 1e-8)
        for _ in range(int(self.settings["epochs"])):
            order = self.stream.permutation(self.n_steps)
            for first in range(0, self.n_steps - self.size + 1, self.size):
                rows = order[first : first + self.size]
                self._step(chosen[rows], seen[rows], actions[rows], old[rows], advantage[rows], target[rows])

    def _step(
        self, chosen: Floats, seen: Floats, actions: Floats, old: Floats, advantage: Floats, target: Floats
    ) -> None:
        n_policy = len(POLICY)
        log_sigma = self.parameters[n_policy]
        noise = (actions - dot(chosen, self.parameters[:n_policy])) / np.exp(log_sigma)
        ratio = np.exp(np.minimum(-(noise**2) / 2 - log_sigma - old, 50))
        clip = self.settings["clip"]
        pays = np.where(advantage > 0, ratio <= 1 + clip, ratio >= 1 - clip)  # where the surrogate is not clipped
        push = advantage * ratio * pays / len(ratio)
        wrong = 2 * (dot(seen, self.parameters[n_policy + 1 :]) - target) / len(ratio)
        pushed = np.einsum("i,ij->j", push * noise / np.exp(log_sigma), chosen)
        gradient = np.concatenate([-pushed, [-(push * (noise**2 - 1)).sum()], np.einsum("i,ij->j", wrong, seen)])
        self._adam(gradient)
        self.parameters[n_policy] = min(max(self.parameters[n_policy], LOG_SIGMA[0]), LOG_SIGMA[1])

    def _adam(self, gradient: Floats) -> None:
        self.n_updates += 1
        for moment, beta, power in zip(self.moments, _BETA, (gradient, gradient**2), strict=True):
            moment += (1 - beta) * (power - moment)
        first, second = (1 - beta**self.n_updates for beta in _BETA)
        step = self.moments[0] / first / (np.sqrt(self.moments[1] / second) + _EPSILON)
        self.parameters -= self.settings["learning_rate"] * step


def advantages(surprise: Floats, ends: NDArray[np.bool_], fading: float) -> Floats:
    """Return the discounted sums of later temporal-difference errors, up to the end of each episode."""
    found = np.empty(len(surprise))
    total = 0.0
    for step in range(len(surprise) - 1, -1, -1):
        total = surprise[step] + (0.0 if ends[step] else fading * total)
        found[step] = total
    return found


def learn(settings: Mapping[str, Floats], streams: Sequence[np.random.Generator], n_episodes: int) -> Floats:
    """Return returns, shape (trial, episode), of learners with the given settings, one value for each trial."""
    n_trials = len(streams)
    learners = [
        Learner({name: float(values[trial]) for name, values in settings.items()}, stream)
        for trial, stream in enumerate(streams)
    ]
    longest = max(learner.n_steps for learner in learners)
    weights, policy = np.zeros((n_trials, swingup.N_FEATURES)), np.zeros((n_trials, len(POLICY)))
    sigma = np.ones(n_trials)
    states = np.empty((n_trials, longest, swingup.N_FEATURES))
    noises, surprises = np.empty((n_trials, longest)), np.empty((n_trials, longest))
    ends = np.zeros((n_trials, longest), bool)
    filled = np.zeros(n_trials, int)
    each = np.arange(n_trials)
    returns = np.zeros((n_trials, n_episodes))
    for episode in range(n_episodes):
        angles, drawn = zip(*map(start, streams), strict=True)
        angle, speed, noise = np.array(angles), np.zeros(n_trials), np.array(drawn)
        seen = swingup.features(angle, speed)
        for step in range(swingup.ACTIONS):
            mean = dot(policy, for_policy(seen))
            angle, speed = swingup.swing(angle, speed, swingup.MAX_TORQUE * (mean + sigma * noise[:, step]))
            reward, after = np.cos(angle), swingup.features(angle, speed)
            states[each, filled], noises[each, filled] = seen, noise[:, step]
            surprises[each, filled] = reward + DISCOUNT * dot(weights, after) - dot(weights, seen)
            ends[each, filled] = step == swingup.ACTIONS - 1
            filled += 1
            for trial in np.flatnonzero(filled == settings["steps_per_batch"]):
                learner, batch = learners[trial], slice(int(filled[trial]))
                learner.update(states[trial, batch], noises[trial, batch], surprises[trial, batch], ends[trial, batch])
                policy[trial] = learner.parameters[: len(POLICY)]
                sigma[trial] = np.exp(learner.parameters[len(POLICY)])
                weights[trial, learner.basis] = learner.parameters[len(POLICY) + 1 :]
                filled[trial] = 0
            returns[:, episode] += reward
            seen = after
    return returns
