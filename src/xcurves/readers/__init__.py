"""Readers of what other packages log: each function returns a tidy frame for `xcurves.to_dataarray`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from xcurves.core import provenance
from xcurves.core.labels import did_you_mean
from xcurves.readers import (
    cleanrl,
    evaluations,
    huggingface,
    hydra,
    keras,
    lightning,
    marl_eval,
    mlflow,
    monitor,
    optuna,
    paths,
    rliable,
    rllib,
    sklearn,
    table,
    tensorboard,
    wandb,
    wandb_chart,
)
from xcurves.readers.source import Source

__all__ = [
    "cleanrl", "evaluations", "huggingface", "hydra", "keras", "lightning", "marl_eval", "mlflow", "monitor",
    "optuna", "read", "rliable", "rllib", "sklearn", "table", "tensorboard", "wandb",
    "wandb_chart",
]  # fmt: skip

# In the order in which a path is compared with them: what leaves other packages' files beside its own comes first.
SOURCES = (
    hydra.SOURCE,
    rllib.SOURCE,
    mlflow.STORE,
    mlflow.DATABASE,
    monitor.SOURCE,
    evaluations.SOURCE,
    cleanrl.SOURCE,
    lightning.SOURCE,
    huggingface.SOURCE,
    keras.SOURCE,
    tensorboard.SOURCE,
    optuna.CURVES,
    optuna.TRIALS,
    marl_eval.SOURCE,
    rliable.SOURCE,
    wandb_chart.SOURCE,
    table.SOURCE,
)


def read(path: str | Path, *, source: str | None = None, folders: str | Sequence[str] | None = None) -> pd.DataFrame:
    r"""Read logs, whatever wrote them.

    Parameters
    ----------
    path : path
        A file, or a folder of runs. Hidden files and folders are left out; links that lead out of the folder are
        followed.
    source : str, optional
        What wrote the logs; recognised if left out. One of "cleanrl", "evaluations", "huggingface", "hydra", "keras",
        "lightning", "marl-eval", "mlflow", "mlflow-database", "monitor", "optuna", "optuna-trials", "rliable", "rllib",
        "table", "tensorboard", "wandb-chart".
    folders : str or sequence of str, optional
        For sources with a folder for each run, the column for each level of folders below `path`, such as ``("task",
        "algorithm", "run")``; ``("algorithm", "run")`` if left out.

    Returns
    -------
    DataFrame
        What the reader of the source returns, one row per score; ``frame.attrs["source"]`` says what was read.

    Raises
    ------
    FileNotFoundError
        If there is nothing at `path`, or nothing of the source.
    ValueError
        If nothing is recognised: the message lists what can be read. If `source` is unknown, if `folders` does not fit,
        or if a file is damaged.
    ImportError
        If the source needs a package that is not installed.

    Warns
    -----
    UserWarning
        If a folder holds logs of several sources: which one is read, and how to choose. If a run lacks a column that
        most runs have, or has no rows.

    Examples
    --------
    >>> import pathlib, tempfile, xcurves
    >>> root = pathlib.Path(tempfile.mkdtemp())
    >>> (root / "sac" / "0").mkdir(parents=True)
    >>> text = '#{"t_start": 0.0, "env_id": "Hopper-v4"}\nr,l,t\n10.0,20,0.5\n12.0,30,0.9\n'
    >>> _ = (root / "sac" / "0" / "monitor.csv").write_text(text)
    >>> frame = xcurves.readers.read(root)
    >>> frame.attrs["source"].split(" below")[0]
    'Stable-Baselines3 Monitor logs'
    """
    known = recognize(path, source)
    if folders is None:
        return known.read(path)
    if not known.by_folders or Path(path).is_file():
        of = f"{path} is one file" if Path(path).is_file() else f"logs of {known.name} name their runs themselves"
        raise ValueError(f"folders={folders!r} names levels of folders, but {of}. Leave it out")
    return known.read(path, folders=folders)


def recognize(path: str | Path, source: str | None = None, *, besides: Sequence[str] = ()) -> Source:
    """Return the source of logs: the one that is named, or the first that a file is of; not one of `besides`."""
    files = paths.files_below(path)
    known = {each.name: each for each in SOURCES if each.name not in besides}
    if source is not None:
        if source not in known:
            near = did_you_mean(source, known)
            raise ValueError(f"source={source!r} is unknown; it is one of {', '.join(known)}{near}")
        return known[source]
    found = [each for each in known.values() if _is_there(each, Path(path), files)]
    if not found:
        listed = "; ".join(f"{each.what} ({each.name!r})" for each in known.values())
        raise ValueError(f"path {str(path)!r} is nothing that is recognised. What can be read: {listed}")
    first, *others = found
    also = [each.name for each in others if each.name not in first.also_writes and not _covers(first, each)]
    if also and Path(path).is_dir():
        provenance.warn(f"{path} is read as {first.name!r} and holds {', '.join(also)} too. Choose: source={also[0]!r}")
    return first


def _is_there(source: Source, path: Path, files: Sequence[Path]) -> bool:
    return not (source.single and path.is_dir()) and any(map(source.is_log, files))


def _covers(first: Source, other: Source) -> bool:
    """Return whether files of `other` are expected beside `first`: Hydra's jobs hold any logs, a table is any CSV."""
    return first is hydra.SOURCE or other is table.SOURCE
