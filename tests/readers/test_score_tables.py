"""Tables of scores without training, each answered by one command; made by their packages or in the documented form."""

import re

import numpy as np
import pandas as pd
import pytest

import labelled
from refusals import refused
from xcurves import readers
from xcurves.__main__ import main
from xcurves.core.refusal import call, give

TASKS = [f"data{number}" for number in range(12)]


def drawn(*shape):
    return np.random.default_rng(0).normal(0, 0.03, shape)


def searched(**settings):
    """Return the cv_results_ of a search over classifiers of noisy data, of which the support vectors are best."""
    selection = pytest.importorskip("sklearn.model_selection")
    tree = pytest.importorskip("sklearn.tree").DecisionTreeClassifier
    svm = pytest.importorskip("sklearn.svm").SVC
    pipeline = pytest.importorskip("sklearn.pipeline").Pipeline
    data = pytest.importorskip("sklearn.datasets").make_classification(300, class_sep=1.5, random_state=0)
    grid = {"model": [svm(C=1.0), tree(max_depth=1, random_state=0), svm(C=1e-6)]}
    found = selection.GridSearchCV(pipeline([("model", svm())]), grid, cv=8, refit=False, **settings).fit(*data)
    return pd.DataFrame(found.cv_results_)


def cv_results(path):
    searched().to_csv(path / "cv_results.csv")
    return "SVC over "


def cv_results_without_index(path):
    searched(return_train_score=True).to_csv(path / "results.csv", index=False)
    return "SVC over "


def cv_results_of_several_scores(path):
    searched(scoring=["accuracy", "f1"]).to_csv(path / "results.csv")
    return "SVC over "


def cv_results_of_two_searches(path):
    selection = pytest.importorskip("sklearn.model_selection")
    tree = pytest.importorskip("sklearn.tree").DecisionTreeClassifier(random_state=0)
    near = pytest.importorskip("sklearn.neighbors").KNeighborsClassifier()
    data = pytest.importorskip("sklearn.datasets").make_circles(200, noise=0.1, factor=0.7, random_state=0)
    grids = {
        "tree": (tree, {"max_depth": [1, 2]}),
        "near": (near, {"n_neighbors": list(range(1, 9))}),
    }
    found = [
        pd.DataFrame(selection.GridSearchCV(model, grid, cv=4).fit(*data).cv_results_).assign(model=name)
        for name, (model, grid) in grids.items()
    ]
    pd.concat(found).to_csv(path / "searches.csv")
    return "near over tree "


def autorank(path):
    # autorank.autorank takes a DataFrame with a column for each population and a row for each data set
    pd.DataFrame(np.array([0.5, 0.6, 0.7]) + drawn(12, 3), columns=["nb", "tree", "boost"]).to_csv(
        path / "a.csv", index=False
    )
    return "boost over nb "


def autorank_with_numbers(path):
    pd.DataFrame(np.array([0.5, 0.6, 0.7]) + drawn(12, 3), columns=["nb", "tree", "boost"]).to_csv(path / "a.csv")
    return "boost over nb "


def autorank_with_names(path):
    pd.DataFrame(np.array([0.5, 0.6, 0.7]) + drawn(12, 3), TASKS, ["nb", "tree", "boost"]).to_csv(path / "a.csv")
    return "boost over nb "


def autorank_with_named_index(path):
    frame = pd.DataFrame(np.array([0.5, 0.6, 0.7]) + drawn(12, 3), TASKS, ["nb", "tree", "boost"])
    frame.rename_axis("dataset").to_csv(path / "a.csv")
    return "boost over nb "


def evaluations():
    """Return rows as of openml.evaluations.list_evaluations(..., output_format="dataframe")."""
    rows = [
        {
            "run_id": 10 * task + flow,
            "task_id": task,
            "setup_id": flow,
            "flow_id": 100 + flow,
            "flow_name": ("weka.J48(1)", "sklearn.svm.SVC(2)")[flow],
            "data_id": task,
            "data_name": TASKS[task],
            "function": "predictive_accuracy",
            "upload_time": "2024-01-01 10:00:00",
            "uploader": 1,
            "uploader_name": "somebody",
        }
        for task in range(8)
        for flow in range(2)
    ]
    scores = 0.8 + 0.05 * np.arange(2) + drawn(8, 2)
    return pd.DataFrame(rows).assign(value=scores.ravel(), values=None, array_data=None)


def openml(path):
    evaluations().to_csv(path / "evaluations.csv")
    return "sklearn.svm.SVC(2) over weka.J48(1) "


def openml_folds(path):
    frame = evaluations()
    # per_fold=True lists the values of the folds in place of their mean
    frame["values"] = [(value + drawn(10)).tolist() for value in frame["value"]]
    frame.assign(value=None).to_csv(path / "evaluations.csv")
    return "sklearn.svm.SVC(2) over weka.J48(1) "


def openml_rows(path):
    frame = evaluations().loc[:, ["task_id", "flow_name", "value"]].merge(pd.DataFrame({"fold": range(5)}), how="cross")
    frame.assign(value=frame["value"] + drawn(len(frame)) / 3).to_csv(path / "runs.csv", index=False)
    return "sklearn.svm.SVC(2) over weka.J48(1) "


def studies(path, samplers, direction="maximize", n_trials=10):
    """Return the trials of studies, which are kept in a database too: a trial of it takes 20 ms."""
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    made = []
    for shift, (name, sampler) in enumerate(samplers.items()):
        study = optuna.create_study(
            storage=f"sqlite:///{path / 'studies.db'}",
            study_name=name,
            sampler=getattr(optuna.samplers, sampler)(seed=0),
            direction=direction,
        )
        study.optimize(
            lambda trial, shift=shift: shift + trial.suggest_float("x", 0, 1) ** 2,
            n_trials,
        )
        made.append(study.trials_dataframe().assign(study=name))
    return pd.concat(made)


def optuna_studies(path):
    studies(path, {"tree": "RandomSampler", "svm": "RandomSampler"})
    return "svm over tree "


def optuna_studies_that_minimize(path):
    studies(path, {"tree": "RandomSampler", "svm": "RandomSampler"}, "minimize")
    return "tree below svm "


def optuna_table(path):
    studies(path, {"tree": "RandomSampler", "svm": "RandomSampler"}).to_csv(path / "trials.csv")
    (path / "studies.db").unlink()
    return "svm over tree "


TABLES = [
    *(
        cv_results,
        cv_results_without_index,
        cv_results_of_several_scores,
        cv_results_of_two_searches,
    ),
    *(autorank, autorank_with_numbers, autorank_with_names, autorank_with_named_index),
    *(openml, openml_folds, openml_rows),
    *(optuna_studies, optuna_studies_that_minimize, optuna_table),
]


@pytest.mark.plain(1)
@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_one_command_says_who_is_best(table, tmp_path, monkeypatch, capsys):
    said = table(tmp_path)
    (file,) = tmp_path.iterdir()
    monkeypatch.chdir(tmp_path)
    typed = [file.name, "--n-resamples", "999"]
    if table in (autorank, autorank_with_numbers, autorank_with_names):
        assert main(typed) == 2
        assert "does not say whether rows are tasks or runs" in capsys.readouterr().err
        typed += ["--extra", "row"]
    assert main(typed) == 0
    out = capsys.readouterr().out
    assert said in out.replace("model=SVC(C=1.0)", "SVC").replace("model=SVC()", "SVC"), out


@pytest.mark.slow
def test_settings_of_one_search_are_algorithms_and_folds_are_runs(tmp_path):
    table = searched(return_train_score=True)
    table.to_csv(tmp_path / "cv.csv")
    frame = readers.read(tmp_path / "cv.csv")
    assert list(frame) == [
        "algorithm",
        "fold",
        "test_score",
        "train_score",
        "config/model",
    ]
    assert frame.index.tolist() == list(range(8 * len(table)))
    scores = frame.curves.to_dataarray("test_score", training=None)
    for row in table.itertuples():
        folds = [getattr(row, f"split{fold}_test_score") for fold in range(8)]
        np.testing.assert_allclose(scores.sel(algorithm=f"model={row.param_model}"), folds)


def test_names_of_settings_say_what_differs_and_stay_apart(tmp_path):
    table = pd.DataFrame(
        {
            "param_depth": [1, 1, None],
            "param_kind": ["a", "a", "a"],
            "param_rate": [0.1234567, 0.1234568, 0.5],
            "params": "{}",
            "split0_test_score": [0.5, 0.6, 0.7],
            "split1_test_score": [0.5, 0.6, None],
            "mean_test_score": [0.5, 0.6, 0.7],
        }
    )
    table.to_csv(tmp_path / "cv.csv", index=False)
    with pytest.warns(UserWarning, match="1 of 3 settings failed"):
        frame = readers.read(tmp_path / "cv.csv")
    names = [
        "depth=1, rate=0.1234567",
        "depth=1, rate=0.1234568",
        "depth=None, rate=0.5",
    ]
    assert frame["algorithm"].tolist() == names * 2
    assert frame["fold"].tolist() == [0, 0, 0, 1, 1, 1]
    assert np.isneginf(frame["test_score"]).tolist() == [False] * 5 + [True]


@pytest.mark.slow
def test_one_study_says_what_random_search_finds(tmp_path, monkeypatch, capsys):
    studies(tmp_path, {"svm": "RandomSampler"}, n_trials=30)
    monkeypatch.chdir(tmp_path)
    assert main(["studies.db"]) == 0
    out = capsys.readouterr().out
    values = readers.read("studies.db")["value"].sort_values().to_numpy()
    # The median of the best of 10: the smallest value that a share of 2^(-1/10) of the 30 trials does not exceed.
    best = values[int(np.ceil(30 * 2 ** (-1 / 10))) - 1]
    assert re.search(rf"The best score of 10 trials of \S+ has a median of {best:.2f}[^(]* \(at least ", out)
    assert "Left out" not in out


@pytest.mark.slow
def test_trials_that_failed_are_refused_with_the_command_that_fills_them(tmp_path, monkeypatch, capsys):
    optuna = pytest.importorskip("optuna")

    def objective(trial):
        if trial.number % 5 == 0:
            raise ValueError
        return trial.suggest_float("x", 0, 1)

    for name in ("a", "b"):
        sampler = optuna.samplers.RandomSampler(seed=0)
        study = optuna.create_study(storage=f"sqlite:///{tmp_path / 's.db'}", study_name=name, sampler=sampler)
        study.optimize(objective, 20, catch=ValueError)
    monkeypatch.chdir(tmp_path)
    assert main(["s.db"]) == 2
    command = capsys.readouterr().err.strip().partition("Type: ")[2]
    assert command == "python -m xcurves s.db --fill-failed worst --lower-is-better"
    assert main(command.split()[3:]) == 0
    assert "8 of 40 runs failed and count as the worst score of their task." in capsys.readouterr().out


@pytest.mark.slow
def test_a_table_of_trials_says_what_it_leaves_out(tmp_path):
    table = studies(tmp_path, {"svm": "RandomSampler"}).drop(columns="study")
    table.loc[3, "state"] = "FAIL"
    table.loc[4, "state"] = "PRUNED"
    table.to_csv(tmp_path / "svm.csv", index=False)
    with pytest.warns(UserWarning) as warned:
        frame = readers.read(tmp_path / "svm.csv")
    assert [str(each.message).partition(".")[0] for each in warned] == [
        "trials without a result are left out: 1 fail, 1 pruned",
    ]
    assert set(frame["algorithm"]) == {"svm"}
    assert len(frame) == 8
    assert frame.attrs["n_pruned"] == 1
    table.assign(state="FAIL").to_csv(tmp_path / "svm.csv", index=False)
    with refused("path", cure="Run the study on", names=r"no trial is complete; got FAIL\. Run the study on"):
        readers.read(tmp_path / "svm.csv")


def test_evaluations_keep_tasks_flows_and_folds(tmp_path):
    openml_folds(tmp_path)
    scores = readers.read(tmp_path / "evaluations.csv").curves.to_dataarray(
        "predictive_accuracy", training=None, extra="task"
    )
    assert dict(scores.sizes) == {"task": 8, "algorithm": 2, "run": 10}
    row = evaluations().query("task_id == 3 and flow_id == 101").iloc[0]
    found = scores.sel(task=TASKS[3], algorithm=row["flow_name"])
    np.testing.assert_allclose(found, row["value"] + drawn(10))


def test_evaluations_of_several_measures_are_columns_and_repeated_ones_are_refused(
    tmp_path,
):
    frame = evaluations()
    both = pd.concat([frame, frame.assign(function="kappa", value=frame["value"] / 2)])
    both.to_csv(tmp_path / "e.csv", index=False)
    read = readers.read(tmp_path / "e.csv")
    np.testing.assert_allclose(read["kappa"], read["predictive_accuracy"] / 2)
    assert len(read) == 16
    pd.concat([frame, frame]).to_csv(tmp_path / "e.csv", index=False)
    with refused("path", cure=give(source="table")):
        readers.read(tmp_path / "e.csv")


@pytest.mark.parametrize("names", [["nb", "accuracy"], ["mean", "std"], ["x_min", "x_max"]])
def test_columns_that_bear_the_name_of_a_metric_are_no_algorithms(names, tmp_path, monkeypatch, capsys):
    pd.DataFrame(drawn(6, 2), columns=names).to_csv(tmp_path / "a.csv", index=False)
    monkeypatch.chdir(tmp_path)
    assert main(["a.csv"]) == 2
    assert "columns are the algorithms" not in capsys.readouterr().out


@pytest.mark.slow
def test_settings_of_one_search_are_compared_only_if_its_sampler_is_known(tmp_path, capsys):
    """Pruned trials say nothing of the best of k, and a sampler may have chosen trials by those before."""
    path = tmp_path / "trials.csv"
    rows = [
        f"{n},{0.9 - 0.1 * (n % 2) + n / 1000},2026-01-01 0{n}:00:00,{'rf' if n % 2 else 'svm'},0.{n},COMPLETE"
        for n in range(10)
    ]
    head = "number,value,datetime_start,params_clf,params_lr,state"
    path.write_text("\n".join([head, *rows, "10,,2026-01-01 11:00:00,rf,0.5,PRUNED"]) + "\n")
    assert main([str(path)]) == 2
    out, err = capsys.readouterr()
    assert "Runs: trials of a study, independent only if its sampler is random, which no file says" in out
    assert "the others are no random sample" in err
    with pytest.warns(UserWarning, match="1 pruned"):
        frame = readers.read(path)
    with refused("algorithm", "params_clf", cure="frame.attrs['sampler'] = 'RandomSampler'"):
        frame.curves.to_dataarray(algorithm="params_clf")
    pd.read_csv(path).assign(sampler="RandomSampler").to_csv(path, index=False)
    assert main([str(path)]) == 2
    out, err = capsys.readouterr()
    assert "Runs: trials of a study, chosen by RandomSampler" in out
    assert err.splitlines()[-1].startswith(f"python -m xcurves {path} --algorithm params_clf  # 2 algorithms")
    assert main([str(path), "--algorithm", "params_clf", "--output", str(tmp_path / "a.nc")]) == 0
    assert "svm over rf" in capsys.readouterr().out


def test_the_best_setting_of_searches_of_several_seeds_counts_where_that_is_said(tmp_path):
    table = pd.DataFrame({"param_C": [1, 2], "params": "{}"}).assign(
        split0_test_score=[0.5, 0.7], split1_test_score=0.4
    )
    table["mean_test_score"] = table.filter(like="split").mean(axis=1)
    for name in ("tree_seed0", "tree_seed1", "svm_seed0", "svm_seed1"):
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    frame = readers.read(tmp_path)
    best = call("frame.curves.to_dataarray", duplicates="first")
    with refused("frame", names="has scores of 2 settings of each search on the same folds", cure=best):
        frame.curves.to_dataarray()
    best = frame.curves.to_dataarray(duplicates="first")
    assert best.sizes["run"] == 4
    assert sorted(best.sel(algorithm="svm").to_numpy().ravel()) == [0.4, 0.4, 0.7, 0.7]
    assert "sampler" not in best.attrs
    assert frame.curves.to_dataarray(run="trial_number", duplicates="mean").attrs["sampler"] == "unknown"


def test_what_chose_trials_is_what_all_studies_of_a_folder_say(tmp_path):
    table = pd.DataFrame({"number": [0, 1], "value": 0.5, "datetime_start": "2026-01-01", "state": "COMPLETE"})
    table.to_csv(tmp_path / "random.csv", index=False)
    table.assign(**{"system_attrs_NSGAIISampler:generation": 0}).to_csv(tmp_path / "evolved.csv", index=False)
    frame = labelled.read(tmp_path)
    assert frame.attrs["sampler"] == "NSGAIISampler"
    assert frame.groupby("algorithm")["run"].apply(list).to_dict() == {"random": [0, 1], "evolved": [0, 1]}
