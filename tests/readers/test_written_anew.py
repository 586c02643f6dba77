"""Evaluations that their packages write today are read as those kept in the tests were."""

import os
import subprocess
import venv
from pathlib import Path

import pytest

from xcurves import readers

HERE = Path(__file__).parent
pytestmark = [
    pytest.mark.environment,
    pytest.mark.filterwarnings("ignore:1 scores are no numbers:UserWarning"),
    pytest.mark.filterwarnings("ignore:1 groups of benchmarks:UserWarning"),
]


@pytest.mark.parametrize(
    ("package", "sources"),
    [
        ("lm_eval", ["lm-eval", "lm-eval-samples"]),
        ("inspect-ai", ["inspect"]),
        ("sacred", ["sacred"]),
        ("ioh", ["iohprofiler"]),
        ("coco-experiment", ["coco"]),
        ("pytest-benchmark", ["pytest-benchmark"]),
    ],
)
def test_what_a_package_writes_is_read_alike(tmp_path, package, sources):
    """An interpreter that has the package is made, or is the one that XCURVES_ and its name say."""
    python = os.environ.get(f"XCURVES_{package.upper().replace('-', '_')}")
    if python is None:
        venv.create(tmp_path / "venv", with_pip=True)
        folder = "Scripts" if os.name == "nt" else "bin"
        python = str(tmp_path / "venv" / folder / "python")
        command = [python, "-m", "pip", "install", "--quiet", "--retries", "1", package]
        done = subprocess.run([*command, "numpy"], capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"{package} cannot be installed: {done.stderr.strip()[-200:]}")
    logs = tmp_path / "logs"
    logs.mkdir()
    script = str(HERE / "write_logs.py")
    done = subprocess.run([python, script, "--into", str(logs), package], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for source in sources:
        anew = readers.read(logs / package, source=source)
        kept = readers.read(HERE / "logs" / package, source=source)
        assert list(anew) == list(kept)
        for name in {"algorithm", "task", "item", "run"} & set(kept):
            assert set(anew[name]) == set(kept[name])
