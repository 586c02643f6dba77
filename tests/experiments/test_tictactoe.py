import functools
import itertools

import numpy as np
import pytest
import xarray as xr

from experiments import tictactoe
from experiments.tictactoe import OPPONENTS
from plain_tictactoe import START, PlainLearner, code, random_play, reply_of
from refusals import raises_other, refused
from xcurves import Refusal, WrongType, tutorial

pytestmark = pytest.mark.slow

RANDOM = OPPONENTS["random"]()


def plain_curve(rate, run, levels, epsilon, seed, opponent="random"):
    """Scores of one learner; each game draws its own numbers."""
    training, testing = tictactoe._streams(seed, rate, run)
    learner, scores, played = PlainLearner(rate, epsilon, reply_of(opponent)), [], 0
    for level in levels:
        for game in range(played, level):
            learner.train(game % 2 == 0, training.random((9, 2)).tolist())
        played = level
        starts = [True] * 50 + [False] * 50
        scores.append(sum(learner.play(i_begin, testing.random(9).tolist()) for i_begin in starts))
    return scores


# Play at random


def test_exact_chances_of_random_play_are_those_known():
    assert [f"{float(share):.4f}" for share in random_play(START, "x")] == [
        "0.5849",
        "0.1270",
        "0.2881",
    ]
    assert random_play(START, "o") == random_play(START, "x")[::-1]


@pytest.mark.parametrize("i_begin", [True, False])
def test_learners_that_know_nothing_play_at_random(i_begin):
    """Six standard errors: each of the four checks fails by chance with probability 2e-9."""
    n = 200_000
    # one game each, so that games can be counted by their ends
    values = np.broadcast_to(0.0, (n, 3**9))
    ends = tictactoe._test(values, i_begin, np.random.default_rng(5).random((n, 1, 9)), RANDOM)
    chances = np.array(random_play(START, "x" if i_begin else "o"), float)
    mean = chances[0] - chances[2]
    assert abs(ends.mean() - mean) < 6 * np.sqrt((chances[0] + chances[2] - mean**2) / n)
    shares = np.array([(ends == end).mean() for end in (1, 0, -1)])
    assert shares.sum() == pytest.approx(1, abs=1e-12)
    assert (abs(shares - chances) < 6 * np.sqrt(chances * (1 - chances) / n)).all()


# Learning


@pytest.mark.parametrize(
    ("rate", "run", "levels", "epsilon", "seed"),
    [
        # odd steps, and more games than are drawn in one go
        (0.1, 0, (0, 7, 50, 611), 0.1, 1998),
        (0.8, 2, (0, 200, 1300), 0.1, 3),
        (0.25, 1, (300,), 0.0, 0),
        (0.5, 0, (0, 100, 400), 1.0, 12345678901),
        (1.0, 1, (1, 2, 3, 4, 5, 600), 0.5, 1),
    ],
)
def test_a_learner_equals_a_plain_loop(rate, run, levels, epsilon, seed):
    expected = plain_curve(rate, run, levels, epsilon, seed)
    found = tictactoe.learning_curves([0.3, rate], run + 1, levels, epsilon=epsilon, seed=seed)
    assert found.score.isel(algorithm=1, run=run).values.tolist() == expected


def test_learned_values_equal_those_of_a_plain_loop():
    rates, epsilon, n_games = [0.1, 0.8, 1.0], 0.2, 400
    chances = np.random.default_rng(6).random((n_games, 3, 9, 2))
    values = np.zeros((3, 3**9))
    plain = [PlainLearner(rate, epsilon) for rate in rates]
    for game in range(n_games):
        tictactoe._train(values, np.array(rates), game % 2 == 0, epsilon, chances[game], RANDOM)
        for learner, mine in zip(plain, chances[game].tolist(), strict=True):
            learner.train(game % 2 == 0, mine)
    expected = np.zeros_like(values)
    for row, learner in zip(expected, plain, strict=True):
        row[[code(board) for board in learner.value]] = list(learner.value.values())
    np.testing.assert_array_equal(values, expected)


def test_a_learner_equals_a_plain_loop_against_a_perfect_opponent():
    expected = plain_curve(0.3, 1, (0, 150), 0.1, 7, "perfect")
    found = tictactoe.learning_curves([0.3], 2, (0, 150), epsilon=0.1, seed=7, opponent="perfect")
    assert found.score.isel(algorithm=0, run=1).values.tolist() == expected
    assert found.attrs["title"] == "TD(0) on afterstates of tic-tac-toe against a perfect opponent"


def test_a_perfect_opponent_is_never_beaten_and_learners_come_to_lose_less():
    curves = tictactoe.learning_curves([0.1], 5, [0, 3000], opponent="perfect")
    before, after = curves.score.mean(["algorithm", "run"]).values
    assert curves.score.max() <= 0
    assert before < -70
    assert after > before / 2


@pytest.mark.parametrize(("algorithm", "run"), [(0, 0), (1, 9), (2, 4)])
def test_a_curve_that_comes_with_the_package_equals_a_plain_loop(algorithm, run):
    rate = [0.001, 0.8, 0.1][algorithm]
    expected = plain_curve(rate, run, (0, 200, 500, 1000, 2000, 3000, 5000, 8000), 0.1, 1998)
    found = tutorial.open_dataset("tictactoe")
    assert found.score.isel(algorithm=algorithm, run=run).values.tolist() == expected


# Streams: which learners are made, and seeds

SMALL = (0, 60, 520)


@functools.cache
def small_curves(seed=0):
    return tictactoe.learning_curves([0.1, 0.8, 0.3], 3, SMALL, seed=seed)


@pytest.mark.parametrize("rates", [[0.8], [0.3, 0.1], [0.8, 0.5, 0.1]])
@pytest.mark.parametrize("n_runs", [1, 3])
def test_a_curve_does_not_depend_on_the_others_made(rates, n_runs):
    found = tictactoe.learning_curves(rates, n_runs, SMALL, seed=0)
    shared = [f"rate {rate}" for rate in rates if rate != 0.5]
    expected = small_curves().sel(algorithm=shared, run=range(n_runs))
    xr.testing.assert_identical(found.sel(algorithm=shared), expected)


def test_a_curve_does_not_depend_on_later_levels():
    found = tictactoe.learning_curves([0.1, 0.8, 0.3], 3, SMALL[:2], seed=0)
    xr.testing.assert_identical(found, small_curves().isel(training=slice(2)))


def test_another_seed_gives_other_curves():
    differ = small_curves(seed=0).score != small_curves(seed=1).score
    assert differ.any("training").all()


def test_no_two_streams_are_the_same():
    learners = itertools.product([0, 1, 1998], [0.001, 0.8, 0.1, 0.5, 1.0], range(10))
    streams = [stream for learner in learners for stream in tictactoe._streams(*learner)]
    assert len({stream.random() for stream in streams}) == len(streams) == 300


BAD = [
    (
        {"levels": [50, 10]},
        ValueError,
        r"levels must increase, from at least 0; got \[50, 10\]. Sort them",
    ),
    (
        {"levels": [10, 10]},
        ValueError,
        r"levels must increase, from at least 0; got \[10, 10\]. Sort them",
    ),
    (
        {"levels": [-5, 10]},
        ValueError,
        r"levels must increase, from at least 0; got \[-5, 10\]. Sort them",
    ),
    (
        {"levels": 10},
        TypeError,
        r"levels must be one or more whole numbers; got 10. Try \[100, 200\]",
    ),
    (
        {"levels": []},
        TypeError,
        r"levels must be one or more whole numbers; got \[\]. Try \[100, 200\]",
    ),
    (
        {"levels": [0.5, 10]},
        TypeError,
        r"levels must be one or more whole numbers; got \[0.5, 10\]. Try \[100, 200\]",
    ),
    (
        {"learning_rates": [0.1, 1.5]},
        ValueError,
        "learning_rates must lie between 0 and 1; got 1.5. Try 0.1",
    ),
    (
        {"learning_rates": [0.1, 0.1]},
        ValueError,
        r"learning_rates must be one or more, each once; got \[0.1, 0.1\]",
    ),
    (
        {"learning_rates": []},
        ValueError,
        r"learning_rates must be one or more, each once; got \[\]",
    ),
    (
        {"epsilon": -0.1},
        ValueError,
        "epsilon must lie between 0 and 1; got -0.1. Try 0.1",
    ),
]


@pytest.mark.parametrize(("wrong", "kind", "message"), BAD)
def test_bad_arguments_are_named_with_the_cure(wrong, kind, message):
    with raises_other(kind, match=f"^{message}$"):
        tictactoe.learning_curves(**{"learning_rates": [0.1], "n_runs": 1, "levels": [5]} | wrong)


@pytest.mark.parametrize(
    ("name", "value", "cure", "kind"),
    [
        ("opponent", "Kasparov", None, Refusal),
        ("n_runs", 0, "Usual: 1000", Refusal),
        ("seed", -1, "Usual: 0", Refusal),
        ("seed", 0.5, "Usual: 0", WrongType),
    ],
)
def test_bad_options_are_refused(name, value, cure, kind):
    with refused(name, value, cure, kind=kind):
        tictactoe.learning_curves(**{"learning_rates": [0.1], "n_runs": 1, "levels": [5]} | {name: value})
