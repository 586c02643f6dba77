"""The sentences about ANOVAs and pairs, for readers who are not statisticians."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels, provenance
from xcurves.core.packing import Floats
from xcurves.core.sentences import counted, joined, span, unadjusted_over_tasks

LIMITS = (
    "What was tested: whether scores are independent of the algorithm when whole runs are reassigned. A small p "
    "does not say which algorithm is better or by how much; a large one does not say that they are equal."
)
CLAIMS = {
    "algorithm": ("Algorithm effect", "the algorithms' mean scores over training"),
    "interaction": ("Interaction", "the algorithms' changes of score with training"),
}
_ERRORS = {
    False: {
        "algorithm": "differences between runs",
        "interaction": "changes over training of the differences between runs",
    },
    True: {"algorithm": "algorithm by run", "interaction": "algorithm by run by training"},
}


def anova_sentences(result: xr.Dataset) -> Iterator[str]:
    """Yield a sentence for each task and effect, then what holds for all tasks."""
    errors = _ERRORS[bool(result.attrs.get("paired", 0))]
    tasks, names = zip(*named_tasks(result), strict=True)
    if len(tasks) == 1:
        yield _compared(tasks[0])
    for task, name in zip(tasks, names, strict=True):
        for effect in labels.EFFECTS:
            yield name + _claim(task, effect, errors[effect])
        yield from (name + sentence for sentence in _spread(task))
    yield _how(list(tasks))
    yield LIMITS
    if len(tasks) > 1:
        yield by_chance(result)


def pair_sentences(result: xr.Dataset) -> Iterator[str]:
    """Yield a sentence for each task and pair, then what holds for all tasks."""
    for task, name in named_tasks(result):
        for pair, claim in zip(task["pair"].to_numpy(), _pair_claims(task), strict=True):
            yield f"{name}{pair}: {claim}"
    yield (
        f"p is adjusted for the number of pairs ({result.attrs.get('correction', 'holm')}), for each effect by itself; "
        "intervals are not. Each pair was tested on its own runs alone: level by the studentized difference, whose "
        "interval assumes a shift, changes with training by F with the split-plot error."
    )
    yield from unadjusted_over_tasks(len(labels.result_names(result["n_resamples"])))


def _pair_claims(task: xr.Dataset) -> Iterator[str]:
    """Yield what is said of each pair of one task."""
    alpha = provenance.alpha_of(task)
    p, adjusted = (
        task[name].sel(effect=list(labels.EFFECTS)).transpose("pair", "effect").to_numpy()
        for name in ("pvalue", "pvalue_adjusted")
    )
    bounds = task["difference_ci"].sel(ci_bound=list(labels.CI_BOUNDS)).transpose("pair", "ci_bound").to_numpy()
    differences, gaps = task["difference"].to_numpy(), task["difference_ci_gap"].to_numpy()
    for place, (difference, (low, high)) in enumerate(zip(differences.tolist(), bounds.tolist(), strict=True)):
        if np.isnan(p[place]).all():
            yield "nothing can be said; runs or error are missing."
            continue
        said = [
            f"{what} {_verdict(each, alpha)} (p = {each:.3g})"
            for each, what in zip(
                adjusted[place].tolist(), ("mean scores over training", "changes with training"), strict=True
            )
        ]
        gap = " (not all shifts within it: some are rejected)" if gaps[place] == 1 else ""
        yield f"difference {interval_of(difference, low, high, alpha)}{gap}; {said[0]}, {said[1]}."


def interval_of(estimate: float, low: float, high: float, alpha: float) -> str:
    """Return an estimate with its interval."""
    limits = "without limits" if low == -high == -inf else f"{low:.4g} to {high:.4g}"
    return f"{estimate:.4g} ({100 * (1 - alpha):g} % interval {limits})"


def by_chance(result: xr.Dataset) -> str:
    """Return how many tasks of an ANOVA chance alone would show to differ."""
    alpha = provenance.alpha_of(result)
    tested = int(result["pvalue"].sel(error_term="split_plot", effect="algorithm").notnull().sum())
    made = result["n_resamples"].to_numpy() > 0
    smallest = tested * provenance.smallest_reachable(result).max(where=made, initial=0.0)
    unreachable = (
        f" Adjusted over the tasks by Holm, a task of the fewest runs could reach no p below {min(smallest, 1):.3g}."
        if not provenance.significant(smallest, alpha)
        else ""
    )
    return (
        f"Each task was tested by itself: of {tested} tasks without any difference {alpha * tested:.2g} would be "
        f"expected to show one by chance, for each of the two effects.{unreachable}"
    )


def named_tasks(result: xr.Dataset) -> Iterator[tuple[xr.Dataset, str]]:
    """Yield each task of a result with its prefix in messages."""
    names = labels.result_names(result["n_resamples"])
    return zip(labels.tasks_of(result, "n_resamples"), names, strict=True)


def _verdict(pvalue: float, alpha: float) -> str:
    if pvalue != pvalue:
        return "cannot be compared"
    return "differ" if provenance.significant(pvalue, alpha) else "are not shown to differ"


def _compared(task: xr.Dataset) -> str:
    sizes = task["n_runs"].to_numpy().tolist()
    runs = ", ".join(f"{name} ({n} runs)" for name, n in zip(task["algorithm"].to_numpy().tolist(), sizes, strict=True))
    return f"Compared: {runs}, at {task['n_levels'].item()} training levels."


def _claim(task: xr.Dataset, effect: str, error: str) -> str:
    title, what = CLAIMS[effect]
    test = task.sel(effect=effect, error_term="split_plot")
    f, p, df_error = (test[name].item() for name in ("f", "pvalue", "error_df"))
    if p != p:
        return f"{title}: nothing can be said; F is undefined."
    alpha = provenance.alpha_of(task)
    df = task["df"].sel(source=effect).item()
    return (
        f"{title}: {what} {_verdict(p, alpha)} at the {alpha:g} level; F({df:.0f}, {df_error:.0f}) = {f:.4g} against "
        f"{error} (split-plot error term), p = {p:.3g}."
    )


def is_welch_to_read(task: xr.Dataset) -> bool:
    """Return whether spreads are unlike, of three algorithms or more or in unequal numbers, and Welch's p is known."""
    if "sd_ratio" not in task or "welch" not in task["error_term"].to_numpy():
        return False
    sizes = task["n_runs"].to_numpy()
    sizes = sizes[sizes > 0]
    matters = len(sizes) > 2 or len(set(sizes.tolist())) > 1
    known = task["pvalue"].sel(effect="algorithm", error_term="welch").notnull()
    return bool(matters and known and task["sd_ratio"] > task["sd_ratio_limit"])


def _spread(task: xr.Dataset) -> Iterator[str]:
    """Yield that Welch's test is the one to read, if spreads are unlike and that matters."""
    if not is_welch_to_read(task):
        return
    ratio, limit = task["sd_ratio"].item(), task["sd_ratio_limit"].item()
    p = task["pvalue"].sel(effect="algorithm", error_term="welch").item()
    alpha = provenance.alpha_of(task)
    yield (
        f"The standard deviations of curve means differ {ratio:.3g}-fold, more than in 95 % of data sets of equal "
        f"spread ({limit:.3g}-fold): read Welch's test of level instead, by which mean scores over training "
        f"{_verdict(p, alpha)} (p = {p:.3g})."
    )


def _how(tasks: list[xr.Dataset]) -> str:
    """Say what the p-values of all tasks are made from."""
    exact = {task["n_assignments"].item() for task in tasks if provenance.is_exact(task)}
    random = {task["n_resamples"].item() for task in tasks if not provenance.is_exact(task)} - {0}
    kinds = [f"all {span(exact)} distinct ones"] * bool(exact)
    if random:
        errors = [task["pvalue_stderr"].sel(error_term="split_plot").max().item() for task in tasks]
        known = [error for error in errors if error == error]
        kinds.append(f"{span(random)} random ones (standard error of p at most {max(known, default=0.0):.2g})")
    what = "algorithms within each run (paired)" if tasks[0].attrs.get("paired") else "whole runs to algorithms"
    smallest = {provenance.smallest_reachable(task).item() for task in tasks if task["n_resamples"] > 0}
    return (
        f"p is the share of reassignments of {what} with an F at least as large, among "
        f"{' or '.join(kinds) or 'none'}; the smallest that it can be is {span(smallest, '.3g') or 'undefined'}."
    )


def anova_answer(result: xr.Dataset) -> str:
    """Return the verdict on both effects, or in how many tasks they are shown."""
    if result["n_resamples"].size == 1:
        task = result.squeeze(labels.task_dims(result["n_resamples"]), drop=True)
        error = _ERRORS[bool(result.attrs.get("paired", 0))]
        return " ".join(_claim(task, effect, error[effect]) for effect in labels.EFFECTS)
    alpha = provenance.alpha_of(result)
    p = result["pvalue"].sel(error_term="split_plot")
    said = [counted(p.sel(effect=effect).to_numpy().ravel(), alpha, what) for effect, (_, what) in CLAIMS.items()]
    return " ".join([*said, by_chance(result)])


def anova_caution(result: xr.Dataset) -> Iterator[str]:
    """Yield what was tested, and that nothing can be shown where runs are too few."""
    tested = result["n_resamples"].to_numpy() > 0
    yield LIMITS
    yield from _out_of_reach(result, np.where(tested, provenance.smallest_reachable(result), np.nan), "tasks")


def pair_answer(result: xr.Dataset) -> str:
    """Return which pairs differ, or how many of all tasks."""
    alpha = provenance.alpha_of(result)
    p = result["pvalue_adjusted"].sel(effect="algorithm")
    if p.size > p.sizes["pair"]:
        return counted(p.to_numpy().ravel(), alpha, "mean scores over training", "pairs within a task, adjusted in it,")
    one = result.squeeze([dim for dim in p.dims if dim != "pair"], drop=True)
    pairs = [one.isel(pair=place) for place in abs(one["difference"]).argsort().to_numpy()[::-1]]  # largest first
    known = [pair for pair in pairs if pair["pvalue_adjusted"].sel(effect="algorithm").notnull()]
    adjusted = f", adjusted for {len(known)} pairs" if len(known) > 1 else ""
    said = [_by_how_much(pair) for pair in known if provenance.significant(_level_p(pair), alpha)]
    if said:
        return f"Shown to differ in mean score over training{adjusted}: {joined(said, '; ')}."
    if known:
        most = _by_how_much(known[0])
        return f"No pair is shown to differ in mean score over training{adjusted}; the largest difference: {most}."
    return "No pair could be tested: runs or error are missing."


def _level_p(pair: xr.Dataset) -> float:
    return float(pair["pvalue_adjusted"].sel(effect="algorithm").item())


def _by_how_much(pair: xr.Dataset) -> str:
    """Return which algorithm of a pair scores higher and by how much, with interval and adjusted p."""
    first, second = (str(pair[side].item()) for side in ("algorithm_a", "algorithm_b"))
    value, (low, high) = (
        pair["difference"].item(),
        pair["difference_ci"].sel(ci_bound=list(labels.CI_BOUNDS)).to_numpy(),
    )
    if value < 0:
        first, second, value, low, high = second, first, -value, -high, -low
    size = interval_of(value, low, high, provenance.alpha_of(pair)).removesuffix(")")
    return f"{first} higher than {second} by {size}, p = {_level_p(pair):.3g})"


def pair_caution(result: xr.Dataset) -> Iterator[str]:
    """Yield what was tested, and that nothing can be shown where runs are too few."""
    yield LIMITS
    yield from _out_of_reach(result, provenance.smallest_adjusted_pvalue(result), "pairs")


def _out_of_reach(result: xr.Dataset, smallest: Floats, things: str) -> Iterator[str]:
    """Yield that nothing can be shown where runs are too few for a small p; NaN where nothing was tested."""
    alpha = provenance.alpha_of(result)
    tested = ~np.isnan(smallest)
    smallest = smallest[tested]
    short = ~provenance.significant(smallest, alpha)
    exact = provenance.is_exact(result.transpose(..., "pair", missing_dims="ignore"))[tested]
    if short.any():
        where = "" if len(smallest) == 1 else f" for {np.count_nonzero(short)} of {len(smallest)} {things}"
        adjusted = "adjusted " * (things == "pairs")
        yield (
            f"{_few(exact[short])} are so few that{where} no {adjusted}p below {smallest[short].min():.3g} exists: "
            f"nothing can be shown of them at the {alpha:g} level, whatever the scores."
        )


def _few(exact: NDArray[np.bool_]) -> str:
    """Return what is too few: runs where every reassignment was made, else reassignments."""
    if exact.all():
        return "The runs"
    return "The runs, or the reassignments (n_resamples)," if exact.any() else "The reassignments (n_resamples)"
