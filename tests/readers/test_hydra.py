"""A sweep of six jobs, written as Hydra writes it; in the slow run the real Hydra ran it too."""

import shutil
import subprocess
import sys

import pytest

from layers import slow
from refusals import refused
from xcurves.readers import hydra as reader
from xcurves.readers import read

pytest.importorskip("yaml")
APP = """
import csv
import hydra
from pathlib import Path

@hydra.main(version_base=None, config_path=None)
def main(cfg):
    folder = Path(hydra.core.hydra_config.HydraConfig.get().runtime.output_dir) / "logs"
    folder.mkdir()
    with open(folder / "returns.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["step", "return"])
        rows.writerows([step, cfg.seed * 10 + step + (cfg.agent == "sac") * (step + 1)] for step in range(3))

main()
"""


def written(folder):
    """A sweep whose files are written here."""
    for job, (agent, seed) in enumerate((agent, seed) for agent in ("sac", "td3") for seed in (1, 2, 3)):
        home = folder / "sweep" / str(job)
        (home / ".hydra").mkdir(parents=True)
        (home / ".hydra" / "overrides.yaml").write_text(f"- +agent={agent}\n- +seed={seed}\n- +optimizer.lr=0.1\n")
        (home / "logs").mkdir()
        rows = (f"{step},{seed * 10 + step + (agent == 'sac') * (step + 1)}\n" for step in range(3))
        (home / "logs" / "returns.csv").write_text("step,return\n" + "".join(rows))


def ran(folder):
    """A sweep of the real Hydra."""
    pytest.importorskip("hydra")
    (folder / "app.py").write_text(APP)
    command = [
        sys.executable,
        "app.py",
        "--multirun",
        "+agent=sac,td3",
        "+seed=1,2,3",
        "+optimizer.lr=0.1",
    ]
    subprocess.run([*command, "hydra.sweep.dir=sweep"], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module", params=[written, slow(ran)])
def swept(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hydra")
    request.param(folder)
    return folder / "sweep"


@pytest.fixture
def sweep(swept, tmp_path):
    return shutil.copytree(swept, tmp_path / "sweep")


def test_overrides_become_columns_of_each_job(sweep):
    frame = read(sweep)
    assert list(frame) == ["job", "agent", "seed", "optimizer.lr", "step", "return"]
    assert frame["optimizer.lr"].unique().tolist() == [0.1]
    assert frame.attrs["source"] == "6 jobs of Hydra below sweep: CSV"
    curves = frame.curves.to_dataarray("return", algorithm="agent", run="seed", training="step")
    assert curves.sel(algorithm="sac", run=2).values.tolist() == [21, 23, 25]
    assert curves.sel(algorithm="td3", run=3).values.tolist() == [30, 31, 32]
    curves.curves.randomized_anova(confidence_level=0.5)


def test_jobs_that_override_other_things_are_refused(sweep):
    overrides = sweep / "3" / ".hydra" / "overrides.yaml"
    whole = overrides.read_text()
    overrides.write_text(whole[: whole.index("- +seed")])
    with refused(
        "path",
        cure="Read them separately",
        names=f"^{sweep}/3 and {sweep}/0 do not override the same: optimizer.lr, seed",
    ):
        reader.multirun(sweep)
    overrides.write_text("- 'a\n")
    with refused("path", str(overrides), "Copy it again, or remove it", names="damaged or no overrides: "):
        reader.multirun(sweep)


def test_jobs_without_logs_or_with_logs_of_several_runs_are_refused(sweep):
    (sweep / "2" / "logs" / "returns.csv").unlink()
    with refused("path", str(sweep / "2"), "help(xcurves.readers.read)", names="(is|holds) nothing that is recognised"):
        reader.multirun(sweep)
    (sweep / "2" / "other").mkdir()
    for folder in ("logs", "other"):
        (sweep / "2" / folder / "returns.csv").write_text("step,return\n0,1\n")
    reason = f"^{sweep}/2 has logs in 2 folders, such as {sweep}/2/logs and {sweep}/2/other"
    with refused("path", cure="move the others out of the job", names=reason):
        reader.multirun(sweep)


def test_a_column_that_is_overridden_too_is_refused(sweep):
    for path in sweep.rglob("returns.csv"):
        path.write_text("seed,return\n0,1\n")
    with refused("path", cure="Rename the column of the log", names=r"logs 'seed', which is.*column of the log"):
        reader.multirun(sweep)
