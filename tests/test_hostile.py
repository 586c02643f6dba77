"""Nothing lost, nothing run, nothing asked of the network: what is promised on the page on reliability, as a whole."""

import ast
import contextlib
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

import xcurves
from layers import slow
from places import ROOT
from strategies import make_curves
from xcurves import archive

FULL_DISK = """
import os, resource, sys, warnings
import numpy as np, xarray as xr, xcurves
from xcurves import archive
from xcurves import archive_formats
warnings.simplefilter("ignore")
kind, name = sys.argv[1:]
if kind == "netCDF-3":
    archive_formats.engines = list
if kind == "h5netcdf":
    archive_formats.engines = lambda: ["h5netcdf"]
result = xcurves.tutorial.open_dataset("tictactoe")["score"].isel(training=-1).curves.performance_cdf()
tree = xr.DataTree.from_dict({"/x": result})
def write(size):
    if kind == "page":
        return xcurves.report(tree, name)
    return archive.write(xr.Dataset({"v": ("x", np.random.default_rng(0).normal(size=size))}), name)
write(3)
os.chmod(name, 0o600)
def content():
    return open(name, "rb").read()
before = content()
limit = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limit))  # files can be no longer: the disk is full
try:
    write(60_000)
except OSError as error:
    assert "\\n" not in str(error) and f"path {name!r} cannot be written: " in str(error), error
    assert str(error).endswith("in a folder that you may write to and that has room"), error
else:
    raise AssertionError("written")
assert content() == before
assert os.listdir(".") == [name]
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
write(60_000)
assert content() != before or kind == "page"
assert os.stat(name).st_mode & 0o077 == 0, "others may read what was private"
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="limits of files are those of POSIX")
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("netCDF-3", "a.nc"),
        ("netCDF-4", "a.nc"),
        ("h5netcdf", "a.nc"),
        ("page", "a.html"),
    ],
)
def test_a_full_disk_leaves_the_old_one_and_permissions_stay(here, kind, name):
    pytest.importorskip({"netCDF-4": "netCDF4", "h5netcdf": "h5netcdf"}.get(kind, "numpy"))
    done = subprocess.run([sys.executable, "-c", FULL_DISK, kind, name], capture_output=True, text=True)
    # the HDF5 library, as it closes the file
    if kind == "h5netcdf" and done.returncode == -signal.SIGSEGV:
        assert archive.read(name).sizes == {"x": 3}
        return
    assert done.returncode == 0, done.stderr


WATCHED = """
import socket, sys, tempfile, warnings
import matplotlib; matplotlib.use("Agg")
from matplotlib import pyplot as plt
import numpy as np, xarray as xr, xcurves
from test_kinds import CALLS, GIVEN, curves
from xcurves import archive, kinds, readers
warnings.simplefilter("ignore")
seen = []
def watch(event, arguments):
    local = event == "socket.__new__" and arguments[1] == socket.AF_UNIX  # how an event loop wakes itself
    if not local and event.startswith(("socket.", "urllib.", "ftplib.", "http.client.", "smtplib.")) or event in (
        "pickle.find_class", "os.system", "os.exec", "marshal.loads"):
        caller = sys._getframe(1).f_code.co_filename
        if event != "marshal.loads" or "xcurves" in caller:  # Python reads its own modules by it
            seen.append((event, arguments, caller))
sys.addaudithook(watch)
for name in kinds.NAMES:
    result = CALLS[name](GIVEN[kinds.kind(name).argument]())
    result.curves.summary(), result.curves.table(), result.curves.to_frame(), result.curves._repr_html_()
    if kinds.kind(name).views:
        first = result
        for dim in kinds.kind(name).task_dims(result):
            first = first.isel({dim: [0]})
        try:
            first.curves.plot()
        except ValueError:
            pass
        plt.close("all")
tree = xcurves.analyze(curves(), include=["anova", "pairwise"], n_resamples=9, rng=0)
with tempfile.TemporaryDirectory() as folder:
    for name in ("a.nc", "a.zarr"):
        archive.read(archive.write(tree, f"{folder}/{name}"))
    xcurves.report(tree, f"{folder}/a.html")
    frame = curves().to_dataframe("score").reset_index()
    frame.to_csv(f"{folder}/a.csv")
    readers.read(f"{folder}/a.csv")
    xcurves.to_dataarray(frame, "score", extra="task" if "task" in frame else ())
    xcurves.tutorial.open_dataset("tictactoe")
assert seen == [], seen
with socket.socket():
    assert seen, "sockets are seen"
"""


@pytest.mark.slow
def test_no_public_call_opens_a_socket_unpickles_or_starts_a_shell(here):
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "MPLCONFIGDIR": str(here),
    }
    done = subprocess.run([sys.executable, "-c", WATCHED], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]


def test_no_code_of_the_package_runs_texts_or_unpickles():
    refused = {"eval", "exec", "compile", "__import__", "os.system", "os.popen"}
    modules = {
        "pickle",
        "marshal",
        "shelve",
        "dill",
        "socket",
        "urllib.request",
        "requests",
        "http.client",
    }
    words = {*refused, *modules, "np.load"}
    some = re.compile(rf"\b({'|'.join(sorted({re.escape(each.rpartition('.')[-1]) for each in words}))})\b")
    for path in sorted((ROOT / "src").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        # to parse every file takes long, and a name that is refused stands in the text
        for node in ast.walk(ast.parse(text)) if some.search(text) else ():
            where = path, getattr(node, "lineno", 0)
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func)
                assert name not in refused, where
                assert name != "np.load" or "allow_pickle=False" in ast.unparse(node), where
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not modules.intersection(names), where


HTML = "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</table><b>&amp;"


@pytest.mark.parametrize("name", HTML)
def test_labels_are_text_in_notebooks_and_html_tables(name):
    curves = make_curves(np.random.default_rng(0).normal(size=(2, 4, 3))).assign_coords(algorithm=[name, "b"])
    curves = curves.assign_coords(task=name).assign_attrs(units=name, long_name=name, history=name)
    result = xcurves.pairwise(curves, n_resamples=19, rng=0)
    shown = [result.curves._repr_html_(), xcurves.format_table(result, to="html")]
    anova = xcurves.randomized_anova(curves.expand_dims("task"), n_resamples=19, rng=0)
    shown += [anova.curves._repr_html_(), xcurves.format_table(anova, to="html")]
    for page in shown:
        assert not any(each in page for each in ("<script", "<img", "</table><b>"))
    assert any("&lt;" in page for page in shown)


@pytest.mark.parametrize(
    "name",
    ["../../evil", *map(slow, ["/etc/evil", "a\x00b", "..", "a/b", "CON", "-rf"])],
)
def test_a_label_leads_to_no_file_elsewhere(here, name):
    """Labels and names of variables become parts of names of files in the shell only."""
    from xcurves.__main__ import main

    inside = here / "inside"
    inside.mkdir()
    os.chdir(inside)
    curves = make_curves(np.random.default_rng(0).normal(size=(2, 4, 3))).assign_coords(algorithm=[name, "b"])
    frame = curves.to_dataframe("score").reset_index().rename(columns={"score": name}).assign(other=1.0)
    frame.to_csv("c.csv", index=False)
    with contextlib.suppress(SystemExit):
        main(
            [
                "c.csv",
                f"--value={name}",
                "--value=other",
                "--include=anova",
                "--n-resamples=19",
                "--report=r.html",
            ]
        )
    assert [path.name for path in here.iterdir()] == ["inside"]
    assert all(path.is_file() and path.suffix in (".nc", ".csv", ".html") for path in inside.iterdir())
