"""Validation of options about trials: every `check_*` returns what it checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core import labels, validation
from xcurves.core.refusal import UNSAID, Cure, Refusal, Verbatim, WrongType, give, shown
from xcurves.core.run_checks import Context
from xcurves.kernels.distributions.summaries import Summaries
from xcurves.say.numbers import listed

Numbers = float | Sequence[float] | Floats | xr.DataArray
Dims = str | Sequence[str]

# of what one run scored
_REPEATS = ("episode", "evaluation", "rollout", "game", "repeat", "replicate", "sample")
HUNDREDTHS = np.arange(1, 100) / 100


class Design(NamedTuple):
    """What the dims of trials are."""

    dims: tuple[str, ...]
    strata: tuple[str, ...]
    units: tuple[str, ...]  # none where every trial of a stratum is one
    attrs: dict[str, str | None]  # of a result

    @property
    def trials(self) -> tuple[str, ...]:
        """Dims of trials within a stratum, or within a unit."""
        return tuple(name for name in self.dims if name not in (*self.strata, *self.units))

    @property
    def core(self) -> tuple[str, ...]:
        """All dims, strata first."""
        return (*self.strata, *self.units, *self.trials)


def check_design(dim: Dims, strata: Dims | None, unit: Dims | None, fixed: str, repeated: str) -> Design:
    """Return what the dims of trials are.

    `fixed` is the cure of a set of tasks that nothing is said about, `repeated` that of several scores of a run.
    """
    dims = _names("dim", dim)
    if not dims or len(set(dims)) < len(dims):
        raise Refusal(
            "dim",
            dim,
            "must name one or more dims, each once",
            Cure("Try ", give(dim="run")),
        )
    strata_dims: tuple[str, ...] = ()
    unit_dims: tuple[str, ...] = ()
    if strata is not None:
        strata_dims = _names("strata", strata)
    if unit is not None:
        unit_dims = _names("unit", unit)
    if len(dims) > 1 and strata is None and unit is None:
        cure = _cure_of_pool(dims, fixed, repeated)
        raise Refusal(
            "dim",
            UNSAID,
            f"dim={dims} pools trials that may not be independent; got neither strata nor unit",
            Cure(
                f"Give {cure}, or ",
                give(unit=dims),
                " if every trial is independent",
            ),
        )
    _refuse_strange("strata", strata_dims, dims, f"dim={dims}", ())
    _refuse_strange("unit", unit_dims, dims, f"dim={dims}, and no stratum", strata_dims)
    if strata_dims and set(strata_dims) == set(dims):
        raise Refusal(
            "strata",
            strata_dims,
            f"leave nothing to resample of dim={dims}",
            "Leave a dim out",
        )

    # All dims that are no strata say that every trial is a unit.
    attrs = {
        "dim": ", ".join(dims),
        "strata": ", ".join(strata_dims) or None,
        "unit": None,
    }
    units = unit_dims
    if set(unit_dims) == set(dims) - set(strata_dims):
        units = ()
    if unit is not None:
        attrs["unit"] = ", ".join(units or dims)
    return Design(dims, strata_dims, units, attrs)


def _cure_of_pool(dims: tuple[str, ...], fixed: str, repeated: str) -> str:
    """Return what to do with several dims: tasks are strata, several scores of a run have it for a unit."""
    repeats = [name for name in dims if name.lower().rstrip("s") in _REPEATS]
    if len(repeats) == len(dims) - 1:
        (whole,) = set(dims) - set(repeats)
        cure = repeated.format(unit=whole, repeats=repeats)
        return f"{cure} ({listed(repeats)} of one {whole} hang together)"
    task = next(name for name in dims if name != "run")
    return fixed.format(task=task)


def _refuse_strange(
    argument: str,
    names: tuple[str, ...],
    dims: tuple[str, ...],
    allowed: str,
    taken: tuple[str, ...],
) -> None:
    """Refuse names of strata or units that are no dims of trials, or taken."""
    for name in names:
        if name not in dims or name in taken:
            raise Refusal(
                argument,
                name,
                f"must be of the dims of trials, {allowed}",
                Cure(
                    "Pool it too: ",
                    give(dim=(name, *dims)),
                    f", {argument}={name!r}",
                ),
            )


def check_resampling(design: Design, interval: str, n_resamples: int | None) -> None:
    """Refuse strata, units and resamples for exact intervals, which only a bootstrap has."""
    validation.check_choice("interval", interval, ("exact", "percentile", "bca"))
    if interval != "exact":
        return
    options: dict[str, object] = {}
    if design.strata:
        options["strata"] = _one_or_all(design.strata)
    if design.units:
        options["unit"] = _one_or_all(design.units)
    if n_resamples is not None:
        options["n_resamples"] = n_resamples
    if options:
        name, value = next(iter(options.items()))
        raise Refusal(
            "interval",
            "exact",
            f"is for independent trials of one distribution and resamples nothing; got {name}={shown(value)}",
            Cure("Use ", give(interval="percentile"), " or 'bca'"),
        )


def _one_or_all(names: tuple[str, ...]) -> str | tuple[str, ...]:
    """Return dims as they were named: one by its name."""
    if len(names) == 1:
        return names[0]
    return names


def context_of(
    scores: xr.DataArray,
    core: Sequence[str],
    confidence_level: float,
    alpha: float,
    entropy: int,
    *,
    seeded: bool = True,
) -> Context:
    """Return what all groups of trials share; words for algorithms are in the order of their labels."""
    algorithms = []
    if "algorithm" in core:
        algorithms = labels.words(np.sort(scores["algorithm"].to_numpy()))
    return Context(
        labels.task_names(scores, core),
        algorithms,
        [],
        None,
        False,
        confidence_level,
        alpha,
        entropy,
        seeded,
    )


def as_digits(value: float) -> str:
    """Return a number as text without loss of digits."""
    short = f"{value:g}"
    if float(short) == value:
        return short
    return repr(float(value))


def check_statistics(
    cvar_level: Numbers,
    cvar: str,
    threshold: Numbers | None,
    target: float | None,
    higher_is_better: bool,
) -> Summaries:
    """Return which statistics are wanted, and by which definitions."""
    levels = _check_distinct("cvar_level", cvar_level)
    wrong = levels[(levels < 0) | (levels > 1 - 1e-9)]
    if wrong.size:
        raise Refusal(
            "cvar_level",
            Verbatim(f"{wrong[0]:g}"),
            "must lie in [0, 1)",
            "0.9 is the best tenth of trials",
        )
    validation.check_choice("cvar", cvar, ("tail-mean", "conditional"))
    thresholds = np.zeros(0)
    if threshold is not None:
        thresholds = _check_distinct("threshold", threshold)
    targets = np.zeros(0)
    if target is not None:
        targets = np.array([validation.check_number("target", target)])
    return Summaries(
        levels=levels,
        conditional=cvar == "conditional",
        thresholds=thresholds,
        targets=targets,
        higher=higher_is_better,
    )


def check_probabilities(probabilities: Numbers | None) -> Floats:
    """Return probabilities, by default each hundredth between 0 and 1."""
    if probabilities is None:
        return HUNDREDTHS
    checked = check_numbers("probabilities", probabilities)
    wrong = checked[(checked < 0) | (checked > 1)]
    if wrong.size:
        raise Refusal(
            "probabilities",
            Verbatim(f"{wrong[0]:g}"),
            "must lie between 0 and 1",
            "The median is at 0.5",
        )
    return checked


def check_bounds(bounds: tuple[float, float] | None) -> tuple[float, float]:
    """Return the smallest and the largest possible score."""
    if bounds is None:
        return -np.inf, np.inf
    ends = validation.numbers_of(bounds)
    if ends is None or ends.shape != (2,):
        raise WrongType("bounds", bounds, "must be two numbers", Cure("Try ", give(bounds=(0, 1))))
    low, high = ends.tolist()
    too_large = np.isfinite(ends) & (np.abs(ends) > validation.LARGEST)
    if not low < high or too_large.any():
        raise Refusal(
            "bounds",
            bounds,
            "must be a smaller and a larger score",
            Cure("Try ", give(bounds=(0, 1))),
        )
    return low, high


def check_simultaneous(simultaneous: str | None, scores: xr.DataArray, design: Design, interval: str) -> bool:
    """Return whether intervals must hold at all training levels together."""
    if simultaneous is None:
        return False
    validation.check_choice("simultaneous", simultaneous, ("training",))
    cure = Cure()
    if "training" not in scores.dims or "training" in design.dims:
        reason = f"needs the dim 'training' beside dim={design.dims}; scores have {tuple(map(str, scores.dims))}"
    elif interval != "percentile":
        reason = f"resamples residual runs; got interval={interval!r}"
        cure = Cure("Use ", give(interval="percentile"))
    elif design.units:
        reason = f"gives single trials random signs; got unit={design.units[0]!r}"
        cure = Cure("Average the trials of each unit first")
    else:
        return True
    raise Refusal("simultaneous", simultaneous, reason, cure)


def check_numbers(name: str, values: Numbers) -> Floats:
    """Return finite numbers in one dimension."""
    wrong_type = WrongType(name, values, "must be numbers", "Give a number or a list of them")
    try:
        as_given = np.asarray(values)
    except ValueError:  # lists of different lengths
        raise wrong_type from None
    if as_given.dtype.kind not in "iuf":
        raise wrong_type
    numbers = np.atleast_1d(as_given.astype(np.float64))
    if numbers.ndim > 1 or numbers.size == 0:
        raise Refusal(
            name,
            Verbatim(f"shape {numbers.shape}"),
            "must be a number or a list of them",
        )
    wrong = numbers[~(np.abs(numbers) <= validation.LARGEST)]
    if wrong.size:
        raise Refusal(
            name,
            Verbatim(f"{wrong[0]:g}"),
            "must be finite",
            f"At most {validation.LARGEST:g} in size",
        )
    return numbers


def _check_distinct(name: str, values: Numbers) -> Floats:
    """Return finite numbers in one dimension, no two of them the same."""
    numbers = check_numbers(name, values)
    seen, times = np.unique(numbers, return_counts=True)
    if (times > 1).any():
        raise Refusal(
            name,
            UNSAID,
            f"{name} names {as_digits(seen[times.argmax()])} twice",
            "Give each once",
        )
    return numbers


def _names(argument: str, dims: Dims) -> tuple[str, ...]:
    """Return names of dims: a text is one."""
    given: Sequence[object] = [dims]
    if isinstance(dims, Sequence) and not isinstance(dims, str):
        given = dims
    names = []
    for name in given:
        if not isinstance(name, str):
            raise WrongType(argument, name, "must name dims", Cure("Try ", give(dim="run")))
        names.append(name)
    return tuple(names)
