"""The colours that were asked for by `colors=`, the same for every picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import xarray as xr

from xcurves.core.axes import with_styles
from xcurves.core.labels import did_you_mean, shown
from xcurves.core.validation import Labelled

_SIDES = ("algorithm_a", "algorithm_b")


class Look(NamedTuple):
    """The colours that were asked for."""

    colors: Mapping[Any, Any] | Sequence[Any] | None = None

    def of(self, data: Labelled) -> Labelled:
        """Return data with a style for each algorithm and pair."""
        return with_styles(data, self._colours(data))

    def _colours(self, data: xr.DataArray | xr.Dataset) -> dict[str, str]:
        if self.colors is None:
            return {}
        from matplotlib.colors import is_color_like

        names = _algorithms(data) or _labels(data, "pair")
        if not isinstance(self.colors, Mapping | Sequence) or isinstance(self.colors, str):
            got = shown(self.colors)
            raise TypeError(f"colors must be a mapping or a sequence; got {got}. Give {{'sac': '#0072B2'}}")
        given = self.colors if isinstance(self.colors, Mapping) else dict(zip(names, self.colors, strict=False))
        known = [*names, *_labels(data, "pair")]
        for name, colour in given.items():
            if name not in known:
                cure = did_you_mean(name, known) or f". There are {', '.join(map(repr, known[:10])) or 'none'}"
                raise ValueError(f"colors must name labels of what is drawn; got {name!r}{cure}")
            if not is_color_like(colour):
                got = f"{shown(colour)} for {name!r}"
                raise ValueError(f"colors must be colours of matplotlib; got {got}. Give '#0072B2'")
        return {str(name): colour for name, colour in given.items()}


def _labels(data: xr.DataArray | xr.Dataset, name: str) -> list[Any]:
    return data[name].to_numpy().tolist() if name in data.coords and data[name].ndim == 1 else []


def _algorithms(data: xr.DataArray | xr.Dataset) -> list[Any]:
    """Return the algorithms of data, or of its pairs."""
    sides = [label for side in _SIDES for label in _labels(data, side)]
    return _labels(data, "algorithm") or list(dict.fromkeys(sides))
