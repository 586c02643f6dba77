"""Compare machine-learning algorithms by their performance curves.

Importing this package registers ``.curves`` on xarray DataArrays and Datasets and on pandas DataFrames.
"""

from xcurves import accessors as _accessors  # noqa: F401  # registers .curves
from xcurves import readers, study, tutorial
from xcurves.align import align, drop_incomplete
from xcurves.anova import randomized_anova
from xcurves.comparison import compare_distributions
from xcurves.contrasts import contrast
from xcurves.distribution import performance_cdf, trials_needed
from xcurves.frames import to_dataarray, to_dataset
from xcurves.learners import compare_learners
from xcurves.normalization import normalize
from xcurves.pairs import pairwise
from xcurves.plot import plot
from xcurves.powerlaw import fit_power_law
from xcurves.prediction import predict
from xcurves.profile import ss_profile
from xcurves.results import summary, table
from xcurves.sizes import leave_one_size_out
from xcurves.study.planning import runs_needed
from xcurves.tidy import to_frame

__all__ = [
    "align",
    "compare_distributions",
    "compare_learners",
    "contrast",
    "drop_incomplete",
    "fit_power_law",
    "leave_one_size_out",
    "normalize",
    "pairwise",
    "performance_cdf",
    "plot",
    "predict",
    "randomized_anova",
    "readers",
    "runs_needed",
    "ss_profile",
    "study",
    "summary",
    "table",
    "to_dataarray",
    "to_dataset",
    "to_frame",
    "trials_needed",
    "tutorial",
]


def __getattr__(name: str) -> str:
    """Look the version up when it is asked for: importlib.metadata takes a tenth of the time that xarray does."""
    if name != "__version__":
        raise AttributeError(f"module 'xcurves' has no attribute {name!r}")
    from importlib.metadata import version

    return version("xcurves")
