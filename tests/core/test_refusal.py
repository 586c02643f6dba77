"""Refusals hold argument, value, reason and cure, and are written for Python or another audience."""

import contextlib
import gc
import importlib
import pickle
import pkgutil
import weakref

import numpy as np
import pytest

import xcurves
from refusals import refused
from xcurves.core.doubts import asked
from xcurves.core.refusal import (
    UNSAID,
    Audience,
    Cure,
    Missing,
    Proposal,
    Refusal,
    Text,
    Verbatim,
    Words,
    WrongType,
    call,
    give,
    written_for,
)

FAILED = call(".curves.align", "intersection", runs_short="failed").then(call(".curves.fill_failed", "worst"))
EACH = [
    Refusal("margin", -1, "must be at least 0", Cure("Try ", give(margin=1.0))),
    WrongType("rng", "a", "must be a number", Cure("Try ", give(rng=0))),
    Missing("value", "scor", "is no column of the frame", "Did you mean 'score'?"),
    Refusal("curves", UNSAID, "algorithm 'a', run 2 is short", Cure("Say: ", FAILED)),
]


FRAME = "frame.curves.to_dataarray"
QUESTION = asked(
    "frame",
    Text(Words("the frame", "PATH"), " does not say which column is the run"),
    [Proposal(call(FRAME, run=name), give(run=name), "2 runs each") for name in ("seed", "re\np")],
)


class Shell(Audience):
    """An audience that types options."""

    def argument(self, name, value=UNSAID):
        return f"--{name} {value}".rstrip()

    def call(self, call):
        return " ".join(self.argument(*option) for option in call.options)

    def words(self, words):
        return words.shell

    def proposal(self, proposal):
        return f"type {self.call(proposal.settles)}"


@pytest.mark.parametrize("refusal", [*EACH, QUESTION], ids=lambda refusal: type(refusal).__name__)
def test_a_refusal_is_pickled_with_all_that_it_holds(refusal):
    again = pickle.loads(pickle.dumps(refusal))
    assert type(again) is type(refusal)
    assert again.args == refusal.args
    assert len(again.args) == 4
    assert str(again) == str(refusal)
    assert again.cure.calls == refusal.cure.calls


def types_of(kind):
    """Return a type of refusals and those made of it."""
    return [kind, *(each for made in kind.__subclasses__() for each in types_of(made))]


def test_every_type_of_refusal_is_pickled():
    import_all()
    every = types_of(Refusal)
    assert {"Refusal", "WrongType", "Missing", "Doubtful", "RunError", "TooLargeError"} <= {e.__name__ for e in every}
    for kind in every:
        refusal = kind("curves", ("a", "1"), Text("run 1 of 'a'", " is short"), Cure("Say: ", FAILED))
        again = pickle.loads(pickle.dumps(refusal))
        assert (type(again), again.args, str(again)) == (kind, refusal.args, str(refusal))


def import_all():
    """Import every module of the package, so that all types are made."""
    for module in pkgutil.walk_packages(xcurves.__path__, "xcurves."):
        if module.name.endswith("__main__"):
            continue
        with contextlib.suppress(ImportError):  # of packages that are not installed
            importlib.import_module(module.name)


def test_types_are_those_that_callers_catch():
    assert issubclass(xcurves.Refusal, ValueError)
    assert issubclass(xcurves.WrongType, xcurves.Refusal | TypeError)
    assert issubclass(xcurves.WrongType, TypeError)
    assert issubclass(xcurves.Missing, xcurves.Refusal)
    assert issubclass(xcurves.Missing, KeyError)


def test_python_reads_one_line_with_calls():
    assert [str(refusal) for refusal in EACH] == [
        "margin must be at least 0; got -1. Try margin=1.0",
        "rng must be a number; got 'a'. Try rng=0",
        "value='scor' is no column of the frame. Did you mean 'score'?",
        "algorithm 'a', run 2 is short. Say: "
        ".curves.align('intersection', runs_short='failed').curves.fill_failed('worst')",
    ]


def test_another_audience_reads_arguments_and_calls_in_its_own_way():
    words = Words("Convert: frame.astype(float)", "Write numbers")
    refusal = Refusal("margin", -1, "must be at least 0", Cure(words, ": ", give(a=1)))
    with written_for(Shell()):
        assert str(refusal) == "--margin must be at least 0; got -1. Write numbers: --a 1"
    assert str(refusal) == ("margin must be at least 0; got -1. Convert: frame.astype(float): a=1")


def test_a_reason_has_calls_too_which_are_no_cure():
    reason = Text("does not go with ", give(on="union"))
    refusal = Refusal("method", "mean", reason, Cure("Try ", give(method="linear")))
    assert str(refusal) == "method='mean' does not go with on='union'. Try method='linear'"
    assert refusal.cure.calls == [give(method="linear")]


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (None, None),
        (np.float64(3), np.float64(3)),
        ([1, "a"], [1, "a"]),
        (list, "list"),
        (lambda: 0, Verbatim),
        (np.zeros(3), Verbatim),
        ([[1], [2]], Verbatim),
    ],
)
def test_a_value_is_kept_as_what_can_be_pickled(value, kept):
    refusal = Refusal("option", value, "must be another", "")
    again = pickle.loads(pickle.dumps(refusal))
    if kept is Verbatim:
        assert isinstance(again.value, Verbatim)
    else:
        assert again.value == kept
    assert str(again) == str(refusal)


def test_a_label_cannot_break_the_line():
    refusal = Refusal("curves", UNSAID, "run 'a\nb\x1b[0m' is short", "Add runs")
    assert str(refusal) == "run 'a\\nb\\x1b[0m' is short. Add runs"


def test_a_question_writes_each_reading_in_a_line_of_its_own_for_each_audience():
    assert str(QUESTION) == (
        "the frame does not say which column is the run. Call the one that is right:\n"
        f"{FRAME}(run='seed')  # 2 runs each\n{FRAME}(run='re\\np')  # 2 runs each"
    )
    assert QUESTION.cure.calls == [call(FRAME, run=name) for name in ("seed", "re\np")]
    with written_for(Shell()):
        assert str(QUESTION).split("\n") == [
            "PATH does not say which column is the run. Type the one that is right:",
            "type --run seed  # 2 runs each",
            "type --run re\\np  # 2 runs each",
        ]


class Held:
    """What a call holds that is refused, such as an open file."""


def test_a_refusal_that_a_test_expects_keeps_nothing_of_the_call():
    kept = []

    def fails():
        held = Held()
        kept.append(weakref.ref(held))
        raise Refusal("a", 1, "must be 2", "Try 2")

    gc.disable()
    try:
        with refused("a", 1, cure="Try 2"):
            fails()
        assert kept[0]() is None
    finally:
        gc.enable()
