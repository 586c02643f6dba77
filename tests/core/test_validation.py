"""Validation of arrays: every message of the data model, to the letter."""

import re
import tracemalloc

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xcurves
from refusals import ANY, refused
from strategies import make_curves
from xcurves.core import labels, validation
from xcurves.core.refusal import give
from xcurves.core.validation import check_curves


@pytest.fixture
def curves():
    return make_curves(np.random.default_rng(0).normal(size=(2, 4, 3)))


REFUSED = {  # what is done to curves, the class of the error, and its message
    "other names": (
        lambda curves: curves.rename(algorithm="agent", run="seed"),
        ValueError,
        "dims must include 'run'; got ('agent', 'seed', 'training'). Rename: da.rename(agent='algorithm', seed='run')",
    ),
    "an unknown name is renamed by its place": (
        lambda curves: curves.rename(run="x"),
        ValueError,
        "dims must include 'run'; got ('algorithm', 'x', 'training'). Rename: da.rename(x='run')",
    ),
    "a task is no guess for a missing dim": (
        lambda curves: curves.expand_dims(task=["a"]).isel(run=0, drop=True),
        ValueError,
        "dims must include 'run'; got ('task', 'algorithm', 'training'). "
        "Keep it when you select (da.isel(run=[0])) or add it: da.expand_dims(run=[0])",
    ),
    "a dim lost by selection": (
        lambda curves: curves.isel(training=-1),
        ValueError,
        "dims must include 'training'; got ('algorithm', 'run'). "
        "A selection dropped it; keep it with a list: da.isel(training=[-1])",
    ),
    "an empty dim": (
        lambda curves: curves.isel(run=[]),
        ValueError,
        "curves is empty: dim 'run' has length 0. Check the selection that made it",
    ),
    "a dataset": (
        lambda curves: curves.to_dataset(),
        TypeError,
        "curves must be a DataArray; got a Dataset. Pick one variable: ds['score'].curves",
    ),
    "an array without labels": (
        lambda curves: curves.to_numpy(),
        TypeError,
        "curves must be an xarray.DataArray; got ndarray. Make one: df.curves.to_dataarray(...)",
    ),
    "no training coordinate": (
        lambda curves: curves.drop_vars("training"),
        ValueError,
        "curves has no training coordinate. Say the amounts of training: da.assign_coords(training=[...])",
    ),
    "dates in units": (
        lambda curves: curves.assign_coords(training=curves.training.assign_attrs(units="days since 2000-01-01")),
        TypeError,
        "training must be numbers, amounts and no dates; got units 'days since 2000-01-01'. Name another unit",
    ),
    "a MultiIndex": (
        lambda curves: curves.rename(run="seed").expand_dims(rep=[0, 1]).stack(run=("rep", "seed")),
        TypeError,
        "run labels must be all strings or all numbers; got a MultiIndex. Number them: "
        "da.reset_index('run', drop=True)",
    ),
}
LABELS = [
    (["a", "a"], ValueError, "must be unique; got 'a' 2 times. Number them: "),
    ([1, 1], ValueError, "must be unique; got 1 2 times. Number them: "),
    (
        np.array(["a", 1], object),
        TypeError,
        "must be all strings or all numbers; got int and str. ",
    ),
    ([True, False], TypeError, "must be all strings or all numbers; got dtype bool. "),
    ([0.0, np.nan], ValueError, "must be finite; got nan. "),
]
LEVELS = [
    (
        [0, 2, 1],
        ValueError,
        "must be strictly increasing; got 1 after 2. Correct it: da.sortby('training')",
    ),
    (
        [2, 1, 0],
        ValueError,
        "must be strictly increasing; got 1 after 2. Correct it: da.sortby('training')",
    ),
    (
        [0, 1, 1],
        ValueError,
        "must be strictly increasing; got 1 after 1. Correct it: da.drop_duplicates('training')",
    ),
    (
        [0, 1, np.nan],
        ValueError,
        "must be finite; got nan. Drop it: da.isel(training=np.isfinite(da.training))",
    ),
    (
        [0, 1, np.inf],
        ValueError,
        "must be finite; got inf. Drop it: da.isel(training=np.isfinite(da.training))",
    ),
    (
        ["a", "b", "c"],
        TypeError,
        "must be numbers, amounts and no dates; got <U1. Say the amounts of training: da.assign_coords(training=[...])",
    ),
    (
        np.arange(3).astype("timedelta64[ns]"),
        TypeError,
        "must be numbers, amounts and no dates; got timedelta64[ns]. Convert, here to hours: "
        "da.assign_coords(training=da.training / np.timedelta64(1, 'h'))",
    ),
    (
        np.arange(3).astype("datetime64[ns]"),
        TypeError,
        "must be numbers, amounts and no dates; got datetime64[ns]. Convert, here to seconds: "
        "da.assign_coords(training=(da.training - da.training[0]) / np.timedelta64(1, 's'))",
    ),
]


def message_of(curves, error=ValueError):
    with pytest.raises(error) as caught:
        check_curves(curves)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("case", REFUSED)
def test_what_are_no_curves_is_refused(curves, case):
    change, error, message = REFUSED[case]
    assert message_of(change(curves), error) == message


@pytest.mark.parametrize(
    # evaluation has a cure of its own
    "name",
    sorted(labels.RESERVED - {"evaluation"}),
)
def test_names_of_results_are_reserved(curves, name):
    assert message_of(curves.expand_dims({name: [1]})) == (
        f"curves has the name {name!r}, which is reserved for results. Rename: da.rename({name}='{name}_')"
    )


@pytest.mark.parametrize("dtype", [object, str, complex, "datetime64[ns]"])
def test_scores_must_be_numbers(curves, dtype):
    strange = curves.astype(int).astype(dtype)
    assert message_of(strange, TypeError) == (
        f"curves must be numeric; got dtype {strange.dtype}. Convert: curves.astype(float)"
    )


@pytest.mark.parametrize("dtype", [int, bool, np.float32, np.uint8])
def test_whole_and_truth_scores_are_cast(curves, dtype):
    assert check_curves(abs(curves).astype(dtype)).dtype == np.float64


@pytest.mark.parametrize(("values", "error", "message"), LABELS)
def test_labels_are_unique_and_of_one_kind(curves, values, error, message):
    said = message_of(curves.assign_coords(algorithm=("algorithm", values)), error)
    assert said.startswith(f"algorithm labels {message}")


@pytest.mark.parametrize(("levels", "error", "message"), LEVELS)
def test_training_is_increasing_numbers(curves, levels, error, message):
    assert message_of(curves.assign_coords(training=levels), error) == f"training {message}"


def test_what_is_checked_is_put_in_order_and_keeps_its_attrs(curves):
    turned = curves.transpose("training", "run", "algorithm").assign_coords(training=[1, 2, 3])
    turned.training.attrs["units"] = "steps"
    checked = check_curves(turned)
    assert checked.dims == ("algorithm", "run", "training")
    assert checked.training.dtype == np.float64
    assert checked.training.attrs == {"units": "steps"}


def test_a_method_refuses_the_names_of_its_own_result_only(curves):
    named = curves.assign_coords(difference=1)
    assert xcurves.randomized_anova(named, rng=0)["difference"] == 1
    cure = "Rename: da.rename(difference='difference_')"
    with refused("curves", cure=cure, names=r"^curves has the name.*is reserved for results"):
        xcurves.pairwise(named, rng=0)


@pytest.mark.slow
def test_a_range_of_levels_is_never_written_out():
    """250 million levels would be 2 GB."""
    values = pytest.importorskip("dask.array").zeros((2, 3, 250_000_000), chunks=(2, 3, 10_000_000))
    levels = {"training": pd.RangeIndex(250_000_000)}
    curves = xr.DataArray(values, levels, ("algorithm", "run", "training"))
    tracemalloc.start()
    xcurves.randomized_anova(curves, n_resamples=9, rng=0)
    xcurves.pairwise(curves, n_resamples=9, rng=0)
    assert tracemalloc.get_traced_memory()[1] < 2e7
    tracemalloc.stop()
    with refused("training", "2.4e+08 after 2.5e+08", "da.sortby('training')", names="strictly increasing"):
        xcurves.randomized_anova(curves.isel(training=slice(None, None, -10_000_000)))


@pytest.mark.parametrize(
    ("level", "alpha"),
    [(0.9, 0.1), (0.95, 0.05), (0.99, 0.01), (1 - 1e-13, 1e-13), (1 - 2**-53, 1e-16)],
)
def test_alpha_is_right_to_the_last_digit_of_a_level(level, alpha):
    assert validation.check_confidence_level(level) == pytest.approx(alpha, rel=0.02, abs=0)
    assert level > 1 - 1e-9 or validation.check_confidence_level(level) == alpha


def test_chunks_of_unknown_size_are_refused_and_the_cure_finds_them(curves):
    dask_array = pytest.importorskip("dask.array")
    kept = dask_array.from_array(np.ones(4, bool), chunks=2)
    data = dask_array.from_array(curves.to_numpy(), chunks=(2, 2, 3))[:, kept]
    unknown = xr.DataArray(data, {name: curves[name] for name in ("algorithm", "training")}, curves.dims)
    for argument, call in (
        ("curves", xcurves.randomized_anova),
        ("scores", lambda scores: xcurves.normalize(scores, low=0, high=1)),
    ):
        cure = f"Find them: {argument}.data.compute_chunk_sizes()"
        with refused(argument, cure=cure, names="unknown chunks along 'run'"):
            call(unknown)
    unknown.data.compute_chunk_sizes()
    np.testing.assert_array_equal(check_curves(unknown), curves)


@pytest.mark.parametrize(
    "labels",
    [
        pd.CategoricalIndex(["a", "b"]),
        pd.Index(["a", "b"], dtype="string"),
        np.array(["a", "b"], np.dtypes.StringDType()),
        np.array(["a", "b"], object),
        np.array(["a", "b"], ">U1"),
    ],
)
def test_texts_of_any_dtype_are_labels(curves, labels):
    plain = xcurves.randomized_anova(curves.assign_coords(algorithm=["a", "b"]), rng=0)
    found = xcurves.randomized_anova(curves.assign_coords(algorithm=("algorithm", labels)), rng=0)
    np.testing.assert_array_equal(found["pvalue"], plain["pvalue"])
    assert check_curves(curves.assign_coords(algorithm=("algorithm", labels)))["algorithm"].to_numpy().tolist() == [
        "a",
        "b",
    ]
    tasks = curves.expand_dims(task=["x", "y"]).assign_coords(task=("task", labels))
    assert xcurves.randomized_anova(tasks, rng=0)["task"].to_numpy().tolist() == [
        "a",
        "b",
    ]


def _cured(curves, error):
    """Return curves after the call that an error gives as its cure."""
    with pytest.raises(error) as caught:
        check_curves(curves)
    call = re.search(r"(?:da|curves)\.\w+\(.*\)", str(caught.value))[0].replace("[...]", "[1, 2, 4]")
    return check_curves(eval(call, {"da": curves, "curves": curves, "np": np}))


def test_the_cure_of_every_message_works_on_the_curves_at_hand(curves):
    pytest.importorskip("cftime")
    multi = pd.MultiIndex.from_tuples([(0, 1), (0, 2), (1, 1)], names=["epoch", "step"])
    labels = {
        "algorithm": (
            [True, False],
            ["x", "x"],
            [1.0, np.nan],
            [b"a", b"b"],
            pd.interval_range(0, 2),
        ),
        "training": (
            pd.date_range("2020", periods=3),
            xr.date_range("2020", periods=3, use_cftime=True),
            pd.timedelta_range("1h", periods=3),
            ["10", "20", "30"],
            ["a", "b", "c"],
            [3, 2, 1],
            [1, 1, 2],
            [1, np.nan, 2],
            [np.inf, 1, 2],
        ),
    }
    for dim, values in labels.items():
        for each in values:
            _cured(curves.assign_coords({dim: (dim, each)}), (TypeError, ValueError))
    _cured(
        curves.assign_coords(xr.Coordinates.from_pandas_multiindex(multi, "training")),
        TypeError,
    )
    _cured(curves.assign_coords(run=[0, 0, 1, 2]), ValueError)
    _cured(curves.drop_vars("training"), ValueError)
    for old in ("my step", "step"):
        assert _cured(curves.rename(training=old), (TypeError, ValueError)).sizes["training"] == 3
    _cured(curves.rename(algorithm="my agent", run="seed"), ValueError)
    _cured(
        xr.DataArray([curves.to_numpy()], {"training": [1, 2, 4]}, (0, *curves.dims)),
        TypeError,
    )
    _cured(curves.expand_dims(effect=[1]), ValueError)
    _cured(curves.astype(object), TypeError)


@pytest.mark.parametrize("value", [1e141, -1e300, 10**400, np.inf, np.nan, 1j, "1", None, True])
def test_numbers_are_finite_and_not_too_large_to_be_squared(value):
    with refused("x", value, "At most 1e+140 in size", names="must be a finite number"):
        validation.check_number("x", value)
    assert validation.check_number("x", np.float32(0.5)) == 0.5


IN_SIZE = "At most 1e+140 in size"


def rescaled(name):
    return ("curves", ANY, f"Rescale: {name} / abs({name}).max()")


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (
            lambda curves: xcurves.performance_cdf(curves.isel(training=0), bounds=(-1e308, 1e308)),
            ("bounds", (-1e308, 1e308), give(bounds=(0, 1))),
        ),
        (
            lambda curves: xcurves.performance_cdf(curves.isel(training=0), threshold=[0.0, -1e308]),
            ("threshold", "-1e+308", IN_SIZE),
        ),
        (
            lambda curves: xcurves.performance_cdf(curves.isel(training=0), scores_at=1e200),
            ("scores_at", "1e+200", IN_SIZE),
        ),
        (lambda curves: xcurves.performance_cdf(curves.isel(training=0) * 1e307), rescaled("scores")),
        (lambda curves: xcurves.time_to_target(curves, 1e200), ("target", 1e200, IN_SIZE)),
        (lambda curves: xcurves.normalize(curves, low=0.0, high=1e200), ("high", 1e200, IN_SIZE)),
        (
            lambda curves: xcurves.ss_profile(curves, margin=1e200, n_resamples=9),
            ("margin", 1e200, give(margin=1.0)),
        ),
        (lambda curves: xcurves.plot(curves * 1e307), rescaled("curves")),
        (
            lambda curves: xcurves.fit_power_law(abs(curves) + 1, units="loss", sigma_hat_sq=1e200, gamma=-0.5),
            ("sigma_hat_sq", 1e200, "Leave it out for the default"),
        ),
        (lambda curves: xcurves.fit_power_law(abs(curves) * 1e160, units="loss", gamma=-0.5), rescaled("errors")),
        (
            lambda curves: xcurves.leave_one_size_out(abs(curves) * 1e160, units="loss", sigma_hat_sq=1.0),
            rescaled("errors"),
        ),
        (
            lambda curves: xcurves.contrast(curves, {"a0": 1e200, "a1": -1e200}),
            ("weights", "[1e+200, -1e+200]", "Divide them by the largest"),
        ),
    ],
)
def test_what_would_overflow_is_refused_without_a_warning(curves, call, expected):
    with refused(*expected):
        call(curves.assign_coords(training=[1.0, 2.0, 4.0]))


@pytest.mark.parametrize(
    "labels",
    [
        pd.Index([1, 2], dtype="Int64"),
        np.array([1, 2], ">i8"),
        np.array([1, 2], object),
        None,
    ],
)
def test_numbers_of_any_dtype_are_labels_and_none_are_numbered(curves, labels):
    curves = curves.drop_vars("algorithm") if labels is None else curves.assign_coords(algorithm=("algorithm", labels))
    found = check_curves(curves)["algorithm"]
    assert found.dtype == np.int64
    assert found.values.tolist() == ([0, 1] if labels is None else [1, 2])
