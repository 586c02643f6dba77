"""Lines and tokens of each room, lines of tests and words of pages beside their budgets: `python tests/sizes.py`."""

import io
import tokenize
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUDGETS = {
    "kernels": 6_900,
    "learning_curves": 3_300,
    "experiments": 2_300,
    "distributions": 2_150,
    "core": 2_000,
    "multi_task": 1_750,
    "readers": 1_650,
    "anova": 1_550,
    "simulation": 1_550,
    "preprocessing": 1_400,
    "target_times": 1_100,
    "plotting": 1_000,
    "reporting": 880,
    "profile": 870,
    "group_sequential": 800,
    "gating": 700,
    "cli": 500,
    "archive": 400,
    "accessors": 200,
    "the rest": 600,
}
MADE = ("calibration", "benchmarks", "reliability", "changelog")  # by commands
ARCHIVE = ("archive", "archive_formats", "atomic_write")
NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}


def room_of(path):
    if path.stem in ARCHIVE:
        return "archive"
    room = path.relative_to(ROOT / "src" / "xcurves").parts[0]
    return room if room in BUDGETS else "the rest"


def count(path):
    """Return the lines of a file, its lines of code, and its tokens of code: no comments, no docstrings."""
    text = path.read_text(encoding="utf-8")
    tokens, code_lines, new = 0, set(), True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_docstring = token.type == tokenize.STRING and new
        if token.type not in NO_CODE and token.type != tokenize.ENDMARKER and not is_docstring:
            tokens += 1
            code_lines.update(range(token.start[0], token.end[0] + 1))
        new = token.type in {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.NL, tokenize.COMMENT} and (
            new or token.type != tokenize.NL
        )
        new = new or token.type == tokenize.ENCODING
    return len(text.splitlines()), len(code_lines), tokens


def main():
    rooms = {room: [0, 0, 0, 0] for room in BUDGETS}
    for path in sorted((ROOT / "src" / "xcurves").rglob("*.py")):
        for place, number in enumerate((1, *count(path))):
            rooms[room_of(path)][place] += number
    rooms["in all"] = [sum(column) for column in zip(*rooms.values(), strict=True)]
    print(f"{'room':<18}{'files':>6}{'lines':>8}{'budget':>8}{'tokens':>9}{'a line of code':>16}")
    for room, (files, lines, code_lines, tokens) in rooms.items():
        budget = BUDGETS.get(room, 30_500)
        print(f"{room:<18}{files:>6}{lines:>8}{budget:>8}{tokens:>9}{tokens / max(code_lines, 1):>16.1f}")
    tests = [len(path.read_text(encoding="utf-8").splitlines()) for path in (ROOT / "tests").rglob("*.py")]
    pages = [path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts and path.stem not in MADE]
    words = sum(len(path.read_text(encoding="utf-8").split()) for path in pages)
    print(f"{'lines of tests':<18}{len(tests):>6}{sum(tests):>8}{32_000:>8}")
    print(f"{'words of pages':<18}{len(pages):>6}{words:>8}{28_000:>8}")


if __name__ == "__main__":
    main()
