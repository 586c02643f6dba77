"""Blocks of data sets: made by a generator, tested in one call, counted, and kept so that a simulation can go on."""

from __future__ import annotations

import inspect
import json
import re
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from types import CodeType
from typing import Any
from zlib import crc32

import numpy as np
import xarray as xr

from xcurves.core import labels, provenance
from xcurves.core.checkpoint_files import Archive, alone
from xcurves.core.progress import progress_bar
from xcurves.simulation.generators import REPLICATION
from xcurves.simulation.grid import GridCell
from xcurves.simulation.stopping import runs_until_decided

CurvesGenerator = Callable[..., xr.DataArray]
Test = Callable[..., xr.Dataset | xr.DataArray]
BlockRecord = dict[str, str]

_COUNTS = ("rejected", "undefined", "tried")
_AT_ONCE = 32  # blocks that are given to dask together


@dataclass(frozen=True)
class Replications:
    """A test, repeated over blocks of data sets."""

    generator: CurvesGenerator
    test: Test
    pvalue: str
    alpha: float
    entropy: int

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

    def __call__(self, cell: GridCell, number: int, size: int) -> BlockRecord:
        """Return, as texts, the counts of one block, their layout, and that of the data sets."""
        result, p, curves = self.tested(cell, number, size)
        values = p.to_numpy().reshape(size, -1)
        undefined = np.isnan(values)
        rejected = provenance.significant(values, self.alpha) & ~undefined
        counts = np.stack([rejected.sum(axis=0), undefined.sum(axis=0), (~undefined).sum(axis=0)])
        layout = [[str(dim), _labels_of(p, dim)] for dim in p.dims[1:]]
        data = {str(dim): size for dim, size in curves.sizes.items() if dim != REPLICATION}
        runs = runs_until_decided(result, self.pvalue, self.alpha)
        summed = [] if runs is None else [list(runs.dims[1:]), runs.sum(REPLICATION).to_numpy().tolist()]
        texts = {"counts": counts.tolist(), "layout": layout, "data": data, "runs": summed}
        return {name: json.dumps(text) for name, text in texts.items()}

    def identity(self, cell: GridCell, block: int) -> dict[str, str | int | float]:
        """Return what blocks depend on, for an archive to compare."""
        return {
            "settings": cell.text,
            "generator": _said(self.generator),
            "test": _said(self.test),
            "pvalue": self.pvalue,
            "alpha": self.alpha,
            "rng": str(self.entropy),
            "block": block,
        }


@dataclass(frozen=True)
class _Work:
    """A block to be done: of which cell, which number, how many data sets."""

    cell: int
    number: int
    size: int

    def index(self, block: int) -> int:
        """Its place in an archive, which tells number and size."""
        return self.number * (block + 1) + self.size


def run_replications(
    simulation: Replications,
    cells: Sequence[GridCell],
    total: int,
    block: int,
    archive: str | Path | None,
    *,
    dask: bool = False,
    progress: bool = False,
) -> list[xr.Dataset]:
    """Return the counts of every cell, of `total` data sets each: those in the archive, and all others made now."""
    folder = None if archive is None else Path(archive)
    sizes = [block] * (total // block) + [total % block] * (total % block > 0)
    work = [_Work(place, number, size) for place in range(len(cells)) for number, size in enumerate(sizes)]
    with alone(folder):
        places = [None if folder is None else folder / f"{cell.number:08x}" for cell in cells]
        kept = [Archive(place, simulation.identity(cell, block)) for place, cell in zip(places, cells, strict=True)]
        todo = [each for each in work if each.index(block) not in kept[each.cell].done]
        finished = _by_dask(simulation, cells, todo) if dask else _in_turn(simulation, cells, todo)
        with OneWarning():
            for each in progress_bar(progress, "data sets")(range(len(todo))):
                kept[todo[each].cell].append({todo[each].index(block): next(finished)})
    wanted = [each.index(block) for each in work if each.cell == 0]
    counted = [_count(each.read().sel(run=wanted), cell.name) for each, cell in zip(kept, cells, strict=True)]
    for cell, counts in zip(cells, counted, strict=True):
        if counts.attrs != counted[0].attrs:
            raise ValueError(
                f"the p-value must have the same dims and labels for all settings; got {counted[0].attrs['layout']}, "
                f"then ({cell.name[:-2]}) {counts.attrs['layout']}. Simulate these settings one by one"
            )
    return counted


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


def _in_turn(simulation: Replications, cells: Sequence[GridCell], todo: Sequence[_Work]) -> Iterator[BlockRecord]:
    return (simulation(cells[each.cell], each.number, each.size) for each in todo)


def _by_dask(simulation: Replications, cells: Sequence[GridCell], todo: Sequence[_Work]) -> Iterator[BlockRecord]:
    try:
        from dask.base import compute
        from dask.delayed import delayed
    except ImportError:
        raise ImportError("dask=True needs dask. Install it: pip install 'xcurves[dask]'") from None
    left: Iterable[_Work] = iter(todo)
    while group := list(islice(left, _AT_ONCE)):
        yield from compute(  # type: ignore[no-untyped-call]  # dask has no annotations
            *(delayed(simulation)(cells[each.cell], each.number, each.size) for each in group)
        )


def _labels_of(p: xr.DataArray, dim: Hashable) -> list[str | float] | int:
    """Return the labels of a dim of p-values, or their number if it has none; refuse those that no archive holds."""
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


def _count(records: xr.Dataset, name: str) -> xr.Dataset:
    """Add the blocks of a cell up; they must be alike."""
    for text, what, whose in (
        ("data", "generator must return the same dims and sizes each time", "data sets"),
        ("layout", "test must return p-values with the same dims and labels each time", "p-values"),
    ):
        kinds = sorted(set(records[text].to_numpy().tolist()))
        if len(kinds) > 1:
            raise ValueError(f"{name}{what}; got {whose} of {kinds[0]} and of {kinds[1]}. Make them alike")
    layout = json.loads(str(records["layout"].to_numpy()[0]))
    dims = [dim for dim, _ in layout]
    coords = {dim: values for dim, values in layout if isinstance(values, list)}
    shape = [len(values) if isinstance(values, list) else values for _, values in layout]
    counts = np.sum([json.loads(each) for each in records["counts"].to_numpy().tolist()], axis=0).reshape(-1, *shape)
    attrs = {"layout": str(records["layout"].to_numpy()[0])}
    counted = xr.Dataset({kind: (dims, values) for kind, values in zip(_COUNTS, counts, strict=True)}, coords, attrs)
    runs = [json.loads(each) for each in records["runs"].to_numpy().tolist()]
    if runs[0]:
        total = (counted["undefined"] + counted["tried"]).to_numpy().flat[0]
        counted["runs"] = (runs[0][0], np.sum([each for _, each in runs], axis=0) / total)
    return counted


def _said(function: Any) -> str:
    """Return a function's name and what it was given; arrays, and the code of lambdas, by a checksum."""
    given: list[str] = []
    if isinstance(function, partial):
        given = [*map(_token, function.args), *(f"{key}={_token(value)}" for key, value in function.keywords.items())]
        function = function.func
    name = str(getattr(function, "__qualname__", type(function).__name__))
    if name.endswith("<lambda>"):  # all have one name
        name += f" {_code(function.__code__):08x}"
    return f"{name}({', '.join(given)})"


def _code(code: CodeType, seen: int = 0) -> int:
    """Return a checksum of what a function does: its instructions, names and constants, inner functions included."""
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    plain = [each for each in code.co_consts if not isinstance(each, CodeType)]
    seen = crc32(code.co_code + repr((code.co_names, plain)).encode(), seen)
    for each in inner:
        seen = _code(each, seen)
    return seen


def _token(value: Any) -> str:
    if isinstance(value, xr.DataArray | np.ndarray):
        values = np.ascontiguousarray(np.asarray(value))
        return f"array {values.shape} {crc32(values.tobytes()):08x}"
    if callable(value):
        return _said(value)
    return labels.words([value])[0] if isinstance(value, str | int | float) else repr(value)
