"""Evaluations of marl-eval: JSON in which metrics are nested as environment, task, algorithm, run, step."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from xcurves.core.refusal import UNSAID, Refusal, Text, of_path
from xcurves.readers import logs
from xcurves.readers.formats.json_rows import parse
from xcurves.readers.log_files import check_cells, parsing
from xcurves.readers.open_files import read_text
from xcurves.readers.packages import MARL_EVAL

_LABELS = ("env", "task", "algorithm", "run")
_BETWEEN = "\0"  # between labels, in none of them


def read_metrics(path: str | Path) -> pd.DataFrame:
    """Return a row for each run, evaluation and episode; those without a step, of the best model, are left out."""
    frames, of_runs = list[pd.DataFrame](), dict[tuple[str, ...], Path]()
    for file in logs.find_logs(path, MARL_EVAL):
        with parsing(file, "metrics nested as environment, task, algorithm, run, step"):
            nested = pd.json_normalize(parse(read_text(file), file), sep=_BETWEEN, max_level=4).iloc[0]
            for place, metrics in nested.items():
                *labels, name = str(place).split(_BETWEEN)
                rows = dict(metrics)
                if of_runs.setdefault(tuple(labels), file) != file:
                    raise Refusal(
                        "path",
                        str(file),
                        f"{file} and {of_runs[*labels,]} both hold {' / '.join(labels)}",
                        "Remove one of them",
                    )
                lengths = {key: len(value) for key, value in rows.items() if isinstance(value, list)}
                if len(set(lengths.values())) > 1:
                    raise Refusal(
                        "path",
                        str(file),
                        f"{file}: {' / '.join(labels)} has unlike lists in {name}: {lengths}",
                        "Correct it",
                    )
                if "step_count" in rows and any(lengths.values()):
                    about = dict(
                        zip(
                            [*_LABELS, "step"],
                            [*labels, rows.pop("step_count")],
                            strict=True,
                        )
                    )
                    made = pd.DataFrame(about | rows)
                    made.insert(len(about), "episode", range(len(made)))
                    frames.append(check_cells(made, file))
    if not frames:
        raise Refusal("path", UNSAID, Text(of_path(path), " has no steps of any run"))
    frame = pd.concat(frames, ignore_index=True)
    frame.attrs = {"source": f"marl-eval, {len(of_runs)} runs in {Path(path).name}"}
    return frame
