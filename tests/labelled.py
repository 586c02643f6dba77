"""Logs as the reading takes them: with labels of runs in place of their paths."""

from typing import Any

import pandas as pd

from xcurves import readers
from xcurves.frames.run_labels import with_labels


def read(*given: Any, **options: Any) -> pd.DataFrame:
    """Return what `readers.read` returns, with labels."""
    return with_labels(readers.read(*given, **options))
