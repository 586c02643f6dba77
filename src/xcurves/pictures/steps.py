"""Steps: a distribution of scores or times, a line that steps for each algorithm or pair, with its band."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xcurves.pictures.curves import Line, Rule, Scale


@dataclass(frozen=True)
class StepsPicture:
    """All distributions of one panel; lines say where they step, and bands end where their values are unknown."""

    lines: Sequence[Line]
    x: Scale
    y: Scale
    rules: Sequence[Rule] = ()

    n_rows = 0.0
    n_columns = 0.0
    letters_beside = 0.0
