"""Write the logs in tests/readers/logs by the packages themselves, which are too heavy to install for the tests.

`python tests/readers/write_logs.py NAME...` in an environment that has the package; `writers.json` beside the logs
notes the versions. With `--into FOLDER` they are written there. Runs take seconds: tiny models, few steps.
"""

import json
import shutil
import sys
from importlib.metadata import version
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from struct import Struct
from tempfile import mkdtemp

import numpy as np

LOGS = Path(__file__).parent / "logs"
SEEDS = (0, 1)


def stable_baselines3(root):
    """Two agents and two seeds on CartPole: monitor.csv of training, evaluations.npz of EvalCallback."""
    import gymnasium
    from stable_baselines3 import A2C, PPO
    from stable_baselines3.common.callbacks import EvalCallback
    from stable_baselines3.common.monitor import Monitor

    for name, agent in (("a2c", A2C), ("ppo", PPO)):
        for seed in SEEDS:
            folder = root / name / str(seed)
            env = Monitor(gymnasium.make("CartPole-v1"), str(folder / "monitor.csv"))
            evaluated = Monitor(gymnasium.make("CartPole-v1"))
            callback = EvalCallback(
                evaluated,
                log_path=str(folder),
                eval_freq=128,
                n_eval_episodes=3,
                verbose=0,
                deterministic=False,
            )
            given = {"n_steps": 64} if agent is PPO else {}
            agent("MlpPolicy", env, seed=seed, device="cpu", **given).learn(512, callback=callback)
            env.close()


def lightning(root):
    """Two learning rates and two seeds of a line: the training loss by steps, the validation loss by epochs."""
    import lightning as pl
    import torch
    from lightning.pytorch.loggers import CSVLogger

    class Line(pl.LightningModule):
        def __init__(self, rate):
            super().__init__()
            self.layer, self.rate = torch.nn.Linear(1, 1), rate

        def loss(self, batch):
            (x,) = batch
            return torch.mean((self.layer(x) - 3 * x) ** 2)

        def training_step(self, batch, _):
            loss = self.loss(batch)
            self.log("train_loss", loss)
            return loss

        def validation_step(self, batch, _):
            self.log("val_loss", self.loss(batch))

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), self.rate)

    for name, rate in (("slow", 0.01), ("fast", 0.1)):
        for seed in SEEDS:
            pl.seed_everything(seed)
            data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(24, 1)), batch_size=4)
            logger = CSVLogger(root, name=name, version=str(seed))
            trainer = pl.Trainer(
                max_epochs=3, logger=logger, log_every_n_steps=2, accelerator="cpu", enable_checkpointing=False,
                enable_progress_bar=False, enable_model_summary=False,
            )  # fmt: skip
            trainer.fit(Line(rate), data, data)


def transformers(root):
    """Two learning rates and two seeds of a line: checkpoints with the history of losses so far."""
    import torch
    from transformers import Trainer, TrainingArguments

    class Line(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(1, 1)

        def forward(self, x, labels):
            made = self.layer(x)
            return {"loss": torch.mean((made - labels) ** 2), "logits": made}

    for name, rate in (("slow", 1e-3), ("fast", 1e-1)):
        for seed in SEEDS:
            torch.manual_seed(seed)
            x = torch.randn(32, 1)
            data = [{"x": each, "labels": 3 * each} for each in x]
            arguments = TrainingArguments(
                output_dir=str(root / name / str(seed)), num_train_epochs=2, per_device_train_batch_size=4, seed=seed,
                learning_rate=rate, logging_steps=2, evaluation_strategy="steps", eval_steps=4, save_steps=8,
                report_to=[], disable_tqdm=True, use_cpu=True,
            )  # fmt: skip
            Trainer(Line(), arguments, train_dataset=data, eval_dataset=data).train()
    for path in root.rglob("*"):
        if path.is_file() and path.name != "trainer_state.json":
            path.unlink()


def ray(root):
    """Two seeds of PPO on CartPole, tuned over a learning rate: two iterations of each trial."""
    from ray import air, tune
    from ray.rllib.algorithms.ppo import PPOConfig

    config = (
        PPOConfig()
        .environment("CartPole-v1")
        .framework("torch")
        .rollouts(num_rollout_workers=0)
        .training(
            train_batch_size=200,
            sgd_minibatch_size=50,
            num_sgd_iter=1,
            lr=tune.grid_search([1e-4, 1e-2]),
        )
        .debugging(seed=tune.grid_search([0, 1]))
    )
    run = air.RunConfig(
        name="cartpole",
        storage_path=str(root.resolve()),
        stop={"training_iteration": 2},
        verbose=0,
    )
    tune.Tuner("PPO", param_space=config, run_config=run).fit()
    for path in sorted(root.rglob("*")):
        if path.is_file() and path.name not in (
            "result.json",
            "progress.csv",
            "params.json",
        ):
            path.unlink()


def keras(root):
    """Two widths and two seeds of a network on noise: CSVLogger, and the History beside it."""
    import keras

    for name, width in (("narrow", 1), ("wide", 8)):
        for seed in SEEDS:
            keras.utils.set_random_seed(seed)
            x = np.random.default_rng(seed).normal(size=(32, 2)).astype("float32")
            model = keras.Sequential([keras.layers.Dense(width), keras.layers.Dense(1)])
            model.compile("sgd", "mse")
            folder = root / name / str(seed)
            folder.mkdir(parents=True)
            log = keras.callbacks.CSVLogger(str(folder / "training.log"))
            fitted = model.fit(x, x[:, :1], validation_split=0.25, epochs=3, verbose=0, callbacks=[log])
            (folder / "history.json").write_text(json.dumps({"epoch": fitted.epoch, "history": fitted.history}))


def marl_eval(root):
    """Two algorithms and two seeds on one task, logged by JsonLogger into one file."""
    found = find_spec("marl_eval")  # its own imports need neptune, its logger does not
    spec = spec_from_file_location("json_logger", Path(found.origin).parent / "json_tools" / "json_logger.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    rng = np.random.default_rng(0)
    for algorithm in ("mappo", "qmix"):
        for seed in SEEDS:
            logger = module.JsonLogger(str(root), algorithm, "3s5z", "smac", seed)
            for i in range(3):
                logger.write(1000 * i, "return", float(rng.normal()), i)
                logger.write(1000 * i, "win_rate", float(rng.random()), i)
            logger.write(2000, "return", float(rng.normal()), is_absolute_metric=True)


def wandb(root):
    """Three runs logged offline, a loss at some steps only and once NaN; a line for each row of their history."""
    import os

    import wandb

    os.environ["WANDB_SILENT"] = "true"
    folder = Path(mkdtemp())
    for i, (algorithm, seed) in enumerate([("sac", 1), ("sac", 2), ("td3", 1)]):
        with wandb.init(mode="offline", dir=folder, project="p", name=f"{algorithm}-{seed}") as run:
            for step in range(0, 50, 10):
                loss = {"loss": float("nan") if step == 20 else 1 / (step + 1)} if step % 20 == 0 else {}
                run.log({"return": 100.0 * i + step, **loss}, step=step)
            found = root / algorithm / f"{seed}.jsonl"
            found.parent.mkdir(exist_ok=True)
            found.write_text(run.id)
    wandb.teardown()  # a run's file is whole only when the service process has ended
    for found in root.rglob("*.jsonl"):
        (path,) = folder.glob(f"wandb/offline-run-*/run-{found.read_text()}.wandb")
        found.write_text("".join(json.dumps(row) + "\n" for row in _wandb_rows(path)))


def _wandb_rows(path):
    """Return the history of an offline run from its .wandb file: protobuf records in a LevelDB log."""
    from wandb.proto.wandb_internal_pb2 import Record

    block, header = 32768, Struct("<IHB")
    data, place, parts, rows = path.read_bytes(), 7, [], []
    while place + header.size <= len(data):
        if block - place % block < header.size:
            place += block - place % block
        _, size, kind = header.unpack_from(data, place)
        place += header.size
        parts.append(data[place : place + size])
        place += size
        if kind in (1, 4):  # whole, or the last of several parts
            record = Record.FromString(b"".join(parts))
            parts = []
            if record.HasField("history"):
                items = record.history.item
                rows.append({item.key or ".".join(item.nested_key): json.loads(item.value_json) for item in items})
    return rows


QUESTIONS = [(f"{a}+{b}=", a + b, passage) for passage, a in (("one", 1), ("two", 2), ("three", 3)) for b in (1, 2)]
LM_EVAL_TASK = """\
task: {name}
dataset_path: json
dataset_kwargs: {{data_files: {{test: {name}.jsonl}}}}
test_split: test
output_type: multiple_choice
doc_to_text: "{{{{question}}}}"
doc_to_choice: choices
doc_to_target: answer
metric_list:
  - {{metric: acc, aggregation: mean, higher_is_better: true}}
"""
LM_EVAL_GROUP = """\
group: arithmetic
task: [sums, differences]
aggregate_metric_list: [{metric: acc, aggregation: mean, weight_by_size: true}]
"""


def lm_eval(root):
    """Two models that guess, on six items of each of two benchmarks: results and samples."""
    import os

    os.environ |= {"HF_DATASETS_OFFLINE": "1", "HF_HUB_OFFLINE": "1"}
    os.environ["HF_HOME"] = mkdtemp()
    from lm_eval import simple_evaluate
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    root = root.resolve()
    os.chdir(mkdtemp())  # paths in the results are of this folder
    for name, sign in (("sums", 1), ("differences", -1)):
        rows = [
            {
                "question": question.replace("+", "+" if sign == 1 else "-"),
                "choices": [str(right + 1), str(right)],
                "answer": 1,
                "passage": passage,
            }
            for question, right, passage in QUESTIONS
        ]
        Path(f"{name}.jsonl").write_text("".join(json.dumps(x) + "\n" for x in rows))
        Path(f"{name}.yaml").write_text(LM_EVAL_TASK.format(name=name))
    Path("arithmetic.yaml").write_text(LM_EVAL_GROUP)
    for seed, model in enumerate(("org/small", "org/large"), 1):
        tracker = EvaluationTracker(output_path=str(root))
        found = simple_evaluate(
            model="dummy",
            model_args=f"pretrained={model}",
            tasks=["arithmetic"],
            task_manager=TaskManager(include_path=".", include_defaults=False),
            evaluation_tracker=tracker,
            random_seed=seed,
            torch_random_seed=None,
        )
        samples = found.pop("samples")
        found["pretty_env_info"] = ""
        tracker.save_results_aggregated(results=found, samples=samples)
        for task, each in samples.items():
            tracker.save_results_samples(task_name=task, samples=each)


def inspect_ai(root):
    """Two models on six items, twice each: as .eval and as JSON."""
    from inspect_ai import log
    from inspect_ai.scorer import Score

    rng = np.random.default_rng(0)
    for model, right in (("small", 0.3), ("large", 0.8)):
        samples = [
            log.EvalSample(
                id=question,
                epoch=epoch,
                input=question,
                target=str(answer),
                metadata={"passage": passage},
                scores={
                    "match": Score(value="C" if rng.random() < right else "I"),
                    "graded": Score(value={"form": float(rng.integers(5)), "note": "well done"}),
                },
            )
            for question, answer, passage in QUESTIONS
            for epoch in (1, 2)
        ]
        spec = log.EvalSpec(
            created="2026-01-02T03:04:05+00:00",
            task="sums",
            dataset=log.EvalDataset(name="sums", samples=len(QUESTIONS)),
            model=f"mockllm/{model}",
            config=log.EvalConfig(epochs=2),
        )
        written = log.EvalLog(status="success", eval=spec, samples=samples)
        for form in ("eval", "json"):
            (root / form).mkdir(exist_ok=True)
            log.write_eval_log(written, str(root / form / f"{model}.{form}"), form)


def sacred(root):
    """Two agents and two seeds: a return at each step, a loss at some, a list in the info of a run."""
    from sacred import SETTINGS, Experiment
    from sacred.observers import FileStorageObserver

    SETTINGS["CAPTURE_MODE"] = "no"
    SETTINGS["HOST_INFO"]["CAPTURED_ENV"] = []
    for agent, better in (("sac", 5), ("td3", 0)):
        for seed in SEEDS:
            experiment = Experiment("walk", save_git_info=False)
            observer = FileStorageObserver(root)
            experiment.observers.append(observer)
            experiment.add_config(agent=agent, seed=seed)

            @experiment.main
            def run(_run, better=better, seed=seed):
                for step in (10, 20, 30):
                    _run.log_scalar("return", better + seed / 10 + step / 100, step)
                    if step != 20:
                        _run.log_scalar("loss", 1 / step, step)
                _run.info["test_return"] = [better + 1.0, better + 2.0]
                _run.info["test_return_T"] = [15, 25]
                _run.info["final"] = 1.5

            experiment.run()
    shutil.rmtree(root / "_sources")
    for path in root.rglob("*"):
        if path.name == "cout.txt":
            path.unlink()
        if path.name == "run.json":  # but for what names a machine
            said = json.loads(path.read_text())
            kept = {name: said[name] for name in ("command", "result", "status")}
            path.write_text(json.dumps(kept))


def _random_search(function, rng, width):
    for _ in range(40):
        function(list(rng.uniform(-width, width, 2)))


def ioh(root):
    """Two searches on two functions: two runs of each of two instances."""
    import ioh

    rng = np.random.default_rng(0)
    for name, width in (("narrow", 2), ("wide", 5)):
        logger = ioh.logger.Analyzer(root=str(root), folder_name=name, algorithm_name=name)
        for function in (1, 2):
            for instance in (1, 2):
                problem = ioh.get_problem(function, instance, 2, ioh.ProblemClass.BBOB)
                problem.attach_logger(logger)
                for _ in SEEDS:
                    _random_search(problem, rng, width)
                    problem.reset()
                problem.detach_logger()
        logger.close()


def cocoex(root):
    """Two searches on two functions of three instances."""
    import os

    import cocoex

    rng = np.random.default_rng(0)
    folder = Path(mkdtemp())
    os.chdir(folder)
    for name, width in (("narrow", 2), ("wide", 5)):
        suite = cocoex.Suite("bbob", "instances: 1-3", "dimensions: 2 function_indices: 1,2")
        observer = cocoex.Observer("bbob", f"result_folder: {name} algorithm_name: {name}")
        for problem in suite:
            problem.observe_with(observer)
            _random_search(problem, rng, width)
            problem.free()
    shutil.copytree(
        folder / "exdata",
        root,
        dirs_exist_ok=True,
        ignore=shutil.ignore_patterns("*.rdat", "*.mdat"),
    )


BENCHMARK = """\
import pytest

def last(values):
    return [values.pop() for _ in range(len(values))]

def first(values):
    return [values.pop(0) for _ in range(len(values))]

@pytest.mark.parametrize("n", [1000, 20000])
@pytest.mark.parametrize("pop", [last, first])
def test_pop(benchmark, pop, n):
    benchmark.pedantic(pop, setup=lambda: ((list(range(n)),), {}), rounds=3)
"""


def pytest_benchmark(root):
    """Two functions and two lengths of a list, timed five times; the files say nothing of the machine."""
    import os
    import subprocess

    folder = Path(mkdtemp())
    outside = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    (folder / "test_pop.py").write_text(BENCHMARK)
    hook = "def pytest_benchmark_update_machine_info(config, machine_info):\n    machine_info.clear()\n"
    (folder / "conftest.py").write_text(hook)
    for number in range(5):
        saved = f"--benchmark-json={root.resolve() / f'{number:04d}.json'}"
        command = [sys.executable, "-m", "pytest", "-q", saved]
        subprocess.run(command, cwd=folder, env=outside, check=True, capture_output=True)


WRITERS = {
    "pytest-benchmark": pytest_benchmark,
    "sacred": sacred,
    "ioh": ioh,
    "coco-experiment": cocoex,
    "lm_eval": lm_eval,
    "inspect-ai": inspect_ai,
    "wandb": wandb,
    "stable-baselines3": stable_baselines3,
    "lightning": lightning,
    "transformers": transformers,
    "ray": ray,
    "keras": keras,
    "id-marl-eval": marl_eval,
}


def main(names, logs=LOGS):
    noted = logs / "writers.json"
    versions = json.loads(noted.read_text()) if noted.exists() else {}
    for name in names:
        folder = logs / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        WRITERS[name](folder)
        for path in sorted(folder.rglob("*"), reverse=True):
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()
        noted.write_text(json.dumps(versions := versions | {name: version(name)}, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    names = sys.argv[1:]
    if names[:1] == ["--into"]:
        main(names[2:], Path(names[1]))
    else:
        main(names)
