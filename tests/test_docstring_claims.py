"""What a docstring says of errors, warnings and literature is what the code raises, warns of and rests on."""

import ast
import builtins
import inspect
import re
import sys
import textwrap
import warnings
from functools import cache

import pytest

import xcurves
from test_docstrings import EXPERIMENTS, FUNCTIONS
from xcurves import kinds
from xcurves.core import checkpoints

PUBLIC = {**FUNCTIONS, **EXPERIMENTS, "xcurves.core.checkpoints.run_trials": checkpoints.run_trials}
# What is raised on the way, and caught before it reaches the caller.
CAUGHT = {"xcurves.report": {"AttributeError", "ModuleNotFoundError"}}
# Publications without a DOI, by where they appeared.
NO_DOI = (
    "Int. Conf. on Machine Learning",
    "ICML",
    "PMLR",
    "longer version",
    "randomized ANOVA procedure for comparing performance curves",
    "cumulative distribution based performance analysis",
    "Scand. J. Statist.",
    "NeurIPS",
    "Wiley",
    "On adaptive extensions of group sequential trials",  # its DOI is not confirmed
    "A group sequential Holm procedure",  # nor is this
)


@cache
def code_of(thing):
    return ast.parse(textwrap.dedent(inspect.getsource(thing)))


def found(node, scope):
    """Return what a name stands for in a module, or an attribute of a module that is named."""
    if isinstance(node, ast.Name):
        return scope.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = found(node.value, scope)
        return inspect.getattr_static(owner, node.attr, None) if inspect.ismodule(owner) else None
    return None


def reached(function):
    """Return the function, and all functions and classes of the package that it names, and so on."""
    things = [function]
    for thing in things:
        scope = vars(sys.modules[thing.__module__])
        for other in (found(node, scope) for node in ast.walk(code_of(thing))):
            ours = (inspect.isfunction(other) or inspect.isclass(other)) and other.__module__.startswith("xcurves.")
            if ours and other not in things:
                things.append(other)
    return things


def raised(function):
    nodes = (node for thing in reached(function) for node in ast.walk(code_of(thing)))
    calls = (node.exc for node in nodes if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call))
    names = {call.func.id for call in calls if isinstance(call.func, ast.Name)}
    return {name for name in names if hasattr(builtins, name)}


def warns(function):
    """Return whether the function, or anything it names, calls `warnings.warn`."""
    return any(
        found(node, vars(sys.modules[thing.__module__])) is warnings.warn
        for thing in reached(function)
        for node in ast.walk(code_of(thing))
    )


def section(function, name):
    at = re.search(rf"^{name}\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", inspect.getdoc(function), re.DOTALL | re.MULTILINE)
    return at[1] if at else ""


def documented(name):
    """Return the errors that a docstring names, itself or by what it is like."""
    told = section(PUBLIC[name], "Raises")
    names = set(re.findall(r"^(?:\w+, )*\w+$", told, re.MULTILINE))
    alike = {f"{name.rpartition('.')[0]}.{other}" for other in re.findall(r"[Aa]s `(\w+)`", told)} & set(PUBLIC)
    return {each for line in names for each in line.split(", ")}.union(*map(documented, alike - {name}))


@pytest.mark.parametrize("name", PUBLIC)
def test_every_error_is_documented(name):
    told = tuple(getattr(builtins, each) for each in documented(name))
    possible = raised(PUBLIC[name]) - CAUGHT.get(name, set())
    assert not [each for each in possible if not issubclass(getattr(builtins, each), told)]


@pytest.mark.parametrize("name", PUBLIC)
def test_every_warning_is_documented(name):
    assert ("UserWarning" in section(PUBLIC[name], "Warns")) == warns(PUBLIC[name])


def test_errors_and_warnings_are_found():
    assert raised(xcurves.trials_needed) == {"ValueError"}
    assert raised(xcurves.to_frame) == {"ValueError", "TypeError"}
    assert not warns(xcurves.trials_needed)
    assert warns(xcurves.contrast)


def publications():
    """Every entry of every list of references, in docstrings and in attrs."""
    for name, function in PUBLIC.items():
        for entry in section(function, "References").split("\n.. "):
            if entry.strip():
                yield name, " ".join(entry.split())
    for name in kinds.NAMES:
        yield from ((name, entry) for entry in kinds.kind(name).references)


@pytest.mark.parametrize(("name", "entry"), list(publications()))
def test_a_publication_has_its_doi(name, entry):
    assert re.search(r"doi:10\.\d{4,}/\S+", entry) or any(place.lower() in entry.lower() for place in NO_DOI)
