"""What functions are called with: arrays of all dtypes, shapes, labels and layouts, options good and bad."""

from __future__ import annotations

import contextlib
import inspect
import os
import tempfile
import types
import typing
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

import xcurves

ODD = (
    None,
    True,
    -1,
    0,
    1,
    2,
    3,
    10**30,
    -0.5,
    0.25,
    1e-300,
    1e300,
    np.nan,
    np.inf,
    "",
    "x",
    "run",
    "task",
    "\ud800",
    "ß中",
    b"x",
    1j,
    Decimal(1),
    Fraction(1, 3),
    [],
    [1],
    [0.5, 1.0],
    ["a0"],
    (),
    (0.0, 1.0),
    {},
    {"a0": 1, "a1": -1},
    {"x": [1]},
    object(),
    np.array([1, 2]),
    np.array("x"),
    np.float32(0.5),
    np.datetime64("2020-01-01"),
    print,
    3.0,
    np.ones((2, 2)),
    xr.DataArray(np.ones((2, 2))),
    pd.Series([1.0, 2.0]),
    pd.DataFrame({"a": [1, 2]}),
    pd.NaT,
    [[1], [1, 2]],
    ([],),
)
LABELS = (
    ["a0", "a1", "a2", "a3"],
    [0, 1, 2, 3],
    [0.5, 1.5, 2.5, 3.5],
    ["ß", "中文", "علي", "🙂"],
    ["a", "a", "b", "c"],
    ["", " ", "\n", "\x00"],
    ["<b>", "&", '"', "'"],
    [1, "a", 2.5, None],
    [np.nan, 1.0, 2.0, 3.0],
    ["01", "1", "1.0", "٣"],
    [Decimal(1), Decimal(2), Decimal(3), Decimal(4)],
    ["\ud800", "b", "c", "d"],
    [True, False, True, False],
    list(pd.date_range("2020", periods=4)),
)
TRAINING = (
    [1.0, 2.0, 4.0, 8.0, 16.0],
    [0, 1, 2, 3, 4],
    [100, 200, 300, 400, 500],
    [-2.0, -1.0, 0.0, 1.0, 2.0],
    [5.0, 4.0, 3.0, 2.0, 1.0],
    [1.0, 1.0, 2.0, 3.0, 4.0],
    [1.0, np.nan, 3.0, 4.0, 5.0],
    ["a", "b", "c", "d", "e"],
    [1e-300, 1e-200, 1.0, 1e200, 1e300],
    [1.0, np.inf, 3.0, 4.0, 5.0],
    list(pd.timedelta_range("1h", periods=5)),
)
DTYPES = (
    ">f8",
    "f4",
    "f2",
    "g",
    ">f4",
    "i8",
    "u1",
    "?",
    ">i4",
    "c16",
    "O",
    "U5",
    "M8[s]",
    "m8[s]",
)
SCALES = (1e-310, 1e-160, 1e-20, 1e9, 1e20, 1e160, 1e300)


class Draw:
    """Choices from one seed: most of them usual, some odd."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def of(self, options: Sequence[typing.Any]) -> typing.Any:
        """Return one of the options."""
        return options[self.rng.integers(len(options))]

    def seldom(self, share: float = 0.12) -> bool:
        """Return True now and then."""
        return bool(self.rng.random() < share)

    def array(self, dims: Sequence[str]) -> typing.Any:
        """Return a DataArray, dims somehow as wanted."""
        dims = list(dims)
        if self.seldom(0.4) and "task" not in dims:
            dims = ["task", *dims]
        if self.seldom(0.03):
            dims.remove(self.of(dims))
        if self.seldom(0.03):
            dims.append(self.of(["effect", "other", "pair"]))
        few = self.seldom()
        low = 0 if self.seldom(0.05) else 1 if few else 2
        sizes = {dim: int(self.rng.integers(low, 6 if dim == "training" else 5)) for dim in dims}
        sizes = {dim: min(size, 2) if dim in ("task", "other") else size for dim, size in sizes.items()}
        data = xr.DataArray(self.values(tuple(sizes.values())), dims=dims, attrs=self.attrs())
        for dim, size in sizes.items():
            labels = TRAINING if dim == "training" else LABELS
            if self.seldom(0.95):
                kept = labels[0 if not self.seldom(0.1) else self.rng.integers(len(labels))][:size]
                values = np.array(kept, dtype=object) if len({type(each) for each in kept}) > 1 else np.array(kept)
                if values.dtype.kind in "if" and self.seldom():
                    values = values.astype(values.dtype.newbyteorder(">"))
                data = data.assign_coords({dim: values})
        if self.seldom(0.1):
            data = data.transpose(*self.rng.permutation(dims))
        return self.lazy(data) if self.seldom(0.1) else data

    def lazy(self, data: xr.DataArray) -> xr.DataArray:
        """Return a DataArray on dask, of unknown chunks now and then."""
        import dask.array as da

        if not data.size or data.dtype.kind == "O":
            return data
        data = data.chunk(dict.fromkeys(data.dims, int(self.rng.integers(1, 4))))
        if data.ndim == 1 and self.seldom(0.5):
            return xr.DataArray(
                data.data[da.from_array(np.ones(data.size, bool), chunks=data.chunks)],
                dims=data.dims,
            )
        return data

    def attrs(self) -> dict[str, typing.Any]:
        """Return attributes of scores."""
        return self.of(
            [
                {},
                {"units": "points"},
                {"units": "%"},
                {"units": "1"},
                {"units": "loss"},
                {"units": 3},
            ]
        )

    def values(self, shape: tuple[int, ...]) -> np.ndarray:
        """Return numbers of some distribution, dtype and layout."""
        rng = self.rng
        kind = self.of(["normal"] * 4 + ["walk", "rate", "whole", "constant", "cauchy"])
        values = {
            "normal": lambda: rng.normal(size=shape),
            "walk": lambda: rng.normal(size=shape).cumsum(axis=-1) if shape else rng.normal(size=shape),
            "rate": lambda: 5 + 50 * np.exp(-np.arange(shape[-1] if shape else 1) * 0.5) + 0.1 * rng.random(shape),
            "whole": lambda: rng.integers(-2, 3, shape).astype(float),
            "constant": lambda: np.full(shape, float(rng.integers(-1, 2))),
            "cauchy": lambda: rng.standard_cauchy(shape),
        }[kind]()
        values = np.asarray(values).reshape(shape)
        if self.seldom(0.08):
            values = values * self.of(SCALES)
        if self.seldom(0.05) and values.size:
            values = values.copy()
            values.flat[rng.integers(values.size)] = self.of([np.nan, np.inf, -np.inf])
        if self.seldom(0.2) and len(shape) > 1 and values.size:  # an absent run
            values = values.copy()
            values[..., rng.integers(shape[-2]), :] = np.nan
        if self.seldom(0.08):
            with np.errstate(all="ignore"):
                finite = np.nan_to_num(values, posinf=9, neginf=-9)
                dtype = self.of(DTYPES)
                values = (np.clip(finite, -9, 9) if dtype[0] not in "fg>" else values).astype(dtype)
        return self.of(
            [
                np.ascontiguousarray,
                np.asfortranarray,
                lambda v: v[..., ::-1],
                lambda v: v,
            ]
        )(values)


@cache
def hint_of(name: str, parameter: str) -> typing.Any:
    """Return the annotation of an option, None where it names what is imported for type checkers only."""
    function = inspect.unwrap(getattr(xcurves, name))
    try:
        return eval(
            function.__annotations__[parameter],
            {**vars(typing), **function.__globals__},
        )
    except (NameError, AttributeError, TypeError):
        return None


UNKNOWN = object()


def usual(draw: Draw, name: str, hint: typing.Any, function: str = "") -> typing.Any:
    """Return a value that fits an option's name or annotation, or that of a function."""
    special = {
        "n_resamples": [1, 9, 19, 40],
        "n_replications": [1, 3, 6],
        "n_looks": [2, 3, 5],
        "confidence_level": [0.5, 0.9, 1 - 1e-13],
        "rng": [0, 1, 2**70],
        "weights": [{"a0": 1, "a1": -1}, None],
        "n": [20, [32.0, 64.0]],
        "model_size": [1e8, [1e7, 1e9], 1e300],
        "tokens": [1e10, [1e9, 1e12], []],
        "compute": [1e20, [1e19, 1e21]],
        "target": [0.0, 1.0],
        "on": ["intersection", "union", 3, [2.0, 4.0]],
        "fractions": [2, 4, [0.5, 1.0]],
        "low": [0.0, -1.0],
        "high": [1.0, 5.0],
        "reference": [None, "a0", 0],
        "baseline": ["a0", 0],
        "candidates": [None, ["a1"], ["a2", "a1"], [1, 2]],
        "looks": [(1, 2, 4, 8), (2, 3), (1, 2), (3,)],
        "level": [0.2, 0.5, 0.05],
        "start": [None, 2, 5],
        "scores_at": [[0.0, 1.0]],
        "threshold": [0.0, [0.0, 1.0]],
        "probabilities": [[0.1, 0.5]],
        "cvar_level": [0.5, [0.1, 0.9]],
        "strata": [None, "task"],
        "dim": ["run", ("task", "run")],
        "unit": [None, "run"],
        "bounds": [None, (-100.0, 100.0)],
        "include": [None, ["anova"], ["pairwise", "profile"]],
        "by": [1, 2, {0: 1, 1: 2, 2: 2, 3: 3}],
        "intervals": [None, [1, 4, 8]],
        "repeated_intervals": [True, False],
        "progress": [False],
        "n_runs": [[2, 3]],
        "task": ["task", None],
        "view": [None],
        "ax": [None],
        "settings": [None, {"task": "a"}],
        "train_and_score": [lambda drawn, train, test, rng: drawn["x"] + rng.normal()],
        "sample_hyperparameters": [lambda rng: {"x": rng.normal()}],
        "sample_data": [lambda rng: (0, 1)],
        "trial": [lambda index: {"x": index}],
        "n_jobs": [1],
        "test": [ANOVA],
        "width": [0.1, 0.5],
        "replacement": ["worst", 0.0],
        "value": ["score"],
        "values": [["score"]],
        "algorithm": ["algorithm"],
        "training": ["training", None],
        "extra": [(), "task"],
        "run": ["run", None],
        "variants": [None, {"x": {}}],
        "at": ["largest", 4.0],
        "at_size_and_tokens": [(1e9, 1e11), None],
        "predict_at": [None, [(1e9, 1e11)]] if function == "fit_scaling_law" else [None, [32.0]],
        "name": ["look"],
        "path": [PAGE],
    }
    if name in special:
        return draw.of(special[name])
    members = (
        typing.get_args(hint)
        if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union
        else (hint,)
    )
    member = draw.of(members)
    if typing.get_origin(member) is typing.Literal:
        return draw.of(typing.get_args(member))
    plain = {
        bool: draw.seldom(0.5),
        int: int(draw.rng.integers(1, 9)),
        float: float(draw.rng.random()),
        type(None): None,
    }
    return plain.get(member, UNKNOWN)


def ANOVA(curves: xr.DataArray, **options: typing.Any) -> xr.Dataset:
    """Return a short test."""
    return xcurves.randomized_anova(curves, n_resamples=9, **options)


DIMS = ("algorithm", "run", "training")
PAGE = Path(tempfile.gettempdir()) / f"attack-{os.getpid()}.html"


SCALING = ("predict_loss", "optimal_allocation", "compare_scaling_laws")


def losses(draw: Draw) -> xr.DataArray:
    """Return losses of runs of several sizes and amounts of tokens, as a law has them or somehow."""
    data = draw.array(("run",)) if draw.seldom() else xr.DataArray(np.zeros(16), dims="run")
    if np.isnan(data.shape).any():  # a lazy array of unknown size
        return data
    if draw.seldom(0.4) and "algorithm" not in data.dims:
        data = data.expand_dims(algorithm=["a0", "a1"])
    if "run" not in data.dims or draw.seldom(0.05):
        return data
    exponents = draw.rng.uniform(6, 9, (2, data.sizes["run"])).round(0 if draw.seldom(0.5) else 6)
    n, d = (xr.DataArray(10.0**each, dims="run") for each in exponents)
    law = draw.of([0.0, 1.7]) + 400 * n**-0.34 + draw.of([0, 2000]) * d ** -draw.of([0.37, 0.01])
    noise = draw.of([0.0, 0.01, 1.0]) * draw.rng.normal(size=data.shape)
    data = (abs(data) + 1 if data.dtype.kind == "f" else xr.ones_like(data, float)) * law * np.exp(noise)
    n, d = (each * draw.of(SCALES) if draw.seldom(0.04) else each for each in (n, d))
    data = data.assign_coords(model_size=n, tokens=d)
    data = data * draw.of(SCALES) if draw.seldom(0.06) else data
    return draw.lazy(data) if draw.seldom(0.1) else data


@cache
def laws() -> list[xr.Dataset]:
    """Return fits of scaling laws, of one suite and of several."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tried = []
        for seed in range(60):
            with contextlib.suppress(ValueError, TypeError):
                tried.append(xcurves.fit_scaling_law(losses(Draw(seed)), compute=[1e20]).compute())
    return tried


def first(draw: Draw, name: str, parameter: str, needs: Sequence[str]) -> typing.Any:
    """Return the array, result or frame that a function takes; `needs` a dim of tasks, or looks, or neither."""
    if draw.seldom(0.04):
        return draw.of(ODD)
    if parameter == "losses":
        return losses(draw)
    if name in SCALING and not draw.seldom(0.1):
        return draw.of(laws())
    if parameter == "scores":
        return draw.array(("algorithm", "run"))
    if parameter == "errors":
        return draw.array(("run", "training")) if draw.seldom(0.5) else draw.array(DIMS)
    if parameter in ("fit", "result", "tree") or (parameter == "data" and draw.seldom(0.5)):
        made = results()
        fitting = ["fit_power_law"] if parameter == "fit" else ["tree"] if parameter == "tree" else list(made)
        chosen = made[draw.of(fitting if not draw.seldom(0.1) else list(made))]
        if isinstance(chosen, xr.Dataset) and draw.seldom(0.3) and chosen.sizes:
            dim = draw.of(list(chosen.sizes))
            chosen = chosen.isel({dim: 0} if draw.seldom(0.5) else {dim: [0]})
        return chosen
    if parameter == "frame":
        array = draw.array(DIMS)
        try:
            frame = array.rename("score").to_dataframe().reset_index()
        except (
            ValueError,
            TypeError,
            # pandas has no such labels, such as numbers in another byte order
            KeyError,
        ):
            frame = array.drop_vars(array.coords).rename("score").to_dataframe().reset_index()
        if draw.seldom(0.2):
            frame = frame.sample(frac=0.7, random_state=int(draw.rng.integers(99)))
        return frame.drop(columns=draw.of(list(frame.columns))) if draw.seldom(0.1) else frame
    if parameter in ("train_and_score", "trial", "width"):
        return usual(draw, parameter, None)
    data = draw.array(("task", *DIMS) if "task" in needs else DIMS)
    # texts have no order that stays
    if name == "assign_looks" and "run" in data.dims and not draw.seldom():
        data = data.assign_coords(run=np.arange(data.sizes["run"]))
    if "look" in needs and "run" in data.dims:
        plan = {} if draw.seldom() else {"n_looks": 3}
        data = data.assign_coords(look=("run", np.arange(data.sizes["run"]) // 2 + 1, plan))
    return data


@cache
def results() -> Mapping[str, typing.Any]:
    """Return a result of every kind, and of a whole analysis."""
    import warnings

    from test_kinds import CALLS, GIVEN, curves
    from xcurves import kinds

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = {name: CALLS[name](GIVEN[kinds.kind(name).argument]()) for name in kinds.NAMES}
        return {
            **made,
            "tree": xcurves.analyze(curves(), include=["anova"], n_resamples=9, rng=0),
        }


def call(name: str, seed: int) -> tuple[list[typing.Any], dict[str, typing.Any]]:
    """Return the arguments of one call of a public function."""
    draw = Draw(seed)
    parameters = inspect.signature(getattr(xcurves, name)).parameters
    needs = [each for each in ("task", "look") if each in parameters and draw.seldom(0.9)]
    given, *others = parameters.values()
    positional, options = [first(draw, name, given.name, needs)], {}
    resampled = draw.seldom(0.3 if {"interval", "strata"} & set(parameters) else 1.0)
    for parameter in others:
        left_out = 0.0 if parameter.default is parameter.empty else 0.65
        left_out = 1.0 - resampled if parameter.name == "n_resamples" else left_out
        if draw.seldom(left_out):
            continue
        odd = draw.seldom(0.06)
        value = draw.of(ODD) if odd else usual(draw, parameter.name, hint_of(name, parameter.name), name)
        if given.name == "fit" and parameter.name == "reference" and not odd:
            value = draw.of(["plain", "augmented"])
        if parameter.name in ("path", "archive"):
            value = PAGE if parameter.name == "path" else None
        if parameter.kind is parameter.KEYWORD_ONLY:
            options.update({parameter.name: value} if value is not UNKNOWN else {})
        else:
            positional.append(value)
    return positional, options
