"""Blocks of data sets: made by a generator, tested in one call, and counted on the grid of their settings."""

from __future__ import annotations

import inspect
import json
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from numbers import Real
from typing import Any
from zlib import crc32

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels, provenance, validation
from xcurves.core.refusal import UNSAID, Refusal, Verbatim, WrongType
from xcurves.core.run_checks import CopiesWarning
from xcurves.core.validation import Bar
from xcurves.kernels import intervals

CurvesGenerator = Callable[..., xr.DataArray]
Test = Callable[..., xr.Dataset | xr.DataArray]
REPLICATION = "replication"  # the dim of data sets


def cell_number(cell: Mapping[str, Any]) -> int:
    """Return a checksum of one combination of settings, the same in any grid, for seeds."""
    return crc32(json.dumps(cell, sort_keys=True, default=_plain).encode())


def label(value: Any) -> str:
    """Return the label of a value: that of sizes is 15/5."""
    if isinstance(value, list | tuple | np.ndarray):
        return "/".join(map(str, value))
    return str(value)


def _plain(value: Any) -> Any:
    """Return a number, or the label of anything else."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Real):
        return value
    return label(value)


@dataclass(frozen=True)
class Replications:
    """A test, repeated over blocks of data sets."""

    generator: CurvesGenerator
    test: Test
    pvalue: str
    alpha: float
    entropy: int
    block: int = 250  # data sets that are made and tested at once

    def tested(self, cell: Mapping[str, Any], number: int, size: int) -> tuple[Any, xr.DataArray]:
        """Return the test's result of one block, and its p-values, the dim `replication` first."""
        draw, shuffle = np.random.SeedSequence([self.entropy, cell_number(cell), number]).spawn(2)
        curves = self.generator(size, rng=np.random.default_rng(draw), **cell)
        if not isinstance(curves, xr.DataArray):
            raise WrongType("generator", type(curves), "must return a DataArray")
        if curves.sizes.get(REPLICATION) != size:
            raise Refusal(
                "generator",
                Verbatim(dict(curves.sizes)),
                f"must return data sets along a dim {REPLICATION!r} of size {size}",
                "Its first argument says how many",
            )
        takes = inspect.signature(self.test).parameters.get("rng")
        free = takes is not None and (takes.default is None or takes.default is takes.empty)
        options = {}
        if free:
            options["rng"] = int(shuffle.generate_state(1, np.uint64)[0]) >> 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CopiesWarning)  # runs are drawn with replacement
            result = self.test(curves, **options)
        return result, _pick(result, self.pvalue, size)

    def __call__(self, cell: Mapping[str, Any], number: int, size: int) -> xr.Dataset:
        """Return the counts of one block, of p-values and perhaps of runs, summed over data sets."""
        result, p = self.tested(cell, number, size)
        p = p.reset_coords(drop=True)
        found = {
            "rejected": provenance.significant(p, self.alpha),
            "undefined": p.isnull(),
            "tried": p.notnull(),
        }
        return xr.Dataset(found | _runs_until_decided(result, self.pvalue, self.alpha)).sum(REPLICATION).drop_attrs()


def replications(
    generator: CurvesGenerator,
    test: Test,
    pvalue: str,
    alpha: float,
    rng: validation.Rng,
) -> Replications:
    """Check what makes data sets and tests them."""
    validation.check_function("generator", generator)
    validation.check_function("test", test)
    return Replications(
        generator,
        test,
        pvalue,
        validation.check_share("alpha", alpha),
        validation.check_rng(rng),
    )


def count_rejections(simulation: Replications, settings: Mapping[str, list[Any]], total: int, bar: Bar) -> xr.Dataset:
    """Return the counts of `total` data sets of every combination of settings, dims (*settings, ...)."""
    sizes = [min(simulation.block, total - start) for start in range(0, total, simulation.block)]
    cells = [dict(zip(settings, values, strict=True)) for values in product(*settings.values())]
    work = [(cell, number) for cell in cells for number in range(len(sizes))]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        blocks = [simulation(cell, number, sizes[number]) for cell, number in bar(work)]
    if caught:  # the first of the test's warnings
        words = str(caught[0].message)
        if len(caught) > 1:
            words += f" (and {len(caught) - 1} more warnings)"
        provenance.warn(words)
    _check_alike(blocks, [cell for cell, _ in work])
    coords = {name: _labels_of(values) for name, values in settings.items()}
    shape = [*map(len, coords.values()), len(sizes)]
    flat = xr.concat(blocks, "_block").transpose("_block", ...)
    variables = {
        name: (
            (*coords, *each.dims[1:]),
            each.to_numpy().reshape(*shape, *each.shape[1:]).sum(axis=len(coords)),
        )
        for name, each in flat.data_vars.items()
    }
    counted = xr.Dataset(variables, {**flat.coords, **coords})
    if "runs" in counted:
        counted["runs"] = counted["runs"] / total
    return counted


def _labels_of(values: Sequence[Any]) -> NDArray[Any]:
    """Return the labels of a setting: numbers where all of its values are."""
    if all(map(_is_number, values)):
        return np.array([_plain(value) for value in values])
    return np.array([label(value) for value in values])


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _check_alike(blocks: Sequence[xr.Dataset], cells: Sequence[Mapping[str, Any]]) -> None:
    """Refuse p-values whose dims, sizes or labels are not those of the first block."""
    layouts = [_layout_of(block["rejected"]) for block in blocks]
    for cell, found in zip(cells, layouts, strict=True):
        if found != layouts[0]:
            setting = ", ".join(f"{name} {label(value)}" for name, value in cell.items())
            if setting:
                setting += ": "
            raise Refusal(
                "curves",
                Verbatim(f"{found}, not {layouts[0]}"),
                f"{setting}p-values must have the same dims and labels for all data sets",
                "Simulate settings that differ in them one by one",
            )


def _layout_of(p: xr.DataArray) -> list[tuple[Hashable, Any]]:
    """Return the dims of p-values with their labels, or their sizes where they have none."""
    layout: list[tuple[Hashable, Any]] = []
    for dim in p.dims:
        if dim in p.coords:
            layout.append((dim, p[dim].to_numpy().tolist()))
        else:
            layout.append((dim, p.sizes[dim]))
    return layout


def rates(counted: xr.Dataset, error: float) -> dict[str, xr.Variable]:
    """Return the rates of rejections with their intervals, and the expected runs of a test that looks several times."""
    dims = counted["rejected"].dims
    rejected, tried = (counted[name].to_numpy() for name in ("rejected", "tried"))
    bounds = np.stack(intervals.clopper_pearson(rejected, tried, error), axis=-1)
    bounds[tried == 0] = np.nan
    variables = {
        "rate": xr.Variable(dims, rejected / np.where(tried > 0, tried, np.nan)),
        "rate_ci": xr.Variable((*dims, "ci_bound"), bounds),
        "n_replications": xr.Variable(dims, tried),
    }
    if "runs" in counted:
        variables["expected_runs"] = counted["runs"].variable
    return variables


def warn_of_missing(counted: xr.Dataset) -> None:
    """Warn once that p-values are missing."""
    undefined = counted["undefined"]
    # Welch's statistic has no interaction, and none of paired runs
    if "error_term" in undefined.dims:
        undefined = undefined.where((undefined["error_term"] != "welch") | (counted["tried"] > 0), 0)
    missing = undefined.to_numpy().ravel()
    names = labels.task_names(counted["undefined"], ())
    provenance.warn_of(
        missing > 0,
        names,
        lambda i: f"p is NaN in {missing[i]} data sets, which are not counted; rate is of the others",
        "settings",
    )


def _pick(result: Any, name: str, size: int) -> xr.DataArray:
    """Return the p-values, the dim `replication` first."""
    if isinstance(result, xr.Dataset):
        if name not in result:
            known = [repr(each) for each in result.data_vars if "pvalue" in str(each)]
            cure = "Return a DataArray of them"
            if known:
                cure = f"It has {', '.join(known)}. Name one: pvalue={known[0]}"
            raise Refusal("test", UNSAID, f"test returned no p-value {name!r}", cure)
        result = result[name]
    if not isinstance(result, xr.DataArray):
        raise WrongType(
            "test",
            UNSAID,
            f"test returned no p-value; got {type(result).__name__}",
            "Return a Dataset or a DataArray",
        )
    if result.sizes.get(REPLICATION) != size:
        raise Refusal(
            "test",
            Verbatim(f"dims {result.dims}"),
            f"must return a p-value for each data set, on a dim {REPLICATION!r}",
            "Let it broadcast over further dims",
        )
    values = result.to_numpy()
    if values.dtype.kind not in "fiu" or bool(((values < 0) | (values > 1)).any()):
        raise Refusal(
            "test",
            UNSAID,
            f"test returned values of {name!r} that are no p-values: they must lie between 0 and 1",
            "Return probabilities, and no statistics",
        )
    if "look" in result.dims:
        result = result.min("look")  # that of the last look: a sequential p never rises
    pvalues: xr.DataArray = result.transpose(REPLICATION, ...)
    return pvalues


def _runs_until_decided(result: object, pvalue: str, alpha: float) -> dict[str, xr.DataArray]:
    """Return the runs per algorithm until its pairs are decided, (replication, ...); nothing if the test looks once."""
    if not isinstance(result, xr.Dataset) or "n_runs" not in result or "look" not in result[pvalue].dims:
        return {}
    p, runs = result[pvalue], result["n_runs"]
    is_open = p.notnull() & ~provenance.significant(p, alpha)
    takes_part = (runs["algorithm"] == p["algorithm_a"]) | (runs["algorithm"] == p["algorithm_b"])
    goes_on = (is_open & takes_part).any("pair").shift(look=1, fill_value=True)
    return {"runs": runs.where(goes_on).max("look").mean("algorithm").reset_coords(drop=True)}
