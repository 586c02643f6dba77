"""What programs read: one JSON object on stdout, its schema, exit statuses, and the summary for GitHub."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xcurves
from layers import every, slow
from places import ROOT
from strategies import make_curves
from xcurves.__main__ import main

jsonschema = pytest.importorskip("jsonschema")
SCHEMA = json.loads((ROOT / "docs" / "answer.schema.json").read_text(encoding="utf-8"))
ALLOWED = jsonschema.Draft202012Validator(SCHEMA)


def test_the_schema_is_one():
    ALLOWED.check_schema(SCHEMA)


def checked(text):
    """Return the only object of a text, which the schema allows."""

    def refuse(name):
        raise AssertionError(f"{name} is no JSON")

    answer = json.loads(text, parse_constant=refuse)
    ALLOWED.validate(answer)
    return answer


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return tmp_path


def write_scores(gap=3.0, n_tasks=1, column="score"):
    rng = np.random.default_rng(3)
    rows = [
        (f"t{task}", name, run, rng.normal() + (gap if name == "best" else 0))
        for task in range(n_tasks)
        for name in ("best", "mid", "low")
        for run in range(8)
    ]
    frame = pd.DataFrame(rows, columns=["env", "agent", "seed", column])
    if n_tasks == 1:
        frame = frame.drop(columns="env")
    frame.to_csv("scores.csv", index=False)
    return frame


def run(capsys, *arguments):
    status = main(list(arguments))
    out, err = capsys.readouterr()
    return status, out, err


@pytest.mark.plain(1)
@pytest.mark.parametrize("n_tasks", [1, 8])
def test_stdout_is_one_object_that_says_what_the_sentences_say(n_tasks, capsys):
    write_scores(n_tasks=n_tasks)
    _, said, _ = run(capsys, "scores.csv")
    status, out, _ = run(capsys, "scores.csv", "--json")
    assert out.count("\n") == 1
    answer = checked(out)
    assert status == 0
    assert answer["verdict"] in said
    reading = {"algorithm": "agent", "run": "seed", "training": None, "score": "score", "direction": "higher"}
    assert answer["reading"] | reading == answer["reading"]
    assert answer["reading"]["tasks"] == ([] if n_tasks == 1 else ["env"])
    assert answer["algorithms"][0]["name"] == "best"
    assert [each["may_be_best"] for each in answer["algorithms"]] == [True, False, False]
    shown = {(each["first"], each["second"]) for each in answer["pairs"] if each["shown"]}
    assert shown == {("best", "mid"), ("best", "low")}


# --- which end is good, and what became of runs


@pytest.mark.plain(1)
@pytest.mark.parametrize(
    ("column", "direction", "is_assumed"),
    [("y", "higher", True), ("reward", "higher", False), ("rmse", "lower", False)],
)
def test_a_direction_that_was_assumed_is_said(column, direction, is_assumed, capsys):
    write_scores(column=column)
    answer = checked(run(capsys, "scores.csv", "--json")[1])
    reading = {"score": column, "direction": direction, "direction_assumed": is_assumed}
    assert answer["reading"] | reading == answer["reading"]
    said = "Higher is taken as better: the name y does not say"
    assert (said in answer["cautions"]) is is_assumed
    option = {"higher": "--higher-is-better", "lower": "--lower-is-better"}[direction]
    answer = checked(run(capsys, "scores.csv", "--json", option)[1])
    assert answer["reading"] | reading | {"direction_assumed": False} == answer["reading"]
    assert said not in answer["cautions"]


@pytest.mark.plain(1)
@pytest.mark.parametrize(
    "command",
    [
        ["scores.csv"],
        ["sequential", "scores.csv", "--looks", "4", "--batch-size", "2"],
        ["gate", "scores.csv", "--baseline", "low"],
    ],
)
def test_every_command_says_which_column_is_what_also_where_it_is_called_so(command, capsys):
    write_scores().set_axis(["algorithm", "run", "score"], axis=1).to_csv("scores.csv", index=False)
    _, out, _ = run(capsys, *command, "--json")
    assert checked(out)["reading"] == {
        "algorithm": "algorithm",
        "run": "run",
        "training": None,
        "tasks": [],
        "score": "score",
        "left_out": [],
        "made": [],
        "direction": "higher",
        "direction_assumed": False,
    }


@pytest.mark.plain(1)
@pytest.mark.parametrize("n_levels", [1, 3])
def test_runs_without_a_score_and_rows_that_are_left_out_are_said(n_levels, capsys):
    frame = write_scores().merge(pd.DataFrame({"step": range(n_levels)}), how="cross")
    frame.loc[(frame["agent"] == "low") & (frame["seed"] == 2), "score"] = None
    frame = frame.drop(columns="step") if n_levels == 1 else pd.concat([frame, frame.iloc[:2]])
    frame.to_csv("scores.csv", index=False)
    made = checked(run(capsys, "scores.csv", "--json")[1])["reading"]["made"]
    assert (
        made
        == {
            1: ["1 row has no score and counts as no run"],
            3: [
                "1 run (algorithm 'low', run 2) has rows but no score, and counts as no run",
                "left out 2 rows equal to another in every column",
            ],
        }[n_levels]
    )


@pytest.mark.slow
def test_the_groups_of_tasks_are_settings(capsys):
    frame = write_scores(n_tasks=8)
    frame.assign(suite=frame["env"].map(lambda env: "odd" if int(env[1:]) % 2 else "even")).to_csv("scores.csv")
    answer = checked(run(capsys, "scores.csv", "--by", "suite", "--json")[1])
    assert answer["settings"]["by"] == "suite"


@pytest.mark.slow
def test_numbers_are_those_of_the_function(capsys):
    frame = write_scores(n_tasks=8)
    answer = checked(run(capsys, "scores.csv", "--json")[1])
    means = frame.groupby("agent")["score"].mean()
    for each in answer["algorithms"]:
        assert each["mean"] == pytest.approx(means[each["name"]])
    scores = frame.curves.to_dataarray()
    result = scores.curves.across_tasks(task="env", rng=0)
    p = result["pvalue_adjusted"].sel(task_effect="random")
    for pair in answer["pairs"]:
        sides = {pair["first"], pair["second"]}
        (place,) = (i for i, label in enumerate(result["pair"].values) if set(str(label).split(" - ")) == sides)
        assert pair["p"] == p.values[place]
        assert pair["difference"] == pytest.approx(means[pair["first"]] - means[pair["second"]])


@pytest.mark.slow
def test_python_returns_the_same_object(capsys):
    frame = write_scores(n_tasks=8)
    by_shell = checked(run(capsys, "scores.csv", "--json")[1])
    tree = frame.curves.to_dataarray().curves.analyze(include=["across_tasks"], rng=0)
    by_python = tree.curves.to_dict()
    assert json.loads(json.dumps(by_python)) == by_python
    assert by_python["settings"].pop("rng") == by_shell["settings"].pop("rng")
    assert by_python == by_shell
    assert {each["n_runs"] for each in by_shell["algorithms"]} == {8}
    result = tree["across_tasks"].to_dataset()
    assert xcurves.to_dict(result)["pairs"] == by_shell["pairs"]


def test_curves_that_were_not_read_have_no_reading():
    curves = make_curves(np.random.default_rng(0).normal(size=(3, 5, 4)))
    answer = checked(json.dumps(curves.curves.pairwise(rng=0).curves.to_dict()))
    assert answer["reading"] is None


def test_every_kind_has_such_an_object():
    curves = make_curves(np.random.default_rng(0).normal(size=(3, 6, 4)))
    results = [
        curves.curves.randomized_anova(n_resamples=99, rng=0),
        curves.curves.ss_profile(n_resamples=99, rng=0),
        curves.isel(training=-1).curves.performance_cdf(),
        curves.isel(training=-1).curves.compare_distributions(),
        curves.curves.contrast({"a0": 1, "a1": -1}, rng=0),
        curves.curves.assign_looks(3).curves.sequential(n_looks=2, n_resamples=99, rng=0),
    ]
    for result in results:
        answer = checked(json.dumps(result.curves.to_dict()))
        assert answer["settings"]["method"] == result.attrs["xcurves_result"]


@pytest.mark.slow
def test_tasks_that_it_takes_are_those_of_the_nearest_rival():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(9, 3, 4, 1)) + rng.normal(0, 0.7, (9, 3, 1, 1)) + np.array([0.5, 0.2, 0])[:, None, None]
    curves = make_curves(values, task=list("abcdefghi"))
    result = curves.curves.across_tasks(rng=0)
    answer = result.curves.to_dict()
    best = answer["algorithms"][0]["name"]
    rivals = [each for each in answer["pairs"] if best in (each["first"], each["second"]) and not each["shown"]]
    nearest = min(rivals, key=lambda each: abs(each["difference"]))
    labels = {
        " - ".join(sides) for sides in ((nearest["first"], nearest["second"]), (nearest["second"], nearest["first"]))
    }
    (label,) = labels & set(result["pair"].values.tolist())
    needed = result["tasks_to_show"].sel(pair=label).item()
    assert answer["next"]["tasks"] == (needed - 9 if np.isfinite(needed) else None)
    as_items = curves.rename(task="question").curves.across_tasks(task="question", rng=0).curves.to_dict()["next"]
    assert (as_items["tasks"], as_items["items"]) == (None, answer["next"]["tasks"])


# of each command: what is refused, the argument at fault and what was typed
REFUSED = [
    (["scores.csv", "--algorithm", "nobody"], "algorithm", "nobody"),
    (["scores.csv", "--value", "scor"], "value", "scor"),
    (["scores.csv", "--select", "agent=c"], "select", "agent=c"),
    (["scores.csv", "--method", "linear"], "method", "linear"),
    (["scores.csv", "--no-such-option"], "no-such-option", None),
    (["scores.csv", "--inclde", "anova"], "inclde", None),
    (["scores.csv", "--include", "anva"], "include", "anva"),
    (["scores.csv", "--n-resamples", "x"], "n_resamples", "x"),
    (["scores.csv", "--fill-failed", "x"], "fill_failed", "x"),
    (["scores.csv", "--better"], "better", None),
    (["scores.csv", "--better", "nobody"], "better", "nobody"),
    (["scores.csv", "--figure", "x.gif"], "figure", "x.gif"),
    (["scores.csv", "--output", "nowhere/x.nc"], "output", "nowhere/x.nc"),
    (["nothing.csv"], "archive", "nothing.csv"),
    (["scores.csv", "scores.csv"], "archive", "scores.csv"),
    (["empty.csv"], "archive", "empty.csv"),
    (["gate", "scores.csv", "--baseline", "nobody"], "baseline", "nobody"),
    (["gate", "scores.csv", "--baseline", "best", "--looks", "1,x"], "looks", "1,x"),
    (["gate", "scores.csv"], "baseline", None),
    (["gate", "--baseline", "best"], "archive", None),
    (["sequential", "scores.csv", "--look", "batch", "--looks", "2"], "look", "batch"),
    (["sequential", "scores.csv"], "looks", None),
    (["sequential", "scores.csv", "--looks", "2", "--look", "batch", "--batch-size", "3"], "batch_size", None),
    (["watch", "nowhere"], "archive", "nowhere"),
    (["watch", "--looks", "2"], "archive", None),
    (["watch", "folder", "--looks", "3,2"], "looks", "3,2"),
    (["watch", "folder", "--every", "0"], "every", 0.0),
    (["sources", "--no-such-option"], "no-such-option", None),
]


@pytest.mark.parametrize(("options", "argument", "value"), every(3, REFUSED))
def test_what_is_refused_is_an_object_with_status_2(options, argument, value, capsys):
    write_scores()
    Path("empty.csv").write_text("agent,seed,score\n")
    Path("folder").mkdir()
    try:
        status, out, err = run(capsys, *options, "--json")
    except SystemExit as ended:
        status, (out, err) = ended.code, capsys.readouterr()
    error = checked(out)["error"]
    assert status == 2
    assert err
    assert error["reason"]
    assert (error["argument"], error["value"]) == (argument, value)
    # a file is called by its name, where one is given
    assert (argument, value) == ("archive", None) or "PATH" not in f"{error['reason']} {error['cure']}"
    assert not Path("scores-answer.nc").exists()


@pytest.mark.parametrize(
    ("options", "meant"),
    [
        (["scores.csv", "--inclde", "anova"], "--include"),
        (["scores.csv", "--include", "anva"], "anova"),
        (["wach", "folder"], "watch"),
        (["gat"], "gate"),
        (["scores.csv", "--value", "scor"], "score"),
        (["watch", "folder", "--lokks", "2"], "--looks"),
    ],
)
def test_what_is_misspelt_gets_the_nearest(options, meant, capsys):
    write_scores()
    with suppress(SystemExit):
        main([*options, "--json"])
    out, err = capsys.readouterr()
    assert f"Did you mean {meant!r}?" in err
    assert checked(out)["error"]["cure"].endswith(f"Did you mean {meant!r}?")


def test_a_question_has_each_reading_in_a_line(capsys):
    pd.DataFrame({"a": ["x", "y"] * 8, "b": ["u", "v"] * 8, "seed": range(16), "score": 0.5}).to_csv("two.csv")
    status, out, _ = run(capsys, "two.csv", "--json")
    error = checked(out)["error"]
    assert status == 2
    lines = error["cure"].splitlines()
    assert len(lines) > 1
    assert all(line.startswith("python -m xcurves two.csv") for line in lines)


def test_the_sources_are_one_object(capsys):
    status, out, _ = run(capsys, "sources", "--json")
    said = checked(out)
    assert status == 0
    assert {"name", "what", "files", "command"} == set(said["sources"][0])
    assert run(capsys, "--json", "sources")[1] == out


# Every command with what ends it with each of the statuses that it has.
STATUSES = [
    ([], ["--n-resamples", "9"], 0),
    ([], ["--better", "best"], 0),
    ([], ["--better", "low"], 1),
    ([], ["--better", "mid", "--select", "agent=mid", "--select", "agent=low"], 3),
    ([], ["--no-such-option"], 2),
    (["gate"], ["--baseline", "low", "--candidate", "best"], 0),
    (["gate"], ["--baseline", "best"], 1),
    (["gate"], ["--baseline", "low", "--looks", "16"], 3),
    (["gate"], ["--baseline", "nobody"], 2),
    (["sequential"], ["--looks", "2", "--batch-size", "4"], 0),
    (["sequential"], ["--looks", "4", "--batch-size", "4"], 3),
    (["sequential"], ["--looks", "2", "--batch-size", "3"], 2),
    (["watch"], ["--looks", "8"], 0),
    (["watch"], ["--looks", "8", "--better", "mid"], 1),
    (["watch"], ["--looks", "8", "--select", "agent=mid", "--select", "agent=low"], 3),
    (["watch"], ["--looks", "8,4"], 2),
    (["sources"], [], 0),
    (["sources"], ["--no-such-option"], 2),
]


@pytest.mark.plain(2)
@pytest.mark.parametrize(("command", "options", "status"), every(2, STATUSES))
def test_every_command_ends_with_its_statuses_and_an_object(command, options, status, here, monkeypatch, capsys):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(here / "summary.md"))
    write_scores(gap=9.0)
    os.utime("scores.csv", (1e9, 1e9))
    log = [] if command == ["sources"] else ["scores.csv"]
    github = [] if command == ["sources"] else ["--github"]
    try:
        found, out, _ = run(capsys, *command, *log, *options, "--json", *github)
    except SystemExit as ended:
        found, (out, _) = ended.code, capsys.readouterr()
    answer = checked(out.splitlines()[-1])
    assert found == status
    assert ("error" in answer) == (status == 2)
    if github and status != 2:
        written = (here / "summary.md").read_text()
        assert answer["verdict"].split()[0] in written
        assert f"Exit status {status}: " in written
        assert "| pair | difference |" in written


@pytest.mark.parametrize(
    ("command", "broken"),
    [
        (["scores.csv"], "analyze"),
        (["gate", "scores.csv", "--baseline", "low"], "gate"),
        (["sequential", "scores.csv", "--looks", "2", "--batch-size", "4"], "sequential"),
        (["watch", "scores.csv", "--looks", "8"], "sequential"),
    ],
)
def test_an_unexpected_error_is_4_and_an_object(command, broken, monkeypatch, capsys):
    write_scores()
    os.utime("scores.csv", (1e9, 1e9))

    def fail(*_, **__):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(xcurves, broken, fail)
    status, out, err = run(capsys, *command, "--json")
    assert (status, checked(out)["error"]["reason"]) == (4, "a bug")
    assert "ZeroDivisionError" in err
    assert run(capsys, *command, "--traceback")[0] == 4


@pytest.mark.plain(2)
@pytest.mark.parametrize(("name", "status"), [("best", 0), ("mid", 1), slow("low", 1)])
@pytest.mark.parametrize("lower", [False, True])
def test_better_is_the_exit_status(name, status, lower, capsys):
    write_scores(gap=-3.0 if lower else 3.0, column="loss" if lower else "score")
    assert run(capsys, "scores.csv", "--better", name)[0] == status
    assert run(capsys, "scores.csv", "--better", name, "--reference", name)[0] == status
    assert run(capsys, "scores.csv")[0] == 0


@pytest.mark.slow
def test_better_is_3_where_nothing_is_shown_and_refused_where_it_cannot_be(capsys):
    write_scores(gap=0.0)
    assert run(capsys, "scores.csv", "--better", "best")[0] == 3
    status, _, err = run(capsys, "scores.csv", "--better", "best", "--reference", "low")
    assert status == 2
    assert "Leave --reference out" in err


@pytest.mark.slow
def test_better_of_each_task_by_itself_is_refused(capsys):
    write_scores(n_tasks=3)
    status, _, err = run(capsys, "scores.csv", "--better", "best", "--include", "pairwise")
    assert status == 2
    assert "over all tasks" in err


@pytest.mark.slow
def test_better_is_judged_of_an_analysis_that_is_opened_too(capsys):
    pytest.importorskip("matplotlib")
    write_scores()
    assert run(capsys, "scores.csv", "--include", "all", "--output", "a.nc")[0] == 0
    for name, status in (("best", 0), ("low", 1), ("nobody", 2)):
        assert run(capsys, "a.nc", "--report", "page.html", "--better", name)[0] == status


@pytest.mark.slow
def test_looks_have_the_better_one_first(tmp_path):
    for sign in (1, -1):
        values = np.random.default_rng(0).normal(size=(2, 10, 4)) + sign * np.array([0.0, 3.0])[:, None, None]
        curves = make_curves(values).assign_coords(algorithm=["a", "b"])
        found = curves.curves.assign_looks(5).curves.sequential(n_looks=2, n_resamples=99, rng=0)
        (pair,) = found.curves.to_dict()["pairs"]
        assert (pair["first"], pair["second"]) == (("b", "a") if sign == 1 else ("a", "b"))
        low, high = pair["ci"]
        assert low < pair["difference"] < high
        assert pair["difference"] == pytest.approx(abs(np.diff(values.mean(axis=(1, 2)))[0]))


@pytest.mark.slow
def test_github_gets_markdown_in_its_file_or_on_stdout(here, monkeypatch, capsys):
    write_scores()
    status, out, _ = run(capsys, "scores.csv", "--better", "mid", "--github")
    assert status == 1
    assert "| best and mid | " in out
    assert out.rstrip().endswith("Exit status 1: shown not to be better, or dropped.")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(here / "summary.md"))
    (here / "summary.md").write_text("before\n")
    _, quiet, _ = run(capsys, "scores.csv", "--github")
    assert "| best and mid | " not in quiet
    written = (here / "summary.md").read_text()
    assert written.startswith("before\n**best has the highest mean score")
    assert run(capsys, "scores.csv", "--github", "--json")[0] == 0
    monkeypatch.delenv("GITHUB_STEP_SUMMARY")
    assert run(capsys, "scores.csv", "--github", "--json")[0] == 2


@pytest.mark.slow
def test_labels_cannot_break_the_summary(capsys):
    frame = write_scores()
    frame["agent"] = frame["agent"].replace({"best": "a|b*c", "mid": "<script>"})
    frame.to_csv("scores.csv", index=False)
    _, out, _ = run(capsys, "scores.csv", "--github")
    assert r"a\|b\*c and \<script\>" in out


@pytest.mark.slow
def test_a_process_prints_json_only():
    write_scores()
    command = [sys.executable, "-m", "xcurves", "scores.csv", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)
    assert done.returncode == 0
    checked(done.stdout)


def test_answers_of_arrays_are_refused():
    with pytest.raises(TypeError):
        xcurves.to_dict(xr.DataArray([1.0]))


@pytest.mark.plain(2)
@pytest.mark.parametrize(
    ("rng", "said"),
    [(0, 0), (2**53 - 1, 2**53 - 1), (2**53, {"digits": str(2**53)}), (2**127, {"digits": str(2**127)})],
)
def test_a_seed_is_a_number_that_every_program_reads_exactly(rng, said):
    curves = make_curves(np.random.default_rng(0).normal(size=(2, 4, 3)))
    result = curves.curves.pairwise(rng=rng)
    found = checked(json.dumps(result.curves.to_dict()))["settings"]["rng"]
    assert found == said
    seed = found if isinstance(found, int) else int(found["digits"])
    assert curves.curves.pairwise(rng=seed).identical(result)


def test_a_seed_that_is_not_known_is_null():
    result = make_curves(np.random.default_rng(0).normal(size=(2, 4, 3))).curves.pairwise(rng=0)
    del result.attrs["rng"]
    assert checked(json.dumps(result.curves.to_dict()))["settings"]["rng"] is None


@pytest.mark.plain(2)
@pytest.mark.parametrize("seed", ["0", 0.5, -1, 2**53, {}, {"digits": "12"}])
def test_the_schema_refuses_what_is_no_seed(seed):
    answer = make_curves(np.random.default_rng(0).normal(size=(2, 4, 3))).curves.pairwise(rng=0).curves.to_dict()
    answer["settings"]["rng"] = seed
    with pytest.raises(jsonschema.ValidationError):
        checked(json.dumps(answer))


@pytest.mark.slow
def test_of_several_tasks_next_is_what_takes_most_in_any():
    rng = np.random.default_rng(4)
    curves = make_curves(
        rng.normal(size=(3, 3, 6, 4)) + np.array([0.5, 0.0, 0.2])[:, np.newaxis, np.newaxis], task=list("xyz")
    )
    whole = curves.curves.pairwise(n_resamples=999, rng=0)
    alone = [whole.isel(task=place).curves.to_dict()["next"]["runs"] for place in range(3)]
    assert all(alone)
    most = {name: max(runs.get(name, 0) for runs in alone) for name in ["a0", "a1", "a2"]}
    found = whole.curves.to_dict()["next"]["runs"]
    assert found == {name: n for name, n in most.items() if name in found}
    assert set(found) == set().union(*alone)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_next_says_what_the_verdict_says_where_nothing_can_be_shown_yet():
    curves = make_curves(np.random.default_rng(5).normal(size=(4, 2, 5, 3)), task=list("wxyz"))
    of_tasks = curves.curves.across_tasks(rng=0).curves.to_dict()
    assert "with 4 tasks no p can be below 0.125: add tasks: 6 are the fewest." in of_tasks["verdict"]
    assert of_tasks["next"]["tasks"] >= 2
    of_runs = curves.isel(task=0, run=[0, 1]).curves.pairwise(rng=0).curves.to_dict()
    assert "run more: 4 a side are enough" in of_runs["verdict"]
    # the floor is lifted by two; the difference as seen takes more
    assert all(n >= 2 for n in of_runs["next"]["runs"].values())
    assert set(of_runs["next"]["runs"]) == {"a0", "a1"}


@pytest.mark.slow
def test_a_pair_says_what_its_difference_is():
    curves = make_curves(np.random.default_rng(6).normal(size=(2, 5, 4)).cumsum(axis=-1)).assign_attrs(units="points")
    final = curves.isel(training=-1, drop=True)
    results = [
        (curves.curves.pairwise(rng=0), "difference", "points"),
        (final.curves.compare_distributions(rng=0), "probability", None),
        (curves.curves.speedup(reference="a0"), "ratio", None),
        (final.curves.gate(baseline="a0"), "difference", "points"),
    ]
    for result, scale, unit in results:
        answer = checked(json.dumps(result.curves.to_dict()))
        assert [(pair["scale"], pair["unit"]) for pair in answer["pairs"]] == [(scale, unit)], result.attrs


def test_the_pairs_of_a_gate_are_shown_where_the_candidate_is_kept():
    rng = np.random.default_rng(7)
    scores = make_curves(rng.normal(size=(5, 12, 1)) + np.array([0, 2, 0, -1, 4])[:, np.newaxis, np.newaxis])
    result = scores.isel(training=0, drop=True).curves.gate(baseline="a0", level=0.3)
    kept = dict(
        zip(result["candidate"].to_numpy().tolist(), (result["decision"] == 1).to_numpy().tolist(), strict=True)
    )
    answer = checked(json.dumps(result.curves.to_dict()))
    assert {pair["first"]: pair["shown"] for pair in answer["pairs"]} == kept
    assert True in kept.values()
    assert False in kept.values()
