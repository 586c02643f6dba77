import inspect
import pickle

import numpy as np
import pytest

import xcurves
from refusals import raises_other
from strategies import make_curves
from test_accessors import METHODS
from test_docstrings import FUNCTIONS


def unknown_options(call, options):
    """Return what a function says of an option with one letter more than one it has, for each of these."""
    said = {}
    for option in options:
        with pytest.raises(TypeError) as caught:
            call(**{f"{option}_": 1})
        said[option] = str(caught.value)
    return said


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_unknown_option_of_a_function_gets_the_nearest(name):
    function = FUNCTIONS[name]
    options = list(inspect.signature(function).parameters)
    for option, said in unknown_options(function, options).items():
        assert said == f"{option}_= is no option of {function.__name__}(). Did you mean {option!r}?"
    with pytest.raises(TypeError) as caught:
        function(qqq=1)
    if len(options) > 1:
        assert str(caught.value) == f"qqq= is no option of {function.__name__}(). It has {', '.join(options[1:])}"
    else:
        assert str(caught.value) == f"qqq= is no option of {function.__name__}(). It has none"


@pytest.mark.parametrize(("accessor", "name"), METHODS)
def test_an_unknown_option_of_a_method_gets_the_nearest(accessor, name):
    method = getattr(accessor(None), name)
    for option, said in unknown_options(method, inspect.signature(method).parameters).items():
        assert said == f"{option}_= is no option of {name}(). Did you mean {option!r}?"


def test_the_function_is_otherwise_the_one_that_was_written():
    curves = make_curves(np.random.default_rng(0).normal(size=(2, 6, 3)))
    written = inspect.unwrap(xcurves.pairwise)
    assert inspect.signature(xcurves.pairwise) == inspect.signature(written)
    assert xcurves.pairwise.__doc__ == written.__doc__
    assert pickle.loads(pickle.dumps(xcurves.pairwise)) is xcurves.pairwise
    assert xcurves.randomized_anova(curves, rng=0).identical(inspect.unwrap(xcurves.randomized_anova)(curves, rng=0))
    with raises_other(TypeError, match=r"missing 1 required keyword-only argument: 'baseline'"):
        xcurves.gate(curves)
