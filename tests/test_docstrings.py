"""Every public name says its parameters, what comes back, what it raises, and has an example."""

import inspect
import pkgutil
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import xcurves
import xcurves.experiments
from strategies import make_curves
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


def results():
    """One result of every kind, with all that can be asked for."""
    rng = np.random.default_rng(0)
    curves = make_curves(rng.normal(size=(3, 5, 6)))
    errors = make_curves(rng.normal(0, 0.2, (2, 4, 6)) + 10 + 90 * np.arange(1, 7.0) ** -0.5)
    errors = errors.assign_coords(training=np.arange(1, 7.0) * 50).assign_attrs(units="%")
    fit = errors.curves.fit_power_law(predict_at=[400])
    quadratic = errors.curves.fit_power_law(quadratic=True)
    scores = curves.isel(training=0)
    pool = xr.concat([scores, scores + 1], xr.Variable("task", ["x", "y"]))
    return {
        "randomized_anova": curves.curves.randomized_anova(keep_null=True, n_resamples=99, rng=0),
        "pairwise": curves.curves.pairwise(n_resamples=99, rng=0),
        "contrast": curves.curves.contrast({"a0": 1, "a1": -1}, n_resamples=99, rng=0),
        "ss_profile": curves.curves.ss_profile(
            intervals=[0, 2, 5], margin=1.0, cluster_threshold=1.0, n_resamples=99, rng=0
        ),
        "fit_power_law": fit.assign(delta=quadratic["delta"]),
        "predict": fit.curves.predict([400]),
        "compare_learners": fit.curves.compare_learners(reference="a0"),
        "leave_one_size_out": errors.curves.leave_one_size_out(),
        "performance_cdf": scores.curves.performance_cdf(
            scores_at=[0.0], threshold=0.0, target=1.0, bounds=(-9, 9), cvar_level=[0.5]
        ),
        "compare_distributions": pool.curves.compare_distributions(),
        "simulation.type_i_error": xcurves.simulation.type_i_error(
            xcurves.simulation.autoregressive, never_rejects, n_replications=20, rng=0
        ),
        "runs_needed": curves.sel(algorithm=["a0"]).curves.runs_needed(
            test=never_rejects, n_runs=[2], n_replications=20, rng=0
        ),
    }


def never_rejects(curves):
    return xr.Dataset({"pvalue": ("replication", np.ones(curves.sizes["replication"]))})


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_variable_of_a_result_is_documented_with_its_dims():
    for name, result in results().items():
        documented = inspect.getdoc(FUNCTIONS[f"xcurves.{name}"])
        returns = documented[documented.index("Returns\n") : documented.index("Raises\n")]
        assert not [variable for variable in result if f"`{variable}`" not in returns], name
        used = {str(dim) for variable in result.values() for dim in variable.dims} - {"task", "algorithm"}
        assert not [dim for dim in used if dim not in returns], name


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_method_has_its_equation_and_names_where_it_was_published():
    for name, result in results().items():
        documented = FUNCTIONS[f"xcurves.{name}"].__doc__
        assert "math::" in documented, name
        assert "References\n" in documented, name
        assert result.attrs["references"], name


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
