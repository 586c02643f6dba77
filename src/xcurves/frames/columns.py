"""Checks of frames: columns that can become curves, and their labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xcurves.core.labels import DIMS, EVALUATION, did_you_mean, plain_labels
from xcurves.core.names import USUAL_EXTRAS, dim_of
from xcurves.core.refusal import (
    UNSAID,
    Call,
    Cure,
    Piece,
    Refusal,
    Verbatim,
    Words,
    WrongType,
    give,
    shown,
)
from xcurves.frames.reading import no_column
from xcurves.frames.roles import n_labels
from xcurves.frames.wide import refuse_duplicates, shared_pattern

JOINED = ("first", "last", "mean")  # how repeated rows become one, in any order
_MOST = 50  # labels of a column that could be a dim


def _in_native_order(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with numbers in the byte order of this machine: pandas finds no labels among others."""
    # Dtypes of pandas 2 itself, such as categories, say that they are not native.
    swapped = [place for place, dtype in enumerate(frame.dtypes) if isinstance(dtype, np.dtype) and not dtype.isnative]
    if not swapped:
        return frame
    native = frame.copy(deep=False)
    for place in swapped:
        values = frame.iloc[:, place].to_numpy()
        native.isetitem(place, values.astype(values.dtype.newbyteorder("=")))
    return native


def with_text_names(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose columns are called by texts, where some are called by numbers."""
    if all(isinstance(name, str) for name in frame.columns) or isinstance(frame.columns, pd.MultiIndex):
        return frame
    return frame.rename(columns=str)


def as_pandas(frame: Any) -> pd.DataFrame:
    """Return any dataframe as one of pandas."""
    if isinstance(frame, pd.DataFrame):
        return _in_native_order(frame)
    try:
        if hasattr(frame, "to_pandas"):
            return frame.to_pandas()  # type: ignore[no-any-return]  # of any package
        if hasattr(frame, "__arrow_c_stream__"):
            import pyarrow as pa

            return pa.table(frame).to_pandas()  # type: ignore[no-any-return]
    except ImportError:
        package = type(frame).__module__.partition(".")[0]
        raise ImportError(f"frames of {package} need pyarrow. Install it: pip install 'xcurves[polars]'") from None
    except Exception as error:  # Arrow's own, of types that pandas does not have
        why = " ".join(str(error).split())
        raise WrongType(
            "frame",
            UNSAID,
            f"frame has columns that pandas cannot hold: {why}",
            "Cast them to Float64 or String",
        ) from None
    cure = "Make one: pd.DataFrame(frame)"
    for call in ("compute", "collect"):
        if callable(getattr(frame, call, None)):
            cure = f"Compute it: frame.{call}()"
    raise WrongType("frame", type(frame), "must be a DataFrame, or one that Arrow reads", cure)


def columns_named(argument: str, given: str | Sequence[str]) -> list[str]:
    """Return the names of one or several columns."""
    if not isinstance(given, str) and not isinstance(given, Iterable):
        raise WrongType(argument, given, "must be a list of columns", "Leave it out, or name one")
    if isinstance(given, str):
        return [given]
    return list(given)


def names_of(given: str | Sequence[str], argument: str = "extra") -> list[str]:
    """Return the columns of further dims, or of coordinates, none of them the name of another dim."""
    names = columns_named(argument, given)
    for name in names:
        _check_name(argument, name)
    taken = [name for name in names if name in (*DIMS, EVALUATION) or names.count(name) > 1]
    if taken:
        raise Refusal(
            argument,
            taken[0],
            "is the name of another dim",
            "Rename the column: frame.rename(columns=...)",
        )
    return names


def check_frame(
    frame: pd.DataFrame,
    value: str,
    columns: Mapping[str, str],
    kept: Sequence[str],
) -> None:
    """Refuse a frame that cannot become curves without guessing; `columns` are those of dims, `kept` of coordinates."""
    refuse_duplicates(frame)
    asked = {"value": value, **columns}
    named = _with_arguments(asked, kept)
    _check_names(frame, named, asked)
    if frame.empty:
        raise Refusal("frame", UNSAID, "frame has no rows", "Check how it was read or selected")

    units = [column for dim, column in columns.items() if dim != "training"]
    for argument, column in named:
        if argument in ("value", "training"):
            numeric = [give(**{argument: name}) for name in frame.select_dtypes("number") if name not in asked.values()]
            check_numeric(argument, frame[column], units, numeric)
        missing = frame[column].isna()
        if missing.any() and argument != "value":
            raise Refusal(
                argument,
                UNSAID,
                f"{argument} column {column!r} has {missing.sum()} rows without a label (read_csv "
                f"reads NA, None and null as missing), first row {_plain_label(missing.idxmax())}",
                _cure_of_gaps(frame[column]),
            )


def _with_arguments(asked: Mapping[str, str], kept: Sequence[str]) -> list[tuple[str, str]]:
    """Return the columns that are asked for, each with the argument that names it."""
    named = []
    for dim, column in asked.items():
        argument = "extra"
        if dim in ("value", *DIMS):
            argument = dim
        named.append((argument, column))
    return named + [("coords", name) for name in kept]


def _check_names(frame: pd.DataFrame, named: Sequence[tuple[str, str]], asked: Mapping[str, str]) -> None:
    """Refuse names that are no columns of the frame, or asked for twice."""
    for argument, column in named:
        _check_name(argument, column)
    columns = [column for _, column in named]
    # A wrong name is told before a score that was not named.
    for argument, column in sorted(named, key=lambda each: each[1] is None):
        if column not in frame.columns:
            raise no_column(argument, column, frame, _cure_of_missing(frame, argument, column, asked))
        if columns.count(column) > 1:
            raise Refusal(
                argument,
                column,
                "is asked for twice",
                "Name a column of its own for every dim",
            )


def _check_name(argument: str, column: object) -> None:
    """Refuse what cannot be the name of a column, such as a list."""
    if pd.api.types.is_hashable(column):
        return
    cure = "Name one of frame.columns"
    if argument == "value":
        cure += f", several columns of scores: to_dataset({shown(column)}, ...)"
    raise WrongType(argument, column, "must be the name of a column", cure)


def _cure_of_missing(frame: pd.DataFrame, argument: str, column: Any, asked: Mapping[str, str]) -> str:
    """Return advice how to make the missing column from those that the frame has."""
    there = [name for name in asked.values() if name in frame]
    free = [name for name in frame if name not in there]
    missing = [dim for dim, name in asked.items() if name not in there and dim != "value"]
    usual = _usual_columns(free, missing)
    if column is not None and column in frame.index.names:
        return ". Make columns of the index: frame.reset_index()"
    near = did_you_mean(column, free)
    if near:
        return near
    if argument in ("algorithm", "run") and "name" in free:
        pattern = give(names="{algorithm}-{run}")
        return f". Split the names of runs as the logs are read: {pattern}"
    if argument in usual:
        return f". Try {give(**usual)}"
    scores = [name for name in frame.select_dtypes("number") if name not in there]
    lost = next((dim for dim in ("run", "algorithm") if dim in missing), None)
    if argument == "value" and lost and len(scores) > 1:
        return f". If it has a column for each {lost}: {give(columns=shared_pattern(list(map(str, scores)), lost))}"
    if argument != "run":
        return ""
    return f". {cure_of_missing_run(frame, column, there, asked['value'])}"


def cure_of_missing_run(frame: pd.DataFrame, column: Any, there: Sequence[str], value: str | None) -> str:
    """Return advice how to number runs, whose rows may repeat or not."""
    rest = [name for name in there if name != value] + unused_labels(frame, there)
    # Settings have as many rows each.
    settings = [name for name in unused_numbers(frame, there) if frame.groupby(name).size().std() == 0]
    if settings and frame.duplicated([*rest, *settings]).any():
        rest += settings
    if frame.duplicated(rest).any():
        return (
            f"If runs are in the same order at each {rest}: "
            f"frame[{column!r}] = frame.groupby({rest}).cumcount(), which relies on the order of rows"
        )
    return f"If each algorithm has one run: frame[{column!r}] = 0"


def _usual_columns(columns: Iterable[Any], dims: Iterable[str]) -> dict[str, Any]:
    """Return the first column that is called like each dim; of a dim of tasks under "extra"."""
    names = list(columns)
    first_of: dict[str, Any] = {}
    for dim in dims:
        argument, kind = ("extra", "task") if dim not in DIMS else (dim, dim)
        usual = [name for name in names if dim_of(name) == kind]
        if usual:
            first_of[argument] = usual[0]
    return first_of


def unused_labels(frame: pd.DataFrame, used: Sequence[Any]) -> list[Any]:
    """Return the unused columns of several labels, text or categories: not many, but for usual names such as task."""
    unused = []
    for name in frame.select_dtypes(exclude=["number", "bool", "datetime", "datetimetz"]):
        most = _MOST
        if str(name).casefold() in USUAL_EXTRAS:
            most = len(frame)
        if name not in used and 1 < n_labels(frame[name]) <= most:
            unused.append(name)
    return unused


def unused_numbers(frame: pd.DataFrame, used: Sequence[Any]) -> list[Any]:
    """Return the unused columns of few numbers, each of them in several rows."""
    rest = [name for name in frame.select_dtypes("number") if name not in used]
    return [name for name in rest if 1 < n_labels(frame[name]) <= _MOST and frame[name].value_counts().min() > 1]


def check_numeric(argument: str, column: pd.Series[Any], units: Sequence[str], numeric: Sequence[Call]) -> None:
    """Refuse a column that is not of numbers; `units` are the columns of its runs, `numeric` name others."""
    number = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_complex_dtype(column)
    if number and not (argument == "training" and pd.api.types.is_bool_dtype(column)):
        return
    name = f"frame[{column.name!r}]"
    first = ""
    cure: Cure | str = f"Convert: {name}.astype(float)"
    if column.dtype.kind == "m":
        cure = f"Convert to hours: {name} / pd.Timedelta('1h')"
    elif column.dtype.kind == "M":
        since_start = f"{name}.sub(frame.groupby({list(units)})[{column.name!r}].transform('min'))"
        cure = f"Convert to hours: {since_start} / pd.Timedelta('1h')"
    else:
        strange = column[pd.to_numeric(column.astype(str), errors="coerce").isna() & column.notna()]
        if len(strange):
            first = f", first {strange.iloc[0]!r} in row {_plain_label(strange.index[0])}"
            cure = _cure_of_text(column, numeric)
    raise WrongType(
        argument,
        Verbatim(f"dtype {column.dtype}{first}"),
        f"{argument} column {column.name!r} must be numeric",
        cure,
    )


def _cure_of_gaps(labels: pd.Series[Any]) -> Cure:
    """Return advice about rows without a label, most of which may be those below a cell of several rows."""
    column = labels.name
    if labels.notna().iloc[0] and labels.isna().sum() >= labels.notna().sum():
        fill = f"frame[{column!r}] = frame[{column!r}].ffill()"
        return Cure(
            Words(
                f"If a label is that of the rows below it too: {fill}",
                "If a label is that of the rows below it too, write it in each",
            )
        )
    drop = f"Drop them: frame.dropna(subset=[{column!r}])"
    name = f"or name them: frame.fillna({{{column!r}: 'None'}})"
    return Cure(Words(f"{drop}, {name}", "Delete these rows, or write a label"))


def _cure_of_text(column: pd.Series[Any], numeric: Sequence[Call]) -> Cure:
    """Return advice about a column that has text; `numeric` are the columns of numbers."""
    if _has_numbers(column):
        gaps = f"make gaps of such rows: pd.to_numeric(frame[{column.name!r}], errors='coerce')"
        return Cure("Correct it, or ", Words(gaps, "leave it empty for a gap"))
    # Conversion would leave no row.
    if numeric:
        pieces: list[Piece] = ["Name a column of numbers: "]
        for each in numeric[:3]:
            pieces += [each, " or "]
        return Cure(*pieces[:-1])
    return Cure("Check how it was read")


def _has_numbers(column: pd.Series[Any]) -> bool:
    """Return whether conversion leaves any number."""
    try:
        converted = pd.to_numeric(column, errors="coerce")
    except OverflowError:  # integers that no float holds, of pandas 2
        return True
    return bool(converted.notna().any())


def _plain_label(label: object) -> str:
    if isinstance(label, np.generic):
        return repr(label.item())
    return repr(label)


def label_codes(column: pd.Series[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the labels of a column, categories in their order, anything else sorted; and each row's place in them."""
    codes: Any
    if pd.api.types.is_bool_dtype(column):
        column = column.astype(str)
    try:
        if isinstance(column.dtype, pd.CategoricalDtype):
            used = column.cat.remove_unused_categories().cat
            codes, index = used.codes, used.categories
        else:
            codes, index = pd.factorize(column, sort=True)
        labels = plain_labels(index.to_numpy(dtype=getattr(index.dtype, "numpy_dtype", None)))
    except (TypeError, NotImplementedError):  # from labels that are lists or mappings
        labels = np.array([], object)
    if labels.dtype == object:
        kinds = " and ".join(sorted({type(label).__name__ for label in column}))
        raise WrongType(
            "frame",
            UNSAID,
            f"column {column.name!r} has labels of type {kinds}; labels are all text or all numbers of up to 64 bits",
            f"Convert: frame[{column.name!r}].astype(str)",
        )
    return labels, np.asarray(codes, dtype=np.int64)


def numbers(column: pd.Series[Any]) -> NDArray[np.float64]:
    """Return a numeric column of any dtype as floats, NaN where it has no number."""
    return column.to_numpy(dtype=np.float64, na_value=np.nan)
