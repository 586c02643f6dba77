"""Reference answers over several tasks, from slow independent code; tests skip where they are not at hand."""

import json
from pathlib import Path

import numpy as np
import pytest

FILE = Path(__file__).parents[2] / "shared" / "reference" / "dev_across.json"
CASES = json.loads(FILE.read_text())["cases"] if FILE.exists() else {}
needed = pytest.mark.skipif(not FILE.exists(), reason=f"no {FILE.name} beside the repository")
ALPHA = 0.05


def padded(rows):
    """Stack rows of unlike length, NaN behind."""
    out = np.full((len(rows), max(map(len, rows))), np.nan)
    for row, values in zip(out, rows, strict=True):
        row[: len(values)] = values
    return out


def numbers(case, pair):
    """Return the numbers of both algorithms, shape (task, run), of the tasks in the order of the case."""
    u = case["answers"]["u"]
    return [padded([u[task][algorithm] for task in case["recipe"]["tasks"]]) for algorithm in pair]


def weights(case):
    """Return the weights of the tasks, of sum one."""
    tasks = case["recipe"]["tasks"]
    w = np.array([case["recipe"].get("weights", {}).get(task, 1.0) for task in tasks], float)
    return w / w.sum()


def families(case):
    """Return which family each task is of, shape (family, task)."""
    of = case["recipe"].get("families", {})
    names = [of.get(task, task) for task in case["recipe"]["tasks"]]
    return np.array([[name == family for name in names] for family in sorted(set(names))], float)


def pairs_with(*keys):
    """Return (case, number of a pair) of all pairs that have these answers."""
    return [
        (name, number)
        for name, case in CASES.items()
        for number, pair in enumerate(case["answers"]["pairs"])
        if all(key in pair or key in pair["fixed"] for key in keys)
    ]


def close_by_chance(count, total, other_p, other_total):
    """Return whether two Monte Carlo p-values agree, `total` counting the observed one; infinite total: exact."""
    p = count / total
    pooled = (count + 1 + other_p * other_total) / (total + 1 + other_total)
    slack = 5 * np.sqrt(pooled * (1 - pooled) * (1 / total + 1 / other_total)) + 1 / min(total, other_total)
    return abs(p - other_p) <= slack
