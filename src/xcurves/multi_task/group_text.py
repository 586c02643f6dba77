"""The sentence about groups of tasks, such as suites: in which of them which pairs are shown to differ."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import xarray as xr

from xcurves.core import labels
from xcurves.multi_task.task_options import GROUP_DIM
from xcurves.say.compared_pairs import limits_of, rounded_amount
from xcurves.say.numbers import joined, pvalue
from xcurves.say.pairs import PairRow, better_first_rows, displayed_pairs, lower_is_better, rows_of

_MOST_GROUPS = 8  # that a sentence names


def group_sentences(benchmark: xr.Dataset, task: str) -> Iterator[str]:
    """Yield what is shown in each group on these very tasks, if `by` asked for groups."""
    if "difference_by" not in benchmark:  # a dim of tasks may be called like that of groups
        return
    said = []
    for group in labels.each_of(benchmark, GROUP_DIM):
        displayed = displayed_pairs(group, "difference_by", "difference_by_ci", group["difference_by_pvalue_adjusted"])
        rows = better_first_rows(rows_of(displayed), displayed)
        said.append(f"{group[GROUP_DIM].item()}: {_of_group(rows, lower=lower_is_better(benchmark))}")
    by = labels.noun(str(benchmark.attrs["by"]))
    together = f"{by}s"
    if benchmark.sizes["pair"] > 1:
        together = f"pairs and {by}s"
    yield f"By {by}, on these very {task}s (all {together} together): {joined(said, '; ', _MOST_GROUPS)}."


def _of_group(rows: list[PairRow], *, lower: bool) -> str:
    """Return what is shown in one group: of one pair by how much, of several how many differ."""
    tested = [row for row in rows if not np.isnan(row.p)]
    if not tested:
        return "nothing could be tested"
    more = "lower" if lower else "higher"
    if len(rows) == 1:
        (row,) = tested
        shown = "" if row.shown else ", not shown"
        return f"{row.better} is {more} by {rounded_amount(row)} ({limits_of(row)}; {pvalue(row.p)}{shown})"
    n_shown = len([row for row in tested if row.shown])
    return f"{n_shown} of {len(tested)} pairs are shown to differ"
