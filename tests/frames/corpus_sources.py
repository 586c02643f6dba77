"""Inputs of the corpus in formats of packages: see `corpus.py`.

Those of lm-evaluation-harness, Inspect, sacred, IOHprofiler and COCO were written by the packages themselves
(`tests/readers/write_logs.py`); the others are in the form that the tests of each reader cite.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from frames.corpus import AB, Asks, Files, Input, Read, Refuses, folders, lines, one, rows

LOGS = Path(__file__).parents[1] / "readers" / "logs"
INPUTS: dict[str, Input] = {}


def kept(folder: str, *without: str) -> Callable[[], Files]:
    """Return what copies the logs that a package wrote, but for those whose names have one of these words."""
    root = LOGS / folder

    def files() -> Files:
        return {
            f"logs/{path.relative_to(root).as_posix()}": path.read_bytes()
            for path in sorted(root.rglob("*"))
            if path.is_file() and not any(word in path.name for word in without)
        }

    return files


# --- evaluations: items are tasks, epochs are runs, the algorithm is the model ---

INPUTS["lm-eval, samples of one benchmark"] = Input(
    kept("lm_eval", "differences"),
    Read("algorithm", None, None, "acc", ("item",), False, 2, 1, 1, 6, groups="passage"),
)
INPUTS["lm-eval, samples of two benchmarks"] = Input(
    kept("lm_eval"),
    Read("algorithm", None, None, "acc", ("item",), False, 2, 1, 1, 12),
)
INPUTS["lm-eval, results alone"] = Input(
    kept("lm_eval", "samples"),
    Read("algorithm", None, None, "acc", ("task",), False, 2, 1, 1, 2),
)
EPOCHS = Read("algorithm", "run", None, "match", ("item",), False, 2, 2, 1, 6, groups="passage")
INPUTS["Inspect, .eval"] = Input(kept("inspect-ai/eval"), EPOCHS, ("--value", "match"))
INPUTS["Inspect, JSON"] = Input(kept("inspect-ai/json"), EPOCHS, ("--value", "match"))
INPUTS["Inspect, two scorers"] = Input(kept("inspect-ai/json"), Asks("the score (match or graded/form)", 2))

# --- optimizers and searches ---

INPUTS["IOHprofiler"] = Input(
    kept("ioh"),
    Read("algorithm", "run", "evaluations", "best_y", ("task",), True, 2, 4, n_tasks=2),
)
INPUTS["COCO"] = Input(
    kept("coco-experiment"),
    Read("algorithm", "run", "evaluations", "gap", ("task",), True, 2, 3, 23, 2),
)


def smac(name: str, seed: int) -> str:
    """Return a history of SMAC 2.4 of three trials, the second of which costs the least; times go on."""
    names = "config_id instance seed budget cost time cpu_time status starttime endtime"
    costs = (0.5, 0.2 + seed / 10 + (name == "swin"), 0.7)
    data = [
        dict(zip(names.split(), (at, None, seed, None, cost, 9.0 - at, 1.0, 1, 1e9, 1e9 + at), strict=True))
        for at, cost in enumerate(costs, 1)
    ]  # fmt: skip
    configs = {str(at): {"lr": at / 10} for at in range(1, 4)}
    return json.dumps({"data": data, "configs": configs})


INPUTS["SMAC"] = Input(
    lambda: folders(smac, "runhistory.json"),
    Read("algorithm", "run", "trial_number", "cost", (), True, 2, 4, 3),
)


def hpbandster() -> Files:
    """Return results of two searches of three configurations on one budget each."""
    made = {}
    for name in ("bohb", "random"):
        of_search = range(3)
        made[f"logs/{name}/configs.json"] = "".join(
            json.dumps([[0, 0, at], {"lr": at / 10}, {}]) + "\n" for at in of_search
        )
        made[f"logs/{name}/results.json"] = "".join(
            json.dumps([[0, 0, at], 9.0, {"submitted": 1.0 + at}, {"loss": 0.5 - at / 10}, None]) + "\n"
            for at in of_search
        )  # fmt: skip
    return made


INPUTS["HpBandSter"] = Input(
    hpbandster,
    Read("algorithm", None, "trial_number", "loss", (), True, 2, 1, 3),
    ("--names", "{algorithm}"),
)

# --- logs of training ---

INPUTS["sacred"] = Input(
    kept("sacred"),
    Read("algorithm", "run", "step", "return", (), False, 2, 2, 3, difference=5.0),
    ("--value", "return"),
)


def clearml(name: str, seed: int) -> str:
    """Return scalars, of which x is the step."""
    series = {"x": [10, 20, 30], "y": [0.5, 0.6, 0.7 + seed / 100 + (name == "swin")]}
    return json.dumps({"accuracy": {"val": {"name": "val", **series}}})


INPUTS["ClearML"] = Input(
    lambda: folders(clearml, "scalars.json"),
    Read("algorithm", "run", "step", "accuracy/val", (), False, 2, 4, 3, difference=-1),
)


def mmdet(name: str, seed: int) -> str:
    """Return a text log of MMDetection, of two lines of training and a validation in each of three epochs."""
    clock, said = "2026-01-02 03:04:05,678 - mmdet - INFO - ", []
    for epoch in range(1, 4):
        said += [
            f"{clock}Epoch [{epoch}][{at}/20]\tlr: 0.1, eta: 1:02:03, time: 0.3, loss: {2 / epoch + at / 100}"
            for at in (10, 20)
        ]
        score = 0.3 + epoch / 100 + seed / 1000 + 0.05 * (name == "swin")
        said.append(f"{clock}Epoch(val) [{epoch}][5]\tbbox_mAP: {score:.4f}")
    return "\n".join(said) + "\n"


INPUTS["mmdet, a validation of each epoch"] = Input(
    lambda: folders(mmdet, "20260102_030405.log"),
    Read("algorithm", "run", None, "val/bbox_mAP", (), False, 2, 4, 3, difference=-0.05),
    ("--value", "val/bbox_mAP"),
)
INPUTS["mmdet, training"] = Input(
    lambda: folders(mmdet, "20260102_030405.log"),
    Read("algorithm", "run", "step", "loss", (), True, 2, 4, 6),
    ("--value", "loss"),
)


def fairseq(name: str, seed: int) -> list[dict[str, str | int]]:
    """Return validations of three epochs."""
    return [
        {
            "epoch": epoch,
            "valid_loss": f"{8 - epoch + seed / 10 - (name == 'swin'):.3f}",
            "valid_num_updates": str(100 * epoch),
        }
        for epoch in range(1, 4)
    ]


def fairseq_text(name: str, seed: int) -> str:
    """Return them with --log-format simple."""
    clock = "2026-01-02 03:04:05 | INFO | valid | "
    return "".join(
        f"{clock}epoch {said['epoch']:03d} | valid on 'valid' subset | loss {said['valid_loss']} | "
        f"num_updates {said['valid_num_updates']}\n"
        for said in fairseq(name, seed)
    )


UPDATES = Read("algorithm", "run", "num_updates", "valid_loss", (), True, 2, 4, 3, difference=1.0)
INPUTS["fairseq, text"] = Input(lambda: folders(fairseq_text, "train.log"), UPDATES, ("--value", "valid_loss"))
INPUTS["fairseq, JSON"] = Input(
    lambda: folders(lambda *run: lines(fairseq(*run)), "train.log"),
    UPDATES,
    ("--value", "valid_loss"),
)
INPUTS["llm.c"] = Input(
    lambda: folders(
        lambda name, seed: "".join(
            f"s:{step} tel:{5 - step / 250 + seed / 10 - (name == 'swin'):.4f}\n" for step in (0, 250, 500)
        ),
        "main.log",
    ),
    Read("algorithm", "run", "step", "val_loss", (), True, 2, 4, 3, difference=1.0),
)
INPUTS["build-nanogpt"] = Input(
    lambda: folders(
        lambda name, seed: "".join(
            f"{step} val {9 - step / 250 + seed / 10 - (name == 'swin'):.4f}\n{step} train {9 - step / 250:.6f}\n"
            for step in (0, 250, 500)
        ),
        "log.txt",
    ),
    Read("algorithm", "run", "step", "val_loss", (), True, 2, 4, 3, difference=1.0),
    ("--value", "val_loss"),
)


def tables(name: str, seed: int) -> str:
    """Return log.txt of Stable-Baselines3."""
    line = "-" * 42 + "\n"
    return "".join(
        f"{line}| rollout/                |              |\n"
        f"|    ep_rew_mean          | {step / 100 + seed + 9 * (name == 'swin'):<12.5g} |\n"
        "| time/                   |              |\n"
        "|    fps                  | 812          |\n"
        f"|    total_timesteps      | {step:<12} |\n{line}"
        for step in (2048, 4096)
    )


INPUTS["log.txt of Stable-Baselines3"] = Input(
    lambda: folders(tables, "log.txt"),
    Read(
        "algorithm",
        "run",
        "time/total_timesteps",
        "rollout/ep_rew_mean",
        (),
        False,
        2,
        4,
        2,
        difference=-9.0,
    ),
    ("--value", "rollout/ep_rew_mean"),
)


def keras_tuner(name: str, seed: int) -> str:
    """Return a trial of KerasTuner, with metrics of three steps."""
    losses = [2.0, 1.0, 0.5 + seed / 10 - (name == "swin") / 4]
    observations = [{"value": [loss], "step": step} for step, loss in enumerate(losses)]
    history = {"val_loss": {"direction": "min", "observations": observations}}
    return json.dumps({"trial_id": "00", "hyperparameters": {}, "metrics": {"metrics": history}, "score": losses[-1]})


INPUTS["KerasTuner"] = Input(
    lambda: folders(keras_tuner, "trial.json"),
    Read("algorithm", "run", "step", "val_loss", (), True, 2, 4, 3, difference=0.25),
)


def yolo(name: str, seed: int, total: str = "") -> str:
    """Return what YOLOv5 prints of three epochs, the bar of the first drawn twice."""
    head = "      Epoch    GPU_mem   box_loss   obj_loss   cls_loss  Instances       Size\n"
    epochs = []
    for epoch in range(3):
        loss = 0.08 - epoch / 100 + seed / 1000 - 0.005 * (name == "swin")
        said = f"{epoch:9d}/2      2.13G {loss:10.5f}    0.0541    0.0183{total}        64        640: "
        part = f"{said.replace(f'{loss:10.5f}', '   0.99999')} 50%|#####     | 4/8\r" if epoch == 0 else ""
        epochs.append(f"{head}{part}{said}100%|##########| 8/8 [00:03<00:00,  2.5it/s]\n")
    return "".join(epochs)


EPOCHS_OF_YOLO = Read("algorithm", "run", "epoch", "box_loss", (), True, 2, 4, 3, difference=0.005)
INPUTS["YOLOv5"] = Input(lambda: folders(yolo, "train.log"), EPOCHS_OF_YOLO, ("--value", "box_loss"))
INPUTS["YOLOv5, with a total"] = Input(
    lambda: folders(lambda name, seed: yolo(name, seed, "    0.1480"), "train.log"),
    EPOCHS_OF_YOLO,
    ("--value", "box_loss"),
)


def catboost(name: str, seed: int) -> str:
    """Return what CatBoost prints, with times of several units."""
    times = ("300ms", "30.3s", "1m 0s")
    return "".join(
        f"{step}:\tlearn: {0.6 - step / 500 + seed / 100:.7f}\ttest: {0.7 - step / 500 + seed / 100:.7f}"
        f"\ttotal: {time}\tremaining: 4m 59s\n"
        for step, time in zip((0, 100, 200), times, strict=True)
    )


INPUTS["CatBoost, times are no scores"] = Input(
    lambda: folders(catboost, "train.log"),
    Asks("the score (learn or test)", 2, {"--value test": Read("algorithm", "run", "iteration", "test", runs=4)}),
)

# --- sources with a layout of their own ---

GAINS = {"ada": 3.0, "bob": 1.0}


def of_runs(write: Callable[[str, int, list[float]], Files]) -> Callable[[], Files]:
    """Return the files of two runs of two algorithms, of which ada's scores are higher by 2 at each of three steps."""

    def files() -> Files:
        made: dict[str, str | bytes] = {}
        for name, gain in GAINS.items():
            for seed in (0, 1):
                scores = [round(gain + seed / 10 + step, 2) for step in range(3)]
                made |= write(name, seed, scores)  # type: ignore[arg-type]
        return made

    return files


def mlruns(name: str, seed: int, scores: list[float], *, steps: bool = True) -> Files:
    """Return a run of MLflow's file store; without steps every value is logged at step 0."""
    run = f"{name}{seed}"
    times = [1700000000000 + 1000 * at + seed for at in range(len(scores))]
    rows = [
        f"{time} {score} {at if steps else 0}\n" for at, (time, score) in enumerate(zip(times, scores, strict=True))
    ]
    active = "lifecycle_stage: active\n"
    return {
        "mlruns/1/meta.yaml": f"experiment_id: '1'\nname: tests\n{active}",
        f"mlruns/1/{run}/meta.yaml": f"run_id: {run}\nrun_name: {run}\n{active}start_time: {times[0]}\n",
        f"mlruns/1/{run}/metrics/reward": "".join(rows),
        f"mlruns/1/{run}/params/algo": name,
        f"mlruns/1/{run}/params/seed": str(seed),
    }


INPUTS["MLflow's files"] = Input(
    of_runs(mlruns), Read("params.algo", "run", "step", "value", (), False, 2, 4, 3, difference=2.0)
)
INPUTS["MLflow's files, every step 0"] = Input(
    of_runs(lambda *run: mlruns(*run, steps=False)),
    Read("params.algo", "run", "order of timestamp", "value", (), False, 2, 4, 3, says="training is the order of"),
)


def ray(name: str, seed: int, scores: list[float]) -> Files:
    """Return a trial of Ray Tune."""
    trial = f"logs/{name}_Hopper_0000{seed}"
    rows = [f"{score},{1000 * at},{at},{name}_{seed}\n" for at, score in enumerate(scores, 1)]
    return {
        f"{trial}/params.json": json.dumps({"env": "Hopper", "lr": 0.1, "seed": seed}),
        f"{trial}/progress.csv": "episode_reward_mean,timesteps_total,training_iteration,trial_id\n" + "".join(rows),
    }


INPUTS["Ray Tune"] = Input(
    of_runs(ray), Read("algorithm", "run", None, "episode_reward_mean", None, False, 2, None, 3, difference=2.0)
)


def job(name: str, seed: int, scores: list[float]) -> Files:
    """Return a job of a multirun of Hydra."""
    folder = f"multirun/2026-01-01/10-00-00/{list(GAINS).index(name) * 2 + seed}"
    rows = [f"{at},{score}\n" for at, score in enumerate(scores)]
    return {
        f"{folder}/.hydra/overrides.yaml": f"- algo={name}\n- seed={seed}\n",
        f"{folder}/.hydra/config.yaml": f"algo: {name}\nseed: {seed}\n",
        f"{folder}/log.csv": "step,reward\n" + "".join(rows),
    }


INPUTS["Hydra, a multirun"] = Input(
    of_runs(job), Read(None, None, "step", "reward", (), False, 2, 2, 3, difference=2.0)
)


def chart(marks: str) -> str:
    """Return the chart of a metric that Weights & Biases exports, with the least and the most of each group."""
    names = [f"{name}{marks}{seed}" for name in GAINS for seed in (0, 1)]
    head = ['"Step"']
    cells = []
    for name in names:
        head += [f'"{name} - reward"', f'"{name} - reward__MIN"', f'"{name} - reward__MAX"']
        cells.append(GAINS[name[:3]] + int(name[-1]) / 10)
    rows = [
        ",".join([str(step), *(str(round(cell + step, 2)) for cell in cells for _ in range(3))]) for step in range(3)
    ]
    return "\n".join([",".join(head), *rows]) + "\n"


CHART = Read("algorithm", "run", "Step", "reward", (), False, 2, 2, 3, difference=2.0)
INPUTS["Weights & Biases, a chart"] = Input(
    lambda: {"chart.csv": chart("-seed")}, CHART, ("--names", "{algorithm}-seed{run}")
)
INPUTS["Weights & Biases, a chart whose names say seed"] = Input(lambda: {"chart.csv": chart("-seed")}, CHART)
INPUTS["Weights & Biases, a chart whose names are not said"] = Input(
    lambda: {"chart.csv": chart("/lr")}, Refuses("'ada/lr0'")
)
INPUTS["Weights & Biases, two charts"] = Input(
    lambda: {"logs/a.csv": chart("-"), "logs/b.csv": chart("-")}, Refuses("2 files, such as 'a.csv'")
)


def boosted(measures: dict[str, tuple[str, ...]]) -> Files:
    """Return what `evals_result` of a package of boosted trees has of each run, as JSON."""
    rng = np.random.default_rng(0)
    return {
        f"logs/{name}/{seed}/evals_result.json": json.dumps(
            {data: {measure: rng.random(4).round(4).tolist() for measure in each} for data, each in measures.items()}
        )
        for name in AB
        for seed in "012"
    }


INPUTS["LightGBM, evaluations of two measures"] = Input(
    lambda: boosted({"valid_0": ("binary_logloss", "auc")}),
    Read("algorithm", "run", "step", "valid_0/auc", (), False, 2, 3, 4),
)
INPUTS["XGBoost, evaluations of two data"] = Input(
    lambda: boosted({"train": ("logloss",), "valid": ("logloss",)}),
    Read("algorithm", "run", "step", "valid/logloss", (), True, 2, 3, 4),
)

# --- tables and files that further packages leave ---


def automl() -> pd.DataFrame:
    """Return the results of the AutoML benchmark, whose column `metric` says what `result` is."""
    frame = rows(task=["adult", "kc1"], framework=AB, fold=range(5), value="result")
    acc = np.random.default_rng(1).random(len(frame)).round(3)
    return frame.assign(metric="neg_logloss", mode="local", duration=range(20), seed=range(900, 920), acc=acc)


INPUTS["results of the AutoML benchmark"] = Input(
    one(automl), Read("framework", "fold", None, "result", ("task",), False, 2, 5, n_tasks=2, matched=True)
)
OF_TASKS = Read("framework", "fold", None, "result", ("task",), False, 2, 5, n_tasks=2, matched=True)
for FIRST, SECOND in (("auc", "neg_logloss"), ("rmse", "mae")):
    INPUTS[f"results of a metric of each task, {FIRST} and {SECOND}"] = Input(
        one(lambda named=(FIRST, SECOND): automl().assign(metric=lambda each: np.repeat(named, len(each) // 2))),
        replace(OF_TASKS, lower=SECOND == "mae"),
    )
INPUTS["results of metrics of which one is a loss"] = Input(
    one(lambda: automl().assign(metric=lambda each: np.repeat(["auc", "rmse"], len(each) // 2))),
    Asks("has 2 metrics", 2, {"--select metric=rmse": replace(OF_TASKS, lower=True, tasks=(), n_tasks=1)}),
)
INPUTS["results of two metrics"] = Input(
    one(lambda: pd.concat([automl(), automl().assign(metric="rmse")])),
    Asks("has 2 metrics", 2, {"--select metric=rmse": replace(OF_TASKS, lower=True)}),
)


def of_hyperfine() -> Files:
    """Return what hyperfine 1.15 exports of two commands, each run six times."""
    times = {"./old": [0.5, 0.51, 0.49, 0.52, 0.5, 0.48], "./new": [0.4, 0.41, 0.42, 0.39, 0.43, 0.38]}
    results = [
        {"command": name, "mean": float(np.mean(each)), "stddev": 0.01, "median": 0.5, "user": 0.1, "system": 0.1}
        | {"min": min(each), "max": max(each), "times": each, "exit_codes": [0] * len(each)}
        for name, each in times.items()
    ]
    return {"times.json": json.dumps({"results": results}, indent=2)}


INPUTS["hyperfine"] = Input(of_hyperfine, Read("command", "run", None, "time", (), True, 2, 6, 1))
INPUTS["hyperfine, a command that failed"] = Input(
    lambda: {"times.json": of_hyperfine()["times.json"].replace("0,", "1,", 1)},
    Read("command", "run", None, "time", (), True, 2, 6, 1),
)


def served(name: str, seed: int) -> str:
    """Return what a benchmark of a server writes, one object a run."""
    found = {"backend": name, "num_prompts": 100, "duration": 9.5 + seed, "output_throughput": 900.5 + seed}
    return json.dumps(found | {"mean_ttft_ms": 50.25 - seed})


INPUTS["a file of JSON of each run, throughput and latency"] = Input(
    lambda: {f"logs/{name}-run{seed}.json": served(name, seed) for name in AB for seed in range(3)},
    Asks(
        "the score (duration or output_throughput or mean_ttft_ms)",
        3,
        {
            "--value output_throughput": Read("algorithm", "run", runs=3),
            "--value duration": Read("algorithm", "run", lower=True, runs=3),
        },
    ),
)
INPUTS["counts beside shares, as Weka has them"] = Input(
    one(
        lambda: rows(Key_Scheme=AB, Key_Run=range(6), value="Percent_correct").assign(
            Number_correct=lambda each: each.Percent_correct * 2,
            Percent_incorrect=lambda each: 5 - each.Percent_correct,
        )[["Key_Scheme", "Key_Run", "Number_correct", "Percent_correct", "Percent_incorrect"]]
    ),
    Read("Key_Scheme", "Key_Run", None, "Percent_correct", (), False, 2, 6, 1),
)
INPUTS["accuracies called top1, as timm has them"] = Input(
    one(
        lambda: rows(model=AB, seed=range(3), epoch=range(3), value="eval_loss").assign(
            eval_loss=lambda each: each.eval_loss + 9, eval_top1=lambda each: 70 + each.eval_loss, eval_top5=80.5
        )
    ),
    Read("model", "seed", "epoch", "eval_top1", (), False, 2, 3, 3),
)
INPUTS["names with parentheses, as YOLO has them"] = Input(
    lambda: {
        f"logs/{name}_seed{seed}/results.csv": "            epoch,       metrics/mAP50(B),    metrics/mAP50-95(B)\n"
        + "".join(f"{epoch:>23},{0.3 + epoch / 9:>23.5f},{0.2 + epoch / 9:>23.5f}\n" for epoch in range(3))
        for name in AB
        for seed in range(3)
    },
    Read("algorithm", "run", "epoch", "metrics/mAP50(B)", (), False, 2, 3, 3),
)
