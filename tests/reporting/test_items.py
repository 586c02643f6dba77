"""Analyses of items, many tasks: what is made and written of each task by itself, and what of all together."""

import warnings

import numpy as np
import pytest
import xarray as xr

import xcurves
from xcurves.core.applicability import MOST_TASKS
from xcurves.reporting.curves_section import counts_over_tasks

BY_TASK = {"anova", "pairwise", "distribution"}


def _answers(n_items, n_answers=1):
    rng = np.random.default_rng(3)
    chance = np.array([0.4, 0.6, 0.9])[:, np.newaxis, np.newaxis]
    return xr.DataArray(
        (rng.random((3, n_items, n_answers)) < chance).astype(float),
        {"algorithm": ["A", "B", "C"], "question": [f"q{n}" for n in range(n_items)], "run": range(n_answers)},
        ("algorithm", "question", "run"),
        name="accuracy",
    )


def _analysis(scores, **options):
    """The analysis of scores about which nothing is warned."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return scores.curves.analyze(rng=0, n_resamples=99, **options)


def test_items_beyond_those_that_can_be_read_are_compared_over_all_of_them():
    tree = _analysis(_answers(MOST_TASKS + 1, 3))
    assert set(tree) == {"curves", "across_tasks"}
    assert "left_out" not in tree.attrs  # nobody expects a table of thousands of questions


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # so few answers that no adjusted p can be small
def test_a_part_of_each_item_is_made_where_it_is_asked_for_by_name_or_items_are_few():
    asked = _answers(MOST_TASKS + 1, 3).curves.analyze(include=["pairwise", "distribution"], rng=0, n_resamples=99)
    assert set(asked) == {"curves", "pairwise", "distribution"}
    assert asked["pairwise"].sizes["question"] == MOST_TASKS + 1
    few = _answers(MOST_TASKS, 3).curves.analyze(rng=0, n_resamples=99)
    assert set(few) == {"curves", "across_tasks"} | BY_TASK


def test_single_answers_are_compared_over_items_without_a_warning_about_each():
    tree = _analysis(_answers(30))
    assert set(tree) == {"curves", "across_tasks"}
    left_out = dict(line.split(": ", 1) for line in tree.attrs["left_out"].splitlines())
    assert set(left_out) == BY_TASK
    assert "no algorithm has two runs" in left_out["anova"]
    assert left_out["distribution"] == "each algorithm has one run in each task"


def test_one_algorithm_has_its_distribution_however_many_items():
    tree = _analysis(_answers(MOST_TASKS + 1, 3).isel(algorithm=[0]), include=["distribution"])
    assert set(tree) == {"curves", "distribution"}


@pytest.mark.plain(1)
@pytest.mark.parametrize("training", [False, True])
def test_runs_of_many_items_are_counted_for_each_algorithm(training):
    scores = _answers(40, 3)
    rng = np.random.default_rng(0)
    scores = scores.where(rng.random(scores.shape) < 0.5)
    if training:
        scores = scores.expand_dims(training=[1, 2, 5], axis=-1).copy()
        scores[1, :, :, 2] = np.nan
    else:
        scores = xcurves.core.validation.with_training(scores)
    found = counts_over_tasks(scores)
    for name in scores.algorithm.values.tolist():
        of_items = []
        levels = set()
        for item in scores.question.values:
            curves = scores.sel(algorithm=name, question=item)
            runs = [run for run in range(3) if bool(curves.sel(run=run).notnull().any())]
            of_items.append(len(runs))
            levels |= {level for level in curves.training.values.tolist() if curves.sel(training=level).notnull().any()}
        there = [n for n in of_items if n]
        expected = [len(there), of_items.count(0), sum(of_items), min(there), max(there)]
        if training:
            expected += [len(levels), min(levels), max(levels)]
        assert found.loc[name].tolist() == expected


@pytest.mark.slow
def test_the_page_of_many_items_has_no_row_of_each(tmp_path):
    few, many = (
        _analysis(_answers(n, 1)).curves.report(tmp_path / f"{n}.html").read_text(encoding="utf-8")
        for n in (MOST_TASKS, MOST_TASKS + 1)
    )
    assert few.count(">q17<") >= 1
    assert ">q17<" not in many
    assert ">absent tasks<" in many
