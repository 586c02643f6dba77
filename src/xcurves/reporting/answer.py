"""An answer as programs read it: one object for results, analyses and every command."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.core import provenance
from xcurves.core.direction import End, assumed_in, good_end
from xcurves.core.refusal import Proposal, Refusal
from xcurves.core.schema import ResultKind
from xcurves.results import ask, parts_of, prepare
from xcurves.say.comparing import algorithms_of, needed, pairs_of

SCHEMA = "xcurves-answer/1"
_LARGEST_EXACT = 2**53 - 1  # whole number of JSON that is a double in most programs
_SETTINGS = (
    "confidence_level",
    "n_resamples",
    "paired",
    "reference",
    "margin",
    "correction",
    "by",
    "higher_is_better",
)
_NOTHING_NEXT: dict[str, Any] = {"runs": {}, "tasks": None, "items": None}
_ALGORITHM = ("mean", "runs", "may_be_best", "place_from", "place_to", "lower", "upper")


def to_dict(result: xr.Dataset | xr.DataTree) -> dict[str, Any]:
    """Return an answer as an object that JSON can hold: what ``--json`` prints.

    Parameters
    ----------
    result : Dataset or DataTree
        What a method returned, or a whole analysis: then that of the part which says who is better.

    Returns
    -------
    dict
        ``schema``; ``verdict``, the answer in sentences; ``reading``, which column was what, and which end is good and
        whether that was assumed, None where curves were not read from a table; ``algorithms``, the best first, each
        with ``name``, ``mean``, ``ci``, ``n_runs`` (of each task), ``place`` (first and last) and ``may_be_best``;
        ``pairs``, the better one first, each with ``first``, ``second``, ``difference``, ``scale``, ``unit``, ``ci``,
        ``p`` (None where an interval says what is shown) and ``shown``, and of several tasks ``task``; where the scale
        is "probability" or "ratio", the difference is the probability that the first scores higher, or the ratio;
        ``next``, what it would take to show more: ``runs``, how many more of each algorithm, or how many more
        ``tasks``, ``items`` or ``families`` of these, of several tasks in the one that takes most; ``cautions``;
        ``settings``; ``ledger``, of looks. None stands for numbers that are unknown or infinite. The schema is in
        docs/answer.schema.json.

    Raises
    ------
    ValueError, TypeError
        If `result` is no result of this library.

    Examples
    --------
    >>> import xcurves
    >>> accuracy = xcurves.tutorial.open_dataset("benchmark")["accuracy"]
    >>> answer = accuracy.curves.across_tasks(rng=0).curves.to_dict()
    >>> [each["name"] for each in answer["algorithms"] if each["may_be_best"]]
    ['SVM', 'random forest', 'logistic regression']
    >>> answer["pairs"][0]["second"], answer["pairs"][0]["shown"]
    ('logistic regression', False)
    """
    if isinstance(result, xr.DataTree):
        # the seed of the whole analysis, of which those of its parts are made
        result = _verdict_of(result).assign_attrs({"rng": result.attrs["rng"]} if "rng" in result.attrs else {})
    kind, result = prepare(result)
    algorithms, pairs = _algorithms(kind, result), _pairs(kind, result)
    texts = ask(kind, result, kind.by_role, "to_dict")
    answer = of_words(" ".join(texts["answer"])) | {
        "reading": _reading(result),
        "algorithms": algorithms,
        "pairs": pairs,
        "next": _next(kind, result),
        "cautions": list(dict.fromkeys([*texts["caution"], *filter(None, [_assumed(result)])])),
        "settings": _settings(kind, result),
    }
    if kind.for_programs is not None:
        answer |= ask(kind, result, kind.for_programs, "to_dict")
        answer["next"] = _NOTHING_NEXT | answer["next"] | {"details": texts["detail"]}
    return plain(answer)


def of_words(verdict: str) -> dict[str, Any]:
    """Return an answer that is words only, such as a plan before the first look."""
    return {
        "schema": SCHEMA,
        "verdict": verdict,
        "reading": None,
        "algorithms": [],
        "pairs": [],
        "next": dict(_NOTHING_NEXT),
        "cautions": [],
        "settings": {},
        "ledger": {},
    }


def of_refusal(refusal: Refusal) -> dict[str, Any]:
    """Return what was refused as an object: argument, value, reason and cure."""
    value: Any = refusal.value
    if not isinstance(value, int | float | bool):
        value = str(value) or None
    readings = [str(piece) for piece in refusal.cure if isinstance(piece, Proposal)]
    error = {
        "argument": refusal.argument or None,
        "value": value,
        "reason": refusal.problem,
        "cure": "\n".join(readings) or str(refusal.cure) or None,
    }
    return plain({"schema": SCHEMA, "error": error})


def plain(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with numbers of Python, None for those that are unknown or infinite."""
    text = json.dumps(answer, default=_native)
    made: dict[str, Any] = json.loads(text, parse_constant=lambda _: None)
    return made


def _native(value: Any) -> Any:
    """Return a number or label of NumPy as Python's, anything else as text."""
    if hasattr(value, "item"):
        return value.item()
    return str(value)


def _verdict_of(tree: xr.DataTree) -> xr.Dataset:
    """Return the part of an analysis that says who is better, with the reading of its curves; else the first."""
    parts = parts_of(tree)
    comparing = [part for part in parts.values() if (kind := prepare(part)[0]).part and pairs_of(kind)]
    return next(iter(comparing), next(iter(parts.values())))


def _reading(result: xr.Dataset) -> dict[str, Any] | None:
    """Return which column was what, as `to_dataarray` keeps it in attrs."""
    kept = result.attrs.get(provenance.READING)
    if kept is None:
        return None
    return reading_of(kept, good_end(result), is_assumed=bool(_assumed(result)))


def reading_of(kept: str, end: End, *, is_assumed: bool) -> dict[str, Any]:
    """Return which column was what, as curves keep it, and which end of scores is good."""
    reading: dict[str, Any] = json.loads(kept)
    return reading | {"direction": end, "direction_assumed": is_assumed}


def _assumed(result: xr.Dataset) -> str:
    """Return that higher was taken as better, "" where something says which end is."""
    return assumed_in(result) if good_end(result) == "higher" else ""


def _algorithms(kind: ResultKind, result: xr.Dataset) -> list[dict[str, Any]]:
    """Return a row for each algorithm of a comparison, of one task or over tasks; the best first."""
    tabulate = algorithms_of(kind)
    if tabulate is None:
        return []
    frame = ask(kind, result, tabulate, "to_dict")
    n_runs = _runs_in_each_task(result)
    rows = []
    for key, row in zip(frame.index, frame.to_dict("records"), strict=True):
        known = {name: row.get(name) for name in _ALGORITHM}
        place = _both(known["place_from"], known["place_to"])
        if place is not None:
            place = [int(end) for end in place]
        rows.append(
            _of_task(frame, key)
            | {
                "name": _last(key),
                "mean": known["mean"],
                "ci": _both(known["lower"], known["upper"]),
                "n_runs": known["runs"] if known["runs"] is not None else n_runs.get(_last(key)),
                "place": place,
                "may_be_best": known["may_be_best"],
            }
        )
    return rows


def _runs_in_each_task(result: xr.Dataset) -> dict[str, int]:
    """Return how many runs an algorithm has in each of its tasks, of those that have as many in all of them."""
    if "n_runs" not in result:
        return {}
    found = {}
    counts = result["n_runs"].transpose("algorithm", ...)
    for name, of_tasks in zip(counts["algorithm"].to_numpy(), counts.to_numpy(), strict=True):
        different = set(of_tasks[of_tasks > 0].ravel().tolist())
        if len(different) == 1:
            found[str(name)] = int(different.pop())
    return found


def _both(low: Any, high: Any) -> list[Any] | None:
    """Return both ends of an interval, None where they are not known."""
    if low is None or high is None or pd.isna(low) or pd.isna(high):
        return None
    return [low, high]


def _pairs(kind: ResultKind, result: xr.Dataset) -> list[dict[str, Any]]:
    """Return a row for each pair of a comparison, as sentences and tables have it."""
    tabulate = pairs_of(kind)
    if tabulate is None:
        return []
    frame = ask(kind, result, tabulate, "to_dict")
    unit = frame.attrs.get("unit", "1")
    of_all = {"scale": frame.attrs.get("scale", "difference"), "unit": None if unit == "1" else unit}
    rows = []
    for key, (first, second), row in zip(frame.index, frame.attrs["sides"], frame.to_dict("records"), strict=True):
        rows.append(
            _of_task(frame, key)
            | {
                "first": first,
                "second": second,
                "difference": row["difference"],
                **of_all,
                "ci": _both(row.get("lower"), row.get("upper")),
                "p": row.get("p"),
                "shown": bool(row["shown"]),
            }
        )
    return rows


def _of_task(frame: pd.DataFrame, key: Any) -> dict[str, Any]:
    """Return the task of a row, nothing where there is one."""
    if frame.index.nlevels == 1:
        return {}
    return {"task": ", ".join(str(each) for each in key[:-1])}


def _last(key: Any) -> str:
    return str(key[-1] if isinstance(key, tuple) else key)


def _next(kind: ResultKind, result: xr.Dataset) -> dict[str, Any]:
    """Return what could show more: how many runs to add of each algorithm, or tasks, items or families of these."""
    to_add: dict[str, Any] = _NOTHING_NEXT | {"runs": {}}
    for task, names, more in ask(kind, result, lambda whole: list(needed(kind, whole)), "to_dict"):
        if not np.isfinite(more.to_show):
            continue
        if more.kind != "runs":
            to_add[more.kind] = max(to_add.get(more.kind) or 0, int(more.to_show - more.present))
            continue
        made = _runs_in_each_task(task)
        for name in names:
            lacking = max(int(more.to_show - made.get(name, more.present)), 0)
            to_add["runs"][name] = max(to_add["runs"].get(name, 0), lacking)
    return to_add


def _settings(kind: ResultKind, result: xr.Dataset) -> dict[str, Any]:
    """Return what gives the same numbers again."""
    given = {name: result.attrs[name] for name in _SETTINGS if name in result.attrs}
    seed = _seed(result.attrs.get("rng"))
    return {"method": kind.name, **given, "rng": seed, "xcurves": result.attrs.get("xcurves_version")}


def _seed(rng: str | None) -> int | dict[str, str] | None:
    """Return a seed as a number; its digits where it is larger than what every program reads exactly."""
    if rng is None:
        return None
    if int(rng) > _LARGEST_EXACT:
        return {"digits": rng}
    return int(rng)
