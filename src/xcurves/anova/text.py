"""The sentences about ANOVAs, pairs and contrasts, for readers who are not statisticians."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import xarray as xr

from xcurves.core import labels, provenance
from xcurves.core.refusal import UNSAID, Refusal
from xcurves.core.schema import Floor, Needed, Statement
from xcurves.core.validation import is_without_training
from xcurves.kernels.resampling.adjustments import ADJUSTMENTS
from xcurves.say.compared_pairs import Reasons, mean_score, score_name
from xcurves.say.floors import RunsOfPairs, floor_of_runs, runs_of_pairs
from xcurves.say.numbers import (
    count,
    counted,
    joined,
    listed,
    number,
    pvalue,
    reassigned,
)
from xcurves.say.pairs import better_first, sides_of

_CLAIMS = {
    "algorithm": "mean scores over training",
    "interaction": "changes of score with training",
}
SHORT = {"algorithm": "level", "interaction": "shape"}  # what an effect is of
_CLAIMS_OF_SCORES = {"algorithm": "mean scores"}
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
_MOST_WEIGHTS = 3  # algorithms of one side of a contrast that are named
_HOW_MANY_RUNS = (
    "How many runs would show it: runs_needed, with test=functools.partial(xcurves.contrast, weights=...) of the same "
    "weights."
)


def anova_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield the verdict on both effects, then F of each with its error, and when Welch's test is to be read."""
    noun = labels.task_noun(result["n_resamples"])
    alpha = provenance.alpha_of(result)
    if result["n_resamples"].size == 1:
        (task,) = labels.tasks_of(result, "n_resamples")
        yield from _anova_of_one(task, alpha)
    else:
        yield from _anova_of_tasks(result, alpha, noun)
    what = "whole runs to algorithms"
    if result.attrs.get("paired"):
        what = "algorithms within each run (paired)"
    yield Statement("detail", reassigned(result, what))
    for text in _out_of_reach(result, alpha, noun):
        yield Statement("caution", text)


def _anova_of_one(task: xr.Dataset, alpha: float) -> Iterator[Statement]:
    """Yield the verdict on a single task, what was compared, F of each effect and Welch's statistic."""
    names = task["algorithm"].to_numpy().tolist()
    sizes = task["n_runs"].to_numpy().tolist()
    runs = [f"{name} ({count(n, 'run')})" for name, n in zip(names, sizes, strict=True)]
    n_levels = task["n_levels"].item()
    yield Statement("answer", f"{_verdicts(task, alpha)}{_which_ones(task, alpha)}")
    at_levels = "" if is_without_training(task) else f", at {count(n_levels, 'training level')}"
    yield Statement("detail", f"Compared: {joined(runs)}{at_levels}.")
    yield Statement("detail", _f_ratios(task))
    if not by_welch(task):
        return

    present = [size for size in sizes if size]
    why = ""
    if len(set(present)) > 1:
        why = f" as numbers of runs are unequal ({' v '.join(map(str, present))})"
    w = number(task["f"].sel(effect="algorithm", error_term="welch").item(), 4)
    yield Statement(
        "caution",
        f"Level is tested by Welch's statistic{why}, W = {w}; where spreads are alike it shows less than F would.",
    )


def _anova_of_tasks(result: xr.Dataset, alpha: float, noun: str) -> Iterator[Statement]:
    """Yield in how many tasks each effect is shown, the verdict on each of a few, and where Welch's test speaks."""
    p = tests_that_speak(result)["pvalue"]
    for effect, what in claims(result).items():
        of_effect = p.sel(effect=effect).to_numpy().ravel()
        text = counted(of_effect, alpha, f"the algorithms' {what}", f"{noun}s")
        yield Statement("answer", text)
    yield Statement("answer", f"{_by_chance(result, alpha, noun)}{_which_ones(result, alpha)}")
    for task, name in _few_tasks(result):
        yield Statement("detail", f"{name}{_verdicts(task, alpha)}")
    n_welch = int(by_welch(result).sum())
    if n_welch:
        yield Statement(
            "caution",
            f"Level is tested by Welch's statistic in {n_welch} {noun}s, by F in the others.",
        )


def claims(result: xr.Dataset) -> dict[str, str]:
    """Return what is said to differ, by effect: scores without training have no change with it."""
    if is_without_training(result):
        return _CLAIMS_OF_SCORES
    return _CLAIMS


def _few_tasks(result: xr.Dataset) -> list[tuple[xr.Dataset, str]]:
    """Return each task with its name; none of many, of which each by itself takes far longer than their test."""
    if result["n_resamples"].size > _FEW:
        return []
    return list(labels.named_tasks(result, "n_resamples"))


def _verdicts(task: xr.Dataset, alpha: float) -> str:
    """Return what is shown of level and shape."""
    verdicts = []
    for effect, what in claims(task).items():
        p = tests_that_speak(task)["pvalue"].sel(effect=effect).item()
        whose = "their"
        if effect == "algorithm":
            whose = "the algorithms'"
        if np.isnan(p):
            verdicts.append(f"of {what} nothing can be said, F is undefined")
        else:
            verdicts.append(f"{whose} {what} {_say_shown(p, alpha)} ({_p_of(task, p)})")
    answer = "; ".join(verdicts)
    return f"{answer[:1].upper()}{answer[1:]}."


def _which_ones(result: xr.Dataset, alpha: float) -> str:
    """Return the sentence that a difference shown among several algorithms is of none in particular."""
    n_algorithms = result.sizes.get("algorithm", 1)
    p = tests_that_speak(result)["pvalue"].sel(effect="algorithm")
    if n_algorithms < 3 or not provenance.significant(p, alpha).any():
        return ""
    return f" That is any difference among the {n_algorithms}; which ones differ is tested pair by pair, more strictly."


def _p_of(task: xr.Dataset, p: float) -> str:
    """Return p of a task; an exact one is not uncertain by chance."""
    n_resamples = int(task["n_resamples"].item())
    n_random = n_resamples
    if provenance.is_exact(task):
        n_random = 0
    return pvalue(p, 1 / (n_resamples + 1), n_random)


def _say_shown(p: float, alpha: float) -> str:
    if provenance.significant(p, alpha):
        return "differ"
    return "are not shown to differ"


def _f_ratios(task: xr.Dataset) -> str:
    """Return F of both effects with degrees of freedom and the error of each."""
    errors = _ERRORS[bool(task.attrs.get("paired", 0))]
    ratios = []
    for effect in claims(task):
        test = task.sel(effect=effect, error_term="split_plot")
        df = task["df"].sel(source=effect).item()
        error_df = test["error_df"].item()
        f = number(test["f"].item(), 4)
        ratios.append(f"F({number(df)}, {number(error_df)}) = {f} of {SHORT[effect]} against {errors[effect]}")
    return f"By the split-plot error terms {'; '.join(ratios)}."


def by_welch(result: xr.Dataset) -> xr.DataArray:
    """Return where Welch's test of level speaks."""
    if "level_test" not in result or "welch" not in result["error_term"].to_numpy():
        return xr.zeros_like(result["n_resamples"], dtype=bool)
    return result["level_test"] == 1


def tests_that_speak(result: xr.Dataset) -> xr.Dataset:
    """Return F, its critical value and p of both effects, of level by the test that speaks in each task."""
    tests = result[["f", "critical_value", "pvalue"]]
    by_f = tests.sel(error_term="split_plot", drop=True)
    speaks = by_welch(result)
    if not speaks.any():
        return by_f
    of_level = by_f["effect"] == "algorithm"
    return tests.sel(error_term="welch", drop=True).where(speaks & of_level, by_f)


def _by_chance(result: xr.Dataset, alpha: float, noun: str) -> str:
    """Return how many tasks of an ANOVA chance alone would show to differ."""
    of_level = result["pvalue"].sel(error_term="split_plot", effect="algorithm")
    n_tested = int(of_level.notnull().sum())
    has_test = result["n_resamples"].to_numpy() > 0
    reachable = provenance.smallest_reachable(result).max(where=has_test, initial=0.0)
    smallest = min(1.0, n_tested * reachable)
    each = ", for each effect" if len(claims(result)) > 1 else ""
    expected = (
        f"Without any difference {number(alpha * n_tested, 2)} of {n_tested} {noun}s would show one by chance{each}."
    )
    if provenance.significant(smallest, alpha):
        return expected
    return (
        f"{expected} Adjusted over the {noun}s by Holm, a {noun} of the fewest runs could reach no p below "
        f"{number(smallest)}."
    )


def _out_of_reach(result: xr.Dataset, alpha: float, noun: str) -> Iterator[str]:
    """Yield that nothing can be shown where runs, or reassignments, are too few for a small p."""
    tested = result["n_resamples"].to_numpy().ravel() > 0
    least = provenance.smallest_reachable(result).ravel()[tested]
    is_exact = provenance.is_exact(result).ravel()[tested]
    too_large = ~provenance.significant(least, alpha)
    if not too_large.any():
        return

    few = "Runs, or reassignments (n_resamples),"
    if is_exact[too_large].all():
        few = "Runs"
    where = ""
    if len(least) > 1:
        where = f" in {np.count_nonzero(too_large)} of {len(least)} {noun}s"
    yield f"{few} are so few{where} that p cannot be below {number(least[too_large].min())}, whatever the scores."


def of_level(result: xr.Dataset) -> xr.Dataset:
    """Return pairs with adjusted p of the level."""
    return result.assign(pvalue_adjusted=result["pvalue_adjusted"].sel(effect="algorithm", drop=True))


def more_of_pairs(result: xr.Dataset) -> Iterator[Statement]:
    """Yield whether shapes differ, and where an interval has shifts that are rejected."""
    # Scores without training have no shape.
    if not is_without_training(result):
        yield Statement("detail", _shapes_of_pairs(result, provenance.alpha_of(result)))
    if (result["difference_ci_gap"] == 1).any():
        yield Statement(
            "caution",
            "Some shifts within the interval of a pair are rejected (difference_ci_gap is 1).",
        )


def _shapes_of_pairs(result: xr.Dataset, alpha: float) -> str:
    """Return whether changes with training are shown to differ, of several pairs in how many."""
    p = result["pvalue_adjusted"].sel(effect="interaction").to_numpy().ravel()
    if len(p) > 1:
        return counted(p, alpha, "changes of score with training", "pairs")
    if np.isnan(p[0]):
        return "Of changes with training nothing can be said."
    return f"Changes of score with training {_say_shown(p[0], alpha)} ({pvalue(p[0])})."


def reasons(task: xr.Dataset) -> Reasons:
    """Return why pairs have no p: runs that are missing, single ones, or ones that do not differ."""
    if task["n_runs"].isnull().any():
        return {}
    reasons = {}
    made = _runs_of(task)
    for pair, (n_runs,) in zip(made.sides, made.runs, strict=True):
        without = [name for name, n in zip(pair, n_runs, strict=True) if n == 0]
        single = [name for name, n in zip(pair, n_runs, strict=True) if n == 1]
        if without:
            reason = "no runs"
        elif len(single) == 2:
            reason = "a single run each"
        elif single:
            reason = f"{single[0]} has a single run"
        else:
            reason = "their runs do not differ at all"
        reasons[frozenset(pair)] = reason
    return reasons


def runs_that_tell(task: xr.Dataset, best: str, other: str) -> Needed:
    """Return how many runs of each would tell two algorithms apart."""
    pair = task.isel(pair=[{*sides} for sides in sides_of(task)].index({best, other}))
    is_one = np.isin(task["algorithm"].to_numpy().astype(str), [best, other])
    present = task["n_runs"].to_numpy()[is_one].min()
    things = "runs of each"
    if task.attrs.get("paired"):
        things = "matched runs"
    return Needed("runs", things, present, pair["runs_to_show"].item(), pair["runs_at_least"].item())


def pair_floors(result: xr.Dataset) -> Iterator[Floor]:
    """Yield that the adjusted p of some pairs could not be small enough."""
    alpha = provenance.alpha_of(result)
    least, p, made = (
        provenance.values_of(result, name, "pair").ravel()
        for name in ("pvalue_adjusted_least", "pvalue_adjusted", "n_resamples")
    )
    beyond = ~np.isnan(p) & ~provenance.significant(least, alpha)
    if not beyond.any():
        return
    every = [_runs_of(task) for task in labels.tasks_of(result, "n_resamples")]
    drawn = made[beyond & ~provenance.is_exact(result, "pair").ravel()]
    yield from floor_of_runs(every, least, p, alpha, drawn, result.attrs.get("n_resamples"))


def _runs_of(task: xr.Dataset) -> RunsOfPairs:
    """Return the numbers of runs of the pairs of one task, and how p are adjusted."""
    return runs_of_pairs(task, ADJUSTMENTS[str(task.attrs.get("correction", "holm"))])


def contrasted(task: xr.Dataset) -> str:
    """Return what a contrast is of: "mean accuracy over training", "mean accuracy at the end of training"."""
    score = score_name(task)
    # The only name that training_weights have.
    if "training_weights" in task.attrs:
        return f"mean {score} at the end of training"
    weights = task.get("training_weights")
    if weights is None or weights.isnull().all():
        return mean_score(task)
    used = weights["training"].to_numpy()[weights.to_numpy() != 0]
    first, last = number(used[0]), number(used[-1])
    if len(used) == 1:
        return f"mean {score} at training {first}"
    return f"weighted {score} at {len(used)} levels of training from {first} to {last}"


def as_pair(result: xr.Dataset) -> xr.Dataset:
    """Return a contrast as a pair: the algorithms with positive weights against the others."""
    first, second = _weighted(result, 1), _weighted(result, -1)
    names = {"pair": [f"{first} - {second}"]}
    compared = {name: result[name].expand_dims(names) for name in ("estimate", "estimate_ci", "pvalue", "statistic")}
    sides = {"algorithm_a": ("pair", [first]), "algorithm_b": ("pair", [second])}
    return result.drop_dims("algorithm", errors="ignore").assign(compared).assign_coords(sides)


def statistic(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """Return the studentized statistic of the pair, the better first."""
    pair = as_pair(result)
    return {"T": better_first(pair, pair["estimate"], ["statistic"])["statistic"]}


def _weighted(result: xr.Dataset, sign: int) -> str:
    """Return the algorithms whose weights have a sign: one, the mean of some, or their sum, each with its weight."""
    if "weights" not in result:
        return {1: "first", -1: "second"}[sign]
    weights = (sign * result["weights"]).to_numpy().tolist()
    named = zip(result["algorithm"].to_numpy().tolist(), weights, strict=True)
    own = {str(name): weight for name, weight in named if weight > 0}
    if not own:
        side = "positive" if sign > 0 else "negative"
        away = f"no algorithm with a {side} weight is there: it was selected away"
        raise Refusal("result", UNSAID, away, "Take the whole result")
    if len(own) > 1 and np.allclose(list(own.values()), 1 / len(own)):
        return f"the mean of {listed(own, _MOST_WEIGHTS)}"
    return " + ".join(f"{number(weight)} × {name}".removeprefix("1 × ") for name, weight in own.items())


def title_of_contrast(result: xr.Dataset) -> str:
    """Return which algorithms a contrast compares, as a title."""
    return f"{_weighted(result, 1)} − {_weighted(result, -1)}"


def more_of_contrast(result: xr.Dataset) -> Iterator[Statement]:
    """Yield whether the first side is shown not to be worse by more than the margin, and what p and interval are."""
    alpha = provenance.alpha_of(result)
    if "margin_pvalue" in result and result["pvalue"].size == 1:
        yield Statement("answer", _say_margin(result.squeeze(), alpha))
    if result.attrs.get("alternative", "two-sided") != "two-sided":
        yield Statement("detail", f"The test and the interval are one-sided ({result.attrs['alternative']}).")
    if not provenance.significant(result["pvalue"], alpha).all():
        yield Statement("detail", _HOW_MANY_RUNS)
    yield Statement(
        "detail",
        "p is exact if curves are exchangeable over the algorithms that have a weight, otherwise approximate; the "
        "interval holds the shifts that the test does not reject.",
    )


def _say_margin(task: xr.Dataset, alpha: float) -> str:
    """Return whether the algorithms with positive weight are shown not to be worse by more than the margin."""
    p, margin = task["margin_pvalue"].item(), number(task.attrs["margin"])
    worse = f"{_weighted(task, 1)} is not worse than {_weighted(task, -1)} by more than {margin}"
    if np.isnan(p):
        return f"That {worse} cannot be tested: runs do not differ."
    shown = "shown" if provenance.significant(p, alpha) else "not shown"
    return f"That {worse} is {shown} (lower limit {number(task['margin_limit'].item())}, {pvalue(p)})."
