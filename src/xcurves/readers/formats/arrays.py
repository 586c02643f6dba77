"""Arrays of NumPy: of an .npz file 1-D ones of one length are columns, 2-D ones have rows of runs; .npy is a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from xcurves.core.direction import MADE_NAME, SCORE
from xcurves.core.refusal import Refusal
from xcurves.readers.formats.learning_curves import folds_of
from xcurves.readers.log_files import Run
from xcurves.readers.open_files import one_array, open_arrays


def read_one(data: bytes, path: Path) -> Run:
    """Return the scores of one run, in their order; axes of other arrays are not known."""
    array = one_array(data)
    if array.ndim != 1 or array.dtype.kind not in "biuf":
        raise Refusal(
            "path",
            str(path),
            f"{path} is an array of shape {array.shape} and type {array.dtype}: an .npy file "
            "holds the scores of one run",
            "Save several in an .npz file, a name for each algorithm",
        )
    rows = pd.DataFrame({SCORE: array})
    rows.attrs[MADE_NAME] = SCORE
    return Run(rows)


def read(data: bytes, path: Path) -> Run:
    """Return a row for each element of the arrays, `run` and `step` (the place) where there are rows of runs."""
    with open_arrays(path, data) as saved:
        arrays = {name: saved[name] for name in saved.files}
    single = {name: array for name, array in arrays.items() if array.ndim == 1 and array.dtype.kind in "biufUS"}
    tables = {name: array for name, array in arrays.items() if array.ndim == 2 and array.dtype.kind in "biuf"}
    of_folds = folds_of(single | tables)
    if of_folds is not None:
        return Run(of_folds)
    if tables:
        return Run(_of_runs(tables, single, path))
    lengths = {name: len(array) for name, array in single.items()}
    if not lengths or len(set(lengths.values())) > 1:
        raise Refusal(
            "path",
            str(path),
            f"{path} has no 1-D arrays of one length: {lengths}",
            "Save those that belong together",
        )
    return Run(pd.DataFrame(single))


def _of_runs(tables: dict[str, Any], single: dict[str, Any], path: Path) -> pd.DataFrame:
    """Return a row for each run and step of arrays (runs, steps), with 1-D arrays along steps, else along runs."""
    columns: dict[str, Any]
    shapes = {name: array.shape for name, array in tables.items()}
    n_runs, n_steps = next(iter(shapes.values()))
    if set(shapes.values()) != {(n_runs, n_steps)}:
        raise Refusal(
            "path",
            str(path),
            f"{path}: arrays (runs, steps) have unlike shapes {shapes}",
            "Save each kind in a file of its own",
        )
    columns = {"run": np.repeat(np.arange(n_runs), n_steps)}
    of_steps = {name: array for name, array in single.items() if len(array) == n_steps}
    of_runs = {name: array for name, array in single.items() if len(array) == n_runs and name not in of_steps}
    if not of_steps:
        columns["step"] = np.tile(np.arange(n_steps), n_runs)
    columns |= {name: np.repeat(array, n_steps) for name, array in of_runs.items()}
    columns |= {name: np.tile(array, n_runs) for name, array in of_steps.items()}
    columns |= {name: array.ravel() for name, array in tables.items()}
    return pd.DataFrame(columns)
