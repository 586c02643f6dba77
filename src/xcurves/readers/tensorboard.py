"""Scalars of TensorBoard event files, read by the tensorboard package itself, without TensorFlow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from xcurves.readers import paths


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
        If no file has a scalar, or if `folders` does not fit. An event file that was cut short gives its whole events.

    Examples
    --------
    >>> from xcurves.readers import tensorboard
    >>> frame = tensorboard.scalars("runs", folders=("task", "algorithm", "run"))  # doctest: +SKIP
    """
    names = paths.check_folders(folders)
    logs = paths.find_logs(root, lambda path: "tfevents" in path.name, "event files (*tfevents*)")
    frames = [_run(folder).assign(**paths.name_folders(root, folder, names)) for folder in logs]
    frame = paths.join(frames, names)
    if frame.empty:
        raise ValueError(f"root {str(root)!r}: no event file has a scalar. Check what was logged")
    frame.attrs = {
        "units": {"step": "steps", "wall_time": "s"},
        "source": f"TensorBoard event files of {len(logs)} runs below {Path(root).name}",
    }
    return frame


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
