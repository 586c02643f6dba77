"""Kill a writer at many moments; count whether the old or the new archive is there, whole.

``python tests/tools/kills.py N [KIND]`` kills each writer N times, spread over all files that it opens, renames and
removes.
"""

import os
import shutil
import signal
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import xarray as xr

import xcurves
from damage import FORMATS
from xcurves import archive_formats
from xcurves.archive import read, write
from xcurves.reporting import pictures

ENGINES = archive_formats.engines
EVENTS = (
    "open",
    "os.rename",
    "os.mkdir",
    "os.remove",
    "os.rmdir",
    "shutil.rmtree",
    "os.listdir",
    "os.scandir",
)


def write_archive(kind):
    """Return a function that writes the archive of one number to a path, and one that reads it."""

    def tree(number):
        data = xr.Dataset({f"v{i}": ("x", np.full(5, number)) for i in range(4)})
        return data if kind == "netCDF-3" else xr.DataTree.from_dict({"/": data, "/a": data})

    def put(path, number):
        archive_formats.engines = list if kind == "netCDF-3" else ENGINES
        write(tree(number), path)

    def got(path):
        back = read(path)
        number = int(back["v0"][0])
        assert back.identical(tree(number))
        return number

    return put, got


def write_page():
    """Return a function that writes the page of one number to a path, without pictures, and one that reads it."""
    pictures.draw = lambda *_: None
    scores = xcurves.tutorial.open_dataset("tictactoe")["score"].isel(training=-1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = scores.curves.performance_cdf()

    def put(path, number):
        xcurves.report(
            xr.DataTree.from_dict({"/x": result.assign_attrs(history=f"number {number}")}),
            path,
        )

    def got(path):
        page = path.read_text()
        assert page.endswith("</html>\n")
        return int("number 2" in page) + 1

    return put, got


def run(put, path, kill_at):
    """Run a writer in a process that ends at one of its events; return how many it had, None if it was killed."""
    into, out = os.pipe()
    child = os.fork()
    if not child:
        seen = [0]

        def hook(event, _):
            if event in EVENTS:
                seen[0] += 1
                if seen[0] == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)
        put(path, 2)
        os.write(out, str(seen[0]).encode())
        os._exit(0)
    os.close(out)
    status = os.waitpid(child, 0)[1]
    with os.fdopen(into) as told:
        number = told.read()
    assert os.WIFSIGNALED(status) or number, status
    return int(number) if number else None


def clear(folder):
    for each in folder.iterdir():
        shutil.rmtree(each) if each.is_dir() else each.unlink()


def count_events(put, path, kind):
    """Return the number of events of a writer that is not killed."""
    if kind != "zarr":
        put(path, 1)
    return run(put, path, None)


def try_kills(kind, number):
    """Return how often the old archive, the new one or none was at the path after the writer was killed.

    A zarr store is never replaced: there is none at first.
    """
    put, got = write_page() if kind == "page" else write_archive(kind)
    counts = Counter(old=0, new=0, none=0)
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(name) / (FORMATS[kind][1] if kind in FORMATS else "a.html")
        for moment in [
            None,
            *np.linspace(1, count_events(put, path, kind), number).astype(int).tolist(),
        ]:
            clear(path.parent)
            if kind != "zarr":
                put(path, 1)
            run(put, path, moment)
            if moment is not None:
                counts["none" if not path.exists() else "old" if got(path) == 1 else "new"] += 1
    return counts


if __name__ == "__main__":
    for kind in sys.argv[2:] or [*FORMATS, "page"]:
        print(kind, dict(try_kills(kind, int(sys.argv[1]))), flush=True)
