"""What a reader who knows the printed text alone answers: who is better, is it shown, what next."""

import re

import pytest

from twenty_questions import questions
from xcurves.__main__ import main

pytestmark = pytest.mark.usefixtures("here")
QUESTIONS = questions()
CLAIMED = r"\. (?:On \w+ like these it|It) is shown to be (?:higher|lower) than "


SLOW = ("curves", "answers")


def of_kind(kind):
    """Return the questions of a kind, of which the plain run takes three or more."""
    return [
        pytest.param(each, id=each.name, marks=[pytest.mark.slow] * each.name.endswith(SLOW))
        for each in QUESTIONS
        if each.name.startswith(f"{kind}-")
    ]


def ask(question, capsys, *options):
    """Return the exit status of a question, and what is printed."""
    question.frame.to_csv("log.csv", index=False)
    status = main(["log.csv", *options])
    out, err = capsys.readouterr()
    return status, out, err


def first_of(out):
    """Return who has the best mean, by the first sentence of the answer."""
    return re.search(r"^(\w+) has the (?:highest|lowest|higher|lower) mean ", out, re.MULTILINE)[1]


def marked(out):
    """Return those that the table marks as may be best."""
    return {line.split()[0] for line in out.splitlines() if re.fullmatch(r"\w+ .*\d +yes", line)}


def pairs_of(out):
    """Return the p of each pair that is printed, by the better and the other."""
    rows = re.findall(r"^(\w+) (?:over|below) (\w+) .* (< )?(\d?\.\d+|1)$", out, re.MULTILINE)
    return {(better, other): float(p) for better, other, _, p in rows}


def check_what_next(question, out):
    """Check that it is said how many tasks, or questions, would tell two apart."""
    noun = {"tasks": "envs", "answers": "questions"}.get(question.name.partition("-")[2])
    if noun:
        assert re.search(rf"[Tt]o tell \w+ from \w+ takes (?:more than|at least) .* {noun}", out)


def test_there_are_twenty():
    assert len(QUESTIONS) == 20
    assert [len(of_kind(kind)) for kind in ("null", "tie", "clear", "trap")] == [5, 5, 5, 5]


@pytest.mark.plain(1)
@pytest.mark.parametrize("question", of_kind("null"))
def test_where_nothing_differs_nothing_is_shown(question, capsys):
    status, out, _ = ask(question, capsys, "--better", question.best[0])
    assert status == 3
    assert "Any of the 3 may be the best: no difference is shown." in out.replace("any of", "Any of")
    assert marked(out) == set(question.best)
    assert "\nNo pair is shown to differ" in out
    assert "\nShown to differ" not in out
    assert len(pairs_of(out)) == 3
    assert min(pairs_of(out).values()) > 0.05
    assert not re.search(CLAIMED, out)
    check_what_next(question, out)


@pytest.mark.plain(1)
@pytest.mark.parametrize("question", of_kind("tie"))
def test_of_equal_ones_either_may_be_best_and_the_third_is_shown_to_be_worse(question, capsys):
    status, out, _ = ask(question, capsys, "--better", question.lower[0])
    assert status == 1
    assert first_of(out) in question.best
    assert re.search(r"(?:ppo or sac|sac or ppo) may be the best; td3 is shown to be (?:lower|higher) \(by ", out)
    assert marked(out) == set(question.best)
    assert set(pairs_of(out)) == {("ppo", "td3"), ("sac", "td3")}
    assert "1 pair is not shown to differ" in out
    check_what_next(question, out)


@pytest.mark.plain(1)
@pytest.mark.parametrize("question", of_kind("clear"))
def test_the_best_is_shown_to_be_better_than_all(question, capsys):
    status, out, _ = ask(question, capsys, "--better", question.best[0])
    assert status == 0
    assert [first_of(out)] == list(question.best)
    assert re.search(f"{CLAIMED}all others, by .* than sac, the nearest", out)
    assert marked(out) == set(question.best)
    assert set(pairs_of(out)) == {("ppo", "sac"), ("ppo", "td3"), ("sac", "td3")}
    assert max(pairs_of(out).values()) <= 0.05


@pytest.mark.plain(2)
@pytest.mark.parametrize("question", of_kind("trap"))
def test_a_trap_is_asked_or_read_right(question, capsys):
    status, out, err = ask(question, capsys)
    if question.asked:
        assert status == 2
        commands = [line for line in err.splitlines() if line.startswith("python -m xcurves log.csv ")]
        assert len(commands) > 1
        assert all(f" {question.asked} " in command for command in commands)
        assert "has the" not in out
        return
    assert status == 0
    assert first_of(out) in question.best
    assert marked(out) == set(question.best)
    shown = {(question.best[0], other) for other in question.lower}
    assert {pair for pair, p in pairs_of(out).items() if p <= 0.05} == shown
    assert bool(re.search(CLAIMED, out)) == bool(shown)
    if not shown:
        assert "With 2 runs a side no p can be below 0.333: run more: 4 a side are enough." in out


def test_the_help_says_how_to_read_it(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    out = capsys.readouterr().out
    for words in ('Only "shown" is a claim', '"may be best"', '"Not shown" does not mean equal', "watch "):
        assert words in out
