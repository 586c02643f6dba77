"""Scores as rliable takes them: an array of each algorithm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xcurves.core.calls import names_options
from xcurves.core.direction import MADE_NAME, SCORE
from xcurves.core.doubts import asked, how_many, runs_each
from xcurves.core.refusal import Proposal, Refusal, Verbatim, call, give
from xcurves.readers.formats import format_of
from xcurves.readers.in_memory import check_named
from xcurves.readers.log_files import parsing
from xcurves.readers.logs import files_below
from xcurves.readers.open_files import one_array, open_arrays, read_bytes
from xcurves.readers.packages import RLIABLE, RLIABLE_CURVES, RLIABLE_TURNED

__all__ = ["scores"]  # others serve declarations of sources


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
        of such arrays, or a folder of an ``.npy`` file for each algorithm.
    tasks : sequence of str, optional
        Names of the tasks; those that a further array of text in the file has, or else their numbers if left out.
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
    loaded: Any = arrays
    if isinstance(arrays, str | Path):
        loaded = _load(Path(arrays))
        if tasks is None:
            tasks, loaded = _names_of_tasks(loaded)
    named = check_named("arrays", loaded, "arrays", "'dqn': x")
    shapes = {name: np.shape(array) for name, array in named.items()}
    if {len(shape) for shape in shapes.values()} not in ({2}, {3}) or len({shape[1:] for shape in shapes.values()}) > 1:
        raise Refusal(
            "arrays",
            Verbatim(shapes),
            "must be (runs, tasks) or (runs, tasks, frames), alike but for runs",
        )
    labels: dict[str, Sequence[Any]] = {}
    axes = {"task": tasks, "frame": frames}
    for (axis, given), size in zip(axes.items(), next(iter(shapes.values()))[1:], strict=False):
        labels[axis] = range(size) if given is None else given
        if len(labels[axis]) != size:
            raise Refusal(f"{axis}s", Verbatim(len(labels[axis])), f"must name {size}")
    scored = {
        name: pd.Series(
            np.ravel(array),
            pd.MultiIndex.from_product([range(len(array)), *labels.values()]),
            name=SCORE,
        )
        for name, array in named.items()
    }
    frame = pd.concat(scored, names=["algorithm", "run", *labels]).reset_index()
    frame.attrs = {"source": f"arrays of {len(named)} algorithms", MADE_NAME: SCORE}
    return frame[["task", "algorithm", "run", *list(labels)[1:], SCORE]]


def _load(path: Path) -> dict[str, Any]:
    """Return the arrays of an .npz file by their names, those of .npy files by the names of the files."""
    if path.is_dir():
        files = [file for file in files_below(path) if _is_npy(file)]
        below = [file for file in files if file.parent != path]
        if below:
            raise Refusal(
                "path",
                str(path),
                f"{below[0]} is in a folder of its own, and an array of several axes has all runs of an algorithm",
                "Put the files in one folder, each with the name of an algorithm",
            )
        return {file.name.partition(".")[0]: _load_one(file) for file in files}
    if _is_npy(path):
        return {path.name.partition(".")[0]: _load_one(path)}
    with parsing(path, "arrays of scores"), open_arrays(path) as saved:
        return dict(saved.items())


def _load_one(path: Path) -> NDArray[Any]:
    with parsing(path, "array of scores"):
        return one_array(read_bytes(path))


def _is_npy(path: Path) -> bool:
    """Return whether a file is one array."""
    return path.suffix == ".npy" and format_of(path) == "npy"


def has_axes(path: Path) -> bool:
    """Return whether a file is one array of several axes."""
    return _is_npy(path) and _load_one(path).ndim > 1


def _names_of_tasks(arrays: Mapping[str, Any]) -> tuple[list[str] | None, Mapping[str, Any]]:
    """Return the names of tasks that one array of text has beside arrays of scores, and these; None if none has."""
    texts = [name for name, array in arrays.items() if np.ndim(array) == 1 and np.asarray(array).dtype.kind == "U"]
    rest = {name: array for name, array in arrays.items() if name not in texts}
    if len(texts) != 1 or not rest:
        return None, arrays
    names: list[str] = arrays[texts[0]].tolist()
    if any(np.ndim(array) not in (2, 3) or np.shape(array)[1] != len(names) for array in rest.values()):
        return None, arrays
    return names, rest


def names_tasks(path: Path) -> bool:
    """Return whether a file says by itself that the second axis of its arrays are tasks, by an array of their names."""
    if format_of(path) != "npz":
        return False
    return _names_of_tasks(_load(path))[0] is not None


def read_turned_curves(path: str | Path) -> pd.DataFrame:
    """Return a row for each score of arrays (steps, runs), of which steps are 1, 2, ..."""
    return _frame_of_curves({name: np.transpose(array) for name, array in _load(Path(path)).items()})


def read_curves(path: str | Path) -> pd.DataFrame:
    """Return a row for each score of arrays (runs, steps) or (runs, steps, tasks), of which steps are 1, 2, ..."""
    return _frame_of_curves(_load(Path(path)))


def _frame_of_curves(arrays: Mapping[str, Any]) -> pd.DataFrame:
    turned = {
        name: np.moveaxis(np.atleast_3d(array), 2, 1) for name, array in arrays.items() if np.ndim(array) in (2, 3)
    }
    if len(turned) < len(arrays):
        shapes = {name: np.shape(array) for name, array in arrays.items()}
        raise Refusal("arrays", Verbatim(shapes), "must be (runs, steps) or (runs, steps, tasks)")
    n_steps = next(iter(turned.values())).shape[2]
    frame = scores(turned, frames=range(1, n_steps + 1))
    frame = frame.rename(columns={"frame": "step"})
    n_tasks = next(iter(turned.values())).shape[1]
    if n_tasks == 1:
        frame = frame.drop(columns="task")
    return frame


def ask(path: str | Path) -> pd.DataFrame:
    """Ask whether the second axis of arrays are tasks or steps, which no array says."""
    arrays = _load(Path(path))
    shapes = [np.shape(array) for array in arrays.values()]
    if len({shape[1:] for shape in shapes}) > 1 or len(shapes[0]) not in (2, 3):
        return scores(path)  # refused
    n_runs = runs_each(*(edge(shape[0] for shape in shapes) for edge in (min, max)))
    size, *last = shapes[0][1:]
    of_tasks = f"{how_many(size, 'task')}, {n_runs}"
    of_steps = f"curves of {size:,} steps, {n_runs}"
    if last:
        of_tasks += f", curves of {last[0]:,} frames"
        of_steps = f"{how_many(last[0], 'task')}, {of_steps}"
    choices = [(RLIABLE_CURVES, of_steps), (RLIABLE, of_tasks)]
    if not last and len({shape[0] for shape in shapes}) == 1:
        turned = f"curves of {shapes[0][0]:,} steps along the first axis, {runs_each(size, size)}"
        choices.append((RLIABLE_TURNED, turned))
    proposals = []
    for source, compares in choices:
        read = call("xcurves.readers.read", str(path), source=source.name).then(call(".curves.to_dataarray"))
        proposals.append(Proposal(read, give(source=source.name), compares))
    raise asked("path", f"{path} does not say what the second axis of its arrays is, shape {shapes[0]}", proposals)
