"""Metrics that the Trainer of Hugging Face Transformers logged."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from xcurves.readers import paths
from xcurves.readers.source import Source

_CHECKPOINT = re.compile(r"checkpoint-\d+")
_ONCE = ("total_flos", "train_runtime", "train_samples_per_second", "train_steps_per_second")


def trainer_state(root: str | Path, *, folders: str | Sequence[str] = paths.FOLDERS) -> pd.DataFrame:
    """Read the history of each run below a folder from its last ``trainer_state.json``.

    Parameters
    ----------
    root : path
        Folder of the runs' output folders, or one file. Of a run's ``checkpoint-500/trainer_state.json``,
        ``checkpoint-1000/trainer_state.json``, ... the one with most steps has the whole history and is read.
    folders : str or sequence of str
        Column for each level of folders below `root`, down to the output folder of a run.

    Returns
    -------
    DataFrame
        One row per run and step: the folders, `step`, `epoch`, and what was logged, such as `loss`, `eval_loss` and
        `learning_rate`. What was logged at one step is one row. The totals logged at the end of training, such as
        ``train_runtime``, are no curve and left out; so is ``train_loss``, the mean over the whole training.

    Raises
    ------
    FileNotFoundError
        If there is nothing to read.
    ValueError
        If a file is cut short or has no history, or if `folders` does not fit.

    Warns
    -----
    UserWarning
        If the history of a run is empty; it is left out.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> from xcurves.readers import huggingface
    >>> root = pathlib.Path(tempfile.mkdtemp())
    >>> (root / "bert" / "0" / "checkpoint-2").mkdir(parents=True)
    >>> history = [{"step": 1, "epoch": 0.5, "loss": 2.0}, {"step": 2, "epoch": 1.0, "eval_loss": 1.5}]
    >>> state = json.dumps({"global_step": 2, "log_history": history})
    >>> _ = (root / "bert" / "0" / "checkpoint-2" / "trainer_state.json").write_text(state)
    >>> huggingface.trainer_state(root)
      algorithm  run  step  epoch  loss  eval_loss
    0      bert    0     1    0.5   2.0        NaN
    1      bert    0     2    1.0   NaN        1.5
    """
    frame = paths.read_runs(root, _is_log, "trainer_state.json", folders, _run, _run_folder)
    frame.attrs = {"units": {"step": "steps"}, "source": f"Hugging Face Trainer logs {paths.where(root)}"}
    return frame


def _is_log(path: Path) -> bool:
    return path.name == "trainer_state.json"


def _run_folder(folder: Path) -> Path:
    return folder.parent if _CHECKPOINT.fullmatch(folder.name) else folder


def _run(files: Sequence[Path]) -> paths.Run:
    state = max(map(_state, files), key=lambda state: int(state["global_step"]))
    history = [row for row in state["log_history"] if not set(_ONCE) & set(row)]
    columns = dict.fromkeys(["step", "epoch", *(name for row in history for name in row)])
    return paths.Run(paths.merge_steps(pd.DataFrame(history, columns=list(columns))))


def _state(path: Path) -> dict[str, Any]:
    try:
        state: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if not all("step" in row for row in state["log_history"]) or "global_step" not in state:
            raise ValueError("its rows have no step")
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"{path} is cut short or no Trainer state: {error}. Copy it again, or remove it") from None
    return state


SOURCE = Source(
    "huggingface",
    "a folder of Hugging Face's trainer_state.json",
    _is_log,
    trainer_state,
    by_folders=True,
    also_writes=("tensorboard",),
)
