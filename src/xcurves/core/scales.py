"""How an estimate of two algorithms is read, a difference, a probability or a ratio, and in which words it is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Scale:
    """An estimate as numbers that change their sign where the two change places, and as words.

    `read` takes an estimate to a number that is 0 where neither is better, `write` back; infinite ends stay.
    """

    null: float  # the estimate where neither is better
    read: Callable[[Any], Any]
    write: Callable[[Any], Any]
    up: tuple[str, str]  # what an algorithm is beside one other, and beside all, if high scores are good
    down: tuple[str, str]
    verbs: tuple[str, str]  # of one, or of several, that lead
    leads: str  # what the best one has or is
    by: str  # by how much, behind "higher than the other"
    than: str = "than"  # in front of the nearest other, behind by how much
    number: str = "{}"  # an amount in brackets


DIFFERENCE = Scale(
    null=0.0,
    read=lambda estimate: estimate,
    write=lambda amount: amount,
    up=("higher", "highest"),
    down=("lower", "lowest"),
    verbs=("has", "have"),
    leads="the {most} {noun}",
    by="by {}",
)
PROBABILITY = Scale(  # that the first scores higher
    null=0.5,
    read=lambda estimate: estimate - 0.5,
    write=lambda amount: amount + 0.5,
    up=("likelier to score higher", "likeliest to score higher"),
    down=("likelier to score lower", "likeliest to score lower"),
    verbs=("is", "are"),
    leads="the {most}",
    by="with probability {}",
    than="against",
)


def _log(ratio: Any) -> Any:
    """Return the logarithm; a ratio of 0 is no limit."""
    with np.errstate(divide="ignore"):
        return np.log(ratio)


def _exp(amount: Any) -> Any:
    """Return the ratio; one without a lower limit stays."""
    return np.exp(amount) - np.where(amount == -np.inf, np.inf, 0)


SPEED = Scale(  # of the first over the second
    null=1.0,
    read=_log,
    write=_exp,
    up=("faster", "fastest"),
    down=("slower", "slowest"),
    verbs=("is", "are"),
    leads="the {most} {noun}",
    by="{} times as fast",
    number="{} times as fast",
)
