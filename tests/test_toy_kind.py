"""A kind of result from outside the package can do what every other can; generic rooms know none by name."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xcurves
from refusals import raises_other, refused
from strategies import make_curves
from xcurves import kinds
from xcurves.cli.outputs import as_markdown
from xcurves.core.labels import CI_BOUNDS
from xcurves.core.scales import PROBABILITY, SPEED
from xcurves.core.schema import (
    PAIR_COORDS,
    Claim,
    Comparison,
    Drawing,
    Floor,
    Needed,
    Part,
    ResultKind,
    Statement,
    Var,
    View,
)
from xcurves.pictures.rows import Mark, Row, RowsPicture
from xcurves.say.pairs import beside_reference
from xcurves.say.result_frames import captioned, frame_of
from xcurves.say.tables import columns_of

SOURCE = Path(xcurves.__file__).parent
GENERIC = [
    "core/schema.py",
    "results.py",
    "archive.py",
    "reporting",
    "plotting",
]
COMPOSED = {"plotting/benchmark.py"}  # a figure of several methods
# what plain curves become before they are drawn, by the modules that draw them
DRAWS_CURVES = {"plotting/curves.py", "plotting/explore.py", "reporting/curves_section.py"}


def spreads(result):
    sizes = zip(result["algorithm"].to_numpy(), result["spread"].to_numpy(), strict=True)
    return RowsPicture(tuple(Row(str(name), (Mark(float(size)),)) for name, size in sizes), "spread", reference=None)


def say(result):
    widest = result["algorithm"].values[int(result["spread"].values.argmax())]
    yield Statement("answer", f"{widest} spreads most.")
    yield Statement("detail", "The spread is the largest less the smallest score.")
    yield Statement("caution", "More runs spread more.")


TOY = ResultKind(
    name="toy_spread",
    question="Which algorithm spreads most?",
    argument="scores",
    variables={
        "spread": Var(("task", "algorithm"), "largest less smallest score", "score"),
        "n_runs": Var(("task", "algorithm"), "number of runs", dtype=np.int64),
    },
    coords={},
    core=("algorithm", "run"),
    references=("Toy (2001), J. Toys 1, 1-2, doi:10.1000/1",),
    table=captioned(
        lambda result: frame_of({"spread": result["spread"]}, ["algorithm"]),
        "Spread of each algorithm.",
    ),
    statements=say,
    method=("The spread of scores was measured.", "runs"),
    views={"spread": View(Drawing(spreads), "Spread of each algorithm.")},
)


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setattr(kinds, "NAMES", kinds.NAMES)
    monkeypatch.setattr(kinds, "PARTS", kinds.PARTS)
    monkeypatch.setattr(kinds, "_REGISTERED", {})
    monkeypatch.setattr(kinds, "_FUNCTIONS", {})
    kinds.register(TOY)
    yield
    kinds.kind.cache_clear()


def toy_spread(scores):
    variables = {
        "spread": (scores.max("run") - scores.min("run")).variable,
        "n_runs": scores.notnull().sum("run").variable,
    }
    return TOY.dataset(
        variables,
        {"algorithm": scores["algorithm"]},
        TOY.attrs(scores, 0, 0.95),
        scores,
    )


@pytest.mark.slow
def test_a_kind_from_outside_has_table_summary_picture_archive_and_page(registered, tmp_path):
    scores = xr.DataArray(
        [[1.0, 2, 4], [5, 5, 6]],
        {"algorithm": ["a", "b"], "run": range(3)},
        ["algorithm", "run"],
        attrs={"units": "m"},
    )
    result = toy_spread(scores)
    assert result.curves.summary().split("\n") == [
        "a spreads most.", "The spread is the largest less the smallest score.", "More runs spread more.",
    ]  # fmt: skip
    assert result.curves.table()["spread"].tolist() == [3, 1]
    assert result.curves.to_frame()["spread_a"].tolist() == [3]
    assert repr(result.curves).startswith("Which algorithm spreads most?\na spreads most.")
    assert result.curves.plot().get_xlabel() == "spread"
    assert "(Toy, 2001)" in result.curves.describe_methods()
    path = tmp_path / "toy.nc"
    xcurves.archive.write(result, path)
    back = xcurves.archive.read(path)
    assert back.curves.summary() == result.curves.summary()
    page = xr.DataTree.from_dict({"/toy": result}).curves.report(tmp_path / "toy.html").read_text(encoding="utf-8")
    for text in (
        TOY.question,
        "a spreads most.",
        "Spread of each algorithm.",
        "doi:10.1000/1",
    ):
        assert text in page
    with refused("", cure="Give it another name", names="there is a kind 'toy_spread' already"):
        kinds.register(TOY)


def test_a_part_from_outside_is_a_part_of_analyze(registered):
    part = Part(None, lambda curves: (curves.isel(training=-1, drop=True), {}, {}))
    declared = replace(TOY, name="toy_part", part=part)
    with refused("", cure="Give it: function=", names=r"is a part of analyze and has no function\. Give it: function="):
        kinds.register(declared)

    def toy_part(scores, *, confidence_level):
        return toy_spread(scores).assign_attrs(xcurves_result="toy_part")

    kinds.register(declared, toy_part)
    curves = make_curves(np.random.default_rng(0).normal(size=(2, 4, 3)))
    tree = curves.curves.analyze(include=["toy_part", "anova"], rng=0)
    assert set(tree) == {"toy_part", "anova", "curves"}
    np.testing.assert_array_equal(tree["toy_part"]["spread"], toy_spread(curves.isel(training=-1))["spread"])
    assert "toy_part" in curves.curves.analyze(rng=0)


def test_a_kind_from_outside_is_no_name_of_the_package(registered):
    assert not hasattr(xcurves, TOY.name)
    assert TOY.name not in dir(xcurves)


MEDIANS = ResultKind(
    name="toy_medians",
    question="Which algorithm has the higher median?",
    argument="scores",
    variables={
        "gap": Var(("task", "pair"), "difference of medians", "score"),
        "gap_ci": Var(("task", "pair", "ci_bound"), "its interval, all pairs together", "score"),
        "gap_pvalue": Var(("task", "pair"), "p, adjusted over pairs"),
    },
    coords={"pair": (), "ci_bound": CI_BOUNDS, **PAIR_COORDS},
    core=("algorithm", "run"),
    references=("Toy (2001), J. Toys 1, 1-2, doi:10.1000/1",),
    method=("Medians were compared.", "runs"),
    comparison=Comparison("gap", "gap_ci", "gap_pvalue", noun=lambda _: "median score"),
)
SECONDS = replace(
    MEDIANS,
    name="toy_seconds",
    comparison=Comparison(
        "gap",
        "gap_ci",
        "gap_pvalue",
        noun=lambda _: "median time",
        unit=lambda _: "s",
        direction=lambda _: "lower",
        what_next=lambda result, best, other: Needed("runs", "runs of each", 5, 12, 7),
    ),
    variables=MEDIANS.variables | {"score_mean": Var(("task", "algorithm"), "mean time", "score")},
)


def toy_medians(gaps, p, **attrs):
    """Return a result that compares a with b, a with c, and b with c."""
    gaps, p = np.asarray(gaps, float), np.asarray(p, float)
    dims = ("task", "pair")[2 - gaps.ndim :]
    variables = {
        "gap": xr.Variable(dims, gaps),
        "gap_ci": xr.Variable((*dims, "ci_bound"), np.stack([gaps - 2, gaps + 2], axis=-1)),
        "gap_pvalue": xr.Variable(dims, p),
    }
    sides = {"algorithm_a": ("pair", list("aab")), "algorithm_b": ("pair", list("bcc"))}
    scores = xr.DataArray(0.0, attrs={"units": "m"})
    return MEDIANS.dataset(
        variables, {"pair": ["a - b", "a - c", "b - c"], **sides}, MEDIANS.attrs(scores, 0, 0.95) | attrs, scores
    )


@pytest.fixture
def medians(registered):
    kinds.register(MEDIANS)
    kinds.register(SECONDS)


def test_a_kind_that_compares_needs_no_sentences_and_no_table(medians):
    result = toy_medians([3.0, 4.5, 1.5], [0.01, 0.002, 0.2])
    assert result.curves.summary().split("\n") == [
        "a has the highest median score. It is shown to be higher than all others, by 3.0 m (1.0 to 5.0) than b, the "
        "nearest.",
        "Intervals and p hold for the 3 pairs together.",
    ]  # fmt: skip
    table = result.curves.table()
    assert table.index.tolist() == ["a over c", "a over b", "b over c"]
    assert table["difference"].tolist() == [4.5, 3, 1.5]
    assert table["p"].tolist() == [0.002, 0.01, 0.2]
    assert table.attrs["caption"].startswith("Pairs of algorithms, the better one first: ")
    answer = result.curves.to_dict()
    assert answer["verdict"].startswith("a has the highest median score.")
    assert [(row["first"], row["second"], row["shown"]) for row in answer["pairs"]] == [
        ("a", "c", True), ("a", "b", True), ("b", "c", False),
    ]  # fmt: skip
    assert answer["pairs"][0]["ci"] == [2.5, 6.5]
    assert answer["pairs"][0]["p"] == 0.002


def test_a_comparison_of_losses_names_the_lowest_and_nothing_shown_says_so(medians):
    of_loss = toy_medians([3.0, 4.5, 1.5], [0.01, 0.002, 0.2], higher_is_better=0)
    said = of_loss.curves.summary()
    assert said.startswith(
        "c has the lowest median score. c or b may be the best; a is shown to be higher (by 4.5, 2.5 to 6.5)."
    )
    assert of_loss.curves.table().index.tolist() == ["c below a", "b below a", "c below b"]
    nothing = toy_medians([1.0, 1.5, 0.5], [0.4, 0.3, 0.9])
    assert "Any of the 3 may be the best: no difference is shown." in nothing.curves.summary()


def test_a_comparison_says_its_unit_which_end_is_good_and_what_next(medians):
    result = toy_medians([3.0, 4.5, 1.5], [0.01, 0.002, 0.2], xcurves_result="toy_seconds")
    result["score_mean"] = xr.DataArray([9.0, 6.0, 4.5], {"algorithm": list("abc")}, ["algorithm"])
    assert result.curves.summary().split("\n")[0] == (
        "c has the lowest median time, 4.5 s. c or b may be the best; a is shown to be higher (by 4.5, 2.5 to 6.5). To "
        "tell c from b takes at least 7 runs of each, about 12 if the difference is as seen."
    )
    assert result.curves.table().index.tolist() == ["c below a", "b below a", "c below b"]
    assert result.curves.to_dict()["next"]["runs"] == {"c": 7, "b": 7}
    told = toy_medians([3.0, 4.5, 1.5], [0.01, 0.002, 0.02], xcurves_result="toy_seconds")
    assert "To tell" not in told.curves.summary()
    assert told.curves.to_dict()["next"]["runs"] == {}


def test_a_new_sentence_is_one_line_of_a_declaration_and_everything_else_follows(registered):
    compared = replace(
        MEDIANS.comparison,
        unit=lambda _: "m",
        reasons="medians of no runs",
        floor=lambda _: [
            Floor("With 3 runs no p can be below 0.1: run more.", Needed("runs", "runs of each", 3, 5, 5))
        ],
        own=lambda result, made: [
            Statement("detail", f"{made[0].best} has the highest median."),
            Statement("caution", "Medians ignore the tails."),
        ],
        more=lambda _: [Statement("detail", "Medians are of all runs.")],
        holds=lambda _: ["Intervals hold together."],
        caption="Medians, {order}.",
        columns=lambda result: {"n": result["gap"] * 0 + 7},
    )
    kinds.register(replace(MEDIANS, comparison=compared))
    result = toy_medians([3.0, 4.5, np.nan], [0.01, 0.002, np.nan])
    kind = kinds.kind("toy_medians")
    assert kind.by_role(result) == {
        "answer": [
            "a has the highest median score. It is shown to be higher than all others, by 3.0 m (1.0 to 5.0) than b, "
            "the nearest. With 3 runs no p can be below 0.1: run more."
        ],
        "detail": ["a has the highest median.", "Medians are of all runs.", "Intervals hold together."],
        "caution": ["Medians ignore the tails."],
    }
    table = result.curves.table()
    assert table.columns.tolist() == ["difference", "lower", "upper", "p", "n"]
    assert table.loc["a over c"].tolist() == [4.5, 2.5, 6.5, 0.002, 7]
    assert table.attrs["caption"] == "Medians, the better one first. Intervals: 95 %, all pairs together."
    answer = result.curves.to_dict()
    assert answer["verdict"] == " ".join(kind.said(result, "answer"))
    assert answer["cautions"] == ["Medians ignore the tails."]
    assert answer["next"] == {"runs": {"a": 2, "b": 2, "c": 2}, "tasks": None, "items": None}
    first, *_, last = answer["pairs"]
    assert first == {
        "first": "a", "second": "c", "difference": 4.5, "scale": "difference", "unit": "m", "ci": [2.5, 6.5],
        "p": 0.002, "shown": True,
    }  # fmt: skip
    assert (last["difference"], last["ci"], last["p"], last["shown"]) == (None, None, None, False)
    nothing = toy_medians([np.nan] * 3, [np.nan] * 3)
    assert nothing.curves.to_dict()["verdict"].startswith("No pair could be compared: medians of no runs.")


def test_a_result_without_its_intervals_and_claims_with_amounts_of_their_own(registered):
    twice = Comparison(
        "gap",
        "gap_ci",
        "gap_pvalue",
        noun=lambda part: f"median of {part['half'].item()}",
        claims=lambda _: [Claim("half", "first runs"), Claim("half", "last runs")],
        pair=lambda result: xr.concat(
            [result, result.assign(gap=-result["gap"])], pd.Index(["first runs", "last runs"], name="half")
        ),
    )
    kinds.register(replace(MEDIANS, comparison=twice))
    result = toy_medians([3.0, 4.5, 1.5], [0.01, 0.002, 0.2])
    said = result.drop_vars("gap_ci").curves.summary().split("\n")[0]
    assert said.startswith(
        "a has the highest median of first runs. It is shown to be higher than all others, by 3 m (p = .010) than b, "
        "the nearest. c has the highest median of last runs. "
    )


def test_a_comparison_with_a_reference_and_over_tasks(medians):
    beside = toy_medians([3.0, 4.5, 1.5], [0.01, 0.002, 0.2]).isel(pair=[0, 1]).assign_attrs(reference="b")
    assert beside.curves.summary().startswith("Beside b, in median score: ")
    assert "the first less the second" in beside.curves.table().attrs["caption"]
    tasks = toy_medians([[3.0, 4.5, 1.5], [-3.0, -4.5, -1.5]], [[0.01, 0.002, 0.2], [0.01, 0.002, 0.01]])
    assert tasks.curves.summary().split("\n") == [
        "The highest median score of 2 tasks: a in 1 and c in 1. In 2 of them, each tested by itself, the best is "
        "shown to be higher than all others.",
        "Intervals and p hold for the 3 pairs of a task together.",
        "Each task was tested by itself: p is not adjusted for the number of tasks.",
    ]  # fmt: skip


def test_probabilities_without_p_are_shown_where_their_interval_leaves_out_one_half(registered):
    compared = Comparison("gap", "gap_ci", "", noun=lambda _: "probability to score higher", scale=PROBABILITY)
    kinds.register(replace(MEDIANS, comparison=compared))
    result = toy_medians([0.9, 0.85, 0.45], [0, 0, 0])
    ends = np.array([[0.7, 0.96], [0.5, 0.97], [0.2, 0.8]])
    result = result.assign(gap_ci=result["gap_ci"].copy(data=ends))
    assert result.curves.summary().split("\n")[0] == (
        "a has the higher score most often. a or c may be the best; b is shown to be likelier to score lower (with "
        "probability 0.90, 0.70 to 0.96)."
    )
    # c is before b with 1 - .45
    assert result.curves.table().index.tolist() == ["a over b", "a over c", "c over b"]
    assert "p" not in result.curves.table()
    np.testing.assert_allclose(result.curves.table()["gap"], [0.9, 0.85, 0.55])
    last = result.curves.to_dict()["pairs"][-1]
    np.testing.assert_allclose([last["difference"], *last["ci"]], [0.55, 0.2, 0.8])
    assert last["p"] is None


def test_a_ratio_of_times_turns_to_its_inverse(registered, tmp_path):
    compared = Comparison("gap", "gap_ci", "gap_pvalue", noun=lambda _: "", scale=SPEED)
    kinds.register(replace(MEDIANS, comparison=compared))
    result = toy_medians([4.0, 0.5, 1.0], [0.01, 0.03, 0.9])
    ends = np.array([[2.0, 8.0], [0.25, 1.5], [0.0, np.inf]])
    result = result.assign(gap_ci=result["gap_ci"].copy(data=ends))
    table = result.curves.table()
    assert table.index.tolist() == ["a over b", "c over a", "b and c"]
    np.testing.assert_allclose(table[["gap", "lower", "upper"]], [[4, 2, 8], [2, 1, 4], [1, -np.inf, np.inf]])
    beside = result.isel(pair=[1, 2]).assign_attrs(reference="c")
    said = "a (0.50 times as fast: 0.25 to less than 1) is shown to be slower"
    assert said in beside.curves.summary()
    # the table, Markdown for GitHub and the page say it alike
    of_pair = columns_of(beside.curves.table())[2]
    assert of_pair.texts[0] == "0.25 to less than 1"
    assert beside.curves.table().attrs["note"].startswith("Less than 1: by the test")
    assert "| 0.25 to less than 1 |" in as_markdown(beside.curves.to_dict(), 0)
    page = xr.DataTree.from_dict({"/toy": beside}).curves.report(tmp_path / "toy.html").read_text(encoding="utf-8")
    assert "<td>0.25 to less than 1</td>" in page


def test_algorithms_beside_their_reference_are_the_rows_of_a_table(registered):
    def beside(result):
        return beside_reference(result, ["gap", "gap_ci", "gap_pvalue"])

    compared = Comparison(
        "gap", "gap_ci", "gap_pvalue", noun=lambda _: "lead", pair=beside, column="lead",
        columns=lambda result: {"n": result["n_runs"]},
    )  # fmt: skip
    variables = {
        "gap": Var(("task", "algorithm"), "lead over the reference"),
        "gap_ci": Var(("task", "algorithm", "ci_bound"), "its interval"),
        "gap_pvalue": Var(("task", "algorithm"), "p"),
        "n_runs": Var(("task", "algorithm"), "number of runs", dtype=np.int64),
    }
    declared = replace(MEDIANS, name="toy_leads", variables=variables, coords={"ci_bound": CI_BOUNDS})
    kinds.register(replace(declared, comparison=compared))
    ends = np.array([[0.5, 1.5], [-4.0, -2.0]])
    result = xr.Dataset(
        {"gap": ("algorithm", [1.0, -3.0]), "gap_ci": (("algorithm", "ci_bound"), ends),
         "gap_pvalue": ("algorithm", [0.01, 0.02]), "n_runs": ("algorithm", [5, 6])},
        {"algorithm": ["a", "b"], "ci_bound": list(CI_BOUNDS)},
        {"xcurves_result": "toy_leads", "reference": "c", "confidence_level": 0.95, "xcurves_version": "0", "rng": "0"},
    )  # fmt: skip
    table = result.curves.table()
    assert table.index.name == "algorithm"
    assert table.loc[["b", "a"]].to_dict("list") == {
        "lead": [-3.0, 1.0], "lower": [-4.0, 0.5], "upper": [-2.0, 1.5], "p": [0.02, 0.01], "n": [6, 5],
    }  # fmt: skip
    assert table.index.tolist() == ["b", "a"]


def test_a_declaration_by_itself_says_where_its_sentences_are():
    with raises_other(LookupError, match=r"xcurves\.kinds\.kind"):
        MEDIANS.answer(toy_medians([3.0, 4.5, 1.5], [0.01, 0.002, 0.2]))


def modules():
    for place in GENERIC:
        path = SOURCE / place
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


@pytest.mark.parametrize("module", [each.relative_to(SOURCE).as_posix() for each in modules()])
def test_a_generic_room_names_no_method(module):
    if module in COMPOSED:
        pytest.skip("draws results of several methods")
    source = (SOURCE / module).read_text(encoding="utf-8")
    # which call methods
    code = re.sub(r"Examples\n +-+\n.*?\"\"\"", "", source, flags=re.DOTALL)
    named = [name for name in kinds.NAMES if re.search(rf"[`'\"]{name}[`'\"]|\b{name}\(|import {name}\b", code)]
    assert named == ["mean_curves"] * (module in DRAWS_CURVES)
