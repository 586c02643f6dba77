"""Curves and results in real archives, by every real engine: what comes back is identical."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xcurves
from refusals import refused
from strategies import absent, make_curves

pytestmark = pytest.mark.slow

ENGINES = ["scipy", "h5netcdf", "netcdf4", "zarr"]


def write(dataset, path, engine):
    if engine == "zarr":
        dataset.to_zarr(path, zarr_format=2, consolidated=False)
    else:
        dataset.to_netcdf(path, engine=engine)


def read(path, engine):
    options = {"consolidated": False} if engine == "zarr" else {}
    with xr.open_dataset(path, engine=engine, **options) as opened:
        return opened.load()


@pytest.fixture
def curves():
    rng = np.random.default_rng(0)
    curves = absent(
        make_curves(rng.normal(size=(2, 5, 3)).cumsum(axis=-1), training=[0.0, 1e6, 2e6]),
        [5, 4],
    )
    tasks = xr.DataArray([0.0, 1.0], {"task": ["Ünïcode", "x"]}, ["task"])
    curves = (tasks + curves).rename("return").assign_attrs(units="points", long_name="return")
    curves.training.attrs = {"units": "steps", "long_name": "env steps"}
    return curves.curves.align("intersection").curves.drop_incomplete()


def results(curves):
    """What options add to results, beside what `test_kinds` writes of every kind."""
    last = curves.isel(training=[-1])
    everything = {
        "scores_at": [-1, 0],
        "threshold": 0.0,
        "target": 1.0,
        "cvar_level": [0.5, 0.9],
    }
    drawn = {"n_resamples": 20, "rng": 2**62, "dim": ("task", "run"), "strata": "task"}
    seeded = {"confidence_level": 0.5, "rng": 2**62}
    return {
        "null": curves.curves.randomized_anova(**seeded, keep_null=True),
        "paired": curves.isel(run=slice(4)).curves.randomized_anova(**seeded, paired=True),
        "one task": curves.isel(task=[0]).curves.randomized_anova(**seeded, n_resamples=50),
        "intervals": curves.curves.ss_profile(**seeded, intervals=[0, 1e6, 2e6], margin=1.0),
        "no test": curves.curves.ss_profile(**seeded, n_resamples=0),
        "exact": last.curves.performance_cdf(**everything, confidence_level=0.5, bounds=(-9, np.inf)),
        "strata": last.curves.performance_cdf(**everything, **drawn, confidence_level=0.5, interval="bca"),
        "pooled pairs": last.curves.compare_distributions(**drawn),
    }


@pytest.mark.filterwarnings("ignore:.*are few for a bootstrap")
@pytest.mark.parametrize("engine", ENGINES)
def test_results_come_back_identical(curves, tmp_path, engine):
    for name, result in results(curves).items():
        write(result, tmp_path / name, engine)
        back = read(tmp_path / name, engine)
        xr.testing.assert_identical(back, result)
        pd.testing.assert_frame_equal(back.curves.table(), result.curves.table(), check_index_type=False)


@pytest.mark.parametrize("engine", ENGINES)
def test_curves_come_back_identical_and_give_the_same_result(curves, tmp_path, engine):
    write(curves.to_dataset(), tmp_path / "curves", engine)
    back = read(tmp_path / "curves", engine)["return"]
    xr.testing.assert_identical(back, curves)
    again, first = (xcurves.randomized_anova(each, confidence_level=0.5, rng=0) for each in (back, curves))
    xr.testing.assert_identical(again, first)


@pytest.mark.parametrize("engine", ENGINES)
def test_curves_of_frames_come_back_identical(curves, tmp_path, engine):
    frame = curves.curves.to_frame().assign(loss=1.0)
    frame.attrs["source"] = "logs"
    both = frame.curves.to_dataset(["return", "loss"], extra="task", on=[5e5, 1e6], method="linear")
    assert both["return"].attrs["source"] == "logs"
    write(both, tmp_path / "curves", engine)
    xr.testing.assert_identical(read(tmp_path / "curves", engine), both)


@pytest.mark.parametrize("engine", ["scipy", "h5netcdf", "netcdf4"])
def test_hours_of_training_come_back_as_numbers_or_with_their_cure(curves, tmp_path, engine):
    curves.training.attrs["units"] = "hours"
    write(curves.to_dataset(), tmp_path / "curves", engine)
    with xr.open_dataset(tmp_path / "curves", engine=engine, decode_timedelta=True) as opened:
        decoded = opened["return"].load()
    cure = "da.assign_coords(training=da.training / np.timedelta64(1, 'h'))"
    with refused("training", "timedelta64[ns]", cure, kind=xcurves.WrongType):
        xcurves.randomized_anova(decoded)
    with xr.open_dataset(tmp_path / "curves", engine=engine, decode_timedelta=False) as opened:
        xr.testing.assert_identical(opened["return"].load(), curves)


@pytest.mark.filterwarnings("ignore:.*are few for a bootstrap")
def test_no_attr_is_of_a_kind_that_an_archive_refuses(curves):
    everything = [curves, *curves.coords.values()]
    for result in results(curves).values():
        everything += [result, *result.variables.values()]
        assert not any(variable.dtype == bool for variable in result.variables.values())
        # hides behind a method
        assert not [name for name in result.data_vars if hasattr(xr.Dataset, name)]
    for holder in everything:
        for name, value in holder.attrs.items():
            if name == "flag_values":  # of CF, with flag_meanings
                assert value.dtype == np.int8
                assert value.size > 1
                continue
            assert type(value) in (str, float, int)
            assert type(value) is not int or abs(value) < 2**31
