"""Every kind of result can do everything: one test for each cell of kinds and abilities."""

import html
import inspect
import re
import warnings
from dataclasses import fields
from functools import cache, partial

import dask
import numpy as np
import pytest
import xarray as xr

import xcurves
from layers import slow
from lazy import refuse_to_compute
from refusals import ANY, raises_other, refused
from strategies import make_curves, make_scores
from xcurves import kinds, results
from xcurves.core.labels import RESERVED
from xcurves.core.schema import ResultKind, View, caption_of
from xcurves.reporting import pictures
from xcurves.say.tables import as_written

ENGINES = ("netcdf4", *map(slow, ("scipy", "h5netcdf", "zarr")))
TASKS = ["easy", "hard"]


@cache
def curves():
    """Return curves of two tasks, three algorithms with an effect of their own, six runs, five levels."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(2, 3, 6, 5)).cumsum(axis=-1)
    values[:, 2] += 4
    tasks = [make_curves(each) for each in values]
    return xr.concat(tasks, "task").assign_coords(task=TASKS).assign_attrs(units="points")


@cache
def errors():
    """Return errors of two tasks and two learners, three folds, five sizes."""
    rng = np.random.default_rng(1)
    sizes = np.array([50, 100, 200, 400, 800])
    law = 5 + np.array([150, 220])[:, np.newaxis, np.newaxis] * sizes**-0.5
    values = law + rng.normal(scale=0.3, size=(2, 2, 3, 5))
    coords = {
        "task": TASKS,
        "algorithm": ["plain", "augmented"],
        "run": range(3),
        "training": sizes,
    }
    return xr.DataArray(values, coords, ["task", "algorithm", "run", "training"], attrs={"units": "%"})


@cache
def scores():
    """Return final scores of two tasks, three algorithms, nine runs."""
    values = np.random.default_rng(2).normal(size=(2, 3, 9)) + np.arange(3)[:, np.newaxis]
    return make_scores(values, task=TASKS, algorithm=["a", "b", "c"], run=np.arange(9))


@cache
def losses():
    """Return losses of two tasks and two suites, 36 runs of six sizes and six amounts of tokens."""
    size, tokens = (each.ravel() for each in np.meshgrid(np.geomspace(1e7, 1e9, 6), np.geomspace(1e9, 1e11, 6)))
    law = 1.8 + 400 * size**-0.34 + 2000 * tokens**-0.37
    values = (
        law * np.array([1.0, 1.02])[:, np.newaxis] * np.exp(0.01 * np.random.default_rng(4).normal(size=(2, 2, 36)))
    )
    coords = {
        "task": TASKS,
        "algorithm": ["plain", "new"],
        "model_size": ("run", size),
        "tokens": ("run", tokens),
    }
    return xr.DataArray(values, coords, ["task", "algorithm", "run"], attrs={"units": "nats"})


def worlds(curves):
    """Return curves with a further dim, whose six labels are joined."""
    noise = np.random.default_rng(3).normal(size=(6, *curves.shape))
    moved = [curves + xr.DataArray(each, dims=curves.dims) for each in noise]
    return xr.concat(moved, "world").assign_coords(world=list("uvwxyz")).assign_attrs(curves.attrs)


ANOVA = partial(xcurves.randomized_anova, n_resamples=19)
BATCHES = {run: 1 + run // 3 for run in range(6)}  # two of three looks
RATES = {"test": ANOVA, "n_replications": 20, "rng": 0}
CALLS = {  # how a kind is made, of two tasks where it has tasks
    "randomized_anova": lambda curves: xcurves.randomized_anova(curves, n_resamples=49, rng=0),
    "pairwise": lambda curves: xcurves.pairwise(curves, n_resamples=49, rng=0),
    "contrast": lambda curves: xcurves.contrast(curves, {"a0": 1, "a2": -1}, n_resamples=49, rng=0),
    "across_tasks": lambda curves: xcurves.across_tasks(worlds(curves), task="world", n_resamples=49, rng=0),
    "profile_across_tasks": lambda curves: xcurves.profile_across_tasks(
        worlds(curves), task="world", fractions=4, n_resamples=49, rng=0
    ),
    "ss_profile": lambda curves: xcurves.ss_profile(curves, n_resamples=49, intervals=[0, 200, 400], margin=9.0, rng=0),
    "sequential": lambda curves: xcurves.sequential(xcurves.assign_looks(curves, BATCHES), n_looks=3, n_resamples=99),
    "gate": lambda scores: xcurves.gate(scores, baseline="a", task="task"),
    "speedup": lambda curves: xcurves.speedup(worlds(curves), reference="a0", target=2.0, task="world"),
    "mean_time_to_target": lambda curves: xcurves.mean_time_to_target(curves, 1.0),
    "performance_profile": lambda times: xcurves.performance_profile(times, task="world", rng=0),
    "fit_power_law": xcurves.fit_power_law,
    "predict": lambda fit: xcurves.predict(fit, [1600, 3200]),
    "leave_one_size_out": xcurves.leave_one_size_out,
    "compare_learners": lambda fit: xcurves.compare_learners(fit, reference="plain"),
    "fit_scaling_law": lambda losses: xcurves.fit_scaling_law(losses, predict_at=[(7e9, 1.4e11)], compute=[1e20, 1e22]),
    "predict_loss": lambda fit: xcurves.predict_loss(fit, model_size=7e9, tokens=[1.4e11, 1e12]),
    "optimal_allocation": lambda fit: xcurves.optimal_allocation(fit, [1e20, 1e22]),
    "compare_scaling_laws": lambda fit: xcurves.compare_scaling_laws(
        fit, at_size_and_tokens=(7e9, 1.4e11), compute=1e21
    ),
    "performance_cdf": lambda scores: xcurves.performance_cdf(scores, scores_at=[0.0, 1.0]),
    "compare_distributions": lambda scores: xcurves.compare_distributions(scores),
    "tuning_curve": lambda scores: xcurves.tuning_curve(scores, n_trials=6, bounds=(-9, 9)),
    "mean_curves": lambda curves: xcurves.mean_curves(curves),
    "runs_needed": lambda curves: xcurves.runs_needed(curves.isel(task=0, drop=True), n_runs=[3, 4], **RATES),
}
GIVEN = {
    "curves": curves,
    "errors": errors,
    "scores": scores,
    "times": lambda: xcurves.time_to_target(worlds(curves()) + 9, 8.0),
    "losses": losses,
    "fit_power_law": lambda: made("fit_power_law"),
    "fit_scaling_law": lambda: made("fit_scaling_law"),
}
HAVE = {  # the kinds that have what not all need
    "by_task": {"across_tasks"},
    "part": {
        *(
            "across_tasks",
            "profile_across_tasks",
            "randomized_anova",
            "pairwise",
            "ss_profile",
            "sequential",
        ),
        *("fit_power_law", "performance_cdf", "tuning_curve", "speedup"),
        "fit_scaling_law",
    },
}
LAZY = [name for name in kinds.NAMES if kinds.kind(name).argument in ("curves", "errors", "scores", "times", "losses")]
LAZY.remove("runs_needed")  # which draws data sets from its curves
LAZY.remove("gate")  # whose decisions depend on one another


# Source files of the package that one eager call enters, the accessor's included: what a contributor has to read.
@cache
def made(name):
    """Return a result of a kind."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return CALLS[name](GIVEN[kinds.kind(name).argument]())


def along_training(name):
    """Return a result of one task that has the dim training, or evaluation, for views along it."""
    function, one = getattr(xcurves, name), curves().isel(task=0, drop=True)
    of_cdf = {
        "interval": "percentile",
        "simultaneous": "training",
        "n_resamples": 99,
        "rng": 0,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return function(one, **({"reference": "a0", "target": 2.0} if name == "speedup" else of_cdf))


@pytest.fixture(params=kinds.NAMES)
def kind(request) -> ResultKind:
    return kinds.kind(request.param)


def test_every_kind_has_a_call_here():
    assert set(CALLS) == set(kinds.NAMES)


def test_name_function_and_accessor_are_one(kind):
    function = kinds.function(kind.name)
    assert function.__name__ == kind.name
    assert inspect.unwrap(getattr(xcurves, kind.name)) is inspect.unwrap(function)
    assert made(kind.name).attrs["xcurves_result"] == kind.name
    assert results.kind_of(made(kind.name)) is kind


def test_a_kind_asks_a_question_and_has_references_by_doi(kind):
    assert re.fullmatch(r"[A-Z].{9,60}", kind.question)
    assert kind.references
    assert all(re.search(r"\b(19|20)\d\d\b|longer version|Benchmark", reference) for reference in kind.references)
    assert "doi" in inspect.getdoc(kinds.function(kind.name)).lower() or any(
        word in " ".join(kind.references) for word in ("Piater", "Hoiem", "Jordan")
    )


def test_variables_are_those_declared_with_their_dims_names_and_types(kind):
    result = made(kind.name)
    tasks = kind.task_dims(result)
    for name, variable in result.variables.items():
        declared = kind.variables.get(name) or kind.coordinates().get(name)
        if declared is None:
            assert name in result.coords
            continue
        assert set(variable.dims) - set(tasks) <= set(declared.core), name
        assert {"units", "comment"} & set(variable.attrs), name
        assert variable.attrs["long_name"]
        if name in kind.variables:
            assert variable.dtype == declared.dtype, name
            assert (name in result.coords) == declared.coord, name
            assert not hasattr(xr.Dataset, name)
    assert kind.required() <= set(result.variables)
    for dim in result.dims:
        assert dim in RESERVED or dim in tasks or any(dim in var.core for var in kind.variables.values()), dim
        if dim in result.coords and dim in RESERVED:
            assert result[dim].attrs.get("long_name"), dim


def test_a_result_has_at_most_33_variables_besides_counts(kind):
    variables = [name for name in kind.required() if not name.startswith("n_")]
    assert len(variables) <= 33


def test_an_input_must_not_have_the_name_of_a_variable(kind):
    if kind.argument not in ("curves", "errors", "scores", "losses"):
        pytest.skip("takes no array")
    name = min(kind.required() - {"n_runs"})
    cure = f"Rename: da.rename({name}='{name}_')"
    with refused(kind.argument, cure=cure, names=f"'{name}', which is reserved for results"):
        CALLS[kind.name](GIVEN[kind.argument]().assign_coords({name: 1}))


@pytest.mark.plain(1)
def test_table_and_sentences_begin_with_the_answer_of_at_most_seventy_words_and_are_said_once(
    kind,
):
    result = made(kind.name)
    table = result.curves.table()
    assert len(table) > 0
    assert not table.map(lambda cell: isinstance(cell, str) and cell == "nan").any(axis=None)
    assert table.attrs["caption"].endswith(".")
    said = list(kind.statements(results.prepare(result)[1]))
    first, lines = said[0], result.curves.summary().split("\n")
    assert first.role == "answer"
    assert {each.role for each in said} <= {"answer", "detail", "caution"}
    assert all(re.search(r"[.:)]$", line) for line in (*lines, *(each.text for each in said))), said
    assert len({each.text for each in said}) == len(said)
    assert len(first.text.split()) <= 70, first
    assert len(set(lines)) == len(lines) <= 12
    answers = [kind.answer(results.prepare(result)[1])]
    if "task" in result.dims:
        answers.append(kind.answer(results.prepare(result.isel(task=0, drop=True))[1]))
    assert all(answer.endswith(".") for answer in answers)
    assert "nan" not in answers[0].lower()


@pytest.mark.plain(2)
def test_a_paper_gets_its_table_its_methods_and_its_references(kind):
    result = made(kind.name)
    pytest.importorskip("jinja2")
    for to in ("latex", "markdown", "html"):
        if to == "markdown":
            pytest.importorskip("tabulate")
        assert not re.search(r"\bnan\b", result.curves.format_table(to), re.IGNORECASE)
    method, unit = kind.method
    assert re.fullmatch(r"[A-Z].+\.", method)
    assert re.fullmatch(r"\w.+[^.]", unit)
    paragraph, checklist = result.curves.describe_methods().split("\n\n")
    assert paragraph.startswith(method.split("{")[0].removesuffix("."))
    assert kind.name in checklist
    assert result.curves.bibtex().count("\n@") == len(result.attrs["references"].split("; "))


@pytest.mark.parametrize("cell", HAVE)
def test_a_cell_that_not_all_kinds_need_is_there(cell):
    assert {name for name in kinds.NAMES if getattr(kinds.kind(name), cell)} == HAVE[cell]


@pytest.mark.slow
def test_the_summary_of_a_tree_of_twenty_tasks_has_at_most_thirty_lines():
    values = np.random.default_rng(5).normal(size=(20, 3, 5, 4)).cumsum(axis=-1)
    curves = make_curves(values, task=[f"task-{i}" for i in range(20)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        tree = curves.curves.analyze(n_resamples=99, rng=0)
    assert len(tree.curves.summary().split("\n")) <= 30
    for part in tree.children.values():
        if part.attrs.get("xcurves_result"):
            assert len(part.to_dataset().curves.summary().split("\n")) <= 12


def test_a_declaration_has_few_fields():
    of_kinds, of_views = ({each.name for each in fields(declared)} for declared in (ResultKind, View))
    assert of_kinds == {
        *(
            "name",
            "question",
            "argument",
            "variables",
            "coords",
            "rows",
            "core",
            "references",
        ),
        *("comparison", "table", "statements", "views", "part"),
        *("method", "scores_method", "by_task", "for_programs", "overlaid"),
    }
    assert of_views == {"drawing", "caption", "default", "panels", "many"}


@pytest.mark.plain(4)
def test_digest_of_many_tasks(kind):
    result = made(kind.name)
    digest = kind.part.digest if kind.part else None
    if digest is None or "task" not in result.dims:
        assert len(result.curves.table()) <= 40  # is short itself
        return
    frame = digest(results.prepare(result)[1])
    assert {"easy", "hard"} <= set(frame.index.get_level_values("task"))
    assert frame.attrs["caption"].endswith(".")


@pytest.mark.plain(1)
def test_a_picture_with_caption_and_alternative_text_or_a_reason(kind):
    from matplotlib import pyplot as plt

    if not kind.views:
        with pytest.raises(
            AttributeError,
            match=f"a result of {kind.name} has no picture; its table has all numbers",
        ):
            made(kind.name).curves.plot()
        return
    one = made(kind.name)
    one = one.isel(task=0, drop=True) if "task" in one.dims else one
    assert any(view.default for view in kind.views.values())
    for name, view in kind.views.items():
        one = along_training(kind.name) if view.axes else one
        ax = np.ravel(one.curves.plot(name))[0]
        assert all(panel.has_data() for panel in ax.child_axes or [ax]), name
        said = [view.caption] if isinstance(view.caption, str) else list(view.caption.values())
        assert all(re.fullmatch(r"[A-Z].+\.", sentence) for sentence in said)
        assert caption_of(view.caption, ax.figure).endswith("."), name
        plt.close(ax.figure)


@pytest.mark.plain(3)
@pytest.mark.parametrize("engine", ENGINES)
def test_archives_of_every_engine_return_it_identical(kind, engine, tmp_path):
    pytest.importorskip({"netcdf4": "netCDF4"}.get(engine, engine))
    result = made(kind.name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if engine == "zarr":
            result.to_zarr(tmp_path / "result.zarr", consolidated=False)
            back = xr.open_zarr(tmp_path / "result.zarr", consolidated=False, decode_timedelta=False)
        else:
            result.to_netcdf(tmp_path / "result.nc", engine=engine)
            back = xr.open_dataset(tmp_path / "result.nc", engine=engine, decode_timedelta=False)
    with back:
        xr.testing.assert_identical(back.compute(), result)
        assert back.curves.summary() == result.curves.summary()


@pytest.mark.plain(1)
@pytest.mark.parametrize("name", [name if place % 2 else slow(name) for place, name in enumerate(LAZY)])
def test_lazy_results_are_computed_once_at_the_top(name):
    argument = kinds.kind(name).argument
    chunked = GIVEN[argument]().chunk(task=1)
    with dask.config.set(scheduler=refuse_to_compute):
        lazy = CALLS[name](chunked)
        assert all(variable.chunks for variable in lazy.data_vars.values() if "task" in variable.dims)
    eager = made(name)
    lazy_but_rng = lazy.compute().assign_attrs(rng=eager.attrs["rng"])
    xr.testing.assert_allclose(lazy_but_rng, eager)
    assert list(lazy.curves.table().columns) == list(eager.curves.table().columns)
    assert lazy.curves.summary() == eager.curves.summary()
    assert list(lazy.curves.to_frame()) == list(eager.curves.to_frame())


@pytest.mark.parametrize("name", ["contrast", *(slow(name) for name in LAZY if kinds.kind(name).views)])
def test_lazy_results_are_drawn(name):
    lazy = CALLS[name](GIVEN[kinds.kind(name).argument]().chunk(task=1))
    lazy.isel(task=[0]).squeeze("task").curves.plot()


@pytest.mark.slow
def test_a_task_that_was_selected_is_still_a_result(kind):
    result = made(kind.name)
    if "task" not in result.dims:
        pytest.skip("has no tasks")
    for part in (
        result.isel(task=[1]),
        result.sel(task="hard"),
        result.isel(task=0, drop=True),
    ):
        assert results.kind_of(part) is kind
        assert part.curves.summary()
        assert len(part.curves.table()) <= len(result.curves.table())
        assert len(part.curves.to_frame()) == len(result.curves.to_frame()) / 2


def answer_or_error(method):
    try:
        return method()
    except ValueError as error:
        return error


@pytest.mark.plain(1)
def test_a_label_that_was_selected_is_answered_or_named(kind):
    result = made(kind.name)
    result = result.isel(task=[0]) if "task" in result.dims else result
    n_rows = len(result.curves.to_frame())
    for dim in kind.coords:
        if dim not in result.dims:
            continue
        selected = result.isel({dim: 0})
        for method in ("table", "summary"):
            said = answer_or_error(getattr(selected.curves, method))
            needs = f"needs all of dim {dim!r}. Some labels were selected"
            assert not isinstance(said, Exception) or needs in str(said)
        assert len(selected.curves.to_frame()) <= n_rows


def test_a_dim_of_which_one_label_was_selected_is_there_again(kind):
    result = made(kind.name)
    for dim in {*kind.own_dims()} & {*result.dims} & {*result.coords}:
        one, of_list = (results.prepare(result.isel({dim: which}))[1] for which in (0, [0]))
        having = [name for name in kind.variables if name in of_list and dim in of_list[name].dims]
        for name in having:  # texts and pictures read core dims by their order
            core = [each for each in kind.variables[name].core if each in of_list[name].dims]
            xr.testing.assert_identical(one[name], of_list[name].transpose(..., *core))


@pytest.mark.plain(1)
@pytest.mark.parametrize("step", [8, slow(1)])
def test_a_variable_that_was_dropped_is_named_or_not_needed(kind, step):
    result = made(kind.name)
    for name in sorted(kind.required())[::step]:
        dropped = result.drop_vars(name)
        for method in ("table", "summary"):
            said = answer_or_error(getattr(dropped.curves, method))
            assert not isinstance(said, Exception) or f"needs the variable {name!r}" in str(said)


def test_an_error_is_that_of_a_selection_only_where_a_dim_is_gone():
    def broken(result):
        raise KeyError("no such label")

    kind, result = kinds.kind("pairwise"), made("pairwise")
    with raises_other(KeyError, match="no such label"):
        results.ask(kind, result, broken, "table")
    with refused(
        "result",
        cure="Some labels were selected away. Select with lists",
        names=r"needs all of dim 'pair'\. Some labels were selected away\. Select",
    ):
        results.ask(kind, result.isel(pair=[]), broken, "table")
    with refused(
        "result",
        cure="Some labels were selected away. Select with lists",
        names=r"needs all of dim 'pair'\. Some labels were selected away\. Select",
    ):
        results.ask(kind, result.isel(pair=0, drop=True), broken, "table")
    with refused("result", cure="Select pairs and algorithms alike", names=r"needs algorithm 'a[12]', which its pairs"):
        result.isel(algorithm=[0]).curves.summary()
    with refused("result", cure="Take the whole result", names="^no algorithm with a negative weight is there"):
        made("contrast").isel(algorithm=[0]).curves.summary()


def test_arithmetic_that_shows_is_refused(kind):
    result = made(kind.name)
    cure = "Arithmetic keeps attrs but makes no result; work on single variables: result["
    with refused(ANY, "dtype bool", cure, names="must be numeric") as caught:
        (result > 0).assign_attrs(result.attrs).curves.table()
    assert f"[{caught.value.argument!r}]" in str(caught.value.cure)
    whole = [name for name, var in kind.variables.items() if np.issubdtype(var.dtype, np.integer)]
    counts = [name for name in whole if name in result.data_vars]
    if counts:
        with refused(ANY, cure=cure, names=r"must be whole numbers|must lie in"):
            (result + 0.5).assign_attrs(result.attrs).curves.table()


def undrawn(data, said, view=None, *, narrow=True):
    """Stand in for a picture: the name of its view."""
    return pictures.DrawnPicture(f"{view}", None, f"{said}")


@pytest.mark.plain(2)
@pytest.mark.parametrize("drawn", [False, slow(True)])
def test_in_a_tree_and_in_a_report(kind, drawn, tmp_path, monkeypatch):
    if not drawn:
        monkeypatch.setattr(pictures, "draw", undrawn)
    result = made(kind.name)
    tree = xr.DataTree.from_dict({"/anova": made("randomized_anova"), "/other": result})
    assert kind.question in tree.curves.summary()
    assert len(tree["other"].curves.table()) == len(result.curves.table())
    one = result.isel(task=0, drop=True) if "task" in result.dims else result
    page = xr.DataTree.from_dict({"/other": one}).curves.report(tmp_path / "one.html").read_text(encoding="utf-8")
    assert kind.question in page.replace("&#x27;", "'")
    every = kind.name in kinds.OPENS
    shown = sum((view.default or every) and view.drawing.suits(one) for view in kind.views.values())
    assert page.count("<figure") == shown
    assert len(set(re.findall('<img src="([^"]*)"', page))) == shown


@pytest.mark.plain(1)
def test_the_accessor_shows_question_answer_and_table(kind):
    result = made(kind.name)
    shown = repr(result.curves)
    assert shown.startswith(kind.question)
    assert kind.answer(results.prepare(result)[1]) in shown
    page = result.curves._repr_html_()
    written = as_written(result.curves.table())
    for text in (shown, html.unescape(page)):
        assert all(heading in text for heading in written.columns)
        assert not re.search(r"\b(nan|NaN|<NA>)\b", text)
        # numbers as in sentences and in the shell
        assert all(cell in text for cell in written[:15].to_numpy().ravel())
    assert f"<strong>{kind.question}</strong>".replace("'", "&#x27;") in page
    lazy = result.chunk()
    with dask.config.set(scheduler=refuse_to_compute):
        for text in (repr(lazy.curves), lazy.curves._repr_html_()):
            assert f"Not computed yet: a lazy result of {kind.name}. Compute it: result.compute()" in text
            assert "<table" not in text


@pytest.mark.plain(4)
def test_the_accessor_of_a_selection_without_answer_says_what_is_missing(kind):
    result = made(kind.name)
    part = result[[next(iter(kind.variables))]]
    for text in (repr(part.curves), part.curves._repr_html_()):
        assert re.search(r"No answer of this selection: .* needs |<table|\n", text)
    assert repr(xr.Dataset({"x": 1}).curves).startswith("<xcurves.")
    assert xr.Dataset({"x": 1}).curves._repr_html_() is None
