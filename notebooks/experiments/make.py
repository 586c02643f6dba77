"""Make the example files of the package again: ``python notebooks/experiments/make.py [NAME …] [--out FOLDER]``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple


class Example(NamedTuple):
    """The function that makes a file, in a module beside this one, and what it is asked for."""

    module: str
    function: str = "learning_curves"
    options: Mapping[str, int | str] = {}


EXAMPLES = {
    "benchmark": Example("benchmark"),
    "chess": Example("endgames"),
    "classifiers": Example(
        "classifiers",
        "classifier_trials",
        {"random": 240, "tuned": 20, "tuned_digits": 6, "points": 1000},
    ),
    "digits_learning": Example("digits"),
    "endgame": Example("endgames", options={"table": "endgame"}),
    "pendulum": Example("pendulum", "pendulum_trials"),
    "tictactoe": Example("tictactoe"),
    "tictactoe_100": Example("tictactoe", options={"n_runs": 100}),
    "widths": Example("widths", "losses"),
}
PROGRAM = "python notebooks/experiments/make.py"


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the files of the named examples, or of all, each with the command that makes it in its attrs."""
    parser = argparse.ArgumentParser(PROGRAM, description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(EXAMPLES))
    parser.add_argument("--out", type=Path, default=Path(), metavar="FOLDER")
    given = parser.parse_args(arguments)
    for name in given.names:
        if name not in EXAMPLES:
            parser.error(f"NAME must be one of {', '.join(EXAMPLES)}; got {name}")
    if not given.out.is_dir():
        parser.error(f"--out {given.out}: there is no such folder. Make it")
    for name in given.names or EXAMPLES:
        try:
            write(name, given.out)
        except ImportError as error:
            parser.error(str(error))


def write(name: str, folder: Path) -> None:
    """Write the file of an example."""
    example = EXAMPLES[name]
    module = import_module(f"experiments.{example.module}")
    made = getattr(module, example.function)(**example.options)
    made = made.assign_attrs(command=f"{PROGRAM} {name}")
    made.to_netcdf(folder / f"{name}.nc", engine="scipy")


if __name__ == "__main__":
    # Python puts the folder of a script there; the package that it belongs to is one up.
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    main()
