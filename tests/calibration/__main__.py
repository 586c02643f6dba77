"""The full form: `cd tests && python -m calibration [--archive FOLDER]` measures all claims and rewrites the tables."""

from __future__ import annotations

import argparse
import datetime as dt
import platform
import sys
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
import xarray as xr

from calibration.claims import ALPHA, Simulation, count_of
from calibration.suite import SIMULATIONS

USUAL = 10_000  # data sets of a row, unless each takes long
PAGE = Path(__file__).parents[2] / "docs" / "calibration.md"
START, END = "<!-- measured: start -->", "<!-- measured: end -->"
Found = tuple[Simulation, xr.Dataset]


def measure(archive: Path | None) -> list[Found]:
    """Measure every simulation, each with a folder of its own in the archive, and say how it goes."""
    found = []
    for place, simulation in enumerate(SIMULATIONS):
        start = time.monotonic()
        kept = None if archive is None else archive / f"{simulation.family} {simulation.setting}".replace("/", "-")
        measured = simulation.measure(simulation.full, archive=kept)
        wrong = unmet(simulation, measured)
        seconds = time.monotonic() - start
        print(
            f"{place + 1}/{len(SIMULATIONS)} {simulation.family}: {simulation.setting} {seconds:.0f} s",
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


def tables(found: Sequence[Found]) -> str:
    """Return Markdown: a table for each family, wide where all its settings have the same rows."""
    families: dict[str, list[Found]] = {}
    for each in found:
        families.setdefault(each[0].family, []).append(each)
    parts = [settings_line()]
    for family, members in families.items():
        rows = [list(simulation.claims) for simulation, _ in members]
        same = len(members) > 1 and all(each == rows[0] for each in rows)
        parts.append(f"### {family}\n\n" + (_wide(members, rows[0]) if same else _long(members)))
    return "\n\n".join(parts)


def made_with() -> str:
    """Say with what the tables are made."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("xcurves", "numpy", "scipy", "xarray"))
    return f"Python {platform.python_version()}, {packages}"


def check_archive(archive: Path) -> None:
    """Refuse counts that other versions made: the page names one."""
    note = archive / "made-with.txt"
    if not note.exists():
        archive.mkdir(parents=True, exist_ok=True)
        note.write_text(made_with())
    if note.read_text() != made_with():
        sys.exit(f"{archive} was made with {note.read_text()}, not with {made_with()}. Give another folder")


def settings_line() -> str:
    """Say when and with what the tables were made."""
    return (
        f"Made on {dt.date.today().isoformat()} with {made_with()}; at least {USUAL:,} data sets a row, or as many "
        f"as it says, rng=1998, level {ALPHA:g}."
    )


def _setting(simulation: Simulation, measured: xr.Dataset) -> str:
    """Return the data sets of a row, and their number where it is not the usual one."""
    n = int(measured.n_replications.max())
    return simulation.setting if n >= USUAL else f"{simulation.setting} ({n:,} data sets)"


def _wide(members: Sequence[Found], rows: Sequence[str]) -> str:
    lines = ["| | " + " | ".join(rows) + " |", "|---" * (len(rows) + 1) + "|"]
    for simulation, measured in members:
        lines.append(
            f"| {_setting(simulation, measured)} | " + " | ".join(_said(measured.sel(row=row)) for row in rows) + " |"
        )
    return "\n".join(lines)


def _long(members: Sequence[Found]) -> str:
    lines = ["| data sets | procedure | claimed | measured |", "|---|---|---|---|"]
    for simulation, measured in members:
        for row, claim in simulation.claims.items():
            lines.append(f"| {_setting(simulation, measured)} | {row} | {claim} | {_said(measured.sel(row=row))} |")
    return "\n".join(lines)


def _said(one: xr.Dataset) -> str:
    """Return a rate with its interval, bold where all of the interval is above the level."""
    low, high = one.rate_ci.to_numpy().tolist()
    rate = _short(one.rate.item())
    return f"{f'**{rate}**' if low > ALPHA else rate} ({_short(low)}–{_short(high)})"


def _short(share: float) -> str:
    return "1" if share == 1 else f"{np.round(share, 4):.4f}".lstrip("0")


def main() -> int:
    """Measure, write the page, and fail if a claim does not hold."""
    parser = argparse.ArgumentParser(prog="python -m calibration", description=__doc__)
    parser.add_argument(
        "--archive", type=Path, help="folder that keeps finished blocks, to go on after an interruption"
    )
    archive = parser.parse_args().archive
    if archive is not None:
        check_archive(archive)
    found = measure(archive)
    page = PAGE.read_text()
    before, after = page.split(START)[0], page.split(END)[1]
    PAGE.write_text(f"{before}{START}\n{tables(found)}\n{END}{after}")
    wrong = [
        f"{simulation.family}: {simulation.setting}: {each}"
        for simulation, measured in found
        for each in unmet(simulation, measured)
    ]
    print(*(wrong or ["every claim holds"]), sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
