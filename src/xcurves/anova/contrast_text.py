"""The sentences about contrasts, for readers who are not statisticians."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import xarray as xr

from xcurves.anova.text import say_interval
from xcurves.core import labels, provenance
from xcurves.core.schema import Statement
from xcurves.core.wording import counted, ends_of, number, pvalue

_FEW = 6  # tasks of which each has a sentence
_VERDICTS = {"two-sided": "differ from zero", "greater": "be above zero", "less": "be below zero"}


def contrast_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield the verdict on the contrast, of each of a few tasks, and what the interval is."""
    alpha, tasks = provenance.alpha_of(result), list(labels.named_tasks(result, "n_resamples"))
    if len(tasks) == 1:
        yield Statement("answer", _verdict(tasks[0][0], alpha))
    else:
        yield Statement("answer", counted(result["pvalue"].to_numpy().ravel(), alpha, "the contrasted scores"))
        for task, name in tasks if len(tasks) <= _FEW else []:
            yield Statement("detail", f"{name}{_verdict(task, alpha)}")
        yield Statement("caution", "Each task was tested by itself: p is not adjusted for the number of tasks.")
    yield Statement(
        "detail",
        "p is exact if curves are exchangeable over the algorithms that have a weight, otherwise approximate; the "
        "interval holds the shifts that the test does not reject.",
    )


def _verdict(task: xr.Dataset, alpha: float) -> str:
    p = task["pvalue"].item()
    if p != p:
        return "Of the contrast of scores nothing can be said: T is undefined."
    shown = "is shown to" if provenance.significant(p, alpha) else "is not shown to"
    at = say_interval(task["estimate"].item(), *ends_of(task["estimate_ci"]))
    verdict = _VERDICTS[task.attrs.get("alternative", "two-sided")]
    test = f"T = {number(task['statistic'].item())}, {pvalue(p)}"
    said = f"The contrast of {_averaged(task)}, {at}, {shown} {verdict} ({test})."
    return f"{said} {_say_margin(task, alpha)}" if "margin_pvalue" in task else said


def _say_margin(task: xr.Dataset, alpha: float) -> str:
    """Return whether the algorithms with positive weight are shown not to be worse by more than the margin."""
    p, margin, limit = task["margin_pvalue"].item(), number(task.attrs["margin"]), task["margin_limit"].item()
    if p != p:
        return f"Whether it is worse by more than {margin} cannot be tested: runs do not differ."
    shown = "shown" if provenance.significant(p, alpha) else "not shown"
    return f"That it is not worse by more than {margin} is {shown} (lower limit {number(limit)}, {pvalue(p)})."


def _averaged(task: xr.Dataset) -> str:
    """Return which scores a contrast is of."""
    if "training_weights" not in task:
        return "scores"
    weights = task["training_weights"]
    if "training_weights" in task.attrs:  # final
        return "scores at the end of training"
    if weights.isnull().all():
        return "mean scores over training"
    used = weights["training"].to_numpy()[weights.to_numpy() != 0]
    levels = number(used[0]) if len(used) == 1 else f"{len(used)} levels from {number(used[0])} to {number(used[-1])}"
    if (weights < 0).any():
        return f"sums of scores over training with weights of both signs, {levels}"
    if len(used) == 1:
        return f"scores at training {levels}"
    equal = np.ptp(weights.to_numpy()[weights.to_numpy() != 0]) < 1e-12
    return f"{'mean' if equal else 'weighted mean'} scores over training, {levels}"
