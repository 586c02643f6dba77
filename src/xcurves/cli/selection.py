"""What `--select` and `--align` say."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xcurves.core.labels import did_you_mean
from xcurves.preprocessing.grids import On

_SHOWN = 12
_MOST = 10**7  # levels
_NAMED = ("intersection", "union", "final")


def parse_selections(given: Sequence[str]) -> dict[str, list[str]]:
    """Return what is selected by name, as it was written."""
    selections: dict[str, list[str]] = {}
    for each in given:
        name, equals, wanted = each.partition("=")
        if not (name and equals and wanted):
            raise ValueError(f"--select {each}: say NAME=LABEL, such as --select task=Hopper")
        selections.setdefault(name, []).append(wanted)
    return selections


def matching(name: str, wanted: Sequence[str], values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values are among the labels, or in a range LOW:HIGH of numbers, that are wanted."""
    chosen = np.zeros(len(values), dtype=np.bool_)
    known = {str(value): value for value in dict.fromkeys(values.tolist())}
    for label in _labels(wanted, known):
        found = _in_range(label, values) if label not in known and ":" in label else values == known.get(label, label)
        if label not in known and ":" not in label and values.dtype.kind in "iuf":
            found = _equal(label, values)
        if not np.any(found):
            has = [*known][:_SHOWN] + ["..."] * (len(known) > _SHOWN)
            near = did_you_mean(label, known)
            raise ValueError(f"--select {name}={label}: there is none. {name} has {', '.join(has)}{near}")
        chosen |= found
    return chosen


def _labels(wanted: Sequence[str], known: dict[str, Any]) -> list[str]:
    """Return single labels: one that is known may have commas in it."""
    return [label for each in wanted for label in ([each] if each in known else each.split(","))]


def _equal(label: str, values: NDArray[Any]) -> NDArray[np.bool_]:
    try:
        return np.asarray(values == float(label))
    except ValueError:
        return np.zeros(len(values), dtype=np.bool_)


def _in_range(label: str, values: NDArray[Any]) -> NDArray[np.bool_]:
    low, _, high = label.partition(":")
    try:
        ends = float(low or "-inf"), float(high or "inf")
    except ValueError:
        return np.zeros(len(values), dtype=np.bool_)
    return np.asarray((values >= ends[0]) & (values <= ends[1])) if values.dtype.kind in "iuf" else values == label


def parse_levels(given: str) -> On:
    """Return the levels that `--align` names: a word, a list, or START:STOP:STEP with STOP in it."""
    if given in _NAMED:
        return given  # type: ignore[return-value]  # one of its literals
    try:
        if ":" not in given:
            return [float(level) for level in given.split(",")]
        # In decimal digits: the levels of 0:1:.1 are those that a table has, and the last is 1.
        start, stop, step = map(Decimal, given.split(":"))
        if not (step > 0 and stop >= start and (stop - start) / step < _MOST):
            raise ValueError
        return [float(start + number * step) for number in range(int((stop - start) / step) + 1)]
    except (ValueError, ArithmeticError):
        raise ValueError(
            f"--align takes {', '.join(_NAMED)}, budget, levels such as 0,1000,5000, or START:STOP:STEP; "
            f"got {given!r}. Put ARCHIVE before the options"
        ) from None
