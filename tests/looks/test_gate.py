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
from layers import slow
from pictures import faults
from places import SHARED
from refusals import ANY, refused
from synthetic_results import TASKS
from xcurves.core.refusal import call, give
from xcurves.core.run_checks import RunError
from xcurves.looks.ledger import of_gate as ledger_of
from xcurves.say.numbers import pvalue

REFERENCE = SHARED / "reference" / "dev_gate.json"
MEANINGS = ("dropped", "kept", "run_more", "waiting")
NUMBERS = ("n_runs", "n_runs_champion", "runs_to_make", "runs_to_make_champion")
N_STREAMS = 9
N_RANDOM = 100


def stream(runs, **attrs):
    """Label lists of scores, as long as they are: {"main": [...], ...}."""
    most = max(map(len, runs.values()))
    rows = [[*map(float, row), *[np.nan] * (most - len(row))] for row in runs.values()]
    names = {"algorithm": list(runs), "run": range(most)}
    return xr.DataArray(rows, names, ["algorithm", "run"], name="score", attrs=attrs)


def rows_of(result):
    """Return what is decided of every candidate as plain values."""
    rows = []
    for one in (result.isel(candidate=place) for place in range(result.sizes["candidate"])):
        row = {name: int(one[name]) for name in NUMBERS}
        row["n_failed"] = int(one["n_failed"])
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


@pytest.mark.skipif(not REFERENCE.exists(), reason="the reference streams are not part of the project")
@pytest.mark.parametrize("place", range(N_STREAMS))
def test_the_reference_streams_are_repeated(place):
    every = json.loads(REFERENCE.read_text(encoding="utf-8"))
    assert len(every) == N_STREAMS
    given = every[place]
    runs = number_lists(given["runs"])
    options = {
        name: given[name]
        for name in (
            "looks",
            "level",
            "margin",
            "higher_is_better",
            "start",
            "refresh",
        )
    }
    found = stream(runs).curves.gate(baseline="main", candidates=given["order"], **options)
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
    refresh = [0, 1, 2, 3][rng.integers(4)]
    share_failed = [0.0, 0.25, 0.4][rng.integers(3)]
    n_runs = looks[-1] + 2
    runs = {"main": rng.normal(size=n_runs + 1)}
    for number in range(6):
        runs[f"c{number}"] = rng.normal(0.6 * rng.integers(-1, 3), 1, n_runs)
    if rng.integers(2):
        runs = {name: np.round(row) for name, row in runs.items()}
    # runs that fail: of candidates at any place, of the first champion after those that looks ask for
    for number in range(6):
        if rng.integers(3) == 0:
            runs[f"c{number}"][rng.integers(n_runs)] = -inf
    if rng.integers(2):
        runs["main"][max(looks[-1], start or 0)] = -inf
    if share_failed and rng.integers(2):
        runs["main"][0] = -inf
    runs = {name: row if higher else -row for name, row in runs.items()}
    last = f"c{rng.integers(3, 6)}"
    runs[last] = runs[last][: rng.integers(1, looks[-1] + 1)]
    rule = {
        "looks": looks,
        "level": level,
        "margin": margin,
        "start": start,
        "refresh": refresh,
        "share_failed": share_failed,
        "higher_is_better": higher,
    }
    return {name: row.tolist() for name, row in runs.items()}, rule


@pytest.mark.plain(10)
@pytest.mark.parametrize("seed", range(N_RANDOM))
def test_streams_are_judged_as_by_plain_loops(seed):
    runs, rule = random_stream(seed)
    order = [name for name in runs if name != "main"]
    scores = stream(runs)
    try:
        expected, champion, every_audit = oracle.replay(runs, "main", order, **rule)
    except oracle.FailedChampion as error:
        name, place = error.args
        fill = call(
            "scores.curves.fill_failed", "worst", **({} if rule["higher_is_better"] else {"higher_is_better": False})
        )
        with refused("scores", cure=fill, names=f"run {place} of champion '{name}' faile", kind=RunError):
            scores.curves.gate(baseline="main", **rule)
        return
    found = scores.curves.gate(baseline="main", **rule)
    assert_same(rows_of(found), expected)
    assert [row["n_failed"] for row in rows_of(found)] == [row["n_failed"] for row in expected]
    assert found.attrs["champion"] == champion
    audit = [every_audit[name] for name in ("main", champion)]
    assert found["n_runs_audit"].to_numpy().tolist() == [len(each) for each in audit]
    moved = oracle.pvalue_moved(audit[1])
    np.testing.assert_allclose(
        found["champion_moved_pvalue"],
        np.nan if moved is None else moved,
        rtol=0,
        atol=1e-12,
    )
    progress = 0.0
    if champion != "main":
        progress = np.nan
        if min(map(len, audit)) > 1 and np.isfinite(np.concatenate(audit)).all():
            turned = 1 if rule["higher_is_better"] else -1
            progress = turned * (oracle.mean(audit[1]) - oracle.mean(audit[0]))
    np.testing.assert_allclose(found["progress"], progress, rtol=0, atol=1e-12)


@pytest.mark.slow
def test_the_random_streams_have_all_that_can_happen():
    seen = set()
    for seed in range(N_RANDOM):
        runs, rule = random_stream(seed)
        order = [name for name in runs if name != "main"]
        try:
            found, champion, audit = oracle.replay(runs, "main", order, **rule)
        except oracle.FailedChampion:
            seen.add("refused")
            continue
        seen |= {row["decision"] for row in found}
        if any(row["n_failed"] for row in found):
            seen.add("a failed run was passed over")
        if any(
            row["decision"] != "dropped" and np.isinf(runs[row["candidate"]][: row["n_runs"]]).any() for row in found
        ):
            seen.add("a failed run counted as the worst")
        if oracle.pvalue_moved(audit[champion]) is not None:
            seen.add("a champion may have moved")
        if np.isinf(audit[champion]).any():
            seen.add("a failed run decided nothing")
        if any(row["runs_to_make_champion"] and not row["runs_to_make"] for row in found):
            seen.add("only the champion is run again")
    assert seen == {
        *MEANINGS,
        "refused",
        "a failed run was passed over",
        "a failed run counted as the worst",
        "a champion may have moved",
        "a failed run decided nothing",
        "only the champion is run again",
    }


def normal(*means, n_runs=12, seed=0, **attrs):
    """Draw normal runs of main and of candidates c1, c2, ... with these means."""
    rng = np.random.default_rng(seed)
    runs = {f"c{number}" if number else "main": rng.normal(mean, 1, n_runs) for number, mean in enumerate((0, *means))}
    return stream(runs, **attrs)


def test_progress_is_welchs_interval_of_runs_that_decided_nothing():
    scores = normal(3, -1, 5, n_runs=14, seed=2)
    found = scores.curves.gate(baseline="main", confidence_level=0.9)
    assert found.attrs["champion"] == "c3"
    ours, theirs = (
        scores.sel(algorithm="c3").values[8:],
        scores.sel(algorithm="main").values[8:],
    )
    test = stats.ttest_ind(ours, theirs, equal_var=False)
    np.testing.assert_allclose(found["progress"], ours.mean() - theirs.mean(), atol=1e-12)
    np.testing.assert_allclose(found["progress_ci"], test.confidence_interval(0.9), atol=1e-12)
    own = stats.t.interval(0.9, 5, ours.mean(), stats.sem(ours))
    np.testing.assert_allclose(found["audit_mean_ci"].sel(which="present"), own, atol=1e-12)
    turned = (-scores).curves.gate(baseline="main", confidence_level=0.9, higher_is_better=False)
    for name in (
        "progress",
        "progress_ci",
        "champion_moved_pvalue",
        "pvalue",
        "decision",
    ):
        np.testing.assert_array_equal(turned[name], found[name])
    np.testing.assert_allclose(turned["audit_mean_ci"].values[:, ::-1], -found["audit_mean_ci"], atol=1e-12)
    np.testing.assert_allclose(turned["difference_ci"].values[:, ::-1], -found["difference_ci"], atol=1e-12)


def test_without_runs_of_the_audit_progress_is_unknown_and_without_keeps_none():
    kept = normal(4, n_runs=9).curves.gate(baseline="main")
    assert np.isnan(kept["progress"])
    assert "To state the progress since main, run main 1 more time and c1 1 more time" in kept.curves.summary()
    dropped = normal(-4, n_runs=9).curves.gate(baseline="main")
    assert dropped["progress"].item() == 0
    assert np.isnan(dropped["progress_ci"]).all()
    assert "none was kept; main is the champion. Progress: none." in dropped.curves.summary()


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


@pytest.mark.slow
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
        found = curves.curves.gate(baseline="main", task="task", training_weights=weights)
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
        assert found["runs_to_make"].item() == found["runs_to_make_champion"].item() == 0
        assert found.curves.summary().startswith(
            f"Drop c1: {'its run' if n_runs == 1 else f'one of its {n_runs} runs'}"
        )
    lower = stream({"main": main, "c1": [-9.0, inf]}).curves.gate(baseline="main", higher_is_better=False)
    assert (lower["decision"].item(), lower["difference"].item()) == (0, inf)


def test_more_runs_of_what_failed_change_no_later_decision():
    rng = np.random.default_rng(3)
    runs = {
        "main": rng.normal(size=12),
        "c1": [3.0, 3.1, 3.2, 3.3, -inf],
        "c2": rng.normal(0.5, 1, 8),
    }
    short = stream(runs).curves.gate(baseline="main")
    longer = stream(runs | {"c1": [*runs["c1"], 3.0, 3.0, 3.0]}).curves.gate(baseline="main", previous=short)
    assert rows_of(longer)[1] == rows_of(short)[1]


def test_a_failed_curve_need_not_be_whole():
    curves = normal(2, 2, n_runs=8).expand_dims(training=[1.0, 2.0, 3.0], axis=-1).copy()
    curves[1, 1] = [0.0, -inf, np.nan]
    found = curves.curves.gate(baseline="main")
    assert found["difference"].values[0] == -inf
    assert found["decision"].values.tolist()[0] == 0


def test_a_failed_run_of_a_champion_is_refused_by_name_with_a_cure_that_works():
    scores = normal(3, 1, n_runs=10).copy()
    scores[0, 2] = -inf
    with refused("scores", ("main", "3"), cure=call("scores.curves.fill_failed", "worst")) as error:
        scores.curves.gate(baseline="main")
    cure = str(error.value).rpartition(": ")[2]
    cured = eval(cure, {"scores": scores})  # the cure of our own message
    assert cured.sel(algorithm="main").values[2] == scores.where(np.isfinite(scores)).min()
    assert "1 of 30 runs failed and counts as the worst score" in cured.curves.gate(baseline="main").curves.summary()


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
    assert stream(orders).curves.gate(baseline="main", looks=(8,))["decision"].item() == 0


def test_a_candidate_with_the_champions_scores_is_named():
    scores = normal(0, 2)
    scores = scores.where(scores.algorithm != "c1", scores.sel(algorithm="main"))
    said = scores.curves.gate(baseline="main").curves.summary()
    assert "c1 has the same score as main in its run: was it a change?" in said
    said = scores.curves.gate(baseline="main", margin=-0.5).curves.summary()
    assert "c1 has the same scores as main in all of its 8 runs: it was not a change." in said
    assert "it was not" not in normal(0, 2).curves.gate(baseline="main").curves.summary()


def test_a_negative_margin_keeps_what_is_not_worse_by_more():
    scores = normal(-0.1, seed=4, n_runs=12)
    assert scores.curves.gate(baseline="main")["decision"].item() == 0
    found = scores.curves.gate(baseline="main", margin=-2.0)
    assert found["decision"].item() == 1
    assert "Keep c1: not worse than main by more than 2 (" in found.curves.summary()
    strict = normal(9.5, seed=4).curves.gate(baseline="main", margin=9.0, level=0.1)
    assert "it is not shown to be better than main by more than 9 (mean" in strict.curves.summary()


def test_open_candidates_say_what_to_run_and_later_ones_wait():
    scores = normal(2, 2, 2, n_runs=3)
    found = scores.curves.gate(baseline="main")
    assert found["decision"].values.tolist() == [2, 3, 3]
    assert found["runs_to_make"].values.tolist() == [0, 0, 0]
    assert found["runs_to_make_champion"].values.tolist() == [1, 0, 0]
    assert found.curves.summary().startswith("Run main 1 more time, c1 no more. 2 later candidates wait.")
    later = xr.concat([scores, normal(2, 2, 2, n_runs=2, seed=1)], "run").assign_coords(run=range(5))
    found = later.curves.gate(baseline="main")
    assert found.curves.summary().startswith("Run c1 3 more times, main 3 more times. 2 later candidates wait.")
    found = normal(2, n_runs=6).curves.gate(baseline="main", start=9, looks=(1, 8))
    assert found["runs_to_make_champion"].item() == 3
    none = stream({"main": [1.0, 2.0, 3.0, 4.0], "c1": []}).curves.gate(baseline="main")
    assert none["runs_to_make"].item() == 1
    assert np.isnan(none["difference"])


@pytest.mark.slow
def test_sentences_say_what_to_do_and_why():
    dropped = normal(-3).curves.gate(baseline="main").curves.summary()
    assert dropped.startswith("Drop c1: after 1 run its mean is below main's.")
    lower = (-normal(-3)).curves.gate(baseline="main", higher_is_better=False).curves.summary()
    assert lower.startswith("Drop c1: after 1 run its mean is above main's.")
    kept = normal(3, 1, n_runs=12, seed=2).curves.gate(baseline="main").curves.summary()
    assert "The difference of a kept candidate is no estimate of what it brings" in kept
    assert "Progress since main, measured by runs that decided nothing: +" in kept
    assert kept.count("selected") <= 1
    ranks = np.arange(8.0)
    near = stream({"main": ranks, "c1": ranks + 0.5}).curves.gate(baseline="main", looks=(8,)).curves.summary()
    p = oracle.pvalue_greater([*ranks + 0.5], [*ranks])
    said = f"after 8 runs it is not shown to be better than main (mean better by 0.50; {pvalue(p)}, above .2)"
    assert near.startswith(f"Drop c1: {said}.")


def test_a_champion_that_moved_is_named():
    scores = normal(-1, n_runs=20).copy()
    scores[0, 14:] += 9
    found = scores.curves.gate(baseline="main", start=8)
    # the first 6 of its 12 runs that decided nothing, against the rest
    expected = oracle.pvalue_two_sided(scores[0, 8:14].values.tolist(), scores[0, 14:].values.tolist())
    assert found["champion_moved_pvalue"].item() == pytest.approx(expected)
    assert expected < 0.01
    assert (
        f"The scores of the champion main are not what they were ({pvalue(expected)}, of its runs that decided "
        "nothing, the first half against the rest): machine, data or code have changed." in found.curves.summary()
    )
    few = scores.isel(run=slice(11)).curves.gate(baseline="main", start=8)
    assert np.isnan(few["champion_moved_pvalue"])
    assert (
        "To show whether the scores of main have moved takes 10 runs that decided nothing: run it 7 more times."
        in few.curves.summary()
    )
    # Two halves of five are enough: no p of less than four is known, and 2 of 252 is below 0.01.
    ten = scores.isel(run=[*range(8), *range(9, 14), *range(14, 19)])
    found = ten.curves.gate(baseline="main", start=8)
    assert found["champion_moved_pvalue"].item() == pytest.approx(2 / 252)
    assert "To show whether" not in found.curves.summary()


def test_luck_of_the_runs_that_a_champion_was_kept_for_is_said_without_a_p():
    scores = normal(3, n_runs=14, seed=2)
    scores[1, 8:] -= 2
    said = scores.curves.gate(baseline="main").curves.summary()
    luck = float(scores[1, :8].mean() - scores[1, 8:].mean())
    assert luck > 0
    found = [line for line in said.split("\n") if "so much was luck" in line]
    assert len(found) == 1
    assert found[0].startswith("The runs that c1 was kept for are better by ")
    size = float(found[0].partition("better by ")[2].partition(" on")[0])
    assert size == pytest.approx(luck, abs=0.1)
    assert "p =" not in found[0]
    scores[1, 8:] += 9
    assert "was luck" not in scores.curves.gate(baseline="main").curves.summary()
    assert "was luck" not in normal(-1, n_runs=14).curves.gate(baseline="main").curves.summary()


def test_a_champion_is_run_again_up_to_32_runs_and_looks_may_ask_for_more():
    rng = np.random.default_rng(0)
    runs = {"main": rng.normal(size=60)}
    runs |= {f"c{number}": [-9.0] for number in range(80)}
    found = stream(runs).curves.gate(baseline="main", refresh=2)
    n = found["n_runs_champion"].values
    expected = [min(32, 4 + (place + 1) // 2) for place in range(80)]
    assert n.tolist() == expected
    assert found["n_runs_audit"].values.tolist() == [28, 28]
    more = {"main": rng.normal(size=60), "c0": rng.normal(size=40) + 3, "c1": [-9.0]}
    found = stream(more).curves.gate(baseline="main", looks=(1, 40), refresh=1, n_resamples=999)
    assert found["n_runs_champion"].values.tolist() == [40, 40]


def test_a_champion_is_run_again_counted_from_its_own_keep():
    rng = np.random.default_rng(1)
    runs = {"main": rng.normal(size=20), "bad": [-9.0], "good": rng.normal(9, 1, 20)}
    runs |= {f"c{number}": [-9.0] for number in range(4)}
    found = stream(runs).curves.gate(baseline="main", refresh=2)
    # main meets its second candidate with 5 runs, of which the last look asks for 8
    assert found["n_runs_champion"].values.tolist() == [4, 8, 8, 9, 9, 10]
    assert found["champion"].values.tolist() == ["main"] * 2 + ["good"] * 4
    never = stream(runs).curves.gate(baseline="main", refresh=0)
    assert never["n_runs_champion"].values.tolist() == [4, 8, 8, 8, 8, 8]


def test_a_run_that_is_missing_is_asked_for_and_is_no_run_of_the_audit():
    runs = {"main": [0.1, 0.2, 0.3, 0.4], "c0": [-9.0], "c1": [-9.0], "c2": [-9.0]}
    found = stream(runs).curves.gate(baseline="main")
    assert found["decision"].values.tolist() == [0, 2, 3]
    assert found["runs_to_make_champion"].values.tolist() == [0, 1, 0]
    assert found.curves.summary().startswith("Run main 1 more time, c1 no more.")
    made = stream(runs | {"main": [*runs["main"], 0.5]}).curves.gate(baseline="main", previous=found)
    assert made["decision"].values.tolist() == [0, 0, 0]
    assert made["n_runs_audit"].values.tolist() == [0, 0]
    # A failed run of the candidate asks for none of the champion, which counts as used.
    failed = stream(runs | {"c1": [-inf]}).curves.gate(baseline="main")
    assert failed["decision"].values.tolist() == [0, 0, 2]
    assert failed["runs_to_make_champion"].values.tolist() == [0, 0, 1]


def test_a_failed_run_that_was_to_be_added_takes_no_part():
    runs = {"main": [0.1, 0.2, 0.3, 0.4, -inf, -inf, 0.7], "c0": [-9.0], "c1": [-9.0]}
    found = stream(runs).curves.gate(baseline="main")
    assert found["n_failed"].values.tolist() == [0, 2]
    assert found["n_runs_champion"].values.tolist() == [4, 5]
    assert found["champion_mean"].values[1] == pytest.approx((1.0 + 0.7) / 5)
    assert found["n_runs_audit"].values.tolist() == [0, 0]
    said = found.curves.summary()
    assert "2 runs of main failed where it was run again, and took no part." in said
    assert "Runs that no decision used: " not in said


def test_a_failed_run_that_decided_nothing_leaves_the_progress_unknown():
    scores = normal(3, 1, n_runs=11, seed=3).copy()
    scores[1, 10] = -inf
    found = scores.curves.gate(baseline="main", refresh=0)
    assert found.attrs["champion"] == "c1"
    assert np.isnan(found["progress"])
    assert np.isnan(found["audit_mean"].values).tolist() == [False, True]
    assert "The progress since main is not known: a run of c1 failed that decided nothing." in found.curves.summary()
    filled = scores.curves.fill_failed("worst").curves.gate(baseline="main", refresh=0)
    assert np.isfinite(filled["progress"])


def test_failed_runs_count_as_the_worst_of_both_sides_where_a_share_may_fail():
    main = [1.0, 2.0, 3.0, -inf, 1.5, 2.5, 0.5, 3.5]
    new = [9.0, 8.0, 9.5, -inf, 8.5, 9.2, 8.8, 9.9]
    scores = stream({"main": main, "c1": new})
    found = scores.curves.gate(baseline="main", looks=(4, 8), share_failed=0.25, refresh=0)
    filled = [[0.5 if np.isinf(x) else x for x in row] for row in (main, new)]
    expected = oracle.pvalue_greater(filled[1], filled[0])
    assert found["pvalue"].item() == pytest.approx(expected)
    assert found["difference"].item() == pytest.approx(np.mean(filled[1]) - np.mean(filled[0]))
    assert found["decision"].item() == 1
    # one of four is more than a fifth, and so is that of the champion
    dropped = scores.curves.gate(baseline="main", looks=(4, 8), share_failed=0.2, start=8)
    assert dropped["decision"].item() == 0
    assert "Drop c1: of its 4 runs more than a share of 0.2 failed." in dropped.curves.summary()
    with refused("scores", ("main", "4"), cure=call("scores.curves.fill_failed", "worst")):
        scores.curves.gate(baseline="main", looks=(4, 8), share_failed=0.2)


@pytest.mark.parametrize(("share", "n_runs", "n_may"), [(0.29, 100, 29), (0.1, 10, 1)])
def test_a_share_of_runs_is_not_cut_by_rounding(share, n_runs, n_may):
    rng = np.random.default_rng(0)
    new = rng.normal(9, 1, n_runs)
    scores = {"main": rng.normal(size=n_runs)}
    for n_failed, decision in ((n_may, 1), (n_may + 1, 0)):
        failed = new.copy()
        failed[:n_failed] = -inf
        found = stream(scores | {"c1": failed}).curves.gate(
            baseline="main", looks=(n_runs,), share_failed=share, n_resamples=99
        )
        assert found["decision"].item() == decision


@pytest.mark.plain(2)
@pytest.mark.parametrize("offset", [1e6, -1e10, 1e13])
@pytest.mark.parametrize("curves", [False, True])
def test_an_offset_changes_no_p(offset, curves):
    # Multiples of 1/256 that no offset here rounds.
    scores = np.round(256 * normal(0.8, -2, 1.5, 0.5, n_runs=14, seed=7)) / 256
    options = {"baseline": "main"}
    if curves:
        levels = xr.DataArray([0.0, 0.5, -0.25], {"training": [1.0, 2.0, 3.0]})
        scores = (scores + levels).transpose("algorithm", "run", "training")
    plain = scores.curves.gate(**options)
    moved = (scores + offset).curves.gate(**options)
    assert (plain["pvalue"].notnull()).any()
    for name in ("decision", *NUMBERS, "pvalue", "difference", "champion_moved_pvalue"):
        np.testing.assert_allclose(moved[name], plain[name], rtol=1e-12, atol=1e-12)
    for name in ("difference_ci", "progress", "progress_ci"):
        np.testing.assert_allclose(moved[name], plain[name], rtol=1e-9)
    np.testing.assert_allclose(moved["audit_mean"], plain["audit_mean"] + offset)
    np.testing.assert_allclose(moved["champion_mean"], plain["champion_mean"] + offset)
    lower = (offset - scores).curves.gate(**options, higher_is_better=False)
    np.testing.assert_allclose(lower["pvalue"], plain["pvalue"], rtol=1e-12)


def test_tasks_may_have_offsets_of_their_own():
    scores = np.round(256 * normal(0.8, -2, 1.5, n_runs=14, seed=7)) / 256
    tasks = xr.concat([scores, -0.5 * scores], "task").assign_coords(task=["x", "y"])
    moved = tasks + xr.DataArray([1e12, -3e9], dims="task")
    options = {"baseline": "main", "task": "task"}
    for name in ("decision", "pvalue"):
        np.testing.assert_allclose(moved.curves.gate(**options)[name], tasks.curves.gate(**options)[name])


def test_a_difference_of_rounding_is_none():
    # 0.1 + 0.2 and 0.3, and what is better by exactly the margin.
    others = [5.0] * 4
    for main, new, margin in (
        (0.3, 0.1 + 0.2, 0.0),
        (1000.2, 1000.3, 0.1),
        (0.2, 0.3, 0.1),
        (1e9, 1e9 + 0.1, 0.1),
    ):
        scores = stream({"main": [main] * 4, "c1": [new] * 4, "c2": others})
        found = scores.curves.gate(baseline="main", looks=(4,), margin=margin)
        assert found["decision"].values[0] == 0
        more = scores.curves.gate(baseline="main", looks=(4,), margin=margin - 1e-4)
        assert more["decision"].values[0] == 1


def test_a_run_of_score_zero_is_there_and_its_change_is_refused():
    scores = stream({"main": [0.0, 0.0, 1.0, 0.5, 0.25], "c1": [0.0], "c2": [3.0]})
    found = scores.curves.gate(baseline="main")
    assert found["decision"].values[0] == 0
    digests = found["run_digest"]
    assert ((digests > 0) == scores.notnull()).all()
    for algorithm, run in (("c1", 0), ("main", 0)):
        at = (scores.algorithm == algorithm) & (scores.run == run)
        cure = "Give the runs, looks and scores that it had"
        with refused("scores", (algorithm, "1"), cure, names="differs from what it was"):
            scores.where(~at, 9.0).curves.gate(baseline="main", previous=found)
    shorter = scores.where(scores.algorithm != "c1")
    with refused("scores", ("c1", "1"), cure="Give the runs, looks and scores that it had"):
        shorter.curves.gate(baseline="main", previous=found)


def test_copied_runs_are_named():
    rng = np.random.default_rng(0)
    main = rng.normal(10, 1, 8)
    with pytest.warns(
        UserWarning,
        match=r"algorithm 'c1', run 0 and run 1 have the same score, and 7 of its 8 runs repeat one\. Were",
    ) as caught:
        stream({"main": main, "c1": [12.5] * 8}).curves.gate(baseline="main")
    assert len(caught) == 1
    twice = rng.normal(12, 1, 4)[[0, 1, 0, 1, 2, 3, 2, 3]]
    with pytest.warns(UserWarning, match=r"run 0 and run 2 have the same score, and 4"):
        stream({"main": main, "c1": twice}).curves.gate(baseline="main")
    # Scores of few values, and those that algorithms share, are the same by chance.
    stream({"main": [1.0, 0.0, 1.0, 1.0], "c1": [1.0] * 4}).curves.gate(baseline="main")
    rounded = np.round(rng.normal(size=(3, 8)))
    stream(dict(zip(("main", "c1", "c2"), rounded, strict=True))).curves.gate(baseline="main")
    curves = normal(1, n_runs=8).expand_dims(training=range(1, 6), axis=-1)
    curves = (curves * xr.DataArray(range(1, 6), dims="training")).copy()
    curves[1, 3] = curves[1, 2]
    with pytest.warns(UserWarning, match="run 2 and algorithm 'c1', run 3 have the"):
        curves.curves.gate(baseline="main")


def test_runs_that_no_decision_uses_are_counted():
    rng = np.random.default_rng(2)
    runs = {
        "main": rng.normal(size=13),
        "bad": rng.normal(-9, 1, 5),
        "good": rng.normal(9, 1, 12),
        "better": rng.normal(18, 1, 11),
        "worse": rng.normal(0, 1, 3),
    }
    said = stream(runs).curves.gate(baseline="main").curves.summary()
    assert "Runs that no decision used: 4 of bad, 4 of good and 2 of worse." in said
    assert "Runs that only measure the progress: 5 of main and 3 of better." in said
    # An open candidate, and the champion that it meets, may use theirs yet.
    opened = stream(runs | {"next": rng.normal(30, 1, 3)})
    said = opened.curves.gate(baseline="main").curves.summary()
    assert "Runs that only measure the progress: 5 of main." in said
    assert " next" not in said.partition("Runs that no decision used")[2]
    whole = stream({"main": runs["main"][:4], "bad": [-9.0]})
    assert "no decision used" not in whole.curves.gate(baseline="main").curves.summary()


@pytest.mark.slow
def test_a_useless_candidate_is_kept_no_more_often_than_the_level():
    # 15 candidates that do nothing, level 0.2: at each place at most that, however often the champion is run again.
    n_streams, n_candidates = 150, 15
    rng = np.random.default_rng(20261128)
    kept = np.zeros((n_streams, n_candidates), bool)
    for number in range(n_streams):
        noise = rng.normal(size=(n_candidates + 1, 20))
        runs = {f"c{place}": row for place, row in enumerate(noise)}
        found = stream(runs).curves.gate(baseline="c0", refresh=2, n_resamples=999)
        kept[number] = found["decision"].values == 1
    for place in (0, 1, 5, 14):
        n_kept = int(kept[:, place].sum())
        assert stats.binomtest(n_kept, n_streams, 0.2, "greater").pvalue > 0.001
    # A first candidate is kept in 0.14 by the method's description, where many runs were simulated.
    n_first = int(kept[:, 0].sum())
    assert stats.binomtest(n_first, n_streams, 0.14).pvalue > 0.001


@pytest.mark.parametrize(
    ("options", "expected", "said"),
    [
        ({"baseline": "man"}, ("baseline", "man", "Did you mean 'main'"), "must be an algorithm of scores"),
        (
            {"candidates": ["c1", "c9"]},
            ("candidates", "c9", "They have 'main', 'c1', 'c2'"),
            "must be an algorithm of scores",
        ),
        ({"candidates": ["c1", "c1"]}, ("candidates", ANY, "Name each once"), "^candidates name 'c1' twice"),
        ({"candidates": ["main"]}, ("candidates", ANY, "Leave it out"), "^candidates name the baseline 'main'"),
        ({"candidates": []}, ("scores", ANY, "Add a run of one"), "scores have no candidate beside the baseline"),
        *(
            ({"candidates": odd}, ("candidates", odd, "Try candidates=['c2']"), "must be a list of algorithms")
            for odd in ("c1", 5)
        ),
        ({"task": [1, 2]}, ("task", [1, 2], "expand_dims(task=['name'])"), r"^task=\[1, 2\] is no dim of scores"),
        *(
            ({"looks": odd}, ("looks", odd, give(looks=(1, 2, 4, 8))), "must be ascending")
            for odd in ((2, 1), (1, 1, 2))
        ),
        ({"looks": (1,)}, ("looks", (1,), give(looks=(1, 2, 4, 8))), "must end with 2 runs or more"),
        ({"looks": (0, 4)}, ("looks", 0, "Usual: (1, 2, 4, 8)"), "must be at least 1"),
        ({"looks": 1.5}, ("looks", 1.5, "Usual: (1, 2, 4, 8)"), "must be a whole number"),
        ({"start": 1}, ("start", 1, "Usual: 4"), "must be at least 2"),
        *(({"level": odd}, ("level", odd, "Usual: 0.2"), "must lie between 0 and 1") for odd in (0, 1.2)),
        ({"margin": np.nan}, ("margin", np.nan, "At most 1e+140 in size"), "must be a finite number"),
        (
            {"looks": (1, 2), "level": 0.1},
            ("level", "0.1", give(looks=(1, 2, 3))),
            r"^level=0\.1 cannot be reached",
        ),
        (
            {"n_resamples": 3, "level": 0.2},
            ("level", "0.2", give(n_resamples=5)),
            r"^level=0\.2 cannot be reached",
        ),
        ({"task": "env"}, ("task", "env", "expand_dims(task=['name'])"), "^task='env' is no dim of scores, which have"),
        (
            {"training_weights": "final"},
            ("training_weights", ANY, "Leave them out"),
            "^training_weights are for scores with the dim 'training'; got 'final'",
        ),
    ],
)
def test_options_that_cannot_be_used_are_refused(options, expected, said):
    with refused(*expected, names=said):
        normal(1, 2).curves.gate(**({"baseline": "main"} | options))


def test_two_looks_serve_from_a_sixth_on_and_one_is_enough():
    scores = normal(9, 3)
    assert scores.curves.gate(baseline="main", looks=(1, 2), level=1 / 6)["decision"].values[0] == 1
    assert scores.curves.gate(baseline="main", looks=(3,), level=0.05)["decision"].values[0] == 1
    # The first champion has four runs; the next one would have two, against which no p is below a sixth.
    with refused("level", "0.1", cure=give(looks=(1, 2, 3))):
        normal(9, 20).curves.gate(baseline="main", looks=(1, 2), start=4, level=0.1)


def test_scores_that_cannot_be_used_are_refused():
    scores = normal(1, 2)
    twice = scores.assign_coords(algorithm=["main", "c1", "c1"])
    with refused("curves", "'c1' 2 times", cure="Number them"):
        twice.curves.gate(baseline="main")
    with refused("scores", ("c1", "4"), cure=give(higher_is_better=False)):
        scores.where((scores.algorithm != "c1") | (scores.run != 3), inf).curves.gate(baseline="main")
    with refused("scores", ("c1", "4"), cure="Give a failed one infinity, or move absent ones to the end"):
        scores.where((scores.algorithm != "c1") | (scores.run != 3)).curves.gate(baseline="main")
    tasks = xr.concat([scores, scores], "env").assign_coords(env=["x", "y"])
    with refused("scores", cure=give(task="env")):
        tasks.curves.gate(baseline="main")
    gone = (tasks.env == "y") & (tasks.algorithm == "c2") & (tasks.run == 11)
    with refused("scores", ("c2", "12"), cure="Run it there, or leave the run out"):
        tasks.where(~gone).curves.gate(baseline="main", task="env")
    with refused("dims", "('candidate', 'run')", cure="Rename: da.rename(candidate='algorithm')"):
        scores.rename(algorithm="candidate").curves.gate(baseline="main")


AS_IT_WAS = "Give the runs, looks and scores that it had"
BEFORE = "A plan is made before the first look"


@pytest.fixture(params=[False, True])
def previous(request, tmp_path):
    """An earlier result, or the file of the shell that keeps its past."""
    found = normal(2, 1).isel(run=slice(9)).curves.gate(baseline="main")
    if not request.param:
        return found
    path = tmp_path / "gate.json"
    path.write_text(json.dumps({"ledger": ledger_of(found).as_json()}))
    return path


def test_an_earlier_call_changes_no_number_and_candidates_and_runs_may_be_added(
    previous,
):
    more = normal(2, 1, 3)
    again = more.curves.gate(baseline="main", previous=previous)
    xr.testing.assert_identical(again, more.curves.gate(baseline="main"))


@pytest.mark.plain(8)
@pytest.mark.parametrize(
    ("change", "options", "expected", "said"),
    [
        (
            lambda scores: scores.where(scores.run != 4, scores + 1e-9),
            {},
            ("scores", ("main", "5"), AS_IT_WAS),
            "^run 5 of algorithm 'main' differs from what it was at the earlier call, ",
        ),
        (
            lambda scores: scores.isel(run=slice(7)),
            {},
            ("scores", ("main", "8"), AS_IT_WAS),
            "^run 8 of algorithm 'main' is gone, and was there at the earlier call, ",
        ),
        (
            lambda scores: scores.drop_sel(algorithm="c2"),
            {},
            ("candidates", "'c1'", BEFORE),
            "must stay as it was",
        ),
        *(
            (lambda scores: scores, {name: value}, (name, kept, BEFORE), f"^{name} must stay as it was at the earlier")
            for name, value, kept in (
                ("candidates", ["c2", "c1"], "'c2', 'c1'"),
                ("candidates", ["c1"], "'c1'"),
                ("level", 0.1, 0.1),
                ("looks", (1, 2, 4), "1, 2, 4"),
                ("margin", 0.1, 0.1),
                ("start", 5, 5),
                ("confidence_level", 0.9, 0.9),
                ("baseline", "c1", "c1"),
                ("rng", 1, "1"),
            )
        ),
    ],
)
def test_another_past_is_refused_by_name(previous, change, options, expected, said):
    with refused(*expected, names=said):
        change(normal(2, 1)).curves.gate(**({"baseline": "main", "previous": previous} | options))


def test_a_result_without_its_digests_is_no_past():
    found = normal(2).curves.gate(baseline="main").drop_vars("run_digest")
    with refused("previous", cure="Give it whole", names="previous must be a result of gate with its run_digest"):
        normal(2).curves.gate(baseline="main", previous=found)


def test_other_training_weights_are_another_plan():
    curves = normal(2, 1).expand_dims(training=[1.0, 2.0], axis=-1)
    found = curves.curves.gate(baseline="main", training_weights=[1, 2])
    curves.curves.gate(baseline="main", training_weights=[2, 4], previous=found)
    with refused("training_weights", cure="A plan is made before the first look"):
        curves.curves.gate(baseline="main", training_weights=[2, 1], previous=found)


def test_labels_may_be_numbers_and_random_reassignments_have_a_seed():
    scores = normal(1, 2, n_runs=12).assign_coords(algorithm=[7, 1, 3])
    found = scores.curves.gate(baseline=7)
    assert found["candidate"].values.tolist() == [1, 3]
    assert found["champion"].dtype.kind == "i"
    some = [scores.curves.gate(baseline=7, n_resamples=99, rng=seed)["pvalue"].values for seed in (1, 1, 2)]
    np.testing.assert_array_equal(some[0], some[1])
    assert (some[0] != some[2]).any()
    assert xcurves.gate(scores, baseline=7).identical(found)


def test_the_picture_shows_the_record_and_the_audit():
    plt = pytest.importorskip("matplotlib.pyplot")
    scores = normal(3, -1, 6, n_runs=14, seed=2)
    found = scores.curves.gate(baseline="main")
    ax = found.curves.plot()
    record = next(line for line in ax.lines if line.get_linestyle() == "-" and len(line.get_xdata()) > 1)
    assert record.get_xdata().tolist() == [0, 1, 3]
    kept = [scores.sel(algorithm=name).values[:8].mean() for name in ("c1", "c3")]
    np.testing.assert_allclose(record.get_ydata()[1:], kept, atol=1e-12)
    assert len(ax.collections) == 2
    plt.close(ax.figure)


@pytest.mark.plain(1)
@pytest.mark.parametrize("n_candidates", [1, slow(5), slow(20), 60])
@pytest.mark.parametrize("options", [{}, {"figsize": (3.3, 2.6)}])
def test_the_picture_can_be_read_with_any_number_of_candidates(n_candidates, options):
    plt = pytest.importorskip("matplotlib.pyplot")
    rng = np.random.default_rng(n_candidates)
    runs = {"main": rng.normal(size=12)}
    for number, name in enumerate(TASKS[:n_candidates]):
        runs[name] = rng.normal(0.2 * number, 1, 12)
    figure = stream(runs, units="points").curves.gate(baseline="main", level=0.5).curves.plot(**options).figure
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
    with refused("level", names=r"cannot be reached: of .* no p is below") as error:
        scores.curves.gate(baseline="main", **options)
    said = str(error.value)
    if "looks=" in said:
        options["looks"] = tuple(map(int, said.partition("looks=(")[2].partition(")")[0].split(",")))
    if "n_resamples=" in said:
        options["n_resamples"] = int(said.rpartition("n_resamples=")[2])
    scores.curves.gate(baseline="main", **options)


@pytest.mark.plain(2)
@pytest.mark.parametrize("seed", range(20))
def test_a_shift_and_a_unit_change_no_decision(seed):
    runs, rule = random_stream(seed)
    # so that no champion is refused
    runs["main"] = [value for value in runs["main"] if np.isfinite(value)]
    scores = stream(runs)
    expected = scores.curves.gate(baseline="main", **rule)
    for factor, shift in ((4.0, 0.0), (1.0, 1000.0), (0.1, -7.0), (1e-30, 0.0)):
        moved = factor * scores + shift
        found = moved.curves.gate(baseline="main", **rule | {"margin": factor * rule["margin"]})
        for name in ("decision", *NUMBERS, "n_runs_audit"):
            np.testing.assert_array_equal(found[name], expected[name])
        np.testing.assert_allclose(found["pvalue"], expected["pvalue"], atol=1e-12)
        np.testing.assert_allclose(
            found["difference"],
            factor * expected["difference"],
            rtol=1e-8,
            atol=1e-12 * factor,
        )
