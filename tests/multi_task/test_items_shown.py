"""What a person reads about items: per cent, clusters by name, gaps counted, and what cannot be compared."""

import numpy as np
import pytest
import xarray as xr

from items import KIND, compare, make_items
from lazy import refuse_to_compute
from refusals import refused
from xcurves.multi_task.answers_shown import are_answers
from xcurves.say.comparing import pairs_of


@pytest.mark.slow
def test_answers_are_shown_in_per_cent_in_sentence_and_tables_and_kept_as_shares():
    scores = make_items()
    found = compare(scores)
    best = scores.mean(["question_id", "run"]).max().item()
    assert KIND.answer(found).startswith(
        f"C has the highest mean accuracy, {100 * best:.3g} % over 60 questions. On questions like these"
    )
    table = found.curves.table()
    d = (scores.sel(algorithm="C") - scores.sel(algorithm="A")).mean().item()
    assert table.loc["C over A", "difference"] == pytest.approx(100 * d)
    assert found.difference.sel(pair="A - C").item() == pytest.approx(-d)
    rows = KIND.part.algorithms(found)
    assert rows.loc["C", "mean"] == pytest.approx(100 * best)
    assert table.attrs["interval"].endswith("scores in %")


@pytest.mark.plain(1)
@pytest.mark.parametrize(
    "change",
    [
        lambda scores: scores * 0.5,
        lambda scores: scores * 2,
        lambda scores: (100 * scores).assign_attrs(units="%"),
        lambda scores: scores - 1,
    ],
)
def test_other_scores_are_shown_as_they_are(change):
    scores = change(make_items())
    found = compare(scores)
    assert not are_answers(found)
    best = scores.mean(["question_id", "run"]).max().item()
    assert f"mean accuracy, {best:.3g}".replace("-", "−") in KIND.answer(found)


@pytest.mark.parametrize("odd", [None, 0, 35_000, 69_999])
def test_of_many_items_each_is_seen(odd):
    mean = np.random.default_rng(0).integers(0, 4, (70_000, 2)) / 3
    mean[5] = np.nan
    if odd is not None:
        mean[odd, 1] = 0.4
    n_runs = xr.DataArray(np.full(mean.shape, 3), dims=("item", "algorithm"))
    result = xr.Dataset({"task_mean": (("item", "algorithm"), mean, {"units": "1"})}, {"n_runs": n_runs})
    assert are_answers(result) == (odd is None)


def test_a_margin_is_shown_in_the_same_unit():
    found = compare(make_items(), margin=0.02)
    assert "not to be worse by more than 2:" in found.curves.summary()
    assert found.attrs["margin"] == 0.02


@pytest.mark.slow
def test_how_small_a_difference_so_many_items_show_stands_in_the_verdict():
    found = compare(make_items())
    pair = found.sel(pair="B - C")
    said = KIND.answer(found)
    smallest = f"{100 * pair.smallest_to_show.item():.2g}"
    assert f"60 questions show a difference of {smallest} or more in 8 of 10 cases; to tell C from B takes" in said
    assert found.curves.summary().count("8 of 10 cases") == 1


@pytest.mark.slow
def test_one_answer_each_is_no_news_and_no_empty_columns():
    found = compare(make_items())
    assert "very questions" not in KIND.answer(found)
    assert "each algorithm has a single score of a question" in found.curves.summary()
    assert found.curves.table().notna().any().all()
    assert "fixed_p" in compare(make_items(n_answers=3)).curves.table()


def test_clusters_have_their_name():
    found = compare(make_items(), task_groups="passage")
    summary = found.curves.summary()
    assert "over 60 questions in 20 passages. " in summary
    assert "20 passages show a difference of" in summary
    assert "about passages: all questions of one are flipped" in summary
    assert "famil" not in summary


@pytest.mark.slow
def test_clusters_too_few_for_a_p_are_said_with_the_cure():
    scores = make_items()
    clusters = np.repeat(list("abcde"), 12)
    with pytest.warns(UserWarning, match="no p for tasks like these"):
        found = compare(scores, task_groups=clusters)
    assert "add families: 6 are the fewest" in KIND.answer(found)
    named = scores.assign_coords(category=("question_id", clusters))
    with pytest.warns(UserWarning, match="no p for tasks like these"):
        found = compare(named, task_groups="category")
    assert "with 5 categories no adjusted p" in KIND.answer(found)
    assert "add categories: 6 are the fewest" in KIND.answer(found)


@pytest.mark.slow
def test_where_no_pair_could_be_tested_the_cure_is_more_clusters_and_no_column_is_empty():
    clusters = ("question_id", np.repeat(list("abcde"), 12))
    one_answer, repeats = (make_items(n_answers=n).assign_coords(category=clusters) for n in (1, 3))
    with pytest.warns(UserWarning, match=r"no p for tasks like these reaches 0\.05\. Add categories$"):
        found = compare(one_answer, task_groups="category")
    assert pairs_of(KIND)(found).columns.tolist() == ["difference", "shown"]
    with pytest.warns(UserWarning, match=r"Add categories, or read the claim for these tasks \(fixed\)$"):
        found = compare(repeats, task_groups="category")
    assert pairs_of(KIND)(found)["p"].notna().all()


@pytest.mark.slow
def test_items_that_a_model_lacks_are_counted():
    scores = make_items()
    scores[1, 3:6] = np.nan
    scores[0, 9] = np.nan
    summary = compare(scores).curves.summary()
    assert "Of 60 questions A lacks 1 and B lacks 3: each pair is compared on the questions that both have." in summary
    assert "56 of 60 questions that all have. On" in summary
    assert "60 questions that all have, in 19 to 20 passages. On" in KIND.answer(compare(scores, task_groups="passage"))
    assert "q3" not in summary


def test_a_model_with_other_items_altogether_is_refused():
    scores = make_items()
    scores[1, 30:] = np.nan
    scores[[0, 2], :30] = np.nan
    with refused(
        "curves",
        cure="Give the same question the same label, or leave it out",
        names=r"'B' has 30 questions, of which 0 are common.*'q0'.*'A' 'q30'.*drop_sel\(algorithm='B'\)",
    ):
        compare(scores)
    with refused(
        "curves",
        cure="Give the same question the same label, or leave it out",
        names="'B' has 30 questions, of which 0 are common",
    ):
        scores.curves.analyze(rng=0)
    assert compare(scores.drop_sel(algorithm="B")).difference.notnull().all()
    lazy = scores.chunk()
    import dask

    with dask.config.set(scheduler=refuse_to_compute):
        compare(lazy)


@pytest.mark.plain(1)
@pytest.mark.parametrize(("value", "how"), [(1.0, "right"), (0.0, "wrong")])
@pytest.mark.parametrize("n_answers", [1, 5])
def test_all_right_or_all_wrong_is_said(value, how, n_answers):
    scores = xr.full_like(make_items(n_answers=n_answers), value)
    found = compare(scores)
    wanted = f"All answers of A, B and C to 60 questions are {how}: nothing tells them apart"
    assert KIND.answer(found) == f"{wanted}."
    errors = compare((1 - scores).rename("error"))
    assert KIND.answer(errors) == f"{wanted}."
    assert found.curves.table().notna().all(axis=None)
