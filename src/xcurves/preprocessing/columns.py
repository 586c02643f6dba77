"""Checks of frames: columns that can become curves, and their labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xcurves.core import provenance
from xcurves.core.labels import DIMS, EVALUATION, SYNONYMS, USUAL_EXTRAS, did_you_mean, shown
from xcurves.core.validation import check_choice

Duplicates = Literal["raise", "first", "last", "mean"]
_LARGEST = int(np.finfo(np.float64).max)
_EXACT = 2**53  # floats hold every whole number up to it
_MOST = 50  # labels of a column that could be a dim


def as_pandas(frame: Any) -> pd.DataFrame:
    """Return any dataframe as one of pandas."""
    if isinstance(frame, pd.DataFrame):
        return frame
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
        raise TypeError(f"frame has columns that pandas cannot hold: {why}. Cast them to Float64 or String") from None
    cures = [call for call in ("collect", "compute") if callable(getattr(frame, call, None))]
    cure = f"Compute it: frame.{cures[0]}()" if cures else "Make one: pd.DataFrame(frame)"
    raise TypeError(f"frame must be a DataFrame, or one that Arrow reads; got {type(frame).__name__}. {cure}")


def columns_named(argument: str, given: str | Sequence[str]) -> list[str]:
    """Return the names of one or several columns."""
    if not isinstance(given, str) and not isinstance(given, Iterable):
        raise TypeError(f"{argument} must be a list of columns; got {shown(given)}. Leave it out, or name one")
    return [given] if isinstance(given, str) else list(given)


def names_of(given: str | Sequence[str], argument: str = "extra") -> list[str]:
    """Return the columns of further dims, or of coordinates, none of them the name of another dim."""
    names = columns_named(argument, given)
    for name in names:
        _check_name(argument, name)
    taken = [name for name in names if name in (*DIMS, EVALUATION) or names.count(name) > 1]
    if taken:
        raise ValueError(
            f"{argument}={taken[0]!r} is the name of another dim. Rename the column: frame.rename(columns=...)"
        )
    return names


def check_frame(
    frame: pd.DataFrame, value: str, columns: Mapping[str, str], kept: Sequence[str], duplicates: str
) -> None:
    """Refuse a frame that cannot become curves without guessing; `columns` are those of dims, `kept` of coordinates."""
    check_choice("duplicates", duplicates, ("raise", "first", "last", "mean"))
    asked = {"value": value, **columns}
    if frame.columns.has_duplicates:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise ValueError(f"frame has several columns {twice!r}. Rename all but one")
    named = [(key if key in ("value", *DIMS) else "extra", key, column) for key, column in asked.items()]
    for argument, _, column in named:
        _check_name(argument, column)
    named += [("coords", name, name) for name in kept]
    for argument, key, column in named:
        if column not in frame.columns:
            has = ", ".join(map(repr, frame.columns))
            cure = _cure_of_missing(frame, key, asked) if argument != "coords" else did_you_mean(column, frame.columns)
            raise KeyError(f"{argument}={column!r} is no column of the frame. It has {has}{cure}")
        if [*asked.values(), *kept].count(column) > 1:
            raise ValueError(f"{argument}={column!r} is asked for twice. Name a column of its own for every dim")
    if frame.empty:
        raise ValueError("frame has no rows. Check how it was read or selected")
    units = [column for dim, column in columns.items() if dim != "training"]
    for argument in ("value", "training"):
        if argument in asked:
            _check_numeric(argument, frame[asked[argument]], units)
    if "training" in asked:
        _check_exact(frame[asked["training"]], units)
    for argument, column in [*columns.items(), *(("coords", name) for name in kept)]:
        missing = frame[column].isna()
        if missing.any():
            raise ValueError(
                f"{argument} column {column!r} has {missing.sum()} rows without a label (read_csv reads NA, None and "
                f"null as missing), first row {_plain_label(missing.idxmax())}. "
                f"Drop them: frame.dropna(subset=[{column!r}]), or name them: frame.fillna({{{column!r}: 'None'}})"
            )


def _check_name(argument: str, column: object) -> None:
    if not pd.api.types.is_hashable(column):
        several = f", several columns of scores: to_dataset({shown(column)}, ...)" if argument == "value" else ""
        raise TypeError(
            f"{argument} must be the name of a column; got {shown(column)}. Name one of frame.columns{several}"
        )


def _cure_of_missing(frame: pd.DataFrame, key: str, asked: Mapping[str, str]) -> str:
    """Return advice how to make the missing column from those that the frame has."""
    column, there = asked[key], [name for name in asked.values() if name in frame]
    if column is not None and column in frame.index.names:
        return ". Make columns of the index: frame.reset_index()"
    free = [name for name in frame if name not in there]
    if near := did_you_mean(column, free):
        return near
    if key in ("algorithm", "run") and "name" in free:
        return ". Split the names of runs as the logs are read: names='{algorithm}-{run}'"
    missing = [name for name, wanted in asked.items() if wanted not in frame and name != "value"]
    usual = usual_columns(free, missing)
    if key != "value" and (key if key in DIMS else "extra") in usual:
        return f". Try {', '.join(f'{name}={column!r}' for name, column in usual.items())}"
    between = [mark for mark in (";", "\t") if len(frame.columns) == 1 and mark in str(frame.columns[0])]
    if between:
        return f". Its columns are separated by {between[0]!r}. Read it again: pd.read_csv(path, sep={between[0]!r})"
    scores = [name for name in frame.select_dtypes("number") if name not in there]
    lost = [dim for dim in ("run", "algorithm") if dim in missing]
    if key == "value" and lost and len(scores) > 1:
        kept = [name for name in frame if name not in scores]
        constant = _assign(asked[lost[1]], "...").removeprefix("frame") if len(lost) > 1 else ""
        melt = f"frame.melt({kept}, var_name={asked[lost[0]]!r}, value_name={column!r}){constant}"
        return f". If it has a column for each {lost[0]}: {melt}"
    if key == "training":
        return ". Scores without training, such as last ones: training=None"
    rest = [name for name in there if name != asked["value"]]
    rest += label_columns(frame, there)
    settings = number_columns(frame, there, balanced=True)
    rest += settings if settings and frame.duplicated([*rest, *settings]).any() else []
    if key == "run" and rest and frame.duplicated(rest).any():
        return (
            f". Rows repeat without it. If runs are in the same order at each {rest}: "
            f"{_assign(column, f'frame.groupby({rest}).cumcount()')}, which relies on the order of rows"
        )
    if key == "algorithm":
        texts = " or ".join(f"algorithm={name!r}" for name in label_columns(frame, there))
        return f". If a column names them: {texts}" if texts else f". If there is one: {_assign(column, repr('name'))}"
    return f". If each algorithm has one run: {_assign(column, '0')}" if key == "run" else ""


def usual_columns(columns: Iterable[Any], dims: Iterable[str]) -> dict[str, Any]:
    """Return the first column with a usual name of each dim; of a dim of tasks under "extra"."""
    names, found = list(columns), dict[str, Any]()
    for dim in dims:
        known = SYNONYMS[dim].split() if dim in DIMS else USUAL_EXTRAS
        if usual := [name for name in names if str(name).casefold() in known]:
            found[dim if dim in DIMS else "extra"] = usual[0]
    return found


def label_columns(frame: pd.DataFrame, used: Sequence[Any]) -> list[Any]:
    """Return the columns that are not used and hold labels: text or categories."""
    return _unused(frame, used, numeric=False)


def number_columns(frame: pd.DataFrame, used: Sequence[Any], *, balanced: bool = False) -> list[Any]:
    """Return the unused columns of few numbers: whole ones, or each in several rows; if `balanced`, in equally many."""
    found = []
    for name in _unused(frame, used, numeric=True):
        counts = frame[name].value_counts()
        several = counts.min() > 1 and (counts.min() == counts.max() or not balanced)
        if several or (pd.api.types.is_integer_dtype(frame[name]) and not balanced):
            found.append(name)
    return found


def _unused(frame: pd.DataFrame, used: Sequence[Any], *, numeric: bool) -> list[Any]:
    """Return the unused columns, numeric or not, with several labels: not many, or of a usual name such as task."""
    rest = [name for name in frame if name not in used]
    alike = [name for name in rest if _is_number(frame[name]) is numeric]
    most = {name: len(frame) if str(name).casefold() in USUAL_EXTRAS else _MOST for name in alike}
    return [name for name in alike if 1 < _n_labels(frame[name]) <= most[name]]


def _is_number(column: pd.Series[Any]) -> bool:
    return bool(pd.api.types.is_numeric_dtype(column) or column.dtype.kind in "mM")


def _n_labels(column: pd.Series[Any]) -> int:
    try:
        return int(column.nunique())
    except TypeError:  # lists and mappings are no labels
        return 0


def _assign(column: str, value: str) -> str:
    """Return code that adds a column, whatever its name."""
    if not isinstance(column, str):
        return f"frame[{column!r}] = {value}"
    named = f"{column}={value}" if str(column).isidentifier() else f"**{{{column!r}: {value}}}"
    return f"frame.assign({named})"


def _check_numeric(argument: str, column: pd.Series[Any], units: Sequence[str]) -> None:
    number = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_complex_dtype(column)
    if number and not (argument == "training" and pd.api.types.is_bool_dtype(column)):
        return
    if any(isinstance(value, int) and abs(value) > _LARGEST for value in column):
        raise TypeError(f"{argument} column {column.name!r} has whole numbers beyond the largest float. Correct it")
    numbers = pd.to_numeric(column.astype(str), errors="coerce")
    strange = column[numbers.isna() & column.notna()]
    first = f", first {strange.iloc[0]!r} in row {_plain_label(strange.index[0])}" if len(strange) else ""
    raise TypeError(
        f"{argument} column {column.name!r} must be numeric; got dtype {column.dtype}{first}. "
        f"{_cure_of_text(column, strange.astype(str), units)}"
    )


def _cure_of_text(column: pd.Series[Any], strange: pd.Series[str], units: Sequence[str]) -> str:
    """Return how to convert a column that is not numeric; `strange` are its entries that are no numbers."""
    name = f"frame[{column.name!r}]"
    if pd.api.types.is_datetime64_any_dtype(column):
        return f"Convert to hours since each run began: {_since_start(name, units)} / pd.Timedelta('1h')"
    if pd.api.types.is_timedelta64_dtype(column):
        return f"Convert to hours: {name} / pd.Timedelta('1h')"
    if not len(strange) or pd.api.types.is_bool_dtype(column):
        beyond = column.dtype == object and pd.to_numeric(column).dtype == object  # 64 bits
        as_float = beyond or pd.api.types.is_bool_dtype(column)
        return f"Convert: {name}.astype(float)" if as_float else f"Convert: pd.to_numeric({name})"
    if strange.str.fullmatch(r"[-+]?\d[\d,.]*").all():
        decimals, thousands = (f"{name}.str.replace(',', {by!r}).astype(float)" for by in (".", ""))
        return f"Say what its commas are. Of decimals: {decimals}, of thousands: {thousands}"
    if column.astype(str).str.fullmatch(r"\d{4}-\d\d-\d\d.*").all():
        return f"Convert to times: pd.to_datetime({name}, format='ISO8601')"
    return f"Correct it, or make gaps of such rows: pd.to_numeric({name}, errors='coerce')"


def _check_exact(column: pd.Series[Any], units: Sequence[str]) -> None:
    """Refuse whole numbers of training that floats do not tell apart, such as times in nanoseconds."""
    if not pd.api.types.is_integer_dtype(column) or max(int(column.max()), -int(column.min())) <= _EXACT:
        return
    rounded = column[[int(float(level)) != level for level in column.tolist()]]
    if len(rounded):
        name = f"frame[{column.name!r}]"
        raise ValueError(
            f"training column {column.name!r} has whole numbers beyond 2**53, which floats round, first "
            f"{rounded.iloc[0]} in row {_plain_label(rounded.index[0])}. Count from the start of each run: "
            f"{_since_start(name, units)}"
        )


def _since_start(name: str, units: Sequence[str]) -> str:
    column = name.removeprefix("frame")
    return f"{name}.sub(frame.groupby({list(units)}){column}.transform('min'))"


def _plain_label(label: object) -> str:
    return repr(label.item() if isinstance(label, np.generic) else label)


def label_codes(column: pd.Series[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the labels of a column, categories in their order, anything else sorted; and each row's place in them."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        used = column.cat.remove_unused_categories().cat
        return _plain(used.categories), np.asarray(used.codes, dtype=np.int64)
    try:
        codes, uniques = pd.factorize(column)
    except (TypeError, NotImplementedError):  # of lists and mappings, NotImplementedError from Arrow
        raise TypeError(
            f"column {column.name!r} has labels of type {type(column.iloc[0]).__name__}; labels are text or numbers. "
            f"Convert: frame[{column.name!r}].astype(str)"
        ) from None
    index = pd.Index(uniques, name=column.name)
    try:
        order = np.asarray(index.argsort())
    except TypeError:
        kinds = column.map(lambda label: type(label).__name__)
        other = column[kinds != kinds.iloc[0]]
        raise TypeError(
            f"column {column.name!r} mixes {' and '.join(sorted(kinds.unique()))}, first {other.iloc[0]!r} in row "
            f"{_plain_label(other.index[0])}. Convert: frame[{column.name!r}].astype(str)"
        ) from None
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return _plain(index[order]), place[codes]


def _plain(labels: pd.Index[Any]) -> NDArray[Any]:
    """Return labels as a numpy array that every archive can hold."""
    plain = labels.to_numpy(dtype=getattr(labels.dtype, "numpy_dtype", None))
    words = plain.dtype == object and all(isinstance(label, str) for label in plain)
    if plain.dtype == object and not words and not all(isinstance(label, bool | float) for label in plain):
        kind = "int of over 64 bits" if isinstance(plain[0], int) else type(plain[0]).__name__
        raise TypeError(
            f"column {labels.name!r} has labels of type {kind}; labels are text or numbers. "
            f"Convert: frame[{labels.name!r}].astype(str)"
        )
    return plain.astype(str) if words else plain


def numbers(column: pd.Series[Any]) -> NDArray[np.float64]:
    """Return a numeric column of any dtype as floats, NaN where it has no number."""
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def warn_of_blanks(column: str, values: NDArray[Any]) -> None:
    """Warn of labels that differ only in spaces around them."""
    _, inverse, counts = np.unique(
        np.char.strip(values) if values.dtype.kind == "U" else values, return_inverse=True, return_counts=True
    )
    if len(counts) < len(values):
        first, second = values[inverse == counts.argmax()][:2].tolist()
        strip = f"frame[{column!r}] = frame[{column!r}].str.strip()"
        provenance.warn(f"column {column!r} has {first!r} and {second!r}: two labels. If they are one: {strip}")
