"""Scalars of TensorBoard event files, read by the tensorboard package itself, without TensorFlow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from xcurves.core import provenance
from xcurves.readers import paths

_HEAD, _TAIL = 12, 4  # bytes of a record around its event


def scalars(root: str | Path, *, folders: str | Sequence[str] = ("algorithm", "run")) -> pd.DataFrame:
    """Read all scalars of all runs below a folder.

    Parameters
    ----------
    root : path
        Folder of the runs' folders, each with one or more event files.
    folders : str or sequence of str
        Column for each level of folders below `root`, such as ``("task", "algorithm", "run")``.

    Returns
    -------
    DataFrame
        One row per scalar: the folders, `tag`, `step` (steps), `wall_time` (s since 1970), `value`; nothing sampled. A
        restarted run repeats steps: say which to keep by ``to_dataarray(duplicates=...)``. Select a tag, or make it
        a dim: ``to_dataarray("value", training="step", extra="tag")``.

    Raises
    ------
    ImportError
        If tensorboard is not installed.
    FileNotFoundError, NotADirectoryError
        If there is nothing to read.
    ValueError
        If no file has a scalar, or if `folders` does not fit.

    Warns
    -----
    UserWarning
        If an event file was cut short, of which only the whole events are read, or if a run has no scalar.

    Examples
    --------
    >>> from xcurves.readers import tensorboard
    >>> frame = tensorboard.scalars("runs", folders=("task", "algorithm", "run"))  # doctest: +SKIP
    """
    names = paths.check_folders(folders)
    logs = paths.find_logs(root, lambda path: "tfevents" in path.name, "event files (*tfevents*)")
    files = [file for run in logs.values() for file in run]
    cut = np.array([_is_cut(file) for file in files])
    provenance.warn_of(cut, list(map(str, files)), lambda _: ": the last event is cut short and left out", "files")
    runs = {folder: _run(folder) for folder in logs}
    frames = [run.assign(**paths.name_folders(root, folder, names)) for folder, run in runs.items() if len(run)]
    if not frames:
        raise ValueError(f"root {str(root)!r}: no event file has a scalar. Check what was logged")
    empty = np.array([run.empty for run in runs.values()])
    provenance.warn_of(empty, list(map(str, runs)), lambda _: " has no scalar and is left out", "runs")
    frame = paths.join(frames, names)
    frame.attrs = {
        "units": {"step": "steps", "wall_time": "s"},
        "source": f"TensorBoard event files of {len(logs)} runs below {Path(root).name}",
    }
    return frame


def _is_cut(file: Path) -> bool:
    """Return whether a file ends within a record: its length (8 bytes), a checksum (4), the event, a checksum (4)."""
    size = file.stat().st_size
    place = 0
    with file.open("rb") as records:
        while place + _HEAD <= size:
            records.seek(place)
            place += _HEAD + int.from_bytes(records.read(8), "little") + _TAIL
    return place != size


def _run(folder: Path) -> pd.DataFrame:
    """Return all scalars of the event files of a folder."""
    try:
        from tensorboard.backend.event_processing import event_accumulator
        from tensorboard.util import tensor_util
    except ImportError:
        raise ImportError(
            "readers.tensorboard needs tensorboard. Install it: pip install 'xcurves[tensorboard]'"
        ) from None
    everything = {event_accumulator.SCALARS: 0, event_accumulator.TENSORS: 0}
    # With purging, a run that was restarted would lose what it had logged after the restart's first step.
    log = event_accumulator.EventAccumulator(str(folder), size_guidance=everything, purge_orphaned_data=False)
    log.Reload()
    tags = log.Tags()
    rows: list[tuple[Any, ...]] = [
        (tag, event.step, event.wall_time, event.value) for tag in tags["scalars"] for event in log.Scalars(tag)
    ]
    rows += [
        (tag, event.step, event.wall_time, float(tensor_util.make_ndarray(event.tensor_proto)))
        for tag in tags["tensors"]
        if log.SummaryMetadata(tag).plugin_data.plugin_name == "scalars"
        for event in log.Tensors(tag)
    ]
    return pd.DataFrame(rows, columns=["tag", "step", "wall_time", "value"])
