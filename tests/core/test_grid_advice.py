"""Errors about levels that runs lack propose a call that works on them: it is taken from the message, and run."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

from layers import every
from refusals import refused
from strategies import make_curves


def ragged(levels, seed=0):
    """A frame of runs with levels of their own, given by (task, algorithm, run)."""
    rng = np.random.default_rng(seed)
    parts = [
        pd.DataFrame(
            {
                "task": task,
                "algorithm": algorithm,
                "run": run,
                "training": at,
                "r": rng.normal(size=len(at)),
            }
        )
        for (task, algorithm, run), at in levels.items()
    ]
    return pd.concat(parts)


def episodes(seed, n):
    return np.cumsum(np.random.default_rng(seed).integers(50, 150, n)).astype(float)


EVALUATIONS = {
    ("x", a, run): np.arange(0, 20_001, every) + run for a, every in (("a", 1000), ("b", 1500)) for run in (0, 1)
}
LOGS = {
    "evaluations at steps of their own": EVALUATIONS,
    "episodes": {
        ("x", a, run): episodes(seed, 250) for seed, (a, run) in enumerate([(a, r) for a in "ab" for r in (0, 1)])
    },
    "large and near": {("x", a, run): 1e9 + np.arange(6) * 0.25 + run * 0.1 for a in "ab" for run in (0, 1)},
    "four visits": {("x", a, run): np.array([3, 6, 9, 12]) - shift for shift, a in enumerate("ab") for run in (0, 1)},
    "three late visits": {
        ("x", a, run): np.array([16, 19, 22]) + (a == "a") * (-1) ** run for a in "ab" for run in (0, 1)
    },
    "late visits of tasks": {
        (task, a, run): np.array([16, 19, 22]) * scale + (a == "a")
        for scale, task in ((1, "x"), (9, "y"))
        for a in "ab"
        for run in (0, 1)
    },
    "tasks alike": EVALUATIONS | {("y", *key[1:]): at * 1.2 + 7 for key, at in EVALUATIONS.items()},
    "tasks of other budgets": EVALUATIONS | {("y", *key[1:]): at * 50 + 7 for key, at in EVALUATIONS.items()},
}


def least(on, levels):
    """How many levels can be asked for."""
    return 1 if on == "final" or levels is LOGS["late visits of tasks"] else 2


@pytest.mark.plain(4)
@pytest.mark.parametrize("on", ["intersection", "final"])
@pytest.mark.parametrize("levels", LOGS.values(), ids=LOGS)
def test_the_call_in_the_message_leads_to_an_anova(levels, on):
    frame = ragged(levels)
    curves = frame.curves.to_dataarray("r", extra="task")
    with refused("on", names=r"common training level") as caught:
        curves.curves.align(on)
    code = re.search(r"with (\.curves\.align\(.+\))", str(caught.value).split(". The same holds")[0])[1]
    whole(eval(f"curves{code}", {"curves": curves, "np": np}), least=least(on, levels))


@pytest.mark.plain(4)
@pytest.mark.parametrize("on", ["intersection", "final"])
@pytest.mark.parametrize("levels", LOGS.values(), ids=LOGS)
def test_the_options_in_the_message_of_a_frame_do_too(levels, on):
    frame = ragged(levels)
    with refused("on", names=r"common training level") as caught:
        frame.curves.to_dataarray("r", extra="task", on=on)
    told = str(caught.value).split(". The same holds")[0]
    if "no on=" in told:
        options, rest = "", re.search(r"and (\.curves\.align\(.+\))", told)[1]
    else:
        options, rest = ", " + re.search(r"with (on=.+)$", told)[1], ""
    whole(
        eval(
            f"frame.curves.to_dataarray('r', extra='task'{options}){rest}",
            {"frame": frame, "np": np},
        ),
        least=least(on, levels),
    )


def whole(curves, *, least=2):
    """Every run has every level of its task."""
    has = curves.notnull()
    grid = has.any(["algorithm", "run"])
    assert ((has.sum("training") == grid.sum("training")) | ~has.any("training")).all()
    assert (grid.sum("training") >= least).all()
    result = curves.curves.randomized_anova(confidence_level=0.5, n_resamples=19, rng=0)
    assert result.f.notnull().any()


@pytest.mark.slow
def test_budgets_get_fractions_and_what_has_none_gets_levels():
    def said(name):
        with refused("on", names="common") as caught:
            ragged(LOGS[name]).curves.to_dataarray("r", extra="task", on="intersection")
        return str(caught.value)

    # as many fractions as the shortest run has levels, 20 at most
    for name, n in (
        ("episodes", 20),
        ("evaluations at steps of their own", 14),
        ("tasks of other budgets", 14),
    ):
        assert f"fractions of its budget with no on= and .curves.align({n}, relative_to='budget')" in said(name)
    assert "with no on= and .curves.align(4, relative_to='budget')" in said("four visits")
    # no run has scores at the first fractions
    assert re.search(
        r"on=np\.linspace\([\d.]+, [\d.]+, 6\), method='linear'$",
        said("large and near"),
    )
    assert re.search(
        r"on=np\.linspace\(17\.0, 21\.0, 3\), method='linear'$",
        said("three late visits"),
    )
    # and tasks share no levels
    assert "the end of its budget with no on= and .curves.align(1, relative_to='budget')" in said(
        "late visits of tasks"
    )


TESTS = {
    "randomized_anova": {"confidence_level": 0.5, "n_resamples": 19, "rng": 0},
    "pairwise": {"confidence_level": 0.5, "n_resamples": 19, "rng": 0},
    "contrast": {
        "weights": {"a": 1, "b": -1},
        "n_resamples": 19,
        "rng": 0,
        "confidence_level": 0.5,
    },
    "ss_profile": {"confidence_level": 0.5, "n_resamples": 19, "rng": 0},
    "across_tasks": {"n_resamples": 19, "rng": 0},
}


LACKING = "some levels", "all common levels", "one run"


@pytest.mark.plain(3)
@pytest.mark.parametrize(
    ("name", "options", "lacking"),
    every(2, [(*test, lacking) for test in TESTS.items() for lacking in LACKING]),
)
def test_every_call_in_an_error_about_incomplete_runs_works(name, options, lacking):
    curves = make_curves(np.random.default_rng(3).normal(size=(4, 2, 4, 8)), task=list("stuv"))
    curves = curves.assign_coords(algorithm=["a", "b"])
    if lacking == "one run":
        curves[2, 0, 1, 3:] = np.nan
    elif lacking == "some levels":
        curves[2, :, :, 3] = np.nan
        curves[2, 0, 1, 2:5] = np.nan
        curves[1, :, 0, 6] = np.nan
        curves[1, 0, 1:, 5] = np.nan
    else:
        curves[2, :, :2, 1::2] = np.nan
        curves[2, :, 2:, 2::2] = np.nan
        curves[2, :, 2:, 0] = np.nan
    with refused("curves", names=r"lacks \d+ of 8 training levels") as caught:
        getattr(curves.curves, name)(**options)
    said = str(caught.value)
    codes = re.findall(
        r"\.curves\.(?:align|drop_incomplete)\([^()]*\)(?:\.curves\.\w+\([^()]*\))?",
        said,
    )
    # Of runs that end early: failed, cut or left out.
    assert ("runs_short" in said) == (lacking != "some levels")
    if lacking == "some levels":
        assert len(codes) == 1 + ("drop" in said)
        assert "intersection" in said
    else:
        assert len(codes) == 3
    for code in codes:
        ready = eval(f"curves{code}", {"curves": curves, "np": np})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            getattr(ready.curves, name)(**options)


@pytest.mark.parametrize(
    ("n_first", "begin", "said"),
    [
        (5, 6.0, "Runs that end at 4 share no level with those that begin at 6: leave either out"),
        (1, 0.0, "Runs that end at 0 share no other level with those that begin at 0: leave either out"),
    ],
)
def test_runs_that_never_meet_or_at_0_alone_are_to_be_left_out(n_first, begin, said):
    levels = {("x", "a", 0): np.arange(n_first), ("x", "b", 0): np.arange(begin, 10)}
    levels |= {("x", algorithm, 1): np.arange(10.0) for algorithm in "ab"}
    # has all of its levels
    levels |= {("y", algorithm, run): np.zeros(1) for algorithm in "ab" for run in (0, 1)}
    curves = ragged(levels).curves.to_dataarray("r", extra="task")
    with warnings.catch_warnings(action="error"), pytest.raises(UserWarning, match=said):
        curves.curves.align("intersection")
    with warnings.catch_warnings(action="error"), refused("curves", ("'a'", "0"), said):
        curves.curves.randomized_anova()


def test_levels_below_0_have_no_budget_and_get_a_grid():
    levels = {("x", algorithm, run): np.arange(8.0) + run / 2 for algorithm in "ab" for run in (0, 1)}
    curves = ragged(levels).curves.to_dataarray("r", extra="task")
    # Tables have none; arrays may.
    curves = curves.assign_coords(training=curves["training"] - 9)
    with refused(
        "on",
        cure="Bring runs to levels that all reach with",
        names=r"with (\.curves\.align\(np\.linspace\(-8\.5, -2\.0, 8\), method='linear'\))",
    ) as caught:
        curves.curves.align("intersection")
    whole(
        eval(
            f"curves{re.search(r'with (.+)$', str(caught.value))[1]}",
            {"curves": curves, "np": np},
        )
    )
