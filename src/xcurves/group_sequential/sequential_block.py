"""The group-sequential test of a block of tasks, from their curves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xcurves.core import provenance, run_checks
from xcurves.core.packing import Floats, Layout
from xcurves.kernels.adjustments import holm
from xcurves.kernels.nested_assignments import Look, nest
from xcurves.kernels.sequential_pvalues import Spending, futile, spent
from xcurves.kernels.sequential_tests import sequential_tests

_BY_LOOK = ("pvalue", "statistic", "critical_value", "pvalue_stagewise", "difference")


@dataclass(frozen=True)
class SequentialBlock:
    """The sequential test of a block of tasks, or of data sets of several tasks each."""

    layout: Layout
    names: list[str]
    within: list[str]
    algorithms: list[str]
    runs: list[str]
    pairs: list[tuple[int, int]]
    places: NDArray[np.intp]
    look: NDArray[np.intp]
    weights: Floats | str | None
    spending: Spending
    n_resamples: int
    alpha: float
    entropy: int

    def __call__(self, curves: Floats, numbers: NDArray[np.int64]) -> Floats:
        """Test every pair, given curves of shape (..., [task,] algorithm, run, training) and numbers of names."""
        names = [self.names[number] for number in numbers.ravel()]
        shape = (len(names), -1, len(self.algorithms), len(self.runs), curves.shape[-1])
        every = np.ascontiguousarray(curves).reshape(shape)
        out = self.layout.blank(len(names))
        for flag in ("rejected", "futile", "undecided", "n_runs_next"):
            out[flag][:] = 0
        plans: dict[bytes, list[Look]] = {}
        for place, (name, each) in enumerate(zip(names, every, strict=True)):
            self._test({key: values[place] for key, values in out.items()}, self._reduce(each, name), name, plans)
        return self.layout.pack(out, numbers.shape)

    def _reduce(self, curves: Floats, name: str) -> Floats:
        """Reduce curves, shape (task, algorithm, run, training), to a number each, NaN where a run is absent."""
        names = [f"{name}{within}" for within in self.within]
        in_grid, present = run_checks.check_scores(curves, names, self.algorithms, self.runs)
        weights = self._profile(in_grid, names)
        u: Floats = (np.nan_to_num(curves) * weights[:, np.newaxis, np.newaxis]).sum(axis=-1)
        u[~present] = np.nan
        if np.nanmax(np.abs(u), initial=0.0) > 1e145:
            raise ValueError(f"{name}scores are too large to be squared. Rescale: curves / abs(curves).max()")
        return u

    def _profile(self, in_grid: NDArray[np.bool_], names: list[str]) -> Floats:
        """Return the weights of the levels of each task, shape (task, training), which add up to 1."""
        if isinstance(self.weights, str):
            last = in_grid.shape[1] - 1 - in_grid[:, ::-1].argmax(axis=1)
            return np.asarray(np.arange(in_grid.shape[1]) == last[:, np.newaxis], dtype=np.float64)
        given = np.ones(in_grid.shape[1]) if self.weights is None else self.weights
        weights = np.asarray(given * in_grid, dtype=np.float64)
        outside = ((given > 0) & ~in_grid).any(axis=1) & in_grid.any(axis=1) & (self.weights is not None)
        for task in np.flatnonzero(outside)[:1]:
            raise ValueError(
                f"{names[task]}training_weights gives weight to levels that no run has. "
                "Give weight to the task's own training levels"
            )
        return np.asarray(weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300))

    def _test(self, out: dict[str, Floats], u: Floats, name: str, plans: dict[bytes, list[Look]]) -> None:
        """Test every pair on numbers of shape (task, algorithm, run), and write the results into views."""
        present = ~np.isnan(u)
        if np.count_nonzero(present.any(axis=(0, 2))) < 2:
            raise ValueError(f"{name}fewer than two algorithms have runs; a comparison needs two. Add runs")
        n_looks = out["n_runs"].shape[1]
        by_look = np.stack([present[..., self.look == k].sum(axis=-1) for k in range(n_looks)])  # look, task, algorithm
        n_done = int(np.flatnonzero(by_look.any(axis=(1, 2))).max()) + 1
        done = slice(n_done)
        out["n_runs"][:, done] = by_look.sum(axis=1).cumsum(axis=0)[done][:, self.places].T
        share = spent(self.spending, n_looks)
        for pair, (a, b) in enumerate(self.pairs):
            if not (present[:, a].any(axis=-1) & present[:, b].any(axis=-1)).any():
                continue
            in_order = sorted((a, b))  # so that the order of the algorithms changes nothing
            sizes = by_look[done][:, :, in_order]
            key = sizes.tobytes()
            looks = plans[key] = plans.get(key) or nest(sizes, self.n_resamples, self.entropy)
            numbers, interval = u[:, in_order].swapaxes(0, 1), "difference_ci" in out
            found = sequential_tests(numbers, self.look, looks, np.ones(len(u)), share, self.alpha, interval=interval)
            if a > b:
                found["difference"] = -found["difference"]
            for variable in _BY_LOOK:
                out[variable][pair, done] = found[variable]
            if interval:
                ends = found["difference_ci"]
                out["difference_ci"][pair, done] = ends if a < b else -ends[:, ::-1]
            out["n_assignments"][pair, done] = [each.n_assignments for each in looks]
            stops = np.flatnonzero(provenance.significant(found["pvalue"], self.alpha))[:1].tolist()
            keep = np.isin(np.arange(n_looks), [*stops, n_looks - 1])
            out["pvalue_stagewise"][pair, ~keep] = np.nan
            z = np.full(n_looks, np.nan)
            z[done] = found["z"]
            out["futile"][pair] = np.nan_to_num(futile(z, self.spending, self.alpha))
        out["pvalue_adjusted"][:] = holm(out["pvalue"].T).T
        out["rejected"][:] = provenance.significant(out["pvalue_adjusted"], self.alpha)
        out["futile"][out["rejected"] == 1] = 0
        tested = ~np.isnan(out["pvalue"][:, n_done - 1])
        out["undecided"][:] = tested & (out["rejected"][:, n_done - 1] == 0) & (n_done < n_looks)
        goes_on = [place for pair, still in zip(self.pairs, out["undecided"], strict=True) if still for place in pair]
        batches = by_look[:n_done].sum(axis=1)
        latest = batches[n_done - 1 - (batches > 0)[::-1].argmax(axis=0), np.arange(batches.shape[1])]
        out["n_runs_next"][:] = (np.isin(np.arange(len(latest)), goes_on) * latest)[self.places]
