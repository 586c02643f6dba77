"""The examples of a page run in a folder of their own, where they may write files."""

from pathlib import Path

import pytest

from places import SHARED

DATA = {  # what a page reads
    # which the project has not
    "scaling-curves.md": SHARED / "data" / "scaling_curves.csv.gz",
    # written by the packages themselves
    "your-logs.md": Path(__file__).parents[1] / "tests" / "readers" / "logs",
}


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    needed = DATA.get(request.path.name)
    if needed is None:
        return
    if not needed.exists():
        pytest.skip(f"{needed.name} is not beside the repository")
    (tmp_path / needed.name).symlink_to(needed)
