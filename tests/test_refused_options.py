"""Every public function refuses, in one line, every value that an option does not take: argument, value and cure.

The table is generated: a function has the rows of the options in its signature. Messages that depend on more than one
value of one option stand in test_refusals.py.
"""

import inspect
import re
from collections import Counter

import pytest

import xcurves
from test_kinds import BATCHES, GIVEN, curves, worlds
from xcurves import kinds
from xcurves.core.refusal import shown

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

NAN = float("nan")
A_SHARE = "must lie between 0 and 1"
A_FLAG = "must be True or False"
A_COUNT = "must be (a whole number|at least)"
FROM_0 = ("must be a number from 0 to .* Leave it out for the default", [-1, "x"])
# What an option must be, with the cure where all functions have the same, and values that no function takes.
REFUSED = {
    "alpha": (A_SHARE, [1.5, 2, "x"]),
    "alternative": ("must be", ["more", 1]),
    "asymptote": ("must be", ["x"]),
    "baseline": ("must be an algorithm of .* They have", ["nobody"]),
    "cluster_threshold": ("must be above 0.* Leave it out for the default", [-1]),
    "confidence_level": (A_SHARE + ".* Usual: 0.95", [0, 1, 95, -0.5, NAN, "high"]),
    "correction": ("must be '", ["none-such", 0]),
    "cvar_level": ("must lie in .* 0.9 is the best tenth", [2]),
    "delta": ("must be a number from .* Hoffmann's is", [-1]),
    "fractions": ("must be .* Usual: 20", [0, "x"]),
    "higher_is_better": (A_FLAG, ["yes", 2]),
    "interval": ("must be '", ["x"]),
    "keep_null": (A_FLAG, ["x", 1]),
    "level_test": ("must be '", ["x"]),
    "margin": ("must be a (finite )?number", ["wide", NAN]),
    "method": ("must be .*'linear'", ["lineer", 1]),
    "n_looks": (A_COUNT, [0, 1.5, "x"]),
    "n_replications": (A_COUNT, [0, "x"]),
    "n_resamples": (A_COUNT, ["many", 1.5, True, -1]),
    "n_trials": ("must be", [0, "x"]),
    "paired": (A_FLAG, ["yes", 1]),
    "power": (A_SHARE, [2, 80, True, "x"]),
    "prior_strength": FROM_0,
    "progress": (A_FLAG, ["yes", 1]),
    "quadratic": (A_FLAG, ["x", 1]),
    "reference": ("must be .*algorithm", ["nobody", ("nobody",)]),
    "repeated_intervals": (A_FLAG, ["x", 1]),
    "rng": (
        "must (be a whole number, a numpy Generator or None.* Try rng=0|not be negative.* Give a whole number from 0)",
        [-1, "a", 1.5],
    ),
    "sigma0_sq": FROM_0,
    "sigma_hat_sq": FROM_0,
    "spending": ("must be '", ["fast"]),
    "sustained": (A_COUNT, [0, 1.5, "x"]),
    "task": ("", ["nodim"]),
    "task_correction": ("must be '", ["x", 0]),
    "task_groups": ("='nogroup' is no coordinate .* give the labels", ["nogroup"]),
    "tau_max": ("must be above 1.* Usual: 4", [0]),
    "training_scale": ("must be '", ["ln"]),
    "training_weights": ("", ["flat"]),
    "unit": ("must be of the dims of trials.* Pool it too", ["nounit"]),
    "weighting": ("must be '", ["x"]),
}
# Options that many functions have and no row: what they take differs.
NO_ROW = {"dim", "target", "compute"}
POSITIONAL = {
    "align": ([0, 200, 400],),
    "contrast": ({"a0": 1, "a2": -1},),
    "mean_time_to_target": (1.0,),
    "optimal_allocation": ([1e20],),
    "predict": ([1600, 3200],),
    "time_to_target": (1.0,),
}
OPTIONS = {  # without which the functions refuse a call, or take no such option
    "across_tasks": {"task": "world"},
    "compare_learners": {"reference": "plain"},
    "compare_scaling_laws": {"at_size_and_tokens": (7e9, 1.4e11)},
    "gate": {"baseline": "a", "task": "task"},
    "performance_cdf": {"interval": "percentile"},
    "performance_profile": {"task": "world"},
    "predict_loss": {"model_size": 7e9, "tokens": 1e11},
    "profile_across_tasks": {"task": "world", "fractions": 4},
    "runs_needed": {"n_runs": [3, 4], "n_replications": 20},
    "sequential": {"n_looks": 3},
    "speedup": {"reference": "a0", "target": 2.0, "task": "world"},
    "tuning_curve": {"n_trials": 6, "bounds": (-9, 9)},
}
FUNCTIONS = [*kinds.NAMES, "align", "analyze", "time_to_target"]
ROWS = [
    (name, option)
    for name in FUNCTIONS
    for option in inspect.signature(getattr(xcurves, name)).parameters
    if option in REFUSED
]


def data_of(name):
    """Return what a function is called on."""
    if name not in kinds.NAMES:
        return curves()
    data = GIVEN[kinds.kind(name).argument]()
    if name in ("across_tasks", "profile_across_tasks", "speedup"):
        return worlds(data)
    if name == "sequential":
        return xcurves.assign_looks(data, BATCHES)
    if name == "runs_needed":
        return data.isel(task=0, drop=True)
    return data


@pytest.mark.plain(25)
@pytest.mark.parametrize(("name", "option"), ROWS)
def test_argument_value_and_cure_are_said_in_one_line(name, option):
    rule, values = REFUSED[option]
    for value in values:
        given = OPTIONS.get(name, {}) | {option: value}
        with pytest.raises((ValueError, TypeError)) as caught:
            getattr(xcurves, name)(data_of(name), *POSITIONAL.get(name, ()), **given)
        said = str(caught.value)
        assert re.match(rf"{option}.*{rule}", said), said
        assert shown(value) in said
        assert "\n" not in said
        # Rules that name all choices are their own cure.
        _, _, cure = said.partition(shown(value))
        assert len(cure) > 3 or "must be " in said, said
        if isinstance(caught.value, xcurves.Refusal):
            assert caught.value.argument == option


def test_every_option_that_functions_share_has_its_row():
    shared = Counter(
        option for name in FUNCTIONS for option in list(inspect.signature(getattr(xcurves, name)).parameters)[1:]
    )
    several = {option for option, count in shared.items() if count > 2}
    assert several - NO_ROW <= set(REFUSED)
    assert {option for _, option in ROWS} == set(REFUSED)
