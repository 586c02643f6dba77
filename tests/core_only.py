"""The core alone: the four methods run, and each extra that is missing is named with its cure.

Run by an interpreter that has this package and nothing that it does not need: `python tests/core_only.py`.
"""

import importlib.util
import sys
import tempfile
from pathlib import Path

import numpy as np
import xarray as xr

import xcurves
from xcurves import archive
from xcurves.readers import read, sklearn

EXTRAS = (
    "matplotlib",
    "dask",
    "h5netcdf",
    "netCDF4",
    "zarr",
    "sklearn",
    "tensorboard",
    "tqdm",
    "mlflow",
    "optuna",
    "polars",
    "yaml",
)


def said(call):
    """Return what a call says that needs a package which is not there."""
    try:
        call()
    except ImportError as error:
        return str(error)
    raise AssertionError("nothing is missing")


def expect(got, wanted):
    if got != wanted:
        raise AssertionError(f"{got!r} is not {wanted!r}")


def run_the_four_methods(scores, folder):
    anova = scores.curves.randomized_anova(n_resamples=99, rng=0)
    profile = scores.curves.ss_profile(n_resamples=99, rng=0)
    sizes = np.array([25.0, 50, 100, 200, 400])
    noise = np.random.default_rng(0).normal(size=(2, 4, 5)) * np.sqrt(0.02 + 4 / sizes)
    values = (30 + 100 * sizes**-0.5) + noise
    dims = ("algorithm", "run", "training")
    errors = xr.DataArray(
        values,
        {"algorithm": ["a", "b"], "training": sizes},
        dims,
        "test_error",
        {"units": "%"},
    )
    fit = errors.curves.fit_power_law()
    cdf = scores.isel(training=-1).curves.performance_cdf()
    for result in (anova, profile, fit, cdf):
        print(result.curves.summary().split("\n")[0])
        if result.curves.table().empty:
            raise AssertionError("a table is empty")
        archive.write(result, folder / "result.nc")
        if not archive.read(folder / "result.nc").identical(result):
            raise AssertionError("an archive is not what was written")
    folds = sklearn.cross_validate({"tree": {"test_score": np.array([0.5, 0.7])}})
    expect(
        folds.curves.to_dataarray("test_score", training=None).to_numpy().tolist(),
        [[0.5, 0.7]],
    )
    return scores.curves.analyze(n_resamples=99, rng=0)


def name_what_is_missing(scores, tree, folder):
    expect(
        said(scores.curves.plot),
        "plot needs matplotlib. Install it: pip install 'xcurves[plot]'",
    )
    expect(
        said(lambda: scores.curves.randomized_anova(n_resamples=9, progress=True)),
        "progress=True needs tqdm. Install it: pip install 'xcurves[progress]'",
    )
    expect(
        said(lambda: archive.open_dataset(folder / "result.nc", chunks={})),
        "chunks= needs dask. Install it: pip install 'xcurves[dask]'",
    )
    expect(
        said(xcurves.register_polars),
        "register_polars needs polars. Install it: pip install 'xcurves[polars]'",
    )
    (folder / "sac" / "0").mkdir(parents=True)
    (folder / "sac" / "0" / "events.out.tfevents.1").write_bytes(b"")
    expect(
        said(lambda: read(folder)),
        "readers.tensorboard needs tensorboard. Install it: pip install 'xcurves[tensorboard]'",
    )
    for name in ("tree.nc", "tree.zarr"):
        message = said(lambda name=name: archive.write(tree, folder / name))
        if "Install it: pip install 'xcurves[io]'" not in message or "\n" in message:
            raise AssertionError(message)
    (folder / "four.nc").write_bytes(b"\x89HDF\r\n\x1a\n")
    message = said(lambda: archive.read(folder / "four.nc"))
    if "needs netCDF4 or h5netcdf. Install it: pip install 'xcurves[io]'" not in message:
        raise AssertionError(message)


def main():
    there = [name for name in EXTRAS if importlib.util.find_spec(name)]
    if there:
        raise AssertionError(f"this is not the core alone: it has {there}")
    scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    with tempfile.TemporaryDirectory() as name:
        tree = run_the_four_methods(scores, Path(name))
        name_what_is_missing(scores, tree, Path(name))
    print("the core alone is enough")


if __name__ == "__main__":
    sys.exit(main())
