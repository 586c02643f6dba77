"""What all results share: attributes, warnings, and facts about their p-values."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import failed_runs
from xcurves.core.names import is_metric
from xcurves.core.validation import NO_TRAINING, check_confidence_level, is_without_training

PIATER = (
    "Piater, Cohen, Zhang & Atighetchi (1998), A Randomized ANOVA Procedure for Comparing Performance Curves, "
    "ICML, 430-438",
    "Piater & Cohen, A Randomized ANOVA Procedure for Comparing Performance Curves (longer version)",
)


READING = "reading"  # the attr of curves read from a table, and of their results: which column was what
_ANY_SCORE = ("value", "values", "score", "result")
SCORE_NAME = "score_name"  # the attr with what the user calls the scores


def warn(message: str | UserWarning) -> None:
    """Warn at the line outside this package that made the call."""
    frame = sys._getframe(1)
    level = 2
    while frame.f_back:
        module = frame.f_back.f_globals.get("__name__", "")
        if not module.startswith("xcurves."):
            break
        frame = frame.f_back
        level += 1
    warnings.warn(message, UserWarning, stacklevel=level + 1)


def warn_of(
    affected: NDArray[np.bool_],
    names: Sequence[str],
    say: Callable[[int], str],
    things: str = "tasks",
) -> None:
    """Warn once of all that is affected: name the first, say why, count the others."""
    if not affected.any():
        return
    first = int(affected.argmax())
    count = int(affected.sum())
    message = names[first] + say(first)
    if count > 1:
        message += f" (in {count} {things})"
    warn(message)


@cache
def _version() -> str:
    from importlib.metadata import version  # slow to import

    return version("xcurves")


def result_attrs(
    name: str,
    curves: xr.DataArray | xr.Dataset,
    references: Iterable[str],
    entropy: int,
    confidence_level: float,
    **given: Any,
) -> dict[str, Any]:
    """Return the attrs of a result: what it is, where it comes from, and what the method was given."""
    attrs: dict[str, Any] = {"xcurves_result": name, "xcurves_version": _version()}
    score = _score_called(curves)
    if score:
        attrs[SCORE_NAME] = score
    if is_without_training(curves):
        attrs[NO_TRAINING] = 1
    if READING in curves.attrs:
        attrs[READING] = str(curves.attrs[READING])

    attrs["references"] = "; ".join(references)
    attrs["rng"] = str(entropy)
    attrs["confidence_level"] = float(confidence_level)
    call = ", ".join(f"{option}={value}" for option, value in given.items())
    attrs["history"] = history(curves, f"{name}({call})")
    for option, value in given.items():
        if value is not None:
            attrs[option] = _storable(value)
    return attrs


def _score_called(curves: xr.DataArray | xr.Dataset) -> str:
    """Return what scores are called: as the one metric that they are of, where their own name says nothing."""
    score = str(getattr(curves, "name", None) or curves.attrs.get("long_name") or "")
    if score.casefold() not in _ANY_SCORE:
        return score
    metrics = [str(curves[name].item()) for name in curves.coords if is_metric(name) and not curves[name].ndim]
    return metrics[0] if len(metrics) == 1 else score


def add_comment(variable: xr.DataArray, sentence: str) -> None:
    """Add a sentence to the attr `comment` of a variable."""
    before = variable.attrs.get("comment")
    if before:
        sentence = f"{before}; {sentence}"
    variable.attrs["comment"] = sentence


def history(curves: xr.DataArray | xr.Dataset, step: str) -> str:
    """Return the steps that led to curves, and one more, a line each."""
    steps = []
    if "history" in curves.attrs:
        steps.append(str(curves.attrs["history"]))
    filled = failed_runs.forgotten_step(curves)
    if filled is not None:
        steps.append(filled)
    return "\n".join([*steps, step])


def record(curves: xr.DataArray, step: str) -> xr.DataArray:
    """Add a step to the history of curves."""
    return curves.assign_attrs(history=history(curves, step))


def _storable(value: Any) -> str | int | float:
    """Convert a value to a type that every archive can store."""
    if isinstance(value, str):
        return value
    is_whole = isinstance(value, int | np.integer | np.bool_)
    if is_whole and abs(int(value)) < 2**31:
        return int(value)
    return float(value)


def references_of(results: Iterable[xr.Dataset]) -> list[str]:
    """Return the references of results, each once."""
    every = (each for result in results for each in str(result.attrs.get("references", "")).split("; "))
    return [each for each in dict.fromkeys(every) if each]


def values_of(result: xr.Dataset, name: str, *last: Hashable) -> NDArray[Any]:
    """Return the values of a variable of a result, with some dims last."""
    return result.variables[name].transpose(..., *last).to_numpy()


def is_exact(result: xr.Dataset, *last: Hashable) -> NDArray[np.bool_]:
    """Return, for each task, whether all distinct assignments were evaluated."""
    return np.asarray(values_of(result, "n_resamples", *last) == values_of(result, "n_assignments", *last))


def smallest_reachable(result: xr.Dataset, *last: Hashable) -> NDArray[np.float64]:
    """Return, for each task, the smallest p-value that its reassignments can give."""
    n_resamples = values_of(result, "n_resamples", *last)
    return np.asarray(1 / np.where(is_exact(result, *last), n_resamples, n_resamples + 1))


def significant(pvalue: Any, alpha: float) -> Any:
    """Return whether p-values are at most alpha, whatever the rounding of binary fractions."""
    return pvalue <= alpha + 1e-12


def alpha_of(result: xr.Dataset) -> float:
    """Return the level that p of a result are compared with, by default that of its intervals."""
    if "level" in result.attrs:
        return float(result.attrs["level"])
    return check_confidence_level(result.attrs["confidence_level"])
