"""Scalars of TensorBoard event files, read with the tensorboard package, without TensorFlow; CleanRL's are named."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd

from xcurves.core.names import compiled
from xcurves.core.refusal import UNSAID, Refusal
from xcurves.readers import logs
from xcurves.readers.log_files import Run, needed
from xcurves.readers.open_files import read_bytes
from xcurves.readers.packages import CLEANRL

_CRC, _HEAD = 4, 12  # bytes of a checksum; of a record's length and its checksum
_CLEANRL = r"{task,.+}__{algorithm,.+}__{run,\d+}__{began,\d+}"
_COLUMNS = ["tag", "step", "wall_time", "value"]


def read_cleanrl(root: str | Path) -> pd.DataFrame:
    """Return the scalars of CleanRL's runs directly below a folder, refusing a seed that was run twice."""
    frame = logs.read_each_run(root, CLEANRL._replace(read_run=read_run), names=_CLEANRL)
    twice = frame[["task", "algorithm", "run", "began"]].drop_duplicates()
    twice = twice[twice.duplicated(["task", "algorithm", "run"], keep=False)]
    if len(twice):
        same = ["__".join(map(str, labels)) for labels in twice.to_numpy()[:2]]
        raise Refusal(
            "path",
            UNSAID,
            f"{same[0]} and {same[1]} in {root} are one seed run twice",
            "Remove one of them",
        )
    return frame


def read_run(files: Sequence[Path]) -> Run:
    """Return all scalars of the event files of a run."""
    proto = needed("tensorboard.compat.proto.event_pb2", "tensorboard")
    events, left_out = zip(*map(_records, files), strict=True)
    plugins: dict[str, str] = {}  # only the first value of a tag names its plugin
    found: list[tuple[Any, ...]] = []
    for record in chain(*events):
        found += _scalars(proto.Event.FromString(record), plugins)
    rows = pd.DataFrame(found, columns=_COLUMNS).astype({"value": float})
    rows = rows.sort_values("tag", key=lambda tags: pd.factorize(tags)[0], kind="stable")
    return Run(rows, "; ".join(filter(None, left_out)))


def _scalars(event: Any, plugins: dict[str, str]) -> Iterator[tuple[Any, ...]]:
    from tensorboard.util.tensor_util import make_ndarray

    for value in event.summary.value:
        kind = value.WhichOneof("value")
        if kind == "simple_value":
            yield value.tag, event.step, event.wall_time, value.simple_value
        elif kind == "tensor":
            plugin = plugins.setdefault(value.tag, value.metadata.plugin_data.plugin_name)
            if plugin == "scalars":
                _check_scalar(value)
                yield (
                    value.tag,
                    event.step,
                    event.wall_time,
                    make_ndarray(value.tensor).item(),
                )


def _check_scalar(value: Any) -> None:
    """Refuse a tensor that claims more than one number, before the memory for them is taken."""
    shape = [dim.size for dim in value.tensor.tensor_shape.dim]
    if math.prod(shape) != 1:
        raise ValueError(f"the scalar {value.tag[:60]!r} is a tensor of shape {shape}")


def _records(file: Path) -> tuple[list[bytes], str]:
    """Return the whole records of a file, each a length (8 bytes), its checksum (4), an event, and its checksum (4)."""
    from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c

    data = read_bytes(file)
    events: list[bytes] = []
    place, n_damaged = 0, 0
    while place + _HEAD <= len(data):
        size, body = int.from_bytes(data[place : place + 8], "little"), place + _HEAD
        if masked_crc32c(data[place : place + 8]) != _checksum(data, place + 8) or body + size + _CRC > len(data):
            break
        event = data[body : body + size]
        whole = masked_crc32c(event) == _checksum(data, body + size)
        if whole:
            events.append(event)
        else:
            n_damaged += 1
        place = body + size + _CRC

    lost = list[str]()
    if n_damaged == 1:
        lost.append("1 damaged record")
    elif n_damaged:
        lost.append(f"{n_damaged} damaged records")
    if place < len(data):
        lost.append(f"the last {len(data) - place} bytes, cut short or damaged")
    if not lost:
        return events, ""
    return (
        events,
        f"{file}: {len(events)} records are read; left out: {', and '.join(lost)}",
    )


def _checksum(data: bytes, place: int) -> int:
    return int.from_bytes(data[place : place + _CRC], "little")


def is_cleanrl(path: Path) -> bool:
    """Return whether the folder of a file is called as CleanRL calls those of runs."""
    return compiled(_CLEANRL).fullmatch(path.parent.name) is not None
