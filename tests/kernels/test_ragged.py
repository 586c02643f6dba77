"""Ragged curves at the levels of a grid, against plain loops over one curve and level at a time."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xcurves.kernels import ragged


def loop(levels, scores, level, method, tolerance):
    """The score of one curve at one level, by the words of the docstring of `align`."""
    within = np.inf if tolerance is None else tolerance
    at = dict(zip(levels, scores, strict=True))
    if not levels:
        return np.nan
    if method is None:
        return at.get(level, np.nan)
    before = [own for own in levels if own <= level]
    after = [own for own in levels if own >= level]
    if method == "nearest":
        close = min(levels, key=lambda own: (abs(own - level), own))
        return at[close] if abs(close - level) <= within else np.nan
    if not before or not after:
        return np.nan
    if method == "previous":
        return at[before[-1]] if level - before[-1] <= within else np.nan
    if max(level - before[-1], after[0] - level) > within:
        return np.nan
    return np.interp(level, levels, scores)


def mean_loop(levels, scores, below, level, tolerance):
    inside = [score for own, score in zip(levels, scores, strict=True) if below < own <= level]
    return np.mean(inside) if inside and levels[-1] + (tolerance or 0) >= level else np.nan


LEVELS = st.lists(st.integers(0, 12), max_size=6, unique=True).map(sorted)


@given(
    st.lists(LEVELS, min_size=1, max_size=5),
    st.lists(st.integers(-2, 14), min_size=1, max_size=6, unique=True).map(sorted),
    st.sampled_from([None, *ragged.METHODS]),
    st.sampled_from([None, 0, 1, 2.5]),
    st.integers(0, 1000),
)
def test_every_method_is_that_of_a_plain_loop(own, grid, method, tolerance, seed):
    rng = np.random.default_rng(seed)
    scores = [rng.normal(size=len(levels)) for levels in own]
    rows = ragged.Rows(
        np.repeat(np.arange(len(own)), [len(levels) for levels in own]),
        np.array([level for levels in own for level in levels], dtype=float),
        np.concatenate(scores),
    )
    found = ragged.at_levels(rows, len(own), np.array(grid, dtype=float), method, tolerance)
    expected = [
        [
            mean_loop(levels, values, below, level, tolerance)
            if method == "mean"
            else loop(levels, values, level, method, tolerance)
            for below, level in zip([-np.inf, *grid[:-1]], grid, strict=True)
        ]
        for levels, values in zip(own, scores, strict=True)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("method", ["linear", "mean"])
def test_what_infinite_scores_give_is_infinite_and_no_gap(method):
    rows = ragged.Rows(
        np.zeros(3, dtype=int),
        np.array([0.0, 2.0, 4.0]),
        np.array([np.inf, -np.inf, 1.0]),
    )
    assert np.isinf(ragged.at_levels(rows, 1, np.array([2.0]), method, None)).all()
    assert np.isinf(ragged.at_levels(rows, 1, np.array([1.0, 3.0]), method, None)).all()


@pytest.mark.parametrize(("method", "pandas_name"), [("nearest", "nearest"), ("previous", "ffill")])
def test_holding_and_the_nearest_are_those_of_pandas_inside_a_run(method, pandas_name):
    rng = np.random.default_rng(0)
    levels = np.sort(rng.choice(10_000, 300, replace=False)).astype(float)
    scores = rng.normal(size=300)
    grid = np.arange(np.ceil(levels[0]), levels[-1], 7.3)
    found = ragged.at_levels(ragged.Rows(np.zeros(300, dtype=int), levels, scores), 1, grid, method, 20)
    expected = pd.Series(scores, levels).reindex(grid, method=pandas_name, tolerance=20)
    np.testing.assert_array_equal(found[0], expected)
