"""Blocks of data sets: made by a generator, tested in one call, and counted."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels, provenance
from xcurves.core.validation import Bar, no_bar
from xcurves.simulation.generators import REPLICATION
from xcurves.simulation.grid import GridCell
from xcurves.simulation.stopping import runs_until_decided

CurvesGenerator = Callable[..., xr.DataArray]
Test = Callable[..., xr.Dataset | xr.DataArray]
_COUNTS = ("rejected", "undefined", "tried")
Layout = list[tuple[str, list[str | float] | int]]  # the dims of p-values, with their labels or their number


@dataclass(frozen=True)
class Counted:
    """What was counted in a block, and how its p-values and data sets are laid out."""

    counts: NDArray[np.int64]  # of rejections, undefined p-values and defined ones, shape (3, ...)
    layout: Layout
    data: dict[str, int]
    runs: xr.DataArray | None  # until every pair was decided, summed over data sets


@dataclass(frozen=True)
class Replications:
    """A test, repeated over blocks of data sets."""

    generator: CurvesGenerator
    test: Test
    pvalue: str
    alpha: float
    entropy: int
    block: int = 250  # data sets that are made and tested at once

    def tested(self, cell: GridCell, number: int, size: int) -> tuple[Any, xr.DataArray, xr.DataArray]:
        """Return the test's result of one block, its p-values, the dim `replication` first, and its data sets."""
        draw, shuffle = np.random.SeedSequence([self.entropy, cell.number, number]).spawn(2)
        curves = self.generator(size, rng=np.random.default_rng(draw), **cell.settings)
        _check_data(curves, size)
        takes = inspect.signature(self.test).parameters.get("rng")
        free = takes is not None and (takes.default is None or takes.default is takes.empty)
        seed = {"rng": int(shuffle.generate_state(1, np.uint64)[0]) >> 1} if free else {}
        result = self.test(curves, **seed)
        return result, _pick(result, self.pvalue, size), curves

    def __call__(self, cell: GridCell, number: int, size: int) -> Counted:
        """Return the counts of one block."""
        result, p, curves = self.tested(cell, number, size)
        values = p.to_numpy()
        undefined = np.isnan(values)
        rejected = provenance.significant(values, self.alpha) & ~undefined
        counts = np.stack([rejected.sum(axis=0), undefined.sum(axis=0), (~undefined).sum(axis=0)])
        layout: Layout = [(str(dim), _labels_of(p, dim)) for dim in p.dims[1:]]
        data = {str(dim): size for dim, size in curves.sizes.items() if dim != REPLICATION}
        runs = runs_until_decided(result, self.pvalue, self.alpha)
        return Counted(counts, layout, data, None if runs is None else runs.sum(REPLICATION))


def run_replications(
    simulation: Replications, cells: Sequence[GridCell], total: int, bar: Bar = no_bar
) -> list[xr.Dataset]:
    """Return the counts of every cell, of `total` data sets each."""
    block = simulation.block
    sizes = [block] * (total // block) + [total % block] * (total % block > 0)
    work = [(cell, number) for cell in cells for number in range(len(sizes))]
    with OneWarning():
        blocks = [simulation(cell, number, sizes[number]) for cell, number in bar(work)]
    of_cells = [blocks[start : start + len(sizes)] for start in range(0, len(blocks), len(sizes))]
    for cell, found in zip(cells, of_cells, strict=True):
        _check_alike(found, cell.name)
        if found[0].layout != blocks[0].layout:
            raise ValueError(
                f"the p-value must have the same dims and labels for all settings; got {blocks[0].layout}, "
                f"then ({cell.name[:-2]}) {found[0].layout}. Simulate these settings one by one"
            )
    return [_summed(found) for found in of_cells]


class OneWarning:
    """Repeats the first of many warnings of a test, in words of data sets, with the number of the others.

    It is no generator, so that the frame which leaves it is one of this package: the warning names the caller's line.
    """

    def __enter__(self) -> None:
        self._catching = warnings.catch_warnings(record=True)
        caught = self._catching.__enter__()
        self._caught = [] if caught is None else caught
        warnings.simplefilter("always")

    def __exit__(self, kind: type[BaseException] | None, *raised: Any) -> None:
        self._catching.__exit__(kind, *raised)
        if self._caught and kind is None:
            said = re.sub(rf"^{REPLICATION} ", "data set ", str(self._caught[0].message))
            said = re.sub(r"\(in (\d+) tasks\)", r"(in \1 data sets)", said)
            more = f" (and {len(self._caught) - 1} more warnings)" if len(self._caught) > 1 else ""
            provenance.warn(f"{said}{more}")


def _labels_of(p: xr.DataArray, dim: Hashable) -> list[str | float] | int:
    """Return the labels of a dim of p-values, or their number if it has none; refuse those that no file holds."""
    if dim not in p.coords:
        return p.sizes[dim]
    found = p[dim]
    strange = [label for label in found.to_numpy().tolist() if not isinstance(label, str | int | float)]
    if strange or found.dtype.kind in "mM":
        got = labels.shown(strange[0] if strange else found.to_numpy()[0])
        cure = f"Convert: curves.assign_coords({dim}=curves[{str(dim)!r}].astype(str))"
        raise ValueError(f"{dim} labels must be texts or numbers; got {got}. {cure}")
    return list(found.to_numpy().tolist())


def _check_data(curves: Any, size: int) -> None:
    if not isinstance(curves, xr.DataArray):
        raise TypeError(f"generator must return a DataArray; got {type(curves).__name__}")
    if curves.sizes.get(REPLICATION) != size:
        raise ValueError(
            f"generator must return data sets along a dim {REPLICATION!r} of size {size}; got {dict(curves.sizes)}. "
            "Its first argument says how many"
        )


def _pick(result: Any, name: str, size: int) -> xr.DataArray:
    """Return the p-values, the dim `replication` first."""
    if isinstance(result, xr.Dataset):
        if name not in result:
            known = [repr(each) for each in result.data_vars if "pvalue" in str(each)]
            cure = f"It has {', '.join(known)}. Name one: pvalue={known[0]}" if known else "Return a DataArray of them"
            raise ValueError(f"test returned no p-value {name!r}. {cure}")
        result = result[name]
    if not isinstance(result, xr.DataArray):
        raise TypeError(f"test returned no p-value; got {type(result).__name__}. Return a Dataset or a DataArray")
    if result.sizes.get(REPLICATION) != size:
        raise ValueError(
            f"test must return a p-value for each data set, on a dim {REPLICATION!r}; got dims {result.dims}. "
            "Let it broadcast over further dims"
        )
    values = result.to_numpy()
    if values.dtype.kind not in "fiu" or bool(((values < 0) | (values > 1)).any()):
        raise ValueError(f"test returned values of {name!r} that are no p-values: they must lie between 0 and 1")
    last: xr.DataArray = result.min("look") if "look" in result.dims else result  # a sequential p never rises
    return last.transpose(REPLICATION, ...)


def _check_alike(blocks: Sequence[Counted], name: str) -> None:
    """Refuse blocks of one cell that differ in dims, sizes or labels."""
    for what, whose, found in (
        ("generator must return the same dims and sizes each time", "data sets", [each.data for each in blocks]),
        ("test must return p-values with the same dims and labels each time", "p-values", [e.layout for e in blocks]),
    ):
        other = next((each for each in found if each != found[0]), None)
        if other is not None:
            raise ValueError(f"{name}{what}; got {whose} of {found[0]} and of {other}. Make them alike")


def _summed(blocks: Sequence[Counted]) -> xr.Dataset:
    """Add the blocks of a cell up."""
    layout = blocks[0].layout
    dims = [dim for dim, _ in layout]
    coords = {dim: values for dim, values in layout if isinstance(values, list)}
    counts = np.sum([each.counts for each in blocks], axis=0)
    counted = xr.Dataset({kind: (dims, values) for kind, values in zip(_COUNTS, counts, strict=True)}, coords)
    runs = [each.runs for each in blocks if each.runs is not None]
    if runs:
        total = (counted["undefined"] + counted["tried"]).to_numpy().flat[0]
        counted["runs"] = (runs[0].dims, np.sum([each.to_numpy() for each in runs], axis=0) / total)
    return counted
