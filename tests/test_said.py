"""Every sentence and table of about sixty results is the one that was read, and answers and summaries are short."""

from pathlib import Path

import pytest

from said_inputs import CASES, made, written
from xcurves import kinds
from xcurves.results import MOST_LINES
from xcurves.say.verdict import MOST_WORDS

READ = Path(__file__).with_name("said.txt")


def sections():
    """Return what was read of each case, by its name."""
    blocks = READ.read_text(encoding="utf-8").removesuffix("\n").split("\n\n")
    return {block.split("\n")[0].removeprefix("== "): block for block in blocks}


def test_every_case_is_read_and_every_kind_has_one():
    assert list(sections()) == list(CASES)
    assert {name.partition(":")[0] for name in CASES} == set(kinds.NAMES)


@pytest.mark.parametrize("name", CASES)
def test_what_is_said_is_what_was_read(name):
    """Where it changes on purpose, `python tests/tools/said.py` writes the file anew."""
    result = made(name)
    assert written(name, result) == sections()[name]
    assert len(result.curves.summary().split("\n")) <= MOST_LINES
    assert len(kinds.kind(result.attrs["xcurves_result"]).answer(result).split()) <= MOST_WORDS
