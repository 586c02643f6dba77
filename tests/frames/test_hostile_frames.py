"""Frames with cells that are no number and no text: one line by the package."""

import decimal

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import refusals
import xcurves
from refusals import ANY

BASE = {
    "algorithm": ["a", "a", "b", "b"],
    "run": [0] * 4,
    "training": [0, 1, 0, 1],
    "score": [1.0, 2.0, 3.0, 4.0],
}
LARGE = 10**400


def refused(frame) -> str:
    with pytest.raises(xcurves.WrongType) as caught:
        xcurves.to_dataarray(frame, "score")
    assert "column" in str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("score", [{"a": 1}] * 4, "must be numeric; got dtype object"),
        ("score", [LARGE, 1, 2, 3], "must be numeric; got dtype object"),
        ("training", [0, LARGE, 0, LARGE], "must be numeric; got dtype object"),
        (
            "run",
            [LARGE] * 4,
            "has labels of type int; labels are all text or all numbers of up to 64 bits. Convert:",
        ),
        ("run", [decimal.Decimal(1)] * 4, "has labels of type Decimal; labels are all"),
        ("algorithm", [{"a": 1}] * 4, "has labels of type dict; labels are all"),
        ("algorithm", [[1]] * 4, "has labels of type list; labels are all"),
    ],
)
def test_of_pandas(column, values, message):
    assert message in refused(pd.DataFrame({**BASE, column: pd.Series(values, dtype=object)}))


def test_of_arrow():
    pa = pytest.importorskip("pyarrow")
    lists = pd.Series([[1]] * 4, dtype=pd.ArrowDtype(pa.list_(pa.int64())))
    assert "labels are all text" in refused(pd.DataFrame({**BASE, "algorithm": lists}))


@pytest.mark.parametrize("column", ["score", "training", "run"])
def test_of_polars_with_integers_that_pandas_does_not_have(column):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(
        {
            **BASE,
            column: pl.Series([0, 0, 0, 0] if column == "run" else [0, 1, 0, 1], dtype=pl.Int128),
        }
    )
    assert refused(frame).startswith("frame has columns that pandas cannot hold: ")
    assert xcurves.to_dataarray(frame.cast({column: pl.Float64}), "score").sizes["algorithm"] == 2


@pytest.mark.parametrize("column", ["score", "algorithm"])
def test_of_polars_with_lists(column):
    pl = pytest.importorskip("polars")
    refused(pl.DataFrame({**BASE, column: [[1], [1], [2], [2]]}))


def test_labels_of_tasks_are_there_once():
    scores = np.random.default_rng(0).normal(size=(2, 2, 3, 2))
    curves = xr.DataArray(
        scores,
        {"task": ["x", "x"], "algorithm": ["a", "b"], "training": [0, 1]},
        ("task", "algorithm", "run", "training"),
    )
    for method in ("pairwise", "across_tasks", "align"):
        with refusals.refused("curves", "'x' 2 times", "Number them: da.assign_coords", names="^task labels"):
            getattr(curves.curves, method)()


@pytest.mark.parametrize("dtype", [">f8", "<f8", ">i4", "<i4"])
def test_numbers_in_any_byte_order_are_read(dtype):
    frame = pd.DataFrame(
        {
            "algorithm": ["a", "a", "b", "b"],
            "run": [0, 1, 0, 1],
            "training": [1, 1, 1, 1],
            "score": np.array([1, 2, 3, 4], dtype),
        }
    )
    for given in ({}, {"training": None}, {"value": "score"}):
        curves = frame.curves.to_dataarray(**given)
        assert np.ravel(curves).tolist() == [1.0, 2.0, 3.0, 4.0]


TWO = {"algo": ["a", "a", "b", "b"], "seed": [0, 1, 0, 1], "score": [1.0, 2.0, 3.0, 4.0]}


@pytest.mark.parametrize(
    "attrs",
    [
        *({"units": given} for given in (None, 5, "s", {"score": None}, {5: 3})),
        *({"xcurves": given} for given in (None, [], 5, {"score": 5}, {"training": ["x"]}, {"metric": {}})),
        *({"xcurves": {"extra": given}} for given in (None, 5, [["seed"]], ["absent"], {})),
        {"long_name": {"score": 5}},
        {"higher_is_better": None},
    ],
)
def test_attrs_that_say_nothing_of_columns_change_no_reading(attrs):
    frame = pd.DataFrame(TWO)
    frame.attrs = attrs
    curves = frame.curves.to_dataarray()
    assert curves["algorithm"].attrs["long_name"] == "algo"
    assert curves.squeeze().transpose("algorithm", "run").to_numpy().tolist() == [[1.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize("name", ["run", "training", "algorithm"])
@pytest.mark.parametrize("given", [{}, {"value": "score"}])
def test_lists_in_a_column_called_like_a_dim_are_what_is_told(name, given):
    frame = pd.DataFrame({**TWO, name: [[1], [2], [3], [4]]})
    expected = ("frame", ANY, "Convert: ")
    if name == "training":
        expected = ("training", ANY, "Name a column of numbers: ")
    with refusals.refused(*expected, names=f"column '{name}' ", kind=xcurves.WrongType):
        frame.curves.to_dataarray(**given)


def test_lists_of_arrow_in_another_column_are_not_read():
    pa = pytest.importorskip("pyarrow")
    lists = pd.Series([[1]] * 4, dtype=pd.ArrowDtype(pa.list_(pa.int64())))
    curves = pd.DataFrame({**TWO, "tokens": lists}).curves.to_dataarray()
    assert curves.sel(algorithm="b").squeeze().to_numpy().tolist() == [3.0, 4.0]
