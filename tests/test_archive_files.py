"""Archives on disk: written whole or not at all, read back identical, refused in one line where they are not."""

import os
import signal
import socket
import subprocess
import sys
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from refusals import raises_other
from strategies import make_curves
from xcurves import archive_formats
from xcurves.archive import open_dataset, read, write

pytestmark = pytest.mark.slow

NAMES = ["a.nc", "a.zarr"]


@pytest.fixture(scope="module")
def tree():
    curves = make_curves(np.random.default_rng(0).normal(size=(2, 2, 5, 3)), task=["Ünïcode", "x"]).rename("return")
    curves.training.attrs = {"units": "hours", "long_name": "hours of training"}
    curves = curves.assign_attrs(units="points", history="made up")
    return curves.curves.analyze(include=["anova", "profile"], n_resamples=50, rng=2**62)


def changed(tree):
    """Return the same tree with another root."""
    return xr.DataTree.from_dict(
        {
            "/": xr.Dataset(attrs={"new": 1}),
            **{part: tree[part].to_dataset() for part in tree},
        }
    )


@pytest.fixture
def result(tree):
    return tree["anova"].to_dataset()


@pytest.fixture(params=["netcdf4", "h5netcdf", "scipy"])
def engine(request, monkeypatch):
    """Have one engine of netCDF-4, or none."""
    monkeypatch.setattr(
        archive_formats,
        "engines",
        lambda: [request.param] if request.param != "scipy" else [],
    )
    return request.param


def test_trees_and_results_come_back_identical(tree, result, tmp_path, engine):
    names = ["a", "a.nc"] if engine != "scipy" else ["a.zarr"]
    for name in names:
        assert write(tree, tmp_path / name) == tmp_path / name
        xr.testing.assert_identical(read(tmp_path / name), tree)
    if engine != "scipy":
        # over the tree
        xr.testing.assert_identical(read(write(result, tmp_path / names[-1])), result)
    xr.testing.assert_identical(read(write(result, tmp_path / "b.nc")), result)
    assert sorted(path.name for path in tmp_path.iterdir()) == [*names, "b.nc"]


def test_without_the_extra_results_are_written_and_trees_name_it(tree, tmp_path):
    """As in an environment without the extra."""
    code = """
import sys
sys.modules.update(dict.fromkeys(["netCDF4", "h5netcdf", "h5py", "zarr"]))
import xarray as xr, xcurves
from xcurves.archive import open_dataset, read, write
tree = xcurves.tutorial.open_dataset("tictactoe")["score"].curves.analyze(n_resamples=9, rng=0, confidence_level=.5)
anova = tree["anova"].to_dataset()
assert read(write(anova, "anova.nc")).identical(anova)
for name in ("whole", "whole.nc", "whole.zarr"):
    try:
        write(tree, name)
    except ImportError as error:
        print(error)
for name in ("there.nc", "there.zarr"):
    try:
        read(name)
    except ImportError as error:
        print(error)
"""
    write(tree, tmp_path / "there.nc")
    write(tree, tmp_path / "there.zarr")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    install = "Install it: pip install 'xcurves[io]'"
    assert done.stdout.splitlines() == [
        f"path 'whole' needs netCDF4 or h5netcdf. {install}",
        f"path 'whole.nc' needs netCDF4 or h5netcdf. {install}",
        f"path 'whole.zarr' needs zarr. {install}",
        f"path 'there.nc' needs netCDF4 or h5netcdf. {install}",
        f"path 'there.zarr' needs zarr. {install}",
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "anova.nc",
        "there.nc",
        "there.zarr",
    ]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "options",
    [{"zarr_format": 2, "consolidated": False}, {"zarr_format": 2}, {"zarr_format": 3}],
)
def test_zarr_stores_of_others_open_without_a_warning(tree, tmp_path, options):
    numbers = tree["anova"].to_dataset()[["ss", "df"]].drop_vars("source")
    if options["zarr_format"] == 3 and int(version("zarr").split(".")[0]) < 3:
        pytest.skip("this zarr writes format 2 only")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        numbers.to_zarr(tmp_path / "a.zarr", **options)
    xr.testing.assert_identical(read(tmp_path / "a.zarr"), numbers)


@pytest.mark.filterwarnings("error")
def test_written_archives_open_in_xarray_without_a_warning(tree, result, tmp_path):
    with xr.open_zarr(write(result, tmp_path / "a.zarr")) as opened:
        xr.testing.assert_identical(
            opened.load(),
            result.assign_attrs(xcurves_digest=opened.attrs["xcurves_digest"]),
        )
    write(tree, tmp_path / "a.nc")
    for engine in ("netcdf4", "h5netcdf"):
        with xr.open_dataset(tmp_path / "a.nc", group="anova", engine=engine) as opened:
            xr.testing.assert_identical(opened.load(), result)


def test_an_archive_can_be_read_by_others(tree, tmp_path):
    umask = os.umask(0o022)
    try:
        assert write(tree, tmp_path / "a.nc").stat().st_mode & 0o777 == 0o644
        assert write(tree, tmp_path / "a.zarr").stat().st_mode & 0o777 == 0o755
    finally:
        os.umask(umask)


@pytest.mark.parametrize("name", NAMES)
def test_a_killed_writer_leaves_the_old_archive(tree, tmp_path, name):
    """Killed when all is written and nothing renamed."""
    path = write(tree, tmp_path / name) if name == "a.nc" else tmp_path / name
    code = f"""
import os, pathlib, signal, xcurves
from xcurves import archive
replace = pathlib.Path.replace
pathlib.Path.replace = lambda *to: os.kill(os.getpid(), signal.SIGKILL) if str(to[1]) == {str(path)!r} else replace(*to)
archive.write(xcurves.tutorial.open_dataset("tictactoe"), {str(path)!r})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    (part,) = tmp_path.glob(f".{name}.*.part")
    assert read(part)["score"].size
    if name == "a.nc":
        xr.testing.assert_identical(read(path), tree)
    xr.testing.assert_identical(read(write(changed(tree), path)), changed(tree))


@pytest.mark.parametrize("name", NAMES)
def test_a_failing_write_leaves_the_old_archive_and_nothing_else(tree, tmp_path, name):
    path = write(tree, tmp_path / name)
    target = path if name == "a.nc" else tmp_path / "b.zarr"
    array = pytest.importorskip("dask.array")

    def fail(block):
        raise RuntimeError("a worker died")

    dies = xr.Dataset({"x": ("y", array.zeros(3).map_blocks(fail, meta=np.zeros(0)))})
    groups = {
        "/": xr.Dataset(attrs={"new": 1}),
        "/a": tree["anova"].to_dataset(),
        "/z": dies,
    }
    with pytest.raises(RuntimeError, match="a worker died"):
        write(xr.DataTree.from_dict(groups), target)
    xr.testing.assert_identical(read(path), tree)
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_a_lazy_dataset_is_written(result, tmp_path):
    pytest.importorskip("dask")
    for name in NAMES:
        xr.testing.assert_identical(read(write(result.chunk(), tmp_path / name)), result)


def test_only_own_files_are_replaced(tree, result, tmp_path):
    (tmp_path / "mine.zarr").mkdir()
    (tmp_path / "mine.zarr" / "thesis.tex").write_text("x")
    (tmp_path / "file.nc").write_text("x")
    (tmp_path / "file.zarr").write_text("x")
    result.to_netcdf(tmp_path / "theirs.nc")
    write(tree, tmp_path / "ours.zarr")
    for name in ("mine.zarr", "file.nc"):
        (tmp_path / f"link to {name}").symlink_to(tmp_path / name)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for name in (
        "mine.zarr",
        "file.nc",
        "file.zarr",
        "theirs.nc",
        "ours.zarr",
        "link to mine.zarr",
        "link to file.nc",
    ):
        with pytest.raises(
            FileExistsError,
            match=r"exists and is not replaced: .*\. Delete it, or name another$",
        ):
            write(tree, tmp_path / name)
    with pytest.raises(FileExistsError, match=r"folders are not replaced"):
        write(result, tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_symbolic_link_stays_and_its_target_is_replaced(tree, tmp_path):
    name = "a.nc"
    (tmp_path / "elsewhere").mkdir()
    target = write(tree, tmp_path / "elsewhere" / name)
    (tmp_path / name).symlink_to(target)
    write(changed(tree), tmp_path / name)
    assert (tmp_path / name).is_symlink()
    xr.testing.assert_identical(read(target), changed(tree))
    assert len(list(target.parent.iterdir())) == 1
    (tmp_path / f"to come.{name}").symlink_to(tmp_path / "elsewhere" / f"new.{name}")
    write(tree, tmp_path / f"to come.{name}")
    xr.testing.assert_identical(read(tmp_path / "elsewhere" / f"new.{name}"), tree)


@pytest.mark.slow
def test_threads_write_and_read_one_archive(tmp_path):
    code = """
import sys, warnings, xcurves
from concurrent.futures import ThreadPoolExecutor
scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
tree = scores.curves.analyze(include=["anova", "pairwise"], n_resamples=99, rng=0)
def job(place):
    xcurves.archive.write(tree, sys.argv[1] + "/one.nc")
    return xcurves.archive.read(sys.argv[1] + "/one.nc").identical(tree)
warnings.simplefilter("ignore")
with ThreadPoolExecutor(4) as threads:
    assert all(threads.map(job, range(12)))
"""
    # in a process of its own: without a lock the library crashes
    subprocess.run([sys.executable, "-W", "ignore", "-c", code, tmp_path], check=True)
    assert [file.name for file in tmp_path.iterdir()] == ["one.nc"]


@pytest.mark.slow
def test_a_reader_beside_a_writer_reads_one_of_its_archives(tmp_path):
    """Every archive holds one number many times, so that a mixture shows."""
    name = "a.nc"
    code = f"""
import numpy as np, sys, xarray as xr
from xcurves.archive import write
for n in range(40):
    write(xr.Dataset({{f"v{{i}}": ("x", np.full(50, n)) for i in range(9)}}), {str(tmp_path / name)!r})
"""
    write(
        xr.Dataset({f"v{i}": ("x", np.zeros(50, int)) for i in range(9)}),
        tmp_path / name,
    )
    writer = subprocess.Popen([sys.executable, "-W", "ignore", "-c", code])
    numbers = []
    while writer.poll() is None:
        (number,) = np.unique(read(tmp_path / name).to_array())
        numbers.append(int(number))
    assert writer.returncode == 0
    assert numbers == sorted(numbers)
    assert read(tmp_path / name)["v0"][0] == 39


def test_a_missing_or_locked_folder_is_told(result, tree, tmp_path):
    with pytest.raises(
        NotADirectoryError,
        match=r"there is no folder .*gone\. Make it, or name another$",
    ):
        write(result, tmp_path / "gone" / "a.nc")
    for data, name in ((result, "a.nc"), (tree, "a"), (tree, "a.nc"), (tree, "a.zarr")):
        with pytest.raises(
            OSError,
            match=r"^path '/proc/a.*' cannot be written: .*that you may write to",
        ):
            write(data, f"/proc/{name}")


def test_what_is_no_archive_is_told(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "a.csv").write_text("algorithm,run\n")
    with pytest.raises(FileNotFoundError, match=r"gone\.nc' cannot be read.*Write it again, or"):
        read(tmp_path / "gone.nc")
    with raises_other(ValueError, match=r"archive: it does not.*it again, or name"):
        read(tmp_path / "a.csv")
    with raises_other(ValueError, match=r"it is a folder.*for each run: "):
        read(tmp_path / "folder")


@pytest.mark.parametrize("engine", ["scipy", "netcdf4"])
def test_written_netcdf_3_files_open_in_xarray(result, tmp_path, engine, monkeypatch):
    monkeypatch.setattr(archive_formats, "engines", list)
    with xr.open_dataset(write(result, tmp_path / "a.nc"), engine=engine) as opened:
        xr.testing.assert_identical(
            opened.load(),
            result.assign_attrs(xcurves_digest=opened.attrs["xcurves_digest"]),
        )


@pytest.mark.parametrize("name", NAMES)
def test_a_link_to_what_others_wrote_is_refused(tree, tmp_path, name):
    target = tmp_path / f"theirs.{name}"
    target.mkdir() if name.endswith("zarr") else target.write_text("x")
    inside = target / "thesis.tex" if target.is_dir() else target
    inside.write_text("x")
    (tmp_path / name).symlink_to(target)
    with pytest.raises(FileExistsError, match="exists and is not replaced"):
        write(tree, tmp_path / name)
    assert inside.read_text() == "x"


def metadata_of(folder):
    return sorted(path for path in folder.rglob("*") if path.name in (".zattrs", ".zgroup", ".zarray", ".zmetadata"))


def read_or_refused(path, written):
    """Assert that an archive is refused in one line, or read as it was written."""
    refused = None
    try:
        found = read(path)
    except (OSError, ValueError) as error:
        refused = str(error)
    if refused is None:
        xr.testing.assert_identical(found, written)
    else:
        assert refused.count("\n") == 0
        assert str(path) in refused


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"null", b'{"metadata": {}}'])
def test_a_zarr_store_that_lost_the_content_of_a_metadata_file_is_refused_or_the_same(result, tmp_path, content):
    pytest.importorskip("zarr")
    path = write(result, tmp_path / "a.zarr")
    for each in metadata_of(path):
        before = each.read_bytes()
        each.write_bytes(content)
        read_or_refused(path, result)
        each.unlink()
        read_or_refused(path, result)
        each.write_bytes(before)
    xr.testing.assert_identical(read(path), result)


def test_a_zarr_store_with_two_metadata_files_swapped_is_refused_or_the_same(result, tmp_path):
    pytest.importorskip("zarr")
    path = write(result, tmp_path / "a.zarr")
    files = metadata_of(path)
    roots = [each for each in files if each.parent == path]
    assert len(roots) == 3
    for one in roots:
        for other in files:
            before = one.read_bytes(), other.read_bytes()
            one.write_bytes(before[1])
            other.write_bytes(before[0])
            read_or_refused(path, result)
            one.write_bytes(before[0])
            other.write_bytes(before[1])
    xr.testing.assert_identical(read(path), result)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_what_is_no_file_is_refused_at_once(result, tmp_path):
    os.mkfifo(tmp_path / "pipe.nc")
    paths = [
        tmp_path / "pipe.nc",
        *(Path(name) for name in ("/dev/full", "/dev/zero", "/dev/null")),
    ]
    for path in paths:
        for call in (read, open_dataset):
            with raises_other(
                ValueError,
                match=r"cannot be read as a complete archive: it is no file but a device",
            ):
                call(path)
        with pytest.raises(
            FileExistsError,
            match=r"exists and is not replaced: xcurves did not write it",
        ):
            write(result, path)


def put_in_the_way(what, path):
    """Put something of somebody else's at a path."""
    if what == "socket":
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(path.name)  # names of sockets are short
    elif what == "link to a socket":
        put_in_the_way("socket", path.with_name("s"))
        path.symlink_to("s")
    elif what == "link to itself":
        path.symlink_to(path.name)
    elif what == "empty folder":
        path.mkdir()
    elif what == "folder":
        path.mkdir()
        (path / "theirs.txt").write_text("theirs")
    elif what == "link to a folder":
        put_in_the_way("folder", path.with_name("theirs"))
        path.symlink_to("theirs")
    else:
        path.write_text(what)


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="no such sockets here")
@pytest.mark.parametrize("name", ["a.nc", "a.zarr"])
@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("socket", "it is no file but a device, a pipe or a socket"),
        ("link to a socket", "it is no file but a device, a pipe or a socket"),
        ("link to itself", "Too many levels of symbolic links"),
        ("empty folder", "it is a folder"),
        ("folder", "it is a folder"),
        ("link to a folder", "it is a folder"),
        ("", "it does not begin as a netCDF file does"),
        ("a file of text", "it does not begin as a netCDF file does"),
    ],
)
def test_what_others_put_at_the_path_is_refused_and_stays(result, tmp_path, monkeypatch, name, what, said):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / name
    put_in_the_way(what, path)

    def standing():
        return {each: (each.lstat().st_mode, each.lstat().st_mtime_ns) for each in tmp_path.rglob("*")}

    before = standing()
    with raises_other((OSError, ValueError), match=said) as refused:
        read(path)
    with pytest.raises((OSError, ValueError)) as unopened:  # its words are compared below
        open_dataset(path)
    with pytest.raises(OSError, match=r"is not replaced|cannot be written") as unwritten:
        write(result, path)
    for caught in (refused, unopened, unwritten):
        assert str(caught.value).startswith(f"path {str(path)!r} ")
        assert "\n" not in str(caught.value)
    assert standing() == before


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/status")
@pytest.mark.parametrize("begins", [b"", b"\x89HDF\r\n\x1a\n", b"PK"])
def test_a_large_file_of_others_takes_no_memory(result, tmp_path, begins):
    path = tmp_path / "theirs.nc"
    with path.open("wb") as opened:
        opened.write(begins)
        opened.truncate(3 * 2**30)
    code = (
        "import sys, xarray as xr, xcurves\n"
        "for call in (xcurves.archive.read, xcurves.archive.open_dataset, lambda path: xcurves.archive.write(\n"
        "    xr.Dataset({'v': ('x', [1.0])}), path)):\n"
        "    try:\n"
        "        call(sys.argv[1])\n"
        "    except (OSError, ValueError) as error:\n"
        "        print(str(error).count('\\n'))\n"
        "print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])\n"  # the peak
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    *lines, peak = done.stdout.split()
    assert lines == ["0", "0", "0"]
    assert path.stat().st_size == 3 * 2**30
    # pages of a file that is searched count as memory, and are given back
    if not begins.startswith(b"\x89HDF"):
        assert int(peak) < 600_000


@pytest.mark.parametrize("value", [2**70, 10**400, -(2**63) - 1, [1, 2**64]])
@pytest.mark.parametrize("name", NAMES)
def test_integers_of_more_than_64_bits_are_refused_by_name(result, tmp_path, name, value):
    with raises_other(
        ValueError,
        match=r"attrs\['big'\] is an integer of more than 64 bits; as text: str\(value\)",
    ):
        write(result.assign_attrs(big=value), tmp_path / name)
    named = result.copy()
    named["pvalue"].attrs["seed"] = value
    with raises_other(
        ValueError,
        match=r"attrs\['seed'\] of 'pvalue' is an integer of more than 64 bits",
    ):
        write(named, tmp_path / name)
    assert not list(tmp_path.iterdir())
