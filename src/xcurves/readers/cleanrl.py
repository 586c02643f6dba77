"""Scalars that CleanRL logged, in TensorBoard folders named ``env__exp__seed__time``."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from xcurves.readers import paths, tensorboard
from xcurves.readers.source import Source

_NAME = re.compile(r"(?P<task>.+)__(?P<algorithm>.+)__(?P<run>\d+)__(?P<began>\d+)")


def run_scalars(root: str | Path) -> pd.DataFrame:
    """Read all scalars of all CleanRL runs directly below a folder.

    Parameters
    ----------
    root : path
        Folder of the runs' folders, such as ``runs/Hopper-v4__sac_continuous_action__1__1700000000``.

    Returns
    -------
    DataFrame
        One row per scalar: `task`, `algorithm` and `run` (the seed), `began` (s since 1970), and the `tag`, `step`,
        `wall_time` and `value` of `tensorboard.scalars`. ``charts/episodic_return`` is the tag of returns; every run
        has steps of its own: ``to_dataarray("value", training="step", extra="task", on=[...], method="mean")``.

    Raises
    ------
    ImportError
        If tensorboard is not installed.
    FileNotFoundError
        If there is nothing to read.
    ValueError
        If a folder has another name, or if a seed of an algorithm was run twice in a task.

    Warns
    -----
    UserWarning
        As `tensorboard.scalars`.

    Examples
    --------
    >>> from xcurves.readers import cleanrl
    >>> frame = cleanrl.run_scalars("runs")  # doctest: +SKIP
    """
    frame = tensorboard.scalars(root, folders="name")
    parts = frame["name"].astype(str).str.extract(f"^{_NAME.pattern}$")
    if parts.isna().to_numpy().any():
        name = frame["name"][parts.isna().any(axis=1)].iloc[0]
        raise ValueError(
            f"{Path(root) / str(name)} is not named env__exp__seed__time. "
            "Read it by tensorboard.scalars(root, folders=...)"
        )
    runs = parts.assign(run=paths.whole_numbers(parts["run"]), began=parts["began"].astype("int64"))
    twice = runs.drop_duplicates()[["task", "algorithm", "run"]].duplicated(keep=False)
    if twice.any():
        same = frame["name"].loc[twice.index[twice]].tolist()
        raise ValueError(f"{same[0]} and {same[1]} in {root} are one seed run twice. Remove one of them")
    read = pd.concat([runs, frame.drop(columns="name")], axis=1)
    read.attrs = frame.attrs | {"source": f"CleanRL runs {paths.where(root)}"}
    return read


def _is_log(path: Path) -> bool:
    return tensorboard.SOURCE.is_log(path) and _NAME.fullmatch(path.parent.name) is not None


SOURCE = Source(
    "cleanrl",
    "a folder of CleanRL's runs (env__exp__seed__time)",
    _is_log,
    run_scalars,
    value="value",
    extra=("task",),
    also_writes=("tensorboard",),
)
