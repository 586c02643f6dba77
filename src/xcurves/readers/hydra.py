"""Jobs of Hydra, each with its overrides beside the logs that another package wrote."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd

from xcurves.core.calls import names_options
from xcurves.core.refusal import UNSAID, Refusal, of_path
from xcurves.readers import logs
from xcurves.readers.log_files import check_cells, needed, parsing
from xcurves.readers.open_files import read_text
from xcurves.readers.packages import HYDRA

# Numbers of Hydra's grammar: no leading zero, digits parted by single underscores.
_UNSIGNED = r"(?:0|[1-9](?:_?\d)*)"
_POINT = rf"(?:{_UNSIGNED}\.|{_UNSIGNED}?\.\d(?:_?\d)*)"
_EXPONENT = rf"(?:{_POINT}|{_UNSIGNED})[eE][+-]?\d(?:_?\d)*"
_INT = re.compile(rf"[+-]?{_UNSIGNED}", re.ASCII)
_FLOAT = re.compile(rf"[+-]?(?:{_EXPONENT}|{_POINT}|inf|nan)", re.IGNORECASE | re.ASCII)
_ESCAPED = re.compile(r"\\([\\()\[\]{}:=, \t])")  # in text without quotes


@names_options
def multirun(root: str | Path, *, source: str | None = None) -> pd.DataFrame:
    r"""Read the logs of all jobs of a sweep, with a column for each override.

    Parameters
    ----------
    root : path
        Folder of the sweep, such as ``multirun/2026-01-31/10-15-00``, or of several. Each job has a folder with
        ``.hydra/overrides.yaml``, and one run's logs in it or in one folder below it.
    source : str, optional
        What wrote the logs, as in `xcurves.readers.read`; recognised if left out.

    Returns
    -------
    DataFrame
        The rows of the logs, after `job` (the folder below `root`) and the overrides under their names, as numbers
        where they are: ``optimizer.lr``, ``model``, ``seed``.

    Raises
    ------
    ImportError, FileNotFoundError, ValueError
        If PyYAML is not installed, which Hydra brings; if there are no jobs; if a job overrides what another one does
        not, or has no logs, or logs in several folders.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from xcurves.readers import hydra
    >>> job = pathlib.Path(tempfile.mkdtemp()) / "0"
    >>> (job / ".hydra").mkdir(parents=True)
    >>> _ = (job / ".hydra" / "overrides.yaml").write_text("- agent=sac\n- seed=3\n")
    >>> _ = (job / "returns.csv").write_text("step,return\n0,1.5\n100,2.5\n")
    >>> hydra.multirun(job.parent)
      job agent  seed  step  return
    0   0   sac     3     0     1.5
    1   0   sac     3   100     2.5
    """
    from xcurves.readers import recognize  # which knows this source too

    jobs = {file.parent.parent: _overrides(file) for file in logs.files_below(root, ".hydra") if HYDRA.has(file)}
    if not jobs:
        raise FileNotFoundError(f"{of_path(root)} holds no jobs of Hydra (.hydra/overrides.yaml). Check the path")
    first, wanted = next(iter(jobs.items()))
    frames, sources = [], set()
    for job, overrides in jobs.items():
        if overrides.keys() != wanted.keys():
            odd = ", ".join(sorted(overrides.keys() ^ wanted.keys()))
            raise Refusal(
                "path",
                UNSAID,
                f"{job} and {first} do not override the same: {odd}",
                "Read them separately, or add it to both",
            )
        known = recognize(job, source, besides=(HYDRA.name,))
        homes = list(dict.fromkeys(log.parent for log in logs.find_logs(job, known)))
        if len(homes) > 1:
            raise Refusal(
                "path",
                UNSAID,
                f"{job} has logs in {len(homes)} folders, such as {homes[0]} and {homes[1]}",
                "A job is one run: move the others out of the job",
            )
        rows = (
            known.read_all(job)
            if known.read_all and known.reads_whole(job)
            else logs.read_each_run(homes[0], known, ())
        )
        clash = sorted({"job", *overrides} & set(rows))
        if clash:
            raise Refusal(
                "path",
                UNSAID,
                f"{job} logs {clash[0]!r}, which is overridden too",
                "Rename the column of the log",
            )
        sources.add(rows.attrs["source"].partition(" below ")[0])
        labels = pd.DataFrame({"job": str(job.relative_to(root)), **overrides}, index=rows.index)
        frames.append(pd.concat([labels, rows], axis=1))
    frame = pd.concat(frames, ignore_index=True)
    logs_read = ", ".join(sorted(sources))
    if len(sources) > 3:
        logs_read = f"{len(sources)} kinds of logs"
    frame.attrs = rows.attrs | {"source": f"{len(jobs)} jobs of Hydra below {Path(root).name}: {logs_read}"}
    return frame


def _overrides(path: Path) -> dict[str, Any]:
    """Return what a job overrides, by name."""
    yaml = needed("yaml", "hydra", "PyYAML")
    with parsing(path, "overrides"):
        given = yaml.safe_load(read_text(path))
        overrides = given
        if given is None:
            overrides = []
        if not isinstance(overrides, list) or not all(isinstance(each, str) for each in overrides):
            raise ValueError("it must be a list of texts, name=value")
        kept = {}
        for override in overrides:
            name, equals, value = override.lstrip("+~").partition("=")
            if not name or not (equals or override.startswith("~")):
                raise ValueError(f"{override[:40]!r} is no name=value")
            kept[name] = _value(value)
        check_cells(pd.DataFrame([kept]), path)
    return kept


def _value(text: str) -> str | int | float:
    """Return a value as the grammar of Hydra's command line has it; null, lists, mappings and calls as text."""
    text = text.strip(" \t")
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return _unquoted(text[1:-1], text[0])
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if text[:1] in ("[", "{"):
        # which refuses what is no list or mapping
        needed("yaml", "hydra", "PyYAML").safe_load(text)
        return text
    return _ESCAPED.sub(r"\1", text)


def _unquoted(text: str, quote: str) -> str:
    """Return quoted text without the backslashes before quotes, of which each pair before a quote is one."""

    def halved(backslashes: str) -> str:
        return backslashes[: len(backslashes) // 2]

    text = re.sub(rf"(\\*)\\{quote}", lambda match: halved(match[1]) + quote, text)
    # The quote that ends the text is cut off already.
    return re.sub(r"(\\+)$", lambda match: halved(match[1]), text)
