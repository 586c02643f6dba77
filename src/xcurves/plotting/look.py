"""How labels look: `order=`, `labels=` and `colors=`, the same for every picture."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from xcurves.core.axes import with_styles
from xcurves.core.labels import did_you_mean, shown
from xcurves.core.validation import Labelled

_SIDES = ("algorithm_a", "algorithm_b")


class Look(NamedTuple):
    """The colours and labels that were asked for, and the algorithms that are drawn, in order."""

    colors: Mapping[Any, Any] | Sequence[Any] | None = None
    labels: Mapping[Any, str] | None = None
    order: Sequence[Any] | None = None

    def of(self, data: Labelled) -> Labelled:
        """Return data in the order and with the labels asked for, and a style for each algorithm and pair."""
        data = with_styles(data, self._colours(data))
        return self._labelled(self._ordered(data))

    def _colours(self, data: xr.DataArray | xr.Dataset) -> dict[str, str]:
        if self.colors is None:
            return {}
        from matplotlib.colors import is_color_like

        names = _algorithms(data) or _labels(data, "pair")
        if not isinstance(self.colors, Mapping | Sequence) or isinstance(self.colors, str):
            got = shown(self.colors)
            raise TypeError(f"colors must be a mapping or a sequence; got {got}. Give {{'sac': '#0072B2'}}")
        given = self.colors if isinstance(self.colors, Mapping) else dict(zip(names, self.colors, strict=False))
        _check_known("colors", given, [*names, *_labels(data, "pair")])
        for name, colour in given.items():
            if not is_color_like(colour):
                got = f"{shown(colour)} for {name!r}"
                raise ValueError(f"colors must be colours of matplotlib; got {got}. Give '#0072B2'")
        return {str(name): colour for name, colour in given.items()}

    def _ordered(self, data: Labelled) -> Labelled:
        if self.order is None:
            return data
        if not isinstance(self.order, Sequence) or isinstance(self.order, str) or not len(self.order):
            raise TypeError(f"order must be a list of algorithms; got {shown(self.order)}. Give ['sac', 'td3']")
        order = list(self.order)
        _check_known("order", order, _algorithms(data))
        if len(set(order)) < len(order):
            raise ValueError(f"order must name each algorithm once; got {shown(order)}. Leave out the second")
        if "algorithm" in data.dims:
            data = data.sel(algorithm=order)
        if "pair" in data.dims and "algorithm_a" in data.coords:
            places = {name: place for place, name in enumerate(order)}
            pairs = list(zip(*(data[side].to_numpy().tolist() for side in _SIDES), strict=True))
            kept = [place for place, pair in enumerate(pairs) if set(pair) <= places.keys()]
            if not kept:
                got = shown(order)
                raise ValueError(f"order leaves no pair of this result; got {got}. Name both algorithms of a pair")
            data = data.isel(pair=sorted(kept, key=lambda place: [places[name] for name in pairs[place]]))
        return data

    def _labelled(self, data: Labelled) -> Labelled:
        if self.labels is None:
            return data
        if not isinstance(self.labels, Mapping) or not all(isinstance(said, str) for said in self.labels.values()):
            got = shown(self.labels)
            raise TypeError(f"labels must be a mapping to words; got {got}. Give {{'sac': 'SAC (ours)'}}")
        of_text = [name for name, coord in data.coords.items() if coord.dtype.kind in "OUT" and coord.ndim == 1]
        named = [name for name in of_text if not str(name).endswith("_style")]
        _check_known("labels", self.labels, [label for name in named for label in data[name].to_numpy().tolist()])
        if "pair" in data.dims and "algorithm_a" in data.coords:
            sides = [[self._say(name) for name in data[side].to_numpy().tolist()] for side in _SIDES]
            given = zip(data["pair"].to_numpy().tolist(), *sides, strict=True)
            pairs = [self.labels.get(pair, f"{a} - {b}") for pair, a, b in given]
            data = data.assign_coords(pair=data["pair"].copy(data=np.array(pairs, object)))
        said = {name: [self._say(each) for each in data[name].to_numpy().tolist()] for name in named if name != "pair"}
        return data.assign_coords({name: data[name].copy(data=np.array(new, object)) for name, new in said.items()})

    def _say(self, label: Hashable) -> Hashable:
        return (self.labels or {}).get(label, label)


def _labels(data: xr.DataArray | xr.Dataset, name: str) -> list[Any]:
    return data[name].to_numpy().tolist() if name in data.coords and data[name].ndim == 1 else []


def _algorithms(data: xr.DataArray | xr.Dataset) -> list[Any]:
    """Return the algorithms of data, or of its pairs."""
    sides = [label for side in _SIDES for label in _labels(data, side)]
    return _labels(data, "algorithm") or list(dict.fromkeys(sides))


def _check_known(argument: str, given: Sequence[Any] | Mapping[Any, Any], known: Sequence[Any]) -> None:
    for name in given:
        if name not in known:
            cure = did_you_mean(name, known) or f". There are {', '.join(map(repr, known[:10])) or 'none'}"
            raise ValueError(f"{argument} must name labels of what is drawn; got {name!r}{cure}")
