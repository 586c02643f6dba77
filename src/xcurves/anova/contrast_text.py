"""The sentences about contrasts, for readers who are not statisticians."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import xarray as xr

from xcurves.anova.text import interval_of, named_tasks
from xcurves.core import labels, provenance
from xcurves.core.sentences import counted, unadjusted_over_tasks


def contrast_sentences(result: xr.Dataset) -> Iterator[str]:
    """Yield a sentence for each task, then what holds for all tasks."""
    words = {
        "two-sided": ("differs from zero", "is not shown to differ from zero"),
        "greater": ("is above zero", "is not shown to be above zero"),
        "less": ("is below zero", "is not shown to be below zero"),
    }
    differs, not_shown = words[result.attrs.get("alternative", "two-sided")]
    for task, name in named_tasks(result):
        alpha, p = provenance.alpha_of(task), task["pvalue"].item()
        if p != p:
            yield f"{name}The contrast of scores: nothing can be said; T is undefined."
            continue
        shown = differs if provenance.significant(p, alpha) else not_shown
        low, high = task["estimate_ci"].sel(ci_bound=list(labels.CI_BOUNDS)).to_numpy().tolist()
        at = interval_of(task["estimate"].item(), low, high, alpha)
        level = f"at the {alpha:g} level; T = {task['statistic']:.4g}, p = {p:.3g}"
        yield f"{name}The contrast of {_averaged(task)}, {at}, {shown} {level}."
    yield (
        "p is exact if curves are exchangeable over the algorithms that have a weight, otherwise approximate; the "
        "interval goes from the smallest to the largest shift that the test does not reject, and assumes a shift."
    )
    yield from unadjusted_over_tasks(len(labels.result_names(result["n_resamples"])))


def _averaged(task: xr.Dataset) -> str:
    """Return which scores a contrast is of."""
    if "training_weights" not in task:
        return "scores"
    weights = task["training_weights"]
    if weights.isnull().all():
        return "mean scores over training"
    used = weights["training"].to_numpy()[weights.to_numpy() != 0]
    levels = f"{used[0]:g}" if len(used) == 1 else f"{len(used)} levels from {used[0]:g} to {used[-1]:g}"
    if (weights < 0).any():
        return f"sums of scores over training with weights of both signs, {levels}"
    if len(used) == 1:
        return f"scores at training {levels}"
    equal = np.ptp(weights.to_numpy()[weights.to_numpy() != 0]) < 1e-12
    return f"{'mean' if equal else 'weighted mean'} scores over training, {levels}"


def contrast_answer(result: xr.Dataset) -> str:
    """Return the verdict on the contrast, or in how many tasks it is shown."""
    if result["pvalue"].size == 1:
        return next(contrast_sentences(result))
    return counted(result["pvalue"].to_numpy().ravel(), provenance.alpha_of(result), "the contrasted scores")
