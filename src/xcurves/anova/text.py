"""The sentences about ANOVAs, pairs and contrasts, for readers who are not statisticians."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import xarray as xr

from xcurves.core import labels, provenance
from xcurves.core.pairs import (
    displayed_pairs,
    lower_is_better,
    most_ahead,
    rows_of,
    rows_of_tasks,
)
from xcurves.core.schema import Statement
from xcurves.core.validation import NO_TRAINING
from xcurves.core.verdict import (
    UNTESTED,
    Comparison,
    best_sentence,
    claim_sentences,
    floor_sentences,
    means_of,
    named,
    reference_sentences,
    score_name,
)
from xcurves.core.wording import (
    count,
    counted,
    ends_of,
    estimated,
    joined,
    listed,
    number,
    pvalue,
    reassigned,
    span,
    unadjusted_over_tasks,
    units_of,
)

_CLAIMS = {
    "algorithm": "mean scores over training",
    "interaction": "changes of score with training",
}
_ERRORS = {
    False: {
        "algorithm": "differences between runs",
        "interaction": "changes with training of these",
    },
    True: {
        "algorithm": "algorithm by run",
        "interaction": "algorithm by run by training",
    },
}
_FEW = 6  # tasks of which each has sentences
_VERDICTS = {
    "two-sided": "differ from zero",
    "greater": "be above zero",
    "less": "be below zero",
}


def anova_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield the verdict on both effects, then F of each with its error, and when Welch's test is to be read."""
    noun, alpha = labels.task_noun(result["n_resamples"]), provenance.alpha_of(result)
    n_tasks = result["n_resamples"].size
    # Of many tasks each by itself takes far longer than their test.
    tasks = list(labels.named_tasks(result, "n_resamples")) if n_tasks <= _FEW else []
    if n_tasks == 1:
        task = tasks[0][0]
        names, sizes = (
            task[name].to_numpy().tolist() for name in ("algorithm", "n_runs")
        )
        runs = [
            f"{name} ({count(n, 'run')})" for name, n in zip(names, sizes, strict=True)
        ]
        yield Statement("answer", _verdicts(task, alpha))
        yield Statement(
            "detail",
            f"Compared: {joined(runs)}, at {task['n_levels'].item():,} training levels.",
        )
        yield Statement("detail", _f_ratios(task))
        if by_welch(task):
            sizes = [size for size in sizes if size]
            why = (
                f" as numbers of runs are unequal ({' v '.join(map(str, sizes))})"
                if len(set(sizes)) > 1
                else ""
            )
            w = number(task["f"].sel(effect="algorithm", error_term="welch").item(), 4)
            said = f"Level is tested by Welch's statistic{why}, W = {w}"
            yield Statement(
                "caution",
                f"{said}; where spreads are alike it shows less than F would.",
            )
    else:
        p = tests_that_speak(result)["pvalue"]
        for effect, what in _CLAIMS.items():
            named = f"the algorithms' {what}"
            yield Statement(
                "answer",
                counted(
                    p.sel(effect=effect).to_numpy().ravel(), alpha, named, f"{noun}s"
                ),
            )
        yield Statement("answer", _by_chance(result, alpha, noun))
        for task, name in tasks:
            yield Statement("detail", f"{name}{_verdicts(task, alpha)}")
        n_welch = int(by_welch(result).sum())
        if n_welch:
            yield Statement(
                "caution",
                f"Level is tested by Welch's statistic in {n_welch} {noun}s, by F in the others.",
            )
    what = (
        "algorithms within each run (paired)"
        if result.attrs.get("paired")
        else "whole runs to algorithms"
    )
    yield Statement("detail", reassigned(result, what))
    for text in _out_of_reach(result, alpha, noun):
        yield Statement("caution", text)


def _verdicts(task: xr.Dataset, alpha: float) -> str:
    """Return what is shown of level and shape."""
    said = []
    for effect, what in _CLAIMS.items():
        test = tests_that_speak(task).sel(effect=effect)
        p = test["pvalue"].item()
        if p != p:
            said.append(f"of {what} nothing can be said, F is undefined")
        else:
            n_resamples = int(task["n_resamples"].item())
            whose = "the algorithms'" if effect == "algorithm" else "their"
            said_p = pvalue(
                p,
                1 / (n_resamples + 1),
                0 if provenance.is_exact(task) else n_resamples,
            )
            said.append(f"{whose} {what} {_say_shown(p, alpha)} ({said_p})")
    answer = "; ".join(said)
    return f"{answer[:1].upper()}{answer[1:]}."


def _say_shown(p: float, alpha: float) -> str:
    return "differ" if provenance.significant(p, alpha) else "are not shown to differ"


def _f_ratios(task: xr.Dataset) -> str:
    """Return F of both effects with degrees of freedom and the error of each."""
    errors = _ERRORS[bool(task.attrs.get("paired", 0))]
    said = []
    for effect, what in (("algorithm", "level"), ("interaction", "shape")):
        test = task.sel(effect=effect, error_term="split_plot")
        df = task["df"].sel(source=effect).item()
        f = number(test["f"].item(), 4)
        said.append(
            f"F({df:.0f}, {test['error_df'].item():.0f}) = {f} of {what} against {errors[effect]}"
        )
    return f"By the split-plot error terms {'; '.join(said)}."


def by_welch(result: xr.Dataset) -> xr.DataArray:
    """Return where Welch's test of level speaks."""
    if "level_test" not in result or "welch" not in result["error_term"].to_numpy():
        return xr.zeros_like(result["n_resamples"], dtype=bool)
    return result["level_test"] == 1


def tests_that_speak(result: xr.Dataset) -> xr.Dataset:
    """Return F, its critical value and p of both effects, of level by the test that speaks in each task."""
    tests = result[["f", "critical_value", "pvalue"]]
    by_f, speaks = tests.sel(error_term="split_plot", drop=True), by_welch(result)
    if not speaks.any():
        return by_f
    return tests.sel(error_term="welch", drop=True).where(
        speaks & (by_f["effect"] == "algorithm"), by_f
    )


def _by_chance(result: xr.Dataset, alpha: float, noun: str) -> str:
    """Return how many tasks of an ANOVA chance alone would show to differ."""
    tested = int(
        result["pvalue"]
        .sel(error_term="split_plot", effect="algorithm")
        .notnull()
        .sum()
    )
    made = result["n_resamples"].to_numpy() > 0
    smallest = min(
        1.0, tested * provenance.smallest_reachable(result).max(where=made, initial=0.0)
    )
    few = f" Adjusted over the {noun}s by Holm, a {noun} of the fewest runs could reach no p below {number(smallest)}."
    expected = f"Without any difference {number(alpha * tested, 2)} of {tested} {noun}s would show one by chance"
    return f"{expected}, for each effect.{'' if provenance.significant(smallest, alpha) else few}"


def _out_of_reach(result: xr.Dataset, alpha: float, noun: str) -> Iterator[str]:
    """Yield that nothing can be shown where runs, or reassignments, are too few for a small p."""
    tested = result["n_resamples"].to_numpy().ravel() > 0
    least, exact = (
        of(result).ravel()[tested]
        for of in (provenance.smallest_reachable, provenance.is_exact)
    )
    short = ~provenance.significant(least, alpha)
    if short.any():
        few = "Runs" if exact[short].all() else "Runs, or reassignments (n_resamples),"
        where = (
            ""
            if len(least) == 1
            else f" in {np.count_nonzero(short)} of {len(least)} {noun}s"
        )
        yield f"{few} are so few{where} that p cannot be below {number(least[short].min())}, whatever the scores."


def pair_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield who is best, who may be and by how much; what could not be shown; then shapes and what intervals hold."""
    alpha = provenance.alpha_of(result)
    adjusted = result["pvalue_adjusted"]
    noun = labels.task_noun(result["n_resamples"])
    n_tasks = result["n_resamples"].size // result.sizes["pair"]
    if n_tasks == 1:
        yield Statement(
            "answer",
            " ".join(_verdict_of_one(next(labels.tasks_of(result, "n_resamples")))),
        )
    else:
        yield Statement("answer", _best_by_task(result, noun))
    yield from (Statement("answer", text) for text in _pair_floors(result, alpha))
    shapes = adjusted.sel(effect="interaction").to_numpy().ravel()
    if NO_TRAINING in result.attrs:
        pass  # scores without training have no shape
    elif len(shapes) > 1:
        yield Statement(
            "detail", counted(shapes, alpha, "changes of score with training", "pairs")
        )
    elif shapes[0] == shapes[0]:
        said = f"Changes of score with training {_say_shown(shapes[0], alpha)} ({pvalue(shapes[0])})."
        yield Statement("detail", said)
    else:
        yield Statement("detail", "Of changes with training nothing can be said.")
    if result.sizes["pair"] > 1:
        by = result.attrs.get("correction", "holm").capitalize()
        together = f"Intervals and p hold for the {result.sizes['pair']} pairs of a {noun} together"
        yield Statement("detail", f"{together} (p by {by}).")
    if (result["difference_ci_gap"] == 1).any():
        yield Statement(
            "caution",
            "Some shifts within the interval of a pair are rejected (difference_ci_gap is 1).",
        )
    yield from (
        Statement("caution", text) for text in unadjusted_over_tasks(n_tasks, noun)
    )


def _over_training(result: xr.Dataset) -> str:
    return "" if NO_TRAINING in result.attrs else " over training"


def _compared(task: xr.Dataset) -> Comparison:
    """Return what the verdict about one task is made of."""
    p = task["pvalue_adjusted"].sel(effect="algorithm")
    return Comparison(
        rows=rows_of(
            displayed_pairs(task, "difference", "difference_ci_simultaneous", p)
        ),
        algorithms=[str(label) for label in task["algorithm"].to_numpy().tolist()],
        may_be_best=named(task, task["may_be_best"]),
        score=f"mean {score_name(task)}{_over_training(task)}",
        units=units_of(task["difference"]),
        means=means_of(task, "score_mean"),
        lower_is_better=lower_is_better(task),
    )


def _verdict_of_one(task: xr.Dataset) -> Iterator[str]:
    """Yield who is best in one task, or how all others stand beside the reference."""
    made = _compared(task)
    if "reference" in task.attrs and len(made.rows) > 1:
        yield from reference_sentences(made, str(task.attrs["reference"]))
        return
    yield best_sentence(made)
    yield from claim_sentences(made)


def _best_by_task(result: xr.Dataset, noun: str) -> str:
    """Return in how many tasks each algorithm is best, and in how many that is shown."""
    p = result["pvalue_adjusted"].sel(effect="algorithm")
    displayed = displayed_pairs(result, "difference", "difference_ci_simultaneous", p)
    best, shown = Counter[str](), 0
    for rows in rows_of_tasks(displayed, labels.task_dims(result["difference"])):
        first = most_ahead(rows)
        if first is not None:
            best[first] += 1
            shown += all(
                row.shown and row.better == first for row in rows if first in row[:2]
            )
    if not best:
        return f"No pair could be compared: {UNTESTED}."
    counts = listed([f"{name} in {n}" for name, n in best.most_common()], 4)
    more = "lower" if lower_is_better(result) else "higher"
    most = {"higher": "highest", "lower": "lowest"}[more]
    over = "all others" if result.sizes["algorithm"] > 2 else "the other"
    where = (
        f"The {most} mean {score_name(result)} over training of {best.total()} {noun}s"
    )
    return f"{where}: {counts}; in {shown or 'none'} of them it is shown to be {more} than {over}."


def _pair_floors(result: xr.Dataset, alpha: float) -> Iterator[str]:
    """Yield that the adjusted p of some pairs could not be small enough."""
    least = provenance.values_of(result, "pvalue_adjusted_least", "pair").ravel()
    p = provenance.values_of(result, "pvalue_adjusted", "effect", "pair")
    p = p[..., result["effect"].to_numpy().tolist().index("algorithm"), :].ravel()
    exact = provenance.is_exact(result, "pair").ravel()
    beyond = ~np.isnan(p) & ~provenance.significant(least, alpha)
    if exact[beyond].all():
        counts = {float(n) for n in np.unique(result["n_runs"].to_numpy()) if n > 0}
        yield from floor_sentences(least, p, alpha, f"{span(counts)} runs a side")
    else:
        n_resamples = np.unique(
            provenance.values_of(result, "n_resamples", "pair").ravel()[beyond]
        )
        few = f"{span(n_resamples.tolist())} reassignments"
        yield from floor_sentences(
            least, p, alpha, few, "make more (n_resamples=), if there are enough runs"
        )


def contrast_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield the verdict on the contrast, of each of a few tasks, and what the interval is."""
    alpha, noun = provenance.alpha_of(result), labels.task_noun(result["n_resamples"])
    n_tasks = result["n_resamples"].size
    tasks = list(labels.named_tasks(result, "n_resamples")) if n_tasks <= _FEW else []
    if n_tasks == 1:
        yield Statement("answer", _verdict(tasks[0][0], alpha))
    else:
        yield Statement(
            "answer",
            counted(
                result["pvalue"].to_numpy().ravel(),
                alpha,
                "the contrasted scores",
                f"{noun}s",
            ),
        )
        for task, name in tasks:
            yield Statement("detail", f"{name}{_verdict(task, alpha)}")
        yield from (
            Statement("caution", text) for text in unadjusted_over_tasks(n_tasks, noun)
        )
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
    at = estimated(task["estimate"].item(), *ends_of(task["estimate_ci"]))
    verdict = _VERDICTS[task.attrs.get("alternative", "two-sided")]
    test = f"T = {number(task['statistic'].item())}, {pvalue(p)}"
    said = f"The contrast of {_averaged(task)}, {at}, {shown} {verdict} ({test})."
    return f"{said} {_say_margin(task, alpha)}" if "margin_pvalue" in task else said


def _say_margin(task: xr.Dataset, alpha: float) -> str:
    """Return whether the algorithms with positive weight are shown not to be worse by more than the margin."""
    p, margin, limit = (
        task["margin_pvalue"].item(),
        number(task.attrs["margin"]),
        task["margin_limit"].item(),
    )
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
        return "scores" if NO_TRAINING in task.attrs else "mean scores over training"
    used = weights["training"].to_numpy()[weights.to_numpy() != 0]
    levels = (
        number(used[0])
        if len(used) == 1
        else f"{len(used)} levels from {number(used[0])} to {number(used[-1])}"
    )
    return (
        f"scores at training {levels}"
        if len(used) == 1
        else f"weighted scores over training, {levels}"
    )
