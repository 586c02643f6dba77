"""Runs that crashed are asked about before they cut the others, and each cure that the shell names works."""

import re
import shlex

import numpy as np
import pandas as pd
import pytest

import xcurves
from layers import slow
from xcurves.__main__ import main
from xcurves.archive import read

pytestmark = pytest.mark.usefixtures("here")
QUICK = ["--n-resamples", "99"]
# Whose rows without a score are runs that were not measured further.
ABSENT = [*QUICK, "--missing-scores", "absent"]


def crashed():
    """Ten runs of two algorithms to 100,000 steps: two logs end, two have no scores from a step on, one none at all."""
    rng = np.random.default_rng(0)
    rows = []
    for number, agent in enumerate("ab"):
        for seed in range(10):
            for step in range(0, 100_001, 5000):
                score = rng.normal() + number
                if agent == "a" and seed in (2, 3) and step > 35_000:
                    continue
                ends = agent == "b" and seed in (1, 2) and step > 60_000
                if ends or (agent, seed) == ("b", 3):
                    score = np.nan
                rows.append((agent, seed, step, score))
    return pd.DataFrame(rows, columns=["agent", "seed", "step", "score"])


NAMES = {"algorithm": "agent", "run": "seed", "training": "step"}


@pytest.fixture
def table():
    frame = crashed()
    frame.to_csv("c.csv", index=False)
    curves = frame.curves.to_dataarray("score", **NAMES, missing_scores="absent")
    curves.to_dataset().to_netcdf("c.nc")
    return curves


def means_after(curves, how):
    """The mean of each algorithm over 21 levels, by numpy alone."""
    values = curves.to_numpy()
    there = ~np.isnan(values)
    is_run = there.any(axis=2)
    reach = np.where(there, np.arange(21), -1).max(axis=2)
    is_short = is_run & (reach < 18)
    if how == "failed":
        worst = np.nanmin(values, axis=(0, 1))
        values = np.where(is_short[..., None] & ~there, worst, values)
    elif how == "drop":
        values = np.where(is_short[..., None], np.nan, values)
    else:
        values = values[..., :8]
    return np.nanmean(values, axis=(1, 2))


def commands(refused):
    """Return the arguments of each command that a message lists."""
    lines = refused.partition(" Type the one that is right:\n")[2].splitlines()
    return [shlex.split(line.partition("  # ")[0])[3:] for line in lines]


@pytest.mark.plain(1)
@pytest.mark.parametrize(
    ("name", "align"),
    [
        ("c.csv", []),
        slow("c.nc", ["--align"]),
        slow("c.csv", ["--align"]),
        slow("c.nc", []),
        slow("c.csv", ["--align", "budget:20"]),
        slow("c.nc", ["--align", "budget:20"]),
    ],
)
def test_each_cure_is_followed_and_gives_the_right_means(name, align, table, capsys):
    command = [name, *ABSENT, *align]
    assert main(command) == 2
    refused = capsys.readouterr().err
    assert "4 of 19 runs end before 90 % of the longest" in refused
    assert "algorithm 'a', run 2 at 35,000 of 100,000 (35 %)" in refused
    cures = re.findall(
        r"(?:--align \S+ )?--runs-short \w+(?: --fill-failed worst)?",
        refused.partition(" Type the one that is right:\n")[2],
    )
    assert [re.search(r"short (\w+)", cure)[1] for cure in cures] == [
        "failed",
        "cut",
        "drop",
    ]
    listed = commands(refused)
    if name.endswith(".csv"):  # of an archive there are no rows
        *listed, last = listed
        assert last == [*command, "--training", "none", "--duplicates", "last"]
        assert main([*last, "--output", "out.nc"]) == 0
        capsys.readouterr()
        first, second = (
            np.mean([run[~np.isnan(run)][-1] for run in runs if not np.isnan(run).all()]) for runs in table
        )
        assert read("out.nc")["difference"].item() == pytest.approx(first - second)
    for typed, cure in zip(listed, cures, strict=True):
        assert typed[: len(command)] == command
        assert shlex.join(typed).endswith(cure)
    for cure in cures:
        assert main([*command, *shlex.split(cure), "--output", "out.nc"]) == 0
        said = capsys.readouterr().out
        how = re.search(r"short (\w+)", cure)[1]
        assert {
            "failed": "count as failed from their last score on.",
            "cut": "compared up to 35 % of the longest only.",
            "drop": "are left out.",
        }[how] in said
        if align != ["--align", "budget:20"]:
            found = read("out.nc")["difference"].item()
            first, second = means_after(table, how)
            assert found == pytest.approx(first - second)


def test_rows_without_a_score_at_the_end_are_asked(table, capsys):
    assert main(["c.csv", *QUICK, "--align", "--runs-short", "drop"]) == 2
    *_, asked, failed, absent = capsys.readouterr().err.splitlines()
    assert "2 runs end with rows without a score" in asked
    assert "first ('b', 1, 65000). Type the one that is right:" in asked
    assert "--missing-scores failed" in failed
    assert "--missing-scores absent" in absent


def test_all_runs_that_failed_are_counted(table, capsys):
    command = ["c.csv", *QUICK, "--align", "budget", "--missing-scores", "failed"]
    assert main(command) == 2
    refused = capsys.readouterr().err
    # Those whose rows say so are known to have failed.
    assert "2 of 20 runs end before 90 %" in refused
    assert main(commands(refused)[0]) == 0
    said = capsys.readouterr().out
    assert "5 of 20 runs failed and count as the worst score of their task at each level at which they failed." in said
    tree = read("c-answer.nc")
    assert tree.attrs["history"].count("runs_short='failed'") >= 1


def test_a_run_without_any_score_is_named(table, capsys):
    assert main(["c.csv", *ABSENT, "--align", "--runs-short", "drop"]) == 0
    warned = capsys.readouterr().err
    assert "1 run (algorithm 'b', run 3) has rows but no score" in warned
    cure = re.search(r"--missing-scores failed", warned)[0].split()
    command = ["c.csv", *ABSENT, "--align", "--runs-short", "failed", *cure]
    assert main([*command, "--fill-failed", "worst"]) == 0
    said = capsys.readouterr()
    assert "has rows but no score" not in said.err
    assert "5 of 20 runs failed" in said.out


@pytest.mark.slow
def test_levels_that_are_named_keep_them(table, capsys):
    command = ["c.csv", *ABSENT, "--align", "0:100000:20000"]
    assert main(command) == 2
    refused = capsys.readouterr().err
    cures = re.findall(r"--runs-short \w+(?: --fill-failed worst)?", refused.partition(" is right:\n")[2])
    assert cures == ["--runs-short failed --fill-failed worst", "--runs-short drop"]
    for cure in cures:
        assert main([*command, *shlex.split(cure), "--output", "out.nc"]) == 0
        assert "0, 20000" in read("out.nc").attrs["history"]
    assert main([*command, "--drop-incomplete"]) == 0


def test_what_failing_counts_as_is_not_said_twice(table, capsys):
    command = ["c.csv", *ABSENT, "--align", "--fill-failed", "0"]
    assert main(command) == 2
    typed = commands(capsys.readouterr().err)[0]
    assert typed == [*command, "--runs-short", "failed"]
    assert main(typed) == 0
    assert "4 of 19 runs failed and count as a score of 0." in capsys.readouterr().out


@pytest.mark.slow
def test_the_infinity_of_losses_is_the_other_one(table, capsys):
    crashed().rename(columns={"score": "val_loss"}).to_csv("loss.csv", index=False)
    command = ["loss.csv", *ABSENT, "--align", "--runs-short", "failed"]
    assert main([*command, "--fill-failed", "worst"]) == 0
    assert "lower is better" in capsys.readouterr().out
    found = read("loss-answer.nc")
    assert "4 of 19 runs failed and count as the worst" in found.attrs["history"]


def test_short_runs_need_common_levels_and_missing_scores_a_table(table, capsys):
    assert main(["c.csv", *ABSENT, "--runs-short", "cut"]) == 2
    typed = shlex.split(capsys.readouterr().err.partition("Type: ")[2])
    assert typed[3:] == [
        "c.csv",
        *ABSENT,
        "--align",
        "intersection",
        "--runs-short",
        "cut",
    ]
    assert main(typed[3:]) == 0
    capsys.readouterr()
    assert main(["c.nc", *QUICK, "--missing-scores", "failed"]) == 2
    refused = capsys.readouterr().err
    assert "--missing-scores failed is for rows of a table" in refused
    assert "Type" not in refused


@pytest.mark.slow
def test_an_archive_of_scores_without_training_asks_which_dim_has_the_tasks(capsys):
    values = np.random.default_rng(0).normal(size=(8, 2, 4))
    scores = xcurves.tutorial.open_dataset("tictactoe")["score"].isel(training=-1)
    scores = (
        scores.isel(algorithm=slice(2), run=slice(4), drop=True)
        .drop_vars("training")
        .expand_dims(place=range(8))
        .copy(data=values)
    )
    scores.to_dataset().to_netcdf("places.nc")
    assert main(["places.nc", *QUICK]) == 2
    refused = capsys.readouterr().err
    assert "name it: --extra place" in refused
    assert "rename it: --training place" in refused
    typed = shlex.split(refused.partition("Type: ")[2])
    assert typed[3:] == ["places.nc", *QUICK, "--extra", "place"]
    assert main(typed[3:]) == 0
    found = read("places-answer.nc")
    by_place = values.mean(axis=2)
    expected = (by_place[:, 0] - by_place[:, 1]).mean()
    assert abs(found["difference"].item()) == pytest.approx(abs(expected))
    assert main(["places.nc", *QUICK, "--training", "place"]) == 0
    # Texts say by themselves that these are tasks.
    named = scores.assign_coords(place=list("abcdefgh"))
    named.to_dataset().to_netcdf("named.nc")
    assert main(["named.nc", *QUICK]) == 0
    assert read("named-answer.nc")["difference"].item() == pytest.approx(found["difference"].item())


@pytest.mark.slow
def test_of_two_tasks_the_one_with_a_short_run_is_named_with_cures_that_work(table, capsys):
    whole = crashed().dropna()
    whole = whole[~whole["seed"].isin([1, 2, 3])]
    short = whole.assign(task="y")
    is_cut = (short["agent"] == "a") & (short["seed"] == 5) & (short["step"] > 40_000)
    frame = pd.concat([whole.assign(task="x"), short[~is_cut]])
    frame.to_csv("two.csv", index=False)
    assert main(["two.csv", *QUICK]) == 2
    refused = capsys.readouterr().err
    assert "only 1 of 2 tasks can be compared: task 'y': algorithm 'a', run 5" in refused
    typed = commands(refused)[0]
    assert main(typed) == 0
    assert "1 of 28 runs failed and counts as" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("value", "higher is taken as better: the name value does not say"),
        slow("val_loss", "lower is better, as the name val_loss says"),
        slow("return", ""),
    ],
)
def test_common_levels_change_not_what_says_the_direction(table, capsys, name, said):
    crashed().rename(columns={"score": name}).to_csv("d.csv", index=False)
    command = ["d.csv", *ABSENT, "--runs-short", "drop", "--align"]
    for levels in ([], ["budget:20"], ["0:100000:20000", "--drop-incomplete"]):
        assert main([*command, *levels]) == 0
        lines = capsys.readouterr().out.split("\n")
        assert lines[2].startswith(said)
        assert bool(lines[2]) == bool(said)
