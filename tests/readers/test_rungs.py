"""Halving searches: trials of unlike budgets are never pooled."""

import numpy as np
import pandas as pd
import pytest

from refusals import refused
from xcurves import readers

ROUNDS = {"tree": {10: [0, 1, 2, 3], 20: [1, 3], 40: [3]}, "svm": {10: [0, 1], 20: [1]}}


def halving(name):
    """Return what ``cv_results_`` of a halving search has: a score is 100 · candidate + resources."""
    rows = [
        (iteration, resources, candidate % 2, candidate)
        for iteration, (resources, left) in enumerate(ROUNDS[name].items())
        for candidate in left
    ]
    table = pd.DataFrame(rows, columns=["iter", "n_resources", "param_a", "param_b"])
    table.insert(4, "params", [{"a": a, "b": b} for _, _, a, b in rows])
    table["split0_test_score"] = 100.0 * table["param_b"] + table["n_resources"]
    table["split1_test_score"] = table["split0_test_score"] + 1
    table["mean_test_score"] = table["split0_test_score"] + 0.5
    return table


def test_a_candidate_is_one_run_on_all_rungs():
    trials = readers.sklearn.search({name: halving(name) for name in ROUNDS})
    curves = trials.curves.to_dataarray("mean_test_score", training="n_resources")
    for name, rounds in ROUNDS.items():
        for resources, left in rounds.items():
            found = curves.sel(algorithm=name, training=resources).dropna("run")
            assert found.run.values.tolist() == left
            assert found.values.tolist() == [100 * candidate + resources + 0.5 for candidate in left]


@pytest.mark.slow
def test_pooled_rungs_are_refused_and_each_cure_is_of_one_budget():
    trials = readers.sklearn.search({name: halving(name) for name in ROUNDS})
    with refused("frame", cure="frame[frame['n_resources'] ==", names="pools trials of 3 budgets") as caught:
        trials.curves.to_dataarray("mean_test_score", training=None)
    first, last, as_training = (eval(str(call), {"frame": trials}) for call in caught.value.cure.calls)
    # all on the first, those that are left on the last that both have
    assert [scores.count("run").values.tolist() for scores in (first, last)] == [[2, 4], [1, 2]]
    assert as_training.sizes["training"] == 3


@pytest.mark.parametrize("column", ["budget", "rung"])
def test_budgets_of_any_search_are_not_pooled(column):
    trials = pd.DataFrame({"algorithm": "a", "config_id": range(6), column: [1, 1, 1, 3, 3, 9]}).assign(
        loss=np.arange(6.0)
    )
    with refused("frame", names="pools trials of 3 budgets"):
        trials.curves.to_dataarray("loss", run="config_id", training=None)


def test_a_table_of_one_search_keeps_its_rungs(tmp_path):
    halving("tree").to_csv(tmp_path / "tree.csv")
    frame = readers.read(tmp_path / "tree.csv")
    assert {"iter", "n_resources"} <= set(frame)
    curves = frame.curves.to_dataarray("test_score", training="n_resources")
    assert curves.sizes == {"algorithm": 4, "run": 2, "training": 3}
    assert sorted(curves.count("training").isel(run=0).values) == [1, 1, 2, 3]


def test_a_table_of_several_searches_keeps_its_rungs(tmp_path):
    both = pd.concat([halving(name).assign(model=name) for name in ROUNDS])
    both.to_csv(tmp_path / "both.csv", index=False)
    frame = readers.read(tmp_path / "both.csv")
    curves = frame.curves.to_dataarray("test_score", training="n_resources")
    assert curves.count("run").sel(training=20).values.tolist() == [1, 2]


@pytest.mark.parametrize("read", ["file", "results"])
def test_a_parameter_may_be_the_resource(tmp_path, read):
    table = halving("tree")
    table["param_n_estimators"] = table["n_resources"]
    if read == "results":
        trials = readers.sklearn.search({"tree": table})
        assert trials.groupby("run").size().tolist() == [1, 2, 1, 3]
        return
    table.to_csv(tmp_path / "tree.csv")
    frame = readers.read(tmp_path / "tree.csv")
    assert sorted(frame.groupby("algorithm").size() / 2) == [1, 1, 2, 3]


def test_a_search_without_rungs_has_a_run_for_each_row():
    table = halving("tree").drop(columns=["iter", "n_resources"])
    trials = readers.sklearn.search({"tree": table})
    assert trials["run"].tolist() == [*range(len(table))]


@pytest.mark.slow
def test_rungs_of_the_real_package_are_kept_apart():
    pytest.importorskip("sklearn")
    from sklearn.datasets import make_classification
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import HalvingGridSearchCV
    from sklearn.tree import DecisionTreeClassifier

    x, y = make_classification(80, random_state=0)
    grid = {"max_depth": [1, 2, 3], "min_samples_leaf": [1, 4, 8]}
    search = HalvingGridSearchCV(DecisionTreeClassifier(random_state=0), grid, min_resources=8, random_state=0).fit(
        x, y
    )
    trials = readers.sklearn.search({"tree": search})
    curves = trials.curves.to_dataarray("mean_test_score", training="n_resources")
    assert curves.count("run").squeeze().values.tolist() == search.n_candidates_
    for row in range(len(trials)):
        params = search.cv_results_["params"][row]
        same = [params == each for each in search.cv_results_["params"]]
        assert trials["run"][same].nunique() == 1
