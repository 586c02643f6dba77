import re

import numpy as np
import pandas as pd
import pytest

import xcurves
from strategies import make_scores


@pytest.fixture(scope="module")
def scores():
    values = np.random.default_rng(0).normal(size=(2, 2, 12)).round(2)
    return make_scores(values, task=["x", "y"], algorithm=["a", "b"], run=np.arange(12))


def test_table_has_a_row_for_each_statistic_with_its_own_interval(scores):
    result = xcurves.performance_cdf(scores, cvar_level=[0.5, 0.9], threshold=[0, 1], target=2, bounds=(-4, 4))
    table = result.curves.table()
    assert table.columns.tolist() == ["value", "lower", "upper"]
    assert table.index.names == ["task", "algorithm", "statistic"]
    here, group = table.loc["y", "a"], result.sel(task="y", algorithm="a")
    for name in ("score_mean", "score_median", "score_std", "iqm", "optimality_gap"):
        assert here.loc[name, "value"] == group[name]
    for level in (0.5, 0.9):
        assert here.loc[f"cvar {level}", "value"] == group.cvar.sel(cvar_level=level)
        assert here.loc[f"cvar_lower {level}", "value"] == group.cvar_lower.sel(cvar_level=level)
    for threshold in (0, 1):
        assert here.loc[f"prob_above {threshold}", "value"] == group.prob_above.sel(threshold=threshold)
        assert here.loc[f"partial_mean_above {threshold}", "value"] == group.partial_mean_above.sel(threshold=threshold)
    np.testing.assert_array_equal(here[["lower", "upper"]], group.statistic_ci)
    known = here.dropna()
    assert ((known["lower"] <= known["value"]) & (known["value"] <= known["upper"])).all()


def test_summary_says_what_intervals_there_are(scores):
    # the answer comes first
    said = xcurves.performance_cdf(scores.sel(task="x")).curves.summary().split("\n")[1:]
    alone = xcurves.performance_cdf(scores[0, 0])
    low, high = alone.statistic_ci.sel(param="score_median").values
    assert said[0].startswith("algorithm 'a': 12 trials: mean ")
    # two digits of the estimate, .07, which is far smaller than its interval
    median = alone.score_median.item()
    assert 0.01 < abs(median) < 0.1
    said_median = f"median {median:.3f} ({low:.3f} to {high:.3f})".replace("-", "−")
    assert said_median in said[0]
    assert "inf" not in said[0]
    assert "(at most " in said[0]
    assert "not independent" in said[-1]


@pytest.mark.filterwarnings("ignore:.*few for a bootstrap")
def test_summary_of_a_bootstrap_says_where_it_is_poor(scores):
    pool = {
        "dim": ("task", "run"),
        "n_resamples": 19,
        "rng": 0,
        "interval": "percentile",
    }
    said = xcurves.performance_cdf(scores, **pool, strata="task", confidence_level=0.9).curves.summary()
    assert "90 % intervals" in said
    assert "percentile bootstrap intervals, within task: approximate, and too short for few trials" in said
    by_unit = xcurves.performance_cdf(scores, **pool, unit="run").curves.summary()
    assert "of whole labels of 'run'" in by_unit


def test_summary_says_between_which_scores_a_share_of_trials_lies(scores):
    found = xcurves.performance_cdf(scores[0], tolerance=0.5)
    low, high = found.tolerance.sel(algorithm="a").values
    said = found.curves.summary()
    assert (
        "algorithm 'a': with a confidence of 95 %, 50 % of all trials, not only of these, lie between "
        + f"{low:.3g}".replace("-", "−")
        in said
    )
    more = xcurves.performance_cdf(scores[0], tolerance=0.9).curves.summary()
    assert "algorithm 'a': to say between which scores 90 % of all trials lie takes 46 trials." in more


def test_summary_of_lower_is_better_says_so(scores):
    said = xcurves.performance_cdf(scores[0], threshold=0.5, higher_is_better=False).curves.summary()
    assert "share of scores at most 0.5" in said
    assert "mean of the best 50 %" in said


def test_groups_without_trials_have_nothing_to_say(scores):
    scores = scores.where(scores.algorithm != "b")
    with pytest.warns(UserWarning, match="no trial"):
        said = xcurves.performance_cdf(scores[0]).curves.summary().split("\n")
    assert said[2] == "algorithm 'b': no trial."
    with pytest.warns(UserWarning, match="no trial"):
        pairs = xcurves.compare_distributions(scores[0])
    assert pairs.curves.summary().startswith("No pair could be compared: trials are missing.\nThe band holds")


def test_comparisons_are_told_pair_by_pair():
    values = np.stack([np.arange(60.0), np.arange(60.0) + 100, np.arange(60.0)])
    scores = make_scores(values, algorithm=["a", "b", "c"], run=np.arange(60))
    result = xcurves.compare_distributions(scores)
    answer, *said = result.curves.summary().split("\n")
    by = r"with probability 1\.000 \(0\.9\d\d to 1\.000\) against \w, the nearest\."
    assert re.fullmatch(
        rf"b has the higher score most often\. It is shown to be likelier to score higher than all others, {by}", answer
    )
    assert said[0] == (
        "a and b: b scores higher somewhere outside the band and is nowhere shown to score lower; KS distance 1, "
        "p < .001."
    )
    assert said[1].startswith("a and c: nowhere does one of them score higher outside the band")
    assert "its p is adjusted over pairs by Holm" in said[3]
    assert "for distributions of similar spread" in said[3]
    assert said[4] == "Intervals hold for the 3 pairs together."
    assert "similar spread" in result.prob_greater_ci.attrs["interval"]
    assert "10,000" in result.ks_pvalue.attrs["method"]
    table = result.curves.table()
    assert table.columns.tolist() == [
        "prob_greater",
        "lower",
        "upper",
        "dominance",
        "KS",
        "p",
    ]
    # the clearest first, the likelier one before
    assert table.index.tolist() == ["b over a", "b over c", "a and c"]
    assert table["prob_greater"].tolist() == [1, 1, 0.5]
    assert table["dominance"].tolist() == [1, 1, 0]


@pytest.mark.plain(1)
@pytest.mark.parametrize("at", [{"cvar_level": [1]}, {"cvar_level": 1}, {"threshold": [0]}, {"threshold": 0}])
def test_a_result_can_be_reduced_to_some_levels(scores, at):
    result = xcurves.performance_cdf(scores, cvar_level=[0.5, 0.9], threshold=[0, 1])
    whole, part = result.curves.table(), result.isel(at).curves.table()
    gone = ["cvar 0.5", "cvar_lower 0.5"] if "cvar_level" in at else ["partial_mean_above 1", "prob_above 1"]
    kept = whole.loc[~whole.index.get_level_values("statistic").isin(gone)]
    pd.testing.assert_frame_equal(part, kept)
    assert "best 50 %" not in result.isel(cvar_level=1).curves.summary()
    assert "best 10 % " in result.isel(cvar_level=1).curves.summary()
