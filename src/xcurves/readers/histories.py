"""Histories of runs that are already in memory: mappings from (algorithm, run) to what a package returned."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

Key = tuple[str, Any]


def frames_of(
    histories: Mapping[Key, Any], read: Callable[[Key, Any], pd.DataFrame], *, of: str, example: str
) -> dict[Key, pd.DataFrame]:
    """Return the frame of each history; `of` names what its rows are, `example` is a history as users name it."""
    if not isinstance(histories, Mapping) or not all(isinstance(key, tuple) and len(key) == 2 for key in histories):
        raise TypeError(
            f"histories must map (algorithm, run) to histories; got {type(histories).__name__}. "
            f"Name them: {{{example}}}"
        )
    frames = {key: read(key, history) for key, history in histories.items()}
    empty = [key for key, rows in frames.items() if rows.empty]
    if empty or not frames:
        raise ValueError(f"histories have no {of}{f' of {empty[0]}' if empty else ''}. Leave such runs out")
    return frames


def join_histories(frames: Mapping[Key, pd.DataFrame]) -> pd.DataFrame:
    """Put the frames of runs below each other, after `algorithm` and `run`."""
    labelled = [rows.assign(algorithm=algorithm, run=run) for (algorithm, run), rows in frames.items()]
    frame = pd.concat(labelled, ignore_index=True)
    return frame[["algorithm", "run", *frame.columns.difference(["algorithm", "run"], sort=False)]]
