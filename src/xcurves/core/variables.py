"""Variables of results that are declared alike in many kinds."""

from __future__ import annotations

import numpy as np

from xcurves.core.schema import Var


def one_where(dims: tuple[str, ...], words: str, when: str | None = None, *, coord: bool = False) -> Var:
    """Return a variable that is 1 where something holds, else 0."""
    return Var(dims, f"1 where {words}", dtype=np.int8, when=when, coord=coord)


def with_interval(
    name: str, dims: tuple[str, ...], words: str, units: str = "1", when: str | None = None, *, together: str = ""
) -> dict[str, Var]:
    """Return a variable and its interval; for all `together`, such as "pairs", another."""
    ends, interval = (*dims, "ci_bound"), f"confidence interval of the {words}"
    found = {name: Var(dims, words, units, when=when), f"{name}_ci": Var(ends, interval, units, when=when)}
    if together:
        found[f"{name}_ci_simultaneous"] = Var(ends, f"{interval}, for all {together} together", units, when=when)
    return found
