"""Strata of trials: which of them all algorithms have."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

import numpy as np
import xarray as xr

from xcurves.core import labels
from xcurves.core.driver import is_lazy
from xcurves.distributions.trial_checks import Design
from xcurves.say.numbers import listed


def common_strata(trials: xr.DataArray, design: Design) -> xr.DataArray:
    """Return which strata count, dims (..., *strata): those in which every algorithm that has trials has some."""
    has = _has_trials(trials, design)
    counted = has
    if "algorithm" in has.dims:
        # an algorithm without any trial takes no stratum from the others
        takes_part = has.any(design.strata)
        counted = (has | ~takes_part).all("algorithm") & has.any("algorithm")
    counted = counted.transpose(..., *design.strata)
    if is_lazy(counted):
        counted = counted.chunk(dict.fromkeys(design.strata, -1))
    return counted


@dataclass(frozen=True)
class LeftOut:
    """Strata that are left out, for all algorithms."""

    names: list[str]
    lacking: dict[str, list[str]]  # words for the algorithms without a trial, by name

    def __str__(self) -> str:
        return listed([f"{name}{self._without(self.lacking[name])}" for name in self.names])

    @staticmethod
    def _without(algorithms: list[str]) -> str:
        if not algorithms:
            return ""
        return f" (no trial of {listed(algorithms)})"

    def cure(self) -> str:
        """Return what to do to keep them."""
        algorithms = dict.fromkeys(chain.from_iterable(self.lacking.values()))
        if not algorithms:
            return "Leave them out before the call"
        return (
            f"To keep them, leave these algorithms out: .drop_sel(algorithm=[{', '.join(algorithms)}]); runs that "
            "failed have a score, -inf or inf"
        )


def find_left_out(trials: xr.DataArray, counted: xr.DataArray, design: Design) -> LeftOut:
    """Return the strata that do not count, and which algorithms have no trial in them."""
    has = _has_trials(trials, design)
    lost = ~has
    if "algorithm" in has.dims:
        lost = has.any("algorithm") & ~counted
    elsewhere = [dim for dim in lost.dims if dim not in design.strata]
    # those that no algorithm has anywhere are left out too
    is_out = lost.any(elsewhere) | ~counted.any(elsewhere)

    names = []
    lacking: dict[str, list[str]] = {}
    for place in np.argwhere(is_out.transpose(*design.strata).to_numpy()).tolist():
        at = has.isel(dict(zip(design.strata, place, strict=True)))
        name = ", ".join(labels.words([at[dim].item()])[0] for dim in design.strata)
        names.append(name)
        lacking[name] = []
        if "algorithm" in at.dims and at.any():
            some = at.all([dim for dim in at.dims if dim != "algorithm"]).to_numpy()
            lacking[name] = labels.words(at["algorithm"].to_numpy()[~some])
    return LeftOut(names, lacking)


def _has_trials(trials: xr.DataArray, design: Design) -> xr.DataArray:
    """Return which strata have trials, at some training level: a curve that ends early is no absent run."""
    along = [name for name in design.core if name not in design.strata]
    if "training" in trials.dims and "training" not in design.core:
        along.append("training")
    return labels.in_label_order(trials, design.strata).notnull().any(along)
