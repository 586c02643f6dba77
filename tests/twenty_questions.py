"""Twenty small inputs of which it is known who is better: five nulls, five ties, five clear, five traps of reading.

Every frame is drawn with a seed of its own. A tie has two algorithms that are equally good and a third that is lower.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

GAPS = {"null": (0.0, 0.0, 0.0), "tie": (3.0, 3.0, 0.0), "clear": (6.0, 3.0, 0.0)}
NAMES = ("ppo", "sac", "td3")


class Question(NamedTuple):
    """What is asked of a file, and what is true of it."""

    name: str
    frame: pd.DataFrame
    best: tuple[str, ...]  # those that may be the best
    lower: tuple[str, ...]  # those that are shown to be lower than one of these
    options: tuple[str, ...] = ()
    asked: str = ""  # of a trap that is asked: a word of every command that is proposed


def final_scores(rng, gaps):
    """Eight seeds of each, one score a run."""
    rows = [(name, seed, gap + rng.normal()) for name, gap in zip(NAMES, gaps, strict=True) for seed in range(8)]
    return pd.DataFrame(rows, columns=["agent", "seed", "return"])


def curves(rng, gaps):
    """Eight seeds of each, six levels of training."""
    rows = [
        (name, seed, step, gap + offset + step / 100 + rng.normal(0, 0.3))
        for name, gap in zip(NAMES, gaps, strict=True)
        for seed in range(8)
        for offset in [rng.normal()]
        for step in range(100, 700, 100)
    ]
    return pd.DataFrame(rows, columns=["algo", "seed", "env_steps", "episode_return"])


def tasks(rng, gaps):
    """Ten tasks of unlike difficulty, three runs of each."""
    rows = [
        (f"game{task}", name, run, shift + gap + effect + rng.normal(0, 0.5))
        for task in range(10)
        for shift in [rng.normal(0, 3)]
        for name, gap in zip(NAMES, gaps, strict=True)
        for effect in [rng.normal(0, 0.7)]
        for run in range(3)
    ]
    return pd.DataFrame(rows, columns=["env_id", "algorithm", "run", "score"])


def losses(rng, gaps):
    """Eight seeds of each, low is good."""
    rows = [(name, seed, 10 - gap + rng.normal()) for name, gap in zip(NAMES, gaps, strict=True) for seed in range(8)]
    return pd.DataFrame(rows, columns=["optimizer", "seed", "val_loss"])


def answers(rng, gaps):
    """Four hundred questions of unlike difficulty, answered right or wrong."""
    rows = [
        (name, f"q{item}", int(rng.random() < 1 / (1 + np.exp(-ease - 0.4 * gap))))
        for item in range(400)
        for ease in [rng.normal(0, 1.5)]
        for name, gap in zip(NAMES, gaps, strict=True)
    ]
    return pd.DataFrame(rows, columns=["model", "question_id", "correct"])


def folds():
    """Ten folds that differ much more than two models: shown where folds are matched, and not otherwise."""
    rng = np.random.default_rng(1)
    rows = [
        (name, fold, level + gap + rng.normal(0, 0.005))
        for fold in range(10)
        for level in [rng.uniform(0.5, 0.9)]
        for name, gap in (("forest", 0.03), ("tree", 0.0))
    ]
    return pd.DataFrame(rows, columns=["model", "fold", "accuracy"])


def lower_loss_beside_time():
    """A loss beside a time in seconds that is larger for the better one."""
    rng = np.random.default_rng(2)
    rows = [
        (name, seed, loss + rng.normal(0, 0.05), time + rng.normal())
        for name, loss, time in (("adam", 0.5, 90.0), ("sgd", 1.0, 30.0))
        for seed in range(8)
    ]
    return pd.DataFrame(rows, columns=["optimizer", "seed", "loss", "wall_time"])


def two_labels():
    """Models and optimizers, either of which could be what is compared."""
    rng = np.random.default_rng(3)
    rows = [
        (model, optimizer, seed, rng.normal())
        for model in ("resnet", "vit")
        for optimizer in ("adam", "sgd")
        for seed in range(6)
    ]
    return pd.DataFrame(rows, columns=["model", "optimizer", "seed", "score"])


def evaluations():
    """Two trainings of each, evaluated forty times: many rows, and two runs a side, by which nothing can be shown."""
    rng = np.random.default_rng(4)
    rows = [
        (name, seed, 1000 * step, offset + rng.normal(0, 0.1))
        for name in ("ppo", "sac")
        for seed in range(2)
        for offset in [rng.normal() + (name == "sac")]
        for step in range(1, 41)
    ]
    return pd.DataFrame(rows, columns=["agent", "seed", "step", "return"])


def runs_that_end_without_scores():
    """Runs of one that crash half way, which to leave out would reward."""
    rng = np.random.default_rng(5)
    rows = [
        (name, seed, step, np.nan if name == "risky" and seed < 3 and step > 300 else rng.normal() + (name == "risky"))
        for name in ("risky", "safe")
        for seed in range(8)
        for step in range(100, 700, 100)
    ]
    return pd.DataFrame(rows, columns=["agent", "seed", "step", "return"])


def questions():
    """Return the twenty questions."""
    made = []
    for number, make in enumerate((final_scores, curves, tasks, losses, answers)):
        for kind, gaps in GAPS.items():
            frame = make(np.random.default_rng([20, number]), gaps)
            best = tuple(name for name, gap in zip(NAMES, gaps, strict=True) if gap == max(gaps))
            lower = tuple(name for name in NAMES if name not in best)
            made.append(Question(f"{kind}-{make.__name__}", frame, best, lower))
    return [
        *made,
        Question("trap-folds", folds(), ("forest",), ("tree",)),
        Question("trap-loss", lower_loss_beside_time(), ("adam",), ("sgd",)),
        Question("trap-two-labels", two_labels(), (), (), asked="--algorithm"),
        Question("trap-evaluations", evaluations(), ("ppo", "sac"), ()),
        Question("trap-crashed", runs_that_end_without_scores(), (), (), asked="--missing-scores"),
    ]
