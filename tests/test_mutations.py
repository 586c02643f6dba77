"""The list of mutated lines follows the kernels."""

from pathlib import Path

import pytest

from mutations import MUTATIONS


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda each: f"{each[0]}: {each[1][:30]}")
def test_a_mutated_line_is_there_and_changes(mutation):
    module, part, other, folders = mutation
    text = (Path(__file__).parents[1] / "src" / "xcurves" / "kernels" / f"{module}.py").read_text(encoding="utf-8")
    assert part in text
    assert text.replace(part, other, 1) != text
    assert all((Path(__file__).parents[1] / folder).is_dir() for folder in folders)
