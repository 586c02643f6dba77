"""Every public name says its parameters, what comes back, what it raises, and has an example."""

import inspect
import pkgutil
import re
from importlib import import_module
from pathlib import Path

import pytest

import xcurves
import xcurves.experiments
from xcurves import accessors, kinds
from xcurves.experiments import saved_trials

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
    names = [module.name for module in pkgutil.iter_modules(xcurves.experiments.__path__, "xcurves.experiments.")]
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
    assert {"xcurves.align", "xcurves.tutorial.open_dataset", "xcurves.readers.read"} <= set(FUNCTIONS)
    assert "xcurves.experiments.tictactoe.learning_curves" in EXPERIMENTS
    assert {"DataArray.curves.align", "Dataset.curves.table", "DataFrame.curves.to_dataset"} <= set(METHODS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_documented(name):
    documented = FUNCTIONS[name].__doc__ or ""
    taken = ("Parameters\n", "Returns\n") if inspect.signature(FUNCTIONS[name]).parameters else ()
    sections = (*taken, "Raises\n", "Examples\n", ">>> ")
    assert not [section.strip() for section in sections if section not in documented]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_says_what_it_takes_and_returns(name):
    parameters = ["Parameters\n"] if inspect.signature(EXPERIMENTS[name]).parameters else []
    assert not [section.strip() for section in [*parameters, "Returns\n"] if section not in EXPERIMENTS[name].__doc__]


@pytest.mark.parametrize("name", [*FUNCTIONS, *EXPERIMENTS, "xcurves.experiments.saved_trials.run_trials"])
def test_numpydoc_finds_nothing_amiss(name):
    validate = pytest.importorskip("numpydoc.validate", reason="numpydoc comes with the docs extra")
    assert not [error for error in validate.validate(name)["errors"] if error[0] not in OPEN]


def reference_pages():
    return "\n".join(page.read_text(encoding="utf-8") for page in sorted(REFERENCE.glob("*.rst")))


@pytest.mark.parametrize("name", [*FUNCTIONS, *EXPERIMENTS, *METHODS])
def test_the_reference_lists(name):
    short = name.removeprefix("xcurves.").removeprefix("readers.")
    assert f"\n   {short}\n" in reference_pages()


ELSEWHERE = {  # what "each with `_ci`" says, what the docstring of another function says, what is given back as it came
    "across_tasks": {"training_weights"},
    "tuning_curve": {"trials_to_match_reversed_ci"},
    "type_i_error": {"effect", "error_term"},
    "power": {"effect", "error_term", "rate_ci", "n_replications", "expected_runs"},
    "optimal_allocation": {f"{name}_ci" for name in ("n_opt", "d_opt", "tokens_per_parameter", "loss_at_optimum")},
    "fit_scaling_law": set(kinds.kind("optimal_allocation").variables),
}


@pytest.mark.parametrize("name", kinds.NAMES)
def test_every_variable_of_a_result_is_documented_with_its_dims(name):
    returns, elsewhere = section(kinds.function(name), "Returns"), ELSEWHERE.get(name, set())
    variables = {each: variable for each, variable in kinds.kind(name).variables.items() if each not in elsewhere}
    assert not [variable for variable in variables if f"`{variable}`" not in returns]
    used = {dim for variable in variables.values() for dim in variable.dims} - {"task", "algorithm", "joined_task"}
    assert not [dim for dim in used - elsewhere if dim not in returns]


DERIVED = {"predict_loss", "compare_scaling_laws", "power", "profile_across_tasks"}  # the equation stands elsewhere


@pytest.mark.parametrize("name", kinds.NAMES)
def test_every_method_has_its_equation_and_names_where_it_was_published(name):
    documented = kinds.function(name).__doc__
    assert "math::" in documented or name in DERIVED
    assert "References\n" in documented
    assert kinds.kind(name).references


PUBLIC = {**FUNCTIONS, **EXPERIMENTS, "xcurves.experiments.saved_trials.run_trials": saved_trials.run_trials}
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
    at = re.search(rf"^{name}\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", inspect.getdoc(function), re.DOTALL | re.MULTILINE)
    return at[1] if at else ""


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
