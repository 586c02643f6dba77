"""Every input of the corpus is read as it should be, by the shell and by Python alike; every proposed command reads."""

from __future__ import annotations

import ast
import re
import shlex
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xcurves
from frames import (
    corpus,
    corpus_folders,
    corpus_long,
    corpus_near_misses,
    corpus_orders,
    corpus_rows,
    corpus_searches,
    corpus_sources,
    corpus_unnamed,
    corpus_wide,
)
from layers import slow
from refusals import ANY, refused
from xcurves.cli.curves_asked import curves_of_options, with_direction
from xcurves.cli.options import parser, settle
from xcurves.cli.shell_words import Shell
from xcurves.cli.sources import open_archive, read_as, select
from xcurves.core import direction
from xcurves.core.doubts import Doubtful
from xcurves.core.labels import extra_dims
from xcurves.core.refusal import written_for
from xcurves.frames.make_curves import rows_said

SETS = (
    corpus,
    corpus_folders,
    corpus_long,
    corpus_near_misses,
    corpus_orders,
    corpus_rows,
    corpus_searches,
    corpus_sources,
    corpus_unnamed,
    corpus_wide,
)
INPUTS = {name: case for each in SETS for name, case in each.INPUTS.items()}
MOST_COMMANDS = 4


def write(files, root: Path) -> Path:
    """Write files below a folder; return the one file, or the folder."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, corpus.Link):
            path.symlink_to(content)
        elif isinstance(content, pd.DataFrame):
            content.to_csv(path, index=False)
        elif isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content)
    names = list(files)
    if len(names) == 1 and "/" not in names[0]:
        return Path(names[0])
    return Path(names[0].split("/")[0])


def options_of(typed):
    """Return the options of words after `python -m xcurves`."""
    options = parser().parse_args([str(word) for word in typed])
    options.given = list(map(str, typed))
    settle(options)
    return options


def by_shell(typed) -> tuple[xr.DataArray, str]:
    """Return the curves that the shell reads, and the lines that it says."""
    options = options_of(typed)
    with written_for(Shell(options)):
        opened = open_archive(options)
        named, said = read_as(select(opened, options), options)
        (_, curves), *_ = curves_of_options(named, options)
        curves, which = with_direction(curves, options)
    of_runs = curves.attrs.get("named_by", "")
    return curves, "\n".join([of_runs, said, *rows_said(curves), which])


def by_python(typed) -> xr.DataArray:
    """Return the curves that Python reads, with the same things said."""
    options = parser().parse_args([str(word) for word in typed])
    settle(options)
    how = {"source": options.source, "folders": options.folders, "names": options.names}
    how["decimal"] = options.decimal
    frame = xcurves.readers.read(options.archive, **how)
    for each in options.select:
        name, _, label = each.partition("=")
        frame = frame[frame[name].astype(str) == label]
    return frame.curves.to_dataarray(**arguments(options))


def arguments(options) -> dict:
    """Return the arguments of `to_dataarray` that options say."""
    said = {}
    if options.value:
        said["value"] = options.value[0]
    for name in ("algorithm", "run", "training", "columns"):
        if getattr(options, name) is not None:
            said[name] = getattr(options, name)
    if said.get("training") == "none":
        said["training"] = None
    if options.extra:
        said["extra"] = None if options.extra == ["none"] else options.extra
    for name, usual in (("duplicates", "raise"), ("missing_scores", None)):
        if getattr(options, name) != usual:
            said[name] = getattr(options, name)
    if options.resumed:
        said["resumed"] = True
    if options.higher_is_better is not None:
        said["higher_is_better"] = options.higher_is_better
    return said


def check(curves: xr.DataArray, right: corpus.Read) -> None:
    """Compare curves with what is right."""
    column_of = {name: curves[name].attrs.get("long_name", name) for name in curves.coords}
    if right.score is not None:
        assert str(curves.name) == right.score
    for dim in ("algorithm", "run", "training"):
        if getattr(right, dim) is not None:
            assert column_of.get(dim) == getattr(right, dim)
    tasks = extra_dims(curves)
    if right.tasks is not None:
        assert set(tasks) == set(right.tasks)
    n_tasks = 1
    if tasks:
        n_tasks = curves.stack(_all=tasks).dropna("_all", how="all").sizes["_all"]
    assert n_tasks == right.n_tasks
    sizes = {"algorithm": right.algorithms, "run": right.runs, "training": right.levels}
    for dim, size in sizes.items():
        if size is not None:
            assert curves.sizes.get(dim, 1) == size, (dim, dict(curves.sizes))
    assert direction.find(curves).higher is not right.lower
    assert (curves["run"].attrs.get("matched") == "fold") is right.matched
    if right.groups:
        assert right.groups in curves.coords
    if right.difference is not None:
        last = curves.isel(training=-1).mean([*tasks, "run"])
        found = float(last.isel(algorithm=0) - last.isel(algorithm=1))
        assert found == pytest.approx(right.difference, abs=0.005)
    if right.mean is not None:
        assert float(curves.isel(training=-1, algorithm=0).mean()) == pytest.approx(right.mean)


def alike(one: xr.DataArray, other: xr.DataArray) -> None:
    """Compare the curves of the shell with those of Python."""
    dims = [dim for dim in one.dims if dim in other.dims]
    one, other = (each.squeeze() for each in (one, other))
    other = other.transpose(*one.dims)
    for dim in one.dims:
        assert one[dim].to_numpy().tolist() == other[dim].to_numpy().tolist()
    np.testing.assert_array_equal(one.to_numpy(), other.to_numpy())
    assert direction.find(one).higher is direction.find(other).higher
    assert dims


NUMBER = r"(one|\d[\d,]*)"
COUNTED = {
    "algorithm": rf"{NUMBER} algorithms?",
    "task": rf"{NUMBER} tasks?",
    "run": rf"{NUMBER}(?: to {NUMBER})? runs?(?: each)?",
    "training": rf"(?:at|of) {NUMBER} steps?",
}


def check_counts(curves: xr.DataArray, said: str) -> None:
    """Compare the numbers of algorithms, tasks, runs and steps that are said of curves with those that they have."""
    tasks = extra_dims(curves)
    has_score = curves.notnull().any([dim for dim in curves.dims if dim not in ("algorithm", "run", *tasks)])
    n_runs = has_score.sum("run")
    found = {
        "algorithm": [has_score.any([dim for dim in has_score.dims if dim != "algorithm"]).sum()],
        "task": [has_score.any(["algorithm", "run"]).sum()],
        "run": [n_runs.where(n_runs > 0).min(), n_runs.max()],
        "training": [curves.sizes["training"]],
    }
    for what, pattern in COUNTED.items():
        match = re.search(pattern, said)
        if match:
            numbers = [int(each.replace("one", "1").replace(",", "")) for each in match.groups() if each]
            assert {*numbers} == {*map(int, found[what])}, (said, what)


def commands_of(message: str) -> list[tuple[list[str], str]]:
    """Return the words of each command that a question proposes, and what it says that they compare."""
    proposed = [line for line in message.split("\n")[1:] if line.strip()]
    return [(shlex.split(line, comments=True)[3:], line.partition("  # ")[2]) for line in proposed]


@pytest.fixture
def typed(request, tmp_path, monkeypatch):
    """Return the words after `python -m xcurves` of an input whose files are written."""
    monkeypatch.chdir(tmp_path)
    case = INPUTS[request.param]
    return case, [str(write(case.files(), tmp_path)), *case.typed]


def cases():
    """Yield inputs; of those that are answered alike the first is plain, the others are slow."""
    known = set()
    for each in SETS:
        for name, case in each.INPUTS.items():
            answer = (type(case.right), *answered(case.right))
            yield slow(name) if answer in known else name
            known.add(answer)


def answered(right):
    """Return the words of an answer, of a question the options between which it asks."""
    if isinstance(right, corpus.Asks) and right.then:
        return [frozenset(re.findall(r"--\S+", option)) for option in right.then]
    return [getattr(right, part, None) for part in ("words", "says")]


@pytest.mark.plain(36)
@pytest.mark.parametrize("typed", list(cases()), indirect=True)
def test_an_input_is_read_as_it_should_be(typed):
    case, words = typed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        if isinstance(case.right, corpus.Read):
            curves, said = by_shell(words)
            check(curves, case.right)
            assert case.right.says in said
            alike(curves, by_python(words))
        elif isinstance(case.right, corpus.Asks):
            asked(case.right, words)
        else:
            for call in (by_shell, by_python):
                with refused(ANY, names=re.escape(case.right.words)):
                    call(words)


def asked(right: corpus.Asks, words: list[str]) -> None:
    """Check a question, and follow every command that it proposes, and every call."""
    with refused(ANY, names=re.escape(right.words), kind=Doubtful) as caught:
        by_shell(words)
    assert caught.value.argument in ("frame", "path")
    with written_for(Shell(options_of(words))):
        proposed = commands_of(str(caught.value))
    assert 1 <= len(proposed) <= MOST_COMMANDS
    assert right.commands in (None, len(proposed))
    for command, compares in proposed:
        curves, _ = by_shell(command)
        check_counts(curves, compares)
        for part, read in right.then.items():
            if part in f"{shlex.join(command)} ":
                check(curves, read)
    for part in right.then:
        assert any(part in f"{shlex.join(command)} " for command, _ in proposed)
    with refused(ANY, names=re.escape(right.words), kind=Doubtful) as caught:
        by_python(words)
    calls = list(map(str, caught.value.cure.calls))
    assert len(calls) == len(proposed)
    assert str(caught.value).count("\n") == len(calls)
    if not calls[0].startswith("frame"):
        for call in calls:
            assert eval(call, {"xcurves": xcurves}).size
        return
    options = parser().parse_args(words)
    frame = xcurves.readers.read(
        options.archive,
        source=options.source,
        folders=options.folders,
        names=options.names,
    )
    for call in calls:
        ast.parse(call, mode="eval")
        curves = eval(call, {"frame": frame})
        assert curves.size


def test_the_corpus_has_inputs_of_every_kind():
    kinds = {type(case.right) for case in INPUTS.values()}
    assert kinds == {corpus.Read, corpus.Asks, corpus.Refuses}
