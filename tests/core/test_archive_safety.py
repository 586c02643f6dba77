"""Files that others made to do harm: refused before anything is decoded, followed or allocated."""

import contextlib
import json
import os
import pickle
import resource
import struct
import warnings

import numpy as np
import pytest
import xarray as xr

from refusals import raises_other
from xcurves.archive import open_dataset, read, write

pytestmark = pytest.mark.filterwarnings("ignore:.*(Zarr|zarr|Consolidated|consolidated)")


@pytest.fixture
def data():
    return xr.Dataset({"score": (("run", "training"), np.arange(6.0).reshape(2, 3))}, {"run": [0, 1]})


@pytest.fixture
def store(data, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data.to_zarr(tmp_path / "a.zarr", zarr_format=2)
    return tmp_path / "a.zarr"


def edit(path, **changes):
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


class Runs:
    """What runs code when it is unpickled: it makes a folder."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.plain(1)
@pytest.mark.parametrize("consolidated", [True, False])
def test_a_zarr_store_that_would_run_code_is_refused_and_runs_none(store, tmp_path, consolidated):
    numcodecs = pytest.importorskip("numcodecs")
    values = np.empty(2, object)
    values[:] = [0, Runs(tmp_path / "ran")]
    (store / "run" / "0").write_bytes(numcodecs.Pickle().encode(values))
    edit(store / "run" / ".zarray", compressor={"id": "pickle", "protocol": 5})
    if not consolidated:
        (store / ".zmetadata").unlink()
    for options in ({}, {"chunks": {}}):
        with raises_other(ValueError, match=r"run/.zarray asks for the.*that run no code"):
            read(store) if not options else open_dataset(store, **options)
    assert not (tmp_path / "ran").exists()
    # the control: these bytes run code where they are unpickled
    with contextlib.suppress(Exception):
        pickle.loads((store / "run" / "0").read_bytes())
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize("key", ["filters", "compressor"])
@pytest.mark.parametrize("codec", ["pickle", "msgpack2", "json2", "unheard_of", "numcodecs.pickle"])
def test_only_listed_codecs_are_decoded(store, key, codec):
    edit(
        store / "score" / ".zarray",
        **{key: {"id": codec} if key == "compressor" else [{"id": codec}]},
    )
    with raises_other(ValueError, match=f"score/.zarray asks for the codec '{codec}'"):
        read(store)


def test_codecs_in_consolidated_metadata_alone_are_refused(store):
    listed = json.loads((store / ".zmetadata").read_text())
    listed["metadata"]["score/.zarray"]["filters"] = [{"id": "pickle"}]
    (store / ".zmetadata").write_text(json.dumps(listed))
    with raises_other(ValueError, match=r"\.zmetadata asks for the codec 'pickle'"):
        read(store)


def test_codecs_of_format_3_are_checked_within_shards_too(data, tmp_path):
    zarr = pytest.importorskip("zarr", minversion="3")
    del zarr
    data.to_zarr(
        tmp_path / "a.zarr",
        zarr_format=3,
        encoding={"score": {"shards": (2, 3), "chunks": (1, 3)}},
    )
    xr.testing.assert_identical(read(tmp_path / "a.zarr"), data)
    path = tmp_path / "a.zarr" / "score" / "zarr.json"
    found = json.loads(path.read_text())
    found["codecs"][0]["configuration"]["codecs"].append({"name": "numcodecs.pickle", "configuration": {}})
    path.write_text(json.dumps(found))
    with raises_other(ValueError, match=r"score/zarr\.json asks for the codec 'numcodecs\.pickle'"):
        read(tmp_path / "a.zarr")


def test_a_users_attribute_named_like_a_codec_is_only_an_attribute(tmp_path):
    data = xr.Dataset(
        {"x": ("y", [1.0], {"filters": "pickle", "compressor": "pickle"})},
        attrs={"codecs": "pickle"},
    )
    xr.testing.assert_identical(read(write(data, tmp_path / "a.zarr")), data)


def hdf5(path, make):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as opened:
        opened["x"] = np.zeros(3)
        make(opened, h5py)
    return path


def test_a_large_file_is_read_if_the_caller_allows_it(tmp_path):
    path = hdf5(
        tmp_path / "a.nc",
        lambda f, h: f.create_dataset("y", (2**20,), "f4", chunks=(1024,)),
    )
    with raises_other(ValueError, match=r"allow them: max_bytes=4194328"):
        read(path, max_bytes=1000)
    assert read(path, max_bytes=4194328).sizes["phony_dim_1"] == 2**20


@pytest.mark.parametrize("changes", [{"shape": [2**40, 3]}, {"chunks": [2**40, 3]}, {"dtype": "<U500000000"}])
def test_a_zarr_store_that_declares_too_much_is_refused(store, changes):
    edit(store / "score" / ".zarray", **changes)
    (store / ".zmetadata").unlink()
    with raises_other(ValueError, match=r"cannot be read as a complete archive"):
        read(store)


def test_a_zarr_store_that_lost_its_attributes_is_refused(store):
    """The digest is among them: without both files nothing says what was written."""
    (store / ".zmetadata").unlink()
    read(store)
    (store / ".zattrs").unlink()
    for options in ({}, {"chunks": {}}):
        with raises_other(ValueError, match=r"\.zattrs and \.zmetadata.*are missing.*Write it again"):
            read(store) if not options else open_dataset(store, **options)


@pytest.mark.parametrize("consolidated", [True, False])
def test_a_zarr_store_of_others_without_attributes_is_read(tmp_path, consolidated):
    data = xr.Dataset({"score": ("run", [1.0, 2.0])})
    data.to_zarr(tmp_path / "a.zarr", consolidated=consolidated, zarr_format=2)
    xr.testing.assert_identical(read(tmp_path / "a.zarr"), data)


def test_a_netcdf_3_file_that_declares_too_much_is_refused(data, tmp_path):
    data.to_netcdf(tmp_path / "a.nc", engine="scipy")
    content = (tmp_path / "a.nc").read_bytes()
    assert content.count(struct.pack(">i", 3)) > 1
    at = content.index(b"training") + 8
    (tmp_path / "a.nc").write_bytes(content[:at] + struct.pack(">i", 2**30) + content[at + 4 :])
    with raises_other(ValueError, match="cannot be read as a complete archive"):
        read(tmp_path / "a.nc")


def test_nothing_is_allocated_before_the_refusal(tmp_path):
    path = hdf5(
        tmp_path / "a.nc",
        lambda f, h: f.create_dataset("y", (2**37,), "f8", chunks=(1024,)),
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with raises_other(ValueError, match="more than max_bytes"):
        read(path)
    # kilobytes
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000
