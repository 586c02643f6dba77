"""No two texts overlap, none is on a mark of a legend or strip and none leaves the canvas, at any size of figure.

The cases cover each two values of view, algorithms, tasks, letters and width; ``--every-size`` takes all of them, an
hour and a half. A figure may be refused, with a size that works. The plain run draws two figures of curves.
"""

from itertools import combinations, product

import pytest

from pictures import draw, draw_as_told, faults, figsize_in
from synthetic_results import (
    MOST_ALGORITHMS,
    VIEWS_OF_RESULTS,
    named_with,
    synthetic_curves,
    synthetic_result,
)
from xcurves import kinds

VIEWS = [("curves", None), ("strips", None), *VIEWS_OF_RESULTS]
ALGORITHMS, TASKS, LETTERS, WIDTHS = (
    (2, 3, 4, 6, 8, 10),
    (1, 3, 8, 16, 60),
    (5, 25),
    (3.25, 5.5, 6.75),
)


def covering(place):
    """Return cases of the view at a place: for each number of algorithms one of tasks, letters and width."""
    for turn, n_algorithms in enumerate(ALGORITHMS):
        shift = turn + place
        letters = LETTERS[(turn + place // 2) % len(LETTERS)]
        yield (
            n_algorithms,
            TASKS[shift % len(TASKS)],
            letters,
            WIDTHS[shift % len(WIDTHS)],
        )


def shown(name, view, n_tasks, n_algorithms, letters):
    n_algorithms = min(n_algorithms, MOST_ALGORITHMS.get(view, n_algorithms))
    if name in ("curves", "strips"):
        curves = synthetic_curves(n_tasks, n_algorithms)
        data = curves if name == "curves" else curves.isel(training=-1, drop=True)
    else:
        data = synthetic_result(
            name,
            n_tasks,
            n_algorithms,
            next(iter(kinds.kind(name).views[view].axes), None),
        )
    return named_with(data, letters)


def faults_of(name, view, n_algorithms, n_tasks, letters, width):
    """Return what is wrong with a picture, or with that of the size which its refusal names."""
    data = shown(name, view, n_tasks, n_algorithms, letters)
    drawn = draw(data, view, figsize=(width, 0.7 * width))
    if isinstance(drawn, str):
        size = figsize_in(drawn)
        drawn = draw_as_told(data, view, drawn, resized=True)
        if isinstance(drawn, str):
            return [drawn]
        return [f"{fault} at {size}" for fault in faults(drawn, at_least=0.3, sized=True)]
    return faults(drawn, at_least=0.3, sized=True)


def test_each_two_values_are_covered():
    every = [(view, *case) for place, view in enumerate(VIEWS) for case in covering(place)]
    factors = [VIEWS, ALGORITHMS, TASKS, LETTERS, WIDTHS]
    for one, other in combinations(range(len(factors)), 2):
        found = {(case[one], case[other]) for case in every}
        assert found == set(product(factors[one], factors[other]))


@pytest.mark.plain(1)
@pytest.mark.parametrize("case", [(3, 3, 25, 3.25), (8, 8, 5, 6.75)], ids=str)
def test_texts_of_curves_have_room(case):
    assert faults_of("curves", None, *case) == []


@pytest.mark.slow
@pytest.mark.parametrize(("name", "view", "place"), [
    (*each, place) for place, each in enumerate(VIEWS)
])  # fmt: skip
def test_texts_have_room(name, view, place, request):
    cases = list(covering(place))
    if request.config.getoption("--every-size"):
        cases = list(product(range(2, 11), TASKS, LETTERS, WIDTHS))
    found = {case: faults_of(name, view, *case) for case in cases}
    assert {case: wrong for case, wrong in found.items() if wrong} == {}
