"""Folders with a file for each run or task, and stores that grow: one Dataset, and what does not belong is named."""

import warnings

import numpy as np
import pytest
import xarray as xr

from refusals import raises_other, refused
from strategies import make_curves
from xcurves import archive_formats
from xcurves.archive import open_dataset, write

pytestmark = pytest.mark.slow

ENGINES = ["scipy", "h5netcdf", "netcdf4", "zarr"]


@pytest.fixture
def curves():
    curves = make_curves(np.random.default_rng(0).normal(size=(2, 3, 4))).rename("score").to_dataset()
    curves["score"].attrs["units"] = "points"
    return curves


def write_by(engine, data, path):
    """Write as xarray does, without the checksums of `write`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if engine == "zarr":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data.to_zarr(path.with_suffix(".zarr"), zarr_format=2)
    else:
        data.to_netcdf(path, engine=engine)


def each_run(curves):
    for algorithm in curves["algorithm"].to_numpy():
        for run in curves["run"].to_numpy():
            yield str(algorithm), int(run), curves.sel(algorithm=algorithm, run=run)


def in_coordinates(data, algorithm, run):
    return data, f"{algorithm}-{run}.nc"


def in_attributes(data, algorithm, run):
    return data.drop_vars(["algorithm", "run"]).assign_attrs(algorithm=algorithm, run=run), f"{algorithm}-{run}.nc"


def in_file_names(data, algorithm, run):
    return data.drop_vars(["algorithm", "run"]), f"algorithm={algorithm},run={run}.nc"


def in_folder_names(data, algorithm, run):
    return data.drop_vars(["algorithm", "run"]), f"algorithm={algorithm}/run={run}/log.nc"


LABELLED = [in_coordinates, in_attributes, in_file_names, in_folder_names]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("labelled", LABELLED)
@pytest.mark.parametrize("chunks", [None, {}])
def test_a_file_for_each_run(curves, tmp_path, engine, labelled, chunks):
    if chunks is not None:
        pytest.importorskip("dask")
    for algorithm, run, data in each_run(curves):
        stored, name = labelled(data, algorithm, run)
        write_by(engine, stored, tmp_path / name)
    with open_dataset(tmp_path, chunks=chunks) as opened:
        assert (opened["score"].chunks is None) == (chunks is None)
        xr.testing.assert_identical(opened.load(), curves)


@pytest.mark.parametrize("engine", ENGINES[:-1])
def test_a_file_is_read_by_the_engine_that_is_asked_for(curves, tmp_path, engine):
    write_by(engine, curves, tmp_path / "a.nc")
    xr.testing.assert_identical(open_dataset(tmp_path / "a.nc", engine=engine), curves)
    with refused("engine", "pickle", names="must be 'scipy',.*or 'zarr'"):
        open_dataset(tmp_path / "a.nc", engine="pickle")


def test_a_file_for_each_task_and_runs_of_different_lengths(curves, tmp_path):
    short = curves.isel(training=slice(2), run=slice(2))
    write(curves, tmp_path / "task=walker.nc")
    write(short, tmp_path / "task=hopper.nc")
    opened = open_dataset(tmp_path)
    assert opened["score"].dims == ("task", "algorithm", "run", "training")
    assert opened["task"].values.tolist() == ["hopper", "walker"]
    xr.testing.assert_equal(opened["score"].sel(task="walker", drop=True), curves["score"])
    back = opened["score"].sel(task="hopper", drop=True)
    xr.testing.assert_equal(back.isel(training=slice(2), run=slice(2)), short["score"])
    assert back.isel(run=2).isnull().all()
    assert back.isel(training=slice(2, None)).isnull().all()


def test_one_and_zero_one_are_two_runs(curves, tmp_path):
    (tmp_path / "text").mkdir()
    for name in ("01", "1"):
        write(curves.isel(run=0, drop=True), tmp_path / "text" / f"run={name}.nc")
    assert open_dataset(tmp_path / "text")["run"].values.tolist() == ["01", "1"]
    (tmp_path / "numbers").mkdir()
    for name in (2, 10):
        write(curves.isel(run=0, drop=True), tmp_path / "numbers" / f"run={name}.nc")
    assert open_dataset(tmp_path / "numbers")["run"].values.tolist() == [2, 10]


@pytest.mark.parametrize("engine", ["scipy", "netcdf4"])
@pytest.mark.parametrize("chunks", [None, {}])
def test_a_half_written_file_is_refused_by_name(curves, tmp_path, engine, chunks, monkeypatch):
    monkeypatch.setattr(archive_formats, "engines", lambda: [] if engine == "scipy" else [engine])
    for algorithm, run, data in each_run(curves):
        write(data, tmp_path / f"{algorithm}-{run}.nc")
    (tmp_path / ".a1-3.nc.x.part").mkdir()
    (tmp_path / ".a1-3.nc.x.part" / "a1-3.nc").write_bytes(b"CDF")
    xr.testing.assert_identical(open_dataset(tmp_path, chunks=chunks).load(), curves)
    broken = tmp_path / "a1-2.nc"
    broken.write_bytes(broken.read_bytes()[:-120])
    with raises_other((ValueError, OSError), match=r"a1-2\.nc' cannot be read as a complete archive"):
        open_dataset(tmp_path, chunks=chunks).load()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            lambda data: data.rename(score="loss"),
            "its dims of loss, dims of score, .* differ from a0-0.nc",
        ),
        (
            lambda data: data.assign(score=data["score"].assign_attrs(units="m")),
            "its units of score differ from a0-0.nc",
        ),
        (
            lambda data: data.assign_attrs(experiment="second"),
            "its experiment differ from a0-0.nc",
        ),
        (
            lambda data: data.assign_coords(run="x"),
            "its labels of run differ from a0-0.nc",
        ),
        (
            lambda data: data.expand_dims(metric=["a"]),
            "its dims of metric, dims of score",
        ),
        (lambda data: data.assign_attrs(run=7), "differ in run: 7 and 2"),
        (
            lambda data: data.drop_vars("run"),
            "no coordinate, attribute or part of its path says its run",
        ),
    ],
)
def test_a_file_of_another_experiment_is_named_and_never_joined(curves, tmp_path, change, told):
    for algorithm, run, data in each_run(curves):
        write(
            change(data) if (algorithm, run) == ("a1", 2) else data,
            tmp_path / f"{algorithm}-{run}.nc",
        )
    cure = "Rename it" if told.startswith(("no coordinate", "differ in run")) else "Move it elsewhere"
    with refused("path", cure=cure, names=rf"a1-2\.nc'?: .*{told}"):
        open_dataset(tmp_path)


def test_one_run_in_two_files_is_refused(curves, tmp_path):
    run = curves.isel(run=0, algorithm=0)
    for name in ("a.nc", "b.nc"):
        write(run, tmp_path / name)
    with refused("path", cure="Remove one of them", names=r"^a\.nc and b\.nc both"):
        open_dataset(tmp_path)


def test_labels_alone_and_with_others_are_refused(curves, tmp_path):
    write(curves, tmp_path / "both.nc")
    write(curves.isel(algorithm=[0]).assign_coords(run=[7, 8, 9]), tmp_path / "one.nc")
    with refused("path", cure="Separate them", names="^both.nc, one.nc: some hold algorithm 'a0' alone"):
        open_dataset(tmp_path)


def test_a_folder_without_archives_is_told(tmp_path):
    with refused("path", str(tmp_path), "Name another", names=r"is no zarr store.*\.zarr store\."):
        open_dataset(tmp_path)
    (tmp_path / "a.nc").write_bytes(b"CDF\x01")
    with raises_other(ValueError, match=r"a\.nc' cannot be read as"):
        open_dataset(tmp_path)
    with pytest.raises(FileNotFoundError, match="No such file or directory"):
        open_dataset(tmp_path / "gone")


def test_an_archive_of_groups_names_read(curves, tmp_path):
    write(xr.DataTree.from_dict({"/curves": curves}), tmp_path / "a.nc")
    with refused("path", str(tmp_path / "a.nc"), "For a tree: archive.read(path)", names="holds no variable"):
        open_dataset(tmp_path / "a.nc")


@pytest.mark.filterwarnings("ignore:.*(Zarr|zarr|Consolidated|consolidated)")
def test_a_zarr_store_that_grows_along_run(curves, tmp_path):
    pytest.importorskip("dask")
    path = tmp_path / "runs.zarr"
    curves.isel(run=[0]).to_zarr(path, zarr_format=2)
    for run in (1, 2):
        curves.isel(run=[run]).to_zarr(path, append_dim="run", zarr_format=2)
    for chunks in (None, {}, {"run": 2}):
        opened = open_dataset(path, chunks=chunks)
        xr.testing.assert_identical(opened.load(), curves)


def test_a_lazy_folder_is_analysed_as_one_in_memory(curves, tmp_path):
    pytest.importorskip("dask")
    for algorithm, run, data in each_run(curves):
        write(data, tmp_path / f"{algorithm}-{run}.nc")
    lazy = open_dataset(tmp_path, chunks={"run": -1, "algorithm": -1})
    options = {"n_resamples": 50, "confidence_level": 0.5, "rng": 0}
    result = lazy["score"].curves.randomized_anova(**options)
    assert result.chunks
    expected = curves["score"].curves.randomized_anova(**options)
    for name in ("f", "pvalue", "ss"):
        np.testing.assert_allclose(result[name], expected[name])


def test_xarrays_own_way_leads_to_the_same_curves(curves, tmp_path):
    pytest.importorskip("dask")
    for algorithm in curves["algorithm"].to_numpy():
        write(curves.sel(algorithm=[algorithm]), tmp_path / f"{algorithm}.nc")
    with xr.open_mfdataset(tmp_path.glob("*.nc"), combine="nested", concat_dim="algorithm", join="outer") as opened:
        xr.testing.assert_equal(opened.sortby("algorithm").load(), open_dataset(tmp_path))


@pytest.mark.parametrize("engine", ENGINES[:-1])
def test_a_file_of_xarray_that_is_half_written_is_refused_by_name(curves, tmp_path, engine):
    """Without digests, at whatever byte the writer stopped; zarr does not see that a chunk is cut."""
    for algorithm, run, data in each_run(curves):
        write_by(engine, data, tmp_path / f"{algorithm}-{run}.nc")
    broken = tmp_path / "a1-2.nc"
    whole = broken.read_bytes()
    for size in {0, 1, len(whole) // 2, len(whole) - 1}:
        broken.write_bytes(whole[:size])
        with raises_other(
            (ValueError, OSError),
            match=rf"{broken.name}' cannot be read as a complete archive: ",
        ):
            open_dataset(tmp_path)
    broken.write_bytes(whole)
    xr.testing.assert_identical(open_dataset(tmp_path), curves)


@pytest.mark.parametrize("engine", ENGINES)
def test_runs_are_added_and_looked_at_again(curves, tmp_path, engine):
    """A look after the first batch, and one after both: the same as of curves in memory."""
    pytest.importorskip("dask")
    values = np.random.default_rng(1).normal(size=(2, 10, 4)) + np.array([[[0]], [[3]]])
    curves = make_curves(values).rename("score").to_dataset()
    for batch in (slice(5), slice(5, 10)):
        for algorithm, run, data in each_run(curves.isel(run=batch)):
            write_by(engine, data, tmp_path / f"{algorithm}-{run}.nc")
        seen = slice(batch.stop)
        opened = open_dataset(tmp_path, chunks={"algorithm": -1, "run": -1})["score"]
        assert opened.chunks
        looked = opened.curves.assign_looks(5).curves.sequential(n_looks=2, n_resamples=99).load()
        own = curves["score"].isel(run=seen).curves.assign_looks(5).curves.sequential(n_looks=2, n_resamples=99)
        xr.testing.assert_allclose(looked, own)
        assert looked["n_runs"].max() == batch.stop
