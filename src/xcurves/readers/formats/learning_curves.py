"""What learning_curve and validation_curve of scikit-learn return, as arrays or as lists: scores of sizes and folds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

_SIZES = {"train_sizes": "train_sizes", "train_sizes_abs": "train_sizes", "param_range": "param_range"}
_OF_FOLDS = frozenset(["train_scores", "test_scores", "fit_times", "score_times"])


def folds_of(values: Mapping[str, Any]) -> pd.DataFrame | None:
    """Return a row for each size and fold of what is called as learning_curve calls it, (sizes, folds); else None."""
    named = [name for name in _SIZES if name in values]
    if len(named) != 1 or len(values) < 2 or not values.keys() - {*named} <= _OF_FOLDS:
        return None
    try:
        sizes = np.asarray(values[named[0]], dtype=float)
        tables = {name: np.asarray(values[name], dtype=float) for name in values if name not in named}
    except (TypeError, ValueError):  # of rows of unlike lengths
        return None
    shapes = {table.shape for table in tables.values()}
    if sizes.ndim != 1 or len(shapes) > 1 or any(len(shape) != 2 or shape[0] != len(sizes) for shape in shapes):
        return None
    ((n_sizes, n_folds),) = shapes
    columns = {"fold": np.tile(np.arange(n_folds), n_sizes), _SIZES[named[0]]: np.repeat(sizes, n_folds)}
    return pd.DataFrame(columns | {name: table.ravel() for name, table in tables.items()})
