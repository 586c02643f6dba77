"""All pairs of algorithms, in level and in shape."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.anova.anova_block import check_moments, design_of
from xcurves.anova.kinds import PAIRWISE
from xcurves.anova.reduction import apply_to_moments
from xcurves.core import labels, provenance, run_checks, validation
from xcurves.core.chunking import in_memory
from xcurves.core.packing import Floats
from xcurves.core.task_blocks import Block, alike, as_float, block_options, in_given_order, in_label_order
from xcurves.core.validation import check_curves
from xcurves.kernels import contrasts, moments, null, sums
from xcurves.kernels.adjustments import ADJUSTMENTS


def pairwise(
    curves: xr.DataArray,
    *,
    n_resamples: int | None = None,
    paired: bool = False,
    reference: Hashable | None = None,
    correction: Literal["holm", "bonferroni"] = "holm",
    confidence_level: float = 0.95,
    rng: validation.Rng = None,
) -> xr.Dataset:
    r"""Compare every pair of algorithms, in level and in shape.

    Parameters
    ----------
    curves : DataArray, dims (..., algorithm, run, training)
        Scores, as for `randomized_anova`.
    n_resamples : int, optional
        Largest number of reassignments, as for `randomized_anova`.
    paired : bool, default False
        Whether run ``j`` is matched over algorithms.
    reference : label, optional
        An algorithm: only its pairs are compared, "other - reference". By default all pairs are.
    correction : {"holm", "bonferroni"}
        How p-values are adjusted for the number of pairs, for each effect by itself.
    confidence_level : float, default 0.95
        Confidence level of each interval; the intervals are not adjusted for the number of pairs.
    rng : int, Generator or None
        Seed of the random reassignments.

    Returns
    -------
    Dataset
        With the extra dims of `curves` in front. On (effect, pair): `pvalue_adjusted`, `pvalue` (for the
        algorithm effect from the studentized :math:`|T|`, for the interaction from F) and `f`, with the split-plot
        error terms. On (pair): `difference` of mean scores over training (first minus second, in score units),
        `n_resamples` and `n_assignments`; `difference_ci` (pair, ci_bound), and `difference_ci_gap`, 1 where a shift
        within the interval is rejected. On (algorithm): `n_runs`. `pair` has labels ``"a - b"``, with coordinates
        `algorithm_a` and `algorithm_b`. NaN where an algorithm has no run in a task.

    Raises
    ------
    ValueError, TypeError
        As `randomized_anova`.

    Warns
    -----
    UserWarning
        If no adjusted p-value can reach ``1 - confidence_level``, or the p of a pair is NaN.

    Notes
    -----
    A pair is tested on its own curves alone: shuffling all algorithms together would test that *none* differs, and
    reject equal pairs because of a third. The algorithm effect is tested by the two-sided studentized permutation test
    of `contrast`, and the interval goes from the smallest to the largest shift δ of one algorithm against the other
    that this test does not reject. So the unadjusted p is at most ``1 - confidence_level`` exactly where the interval
    excludes 0, except where `difference_ci_gap` is 1: with sizes beyond 3:1, or two runs, some shifts within it
    may be rejected. With too few assignments the interval is unbounded. It assumes that algorithms
    differ by a shift; the test does not.

    .. math:: p_{(r)}^{adj} = \max_{s \le r} \min(1, (n_{pairs} - s + 1) p_{(s)})

    References
    ----------
    .. [1] Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scand. J. Statist. 6, 65-70.
    .. [2] Piater, J. H. & Cohen, P. R. A randomized ANOVA procedure for comparing performance curves, Section 5.

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> pairs = scores.curves.pairwise(n_resamples=999, rng=0)
    >>> pairs.pair.values.tolist()
    ['rate 0.001 - rate 0.8', 'rate 0.001 - rate 0.1', 'rate 0.8 - rate 0.1']
    >>> bool((pairs.pvalue_adjusted >= pairs.pvalue).all())
    True
    """
    given, curves = curves, check_curves(curves, levels=False, reserved=PAIRWISE.reserved())
    validation.check_choice("correction", correction, tuple(ADJUSTMENTS))
    ordered = in_label_order(curves)
    place = ordered.indexes["algorithm"].get_indexer(curves.indexes["algorithm"]).tolist()
    pairs = [(place[a], place[b]) for a, b in labels.algorithm_pairs(curves, reference)]
    block = _PairBlock(
        PAIRWISE.layout({"effect": 2, "pair": len(pairs), "ci_bound": 2, "algorithm": len(place)}),
        **block_options(curves, ordered, n_resamples, paired, confidence_level, rng),
        pairs=pairs,
        correction=correction,
    )
    packed = apply_to_moments(block, ordered, given, [list(pair) for pair in pairs])
    attrs = PAIRWISE.attrs(
        curves,
        block.entropy,
        confidence_level,
        n_resamples=n_resamples,
        paired=paired,
        reference=None if reference is None else str(reference),
        correction=correction,
    )
    variables = block.layout.unpack(packed)
    variables["n_runs"] = in_given_order(variables["n_runs"], ordered, curves)
    coords = {**packed.coords, **labels.pair_coords(curves, reference), "algorithm": curves["algorithm"]}
    result = PAIRWISE.dataset(variables, coords, attrs, curves)
    if in_memory(curves):
        _warn_pairs(result, block)
        provenance.record_exact_rng(result, rng)
    return result


@dataclass(frozen=True)
class _PairBlock(Block):
    """All pairs in a block of tasks."""

    pairs: list[tuple[int, int]]
    correction: str

    def __call__(self, *arrays: Any) -> Floats:
        """Compare pairs, given packed moments, shape (..., pair, moment), if paired within runs too, and numbers."""
        *packed, numbers = arrays
        names = [self.names[number] for number in numbers.ravel()]
        n_pairs, n_curves = len(self.pairs), 2 * len(self.runs)
        parts = [moments.unpack(each.reshape(len(names) * n_pairs, -1), n_curves) for each in packed]
        present = self._present(parts[0], names)
        check_moments(parts[0], [name for name in names for _ in self.pairs])
        out = self.layout.blank(len(names))
        out["n_resamples"][:] = 0
        n_runs = present.reshape(len(names), n_pairs, 2, -1).sum(axis=-1)
        for column, (a, b) in enumerate(self.pairs):
            out["n_runs"][:, [a, b]] = n_runs[:, column]
        comparable = np.logical_and.reduce(present.any(axis=2), axis=1)
        for places in alike(present, np.where(comparable, parts[0].n_levels, 0)):
            task, pair = np.divmod(places, n_pairs)
            if self.paired:
                matched = [self.algorithms[i] for i in self.pairs[pair[0]]]
                run_checks.check_groups(present[places[0]], names[task[0]], matched, self.runs, paired=True)
            for name, values in self._test(parts, present[places[0]], places).items():
                out[name][(task, slice(None), pair) if "effect" in self.layout.dims[name] else (task, pair)] = values
        out["pvalue_adjusted"] = ADJUSTMENTS[self.correction](out["pvalue"])
        return self.layout.pack(out, numbers.shape)

    def _present(self, part: moments.Moments, names: list[str]) -> NDArray[np.bool_]:
        """Return which runs of each pair of a task are present, shape (task and pair, algorithm, run)."""
        counts = part.counts.reshape(len(names), len(self.pairs), -1)
        n_levels = part.n_levels.reshape(len(names), -1)
        by_pair = [
            run_checks.check_runs(
                counts[:, column], n_levels[:, column], names, [self.algorithms[i] for i in pair], self.runs
            )
            for column, pair in enumerate(self.pairs)
        ]
        return np.stack(by_pair, axis=1).reshape(-1, 2, len(self.runs))

    def _test(
        self, parts: list[moments.Moments], present: NDArray[np.bool_], places: NDArray[np.intp]
    ) -> dict[str, Floats | float]:
        """Test pairs of tasks that have the same present runs."""
        design = design_of(parts, present, places)
        sizes = design.sizes
        plan = self.plan(sizes)
        found = null.f_tests(design, plan, self.alpha)
        shifted = contrasts.ContrastDesign(design.means, sizes, np.array([1.0, -1.0]), self.paired)
        by_shift = contrasts.contrast_tests(shifted, plan, "two-sided", self.alpha)  # |T| ignores the sign
        return {
            "pvalue": np.stack([by_shift["pvalue"], found["pvalue"][:, 1, 1]], axis=-1),
            "f": np.moveaxis(sums.f_ratios(design, sums.effect_sums(design))[:, 1], -1, 0),
            "difference": by_shift["estimate"],
            "difference_ci": by_shift["estimate_ci"],
            "difference_ci_gap": by_shift["estimate_ci_gap"],
            "n_resamples": plan.n_resamples,
            "n_assignments": as_float(plan.n_assignments),
        }


def _warn_pairs(result: xr.Dataset, block: _PairBlock) -> None:
    """Warn once of each thing in a computed result that a reader would not expect, and name the first task."""
    n_tasks = len(block.names)
    smallest = provenance.smallest_adjusted_pvalue(result).reshape(n_tasks, -1)
    exact = provenance.is_exact(result, "pair").ravel()
    undefined = np.isnan(provenance.values_of(result, "pvalue", "effect", "pair").reshape(n_tasks, 2, -1)[:, 0])
    unreachable = ~undefined & ~provenance.significant(smallest, block.alpha)

    def unreached(place: int) -> str:
        few = "runs are so few" if exact[place] else "n_resamples is so small"
        return f"{few} that no adjusted p reaches {block.alpha:g}"

    cases = (
        (undefined, lambda _: "p is NaN: runs or error are missing"),
        (unreachable, unreached),
    )
    where = [f"{name}{pair}: " for name in block.names for pair in result["pair"].to_numpy()]
    for affected, say in cases:
        provenance.warn_of(affected, where, say, "comparisons")
