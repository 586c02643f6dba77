"""What methods that join the tasks share: pairs, families and labels, and blocks in which all tasks stand together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import xarray as xr

from xcurves.core import labels, validation
from xcurves.core.packing import Floats, Layout
from xcurves.core.task_blocks import apply_block, block_options, in_label_order
from xcurves.multi_task import options

TASKS = "joined_task"  # the dim of tasks while results are packed; in results it has the name that curves give it


@dataclass(frozen=True)
class Joined:
    """Curves whose tasks are to be joined.

    Attributes
    ----------
    ordered : DataArray
        The curves, algorithms and runs in the order of their labels.
    task : str
        The dim of tasks.
    pairs : list of (int, int)
        Places of algorithms in `ordered`.
    groups : Groups
        Families of tasks.
    places : list of int
        The place in `ordered` of every algorithm of the curves.
    coords : dict
        Coordinates of pairs, tasks and algorithms.
    """

    ordered: xr.DataArray
    task: str
    pairs: list[tuple[int, int]]
    groups: options.TaskFamilies
    places: list[int]
    coords: dict[Hashable, Any]

    @classmethod
    def of(
        cls, curves: xr.DataArray, task: str, reference: Hashable | None, task_groups: options.TaskGroups | None
    ) -> Joined:
        """Check what is to be joined."""
        pairs = labels.algorithm_pairs(curves, reference)
        of_pairs = labels.pair_coords(curves, reference)
        groups = options.check_task_groups(curves, task, task_groups)
        ordered = in_label_order(curves)
        places = ordered.indexes["algorithm"].get_indexer(curves.indexes["algorithm"]).tolist()
        of_tasks = {name: coord.variable for name, coord in curves[task].coords.items() if coord.dims == (task,)}
        coords = {task: curves[task].variable, **of_tasks, "algorithm": curves["algorithm"].variable}
        return cls(
            ordered, task, [(places[a], places[b]) for a, b in pairs], groups, places, coords | of_pairs | groups.coord
        )

    def options(
        self, n_resamples: int | None, paired: bool, confidence_level: float, rng: validation.Rng
    ) -> dict[str, Any]:
        """Return what every `TaskBlock` is made from, but for its layout."""
        one = self.ordered.isel({self.task: 0}, drop=True)
        return {
            **block_options(one, one, n_resamples, paired, confidence_level, rng),
            "pairs": self.pairs,
            "tasks": [f"{self.task} {label}" for label in labels.words(self.ordered[self.task])],
            "groups": self.groups.numbers,
        }

    def unpack(self, layout: Layout, packed: xr.DataArray) -> dict[str, xr.Variable]:
        """Return the variables of a packed result, algorithms in the order of the curves."""
        return {name: self._labelled(variable) for name, variable in layout.unpack(packed).items()}

    def _labelled(self, variable: xr.Variable) -> xr.Variable:
        if "algorithm" in variable.dims:
            variable = variable.isel(algorithm=self.places)
        dims = [self.task if dim == TASKS else dim for dim in variable.dims]
        return xr.Variable(dims, variable.data)


def apply(
    block: Callable[..., Floats], scores: xr.DataArray, task: str, length: int, last: Sequence[str] = ()
) -> xr.DataArray:
    """Call a block on scores of dims (..., task, algorithm, run, *last), all tasks together; dims (..., _packed)."""
    core = [task, "algorithm", "run", *last]
    whole = scores if scores.chunks is None else scores.chunk(dict.fromkeys(core, -1))
    return apply_block(block, [whole], [core], length)
