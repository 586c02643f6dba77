"""The declaration of a kind of result: its variables, table, sentences and pictures.

Every family of methods declares its kinds in a module `kinds`; tables, reports, the command line, archives and tests
iterate over these declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.core import provenance
from xcurves.core.labels import LONG_NAMES, task_prefixes
from xcurves.core.packing import Layout

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TASK = "task"  # in the dims of a variable: all dims that broadcast


@dataclass(frozen=True, slots=True)
class Var:
    """One variable of a result.

    `units` is "score" (the unit of the scores), "score^2", "training" (the unit of training), or written out; `when`
    is the option that brings the variable, None if it is always there.
    """

    dims: tuple[str, ...]
    long_name: str
    units: str = "1"
    dtype: type = np.float64
    when: str | None = None

    @property
    def core(self) -> tuple[str, ...]:
        """Dims in one task."""
        return tuple(dim for dim in self.dims if dim != TASK)


PAIR_COORDS = {
    "algorithm_a": Var(("pair",), "first algorithm of the pair"),
    "algorithm_b": Var(("pair",), "second algorithm of the pair"),
}


@dataclass(frozen=True, slots=True)
class View:
    """One picture of a result.

    `draw(result, ax)` draws a result that has no extra dims except the overlaid ones of its kind; `caption` says what
    readers see and `alternative(result)` what it shows, for those who do not see it. `title(result)` names what is
    compared, where nothing else in the picture does. The size of a view that lists things follows from its numbers of
    `rows` and `columns`.

    Each label of a dim in `panels` has a panel; so has each label of the dim `overlaid`, where a panel would have more
    than `MOST_CURVES`. More than `most_panels` are replaced by the view `many`, which draws all in one panel. The dim
    `along` is the x axis of this view, where others have a panel for each of its labels; it needs results with it.
    """

    draw: Callable[[xr.Dataset, Axes], None]
    caption: str
    alternative: Callable[[xr.Dataset], str]
    default: bool = True
    rows: Callable[[xr.Dataset], float] | None = None
    columns: Callable[[xr.Dataset], float] | None = None
    title: Callable[[xr.Dataset], str] | None = None
    panels: tuple[str, ...] = ()
    overlaid: str | None = None
    many: View | None = None
    most_panels: int = 4
    along: str | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """How a kind takes part in a whole analysis.

    `name` is its group, `stream` the number of its random stream, `options` those of `analyze` that its function takes.
    `select(curves)` returns what the function is called with, options that follow from the curves, and attrs for the
    result, or raises a NotApplicableError. Where `refuses`, a ValueError of the function means that it does not apply.
    `opens` says that its answer opens a report: which algorithm is better, by how much, or where.
    """

    name: str
    stream: int
    select: Callable[[xr.DataArray], tuple[xr.DataArray, dict[str, Any], dict[str, str]]]
    options: tuple[str, ...] = ()
    refuses: bool = False
    opens: bool = False


Overlaid = Collection[str] | Callable[[xr.Dataset], Collection[Hashable]] | None


@dataclass(frozen=True, slots=True)
class ResultKind:
    """The declaration of the results of one public function.

    Parameters
    ----------
    name : str
        The public function, and ``attrs["xcurves_result"]``.
    question : str
        What a result answers: the heading in a summary, a report and the command line.
    method, unit : str
        For the methods section of a paper: what was done, in whole sentences with attrs in braces, and what is
        reassigned, resampled or taken to be independent.
    argument : str
        What the function takes: "curves", "errors", "scores", "generator", or the name of the kind that it takes.
    variables : mapping of str to Var
        In the order of the packed results, the answer first.
    coords : mapping of str to tuple of str
        Labels of the dims that only results have; empty where they depend on the call.
    coord_vars : mapping of str to Var
        Coordinates that are no dims.
    rows : tuple of str
        Dims of which every combination is a row of `to_frame`, besides the tasks.
    core : tuple of str
        Dims of the argument that are no tasks.
    references : tuple of str
        Papers, with DOI where there is one.
    table, sentences, answer, digest : functions of a result
        The table to print; the sentences of `summary`; the answer in one sentence, of one task or of many; the short
        table of many tasks with its caption, where `table` would be long.
    table_caption : str
        The caption of the table in a report.
    caution : function of a result, optional
        What the answer does not say: sentences of a report.
    views : mapping of str to View
        Pictures, by name. Those that are `default` are drawn if none is asked for.
    no_view : str
        Why there is no picture, where there is none.
    part : Part, optional
        How it takes part in a whole analysis.
    ranking : function of a result and its table, optional
        For each row, of which the first column has a value of one algorithm: "best", "tie" where it is not shown to
        differ from the best one, or "".
    overlaid : collection of str, function or None
        Task dims that share a panel; None: all. A function of the result says which.
    """

    name: str
    question: str
    argument: str
    variables: Mapping[str, Var]
    coords: Mapping[str, tuple[str, ...]]
    references: tuple[str, ...]
    method: str
    unit: str
    table: Callable[[xr.Dataset], pd.DataFrame]
    table_caption: str
    sentences: Callable[[xr.Dataset], Iterator[str]]
    answer: Callable[[xr.Dataset], str]
    digest: Callable[[xr.Dataset], tuple[pd.DataFrame, str]] | None = None
    caution: Callable[[xr.Dataset], Iterator[str]] | None = None
    views: Mapping[str, View] = field(default_factory=dict)
    no_view: str = ""
    coord_vars: Mapping[str, Var] = field(default_factory=dict)
    part: Part | None = None
    ranking: Callable[[xr.Dataset, pd.DataFrame], list[str]] | None = None
    rows: tuple[str, ...] = ()
    core: tuple[str, ...] = ("algorithm", "run", "training")
    overlaid: Overlaid = ()

    def layout(self, sizes: Mapping[str, int], *options: str) -> Layout:
        """Return how the variables of one task are packed, with those that the options bring."""
        asked = {name: var for name, var in self.variables.items() if var.when is None or var.when in options}
        return Layout({name: var.core for name, var in asked.items()}, sizes)

    def attrs(
        self, given: xr.DataArray | xr.Dataset, entropy: int, confidence_level: float, **options: Any
    ) -> dict[str, Any]:
        """Return the attrs of a result: what it is, where it comes from, and what the method was given."""
        return provenance.result_attrs(self.name, given, self.references, entropy, confidence_level, **options)

    def dataset(
        self,
        variables: Mapping[str, xr.Variable],
        coords: Mapping[Hashable, Any],
        attrs: Mapping[str, Any],
        given: xr.DataArray,
        units: Mapping[str, str] | None = None,
    ) -> xr.Dataset:
        """Return a result: variables with their names, units and types, in the units of what was `given`.

        `units` has the units of variables whose unit depends on the call.
        """
        known = _units(given) | dict(units or {})
        described = {name: self._described(name, variable, known) for name, variable in variables.items()}
        result = xr.Dataset(described, _coordinates(coords, self.labels(described)), attrs)
        found = result.variables
        for name, var in self.coord_vars.items():
            if name in found and not found[name].attrs:
                found[name].attrs = {"long_name": var.long_name, **_said(var.units, known.get(var.units, var.units))}
        for dim in result.xindexes.keys() & LONG_NAMES.keys():
            found[dim].attrs.setdefault("long_name", LONG_NAMES[str(dim)])
        return result

    def _described(self, name: str, variable: xr.Variable, known: Mapping[str, str]) -> xr.Variable:
        """Return a variable of the declared type, with its long name and unit."""
        var = self.variables[name]
        variable = variable if variable.dtype == var.dtype else variable.copy(data=variable.data.astype(var.dtype))
        units = known.get(name, known.get(var.units, var.units))
        variable.attrs = {"long_name": var.long_name, **_said(var.units, units)}
        return variable

    def labels(self, variables: Mapping[str, xr.Variable]) -> dict[str, xr.DataArray]:
        """Return the coordinates that every result has, with their long names."""
        dims = {dim for variable in variables.values() for dim in variable.dims}
        return {dim: _labels(dim, names) for dim, names in self.coords.items() if names and dim in dims}

    def matches(self, dataset: xr.Dataset) -> bool:
        """Return whether a Dataset has the variables of this kind, or says that it is one."""
        named = dataset.attrs.get("xcurves_result")
        return named == self.name if named else self.required() <= set(dataset.variables)

    def check(self, result: object, name: str) -> None:
        """Refuse what is no result of this kind, given as the argument `name`."""
        if not isinstance(result, xr.Dataset) or not self.matches(result):
            got = getattr(result, "attrs", {}).get("xcurves_result") or type(result).__name__
            raise TypeError(
                f"{name} must be a result of {self.name}; got {got}. Make one: {self.argument}.curves.{self.name}()"
            )
        self.check_attrs(result)

    def check_attrs(self, result: xr.Dataset) -> None:
        """Refuse a result whose attrs, such as its confidence level, are gone."""
        if "xcurves_result" not in result.attrs:
            raise ValueError(
                f"a result of {self.name} without its attrs does not say how it was made. "
                "Give them back: result.assign_attrs(original.attrs)"
            )

    def reserved(self) -> frozenset[str]:
        """Return the names that a dim or coordinate of what is given must not have."""
        return frozenset([*self.variables, *self.coords, *self.coord_vars])

    def dims(self) -> frozenset[str]:
        """Return the dims of results that are no tasks."""
        return frozenset([*self.coords, *(dim for var in self.variables.values() for dim in var.core)])

    def task_dims(self, result: xr.Dataset) -> tuple[Hashable, ...]:
        """Return the dims of a result that broadcast."""
        of_tasks = [result[name] for name, var in self.variables.items() if name in result and TASK in var.dims]
        return tuple(dict.fromkeys(dim for array in of_tasks for dim in array.dims if dim not in self.dims()))

    def panel_dims(self, result: xr.Dataset) -> list[Hashable]:
        """Return the task dims of which every label has a panel of its own in a picture."""
        together = self.overlaid(result) if callable(self.overlaid) else self.overlaid
        return [] if together is None else [dim for dim in self.task_dims(result) if dim not in together]

    def task_names(self, result: xr.Dataset) -> list[str]:
        """Return the prefix of each task of a result in messages, in C order."""
        return task_prefixes(result, self.task_dims(result))

    def required(self) -> frozenset[str]:
        """Return the variables that every result has."""
        return frozenset(name for name, var in self.variables.items() if var.when is None)


@cache
def _labels(dim: str, names: tuple[str, ...]) -> xr.DataArray:
    """Return the coordinate of a dim that has the same labels in every result, with its index."""
    coordinate = xr.Variable(dim, list(names), {"long_name": LONG_NAMES[dim]})
    return xr.DataArray(coordinate, {dim: coordinate}, name=dim)


def _coordinates(coords: Mapping[Hashable, Any], fixed: Mapping[str, xr.DataArray]) -> xr.Coordinates:
    """Return coordinates with the indexes that they have already; making them again is slow."""
    arrays = {name: each for name, each in coords.items() if isinstance(each, xr.DataArray) and name in each.xindexes}
    others = xr.Coordinates({name: each for name, each in coords.items() if name not in arrays})
    named = {name: each for name, each in fixed.items() if name not in coords}
    indexed = arrays | named
    own = {name: each.variable.copy() for name, each in named.items()}  # results share no labels
    variables = {name: each.variable for name, each in arrays.items()} | own | dict(others.variables)
    indexes = {name: each.xindexes[name] for name, each in indexed.items()} | dict(others.xindexes)
    return xr.Coordinates(variables, indexes)


def _units(given: xr.DataArray) -> dict[str, str]:
    """Return the units of scores and of training, "" where they have none."""
    score = str(given.attrs.get("units", ""))
    training = str(given["training"].attrs.get("units", "")) if "training" in given.coords else ""
    return {"score": score, "score^2": score if score in ("", "1") else f"({score})^2", "training": training}


def _said(declared: str, units: str) -> dict[str, str]:
    """Return the attribute that says a unit; what no unit library reads goes to `comment`."""
    if not units:
        return {"comment": f"in the unit of {declared}"}
    return (
        {"comment": f"unit: {units}"} if "^-gamma" in units or "gamma)" in units or " " in units else {"units": units}
    )
