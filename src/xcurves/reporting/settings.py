"""The settings and versions that repeat an analysis, with the code that does."""

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
    "include": "Parts asked for",
}


def settings_section(attrs: Mapping[Any, Any], parts: Mapping[str, xr.Dataset]) -> str:
    """Return the settings that give the same numbers again."""
    given = {name: attrs[name] for name in _GIVEN if name in attrs}
    seeds = "; ".join(f"{name} {result.attrs['rng']}" for name, result in parts.items() if "rng" in result.attrs)
    calls = [f"{name}: {str(result.attrs['history']).splitlines()[-1]}" for name, result in parts.items()]
    packages = ", ".join(f"{name} {version(name)}" for name in ("xcurves", "numpy", "scipy", "pandas", "xarray"))
    return "".join(
        [
            markup.html_terms([(_GIVEN[name], value) for name, value in given.items()]),
            markup.html_terms(
                [
                    ("Seed of each part", seeds),
                    ("This page was made with", f"{packages}, Python {platform.python_version()}"),
                ]
            ),
            markup.paragraph("Each part was made by"),
            markup.items(calls),
            markup.paragraph("This page holds no data. To open its archive and repeat the analysis:"),
            markup.code(_again(given, parts)),
        ]
    )


def _again(given: Mapping[Any, Any], parts: Mapping[str, xr.Dataset]) -> str:
    """Return the code that opens an archive and repeats the analysis."""
    options = {
        "include": repr(str(given.get("include", "")).split(", ")),
        "paired": str(bool(given.get("paired", 0))),
        "n_resamples": str(given.get("n_resamples")),
        "confidence_level": str(given.get("confidence_level")),
        "rng": str(given.get("rng")),
    }
    call = "".join(f"\n    {name}={said}," for name, said in options.items() if given.get(name) is not None)
    return (
        "import xcurves\n\n"
        '# what xcurves.archive.write(tree, "analysis.nc") wrote\n'
        'tree = xcurves.archive.read("analysis.nc")\n'
        f"print(tree[{next(iter(parts))!r}].to_dataset().curves.table())\n\n"
        "# the same again\n"
        '(curves,) = tree["curves"].data_vars.values()\n'
        f"again = curves.curves.analyze({call}\n)\n"
        'again.curves.report("again.html")'
    )
