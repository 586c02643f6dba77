"""The randomization test of a block of tasks, which runs wherever the block is: in memory or in a dask worker."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xcurves import labels
from xcurves.kernels import moments, null, shuffles, sums
from xcurves.kernels.reassign import Progress
from xcurves.packing import Floats, Layout

BY_EFFECT = ("effect", "error_term")
FIELDS = {
    "pvalue": BY_EFFECT,
    "f": BY_EFFECT,
    "ss": ("source",),
    "df": ("source",),
    "critical_value": BY_EFFECT,
    "pvalue_stderr": BY_EFFECT,
    "pvalue_parametric": BY_EFFECT,
    "eta_sq_partial": BY_EFFECT,
    "eta_sq_generalized": BY_EFFECT,
    "error_ss": BY_EFFECT,
    "error_df": BY_EFFECT,
    "n_runs": ("algorithm",),
    "n_levels": (),
    "n_shuffles": (),
    "n_assignments": (),
}
NULL_FIELDS = {"pvalue_rank": BY_EFFECT, "null_distribution": (*BY_EFFECT, "shuffle")}


@dataclass(frozen=True)
class BlockTest:
    """The test of one block of tasks: moments in, packed results out."""

    names: list[str]
    algorithms: list[str]
    runs: list[str]
    n_resamples: int | None
    paired: bool
    alpha: float
    keep_null: bool
    lazy: bool
    batch: int | None
    entropy: int
    progress: Progress

    @property
    def n_random(self) -> int:
        """Number of random shuffles, where they are random."""
        return self.n_resamples or shuffles.DEFAULT_RESAMPLES

    def layout(self, n_kept: int) -> Layout:
        """Return the layout of the results; a kept null distribution takes `n_kept` places."""
        sizes = {
            "effect": 2,
            "error_term": 2,
            "source": 5,
            "algorithm": len(self.algorithms),
            "shuffle": n_kept,
        }
        return Layout(FIELDS | (NULL_FIELDS if self.keep_null else {}), sizes)

    def plan(self, sizes: tuple[int, ...]) -> shuffles.Plan:
        """Plan the reassignments of groups of `sizes`; a kept null of lazy curves must have a known length."""
        allow_exact = not (self.keep_null and self.lazy)
        return shuffles.make_plan(
            sizes, self.n_resamples, paired=self.paired, allow_exact=allow_exact, entropy=self.entropy
        )

    def __call__(self, packed: Floats, numbers: NDArray[np.int64]) -> Floats:
        """Test the tasks whose packed moments, shape (..., moment), and numbers, shape (...), are given."""
        shape = (len(self.algorithms), len(self.runs))
        part = moments.unpack(packed.reshape(numbers.size, -1), shape[0] * shape[1])
        names = [self.names[number] for number in numbers.ravel()]
        curves = [f"algorithm {algorithm}, run {run}" for algorithm in self.algorithms for run in self.runs]
        present = labels.check_runs(part.counts, part.n_levels, names, curves)
        groups = _alike(present, part.n_levels)
        for tasks in groups:
            labels.check_groups(
                present[tasks[0]].reshape(shape),
                names[tasks[0]],
                self.algorithms,
                self.runs,
                paired=self.paired,
            )
        found = [self._group(part, present[tasks[0]].reshape(shape), tasks) for tasks in groups]
        layout = self.layout(self.n_random if self.lazy else _longest_null(found))
        out = layout.blank(len(names))
        out["n_levels"] = part.n_levels
        out["n_runs"] = present.reshape(-1, *shape).sum(axis=-1, dtype=float)
        out["n_shuffles"][:] = 0
        for tasks, fields in zip(groups, found, strict=True):
            if self.keep_null:
                null_f = fields.pop("null_distribution")
                out["null_distribution"][tasks, ..., : null_f.shape[-1]] = null_f
            for name, values in fields.items():
                out[name][tasks] = values
        return layout.pack(out, numbers.shape)

    def _group(self, part: moments.Moments, present: NDArray[np.bool_], tasks: NDArray[np.intp]) -> dict[str, Any]:
        """Test tasks in which the same curves are present at equally many levels."""
        curves = np.flatnonzero(present)
        sizes = tuple(size for size in present.sum(axis=1).tolist() if size)
        means, comoment = part.means[np.ix_(tasks, curves)], part.comoment[np.ix_(tasks, curves, curves)]
        design = sums.make_design(means, comoment, int(part.n_levels[tasks[0]]), sizes, paired=self.paired)
        plan = self.plan(sizes)
        found = null.evaluate(design, plan, self.alpha, keep=self.keep_null, batch=self.batch, progress=self.progress)
        return {
            **sums.table(design, part.level_ss[tasks]),
            **found,
            "n_shuffles": plan.n_shuffles,
            "n_assignments": _as_float(plan.n_assignments),
        }


def _longest_null(found: list[dict[str, Any]]) -> int:
    return max(
        (fields["null_distribution"].shape[-1] for fields in found if "null_distribution" in fields),
        default=0,
    )


def _as_float(count: int) -> float:
    """Return a count as a float, infinity where it is beyond the largest."""
    return float(count) if count < 2**1000 else np.inf


def _alike(present: NDArray[np.bool_], n_levels: Floats) -> list[NDArray[np.intp]]:
    """Group the tasks that have any level by number of levels and by the curves that are present."""
    pattern = np.column_stack([present, n_levels])
    _, group = np.unique(pattern, axis=0, return_inverse=True)
    members = (np.flatnonzero(group.ravel() == g) for g in range(group.max(initial=-1) + 1))
    return [tasks for tasks in members if n_levels[tasks[0]]]


def _no_bar(blocks: Iterable[int]) -> Iterable[int]:
    return blocks


def progress_bar(wanted: bool) -> Progress:
    """Return what wraps the numbers of a plan's blocks: a tqdm bar, or nothing."""
    if not wanted:
        return _no_bar
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ImportError("progress=True needs tqdm. Install it: pip install 'xcurves[progress]'") from None
    return partial(tqdm, desc="shuffles", unit="block", leave=False)
