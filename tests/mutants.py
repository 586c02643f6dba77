"""Change the kernels at random places, one at a time, and count the changes that the tests notice.

``python tests/mutants.py 100 --seed 20261128`` draws 100 places, mutates each with an operator of cosmic-ray and runs
the tests of that kernel. ``--write`` puts the score into docs/contributing.md. It needs the extra ``mutation``.

Only a copy of the package in a temporary folder is changed. Each run of tests is a process of its own with a limit of
time; it is a fork of one that has imported what the tests need but nothing of xcurves.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import difflib
import importlib
import multiprocessing
import os
import platform
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "xcurves"
KERNELS = SOURCE / "kernels"
PAGE = ROOT / "docs" / "contributing.md"
MARKS = ("<!-- mutants -->\n", "<!-- end of mutants -->\n")

# Operators of cosmic-ray that need options, which this script gives none.
WITH_OPTIONS = {"core/VariableReplacer", "core/VariableInserter"}
# Bits of floating-point numbers are an error of numpy at once: such mutants would only raise the score.
OF_BITS = r"ReplaceBinaryOperator_(Add|Sub|Mul|Div|FloorDiv|Mod|Pow)_(\w+Shift|Bit\w+)"
FAMILIES = (
    "anova",
    "distributions",
    "learning_curves",
    "looks",
    "multi_task",
    "planning",
    "profile",
    "target_times",
)
KERNEL_TESTS, FAMILY_TESTS = "kernel tests", "tests of the methods"
SURVIVED = "survived"


@dataclass(frozen=True)
class Mutant:
    """One change of one module."""

    path: Path
    operator: str
    occurrence: int
    line: int
    code: str

    @property
    def room(self) -> str:
        """The folder of the kernel."""
        return self.path.parent.name

    def diff(self) -> str:
        """Return the lines that differ."""
        lines = difflib.unified_diff(
            self.path.read_text("utf-8").splitlines(),
            self.code.splitlines(),
            lineterm="",
            n=0,
        )
        return "\n".join(
            line for line in lines if line[:3] not in ("---", "+++") and line[0] != "@"
        )


# --- which changes there are ---


def draw(count: int, seed: int, only: str) -> list[Mutant]:
    """Return mutants at `count` places of the kernels, all places alike, one operator at each."""
    places = [
        (path, place, changes)
        for path in sorted(KERNELS.rglob("*.py"))
        if only in str(path.relative_to(KERNELS))
        for place, changes in sorted(changes_of(path).items())
    ]
    generator = random.Random(seed)
    generator.shuffle(places)
    drawn: list[Mutant] = []
    for path, place, changes in places:
        if len(drawn) == count:
            break
        mutant = one_of(changes, path, place[0], generator)
        if mutant is not None:
            drawn.append(mutant)
    return drawn


def changes_of(path: Path) -> dict[tuple[int, int], list[tuple[str, int]]]:
    """Return by line and column the operators that change a module there, each with its occurrence."""
    from cosmic_ray import plugins
    from cosmic_ray.ast import get_ast

    nodes = list(nodes_of(get_ast(path.read_text("utf-8"))))
    found: dict[tuple[int, int], list[tuple[str, int]]] = {}
    for name in sorted(set(plugins.operator_names()) - WITH_OPTIONS):
        if re.search(OF_BITS, name):
            continue
        operator = plugins.get_operator(name)()
        starts = [
            start for node in nodes for start, _ in operator.mutation_positions(node)
        ]
        for occurrence, start in enumerate(starts):
            found.setdefault(start, []).append((name, occurrence))
    return found


def nodes_of(node: object) -> Iterator[object]:
    """Walk a tree of parso in cosmic-ray's order, which numbers the occurrences."""
    yield node
    for child in getattr(node, "children", ()):
        yield from nodes_of(child)


def one_of(
    changes: list[tuple[str, int]], path: Path, line: int, generator: random.Random
) -> Mutant | None:
    """Return a mutant of one place, drawn among those that change what runs; none where no operator does."""
    from cosmic_ray import plugins
    from cosmic_ray.mutating import mutate_code

    text = path.read_text("utf-8")
    for name, occurrence in generator.sample(changes, len(changes)):
        code = mutate_code(text, plugins.get_operator(name)(), occurrence)
        if code is not None and what_runs(code) not in ("", what_runs(text)):
            return Mutant(path, name, occurrence, line, code)
    return None


class WithoutAnnotations(ast.NodeTransformer):
    """Leaves out annotations and what is for type checkers: a change of them changes no result."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        """Leave out the annotation of a parameter."""
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Leave out the annotation of what is returned."""
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Keep that there is an annotation, which makes fields of dataclasses, but not which."""
        node.annotation = ast.Constant(value=None)
        return self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST | None:
        """Leave out imports for type checkers."""
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return None
        return self.generic_visit(node)


def what_runs(code: str) -> str:
    """Return a text that is equal for code that runs alike, and empty for code that is no Python."""
    try:
        return ast.dump(WithoutAnnotations().visit(ast.parse(code)))
    except SyntaxError:
        return ""


# --- which tests belong to a kernel ---


def imported(path: Path) -> set[str]:
    """Return the names of all that a file imports from the package."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def module_of(path: Path) -> str:
    """Return the dotted name of a module of the package."""
    return ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)


def tests_of(path: Path) -> dict[str, list[str]]:
    """Return the test files of a kernel: those that import it, and those of the methods that do.

    Where none does, those that import a kernel which imports it.
    """
    imports = all_imports()
    of_kernels: list[Path] = []
    families: set[str] = set()
    wanted, seen = {module_of(path)}, set()
    while wanted and not (of_kernels and families):
        users = [file for file, names in imports.items() if names & wanted]
        if not of_kernels:
            of_kernels = [file for file in users if is_kernel_test(file)]
        if not families:
            folders = {file.parent.name for file in users if SOURCE in file.parents}
            families = folders & set(FAMILIES)
        # the kernels and the shared modules that use it are followed, families are not
        seen |= wanted
        wanted = {
            module_of(file)
            for file in users
            if KERNELS in file.parents or file.parent == SOURCE / "core"
        } - seen
    of_methods = [
        file
        for family in sorted(families)
        for file in sorted((ROOT / "tests" / family).glob("test_*.py"))
        if file not in of_kernels and "plots" not in file.name
    ]
    return {
        KERNEL_TESTS: [str(file) for file in of_kernels],
        FAMILY_TESTS: [str(file) for file in of_methods],
    }


@cache
def all_imports() -> dict[Path, set[str]]:
    """Return what each file of the package and of the tests imports."""
    return {
        file: imported(file)
        for folder in (SOURCE, ROOT / "tests")
        for file in sorted(folder.rglob("*.py"))
    }


def is_kernel_test(file: Path) -> bool:
    """Return whether a file has plain tests that call kernels."""
    folders = {"calibration", "benchmarks", "plotting"}
    in_tests = ROOT / "tests" in file.parents and file.name.startswith("test_")
    return in_tests and file.parent.name not in folders


# --- running tests ---


def run_tests(source: str, files: list[str], log: str, limit: int) -> None:
    """Run tests on the package in a folder; the status of the process is that of pytest."""
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    sys.path.insert(0, source)
    os.environ["PYTHONPATH"] = source
    import pytest

    options = ["-x", "-q", "--numprocesses=0", "-p", "no:cacheprovider"]
    os._exit(int(pytest.main([*options, "--hypothesis-seed=0", *files])))


def outcome_of(source: Path, files: list[str], limit: int) -> str:
    """Return `passed`, `failed`, `time` where the processor's seconds were used up, or another end of pytest."""
    log = source.parent / "log.txt"
    context = multiprocessing.get_context("fork")
    arguments = (str(source), files, str(log), limit)
    process = context.Process(target=run_tests, args=arguments)
    process.start()
    # a mutant that waits for ever uses no time of the processor
    process.join(10 * limit)
    if process.is_alive():
        process.kill()
        process.join()
        return "time"
    ends = {
        0: "passed",
        1: "failed",
        2: "failed",  # a module cannot be imported
        -signal.SIGXCPU: "time",
        -signal.SIGKILL: "time",
        -signal.SIGSEGV: "failed",
    }
    return ends.get(process.exitcode or 0, f"status {process.exitcode}")


def noticed_by(mutant: Mutant, source: Path, limit: int) -> str:
    """Return which tests notice a mutant: the kernel's, those of the methods that use it, or none."""
    copy = source / mutant.path.relative_to(SOURCE.parent)
    try:
        copy.write_text(mutant.code, "utf-8")
        for kind, files in tests_of(mutant.path).items():
            if not files:
                continue
            outcome = outcome_of(source, files, limit)
            if outcome in ("failed", "time"):
                return kind
            if outcome != "passed":
                raise RuntimeError(f"{mutant.path}: pytest ended with {outcome}")
    finally:
        shutil.copyfile(mutant.path, copy)
    return SURVIVED


def copy_of_package(folder: Path) -> Path:
    """Return a copy of the sources, with bytecode for all but the kernels, so that no test compiles them again."""
    source = folder / "src"
    shutil.copytree(SOURCE.parent, source, ignore=shutil.ignore_patterns("__pycache__"))
    compileall.compile_dir(source, quiet=1)
    for cached in (source / "xcurves" / "kernels").rglob("__pycache__"):
        shutil.rmtree(cached)
    return source


def check_unchanged(source: Path, mutants: list[Mutant], limit: int) -> None:
    """Refuse to begin where tests fail without a change, which would count as noticed."""
    files = {
        file
        for mutant in mutants
        for files in tests_of(mutant.path).values()
        for file in files
    }
    outcome = outcome_of(source, sorted(files), 10 * limit)
    if outcome != "passed":
        log = (source.parent / "log.txt").read_text("utf-8")
        raise SystemExit(f"the tests end with {outcome} without a mutant\n{log}")


# --- what is published ---


def table_of(results: list[tuple[Mutant, str]], seed: int) -> str:
    """Return the lines of the page: a row for each room."""
    rows = []
    rooms = sorted({mutant.room for mutant, _ in results})
    for room in [*rooms, "all"]:
        found = Counter(
            outcome for mutant, outcome in results if room in (mutant.room, "all")
        )
        count = found.total()
        kernel, methods = found[KERNEL_TESTS], found[FAMILY_TESTS]
        percent = 100 * (kernel + methods) / count
        rows.append(
            f"| {room} | {count} | {kernel} | {methods} | {found[SURVIVED]} | {percent:.0f} % |"
        )
    head = (
        f"{date.today()}, {len(results)} mutants, seed {seed}, Python {platform.python_version()}.\n\n"
        "| folder of `kernels/` | mutants | noticed by kernel tests | only by tests of the methods | by none | noticed |\n"
        "| --- | --- | --- | --- | --- | --- |\n"
    )
    return head + "\n".join(rows) + "\n"


def write(table: str) -> None:
    """Put a table between its marks in the page."""
    text = PAGE.read_text("utf-8")
    before, rest = text.split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    PAGE.write_text(before + MARKS[0] + table + MARKS[1] + after, "utf-8")


def main() -> None:
    """Draw mutants, run their tests, and print what survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="a part of the path of a kernel")
    parser.add_argument(
        "--limit", type=int, default=120, help="processor seconds of a run of tests"
    )
    parser.add_argument(
        "--minutes", type=float, default=60, help="no mutant is begun after these"
    )
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()

    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    os.environ |= {"MPLBACKEND": "Agg"}
    # Bytes of a module that changes twice within a second would be stale.
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    start = time.perf_counter()
    mutants = draw(given.count, given.seed, given.only)

    # What the package and the tests import is imported once, before the forks.
    importlib.import_module("scipy.stats")
    importlib.import_module("scipy.optimize")
    importlib.import_module("xarray")

    results = []
    with tempfile.TemporaryDirectory() as folder:
        # examples that a mutant fails must not be kept for the tests of the package
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = f"{folder}/hypothesis"
        source = copy_of_package(Path(folder))
        check_unchanged(source, mutants, given.limit)
        for mutant in mutants:
            if time.perf_counter() - start > 60 * given.minutes:
                break
            outcome = noticed_by(mutant, source, given.limit)
            results.append((mutant, outcome))
            place = f"{mutant.path.relative_to(KERNELS)}:{mutant.line}"
            print(f"{place} {mutant.operator}: {outcome}", flush=True)
            if outcome == SURVIVED:
                print(mutant.diff(), flush=True)
    table = table_of(results, given.seed)
    print(table)
    if given.write:
        write(table)


if __name__ == "__main__":
    main()
