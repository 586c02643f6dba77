"""What is shown in groups of tasks, such as suites: on these very tasks, adjusted over all pairs and groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xcurves.array_types import Floats, Index
from xcurves.core.run_checks import Context
from xcurves.kernels.resampling.adjustments import holm
from xcurves.kernels.resampling.engine import Progress
from xcurves.multi_task.benchmark_scores import facts_of_pairs, make_pairs, scores_of_algorithms
from xcurves.multi_task.fixed_claim import FixedClaim

# what the claim about the tasks of one group fills in, and with how many ends
_OF_CLAIM = {
    **dict.fromkeys(("pvalue", "pvalue_adjusted", "prob_greater_pvalue", "prob_greater_pvalue_adjusted"), ()),
    **dict.fromkeys(("pvalue_adjusted_least", "n_resamples"), ()),
    **dict.fromkeys(("difference_ci", "difference_ci_simultaneous"), (2,)),
}


class ClaimsByGroup(NamedTuple):
    """What is said of pairs in each group of tasks of one benchmark."""

    groups: Index  # of each task
    context: Context
    pairs: Index
    weights: Floats  # of the tasks
    sign: int
    progress: Progress
    is_turned: NDArray[np.bool_]

    def fill(self, out: Mapping[str, Floats], scores: Floats) -> None:
        """Fill in the differences of each group, with p by Holm over pairs and groups, scores (task, algorithm, run).

        Intervals hold for all pairs of all groups together: each group has an equal share of the level.
        """
        difference, ci, p = (out[f"difference_by{name}"] for name in ("", "_ci", "_pvalue_adjusted"))
        alpha = self.context.alpha / difference.shape[-1]
        for group, claim in self._claims(scores, replace(self.context, alpha=alpha)):
            difference[:, group] = claim["difference"]
            ci[:, group] = claim["difference_ci_simultaneous"]
            p[:, group] = claim["pvalue"]
        p[:] = holm(p.ravel()).reshape(p.shape)

    def _claims(self, scores: Floats, context: Context) -> Iterator[tuple[int, dict[str, Floats]]]:
        """Yield the groups in which any pair has a task, each with its claim."""
        for group in np.unique(self.groups).tolist():
            is_in = self.groups == group
            own, weights = scores_of_algorithms(scores[is_in]), self.weights[is_in]
            facts = facts_of_pairs(own, self.pairs)
            if not facts.some.any():
                continue
            made = make_pairs(own, self.pairs, weights, paired=context.paired)
            difference = np.where(facts.known, np.nansum(made.weights * made.d, axis=-1), np.nan)
            claim = {name: np.full((len(self.pairs), *ends), np.nan) for name, ends in _OF_CLAIM.items()}
            fixed = FixedClaim(context, own, self.pairs, facts, weights, self.sign, None, self.progress, self.is_turned)
            fixed.fill({"difference": difference}, claim, interaction=False)
            yield group, claim | {"difference": difference}
