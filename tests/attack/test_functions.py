"""Whatever a public function is called with, it returns a result or says in one line what to do."""

import pytest

from attack import outcomes
from xcurves import public_names

SLOW = {"runs_needed": 20, "analyze": 4, "plot_benchmark": 4}  # times as long as others
SEEDS = 200  # calls of a function; `python -m attack N` tries as many as wanted


@pytest.mark.slow
@pytest.mark.parametrize("name", outcomes.CALLABLE)
def test_any_call_gives_a_result_or_says_what_to_do(name, here):
    for seed in range(SEEDS // SLOW.get(name, 1)):
        outcomes.attempt(name, seed)


def test_every_public_function_is_attacked():
    functions = {*public_names.KINDS, *public_names.FUNCTIONS}
    assert functions == {*outcomes.CALLABLE, "register_polars"}  # which takes nothing
    assert len(functions) > 25
