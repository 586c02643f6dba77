"""Every block of code of every page is run by something; what nothing else runs is run here."""

import ast
import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from xcurves.__main__ import main
from xcurves.cli import looks, watch
from xcurves.cli.options import parser

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    *(page for page in sorted(DOCS.rglob("*.md")) if "_build" not in page.parts),
]
WHITESPACE_AND_DOTS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


class Block(NamedTuple):
    """A block of a page, its language and the line that it begins at."""

    page: Path
    line: int
    language: str
    text: str


def blocks(page):
    """Return what stands in fences, and what is indented by four after an empty line."""
    text = page.read_text(encoding="utf-8")
    found = []

    def take(match):
        found.append(
            Block(
                page,
                text.count("\n", 0, match.start()) + 1,
                match["language"],
                match["body"],
            )
        )
        return "\n" * match.group().count("\n")

    rest = re.sub(
        r"^(?P<fence>```+|:::+)(?P<language>.*)\n(?P<body>(.*\n)*?)(?P=fence)$",
        take,
        text,
        flags=re.MULTILINE,
    )
    rest = re.sub(
        r"<!--.*?-->",
        lambda comment: "\n" * comment.group().count("\n"),
        rest,
        flags=re.DOTALL,
    )
    for match in re.finditer(r"(?<=\n\n)( {4}.*\n(\n*(?= {4}))?)+", rest):
        body = re.sub(r"^ {4}", "", match.group(), flags=re.MULTILINE)
        found.append(Block(page, rest.count("\n", 0, match.start()) + 1, "", body))
    return sorted(found, key=lambda block: block.line)


def is_python(block):
    """Whether a block is Python without prompts."""
    if block.language == "python":
        return ">>>" not in block.text
    try:
        return block.language == "" and bool(ast.parse(block.text).body)
    except SyntaxError:
        return False


def runner(block):
    """Return what runs a block; None if nothing does."""
    if block.language == "{code-cell} ipython3":
        return "the build of the site"
    if block.language == "python" and ">>>" in block.text:
        return "doctest"
    if is_python(block):
        return "test_coming_from.py" if block.page.stem == "coming-from" else "test_python_without_prompts_runs"
    return {
        "console": "test_calls_in_a_shell_run",
        "sh": "test_commands_name_files_that_are_there",  # and .ci/run those of the README
        "text": "nothing: formulas",
        "bibtex": "nothing: to be copied",
        "yaml": "cli/test_keep_or_drop.py",
    }.get(block.language, "nothing: layout" if block.language.startswith("{") else None)


BLOCKS = [block for page in PAGES for block in blocks(page)]


def opening(page, space):
    """Run the hidden lines that make what a page takes as given."""
    for comment in re.findall(r"<!--(.*?)-->", page.read_text(encoding="utf-8"), flags=re.DOTALL):
        for example in doctest.DocTestParser().get_examples(comment):
            exec(example.source, space)


def test_blocks_are_found():
    kinds = {runner(block) for block in BLOCKS}
    assert {
        "doctest",
        "the build of the site",
        "test_coming_from.py",
        "test_calls_in_a_shell_run",
    } <= kinds
    assert len(BLOCKS) > 130


def test_every_block_is_run():
    assert not [f"{block.page.name}:{block.line}" for block in BLOCKS if runner(block) is None]


# Python that a page shows without prompts, page by page in order, in a folder of its own.

SMALLER = {
    "s3://laboratory": "memory://laboratory",
    "n_workers=8, ": "processes=False, n_workers=1, ",
    "training=10_000": "training=2",
}
SCRIPTS = {}
for block in BLOCKS:
    if runner(block) == "test_python_without_prompts_runs":
        SCRIPTS.setdefault(block.page, []).append(block.text)


@pytest.mark.parametrize("page", SCRIPTS, ids=lambda page: page.name)
def test_python_without_prompts_runs(page, tmp_path):
    pytest.importorskip("dask")
    pytest.importorskip("zarr", minversion="3")
    script = "\n".join(SCRIPTS[page])
    for shown, here in SMALLER.items():
        script = script.replace(shown, here)
    given = [
        "import numpy as np, pandas as pd, xarray as xr, xcurves",
        "score = xcurves.tutorial.open_dataset('tictactoe')['score'].rename('return').isel(training=slice(1, None))",
        "tasks = xr.concat([score] * 4, xr.Variable('task', list('abcd'))).chunk(task=4)",
        "for store in ('curves.zarr', 'memory://laboratory/curves.zarr'):",
        "    tasks.to_zarr(store)",
    ]
    (tmp_path / "script.py").write_text("\n".join([*given, script]), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "script.py"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr


# Calls in a shell, in the order of the page, each with what it shows.


def calls(block):
    """Return the commands after `$` with the lines below each."""
    parts = re.split(r"^\$ (.*)\n", block.text, flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


CONSOLES = list(dict.fromkeys(block.page for block in BLOCKS if block.language == "console"))


@pytest.mark.parametrize("page", CONSOLES, ids=lambda page: page.name)
@pytest.mark.filterwarnings("ignore::UserWarning")  # the shell says them
def test_calls_in_a_shell_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    opening(page, {})
    for block in blocks(page):
        for command, shown in calls(block) if block.language == "console" else []:
            program, module, name, *arguments = shlex.split(command)
            assert (program, module, name) == ("python", "-m", "xcurves")
            status = main(arguments)
            out, err = capsys.readouterr()
            refused = re.search(r"^python -m xcurves: (?!warning: )", shown, re.MULTILINE)
            assert status == (2 if refused else 0), err
            assert doctest.OutputChecker().check_output(shown, out + err, WHITESPACE_AND_DOTS), (
                command + "\n" + out + err
            )


COMMAND_LINE = DOCS / "command-line.md"
OPTIONS = re.findall(r"`(--[a-z][^`]*)`", COMMAND_LINE.read_text(encoding="utf-8"))
CHOICES = re.search(
    r"## What is compared.*?(?=\n## )",
    COMMAND_LINE.read_text(encoding="utf-8"),
    re.DOTALL,
).group()
TABLE = shlex.split("returns.csv --value return --algorithm agent --run seed --training step --extra task")


@pytest.mark.parametrize("option", dict.fromkeys(OPTIONS))
def test_an_option_in_the_text_is_one(option):
    if " " in option:
        parser().parse_args(["returns.csv", *shlex.split(option)])
    else:
        assert any(
            option in each()._option_string_actions
            for each in (parser, *(command.parser for command in (looks.COMMANDS | watch.COMMANDS).values()))
        )


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_choices_of_what_is_compared_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    opening(COMMAND_LINE, {})
    choices = [
        option
        for option in re.findall(r"`(--[a-z][^`]*)`", CHOICES)
        if option not in ("--method", "--tolerance", "--normalize reference.csv")
    ]
    assert len(choices) >= 7
    for choice in choices:
        status = main([*TABLE, "--n-resamples", "99", *shlex.split(choice)])
        assert status == 0, (choice, capsys.readouterr().err)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_name_files_that_are_there(page):
    named = re.findall(
        r"(?<![\w/.])((?:tests|src|docs|notebooks)(?:/[\w.-]+)+)",
        page.read_text(encoding="utf-8"),
    )
    # a name may end a sentence
    there = [(ROOT / name.rstrip(".")).exists() or "_build" in name for name in named]
    assert all(there), named[there.index(False)]
    if "-m calibration" in page.read_text(encoding="utf-8"):
        assert (ROOT / "tests" / "tools" / "calibration" / "__main__.py").exists()
