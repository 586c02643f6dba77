"""`.curves` of arrays, results, analyses and tidy frames: one line for each method, no logic and no state.

The methods are those of the table `public_names`, which a test compares. They are written out because editors that
look at objects, as in notebooks, read them here; those that look at files read ``__init__.pyi``.
"""

from __future__ import annotations

import sys
from typing import Any

import pandas as pd
import xarray as xr

import xcurves
from xcurves.core.calls import method

_CALLS: dict[tuple[str, ...], tuple[str, ...]] = {  # of arrays with these dims, in the last line of a cell
    ("algorithm", "run", "training"): ("plot", "analyze", "pairwise"),
    ("algorithm", "run"): ("performance_cdf", "compare_distributions"),
    ("training",): ("plot", "fit_power_law"),
}


class _Accessor:
    """What holds the object of an accessor."""

    def __init__(self, data: Any) -> None:
        self._data = data


@xr.register_dataarray_accessor("curves")  # type: ignore[no-untyped-call]  # xarray's decorators have no annotations
class DataArrayCurves(_Accessor):
    """Methods of curves, a DataArray with dims (..., algorithm, run, training); of errors and of scores."""

    across_tasks = method(lambda: xcurves.across_tasks)
    align = method(lambda: xcurves.align)
    analyze = method(lambda: xcurves.analyze)
    assign_looks = method(lambda: xcurves.assign_looks)
    compare_distributions = method(lambda: xcurves.compare_distributions)
    contrast = method(lambda: xcurves.contrast)
    drop_incomplete = method(lambda: xcurves.drop_incomplete)
    explore = method(lambda: xcurves.explore)
    fill_failed = method(lambda: xcurves.fill_failed)
    fit_power_law = method(lambda: xcurves.fit_power_law)
    fit_scaling_law = method(lambda: xcurves.fit_scaling_law)
    gate = method(lambda: xcurves.gate)
    leave_one_size_out = method(lambda: xcurves.leave_one_size_out)
    mean_curves = method(lambda: xcurves.mean_curves)
    mean_time_to_target = method(lambda: xcurves.mean_time_to_target)
    normalize = method(lambda: xcurves.normalize)
    pairwise = method(lambda: xcurves.pairwise)
    pass_all = method(lambda: xcurves.pass_all)
    pass_at = method(lambda: xcurves.pass_at)
    performance_cdf = method(lambda: xcurves.performance_cdf)
    performance_profile = method(lambda: xcurves.performance_profile)
    plot = method(lambda: xcurves.plot)
    plot_benchmark = method(lambda: xcurves.plot_benchmark)
    profile_across_tasks = method(lambda: xcurves.profile_across_tasks)
    randomized_anova = method(lambda: xcurves.randomized_anova)
    runs_needed = method(lambda: xcurves.runs_needed)
    sequential = method(lambda: xcurves.sequential)
    speedup = method(lambda: xcurves.speedup)
    ss_profile = method(lambda: xcurves.ss_profile)
    time_to_target = method(lambda: xcurves.time_to_target)
    to_frame = method(lambda: xcurves.to_frame)
    tuning_curve = method(lambda: xcurves.tuning_curve)

    def __repr__(self) -> str:
        from xcurves.reporting.notebook import curves_text

        return curves_text(self._data, _CALLS)


@xr.register_dataset_accessor("curves")  # type: ignore[no-untyped-call]  # xarray's decorators have no annotations
class DatasetCurves(_Accessor):
    """Methods of results: a Dataset that a method of curves returned."""

    bibtex = method(lambda: xcurves.bibtex)
    compare_learners = method(lambda: xcurves.compare_learners)
    compare_scaling_laws = method(lambda: xcurves.compare_scaling_laws)
    describe_methods = method(lambda: xcurves.describe_methods)
    explore = method(lambda: xcurves.explore)
    format_table = method(lambda: xcurves.format_table)
    plot = method(lambda: xcurves.plot)
    optimal_allocation = method(lambda: xcurves.optimal_allocation)
    predict = method(lambda: xcurves.predict)
    predict_loss = method(lambda: xcurves.predict_loss)
    summary = method(lambda: xcurves.summary)
    table = method(lambda: xcurves.table)
    to_dict = method(lambda: xcurves.to_dict)
    to_frame = method(lambda: xcurves.to_frame)

    def __getattr__(self, name: str) -> object:
        from xcurves.results import no_method

        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(no_method(self._data, name))

    def __dir__(self) -> list[str]:
        from xcurves.results import methods_of

        return [name for name in super().__dir__() if name.startswith("_") or name in methods_of(self._data)]

    def __repr__(self) -> str:
        from xcurves.reporting.notebook import as_text

        return as_text(self._data) or object.__repr__(self)

    def _repr_html_(self) -> str | None:
        from xcurves.reporting.notebook import as_html

        return as_html(self._data)


@xr.register_datatree_accessor("curves")  # type: ignore[no-untyped-call]  # xarray's decorators have no annotations
class DataTreeCurves(_Accessor):
    """Methods of whole analyses: a DataTree that `analyze` returned, or a group of it."""

    bibtex = method(lambda: xcurves.bibtex)
    plot = method(lambda: xcurves.plot)
    report = method(lambda: xcurves.report)
    summary = method(lambda: xcurves.summary)
    table = method(lambda: xcurves.table)
    to_dict = method(lambda: xcurves.to_dict)

    def __getattr__(self, name: str) -> object:
        from xcurves.results import no_tree_method

        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(no_tree_method(self._data, name))


@pd.api.extensions.register_dataframe_accessor("curves")
class DataFrameCurves(_Accessor):
    """Methods of tidy frames: one row per score."""

    to_dataarray = method(lambda: xcurves.to_dataarray)
    to_dataset = method(lambda: xcurves.to_dataset)

    def __getattr__(self, name: str) -> object:
        from xcurves.frames.to_curves import no_frame_method

        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(no_frame_method(name))


def register_polars() -> None:
    """Give frames of polars `.curves`; importing xcurves does this if polars is imported already.

    Raises
    ------
    ImportError
        If polars is not installed.

    Examples
    --------
    >>> import polars as pl, xcurves
    >>> xcurves.register_polars()
    >>> frame = pl.DataFrame({"algorithm": ["a", "a"], "run": [0, 0], "training": [1, 2], "score": [0.5, 0.7]})
    >>> frame.curves.to_dataarray("score").sizes["training"]
    2
    """
    try:
        import polars as pl
    except ModuleNotFoundError:
        raise ImportError("register_polars needs polars. Install it: pip install 'xcurves[polars]'") from None
    if not hasattr(pl.DataFrame, "curves"):
        pl.api.register_dataframe_namespace("curves")(DataFrameCurves)


if "polars" in sys.modules:
    register_polars()
