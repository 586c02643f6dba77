"""The History that ``fit`` of Keras returns; files of its CSVLogger are read by `xcurves.readers.read`."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Number
from textwrap import shorten
from typing import Any

import numpy as np
import pandas as pd

from xcurves.core.calls import names_options
from xcurves.core.refusal import Verbatim, WrongType
from xcurves.readers.in_memory import Key, join_histories


@names_options
def fit_history(histories: Mapping[Key, Any]) -> pd.DataFrame:
    """Join the histories of runs.

    Parameters
    ----------
    histories : mapping
        From (algorithm, run) to what ``model.fit`` returned, or to its ``history`` (a dict of lists).

    Returns
    -------
    DataFrame
        One row per run and epoch: `algorithm`, `run`, `epoch` (from 0, as CSVLogger writes it), and the metrics.

    Raises
    ------
    TypeError, ValueError
        If `histories` is no mapping from (algorithm, run) to histories, if a metric has several values an epoch, or a
        history has no epochs.

    Examples
    --------
    >>> from xcurves.readers import keras
    >>> frame = keras.fit_history({("cnn", 0): {"loss": [0.9, 0.5], "val_loss": [1.0, 0.7]}})
    >>> frame.curves.to_dataarray("val_loss", training="epoch").squeeze().to_numpy()
    array([1. , 0.7])
    """
    frame = join_histories(histories, _rows, of="epochs", example="('cnn', 0): model.fit(...)")
    frame.attrs = {
        "units": {"epoch": "epochs"},
        "source": f"Keras histories of {len(histories)} runs",
    }
    return frame


def _rows(key: Key, fitted: Any) -> pd.DataFrame:
    metrics = getattr(fitted, "history", fitted)
    if not isinstance(metrics, Mapping):
        raise WrongType(
            "histories",
            type(fitted),
            f"histories[{key!r}] must be what model.fit returned",
        )
    for name, values in metrics.items():
        numbers = np.asarray(values, dtype=object)
        if numbers.ndim != 1 or not all(isinstance(value, Number) for value in numbers):
            raise WrongType(
                "histories",
                Verbatim(shorten(repr(values), 60)),
                f"histories[{key!r}]: {name!r} must have a number for each epoch",
                "Give a metric of several values a name for each",
            )
    rows = pd.DataFrame({name: pd.Series(values) for name, values in metrics.items()})
    rows.insert(0, "epoch", getattr(fitted, "epoch", range(len(rows))))
    return rows
