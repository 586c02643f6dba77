"""Readers of what other packages log: each function returns a tidy frame for `xcurves.to_dataarray`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from xcurves.core import provenance
from xcurves.core.calls import later, names_options
from xcurves.core.direction import HIGHER, is_score_alone
from xcurves.core.known import Known
from xcurves.core.labels import DIMS
from xcurves.core.names import is_fold
from xcurves.core.refusal import Refusal, give
from xcurves.readers import declared, logs, packages
from xcurves.readers.cells import as_numbers, decimal_mark
from xcurves.readers.open_files import expanding_to
from xcurves.readers.source import Source

if TYPE_CHECKING:
    from xcurves.readers import hydra, keras, listing, mlflow, optuna, rliable, sklearn, wandb
else:
    (listing,) = later(__package__, "listing")

__all__ = ["hydra", "keras", "mlflow", "optuna", "read", "rliable", "sklearn", "wandb"]

# In the order in which a path is compared with them: what leaves other packages' files beside its own comes first.
SOURCES = (
    packages.HYDRA,
    packages.RLLIB,
    packages.MLFLOW,
    packages.MLFLOW_DATABASE,
    packages.EVALUATIONS,  # before those of training
    packages.MONITOR,
    packages.SB3_TEXT,
    packages.SACRED,
    packages.CLEANRL,
    *declared.OF_PACKAGES,
    packages.TENSORBOARD,
    packages.LM_EVAL_SAMPLES,
    packages.LM_EVAL,
    packages.INSPECT,
    packages.IOH,
    packages.COCO,
    packages.KERAS_TUNER,
    packages.HPBANDSTER,
    packages.SMAC,
    packages.OPTUNA_CURVES,
    packages.OPTUNA_TRIALS,
    packages.MARL_EVAL,
    packages.RLIABLE_UNNAMED,
    packages.RLIABLE_FILES,
    packages.RLIABLE,
    packages.RLIABLE_CURVES,
    packages.RLIABLE_TURNED,
    packages.WANDB_CHART,
    packages.CLEARML,
    packages.PYTEST_BENCHMARK,
    packages.HYPERFINE,
    *packages.TABLES_OF_SCORES,
    *declared.GENERAL,
)
TABLES_OF_SCORES = tuple(source.name for source in packages.TABLES_OF_SCORES)


def __getattr__(name: str) -> Any:
    """Import a module of functions when it is first used."""
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@names_options
def read(
    path: str | Path,
    *,
    source: str | None = None,
    folders: str | Sequence[str] | None = None,
    names: str | None = None,
    decimal: Literal[",", "."] | None = None,
    max_expanded: float = 1e9,
) -> pd.DataFrame:
    r"""Read logs, whatever wrote them.

    Parameters
    ----------
    path : path
        A file, or a folder of runs. Hidden files and links are left out; a folder with one file is read as that file.
    source : str, optional
        What wrote the logs, recognised if left out: one of the names under Notes.
    folders : str or sequence of str, optional
        For sources with files for each run, the column for each level of folders below `path`, such as ``("task",
        "algorithm", "run")``. If left out, the column `run_path` says where each run lies, and curves are called as
        folders and configurations say.
    names : str, optional
        In place of `folders`, how the paths below `path` of runs' folders or files are made:
        ``"{algorithm}_seed{run}.csv"``, ``"{task}/{algorithm}-{run}"``. A part in braces is any text without a slash,
        or what a regular expression after a comma matches: ``{run,\d+}``. For a chart of Weights & Biases, how the
        names of its runs are made.
    decimal : {",", "."}, optional
        The decimal mark of numbers with commas, where a column does not say it: 1,234 is 1.234 or 1234. A column with
        both marks, several groups of three digits, or other numbers of digits says it by itself.
    max_expanded : float
        Bytes to which a compressed file (gzip, npz) may expand; one that expands to more is refused.

    Returns
    -------
    DataFrame
        One row per score, after the columns that say which run it is of. ``frame.attrs["source"]`` says what was read.

    Raises
    ------
    FileNotFoundError, ImportError
        If there is nothing at `path`, or nothing of the source; if the source needs a package that is not installed.
    ValueError
        If nothing is recognised: the message names the nearest sources. If `source` is unknown, if `folders` or `names`
        do not fit, or if a file is damaged.

    Warns
    -----
    UserWarning
        If a folder holds logs of several sources: which one is read, and how to choose. If a run has no rows, if
        `names` leave logs out, or if the last line of a file is cut short.

    Notes
    -----
    What can be read, with the name of each source:

    {sources}

    Examples
    --------
    >>> import pathlib, tempfile, xcurves
    >>> root = pathlib.Path(tempfile.mkdtemp())
    >>> for run in (1, 2):
    ...     _ = (root / f"mlp_seed{run}.csv").write_text("epoch,loss,val_loss\n0,0.9,1.1\n1,0.5,0.7\n")
    >>> frame = xcurves.readers.read(root, names="{algorithm}_seed{run}.csv")
    >>> frame.head(2)
      algorithm  run  epoch  loss  val_loss
    0       mlp    1      0   0.9       1.1
    1       mlp    1      1   0.5       0.7
    >>> frame.attrs["source"].split(" below")[0]
    'Keras CSVLogger files'
    """
    with expanding_to(max_expanded), decimal_mark(decimal):
        known = recognize(path, source)
        frame = as_numbers(read_known(path, known, folders, names))
    return told(frame, known, folders, names, path)


def _in_docstring(source: Source) -> str:
    """Return the line of a source, with patterns of files as code: a star alone would begin an emphasis."""
    files = re.sub(r"[\w.]*\*[\w.*]*", r"``\g<0>``", source.logs)
    return f'* ``"{source.name}"``: {source.what} ({files})'


read.__doc__ = str(read.__doc__).replace("{sources}", "\n    ".join(map(_in_docstring, SOURCES)))


def read_known(
    path: str | Path,
    known: Source,
    folders: str | Sequence[str] | None,
    names: str | None,
) -> pd.DataFrame:
    """Read logs whose source is known, texts as they are."""
    if folders is None:
        path = logs.only_file(path)
    if folders is not None and names is not None:
        raise Refusal(
            "names",
            names,
            f"is of the whole path below {path}, and so is folders=",
            "Leave one out",
        )
    if not known.reads_whole(path) and (folders is None or not Path(path).is_file()):
        return logs.read_each_run(path, known, folders, names)
    if folders is not None:
        of = f"logs of {known.name} name their runs themselves"
        if Path(path).is_file():
            of = f"{path} is one file"
        raise Refusal("folders", folders, f"names levels of folders, but {of}", "Leave it out")
    assert known.read_all is not None
    try:
        frame = known.read_all(path)
    except IsADirectoryError:  # arrays of several files are read together
        found = [(each, known) for each in logs.find_logs(path, known)]
        raise listing.read_by_itself(path, found) from None
    if names is not None and "name" not in frame:
        raise Refusal(
            "names",
            names,
            f"says how runs are named, but logs of {known.name} say it",
            "Leave it out",
        )
    if names is None:
        return frame
    return logs.split_names(frame, names)


def told(
    frame: pd.DataFrame,
    source: Source,
    folders: str | Sequence[str] | None,
    names: str | None,
    path: str | Path = "",
) -> pd.DataFrame:
    """Return a frame whose attrs have what its source, and the names of its runs or file, say of the columns."""
    named: Sequence[str] = re.findall(r"{(\w+)", names or "")
    if isinstance(folders, str):
        named = [folders]
    elif folders is not None:
        named = list(folders)
    several = [name for name in source.extra if name in frame and len(frame[name].unique()) > 1]
    named = [name for name in named if not re.fullmatch(r"folder\d*", name)]
    tasks = [name for name in (*named, *several) if name in frame and name not in DIMS and not is_fold(name)]
    higher = frame.attrs.get(HIGHER)
    title = Path(path).name.partition(".")[0]
    return Known(
        source.name,
        source.training,
        source.value,
        lower_is_better=not higher if isinstance(higher, int) else None,
        metric=source.metric or None,
        rival=frame.attrs.pop(logs.RIVAL, None),
        places=frame.attrs.pop(logs.PLACES, None),
        extra=tasks,
        title=title if is_score_alone(title) and Path(path).is_file() else "",
    ).told(frame)


def recognize(path: str | Path, source: str | None = None, *, besides: Sequence[str] = ()) -> Source:
    """Return the source of logs: the one that is named, or the first that a file is of; not one of `besides`."""
    of_all, path = path, logs.only_file(path)
    files = logs.files_below(path, *(each.hidden for each in SOURCES))
    known = {each.name: each for each in SOURCES if each.name not in besides}
    if source is not None:
        if source in known:
            return known[source]
        raise listing.unknown(source, known)
    is_folder = Path(path).is_dir()
    wanted = [each for each in known.values() if not (is_folder and each.single)]
    found = [each for each in wanted if any(map(each.has, logs.candidates(each, files, path)))]
    if not found:
        alone = [(file, each) for file in files for each in known.values() if each.single and each.has(file)]
        if alone:
            raise listing.read_by_itself(path, alone)
        raise listing.nothing_found(of_all, files, list(known.values()))
    first, *others = found
    charts = [
        (file, packages.WANDB_CHART) for file in files if is_folder and first.general and packages.WANDB_CHART.has(file)
    ]
    if charts and source is None:
        raise listing.read_by_itself(path, charts)
    also = [each.name for each in others if each.name not in first.also_writes and not each.general]
    if also and is_folder and first is not packages.HYDRA:
        provenance.warn(
            f"{path} is read as {first.name!r} and holds {', '.join(also)} too. Choose: {give(source=also[0])}"
        )
    return first
