"""What all results share: descriptions, provenance, and the facts of their p-values."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.kernels.adjustments import ADJUSTMENTS

_PIATER = (
    "Piater, Cohen, Zhang & Atighetchi (1998), A Randomized ANOVA Procedure for Comparing Performance Curves, "
    "ICML, 430-438; Piater & Cohen, A Randomized ANOVA Procedure for Comparing Performance Curves (longer version)"
)
REFERENCES = {
    "anova": _PIATER,
    "profile": f"{_PIATER}; Westfall & Young (1993), Resampling-Based Multiple Testing, Wiley; Maris & Oostenveld "
    "(2007), J. Neurosci. Methods 164, 177-190, doi:10.1016/j.jneumeth.2007.03.024",
    "learning curves": "Hoiem, Gupta, Li & Shlapentokh-Rothman (2021), Learning Curves for Analysis of Deep Networks, "
    "ICML, PMLR 139, 4287-4296",
    "distribution": "Jordan, Cohen & Thomas, Using Cumulative Distribution Based Performance Analysis to Benchmark "
    "Models",
    "dkw": "Massart (1990), The Tight Constant in the Dvoretzky-Kiefer-Wolfowitz Inequality, Ann. Probab. 18, "
    "1269-1283, doi:10.1214/aop/1176990746",
    "bootstrap": "Efron (1987), Better Bootstrap Confidence Intervals, J. Am. Stat. Assoc. 82, 171-185, "
    "doi:10.1080/01621459.1987.10478410",
    "newcombe": "Newcombe (2006), Confidence Intervals for an Effect Size Measure Based on the Mann-Whitney Statistic, "
    "Part 2, Stat. Med. 25, 559-573, doi:10.1002/sim.2324",
}
BAND = "Dvoretzky-Kiefer-Wolfowitz-Massart, everywhere at once"
_WHOLE: dict[str, type] = dict.fromkeys(
    ("n_runs", "n_levels", "n_shuffles", "n_folds", "n_curves", "n_trials"), np.int64
)
_WHOLE |= dict.fromkeys(
    ("gamma_at_edge", "at_extrapolated", "extrapolated", "crossing_extrapolated", "data_multiplier_extrapolated"),
    np.int8,
)


def describe(
    variables: dict[str, xr.Variable],
    long_names: Mapping[str, str],
    curves: xr.DataArray,
    *,
    scores: Sequence[str] = (),
    squares: Sequence[str] = (),
    units: Mapping[str, str] | None = None,
) -> dict[str, xr.Variable]:
    """Give every variable its own name and unit, 1 unless said, and make counts and flags whole numbers."""
    score = str(curves.attrs.get("units", "score"))
    known = dict.fromkeys(scores, score) | dict.fromkeys(squares, "1" if score == "1" else f"({score})^2")
    known |= units or {}
    counted = {name: variables[name].astype(kind) for name, kind in _WHOLE.items() if name in variables}
    described = variables | counted
    for name, variable in described.items():
        variable.attrs = {"long_name": long_names[name], "units": known.get(name, "1")}
    return described


def warn(message: str) -> None:
    """Warn at the line outside this package that made the call."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_back.f_globals.get("__name__", "").startswith("xcurves."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, UserWarning, stacklevel=level + 1)


def warn_of(
    befallen: NDArray[np.bool_], names: Sequence[str], say: Callable[[int], str], things: str = "tasks"
) -> None:
    """Warn once of what befell any of many things: the name of the first, what is to say of it, how many they are."""
    if befallen.any():
        first, count = int(befallen.argmax()), int(befallen.sum())
        warn(names[first] + say(first) + (f" (in {count} {things})" if count > 1 else ""))


@cache
def _version() -> str:
    from importlib.metadata import version  # slow to import

    return version("xcurves")


def provenance(
    kind: str, curves: xr.DataArray | xr.Dataset, references: str, entropy: int, confidence_level: float, **given: Any
) -> dict[str, Any]:
    """Return the attrs of a result: what it is, where it comes from, and what the method was given."""
    call = ", ".join(f"{name}={value}" for name, value in given.items())
    return {
        "xcurves_result": kind,
        "xcurves_version": _version(),
        "references": references,
        "rng": str(entropy),
        "confidence_level": float(confidence_level),
        "history": history(curves, f"{kind}({call})"),
        **{name: _plain(value) for name, value in given.items() if value is not None},
    }


def history(curves: xr.DataArray | xr.Dataset, step: str) -> str:
    """Return the steps that led to curves, and one more, a line each."""
    steps = [curves.attrs["history"]] if "history" in curves.attrs else []
    return "\n".join([*steps, step])


def record(curves: xr.DataArray, step: str) -> xr.DataArray:
    """Add a step to the history of curves."""
    return curves.assign_attrs(history=history(curves, step))


def _plain(value: Any) -> str | int | float:
    """Return a value of a kind that every archive holds."""
    if isinstance(value, str):
        return value
    whole = isinstance(value, int | np.integer | np.bool_)
    return int(value) if whole and abs(int(value)) < 2**31 else float(value)


def references_of(results: Iterable[xr.Dataset]) -> list[str]:
    """Return what results rest on, each reference once."""
    every = (each for result in results for each in str(result.attrs.get("references", "")).split("; "))
    return [each for each in dict.fromkeys(every) if each]


def settle_rng(result: xr.Dataset, rng: object) -> None:
    """Where no seed was given and nothing was random, record one that repeats the result: any does."""
    if rng is None and bool(is_exact(result).all()):
        result.attrs["rng"] = "0"


def is_exact(result: xr.Dataset) -> NDArray[np.bool_]:
    """Return, for each task, whether all distinct assignments were evaluated."""
    return np.asarray(result["n_shuffles"].to_numpy() == result["n_assignments"].to_numpy())


def smallest_pvalue(result: xr.Dataset) -> NDArray[np.float64]:
    """Return, for each task, the smallest p-value that its reassignments can give."""
    n_shuffles = result["n_shuffles"].to_numpy()
    return np.asarray(1 / np.where(is_exact(result), n_shuffles, n_shuffles + 1))


def smallest_adjusted_pvalue(result: xr.Dataset) -> NDArray[np.float64]:
    """Return, shape (..., pair), the smallest adjusted p-value that there can be; NaN where nothing was tested.

    Adjusted p-values rise with every p, so that they are smallest where all are. By Holm's steps a pair of few runs
    beside pairs of many can reach less than its own smallest p times the number of pairs.
    """
    result = result.transpose(..., "pair")
    smallest = np.where(result["n_shuffles"].to_numpy() > 0, smallest_pvalue(result), np.nan)
    return ADJUSTMENTS[result.attrs["correction"]](smallest)


def significant(pvalue: Any, alpha: float) -> Any:
    """Return whether p-values are at most alpha, in counts rather than in binary fractions."""
    return pvalue <= alpha + 1e-12
