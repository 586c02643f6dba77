"""Messages of the library in the words of the command line: options in place of arguments."""

from __future__ import annotations

import re
from collections.abc import Callable
from shlex import quote

import numpy as np

from xcurves.cli.selection import parse_levels

_OPTIONS = "n_resamples|confidence_level|rng|method|tolerance|duplicates|folders|include"
_ALIGN = r"(?:: | with )\.curves\.align\('intersection'\)"
_GRID = r"np\.linspace\(([^,]+), ([^,]+), (\d+)\)"
_WHOSE = r"(value|algorithm|run|training|extra)='([^']*)'"
_WRITING = " cannot be written| holds something else| is a folder| needs zarr|: there is no folder|: one netCDF file"
# What a message says, and what it says here; in this order.
_SAID: dict[str, str | Callable[[re.Match[str]], str]] = {
    r"\. If runs are in the same order .*? frame\.assign\((\w+)=frame\.groupby\(\[(.*?)\]\)\.cumcount\(\)\).*": (
        r". Add a column '\1' to ARCHIVE that says which run a row is of; where the rows of each combination of \2 "
        r"are in the order of runs, their number within it, with pandas groupby(...).cumcount()"
    ),
    rf"{_ALIGN} or leave incomplete ones out with \.curves\.drop_incomplete\(\)": (
        " with --align or leave incomplete ones out with --drop-incomplete"
    ),
    _ALIGN: " with --align",
    rf"{_WHOSE} is no column of the frame\. It has": r"--\1 \2 is no column of ARCHIVE. It has",
    rf"{_WHOSE} is asked for twice": r"--\1 \2 is asked for twice",
    rf"{_WHOSE} is the name of another dim\..*": r"--\1 \2 is the name of another dim. Rename the column in ARCHIVE",
    r"differ in extra=, or say which to keep: .*": (
        "differ by --extra, or say which to keep: --duplicates first, last or mean"
    ),
    rf"with (?:on=|\.curves\.align\(){_GRID}, method='(\w+)'\)?": lambda found: (
        f"with --align {_levels(found)} --method {found[4]}"
    ),
    r"with (?:on=|\.curves\.align\()\[([^\]]*)\], method='(\w+)'\)?": r"with --align \1 --method \2",
    r"Bring every task to (?:fractions|the end) of its budget with .*?'budget'\)": (
        "Bring every task to fractions of its budget with --align budget"
    ),
    r"If it has a column for each (\w+): frame\.melt\(.*": (
        r"If it has a column for each \1, make a row of each score first, with pandas melt(...)"
    ),
    r"Read it by pandas and go on with the frame: .*": "Write it with commas, and decimals with points",
    r"\. Scores without training, .*": "",
    r"Say what its commas are\. Of decimals: .*": "If commas are decimal points, write points",
    r"Correct it, or make gaps of such rows: .*": "Leave fields empty that have no number",
    r"Leave one of them out: curves\.where\(.*": "Leave one of them out: --select run=...",
    r"fewer levels, on=\[\.\.\.\], method=\.\.\., or select": "fewer levels, --align LEVELS --method ..., or --select",
    r"\bon=\[\.\.\.\]": "--align LEVELS",
    r"\bon='(\w+)'": r"--align \1",
    r"^on must be finite (.*); got \[(.*?)\]\. .*": r"--align takes finite \1; got \2. Sort them",
    r"^method='mean' needs": "--method mean needs",
    r"\bmethod='(\w+)'": r"--method \1",
    r"\btolerance=,": "--tolerance,",
    r"\btolerance=([\d.e+-]+)": r"--tolerance \1",
    r"without a method\. Name one": "without --method. Name one",
    r"\bn_resamples is\b": "--n-resamples is",
    r"paired=True needs": "--paired needs",
    r"Select the common runs, or use paired=False": "Select the common runs, --select run=..., or leave --paired out",
    r"folders=\[.*?\] names": "--folders names",
    r"Choose: source='([\w-]+)'": r"Choose: --source \1",
    r"^names of runs:": "--names:",
    r"^source='(.*?)' is unknown": r"--source \1 is unknown",
    r"such as folders=\('name',\).*": r"such as --folders name --names '(?P<algorithm>.+)_seed(?P<run>\\d+)'",
    r"such as folders=\('task', 'algorithm', 'run'\)": "such as --folders task algorithm run",
    rf"^({_OPTIONS}) (must|names|has)": r"--\1 \2",
    r"^no part of the analysis fits curves: ": "no part of the analysis fits ARCHIVE: ",
    rf"^path '(.*?)'(?={_WRITING})": r"\1",
    r"^(?:root|path) '(.*?)'": r"ARCHIVE \1",
    r"Bring scores to one scale: \.curves\.normalize\(\), or": "Bring scores to one scale before, or",
    r"\. Try ((?:, )?(?:algorithm|run|training|extra)='[^']*')+": lambda found: f". Try {_options(found[0])}",
    ", a Generator or None": "",
    r"\brelative_to='budget'": "--align budget",
    r"^frame has": "ARCHIVE has",
    r"of the frame\b": "of ARCHIVE",
}
_ROW = re.compile(r"\b(in|first) row (\d+)")
_RENAME = re.compile(r"(Rename|Correct): da\.rename\((.*)\)")
_CALL = re.compile(r"\. [^.:]*(?:: | \()?(?:da|ds|df|frame|curves|pd|np|xr)[.\[][^ ].*$")


def in_words_of_the_shell(message: str) -> str:
    """Return a message with options for arguments; a cure in Python without an option becomes "Correct ARCHIVE"."""
    message = " ".join(message.split())
    for pattern, words in _SAID.items():
        message = re.sub(pattern, words, message)
    message = re.sub(r"^--(\w+)", lambda option: option[0].replace("_", "-"), message)
    message = _ROW.sub(lambda row: f"{row[1]} row {int(row[2]) + 1} of the data", message)
    message = _RENAME.sub(lambda found: f"Name them: {_names(found[2])}", message)
    return _CALL.sub(". Correct ARCHIVE", message)


def _levels(grid: re.Match[str]) -> str:
    """Return START:STOP:STEP for the levels of a grid, or a list where that would not be the same."""
    start, stop, n = float(grid[1]), float(grid[2]), int(grid[3])
    levels = np.linspace(start, stop, n).tolist()
    ranged = f"{start:.12g}:{stop:.12g}:{(stop - start) / (n - 1):.12g}"
    return ranged if parse_levels(ranged) == levels else ",".join(map(repr, levels))


def _options(arguments: str) -> str:
    """Return options for `algorithm='agent', run='seed'`."""
    return " ".join(f"--{name} {quote(column)}" for name, column in re.findall(r"(\w+)='([^']*)'", arguments))


def _names(renames: str) -> str:
    """Return options for `agent='algorithm', seed='run'`."""
    return " ".join(f"--{dim} {name}" for name, dim in re.findall(r"(\w+)='(\w+)'", renames))
