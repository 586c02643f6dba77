"""Inputs of the corpus with repeated rows, wide tables, numbers and arrays: see `corpus.py`."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import numpy as np
import pandas as pd

from frames.corpus import AB, Asks, Files, Input, Read, Refuses, lines, one, rows

INPUTS: dict[str, Input] = {}


def stepped(steps, columns=None, name="step"):
    """Return two algorithms with two runs each, whose rows have these steps in this order; scores differ."""
    made = []
    for number, (algorithm, seed) in enumerate((a, s) for a in AB for s in (0, 1)):
        scores = np.arange(len(steps)) + 10.0 * number + 0.25
        run = {"algo": algorithm, "seed": seed, name: steps, "return": scores}
        made.append(pd.DataFrame(run | (columns or {})))
    return pd.concat(made)


CURVES = Read("algo", "seed", "step", "return", (), False, 2, 2)


def levels(number, difference=None):
    """Return the right reading of `stepped`, with so many levels."""
    return Read(*CURVES_OF, number, difference=difference)


WITHOUT_STEPS = Read("algo", "seed", None, "return", (), False, 2, 2)
CURVES_OF = ("algo", "seed", "step", "return", (), False, 2, 2)

# --- repeats have a cause ---

INPUTS["restart above the first step"] = Input(one(lambda: stepped([0, 10, 20, 30, 20, 25, 35])), levels(5, -20))
INPUTS["restart, the clock goes on"] = Input(
    one(lambda: stepped([0, 10, 20, 10, 30], {"wall_time": [1.0, 2, 3, 4, 5]})),
    levels(3, -20),
)
INPUTS["fall, the clock goes back"] = Input(
    one(lambda: stepped([0, 10, 20, 10, 30], {"wall_time": [1.0, 3, 5, 2, 6]})),
    Asks(
        "falls in 4 runs",
        2,
        {"--duplicates last": levels(4), "--duplicates purge": levels(3)},
    ),
)
INPUTS["back to the first step"] = Input(
    one(lambda: stepped([1, 2, 3, 1, 2, 3])),
    Asks(
        "their first level",
        2,
        {"--duplicates purge": levels(3), "--resumed": levels(6)},
    ),
)
INPUTS["newest first, with a clock"] = Input(
    one(lambda: stepped([30, 20, 10], {"time": [3.5, 2.5, 1.5]})), levels(3, -20)
)
INPUTS["newest first, without a clock"] = Input(
    one(lambda: stepped([30, 20, 10])),
    Asks("falls in 4 runs", 1, {"--duplicates last": levels(3)}),
)
INPUTS["rows in no order"] = Input(
    one(lambda: stepped([10, 30, 0, 20])),
    Asks("falls in 4 runs", None, {"--duplicates last": levels(4)}),
)
INPUTS["negative steps"] = Input(
    one(lambda: stepped([0, -10, -20])),
    Asks("'step' is negative in 8 rows", 2, {"--duplicates last": WITHOUT_STEPS}),
)
INPUTS["a log written twice"] = Input(one(lambda: pd.concat([stepped([0, 10, 20])] * 2)), levels(3, -20))
INPUTS["each row written twice"] = Input(
    one(lambda: stepped([0, 10, 20]).loc[[0, 0, 1, 1, 2, 2]].sort_values("algo", kind="stable")),
    levels(3, -20),
)
INPUTS["several scores of a step"] = Input(
    one(lambda: stepped([0, 10, 10, 20])),
    Asks("rows repeat a (algo, seed, step)", 3, {"--duplicates mean": levels(3)}),
)

# --- lists without steps ---

HISTORY = {"loss": [0.9, 0.5, 0.25], "val_loss": [1.0, 0.75, 0.5]}
PLACES = Read("algorithm", "run", "step", "val_loss", (), True, 2, 2, 3)


def histories(name, text) -> Files:
    """Return the history of each run in a file of this name."""
    return {f"logs/{algorithm}/{run}/{name}": text for algorithm in AB for run in (0, 1)}


for NAME, TEXT in {
    "history.json": json.dumps(HISTORY),
    "records.json": pd.DataFrame(HISTORY).to_json(orient="records"),
    "split.json": pd.DataFrame(HISTORY).to_json(orient="split"),
    "index.json": pd.DataFrame(HISTORY).to_json(orient="index"),
    "lines.jsonl": lines(pd.DataFrame(HISTORY).to_dict("records")),
    "log.csv": pd.DataFrame(HISTORY).to_csv(index=False),
}.items():
    INPUTS[f"list without steps, {NAME}"] = Input(lambda name=NAME, text=TEXT: histories(name, text), PLACES)

INPUTS["list without steps, nested"] = Input(
    lambda: histories(
        "evals.json", json.dumps({"train": {"loss": HISTORY["loss"]}, "test": {"loss": [1.0, 0.75, 0.5]}})
    ),
    replace(PLACES, score="test/loss", says="step is the place of a row in its file"),
)
INPUTS["lists without steps, one of one row"] = Input(
    lambda: histories("log.csv", "loss\n0.5\n0.25\n") | {"logs/bob/1/log.csv": "loss\n0.75\n"},
    replace(PLACES, score="loss", levels=2),
)

# --- rungs ---


def halving():
    """Return a halving search of each algorithm: four candidates on 25 samples, one on 50."""
    rung = rows(model=AB, config_id=[0, 1, 2, 3], budget=[25], value="accuracy")
    return pd.concat([rung, rung[rung.config_id == 2].assign(budget=50)])


ONE_RUNG = Read("model", "config_id", None, "accuracy", (), False, 2, 4)
INPUTS["rungs as trials"] = Input(
    one(halving),
    Asks(
        "pools trials of 2 budgets",
        3,
        {"--select budget=25": ONE_RUNG, "--training budget": replace(ONE_RUNG, training="budget", levels=2)},
    ),
    ("--run", "config_id", "--training", "none"),
)
INPUTS["one rung"] = Input(
    one(halving),
    ONE_RUNG,
    ("--run", "config_id", "--training", "none", "--select", "budget=25"),
)

# --- rows without the score ---


def with_gaps():
    """Return rows of training between those of evaluation, at the same steps."""
    scored = stepped([0, 10, 20])
    return pd.concat([scored, scored.assign(**{"return": np.nan})]).sort_values(["algo", "seed", "step"], kind="stable")


INPUTS["rows without the score"] = Input(one(with_gaps), levels(3, -20))

# --- numbers ---


def written(*cells, name="return"):
    """Return a table of which a column has these cells, at steps 0, 1, ..."""
    frame = stepped([*range(len(cells))]).drop(columns="return")
    return frame.assign(**{name: [*cells] * 4})


for NAME, CELLS in {
    "both marks": ["1,234.5", "2,000.0"],
    "two commas": ["1,234,567", "2,000"],
    "decimal commas": ["0,912", "1,5"],
    "a comma and no group": ["1,234", "0,912"],
    "units of time": ["70.1ms", "1m 10s"],
    "K and none": ["900", "1.3K"],
    "marks of gaps": ["0.5", "n.a.", "0.75"],
}.items():
    INPUTS[f"numbers, {NAME}"] = Input(
        one(lambda cells=CELLS: written(*cells)),
        levels(2),
    )
INPUTS["numbers, a point in front beside a comma elsewhere"] = Input(
    one(lambda: written(".912", ".5").assign(size="64,64")), levels(2)
)
INPUTS["numbers, times of the day"] = Input(one(lambda: written("0:05:30", "0:01:00")), levels(2))
INPUTS["numbers, three decimals everywhere"] = Input(one(lambda: written("1,234", "2,500")), Refuses("'1,234'"))
INPUTS["numbers, three decimals behind either mark"] = Input(one(lambda: written("1,234", "2.500")), Refuses("'1,234'"))
INPUTS["numbers, a decimal comma beside --decimal ."] = Input(
    one(lambda: written("0,912", "1,5").assign(size="1,234")), levels(2), ("--decimal", ".")
)
INPUTS["numbers, words among them"] = Input(
    one(lambda: written("0.5", "0.75", "diverged")), Refuses("the column return has text in 4 rows, first 'diverged'")
)


def printed(*scores, line="step={step} reward={score}"):
    """Return a log of text of each of four runs, with scores of two runs in turn at steps 1, 2, ..."""
    logs = {}
    for name in AB:
        for run in range(2):
            said = [line.format(step=step, score=score) for step, score in enumerate(scores[run], 1)]
            logs[f"logs/{name}/{run}/log.txt"] = "\n".join([*said, ""])
    return logs


def of_logs(mean, lower=False):
    """Return the right reading of such logs: the mean of the first algorithm at the last step, less the second's."""
    return Read("algorithm", "run", None, None, (), lower, 2, 2, 2, mean=mean)


DECIMALS = printed(["0,912", "0,5"], ["0,8", "0,25"], line="epoch: {step}, loss: {score}, acc: 0,5")
INPUTS["logs, decimal commas"] = Input(lambda: DECIMALS, of_logs(0.375, lower=True), ("--value", "loss"))
INPUTS["logs, steps and scores in thousands"] = Input(
    lambda: printed(["1,234.5", "2,000.5"], ["950.5", "1,000.5"], line="step {step},000: reward {score}"),
    replace(of_logs(1500.5), training="step"),
)
INPUTS["logs, K in one run only"] = Input(lambda: printed(["1.5K", "2K"], ["900", "1000"]), of_logs(1500.0))
INPUTS["logs, % in one run only"] = Input(
    lambda: printed(["90%", "91%"], ["0.9", "0.92"], line="step={step} acc={score}"),
    Refuses("no column of numbers could be the score"),
)
for MARK in (",", "."):
    INPUTS[f"numbers, --decimal {MARK}"] = Input(one(lambda: written("1,234", "2,500")), levels(2), ("--decimal", MARK))

# --- arrays ---


def arrays(*shape):
    """Return an npz file of two algorithms."""
    file = io.BytesIO()
    rng = np.random.default_rng(0)
    np.savez(file, **{name: rng.normal(size=shape) for name in AB})
    return {"scores.npz": file.getvalue()}


def array(values):
    """Return an npy file."""
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


INPUTS["arrays, 40 updates or tasks"] = Input(
    lambda: arrays(3, 40),
    Asks(
        "second axis",
        3,
        {
            "steps-first": Read("algorithm", "run", "step", "score", (), False, 2, 40, 3),
            "array-curves": Read("algorithm", "run", "step", "score", (), False, 2, 3, 40),
            "rliable": Read("algorithm", "run", None, "score", ("task",), False, 2, 3, None, 40),
        },
    ),
)
INPUTS["arrays, three axes"] = Input(lambda: arrays(3, 30, 2), Asks("second axis", 2))
INPUTS["arrays, said to be of tasks"] = Input(
    lambda: arrays(3, 5),
    Read("algorithm", "run", None, "score", ("task",), False, 2, 3, None, 5),
    ("--source", "rliable"),
)
INPUTS["one array a run"] = Input(
    lambda: {f"logs/{name}_seed{run}.npy": array(np.arange(4.0) + run) for name in AB for run in (0, 1)},
    Read("algorithm", "run", "step", "score", (), False, 2, 2, 4, says="scores have no name that says"),
)

# --- wide tables ---


def wide(last=None, **columns):
    """Return a wide table of six data sets and two learners, with a further last row."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"dataset": list("pqrstu")})
    for name in ("svm", "tree"):
        table[name] = rng.uniform(1, 9, 6).round(2)
    for name, column in columns.items():
        table[name] = column(table)
    if last is not None:
        row = {"dataset": last[0], **dict(zip(("svm", "tree"), last[1:], strict=True))}
        table = pd.concat([table, pd.DataFrame([row])])
    return table


WIDE = Read("algorithm", None, None, "score", ("dataset",), False, 2, None, None, 6)
INPUTS["wide, the last row is the average"] = Input(one(lambda: wide(("Average", 50.0, 60.0))), WIDE)
INPUTS["wide, the last rows are means by their numbers"] = Input(
    one(lambda: wide(("all", *wide()[["svm", "tree"]].mean().round(3)))), WIDE
)
INPUTS["wide, a column is the average"] = Input(
    one(lambda: wide(average=lambda table: table[["svm", "tree"]].mean(axis=1))), WIDE
)
INPUTS["wide, gaps of many kinds"] = Input(
    one(lambda: wide().astype(object).assign(tree=["--", 2.5, "n.a.", 3.5, 4.5, 1.5])),
    WIDE,
)

# --- runs that end without scores ---


def ending(n_scored):
    """Return runs of three steps, of which the first has so many scores, and rows for the others."""
    frame = stepped([0, 10, 20]).reset_index(drop=True)
    frame.loc[[*range(n_scored, 3)], "return"] = np.nan
    return frame


INPUTS["a run ends without scores"] = Input(
    one(lambda: ending(2)),
    Asks(
        "1 run ends with rows without a score, where others have one, first ('ada', 0, 20)",
        2,
        {"--missing-scores failed": levels(3), "--missing-scores absent": levels(3)},
    ),
)
INPUTS["a gap within a run"] = Input(one(lambda: ending(3).assign(**{"return": [1.0, np.nan, 2.0] * 4})), levels(2))
INPUTS["all runs end at once"] = Input(one(lambda: ending(3).assign(**{"return": [1.0, 2.0, np.nan] * 4})), levels(2))

# --- falls and pooled runs ---

INPUTS["pooled runs"] = Input(one(lambda: stepped([0, 10, 20, 0, 10, 20]).drop(columns="seed")), Refuses("epeat"))
INPUTS["two restarts of a run"] = Input(
    one(lambda: stepped([0, 10, 20, 10, 20, 30, 20, 30, 40])),
    replace(levels(5), says="4 runs restarted at a lower level, which leaves out 16 rows of before"),
)
INPUTS["restart in one task"] = Input(
    one(
        lambda: pd.concat([stepped([0, 10, 20, 30]).assign(env="x"), stepped([0, 10, 20, 10, 20, 30]).assign(env="y")])
    ),
    replace(levels(4), tasks=("env",), n_tasks=2, says="which leaves out 8 rows of before"),
)
INPUTS["metrics in turn, one selected"] = Input(
    one(
        lambda: (
            pd.concat([stepped([0, 10, 20]).assign(metric=name) for name in ("return", "loss")])
            .sort_values(["algo", "seed", "step"], kind="stable")
            .rename(columns={"return": "value"})
        )
    ),
    Asks("has 2 metrics", 2, {"metric=loss": Read("algo", "seed", "step", "value", (), True, 2, 2, 3)}),
)
INPUTS["counting goes on"] = Input(
    one(lambda: stepped([1, 2, 3, 1, 2, 3])),
    replace(levels(6), says="4 runs count anew from their first level and go on"),
    ("--resumed",),
)
INPUTS["began again, which is typed"] = Input(
    one(lambda: stepped([1, 2, 3, 1, 2, 3])),
    replace(levels(3), says="which leaves out 12 rows of before"),
    ("--duplicates", "purge"),
)
INPUTS["runs in several files"] = Input(
    one(lambda: pd.concat([stepped([0, 10, 20]).assign(file=name) for name in ("a.csv", "b.csv")])),
    Asks(
        "'file' ('a.csv', 'b.csv') is not used",
        2,
        {
            "--run seed file": Read("algo", "seed, file", "step", "return", (), False, 2, 4, 3),
            "--duplicates purge": levels(3),
        },
    ),
)
JOINED = Read("algo, lr", "seed, file", "step", "return", (), False, 4, 4, 3)
INPUTS["runs in several files, settings joined"] = Input(
    one(
        lambda: pd.concat(
            [
                stepped([0, 10, 20]).assign(file=name, lr=lr)
                for name, lr in (("a.csv", 0.1), ("b.csv", 0.1), ("a.csv", 0.2), ("b.csv", 0.2))
            ]
        )
    ),
    Asks("'file' ('a.csv', 'b.csv') is not used", 2, {"--run seed file": JOINED}),
    ("--algorithm", "algo", "lr"),
)
INPUTS["runs in several files, which is typed"] = Input(
    one(lambda: pd.concat([stepped([0, 10, 20]).assign(file=name) for name in ("a.csv", "b.csv")])),
    Read("algo", "seed, file", "step", "return", (), False, 2, 4, 3),
    ("--run", "seed", "file"),
)


def search() -> pd.DataFrame:
    """Return `cv_results_` of two halving searches of unlike settings, in one table."""
    made = []
    for name, setting in (("tree", "max_depth"), ("svm", "C")):
        for number, (resources, left) in enumerate(((25, 4), (50, 2), (100, 1))):
            for candidate in range(left):
                score = 0.5 + candidate / 100 + number / 10
                row = {"algorithm": name, "iter": number, "n_resources": resources, f"param_{setting}": candidate + 1.5}
                row |= {"params": f"{{'{setting}': {candidate + 1.5}}}", "split0_test_score": score}
                made.append(row | {"split1_test_score": score, "mean_test_score": score})
    return pd.DataFrame(made)


TRIALS = Read("algorithm", "run", None, "test_score", (), False, 2)
INPUTS["rungs of searches of unlike settings"] = Input(
    one(search),
    Asks(
        "has trials that were stopped on 3 budgets",
        3,
        {
            "--select n_resources=25": replace(TRIALS, runs=4),
            "--select n_resources=100": replace(TRIALS, runs=1),
            "--training n_resources": replace(TRIALS, training="n_resources", runs=4, levels=3),
        },
    ),
)
INPUTS["settings that are called like folds"] = Input(
    one(lambda: search().rename(columns={"param_C": "param_min_samples_split"})),
    Asks("has trials that were stopped on 3 budgets", 3, {"--select n_resources=25": replace(TRIALS, runs=4)}),
)
INPUTS["experiments that each algorithm has, as a number"] = Input(
    one(
        lambda: (
            pd.concat(
                [
                    rows(rng=number, model=AB, seed=[1, 2, 3, 4], value="val_acc").assign(experiment_id=10**17 + number)
                    for number in (0, 1)
                ]
            )
            .drop(columns="seed")
            .assign(run_id=[f"{place:032x}" for place in range(16)])
        )
    ),
    Asks(
        "whether experiment_id names tasks",
        3,
        {"--extra experiment_id": Read("model", None, None, "val_acc", ("experiment_id",), False, 2, 16, n_tasks=2)},
    ),
)
