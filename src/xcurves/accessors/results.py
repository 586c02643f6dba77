"""`.curves` of Datasets and DataTrees: the methods of results."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd
import xarray as xr
from numpy.typing import NDArray

import xcurves
from xcurves.accessors.documented import documented
from xcurves.core import validation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from xcurves.learning_curves.options import At
    from xcurves.learning_curves.predict import Rule
    from xcurves.reporting.paper import Mark


@xr.register_dataset_accessor("curves")  # type: ignore[no-untyped-call]  # xarray's decorators have no annotations
class DatasetCurves:
    """Methods of results: a Dataset that a method of curves returned."""

    def __init__(self, result: xr.Dataset) -> None:
        self._result = result

    def __getattr__(self, name: str) -> object:
        from xcurves.results import no_method

        raise AttributeError(name if name.startswith("_") else no_method(self._result, name))

    def __repr__(self) -> str:
        from xcurves.reporting.notebook import as_text

        return as_text(self._result) or object.__repr__(self)

    def _repr_html_(self) -> str | None:
        from xcurves.reporting.notebook import as_html

        return as_html(self._result)

    @documented
    def table(self) -> pd.DataFrame:
        """Call :func:`xcurves.table`."""
        return xcurves.table(self._result)

    @documented
    def summary(self) -> str:
        """Call :func:`xcurves.summary`."""
        return xcurves.summary(self._result)

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
        return xcurves.format_table(self._result, to, best=best, ties=ties, precision=precision)

    @documented
    def describe_methods(self) -> str:
        """Call :func:`xcurves.describe_methods`."""
        return xcurves.describe_methods(self._result)

    @documented
    def bibtex(self) -> str:
        """Call :func:`xcurves.bibtex`."""
        return xcurves.bibtex(self._result)

    @documented
    def predict(self, n: At, *, method: Rule = "power-law") -> xr.Dataset:
        """Call :func:`xcurves.predict`."""
        return xcurves.predict(self._result, n, method=method)

    @documented
    def compare_learners(self, *, reference: Any) -> xr.Dataset:
        """Call :func:`xcurves.compare_learners`."""
        return xcurves.compare_learners(self._result, reference=reference)

    @documented
    def to_frame(self) -> pd.DataFrame:
        """Call :func:`xcurves.to_frame`."""
        return xcurves.to_frame(self._result)

    @documented
    def plot(
        self,
        view: str | None = None,
        *,
        ax: Axes | None = None,
        col: Hashable | None = None,
        row: Hashable | None = None,
        col_wrap: int | None = None,
        figsize: tuple[float, float] | None = None,
        colors: Mapping[Any, Any] | Sequence[Any] | None = None,
        labels: Mapping[Any, str] | None = None,
        order: Sequence[Any] | None = None,
        n_resamples: int | None = None,
        confidence_level: float | None = None,
        rng: validation.Rng = None,
    ) -> Axes | NDArray[Any]:
        """Call :func:`xcurves.plot`."""
        return xcurves.plot(
            self._result, view, ax=ax, col=col, row=row, col_wrap=col_wrap, figsize=figsize, colors=colors,
            labels=labels, order=order, n_resamples=n_resamples, confidence_level=confidence_level, rng=rng,
        )  # fmt: skip


@xr.register_datatree_accessor("curves")  # type: ignore[no-untyped-call]  # xarray's decorators have no annotations
class DataTreeCurves:
    """Methods of whole analyses: a DataTree that `analyze` returned, or a group of it."""

    def __init__(self, tree: xr.DataTree) -> None:
        self._tree = tree

    def __getattr__(self, name: str) -> object:
        from xcurves.results import no_tree_method

        raise AttributeError(name if name.startswith("_") else no_tree_method(self._tree, name))

    @documented
    def table(self) -> pd.DataFrame:
        """Call :func:`xcurves.table`."""
        return xcurves.table(self._tree)

    @documented
    def summary(self) -> str:
        """Call :func:`xcurves.summary`."""
        return xcurves.summary(self._tree)

    @documented
    def bibtex(self) -> str:
        """Call :func:`xcurves.bibtex`."""
        return xcurves.bibtex(self._tree)

    @documented
    def plot(
        self,
        view: str | None = None,
        *,
        ax: Axes | None = None,
        col: Hashable | None = None,
        row: Hashable | None = None,
        col_wrap: int | None = None,
        figsize: tuple[float, float] | None = None,
        colors: Mapping[Any, Any] | Sequence[Any] | None = None,
        labels: Mapping[Any, str] | None = None,
        order: Sequence[Any] | None = None,
        n_resamples: int | None = None,
        confidence_level: float | None = None,
        rng: validation.Rng = None,
    ) -> Axes | NDArray[Any]:
        """Call :func:`xcurves.plot`."""
        return xcurves.plot(
            self._tree, view, ax=ax, col=col, row=row, col_wrap=col_wrap, figsize=figsize, colors=colors,
            labels=labels, order=order, n_resamples=n_resamples, confidence_level=confidence_level, rng=rng,
        )  # fmt: skip

    @documented
    def report(self, path: str | os.PathLike[str]) -> Path:
        """Call :func:`xcurves.report`."""
        return xcurves.report(self._tree, path)
