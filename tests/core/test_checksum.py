"""Damaged archives are refused: flipped bits, cut files, lost and added files."""

import json
import shutil

import numpy as np
import pytest
import xarray as xr

from damage import FORMATS, archive, try_damage
from xcurves.archive import open_dataset, read, write
from xcurves.core import archive_formats


@pytest.mark.parametrize("kind", FORMATS)
def test_no_damaged_archive_is_read_changed(kind):
    counts = try_damage(kind, 60, seed=1)
    assert counts["changed"] == 0
    assert counts["refused"] >= 58  # a bit of the mark itself may go unseen
    assert sum(counts.values()) == 60


def test_a_zarr_store_that_lacks_any_file_is_refused(tmp_path):
    path, data = archive("zarr", tmp_path)
    files = [file for file in path.rglob("*") if file.is_file()]
    assert len(files) > 12
    for file in files:
        content = file.read_bytes()
        file.unlink()
        with pytest.raises(
            ValueError, match=r"(its file .* is missing|its list of files is gone): it was damaged, or ch"
        ):
            read(path)
        if file.name != ".zmetadata":
            with pytest.raises(ValueError, match="is missing: it was damaged"):
                open_dataset(path, chunks={})
        file.write_bytes(content)
    xr.testing.assert_identical(read(path), data)


def test_a_zarr_store_with_one_file_more_is_refused(tmp_path):
    path, _ = archive("zarr", tmp_path)
    shutil.copy(path / "curves" / "n" / "0", path / "curves" / "n" / "1")
    with pytest.raises(ValueError, match=r"curves/n/1 is not part of it: it was damaged, or changed"):
        read(path)


def test_a_changed_list_of_files_is_refused(tmp_path):
    path, _ = archive("zarr", tmp_path)
    listed = json.loads((path / ".zmetadata").read_text())
    listed["xcurves_files"]["curves/n/0"] = "0" * 64
    (path / ".zmetadata").write_text(json.dumps(listed))
    with pytest.raises(ValueError, match="the checksum of its list of files does not match"):
        read(path)


def test_a_changed_byte_names_the_checksum(tmp_path):
    path, _ = archive("netCDF-4", tmp_path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"its checksum does not.*.*\. Write it again"):
        read(path)


@pytest.mark.parametrize("engine", ["scipy", "netcdf4", "h5netcdf"])
@pytest.mark.parametrize("sealed", [True, False])
def test_a_cut_file_is_told_wherever_it_is_cut(tmp_path, engine, sealed, monkeypatch):
    """Also one that others wrote, without a checksum."""
    monkeypatch.setattr(archive_formats, "engines", lambda: [] if engine == "scipy" else [engine])
    data = xr.Dataset({"score": (("run", "training"), np.random.default_rng(0).normal(size=(9, 6)))})
    path = tmp_path / "a.nc"
    write(data, path) if sealed else data.to_netcdf(path, engine=engine)
    whole = path.read_bytes()
    path.write_bytes(b"")
    with pytest.raises(ValueError, match=r"cannot be read as.*empty\. Write it again"):
        read(path)
    for length in [1, 4, 5, *np.linspace(8, len(whole) - 1, 40).astype(int)]:
        path.write_bytes(whole[:length])
        with pytest.raises((ValueError, OSError)) as caught:
            read(path)
        assert str(caught.value).startswith(f"path {str(path)!r} cannot be read as a complete archive: ")
        assert "\n" not in str(caught.value)


def test_what_others_append_to_a_netcdf_file_is_read(tmp_path):
    path, _ = archive("netCDF-4", tmp_path)
    xr.Dataset({"more": ("x", [1.0, 2.0])}).to_netcdf(path, mode="a", group="more", engine="netcdf4")
    assert read(path)["more/more"].values.tolist() == [1.0, 2.0]
