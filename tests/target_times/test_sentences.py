"""What is said of speed-ups in one task."""

import re
import warnings

import numpy as np
import pytest
import xarray as xr

import xcurves
from layers import slow
from xcurves.core.scales import SPEED
from xcurves.say.compared_pairs import Compared
from xcurves.say.numbers import number
from xcurves.say.pairs import PairRow
from xcurves.say.verdict import MOST_WORDS, reference_sentence


@pytest.mark.slow
def test_comparisons_that_are_shown_stand_first_and_each_stands_once():
    step, rng = np.arange(1.0, 21), np.random.default_rng(3)
    speeds = {"reference": 1.0, "noisy": 1.0, "restless": 1.1, "slow": 0.5, "fast": 2.0}
    noise = {"noisy": 30.0, "restless": 30.0}
    scores = [
        100 * (1 - np.exp(-speed * step / 8)) + rng.normal(scale=noise.get(name, 0.5), size=(6, 1))
        for name, speed in speeds.items()
    ]
    training = ("training", step, {"units": "games"})
    curves = xr.DataArray(
        scores,
        {"algorithm": list(speeds), "training": training},
        ("algorithm", "run", "training"),
        name="score",
    )
    answer, *others = xcurves.summary(xcurves.speedup(curves, reference="reference", target=60.0)).split("\n")
    assert not any("not the inverse" in line for line in others)
    assert "not the inverse" in xcurves.summary(xcurves.speedup(curves, reference="reference"))
    start, faster, slower, rest = re.split("(?<=games\\)): |; ", answer)
    assert start == "Beside reference, in time to 60 (which it reaches at 7.37 games)"
    assert re.fullmatch(r"fast \([\d.]+ times as fast: .*\) is shown to be faster", faster)
    assert re.fullmatch(r"slow \(0\.[\d]+ times as fast: .*\) is shown to be slower", slower)
    assert rest.endswith("are not shown to differ.")
    assert all(f"{name} (" in rest for name in noise)
    assert re.fullmatch(r"fast reaches the level [\d.]+ games sooner\.", others[0])
    assert re.fullmatch(r"slow reaches the level [\d.]+ games later\.", others[1])


def test_runs_that_stop_at_the_target_are_compared_by_their_times_which_have_intervals_over_tasks_only():
    stopped = np.array([[0.0, 1, 2, 2, 3], [1, 2, 3, np.nan, np.nan], [1, 3, np.nan, np.nan, np.nan]])
    curves = xr.DataArray(
        [stopped, stopped[[0, 0, 2]]],
        {"algorithm": ["a", "b"], "run": range(3), "training": [1.0, 2, 3, 4, 5]},
        ("algorithm", "run", "training"),
    )
    with pytest.warns(
        UserWarning,
        match=r"or compare time_to_target\(\) of runs that stop at the target$",
    ):
        xcurves.speedup(curves, reference="a", target=3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer = xcurves.speedup(xcurves.time_to_target(curves, 3.0), reference="a")
    assert answer.speedup.values.tolist() == [3 / 5]
    assert "Ratios of given times have an interval over tasks only: task=." in xcurves.summary(answer)


def saturating(speed, step):
    return 100 * (1 - np.exp(-speed * step / 8))


def drawn(rng, n_algorithms, *, sd=4.0, n_runs=5):
    """Return rising curves of a reference and others, some as fast as it."""
    step = np.arange(1.0, 21)
    speeds = [1.0, *rng.choice([0.6, 1.0, 1.0, 1.4], n_algorithms - 1)]
    scores = [saturating(speed, step) + rng.normal(scale=sd, size=(n_runs, 1)) for speed in speeds]
    scores += rng.normal(scale=1.0, size=(n_algorithms, n_runs, len(step)))
    names = [f"method_{letter}" for letter in "abcdefgh"[:n_algorithms]]
    coords = {
        "algorithm": names,
        "run": range(n_runs),
        "training": ("training", step, {"units": "games"}),
    }
    return xr.DataArray(scores, coords, ("algorithm", "run", "training"))


def summary_of(answer):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return xcurves.summary(answer)


def is_closed(interval):
    return bool(((interval > 0) & np.isfinite(interval)).all())


@pytest.mark.slow
def test_the_summary_goes_on_with_the_level_of_most_of_the_rise_where_the_last_one_leaves_an_end_open():
    curves = drawn(np.random.default_rng(1), 3).rename("score")
    answer = xcurves.speedup(curves, reference="method_a")
    assert not is_closed(answer["speedup_ci_simultaneous"])
    said = summary_of(answer).split("\n")[1]
    level, time = answer["rise_level"].item(), answer["rise_reference_time"].item()
    where = f"{number(level)} at {number(time)} games"
    assert said.startswith(f"To the level where method_a had 90 % of its rise ({where}): ")
    assert "method_b" in said
    assert "method_c" in said
    step = curves["training"].to_numpy()
    runs = np.random.default_rng(2).normal(scale=0.3, size=(2, 6, 1)) + saturating(np.array([[[1.0]], [[1.6]]]), step)
    two = curves.isel(algorithm=[0, 1], run=[0]).reindex(run=range(6)).copy(data=runs)
    clear = xcurves.speedup(two, reference="method_a")
    assert is_closed(clear["speedup_ci_simultaneous"])
    assert "of its rise" not in summary_of(clear)


@pytest.mark.slow
def test_too_flat_or_too_noisy_is_said_only_where_that_is_the_reason():
    step = np.arange(1.0, 9)
    flat = np.random.default_rng(0).normal(50, 5, (2, 3, 8))
    curves = xr.DataArray(
        flat,
        {"algorithm": ["a", "b"], "training": step},
        ("algorithm", "run", "training"),
    )
    assert "too flat" in summary_of(xcurves.speedup(curves, reference="a", target=50.0))
    rising = drawn(np.random.default_rng(2), 2, sd=0.5)
    with pytest.warns(UserWarning, match="no run reaches the target"):
        beyond = xcurves.speedup(rising, reference="method_a", target=300.0)
    assert "too flat" not in summary_of(beyond)
    ended = rising.where((rising["algorithm"] == "method_a") | (rising["training"] < 6))
    assert "too flat" not in summary_of(xcurves.speedup(ended, reference="method_a"))
    times = xcurves.time_to_target(rising, 60.0)
    assert "too flat" not in summary_of(xcurves.speedup(times, reference="method_a"))


def row(name, amount, half, shown):
    return PairRow(name, "base", amount, amount - half, amount + half, 0.01 if shown else 0.5, shown)


def test_beside_a_reference_those_that_are_shown_to_differ_are_named_first():
    rows = [
        *(row(f"fast_method_number_{i}", 2.0 + i, 0.5, True) for i in range(2)),
        *(row(f"slow_method_number_{i}", -2.0 - i, 0.5, True) for i in range(2)),
        *(row(f"other_method_number_{i}", 0.1 * i + 0.1, 3.0, False) for i in range(4)),
    ]
    made = Compared(rows=rows, algorithms=[], may_be_best=[], score="mean score", means=None)
    whole = reference_sentence(made, "base")
    assert all(each.better in whole for each in rows)
    short = reference_sentence(made, "base", 4, 1)
    assert all((each.better in short) == (each.shown or each.better == "other_method_number_3") for each in rows)
    assert "and 3 more are not shown to differ" in short


@pytest.mark.slow
def test_both_claims_are_in_the_answer_only_if_each_names_what_it_shows():
    step = np.arange(1.0, 21)
    speeds = [1.0, 2.0, 1.8, 0.5, 1.0, 1.0]
    names = ["base", *(f"a_method_of_name_{i}" for i in range(5))]
    scores = [[saturating(speed, step) + np.zeros((4, 1)) for speed in speeds] for _ in range(8)]
    scores = np.array(scores) + np.random.default_rng(1).normal(scale=0.5, size=(8, 6, 4, 20))
    coords = {"task": list("abcdefgh"), "algorithm": names, "run": range(4), "training": step}
    answer = xcurves.speedup(xr.DataArray(scores, coords, tuple(coords)), reference="base", target=60.0, task="task")
    first = summary_of(answer).split("\n")[0]
    assert len(first.split()) <= MOST_WORDS
    for pair in answer.curves.to_dict()["pairs"]:
        other = pair["first"] if pair["second"] == "base" else pair["second"]
        assert not pair["shown"] or other in first


def test_profiles_of_too_few_tasks_say_how_many_are_the_fewest_and_for_which_tasks_they_hold():
    rng = np.random.default_rng(2)
    times = xr.DataArray(
        rng.uniform(1, 2, (2, 5, 2, 3)) + np.array([0.0, 3.0])[:, np.newaxis],
        {"suite": ["u", "v"], "task": list("abcde"), "algorithm": ["quick", "slow"], "run": range(3)},
        ["suite", "task", "algorithm", "run"],
    )
    one = xcurves.performance_profile(times[0], rng=0)
    assert "With 5 tasks no p can be below 0.0625: add tasks: 6 are the fewest." in one.curves.summary()
    assert one.curves.to_dict()["next"]["tasks"] == 1
    both = xcurves.performance_profile(times, task="task", rng=0).curves.summary().split("\n")
    assert both[0].startswith(
        "The highest score up to 4 times the best of 2 suites: quick in 2. In none of them, each "
    )
    assert both[0].endswith(" the best shown to be higher than the other on tasks like these.")
    assert both[1].startswith("With 5 tasks no adjusted p of these 2 pairs can be below 0.0625: ")


@pytest.mark.plain(1)
@pytest.mark.parametrize("target", [None, 60.0])
@pytest.mark.parametrize("n_algorithms", [2, slow(3), 4, slow(5), slow(8)])
@pytest.mark.parametrize("seeds", [range(4), pytest.param(range(4, 60), marks=pytest.mark.slow)])
def test_sentence_table_and_p_of_a_comparison_agree(n_algorithms, seeds, target):
    for seed in seeds:
        answer = xcurves.speedup(
            drawn(np.random.default_rng([seed, 7]), n_algorithms),
            reference="method_a",
            target=target,
        )
        said, table = summary_of(answer), answer.curves.table()
        assert table.attrs["interval"].endswith("all pairs together") == (n_algorithms > 2)
        for name, row in table.iterrows():
            p = answer["pvalue_adjusted"].sel(algorithm=name).item()
            np.testing.assert_array_equal(row["p"], p)
            if np.isnan(p):
                continue
            shown = p <= 0.05 + 1e-12
            sides = (row["lower"] >= 1) or (row["upper"] <= 1)
            assert sides == shown
            first = said.split("\n")[0]
            own = [clause for clause in re.split(r"; (?![^()]*\))|: (?=method)", first) if f"{name} (" in clause]
            if not own:
                # one of many that are not named
                assert " more " in first
                continue
            assert ("not shown to differ" in own[0]) == (not shown)
            if shown:
                assert ("shown to be faster" in own[0]) == (row["lower"] >= 1)


def test_without_an_estimate_the_interval_says_which_is_faster():
    nan, inf = np.nan, np.inf
    rows = [
        PairRow("fast", "base", nan, np.log(2.0), inf, 0.01, True),
        PairRow("slow", "base", nan, -inf, np.log(0.5), 0.01, True),
        PairRow("near", "base", nan, -inf, np.log(1.5), 0.01, True),
        PairRow("open", "base", nan, -inf, inf, 0.4, False),
    ]
    made = Compared(rows, ["fast", "slow", "near", "open", "base"], [], "time to 8", means=None, scale=SPEED)
    assert reference_sentence(made, "base") == (
        "Beside base, in time to 8: fast (at least 2 times as fast) is shown to be faster; slow (at most 0.5 times as "
        "fast) is shown to be slower; near (at most 1.5 times as fast) and open (interval unbounded) are not shown to "
        "differ."
    )


def _rising(speeds, n_tasks=1):
    """Return curves of six runs that rise at these speeds, of tasks that are alike but for noise."""
    step, rng = np.arange(1.0, 21), np.random.default_rng(5)
    rise = 100 * (1 - np.exp(-np.array(list(speeds.values()))[:, np.newaxis, np.newaxis] * step / 8))
    coords = {"task": np.arange(n_tasks), "algorithm": list(speeds), "run": range(6), "training": step}
    values = rise + rng.normal(scale=0.5, size=(n_tasks, len(speeds), 6, len(step)))
    return xr.DataArray(values, coords, list(coords), name="score")


@pytest.mark.filterwarnings("ignore:base has been better")
def test_tasks_in_which_none_reaches_the_level_say_how_many_are_shown_to_differ():
    found = xcurves.speedup(_rising({"base": 2.0, "slow": 0.1}, 3), reference="base")
    assert np.isnan(found["speedup"]).all()
    answer = found.curves.summary().split("\n")[0]
    said = "In no task has any pair an estimate: not reached within its budget. By intervals 3 of 3 pairs are shown to"
    assert answer == f"{said} differ."
    assert found.curves.table()["p"].max() < 0.05


def test_a_reference_that_misses_the_target_bounds_the_others_in_words_and_for_programs():
    curves = _rising({"never": 0.1, "fast": 2.0, "slow": 1.0}).isel(task=0, drop=True)
    found = xcurves.speedup(curves, reference="never", target=60.0)
    answer, *details = found.curves.summary().split("\n")
    assert answer == "No difference to never could be tested: not reached by the reference within its budget."
    pairs = {pair["first"]: pair for pair in found.curves.to_dict()["pairs"]}
    for name in ("fast", "slow"):
        low = found.speedup_ci_simultaneous.sel(algorithm=name).values[0]
        assert low > 1
        assert f"{name} is at least {number(low)} times as fast." in details
        assert pairs[name]["ci"] == [pytest.approx(low, rel=1e-12), None]
        assert pairs[name]["p"] is None


def test_several_tasks_name_the_reference_and_too_few_for_a_p_is_the_reason_where_none_is_censored():
    curves = _rising({"plain": 1.0, "fast": 2.0, "slow": 0.5}, n_tasks=6)
    answer = xcurves.speedup(curves, reference="plain", target=60.0).curves.summary().split("\n")[0]
    assert answer.startswith("Beside plain, the shortest time to 60 of 6 tasks: fast in 6. In 6 of them, ")

    times = xcurves.time_to_target(curves, 60.0)
    unreached = (times.algorithm == "fast") & (times.task == 0)
    joined = xcurves.speedup(times.where(~unreached), reference="plain", task="task", rng=0)
    assert joined.n_censored.sel(algorithm="fast") == 0
    said = joined.curves.summary()
    assert "untested: fast (5 tasks, too few for an adjusted p)" in said
    assert "0 of 5" not in said
