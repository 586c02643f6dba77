"""Print the lowest version of every package that the tests need, as constraints of pip: `python .ci/floors.py`."""

import re
import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FLOOR = re.compile(r"([\w.-]+)(?:\[[\w,]+\])?>=([\w.]+)")
NOT_TESTED = {"docs", "dev"}  # what the plain tests do not need


def floors() -> dict[str, str]:
    """Return the highest of the lowest versions that the core and the extras of the tests say."""
    found: dict[str, str] = {}
    needed = list(PROJECT["dependencies"])
    for name, extra in PROJECT["optional-dependencies"].items():
        if name not in NOT_TESTED:
            needed += extra
    for each in needed:
        match = FLOOR.fullmatch(each)
        if match is None:
            continue
        name, version = match.groups()
        if name not in found or parts(version) > parts(found[name]):
            found[name] = version
    return found


def parts(version: str) -> list[int]:
    """Return the numbers of a version."""
    return [int(part) for part in version.split(".")]


for name, version in sorted(floors().items()):
    print(f"{name}=={version}")
