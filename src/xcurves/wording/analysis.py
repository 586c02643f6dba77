"""The sentences about a whole analysis: the short answer, what was compared, and what its pictures show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves import labels, outcomes
from xcurves.packing import Floats
from xcurves.wording import profile, randomization

Parts = Mapping[str, xr.Dataset]

TITLES = {
    "randomized_anova": "Do the algorithms differ?",
    "pairwise": "Which ones differ, and by how much?",
    "contrast": "A planned comparison",
    "ss_profile": "Where along training do they differ?",
    "fit_power_law": "What would more data buy?",
    "predict": "Predicted errors",
    "leave_one_size_out": "Does the power law fit?",
    "compare_learners": "Which learner needs more data?",
    "performance_cdf": "How do runs spread?",
    "compare_distributions": "Whose runs score higher?",
}
_MANY = 12


def short_answer(parts: Parts) -> Iterator[str]:
    """Yield the answers in a few sentences: of one task what was found, of many in how many."""
    by_kind = {labels.kind_of(result): result for result in parts.values()}
    for kind, (one, many) in _ANSWERS.items():
        if kind in by_kind:
            result = by_kind[kind]
            if len(labels.result_names(result)) == 1:
                yield from one(result.squeeze(labels.task_dims(result), drop=True))
            else:
                yield from many(result)


def caution(parts: Parts) -> Iterator[str]:
    """Yield what the answers do not say."""
    tests = [result for result in parts.values() if {"n_shuffles", "n_assignments"} <= set(result.variables)]
    if not tests:
        return
    yield randomization.LIMITS
    for result in tests:
        kind = labels.kind_of(result)
        if kind in _REACHED:
            yield from _out_of_reach(result, *_REACHED[kind](result))


def _of_tasks(result: xr.Dataset) -> tuple[Floats, str]:
    """Return the smallest p that there can be in each task, NaN where nothing was tested."""
    tested = result["n_shuffles"].to_numpy() > 0
    return np.where(tested, outcomes.smallest_pvalue(result), np.nan), "tasks"


def _of_pairs(result: xr.Dataset) -> tuple[Floats, str]:
    """Return the smallest adjusted p that there can be of each pair, NaN where it was not tested."""
    return outcomes.smallest_adjusted_pvalue(result), "pairs"


def _out_of_reach(result: xr.Dataset, smallest: Floats, things: str) -> Iterator[str]:
    """Yield that nothing can be shown where runs are too few for a small p."""
    alpha = randomization.alpha_of(result)
    tested = ~np.isnan(smallest)
    smallest = smallest[tested]
    short = ~outcomes.significant(smallest, alpha)
    exact = outcomes.is_exact(result.transpose(..., "pair", missing_dims="ignore"))[tested]
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


def _anova(result: xr.Dataset) -> Iterator[str]:
    yield from list(randomization.anova_sentences(result))[1:3]


def _anovas(result: xr.Dataset) -> Iterator[str]:
    alpha = randomization.alpha_of(result)
    p = result["pvalue"].sel(error_term="stratum")
    for effect, (_, what) in randomization.CLAIMS.items():
        yield _counted(p.sel(effect=effect).to_numpy().ravel(), alpha, what, "tasks")
    yield randomization.by_chance(result)


def _pairs(result: xr.Dataset) -> Iterator[str]:
    alpha = randomization.alpha_of(result)
    p = result["pvalue_adjusted"].sel(effect="algorithm")
    differ = p["pair"].to_numpy()[np.asarray(outcomes.significant(p.to_numpy(), alpha))].tolist()
    tested = int(p.notnull().sum())
    adjusted = f", adjusted for {tested} pairs" if tested > 1 else ""
    if tested and not differ:
        yield f"No pair is shown to differ in mean score over training{adjusted}."
    if differ:
        yield f"Pairs that differ in mean score over training{adjusted}: {_some(differ)}."


def _many_pairs(result: xr.Dataset) -> Iterator[str]:
    p = result["pvalue_adjusted"].sel(effect="algorithm").to_numpy().ravel()
    yield _counted(
        p, randomization.alpha_of(result), "mean scores over training", "pairs within a task, adjusted in it,"
    )


def _counted(pvalues: Floats, alpha: float, what: str, things: str) -> str:
    known = pvalues[~np.isnan(pvalues)]
    differ = np.count_nonzero(outcomes.significant(known, alpha))
    unknown = len(pvalues) - len(known)
    more = f" (of {unknown} more nothing can be said)" if unknown else ""
    return f"In {differ} of {len(known)} {things} {what} differ at the {alpha:g} level{more}."


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _MANY} more" if len(names) > _MANY else ""
    return ", ".join(names[:_MANY]) + more


def _profile(result: xr.Dataset) -> Iterator[str]:
    yield next(profile.profile_sentences(result))


def _profiles(result: xr.Dataset) -> Iterator[str]:
    if "pvalue_adjusted" in result:
        last = result["last_significant"].to_numpy().ravel()
        found = np.count_nonzero(~np.isnan(last))
        yield f"In {found} of {len(last)} tasks the curves differ at some training level, adjusted over levels."


_REACHED: dict[str, Callable[[xr.Dataset], tuple[Floats, str]]] = {
    "randomized_anova": _of_tasks,
    "pairwise": _of_pairs,
}
_Say = Callable[[xr.Dataset], Iterator[str]]
_ANSWERS: dict[str, tuple[_Say, _Say]] = {
    "randomized_anova": (_anova, _anovas),
    "pairwise": (_pairs, _many_pairs),
    "ss_profile": (_profile, _profiles),
}


def final(result: xr.Dataset) -> str:
    """Return at which training level the scores of a distribution are."""
    return f"Scores at the last training level that all runs have: {result.attrs['final']}."


def missing(attrs: Mapping[Any, Any]) -> list[str]:
    """Return which parts an analysis does not have and why, those with one reason together."""
    parts: dict[str, list[str]] = {}
    for line in left_out(attrs):
        part, _, why = line.partition(": ")
        parts.setdefault(why, []).append(part)
    return [f"{', '.join(them)}: {why}" for why, them in parts.items()]


def left_out(attrs: Mapping[Any, Any]) -> list[str]:
    """Return what an analysis, or one of its parts, left out and why."""
    return str(attrs["left_out"]).split("\n") if "left_out" in attrs else []
