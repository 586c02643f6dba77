"""Hostile logs: whatever they hold, the error is one line of the package that names the file."""

import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from refusals import refused
from xcurves import readers

LOGS = Path(__file__).parent / "logs"
TRIAL = next(LOGS.rglob("result.json")).parent
NESTED = "[" * 100_000 + "]" * 100_000
LARGE = "9" * 400
STATE = '{"global_step": 1, "log_history": [{"step": 1, "loss": %s}]}'
METRICS = '{"env": {"task": {"a": {"run": {"step_0": {"step_count": 1, "return": %s}}}}}}'
HEADER = '#{"t_start": 0.0}\nr,l,t\n'
CASES = {
    "nested": NESTED,
    "nested mappings": '{"a":' * 50_000 + "1" + "}" * 50_000,
    "null": "null",
    "a list": "[1]",
    "a number": LARGE,
    "of many digits": STATE % LARGE,
    "of 5,000 digits": STATE % ("9" * 5000),
    "a mapping": STATE % '{"a": 1}',
    "a list for a value": STATE % "[1, 2]",
    "a surrogate": STATE % r'"\ud800"',
    "no mapping": '{"global_step": 1, "log_history": [3]}',
    "no step": '{"global_step": 1, "log_history": [{}]}',
    "cut short": '{"global_step": 1, "log_hist',
    "no state": "{}",
    "empty": "",
}


def said_of(folder, path, **options):
    with refused("path", names=re.escape(str(folder))) as caught:
        readers.read(path if path.parent == folder else folder, **options)
    said = str(caught.value)
    assert str(path) in said
    assert "\n" not in said
    assert len(said) < 500
    assert re.search(
        r"(Copy it again, or remove it|Correct or remove it|Remove it|Correct it|of any run)$",
        said,
    )


@pytest.mark.parametrize("text", CASES.values(), ids=CASES)
def test_states_of_a_trainer(tmp_path, text):
    path = tmp_path / "trainer_state.json"
    path.write_text(text)
    said_of(tmp_path, path)


@pytest.mark.plain(3)
@pytest.mark.parametrize("text", ["null", NESTED, "[1]", f'{{"lr": {LARGE}}}', r'{"lr": "\ud800"}', ""])
def test_configurations_of_trials(tmp_path, text):
    folder = shutil.copytree(TRIAL, tmp_path / TRIAL.name)
    (folder / "params.json").write_text(text)
    said_of(tmp_path, folder / "params.json", source="rllib")


@pytest.mark.parametrize(
    "line",
    ["null", NESTED, "[1]", f'{{"trial_id": "a", "training_iteration": {LARGE}}}'],
)
def test_results_of_trials(tmp_path, line):
    folder = shutil.copytree(TRIAL, tmp_path / TRIAL.name)
    (folder / "result.json").write_text(line + "\n")
    said_of(tmp_path, folder / "result.json", source="rllib")


@pytest.mark.parametrize("value", ["{}", '[{"a": 1}]', f"[{LARGE}]", r'["\ud800"]', NESTED])
def test_metrics_of_marl_eval(tmp_path, value):
    path = tmp_path / "metrics.json"
    path.write_text(METRICS % value)
    said_of(tmp_path, path)


@pytest.mark.parametrize(
    "text",
    [
        "- a=[[[[\n",
        "- 3: {\n",
        '- "a=\\ud800"\n',
        *(pytest.param(f"- a{by}{NESTED}\n", marks=pytest.mark.slow) for by in (": ", "=")),
    ],
)
def test_overrides_of_hydra(tmp_path, text):
    pytest.importorskip("yaml")
    path = tmp_path / "0" / ".hydra" / "overrides.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    (tmp_path / "0" / "log.csv").write_text("step,return\n0,1\n")
    said_of(tmp_path, path)


@pytest.mark.parametrize(
    "header",
    ["null", NESTED, f'{{"t_start": {LARGE}}}', '{"t_start": null}', '{"t_start": {}}'],
)
def test_headers_of_monitors(tmp_path, header):
    path = tmp_path / "monitor.csv"
    path.write_text(f"#{header}\nr,l,t\n1,2,3\n")
    said_of(tmp_path, path)


def _said(path):
    """Return what the package says of a file that it refuses, nothing of one that it reads."""
    try:
        assert isinstance(readers.read(path), pd.DataFrame)
    except ValueError as error:
        return str(error)
    return ""


@pytest.mark.slow
@pytest.mark.parametrize("number", [200, pytest.param(1000, marks=pytest.mark.slow)])
def test_mutated_files_are_read_or_refused_in_one_line(tmp_path, recwarn, number):
    """So many single-byte changes, insertions and cuts of real logs."""
    rng = np.random.default_rng(0)
    files = [log for log in LOGS.rglob("*") if log.is_file() and log.suffix in (".csv", ".json", ".log", ".npz")]
    files = [log for log in files if log.name not in ("writers.json", "history.json", "params.json")]
    n_refused = 0
    for trial in range(number):
        log = files[trial % len(files)]
        data = bytearray(log.read_bytes())
        place = int(rng.integers(len(data)))
        change = trial % 3
        if change == 0:
            data[place] = int(rng.integers(256))
        elif change == 1:
            data[place:place] = rng.bytes(int(rng.integers(1, 6)))
        else:
            del data[place:]
        path = tmp_path / log.name
        path.write_bytes(data)
        if log.name in ("result.json", "progress.csv"):
            shutil.copy(log.parent / "params.json", tmp_path / "params.json")
        said = _said(path)
        n_refused += bool(said)
        assert "\n" not in said
        assert not said or str(tmp_path) in said
        for left in tmp_path.iterdir():
            left.unlink()
    assert number / 5 < n_refused < number
