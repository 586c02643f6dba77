"""Small inputs of searches of hyperparameters: their trials, which a sampler chose or a budget stopped."""

from __future__ import annotations

import json
from dataclasses import replace

import pandas as pd

from frames.corpus import Asks, Files, Input, Read, Refuses

INPUTS: dict[str, Input] = {}
SEARCHES = {"tree": ("max_depth", 0.5), "svm": ("C", 0.6)}
TRIALS = Read("algorithm", "run", None, "test_score", (), False, 2)


def cv_results(setting: str, first: float, rungs: tuple[tuple[int, int], ...] = ()) -> pd.DataFrame:
    """Return `cv_results_` of a search of four settings: of a halving one those that are left on each rung."""
    rows = []
    for number, (resources, left) in enumerate(rungs or ((0, 4),)):
        for candidate in range(4 - left, 4):
            score = first + candidate / 100 + number / 10
            row = {"iter": number, "n_resources": resources} if rungs else {}
            row |= {"mean_fit_time": 0.01, f"param_{setting}": candidate + 1, "params": f"{{'{setting}': {candidate}}}"}
            row |= {"split0_test_score": score - 0.01, "split1_test_score": score + 0.01}
            rows.append(row | {"mean_test_score": score, "std_test_score": 0.01, "rank_test_score": candidate})
    return pd.DataFrame(rows)


def searches(path: str, rungs: tuple[tuple[int, int], ...] = ()) -> Files:
    """Return a table of each search; `path` has a place for its name."""
    return {path.format(name): cv_results(*search, rungs) for name, search in SEARCHES.items()}


RUNGS = ((25, 4), (50, 2), (100, 1))
BEST = Read("algorithm", "fold", None, "test_score", (), False, 2, 2, matched=True, difference=0.1)
SETTINGS = Asks(
    "has scores of 4 settings of each search on the same folds",
    2,
    {
        "--duplicates first": BEST,
        "--run trial_number": replace(TRIALS, run="trial_number", runs=4, difference=0.1),
    },
)
for each in ("logs/{}.csv", "logs/{}/cv_results.csv"):
    INPUTS[f"searches, {each}"] = Input(lambda each=each: searches(each), SETTINGS)  # svm comes first
    INPUTS[f"halving searches, {each}"] = Input(
        lambda each=each: searches(each, RUNGS),
        Asks(
            "has trials that were stopped on 3 budgets",
            3,
            {
                "--select n_resources=25": replace(TRIALS, runs=4, difference=0.1),
                "--select n_resources=100": replace(TRIALS, runs=1, difference=0.1),
                "--training n_resources": replace(TRIALS, training="n_resources", runs=4, levels=3),
            },
        ),
    )
INPUTS["searches as lists"] = Input(
    lambda: {
        f"logs/{name}.json": json.dumps({column: table[column].tolist() for column in table})
        for name, table in searches("{}").items()
    },
    SETTINGS,
)
INPUTS["searches of seeds"] = Input(
    lambda: searches("logs/{}_seed0.csv") | searches("logs/{}_seed1.csv"),
    Asks(
        "has scores of 4 settings of each search on the same folds",
        2,
        {
            "--duplicates first": replace(BEST, run="run, fold", runs=4),
            "--run run trial_number": replace(TRIALS, run="run, trial_number", runs=8),
        },
    ),
)
INPUTS["searches on two data sets"] = Input(
    lambda: searches("logs/iris/{}.csv") | searches("logs/wine/{}.csv"),
    Asks(
        "'iris' or 'svm' is the algorithm or the task",
        4,
        {
            "'{task}/{algorithm}' --duplicates first": replace(BEST, tasks=("task",), n_tasks=2),
            "'{algorithm}/{task}' --run": Read("algorithm", "trial_number", None, "test_score", ("task",), n_tasks=2),
        },
    ),
)
FOLDS = Read("algorithm", "fold", None, "test_score", (), False, 4, 2, matched=True)
INPUTS["one halving search"] = Input(
    lambda: {"tree.csv": cv_results(*SEARCHES["tree"], RUNGS)},
    Asks("has trials that were stopped on 3 budgets", 2, {"--select n_resources=25": FOLDS}),
)


def folds(shift: float = 0.0) -> pd.DataFrame:
    """Return what `cross_validate` returns, as a frame; scores of both ends are the better the higher."""
    scores = pd.Series([0.7, 0.8, 0.9]) + shift
    times = {"fit_time": [0.1, 0.2, 0.3], "score_time": [0.3, 0.1, 0.2]}
    return pd.DataFrame({**times, "test_accuracy": scores, "test_neg_log_loss": scores - 1})


FOLDED = Read("algorithm", "fold", None, "test_accuracy", (), False, 2, 3, matched=True, difference=0.05)
INPUTS["cross-validations, a file each"] = Input(
    lambda: {"cv/ada.csv": folds(0.05).to_csv(), "cv/bob.csv": folds().to_csv()}, FOLDED
)
INPUTS["a copy of a cross-validation"] = Input(
    lambda: {"cv/ada.csv": folds(0.05), "cv/bob.csv": folds(), "cv/bob (copy).csv": folds()}, FOLDED
)
INPUTS["cross-validations, a folder each"] = Input(
    lambda: {"cv/ada/cv.csv": folds(0.05), "cv/bob/cv.csv": folds()}, FOLDED
)
OF_DATA = replace(FOLDED, tasks=("task",), n_tasks=2)


def as_lists(table: pd.DataFrame) -> dict[str, list[float]]:
    """Return what `cross_validate` returns, with lists for arrays."""
    return {name: table[name].tolist() for name in table}


def of_data(path: str) -> dict[str, str]:
    """Return a file of each model on each data set: what `cross_validate` returned."""
    files = {}
    for data, more in (("iris", 0.0), ("wine", 0.1)):
        for model, shift in (("ada", 0.05), ("bob", 0.0)):
            table = folds(shift + more)
            files[path.format(data, model)] = json.dumps(as_lists(table)) if "json" in path else table.to_csv()
    return files


for ending in ("csv", "json"):
    ORDERS = Asks(
        "'iris' or 'ada' is the algorithm or the task",
        2,
        {"'{task}/{algorithm}'": OF_DATA, "'{algorithm}/{task}'": replace(OF_DATA, difference=-0.1)},
    )
    INPUTS[f"cross-validations below data sets, {ending}"] = Input(
        lambda ending=ending: of_data(f"cv/{{}}/{{}}.{ending}"), ORDERS
    )
    INPUTS[f"cross-validations above data sets, {ending}"] = Input(
        lambda ending=ending: of_data(f"cv/{{1}}/{{0}}.{ending}"),
        Asks("'ada' or 'iris' is the algorithm or the task", 2, {"'{algorithm}/{task}'": OF_DATA}),
    )
    INPUTS[f"cross-validations whose names have data sets, {ending}"] = Input(
        lambda ending=ending: of_data(f"cv/{{}}-{{}}.{ending}"),
        Asks("'iris' or 'ada' is the algorithm or the task", 3, {"'{task}-{algorithm}'": OF_DATA}),
    )
    INPUTS[f"cross-validations of seeds, {ending}"] = Input(
        lambda ending=ending: {
            f"cv/{name.replace('iris', 'seed0').replace('wine', 'seed1')}": text
            for name, text in of_data(f"{{1}}_{{0}}.{ending}").items()
        },
        replace(FOLDED, run="run, fold", runs=6, says="repeats of the same folds"),
    )
INPUTS["cross-validations below folders of data sets"] = Input(
    lambda: of_data("cv/{}/{}/scores.csv"),
    Asks("'iris' or 'ada' is the algorithm or the task", 2, {"--folders task algorithm": OF_DATA}),
)
INPUTS["cross-validations as lists, a file each"] = Input(
    lambda: {f"cv/{name}.json": json.dumps(as_lists(folds(0.05 * (name == "ada")))) for name in ("ada", "bob")}, FOLDED
)
INPUTS["cross-validations as lists in one file"] = Input(
    lambda: {"cv.json": json.dumps({"ada": as_lists(folds(0.05)), "bob": as_lists(folds())})}, FOLDED
)
INPUTS["cross-validations in one table"] = Input(
    lambda: {"cv.csv": pd.concat([folds(0.05).assign(model="ada"), folds().assign(model="bob")]).to_csv()}, FOLDED
)
INPUTS["cross-validations of two data sets"] = Input(
    lambda: {
        "cv.csv": pd.concat(
            [folds(0.05 * (name == "ada")).assign(model=name, dataset=data) for name in ("ada", "bob") for data in "xy"]
        )
    },
    replace(FOLDED, tasks=("dataset",), n_tasks=2),
)
INPUTS["cross-validations, another score"] = Input(
    lambda: {"cv/ada.csv": folds(0.05), "cv/bob.csv": folds()},
    replace(FOLDED, score="test_neg_log_loss"),
    ("--value", "test_neg_log_loss"),
)


def study(shift: float = 0.0, sampler: str = "") -> pd.DataFrame:
    """Return what `trials_dataframe` has of a study; samplers leave notes of their own."""
    rows = []
    for number in range(6):
        model = ["svm", "tree"][number % 2]
        row = {"number": number, "value": 0.7 + shift + number / 100, "datetime_start": f"2026-01-01 00:00:0{number}"}
        row |= {"params_model": model, "params_lr": 0.1 * number, "state": "COMPLETE"}
        rows.append(row | ({f"system_attrs_{sampler}": "{}"} if sampler else {}))
    return pd.DataFrame(rows)


INPUTS["a study, whose settings are no algorithms"] = Input(
    lambda: {"study.csv": study()},
    Read("algorithm", "run", None, "value", (), False, 1, 6, says="independent only if its sampler is random"),
)
INPUTS["a study whose table has no dates"] = Input(
    lambda: {"study.csv": study().drop(columns="datetime_start")},
    Read("algorithm", "run", None, "value", (), False, 1, 6, says="higher is taken as better: the name value does not"),
)
INPUTS["a study whose end is typed"] = Input(
    lambda: {"study.csv": study()},
    Read("algorithm", "run", None, "value", (), True, 1, 6),
    ("--lower-is-better",),
)
INPUTS["a study whose sampler left notes"] = Input(
    lambda: {"study.csv": study(sampler="tpe:relative_params:0")},
    Read("algorithm", "run", None, "value", (), False, 1, 6, says="trials of a study, chosen by TPESampler"),
)
INPUTS["a setting of a study that is typed"] = Input(
    lambda: {"study.csv": study(sampler="grid_id")},
    Read("params_model", "run", None, "value", (), False, 2, 6, says="trials of a study, chosen by GridSampler"),
    ("--algorithm", "params_model"),
)
INPUTS["a setting of a study that is typed, of an unknown sampler"] = Input(
    lambda: {"study.csv": study()},
    Refuses("is a setting of trials, which are independent only if their sampler is random"),
    ("--algorithm", "params_model"),
)
SO_FAR = Read("algorithm", "run", "trial_number", "lowest_value", (), True, 2, 2, 6, difference=0.2)
OF_ENDS = Asks(
    "which column is the score (lowest_value or highest_value)",
    2,
    {
        "--value lowest_value": SO_FAR,
        "--value highest_value": replace(SO_FAR, score="highest_value", lower=False),
    },
)
for each in ("{}_seed{}.csv", "{}/seed{}/trials.csv", "{}/{}.csv"):
    INPUTS[f"studies of seeds, {each}"] = Input(
        lambda each=each: {
            f"logs/{each.format(name, seed)}": study(shift + seed / 1000)
            for name, shift in (("ada", 0.0), ("bob", -0.2))
            for seed in (0, 1)
        },
        OF_ENDS,
    )
INPUTS["studies in a folder"] = Input(
    lambda: {"logs/ada.csv": study(), "logs/bob.csv": study(-0.2)},
    Read("algorithm", "run", None, "value", (), False, 2, 6, difference=0.2),
)
INPUTS["several studies in one table"] = Input(
    lambda: {
        "studies.csv": pd.concat(
            [
                study(shift + seed / 1000).assign(sampler=name, seed=seed)
                for name, shift in (("ada", 0.0), ("bob", -0.2))
                for seed in (0, 1)
            ]
        )
    },
    OF_ENDS,
)
INPUTS["cross-validations by data set and model in one file"] = Input(
    lambda: {
        "cv.json": json.dumps(
            {
                data: {name: as_lists(folds(0.05 * (name == "ada") + shift)) for name in ("ada", "bob")}
                for data, shift in (("iris", 0.0), ("wine", 0.1))
            }
        )
    },
    Asks(
        "which column is the algorithm (key1 or key2)",
        None,
        {
            "--algorithm key2 --extra key1": replace(
                FOLDED, algorithm="key2", tasks=("key1",), n_tasks=2, difference=None
            )
        },
    ),
)
