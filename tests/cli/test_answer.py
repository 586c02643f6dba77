"""One command from a file to an answer: names, direction, scale, pictures, and what to type where more is needed."""

import re
import shlex

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xcurves
from layers import slow
from places import SHARED
from refusals import refused
from strategies import make_curves
from xcurves.__main__ import main
from xcurves.cli.curves_asked import steps_of_budget

pytestmark = [pytest.mark.usefixtures("here"), pytest.mark.filterwarnings("ignore")]
QUICK = ["--n-resamples", "99"]
TYPE = re.compile(r"Type[^:]*: python -m xcurves (.*)$")


def log(**labels):
    """Return a row for each combination of labels, with a random score `y`."""
    frame = pd.MultiIndex.from_product(labels.values(), names=labels).to_frame(index=False)
    return frame.assign(y=np.random.default_rng(0).normal(size=len(frame)))


def answer(name):
    with xr.open_dataset(f"{name}-answer.nc") as written:
        return written.load()


@pytest.fixture
def runs():
    frame = log(
        env=["ant", "hopper", "pong", "cart"],
        algo=["ppo", "sac", "td3"],
        seed=range(6),
        env_steps=[0, 10],
    )
    frame["y"] += 5 * (frame["algo"] == "sac")
    return frame.rename(columns={"y": "episodic_return"})


def test_a_table_with_usual_names_is_one_command(runs, capsys):
    runs.to_csv("mine.csv", index=False)
    assert main(["mine.csv", *QUICK]) == 0
    out = capsys.readouterr().out
    said = "read as algorithm = algo, run = seed, training = env_steps, task = env, score = episodic_return"
    assert said in out.splitlines()
    result = answer("mine")
    verdict = result.curves.summary().splitlines()[0]
    parts = [
        "Which algorithm is better over all tasks?",
        verdict,
        "\nalgorithm ",
        "Where along the budget",
    ]
    places = [out.index(part) for part in parts]
    assert places == sorted(places)
    heading = next(line for line in out.splitlines() if line.startswith("algorithm "))
    assert re.split(r"  +", heading) == [
        "algorithm",
        "mean",
        "95 %, all algorithms together",
        "envs",
        "place from",
        "place to",
        "mean rank",
        "may be best",
    ]
    assert result.attrs["xcurves_result"] == "across_tasks"
    curves = runs.curves.to_dataarray(
        "episodic_return",
        algorithm="algo",
        run="seed",
        training="env_steps",
        extra="env",
    )
    expected = curves.curves.across_tasks(n_resamples=99, rng=int(result.attrs["rng"]))
    np.testing.assert_array_equal(result["pvalue"], expected["pvalue"])


@pytest.mark.slow
def test_pairs_are_printed_with_the_numbers_of_the_answer(runs, capsys):
    runs[runs["env"] == "ant"].to_csv("ant.csv", index=False)
    assert main(["ant.csv", *QUICK]) == 0
    out = capsys.readouterr().out
    result = answer("ant")
    assert result.attrs["xcurves_result"] == "pairwise"
    shown = result["pvalue_adjusted"].sel(effect="algorithm") <= 0.05
    assert shown.sum() == 2
    block = out.split("Shown to differ:\n")[1].split("\n\n")[0].splitlines()
    assert [line.split("  ")[0] for line in block[1:3]] == sorted(
        ["sac over ppo", "sac over td3"],
        key=lambda pair: -abs(result["difference"].sel(pair=_label(pair)).item()),
    )
    assert block[3].startswith("1 pair is not shown to differ")
    assert "Where along training do they differ?" in out


def _label(pair):
    return " - ".join(sorted(pair.split(" over ")))


@pytest.mark.slow
def test_scores_without_training_are_compared_as_they_are(capsys):
    frame = log(dataset=list("abcdefgh"), model=["rf", "svm"], fold=range(5)).rename(columns={"y": "f1"})
    frame.to_csv("cv.csv", index=False)
    assert main(["cv.csv", *QUICK]) == 0
    out = capsys.readouterr().out
    assert "read as algorithm = model, run = fold, task = dataset, no training, score = f1" in out
    assert "budget" not in out
    assert "over training" not in out
    means = frame.groupby(["dataset", "model"])["f1"].mean().unstack()
    assert answer("cv")["difference"].item() == pytest.approx((means["rf"] - means["svm"]).mean())


def test_numbers_of_one_task_are_no_means_over_training(capsys):
    frame = log(method=["ours", "theirs"], repeat=range(6)).rename(columns={"y": "accuracy"})
    frame.to_csv("mine.csv", index=False)
    assert main(["mine.csv"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^\w+ has the higher mean accuracy, ", out, re.MULTILINE)
    assert "over training" not in out


@pytest.mark.slow
def test_one_run_for_each_task_is_enough_over_tasks(capsys):
    frame = log(instance=range(12), solver=["new", "old"])
    frame.assign(runtime=np.exp(frame["y"]) + 3 * (frame["solver"] == "old")).drop(columns="y").to_csv(
        "s.csv", index=False
    )
    assert main(["s.csv"]) == 0
    assert "new has the lower mean runtime, 1.02 over 12 instances" in capsys.readouterr().out


@pytest.mark.slow
def test_all_that_is_missing_is_asked_for_at_once_and_what_is_to_type_works(capsys):
    frame = log(model=["m", "n"], optimizer=["adam", "sgd"], seed=range(3), step=[1, 2]).assign(
        u=1.0, v=lambda f: f["y"]
    )
    frame = frame.rename(columns={"y": "w"}).assign(u=frame["y"] ** 2)
    frame.to_csv("my log.csv", index=False)
    assert main(["my log.csv", *QUICK]) == 2
    asked, *commands = capsys.readouterr().err.splitlines()
    assert "the algorithm (model or optimizer) and the score (" in asked
    assert len(commands) == 4
    typed = shlex.split(commands[0], comments=True)[3:]
    assert typed[:3] == ["my log.csv", *QUICK]
    assert {"--algorithm", "--value"} < set(typed)
    assert main([*typed, "--duplicates", "first"]) == 0


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"seed": range(3), "step": [1, 2]}, "no column could be the algorithm"),
        (
            {"algo": ["a", "b"], "seed": range(3), "step": [1, 2]},
            "the column score has text in a row, first 'crashed'",
        ),
    ],
)
def test_what_no_option_can_mend_is_said_without_a_command(capsys, columns, said):
    frame = log(**columns).rename(columns={"y": "score"})
    if "algo" in columns:
        frame = frame.astype({"score": object})
        frame.loc[4, "score"] = "crashed"
    frame.to_csv("mine.csv", index=False)
    assert main(["mine.csv"]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert "Type" not in err


@pytest.mark.parametrize(
    ("column", "form", "said"),
    [
        ("score", "{:.0f} of 9", "'score' as numbers: it has text, such as '7 of 9'."),
        ("result", "{} or so", "'result' as numbers: it has text, such as '7.0 or so'."),
        ("note", "good", "'note' as numbers: it has text, such as 'good'."),
    ],
)
def test_a_column_of_text_that_could_be_the_score_is_named(capsys, column, form, said):
    frame = log(algo=["a", "b"], seed=range(3), step=[1, 2])
    frame["comment"] = "none"
    frame[column] = [form.format(7.0) for _ in frame["y"]]
    if column == "note":
        frame = frame.drop(columns="comment")
    frame.drop(columns="y").to_csv("mine.csv", index=False)
    assert main(["mine.csv"]) == 2
    err = capsys.readouterr().err.splitlines()[-1]
    assert "no column of numbers could be the score. Add one, or write the" in err
    assert said in err


@pytest.mark.plain(1)
@pytest.mark.parametrize(
    ("name", "options", "lower"),
    [
        ("val_loss", [], True),
        ("return", [], False),
        ("val_loss", ["--higher-is-better"], False),
        ("return", ["--lower-is-better"], True),
    ],
)
def test_the_name_says_which_scores_are_the_good_ones(capsys, name, options, lower):
    frame = log(agent=["x", "y"], seed=range(4), step=[1, 2])
    frame["y"] += 9 * (frame["agent"] == "y")
    frame.rename(columns={"y": name}).to_csv("mine.csv", index=False)
    assert main(["mine.csv", *options]) == 0
    out = capsys.readouterr().out
    assert ("lower is better, as the name" in out) == (lower and not options)
    assert (f"x has the lower mean {name}" if lower else f"y has the higher mean {name}") in out
    assert answer("mine").attrs["higher_is_better"] == (not lower)


def scales(runs):
    return runs.assign(
        episodic_return=runs["episodic_return"] * runs["env"].map({"ant": 1, "hopper": 9, "pong": 50, "cart": 500})
    )


@pytest.mark.slow
def test_scores_of_each_task_are_scaled_by_its_extremes(runs, capsys):
    frame = scales(runs)
    frame.to_csv("mine.csv", index=False)
    assert main(["mine.csv", "--normalize", *QUICK]) == 0
    assert "scores scaled in each task: its worst is 0, its best 1" in capsys.readouterr().out
    of_task = frame.groupby("env")["episodic_return"]
    scaled = (frame["episodic_return"] - of_task.transform("min")) / (
        of_task.transform("max") - of_task.transform("min")
    )
    means = scaled.groupby([frame["env"], frame["algo"]]).mean().groupby("algo").mean()
    np.testing.assert_allclose(answer("mine")["score_mean"].to_series(), means)


def test_of_losses_the_lowest_is_scaled_to_1(runs, capsys):
    frame = scales(runs).rename(columns={"episodic_return": "loss"})
    frame.to_csv("mine.csv", index=False)
    assert main(["mine.csv", "--normalize", "minmax", *QUICK]) == 0
    of_task = frame.groupby("env")["loss"]
    low, high = of_task.transform("min"), of_task.transform("max")
    scaled = (high - frame["loss"]) / (high - low)
    means = scaled.groupby([frame["env"], frame["algo"]]).mean().groupby("algo").mean()
    np.testing.assert_allclose(answer("mine")["score_mean"].to_series(), means)
    assert answer("mine").attrs["higher_is_better"] == 1


@pytest.mark.plain(1)
@pytest.mark.parametrize("ends", [("low", "high"), ("random", "human")])
def test_references_scale_scores(runs, capsys, ends):
    runs.to_csv("mine.csv", index=False)
    table = pd.DataFrame(
        {
            "env": ["pong", "cart", "ant", "hopper"],
            ends[0]: [-1, -2, 0, 3],
            ends[1]: [4.0, 3.0, 9.0, 5.0],
        }
    )
    table.to_csv("reference.csv", index=False)
    assert main(["mine.csv", "--normalize", "reference.csv", *QUICK]) == 0
    low, high = (runs["env"].map(table.set_index("env")[end]) for end in ends)
    scaled = ((runs["episodic_return"] - low) / (high - low)).groupby([runs["env"], runs["algo"]]).mean()
    np.testing.assert_allclose(answer("mine")["score_mean"].to_series(), scaled.groupby("algo").mean())
    table[1:].to_csv("reference.csv", index=False)
    assert main(["mine.csv", "--normalize", "reference.csv", *QUICK]) == 2
    assert "'pong'" in capsys.readouterr().err
    assert main(["mine.csv", "--normalize", "nowhere.csv", *QUICK]) == 2
    assert "--normalize takes minmax or a table (.csv); nowhere.csv is no file" in capsys.readouterr().err


def test_budget_in_n_steps():
    assert steps_of_budget(None) == 0
    assert steps_of_budget("budget") == 20
    assert steps_of_budget("budget:5") == 5
    assert steps_of_budget("0,1000") == 0
    for strange in ("budget:", "budget:0", "budget:x", "budget:-3", "budget:1e9"):
        with refused("align", cure="Try budget:20", names=r"^--align budget:N takes a whole number"):
            steps_of_budget(strange)


@pytest.mark.slow
def test_ragged_runs_get_a_command_that_works(capsys):
    frame = log(algo=["a", "b"], seed=range(4), step=[10, 20, 30, 40])
    frame[~((frame["seed"] == 3) & (frame["step"] > 20))].to_csv("mine.csv", index=False)
    assert main(["mine.csv", *QUICK]) == 2
    _, *commands = capsys.readouterr().err.splitlines()
    readings = [shlex.split(command, comments=True)[3:] for command in commands]
    short = ["mine.csv", *QUICK, "--align", "intersection", "--runs-short"]
    last = ["mine.csv", *QUICK, "--training", "none", "--duplicates", "last"]
    assert readings == [[*short, "failed", "--fill-failed", "worst"], [*short, "cut"], [*short, "drop"], last]
    for typed in readings[::-1]:
        assert main(typed) == 0
    assert "2 of 8 runs failed and count as the worst" in capsys.readouterr().out.rpartition("Source:")[2]
    assert answer("mine")["score_mean"].sizes == {"algorithm": 2}


@pytest.mark.slow
def test_of_runs_that_begin_again_each_command_works(capsys):
    frame = log(algo=["a", "b"], seed=range(4), step=[10, 20])
    pd.concat([frame, frame.head(2).assign(y=0.0)]).to_csv("mine.csv", index=False)
    assert main(["mine.csv", *QUICK]) == 2
    asked, *commands = capsys.readouterr().err.splitlines()
    assert "falls in 1 run, first from ('a', 0, 20) to ('a', 0, 10)" in asked
    typed = [shlex.split(command, comments=True)[3:] for command in commands]
    assert [each[1 + len(QUICK) :] for each in typed] == [
        ["--duplicates", "purge"],
        ["--resumed"],
    ]
    assert main(typed[0]) == 0
    # One run is longer than the others then, which is the next question.
    assert main(typed[1]) == 2
    _, *commands = capsys.readouterr().err.splitlines()
    assert [main(shlex.split(command, comments=True)[3:]) for command in commands] == [0, 0, 0]


@pytest.mark.plain(1)
@pytest.mark.parametrize("ending", [slow("svg"), slow("pdf"), "png"])
def test_the_first_picture_is_written(runs, here, capsys, ending):
    pytest.importorskip("matplotlib")
    runs.to_csv("mine.csv", index=False)
    assert main(["mine.csv", "--figure", f"curves.{ending}", *QUICK]) == 0
    assert capsys.readouterr().out.endswith(f"Picture: curves.{ending}\n")
    drawn = (here / f"curves.{ending}").read_bytes()
    assert drawn.startswith({"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}[ending])
    if ending == "svg":
        assert b"sac" in drawn


def test_a_picture_that_cannot_be_is_refused_before_the_work(runs, capsys):
    pytest.importorskip("matplotlib")
    runs.to_csv("mine.csv", index=False)
    assert main(["mine.csv", "--figure", "curves.txt"]) == 2
    assert "--figure curves.txt must end with .pdf" in capsys.readouterr().err
    assert main(["mine.csv", "--figure", "nowhere/curves.svg"]) == 2
    assert "Make it: mkdir -p nowhere" in capsys.readouterr().err


@pytest.mark.slow
def test_several_columns_of_tasks_are_one_task(capsys):
    frame = log(env=["x", "y"], dataset=["u", "v"], algo=["a", "b"], seed=range(3), step=[1, 2])
    frame.rename(columns={"y": "score"}).to_csv("mine.csv", index=False)
    assert main(["mine.csv", *QUICK]) == 0
    labels = answer("mine")["task_difference"]["task"].values.tolist()
    assert sorted(labels) == ["x, u", "x, v", "y, u", "y, v"]


@pytest.mark.slow
def test_dims_of_an_archive_are_recognised(capsys):
    curves = make_curves(np.random.default_rng(0).normal(size=(2, 4, 3)))
    curves.rename(algorithm="agent", run="seed", training="env_steps").to_dataset().to_netcdf("mine.nc")
    assert main(["mine.nc"]) == 0
    assert "read as algorithm = agent, run = seed, training = env_steps" in capsys.readouterr().out
    expected = xcurves.pairwise(curves, rng=int(answer("mine").attrs["rng"]))
    np.testing.assert_array_equal(answer("mine")["pvalue"], expected["pvalue"])


DATA = SHARED / "data"
PUBLISHED = {  # the options that its shape needs, and what the answer is about
    "tdmpc2_results.csv.gz": (
        ["--duplicates", "last", "--align", "budget", "--runs-short", "cut"],
        "tdmpc2 has the highest mean reward",
    ),
    "tianshou_mujoco.csv.gz": (
        ["--align", "budget", "--runs-short", "cut", "--normalize"],
        "sac has the highest mean normalized return",
    ),
    "algoperf_external.csv.gz": (
        ["--extra", "task", "study", "--align", "budget", "--runs-short", "cut"],
        "tasks like these",
    ),
    "nanogpt_track3_dev.csv.gz": (
        ["--align", "2500:3000:125", "--method", "linear", "--drop-incomplete"],
        "20260514_aurora_proj_pruned_extended_contra has the lowest mean val_loss",
    ),
    "hoiem_cifar100_errors.csv": (
        ["--training", "none", "--extra", "n_per_class", "--not-paired"],
        "pretr_ft has the lowest mean",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_logs_give_an_answer_with_one_command(name, capsys):
    if not (DATA / name).exists():
        pytest.skip(f"{name} is not beside the repository")
    options, said = PUBLISHED[name]
    assert main([str(DATA / name), *options, *QUICK]) == 0
    out = capsys.readouterr().out
    assert said in out
    assert "\nalgorithm " in out
    headings = r"^(Shown to differ|No pair is shown to differ|No pair could be tested|All \d+ pairs: --include pairs)"
    assert re.search(headings, out, re.MULTILINE)


@pytest.mark.plain(1)
@pytest.mark.parametrize("labels", [["sac", "td3", "ppo"], [1, 2, 3]])
def test_the_others_are_compared_with_one_algorithm_alone(labels, capsys):
    frame = log(algo=labels, seed=range(6), step=[10, 20])
    frame.to_csv("mine.csv", index=False)
    reference = str(labels[1])
    assert main(["mine.csv", "--reference", reference, *QUICK]) == 0
    out = capsys.readouterr().out
    result = xcurves.archive.read("mine-answer.nc")
    assert result.attrs["reference"] == reference
    pairs = [f"{label} - {reference}" for label in labels if str(label) != reference]
    assert sorted(result["pair"].values.tolist()) == sorted(pairs)
    assert all(pair in out for pair in pairs) or "No pair is shown" in out


def test_a_reference_that_is_no_algorithm_is_refused_with_those_that_are(capsys):
    log(algo=["sac", "td3"], seed=range(6), step=[10, 20]).to_csv("mine.csv")
    options = ["--algorithm", "algo", "--run", "seed", "--training", "step"]
    assert main(["mine.csv", *options, "--reference", "tdd", *QUICK]) == 2
    error = capsys.readouterr().err
    assert "--reference must be an algorithm of the curves; got 'tdd'" in error
    assert "Did you mean 'td3'?" in error
