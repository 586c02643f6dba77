"""The shell reads arguments, calls and whole cures as options."""

import re
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest

import xcurves
from xcurves.cli.options import parser
from xcurves.cli.shell_words import Shell
from xcurves.core.refusal import (
    Cure,
    Refusal,
    Text,
    Verbatim,
    call,
    give,
    of_path,
    written_for,
)

SOURCE = Path(xcurves.__file__).parent


def shell_of(*given):
    options = parser().parse_args(["mine.csv", *given])
    options.given = ["mine.csv", *given]
    return Shell(options)


@pytest.mark.parametrize(
    ("made", "python", "shell"),
    [
        (
            call(".curves.align", 20, relative_to="budget"),
            ".curves.align(20, relative_to='budget')",
            "--align budget",
        ),
        (
            call(".curves.align", 1, relative_to="budget", runs_short="cut"),
            ".curves.align(1, relative_to='budget', runs_short='cut')",
            "--align budget:1 --runs-short cut",
        ),
        (
            call(".curves.align", "intersection", runs_short="failed").then(call(".curves.fill_failed", "worst")),
            ".curves.align('intersection', runs_short='failed').curves.fill_failed('worst')",
            "--align intersection --runs-short failed --fill-failed worst",
        ),
        (
            call(".curves.align", call("np.linspace", 0.0, 4.0, 3), method="linear"),
            ".curves.align(np.linspace(0.0, 4.0, 3), method='linear')",
            "--align 0,2,4 --method linear",
        ),
        (
            call(".curves.drop_incomplete"),
            ".curves.drop_incomplete()",
            "--drop-incomplete",
        ),
        (call(".curves.normalize"), ".curves.normalize()", "--normalize minmax"),
        (
            call(".curves.fill_failed", "worst", higher_is_better=False),
            ".curves.fill_failed('worst', higher_is_better=False)",
            "--fill-failed worst --lower-is-better",
        ),
        (
            call(".sel", measure="val loss"),
            ".sel(measure='val loss')",
            "--select 'measure=val loss'",
        ),
        (
            call("frame.groupby", "measure").then(call(".get_group", "acc")),
            "frame.groupby('measure').get_group('acc')",
            "--select measure=acc",
        ),
        (
            call("da.rename", item="training"),
            "da.rename(item='training')",
            "--training item",
        ),
        (
            call("da.rename", item="other"),
            "da.rename(item='other')",
            "da.rename(item='other')",
        ),
        (give(duplicates="first"), "duplicates='first'", "--duplicates first"),
        (
            give(algorithm="agent", run="my seed"),
            "algorithm='agent', run='my seed'",
            "--algorithm agent --run 'my seed'",
        ),
        (
            give(extra=["task", "study"]),
            "extra=['task', 'study']",
            "--extra task study",
        ),
        (give(extra=Verbatim("")), "extra=", "--extra"),
        (give(task="item"), "task='item'", "--extra item"),
        (give(on=Verbatim("[...]")), "on=[...]", "--align START:STOP:STEP"),
        (give(relative_to="budget"), "relative_to='budget'", "--align budget"),
        (give(reference="a"), "reference='a'", "--reference a"),
        (give(higher_is_better=False), "higher_is_better=False", "--lower-is-better"),
        (give(smooth=0.6), "smooth=0.6", "smooth=0.6"),
        (give(rng=0), "rng=0", "--rng 0"),
    ],
)
def test_a_call_is_an_option_in_the_shell(made, python, shell):
    assert str(made) == python
    with written_for(shell_of()):
        assert str(made) == shell


def test_a_command_without_reference_selects_algorithms():
    of_one, to_fill_in = give(reference="a"), give(reference=Verbatim(""))
    with written_for(shell_of()):
        assert str(to_fill_in) == "--reference"
    with written_for(Shell(Namespace())):
        assert str(of_one) == str(to_fill_in) == "--select algorithm=NAME"


def test_levels_of_a_grid_are_those_that_python_would_take():
    levels = call(".curves.align", call("np.linspace", 0.5, 7.25, 4), method="linear")
    words = shell_of().options_of(levels)
    np.testing.assert_allclose([float(each) for each in words[1].split(",")], np.linspace(0.5, 7.25, 4))


@pytest.mark.parametrize(
    ("given", "cure", "command"),
    [
        ([], call(".curves.drop_incomplete"), "mine.csv --drop-incomplete"),
        (
            ["--align", "final", "--method", "mean"],
            call(".curves.align", 4, relative_to="budget"),
            "mine.csv --align budget:4",
        ),
        (["--rng", "1"], give(rng=0), None),
        ([], give(extra=Verbatim("")), None),
        ([], give(smooth=0.6), None),
        (
            ["--folders", "a", "b", "--rng", "1"],
            give(names="{algorithm}/{run}"),
            "mine.csv --rng 1 --names '{algorithm}/{run}'",
        ),
    ],
)
def test_the_first_cure_that_stands_alone_is_a_whole_command(given, cure, command):
    refusal = Refusal("curves", Verbatim(""), "curves are short", Cure("Try ", cure))
    made = shell_of(*given).command_that_cures(refusal)
    if command is None:
        assert made == ""
    else:
        assert made.endswith(f" {command}")


def test_an_argument_is_its_option_where_the_command_has_it():
    refusal = Refusal("n_resamples", 0, "must be at least 1", "Usual: 1000")
    assert str(refusal) == "n_resamples must be at least 1; got 0. Usual: 1000"
    with written_for(shell_of()):
        assert str(refusal) == "--n-resamples must be at least 1; got 0. Usual: 1000"
    with written_for(Shell(Namespace())):
        assert str(refusal).startswith("n_resamples must")


def test_levels_are_those_of_align_and_a_path_is_as_it_was_typed():
    levels = Refusal("on", "union", "has no levels", "Give them")
    named = Refusal("on", Verbatim(""), Text("task 'x': ", give(on="final"), " has 1"))
    of_file = Refusal("path", Verbatim(""), Text(of_path("my a.csv"), " is empty"))
    assert str(levels) == "on='union' has no levels. Give them"
    assert str(named) == "task 'x': on='final' has 1"
    assert str(of_file) == "path 'my a.csv' is empty"
    with written_for(shell_of()):
        assert str(levels) == "--align union has no levels. Give them"
        assert str(named) == "task 'x': --align final has 1"
        assert str(of_file) == "my a.csv is empty"


@pytest.mark.slow
def test_no_function_reads_our_own_messages():
    parsing = re.compile(
        r"re\.(sub|search|match|finditer|findall|fullmatch)\([^()]*\b(message|error|refusal|warning)\b"
        r"|\b(message|error|refusal|warning)\.(partition|rpartition|replace|removeprefix|removesuffix)\("
    )
    assert parsing.search("re.sub(pattern, written, message)")
    found = {path.name for path in SOURCE.rglob("*.py") if parsing.search(path.read_text(encoding="utf-8"))}
    assert found == set()
