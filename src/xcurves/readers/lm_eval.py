"""lm-evaluation-harness: results of models on benchmarks, and what each model got on each item."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from xcurves.core import provenance
from xcurves.core.refusal import Refusal, give
from xcurves.readers import evaluation_logs, logs
from xcurves.readers.formats.json_rows import parse, parsed
from xcurves.readers.log_files import check_cells, parsing
from xcurves.readers.open_files import HEAD, beginning, read_text
from xcurves.readers.packages import LM_EVAL, LM_EVAL_SAMPLES

# Of one evaluation: results_TIME.json and samples_BENCHMARK_TIME.jsonl in a folder of the model.
_TIME = r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?"
_RESULTS = re.compile(rf"results_({_TIME})\.json")
_SAMPLES = re.compile(rf"samples_(.+)_({_TIME})\.jsonl")
_MODEL = ("pretrained", "model", "path", "engine", "peft", "delta")  # keys of its name
_SETTINGS = ("limit", "gen_kwargs")
_HASHES = ("system_instruction_sha", "chat_template_sha")


class _Results(NamedTuple):
    """What the file of one evaluation says."""

    path: Path
    model: str
    made: str
    settings: dict[str, str]
    said: Mapping[str, Any]


def _read_results(files: Sequence[Path]) -> list[_Results]:
    """Return what files of results say; a model that was evaluated with several settings is several algorithms."""
    found = list[_Results]()
    for path in files:
        with parsing(path, LM_EVAL.what):
            said = parse(read_text(path), path)
            model = str(said.get("model_name") or said["config"]["model"])
            match = _RESULTS.fullmatch(path.name)
            made = match[1] if match else path.stem
            found.append(_Results(path, model, made, _settings_of(said), said))
    same = dict[str, set[Path]]()
    for each in found:
        same.setdefault(each.model, set()).add(each.path)
    for place, each in enumerate(found):
        alike = [other.settings for other in found if other.path in same[each.model]]
        differ = {
            name: each.settings.get(name, "default")
            for name in sorted({name for settings in alike for name in settings})
            if len({settings.get(name, "default") for settings in alike}) > 1
        }
        named = [each.model, *(f"{name}={value}" for name, value in differ.items())]
        found[place] = each._replace(model=", ".join(named))
    return found


def _settings_of(said: Mapping[str, Any]) -> dict[str, str]:
    """Return what an evaluation was made with, besides the name of the model."""
    config = said.get("config") or {}
    arguments = config.get("model_args") or {}
    if isinstance(arguments, str):
        pairs = (pair.partition("=") for pair in arguments.split(",") if pair)
        arguments = {name.strip(): value for name, _, value in pairs}
    made_with = {name: value for name, value in arguments.items() if name not in _MODEL}
    made_with |= {name: config.get(name) for name in _SETTINGS}
    made_with |= {name: said.get(name) for name in _HASHES}
    shots = {str(number) for number in (said.get("n-shot") or {}).values()}
    made_with["n-shot"] = "/".join(sorted(shots))
    return {
        name: json.dumps(value) if isinstance(value, dict | list) else str(value)
        for name, value in made_with.items()
        if value not in (None, "")
    }


def read_scores(path: str | Path) -> pd.DataFrame:
    """Return a row for each model and benchmark, with a column for each measure and for its standard error."""
    found = _read_results(logs.find_logs(path, LM_EVAL))
    rows, groups = list[dict[str, Any]](), dict[str, int]()
    keys = list[tuple[str, str]]()
    for each in found:
        parts = each.said.get("group_subtasks") or {}
        for benchmark, measured in each.said["results"].items():
            if parts.get(benchmark):
                groups[benchmark] = len(parts[benchmark])
                continue
            keys.append((each.model, benchmark))
            about = {"algorithm": each.model, "task": benchmark, "run": each.made}
            numbers = {
                _name_of(name): value for name, value in measured.items() if name not in ("alias", "name", "sample_len")
            }
            counts = (each.said.get("n-samples") or {}).get(benchmark) or {}
            n_items = {"n_items": counts["effective"]} if "effective" in counts else {}
            rows.append(about | _without_gaps(numbers) | n_items)
    if groups:
        first = next(iter(groups))
        provenance.warn(
            f"{len(groups)} groups of benchmarks, whose scores are means of those beside, are left out: "
            f"{first} of {groups[first]}"
        )
    if not rows:
        raise Refusal(
            "path",
            str(path),
            f"{path}: no benchmark has a score",
            "Check what was evaluated",
        )
    frame = check_cells(pd.DataFrame(rows), Path(path))
    if len(set(keys)) == len(keys):  # nothing was evaluated twice
        frame = frame.drop(columns="run")
    frame.attrs["source"] = f"{LM_EVAL.what} {logs.where(path)}"
    return _with_direction(frame, found)


def _without_gaps(numbers: dict[str, Any]) -> dict[str, Any]:
    """Return numbers, None for a standard error that was not computed, "N/A"."""
    return {name: None if value in ("N/A", "", " ") else value for name, value in numbers.items()}


def read_samples(path: str | Path) -> pd.DataFrame:
    """Return a row for each model and item, with a column for each measure, and for the passage of the item."""
    files = logs.find_logs(path, LM_EVAL_SAMPLES)
    beside = sorted(
        {result for file in files for result in file.parent.glob("results_*.json") if _RESULTS.fullmatch(result.name)}
    )
    results = _read_results(beside)
    known = {(each.path.parent, each.made): each for each in results}
    evaluations, used = list[evaluation_logs.Evaluation](), set[Path]()
    of_wholes = set[str]()
    for file in files:
        match = _SAMPLES.fullmatch(file.name)
        assert match is not None  # it is a log of this source
        benchmark, made = match.groups()
        result = known.get((file.parent, made))
        model = file.parent.name.replace("__", "/")
        if result is not None:
            model = result.model
            used.add(result.path)
        with parsing(file, LM_EVAL_SAMPLES.what):
            rows = _items_of(file, of_wholes)
        evaluations.append(evaluation_logs.Evaluation(model, benchmark, made, rows))
    if of_wholes:
        provenance.warn(
            f"measures of whole benchmarks, which no item has, are left out: {', '.join(sorted(of_wholes))}"
        )
    _say_unused(path, used)
    frame = check_cells(evaluation_logs.joined(evaluations), Path(path))
    frame.attrs["source"] = f"{LM_EVAL_SAMPLES.what} {logs.where(path)}"
    return _with_direction(frame, results)


def _items_of(path: Path, of_wholes: set[str]) -> pd.DataFrame:
    """Return a row for each item of a file, whose lines have the measures of one filter each.

    Of measures that are computed of all items at once, such as bleu, an item has no number: these go to `of_wholes`.
    """
    rows = dict[Any, dict[str, Any]]()
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if not line.strip():
            continue
        said = parse(line, f"{path}: line {number}")
        item, filtered = said["doc_id"], said.get("filter", "none")
        row = rows.setdefault(item, {"item": item} | evaluation_logs.passages_of(said.get("doc")))
        for metric in said.get("metrics") or _measures_of(said):
            name = _name_of(f"{metric},{filtered}")
            value = said[metric]
            if name in row:
                raise Refusal(
                    "path",
                    str(path),
                    f"{path}: line {number} has {metric!r} of doc_id {item} again",
                    "Remove one of them",
                )
            if isinstance(value, bool | int | float):
                row[name] = float(value)
            else:
                of_wholes.add(metric)
    if not rows:
        raise Refusal("path", str(path), f"{path} has no items", "Remove it")
    return pd.DataFrame(rows.values())


def _measures_of(said: Mapping[str, Any]) -> list[str]:
    """Return the names of measures in a line that does not list them, as versions before 0.4.8 write: numbers."""
    return [name for name, value in said.items() if name not in ("doc_id", "target") and isinstance(value, int | float)]


def _name_of(measure: str) -> str:
    """Return the name of a measure, without the filter where there is none."""
    return measure.removesuffix(",none")


def _say_unused(path: str | Path, used: set[Path]) -> None:
    """Say which evaluations below a folder have results and no samples: they are in the other source."""
    if Path(path).is_file():
        return
    every = [file for file in logs.files_below(path) if LM_EVAL.has(file)]
    left = [file for file in every if file not in used]
    if left:
        provenance.warn(
            f"{len(left)} of {len(every)} evaluations below {path} have no samples and are left out, such as "
            f"{left[0].name}. The results of all: {give(source='lm-eval')}"
        )


def _with_direction(frame: pd.DataFrame, results: Sequence[_Results]) -> pd.DataFrame:
    """Return a frame that says which end is better, where all measures of all benchmarks agree."""
    ends = {
        bool(higher)
        for each in results
        for of_benchmark in (each.said.get("higher_is_better") or {}).values()
        for higher in of_benchmark.values()
        if higher is not None
    }
    if len(ends) == 1:
        frame.attrs["higher_is_better"] = int(ends.pop())
    return frame


def is_results(path: Path) -> bool:
    """Return whether a file of JSON has what lm-evaluation-harness writes at its top."""
    head = beginning(path, HEAD).lstrip()
    if not head.startswith(b"{") or b'"results"' not in head:
        return False
    said = parsed(read_text(path, errors="replace"))
    return isinstance(said, dict) and {"results", "versions", "configs"} <= set(said)


def is_samples(path: Path) -> bool:
    """Return whether a file is called like one of answers to items."""
    return _SAMPLES.fullmatch(path.name) is not None
