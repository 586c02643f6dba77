"""Logs as they lie about: each form is answered by one command, and its scores are those that were written."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from xcurves import readers
from xcurves.__main__ import main

ALGORITHMS, RUNS, STEPS = ("slow", "fast"), range(4), (10, 20, 30)
RNG = np.random.default_rng(0)
# fast is better by 5 of a spread of .1: every form must say so.
SCORES = {
    (algorithm, run, step): round(float(5 * place + step / 10 + RNG.normal(0, 0.1)), 4)
    for place, algorithm in enumerate(ALGORITHMS)
    for run in RUNS
    for step in STEPS
}


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())


def each_run(root, name, rows_to_text, place="{algorithm}/{run}"):
    """Write a file for each run; `rows_to_text` makes it of (step, score)."""
    for algorithm in ALGORITHMS:
        for run in RUNS:
            rows = [(step, SCORES[algorithm, run, step]) for step in STEPS]
            home = place.format(algorithm=algorithm, run=run)
            write(
                root / home / name.format(algorithm=algorithm, run=run),
                rows_to_text(rows),
            )


def lines(form, before=""):
    return lambda rows: before + "".join(form.format(step=step, y=y) + "\n" for step, y in rows)


def json_lines(**names):
    key, score = names["step"], names["score"]

    def text(rows):
        return "".join(json.dumps({key: step, score: y, "time": {"total": step * 2.5}}) + "\n" for step, y in rows)

    return text


def frame(**columns):
    made = pd.DataFrame(
        [(*key, y) for key, y in SCORES.items()],
        columns=["algo", "seed", "step", "accuracy"],
    )
    return made.rename(columns=columns)


def dreamer(root):
    each_run(root, "metrics.jsonl", json_lines(step="step", score="episode/score"))


def mmengine(root):
    text = json_lines(step="step", score="accuracy/top1")
    each_run(root, "scalars.json", text, "{algorithm}/{run}/20260101_101010/vis_data")


def detectron2(root):
    each_run(root, "metrics.json", json_lines(step="iteration", score="bbox/accuracy"))


def lightning_json(root):
    each_run(root, "log.jsonl", json_lines(step="step", score="val_accuracy"))


def spinningup(root):
    head = "Epoch\tAverageEpRet\tStdEpRet\tTotalEnvInteracts\tTime\n"
    each_run(
        root,
        "progress.txt",
        lines("{step}\t{y}\t0.5\t{step}000\t1.5", head),
        "{algorithm}/{algorithm}_s{run}",
    )


def catboost(root):
    each_run(
        root,
        "test_error.tsv",
        lines("{step}\t{y}", "iter\tAccuracy\n"),
        "{algorithm}/{run}/catboost_info",
    )


def dawnbench(root):
    head = "\ufeffepoch\thours\ttop1Accuracy\n"
    each_run(root, "log.tsv", lines("{step}\t0.{step}\t{y}", head))


def xgboost_json(root):
    def text(rows):
        return json.dumps(
            {
                "validation_0": {"auc": [y for _, y in rows]},
                "validation_1": {"auc": [y for _, y in rows]},
            }
        )

    each_run(root, "evals_result.json", text)


def xgboost_text(root):
    each_run(root, "out.log", lines("[{step}]\tvalidation_0-auc:{y}"))


def lightgbm_text(root):
    each_run(
        root,
        "out.log",
        lines("[{step}]\tvalid_0's auc: {y}", "[LightGBM] [Info] Total Bins 3\n"),
    )


def nanogpt(root):
    head = "number of parameters: 10.65M\n"
    each_run(
        root,
        "{algorithm}_seed{run}.log",
        lines("step {step}: train score 1.5, val score {y}", head),
        ".",
    )


def fairseq(root):
    clock = "2026-01-02 03:04:05 | INFO | valid | epoch 001 | valid on 'valid' subset | "
    each_run(root, "train.log", lines(clock + "accuracy {y} | num_updates {step}"))


def mmdet(root):
    clock = "2026-01-02 03:04:05,123 - mmdet - INFO - "
    each_run(
        root,
        "20260102_030405.log",
        lines(
            f"{clock}Epoch [{{step}}][10/10]\tlr: 0.1, eta: 0:00:10, time: 0.2\n"
            f"{clock}Epoch(val) [{{step}}][7]\taccuracy: {{y}}"
        ),
    )


def llmc(root):
    each_run(root, "main.log", lines("s:{step} eval:{y}"))


def build_nanogpt(root):
    each_run(root, "log.txt", lines("{step} hella {y}"))


def keras_stdout(root):
    bar = "Epoch {step}/30\n1/2 ━━━━ 0s 5ms/step - accuracy: 0.1\b\b\b\r2/2 ━━━━ 1s 5ms/step - accuracy: {y}"
    each_run(root, "stdout.txt", lines(bar))


def huggingface_dicts(root):
    each_run(
        root,
        "train.out",
        lines("{{'eval_accuracy': {y}, 'eval_runtime': 2.5, 'epoch': {step}.0}}"),
    )


def records(root):
    write(root / "results.json", frame().to_json(orient="records"))


def records_by_line(root):
    write(root / "results.jsonl", frame().to_json(orient="records", lines=True))


def parquet(root):
    pytest.importorskip("pyarrow")
    frame().to_parquet(root / "results.parquet")


def npz(root):
    made = frame()
    np.savez(
        root / "results.npz",
        **{name: made[name].to_numpy(str if name == "algo" else None) for name in made},
    )


def d3rlpy(root):
    each_run(root, "params.json", lambda _: '{"gamma": 0.99}')
    each_run(root, "environment_score.csv", lines("1,{step},{y}"))
    each_run(root, "time_step.csv", lines("1,{step},0.5"))


def torchrl(root):
    each_run(root, "eval_reward.csv", lines("{step},{y}"), "{algorithm}/{run}/scalars")
    each_run(root, "lr.csv", lines("{step},0.001"), "{algorithm}/{run}/scalars")


def semicolons(root):
    write(root / "results.csv", frame().to_csv(index=False, sep=";", decimal=","))


def thousands(root):
    made = frame()
    made["step"] = made["step"].map(lambda step: f"{step * 1000:,}")
    write(root / "results.csv", made.to_csv(index=False, sep="\t"))


def padded(root):
    text = frame().to_csv(index=False)
    write(
        root / "results.csv",
        "\n".join(" , ".join(line.split(",")) for line in text.splitlines()) + "\n",
    )


def wide_folds(root):
    made = frame().query("step == 30").pivot_table(index="seed", columns="algo", values="accuracy").reset_index()
    write(root / "results.csv", made.rename(columns={"seed": "fold"}).to_csv(index=False))


def scores_alone(root):
    write(
        root / "results.csv",
        frame(seed="fold").query("step == 30").drop(columns="step").to_csv(index=False),
    )


def configurations(root):
    made = json_lines(step="step", score="accuracy")
    for place, (algorithm, run) in enumerate((algorithm, run) for algorithm in ALGORITHMS for run in RUNS):
        home = root / f"2026-01-01_{place:02}x"
        write(
            home / "log.jsonl",
            made([(step, SCORES[algorithm, run, step]) for step in STEPS]),
        )
        write(
            home / "config.json",
            json.dumps({"method": algorithm, "seed": run, "output_dir": str(home)}),
        )


FORMS = [
    *(
        dreamer,
        mmengine,
        detectron2,
        lightning_json,
        spinningup,
        catboost,
        dawnbench,
        xgboost_json,
        xgboost_text,
    ),
    *(
        lightgbm_text,
        nanogpt,
        keras_stdout,
        huggingface_dicts,
        records,
        records_by_line,
        parquet,
        npz,
        d3rlpy,
    ),
    *(fairseq, mmdet, llmc, build_nanogpt),
    *(torchrl, semicolons, thousands, padded, wide_folds, scores_alone, configurations),
]


@pytest.mark.plain(5)
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_scores_are_read(form, tmp_path):
    form(tmp_path)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    curves = readers.read(files[0] if len(files) == 1 else tmp_path).curves.to_dataarray()
    assert curves["algorithm"].values.tolist() == ["fast", "slow"]
    found = curves.sel(algorithm="fast").mean([dim for dim in curves.dims if dim not in ("algorithm", "training")])
    means = [np.mean([SCORES["fast", run, step] for run in RUNS]) for step in STEPS]
    n_levels = 1 if form in (wide_folds, scores_alone) else len(STEPS)  # those two have the last scores alone
    np.testing.assert_allclose(found, means[-n_levels:])


@pytest.mark.plain(2)
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_one_command_answers(form, tmp_path, monkeypatch, capsys):
    logs = tmp_path / "logs"
    logs.mkdir()
    form(logs)
    monkeypatch.chdir(tmp_path)
    files = [path for path in logs.rglob("*") if path.is_file()]
    path = files[0] if len(files) == 1 else Path("logs")
    status = main([str(path), "--n-resamples", "99"])
    out, err = capsys.readouterr()
    assert status == 0, err
    assert "\nfast over slow " in out
    levels = [np.mean([SCORES["fast", run, step] for run in RUNS]) for step in STEPS]
    assert any(f"{value:.{digits}f}" in out for value in (np.mean(levels), levels[-1]) for digits in (1, 2, 3)), out


LOGS = Path(__file__).parent / "logs"
OF_PACKAGES = {  # what packages wrote: the source that it is recognised as
    "stable-baselines3": "evaluations",
    "stable-baselines3/ppo/0/evaluations.npz": "evaluations",
    "lightning": "lightning",
    "lightning/fast/0/metrics.csv": "lightning",
    "transformers": "huggingface",
    "transformers/fast/0/checkpoint-8/trainer_state.json": "huggingface",
    "ray": "rllib",
    "keras": "keras",
    "id-marl-eval": "marl-eval",
    "id-marl-eval/metrics.json": "marl-eval",
}
TO_CURVES = {
    "monitor": (
        "stable-baselines3",
        {
            "value": "return",
            "training": "step",
            "on": np.arange(100, 501, 100),
            "method": "mean",
            "tolerance": 100,
        },
    ),
    "evaluations": (
        "stable-baselines3",
        {"value": "return", "training": "step", "duplicates": "mean"},
    ),
    "lightning": ("lightning", {"value": "val_loss", "training": "step"}),
    "huggingface": ("transformers", {"value": "eval_loss", "training": "step"}),
    "keras": ("keras", {"value": "val_loss", "training": "epoch"}),
    "rllib": (
        "ray",
        {
            "value": "episode_reward_mean",
            "algorithm": "config/lr",
            "run": "config/seed",
            "training": "step",
        },
    ),
    "marl-eval": (
        "id-marl-eval",
        {"value": "return", "training": "step", "extra": ["env", "task"]},
    ),
}


@pytest.mark.plain(4)
@pytest.mark.parametrize(("path", "source"), OF_PACKAGES.items())
@pytest.mark.filterwarnings("ignore:.* holds monitor too")
def test_logs_of_packages_are_recognised_and_read_as_by_their_own_reader(path, source):
    assert readers.recognize(LOGS / path).name == source
    found = readers.read(LOGS / path)
    assert found.equals(readers.read(LOGS / path, source=source))
    assert found.attrs["source"]


@pytest.mark.plain(2)
@pytest.mark.parametrize("source", TO_CURVES)
def test_logs_of_packages_are_curves_that_can_be_compared(source):
    folder, options = TO_CURVES[source]
    curves = readers.read(LOGS / folder, source=source).curves.to_dataarray(**options)
    result = curves.curves.randomized_anova(n_resamples=19, confidence_level=0.5, rng=0)
    assert (result["n_levels"] > 1).all()
    assert result["f"].notnull().any()


@pytest.mark.slow
def test_several_columns_of_the_algorithm_and_wide_columns_are_options(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame().assign(lr=0.01).to_csv("long.csv", index=False)
    for given in (
        ["long.csv", "--algorithm", "algo", "lr"],
        ["--algorithm", "algo", "lr", "long.csv"],
    ):
        assert main([*given, "--n-resamples", "99"]) == 0
        assert "\nalgo=fast, lr=0.01 over algo=slow, lr=0.01 " in capsys.readouterr().out
    wide = frame().pivot_table(index="step", columns=["algo", "seed"], values="accuracy")
    wide.columns = [f"{algorithm}_seed{run}" for algorithm, run in wide.columns]
    wide.reset_index().to_csv("wide.csv", index=False)
    assert main(["wide.csv", "--columns", "{algorithm}_seed{run}", "--n-resamples", "99"]) == 0
    assert "\nfast over slow " in capsys.readouterr().out
    assert main(["long.csv", "--algorithm", "algo", "rl"]) == 2
    assert "--algorithm rl is no column of long.csv" in capsys.readouterr().err
