"""What the sentences of `across_tasks` say of tasks to come, of ends at 0 and of skewed differences."""

import re

import numpy as np
import pytest

import xcurves
import xcurves.kinds
from layers import slow
from strategies import make_curves
from xcurves.cli.terminal import as_text
from xcurves.say.comparing import pairs_of
from xcurves.say.numbers import number
from xcurves.say.pairs import OPEN_ENDS
from xcurves.say.verdict import MOST_WORDS

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
KIND = xcurves.kinds.kind("across_tasks")


def of_differences(d, n_runs=4, noise=0.01, seed=0, names=("a", "b")):
    """Return curves of two algorithms of which the first is ahead by these differences."""
    rng = np.random.default_rng(seed)
    values = noise * rng.normal(size=(len(d), 2, n_runs, 1))
    values[:, 0] += np.asarray(d)[:, np.newaxis, np.newaxis]
    tasks = [f"t{i}" for i in range(len(d))]
    return make_curves(values, task=tasks).assign_coords(algorithm=list(names))


@pytest.fixture(scope="module")
def of_readme():
    """The result of the example of the README."""
    return xcurves.tutorial.open_dataset("benchmark")["accuracy"].curves.across_tasks(rng=0)


def about(value):
    return number(float(f"{value:.2g}"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "share", "kinds"),
    [slow(0, 0.0, {"some"}), (1, 0.1, {"some", "many"}), slow(2, 0.3, {"some", "many"}), slow(3, 0.5, {"some"})],
)
def test_how_many_tasks_it_takes_is_said_with_its_floor(place, share, kinds):
    drawn = np.random.default_rng(1).normal(size=(4, 3, 10))[place] + share
    seen = set()
    for seed, d in enumerate(drawn):
        found = xcurves.across_tasks(of_differences(d, seed=seed), rng=0)
        if found.pvalue_adjusted.sel(task_effect="random") <= 0.05:
            continue
        said = KIND.answer(found)
        wanted, least = found.tasks_to_show.item(), found.tasks_at_least.item()
        told = re.search(r"To tell [ab] from [ab] takes ([^.]*)\.", said)
        if wanted > 200:
            assert told[1] == "more than 20 times as many tasks"
            seen.add("many")
        elif wanted <= 10:
            assert told is None
        elif least < 10:  # so many are there: no floor
            assert told[1] == f"about {about(wanted)} tasks if the difference is as seen"
            seen.add("some")
        elif least < wanted:
            assert told[1] == (f"at least {about(least)} tasks, about {about(wanted)} if the difference is as seen")
            seen.add("some")
    assert seen == kinds


def test_the_readme_takes_more_than_20_times_as_many_tasks(of_readme):
    said = KIND.answer(of_readme)
    pair = of_readme.sel(pair="SVM - random forest")
    assert pair.tasks_to_show > 20 * 16
    assert "To tell SVM from random forest takes more than 20 times as many tasks." in said
    assert said == (
        "SVM has the highest mean accuracy, 76.4 % over 16 tasks. On tasks like these SVM, random forest or logistic "
        "regression may be the best; decision tree is shown to be lower (by 7.6, more than 0 to 15.9). To tell SVM "
        "from random forest takes more than 20 times as many tasks. On these very tasks SVM is shown to be higher than "
        "all 4 others."
    )


def test_nothing_is_said_to_be_before_an_adjustment(of_readme):
    said = of_readme.curves.summary()
    assert "adjustment" not in said
    assert len(said.split("\n")) <= 12


@pytest.mark.plain(1)
@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
def test_one_more_task_lies_between_ordered_differences(names):
    d = [0.3, -0.31, 1.4, 0.9, 0.2, 0.5, -0.1, 0.8]
    curves = of_differences(d, noise=0, names=names) + 0.0
    found = xcurves.across_tasks(curves, rng=0)
    said = found.curves.summary()
    # of 8 tasks the smallest and the largest: 1 - 2 / 9
    assert (
        f"On one more task like these {names[0]} would be between 0.31 lower and 1.4 higher than {names[1]} (78 %)."
        in said
    )
    turned = xcurves.across_tasks(-curves, higher_is_better=False, rng=0).curves.summary()
    assert (
        f"On one more task like these {names[0]} would be between 1.4 lower and 0.31 higher than {names[1]} (78 %)."
        in turned
    )


def test_what_so_many_tasks_show_is_said():
    rng = np.random.default_rng(2)
    found = xcurves.across_tasks(of_differences(rng.normal(size=9)), rng=0)
    size = number(found.smallest_to_show.item(), 2)
    assert f"In 8 of 10 cases 9 tasks show a difference of {size} between" in found.curves.summary()


@pytest.mark.plain(1)
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("outlier", [-20.0, 20.0])
def test_a_sentence_about_skewed_differences_turns_the_pair_as_the_table_does(lower, outlier):
    rng = np.random.default_rng(3)
    d = rng.normal(size=20) + 0.1
    d[4] = outlier
    found = xcurves.across_tasks(of_differences(d), higher_is_better=not lower, rng=0)
    (name,) = found.curves.table().index
    said = re.search(
        r"Differences are skewed over tasks \((.*?)\): .* that it misses lie (\w+) it\.",
        found.curves.summary(),
    )
    assert said[1] == name
    better, other = re.split(" over | below ", name)
    amount = found.task_difference.sel(pair="a - b").values
    if (better, other) == ("b", "a"):
        amount = -amount
    if lower:
        amount = -amount
    assert amount.mean() > 0
    # a long tail above: truths that are missed lie above
    apart = amount - amount.mean()
    assert said[2] == ("above" if (apart**3).mean() > 0 else "below")


def open_study(seed):
    rng = np.random.default_rng(seed)
    effects = rng.choice([0.0, 0.6, 1.2], 4)
    values = effects[:, None] + rng.normal(size=(9, 4, 3)) + rng.normal(0, 0.7, (9, 4, 1))
    return make_curves(values[..., None], task=[f"t{i}" for i in range(9)])


@pytest.mark.slow
def test_the_footnote_of_open_ends_stands_once_and_only_where_there_is_one():
    plt = pytest.importorskip("matplotlib.pyplot")
    seen = set()
    for seed in range(12):
        found = xcurves.across_tasks(open_study(seed), n_resamples=2000, rng=0)
        random = found.sel(task_effect="random")
        shown = random.pvalue_adjusted.values <= 0.05
        low, high = random.difference_ci_simultaneous.values.T
        is_open = bool((shown & (low < 0) & (high > 0)).any())
        pairs = as_text(pairs_of(KIND)(found))
        assert pairs.count(OPEN_ENDS) == is_open
        assert ("more than 0" in pairs) == is_open
        if is_open not in seen:
            ax = found.curves.plot("forest")
            figure = ax.figure
            caption = xcurves.core.schema.caption_of(KIND.views["forest"].caption, figure)
            assert caption.count(OPEN_ENDS) == is_open
            plt.close(figure)
        seen.add(is_open)
    assert seen == {True, False}


@pytest.mark.slow
def test_a_verdict_beside_a_reference_has_few_words_too():
    rng = np.random.default_rng(4)
    names = [f"a rather long name of method {letter}" for letter in "abcdefgh"]
    for n_algorithms in (3, 5, 8):
        values = rng.normal(size=(8, n_algorithms, 3, 1)) + rng.normal(size=(8, n_algorithms, 1, 1))
        values[:, ::2] += 2
        curves = make_curves(values, task=list("stuvwxyz")).assign_coords(algorithm=names[:n_algorithms])
        for scale in (1.0, 500.0):
            scaled = curves.copy()
            scaled[2] *= scale
            found = xcurves.across_tasks(scaled, reference=names[0], rng=0)
            said = KIND.answer(found)
            assert f"Beside {names[0]}, in mean score over 8 tasks, on tasks like these: " in said
            short = said
            for place, name in enumerate(names):
                short = short.replace(name, f"method_{place}")
            if scale == 1.0 or n_algorithms == 3:
                assert len(short.split()) <= MOST_WORDS
            if scale > 1:
                assert not re.search(r"\d to [−\d]", said)


def test_the_table_of_a_page_has_the_same_open_ends(of_readme):
    from xcurves.reporting.page_part import PagePart

    table = PagePart.of(of_readme, {}).table
    (row,) = re.findall(r"<tr><th[^>]*>SVM over decision tree</th>.*?</tr>", table)
    assert "more than 0 to 15.9" in row
    assert table.count("more than 0") == 1
    assert OPEN_ENDS in table
