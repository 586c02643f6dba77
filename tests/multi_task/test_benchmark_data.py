"""Whole benchmarks: published curves from their raw table to figures and archive, and many tasks in chunks."""

import dask
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xcurves
from lazy import refuse_to_compute
from places import SHARED

TDMPC2 = SHARED / "data" / "tdmpc2_results.csv.gz"


@pytest.mark.slow
@pytest.mark.skipif(not TDMPC2.exists(), reason=f"no {TDMPC2.name} beside the repository")
def test_39_tasks_from_a_table_to_answer_figures_and_archive_in_ten_lines(tmp_path):
    pytest.importorskip("h5netcdf")
    pytest.importorskip("matplotlib.pyplot")
    frame = pd.read_csv(TDMPC2)
    frame = frame[frame.algorithm.isin(["tdmpc2", "dreamerv3"])].dropna(subset="reward")
    curves = frame.curves.to_dataarray("reward", run="seed", training="step", extra="task", on="intersection")
    answer = curves.curves.across_tasks(reference="dreamerv3", rng=0)  # many tasks carry the mean: no warning
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
    assert first.startswith(f"tdmpc2 has the higher mean over 39 tasks, {answer.score_mean.max().item():.3g}; on tasks")
    assert "shown higher than dreamerv3 (209, " in first
    assert len(forest.get_yticklabels()) == 39 + 2
    assert figure.get_legend_handles_labels()[1] == ["dreamerv3", "tdmpc2"]
    written = xcurves.archive.read(tmp_path / "tdmpc2.nc")
    xr.testing.assert_identical(written["across_tasks"].to_dataset(), answer)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:runs differ")  # by chance: three runs of each
def test_a_thousand_tasks_in_chunks_are_lazy_to_the_end_and_the_same():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(1000, 2, 3, 4)) + 0.3 * rng.normal(size=(1000, 2, 1, 1))
    values[:, 1] += 0.2
    values[::7, :, :, 3] = np.nan  # grids of their own
    values[5, 0] = np.nan  # an algorithm that has no run
    coords = {"task": range(1000), "algorithm": ["a", "b"], "training": [1.0, 2, 3, 4]}
    curves = xr.DataArray(values, coords, ("task", "algorithm", "run", "training"))
    for method, options in (
        ("across_tasks", {"n_resamples": 99, "rng": 0}),
        ("profile_across_tasks", {"n_resamples": 99, "rng": 0, "fractions": 4}),
    ):
        function = getattr(xcurves, method)
        with dask.config.set(scheduler=refuse_to_compute):
            lazy = function(curves.chunk(task=64), **options)
        assert all(variable.chunks for variable in lazy.data_vars.values())
        whole = function(curves, **options)
        assert whole.n_tasks.item() == 999
        xr.testing.assert_allclose(lazy.compute(), whole)
