import ast
import copy
import inspect
import os
import pickle
import pydoc
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import stubs
import xcurves
from refusals import refused
from strategies import make_curves
from xcurves import accessors, public_names

OBJECTS = {
    accessors.DataArrayCurves: ("curves", "errors", "scores", "times", "losses"),
    accessors.DatasetCurves: ("result", "fit"),
    accessors.DataTreeCurves: ("tree", "result"),
    accessors.DataFrameCurves: ("frame",),
}
OF_NO_ARRAY = {"dse", "one_trial", "register_polars", "run_trials", "trials_needed"}
METHODS = [
    (accessor, name)
    for accessor in OBJECTS
    for name, _ in inspect.getmembers(accessor, inspect.isfunction)
    if not name.startswith("_")
]


def test_methods_have_the_signatures_of_their_functions():
    for accessor, name in METHODS:
        method, function = (
            inspect.signature(getattr(accessor, name)),
            inspect.signature(getattr(xcurves, name)),
        )
        own, first = (
            list(method.parameters.values())[1:],
            next(iter(function.parameters)),
        )
        assert first in (*OBJECTS[accessor], "data"), name  # data: curves or a result
        assert own == list(function.parameters.values())[1:], name
        assert method.return_annotation == function.return_annotation, name
        assert getattr(accessor, name).__qualname__ == f"{accessor.__name__}.{name}"
        assert getattr(accessor, name).__doc__ == getattr(xcurves, name).__doc__, name


def test_methods_are_those_of_the_table():
    for accessor in OBJECTS:
        type_name = accessor.__name__.removesuffix("Curves")
        methods = [name for of, name in METHODS if of is accessor]
        assert methods == public_names.methods_of(type_name), accessor


def content(stub):
    """Return the imports of a stub and what else it has, but no layout."""
    body = ast.parse(stub).body
    imports = {
        (type(node), getattr(node, "module", None), alias.name, alias.asname)
        for node in body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    rest = [node for node in body if not isinstance(node, ast.Import | ast.ImportFrom)]
    return imports, [ast.dump(node) for node in rest]


@pytest.mark.slow
def test_what_editors_read_is_up_to_date():
    for path, text in stubs.texts().items():
        assert content(path.read_text(encoding="utf-8")) == content(text), (
            f"{path} is no longer what the functions are. Write it anew: python tests/tools/stubs.py"
        )


def test_every_function_of_curves_frames_or_results_is_a_method():
    functions = {name for name in xcurves.__all__ if inspect.isfunction(getattr(xcurves, name))}
    assert {name for _, name in METHODS} == functions - OF_NO_ARRAY


@pytest.mark.slow
def test_editors_and_help_see_the_function():
    jedi = pytest.importorskip("jedi")
    getdoc = pytest.importorskip("IPython.core.oinspect").getdoc

    curves = make_curves(np.zeros((2, 2, 2)))
    options = list(inspect.signature(xcurves.pairwise).parameters)[1:]
    signatures = jedi.Interpreter("curves.curves.pairwise(", [{"curves": curves}]).get_signatures()
    assert signatures
    for found in signatures:
        assert [each.name for each in found.params] == options
    offered = jedi.Interpreter("curves.curves.pairwise(", [{"curves": curves}]).complete()
    assert {f"{option}=" for option in options} <= {each.name for each in offered}
    completed = {each.name for each in jedi.Interpreter("curves.curves.", [{"curves": curves}]).complete()}
    assert {"pairwise", "across_tasks", "plot"} <= completed
    assert getdoc(curves.curves.pairwise) == inspect.getdoc(xcurves.pairwise)
    shown = pydoc.render_doc(curves.curves.pairwise, renderer=pydoc.plaintext)
    assert "pairwise(*, n_resamples" in shown
    assert inspect.getdoc(xcurves.pairwise).splitlines()[0] in shown


@pytest.mark.slow
def test_an_editor_completes_methods_in_a_script_that_is_not_run():
    jedi = pytest.importorskip("jedi")
    begin = "from xcurves.accessors import DataArrayCurves\nDataArrayCurves(scores)."
    completed = {each.name for each in jedi.Script(begin).complete()}
    assert {"pairwise", "across_tasks", "plot"} <= completed
    (signature,) = jedi.Script(f"{begin}pairwise(").get_signatures()
    assert [each.name for each in signature.params] == list(inspect.signature(xcurves.pairwise).parameters)[1:]
    assert inspect.getdoc(xcurves.pairwise).splitlines()[0] in signature.docstring()


def test_what_type_checkers_read_is_what_runs():
    stub = Path(accessors.__file__).with_suffix(".pyi")
    classes = {
        node.name: node for node in ast.parse(stub.read_text(encoding="utf-8")).body if isinstance(node, ast.ClassDef)
    }
    told = {
        (accessor, node.name): [each.arg for each in (*node.args.args, *node.args.kwonlyargs)]
        for accessor in OBJECTS
        for node in classes[accessor.__name__].body
        if isinstance(node, ast.FunctionDef) and node.name != "__init__"
    }
    assert set(told) == set(METHODS)
    for (accessor, name), parameters in told.items():
        runs = list(inspect.signature(getattr(xcurves, name)).parameters)
        assert parameters == ["self", *runs[1:]], (accessor, name)


def test_a_result_completes_only_what_applies_to_it():
    result = xcurves.randomized_anova(make_curves(np.random.default_rng(0).normal(size=(2, 5, 4))))
    named = {name for name in dir(result.curves) if not name.startswith("_")}
    assert named == {
        "table",
        "summary",
        "plot",
        "to_frame",
        "to_dict",
        "format_table",
        "describe_methods",
        "bibtex",
    }


def test_curves_in_the_last_line_of_a_cell_show_what_they_are_and_what_to_call():
    curves = make_curves(np.random.default_rng(0).normal(size=(2, 5, 4)))
    calls = "Call .curves.plot(), .curves.analyze(), .curves.pairwise()"
    assert repr(curves.curves) == f"2 algorithm × 5 run × 4 training; every run is complete\n{calls}"
    curves[0, 0], curves[1, 2, 3], curves[1, 3, 2:] = np.nan, np.nan, np.nan
    assert "; of 10 runs 1 are absent and 2 lack levels. 2 of 9 runs end before 90 % of" in repr(curves.curves)
    of_texts = curves.assign_coords(training=list("abcd"))
    assert "; of 10 runs 1 are absent and 2 lack levels\n" in repr(of_texts.curves)
    assert repr(curves.chunk().curves).startswith("2 algorithm × 5 run × 4 training; not computed yet\n")
    assert "compare_distributions" in repr(curves.isel(training=0).curves)
    assert "fit_power_law" in repr(curves[0, 0].curves)
    assert "Name the dims algorithm, run and training" in repr(xr.DataArray([1.0], dims="x\n").curves)


@pytest.mark.slow
def test_a_misspelt_option_is_an_error_of_mypy(tmp_path):
    lines = [
        "import xarray as xr",
        "from xcurves.accessors import DataArrayCurves, DatasetCurves",
        "curves = DataArrayCurves(xr.DataArray([0.0]))",
        "reveal_type(curves.pairwise(paired=True))",
        "reveal_type(DatasetCurves(xr.Dataset()).summary())",
        "curves.pairwise(pared=True)",
        "curves.pairwise(paired='yes')",
        "curves.pairwize()",
    ]
    pytest.importorskip("mypy")
    asked = tmp_path / "asked.py"
    asked.write_text("\n".join(lines))
    root = Path(xcurves.__file__).parents[2]
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--no-color-output",
        f"--config-file={root / 'pyproject.toml'}",
    ]
    # With the options and paths of the usual check its cache serves this one too: a tenth of the time.
    env = os.environ | {"MYPYPATH": "src"}
    done = subprocess.run(
        [*command, asked],
        cwd=root,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    said = re.findall(r"asked\.py:(\d+): (.*)", done.stdout)
    # a note on where a method is defined follows its error
    found = {int(at): first for at, first in reversed(said)}
    assert sorted(found) == [4, 5, 6, 7, 8], done.stdout + done.stderr
    assert "Dataset" in found[4]
    assert '"builtins.str"' in found[5] or '"str"' in found[5]
    assert 'Unexpected keyword argument "pared"' in found[6]
    assert "[arg-type]" in found[7]
    assert "[attr-defined]" in found[8]


def test_a_frame_asked_for_a_method_of_curves_says_the_call():
    frame = pd.DataFrame({"agent": ["a"], "seed": [0], "step": [1], "return": [2.0]})
    with pytest.raises(AttributeError) as caught:
        _ = frame.curves.pairwise
    assert str(caught.value) == (
        "a DataFrame has no .curves.pairwise; curves have. Make them: frame.curves.to_dataarray().curves.pairwise()"
    )


def test_a_dataset_asked_for_a_method_of_curves_says_to_pick_a_variable():
    dataset = make_curves(np.zeros((2, 2, 2))).rename("return").to_dataset()
    with pytest.raises(AttributeError) as caught:
        _ = dataset.curves.randomized_anova
    assert str(caught.value) == (
        "a Dataset has no .curves.randomized_anova. Pick one variable: ds['return'].curves.randomized_anova"
    )


def test_an_accessor_makes_no_cycle_that_keeps_arrays_alive():
    import gc
    import weakref

    gc.disable()
    try:
        curves = make_curves(np.random.default_rng(0).normal(size=(2, 4, 3)))
        data = weakref.ref(xr.Variable.__getattribute__(curves.variable, "_data"))
        xcurves.randomized_anova(curves)
        del curves
        assert data() is None
    finally:
        gc.enable()


def test_a_result_says_which_methods_it_has():
    result = xcurves.randomized_anova(make_curves(np.random.default_rng(0).normal(size=(2, 5, 4))))
    with pytest.raises(AttributeError) as caught:
        _ = result.curves.align
    assert str(caught.value) == (
        "a result of randomized_anova has no .curves.align. "
        "It has .curves.table(), .curves.summary(), .curves.plot(), .curves.to_frame(), .curves.to_dict(), "
        ".curves.format_table(), .curves.describe_methods() and .curves.bibtex()"
    )
    for call in (
        lambda: result.curves.predict(10),
        lambda: result.curves.compare_learners(reference="a0"),
    ):
        with refused("fit", "randomized_anova", cure="Make one: errors.curves.fit_power_law()", kind=xcurves.WrongType):
            call()


def test_a_tree_says_which_methods_it_has():
    tree = make_curves(np.random.default_rng(0).normal(size=(2, 5, 4))).curves.analyze(include=["anova"], rng=0)
    with pytest.raises(AttributeError) as caught:
        _ = tree.curves.predict
    assert str(caught.value) == (
        "a DataTree has no .curves.predict. It has .curves.table(), .curves.summary(), .curves.plot() and "
        ".curves.report(path); of one result: tree['anova'].to_dataset().curves.predict"
    )
    pd.testing.assert_frame_equal(tree["anova"].curves.table(), tree["anova"].to_dataset().curves.table())
    assert pickle.loads(pickle.dumps(tree)).identical(tree)


def test_objects_with_a_used_accessor_can_be_copied_and_pickled():
    dataset = make_curves(np.zeros((2, 2, 2))).to_dataset()
    assert dataset.curves is not None
    assert pickle.loads(pickle.dumps(dataset)).identical(dataset)
    assert copy.deepcopy(dataset).identical(dataset)
