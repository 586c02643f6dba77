import dask.array as da
import numpy as np

import xcurves
from strategies import make_curves
from xcurves.core.jobs import Layout

LAYOUT = Layout({"a": (), "b": ("effect", "bound"), "c": ("effect",)}, {"effect": 2, "bound": 3})


def test_a_blank_is_nan():
    blank = LAYOUT.blank(4)
    assert {name: values.shape for name, values in blank.items()} == {
        "a": (4,),
        "b": (4, 2, 3),
        "c": (4, 2),
    }
    assert all(np.isnan(values).all() for values in blank.values())


def test_a_chunk_of_a_variable_keeps_nothing_else_in_memory():
    values = da.random.default_rng(0).normal(size=(6, 2, 4, 3), chunks=(2, 2, 4, 3))
    like = make_curves(np.zeros((6, 2, 4, 3)), task=range(6))
    result = xcurves.randomized_anova(like.copy(data=values), rng=0)
    for name, variable in result.data_vars.items():
        chunk = variable.data.to_delayed().ravel()[0].compute()
        owner = chunk if chunk.base is None else chunk.base
        assert owner.size == chunk.size, name
