"""Items at checkpoints that were not all graded: each at the levels that its answers have in common, by plain loops."""

import numpy as np
import pytest

from items import make_items
from refusals import refused
from xcurves.core.refusal import call

LEVELS = [100.0, 200.0, 300.0, 400.0]


@pytest.fixture
def graded():
    """Three models, 30 questions, one answer at each of four checkpoints, some of which were not graded."""
    scores = make_items(30).squeeze("run", drop=True)
    rng = np.random.default_rng(1)
    scores = scores.expand_dims(run=[0], training=LEVELS).transpose("algorithm", "question_id", "run", "training")
    values = (rng.random(scores.shape) < 0.3 + 0.1 * np.arange(4)).astype(float)
    values[1, 3, 0, 3] = np.nan  # not graded at the end
    values[2, 3, 0, 1] = np.nan  # nor another one in between
    values[0, 5, 0, :2] = np.nan
    values[1, 7] = np.nan  # not asked at all: a gap
    return scores.copy(data=values)


def levels_by_loops(values, item):
    """The levels that all models have that answered the item at any level."""
    asked = [model for model in range(3) if not np.isnan(values[model, item]).all()]
    return [level for level in range(4) if all(not np.isnan(values[model, item, 0, level]) for model in asked)], asked


@pytest.mark.parametrize("weights", [None, "final"])
def test_an_item_counts_at_the_levels_that_all_its_answers_have(graded, weights):
    found = graded.curves.across_tasks(task="question_id", training_weights=weights, rng=0)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        differences = []
        for item in range(30):
            levels, asked = levels_by_loops(graded.values, item)
            if a not in asked or b not in asked:
                continue
            if weights == "final":
                levels = levels[-1:]
            of_item = graded.values[:, item, 0][:, levels].mean(axis=1)
            differences.append(of_item[a] - of_item[b])
        pair = found.isel(pair=[(0, 1), (0, 2), (1, 2)].index((a, b)))
        np.testing.assert_allclose(pair.difference, np.mean(differences))
        assert pair.n_tasks == len(differences)


@pytest.mark.slow
def test_how_many_items_count_at_fewer_levels_is_said(graded):
    said = "2 of 30 questions count at 2 of 4 levels, those that all of their answers have"
    across = graded.curves.across_tasks(task="question_id", rng=0)
    profile = graded.curves.profile_across_tasks(task="question_id", fractions=[0.5, 1.0], n_resamples=99, rng=0)
    for found in (across, profile):
        assert f"{said}." in found.curves.summary()
        assert "those that all of their answers have" in found.attrs["history"]
    whole = graded.isel(question_id=slice(8, None))
    assert "checkpoints" not in whole.curves.across_tasks(task="question_id", rng=0).attrs.get("history", "")


def test_profiles_are_those_of_items_that_were_cut_by_hand(graded):
    options = {"task": "question_id", "fractions": [0.5, 1.0], "n_resamples": 99}
    found = graded.curves.profile_across_tasks(**options, rng=0)
    values = graded.values.copy()
    for item in range(30):
        levels, _ = levels_by_loops(values, item)
        values[:, item, 0, [k for k in range(4) if k not in levels]] = np.nan
    by_hand = graded.copy(data=values).curves.profile_across_tasks(**options, rng=0)
    for name in ("difference", "pvalue_adjusted", "n_tasks"):
        np.testing.assert_array_equal(found[name], by_hand[name])


def test_an_item_without_a_common_level_is_left_out_and_counted(graded):
    graded[0, 9, 0, :2] = np.nan
    graded[1, 9, 0, 2:] = np.nan
    found = graded.curves.across_tasks(task="question_id", rng=0)
    assert "1 of them have no level in common and are left out" in found.curves.summary()
    assert found.n_tasks.values.tolist() == [28, 29, 28]


def test_dims_that_are_not_named_and_several_runs_are_refused_as_before(graded):
    with refused("curves", ("'B'", "0"), cure=call(".curves.align", "intersection", runs_short="cut")):
        graded.rename(question_id="task").curves.across_tasks(rng=0)
    twice = graded.isel(run=[0, 0]).assign_coords(run=[0, 1])
    twice = twice.where(twice.run == 0, 1 - twice)
    with refused("curves", ("'B'", "0"), cure=call(".curves.align", "intersection", runs_short="cut")):
        twice.curves.across_tasks(task="question_id", rng=0)
