"""Runs that failed by their state have the worst score, in Python and in the shell; those that were ended are asked."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from refusals import refused
from xcurves.core.refusal import call


def runs(state: str, score: float = np.nan, value: str = "acc") -> pd.DataFrame:
    """Return three runs of each of two models, the first of which ended in a state."""
    frame = pd.DataFrame({"model": np.repeat(["a", "b"], 3), "seed": [0, 1, 2] * 2, "state": "finished"})
    frame[value] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    frame.loc[0, ["state", value]] = [state, score]
    return frame


@pytest.mark.parametrize("state", ["crashed", "FAIL", "failed"])
@pytest.mark.parametrize(("value", "worst"), [("acc", -np.inf), ("val_loss", np.inf)])
def test_a_run_that_failed_has_the_worst_score(state, value, worst):
    curves = runs(state, value=value).curves.to_dataarray()
    assert curves.sel(algorithm="a", run=0).item() == worst
    assert int(np.isfinite(curves).sum()) == 5
    assert "one row of runs that failed" in curves.attrs["history"]


def test_a_score_of_a_failed_run_counts_alike_at_one_step_and_without_steps():
    frame = runs("failed", 0.9)
    without, at_one_step = (frame.assign(**step).curves.to_dataarray() for step in ({}, {"step": 0}))
    for curves in (without, at_one_step):
        assert curves.sel(algorithm="a", run=0).item() == -np.inf
        assert "one row of runs that failed" in curves.attrs["history"]


def test_a_run_that_was_killed_is_asked_and_counts_as_it_is_said():
    frame = runs("killed", 0.9)
    with refused("frame", cure=call("frame.curves.to_dataarray", missing_scores="failed")) as caught:
        frame.curves.to_dataarray()
    without, failed = (eval(call, {"frame": frame}) for call in map(str, caught.value.cure.calls))
    assert int(np.isfinite(without).sum()) == int(np.isfinite(failed).sum()) == 5
    assert np.isnan(without.sel(algorithm="a").min(skipna=False))
    assert failed.sel(algorithm="a", run=0).item() == -np.inf
