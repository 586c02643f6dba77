"""What a program reads of a look: the decision, every pair or candidate, which runs to make, and the ledger."""

from __future__ import annotations

from typing import Any

import pandas as pd
import xarray as xr

from xcurves.core import labels
from xcurves.looks import ledger
from xcurves.looks.gate_replay import DECISIONS
from xcurves.looks.gate_text import current
from xcurves.looks.sequential_text import n_done, next_batch
from xcurves.say.result_frames import bounds

_FLAGS = ("rejected", "undecided", "futile")
_OF_PAIR = (
    *("pair", "algorithm_a", "algorithm_b", *_FLAGS, "pvalue", "pvalue_adjusted", "statistic", "critical_value"),
    *("difference", "difference_ci_simultaneous", "chance", "chance_at_ci"),
)
_OF_CANDIDATE = (
    "n_runs",
    "n_runs_champion",
    "runs_to_make",
    "runs_to_make_champion",
    "n_failed",
    "difference",
    "pvalue",
)


def of_sequential(result: xr.Dataset) -> dict[str, Any]:
    """Return what a program needs to continue: the pairs, which runs to make, and the ledger."""
    dims = labels.task_dims(result["undecided"])
    tasks = [
        {"task": {str(dim): task[dim].item() for dim in dims}} | _of_task(task)
        for task in labels.tasks_of(result, "undecided")
    ]
    open_pairs = [{"task": task["task"], "pair": pair} for task in tasks for pair in task["undecided"]]
    shown = all(pair["rejected"] for task in tasks for pair in task["pairs"])
    most = {name: pd.DataFrame([task[name] for task in tasks]).max() for name in ("run_more", "run_at_most")}
    run_more, run_at_most = (sizes.astype(int).to_dict() for sizes in most.values())
    decision = "last look done, not all shown"
    if open_pairs:
        decision = "more runs needed"
    elif shown:
        decision = "all shown"
    return {
        "next": {
            "runs": run_more,
            "decision": decision,
            "n_looks": result.sizes["look"],
            "undecided": open_pairs,
            "run_at_most": run_at_most,
            "by_task": tasks,
        },
        "ledger": ledger.of_looks(result).as_json(),
    }


def _of_task(task: xr.Dataset) -> dict[str, Any]:
    done = n_done(task)
    latest = task.isel(look=done - 1)
    more = {str(name): size for name, size in next_batch(task).items()}
    pairs = [{name: pair[name].to_numpy().tolist() for name in _OF_PAIR} for pair in labels.each_of(latest, "pair")]
    return {
        "look": done,
        "undecided": [pair["pair"] for pair in pairs if pair["undecided"] == 1],
        "run_more": more,
        "run_at_most": {name: n * (task.sizes["look"] - done) for name, n in more.items()},
        "n_runs": {str(a["algorithm"].item()): int(a) for a in latest["n_runs"].fillna(0)},
        "pairs": [pair | {name: bool(pair[name]) for name in _FLAGS} for pair in pairs],
    }


def of_gate(result: xr.Dataset) -> dict[str, Any]:
    """Return what a program needs to make the next runs: the decision, the candidates, and the ledger."""
    candidates = [_of_candidate(judged) for judged in labels.each_of(result, "candidate")]
    now = candidates[current(result)]
    to_make = {now["candidate"]: now["runs_to_make"], now["champion"]: now["runs_to_make_champion"]}
    return {
        "next": {
            "runs": {name: n for name, n in to_make.items() if n},
            "decision": now["decision"],
            "candidate": now["candidate"],
            "champion": result.attrs["champion"],
            "progress": result["progress"].item(),
            "progress_ci": [end.item() for end in bounds(result["progress_ci"]).values()],
            "candidates": candidates,
        },
        "ledger": ledger.of_gate(result).as_json(),
    }


def _of_candidate(judged: xr.Dataset) -> dict[str, Any]:
    """Return what is said of one candidate."""
    ends = bounds(judged["difference_ci"]).values()
    return {
        "candidate": str(judged["candidate"].item()),
        "decision": DECISIONS[int(judged["decision"])],
        "champion": str(judged["champion"].item()),
        **{name: judged[name].item() for name in _OF_CANDIDATE},
        "difference_ci": [end.item() for end in ends],
    }
