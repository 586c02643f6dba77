"""Histories and results that are in memory, by the names of algorithms and runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from xcurves.core.refusal import (
    UNSAID,
    Refusal,
    Verbatim,
    WrongType,
)

Key = tuple[str, Any]  # algorithm and run


def join_histories(
    histories: Mapping[Key, Any],
    read: Callable[[Key, Any], pd.DataFrame],
    *,
    of: str,
    example: str,
) -> pd.DataFrame:
    """Return the rows of histories in memory, after `algorithm` and `run`; `of` names what the rows are."""
    if not isinstance(histories, Mapping) or not all(isinstance(key, tuple) and len(key) == 2 for key in histories):
        raise WrongType(
            "histories",
            type(histories),
            "must map (algorithm, run) to histories",
            f"Name them: {{{example}}}",
        )
    frames = {key: read(key, history) for key, history in histories.items()}
    empty = [key for key, rows in frames.items() if rows.empty]
    if empty or not frames:
        whose = "".join(f" of {key}" for key in empty[:1])
        raise Refusal("histories", UNSAID, f"have no {of}{whose}", "Leave such runs out")
    plain = {key: rows.drop(columns=["algorithm", "run"], errors="ignore") for key, rows in frames.items()}
    return pd.concat(plain, names=["algorithm", "run"]).reset_index(level=[0, 1]).reset_index(drop=True)


def check_named(argument: str, given: Any, what: str, example: str) -> Mapping[str, Any]:
    """Return what is given by the names of algorithms."""
    if not isinstance(given, Mapping) or not given or not all(isinstance(name, str) for name in given):
        raise WrongType(
            argument,
            Verbatim(type(given).__name__),
            f"must map names of algorithms to {what}",
            f"Name it: {{{example}}}",
        )
    return given
