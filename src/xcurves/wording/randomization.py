"""The sentences of `summary()` for randomization tests: what a result shows, for a reader who is no statistician."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import inf

import xarray as xr

from xcurves import labels, outcomes

LIMITS = (
    "What was tested: whether scores are independent of the algorithm when whole runs are reassigned. A small p "
    "does not say which algorithm is better or by how much; a large one does not say that they are equal."
)
CLAIMS = {
    "algorithm": ("Algorithm effect", "the algorithms' mean scores over training"),
    "interaction": ("Interaction", "the algorithms' changes of score with training"),
}
_STRATA = {
    False: {
        "algorithm": "differences between runs",
        "interaction": "changes over training of the differences between runs",
    },
    True: {"algorithm": "algorithm by run", "interaction": "algorithm by run by training"},
}


def anova_sentences(result: xr.Dataset) -> Iterator[str]:
    """Yield a sentence for each task and effect, then what holds for all."""
    strata = _STRATA[bool(result.attrs.get("paired", 0))]
    tasks, names = list(tasks_of(result)), labels.result_names(result)
    if len(tasks) == 1:
        yield _compared(tasks[0])
    for task, name in zip(tasks, names, strict=True):
        for effect in labels.EFFECTS:
            yield name + _claim(task, effect, strata[effect])
    yield _how(tasks)
    yield LIMITS
    if len(tasks) > 1:
        yield by_chance(result)


def pair_sentences(result: xr.Dataset) -> Iterator[str]:
    """Yield a sentence for each task and pair, then what holds for all."""
    for task, name in zip(tasks_of(result), labels.result_names(result), strict=True):
        for pair in task["pair"].to_numpy():
            yield f"{name}{pair}: {_pair_claim(task.sel(pair=pair))}"
    yield (
        f"p is adjusted for the number of pairs ({result.attrs.get('correction', 'holm')}), for each effect by itself; "
        "intervals are not. Each pair was tested on its own runs alone, with the stratum error terms."
    )
    yield from of_many_tasks(result)


def _pair_claim(pair: xr.Dataset) -> str:
    if pair["f"].isnull().all():
        return "nothing can be said; runs or error are missing."
    alpha = alpha_of(pair)
    p = {effect: pair["pvalue_adjusted"].sel(effect=effect).item() for effect in labels.EFFECTS}
    said = [
        f"{what} {_verdict(p[effect], alpha)} (p = {p[effect]:.3g})"
        for effect, what in (("algorithm", "mean scores over training"), ("interaction", "changes with training"))
    ]
    return f"difference {_interval(pair['difference'], pair['difference_ci'], alpha)}; {said[0]}, {said[1]}."


def contrast_sentences(result: xr.Dataset) -> Iterator[str]:
    """Yield a sentence for each task, then what holds for all."""
    words = {"two-sided": "differs from zero", "greater": "is above zero", "less": "is below zero"}
    verdict = words[result.attrs.get("alternative", "two-sided")]
    for task, name in zip(tasks_of(result), labels.result_names(result), strict=True):
        alpha, p = alpha_of(task), task["pvalue"].item()
        if p != p:
            yield f"{name}The contrast of scores: nothing can be said; T is undefined."
            continue
        shown = verdict if outcomes.significant(p, alpha) else f"is not shown to be one that {verdict}"
        at = _interval(task["estimate"], task["estimate_ci"], alpha)
        level = f"at the {alpha:g} level; T = {task['statistic']:.4g}, p = {p:.3g}"
        yield f"{name}The contrast of scores, {at}, {shown} {level}."
    yield (
        "p is exact if curves are exchangeable over the algorithms that have a weight, otherwise approximate; the "
        "interval holds all shifts that the test does not reject."
    )
    yield from of_many_tasks(result)


def _interval(estimate: xr.DataArray, bounds: xr.DataArray, alpha: float) -> str:
    low, high = (bounds.sel(ci_bound=bound).item() for bound in labels.CI_BOUNDS)
    limits = "without limits" if low == -high == -inf else f"{low:.4g} to {high:.4g}"
    return f"{estimate.item():.4g} ({100 * (1 - alpha):g} % interval {limits})"


def by_chance(result: xr.Dataset) -> str:
    """Return how many tasks of an ANOVA chance alone would show to differ."""
    alpha = alpha_of(result)
    tested = int(result["pvalue"].sel(error_term="stratum", effect="algorithm").notnull().sum())
    return (
        f"Each task was tested by itself: of {tested} tasks without any difference {alpha * tested:.2g} would be "
        "expected to show one by chance, for each of the two effects."
    )


def of_many_tasks(result: xr.Dataset) -> Iterator[str]:
    """Yield that p is for one task, if there are several."""
    if len(labels.result_names(result)) > 1:
        yield "Each task was tested by itself: p is not adjusted for the number of tasks."


def _verdict(pvalue: float, alpha: float) -> str:
    return "differ" if outcomes.significant(pvalue, alpha) else "are not shown to differ"


def alpha_of(result: xr.Dataset) -> float:
    """Return the significance level that a result was made for."""
    return labels.check_confidence_level(result.attrs.get("confidence_level", 0.95))


def tasks_of(result: xr.Dataset) -> Iterator[xr.Dataset]:
    """Yield the tasks of a result in C order."""
    dims = labels.task_dims(result)
    for place in product(*(range(result.sizes[dim]) for dim in dims)):
        yield result.isel(dict(zip(dims, place, strict=True)))


def _compared(task: xr.Dataset) -> str:
    sizes = task["n_runs"].to_numpy().tolist()
    runs = ", ".join(f"{name} ({n} runs)" for name, n in zip(task["algorithm"].to_numpy().tolist(), sizes, strict=True))
    return f"Compared: {runs}, at {task['n_levels'].item()} training levels."


def _claim(task: xr.Dataset, effect: str, stratum: str) -> str:
    title, what = CLAIMS[effect]
    test = task.sel(effect=effect, error_term="stratum")
    f, p, df_error = (test[name].item() for name in ("f", "pvalue", "error_df"))
    if p != p:
        return f"{title}: nothing can be said; F is undefined."
    alpha = alpha_of(task)
    df = task["df"].sel(source=effect).item()
    return (
        f"{title}: {what} {_verdict(p, alpha)} at the {alpha:g} level; F({df:.0f}, {df_error:.0f}) = {f:.4g} against "
        f"{stratum} (stratum error term), p = {p:.3g}."
    )


def _how(tasks: list[xr.Dataset]) -> str:
    """Say what the p-values of all tasks are made from."""
    exact = {task["n_assignments"].item() for task in tasks if outcomes.is_exact(task)}
    random = {task["n_shuffles"].item() for task in tasks if not outcomes.is_exact(task)} - {0}
    kinds = [f"all {_span(exact)} distinct ones"] * bool(exact)
    if random:
        errors = [task["pvalue_stderr"].sel(error_term="stratum").max().item() for task in tasks]
        known = [error for error in errors if error == error]
        kinds.append(f"{_span(random)} random ones (standard error of p at most {max(known, default=0.0):.2g})")
    what = "algorithms within each run (paired)" if tasks[0].attrs.get("paired") else "whole runs to algorithms"
    smallest = {outcomes.smallest_pvalue(task).item() for task in tasks if task["n_shuffles"] > 0}
    return (
        f"p is the share of reassignments of {what} with an F at least as large, among "
        f"{' or '.join(kinds) or 'none'}; the smallest that it can be is {_span(smallest, '.3g') or 'undefined'}."
    )


def _span(values: set[float], form: str = ",.0f") -> str:
    ends = sorted({f"{value:{form}}": value for value in sorted(values)}.items(), key=lambda item: item[1])
    return " to ".join(said for said, _ in (ends if len(ends) < 2 else (ends[0], ends[-1])))
