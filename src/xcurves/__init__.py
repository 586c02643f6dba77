"""Compare machine-learning algorithms by their performance curves.

Importing this package registers ``.curves`` on xarray DataArrays, Datasets and DataTrees and on pandas DataFrames. A
method's own modules are imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from xcurves import accessors as _accessors  # noqa: F401  # registers .curves
from xcurves import kinds as _kinds

if TYPE_CHECKING:
    from xcurves import archive as archive
    from xcurves import readers as readers
    from xcurves import simulation as simulation
    from xcurves import tutorial as tutorial
    from xcurves.accessors import register_polars as register_polars
    from xcurves.anova import *  # noqa: F403  # the public functions of a family
    from xcurves.distributions import *  # noqa: F403
    from xcurves.gating import *  # noqa: F403
    from xcurves.group_sequential import *  # noqa: F403
    from xcurves.learning_curves import *  # noqa: F403
    from xcurves.multi_task import *  # noqa: F403
    from xcurves.plotting.benchmark import plot_benchmark as plot_benchmark
    from xcurves.plotting.dispatch import plot as plot
    from xcurves.plotting.explore import explore as explore
    from xcurves.preprocessing.alignment import align as align
    from xcurves.preprocessing.alignment import drop_incomplete as drop_incomplete
    from xcurves.preprocessing.failures import fill_failed as fill_failed
    from xcurves.preprocessing.frames import to_dataarray as to_dataarray
    from xcurves.preprocessing.frames import to_dataset as to_dataset
    from xcurves.preprocessing.normalization import normalize as normalize
    from xcurves.profile import *  # noqa: F403
    from xcurves.reporting.analyze import analyze as analyze
    from xcurves.reporting.page import report as report
    from xcurves.reporting.paper import bibtex as bibtex
    from xcurves.reporting.paper import describe_methods as describe_methods
    from xcurves.reporting.paper import format_table as format_table
    from xcurves.results import summary as summary
    from xcurves.results import table as table
    from xcurves.simulation import power as power
    from xcurves.simulation import runs_needed as runs_needed
    from xcurves.simulation import type_i_error as type_i_error
    from xcurves.target_times import *  # noqa: F403
    from xcurves.tidy_frames import to_frame as to_frame

_FUNCTIONS = {  # for all kinds of results; the functions of one kind are listed in `kinds`
    "align": "preprocessing.alignment",
    "analyze": "reporting.analyze",
    "assign_looks": "group_sequential.looks",
    "bibtex": "reporting.paper",
    "describe_methods": "reporting.paper",
    "drop_incomplete": "preprocessing.alignment",
    "explore": "plotting.explore",
    "fill_failed": "preprocessing.failures",
    "format_table": "reporting.paper",
    "normalize": "preprocessing.normalization",
    "plot": "plotting.dispatch",
    "plot_benchmark": "plotting.benchmark",
    "register_polars": "accessors",
    "report": "reporting.page",
    "summary": "results",
    "table": "results",
    "time_to_target": "target_times.time_to_target",
    "to_dataarray": "preprocessing.frames",
    "to_dataset": "preprocessing.frames",
    "to_frame": "tidy_frames",
    "trials_needed": "distributions.trials",
}
_MODULES = ("archive", "readers", "simulation", "tutorial")

__all__ = sorted([*_kinds.NAMES, *_FUNCTIONS, *_MODULES])


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used; importing all of them takes half as long as importing xarray."""
    if name == "__version__":
        return import_module("importlib.metadata").version("xcurves")
    if name in _MODULES:
        return import_module(f"xcurves.{name}")
    if _kinds.is_built_in(name):
        found = _kinds.function(name)
    elif name in _FUNCTIONS:
        found = getattr(import_module(f"xcurves.{_FUNCTIONS[name]}"), name)
    else:
        raise AttributeError(f"module 'xcurves' has no attribute {name!r}")
    from xcurves.core.named_options import names_options

    found = names_options(found)
    found.__module__ = "xcurves"  # where pickle finds it
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
