"""Whatever a public function is called with, it returns a result or says in one line what to do."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xcurves
from attack import outcomes

SLOW = {"report": 40, "plot": 10, "analyze": 5, "across_tasks": 4}  # times as long as others
FULL = 300  # examples of a function in CI; `python -m attack N` tries as many as wanted


@pytest.mark.slow
@pytest.mark.parametrize("name", outcomes.CALLABLE)
def test_any_call_gives_a_result_or_says_what_to_do(name, here):
    examples = FULL if settings().max_examples > 20 else 20

    @given(st.integers(0, 2**64 - 1))
    @settings(max_examples=max(5, examples // SLOW.get(name, 1)), deadline=None)
    def attempt(seed):
        outcomes.attempt(name, seed)

    attempt()


def test_every_public_function_is_attacked():
    functions = {name for name in xcurves.__all__ if callable(getattr(xcurves, name))}
    assert functions == set(outcomes.CALLABLE)
    assert len(functions) > 25
