"""The sentences and tables about profiles: where along training the curves differ, and what that does not say."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels, provenance
from xcurves.core.provenance import alpha_of
from xcurves.core.schema import Statement, statements
from xcurves.say.numbers import number, percent, pvalue, reassigned, stretches, unadjusted_over_tasks
from xcurves.say.result_frames import columns_of_variables, frame_of

_LIMITS = (
    "A level that is not named is not shown to be equal, and where a difference ends is not known: that takes a margin."
)
_UNTESTED = "Nothing was tested: the profile is descriptive."
_FEW = 3  # tasks of which each has sentences
_LISTED = 6  # stretches of levels that a sentence lists


def profile_sentences(result: xr.Dataset) -> Iterator[str]:
    """Yield sentences for each task, then what holds for all."""
    tasks = list(labels.named_tasks(result, "fraction", ("training",)))
    for task, name in tasks:
        here = task.isel(training=task["ss"].notnull().all("effect").to_numpy())
        if here.sizes["training"] == 0:
            yield f"{name}Nothing can be said; there are no runs."
            continue
        if "pvalue_adjusted" in task:
            yield name + _differ(here)
            yield from (name + sentence for sentence in _clusters(here))
            if here["fraction"].isnull().any():
                yield f"{name}The mean curves are equal at every training level."
        else:
            yield name + _UNTESTED
        if "interval_fraction" in task:
            yield from (name + sentence for sentence in _interval_sentences(here))
        if "equivalent" in task:
            yield name + _equivalent(here)
    if "pvalue_adjusted" in result:
        if "n_resamples" in result.coords:
            yield reassigned(result, "whole runs")
        yield _LIMITS
        yield from unadjusted_over_tasks(len(tasks), labels.task_noun(result["fraction"], ("training",)))


def _differ(task: xr.Dataset) -> str:
    alpha = alpha_of(task)
    marked = np.asarray(provenance.significant(task["pvalue_adjusted"].to_numpy(), alpha))
    if not marked.any():
        return f"No training level shows a difference at the {number(alpha)} level, adjusted over levels."
    return (
        f"The curves differ at {_say_stretches(task, marked)} (at the {number(alpha)} level, adjusted over levels); "
        f"with {percent(1 - alpha, 6)} confidence they still differ at {number(task['last_significant'].item())}."
    )


def _clusters(task: xr.Dataset) -> Iterator[str]:
    cluster = task["cluster"].to_numpy()
    for each in np.unique(cluster[~np.isnan(cluster)]):
        p = task["cluster_pvalue"].to_numpy()[cluster == each][0]
        if provenance.significant(p, alpha_of(task)):
            stretch = _say_stretches(task, cluster == each)
            yield f"Somewhere in the stretch of {stretch} the curves differ (cluster mass, {pvalue(p)})."


def _interval_sentences(task: xr.Dataset) -> Iterator[str]:
    for i in range(task.sizes["interval"]):
        interval = task.isel(interval=i)
        share = interval["interval_fraction"].sel(effect="simple").item()
        left = number(interval["interval_left"].item())
        right = number(interval["interval_right"].item())
        if np.isnan(share):
            yield (
                f"Interval {left} to {right}: nothing can be said; it has no training level, or the mean curves are "
                "equal."
            )
            continue
        of_test = ""
        if "interval_pvalue" in task:
            p = interval["interval_pvalue_adjusted"].item()
            if not np.isnan(p):
                of_test = f", {pvalue(p)} adjusted"
        yield (
            f"Interval {left} to {right}: {number(100 * share)} % of the observed difference (simple sum of squares)"
            f"{of_test}."
        )


def _equivalent(task: xr.Dataset) -> str:
    within = task["equivalent"].to_numpy() == 1
    size = "the margin"
    if "margin" in task.attrs:
        size = f"{number(task.attrs['margin'])}"
    if not within.any():
        return f"No training level is shown to have all differences within ± {size}."
    return f"All differences are shown to lie within ± {size} at {_say_stretches(task, within)}."


def _say_stretches(task: xr.Dataset, chosen: NDArray[np.bool_]) -> str:
    """Return the chosen levels as stretches, "training 0, 500 to 2000"; of many their share and the longest."""
    said = stretches(task["training"].to_numpy(), chosen)
    if len(said) <= _LISTED:
        return f"training {', '.join(said)}"
    edges = np.flatnonzero(np.diff(np.concatenate([[False], chosen, [False]]).astype(int)))
    longest = said[int((edges[1::2] - edges[::2]).argmax())]
    share = np.count_nonzero(chosen) / len(chosen)
    return f"{percent(share, 2)} of the training levels (longest stretch: {longest})"


def profile_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield where the curves differ, the shares, and what they do not say."""
    sentences = list(profile_sentences(result))
    names = labels.result_names(result["fraction"], ("training",))
    if "last_significant" not in result:
        answer = _UNTESTED
    elif len(names) == 1:
        answer = sentences[0]
    else:
        answer = _in_how_many(result)
    details = sentences
    # Many tasks stand in the table.
    if len(names) > _FEW:
        details = [text for text in sentences if not text.startswith(tuple(names))]
    cautions = []
    if "pvalue_adjusted" in result:
        cautions.append(_LIMITS)
    return statements(answer, details, cautions)


def _in_how_many(result: xr.Dataset) -> str:
    """Return in how many of several tasks the curves differ."""
    last = result["last_significant"].to_numpy().ravel()
    n_differ = np.count_nonzero(~np.isnan(last))
    noun = labels.task_noun(result["fraction"], ("training",))
    return f"In {n_differ} of {len(last)} {noun}s the curves differ at some training level, adjusted over levels."


def profile_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each training level, of the simple profile."""
    heads = {"SS": "ss", "fraction": "fraction", "cumulative": "cumulative_fraction", "corrected": "fraction_corrected",
             "F": "f", "p": "pvalue", "p_adjusted": "pvalue_adjusted", "equivalent": "equivalent"}  # fmt: skip
    return frame_of(columns_of_variables(result.sel(effect="simple", drop=True), heads), ["training"])
