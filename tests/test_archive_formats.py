"""Damaged archives are refused, in every engine; attributes that readers of netCDF act on come back as they were."""

import hashlib
import shutil

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from damage import FORMATS, archive, try_damage
from layers import slow
from refusals import raises_other
from strategies import make_curves
from xcurves import archive_formats
from xcurves.archive import open_dataset, read, write
from xcurves.archive_formats import DIGEST, content_of, digest_of

ACTED_ON = {
    "scale_factor": 0.01,
    "add_offset": 5,
    "missing_value": 1.0,
    "_FillValue": 0.5,
    "dtype": "bool",
    "_Unsigned": "true",
    "coordinates": "a b",
    "calendar": "noleap",
    "units": "days since 2000-01-01",
    "valid_range": [0.0, 1.0],
    "grid_mapping": "crs",
    "DIMENSION_LIST": "x",
    "xcurves_literal_scale_factor": 2.0,
}


@pytest.mark.plain(1)
@pytest.mark.parametrize("kind", FORMATS)
def test_no_damaged_archive_is_read_changed(kind):
    counts = try_damage(kind, 60, seed=1)
    assert counts["changed"] == 0
    assert counts["refused"] >= 25
    assert sum(counts.values()) == 60


@pytest.mark.slow
@pytest.mark.parametrize("kind", FORMATS)
def test_no_flipped_bit_of_500_changes_data(kind):
    assert try_damage(kind, 500, hows=["flip"])["changed"] == 0


@pytest.mark.slow
def test_a_zarr_store_that_lacks_a_chunk_or_its_metadata_is_refused_or_unchanged(
    tmp_path,
):
    path, data = archive("zarr", tmp_path)
    for file in [file for file in path.rglob("*") if file.is_file()]:
        content = file.read_bytes()
        file.unlink()
        if file.name == ".zmetadata":  # a copy of the rest
            xr.testing.assert_identical(read(path), data)
        else:
            with raises_other(
                ValueError,
                match=r"is missing|not what was written: it was damaged, or changed later",
            ):
                read(path)
        file.write_bytes(content)
    xr.testing.assert_identical(read(path), data)


@pytest.mark.parametrize("engine", ["scipy", "h5netcdf", "netcdf4", "zarr"])
def test_the_digest_is_that_of_the_content_in_every_engine(tmp_path, engine, monkeypatch):
    monkeypatch.setattr(archive_formats, "engines", lambda: [] if engine == "scipy" else [engine])
    values = {
        "x": (
            "i",
            np.array([1.5, np.nan, -0.0, np.inf]),
            {"units": "points", "seed": 7, "list": [1.0, 2.0]},
        ),
        "n": ("i", np.arange(4, dtype=np.int32)),
        "flag": ("i", np.array([True, False, True, True])),
        "text": ("i", np.array(["Ünïcode", "", "b", "ccc"], dtype=object)),
        "one": ((), 3.0),
    }
    data = xr.Dataset(values, {"i": [10, 20, 30, 40]}, {"history": "made up", "pair": [3.0, 4.0]})
    path = write(data, tmp_path / ("a.zarr" if engine == "zarr" else "a.nc"))
    with xr.open_dataset(path, engine=engine) as opened:
        recorded = opened.attrs[DIGEST]
        # other readers find units that are no dates under their own name
        assert opened["x"].attrs["units"] == "points"
    assert recorded == digest_of(content_of({"/": data}))
    xr.testing.assert_identical(read(path), data)


def test_the_digest_of_a_variable_by_hand():
    data = xr.Dataset({"x": ("i", np.array([1.0, np.nan]))})
    by_hand = hashlib.sha256(repr((False, ("i",), (2,), "f")).encode() + np.array([1.0, np.nan], "<f8").tobytes())
    assert content_of({"/": data}) == {
        "group '/'": "",
        "variable 'x'": by_hand.hexdigest(),
    }


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.assign(x=data["x"] + 1e-15),
        lambda data: data.assign(x=data["x"].astype(int)),
        lambda data: data.rename(x="z"),
        lambda data: data.set_coords("x"),
        lambda data: data.rename(i="j"),
        lambda data: data.assign_attrs(a="1"),
        lambda data: data.assign(t=("k", ["ab", "c"])),
    ],
)
def test_any_change_of_content_changes_the_digest(change):
    data = xr.Dataset({"x": ("i", [1.0, 2.0]), "t": ("k", ["a", "bc"])}, attrs={"a": 1})
    assert digest_of(content_of({"/": change(data)})) != digest_of(content_of({"/": data}))


def test_an_archive_whose_mark_is_changed_is_refused(tmp_path):
    path, _ = archive("netCDF-4", tmp_path)
    h5py = pytest.importorskip("h5py")
    for name, value in ((DIGEST, "sha256:0"), ("xcurves_digesT", None)):
        copy = shutil.copy(path, tmp_path / "copy.nc")
        with h5py.File(copy, "a") as opened:
            if value is None:
                opened.attrs[name] = opened.attrs[DIGEST]
                del opened.attrs[DIGEST]
            else:
                opened.attrs[name] = value
        with raises_other(ValueError, match="its content is not what was written"):
            read(copy)


@pytest.fixture(params=["scipy", "h5netcdf", "netcdf4", "zarr"])
def place(request, tmp_path, monkeypatch):
    """Return a path that one engine writes and reads."""
    monkeypatch.setattr(
        archive_formats,
        "engines",
        lambda: [] if request.param == "scipy" else [request.param],
    )
    return tmp_path / ("a.zarr" if request.param == "zarr" else "a.nc")


@pytest.fixture
def curves():
    return make_curves(np.array([[[0.0, 0.5, 1.0]] * 2] * 2)).rename("score").to_dataset()


@pytest.mark.parametrize("names", [[*ACTED_ON], *(slow([name]) for name in ACTED_ON)])
def test_an_attribute_that_readers_act_on_comes_back_and_changes_no_value(curves, place, names):
    for data in (curves["score"], curves["training"], curves):
        data.attrs.update({name: ACTED_ON[name] for name in names})
    xr.testing.assert_identical(read(write(curves, place)), curves)
    xr.testing.assert_identical(open_dataset(place), curves)
    with xr.open_dataset(place) as opened:  # as others read it
        np.testing.assert_array_equal(opened["score"], curves["score"])
        assert set(opened.data_vars) == {"score"}


ATTRS = [
    "x\0y",
    "\ud800",
    ["a", "b", ""],
    [],
    2**80,
    ["a"],
    [1.5],
    [1, "a"],
    b"\xff",
    True,
    None,
    {"lr": 0.1},
]
NAMES = [".", "..", ".hidden", "eval/return"]
VALUES = [
    np.array(["2020-01-01"], "M8[ns]"),
    np.array([5], "m8[s]"),
    pd.Categorical(["a", "b"]),
    np.array(["a", None], object),
    np.array(["a\0b"], object),
    np.array([2**40]),
]
ODD = {
    **{f"attribute {value!r}": xr.Dataset({"tags": ("x", [1.0], {"tags": value})}) for value in ATTRS},
    **{f"variable {name}": xr.Dataset({name: ("x", [1.0])}) for name in NAMES},
    **{f"group {name}": xr.DataTree(children={name: xr.DataTree(xr.Dataset({"y": 1.0}))}) for name in NAMES[:3]},
    **{f"values {values!r}": xr.Dataset({"tags": ("x", values)}) for values in VALUES},
}


@pytest.mark.plain(25)
@pytest.mark.parametrize("odd", ODD)
def test_what_would_not_be_the_same_is_refused_by_name_or_the_same(place, odd):
    """Which it is depends on the engine; nothing changes silently, and nothing is left."""
    told = ""
    try:
        write(ODD[odd], place)
    except (ValueError, OSError, ImportError) as error:
        told = str(error)
    if told:
        assert "\n" not in told
        assert "tags" in told or not odd.startswith(("values", "attribute None", "attribute {")) or "x00" in odd
        assert not list(place.parent.iterdir())
    else:
        assert read(place).identical(ODD[odd])


@pytest.mark.parametrize("name", ["root", "outer/inner", "curves"])
def test_a_group_of_any_other_name_comes_back(curves, tmp_path, name):
    tree = xr.DataTree.from_dict({"/": xr.Dataset(attrs={"here": 1}), name: curves})
    for place in ("a.nc", "a.zarr"):
        xr.testing.assert_identical(read(write(tree, tmp_path / place)), tree)
