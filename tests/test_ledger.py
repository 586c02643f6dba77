"""The file of an earlier look, damaged in any way, is refused in one line."""

import json

import numpy as np
import pytest

import xcurves
from refusals import refused
from strategies import make_curves
from xcurves.looks import ledger

PLAN = {"level": 0.2, "task": None, "looks": "1, 2"}
PAST = {"plan": PLAN, "n_done": 1, "digests": {"a": {"0": 5, "1": 6}}}


def with_past(**changes):
    return json.dumps({"ledger": PAST | changes})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        '"ledger"',
        "{}",
        '{"ledger": null}',
        '{"ledger": []}',
        '{"ledger": {"plan": {}}}',
        with_past(plan=None),
        with_past(plan=[]),
        with_past(plan={"level": []}),
        with_past(plan={"level": {}}),
        with_past(n_done=None),
        with_past(n_done="1"),
        with_past(n_done=1.5),
        with_past(n_done=True),
        with_past(n_done=1).replace('"n_done": 1', '"n_done": 1e400'),
        with_past(n_done=1).replace('"n_done": 1', '"n_done": ' + "9" * 5000),
        with_past(digests=None),
        with_past(digests=[]),
        with_past(digests={"a": [5, 6]}),
        with_past(digests={"a": {"0": [5]}}),
        with_past(digests={"a": {"0": "5"}}),
        with_past(digests={"a": {"0": 5.5}}),
        with_past(digests={"a": {"0": None}}),
        "[" * 200_000,
        '{"ledger": ' + "[" * 200_000 + "]" * 200_000 + "}",
        '{"a": ' * 200_000,
        with_past(n_done=1).replace('"n_done": 1', '"n_done": 1, "n_done": 2'),
        "\x00",
    ],
    ids=lambda text: text[:40],
)
def test_a_damaged_file_is_refused_in_one_line(text, tmp_path):
    path = tmp_path / "look.json"
    path.write_text(text)
    with refused(
        "previous",
        cure="Name the file that --json wrote",
        names=r"cannot be read as the JSON of an earlier look: .*Name the file",
    ) as error:
        ledger.read(path)
    assert "\n" not in str(error.value)


def test_bytes_that_are_no_text_and_folders_are_refused(tmp_path):
    path = tmp_path / "look.json"
    path.write_bytes(b"\xff\xfe\x00{")
    for each in (path, tmp_path, tmp_path / "gone.json"):
        with refused(
            "previous", cure="Name the file that --json wrote", names="cannot be read as the JSON of an earlier look"
        ):
            ledger.read(each)
    with refused("previous", 3, cure="Give the earlier result", kind=xcurves.WrongType):
        ledger.read(3)


def test_what_was_written_is_read(tmp_path):
    path = tmp_path / "look.json"
    path.write_text(json.dumps({"ledger": ledger.Ledger(**PAST).as_json()}))
    assert ledger.read(path) == ledger.Ledger(**PAST)


def test_a_plan_that_is_infinite_is_another_plan():
    before = ledger.Ledger(**PAST)._replace(plan={"level": float("inf")})
    with refused("level", 0.2, cure="A plan is made before the first look"):
        ledger.refuse_changes(
            before,
            ledger.Ledger(**PAST)._replace(plan={"level": 0.2}),
            lambda *_: True,
            "the earlier look",
        )


def two_looks():
    curves = make_curves(np.random.default_rng(0).normal(size=(2, 6, 3)))
    return curves.curves.assign_looks(3, n_looks=3)


@pytest.mark.slow
def test_other_training_weights_and_another_confidence_level_are_another_plan():
    planned, options = two_looks(), {"n_resamples": 99}
    found = planned.curves.sequential(training_weights=[1, 2, 3], **options)
    again = planned.curves.sequential(training_weights=[2, 4, 6], previous=found, **options)
    assert again.identical(found.assign_attrs(history=again.attrs["history"]))
    for weights in ([1, 2, 2], [3, 2, 1], None, "final"):
        with refused(
            "training_weights",
            cure="A plan is made before the first look",
            names="training_weights must stay as it was at the earlier look, 'given, digest",
        ):
            planned.curves.sequential(training_weights=weights, previous=found, **options)
    found = planned.curves.sequential(**options)
    with refused("confidence_level", 0.9, cure="A plan is made before the first look"):
        planned.curves.sequential(confidence_level=0.9, previous=found, **options)


def test_levels_without_weight_change_no_digest():
    curves = make_curves(np.zeros((2, 2, 3)))
    some = curves.training.copy(data=[1.0, 0.0, 2.0])
    fewer = some.isel(training=[0, 2])
    assert ledger.name_of_weights(some) == ledger.name_of_weights(fewer)
    assert ledger.name_of_weights(some) != ledger.name_of_weights(some[::-1].assign_coords(training=some.training))
    assert ledger.name_of_weights("final") == "final"
    assert ledger.name_of_weights(None) is None
