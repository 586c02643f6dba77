"""Compare machine-learning algorithms by their performance curves.

Importing this package registers ``.curves`` on xarray DataArrays and Datasets and on pandas DataFrames.
"""

from importlib.metadata import version as _version

from xcurves import accessors as _accessors  # noqa: F401  # registers .curves
from xcurves import tutorial
from xcurves.align import align, drop_incomplete
from xcurves.anova import randomized_anova
from xcurves.comparison import compare_distributions
from xcurves.contrasts import contrast
from xcurves.distribution import performance_cdf, trials_needed
from xcurves.frames import to_dataarray
from xcurves.normalization import normalize
from xcurves.pairs import pairwise
from xcurves.plot import plot
from xcurves.results import summary, table

__version__ = _version("xcurves")

__all__ = [
    "align",
    "compare_distributions",
    "contrast",
    "drop_incomplete",
    "normalize",
    "pairwise",
    "performance_cdf",
    "plot",
    "randomized_anova",
    "summary",
    "table",
    "to_dataarray",
    "trials_needed",
    "tutorial",
]
