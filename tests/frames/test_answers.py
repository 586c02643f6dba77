"""Several answers as one number: shares of all choices of k answers, by enumeration."""

import warnings
from itertools import combinations

import dask
import dask.array
import numpy as np
import pytest
import xarray as xr

import xcurves
from lazy import refuse_to_compute
from refusals import ANY, refused
from xcurves.core.refusal import call, give

NAMES = {"algorithm": ["a", "b", "c"], "question": [f"q{n}" for n in range(7)]}


def make_answers(n_answers=5, *, share=0.4, gaps=0.0, seed=0):
    rng = np.random.default_rng(seed)
    values = (rng.random((3, 7, n_answers)) < share).astype(float)
    values[rng.random(values.shape) < gaps] = np.nan
    return xr.DataArray(values, NAMES, ("algorithm", "question", "run"), name="correct")


def by_enumeration(values, k, holds):
    """The share of all choices of k answers of which `holds` is true, one item at a time."""
    out = np.full((*values.shape[:-1], 1), np.nan)
    for place in np.ndindex(values.shape[:-1]):
        given = [each for each in values[place] if not np.isnan(each)]
        choices = list(combinations(given, k))
        if choices:
            out[place] = np.mean([holds(choice) for choice in choices])
    return out


@pytest.mark.filterwarnings("ignore:.*left out there")
@pytest.mark.parametrize(("name", "holds"), [("pass_at", any), ("pass_all", all)])
@pytest.mark.parametrize("k", [1, 2, 3, 6])
@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_shares_are_those_of_all_choices_of_k_answers(name, holds, k, gaps):
    answers = make_answers(7, gaps=gaps)
    passed = getattr(xcurves, name)(answers, k)
    wanted = by_enumeration(answers.values, k, holds)
    np.testing.assert_allclose(passed, wanted, rtol=0, atol=1e-14)
    assert np.isnan(wanted).any() == (gaps > 0 and k > 3)
    assert passed.dims == answers.dims
    assert passed.sizes["run"] == 1


@pytest.mark.parametrize("name", ["pass_at", "pass_all"])
def test_the_mean_over_few_answers_is_that_over_many(name):
    # No bias: 400 answers cut into 80 groups of five have the mean of all that they are drawn from.
    rng = np.random.default_rng(3)
    answers = xr.DataArray((rng.random((4000, 5)) < 0.3).astype(float), dims=("question", "run"))
    true = 1 - 0.7**2 if name == "pass_at" else 0.3**2
    values = getattr(answers.curves, name)(2)
    assert abs(values.mean().item() - true) < 4 * values.std().item() / np.sqrt(4000)


def test_many_answers_do_not_overflow():
    answers = xr.DataArray(np.ones((1, 3000)), dims=("question", "run"))
    answers[0, :10] = 0
    assert answers.curves.pass_at(11).item() == 1.0
    # 10 of 3,000 are wrong: all of 1,500 are right where none of the ten is chosen.
    wanted = np.prod([(1500 - i) / (3000 - i) for i in range(10)])
    np.testing.assert_allclose(answers.curves.pass_all(1500).item(), wanted, rtol=1e-10)


def test_of_errors_an_answer_without_one_is_right():
    answers = make_answers()
    errors = (1 - answers).rename("error")
    xr.testing.assert_equal(errors.curves.pass_at(2).drop_attrs(), answers.curves.pass_at(2).drop_attrs())
    passed = errors.rename("wrong").curves.pass_all(2, higher_is_better=False)
    np.testing.assert_array_equal(passed, answers.curves.pass_all(2))
    assert passed.attrs["higher_is_better"] == 1


def test_attrs_say_what_the_numbers_are():
    answers = make_answers().astype(bool).assign_attrs(units="1", long_name="correct")
    for passed, metric in (
        (answers.curves.pass_at(3), "pass@3"),
        (answers.curves.pass_all(3), "pass^3"),
    ):
        assert passed.name == passed.attrs["metric"] == metric
        assert passed.attrs["higher_is_better"] == 1
        assert passed.attrs["history"].endswith(": all 7 questions have 3 answers")


def test_items_with_fewer_answers_are_counted_and_named():
    answers = make_answers()
    answers[1, 2, 2:] = np.nan
    answers[1, 4, 3:] = np.nan
    answers[2, 4, 1:] = np.nan
    said = "2 of 7 questions lack 4 answers of an algorithm (b in 2 and c in 1) and are left out there"
    with pytest.warns(UserWarning, match=r"All have 1: k=1$") as caught:
        passed = answers.curves.pass_at(4)
    assert len(caught) == 1
    assert str(caught[0].message).startswith(said)
    assert passed.attrs["history"] == f"pass_at(4): {said}"
    missing = passed.isnull().squeeze("run")
    assert [tuple(place) for place in np.argwhere(missing.values)] == [
        (1, 2),
        (1, 4),
        (2, 4),
    ]


@pytest.mark.slow
def test_the_comparison_goes_on_with_them():
    rng = np.random.default_rng(5)
    chance = rng.random((2, 60, 1)) * np.array([0.4, 1.0])[:, np.newaxis, np.newaxis]
    answers = xr.DataArray(
        (rng.random((2, 60, 5)) < chance).astype(float),
        {"algorithm": ["old", "new"]},
        ("algorithm", "question", "run"),
    )
    passed = answers.curves.pass_at(3)
    compared = passed.curves.across_tasks(task="question", rng=0)
    d = (passed.sel(algorithm="old") - passed.sel(algorithm="new")).mean().item()
    np.testing.assert_allclose(compared.difference.item(), d)
    assert compared.pvalue.sel(task_effect="random").item() < 0.01
    assert np.isnan(compared.pvalue.sel(task_effect="fixed").item())
    said = compared.curves.summary()
    assert "pass@3" in said
    assert "each algorithm has a single score of a question" in said
    assert "single run" not in said


def test_lazy_answers_stay_lazy_and_others_than_zero_and_one_are_nan():
    answers = make_answers(gaps=0.2)
    chunked = answers.copy(data=dask.array.from_array(answers.values, chunks=2))
    with dask.config.set(scheduler=refuse_to_compute):
        passed = chunked.curves.pass_at(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(passed.compute(scheduler="sync"), answers.curves.pass_at(3))
    odd = answers.fillna(1.0)
    odd[0, 0, 0] = 0.5
    passed = odd.chunk({"question": 3}).curves.pass_at(3).compute()
    assert np.argwhere(passed.isnull().values).tolist() == [[0, 0, 0]]


@pytest.mark.parametrize(
    ("change", "k", "wanted"),
    [
        (lambda a: a, 6, ("k", "6, and no item has more than 5", give(k=5))),
        (lambda a: a, 0, ("k", 0, "Usual: 3")),
        (lambda a: a + 0.5, 2, ("scores", ANY, "(scores >= 0.5)", "must be 0 or 1")),
        (lambda a: a.where(a > 0, -np.inf), 2, ("scores", -np.inf, call(".curves.fill_failed", 0.0))),
        (lambda a: a.rename(run="answer"), 2, ("scores", ANY, "rename(answer='run')", "dim 'run'")),
        (lambda a: a.isel(question=[]), 2, ("scores", ANY, "Check the selection", "is empty")),
    ],
)
@pytest.mark.parametrize("name", ["pass_at", "pass_all"])
def test_what_has_no_answers_is_refused_with_the_cure(name, change, k, wanted):
    with refused(*wanted[:3], names="".join(wanted[3:])):
        getattr(change(make_answers()).curves, name)(k)


def test_the_cure_of_scores_that_are_points_works():
    points = make_answers() * 4 + 0.5
    with refused("scores", "0.5", cure="Say from where on an answer is right: (scores >="):
        points.curves.pass_at(2)
    right = (points >= 0.5).where(points.notnull())
    assert right.curves.pass_at(2).notnull().all()
