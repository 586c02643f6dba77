"""Keep or drop: the reference streams, plain loops, and what a gate says and refuses."""

import json
from math import inf

import dask
import numpy as np
import pytest
import xarray as xr
from scipy import stats

import oracles_gate as oracle
import xcurves
from pictures import faults
from places import ROOT
from synthetic_results import TASKS
from xcurves.core.wording import pvalue
from xcurves.gating.gate import ledger_of

REFERENCE = ROOT.parent / "shared" / "reference" / "dev_gate.json"
MEANINGS = ("dropped", "kept", "run_more", "waiting")
NUMBERS = ("n_runs", "n_runs_champion", "runs_to_make", "runs_to_make_champion")


def stream(runs, **attrs):
    """Label lists of scores, as long as they are: {"main": [...], ...}."""
    most = max(map(len, runs.values()))
    rows = [[*map(float, row), *[np.nan] * (most - len(row))] for row in runs.values()]
    names = {"algorithm": list(runs), "run": range(most)}
    return xr.DataArray(rows, names, ["algorithm", "run"], name="score", attrs=attrs)


def rows_of(result):
    """Return what is decided of every candidate as plain values."""
    rows = []
    for one in (
        result.isel(candidate=place) for place in range(result.sizes["candidate"])
    ):
        row = {name: int(one[name]) for name in NUMBERS}
        row |= {
            "candidate": one["candidate"].item(),
            "champion": one["champion"].item(),
        }
        row["decision"] = MEANINGS[int(one["decision"])]
        row |= {name: one[name].item() for name in ("difference", "pvalue")}
        rows.append(row)
    return rows


def assert_same(found, expected):
    assert len(found) == len(expected)
    for row, want in zip(found, expected, strict=True):
        for name in ("candidate", "champion", "decision", *NUMBERS):
            assert row[name] == want[name], (name, row, want)
        for name in ("difference", "pvalue"):
            value = np.nan if want[name] is None else float(want[name])
            np.testing.assert_allclose(row[name], value, rtol=0, atol=1e-12)


def number_lists(runs):
    return {name: list(map(float, row)) for name, row in runs.items()}


@pytest.mark.skipif(
    not REFERENCE.exists(), reason="the reference streams are not part of the project"
)
@pytest.mark.parametrize("place", range(6))
def test_the_reference_streams_are_repeated(place):
    given = json.loads(REFERENCE.read_text(encoding="utf-8"))[place]
    runs = number_lists(given["runs"])
    options = {
        name: given[name]
        for name in ("looks", "level", "margin", "higher_is_better", "start")
    }
    found = stream(runs).curves.gate(
        baseline="main", candidates=given["order"], **options
    )
    assert_same(rows_of(found), given["expected"])
    state = given["state"]
    assert found.attrs["champion"] == state["champion"]
    audits = [runs[name][state["used"][name] :] for name in ("main", state["champion"])]
    for name, audit in zip(("main", state["champion"]), audits, strict=True):
        assert audit == state["audit"].get(name, [])
    assert found["n_runs_audit"].to_numpy().tolist() == [len(audit) for audit in audits]


def random_stream(seed):
    """Draw a stream: few different scores or many, failed runs, missing runs, any rule."""
    rng = np.random.default_rng(seed)
    higher = bool(rng.integers(2))
    looks = [(1, 2, 4), (2, 5), (1, 3, 4), (4,), (1, 2, 3, 5)][rng.integers(5)]
    level = [0.1, 0.2, 0.5][rng.integers(3)]
    margin = [0.0, 0.3, -0.3][rng.integers(3)]
    start = [None, 2, 3, looks[-1] + 1][rng.integers(4)]
    runs = {"main": rng.normal(size=looks[-1] + 2)}
    for number in range(6):
        runs[f"c{number}"] = rng.normal(0.6 * rng.integers(-1, 3), 1, looks[-1] + 1)
    if rng.integers(2):
        runs = {name: np.round(row) for name, row in runs.items()}
    runs = {name: row if higher else -row for name, row in runs.items()}
    last = f"c{rng.integers(3, 6)}"
    runs[last] = runs[last][: rng.integers(1, looks[-1] + 1)]
    failing = f"c{rng.integers(3)}"
    if rng.integers(2) and looks[0] == 1:
        runs[failing][0] = -inf if higher else inf
    rule = {
        "looks": looks,
        "level": level,
        "margin": margin,
        "start": start,
        "higher_is_better": higher,
    }
    return {name: row.tolist() for name, row in runs.items()}, rule


@pytest.mark.parametrize("seed", range(60))
def test_streams_are_judged_as_by_plain_loops(seed):
    runs, rule = random_stream(seed)
    order = [name for name in runs if name != "main"]
    expected, champion, used = oracle.replay(runs, "main", order, **rule)
    found = stream(runs).curves.gate(baseline="main", **rule)
    assert_same(rows_of(found), expected)
    assert found.attrs["champion"] == champion
    audit = [runs[name][used[name] :] for name in ("main", champion)]
    assert found["n_runs_audit"].to_numpy().tolist() == [len(each) for each in audit]
    moved = np.nan
    if len(audit[1]) > 1 and np.ptp(runs[champion]):
        moved = oracle.pvalue_two_sided(runs[champion][: used[champion]], audit[1])
    np.testing.assert_allclose(
        found["champion_moved_pvalue"], moved, rtol=0, atol=1e-12
    )


def normal(*means, n_runs=12, seed=0, **attrs):
    """Draw normal runs of main and of candidates c1, c2, ... with these means."""
    rng = np.random.default_rng(seed)
    runs = {
        f"c{number}" if number else "main": rng.normal(mean, 1, n_runs)
        for number, mean in enumerate((0, *means))
    }
    return stream(runs, **attrs)


def test_every_decision_is_there_in_the_random_streams():
    decided = set()
    for seed in range(60):
        runs, rule = random_stream(seed)
        decided |= {
            row["decision"]
            for row in oracle.replay(
                runs, "main", [n for n in runs if n != "main"], **rule
            )[0]
        }
    assert decided == set(MEANINGS)


def test_progress_is_welchs_interval_of_runs_that_decided_nothing():
    scores = normal(3, -1, 5, n_runs=14, seed=2)
    found = scores.curves.gate(baseline="main", confidence_level=0.9)
    assert found.attrs["champion"] == "c3"
    ours, theirs = (
        scores.sel(algorithm="c3").values[8:],
        scores.sel(algorithm="main").values[8:],
    )
    test = stats.ttest_ind(ours, theirs, equal_var=False)
    np.testing.assert_allclose(
        found["progress"], ours.mean() - theirs.mean(), atol=1e-12
    )
    np.testing.assert_allclose(
        found["progress_ci"], test.confidence_interval(0.9), atol=1e-12
    )
    own = stats.t.interval(0.9, 5, ours.mean(), stats.sem(ours))
    np.testing.assert_allclose(
        found["audit_mean_ci"].sel(which="present"), own, atol=1e-12
    )
    turned = (-scores).curves.gate(
        baseline="main", confidence_level=0.9, higher_is_better=False
    )
    for name in (
        "progress",
        "progress_ci",
        "champion_moved_pvalue",
        "pvalue",
        "decision",
    ):
        np.testing.assert_array_equal(turned[name], found[name])
    np.testing.assert_allclose(
        turned["audit_mean_ci"].values[:, ::-1], -found["audit_mean_ci"], atol=1e-12
    )
    np.testing.assert_allclose(
        turned["difference_ci"].values[:, ::-1], -found["difference_ci"], atol=1e-12
    )


def test_without_runs_of_the_audit_progress_is_unknown_and_without_keeps_none():
    kept = normal(4, n_runs=9).curves.gate(baseline="main")
    assert np.isnan(kept["progress"])
    assert (
        "To state the progress since main, run main 1 more time and c1 1 more time"
        in kept.curves.summary()
    )
    dropped = normal(-4, n_runs=9).curves.gate(baseline="main")
    assert dropped["progress"].item() == 0
    assert np.isnan(dropped["progress_ci"]).all()
    assert (
        "none was kept; main is the champion. Progress: none."
        in dropped.curves.summary()
    )


@pytest.mark.parametrize("margin", [0.0, 0.4])
def test_p_is_that_of_contrast_and_the_interval_that_of_pairwise(margin):
    scores = normal(1.5, seed=5)
    found = scores.curves.gate(baseline="main", margin=margin).squeeze("candidate")
    assert found["n_runs"] == 8
    both = scores.isel(run=slice(8)).expand_dims(training=[1.0], axis=-1)
    pair = both.curves.pairwise(rng=0).squeeze("pair")
    sign = 1 if pair["algorithm_a"] == "c1" else -1
    ends = (sign * pair["difference_ci"].values)[::sign]
    np.testing.assert_allclose(found["difference_ci"], ends, atol=1e-12)
    shifted = xr.where(both.algorithm == "c1", both - margin, both)
    test = shifted.curves.contrast({"c1": 1, "main": -1}, alternative="greater", rng=0)
    np.testing.assert_allclose(found["pvalue"], test["pvalue"], atol=1e-12)


def test_curves_are_reduced_and_tasks_averaged():
    rng = np.random.default_rng(1)
    names = {
        "task": ["x", "y"],
        "algorithm": ["main", "c1", "c2"],
        "run": range(10),
        "training": [1.0, 2.0, 4.0],
    }
    curves = xr.DataArray(rng.normal(size=(2, 3, 10, 3)), names, list(names))
    curves[:, 1] += 1.0
    for weights, number in (
        (None, curves.mean("training")),
        ("final", curves.isel(training=-1)),
        (
            [0.0, 1.0, 3.0],
            (curves * xr.DataArray([0.0, 0.25, 0.75], dims="training")).sum("training"),
        ),
    ):
        found = curves.curves.gate(
            baseline="main", task="task", training_weights=weights
        )
        plain = number.mean("task").curves.gate(baseline="main")
        for name in ("decision", "difference", "pvalue", "n_runs", "n_runs_champion"):
            np.testing.assert_allclose(found[name], plain[name], atol=1e-12)


def test_lazy_scores_are_computed_once():
    scores = normal(1, 2, -1).curves.gate(baseline="main")
    computed = []

    def count(graph, keys, **options):
        computed.append(keys)
        return dask.get(graph, keys, **options)

    with dask.config.set(scheduler=count):
        found = normal(1, 2, -1).chunk(algorithm=1, run=3).curves.gate(baseline="main")
    assert len(computed) == 1
    xr.testing.assert_identical(found, scores)


def test_a_failed_run_drops_its_candidate_without_the_other_runs_of_the_look():
    main = np.random.default_rng(0).normal(size=8).tolist()
    for runs, n_runs in (
        ([-inf], 1),
        ([9.0, -inf], 2),
        ([9.0, 9.1, -inf], 3),
        ([9.0, 9.1, 8.0, 9.0, -inf], 5),
    ):
        found = stream({"main": main, "c1": runs}).curves.gate(baseline="main")
        assert found["decision"].item() == 0
        assert (found["n_runs"].item(), found["difference"].item()) == (n_runs, -inf)
        assert (
            found["runs_to_make"].item() == found["runs_to_make_champion"].item() == 0
        )
        assert found.curves.summary().startswith(
            f"Drop c1: {'its run' if n_runs == 1 else f'one of its {n_runs} runs'}"
        )
    lower = stream({"main": main, "c1": [-9.0, inf]}).curves.gate(
        baseline="main", higher_is_better=False
    )
    assert (lower["decision"].item(), lower["difference"].item()) == (0, inf)


def test_more_runs_of_what_failed_change_no_later_decision():
    rng = np.random.default_rng(3)
    runs = {
        "main": rng.normal(size=12),
        "c1": [3.0, 3.0, 3.0, 3.0, -inf],
        "c2": rng.normal(0.5, 1, 8),
    }
    short = stream(runs).curves.gate(baseline="main")
    longer = stream(runs | {"c1": [*runs["c1"], 3.0, 3.0, 3.0]}).curves.gate(
        baseline="main", previous=short
    )
    assert rows_of(longer)[1] == rows_of(short)[1]


def test_a_failed_curve_need_not_be_whole():
    curves = (
        normal(2, 2, n_runs=8).expand_dims(training=[1.0, 2.0, 3.0], axis=-1).copy()
    )
    curves[1, 1] = [0.0, -inf, np.nan]
    found = curves.curves.gate(baseline="main")
    assert found["difference"].values[0] == -inf
    assert found["decision"].values.tolist()[0] == 0


def test_a_failed_run_of_a_champion_is_refused_by_name_with_a_cure_that_works():
    scores = normal(3, 1, n_runs=10).copy()
    scores[0, 2] = -inf
    with pytest.raises(
        ValueError, match=r"run 2 of champion 'main' failed; .*fill_failed\('worst'\)"
    ) as error:
        scores.curves.gate(baseline="main")
    cure = str(error.value).rpartition(": ")[2]
    cured = eval(cure, {"scores": scores})  # the cure of our own message
    assert (
        cured.sel(algorithm="main").values[2] == scores.where(np.isfinite(scores)).min()
    )
    assert (
        "1 of 30 runs failed and counts as the worst score"
        in cured.curves.gate(baseline="main").curves.summary()
    )
    scores = normal(3, 1, n_runs=10).copy()
    scores[1, 9] = -inf
    with pytest.raises(ValueError, match="run 9 of champion 'c1' failed"):
        scores.curves.gate(baseline="main")


def test_ties_and_constant_scores_are_dropped_or_kept_by_their_means():
    constant = {
        "main": [0.1] * 8,
        "same": [0.1] * 8,
        "better": [0.3] * 8,
        "worse": [0.2] * 8,
    }
    found = stream(constant).curves.gate(baseline="main")
    assert found["decision"].values.tolist() == [0, 1, 0]
    np.testing.assert_allclose(found["pvalue"], [np.nan, 1 / 12870, np.nan], atol=1e-12)
    assert np.isnan(found["difference_ci"]).all()
    assert found["same_scores"].values.tolist() == [1, 0, 0]
    # The same numbers in another order are a tie, whatever the rounding of their sums.
    values = [0.1, 0.7, 1e-3, 0.35, 0.2, 0.61, 0.33, 0.9]
    orders = {"main": values, "c1": values[::-1]}
    assert (
        stream(orders).curves.gate(baseline="main", looks=(8,))["decision"].item() == 0
    )


def test_a_candidate_with_the_champions_scores_is_named():
    scores = normal(0, 2)
    scores = scores.where(scores.algorithm != "c1", scores.sel(algorithm="main"))
    said = scores.curves.gate(baseline="main").curves.summary()
    assert "c1 has the same score as main in its run: was it a change?" in said
    said = scores.curves.gate(baseline="main", margin=-0.5).curves.summary()
    assert (
        "c1 has the same scores as main in all of its 8 runs: it was not a change."
        in said
    )
    assert (
        "it was not" not in normal(0, 2).curves.gate(baseline="main").curves.summary()
    )


def test_a_negative_margin_keeps_what_is_not_worse_by_more():
    scores = normal(-0.1, seed=4, n_runs=12)
    assert scores.curves.gate(baseline="main")["decision"].item() == 0
    found = scores.curves.gate(baseline="main", margin=-2.0)
    assert found["decision"].item() == 1
    assert "Keep c1: not worse than main by more than 2 (" in found.curves.summary()
    strict = normal(9.5, seed=4).curves.gate(baseline="main", margin=9.0, level=0.1)
    assert (
        "it is not shown to be better than main by more than 9 (mean"
        in strict.curves.summary()
    )


def test_open_candidates_say_what_to_run_and_later_ones_wait():
    scores = normal(2, 2, 2, n_runs=3)
    found = scores.curves.gate(baseline="main")
    assert found["decision"].values.tolist() == [2, 3, 3]
    assert found["runs_to_make"].values.tolist() == [0, 0, 0]
    assert found["runs_to_make_champion"].values.tolist() == [1, 0, 0]
    assert found.curves.summary().startswith(
        "Run main 1 more time, c1 no more. 2 later candidates wait."
    )
    later = xr.concat([scores, normal(2, 2, 2, n_runs=2, seed=1)], "run").assign_coords(
        run=range(5)
    )
    found = later.curves.gate(baseline="main")
    assert found.curves.summary().startswith(
        "Run c1 3 more times, main 3 more times. 2 later candidates wait."
    )
    found = normal(2, n_runs=6).curves.gate(baseline="main", start=9, looks=(1, 8))
    assert found["runs_to_make_champion"].item() == 3
    none = stream({"main": [1.0, 2.0, 3.0, 4.0], "c1": []}).curves.gate(baseline="main")
    assert none["runs_to_make"].item() == 1
    assert np.isnan(none["difference"])


def test_sentences_say_what_to_do_and_why():
    dropped = normal(-3).curves.gate(baseline="main").curves.summary()
    assert dropped.startswith("Drop c1: after 1 run its mean is below main's.")
    lower = (
        (-normal(-3))
        .curves.gate(baseline="main", higher_is_better=False)
        .curves.summary()
    )
    assert lower.startswith("Drop c1: after 1 run its mean is above main's.")
    kept = normal(3, 1, n_runs=12, seed=2).curves.gate(baseline="main").curves.summary()
    assert "The difference of a kept candidate is no estimate of what it brings" in kept
    assert "Progress since main, measured by runs that decided nothing: +" in kept
    assert kept.count("selected") <= 1
    ranks = np.arange(8.0)
    near = (
        stream({"main": ranks, "c1": ranks + 0.5})
        .curves.gate(baseline="main", looks=(8,))
        .curves.summary()
    )
    p = oracle.pvalue_greater([*ranks + 0.5], [*ranks])
    said = f"after 8 runs it is not shown to be better than main (mean better by 0.5; {pvalue(p)}, above .2)"
    assert near.startswith(f"Drop c1: {said}.")


def test_a_champion_that_moved_is_named():
    scores = normal(-1, n_runs=20).copy()
    scores[0, 8:] += 6
    found = scores.curves.gate(baseline="main", start=8)
    assert found["champion_moved_pvalue"] < 0.001
    assert (
        "The scores of the champion main are not what they were (p < .001): "
        in found.curves.summary()
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"baseline": "man"},
            "baseline must be an algorithm of scores; got 'man'.*Did you mean 'main'",
        ),
        (
            {"candidates": ["c1", "c9"]},
            "candidates must be an algorithm of scores; got 'c9'",
        ),
        ({"candidates": ["c1", "c1"]}, "candidates name 'c1' twice"),
        ({"candidates": ["main"]}, "candidates name the baseline 'main'"),
        ({"candidates": []}, "scores have no candidate beside the baseline"),
        ({"candidates": "c1"}, r"Try candidates=\['c2'\]"),
        ({"candidates": 5}, "candidates must be a list of algorithms; got 5"),
        ({"task": [1, 2]}, r"task=\[1, 2\] is no dim of scores, which have"),
        ({"looks": (2, 1)}, "looks must be ascending"),
        ({"looks": (1, 1, 2)}, "looks must be ascending"),
        ({"looks": (1,)}, "looks must end with 2 runs or more"),
        ({"looks": (0, 4)}, "looks must be at least 1"),
        ({"looks": 1.5}, "looks must be a whole number"),
        ({"start": 1}, "start must be at least 2"),
        ({"level": 0}, "level must lie between 0 and 1"),
        ({"level": 1.2}, "level must lie between 0 and 1"),
        ({"margin": np.nan}, "margin must be a finite number"),
        (
            {"looks": (1, 2), "level": 0.1},
            r"level=0\.1 cannot be reached.*looks=\(1, 2, 3\)",
        ),
        (
            {"n_resamples": 3, "level": 0.2},
            "level=0.2 cannot be reached.*Try n_resamples=5",
        ),
        (
            {"task": "env"},
            "task='env' is no dim of scores, which have",
        ),
        (
            {"training_weights": "final"},
            "training_weights are for scores with the dim 'training'",
        ),
        ({"higher_is_better": "yes"}, "higher_is_better must be True or False"),
    ],
)
def test_options_that_cannot_be_used_are_refused(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        normal(1, 2).curves.gate(**({"baseline": "main"} | options))


def test_two_looks_serve_from_a_sixth_on_and_one_is_enough():
    scores = normal(9, 3)
    assert (
        scores.curves.gate(baseline="main", looks=(1, 2), level=1 / 6)[
            "decision"
        ].values[0]
        == 1
    )
    assert (
        scores.curves.gate(baseline="main", looks=(3,), level=0.05)["decision"].values[
            0
        ]
        == 1
    )
    # The first champion has four runs; the next one would have two, against which no p is below a sixth.
    with pytest.raises(ValueError, match=r"of 2 v 2 runs no p is below 0\.167"):
        normal(9, 20).curves.gate(baseline="main", looks=(1, 2), start=4, level=0.1)


def test_scores_that_cannot_be_used_are_refused():
    scores = normal(1, 2)
    twice = scores.assign_coords(algorithm=["main", "c1", "c1"])
    with pytest.raises(
        ValueError, match="algorithm labels must be unique; got 'c1' 2 times"
    ):
        twice.curves.gate(baseline="main")
    with pytest.raises(
        ValueError,
        match=r"algorithm 'c1', run 3: scores has a value of inf, which nothing scores",
    ):
        scores.where((scores.algorithm != "c1") | (scores.run != 3), inf).curves.gate(
            baseline="main"
        )
    with pytest.raises(
        ValueError, match="run 3 of algorithm 'c1' has no score, and later runs have"
    ):
        scores.where((scores.algorithm != "c1") | (scores.run != 3)).curves.gate(
            baseline="main"
        )
    tasks = xr.concat([scores, scores], "env").assign_coords(env=["x", "y"])
    with pytest.raises(ValueError, match=r"scores have the dim 'env'; .*task='env'"):
        tasks.curves.gate(baseline="main")
    gone = (tasks.env == "y") & (tasks.algorithm == "c2") & (tasks.run == 11)
    with pytest.raises(
        ValueError,
        match=r"env 'y', algorithm 'c2', run 11 has no score; a run needs all of 'env'",
    ):
        tasks.where(~gone).curves.gate(baseline="main", task="env")
    with pytest.raises(ValueError, match=r"dims must include 'algorithm'.*rename"):
        scores.rename(algorithm="candidate").curves.gate(baseline="main")


@pytest.fixture(params=[False, True])
def previous(request, tmp_path):
    """An earlier result, or the file of the shell that keeps its past."""
    found = normal(2, 1).isel(run=slice(9)).curves.gate(baseline="main")
    if not request.param:
        return found
    path = tmp_path / "gate.json"
    path.write_text(json.dumps({"past": ledger_of(found).as_json()}))
    return path


def test_an_earlier_call_changes_no_number_and_candidates_and_runs_may_be_added(
    previous,
):
    more = normal(2, 1, 3)
    again = more.curves.gate(baseline="main", previous=previous)
    xr.testing.assert_identical(again, more.curves.gate(baseline="main"))


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (
            lambda scores: scores.where(scores.run != 4, scores + 1e-9),
            {},
            "run 5 of algorithm 'main' differs at the",
        ),
        (
            lambda scores: scores.isel(run=slice(7)),
            {},
            "run 8 of algorithm 'main' is gone at the earlier call",
        ),
        (
            lambda scores: scores.drop_sel(algorithm="c2"),
            {},
            "candidates must stay as it was",
        ),
        (
            lambda scores: scores,
            {"candidates": ["c2", "c1"]},
            r"candidates must stay as it was .*got \"'c2', 'c1'\"",
        ),
        (
            lambda scores: scores,
            {"candidates": ["c1"]},
            "candidates must stay as it was",
        ),
        (
            lambda scores: scores,
            {"level": 0.1},
            "level must stay as it was at the earlier call, 0.2; got 0.1",
        ),
        (lambda scores: scores, {"looks": (1, 2, 4)}, "looks must stay as it was"),
        (lambda scores: scores, {"margin": 0.1}, "margin must stay"),
        (lambda scores: scores, {"start": 5}, "start must stay"),
        (
            lambda scores: scores,
            {"confidence_level": 0.9},
            "confidence_level must stay",
        ),
        (lambda scores: scores, {"baseline": "c1"}, "baseline must stay"),
        (lambda scores: scores, {"rng": 1}, "rng must stay"),
    ],
)
def test_another_past_is_refused_by_name(previous, change, options, message):
    with pytest.raises(ValueError, match=message):
        change(normal(2, 1)).curves.gate(
            **({"baseline": "main", "previous": previous} | options)
        )


def test_a_result_without_its_digests_is_no_past():
    found = normal(2).curves.gate(baseline="main").drop_vars("run_digest")
    with pytest.raises(
        ValueError, match="previous must be a result of gate with its run_digest"
    ):
        normal(2).curves.gate(baseline="main", previous=found)


def test_other_training_weights_are_another_plan():
    curves = normal(2, 1).expand_dims(training=[1.0, 2.0], axis=-1)
    found = curves.curves.gate(baseline="main", training_weights=[1, 2])
    curves.curves.gate(baseline="main", training_weights=[2, 4], previous=found)
    with pytest.raises(
        ValueError,
        match="training_weights must stay as it was at the earlier call, 'given, digest",
    ):
        curves.curves.gate(baseline="main", training_weights=[2, 1], previous=found)


def test_labels_may_be_numbers_and_random_reassignments_have_a_seed():
    scores = normal(1, 2, n_runs=12).assign_coords(algorithm=[7, 1, 3])
    found = scores.curves.gate(baseline=7)
    assert found["candidate"].values.tolist() == [1, 3]
    assert found["champion"].dtype.kind == "i"
    some = [
        scores.curves.gate(baseline=7, n_resamples=99, rng=seed)["pvalue"].values
        for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(some[0], some[1])
    assert (some[0] != some[2]).any()
    assert xcurves.gate(scores, baseline=7).identical(found)


def test_the_picture_shows_the_record_and_the_audit():
    plt = pytest.importorskip("matplotlib.pyplot")
    scores = normal(3, -1, 6, n_runs=14, seed=2)
    found = scores.curves.gate(baseline="main")
    ax = found.curves.plot()
    record = next(
        line
        for line in ax.lines
        if line.get_linestyle() == "-" and len(line.get_xdata()) > 1
    )
    assert record.get_xdata().tolist() == [0, 1, 3]
    kept = [scores.sel(algorithm=name).values[:8].mean() for name in ("c1", "c3")]
    np.testing.assert_allclose(record.get_ydata()[1:], kept, atol=1e-12)
    assert len(ax.collections) == 2
    plt.close(ax.figure)


@pytest.mark.parametrize("n_candidates", [1, 5, 20, 60])
@pytest.mark.parametrize("options", [{}, {"figsize": (3.3, 2.6)}])
def test_the_picture_can_be_read_with_any_number_of_candidates(n_candidates, options):
    plt = pytest.importorskip("matplotlib.pyplot")
    rng = np.random.default_rng(n_candidates)
    runs = {"main": rng.normal(size=12)}
    for number, name in enumerate(TASKS[:n_candidates]):
        runs[name] = rng.normal(0.2 * number, 1, 12)
    figure = (
        stream(runs, units="points")
        .curves.gate(baseline="main", level=0.5)
        .curves.plot(**options)
        .figure
    )
    assert faults(figure) == []
    plt.close(figure)


@pytest.mark.parametrize(
    ("looks", "level", "n_resamples"),
    [
        ((1, 2), 0.1, None),
        ((1, 2), 0.005, 99),
        ((3,), 1e-5, None),
        ((2,), 1e-7, None),
        ((8,), 0.01, 20),
        ((8,), 1e-6, 99),
    ],
)
def test_the_cure_of_a_level_that_cannot_be_reached_works(looks, level, n_resamples):
    scores = normal(-1, n_runs=3)
    options = {"looks": looks, "level": level, "n_resamples": n_resamples}
    with pytest.raises(
        ValueError, match=r"cannot be reached: of .* no p is below"
    ) as error:
        scores.curves.gate(baseline="main", **options)
    said = str(error.value)
    if "looks=" in said:
        options["looks"] = tuple(
            map(int, said.partition("looks=(")[2].partition(")")[0].split(","))
        )
    if "n_resamples=" in said:
        options["n_resamples"] = int(said.rpartition("n_resamples=")[2])
    scores.curves.gate(baseline="main", **options)


@pytest.mark.parametrize("seed", range(20))
def test_a_shift_and_a_unit_change_no_decision(seed):
    runs, rule = random_stream(seed)
    scores = stream(runs)
    expected = scores.curves.gate(baseline="main", **rule)
    for factor, shift in ((4.0, 0.0), (1.0, 1000.0), (0.1, -7.0), (1e-30, 0.0)):
        moved = factor * scores + shift
        found = moved.curves.gate(
            baseline="main", **rule | {"margin": factor * rule["margin"]}
        )
        for name in ("decision", *NUMBERS, "n_runs_audit"):
            np.testing.assert_array_equal(found[name], expected[name])
        np.testing.assert_allclose(found["pvalue"], expected["pvalue"], atol=1e-12)
        np.testing.assert_allclose(
            found["difference"],
            factor * expected["difference"],
            rtol=1e-8,
            atol=1e-12 * factor,
        )
