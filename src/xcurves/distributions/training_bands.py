"""Intervals of statistics that hold at all training levels together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels, validation
from xcurves.core.packing import Floats, Layout
from xcurves.core.task_blocks import apply_block
from xcurves.distributions.trials import DistributionBlock
from xcurves.kernels import training_bands
from xcurves.kernels.ecdf import CentredSums, Ints
from xcurves.kernels.summaries import Summaries

SIMULTANEOUS = "random signs of residual runs, simultaneous over training"
_SHARES = ("partial_mean_above", "prob_above")  # residuals give no intervals of these


def check_simultaneous(
    simultaneous: str | None, scores: xr.DataArray, core: Sequence[str], interval: str, outer: Sequence[str]
) -> bool:
    """Return whether intervals must hold at all training levels together."""
    if simultaneous is None:
        return False
    validation.check_choice("simultaneous", simultaneous, ("training",))
    if "training" not in scores.dims or "training" in core:
        raise ValueError(
            f"simultaneous='training' needs the dim 'training' beside dim={tuple(core)}; scores have "
            f"{tuple(map(str, scores.dims))}. Leave simultaneous out"
        )
    if interval != "percentile":
        raise ValueError(
            f"simultaneous='training' resamples residual runs; got interval={interval!r}. Use interval='percentile'"
        )
    if outer:
        raise ValueError(
            f"simultaneous='training' gives single trials random signs; got unit={outer[0]!r}. Average the trials of "
            "each unit first"
        )
    return True


@dataclass(frozen=True)
class _BandBlock:
    """Bands of the statistics of a block of tasks."""

    layout: Layout
    names: list[str]
    n_strata: int
    wanted: Summaries
    n_resamples: int
    alpha: float
    entropy: int

    def __call__(self, scores: Floats, numbers: NDArray[np.int64]) -> Floats:
        """Return bands, given scores, shape (..., training, *core), and the numbers of tasks, shape (...)."""
        trials = scores.reshape(numbers.size, self.layout.sizes["training"], self.n_strata, -1)
        out = self.layout.blank(numbers.size)
        for own, values, number in zip(trials, out["statistic_ci"], numbers.ravel().tolist(), strict=True):
            has = ~np.isnan(own)
            known = has.any(axis=-1).all(axis=-1)
            present = has[known.argmax()]
            if (has[known] != present).any():
                raise ValueError(
                    f"{self.names[number]}simultaneous='training' needs every trial at every training level; some lack "
                    "levels. Bring them to common levels: curves.align('intersection') or align(20, "
                    "relative_to='budget')"
                )
            sizes = present.sum(axis=-1)
            if known.any() and sizes.min() > 1:
                x = own[known][:, present]
                values[known] = training_bands.statistic_bands(
                    x, sizes, self._observe, self.n_resamples, self.alpha, self.entropy
                )
        return self.layout.pack(out, numbers.shape)

    def _observe(self, x: Floats, n: Ints) -> Floats:
        return self.wanted.observe(x, CentredSums(x, n))


def simultaneous_intervals(
    result: xr.Dataset, scores: xr.DataArray, core: Sequence[str], block: DistributionBlock
) -> xr.Dataset:
    """Return a result whose intervals of statistics hold at all training levels together."""
    sizes = {"training": scores.sizes["training"], "param": block.wanted.length, "ci_bound": 2}
    ends = _BandBlock(
        Layout({"statistic_ci": ("training", "param", "ci_bound")}, sizes),
        labels.task_names(scores, ("training", *core)),
        block.shape[0],
        block.wanted,
        block.n_resamples,
        block.alpha,
        block.entropy,
    )
    dims = ["training", *core]
    whole = scores.transpose(..., *dims)
    whole = whole if whole.chunks is None else whole.chunk(dict.fromkeys(dims, -1))
    packed = apply_block(ends, [whole], [dims], ends.layout.length)
    found = ends.layout.unpack(packed)["statistic_ci"].transpose(*result["statistic_ci"].dims)
    shares = [str(name).startswith(_SHARES) for name in result["param"].to_numpy()]
    kept = result["statistic_ci"].copy(data=found.data)
    kept = kept.where(~xr.DataArray(shares, dims="param"))
    return result.assign(statistic_ci=kept.assign_attrs(interval=SIMULTANEOUS))
