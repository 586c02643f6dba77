"""What a terminal shows besides text, and that a file or a pipe has the same text without it."""

import io
import os
import re
import sys
import threading

import numpy as np
import pandas as pd
import pytest

from xcurves.__main__ import main
from xcurves.cli.terminal import PLAIN, Interval, Terminal, terminal_of, with_bars

pty = pytest.importorskip("pty")  # there is none on Windows
pytestmark = pytest.mark.usefixtures("here")
COLOUR = re.compile(r"\x1b\[\d+m")
BAR = re.compile(r" +[ ├┤─●│┼◂▸]+$", re.MULTILINE)


def write_tasks():
    rng = np.random.default_rng(0)
    rows = [
        (f"t{task}", name, run, shift + gap + rng.normal(0, 0.3))
        for task in range(8)
        for shift in [rng.normal()]
        for name, gap in (("ours", 2.0), ("base", 0.0), ("old", -0.1))
        for run in range(3)
    ]
    pd.DataFrame(rows, columns=["env", "agent", "seed", "return"]).to_csv("scores.csv", index=False)


def shown_in_terminal(monkeypatch, *arguments, columns=140, encoding="utf-8", **environment):
    """Return what a command prints to a terminal."""
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    reader, writer = pty.openpty()
    read = []

    def drain():
        while True:
            try:
                data = os.read(reader, 4096)
            except OSError:  # the other end is closed
                return
            if not data:
                return
            read.append(data)

    draining = threading.Thread(target=drain)
    draining.start()
    with os.fdopen(writer, "w", encoding=encoding, errors="replace") as terminal, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", terminal)
        assert main(list(arguments)) == 0
    draining.join()
    os.close(reader)
    return b"".join(read).decode(encoding).replace("\r\n", "\n")


@pytest.mark.slow
def test_a_terminal_has_bars_and_colours_and_a_pipe_the_same_text(monkeypatch, capsys):
    write_tasks()
    assert main(["scores.csv"]) == 0
    plain = capsys.readouterr().out
    assert not COLOUR.search(plain)
    assert "●" not in plain
    shown = shown_in_terminal(monkeypatch, "scores.csv")
    assert shown.count("●") == 5  # three algorithms and two pairs that are shown
    assert shown.count("\x1b[32m") == 3  # what may be best, and what is shown
    assert "\x1b[1mWhich algorithm is better over all tasks?\x1b[0m" in shown
    assert BAR.sub("", COLOUR.sub("", shown)) == plain
    assert max(map(len, COLOUR.sub("", shown).splitlines())) <= max(140, *map(len, plain.splitlines()))


@pytest.mark.slow
def test_no_color_is_respected(monkeypatch):
    write_tasks()
    shown = shown_in_terminal(monkeypatch, "scores.csv", NO_COLOR="1")
    assert not COLOUR.search(shown)
    assert "●" in shown


@pytest.mark.plain(1)
@pytest.mark.parametrize("how", [{"columns": 60}, {"encoding": "latin-1"}])
def test_a_narrow_terminal_and_one_without_unicode_have_no_bars(monkeypatch, how):
    write_tasks()
    shown = shown_in_terminal(monkeypatch, "scores.csv", **how)
    assert "├" not in shown
    assert "●" not in shown
    assert COLOUR.search(shown)


@pytest.mark.slow
def test_json_is_the_same_in_a_terminal(monkeypatch, capsys):
    write_tasks()
    assert main(["scores.csv", "--json"]) == 0
    assert shown_in_terminal(monkeypatch, "scores.csv", "--json") == capsys.readouterr().out


def test_a_file_is_plain_and_a_dumb_terminal_has_no_colours(monkeypatch):
    assert terminal_of(io.StringIO()) == PLAIN
    reader, writer = pty.openpty()
    with os.fdopen(writer, "w", encoding="utf-8") as stream:
        monkeypatch.setenv("TERM", "dumb")
        monkeypatch.setenv("COLUMNS", "100")
        assert terminal_of(stream) == Terminal(100, has_colours=False)
    os.close(reader)


def drawn(rows, origin=None, width=25):
    """Return the bars, without the text before them."""
    lines = ["head", *["row"] * len(rows)]
    return [line[6:] for line in with_bars(lines, rows, Terminal(6 + width), origin)[1:]]


def test_a_bar_has_its_ends_where_the_numbers_are():
    nan, inf = float("nan"), float("inf")
    rows = [
        Interval(0, 12, 24, False),
        Interval(6, 8, 10, False),
        Interval(12, 13, inf, False),
        Interval(nan, 3, nan, False),
    ]
    bars = drawn(rows)
    for row, bar in zip(rows, bars, strict=True):
        places = [(row.low, "├"), (row.estimate, "●"), (row.high, "┤")]
        for value, letter in places:
            if np.isfinite(value):
                assert bar[int(value)] == letter, bar
    assert bars[2] == " " * 12 + "├●" + "─" * 10 + "▸"
    assert bars[3] == "   ●"


def test_the_origin_is_a_line_through_all_rows():
    rows = [Interval(4, 8, 12, False), Interval(-4, 2, 8, False), Interval(8, 9, 20, False)]
    bars = drawn(rows, origin=0.0)
    assert [bar[4] for bar in bars] == ["│", "┼", "│"]


def test_no_bar_is_drawn_without_room_or_length():
    rows = [Interval(0, 1, 2, False)]
    assert with_bars(["head", "row"], rows, Terminal(21), None) == ["head", "row"]
    assert with_bars(["head", "row"], [Interval(1, 1, 1, False)], Terminal(99), None) == ["head", "row"]
    marked = with_bars(["head", "row"], [rows[0]._replace(is_marked=True)], Terminal(40, has_colours=True), None)
    assert marked[1].endswith("┤\x1b[0m")
