"""The shell and Python take the same end of scores as the better one, of any name."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xcurves
from layers import slow
from xcurves.__main__ import main
from xcurves.cli.curves_asked import with_direction
from xcurves.cli.options import parser
from xcurves.core import direction

pytestmark = pytest.mark.usefixtures("here")
QUICK = ["--n-resamples", "99"]
ASSUMED = "higher is taken as better"


def log(name, **columns):
    """Return six runs of "good", about 0.19, and "bad", about 0.9, at two levels."""
    keys = {"algorithm": ["good", "bad"], "run": range(6), "training": [1, 2]}
    frame = pd.MultiIndex.from_product(keys.values(), names=keys).to_frame(index=False)
    noise = np.random.default_rng(0).normal(0, 0.02, len(frame))
    mean = frame["algorithm"].map({"good": 0.19, "bad": 0.9})
    return frame.assign(**{name: mean + noise, **columns})


def text_of_page(path):
    """Return the words of a page."""
    return re.sub(r"<[^>]*>", "", Path(path).read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], slow(["--lower-is-better"]), slow(["--higher-is-better"])])
def test_of_every_known_name_both_take_the_same_end(options):
    given = {(): None, ("--lower-is-better",): False, ("--higher-is-better",): True}
    asked = parser().parse_args(["a.csv", *options])
    for name in [*sorted(direction.LOW | direction.HIGH), "value", "y", "loss_scale"]:
        curves = log(name).curves.to_dataarray(name)
        by_shell, _ = with_direction(curves, asked)
        by_python = direction.find(curves, given[tuple(options)])
        assert direction.find(by_shell).higher == by_python.higher


@pytest.mark.plain(1)
@pytest.mark.parametrize(
    "name",
    [
        *("loss", "eval/loss", "trainLoss", "mse", "perplexity", "wer", "time"),
        *("regret", "latency_ms"),
    ],
)
def test_one_file_has_one_winner_in_shell_and_python(name, capsys):
    log(name).to_csv("mine.csv", index=False)
    assert main(["mine.csv", "--value", name, "--include", "pairwise", *QUICK]) == 0
    verdict = f"good has the lower mean {name} over training"
    out = capsys.readouterr().out
    assert verdict in out
    assert f"lower is better, as the name {name} says (else: --higher-is-better)" in out
    assert ASSUMED not in out.lower()

    curves = pd.read_csv("mine.csv").curves.to_dataarray(name)
    tree = curves.curves.analyze(include=["pairwise"], n_resamples=99, rng=0)
    assert verdict in xcurves.summary(tree)
    with xr.open_datatree("mine-analysis.nc") as written:
        for made in (tree, written):
            assert made["pairwise"].attrs["higher_is_better"] == 0


@pytest.mark.slow
def test_the_pages_name_the_same_winner():
    log("val_loss").to_csv("mine.csv", index=False)
    quick = ["--include", "pairwise", *QUICK]
    assert main(["mine.csv", *quick, "--report", "shell.html"]) == 0
    curves = pd.read_csv("mine.csv").curves.to_dataarray("val_loss")
    tree = curves.curves.analyze(include=["pairwise"], n_resamples=99, rng=0)
    xcurves.report(tree, "python.html")
    for page in map(text_of_page, ("shell.html", "python.html")):
        assert "good has the lower mean val_loss over training" in page
        assert "Low scores are better." in page
        assert ASSUMED not in page.lower()


@pytest.mark.slow
def test_an_unknown_direction_is_said_once_by_shell_and_page(capsys):
    log("value").to_csv("mine.csv", index=False)
    assert main(["mine.csv", *QUICK]) == 0
    out = capsys.readouterr().out
    assert (
        out.count("higher is taken as better: the name value does not say (else: --lower-is-better)")
        == out.lower().count(ASSUMED)
        == 1
    )
    assert "bad has the higher mean value" in out
    with xr.open_dataset("mine-answer.nc") as written:
        assert written.attrs["history"].count(ASSUMED) == 1
    page = ["--include", "pairwise", "anova", "--report", "mine.html"]
    assert main(["mine.csv", *page, *QUICK]) == 0
    assert text_of_page("mine.html").lower().count(ASSUMED) == 1


@pytest.mark.plain(1)
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("accuracy", []),
        ("value", ["--lower-is-better"]),
        ("value", ["--higher-is-better"]),
    ],
)
def test_a_direction_that_is_known_is_not_said_to_be_assumed(name, options, capsys):
    log(name).to_csv("mine.csv", index=False)
    assert main(["mine.csv", *options, *QUICK]) == 0
    assert ASSUMED not in capsys.readouterr().out.lower()


@pytest.mark.slow
def test_the_metric_that_was_selected_says_the_direction(capsys):
    accuracy = log("value", metric="acc").assign(value=lambda frame: frame["value"] / 2)
    both = pd.concat([log("value", metric="val_loss"), accuracy])
    both.to_csv("mine.csv", index=False)
    assert main(["mine.csv", "--select", "metric=val_loss", *QUICK]) == 0
    out = capsys.readouterr().out
    assert "lower is better, as metric val_loss says" in out
    assert "good has the lower mean val_loss" in out
    selected = both[both["metric"] == "val_loss"].curves.to_dataarray("value")
    found = selected.curves.pairwise(rng=0)
    assert found.curves.summary().startswith("good has the lower mean val_loss")
    along = both.curves.to_dataarray("value", extra="metric")
    found = along.sel(metric="val_loss").curves.pairwise(rng=0)
    assert found.curves.summary().startswith("good has the lower mean val_loss")


@pytest.mark.slow
def test_metrics_of_both_directions_are_refused_and_the_typed_cure_works(capsys):
    both = pd.concat([log("y", measure="val_loss"), log("y", measure="acc")])
    both.to_csv("mine.csv", index=False)
    named = ["mine.csv", "--value", "y", "--extra", "measure", *QUICK]
    assert main(named) == 2
    said = capsys.readouterr().err.strip().splitlines()[-1]
    cure = shlex.split(said.partition("Select one: ")[2].partition(". Type")[0])
    assert cure == ["--select", "measure=val_loss"]
    assert main([*named, *cure]) == 0
    assert "good has the lower mean y" in capsys.readouterr().out


@pytest.mark.slow
def test_gate_and_sequential_take_the_name_too(capsys):
    frame = log("val_loss").query("training == 2").drop(columns="training")
    frame.to_csv("mine.csv", index=False)
    assert main(["gate", "mine.csv", "--baseline", "bad", "--looks", "1,2,4"]) == 0
    assert "lower is better, as the name val_loss says" in capsys.readouterr().out
    python = frame.curves.to_dataarray("val_loss", training=None)
    judged = python.curves.gate(baseline="bad", looks=[1, 2, 4], start=4)
    assert judged.attrs["champion"] == "good"

    planned = ["sequential", "mine.csv", "--looks", "2", "--batch-size", "3"]
    assert main(planned) == 0
    out = capsys.readouterr().out
    assert "lower is better, as the name val_loss says" in out
    assert "good has the lower mean val_loss after look 2 of 2 (6 runs each)" in out


@pytest.mark.slow
def test_metrics_that_are_joined_with_tasks_keep_their_direction(capsys):
    each = [log("y", measure=measure, task=task) for measure in ("val_loss", "mse") for task in ("u", "v", "w")]
    pd.concat(each).to_csv("mine.csv", index=False)
    named = ["--value", "y", "--extra", "measure", "task"]
    assert main(["mine.csv", *named, *QUICK]) == 0
    out = capsys.readouterr().out
    assert "good has the lower mean y" in out
    assert "good is lower than bad" in out
