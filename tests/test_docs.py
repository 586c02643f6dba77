"""Links between pages, the calls of the table of questions, and what the front page must lead to."""

import ast
import doctest
import importlib
import importlib.util
import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from matplotlib import pyplot as plt

from xcurves import kinds

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    *(page for page in sorted(DOCS.rglob("*.md")) if "_build" not in page.parts),
]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def text_of(page):
    if page.suffix == ".ipynb":
        cells = json.loads(page.read_text(encoding="utf-8"))["cells"]
        return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_relative_links_lead_to_files():
    for page in (*PAGES, *NOTEBOOKS):
        targets = re.findall(r"\]\(([^)\s#]+)[^)\s]*\)", text_of(page))
        relative = [target for target in targets if "://" not in target]
        assert not [target for target in relative if not (page.parent / target).exists()], page


@cache
def anchors(page):
    """Return the anchors that the headings of a page make, as the site and GitHub do."""
    headings = re.findall(r"^#+ (.*)$", text_of(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_anchors_are_headings():
    for page in (*PAGES, *NOTEBOOKS):
        for path, anchor in re.findall(r"\]\(([^)\s#:]*)#([^)\s]+)\)", text_of(page)):
            assert anchor in anchors((page.parent / path).resolve() if path else page), page


def test_every_page_is_linked_from_the_front_page():
    front = text_of(DOCS / "index.md")
    folders = {"howto", "reference"}  # have a front page of their own
    pages = [page.relative_to(DOCS) for page in PAGES[1:] if page.name not in ("index.md", "paper.md")]
    assert not [str(page) for page in pages if page.parts[0] not in folders and f"({page.as_posix()})" not in front]
    assert not [book.name for book in NOTEBOOKS if f"(../notebooks/{book.name})" not in front]


def gallery(monkeypatch, name="gallery_directive"):
    monkeypatch.syspath_prepend(str(DOCS))
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_gallery_has_every_kind_with_pictures(monkeypatch):
    calls = gallery(monkeypatch, "gallery_calls").CALLS
    of_kinds = {name for name in kinds.NAMES if kinds.kind(name).views}
    views = {f"{name}-{view}": each for name in of_kinds for view, each in kinds.kind(name).views.items()}
    along = {name for name, each in views.items() if each.axes}
    assert of_kinds | along <= set(calls) <= of_kinds | set(views)


@pytest.mark.slow
def test_the_first_page_has_twelve_pictures_of_the_gallery(monkeypatch):
    questions = gallery(monkeypatch, "gallery_calls").QUESTIONS
    views = {f"{name}-{view}" for name in kinds.NAMES for view in kinds.kind(name).views}
    assert len(questions) == 12
    assert set(questions) <= views | {"curves"}
    assert all(question.endswith("?") for question in questions.values())


@pytest.mark.slow
def test_the_gallery_draws_every_view_with_code_that_fits(monkeypatch):
    pytest.importorskip("sphinx")
    drawn = []
    for picture in gallery(monkeypatch).pictures():
        drawn.append(picture.name)
        for ax in np.ravel([picture.axes]):  # of which halves are axes of their own
            assert any(each.has_data() for each in (ax, *ax.child_axes)), picture.name
        plt.close("all")
        assert len(picture.alternative) > 20
        assert max(map(len, picture.code.splitlines())) <= 92
    assert drawn == [
        "curves",
        *(f"{name}-{view}" for name in kinds.NAMES for view in kinds.kind(name).views),
    ]


def test_notebooks_draw_with_the_package_and_their_lines_fit():
    """No notebook has a function that draws, no line of code is cut off, and every output is valid."""
    for book in NOTEBOOKS:
        cells = [cell for cell in json.loads(book.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
        for cell in cells:
            source = "".join(cell["source"])
            assert max(map(len, source.splitlines())) <= 92, (book.name, source)
            functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
            names = {each.value.id for function in functions for each in ast.walk(function) if is_attribute(each)}
            assert not names & {"ax", "axes", "plt"}, (book.name, source)
            for output in cell["outputs"]:
                allowed = {"output_type", "name", "text"}
                assert output["output_type"] != "stream" or set(output) == allowed, book.name


def is_attribute(node):
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)


def test_every_how_to_page_is_on_its_front_page():
    front = (DOCS / "howto" / "index.md").read_text(encoding="utf-8")
    pages = [page.stem for page in (DOCS / "howto").glob("*.md") if page.stem != "index"]
    assert len(pages) >= 8
    assert not [page for page in pages if f"({page}.md)" not in front]


def calls(page):
    """Return the calls in the last column of a page's tables."""
    rows = re.findall(r"^\| .* \| `([^`]+)` \|$", page, re.MULTILINE)
    return [row for row in rows if "(" in row]


WHICH = (DOCS / "which-method.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def given():
    """What the page takes as given, from its hidden opening."""
    space = {}
    for example in doctest.DocTestParser().get_examples(WHICH):
        exec(example.source, space)
    return space


@pytest.mark.slow
@pytest.mark.parametrize("call", calls(WHICH))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_call_beside_a_question_runs(call, given, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert eval(call, given) is not None


def test_most_rows_have_a_call():
    rows = [row for row in WHICH.splitlines() if row.startswith("| ") and not row.startswith("| question")]
    assert len(calls(WHICH)) >= len(rows) - 1


def test_the_front_page_leads_in_a_minute():
    minute = text_of(DOCS / "index.md").split("\n## ")[0]
    for target in (
        "start.md#install",
        "#from-a-csv-to-an-answer",
        "which-method.md",
        "citation.md",
    ):
        assert f"]({target})" in minute
    assert "pip install ." in minute


def cells_of_places():
    """The cells of the two tables of the guide for contributors that name places, each with its names in backticks."""
    text = text_of(DOCS / "contributing.md")
    structure = text[text.index("## The structure of the code") :]
    structure = structure[: structure.index("\n### ")]
    rows = re.findall(r"^\| (.*) \| (.*) \|$", structure, re.MULTILINE)
    second = rows.index(("what", "where"))
    cells = [row[0] for row in rows[1:second]] + [row[1] for row in rows[second + 1 :]]
    return {cell: re.findall("`([^`]+)`", cell) for cell in cells}


@pytest.mark.parametrize(("cell", "names"), cells_of_places().items())
def test_every_place_that_the_guide_for_contributors_names_is_there(cell, names):
    assert names, cell
    module = None
    for name in names:
        if "/" in name or name.endswith(".py"):
            folder = ROOT if name.startswith("notebooks") else ROOT / "src" / "xcurves"
            assert (folder / name).exists(), name
            assert (folder / name).is_dir() == name.endswith("/"), name
            if name.endswith(".py"):
                dotted = name.removesuffix(".py").replace("/", ".")
                module = importlib.import_module(f"xcurves.{dotted}")
        else:
            assert hasattr(module, name), f"{name} in {cell}"


def test_every_file_that_the_guide_for_contributors_names_is_there():
    text = text_of(DOCS / "contributing.md")
    named = re.findall(r"`([\w.]+/[\w./]*\.(?:py|md|mplstyle|yml|yaml))`", text)
    roots = (ROOT / "src" / "xcurves", ROOT / "src", DOCS, ROOT)
    assert len(named) > 40
    assert not [name for name in named if not any((root / name).exists() for root in roots)]


def test_the_tables_of_places_are_found():
    assert len(cells_of_places()) > 30
