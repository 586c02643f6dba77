"""Inputs of the corpus whose folders hold more than the curves of runs: see `corpus.py`."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from frames.corpus import AB, Asks, Files, Input, Link, Read, Refuses, crossed

INPUTS: dict[str, Input] = {}
RUNS = ["0", "1"]
TWO = Read("algorithm", "run", "step", "return", (), False, 2, 2, 3)


def table(number: int, score: str = "return", head: str | None = None) -> str:
    """Return a CSV of a run, each with other scores."""
    head = f"step,{score}" if head is None else head
    scores = np.random.default_rng(number).normal(size=3)
    return "\n".join([head, *(f"{step},{value:.3f}" for step, value in zip((0, 10, 20), scores, strict=True))]) + "\n"


def at(*places: str, of: Callable[[int], str] = table) -> Callable[[], Files]:
    """Return files at places below logs/, each with other scores."""
    return lambda: {f"logs/{place}": of(number) for number, place in enumerate(places)}


def beside(files: Files, **more: str) -> Callable[[], Files]:
    """Return files with others in place of some, or beside them; in names of files __ is a slash."""
    return lambda: {**files, **{f"logs/{name.replace('__', '/')}.csv": text for name, text in more.items()}}


# --- copies and links: nothing is counted twice ---

PLACES = crossed(AB, RUNS, ["progress.csv"])


def copied(copies: dict[str, str], **more: str) -> Callable[[], Files]:
    """Return runs with copies of some of their files, and links; in names of links __ is a slash."""

    def make() -> Files:
        files = dict(at(*PLACES)())
        of_copies = {f"logs/{copy}": files[f"logs/{place}"] for copy, place in copies.items()}
        links = {f"logs/{name.replace('__', '/')}": Link(target) for name, target in more.items()}
        return {**files, **of_copies, **links}

    return make


FIRST = f"{AB[0]}/1/progress.csv"
COPIES = {
    "(copy)": {f"{AB[0]}/1 (copy)/progress.csv": FIRST},
    "_copy": {f"{AB[0]}/1_copy/progress.csv": FIRST},
    "(2)": {f"{AB[0]}/1 (2)/progress.csv": FIRST},
    "file": {f"{AB[0]}/1/progress (copy).csv": FIRST},
    "backup": {f"backup/{place}": place for place in PLACES},
    "algorithm": {place.replace(AB[0], f"{AB[0]} - Copy"): place for place in PLACES if place.startswith(AB[0])},
}
for title, copies in COPIES.items():
    INPUTS[f"copies of runs, {title}"] = Input(copied(copies), TWO)
INPUTS["a copy of a task"] = Input(
    lambda: {
        name.replace("logs/", f"logs/{folder}/"): text
        for name, text in at(*PLACES)().items()
        for folder in ("env1", "env1_backup")
    },
    TWO,
)
INPUTS["a copy from before a run ended"] = Input(
    lambda: {**at(*PLACES)(), f"logs/{AB[0]}/1.bak/progress.csv": "\n".join(table(1).split("\n")[:3]) + "\n"}, TWO
)
INPUTS["a run that is called a copy, with scores of its own"] = Input(
    lambda: {**at(*PLACES)(), f"logs/{AB[0]}/1_copy/progress.csv": table(9)}, replace(TWO, runs=3)
)
INPUTS["copies of files that name runs"] = Input(
    lambda: {
        **{f"logs/{a}_seed{r}.csv": table(2 * n + r) for n, a in enumerate(AB) for r in (0, 1)},
        f"logs/{AB[0]}_seed1 - Copy.csv": table(1),
    },
    TWO,
)
LINKS = {
    "to a run": {f"{AB[0]}__latest": "1"},
    "to a file": {f"{AB[0]}__2__progress.csv": "../1/progress.csv"},
    "to what lies above": {f"{AB[0]}__loop": ".."},
    "to itself": {f"{AB[0]}__self": "self"},
    "to each other": {f"{AB[0]}__x": "y", f"{AB[0]}__y": "x"},
    "to nothing": {f"{AB[0]}__2": "../gone"},
}
for title, links in LINKS.items():
    INPUTS[f"a link {title}"] = Input(copied({}, **links), TWO)

# --- logs of training beside those of evaluation ---

EVAL = replace(TWO, says="eval is taken, train is not")
INPUTS["folders train and eval of each run"] = Input(at(*crossed(AB, RUNS, ["train", "eval"], ["progress.csv"])), EVAL)
INPUTS["folders train and eval above all runs"] = Input(
    at(*crossed(["train", "eval"], AB, RUNS, ["progress.csv"])), EVAL
)
INPUTS["files train and eval of each run"] = Input(at(*crossed(AB, RUNS, ["train.csv", "eval.csv"])), EVAL)
INPUTS["files train and eval are of one log where they share no score"] = Input(
    lambda: {
        f"logs/{algorithm}/{run}/{file}.csv": table(number, score)
        for number, (algorithm, run) in enumerate((a, r) for a in AB for r in RUNS)
        for file, score in (("train", "loss"), ("eval", "return"))
    },
    TWO,
)
INPUTS["a configuration above the folders train and eval"] = Input(
    lambda: {
        **at(*crossed(["x1", "x2", "x3", "x4"], ["train", "eval"], ["progress.csv"]))(),
        **{
            f"logs/x{number}/config.json": json.dumps({"algo": AB[number % 2], "seed": number // 3})
            for number in (1, 2, 3, 4)
        },
    },
    EVAL,
)
INPUTS["folders eval and test of each run"] = Input(
    at(*crossed(AB, RUNS, ["eval", "test"], ["progress.csv"])),
    Asks("logs of several data, eval or test", 2, {"'{algorithm}/{run}/eval'": TWO, "'{algorithm}/{run}/test'": TWO}),
)
INPUTS["a folder in which all logs lie below eval and test of each run"] = Input(
    at(*crossed(AB, RUNS, ["eval", "test"], ["logs"], ["progress.csv"])),
    Asks(
        "logs of several data, eval or test",
        2,
        {"'{algorithm}/{run}/eval/logs'": TWO, "'{algorithm}/{run}/test/logs'": TWO},
    ),
)
INPUTS["files eval and test of each run"] = Input(
    at(*crossed(AB, RUNS, ["eval.csv", "test.csv"])),
    Asks("logs of several data, eval or test", 2, {"'{algorithm}/{run}/eval.csv'": TWO}),
)


def with_monitor() -> Files:
    """Return logs of Stable-Baselines3: episodes of training, and evaluations of two episodes each."""
    files: dict[str, str | bytes] = {}
    for number, place in enumerate(crossed(AB, RUNS)):
        episodes = "".join(f"{number}.5,10,{time}.0\n" for time in (1, 2, 3))
        files[f"logs/{place}/monitor.csv"] = f'#{{"t_start": 1.0, "env_id": "x"}}\nr,l,t\n{episodes}'
        file = io.BytesIO()
        results = np.random.default_rng(number).normal(size=(3, 2))
        np.savez(file, timesteps=[0, 10, 20], results=results, ep_lengths=np.full((3, 2), 9))
        files[f"logs/{place}/evaluations.npz"] = file.getvalue()
    return files


EPISODES = replace(TWO, training="environment steps")  # the long name of step
INPUTS["evaluations beside episodes of training"] = Input(
    with_monitor, Asks("with another 'episode' each", 1, {"--duplicates mean": EPISODES})
)
INPUTS["episodes of training that are named"] = Input(with_monitor, EPISODES, ("--source", "monitor"))

# --- folders and names of folds, of seeds, of dates ---

FOLDED = replace(TWO, run="fold", matched=True)
for fold in ("fold_{}", "fold{}", "cv{}", "split_{}"):
    names = [fold.format(run) for run in RUNS]
    INPUTS[f"folders {fold} below algorithms"] = Input(at(*crossed(AB, names, ["log.csv"])), FOLDED)
    INPUTS[f"folders {fold} above algorithms"] = Input(at(*crossed(names, AB, ["log.csv"])), FOLDED)
    INPUTS[f"files of algorithm and {fold}"] = Input(at(*(f"{a}_{name}.csv" for a in AB for name in names)), FOLDED)
for run, right in (("fold_{}", FOLDED), ("seed_{}", TWO)):
    INPUTS[f"files of algorithms below folders {run}"] = Input(
        at(*crossed([run.format(number) for number in RUNS], [f"{a}.csv" for a in AB])), right
    )
INPUTS["folds of seeds"] = Input(
    at(*crossed(AB, ["seed_0", "seed_1", "seed_2"], ["fold_0", "fold_1"], ["log.csv"])),
    replace(FOLDED, run="run, fold", runs=6, says="repeats of the same folds"),
)
INPUTS["folds of data sets"] = Input(
    at(*crossed(["iris", "wine"], AB, ["fold_0", "fold_1"], ["log.csv"])),
    Asks(
        "'iris' or 'ada' is the algorithm or the task",
        2,
        {"--folders task algorithm fold": replace(FOLDED, tasks=("task",), n_tasks=2)},
    ),
)
OF_ENVS = replace(TWO, tasks=("task",), n_tasks=2)
for seed in ("{}.csv", "seed{}.csv", "{}/progress.csv"):
    INPUTS[f"logs below two levels of names, {seed}"] = Input(
        at(*crossed(AB, ["hopper", "walker"], [seed.format(run) for run in (41, 42)])),
        Asks(
            "'ada' or 'hopper' is the algorithm or the task",
            2,
            {"algorithm": OF_ENVS} | ({"'{algorithm}/{task}/{run}'": OF_ENVS} if seed.endswith("}.csv") else {}),
        ),
    )
DAYS = ["2026-11-01", "2026-11-02"]
DATED = [f"{DAYS[(number + int(run)) % 2]}/{a}_{run}" for number, a in enumerate(AB) for run in RUNS]
INPUTS["dates above names of algorithm and run"] = Input(at(*crossed(DATED, ["log.csv"])), TWO)


def dated(name: str) -> Files:
    """Return runs of two days with a configuration each, in folders called alike on both."""
    files = {}
    for number, (day, algorithm, run) in enumerate((d, a, r) for d in DAYS for a in AB for r in RUNS):
        home = f"logs/{day}/{name.format(algorithm, run)}"
        files[f"{home}/log.csv"] = table(number)
        files[f"{home}/config.json"] = json.dumps({"algo": algorithm, "seed": int(run) + 2 * DAYS.index(day)})
    return files


for name in ("{}_{}", "{}/{}"):
    INPUTS[f"a configuration below dates says who a run is, {name}"] = Input(
        lambda name=name: dated(name), replace(TWO, runs=4)
    )

INPUTS["files that are called like scores are of one run"] = Input(
    at(*crossed(AB, RUNS, ["return.csv", "loss.csv"]), of=lambda number: table(number, "value")), TWO
)
INPUTS["files that are called like scores, below one name"] = Input(
    at(*crossed(AB, ["return.csv", "loss.csv"]), of=lambda number: table(number, "value")),
    Refuses("paths such as 'ada/loss.csv' do not say algorithm and run"),
)
for stamped in ("{}_seed{}_20261101-10300{}", "20261101_10300{2}_{0}_seed{1}", "{}-{}_2026-11-01-10-30-0{}"):
    STAMPED = [stamped.format(a, run, n) for n, (a, run) in enumerate((a, run) for a in AB for run in RUNS)]
    INPUTS[f"folders with the time when a run began, {stamped}"] = Input(at(*crossed(STAMPED, ["log.csv"])), TWO)
INPUTS["files of a table of each task"] = Input(
    lambda: {
        f"logs/{task}.csv": pd.concat(
            pd.read_csv(io.StringIO(table(2 * n + int(run)))).assign(algo=a, seed=run)
            for n, a in enumerate(AB)
            for run in RUNS
        )
        for task in ("hopper", "walker")
    },
    replace(OF_ENVS, algorithm="algo", run="seed"),
)
INPUTS["algorithm=ada,seed=0"] = Input(at(*(f"algorithm={a},seed={run}/log.csv" for a in AB for run in RUNS)), TWO)
INPUTS["files of a task and an algorithm without a seed"] = Input(
    at(*(f"{task}_{a}.csv" for task in ("hopper", "walker") for a in AB)),
    Asks(
        "names do not say whether 'hopper' or 'ada' is the algorithm or the task",
        3,
        {"'{task}_{algorithm}'": replace(OF_ENVS, runs=1, run=None)},
    ),
)

# --- runs that were resumed, in a file or a folder beside ---

LATER = {
    "a file beside": "{}/{}/log{}.csv",
    "a folder beside": "{}/{}{}/log.csv",
    "a file beside that of a run": "{}_seed{}{}.csv",
}


def resumed(path: str, steps: tuple[int, ...]) -> Files:
    """Return runs of 0, 10, 20, one of them resumed at other steps."""
    files = {f"logs/{path.format(a, run, '')}": table(2 * n + int(run)) for n, a in enumerate(AB) for run in RUNS}
    later = "step,return\n" + "".join(f"{step},{step}\n" for step in steps)
    return {**files, f"logs/{path.format(AB[0], RUNS[1], '_resumed')}": later}


for title, path in LATER.items():
    GOES_ON = replace(TWO, levels=5, says="_resumed.csv taken to go on" if "file" in title else "taken to go on")
    INPUTS[f"a run that goes on in {title}"] = Input(lambda path=path: resumed(path, (30, 40)), GOES_ON)
    INPUTS[f"a run that restarts in {title}"] = Input(lambda path=path: resumed(path, (10, 30, 40)), GOES_ON)
    INPUTS[f"a run that counts anew in {title}"] = Input(
        lambda path=path: resumed(path, (0, 10, 20)),
        Asks(
            "falls in 1 run",
            2,
            {"--resumed": replace(TWO, levels=6), "--duplicates purge": TWO},
        ),
    )
INPUTS["an algorithm that is called like a resumed one"] = Input(
    at(*crossed(["sac", "sac_resumed"], RUNS, ["log.csv"])), TWO
)
INPUTS["a run whose step is stuck"] = Input(
    lambda: {**at(*crossed(AB, RUNS, ["log.csv"]))(), f"logs/{AB[1]}/1/log.csv": "step,return\n0,1\n0,2\n0,3\n"},
    Asks(
        "has runs whose step never changes, first bob, 1",
        2,
        {"--training none --duplicates last": replace(TWO, training=None, levels=1)},
    ),
)

# --- names of runs, and names that differ in case, - and _ only ---

NAMES = ["dashing-sunset-12", "brisk-moon-13", "fancy-river-14", "super-snow-15"]
INPUTS["names of runs are no algorithms"] = Input(at(*crossed(NAMES, ["log.csv"])), Refuses("is the name of a run"))
INPUTS["files with names of runs are no algorithms"] = Input(
    at(*(f"{name}.csv" for name in NAMES)), Refuses("is the name of a run")
)
INPUTS["names of runs above a seed are no algorithms"] = Input(
    at(*crossed(NAMES, ["0"], ["log.csv"])), Refuses("is the name of a run")
)
OF_NAMES = Read("algorithm", "run", "step", "return", (), False, 2, 4, 3)
OF_TASKS = replace(TWO, tasks=("task",), n_tasks=2)
INPUTS["names of algorithm and run two folders below tasks"] = Input(
    at(*crossed(["u", "v"], ["train"], ["ada_1", "ada_2", "bob_1", "bob_2"], ["log.csv"])),
    Asks("'u' or 'ada'", 2, {"{task}/train/{algorithm}_{run}": OF_TASKS, "{algorithm}/train/{task}_{run}": OF_TASKS}),
)
INPUTS["algorithms above names of runs"] = Input(
    at(
        "ada/dashing-sunset-1/log.csv", "ada/brisk-moon-2/log.csv", "bob/fancy-river-3/log.csv", "bob/ice-sea-4/log.csv"
    ),
    OF_NAMES,
)
INPUTS["algorithms below names of runs"] = Input(
    at(
        "dashing-sunset-1/ada/log.csv", "brisk-moon-2/ada/log.csv", "fancy-river-3/bob/log.csv", "ice-sea-4/bob/log.csv"
    ),
    OF_NAMES,
)
INPUTS["algorithms that differ in dashes only"] = Input(
    at(*crossed(["dog-run", "dog_run"], RUNS, ["log.csv"])),
    Asks("'dog-run' and 'dog_run', which differ in case, spaces, - and _ only", 1, {"--algorithm algorithm": TWO}),
)
INPUTS["tasks that differ in dashes only"] = Input(
    at(*crossed(["dog-run-v1", "dog_run-v1"], AB, RUNS, ["log.csv"])),
    Asks(
        "Rename one if they are one task",
        1,
        {"--extra task": Read("algorithm", "run", "step", "return", ("task",), False, 2, 2, 3, 2)},
    ),
)
INPUTS["names of files that differ in case only"] = Input(
    at(*(f"{name}_{run}.csv" for name in ("PPO", "ppo") for run in RUNS)),
    Asks("Rename one if they are one algorithm", 1, {"--algorithm algorithm": TWO}),
)
INPUTS["scores that differ in case only"] = Input(
    at(
        *crossed(AB, ["0", "1", "2", "3"], ["log.csv"]),
        of=lambda number: table(number, ["return", "Return"][number % 2]),
    ),
    Asks("the score (return or Return)", 2, {"--value Return": Read(score="Return", runs=4)}),
)

# --- what is left out is named ---

WHOLE = at(*crossed(AB, ["0", "1", "2"], ["log.csv"]))()
LESS = Read("algorithm", "run", "step", "return", (), False, 2, 3, 3)
INPUTS["a file of no bytes"] = Input(beside(WHOLE, bob__2__log=""), LESS)
INPUTS["a file of a header only"] = Input(beside(WHOLE, bob__2__log="step,return\n"), LESS)
INPUTS["a file without a header"] = Input(beside(WHOLE, bob__2__log=table(5, head="0,0.5")), LESS)
INPUTS["a run without the score"] = Input(beside(WHOLE, bob__2__log=table(5, "fps")), LESS)
INPUTS["folders called like the algorithms that rows name"] = Input(
    lambda: {
        f"logs/org__{name}/results.json": json.dumps({"model_name": f"org/{name}", "arc": {"acc": score}, "n": 100})
        for name, score in (("alpha", 0.5), ("beta", 0.625))
    },
    Read("model_name", None, None, None, (), False, 2, 1, difference=-0.125),
)
