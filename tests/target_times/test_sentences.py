"""What is said of speed-ups in one task."""

import warnings

import numpy as np
import pytest
import xarray as xr

import xcurves


def test_comparisons_that_are_shown_stand_first_and_each_stands_once():
    step, rng = np.arange(1.0, 21), np.random.default_rng(3)
    speeds = {"reference": 1.0, "noisy": 1.0, "restless": 1.1, "slow": 0.5, "fast": 2.0}
    noise = {"noisy": 30.0, "restless": 30.0}
    scores = [
        100 * (1 - np.exp(-speed * step / 8)) + rng.normal(scale=noise.get(name, 0.5), size=(6, 1))
        for name, speed in speeds.items()
    ]
    curves = xr.DataArray(scores, {"algorithm": list(speeds), "training": step}, ("algorithm", "run", "training"))
    answer, *others = xcurves.summary(xcurves.speedup(curves, reference="reference", target=60.0)).split("\n")
    assert not any("not the inverse" in line for line in others)
    assert "not the inverse" in xcurves.summary(xcurves.speedup(curves, reference="reference"))
    fast, slow = answer.index("fast: "), answer.index("slow: ")
    assert ", sooner, p" in answer[fast:slow]
    assert ", later, p" in answer[slow:]
    noisy = [name for name in noise if f"; {name}: " in answer]
    assert answer.index(f"{noisy[0]}: ") > slow
    assert answer.endswith("; and 1 more.")
    (left,) = set(noise) - set(noisy)
    assert others[0].startswith(f"{left}: ")
    assert "not shown to differ" in others[0]
    assert not any(line.startswith(f"{name}: ") for line in others[1:] for name in speeds)


def test_runs_that_stop_at_the_target_are_compared_by_their_times_which_have_intervals_over_tasks_only():
    stopped = np.array([[0.0, 1, 2, 2, 3], [1, 2, 3, np.nan, np.nan], [1, 3, np.nan, np.nan, np.nan]])
    curves = xr.DataArray(
        [stopped, stopped[[0, 0, 2]]],
        {"algorithm": ["a", "b"], "run": range(3), "training": [1.0, 2, 3, 4, 5]},
        ("algorithm", "run", "training"),
    )
    with pytest.warns(UserWarning, match=r"or compare time_to_target\(\) of runs that stop at the target$"):
        xcurves.speedup(curves, reference="a", target=3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer = xcurves.speedup(xcurves.time_to_target(curves, 3.0), reference="a")
    assert answer.speedup.values.tolist() == [3 / 5]
    assert "Ratios of given times have an interval over tasks only: task=." in xcurves.summary(answer)
