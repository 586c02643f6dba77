"""Every sentence and table of about sixty results is the one that was read, and answers and summaries are short."""

import re
from pathlib import Path

import pytest

from said_inputs import CASES, made, written
from xcurves import kinds
from xcurves.results import MOST_LINES
from xcurves.say.verdict import MOST_WORDS

_WORD = re.compile(r"[a-z]{3,}")
_LETTERS = 6  # by which forms of one word are alike: boundary, boundaries
ONLY_IN_DETAILS = re.compile(r"step-down|\bstrat(um|a)\b|\bfamily\b|ARCHIVE|\bPATH\b")
READ = Path(__file__).with_name("said.txt")


def sections():
    """Return what was read of each case, by its name."""
    blocks = READ.read_text(encoding="utf-8").removesuffix("\n").split("\n\n")
    return {block.split("\n")[0].removeprefix("== "): block for block in blocks}


def test_every_case_is_read_and_every_kind_has_one():
    assert list(sections()) == list(CASES)
    assert {name.partition(":")[0] for name in CASES} == set(kinds.NAMES)


@pytest.mark.plain(18)
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


def stems(text):
    return {word.rstrip("s")[:_LETTERS] for word in _WORD.findall(text.lower())}


@pytest.mark.parametrize("name", CASES)
def test_each_word_of_a_table_head_stands_in_a_sentence_or_the_caption(name):
    text = sections()[name]
    said, _, captioned = text.partition("\ncaption: ")
    caption, heads, *_ = captioned.split("\n")
    sentences = re.findall(r"^(?:answer|detail|caution) \d+: (.*)", said, re.MULTILINE)
    known = " ".join([*sentences, caption]).lower()
    assert heads.strip()
    assert [word for word in stems(heads) if word not in known] == []


def test_terms_of_statistics_stand_in_details_only():
    lines = READ.read_text(encoding="utf-8").split("\n")
    others = [line for line in lines if line.startswith(("answer ", "caution "))]
    assert len(others) > len(CASES)
    assert [line for line in others if ONLY_IN_DETAILS.search(line)] == []
