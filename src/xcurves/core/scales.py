"""How an estimate of two algorithms is read, a difference, a probability or a ratio, and in which words it is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np


class Words(NamedTuple):
    """What one algorithm is beside another, and what the best of two, or of more, has."""

    beside: str
    of_two: str
    of_all: str


@dataclass(frozen=True, slots=True)
class Scale:
    """An estimate as numbers that change their sign where the two change places, and as words.

    `read` takes an estimate to a number that is 0 where neither is better, `write` back; infinite ends stay.
    """

    name: Literal["difference", "probability", "ratio"]  # as programs read it
    null: float  # the estimate where neither is better
    read: Callable[[Any], Any]
    write: Callable[[Any], Any]
    up: Words  # of what is above, the better one if high scores are good
    down: Words
    by: str  # by how much, behind "higher than the other"
    than: str = "than"  # in front of the nearest other, behind by how much
    number: str = "{}"  # an amount in brackets


DIFFERENCE = Scale(
    name="difference",
    null=0.0,
    read=lambda estimate: estimate,
    write=lambda amount: amount,
    up=Words("higher", "the higher {noun}", "the highest {noun}"),
    down=Words("lower", "the lower {noun}", "the lowest {noun}"),
    by="by {}",
)
PROBABILITY = Scale(  # that the first scores higher
    name="probability",
    null=0.5,
    read=lambda estimate: estimate - 0.5,
    write=lambda amount: amount + 0.5,
    up=Words("likelier to score higher", "the higher score more often", "the higher score most often"),
    down=Words("likelier to score lower", "the lower score more often", "the lower score most often"),
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


RATIO = Scale(  # of the first to the second
    name="ratio",
    null=1.0,
    read=_log,
    write=_exp,
    up=Words("higher", "the higher {noun}", "the highest {noun}"),
    down=Words("lower", "the lower {noun}", "the lowest {noun}"),
    by="by a factor of {}",
    number="a factor of {}",
)
SPEED = replace(  # of the first over the second
    RATIO,
    up=Words("faster", "the shorter {noun}", "the shortest {noun}"),
    down=Words("slower", "the longer {noun}", "the longest {noun}"),
    by="{} times as fast",
    number="{} times as fast",
)
NULLS = {scale.name: scale.null for scale in (DIFFERENCE, PROBABILITY, RATIO)}
