"""A first episode of actor-critic in plain Python: what the learners of the pendulum are checked against."""

import math

import numpy as np

from experiments import swingup

SETTINGS = {
    "independent_order": 3.0, "dependent_order": 2.0, "trace_decay": 0.7, "critic_rate": 0.003, "actor_rate": 0.001,
}  # fmt: skip


def plain_episode(seed):
    """Return the sum of rewards of a learner with these settings."""
    rng = np.random.default_rng(seed)
    angle, speed, noise = rng.uniform(-np.pi, np.pi), 0.0, rng.standard_normal(200)
    every = [(i, j) for i in range(11) for j in range(11)]
    critic = [(i, j) for i, j in every if max(i, j) <= 2 or (min(i, j) == 0 and max(i, j) <= 3)]
    actor = [(i, j) for i, j in every if max(i, j) <= 5 or (min(i, j) == 0 and max(i, j) <= 6)]

    def see(basis):
        x, y = (angle + math.pi) / (2 * math.pi), (speed + 8) / 16
        return np.array([math.cos(math.pi * (i * x + j * y)) for i, j in basis])

    def rates(basis, rate):
        return np.array([rate / max(math.hypot(i, j), 1) for i, j in basis])

    w, p, log_sigma = np.zeros(len(critic)), np.zeros(len(actor)), 0.0
    e_w, e_p, e_s, total = np.zeros(len(critic)), np.zeros(len(actor)), 0.0, 0.0
    for z in noise:
        phi, psi, sigma = see(critic), see(actor), math.exp(log_sigma)
        mean = p @ psi
        action = mean + sigma * z
        (angle,), (speed,) = swingup.swing(np.array([angle]), np.array([speed]), np.array([5 * action]))
        reward = math.cos(angle)
        delta = reward + 0.99 * w @ see(critic) - w @ phi
        e_w = 0.99 * 0.7 * e_w + phi
        e_p = 0.99 * 0.7 * e_p + (action - mean) / sigma**2 * psi
        e_s = 0.99 * 0.7 * e_s + (action - mean) ** 2 / sigma**2 - 1
        w = w + rates(critic, 0.003) * delta * e_w
        p = p + rates(actor, 0.001) * delta * e_p
        log_sigma = min(max(log_sigma + 0.001 * delta * e_s, -2.0), 0.5)
        total += reward
    return total
