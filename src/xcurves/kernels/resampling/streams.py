"""Generators of random numbers, and whether any was made: what draws nothing depends on no seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np

Seed = np.random.SeedSequence | Sequence[int]


@dataclass
class Watch:
    """Whether random numbers are drawn while it watches."""

    drawn: bool = False


# those that watch at this moment, the outermost first
_watches: ContextVar[tuple[Watch, ...]] = ContextVar("watches", default=())


def make_generator(seed: Seed) -> np.random.Generator:
    """Return a generator; every random number of a kernel is from one that is made here."""
    note_draw()
    return np.random.default_rng(seed)


def note_draw() -> None:
    """Tell all who watch that random numbers are drawn, or may be drawn later."""
    for watch in _watches.get():
        watch.drawn = True


@contextmanager
def watched() -> Iterator[Watch]:
    """Watch whether random numbers are drawn in this block."""
    watch = Watch()
    token = _watches.set((*_watches.get(), watch))
    try:
        yield watch
    finally:
        _watches.reset(token)
