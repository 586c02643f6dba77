"""Every public name says its parameters, what comes back, what it raises, and has an example."""

import inspect
import pkgutil
import re
from importlib import import_module
from pathlib import Path

import pytest

import experiments
import xcurves
from xcurves import accessors, kinds

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
# What STYLE leaves open: where the summary begins, a See Also, an extended summary, a capital after {choices}.
OPEN = {"GL01", "SA01", "SA04", "ES01"}


def functions_of(module):
    """Return what a module says is public, or else its own functions without an underscore, by full names."""
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
    public = {name: getattr(module, name) for name in getattr(module, "__all__", own) if not name.startswith("_")}
    found = {f"{module.__name__}.{name}": value for name, value in public.items() if inspect.isfunction(value)}
    return found | {
        name: function
        for value in public.values()
        if inspect.ismodule(value)
        for name, function in functions_of(value).items()
    }


def functions_of_experiments():
    """Return those that show how they are called; the others serve these."""
    names = [module.name for module in pkgutil.iter_modules(experiments.__path__, "experiments.")]
    functions = {name: function for module in names for name, function in functions_of(import_module(module)).items()}
    return {name: function for name, function in functions.items() if ">>> " in (function.__doc__ or "")}


FUNCTIONS = functions_of(xcurves)
EXPERIMENTS = functions_of_experiments()
METHODS = [
    f"{accessor.removesuffix('Curves')}.curves.{name}"
    for accessor, value in inspect.getmembers(accessors, inspect.isclass)
    if accessor.endswith("Curves")
    for name, _ in inspect.getmembers(value, inspect.isfunction)
    if not name.startswith("_")
]


def test_names_are_found():
    assert {
        "xcurves.align",
        "xcurves.tutorial.open_dataset",
        "xcurves.readers.read",
    } <= set(FUNCTIONS)
    assert "experiments.tictactoe.learning_curves" in EXPERIMENTS
    assert {
        "DataArray.curves.align",
        "Dataset.curves.table",
        "DataFrame.curves.to_dataset",
    } <= set(METHODS)


def lacking(function, *sections):
    return [section.strip() for section in sections if section not in (function.__doc__ or "")]


def test_functions_are_documented():
    for name, function in FUNCTIONS.items():
        taken = ("Parameters\n", "Returns\n") if inspect.signature(function).parameters else ()
        assert not lacking(function, *taken, "Raises\n", "Examples\n", ">>> "), name


def test_experiments_say_what_they_take_and_return():
    for name, function in EXPERIMENTS.items():
        taken = ["Parameters\n"] if inspect.signature(function).parameters else []
        assert not lacking(function, *taken, "Returns\n"), name


@pytest.mark.slow
def test_numpydoc_finds_nothing_amiss():
    validate = pytest.importorskip("numpydoc.validate", reason="numpydoc comes with the docs extra")
    for name in PUBLIC:
        assert not [error for error in validate.validate(name)["errors"] if error[0] not in OPEN], name


def test_the_reference_lists_all():
    pages = "\n".join(page.read_text(encoding="utf-8") for page in sorted(REFERENCE.glob("*.rst")))
    names = [name.removeprefix("xcurves.").removeprefix("readers.") for name in (*FUNCTIONS, *METHODS)]
    assert not [name for name in names if f"\n   {name}\n" not in pages]


ELSEWHERE = {  # what "each with `_ci`" says, what the docstring of another function says, what is given back as it came
    "across_tasks": {"training_weights"},
    "tuning_curve": {"trials_to_match_reversed_ci"},
    "mean_curves": {"level"},  # which becomes the coordinate training
    "optimal_allocation": {f"{name}_ci" for name in ("n_opt", "d_opt", "tokens_per_parameter", "loss_at_optimum")},
    "fit_scaling_law": set(kinds.kind("optimal_allocation").variables),
}


@pytest.mark.parametrize("name", kinds.NAMES)
def test_every_variable_of_a_result_is_documented_with_its_dims(name):
    returns, elsewhere = (
        section(kinds.function(name), "Returns"),
        ELSEWHERE.get(name, set()),
    )
    variables = {each: variable for each, variable in kinds.kind(name).variables.items() if each not in elsewhere}
    assert not [variable for variable in variables if f"`{variable}`" not in returns]
    used = {dim for variable in variables.values() for dim in variable.dims} - {
        "task",
        "algorithm",
        "joined_task",
    }
    assert not [dim for dim in used - elsewhere if dim not in returns]


# the equation stands elsewhere
DERIVED = {"predict_loss", "compare_scaling_laws", "profile_across_tasks"}


def test_every_method_has_its_equation_and_names_where_it_was_published():
    for name in kinds.NAMES:
        assert not lacking(
            kinds.function(name),
            "References\n",
            *(["math::"] if name not in DERIVED else []),
        ), name
        assert kinds.kind(name).references, name


PUBLIC = {
    **FUNCTIONS,
    **EXPERIMENTS,
}
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
    "J. Mach. Learn. Res.",
    "arXiv:",
    "On adaptive extensions of group sequential trials",  # its DOI is not confirmed
    "A group sequential Holm procedure",  # nor is this
)


def section(function, name):
    at = re.search(
        rf"^{name}\n-+\n(.*?)(?=^\w+\n-+\n|\Z)",
        inspect.getdoc(function),
        re.DOTALL | re.MULTILINE,
    )
    return at[1] if at else ""


def publications():
    """Every entry of every list of references, in docstrings and in attrs."""
    for name, function in PUBLIC.items():
        for entry in section(function, "References").split("\n.. "):
            if entry.strip():
                yield name, " ".join(entry.split())
    for name in kinds.NAMES:
        yield from ((name, entry) for entry in kinds.kind(name).references)


def test_publications_have_their_doi():
    for name, entry in publications():
        without = any(place.lower() in entry.lower() for place in NO_DOI)
        assert without or re.search(r"doi:10\.\d{4,}/\S+", entry), (name, entry)
