"""A result states seed 0 where no seed was given and nothing was drawn; each call then gives the same."""

import inspect
import warnings

import pytest
import xarray as xr

import test_kinds
import xcurves
from xcurves import kinds

OVER_TASKS = {"task": "world"}
BY_SIGN = {"weights": {"a0": 1, "a2": -1}}
# Calls without a seed that draw nothing: all assignments of three runs, in three worlds, are few.
EXACT = {
    "randomized_anova": {},
    "pairwise": {},
    "contrast": BY_SIGN,
    "across_tasks": OVER_TASKS,
    "profile_across_tasks": {"fractions": 2, **OVER_TASKS},
    "ss_profile": {},
    "sequential": {"n_looks": 1, "rng": None},
    "gate": {"baseline": "a", "task": "task", "rng": None},
    "speedup": {"reference": "a0", **OVER_TASKS},
    "fit_power_law": {},
    "performance_cdf": {},
    "compare_distributions": {},
    "mean_curves": {},
}
RATES = {"test": test_kinds.ANOVA, "n_replications": 20}
# Calls that draw.
DRAWN = {
    "randomized_anova": {"n_resamples": 5},
    "pairwise": {"n_resamples": 5},
    "contrast": {"n_resamples": 5, **BY_SIGN},
    "across_tasks": {"n_resamples": 5, **OVER_TASKS},
    "profile_across_tasks": {"fractions": 2, "n_resamples": 5, **OVER_TASKS},
    "ss_profile": {"n_resamples": 5},
    "sequential": {"n_looks": 2, "n_resamples": 5, "rng": None},
    "gate": {"baseline": "a", "task": "task", "n_resamples": 99, "rng": None},
    "speedup": {"reference": "a0", "task": ["task", "world"]},  # 24 in all
    "fit_power_law": {"n_resamples": 19},
    "performance_cdf": {"interval": "percentile", "n_resamples": 19},
    "compare_distributions": {
        "dim": ("task", "run"),
        "strata": "task",
        "n_resamples": 19,
    },
    "mean_curves": {"band": "simultaneous", "n_resamples": 19},
    "performance_profile": OVER_TASKS,
    "runs_needed": {"n_runs": [2, 3], **RATES},
}
ALWAYS_DRAW = {"performance_profile", "runs_needed"}
TAKE_A_SEED = [name for name in kinds.NAMES if "rng" in inspect.signature(getattr(xcurves, name)).parameters]


def data_of(name, n_runs):
    """Return what a method takes, of few runs."""
    argument = kinds.kind(name).argument
    data = test_kinds.GIVEN[argument]()
    if argument == "curves":
        data = xr.concat([data, data * 1.1, data + 0.1], "run")
        data = data.assign_coords(run=range(18))
        data = data.isel(run=slice(n_runs), algorithm=[0, 2])
    if name == "speedup":
        worlds = test_kinds.worlds(data)
        more = xr.concat([worlds, worlds + 1], "world").assign_coords(world=range(12))
        data = more if n_runs > 3 else more.isel(world=slice(3))
    if name in ("across_tasks", "profile_across_tasks"):
        data = test_kinds.worlds(data).isel(world=slice(3))
    if name == "sequential":
        data = xcurves.assign_looks(data, {run: 1 + run // 3 for run in range(n_runs)})
    if name == "runs_needed":
        data = data.isel(task=0)
    return data


def called(name, data, options):
    """Return a result of a method, without warnings of few runs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return getattr(xcurves, name)(data, **options)


def test_every_method_that_takes_a_seed_is_here():
    assert set(EXACT) | ALWAYS_DRAW == set(DRAWN) == set(TAKE_A_SEED)


@pytest.mark.plain(4)
@pytest.mark.parametrize("name", EXACT)
def test_where_nothing_is_drawn_every_call_is_identical(name):
    # The band of a mean curve over tasks draws signs of runs, of which a single one has none.
    data = data_of(name, 1 if name == "profile_across_tasks" else 3)
    first, second = (called(name, data, EXACT[name]) for _ in range(2))
    xr.testing.assert_identical(first, second)
    assert first.attrs["rng"] == "0"


@pytest.mark.plain(5)
@pytest.mark.parametrize("name", DRAWN)
def test_what_is_drawn_can_be_repeated_from_the_seed_that_is_stated(name):
    data = data_of(name, 6)
    first, second = (called(name, data, DRAWN[name]) for _ in range(2))
    assert first.attrs["rng"] != second.attrs["rng"]
    assert "0" not in (first.attrs["rng"], second.attrs["rng"])
    seeded = {**DRAWN[name], "rng": int(first.attrs["rng"])}
    xr.testing.assert_identical(called(name, data, seeded), first)


@pytest.mark.plain(4)
@pytest.mark.parametrize("name", EXACT)
def test_a_seed_that_was_given_is_stated_even_where_it_changes_nothing(name):
    data = data_of(name, 1 if name == "profile_across_tasks" else 3)
    seeded, without = (called(name, data, {**EXACT[name], "rng": rng}) for rng in (7, None))
    assert seeded.attrs["rng"] == "7"
    xr.testing.assert_identical(seeded.assign_attrs(rng="0"), without)


@pytest.mark.slow
def test_methods_without_a_seed_give_the_same_at_each_call():
    for name in set(kinds.NAMES) - set(TAKE_A_SEED):
        data = test_kinds.GIVEN[kinds.kind(name).argument]()
        first, second = (test_kinds.CALLS[name](data) for _ in range(2))
        xr.testing.assert_identical(first, second)


@pytest.mark.slow
def test_a_whole_analysis_states_seeds_only_of_what_was_drawn():
    curves = test_kinds.curves().isel(run=slice(3), algorithm=[0, 2])
    first, second = (called("analyze", curves, {}) for _ in range(2))
    drawn = {name for name in first.children if "rng" in first[name].attrs and first[name].attrs["rng"] != "0"}
    for name in set(first.children) - drawn:
        assert first[name].identical(second[name]), name
    assert "anova" not in drawn


def test_lazy_curves_do_not_say_beforehand_whether_anything_is_drawn():
    curves = data_of("pairwise", 3).chunk(task=1)
    assert xcurves.pairwise(curves).attrs["rng"] != "0"
    assert xcurves.ss_profile(curves, n_resamples=0).attrs["rng"] == "0"
