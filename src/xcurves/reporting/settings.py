"""The settings and versions that repeat an analysis."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import xarray as xr

from xcurves.reporting import markup

_GIVEN = {
    "rng": "Seed",
    "confidence_level": "Confidence level",
    "n_resamples": "Reassignments at most",
    "paired": "Runs matched over algorithms (1: yes)",
}


def settings_section(attrs: Mapping[Any, Any], parts: Mapping[str, xr.Dataset]) -> str:
    """Return the settings that give the same numbers again."""
    seeds = "; ".join(f"{name} {result.attrs['rng']}" for name, result in parts.items() if "rng" in result.attrs)
    packages = ", ".join(f"{name} {version(name)}" for name in ("xcurves", "numpy", "scipy", "pandas", "xarray"))
    given = [(said, attrs[name]) for name, said in _GIVEN.items() if name in attrs]
    made = [("Seed of each part", seeds.replace("_", " "))]
    made += [("This page was made with", f"{packages}, Python {platform.python_version()}")]
    return markup.html_terms([*given, *made]) + markup.paragraph(
        "This page holds no data: the archive of the analysis does, with every number and how each part was made."
    )
