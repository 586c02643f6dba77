import numpy as np
import xarray as xr

from xcurves.core.chunking import unpack_variables
from xcurves.core.layout import Layout

LAYOUT = Layout(
    {"a": (), "b": ("effect", "bound"), "c": ("effect",)}, {"effect": 2, "bound": 3}
)


def test_what_is_packed_comes_back_under_its_name():
    rng = np.random.default_rng(0)
    variables = {
        name: 10 * rng.normal(size=(6, *LAYOUT.shape(name))) for name in LAYOUT.dims
    }
    packed = xr.DataArray(
        LAYOUT.pack(variables, (2, 3)), dims=("task", "metric", "packed")
    )
    assert packed.sizes["packed"] == LAYOUT.length == 1 + 6 + 2
    found = unpack_variables(LAYOUT, packed.chunk(task=1), {"a": np.int64})
    assert found["a"].dtype == np.int64
    for name, values in variables.items():
        assert found[name].dims == ("task", "metric", *LAYOUT.dims[name])
        expected = values.reshape(found[name].shape).astype(found[name].dtype)
        np.testing.assert_array_equal(found[name], expected)


def test_a_blank_is_nan():
    blank = LAYOUT.blank(4)
    assert {name: values.shape for name, values in blank.items()} == {
        "a": (4,),
        "b": (4, 2, 3),
        "c": (4, 2),
    }
    assert all(np.isnan(values).all() for values in blank.values())


def test_a_chunk_of_a_variable_keeps_nothing_else_in_memory():
    packed = xr.DataArray(np.zeros((6, LAYOUT.length)), dims=("task", "packed")).chunk(
        task=2
    )
    for name, found in unpack_variables(LAYOUT, packed, {}).items():
        chunk = found.data.to_delayed().ravel()[0].compute(optimize_graph=False)
        owner = chunk if chunk.base is None else chunk.base
        assert owner.shape == (2, *LAYOUT.shape(name))
