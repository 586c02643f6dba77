"""The declaration of a kind of result: its variables, table, sentences and pictures.

Every family of methods declares its kinds in a module `kinds`; tables, reports, the command line, archives and tests
iterate over these declarations.
"""

from __future__ import annotations

from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf, nan
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from xcurves.array_types import Bools, Floats
from xcurves.core import direction, failed_runs, matched_runs, provenance
from xcurves.core.direction import End, good_end
from xcurves.core.labels import LONG_NAMES, task_prefixes
from xcurves.core.refusal import UNSAID, Refusal, Verbatim, WrongType
from xcurves.core.scales import DIFFERENCE, Scale

if TYPE_CHECKING:
    from xcurves.say.compared_pairs import Compared

TASK = "task"  # in the dims of a variable: all dims that broadcast
JOINED = "joined_task"  # the dim of tasks that are computed together, whatever its name
MOST_CURVES, MOST_BANDS = 8, 3  # that one panel shows; more have a panel each


@dataclass(frozen=True, slots=True)
class Var:
    """One variable of a result."""

    dims: tuple[str, ...]
    long_name: str
    units: str = "1"  # "score" and "training": those of the scores and of training; "score^2"; or written out
    dtype: type = np.float64
    when: str | None = None  # the option that brings it
    coord: bool = False  # whether it is a coordinate, which tells about others
    # where it is known of times that have a budget; elsewhere it is NaN
    known: Callable[[xr.Dataset, xr.DataArray], xr.DataArray] | None = None

    @property
    def core(self) -> tuple[str, ...]:
        """Dims in one task."""
        return tuple(dim for dim in self.dims if dim != TASK)


PAIR_COORDS = {
    "algorithm_a": Var(("pair",), "first algorithm of the pair"),
    "algorithm_b": Var(("pair",), "second algorithm of the pair"),
}

Role = Literal["answer", "detail", "caution"]


class Statement(NamedTuple):
    """A sentence about a result: the answer to its question, a detail, or what a reader must not take from it."""

    role: Role
    text: str


def statements(answer: str, details: Iterable[str] = (), cautions: Iterable[str] = ()) -> Iterator[Statement]:
    """Yield the answer, the details that are no part of it, and the cautions, each once."""
    yield Statement("answer", answer)
    warned = list(dict.fromkeys(cautions))
    for detail in dict.fromkeys(details):
        if detail.lower() not in answer.lower() and detail not in warned:
            yield Statement("detail", detail)
    for caution in warned:
        yield Statement("caution", caution)


def of_comparison(_result: xr.Dataset) -> Any:
    """Stand for the sentences, or the table, that `kinds.kind` makes of the comparison of a kind."""
    raise LookupError("get the kind from xcurves.kinds.kind: it completes a declaration by what it compares")


class Claim(NamedTuple):
    """What pairs are compared for, where a kind makes several claims: the label of the dim of these, and its words."""

    dim: str = ""
    label: str = ""
    on: str = ""  # "on tasks like these"


class About(NamedTuple):
    """What a verdict is about, where it is not about all algorithms in all of the data; and what stands around it."""

    # None: all; () where pairs have too little in common for a best one: `before` says so
    algorithms: Sequence[str] | None = None
    over: str = ""  # behind the mean: "over 16 tasks"
    among: str = ""  # in front of who is best, where others are left out
    left_out: Sequence[tuple[str, str]] = ()  # these, with what they have: "7 of the 20 tasks"
    before: Sequence[str] = ()  # sentences in front
    instead: str = ""  # a sentence in place of the verdict, where nothing is compared
    untested: str = ""  # why nothing is tested by this claim, if it is not the claim of the verdict
    has_limits: bool = True  # whether sentences have intervals
    heading: str = ""  # of intervals in a table, behind their level


KindOfThings = Literal["runs", "tasks", "items", "families"]  # as programs read it


class Needed(NamedTuple):
    """How many things would tell two algorithms apart in 8 of 10 cases; NaN where that is unknown."""

    kind: KindOfThings
    things: str  # as sentences call them: "runs of each", "passages"
    present: float  # as many as there are, NaN where that depends on the algorithm
    to_show: float  # if the difference is as seen
    at_least: float  # if it is the largest of its interval
    smallest: float = nan  # the difference that the present ones show, said in front where it is given


class Floor(NamedTuple):
    """That no p of a claim could be small enough, with what lifts it, and how many these are where they are known."""

    text: str
    needed: Needed | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a kind compares in pairs, of which `say` makes answer, details, cautions, rows of a table and JSON.

    Attrs say which reference stands in all pairs. What is asked of a claim gets the part of a result that is about it.
    """

    estimate: str  # the variable of by how much the first of a pair is above the second
    interval: str  # that of its interval, for all pairs together; a result may lack it
    p: str  # adjusted over pairs; "": there is none, a difference is shown where the interval leaves out the null
    noun: Callable[[xr.Dataset], str]  # what is compared: "mean score over training"
    mean: str = "score_mean"  # the variable of the mean of each algorithm, where there is one
    unit: Callable[[xr.Dataset], str] | None = None  # behind numbers; None: that of the estimate
    direction: Callable[[xr.Dataset], End] = good_end  # which end of what is compared is good
    # what pairs are compared for; the verdict is for the first of which there are p
    claims: Callable[[xr.Dataset], Sequence[Claim]] = lambda _: (Claim(),)
    about: Callable[[xr.Dataset], About | None] = lambda _: None
    # the result at those labels of its other dims that pairs are compared at, in the units that readers are shown
    pair: Callable[[xr.Dataset], xr.Dataset] = lambda result: result
    # why pairs have no p, or without p no interval: one reason, or that of each pair
    reasons: str | Callable[[xr.Dataset], Mapping[frozenset[str], str]] = ""
    # that no p of a claim could be small enough, in several tasks too
    floor: Callable[[xr.Dataset], Iterable[Floor]] = lambda _: ()
    # what would tell the best, named first, from another
    what_next: Callable[[xr.Dataset, str, str], Needed | None] = lambda *_: None
    verdicts: int = 1  # tasks, or benchmarks, of which each has a verdict; of more it is said who is best in how many
    # the kind's own sentences about one of these, given its verdict by each claim; details only where there is one
    own: Callable[[xr.Dataset, Sequence[Compared]], Iterable[Statement]] = lambda *_: ()
    more: Callable[[xr.Dataset], Iterable[Statement]] = lambda _: ()  # about all together
    # what intervals and p hold for, if it is more than all pairs of a task
    holds: Callable[[xr.Dataset], Iterable[str]] | None = None
    scale: Scale = DIFFERENCE
    column: str = ""  # of the table, for estimates; "": "difference", on another scale the name of the estimate
    caption: str = "Pairs of algorithms, {order}: their difference with its interval, and adjusted p."
    scores_caption: str | None = None  # of scores without training, if it is another
    # further columns of the table, of pairs that are not turned
    columns: Callable[[xr.Dataset], Mapping[str, xr.DataArray]] = lambda _: {}


# options of `plot` for pictures with a line for each algorithm or pair, with scales, and with bands of their own
DASHED = frozenset({"linestyles"})
SCALED = DASHED | {"xscale", "yscale"}
ALONG = SCALED | {"band"}
# of rows of pairs
OF_PAIRS = frozenset({"columns"})


class Picture:
    """What a view shows, as plain data of one of the shapes in `pictures`, which `draw` draws and `explore` shows."""

    __slots__ = ()

    @property
    def n_rows(self) -> float:
        """How many rows of usual height it lists, 0 if none."""
        return 0.0

    @property
    def n_columns(self) -> float:
        """How many columns of cells of usual width it has."""
        return 0.0


@dataclass(frozen=True, slots=True)
class Drawing:
    """The picture that a view makes of a result, and what can be asked of it."""

    picture: Callable[[xr.Dataset], Picture]
    title: Callable[[xr.Dataset], str] | None = None
    # whether to draw it where nobody asked for it by name
    suits: Callable[[xr.Dataset], bool] = lambda _: True
    # of `plot`, that not every picture takes: "band", "columns", "linestyles", "xscale", "yscale"
    options: frozenset[str] = frozenset()
    claims: str = ""  # the dim of claims, one of which it shows
    tall: bool = False  # whether its figure grows with its rows beyond the usual height


def caption_of(said: str | Mapping[str, str], figure: Any) -> str:
    """Return the caption of a figure: the sentences whose flags are gids of what it shows, "; " between several."""
    drawn = {""}
    for artist in figure.findobj():
        drawn |= {*str(artist.get_gid()).split("; ")}
    sentences = {"": said} if isinstance(said, str) else said
    return " ".join(sentence for flag, sentence in sentences.items() if flag in drawn)


@dataclass(frozen=True, slots=True)
class View:
    """One picture of a result; task dims have a panel for each label."""

    # of a result without extra dims but those that share a panel
    drawing: Drawing
    # what readers see, by flags where it depends on what was drawn: see `caption_of`
    caption: str | Mapping[str, str]
    default: bool = True
    # How many labels of a dim share a panel at most; inf: the dim is an axis, which the result must have.
    panels: Mapping[str, float] = field(default_factory=dict)
    many: View | None = None  # draws all in one where there are many tasks or panels

    @property
    def axes(self) -> list[str]:
        """The dims that a result must have."""
        return [dim for dim, most in self.panels.items() if most == inf]


@dataclass(frozen=True, slots=True)
class Part:
    """How a kind takes part in a whole analysis."""

    stream: int | None  # the number of its random stream, if it has one
    # What the function is called with, options that follow from the curves, and attrs; or a NotApplicableError.
    select: Callable[[xr.DataArray], tuple[xr.DataArray, dict[str, Any], dict[str, str]]]
    options: tuple[str, ...] = ()  # those of `analyze` that the function takes
    # Whether a ValueError of the function means that it does not apply.
    refuses: bool = False
    on_request: bool = False  # whether it is made only where it is asked for by name
    # a short table of many tasks
    digest: Callable[[xr.Dataset], pd.DataFrame] | None = None
    along: bool = False  # whether it is about where along training, for which there must be two levels
    # a row for each algorithm, the best first
    algorithms: Callable[[xr.Dataset], pd.DataFrame] | None = None
    # pairs as the answer has them, "shown" where they are
    pairs: Callable[[xr.Dataset], pd.DataFrame] | None = None
    # The same where the part is asked for by name, if less is required of the curves then.
    select_asked: Callable[[xr.DataArray], tuple[xr.DataArray, dict[str, Any], dict[str, str]]] | None = None


@dataclass(frozen=True, slots=True)
class TaskScores:
    """The scores of all algorithms in all tasks, as a paper's table and a page show them.

    Arrays have shape (task, algorithm) unless said.
    """

    task: str  # the name of the dim of tasks
    tasks: list[str]
    algorithms: list[str]
    score: str  # as its user calls it, with its unit
    mean: Floats
    sd: Floats  # over runs
    half: Floats  # of the t interval of the mean
    n_runs: NDArray[np.int64]
    best: Bools
    tied: Bools  # not shown to be worse than the best, which the test could have shown
    untold: Bools  # not shown to be worse, which no scores could have shown with so few runs
    any_could: bool  # whether anything could have been shown to be worse than the best of its task
    compared: str | None  # the only algorithm that others are compared with
    mean_over_tasks: Floats  # of the tasks that each algorithm has, shape (algorithm)
    n_tasks: NDArray[np.int64]  # in which it has runs, shape (algorithm)
    rank: Floats  # mean rank, shape (algorithm)
    confidence_level: float


@dataclass(frozen=True, slots=True)
class ResultKind:
    """The declaration of the results of one public function."""

    name: str  # the public function, and attrs["xcurves_result"]
    question: str  # what a result answers: the heading in a summary, a report and the command line
    argument: str  # "curves", "errors", "scores", "generator", or the name of the kind that the function takes
    variables: Mapping[str, Var]  # in the order of the packed results, the answer first
    # Labels of the dims that only results have, () where they depend on the call; a Var is a coordinate that is no dim.
    coords: Mapping[str, tuple[str, ...] | Var]
    references: tuple[str, ...]  # with DOI where there is one
    # For a methods section: what was done, with attrs in braces, and what is reassigned, resampled or independent.
    method: tuple[str, str]
    comparison: Comparison | None = None
    # attrs of the frame: its "caption"; "marks", where rows are values of algorithms: "best" or "tie" of each row.
    table: Callable[[xr.Dataset], pd.DataFrame] = of_comparison
    # all sentences, the answer first
    statements: Callable[[xr.Dataset], Iterable[Statement]] = of_comparison
    scores_method: str = ""  # what was done with scores without training, if it is said otherwise
    # dims of which every combination is a row of `to_frame`, besides the tasks
    rows: tuple[str, ...] = ()
    # dims of the argument that are no tasks
    core: tuple[str, ...] = ("algorithm", "run", "training")
    views: Mapping[str, View] = field(default_factory=dict)
    part: Part | None = None
    # the scores of algorithms in every task
    by_task: Callable[[xr.Dataset], TaskScores] | None = None
    # What a program reads of looks besides what comparisons have: what is next, the ledger.
    for_programs: Callable[[xr.Dataset], dict[str, Any]] | None = None
    # Task dims that share a panel; None: all. A function of the result says which.
    overlaid: Collection[str] | Callable[[xr.Dataset], Collection[Hashable]] | None = ()

    def every_statement(self, result: xr.Dataset) -> list[Statement]:
        """Return all statements; what failed runs count as is part of the answer."""
        of_method = list(self.statements(result))
        filled = [Statement("answer", text) for text in failed_runs.say_filled(result)]
        assumed = [Statement("detail", text) for text in direction.say_assumed(result)]
        repeated = [Statement("detail", text) for text in matched_runs.say_repeats(result)]
        # The first of the details: a summary has room for a few.
        return [*repeated, *assumed, *of_method, *filled]

    def said(self, result: xr.Dataset, role: Role) -> list[str]:
        """Return the statements of a role."""
        return self.by_role(result)[role]

    def by_role(self, result: xr.Dataset) -> dict[Role, list[str]]:
        """Return the statements of each role; all of them are made once."""
        texts: dict[Role, list[str]] = {"answer": [], "detail": [], "caution": []}
        for statement in self.every_statement(result):
            texts[statement.role].append(statement.text)
        return texts

    def answer(self, result: xr.Dataset) -> str:
        """Return the answer to the question."""
        return " ".join(self.said(result, "answer"))

    def own_dims(self) -> dict[str, tuple[str, ...]]:
        """Return the dims that only results have, with their labels."""
        return {name: labels for name, labels in self.coords.items() if not isinstance(labels, Var)}

    def coordinates(self) -> dict[str, Var]:
        """Return the coordinates that are no dims."""
        return {name: var for name, var in self.coords.items() if isinstance(var, Var)}

    def attrs(
        self,
        given: xr.DataArray | xr.Dataset,
        entropy: int,
        confidence_level: float,
        **options: Any,
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
        """Return a result in the units of what was `given`; `units` are those that depend on the call."""
        # Units of single variables come first, then those that units in declarations stand for.
        known_units = _units(given) | dict(units or {})
        described = {}
        for name, variable in variables.items():
            var = self.variables[name]
            units_of_var = known_units.get(var.units, var.units)
            described[name] = xr.Variable(
                variable.dims,
                variable.data.astype(var.dtype, copy=False),
                _described(var, known_units.get(name, units_of_var)),
            )

        # Variables without coordinates of their own: those of a DataArray would come along.
        bare: dict[Hashable, Any] = {}
        for coord, each in coords.items():
            bare[coord] = each
            if isinstance(each, xr.DataArray):
                bare[coord] = each.variable
        result = xr.Dataset(described, self._labels(described) | bare, attrs)

        variables_of_result = result.variables
        for name, var in self.coordinates().items():
            if name in variables_of_result and not variables_of_result[name].attrs:
                units_of_var = known_units.get(var.units, var.units)
                variables_of_result[name].attrs = _described(var, units_of_var)
        for dim in result.xindexes.keys() & LONG_NAMES.keys():
            long_name = LONG_NAMES[str(dim)]
            variables_of_result[dim].attrs.setdefault("long_name", long_name)

        declared = [name for name in described if self.variables[name].coord]
        if declared:
            # skipped where there are none: it copies the result
            return result.set_coords(declared)
        return result

    def _labels(self, variables: Mapping[str, xr.Variable]) -> dict[Hashable, Any]:
        """Return the labels of the dims of variables that only results have."""
        dims = {dim for variable in variables.values() for dim in variable.dims}
        return {dim: _index(dim, names) for dim, names in self.own_dims().items() if names and dim in dims}

    def check(self, result: Any, name: str) -> None:
        """Refuse what is no result of this kind, given as the argument `name`."""
        named = getattr(result, "attrs", {}).get("xcurves_result")
        is_result = False
        if isinstance(result, xr.Dataset):
            # without attrs, by what it has: `check_attrs` then says what is gone
            is_result = bool(named) or self.required() <= set(result.variables)
        if not is_result or named not in (None, self.name):
            got = named or type(result).__name__
            raise WrongType(
                name,
                Verbatim(f"{got}"),
                f"must be a result of {self.name}",
                f"Make one: {self.argument}.curves.{self.name}()",
            )
        self.check_attrs(result)

    def check_attrs(self, result: xr.Dataset) -> None:
        """Refuse a result whose attrs, such as its confidence level, are gone."""
        if "xcurves_result" not in result.attrs:
            raise Refusal(
                "result",
                UNSAID,
                f"a result of {self.name} without its attrs does not say how it was made",
                "Give them back: result.assign_attrs(original.attrs)",
            )

    def curves_with_bands(self) -> list[tuple[str, str]]:
        """Return the variables that are curves of algorithms, then of pairs, each with the one that is its band."""
        of_algorithms, of_pairs = [], []
        for name, variable in self.variables.items():
            band = f"{name}_band"
            if band not in self.variables:
                band = f"{name}_ci"
            if band not in self.variables or len(variable.core) != 2:
                continue
            owner, along = variable.core
            if along not in ("training", "budget_fraction"):
                continue
            if owner == "algorithm":
                of_algorithms.append((name, band))
            elif owner == "pair":
                of_pairs.append((name, band))
        return [*sorted(of_algorithms), *sorted(of_pairs)]

    def reserved(self) -> frozenset[str]:
        """Return the names that a dim or coordinate of what is given must not have."""
        return frozenset([*self.variables, *self.coords])

    def task_dims(self, result: xr.Dataset) -> tuple[Hashable, ...]:
        """Return the dims of a result that broadcast."""
        own = set(self.own_dims())
        for var in self.variables.values():
            own.update(var.core)
        # a dict keeps the order in which dims come
        dims: dict[Hashable, None] = {}
        for name, var in self.variables.items():
            if name in result and TASK in var.dims:
                dims |= dict.fromkeys(result[name].dims)
        return tuple(dim for dim in dims if dim not in own)

    def panel_dims(self, result: xr.Dataset) -> list[Hashable]:
        """Return the task dims of which every label has a panel of its own in a picture."""
        if self.overlaid is None:
            return []
        together: Collection[Hashable]
        if callable(self.overlaid):
            together = self.overlaid(result)
        else:
            together = self.overlaid
        return [dim for dim in self.task_dims(result) if dim not in together]

    def panels_of(self, view: View, result: xr.Dataset) -> list[Hashable]:
        """Return the dims of which every label has a panel in a view: of tasks, and of labels too many for one."""
        dims = [dim for dim in self.panel_dims(result) if dim not in view.panels]
        return dims + [dim for dim, most in view.panels.items() if result.sizes.get(dim, 0) > most]

    def task_names(self, result: xr.Dataset) -> list[str]:
        """Return the prefix of each task of a result in messages, in C order."""
        return task_prefixes(result, self.task_dims(result))

    def required(self) -> frozenset[str]:
        """Return the variables that every result has."""
        every = self.variables.items()
        return frozenset(name for name, var in every if var.when is None)


@lru_cache
def _index(dim: str, names: tuple[str, ...]) -> xr.IndexVariable:
    """Return the labels of a dim as an index, which a Dataset copies."""
    return xr.IndexVariable(dim, list(names))  # type: ignore[no-untyped-call]  # of xarray


def _units(given: xr.DataArray) -> dict[str, str]:
    """Return the units of scores and of training, "" where they have none."""
    score = str(given.attrs.get("units", ""))
    squared = score
    if score not in ("", "1"):
        squared = f"({score})^2"
    training = ""
    if "training" in given.coords:
        training = str(given["training"].attrs.get("units", ""))
    return {"score": score, "score^2": squared, "training": training}


def _described(var: Var, units: str) -> dict[str, str]:
    """Return the attributes of a variable; words as its unit, which no unit library reads, go to `comment`."""
    if not units:
        return {"long_name": var.long_name, "comment": f"in the unit of {var.units}"}
    if " " in units:
        return {"long_name": var.long_name, "comment": f"unit: {units}"}
    return {"long_name": var.long_name, "units": units}
