"""Compare machine-learning algorithms by their performance curves.

Importing this package registers ``.curves`` on xarray DataArrays and Datasets and on pandas DataFrames.
"""

from importlib.metadata import version as _version

from xcurves import accessors as _accessors  # noqa: F401  # registers .curves
from xcurves import readers, tutorial
from xcurves.align import align, drop_incomplete
from xcurves.anova import randomized_anova
from xcurves.contrasts import contrast
from xcurves.frames import to_dataarray, to_dataset
from xcurves.pairs import pairwise
from xcurves.plot import plot
from xcurves.profile import ss_profile
from xcurves.results import summary, table
from xcurves.tidy import to_frame

__version__ = _version("xcurves")

__all__ = [
    "align",
    "contrast",
    "drop_incomplete",
    "pairwise",
    "plot",
    "randomized_anova",
    "readers",
    "ss_profile",
    "summary",
    "table",
    "to_dataarray",
    "to_dataset",
    "to_frame",
    "tutorial",
]
