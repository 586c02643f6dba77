"""Progress of a computation in memory: a tqdm bar over its blocks, if asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from xcurves.core.validation import check_flag


def progress_bar(wanted: bool, what: str = "shuffles", unit: str = "block") -> Callable[..., Iterable[Any]]:
    """Return a function that wraps blocks of a computation in a bar, or does nothing; it takes their `total`."""
    if not check_flag("progress", wanted):
        return _no_bar
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ImportError("progress=True needs tqdm. Install it: pip install 'xcurves[progress]'") from None
    return partial(tqdm, desc=what, unit=unit, leave=False)


def _no_bar(blocks: Iterable[Any], **_: Any) -> Iterable[Any]:
    return blocks
