"""Writers that are killed: the old file or the new one is there, whole, and nothing stays for long."""

import os

import pytest

from damage import FORMATS
from kills import try_kills
from xcurves.core import atomic_write as atomic_write_module
from xcurves.core.atomic_write import atomic_write


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
