"""Small inputs of searches of hyperparameters: their trials, which a sampler chose or a budget stopped."""

from __future__ import annotations

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
for each in ("logs/{}.csv", "logs/{}/cv_results.csv"):
    INPUTS[f"searches, {each}"] = Input(
        lambda each=each: searches(each),
        replace(TRIALS, runs=4, difference=0.1),  # svm comes first
    )
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
INPUTS["studies in a folder"] = Input(
    lambda: {"logs/ada.csv": study(), "logs/bob.csv": study(-0.2)},
    Read("algorithm", "run", None, "value", (), False, 2, 6, difference=0.2),
)
