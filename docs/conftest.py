"""The examples of a page run in a folder of their own, where they may write files."""

import pytest

from places import SHARED

DATA = {"scaling-curves.md": SHARED / "data" / "scaling_curves.csv.gz"}  # what a page reads and the project has not


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    needed = DATA.get(request.path.name)
    if needed is None:
        return
    if not needed.exists():
        pytest.skip(f"{needed.name} is not beside the repository")
    (tmp_path / needed.name).symlink_to(needed)
