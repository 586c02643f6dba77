"""Writers that are killed: the old file or the new one is there, whole, and nothing stays for long."""

import os

import pytest

from damage import FORMATS
from kills import try_kills
from xcurves.core import atomic_write as atomic_write_module
from xcurves.core.atomic_write import atomic_write, read_unchanged


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="a process is forked")
@pytest.mark.filterwarnings("ignore:.*fork")
@pytest.mark.parametrize("kind", [*FORMATS, "page"])
def test_a_killed_writer_leaves_the_old_one_or_the_new_one(kind):
    counts = try_kills(kind, 6)
    assert sum(counts.values()) == 6
    assert counts["old"] >= 3


def test_part_files_of_ended_writers_are_removed_and_those_of_others_stay(tmp_path):
    host = atomic_write_module._HOST
    ended, running, elsewhere = f".a.{host}.4194999.part", f".a.{host}.{os.getppid()}.part", ".a.other-host.1.part"
    for name in (ended, running, elsewhere, ".a.notes.part", f".ab.{host}.4194999.part"):
        (tmp_path / name).write_text("x")
    atomic_write(tmp_path / "a", lambda part: part.write_text("new"), is_own=lambda _: False)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"a", running, elsewhere, ".a.notes.part", f".ab.{host}.4194999.part"}


def test_a_reader_beside_a_writer_reads_again_until_the_path_stays_the_same(tmp_path):
    path, seen = tmp_path / "a", []
    path.write_text("old")

    def read(path):
        seen.append(path.read_text())
        if len(seen) < 3:  # a writer replaces it meanwhile, by a file of another length
            path.write_text("new" * len(seen))
        if len(seen) == 2:
            raise OSError("cut short")
        return seen[-1]

    assert read_unchanged(path, read) == "newnew"
    assert seen == ["old", "new", "newnew"]


def test_a_path_that_never_stays_the_same_or_was_left_between_two_renames_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic_write_module, "_PAUSE", 0)
    path = tmp_path / "a"
    path.write_text("")
    with pytest.raises(OSError, match=r"^another process replaces it all the time$"):
        read_unchanged(path, lambda path: path.write_text(path.read_text() + "x"))
    path.unlink()
    old = tmp_path / f".a.{atomic_write_module._HOST}.4194999.old"
    old.mkdir()
    with pytest.raises(OSError, match=r"^its writer was stopped between two renames: the archive is \.a\."):
        read_unchanged(path, lambda path: path.read_text())
    atomic_write(path, lambda part: part.mkdir(), is_own=lambda _: True, is_folder=True)
    assert [each.name for each in tmp_path.iterdir()] == ["a"]


def test_a_folder_whose_replacement_fails_is_put_back(tmp_path):
    path = tmp_path / "a"
    path.mkdir()
    (path / "x").write_text("old")
    with pytest.raises(OSError, match="cannot be written"):  # nothing was made that could be renamed
        atomic_write(path, lambda part: None, is_own=lambda _: True, is_folder=True)
    assert [each.name for each in tmp_path.iterdir()] == ["a"]
    assert (path / "x").read_text() == "old"
