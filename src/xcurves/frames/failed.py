"""What runs that failed count as, where means are taken."""

from __future__ import annotations

import numpy as np
import xarray as xr

from xcurves.core import direction, labels, provenance, validation
from xcurves.core.driver import is_lazy
from xcurves.core.failed_runs import (
    FILLED,
    MARKED,
    N_FAILED,
    NO_RUN,
    failed_score,
    wrong_infinity,
)
from xcurves.core.refusal import UNSAID, Cure, Refusal, call
from xcurves.frames.normalize import (
    Reference,
    check_reference,
    say_reference,
)

_WORST = "worst"
_LEVELS = ("training", labels.EVALUATION)


def fill_failed(
    scores: xr.DataArray,
    replacement: str | Reference = _WORST,
    *,
    higher_is_better: bool | None = None,
) -> xr.DataArray:
    r"""Give runs that failed a score, so that means can be taken.

    A score of -inf (+inf where lower is better) says that a run failed: it crashed, diverged or timed out, and is worse
    than every finite score. NaN says that there is no run. Methods of ranks take failures as they are; those of means
    need a number, and which one is a choice that every summary states.

    Parameters
    ----------
    scores : DataArray
        Any dims; all but algorithm, run and training are tasks.
    replacement : "worst", float or DataArray
        "worst": the worst finite score of the task over all algorithms and runs, at the same training level; where
        there is none at a level, or runs have levels of their own, that at any level. Or a score that counts as
        failing: one for all, or one for each task, a DataArray with some of the dims of `scores`, labelled like them.
    higher_is_better : bool, optional
        Which end of the scores is better. None: as ``attrs["higher_is_better"]`` or else the name of the scores says
        (of a loss, an error or a time the lower); higher where neither does. Says which infinite score is a failed run.

    Returns
    -------
    DataArray
        As `scores`; lazy if they are. The coordinate `n_failed` counts the runs that failed of each task and algorithm,
        and ``attrs["history"]`` records what they count as.

    Raises
    ------
    TypeError
        If `scores` or `replacement` is of another kind.
    ValueError
        If there is a score of the other infinity; if a task has no finite score and `replacement` is "worst"; if
        `replacement` lacks a label of `scores` or is not finite.

    Notes
    -----
    "worst" depends on the other algorithms: with a worse one, failing costs more. A number does not, such as the score
    of doing nothing. A number that is better than some finite scores rewards failing.

    Examples
    --------
    >>> import numpy as np, xarray as xr, xcurves
    >>> scores = xr.DataArray([[0.7, -np.inf], [0.5, 0.6]], {"algorithm": ["a", "b"]}, ("algorithm", "run"))
    >>> scores.curves.fill_failed("worst").values.tolist()
    [[0.7, 0.5], [0.5, 0.6]]
    >>> scores.curves.fill_failed(0.0).n_failed.values.tolist()
    [1, 0]
    """
    scores = validation.check_array("scores", scores)
    scores, higher_is_better = direction.resolved(scores, higher_is_better)
    failed_value = failed_score(higher_is_better)
    scores = scores.astype(np.float64)
    validation.check_not_empty("scores", scores)
    if not is_lazy(scores) and (scores == -failed_value).any():
        raise Refusal("scores", UNSAID, *wrong_infinity(higher_is_better))
    failed = scores == failed_value
    if isinstance(replacement, str):
        validation.check_choice("replacement", replacement, (_WORST,))
        fill = _worst(scores, failed, higher_is_better)
        option = repr(replacement)
        counted = "count as the worst score of their task"
        if scores.sizes.get("training", 1) > 1:
            counted = "count as the worst score of their task at each level at which they failed"
    else:
        fill = check_reference(scores, "replacement", replacement)
        option = say_reference(replacement)
        counted = "count as the given score of their task"
        if not fill.dims:
            counted = f"count as a score of {fill.item():g}"
    if not higher_is_better:
        option += ", higher_is_better=False"
    filled = scores.where(~failed, fill).transpose(*scores.dims).assign_attrs(scores.attrs).rename(scores.name)
    outcome = _say_failures(scores, failed, counted)
    recorded = provenance.record(filled, f"{FILLED}({option}): {outcome}")
    return with_count(recorded, count_failures(scores, failed), counted)


def with_count(scores: xr.DataArray, n_failed: xr.DataArray, counted: str) -> xr.DataArray:
    """Return scores with the number of runs that failed, of which it says what they count as."""
    n_failed.attrs = {
        "long_name": "number of runs that failed",
        "units": "1",
        "comment": counted,
    }
    return scores.assign_coords({N_FAILED: n_failed.variable})


def count_failures(scores: xr.DataArray, failed: xr.DataArray) -> xr.DataArray:
    """Return the number of runs that failed, with those that were filled before."""
    levels = [dim for dim in _LEVELS if dim in scores.dims]
    runs = [dim for dim in ("run",) if dim in scores.dims]
    n_failed = failed.any(levels).sum(runs).astype(np.int64).reset_coords(drop=True)
    if N_FAILED in scores.coords:
        before = scores[N_FAILED]
        if before.attrs.get("comment") == MARKED:
            # Those that were marked are counted already.
            n_failed = n_failed.where(n_failed > before, before)
        else:
            n_failed = n_failed + before
    return n_failed.drop_vars([name for name in n_failed.coords if name not in n_failed.dims])


def _say_failures(scores: xr.DataArray, failed: xr.DataArray, counted: str) -> str:
    """Return how many runs failed, if scores are in memory, and what they count as."""
    if is_lazy(scores):
        return f"Failed runs {counted}"
    levels = [dim for dim in _LEVELS if dim in scores.dims]
    n_runs = int(scores.notnull().any(levels).sum())
    n_failed = int(failed.any(levels).sum())
    if n_failed == 0:
        return NO_RUN
    if n_failed == 1:
        of_one = counted.replace("count", "counts", 1).replace("their", "its")
        return f"1 of {n_runs:,} runs failed and {of_one}"
    return f"{n_failed:,} of {n_runs:,} runs failed and {counted}"


def _worst(scores: xr.DataArray, failed: xr.DataArray, higher_is_better: bool) -> xr.DataArray:
    """Return the worst finite score of each task, at each training level that has one."""
    sign = -1
    if higher_is_better:
        sign = 1
    finite = sign * scores.where(~failed)
    pooled = [dim for dim in ("algorithm", "run", labels.EVALUATION) if dim in scores.dims]
    at_level = finite.min(pooled)
    at_any = at_level
    if "training" in scores.dims:
        at_any = at_level.min("training")
    if not is_lazy(scores):
        _refuse_without(at_any, failed.any([dim for dim in failed.dims if dim not in at_any.dims]))
    worst: xr.DataArray = sign * at_level.fillna(at_any)
    return worst


def _refuse_without(worst: xr.DataArray, failed: xr.DataArray) -> None:
    """Refuse tasks in which runs failed and none has a finite score."""
    lacking = np.flatnonzero((worst.isnull() & failed).to_numpy())
    if lacking.size:
        name = labels.task_names(worst, ())[lacking[0]]
        raise Refusal(
            "scores",
            UNSAID,
            f"{name}no run has a finite score, so that there is no worst one",
            Cure("Say what failing counts as: ", call(".curves.fill_failed", 0.0)),
        )
