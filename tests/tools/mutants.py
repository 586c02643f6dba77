"""Change a part of the package at random places, one at a time, and count the changes that the tests notice.

``python tests/tools/mutants.py 100 --seed 20261128`` draws 100 places of the kernels, mutates each with an operator of
cosmic-ray and runs the tests of that module. ``--package frames`` (or readers, core) draws there; ``--write`` puts the
score of the kernels into docs/contributing.md. It needs the extra ``mutation``.

``--save FILE`` keeps which test noticed each change. ``--again FILE`` makes the same changes later, by function and
operator, and fails if one that was noticed is not: what to run before and after tests leave.

Only a copy of the package in a temporary folder is changed. Each run of tests is a process of its own with a limit of
time; it is a fork of one that has imported what the tests need but nothing of xcurves.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import difflib
import importlib
import json
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

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "xcurves"
KERNELS = SOURCE / "kernels"
TESTS = ROOT / "tests"
PACKAGES = ("kernels", "frames", "readers", "core")
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
    "means",
    "multi_task",
    "planning",
    "profile",
    "target_times",
)
# Tests of all public functions at once, which notice what a check no longer refuses.
REFUSALS = ("test_refusals", "test_bad_input")
OWN_TESTS, OTHER_TESTS = "own tests", "tests of its users"
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
        """The folder of the module."""
        return self.path.parent.name

    @property
    def function(self) -> str:
        """The function or method of the line, with its class; empty outside of all."""
        return function_of(ast.parse(self.path.read_text("utf-8")), self.line)

    def names(self) -> dict[str, str]:
        """Return what the change is found by when the module has other lines."""
        path = self.path.relative_to(SOURCE).as_posix()
        old, new = (
            ast.unparse(named(ast.parse(text), self.function)) for text in (self.path.read_text("utf-8"), self.code)
        )
        return {
            "path": path,
            "function": self.function,
            "operator": self.operator,
            "change": changed_lines(old, new),
        }

    def diff(self) -> str:
        """Return the lines that differ."""
        return changed_lines(self.path.read_text("utf-8"), self.code)


def changed_lines(old: str, new: str) -> str:
    """Return the lines of two texts that differ."""
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=0)
    return "\n".join(line for line in lines if line[:3] not in ("---", "+++") and line[0] != "@")


def functions(tree: ast.AST, within: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Yield the functions and classes of a module by their dotted names, outer ones first."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            name = f"{within}{node.name}"
            yield name, node
            yield from functions(node, f"{name}.")


def function_of(tree: ast.Module, line: int) -> str:
    """Return the name of the innermost function or class that has a line; empty where none does."""
    found = ""
    for name, node in functions(tree):
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        if first <= line <= node.end_lineno:
            found = name
    return found


def named(tree: ast.Module, name: str) -> ast.AST:
    """Return a function or class by its name, the last where several have it; the module for an empty name."""
    return dict(functions(tree)).get(name, tree)


# --- which changes there are ---


def draw(package: str, count: int, seed: int, only: str) -> list[Mutant]:
    """Return mutants at `count` places of a part of the package, all places alike, one operator at each."""
    places = [
        (path, place, changes)
        for path in sorted((SOURCE / package).rglob("*.py"))
        if only in str(path.relative_to(SOURCE / package))
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


@cache
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
        starts = [start for node in nodes for start, _ in operator.mutation_positions(node)]
        for occurrence, start in enumerate(starts):
            found.setdefault(start, []).append((name, occurrence))
    return found


def nodes_of(node: object) -> Iterator[object]:
    """Walk a tree of parso in cosmic-ray's order, which numbers the occurrences."""
    yield node
    for child in getattr(node, "children", ()):
        yield from nodes_of(child)


def one_of(changes: list[tuple[str, int]], path: Path, line: int, generator: random.Random) -> Mutant | None:
    """Return a mutant of one place, drawn among those that change what runs; none where no operator does."""
    text = path.read_text("utf-8")
    for name, occurrence in generator.sample(changes, len(changes)):
        code = mutated(text, name, occurrence)
        if code is not None and what_runs(code) not in ("", what_runs(text)):
            return Mutant(path, name, occurrence, line, code)
    return None


def mutated(text: str, operator: str, occurrence: int) -> str | None:
    """Return a text after an operator has changed one of its places; none where it cannot."""
    from cosmic_ray import plugins
    from cosmic_ray.mutating import mutate_code

    try:
        return mutate_code(text, plugins.get_operator(operator)(), occurrence)
    except AttributeError:  # cosmic-ray 8.7 cannot replace an exception with a dot in its name
        return None


def drawn_before(saved: list[dict[str, str]]) -> list[Mutant | None]:
    """Return the same changes as another run drew; none where the function or the place in it is no more."""
    return [made_again(each) for each in saved]


def made_again(saved: dict[str, str]) -> Mutant | None:
    """Return the change of the same function by the same operator that changes the same lines, wherever it is now."""
    again = (made_again_in(path, saved) for path in modules_with(saved))
    return next((mutant for mutant in again if mutant is not None), None)


def modules_with(saved: dict[str, str]) -> Iterator[Path]:
    """Yield the module of a saved change, then all others that have a function of its name: functions move."""
    own = SOURCE / saved["path"]
    if own.exists():
        yield own
    if saved["function"]:
        yield from (path for path, names in all_functions().items() if path != own and saved["function"] in names)


@cache
def all_functions() -> dict[Path, set[str]]:
    """Return the names of the functions and classes of each module of the package."""
    paths = sorted(SOURCE.rglob("*.py"))
    return {path: {name for name, _ in functions(ast.parse(path.read_text("utf-8")))} for path in paths}


def made_again_in(path: Path, saved: dict[str, str]) -> Mutant | None:
    """Return the same change in a module; none where its place is no more."""
    text = path.read_text("utf-8")
    tree = ast.parse(text)
    for (line, _), changes in sorted(changes_of(path).items()):
        if function_of(tree, line) != saved["function"]:
            continue
        for name, occurrence in changes:
            if name != saved["operator"]:
                continue
            code = mutated(text, name, occurrence)
            if code is None or not what_runs(code):
                continue
            mutant = Mutant(path, name, occurrence, line, code)
            if mutant.names() == {**saved, "path": path.relative_to(SOURCE).as_posix()}:
                return mutant
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


# --- which tests belong to a module ---


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
    """Return the test files of a module: its own, and those of what uses it."""
    if KERNELS in path.parents:
        return tests_of_kernel(path)
    of_room = sorted((TESTS / path.relative_to(SOURCE).parts[0]).rglob("test_*.py"))
    of_all = sorted(TESTS.glob("test_*.py"))
    own = [
        file
        for file in (*of_room, *of_all)
        if file.stem == f"test_{path.stem}" or module_of(path) in all_imports()[file]
    ]
    refusals = [file for file in of_all if file.stem in REFUSALS]
    others = [file for file in (*of_room, *refusals) if file not in own]
    return {
        OWN_TESTS: [str(file) for file in own],
        OTHER_TESTS: [str(file) for file in others],
    }


def tests_of_kernel(path: Path) -> dict[str, list[str]]:
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
        wanted = {module_of(file) for file in users if KERNELS in file.parents or file.parent == SOURCE / "core"} - seen
    of_methods = [
        file
        for family in sorted(families)
        for file in sorted((TESTS / family).glob("test_*.py"))
        if file not in of_kernels and "plots" not in file.name
    ]
    return {
        OWN_TESTS: [str(file) for file in of_kernels],
        OTHER_TESTS: [str(file) for file in of_methods],
    }


@cache
def all_imports() -> dict[Path, set[str]]:
    """Return what each file of the package and of the tests imports."""
    return {file: imported(file) for folder in (SOURCE, TESTS) for file in sorted(folder.rglob("*.py"))}


def is_kernel_test(file: Path) -> bool:
    """Return whether a file has plain tests that call kernels."""
    if TESTS not in file.parents or not file.name.startswith("test_"):
        return False
    folders = {"plotting", "calibration", "benchmarks"}
    return not folders & set(file.relative_to(TESTS).parts)


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


def noticed_by(mutant: Mutant, source: Path, limit: int, first: str = "") -> tuple[str, str]:
    """Return which tests notice a mutant: the module's, those of what uses it, or none; and the one that failed.

    `first` is a test that is tried before all others: the one that noticed it in another run.
    """
    copy = source / mutant.path.relative_to(SOURCE.parent)
    groups = list(tests_of(mutant.path).items())
    if first and (ROOT / first.split("::")[0]).exists():
        groups.insert(0, (OWN_TESTS, [str(ROOT / first)]))
    try:
        copy.write_text(mutant.code, "utf-8")
        for kind, files in groups:
            if not files:
                continue
            outcome = outcome_of(source, files, limit)
            if outcome in ("failed", "time"):
                return kind, failed_test(source) if outcome == "failed" else ""
            # a test by its name that is no more ends with a status of its own
            if outcome != "passed" and files != [str(ROOT / first)]:
                raise RuntimeError(f"{mutant.path}: pytest ended with {outcome}")
    finally:
        shutil.copyfile(mutant.path, copy)
    return SURVIVED, ""


def failed_test(source: Path) -> str:
    """Return the test that ended the last run; empty where no test could be collected."""
    log = (source.parent / "log.txt").read_text("utf-8")
    found = re.search(r"^FAILED (.+?)(?: - .*)?$", log, re.MULTILINE)
    return found[1] if found else ""


def copy_of_package(folder: Path) -> Path:
    """Return a copy of the sources, with bytecode for all but what is changed, so that no test compiles it again."""
    source = folder / "src"
    shutil.copytree(SOURCE.parent, source, ignore=shutil.ignore_patterns("__pycache__"))
    compileall.compile_dir(source, quiet=1)
    for package in PACKAGES:
        for cached in (source / "xcurves" / package).rglob("__pycache__"):
            shutil.rmtree(cached)
    return source


def check_unchanged(source: Path, mutants: list[Mutant], limit: int) -> None:
    """Refuse to begin where tests fail without a change, which would count as noticed."""
    files = {file for mutant in mutants for files in tests_of(mutant.path).values() for file in files}
    outcome = outcome_of(source, sorted(files), 10 * limit)
    if outcome != "passed":
        log = (source.parent / "log.txt").read_text("utf-8")
        raise SystemExit(f"the tests end with {outcome} without a mutant\n{log}")


# --- what is published ---


def table_of(results: list[tuple[Mutant, str]], seed: int) -> str:
    """Return the lines of the page: a row for each folder."""
    rows = []
    rooms = sorted({mutant.room for mutant, _ in results})
    for room in [*rooms, "all"]:
        found = Counter(outcome for mutant, outcome in results if room in (mutant.room, "all"))
        count = found.total()
        own, others = found[OWN_TESTS], found[OTHER_TESTS]
        percent = 100 * (own + others) / count
        rows.append(f"| {room} | {count} | {own} | {others} | {found[SURVIVED]} | {percent:.0f} % |")
    head = (
        f"{date.today()}, {len(results)} mutants, seed {seed}, Python {platform.python_version()}.\n\n"
        "| folder | mutants | noticed by its own tests | only by tests of its users | by none | noticed |\n"
        "| --- | --- | --- | --- | --- | --- |\n"
    )
    return head + "\n".join(rows) + "\n"


def write(table: str) -> None:
    """Put a table between its marks in the page."""
    text = PAGE.read_text("utf-8")
    before, rest = text.split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    PAGE.write_text(before + MARKS[0] + table + MARKS[1] + after, "utf-8")


def options() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=0)
    parser.add_argument("--package", choices=PACKAGES, default="kernels")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="a part of the path of a module")
    parser.add_argument("--limit", type=int, default=120, help="processor seconds of a run of tests")
    parser.add_argument("--minutes", type=float, default=60, help="no mutant is begun after these")
    parser.add_argument("--write", action="store_true", help="into the page")
    parser.add_argument("--save", type=Path, help="keep what noticed each change")
    parser.add_argument("--again", type=Path, help="make the changes of such a file")
    return parser.parse_args()


def main() -> int:
    """Draw mutants, run their tests, and print what survived; return how many are noticed no more."""
    given = options()
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    os.environ |= {"MPLBACKEND": "Agg"}
    # Bytes of a module that changes twice within a second would be stale.
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    start = time.perf_counter()
    before = json.loads(given.again.read_text("utf-8")) if given.again else []
    if given.again:
        again = drawn_before([each["names"] for each in before])
        mutants = [each for each in again if each is not None]
        noticed = {
            mutant: each["test"]
            for mutant, each in zip(again, before, strict=True)
            if mutant is not None and each["outcome"] != SURVIVED
        }
        print(f"{len(again) - len(mutants)} of {len(again)} have no place any more")
    else:
        mutants = draw(given.package, given.count, given.seed, given.only)
        noticed = {}

    # What the package and the tests import is imported once, before the forks.
    importlib.import_module("scipy.stats")
    importlib.import_module("scipy.optimize")
    importlib.import_module("xarray")

    results = []
    kept = []
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        # examples that a mutant fails must not be kept for the tests of the package
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = f"{folder}/hypothesis"
        source = copy_of_package(Path(folder))
        check_unchanged(source, mutants, given.limit)
        for mutant in mutants:
            if time.perf_counter() - start > 60 * given.minutes:
                break
            first = noticed.get(mutant, "")
            outcome, test = noticed_by(mutant, source, given.limit, first)
            results.append((mutant, outcome))
            kept.append({"names": mutant.names(), "outcome": outcome, "test": test})
            place = f"{mutant.path.relative_to(SOURCE)}:{mutant.line}"
            print(f"{place} {mutant.operator}: {outcome} {test}", flush=True)
            if outcome == SURVIVED:
                print(mutant.diff(), flush=True)
                if mutant in noticed:
                    missed += 1
                    print(f"NOTICED BEFORE by {first}", flush=True)
            if given.save:
                given.save.write_text(json.dumps(kept, indent=1), "utf-8")
    table = table_of(results, given.seed)
    print(table)
    if given.write:
        write(table)
    return missed


if __name__ == "__main__":
    sys.exit(min(1, main()))
