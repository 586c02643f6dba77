"""What is said of items: how many all get right, where models disagree, flips between two, noise of repeats."""

import re

import numpy as np
import pytest

from items import KIND, compare, make_items
from layers import slow


def details(found):
    return " ".join(each.text for each in KIND.every_statement(found) if each.role == "detail")


@pytest.mark.plain(1)
@pytest.mark.parametrize("accuracy", [(0.4, 0.6), (0.3, 0.5, 0.7), (0.5,) * 6])
def test_how_many_items_all_none_and_some_get_right(accuracy):
    scores = make_items(accuracy=accuracy)
    right = scores.squeeze("run").values.T.tolist()
    n_all = sum(all(each) for each in right)
    n_none = sum(not any(each) for each in right)
    who = "Both algorithms" if len(accuracy) == 2 else f"All {len(accuracy)} algorithms"
    assert (
        f"{who} get {n_all} of 60 questions right, none gets {n_none}, and they differ or waver on "
        f"{60 - n_all - n_none}."
    ) in details(compare(scores))


@pytest.mark.slow
def test_of_errors_an_answer_without_one_is_right():
    scores = make_items()
    said = details(compare(scores))
    of_errors = details(compare((1 - scores).rename("error")))
    found = re.search(r"All 3 algorithms get .*? right, none gets \d+", said)
    assert found[0] in of_errors


def test_flips_between_two_are_counted_both_ways():
    scores = make_items(accuracy=(0.4, 0.6))
    a, b = scores.squeeze("run").values
    n_b = sum(x < y for x, y in zip(a, b, strict=True))
    n_a = sum(x > y for x, y in zip(a, b, strict=True))
    assert f"B is right and A wrong on {n_b} questions, A right and B wrong on {n_a}." in details(compare(scores))


@pytest.mark.slow
def test_ten_items_on_which_models_disagree_most_are_named():
    scores = make_items(n_answers=9, accuracy=(0.3, 0.5, 0.7))
    share = scores.mean("run").values
    apart = [np.var(share[:, item]) for item in range(60)]
    said = details(compare(scores))
    named = re.search(r"They disagree most on questions (.*?)(, as much as|\.)", said)[1]
    items = [int(each) for each in re.findall(r"q(\d+)", named)]
    assert len(set(items)) == 10
    wanted = sorted(apart, reverse=True)[:10]
    np.testing.assert_allclose([apart[item] for item in items], wanted)
    same = make_items(accuracy=(0.3, 0.5)).copy()
    a, b = same.squeeze("run").values
    n_more = int((a != b).sum()) - 10
    assert f", as much as on {n_more} more." in details(compare(same))


@pytest.mark.slow
def test_the_share_of_noise_between_repeats_is_the_true_one():
    # each answer of an item is right by its own chance: variance within is p (1 - p), over items that of p
    rng = np.random.default_rng(4)
    scores = make_items(n_items=900, n_answers=6, accuracy=(0.5, 0.5))
    chance = rng.beta(2, 3, size=900)
    drawn = rng.random((2, 900, 6)) < chance[:, np.newaxis]
    scores = scores.copy(data=drawn.astype(float))
    within = (chance * (1 - chance)).mean()
    true = within / (within + chance.var())
    found = compare(scores, n_resamples=19)
    said = re.search(r"answers (\d+) % lies between repeats", details(found))
    assert float(said[1]) == pytest.approx(100 * true, abs=4)
    one = compare(make_items())
    assert "between repeats" not in details(one)


@pytest.mark.slow
def test_of_items_on_which_models_disagree_equally_the_first_are_named():
    scores = make_items(n_items=30, n_answers=3, accuracy=(0.5,) * 4)
    rng = np.random.default_rng(1)
    n_right = np.array(
        [rng.permutation([0, 1, 1, 3]) if item % 2 else rng.permutation([0, 2, 2, 3]) for item in range(30)]
    )
    same = scores.copy(data=(np.arange(3) < n_right.T[..., np.newaxis]).astype(float))
    assert f"questions {', '.join(f'q{item}' for item in range(9))} and q9, as much as on 20 more." in details(
        compare(same)
    )


def uneven_items():
    """Return answers of which some lack: items that a model did not answer, and answers of others."""
    scores = make_items(n_items=90, n_answers=5, accuracy=(0.35, 0.5, 0.65))
    rng = np.random.default_rng(8)
    scores = scores.where(rng.random(scores.shape) < 0.8)
    scores[0, 5:9] = np.nan
    scores[2, 20:22] = np.nan
    scores[1, 30:40, 1:] = np.nan
    return scores


def answers_of(scores):
    """Return a list of answers for each item of each model."""
    return [
        [[answer for answer in item if not np.isnan(answer)] for item in model]
        for model in scores.transpose("algorithm", "question_id", "run").values.tolist()
    ]


@pytest.mark.slow
def test_of_items_with_gaps_all_is_said_as_plain_loops_find_it():
    scores = uneven_items()
    answers = answers_of(scores)
    common = [item for item in range(90) if all(model[item] for model in answers)]
    assert 0 < len(common) < 90
    n_all = sum(all(all(model[item]) for model in answers) for item in common)
    n_none = sum(not any(any(model[item]) for model in answers) for item in common)
    said = details(compare(scores))
    n_some = len(common) - n_all - n_none
    assert (
        f"All 3 algorithms get {n_all} of {len(common)} questions right, none gets {n_none}, and they differ or waver "
        f"on {n_some}."
    ) in said

    share = {item: [np.mean(model[item]) for model in answers] for item in common}
    apart = {item: round(float(np.var(share[item])), 9) for item in common}
    wanted = sorted(common, key=lambda item: (-apart[item], item))[:10]
    named = re.search(r"They disagree most on questions (.*?)(, as much as|\.)", said)[1]
    assert [int(each) for each in re.findall(r"q(\d+)", named)] == wanted

    both = [item for item in range(90) if answers[2][item] and answers[1][item]]
    ahead = [np.mean(answers[2][item]) - np.mean(answers[1][item]) for item in both]
    n_more, n_less = sum(d > 1e-9 for d in ahead), sum(d < -1e-9 for d in ahead)
    assert f"C is right more often than B on {n_more} questions, less often on {n_less}." in said


@pytest.mark.slow
def test_the_share_of_noise_with_unequal_numbers_of_answers_is_that_of_a_plain_loop():
    scores = uneven_items()
    shares = []
    for model in answers_of(scores):
        several = [item for item in model if len(item) > 1]
        within = [sum((answer - np.mean(item)) ** 2 for answer in item) / (len(item) - 1) for item in several]
        of_noise = np.mean([each / len(item) for each, item in zip(within, several, strict=True)])
        between = max(0.0, np.var([np.mean(item) for item in several], ddof=1) - of_noise)
        shares.append(np.mean(within) / (np.mean(within) + between))
    said = re.search(r"answers ([\d.]+) % lies between repeats of the same question", details(compare(scores)))
    assert said[1] == f"{100 * np.mean(shares):.2g}"


@pytest.mark.slow
@pytest.mark.parametrize("accuracy", [(0.4, 0.6), slow((0.3, 0.5, 0.7))])
def test_a_result_without_differences_by_task_has_sentences_tables_and_pictures(accuracy):
    pytest.importorskip("matplotlib")
    by_task = [
        "task_difference",
        "task_difference_ci",
        "task_difference_stderr",
        "task_pvalue_adjusted",
    ]
    found = compare(make_items(n_answers=3, accuracy=accuracy))
    without = found.drop_vars([*by_task, "interaction_pvalue"])
    assert KIND.answer(without) == KIND.answer(found)
    assert len(without.curves.summary()) > 100
    table = found.curves.table()
    assert without.curves.table().equals(table.drop(columns=["win_shown", "loss_shown"]))
    assert not KIND.by_task(without).any_could
    ax = without.curves.plot("forest")
    assert len(ax.get_yticklabels()) < 12
