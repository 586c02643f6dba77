"""Scalars of TensorBoard event files, read with the tensorboard package, without TensorFlow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from xcurves.readers import paths
from xcurves.readers.source import Source

_CRC, _HEAD = 4, 12  # bytes of a checksum; of a record's length and its checksum
_COLUMNS = ["tag", "step", "wall_time", "value"]


def scalars(root: str | Path, *, folders: str | Sequence[str] = paths.FOLDERS) -> pd.DataFrame:
    """Read all scalars of all runs below a folder.

    Parameters
    ----------
    root : path
        Folder of the runs' folders, each with one or more event files; or one file.
    folders : str or sequence of str
        Column for each level of folders below `root`, such as ``("task", "algorithm", "run")``.

    Returns
    -------
    DataFrame
        One row per scalar: the folders, `tag`, `step` (steps), `wall_time` (s since 1970), `value`; nothing sampled. A
        restarted run repeats steps: choose which to keep by ``to_dataarray(duplicates=...)``. Select a tag, or make it
        a dim: ``to_dataarray("value", training="step", extra="tag")``.

    Raises
    ------
    ImportError
        If tensorboard is not installed.
    FileNotFoundError
        If there is nothing to read.
    ValueError
        If no file has a scalar, or if `folders` does not fit.

    Warns
    -----
    UserWarning
        If an event file has records that cannot be read: how many of them in which file. A damaged record is left out;
        after a damaged length nothing more of the file can be read. If a run has no scalar.

    Examples
    --------
    >>> from xcurves.readers import tensorboard
    >>> frame = tensorboard.scalars("runs", folders=("task", "algorithm", "run"))  # doctest: +SKIP
    """
    frame = paths.read_runs(root, _is_log, "event files (*tfevents*)", folders, _run)
    frame.attrs = {
        "units": {"step": "steps", "wall_time": "s"},
        "source": f"TensorBoard event files {paths.where(root)}",
    }
    return frame


def _is_log(path: Path) -> bool:
    return "tfevents" in path.name


class _Records(NamedTuple):
    events: list[bytes]
    left_out: str


def _run(files: Sequence[Path]) -> paths.Run:
    """Return all scalars of the event files of a run."""
    try:
        from tensorboard.compat.proto.event_pb2 import Event
    except ImportError:
        raise ImportError(
            "readers.tensorboard needs tensorboard. Install it: pip install 'xcurves[tensorboard]'"
        ) from None
    records = [_records(file) for file in files]
    plugins: dict[str, str] = {}  # only the first value of a tag names its plugin
    found: list[tuple[Any, ...]] = []
    for each in records:
        for record in each.events:
            found += _scalars(Event.FromString(record), plugins)
    rows = pd.DataFrame(found, columns=_COLUMNS).astype({"value": float})
    rows = rows.sort_values("tag", key=lambda tags: pd.factorize(tags)[0], kind="stable")
    return paths.Run(rows, "; ".join(each.left_out for each in records if each.left_out))


def _scalars(event: Any, plugins: dict[str, str]) -> Iterator[tuple[Any, ...]]:
    from tensorboard.util.tensor_util import make_ndarray

    for value in event.summary.value:
        kind = value.WhichOneof("value")
        if kind == "simple_value":
            yield value.tag, event.step, event.wall_time, value.simple_value
        elif kind == "tensor":
            plugin = plugins.setdefault(value.tag, value.metadata.plugin_data.plugin_name)
            if plugin == "scalars":
                yield value.tag, event.step, event.wall_time, make_ndarray(value.tensor).item()


def _records(file: Path) -> _Records:
    """Return the whole records of a file, each a length (8 bytes), its checksum (4), an event, and its checksum (4)."""
    from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c

    data = file.read_bytes()
    events: list[bytes] = []
    place, n_damaged = 0, 0
    while place + _HEAD <= len(data):
        size, body = int.from_bytes(data[place : place + 8], "little"), place + _HEAD
        if masked_crc32c(data[place : place + 8]) != _checksum(data, place + 8) or body + size + _CRC > len(data):
            break
        event = data[body : body + size]
        whole = masked_crc32c(event) == _checksum(data, body + size)
        events += [event] * whole
        n_damaged += not whole
        place = body + size + _CRC
    lost = [f"{n_damaged} damaged record{'s' * (n_damaged != 1)}"] * (n_damaged > 0)
    lost += [f"the last {len(data) - place} bytes, cut short or damaged"] * (place < len(data))
    left_out = f"{file}: {len(events)} records are read; left out: {', and '.join(lost)}" if lost else ""
    return _Records(events, left_out)


def _checksum(data: bytes, place: int) -> int:
    return int.from_bytes(data[place : place + _CRC], "little")


SOURCE = Source(
    "tensorboard",
    "a folder of TensorBoard event files (*tfevents*)",
    _is_log,
    scalars,
    by_folders=True,
    value="value",
)
