"""The full form: `cd tests/tools && python -m calibration` measures all claims and writes the tables of
docs/calibration.md.

Words as arguments choose the families whose names contain one of them; the tables of the others stay.
"""

from __future__ import annotations

import datetime as dt
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import version

import numpy as np
import xarray as xr

from calibration.claims import Simulation, count_of
from calibration.suite import SIMULATIONS
from places import ROOT

USUAL = 10_000  # data sets of a row, unless each takes long
PAGE = ROOT / "docs" / "calibration.md"
START, END = "<!-- measured: start -->", "<!-- measured: end -->"
Found = tuple[Simulation, xr.Dataset]


def measure(simulations: Sequence[Simulation]) -> list[Found]:
    """Measure simulations, and say how it goes."""
    found = []
    for place, simulation in enumerate(simulations):
        start = time.monotonic()
        measured = simulation.measure(simulation.full)
        wrong = unmet(simulation, measured)
        seconds = time.monotonic() - start
        print(
            f"{place + 1}/{len(simulations)} {simulation.family}: {simulation.setting} {seconds:.0f} s",
            *wrong,
            flush=True,
        )
        found.append((simulation, measured))
    return found


def unmet(simulation: Simulation, measured: xr.Dataset) -> list[str]:
    """Say which claims the full form does not bear out."""
    counts = {row: count_of(measured, row) for row in simulation.claims}
    return [
        f"NOT AS CLAIMED {row}: {count} of {n}, claimed {simulation.claims[row]}"
        for row, (count, n) in counts.items()
        if not simulation.claims[row].allows(count, n)
    ]


def tables(found: Sequence[Found]) -> dict[str, str]:
    """Return the Markdown of each family: a table, wide where all its settings have the same rows."""
    families: dict[str, list[Found]] = {}
    for each in found:
        families.setdefault(each[0].family, []).append(each)
    made = {}
    for family, members in families.items():
        rows = [list(simulation.claims) for simulation, _ in members]
        same = len(members) > 1 and all(each == rows[0] for each in rows)
        table = _wide(members, rows[0]) if same else _long(members)
        made[family] = f"### {family}\n\n{table}\n\n{made_with()}"
    return made


def made_with() -> str:
    """Say when and with what a table is made."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("xcurves", "numpy", "scipy", "xarray"))
    return f"{dt.date.today().isoformat()}, Python {platform.python_version()}, {packages}."


def on_page(page: str, made: Mapping[str, str]) -> str:
    """Put the tables of some families into the page, in the order of the suite."""
    before, rest = page.split(START)
    inside, after = rest.split(END)
    head, *sections = inside.strip().split("\n### ")
    kept = {each.split("\n", 1)[0]: f"### {each.strip()}" for each in sections}
    placed = kept | dict(made)
    order = list(dict.fromkeys(simulation.family for simulation in SIMULATIONS))
    ordered = [placed[family] for family in order if family in placed]
    return before + START + "\n" + "\n\n".join([head.strip(), *ordered]) + "\n" + END + after


def _setting(simulation: Simulation, measured: xr.Dataset) -> str:
    """Return the data sets of a row, and their number where it is not the usual one."""
    n = int(measured.n_replications.max())
    return simulation.setting if n >= USUAL else f"{simulation.setting} ({n:,} data sets)"


def _wide(members: Sequence[Found], rows: Sequence[str]) -> str:
    lines = ["| | " + " | ".join(rows) + " |", "|---" * (len(rows) + 1) + "|"]
    for simulation, measured in members:
        lines.append(
            f"| {_setting(simulation, measured)} | "
            + " | ".join(_said(measured.sel(row=row), simulation) for row in rows)
            + " |"
        )
    return "\n".join(lines)


def _long(members: Sequence[Found]) -> str:
    lines = ["| data sets | procedure | claimed | measured |", "|---|---|---|---|"]
    for simulation, measured in members:
        for row, claim in simulation.claims.items():
            lines.append(
                f"| {_setting(simulation, measured.sel(row=row))} | {row} | {claim} | "
                f"{_said(measured.sel(row=row), simulation)} |"
            )
    return "\n".join(lines)


def _said(one: xr.Dataset, simulation: Simulation) -> str:
    """Return a rate with its interval, bold where all of the interval is above the level, or below the power."""
    low, high = one.rate_ci.to_numpy().tolist()
    if np.isnan(low):
        return "none"
    rate = _short(one.rate.item())
    if low > simulation.bold_above or high < simulation.bold_below:
        rate = f"**{rate}**"
    return f"{rate} ({_short(low)}–{_short(high)})"


def _short(share: float) -> str:
    return "1" if share == 1 else f"{np.round(share, 4):.4f}".lstrip("0")


def main(words: Sequence[str]) -> int:
    """Measure, write the page, and fail if a claim does not hold."""
    chosen = [
        each for each in SIMULATIONS if each.possible and (not words or any(word in each.family for word in words))
    ]
    found = measure(chosen)
    PAGE.write_text(on_page(PAGE.read_text(), tables(found)))
    wrong = [
        f"{simulation.family}: {simulation.setting}: {each}"
        for simulation, measured in found
        for each in unmet(simulation, measured)
    ]
    print(*(wrong or ["every claim holds"]), sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
