"""The pendulum, its basis, and what learns on it."""

import math

import numpy as np
import pytest
import scipy
import xarray as xr

from experiments import pendulum, swingup
from plain_pendulum import SETTINGS, plain_episode
from refusals import raises_other, refused

pytestmark = pytest.mark.slow


def doya(angle, speed, torque, seconds):
    """Doya's equation with m = l = 1, integrated by SciPy to the last digits."""

    def motion(_, state):
        return [state[1], 9.8 * math.sin(state[0]) - 0.01 * state[1] + torque]

    return scipy.integrate.solve_ivp(motion, (0, seconds), [angle, speed], rtol=1e-11, atol=1e-12).y[:, -1]


def test_an_action_moves_the_pendulum_as_doyas_equation_says():
    rng = np.random.default_rng(0)
    angle, speed, torque = (
        rng.uniform(-3, 3, 40),
        rng.uniform(-4, 4, 40),
        rng.uniform(-5, 5, 40),
    )
    found = np.array(swingup.swing(angle, speed, torque))
    expected = np.array([doya(*each, 0.1) for each in zip(angle, speed, torque, strict=True)]).T
    expected[0] = (expected[0] + np.pi) % (2 * np.pi) - np.pi
    np.testing.assert_allclose(found, expected, atol=2e-6)


def test_runge_and_kutta_in_a_plain_loop():
    def f(angle, speed):
        return speed, 9.8 * math.sin(angle) - 0.01 * speed + 2.5

    angle, speed, h = 1.0, -0.5, 0.02
    for _ in range(5):
        k1 = f(angle, speed)
        k2 = f(angle + h / 2 * k1[0], speed + h / 2 * k1[1])
        k3 = f(angle + h / 2 * k2[0], speed + h / 2 * k2[1])
        k4 = f(angle + h * k3[0], speed + h * k3[1])
        angle += h / 6 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0])
        speed += h / 6 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1])
    found = swingup.swing(np.array([1.0]), np.array([-0.5]), np.array([2.5]))
    np.testing.assert_allclose(np.ravel(found), [angle, speed], rtol=1e-13)


def test_acceleration_is_gymnasiums_with_its_constants():
    """Gymnasium's rod accelerates by 3g/(2l) sin θ + 3u/(ml²), a point at its end by (g/l) sin θ + u/(ml²)."""
    envs = pytest.importorskip("gymnasium.envs.classic_control")
    env = envs.PendulumEnv(g=9.8 * 2 / 3)
    env.reset(seed=0)
    for angle, speed, torque in ((0.3, 1.0, 1.5), (-2.0, -3.0, -2.0)):
        env.state = np.array([angle, speed])
        env.step(np.array([torque]))
        gained = (env.state[1] - speed) / env.dt
        ours = swingup._acceleration(np.array([angle]), np.array([0.0]), np.array([3 * torque]))
        assert gained == pytest.approx(ours.item(), rel=1e-12)


def test_torque_and_speed_are_bounded_and_angles_wrapped():
    strong, stronger = (swingup.swing(np.zeros(1), np.zeros(1), np.array([torque])) for torque in (5.0, 500.0))
    assert strong == stronger
    angle, speed = swingup.swing(np.array([3.0]), np.array([8.0]), np.array([5.0]))
    assert speed.item() <= 8
    assert -np.pi <= angle.item() < np.pi


def test_features_are_cosines_of_sums():
    angle, speed = np.array([0.3, -2.0]), np.array([-7.0, 3.0])
    found = swingup.features(angle, speed)
    for row, (theta, omega) in enumerate(zip(angle, speed, strict=True)):
        x, y = (theta + math.pi) / (2 * math.pi), (omega + 8) / 16
        loop = [math.cos(math.pi * (i * x + j * y)) for i in range(11) for j in range(11)]
        np.testing.assert_allclose(found[row], loop, atol=1e-12)


def test_orders_choose_frequencies():
    for independent, dependent in ((6, 5), (0, 0), (10, 2), (1, 7)):
        loop = [
            (i <= dependent and j <= dependent) or (min(i, j) == 0 and max(i, j) <= independent)
            for i in range(11)
            for j in range(11)
        ]
        assert swingup.in_basis(np.array(independent), np.array(dependent)).tolist() == loop
    assert len(swingup.POLICY) == 36 + 2


@pytest.mark.parametrize("algorithm", pendulum.ALGORITHMS)
def test_a_curve_does_not_depend_on_those_beside_it(algorithm):
    short = {"n_episodes": 4, "n_levels": 4, "seed": 1}
    several = pendulum.learning_curves(algorithm, [5, 0, 3], **short)
    for run in (0, 3, 5):
        alone = pendulum.learning_curves(algorithm, [run], **short)
        xr.testing.assert_identical(alone, several.sel(run=[run]))


@pytest.mark.parametrize("algorithm", pendulum.ALGORITHMS)
def test_longer_training_begins_in_the_same_way(algorithm):
    long = pendulum.learning_curves(algorithm, range(2), n_episodes=4, n_levels=4)
    short = pendulum.learning_curves(algorithm, range(2), n_episodes=2, n_levels=2)
    assert (long.isel(training=slice(2)).values == short.values).all()


def test_a_first_episode_of_actor_critic_in_a_plain_loop():
    settings = {name: np.array([value]) for name, value in SETTINGS.items()}
    found = swingup.learn("actor-critic", settings, [np.random.default_rng(5)], 1).item()
    assert found == pytest.approx(plain_episode(5), abs=1e-6)


def test_advantages_are_sums_of_faded_surprises():
    rng = np.random.default_rng(0)
    surprise, ends = rng.normal(size=9), np.array([0, 0, 1, 0, 0, 0, 1, 0, 0], bool)
    loop = []
    for step in range(9):
        last = next((later for later in range(step, 9) if ends[later]), 8)
        loop.append(sum(0.9 ** (later - step) * surprise[later] for later in range(step, last + 1)))
    np.testing.assert_allclose(swingup.advantages(surprise, ends, 0.9), loop, rtol=1e-12)


def test_gradients_of_ppo_are_those_of_its_loss():
    """By differences of the loss written out: clipped surrogate and squared error, means over the minibatch."""
    rng = np.random.default_rng(0)
    settings = {
        "independent_order": 2.0, "dependent_order": 1.0, "trace_decay": 0.5, "learning_rate": 0.01,
        "steps_per_batch": 32.0, "epochs": 1.0, "batch_size": 16.0, "clip": 0.2,
    }  # fmt: skip
    learner = swingup.PpoLearner(settings, rng)
    n_policy, n_critic = len(swingup.POLICY), len(learner.basis)
    learner.parameters[:] = rng.normal(scale=0.05, size=n_policy + 1 + n_critic)
    chosen, seen = rng.normal(size=(16, n_policy)), rng.normal(size=(16, n_critic))
    actions, old, advantage, target = rng.normal(size=(4, 16))
    old -= 1

    def loss(parameters):
        mean, log_sigma = chosen @ parameters[:n_policy], parameters[n_policy]
        ratio = np.exp(-((actions - mean) ** 2) / (2 * np.exp(2 * log_sigma)) - log_sigma - old)
        surrogate = np.minimum(ratio * advantage, np.clip(ratio, 0.8, 1.2) * advantage).mean()
        return ((seen @ parameters[n_policy + 1 :] - target) ** 2).mean() - surrogate

    gradient = learner.gradient(chosen, seen, actions, old, advantage, target)
    steps = 1e-6 * np.eye(len(learner.parameters))
    numeric = [(loss(learner.parameters + h) - loss(learner.parameters - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(gradient, numeric, atol=1e-7)


def test_adams_first_steps_are_those_of_kingma_and_ba():
    learner = swingup.PpoLearner(
        {
            "independent_order": 0.0, "dependent_order": 0.0, "learning_rate": 0.1, "steps_per_batch": 16.0,
            "batch_size": 8.0, "trace_decay": 0.0, "epochs": 1.0, "clip": 0.1,
        },
        np.random.default_rng(0),
    )  # fmt: skip
    m = v = x = 0.0
    for t, g in enumerate((1.0, -0.5, 2.0), 1):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        x -= 0.1 * (m / (1 - 0.9**t)) / (math.sqrt(v / (1 - 0.999**t)) + 1e-5)
        learner.descend(np.full(len(learner.parameters), g))
    np.testing.assert_allclose(learner.parameters, x, rtol=1e-12)


def test_ranges_are_those_of_appendix_b():
    both = {
        "independent_order": (0, 10, True),
        "dependent_order": (0, 10, True),
        "trace_decay": (0, 1, False),
    }
    own = {
        "actor-critic": {"critic_rate": (1e-4, 0.1, False), "actor_rate": (1e-4, 0.1, False)},
        "PPO": {
            "learning_rate": (1e-5, 0.01, False), "steps_per_batch": (16, 256, True), "epochs": (1, 15, True),
            "batch_size": (8, 64, True), "clip": (0.1, 0.3, False),
        },
    }  # fmt: skip
    for algorithm, ranges in own.items():
        found = pendulum.hyperparameters(algorithm, range(1000))
        assert set(found.data_vars) == set(both) | set(ranges)
        for name, (low, high, whole) in (both | ranges).items():
            values = found[name].values
            assert low <= values.min() <= low + 0.02 * (high - low) + whole
            assert high >= values.max() >= high - 0.05 * (high - low) - whole
            assert not whole or (values == values.round()).all()
    rates = np.log10(pendulum.hyperparameters("PPO", range(1000)).learning_rate.values)
    assert abs(np.mean(rates < -3.5) - 0.5) < 3.3 * math.sqrt(0.25 / 1000)


def test_repeated_runs_share_hyperparameters_and_nothing_else():
    short = {"n_episodes": 2, "n_levels": 1, "seed": 3}
    found = pendulum.repeated("actor-critic", 4, 3, **short)
    assert len(set(found.values.ravel())) == 3
    assert pendulum.repeated("actor-critic", 4, 2, **short).equals(found.isel(run=slice(2)))


def test_a_critic_that_diverges_stops_learning_and_stays_finite():
    wild = {
        "independent_order": np.full(3, 10.0), "dependent_order": np.full(3, 10.0), "trace_decay": np.full(3, 1.0),
        "critic_rate": np.full(3, 0.5), "actor_rate": np.full(3, 0.1),
    }  # fmt: skip
    returns = swingup.learn("actor-critic", wild, [np.random.default_rng(i) for i in range(3)], 3)
    assert np.isfinite(returns).all()
    assert (abs(returns) <= 200).all()


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: pendulum.learning_curves("sarsa", [0]), ("algorithm", "sarsa")),
        (lambda: pendulum.learning_curves("PPO", [0], n_episodes=0), ("n_episodes", 0, "Usual: 1000")),
        (lambda: pendulum.repeated("PPO", 0, 0), ("n_runs", 0, "Usual: 1000")),
        (lambda: pendulum.hyperparameters("PPO", [0], seed=-1), ("seed", -1, "Usual: 0")),
    ],
)
def test_bad_input_is_refused(call, expected):
    with refused(*expected):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: pendulum.learning_curves("PPO", [0], n_episodes=10, n_levels=3),
            "n_episodes must be a multiple of n_levels; got 10 and 3",
        ),
        (
            lambda: pendulum.learning_curves("PPO", []),
            r"runs must be one or more whole numbers from 0; got \[\]",
        ),
        (
            lambda: pendulum.learning_curves("PPO", [-1]),
            r"runs must be one or more whole numbers from 0; got \[-1\]",
        ),
    ],
)
def test_episodes_and_runs_that_do_not_fit_are_an_error(call, message):
    with raises_other(ValueError, match=message):
        call()
