"""CITATION.cff agrees with the project and with the page on citing."""

import tomllib

import pytest

from places import ROOT

yaml = pytest.importorskip("yaml")


@pytest.fixture(scope="module")
def citation():
    return yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.mark.parametrize("name", ["version", "license", "keywords"])
def test_it_says_what_the_project_says(citation, project, name):
    assert citation[name] == project[name]


def test_it_has_what_the_format_requires(citation, project):
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert citation["authors"] == project["authors"]
    assert all(reference["authors"] and reference["year"] for reference in citation["references"])


def test_the_page_on_citing_has_the_same_papers_and_version(citation):
    page = (ROOT / "docs" / "citation.md").read_text(encoding="utf-8").replace("{ANOVA}", "ANOVA")
    assert f"version = {{{citation['version']}}}" in page
    assert [work["title"] for work in (citation, *citation["references"]) if work["title"] not in page] == []


def test_the_build_of_the_site_installs_an_extra_that_there_is(project):
    settings = yaml.safe_load((ROOT / ".readthedocs.yaml").read_text(encoding="utf-8"))
    (installed,) = settings["python"]["install"]
    assert set(installed["extra_requirements"]) <= set(project["optional-dependencies"])
    command = "python -m sphinx -W --keep-going -c docs . "
    assert settings["build"]["jobs"]["build"]["html"] == [f"{command}$READTHEDOCS_OUTPUT/html"]
    assert command in (ROOT / "README.md").read_text(encoding="utf-8")
