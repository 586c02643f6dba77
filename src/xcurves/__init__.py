"""Compare machine-learning algorithms by their performance curves.

Importing this package registers ``.curves`` on xarray DataArrays, Datasets and DataTrees and on pandas DataFrames. A
method's own modules are imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from xcurves import accessors as _accessors  # noqa: F401  # registers .curves

if TYPE_CHECKING:
    from xcurves import archives as archives
    from xcurves import readers as readers
    from xcurves import study as study
    from xcurves import tutorial as tutorial
    from xcurves.alignment import align as align
    from xcurves.alignment import drop_incomplete as drop_incomplete
    from xcurves.analysis import analyze as analyze
    from xcurves.distribution.comparison import compare_distributions as compare_distributions
    from xcurves.distribution.performance import performance_cdf as performance_cdf
    from xcurves.distribution.performance import trials_needed as trials_needed
    from xcurves.frames import to_dataarray as to_dataarray
    from xcurves.frames import to_dataset as to_dataset
    from xcurves.learning.learners import compare_learners as compare_learners
    from xcurves.learning.powerlaw import fit_power_law as fit_power_law
    from xcurves.learning.prediction import predict as predict
    from xcurves.learning.sizes import leave_one_size_out as leave_one_size_out
    from xcurves.normalization import normalize as normalize
    from xcurves.plotting import plot as plot
    from xcurves.profile.profiling import ss_profile as ss_profile
    from xcurves.randomization.anova import randomized_anova as randomized_anova
    from xcurves.randomization.contrasts import contrast as contrast
    from xcurves.randomization.pairs import pairwise as pairwise
    from xcurves.reporting.page import report as report
    from xcurves.results import summary as summary
    from xcurves.results import table as table
    from xcurves.study import runs_needed as runs_needed
    from xcurves.tidy import to_frame as to_frame

_HOMES = {
    "align": "alignment",
    "analyze": "analysis",
    "compare_distributions": "distribution.comparison",
    "compare_learners": "learning.learners",
    "contrast": "randomization.contrasts",
    "drop_incomplete": "alignment",
    "fit_power_law": "learning.powerlaw",
    "leave_one_size_out": "learning.sizes",
    "normalize": "normalization",
    "pairwise": "randomization.pairs",
    "performance_cdf": "distribution.performance",
    "plot": "plotting",
    "predict": "learning.prediction",
    "randomized_anova": "randomization.anova",
    "report": "reporting.page",
    "runs_needed": "study",
    "ss_profile": "profile.profiling",
    "summary": "results",
    "table": "results",
    "to_dataarray": "frames",
    "to_dataset": "frames",
    "to_frame": "tidy",
    "trials_needed": "distribution.performance",
}
_MODULES = ("archives", "readers", "study", "tutorial")

__all__ = sorted([*_HOMES, *_MODULES])


def __getattr__(name: str) -> Any:
    """Import what is asked for, or look the version up: all of it at once takes half of the time that xarray does."""
    if name == "__version__":
        return import_module("importlib.metadata").version("xcurves")
    if name in _MODULES:
        return import_module(f"xcurves.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'xcurves' has no attribute {name!r}")
    globals()[name] = getattr(import_module(f"xcurves.{_HOMES[name]}"), name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
