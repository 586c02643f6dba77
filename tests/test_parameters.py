"""One parameter name has one meaning and one type over all public functions."""

import inspect
import re

import pytest

import xcurves

# What a parameter may hold besides its one type, and why.
EXCEPTIONS = {
    "by": "assign_looks takes the look of each run, across_tasks the coordinate of the tasks that groups them",
    "at": "a comparison of two fits has a number; a fit also has the largest size, or one for each curve",
    "columns": "of several scores, a Dataset has columns for each",
    "data": "plot draws trees too",
    "n_trials": "a tuning curve has several numbers of trials; what runs trials has one",
    "on": "a frame has no number of levels to spread before it is an array",
    "predict_at": "a scaling law has a size and tokens for each prediction",
    "rng": "a trial is run again with the seed that it had",
    "result": "a summary, a table and the references are also of a tree of results",
    "target": "a mean is compared with one number or one of each task; a distribution with one number",
    "task": "methods of one task take one dim, or none; methods over tasks take several",
}

# What most functions have by default; where one has another, its docstring says why.
DEFAULTS = {"rng": None, "n_resamples": None}
REASON = "unlike elsewhere, since"


def functions():
    public = (getattr(xcurves, name) for name in xcurves.__all__)
    return [each for each in public if inspect.isfunction(each)]


def types_by_name():
    """Return the types of each parameter, without None and whether there is one, and the functions that have it."""
    types = {}
    for function in functions():
        for name, parameter in inspect.signature(function).parameters.items():
            parts = frozenset(part.strip() for part in str(parameter.annotation).split("|")) - {"None"}
            types.setdefault(name, {}).setdefault(parts, []).append(function.__name__)
    return types


@pytest.mark.parametrize("name", sorted(types_by_name()))
def test_a_parameter_has_one_type(name):
    found = types_by_name()[name]
    assert len(found) == 1 or name in EXCEPTIONS, found


def test_no_exception_is_left_over():
    found = types_by_name()
    assert {name for name in EXCEPTIONS if len(found.get(name, ())) < 2} == set()


def entry(function, name):
    """Return what the docstring of a function says of a parameter, in one line."""
    lines = iter(inspect.getdoc(function).splitlines())
    for line in lines:
        names, colon, _ = line.partition(" : ")
        if colon and name in re.split(", ?", names):
            break
    text = []
    for line in lines:
        if not line.startswith("    "):
            break
        text.append(line.strip())
    return " ".join(text)


@pytest.mark.parametrize("name", DEFAULTS)
@pytest.mark.parametrize("function", functions(), ids=lambda each: each.__name__)
def test_another_default_than_elsewhere_has_its_reason(function, name):
    parameter = inspect.signature(function).parameters.get(name)
    differs = parameter is not None and parameter.default != DEFAULTS[name]
    assert (REASON in entry(function, name)) == differs


def test_the_entry_of_a_parameter_is_found():
    assert entry(xcurves.gate, "rng").startswith("Seed of random reassignments")
    assert entry(xcurves.gate, "no_parameter") == ""
