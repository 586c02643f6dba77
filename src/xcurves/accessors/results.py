"""`.curves` of Datasets and DataTrees: the methods of results."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import pandas as pd
import xarray as xr

import xcurves
from xcurves.accessors.documented import documented
from xcurves.accessors.pictures import Drawable

if TYPE_CHECKING:
    from xcurves.learning_curves.options import At
    from xcurves.learning_curves.predict import Rule
    from xcurves.reporting.paper import Mark


Result = TypeVar("Result", xr.Dataset, xr.DataTree)


class Answers(Drawable[Result]):
    """Methods of a result or of a whole analysis."""

    @documented
    def table(self) -> pd.DataFrame:
        """Call :func:`xcurves.table`."""
        return xcurves.table(self._data)

    @documented
    def summary(self) -> str:
        """Call :func:`xcurves.summary`."""
        return xcurves.summary(self._data)

    @documented
    def bibtex(self) -> str:
        """Call :func:`xcurves.bibtex`."""
        return xcurves.bibtex(self._data)


@xr.register_dataset_accessor("curves")  # type: ignore[no-untyped-call]  # xarray's decorators have no annotations
class DatasetCurves(Answers[xr.Dataset]):
    """Methods of results: a Dataset that a method of curves returned."""

    def __getattr__(self, name: str) -> object:
        from xcurves.results import no_method

        raise AttributeError(name if name.startswith("_") else no_method(self._data, name))

    def __repr__(self) -> str:
        from xcurves.reporting.notebook import as_text

        return as_text(self._data) or object.__repr__(self)

    def _repr_html_(self) -> str | None:
        from xcurves.reporting.notebook import as_html

        return as_html(self._data)

    @documented
    def format_table(
        self,
        to: Literal["latex", "markdown", "html"] = "latex",
        *,
        best: Mark | None = None,
        ties: Mark | None = None,
        precision: int = 3,
    ) -> str:
        """Call :func:`xcurves.format_table`."""
        return xcurves.format_table(self._data, to, best=best, ties=ties, precision=precision)

    @documented
    def describe_methods(self) -> str:
        """Call :func:`xcurves.describe_methods`."""
        return xcurves.describe_methods(self._data)

    @documented
    def predict(self, n: At, *, method: Rule = "power-law") -> xr.Dataset:
        """Call :func:`xcurves.predict`."""
        return xcurves.predict(self._data, n, method=method)

    @documented
    def compare_learners(self, *, reference: Any) -> xr.Dataset:
        """Call :func:`xcurves.compare_learners`."""
        return xcurves.compare_learners(self._data, reference=reference)

    @documented
    def to_frame(self) -> pd.DataFrame:
        """Call :func:`xcurves.to_frame`."""
        return xcurves.to_frame(self._data)


@xr.register_datatree_accessor("curves")  # type: ignore[no-untyped-call]  # xarray's decorators have no annotations
class DataTreeCurves(Answers[xr.DataTree]):
    """Methods of whole analyses: a DataTree that `analyze` returned, or a group of it."""

    def __getattr__(self, name: str) -> object:
        from xcurves.results import no_tree_method

        raise AttributeError(name if name.startswith("_") else no_tree_method(self._data, name))

    @documented
    def report(self, path: str | os.PathLike[str]) -> Path:
        """Call :func:`xcurves.report`."""
        return xcurves.report(self._data, path)
