"""Scores as rliable takes them: an array of each algorithm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from xcurves.core.named_options import names_options
from xcurves.readers.formats import format_of
from xcurves.readers.log_files import parsing
from xcurves.readers.logs import check_named
from xcurves.readers.open_files import open_arrays
from xcurves.readers.source import Source


@names_options
def scores(
    arrays: Mapping[str, Any] | str | Path,
    *,
    tasks: Sequence[str] | None = None,
    frames: Sequence[float] | None = None,
) -> pd.DataFrame:
    """Turn arrays of scores into a tidy frame.

    Parameters
    ----------
    arrays : mapping, or path
        From the name of each algorithm to its scores, shape (runs, tasks) or (runs, tasks, frames); or an ``.npz`` file
        of such arrays.
    tasks : sequence of str, optional
        Names of the tasks; their numbers if left out.
    frames : sequence of float, optional
        Training at the last axis, such as environment frames; the places 0, 1, ... if left out.

    Returns
    -------
    DataFrame
        One row per score: `task`, `algorithm`, `run` (its place in the array), `frame` for arrays that have frames, and
        `score`. ``to_dataarray("score", training="frame", extra="task")``, or ``training=None`` without frames.

    Raises
    ------
    TypeError, ValueError
        If `arrays` is no mapping from names to arrays; if arrays do not have the same tasks and frames, or not as many
        as are named; if a file is damaged or needs pickle, which is never loaded.

    Examples
    --------
    >>> import numpy as np
    >>> from xcurves.readers import rliable
    >>> rliable.scores({"dqn": np.array([[1.0, 2.0], [3.0, 4.0]])}, tasks=["pong", "qbert"])
        task algorithm  run  score
    0   pong       dqn    0    1.0
    1  qbert       dqn    0    2.0
    2   pong       dqn    1    3.0
    3  qbert       dqn    1    4.0
    """
    loaded = _load(Path(arrays)) if isinstance(arrays, str | Path) else arrays
    named = check_named("arrays", loaded, "arrays", "'dqn': x")
    shapes = {name: np.shape(array) for name, array in named.items()}
    if {len(shape) for shape in shapes.values()} not in ({2}, {3}) or len(
        {shape[1:] for shape in shapes.values()}
    ) > 1:
        raise ValueError(
            f"arrays must be (runs, tasks) or (runs, tasks, frames), alike but for runs; got {shapes}"
        )
    labels: dict[str, Sequence[Any]] = {}
    axes = {"task": tasks, "frame": frames}
    for (axis, given), size in zip(
        axes.items(), next(iter(shapes.values()))[1:], strict=False
    ):
        labels[axis] = range(size) if given is None else given
        if len(labels[axis]) != size:
            raise ValueError(f"{axis}s must name {size}; got {len(labels[axis])}")
    scored = {
        name: pd.Series(
            np.ravel(array),
            pd.MultiIndex.from_product([range(len(array)), *labels.values()]),
            name="score",
        )
        for name, array in named.items()
    }
    frame = pd.concat(scored, names=["algorithm", "run", *labels]).reset_index()
    frame.attrs = {"source": f"arrays of {len(named)} algorithms"}
    return frame[["task", "algorithm", "run", *list(labels)[1:], "score"]]


def _load(path: Path) -> dict[str, Any]:
    with parsing(path, "arrays of scores"), open_arrays(path) as saved:
        return dict(saved.items())


SOURCE = Source(
    "rliable",
    "arrays of scores of rliable",
    "one .npz file, (runs, tasks) or (runs, tasks, frames) of each algorithm",
    ("npz",),
    files=("*.npz",),
    is_log=lambda path: format_of(path) != "npz",
    read_all=scores,
    single=True,
    value="score",
    training="frame",
    extra=("task",),
)
