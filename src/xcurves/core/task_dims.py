"""Which dim of an array is that of the tasks: the one that a call names, or the only one that it could be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import xarray as xr

from xcurves.core import labels, validation
from xcurves.core.names import SYNONYMS
from xcurves.core.refusal import Cure, Refusal, Verbatim, call, give, shown

TASK = "task"  # the usual name, which stands for the only further dim whatever its name
_JOINED = "_joined"  # until the dims that are joined are gone


def named_dims(*options: object) -> frozenset[str]:
    """Return the dims that the options of a call name, each of them by a text or several."""
    named: set[str] = set()
    for option in options:
        if isinstance(option, str):
            named.add(option)
        elif isinstance(option, Iterable) and not isinstance(option, xr.DataArray | np.ndarray):
            named.update(each for each in option if isinstance(each, str))
    return frozenset(named)


def with_training(curves: xr.DataArray, task: object) -> xr.DataArray:
    """Return scores without training at one level of it, and anything else as it is; `task` names dims of tasks.

    A dim that is named is no training, whatever its name and labels.
    """
    named = named_dims(task)
    taken = validation.with_training(curves, named)
    if isinstance(taken, xr.DataArray) and "training" not in taken.dims:
        _ask_which(taken, named)
    return taken


def _ask_which(scores: xr.DataArray, named: frozenset[str]) -> None:
    """Refuse scores whose only further dim has no name or labels that say whether it is of tasks or of training."""
    has_runs = {"algorithm", "run"} <= set(scores.dims)
    extra = labels.extra_dims(scores)
    if not has_runs or len(extra) != 1 or "training" in scores.coords:
        return
    dim = str(extra[0])
    if dim in named or dim.lower() in SYNONYMS["training"].split():
        return
    raise Refusal(
        "dims",
        Verbatim(tuple(map(str, scores.dims))),
        "must include 'training'",
        Cure(
            f"If {dim!r} is of tasks, name it: ",
            give(task=dim),
            ". If it is of levels of training, rename it: ",
            call("da.rename", **{dim: "training"}),
        ),
    )


def check_task(curves: xr.DataArray, task: str | Sequence[str], name: str = "curves") -> tuple[xr.DataArray, str]:
    """Return curves and their dim of tasks: the only extra dim, whatever its name, or several joined to one."""
    extra = labels.extra_dims(curves)
    if not isinstance(task, str) and isinstance(task, Sequence) and len(set(task)) > 1 and set(task) <= set(extra):
        labelled = curves.assign_coords({dim: curves[dim] for dim in task})
        joined = labelled.stack({_JOINED: list(task)}, create_index=False)  # of xarray
        every = zip(*(joined[dim].to_numpy().tolist() for dim in task), strict=True)
        names = [", ".join(map(str, each)) for each in every]
        # One of the dims may have the name of the joined one, which its labels do not.
        joined = joined.drop_vars(TASK, errors="ignore").rename({_JOINED: TASK})
        return joined.assign_coords({TASK: names}).transpose(TASK, ...), TASK
    return curves, one_dim(curves, task, name)


def one_dim(curves: xr.DataArray, task: object, name: str = "curves") -> str:
    """Return the dim of tasks that a call names; "task" is the only further dim, whatever its name."""
    extra = labels.extra_dims(curves)
    if isinstance(task, str) and task in extra:
        return task
    if isinstance(task, str) and task == TASK and len(extra) == 1:
        return str(extra[0])
    if isinstance(task, str) and task in labels.DIMS:
        raise Refusal(
            "task",
            Verbatim(f"{shown(task)}, which is that of {task}s"),
            "must be a dim of tasks",
        )
    cure = Cure(labels.nearest(task, extra))
    if not str(cure) and extra:
        cure = Cure("Name one: ", give(task=extra[0]))
    elif not str(cure):
        cure = Cure(f"Add one: {name}.expand_dims(task=['name'])")
    raise Refusal("task", task, f"is no dim of {name}, which have {tuple(curves.dims)}", cure)
