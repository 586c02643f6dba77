"""Runs that IOHprofiler and COCO logged: the best value after so many evaluations."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from refusals import refused
from xcurves import readers

LOGS = Path(__file__).parent / "logs"


def blocks_of(path, header):
    """Return the rows of each run of a file as numbers."""
    found = []
    for line in path.read_text().splitlines():
        if line.startswith(header):
            found.append([])
        else:
            found[-1].append([float(field) for field in line.split()[:3]])
    return found


@pytest.mark.parametrize("algorithm", ["narrow", "wide"])
@pytest.mark.parametrize(("number", "name"), [(1, "Sphere"), (2, "Ellipsoid")])
def test_ioh_has_the_best_value_so_far(algorithm, number, name):
    """The last row of a run has the value of its last evaluation, not the best."""
    frame = readers.read(LOGS / "ioh")
    assert frame.attrs["higher_is_better"] == 0
    rows = frame[(frame["algorithm"] == algorithm) & (frame["task"] == f"f{number} {name}, dim 2")]
    path = LOGS / "ioh" / algorithm / f"data_f{number}_{name}" / f"IOHprofiler_f{number}_DIM2.dat"
    blocks = blocks_of(path, "evaluations")
    runs = ["1/1", "1/2", "2/1", "2/2"]
    assert rows["run"].unique().tolist() == runs
    for run, block in zip(runs, blocks, strict=True):
        own = rows[rows["run"] == run]
        assert own["evaluations"].is_unique
        assert {1, 2, 10, 40} <= set(own["evaluations"])
        for evaluations, best in own[["evaluations", "best_y"]].to_numpy():
            assert best == min(value for at, value in block if at <= evaluations)


def test_ioh_of_a_function_that_is_maximized_has_the_greatest(tmp_path):
    logs = Path(shutil.copytree(LOGS / "ioh", tmp_path / "logs"))
    for path in logs.rglob("*.json"):
        text = path.read_text()
        path.write_text(text.replace('"maximization": false', '"maximization": true'))
    frame = readers.read(logs)
    assert frame.attrs["higher_is_better"] == 1
    assert (frame.groupby(["algorithm", "task", "run"])["best_y"].diff().dropna() >= 0).all()  # fmt: skip


def test_coco_has_the_gap_to_the_optimum_at_numbers_of_evaluations():
    frame = readers.read(LOGS / "coco-experiment")
    assert frame.attrs["source"] == "COCO runs below coco-experiment"
    assert set(frame["task"]) == {"f1, dim 2", "f2, dim 2"}
    for algorithm in ("narrow", "wide"):
        for number in (1, 2):
            folder = LOGS / "coco-experiment" / algorithm / f"data_f{number}"
            blocks = blocks_of(folder / f"bbobexp_f{number}_DIM2.tdat", "%")
            for run, block in zip("123", blocks, strict=True):
                own = frame.query(f"algorithm == '{algorithm}' and task == 'f{number}, dim 2' and run == '{run}'")
                expected = [[at, gap] for at, _, gap in block]
                np.testing.assert_array_equal(own[["evaluations", "gap"]], expected)
    curves = frame.curves.to_dataarray("gap", training="evaluations", extra="task")
    assert curves.sizes == {"task": 2, "algorithm": 2, "run": 3, "training": 23}


def test_coco_without_values_by_evaluations_has_those_by_targets(tmp_path):
    logs = Path(shutil.copytree(LOGS / "coco-experiment", tmp_path / "logs"))
    for path in logs.rglob("*.tdat"):
        path.unlink()
    ends = readers.read(logs).groupby(["algorithm", "task", "run"])["gap"].last()
    same = readers.read(LOGS / "coco-experiment")
    assert ends.equals(same.groupby(["algorithm", "task", "run"])["gap"].last())


@pytest.mark.parametrize("folder", ["ioh", "coco-experiment"])
def test_values_of_fewer_runs_than_are_described_are_refused(tmp_path, folder):
    logs = Path(shutil.copytree(LOGS / folder, tmp_path / "logs"))
    for path in [*logs.rglob("*.dat"), *logs.rglob("*.tdat")]:
        text = path.read_text()
        header = text[: text.index("\n")]
        path.write_text(text[: text.rindex(header[:10])])
    with refused("path", cure="Copy both again", names=r"has \d runs, and what describes it \d"):
        readers.read(logs)
