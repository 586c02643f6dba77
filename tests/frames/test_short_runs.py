"""Runs that end early are failed, left out or cut as asked, before anything is aligned, and said in every summary."""

import re
import warnings

import numpy as np
import pytest
import xarray as xr

import xcurves
from refusals import refused
from strategies import make_curves
from xcurves.core.refusal import give

SHORT = {(0, 2): 35_000.0, (0, 3): 35_000.0, (1, 4): 60_000.0}
LEVELS = 5000.0 * np.arange(21)


def crashed(short=SHORT):
    """Two algorithms of ten runs up to 100,000 steps; some end early, and one of the second failed at once."""
    values = np.random.default_rng(0).normal(size=(2, 10, 21))
    curves = make_curves(values + np.array([0.0, 1.0])[:, None, None], LEVELS)
    for (algorithm, run), end in short.items():
        curves[algorithm, run, end < LEVELS] = np.nan
    return curves


def own_levels(curves):
    frame = curves.to_dataframe().reset_index().dropna()
    return frame.curves.to_dataarray("score", levels="run")


def of_each_run(curves, fractions, how, worst=-np.inf):
    """What plain loops make of each run of one task at fractions of its budget."""
    runs = {}
    for i in range(curves.sizes["algorithm"]):
        for j in range(curves.sizes["run"]):
            scores = curves.values[i, j]
            runs[i, j] = [(t, y) for t, y in zip(LEVELS, scores, strict=True) if y == y]
    longest = max(rows[-1][0] for rows in runs.values())
    short = {key for key, rows in runs.items() if rows[-1][0] < 0.9 * longest}
    taken = runs
    if how in ("failed", "drop"):
        taken = {key: rows for key, rows in runs.items() if key not in short}
    budget = min(rows[-1][0] for rows in taken.values())
    made = np.full((*curves.shape[:2], len(fractions)), np.nan)
    for key, rows in runs.items():
        if how == "drop" and key in short:
            continue
        for place, fraction in enumerate(fractions):
            at = round(fraction * budget, 6)
            if at <= rows[-1][0]:
                made[(*key, place)] = np.interp(at, *zip(*rows, strict=True))
                # Between a score and the failure after it there is none.
            elif how == "failed":
                made[(*key, place)] = worst
    return made, budget


@pytest.mark.plain(4)
@pytest.mark.parametrize("how", ["failed", "drop", "cut"])
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("own", [False, True])
def test_fractions_of_a_budget_are_those_of_plain_loops(how, own, lazy):
    curves = crashed({**SHORT, (1, 0): 95_000.0})
    fractions = np.arange(1, 11) / 10
    expected, budget = of_each_run(curves, fractions, how)
    assert budget == {"failed": 95_000, "drop": 95_000, "cut": 35_000}[how]
    given = own_levels(curves) if own else curves
    if lazy:
        given = given.chunk()
    aligned = given.curves.align(10, relative_to="budget", runs_short=how)
    assert (aligned.chunks is not None) == lazy
    np.testing.assert_allclose(aligned.compute().to_numpy(), expected)


@pytest.mark.plain(2)
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize(
    ("how", "n_levels", "n_runs"),
    [("failed", 21, 20), ("drop", 21, 17), ("cut", 8, 20)],
)
def test_levels_that_all_runs_have(how, n_levels, n_runs, own):
    curves = crashed()
    given = own_levels(curves) if own else curves
    for on, kept in (("intersection", slice(n_levels)), ("final", [n_levels - 1])):
        aligned = given.curves.align(on, runs_short=how)
        np.testing.assert_array_equal(aligned.training, LEVELS[kept])
        expected = curves.isel(training=kept)
        if how == "failed":
            expected = expected.fillna(-np.inf)
        if how == "drop":
            expected = expected.where(curves.notnull().all("training"))
        np.testing.assert_array_equal(aligned, expected)
        assert aligned.notnull().any("training").sum() == n_runs


def test_a_run_is_short_below_nine_tenths_of_the_longest_of_its_task():
    curves = crashed({(0, 2): 90_000.0})
    with warnings.catch_warnings(action="error"):
        assert curves.curves.align("final").training.item() == 90_000
    with pytest.warns(UserWarning, match="1 of 20 runs ends before 90 %"):
        crashed({(0, 2): 85_000.0}).curves.align("final")
    # 0.9 times 0.1 is not 0.09 in binary.
    tenth = crashed({(0, 2): 90_000.0})
    tenth = tenth.assign_coords(training=np.round(LEVELS / 1e6, 3))
    with warnings.catch_warnings(action="error"):
        assert tenth.curves.align("final").training.item() == 0.09


def test_one_warning_names_the_runs_and_the_cures_in_their_order_and_each_works():
    curves = crashed()
    with pytest.warns(UserWarning, match="3 of 20 runs end before") as caught:
        cut = curves.curves.align(20)
    assert len(caught) == 1
    said = str(caught[0].message)
    assert "algorithm 'a0', run 2 at 35,000 of 100,000 (35 %)" in said
    assert "algorithm 'a1', run 4 at 60,000 of 100,000 (60 %)" in said
    cures = re.findall(r"runs_short='(\w+)'", said)
    assert cures == ["failed", "cut", "drop"]
    assert "up to 35 % of the longest only" in said
    fractions = np.arange(1, 21) / 20
    with warnings.catch_warnings(action="error"):
        for how in cures:
            aligned = curves.curves.align(20, runs_short=how)
            np.testing.assert_allclose(aligned, of_each_run(curves, fractions, how)[0])
            if how == "cut":
                xr.testing.assert_equal(aligned, cut)


def test_another_budget_is_no_failure():
    curves = crashed({(1, run): 60_000.0 - 500 * run for run in range(10)})
    with pytest.warns(UserWarning, match="algorithm 'a1', all runs, at 60,000") as e:
        curves.curves.align("intersection")
    said = str(e[0].message)
    assert "which is another budget" in said
    # To leave them out would leave one algorithm.
    assert re.findall(r"runs_short='(\w+)'", said) == ["cut", "failed"]
    three = xr.concat([curves, crashed().assign_coords(algorithm=["b0", "b1"])], "algorithm")
    with pytest.warns(UserWarning, match="another budget") as e:
        three.curves.align("intersection")
    # Runs that crashed at unlike levels have no budget of their own.
    unlike = crashed({(1, run): 10_000.0 + 5000 * run for run in range(10)})
    with pytest.warns(UserWarning, match="10 of 20") as e:
        unlike.curves.align("intersection")
    assert re.findall(r"runs_short='(\w+)'", str(e[0].message)) == ["failed", "cut"]


def test_the_worst_of_losses_is_inf():
    losses = crashed().rename("loss")
    assert (losses.curves.align("intersection", runs_short="failed") == np.inf).sum() == 34
    given = crashed().curves.align("intersection", runs_short="failed", higher_is_better=False)
    assert (given == np.inf).sum() == 34


@pytest.mark.slow
def test_every_summary_says_what_short_runs_count_as():
    options = {"n_resamples": 99, "rng": 0}
    failed = crashed().curves.align("intersection", runs_short="failed")
    assert failed.n_failed.to_numpy().tolist() == [2, 1]
    counts_as = (
        "3 of 20 runs end before 90 % of the longest of their task and count as failed from their last score on."
    )
    ranks = failed.isel(training=-1).curves.compare_distributions(rng=0)
    assert counts_as in ranks.curves.summary()
    filled = failed.curves.fill_failed("worst")
    # Those that were marked are not counted twice.
    assert filled.n_failed.to_numpy().tolist() == [2, 1]
    said = filled.curves.randomized_anova(**options).curves.summary()
    assert counts_as in said
    assert "3 of 20 runs failed and count as the worst score of their task at each level at which they failed." in said
    for how, words in (
        ("cut", "so that all runs are compared up to 35 % of the longest only."),
        (
            "drop",
            "3 of 20 runs end before 90 % of the longest of their task and are left out.",
        ),
    ):
        aligned = crashed().curves.align("intersection", runs_short=how)
        assert words in aligned.curves.randomized_anova(**options).curves.summary()
    with pytest.warns(UserWarning, match="end before"):
        aligned = crashed().curves.align("intersection")
    said = aligned.curves.randomized_anova(**options).curves.summary()
    assert "so that all runs are compared up to 35 % of the longest only." in said


def test_runs_filled_before_and_marked_later_are_both_counted():
    curves = crashed({(0, 2): 35_000.0})
    curves[1, 5] = -np.inf
    filled = curves.curves.fill_failed("worst")
    marked = filled.curves.align("intersection", runs_short="failed")
    assert marked.n_failed.to_numpy().tolist() == [1, 1]
    assert marked.curves.fill_failed(0.0).n_failed.to_numpy().tolist() == [1, 1]


@pytest.mark.plain(3)
@pytest.mark.parametrize("on", ["intersection", 20, "union", [0.0, 50_000.0, 100_000.0]])
@pytest.mark.parametrize("own", [False, True])
def test_runs_that_failed_cut_nothing_and_keep_their_score_to_the_end(on, own):
    curves = crashed({})
    curves[0, 2, 8:] = np.nan
    curves[0, 2, 7] = -np.inf  # it failed at 35,000
    curves[1, 3, 1:] = np.nan
    curves[1, 3, 0] = -np.inf  # and this one had no score at all
    given = own_levels(curves) if own else curves
    with warnings.catch_warnings(action="error"):
        aligned = given.curves.align(on)
    assert aligned.training[-1] in (1.0, 100_000.0)
    assert np.isneginf(aligned[1, 3]).all()
    at_end = aligned.isel(training=-1)
    assert np.isneginf(at_end).sum() == 2
    assert aligned.notnull().all()
    assert "2 runs that failed have their infinite score" in aligned.attrs["history"]
    assert aligned.curves.fill_failed(0.0).n_failed.to_numpy().tolist() == [1, 1]


def test_the_ends_without_scores_of_a_table_are_failures_before_it_is_aligned():
    frame = crashed({}).to_dataframe().reset_index()
    crash = (frame["algorithm"] == "a0") & (frame["run"] == 2)
    never = (frame["algorithm"] == "a1") & (frame["run"] == 3)
    frame.loc[(crash & (frame["training"] > 35_000)) | never, "score"] = np.nan
    # The log of one more ends.
    frame = frame[(frame["run"] != 4) | (frame["training"] <= 60_000)]
    rows = frame.curves.to_dataarray("score", missing_scores="failed", levels="run")
    aligned = rows.curves.align("intersection", runs_short="failed")
    assert aligned.sizes == {"algorithm": 2, "run": 10, "training": 21}
    assert aligned.n_failed.to_numpy().tolist() == [2, 2]
    with pytest.warns(UserWarning, match="2 of 20 runs end before") as caught:
        cut = frame.curves.to_dataarray("score", missing_scores="failed", on="intersection")
    assert cut.training[-1] == 60_000
    assert np.isneginf(cut.isel(training=-1)).sum() == 2
    # The cures of a frame begin with its option.
    for how in ("failed", "cut", "drop"):
        text = f"levels='run' and .curves.align('intersection', runs_short='{how}')"
        assert text in str(caught[0].message)


@pytest.mark.slow
def test_levels_that_are_named_are_not_cut():
    curves = crashed()
    with warnings.catch_warnings(action="error"):
        kept = curves.curves.align([0, 50_000, 100_000])
        assert kept.isnull().sum() == 5
        failed = curves.curves.align([0, 50_000, 100_000], runs_short="failed")
    assert np.isneginf(failed).sum() == 5
    dropped = curves.curves.align("union", runs_short="drop")
    assert dropped.notnull().all("training").sum() == 17
    for on in ([0, 50_000], "union"):
        with refused("runs_short", "cut", cure=give(on="intersection")) as e:
            curves.curves.align(on, runs_short="cut")
    assert "runs_short='cut'" in str(e.value)
    assert curves.curves.align("intersection", runs_short="cut").notnull().all()


def test_each_task_has_a_budget_of_its_own():
    tasks = xr.concat([crashed({}), crashed({(0, 1): 35_000.0}), crashed({})], "task").assign_coords(
        task=["x", "y", "z"]
    )
    with pytest.warns(UserWarning, match="task 'y': algorithm 'a0', run 1 at"):
        cut = tasks.curves.align("final")
    ends = cut.notnull().all(["algorithm", "run"])
    assert cut.training[ends.sel(task="y")] == 35_000
    assert cut.training[ends.sel(task="x")] == 100_000
    assert "of 1 of 3 tasks are compared up to 35 %" in cut.attrs["history"]


def test_an_algorithm_that_loses_all_runs_is_named():
    curves = crashed({(1, run): 60_000.0 for run in range(10)})
    with pytest.warns(UserWarning, match="algorithm 'a1': runs_short='drop' leaves no"):
        curves.curves.align("intersection", runs_short="drop")


def test_a_misspelt_way_is_refused():
    with refused("runs_short", "faild", cure="Did you mean 'failed'?"):
        crashed().curves.align("final", runs_short="faild")


@pytest.mark.parametrize(
    "call",
    [
        lambda data: xcurves.randomized_anova(data, n_resamples=19, rng=0),
        lambda data: xcurves.pairwise(data, n_resamples=19, rng=0),
    ],
)
def test_the_error_about_incomplete_runs_keeps_the_order_and_its_calls_work(call):
    curves = crashed()
    with refused("curves", ("'a0'", "2"), cure="runs_short='cut'") as error:
        call(curves)
    codes = re.findall(r"\.curves\.align\([^()]*\)(?:\.curves\.\w+\([^()]*\))?", str(error.value))
    assert [re.search(r"runs_short='(\w+)'", code)[1] for code in codes] == [
        "failed",
        "cut",
        "drop",
    ]
    worst = curves.min(["algorithm", "run"])
    expected = {
        "failed": curves.fillna(worst),
        "cut": curves.isel(training=slice(8)),
        "drop": curves.where(curves.notnull().all("training")),
    }
    for code in codes:
        how = re.search(r"runs_short='(\w+)'", code)[1]
        ready = eval(f"curves{code}", {"curves": curves})
        np.testing.assert_array_equal(ready, expected[how])
        found, right = call(ready), call(expected[how])
        for name in ("pvalue", "difference"):
            if name in found:
                np.testing.assert_array_equal(found[name], right[name])
