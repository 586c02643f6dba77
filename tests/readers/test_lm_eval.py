"""Results and samples that lm-evaluation-harness wrote: models on benchmarks, and on their items."""

import json
import shutil
from pathlib import Path

import pytest

from refusals import refused
from xcurves import readers
from xcurves.__main__ import main

LOGS = Path(__file__).parent / "logs" / "lm_eval"
GROUPS = "ignore:1 groups of benchmarks:UserWarning"


def results():
    """Return what the files of results say, by model."""
    said = [json.loads(path.read_text()) for path in LOGS.rglob("results_*.json")]
    return {each["model_name"]: each["results"] for each in said}


@pytest.fixture
def logs(tmp_path):
    return Path(shutil.copytree(LOGS, tmp_path / "logs"))


def change(path, changed):
    said = json.loads(path.read_text())
    changed(said)
    path.write_text(json.dumps(said))


def test_results_are_models_on_benchmarks():
    with pytest.warns(UserWarning, match=r"are left out: arithmetic of 2$"):
        frame = readers.read(LOGS, source="lm-eval")
    own = results()
    assert set(own) == {"org/small", "org/large"}
    assert len(frame) == 4
    for row in frame.itertuples():
        said = own[row.algorithm][row.task]
        assert (row.acc, row.acc_stderr) == (said["acc,none"], said["acc_stderr,none"])
    assert set(frame["n_items"]) == {6}
    assert frame.attrs["higher_is_better"] == 1


def test_samples_are_items_of_models_whose_means_are_the_results():
    frame = readers.read(LOGS)
    assert frame.attrs["source"] == "samples of lm-evaluation-harness below lm_eval"
    means = frame.groupby(["algorithm", "benchmark"])["acc"].mean()
    for (model, benchmark), mean in means.items():
        assert mean == pytest.approx(results()[model][benchmark]["acc,none"])
    assert len(frame) == 24
    # The items of two benchmarks have the same numbers.
    assert frame["item"].nunique() == 12
    by_passage = frame.groupby("item")["passage"].nunique()
    assert (by_passage == 1).all()
    assert set(frame["passage"]) == {"one", "two", "three"}


def test_one_benchmark_has_its_items_by_number(logs):
    for path in logs.rglob("samples_differences*"):
        path.unlink()
    assert set(readers.read(logs)["item"]) == set(range(6))


@pytest.mark.slow
def test_one_command_answers(logs, monkeypatch, capsys):
    monkeypatch.chdir(logs.parent)
    assert main(["logs", "--n-resamples", "99"]) == 0
    out = capsys.readouterr().out
    assert "task = item" in out
    assert "score = acc" in out
    assert "over 12 items" in out


def test_a_model_with_other_settings_is_another_algorithm(logs):
    def fewshot(said):
        said["model_name"] = "org/small"
        said["n-shot"] = dict.fromkeys(said["n-shot"], 5)

    (large,) = logs.rglob("org__large/results*")
    change(large, fewshot)
    frame = readers.read(logs)
    assert set(frame["algorithm"]) == {"org/small, n-shot=0", "org/small, n-shot=5"}
    assert "run" not in frame


@pytest.mark.filterwarnings(GROUPS)
def test_an_evaluation_that_was_made_twice_has_runs(logs):
    (large,) = logs.rglob("org__large/results*")
    change(large, lambda said: said.update(model_name="org/small"))
    for source in ("lm-eval", "lm-eval-samples"):
        frame = readers.read(logs, source=source)
        assert set(frame["algorithm"]) == {"org/small"}
        assert frame["run"].nunique() == 2


def test_an_evaluation_without_samples_is_named(logs):
    for path in logs.rglob("org__large/samples*"):
        path.unlink()
    with pytest.warns(
        UserWarning,
        match=r"1 of 2 evaluations .*no samples.* results_.*source='lm-eval'$",
    ):
        frame = readers.read(logs)
    assert set(frame["algorithm"]) == {"org/small"}


def test_measures_of_filters_are_columns_and_those_of_wholes_are_named(tmp_path):
    rows = [
        {"doc_id": 0, "doc": {}, "target": "1", "filter": "strict-match", "metrics": ["exact_match", "bleu"]},
        {"doc_id": 0, "doc": {}, "target": "1", "filter": "flexible-extract", "metrics": ["exact_match", "bleu"]},
    ]  # fmt: skip
    found = {"exact_match": 0.0, "bleu": ["1", "2"]}, {"exact_match": 1.0, "bleu": ["1", "1"]}  # fmt: skip
    path = tmp_path / "small" / "samples_gsm8k_2026-01-02T03-04-05.678901.jsonl"
    path.parent.mkdir()
    lines = [json.dumps(row | more) for row, more in zip(rows, found, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    with pytest.warns(UserWarning, match=r"are left out: bleu$"):
        frame = readers.read(tmp_path)
    assert frame[["algorithm", "benchmark", "item"]].to_numpy().tolist() == [["small", "gsm8k", 0]]
    assert frame["exact_match,strict-match"].tolist() == [0.0]
    assert frame["exact_match,flexible-extract"].tolist() == [1.0]
    path.write_text("\n".join([*lines, lines[0]]) + "\n")
    with refused("path", cure="Remove one of them", names=r"line 3 has 'exact_match' of doc_id 0 again"):
        readers.read(tmp_path)


def test_lines_of_older_versions_have_measures_without_a_list(tmp_path):
    path = tmp_path / "org__old" / "samples_nq_2026-01-02T03-04-05.jsonl"
    path.parent.mkdir()
    path.write_text('{"doc_id": 3, "doc": {"context": "x"}, "target": 1, "acc": 1.0}\n')
    frame = readers.read(tmp_path)
    assert frame.drop(columns="benchmark").to_dict("records") == [
        {"algorithm": "org/old", "item": 3, "context": "x", "acc": 1.0}
    ]
