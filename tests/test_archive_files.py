"""Archives on disk: whole or not at all, read back identical, and told in one line where they are not."""

import os
import signal
import subprocess
import sys
import warnings
from importlib.metadata import version

import numpy as np
import pytest
import xarray as xr

import xcurves
from strategies import make_curves, simulate_errors
from xcurves import archives
from xcurves.archives import read, write


@pytest.fixture(scope="module")
def tree():
    curves = make_curves(np.random.default_rng(0).normal(size=(2, 2, 5, 3)), task=["Ünïcode", "x"]).rename("return")
    curves.training.attrs = {"units": "hours", "long_name": "hours of training"}
    curves = curves.assign_attrs(units="points", history="made up")
    return curves.curves.analyze(n_resamples=50, rng=2**62)


def changed(tree):
    """Return the same tree with another root."""
    return xr.DataTree.from_dict(
        {"/": xr.Dataset(attrs={"new": 1}), **{part: tree[part].to_dataset() for part in tree}}
    )


@pytest.fixture
def result(tree):
    return tree["anova"].to_dataset()


@pytest.fixture(params=["netcdf4", "h5netcdf", None])
def engine(request, monkeypatch):
    """Have one engine of netCDF-4, or none."""
    monkeypatch.setattr(archives.formats, "engines", lambda: [request.param] if request.param else [])
    return request.param


def test_trees_come_back_identical(tree, tmp_path, engine):
    for name in ["a.nc"] * (engine is not None) + ["a", "a.zarr"]:
        assert write(tree, tmp_path / name) == tmp_path / name
        back = read(tmp_path / name)
        xr.testing.assert_identical(back, tree)
        assert write(back, tmp_path / name).exists()  # over itself, once more
        xr.testing.assert_identical(read(tmp_path / name), tree)
    assert {path.name for path in tmp_path.iterdir()} <= {"a.nc", "a", "a.zarr"}


def test_results_come_back_identical(tree, tmp_path, engine):
    for part in tree:
        dataset = tree[part].to_dataset()
        for name in ("a.nc", "a", "a.zarr"):
            write(dataset, tmp_path / name)
            xr.testing.assert_identical(read(tmp_path / name), dataset)
    again = xcurves.randomized_anova(read(write(tree["curves"].to_dataset(), tmp_path / "c.nc"))["return"], rng=0)
    xr.testing.assert_identical(again, xcurves.randomized_anova(tree["curves"]["return"], rng=0))


def every_kind(curves):
    """Return a result of every method, of errors where it takes them."""
    scores, errors = curves["return"], simulate_errors(2, seed=0)[0].rename(task="algorithm")
    fit = errors.curves.fit_power_law(predict_at=[800], n_resamples=9, rng=0)
    last = scores.isel(training=-1)
    return [
        scores.curves.randomized_anova(keep_null=True, n_resamples=20, rng=2**62),
        scores.curves.pairwise(n_resamples=50, rng=0),
        scores.curves.contrast({"a0": 1, "a1": -1}, rng=0),
        scores.curves.ss_profile(intervals=[0, 100, 200], margin=1.0, n_resamples=99, rng=0),
        fit,
        fit.curves.predict([800, 1600]),
        fit.curves.compare_learners(reference=0),
        errors.curves.leave_one_size_out(),
        last.curves.performance_cdf(scores_at=[0.0], threshold=0.0, target=1.0),
        last.curves.compare_distributions(rng=0),
        errors.to_dataset(),
    ]


@pytest.mark.filterwarnings("ignore:.*(no p below|no adjusted p|gamma is)")
def test_every_kind_of_result_comes_back_identical(tree, tmp_path, engine):
    for result in every_kind(tree["curves"].to_dataset()):
        for name in ("a.nc", "a.zarr"):
            xr.testing.assert_identical(read(write(result, tmp_path / name)), result)


def test_what_one_format_left_behind_goes_into_another(tree, tmp_path):
    names = ["a.nc", "b.zarr", "c", "d.nc"]
    for name in names:
        write(tree, tmp_path / name)
        tree = read(tmp_path / name)
    xr.testing.assert_identical(tree, read(tmp_path / "a.nc"))


def test_a_folder_needs_the_core_alone(tree, tmp_path):
    """As in an environment without the extra."""
    code = """
import sys
sys.modules.update(dict.fromkeys(["netCDF4", "h5netcdf", "h5py", "zarr"]))
import xarray as xr, xcurves
from xcurves.archives import read, write
tree = xcurves.tutorial.open_dataset("tictactoe")["score"].curves.analyze(n_resamples=9, rng=0, confidence_level=.5)
assert not xcurves.archives.holds_trees()
assert read(write(tree, "whole")).identical(tree)
anova = tree["anova"].to_dataset()
assert read(write(anova, "anova.nc")).identical(anova)
for name in ("whole.nc", "whole.zarr"):
    try:
        write(tree, name)
    except ImportError as error:
        print(error)
"""
    write(tree, tmp_path / "there.nc")
    write(tree, tmp_path / "there.zarr")
    code += "for name in ('there.nc', 'there.zarr'):\n    try:\n        read(name)\n    except ImportError as error:\n"
    code += "        print(error)\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    install = "Install it: pip install 'xcurves[io]'"
    assert done.stdout.splitlines() == [
        f"path 'whole.nc': one netCDF file of several groups needs h5netcdf or netCDF4. {install}, or name a folder: "
        "'whole'",
        f"path 'whole.zarr' needs zarr. {install}",
        f"path 'there.nc' is a netCDF-4 file, which needs h5netcdf or netCDF4. {install}",
        f"path 'there.zarr' is a zarr store, which needs zarr. {install}",
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["anova.nc", "there.nc", "there.zarr", "whole"]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("options", [{"zarr_format": 2, "consolidated": False}, {"zarr_format": 2}, {"zarr_format": 3}])
def test_zarr_stores_of_others_open_without_a_warning(tree, tmp_path, options):
    numbers = tree["anova"].to_dataset()[["ss", "df"]].drop_vars("source")
    if options["zarr_format"] == 3 and int(version("zarr").split(".")[0]) < 3:
        pytest.skip("this zarr writes format 2 only")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        numbers.to_zarr(tmp_path / "a.zarr", **options)
    xr.testing.assert_identical(read(tmp_path / "a.zarr"), numbers)


@pytest.mark.filterwarnings("error")
def test_written_zarr_stores_open_elsewhere_without_a_warning(result, tmp_path):
    with xr.open_zarr(write(result, tmp_path / "a.zarr")) as opened:
        xr.testing.assert_identical(opened.load(), result)


@pytest.mark.parametrize(
    ("name", "where"),
    [("a.nc", "before"), ("a", "before"), ("a.zarr", "before"), ("a", "between"), ("a.zarr", "between")],
)
def test_a_killed_writer_leaves_the_old_archive(tree, tmp_path, name, where):
    """Killed when all is written and nothing renamed; or, of folders, when the old one is out of the way."""
    path = write(tree, tmp_path / name)
    code = f"""
import os, signal
from pathlib import Path
from xcurves import archives
def kill(*_):
    os.kill(os.getpid(), signal.SIGKILL)
tree = archives.read({str(path)!r})
if {where!r} == "before":
    archives.places._put = kill
else:
    rename = Path.rename
    Path.rename = lambda self, to: rename(self, to) if str(to).endswith(".old") else kill()
tree.attrs = {{'new': 1}}
archives.write(tree, {str(path)!r})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    kept = next(tmp_path.glob(f".{name}.*.old")) if where == "between" else path
    xr.testing.assert_identical(read(kept), tree)
    (part,) = tmp_path.glob(f".{name}.*.part")
    xr.testing.assert_identical(read(part), changed(tree))


@pytest.mark.parametrize("name", ["a.nc", "a", "a.zarr"])
def test_a_failing_write_leaves_the_old_archive_and_nothing_else(tree, tmp_path, name):
    path = write(tree, tmp_path / name)
    array = pytest.importorskip("dask.array")

    def fail(block):
        raise RuntimeError("a worker died")

    dies = xr.Dataset({"x": ("y", array.zeros(3).map_blocks(fail, meta=np.zeros(0)))})
    groups = {"/": xr.Dataset(attrs={"new": 1}), "/a": tree["anova"].to_dataset(), "/z": dies}
    with pytest.raises(RuntimeError, match="a worker died"):
        write(xr.DataTree.from_dict(groups), path)
    xr.testing.assert_identical(read(path), tree)
    assert [each.name for each in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["a", "a.zarr"])
def test_a_swap_that_fails_is_undone(tree, tmp_path, name, monkeypatch):
    path = write(tree, tmp_path / name)
    rename = type(path).rename

    def fail(self, to):
        if str(self).endswith(".part"):
            raise OSError(28, "No space left on device")
        return rename(self, to)

    monkeypatch.setattr(type(path), "rename", fail)
    with pytest.raises(OSError, match=r"^path '.*' cannot be written: No space left on device\. Name a folder"):
        write(changed(tree), path)
    xr.testing.assert_identical(read(path), tree)
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_only_archives_are_replaced(tree, result, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")
    (tmp_path / "file").write_text("x")
    (tmp_path / "empty").mkdir()
    write(tree, tmp_path / "with more")
    (tmp_path / "with more" / "notes.txt").write_text("x")
    for name in ("mine", "file", "with more"):
        with pytest.raises(FileExistsError, match="holds something else; only an archive is replaced"):
            write(tree, tmp_path / name)
    with pytest.raises(IsADirectoryError, match=r"is a folder\. Name a file in it$"):
        write(result, tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.tex").exists()
    xr.testing.assert_identical(read(write(tree, tmp_path / "empty")), tree)


@pytest.mark.parametrize("value", [True, None, {"lr": 0.1}])
def test_attrs_that_netcdf_cannot_hold_are_named_before_anything_is_written(result, tmp_path, value):
    odd = result.assign_attrs(config=value)
    for name in ("odd.nc", "odd"):
        with pytest.raises(TypeError, match=r"^attrs\['config'\] is .*, which netCDF cannot hold. Say it as text"):
            xcurves.archives.write(odd, tmp_path / name)
    with pytest.raises(TypeError, match=r"^attrs\['config'\] of 'f' is "):
        xcurves.archives.write(result.assign(f=result.f.assign_attrs(config=value)), tmp_path / "odd.nc")
    assert not list(tmp_path.iterdir())
    xcurves.archives.write(odd, tmp_path / "odd.zarr")
    assert xcurves.archives.read(tmp_path / "odd.zarr").identical(odd)


def test_what_netcdf_3_cannot_hold_is_told(tree, tmp_path):
    for attrs in ({"tags": ["a", "b"]}, {"seed": 2**40}):
        odd = tree.copy()
        odd.attrs |= attrs
        with pytest.raises(ValueError, match=r"root.nc' cannot be written as netCDF-3: .* need the extra io$"):
            xcurves.archives.write(odd, tmp_path / "odd")
    assert not list(tmp_path.iterdir())


def test_threads_write_and_read_one_archive(tmp_path):
    code = """
import sys, warnings
from concurrent.futures import ThreadPoolExecutor
import xcurves
scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
tree = scores.curves.analyze(include=["anova", "pairwise"], n_resamples=99, rng=0)
def job(place):
    xcurves.archives.write(tree, sys.argv[1] + "/one.nc")
    return xcurves.archives.read(sys.argv[1] + "/one.nc").identical(tree)
warnings.simplefilter("ignore")
with ThreadPoolExecutor(4) as threads:
    assert all(threads.map(job, range(12)))
"""
    # in a process of its own: without a lock the library crashes
    subprocess.run([sys.executable, "-W", "ignore", "-c", code, tmp_path], check=True)
    assert [file.name for file in tmp_path.iterdir()] == ["one.nc"]


def test_a_missing_or_locked_folder_is_told(result, tree, tmp_path):
    with pytest.raises(NotADirectoryError, match=r"there is no folder .*gone\. Make it, or name another$"):
        write(result, tmp_path / "gone" / "a.nc")
    for data, name in ((result, "a.nc"), (tree, "a"), (tree, "a.nc"), (tree, "a.zarr")):
        with pytest.raises(OSError, match=r"^path '/proc/a.*' cannot be written: .* Name a folder that you may"):
            write(data, f"/proc/{name}")


@pytest.mark.parametrize("engine", ["scipy", "netcdf4", "h5netcdf"])
def test_a_cut_file_is_told_wherever_it_is_cut(result, tmp_path, engine, monkeypatch):
    """The netCDF library itself takes what a cut netCDF-3 file lacks for zeros."""
    if engine == "scipy":
        monkeypatch.setattr(archives.formats, "engines", list)
    else:
        monkeypatch.setattr(archives.formats, "engines", lambda: [engine])
    path = write(result, tmp_path / "a.nc")
    whole = path.read_bytes()
    path.write_bytes(b"")
    with pytest.raises(ValueError, match=r"is no archive that can be read whole: it is empty\. Write it again"):
        read(path)
    for length in [1, 4, 5, *np.linspace(8, len(whole) - 1, 40).astype(int)]:
        path.write_bytes(whole[:length])
        with pytest.raises((ValueError, OSError)) as caught:
            read(path)
        assert str(caught.value).startswith(f"path {str(path)!r} is no archive that can be read whole: ")
        assert "\n" not in str(caught.value)


def test_what_is_no_archive_is_told(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "a.csv").write_text("algorithm,run\n")
    with pytest.raises(FileNotFoundError, match=r"does not exist\. Name a netCDF file, a zarr store or a folder of"):
        read(tmp_path / "gone.nc")
    with pytest.raises(ValueError, match=r"whole: it does not begin as a netCDF file does\. Write it again, or name"):
        read(tmp_path / "a.csv")
    with pytest.raises(ValueError, match=r"a folder without root\.nc is no zarr store and nothing that was written"):
        read(tmp_path / "folder")


def test_a_zarr_store_with_a_damaged_chunk_is_told(result, tmp_path):
    path = write(result, tmp_path / "a.zarr")
    (path / "pvalue" / "0.0.0").write_bytes(b"rubbish")
    with pytest.raises((ValueError, OSError), match="is no archive that can be read whole: "):
        read(path)


def test_an_archive_can_be_read_by_others(tree, tmp_path):
    umask = os.umask(0o022)
    try:
        assert write(tree, tmp_path / "a.nc").stat().st_mode & 0o777 == 0o644
        assert write(tree, tmp_path / "a").stat().st_mode & 0o777 == 0o755
    finally:
        os.umask(umask)
    with xr.open_dataset(tmp_path / "a.nc", group="anova") as opened:
        xr.testing.assert_identical(opened.load(), tree["anova"].to_dataset())
    with xr.open_dataset(tmp_path / "a" / "pairwise.nc") as opened:
        xr.testing.assert_identical(opened.load(), tree["pairwise"].to_dataset())
