"""Flip bits and cut files of archives; count what is refused, read unchanged, or read changed.

``python tests/tools/damage.py N`` does so N times for each format and prints the counts.
"""

import shutil
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import xarray as xr

from xcurves import archive_formats
from xcurves.archive import read, write

FORMATS = {
    "netCDF-3": ("scipy", "a.nc"),
    "netCDF-4": (None, "a.nc"),
    "zarr": (None, "a.zarr"),
}


def archive(kind, folder):
    """Write an archive of curves, labels and attributes in one format; a tree where the format has groups."""
    rng = np.random.default_rng(0)
    coords = {"algorithm": ["ppo", "sac"], "training": [1.0, 2.0, 4.0]}
    scores = xr.DataArray(
        rng.normal(size=(2, 4, 3)),
        coords,
        ["algorithm", "run", "training"],
        attrs={"units": "points"},
    )
    data = xr.Dataset(
        {"score": scores, "n": ("run", np.arange(4))},
        attrs={"history": "made up", "seed": 7},
    )
    engine, name = FORMATS[kind]
    engines = archive_formats.engines
    archive_formats.engines = list if engine else engines
    try:
        tree = data if engine else xr.DataTree.from_dict({"/": xr.Dataset(attrs={"a": 1}), "/curves": data})
        return write(tree, folder / name), tree
    finally:
        archive_formats.engines = engines


def damage(path, rng, how):
    """Flip a bit of one file, cut one, or remove one; never the same twice in a row."""
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    sizes = np.array([file.stat().st_size for file in files])
    file = files[rng.choice(len(files), p=sizes / sizes.sum())]
    content = bytearray(file.read_bytes())
    if how == "flip":
        content[rng.integers(len(content))] ^= 1 << rng.integers(8)
        file.write_bytes(content)
    elif how == "cut":
        file.write_bytes(content[: rng.integers(len(content))])
    else:
        file.unlink()
    return file


def try_damage(kind, number, seed=0, hows=("flip", "cut", "lose")):
    """Return how many damaged archives of a format were refused, read unchanged and read changed."""
    rng = np.random.default_rng(seed)
    counts = Counter(refused=0, unchanged=0, changed=0)
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path, data = archive(kind, Path(name) / "")
        whole = path.with_name("whole")
        (shutil.copytree if path.is_dir() else shutil.copy)(path, whole)
        for i in range(number):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
            (shutil.copytree if whole.is_dir() else shutil.copy)(whole, path)
            how = hows[i % len(hows)]
            damage(path, rng, "flip" if how == "lose" and whole.is_file() else how)
            try:
                back = read(path)
            except (OSError, ValueError):
                counts["refused"] += 1
            else:
                counts["unchanged" if back.identical(data) else "changed"] += 1
    return counts


if __name__ == "__main__":
    for kind in FORMATS:
        print(kind, dict(try_damage(kind, int(sys.argv[1]))), flush=True)
