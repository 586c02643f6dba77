"""Counts of how plain the code is, a line for each room: `python tests/tools/counts.py`. No number is a limit."""

import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "xcurves"
NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}
HEADS = (
    "files",
    "lines",
    "tokens a line",
    "comments",
    "conditionals",
    "for as if",
    "x * condition",
    "nested",
)


def count_tokens(text: str) -> Counter[str]:
    """Return lines of code, tokens and comments, without docstrings."""
    found = Counter(files=1, lines=len(text.splitlines()))
    code_lines = set()
    docstrings = places_of_docstrings(ast.parse(text))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            found["comments"] += 1
        elif token.type not in NO_CODE and token.start not in docstrings:
            found["tokens"] += 1
            code_lines.update(range(token.start[0], token.end[0] + 1))
    found["code"] = len(code_lines)
    return found


def places_of_docstrings(tree: ast.AST) -> set[tuple[int, int]]:
    """Return where texts stand that are statements of their own."""
    return {
        (node.lineno, node.col_offset)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    }


def count_shapes(tree: ast.AST) -> Counter[str]:
    """Return how often conditions stand in an expression, a loop stands for an if, or a text is multiplied by one."""
    found: Counter[str] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.IfExp | ast.NamedExpr):
            found["conditionals"] += 1
        if isinstance(node, ast.IfExp):
            inside = (child for part in ast.iter_child_nodes(node) for child in ast.walk(part))
            found["nested"] += any(isinstance(child, ast.IfExp) for child in inside)
        if isinstance(node, ast.For) and is_first_only(node.iter):
            found["for as if"] += 1
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            found["x * condition"] += is_text_or_list(node.left) and not is_number(node.right)
    return found


def is_first_only(node: ast.expr) -> bool:
    """Return whether an expression ends in ``[:1]``."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Slice):
        return False
    upper = node.slice.upper
    return node.slice.lower is None and isinstance(upper, ast.Constant) and upper.value == 1


def is_text_or_list(node: ast.expr) -> bool:
    """Return whether an expression is written out as a text or a list."""
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return is_text or isinstance(node, ast.JoinedStr | ast.List)


def is_number(node: ast.expr) -> bool:
    """Return whether an expression is a number as far as it can be seen: a repeat by it is no condition."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id != "bool"
    if isinstance(node, ast.Name | ast.Attribute):
        name = node.id if isinstance(node, ast.Name) else node.attr
        return name == "n" or name.startswith("n_")
    return isinstance(node, ast.Constant | ast.BinOp | ast.Subscript | ast.Call)


def main() -> None:
    """Print a line for each room, and one for all."""
    rooms: dict[str, Counter[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).parts
        text = path.read_text(encoding="utf-8")
        counted = count_tokens(text) + count_shapes(ast.parse(text))
        for room in (parts[0] if len(parts) > 1 else "top", "in all"):
            rooms.setdefault(room, Counter()).update(counted)
    rooms["in all"] = rooms.pop("in all")
    print(f"{'room':<18}" + "".join(f"{head:>15}" for head in HEADS))
    for room, found in rooms.items():
        thousand = found["lines"] / 1000
        values = (
            f"{found['files']}",
            f"{found['lines']:,}",
            f"{found['tokens'] / found['code']:.1f}",
            f"{found['comments'] / thousand:.0f}",
            f"{found['conditionals'] / thousand:.0f}",
            f"{found['for as if']}",
            f"{found['x * condition']}",
            f"{found['nested']}",
        )
        print(f"{room:<18}" + "".join(f"{value:>15}" for value in values))
    print("comments and conditionals: for 1,000 lines")


if __name__ == "__main__":
    main()
