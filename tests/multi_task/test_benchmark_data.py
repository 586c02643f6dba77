"""Whole benchmarks: published curves from their raw table to figures and archive, and many tasks in chunks."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xcurves
from places import SHARED

TDMPC2 = SHARED / "data" / "tdmpc2_results.csv.gz"


@pytest.mark.slow
@pytest.mark.skipif(not TDMPC2.exists(), reason=f"no {TDMPC2.name} beside the repository")
def test_39_tasks_from_a_table_to_answer_figures_and_archive_in_ten_lines(tmp_path):
    pytest.importorskip("h5netcdf")
    pytest.importorskip("matplotlib.pyplot")
    frame = pd.read_csv(TDMPC2)
    frame = frame[frame.algorithm.isin(["tdmpc2", "dreamerv3"])].dropna(subset="reward")
    curves = frame.curves.to_dataarray("reward", run="seed", training="step", extra="task")
    # one run of 234 ends early
    curves = curves.curves.align("intersection", runs_short="cut")
    # many tasks carry the mean: no warning
    answer = curves.curves.across_tasks(reference="dreamerv3", rng=0)
    profile = curves.curves.profile_across_tasks(reference="dreamerv3", rng=0)
    forest = answer.curves.plot("forest")
    figure = profile.curves.plot()
    tree = xr.DataTree.from_dict({"across_tasks": answer, "profile_across_tasks": profile})
    xcurves.archive.write(tree, tmp_path / "tdmpc2.nc")

    assert answer.n_tasks.item() == 39
    of_task = {}
    for task, rows in frame.groupby("task"):
        steps = rows.groupby("step").size()
        common = rows[rows.step.isin(steps.index[steps == 6])]
        means = common.groupby(["algorithm", "seed"]).reward.mean().groupby("algorithm").mean()
        of_task[task] = means["tdmpc2"] - means["dreamerv3"]
    np.testing.assert_allclose(answer.task_difference[0], [of_task[task] for task in answer.task.values])
    np.testing.assert_allclose(answer.difference, np.mean(list(of_task.values())))
    first = answer.curves.summary().split("\n")[0]
    mean = f"{answer.score_mean.max().item():.3g}"
    assert first.startswith(f"tdmpc2 has the higher mean reward, {mean} over 39 tasks. On tasks like these it is shown")
    assert "to be higher than dreamerv3, by 209 (" in first
    assert len(forest.get_yticklabels()) == 39 + 2
    assert figure.get_legend_handles_labels()[1] == ["dreamerv3", "tdmpc2"]
    written = xcurves.archive.read(tmp_path / "tdmpc2.nc")
    xr.testing.assert_identical(written["across_tasks"].to_dataset(), answer)
