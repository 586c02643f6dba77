"""The main job: an archive or a tidy CSV in, the ANOVA table and its sentences out, results written as netCDF."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import pandas as pd
import xarray as xr

from xcurves import archives, results, tutorial
from xcurves.alignment import align, drop_incomplete
from xcurves.anova import randomized_anova
from xcurves.frames import to_dataarray
from xcurves.labels import DIMS, find_kind

_EXAMPLE = "tictactoe"
_DESCRIPTION = """Compare algorithms by their performance curves: a randomized two-way analysis of variance.

Whole runs are reassigned among the algorithms, so dependence along a curve does no harm. Prints the ANOVA table and
what it means, and writes all results as netCDF. Without ARCHIVE it analyses curves that come with the package."""
_EPILOG = """examples:
  python -m xcurves
  python -m xcurves returns.csv --value return --algorithm agent --run seed --training step --extra task
  python -m xcurves curves.nc --align --output results.nc"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}. Help: {self.prog} --help\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m xcurves",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("archive", nargs="?", type=Path, help="netCDF file, zarr store or tidy CSV (.csv, .csv.gz)")
    names = parser.add_argument_group("names in the archive")
    names.add_argument("--value", help="column or variable of the scores (needed if there are several)")
    for dim in DIMS:
        names.add_argument(
            f"--{dim}", default=dim, metavar="NAME", help=f"column or dim of {dim} (default %(default)s)"
        )
    names.add_argument(
        "--extra", action="append", default=[], metavar="NAME", help="CSV column of tasks; may be repeated"
    )
    names.add_argument(
        "--duplicates",
        default="raise",
        choices=("raise", "first", "last", "mean"),
        help="which of several rows of one run at one level to keep (default %(default)s: none, refuse)",
    )
    parser.add_argument(
        "--align", action="store_true", help="keep only the training levels that all runs of a task have"
    )
    parser.add_argument("--drop-incomplete", action="store_true", help="leave out runs that lack training levels")
    parser.add_argument(
        "--paired", action="store_true", help="run j is matched over algorithms (same fold, seed or data)"
    )
    parser.add_argument(
        "--n-resamples",
        type=int,
        metavar="Z",
        help="at most so many reassignments (default: all up to 1e6, else 9,999)",
    )
    parser.add_argument("--confidence-level", type=float, default=0.95, metavar="C", help="default %(default)s")
    parser.add_argument(
        "--rng", type=int, default=0, metavar="SEED", help="seed of the reassignments (default %(default)s)"
    )
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="results (default: the archive's name with -anova.nc, here)",
    )
    return parser


def read_curves(options: argparse.Namespace) -> xr.DataArray:
    """Read the curves that the options name."""
    path: Path | None = options.archive
    if path is None:
        return tutorial.open_dataset(_EXAMPLE)["score"]
    if not path.exists():
        raise FileNotFoundError(f"ARCHIVE {path} does not exist")
    dims = {dim: getattr(options, dim) for dim in DIMS}
    if path.name.endswith((".csv", ".csv.gz")):
        frame = _read_csv(path)
        value = options.value or _only(
            "column", [str(name) for name in frame if name not in {*dims.values(), *options.extra}]
        )
        return to_dataarray(frame, value, **dims, extra=options.extra, duplicates=options.duplicates)
    dataset = _open(path)
    kind = find_kind(dataset)
    if kind:
        raise ValueError(f"ARCHIVE {path} holds a result of {kind}, not curves. Name the archive that it was made from")
    value = options.value or _only("variable", list(map(str, dataset.data_vars)))
    if value not in dataset.data_vars:
        raise KeyError(f"value={value!r} is no variable of {path}. It has {', '.join(map(repr, dataset.data_vars))}")
    curves = dataset[value]
    return curves.rename({name: dim for dim, name in dims.items() if name != dim and name in curves.dims})


def _read_csv(path: Path) -> pd.DataFrame:
    """Read a tidy table; say which file cannot be read."""
    try:
        return pd.read_csv(path)
    except (OSError, EOFError, ValueError) as error:
        raise ValueError(f"ARCHIVE {path} is no CSV that can be read: {error}") from error


def _open(path: Path) -> xr.Dataset:
    """Open a netCDF file or a zarr store, training in the units that were written."""
    try:
        if path.is_dir():
            return xr.open_dataset(path, engine="zarr", consolidated=False, decode_times=False)
        return xr.open_dataset(path, decode_times=False)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"ARCHIVE {path} is no netCDF file or zarr store that can be read here "
            "(a table must end in .csv or .csv.gz)"
        ) from error


def _only(kind: str, names: list[str]) -> str:
    if len(names) != 1:
        raise ValueError(
            f"the archive has {len(names)} {kind}s that could be scores. Name one: --value {'|'.join(names)}"
        )
    return names[0]


def format_table(table: pd.DataFrame) -> str:
    """Return the ANOVA table as text."""
    digits = {
        "SS": "{:.2f}",
        "MS": "{:.2f}",
        "F": "{:.3f}",
        "p": "{:.4g}",
        "F_stratum": "{:.3f}",
        "p_stratum": "{:.4g}",
    }
    return table.to_string(formatters={name: form.format for name, form in digits.items()}, na_rep="")


def run(options: argparse.Namespace) -> None:
    """Do the main job."""
    stem = _EXAMPLE if options.archive is None else options.archive.name.split(".")[0]
    output = options.output or Path(f"{stem}-anova.nc")
    if not output.parent.is_dir():
        raise NotADirectoryError(f"--output {output}: there is no folder {output.parent}. Make it, or name another")
    if output.is_dir():
        raise IsADirectoryError(f"--output {output} is a folder. Name a file in it")
    if options.archive is not None and output.exists() and output.samefile(options.archive):
        raise ValueError(f"--output {output} is the archive itself. Name another file")
    curves = read_curves(options)
    if options.drop_incomplete:
        curves = drop_incomplete(curves)
    if options.align:
        curves = align(curves, "intersection")
    result = randomized_anova(
        curves,
        n_resamples=options.n_resamples,
        paired=options.paired,
        confidence_level=options.confidence_level,
        rng=options.rng,
    ).compute()
    archives.write(result, output)
    print(format_table(results.table(result)), results.summary(result), f"Results: {output}", sep="\n\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = lambda message, *_: print(f"{parser.prog}: warning: {message}", file=sys.stderr)
        try:
            run(options)
        except KeyboardInterrupt:
            print(f"{parser.prog}: interrupted, nothing written", file=sys.stderr)
            return 130
        except (OSError, EOFError, MemoryError, ValueError, TypeError, KeyError, ImportError) as error:
            message = error.args[0] if isinstance(error, KeyError) else error
            print(f"{parser.prog}: {' '.join(str(message).split())}", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
