"""What must hold before a change lands, in sessions: `bash .ci/run` runs all, `bash .ci/run NAME ...` some.

Two environments are shared by all sessions: `.venv`, which the README's commands make, and one in the user's cache that
has the lowest version of every dependency. A session that is run alone makes what it needs.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from pathlib import Path

import nox

ROOT = Path(__file__).parents[1]
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "xcurves"
PYTHON = ROOT / ".venv" / "bin" / "python"
LEAST_PICTURES = 14
# A session passes or the ones after it are not begun.
nox.options.stop_on_first_error = True
nox.options.default_venv_backend = "none"

# Marks of tests that the plain run leaves out; and all examples that hypothesis draws.
SLOW = "slow or cluster or environment or browser or hypothesis"

# What the lowest versions cannot change: texts that the package makes of numbers, messages, pages, the command line's
# words, plain programs; it was seen with the newest versions. Kernels, frames, readers, archives, pictures, laziness
# and every kind of result are run with both.
SAME_IN_ANY_VERSION = (
    "attack",  # calls with anything: of checks
    "calibration",  # rates, of the kernels
    "experiments",  # programs that make the example curves: bit for bit, which newer versions may change
    "looks/test_agreement.py",  # sentence, table and p of one result
    "multi_task/test_sentences.py",
    "plotting/test_extents.py",  # rooms of texts, computed by the package
    "plotting/test_sizes.py",
    "target_times/test_sentences.py",
    "test_answers.py",  # sentences
    "test_coming_from.py",  # pages
    "test_cures.py",  # messages
    "test_docs.py",
    "test_docstrings.py",
    "test_examples.py",
    "test_one_answer.py",  # sentence, table and p of one result
    "test_order_of_algorithms.py",
    "test_parameters.py",  # signatures
    "test_refusals.py",  # messages
    "test_release.py",  # files of the repository
)


def blocks_of_readme() -> list[str]:
    """Return the commands of the README: the example, the tests, the documentation."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    if len(found) != 3:
        raise RuntimeError(f"README.md has {len(found)} sh blocks, not 3")
    return found


def run(session: nox.Session, *command: str | Path, **options: object) -> None:
    """Run a command in the folder of the project; its output is shown as it comes."""
    session.chdir(ROOT)
    environment = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "MPLBACKEND": "Agg"}
    environment |= options.pop("env", {})
    session.run(*map(str, command), external=True, env=environment, **options)


def readme(session: nox.Session, place: int) -> None:
    """Run a command of the README as it stands there."""
    run(session, "bash", "-euo", "pipefail", "-c", blocks_of_readme()[place])


def install(session: nox.Session, extra: str) -> None:
    """Have `.venv` with an extra, once for each state of pyproject.toml."""
    project = (ROOT / "pyproject.toml").read_bytes()
    stamp = PYTHON.parents[1] / f"{extra}-{hashlib.sha256(project).hexdigest()[:12]}"
    if stamp.exists():
        return
    if not PYTHON.exists():
        run(session, "python3", "-m", "venv", ".venv")
    run(session, PYTHON, "-m", "pip", "install", "--quiet", "-e", f".[{extra}]")
    stamp.touch()


@nox.session
def example(session: nox.Session) -> None:
    """Run the README's first command in an environment of its own; it leaves results and a page."""
    for folder in (".venv", "docs/_build", "docs/reference/generated"):
        shutil.rmtree(ROOT / folder, ignore_errors=True)
    readme(session, 0)
    if not (ROOT / "benchmark.html").stat().st_size:
        session.error("the first command left no page")
    show = 'import xcurves; print(xcurves.archive.read("benchmark-answer.nc"))'
    run(session, PYTHON, "-c", show)


@nox.session
def plain(session: nox.Session) -> None:
    """Run the README's second command: the plain tests."""
    readme(session, 1)


@nox.session
def lowest(session: nox.Session) -> None:
    """Run the plain tests that a version can change, with the lowest version of every dependency."""
    session.chdir(ROOT)
    constraints = session.run("python3", ".ci/floors.py", silent=True, external=True)
    digest = hashlib.sha256(constraints.encode()).hexdigest()[:12]
    folder = CACHE / f"floors-{digest}"
    python = folder / "bin" / "python"
    if not (folder / "complete").exists():
        run(session, "python3", "-m", "venv", "--clear", folder)
        (folder / "floors.txt").write_text(constraints, encoding="utf-8")
        low = ["-c", folder / "floors.txt", "-e", ".[test]"]
        run(session, python, "-m", "pip", "install", "--quiet", *low)
        (folder / "complete").touch()
    left_out = [f"--ignore=tests/{name}" for name in SAME_IN_ANY_VERSION]
    source = {"PYTHONPATH": str(ROOT / "src")}
    run(session, python, "-m", "pytest", "--quiet", "tests", *left_out, env=source)


@nox.session
def slow(session: nox.Session) -> None:
    """Run what the plain run leaves out, with the browser, clusters and environments."""
    install(session, "test")
    options = ["--quiet", "--hypothesis-profile=ci", "--durations=40"]
    run(session, PYTHON, "-m", "pytest", "tests", "-m", SLOW, *options)


@nox.session
def docs(session: nox.Session) -> None:
    """Run the README's third command: the site, where each warning is an error, with its pictures."""
    readme(session, 2)
    images = ROOT / "docs" / "_build" / "html" / "_images"
    count = len(list(images.rglob("*.png")))
    session.log(f"{count} pictures")
    if count < LEAST_PICTURES:
        session.error("pages lack pictures")


@nox.session
def ruff(session: nox.Session) -> None:
    """Check the style of code and sentences."""
    install(session, "dev")
    run(session, PYTHON.with_name("ruff"), "check", ".")
    run(session, PYTHON.with_name("ruff"), "format", "--check", ".")


@nox.session
def mypy(session: nox.Session) -> None:
    """Check types."""
    install(session, "dev")
    run(session, PYTHON.with_name("mypy"))


@nox.session
def imports(session: nox.Session) -> None:
    """Check that imports run one way."""
    install(session, "dev")
    run(session, PYTHON.with_name("lint-imports"))


@nox.session
def pages(session: nox.Session) -> None:
    """Run the examples of docstrings and pages, with the tools that check them."""
    install(session, "dev")
    tests = ("test_docs.py", "test_docstrings.py", "test_accessors.py")
    where = ["src", "notebooks/experiments", "README.md", "docs", *(f"tests/{name}" for name in tests)]
    run(session, PYTHON, "-m", "pytest", "--quiet", *where)
    # which the slow tests skip, that may have no sphinx
    gallery = ["tests/test_docs.py", "-m", "slow", "-k", "gallery"]
    run(session, PYTHON, "-m", "pytest", "--quiet", *gallery)


@nox.session
def counts(session: nox.Session) -> None:
    """Count how plain the code is; no number is a limit."""
    install(session, "dev")
    run(session, PYTHON, "tests/tools/counts.py")


@nox.session
def again(session: nox.Session) -> None:
    """Run the README's first command on a machine that has run everything."""
    readme(session, 0)
