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
    assert written(name, made(name)) == sections()[name]


@pytest.mark.parametrize("name", CASES)
def test_what_was_read_is_short(name):
    lines = sections()[name].split("\n")
    (summary,) = [line for line in lines if line.startswith("summary: ")]
    assert len(summary.split(", ")) <= MOST_LINES
    answers = [line.split(": ", 1)[1] for line in lines if line.startswith("answer ")]
    assert answers
    assert len(" ".join(answers).split()) <= MOST_WORDS
