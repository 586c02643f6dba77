"""Curves to numbers for each run: one score, or scores at fractions of the task's budget; blockwise over tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels, run_checks
from xcurves.core.labels import DIMS
from xcurves.core.packing import Floats, Layout
from xcurves.core.task_blocks import apply_block
from xcurves.kernels import budgets


@dataclass(frozen=True)
class _ScoreBlock:
    """Scores of the runs of a block of tasks, each task on its own grid."""

    layout: Layout
    names: list[str]
    algorithms: list[str]
    runs: list[str]
    final: bool

    def __call__(self, *arrays: Any) -> Floats:
        """Reduce curves, shape (..., algorithm, run, training), by weights of levels if there are any."""
        curves, *weights, numbers = arrays
        names = [self.names[number] for number in numbers.ravel()]
        flat = curves.reshape(numbers.size, *curves.shape[-3:])
        grid, _ = run_checks.check_scores(flat, names, self.algorithms, self.runs, np.isneginf)  # +inf has a rank
        scores = self._scores(flat, grid, weights[0] if weights else None, names)
        return self.layout.pack({"score": scores}, numbers.shape)

    def _scores(self, curves: Floats, grid: NDArray[np.bool_], weights: Floats | None, names: Sequence[str]) -> Floats:
        """Return the score of every run, shape (task, algorithm, run), NaN where it is absent."""
        if self.final:
            last = grid.shape[-1] - 1 - grid[:, ::-1].argmax(axis=-1)
            return np.asarray(np.take_along_axis(curves, last[:, np.newaxis, np.newaxis, np.newaxis], axis=-1)[..., 0])
        of_level = grid * (np.ones(grid.shape[-1]) if weights is None else weights)
        if weights is None or (weights >= 0).all():
            total = of_level.sum(axis=-1, keepdims=True)
            for task in np.flatnonzero((total[:, 0] == 0) & grid.any(axis=-1))[:1]:
                raise ValueError(
                    f"{names[task]}training_weights gives no weight to a level of its grid. Weigh one of its levels"
                )
            of_level = np.divide(of_level, total, out=np.zeros(of_level.shape), where=total > 0)
        absent = np.isnan(curves).all(axis=-1)
        scores = np.einsum("tark,tk->tar", np.nan_to_num(curves, posinf=0.0), of_level)
        never = (np.isposinf(curves) & (of_level != 0)[:, np.newaxis, np.newaxis]).any(axis=-1)
        return np.where(absent, np.nan, np.where(never, np.inf, scores))


@dataclass(frozen=True)
class _FractionBlock(_ScoreBlock):
    """Scores at fractions of the budget of a block of tasks."""

    levels: Floats
    fractions: tuple[float, ...]

    def __call__(self, *arrays: Any) -> Floats:
        """Take curves, shape (..., algorithm, run, training), to fractions."""
        curves, numbers = arrays
        flat = curves.reshape(numbers.size, *curves.shape[-3:])
        names = [self.names[number] for number in numbers.ravel()]
        grid, _ = run_checks.check_scores(flat, names, self.algorithms, self.runs)
        scores = budgets.at_fractions(flat, grid, self.levels, np.array(self.fractions))
        return self.layout.pack({"score": scores}, numbers.shape)


def score_runs(curves: xr.DataArray, task: str, weights: xr.DataArray | None, *, final: bool) -> xr.DataArray:
    """Return a score for every run, dims (..., task, algorithm, run); lazy if the curves are."""
    layout = Layout({"score": ("algorithm", "run")}, {dim: curves.sizes[dim] for dim in ("algorithm", "run")})
    block = _ScoreBlock(layout, *_names(curves), final)
    arrays = [curves] if weights is None else [curves, weights]
    return _apply(block, arrays, task)


def score_fractions(curves: xr.DataArray, task: str, fractions: Sequence[float]) -> xr.DataArray:
    """Return scores at fractions of each task's budget, dims (..., task, algorithm, run, budget_fraction)."""
    sizes = {dim: curves.sizes[dim] for dim in ("algorithm", "run")} | {"budget_fraction": len(fractions)}
    layout = Layout({"score": ("algorithm", "run", "budget_fraction")}, sizes)
    block = _FractionBlock(layout, *_names(curves), False, curves["training"].to_numpy(), tuple(fractions))
    return _apply(block, [curves], task)


def _names(curves: xr.DataArray) -> tuple[list[str], list[str], list[str]]:
    return labels.task_names(curves), labels.words(curves["algorithm"]), labels.words(curves["run"])


def _apply(block: _ScoreBlock, arrays: Sequence[xr.DataArray], task: str) -> xr.DataArray:
    core = [list(DIMS), ["training"]][: len(arrays)]
    arrays = [_one_chunk(array, dims) for array, dims in zip(arrays, core, strict=True)]
    packed = apply_block(block, arrays, core, block.layout.length)
    scores = xr.DataArray(block.layout.unpack(packed)["score"], packed.coords)
    return scores.transpose(..., task, *block.layout.dims["score"])


def _one_chunk(array: xr.DataArray, dims: Sequence[str]) -> xr.DataArray:
    return array if array.chunks is None else array.chunk(dict.fromkeys(dims, -1))
