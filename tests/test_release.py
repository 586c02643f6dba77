"""What a release has: citation, recipe, workflows, and a wheel that installs in an empty environment."""

import re
import subprocess
import sys
import tomllib
import venv
import zipfile

import pytest

import xcurves
from places import ROOT

yaml = pytest.importorskip("yaml")


@pytest.fixture(scope="module")
def citation():
    return yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.mark.parametrize("tool", ["mypy", "ruff"])
def test_the_hooks_check_with_the_version_that_the_project_pins(project, tool):
    dev = project["optional-dependencies"]["dev"]
    (pinned,) = [line for line in dev if re.match(rf"{tool}\b", line)]
    assert re.fullmatch(rf"{tool}==[\d.]+", pinned)
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    hooks = [hook for repo in config["repos"] for hook in repo["hooks"] if hook.get("entry", "").split(" ")[0] == tool]
    assert len(hooks) >= 1
    for hook in hooks:
        # of its own environment, not of the one it is called in
        assert hook["language"] == "python"
        assert pinned in hook["additional_dependencies"]


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


def test_the_readme_names_every_extra(project):
    named = re.search(
        r"^\* Extras: (.*?)\.$",
        (ROOT / "README.md").read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    assert set(re.findall(r"`(\w+)`", named[1])) == set(project["optional-dependencies"])


@pytest.mark.slow
def test_the_answer_of_the_readme_is_that_of_the_benchmark():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    accuracy = xcurves.tutorial.open_dataset("benchmark")["accuracy"]
    found = accuracy.curves.across_tasks(rng=0)
    claim = found.sel(task_effect="random")
    shown = claim.where(claim.pvalue_adjusted <= 0.05, drop=True)
    size = set(shown.pair.values.tolist())
    assert size == {
        "5 neighbours - random forest",
        "SVM - decision tree",
        "decision tree - random forest",
    }
    said = found.curves.summary().split("\n")[0]
    assert " ".join(said.split()) in " ".join(readme.split())
    assert claim.sizes["pair"] - len(size) == 7


def requirements(entries):
    """Return name and version of each, without spaces; Python among them."""
    return {re.sub(r"\s", "", entry) for entry in entries}


def test_the_recipe_has_the_requirements_of_the_project(project):
    recipe = yaml.safe_load((ROOT / ".conda" / "recipe.yaml").read_text(encoding="utf-8"))
    wanted = requirements([*project["dependencies"], f"python{project['requires-python']}"])
    assert requirements(recipe["requirements"]["run"]) == wanted
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    assert requirements(build) <= requirements(recipe["requirements"]["host"])
    scripts = [f"{name} = {place}" for name, place in project["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == scripts
    about = (
        recipe["context"]["version"],
        recipe["about"]["license"],
        recipe["about"]["summary"],
    )
    assert about == (project["version"], project["license"], project["description"])


def test_the_workflow_runs_every_python_that_the_project_names(project):
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))["jobs"]
    versions = {each.rpartition(" ")[2] for each in project["classifiers"] if re.search(r":: 3\.\d+$", each)}
    options = [step.get("with", {}) for step in jobs["all"]["steps"]]
    whole = {each["python-version"] for each in options if "python-version" in each}
    assert whole | set(jobs["pythons"]["strategy"]["matrix"]["python"]) == versions
    assert len(jobs["systems"]["strategy"]["matrix"]["os"]) == 3
    assert "never run so far" in jobs["systems"]["name"]


def test_what_the_lowest_versions_leave_out_exists():
    text = (ROOT / ".ci" / "noxfile.py").read_text(encoding="utf-8")
    listed = text.partition("SAME_IN_ANY_VERSION = (")[2].partition("\n)")[0]
    names = re.findall(r'^    "(.+?)",', listed, re.MULTILINE)
    assert len(names) > 10
    assert [name for name in names if not (ROOT / "tests" / name).exists()] == []


def test_a_release_is_published_without_a_password_and_what_is_scheduled_exists():
    workflows = {
        path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
        for path in (ROOT / ".github" / "workflows").glob("*.yml")
    }
    assert set(workflows) == {"ci", "release", "scheduled"}
    publish = workflows["release"]["jobs"]["publish"]
    assert publish["needs"] == "build"
    assert publish["permissions"] == {"id-token": "write"}
    assert not [step for step in publish["steps"] if "password" in step.get("with", {})]
    (build,) = [step["run"] for step in workflows["release"]["jobs"]["build"]["steps"] if "run" in step]
    assert "twine check --strict" in build
    upstream, benchmarks = (
        " ".join(step.get("run", "") for step in workflows["scheduled"]["jobs"][job]["steps"])
        for job in ("upstream", "benchmarks")
    )
    assert all(f" {package}" in upstream for package in ("numpy", "scipy", "pandas", "xarray"))
    assert all((ROOT / path).exists() for path in re.findall(r"(?<= )tests/\S+", benchmarks))


@pytest.mark.parametrize("name", ["method", "wrong-number"])
def test_the_templates_of_issues_have_a_name_and_a_purpose(name):
    text = (ROOT / ".github" / "ISSUE_TEMPLATE" / f"{name}.md").read_text(encoding="utf-8")
    _, head, body = text.split("---\n", 2)
    assert set(yaml.safe_load(head)) == {"name", "about"}
    assert body.strip()


def test_links_of_the_pages_for_contributors_lead_somewhere():
    pages = (ROOT / ".github").glob("*.md")
    links = [(page, link) for page in pages for link in re.findall(r"\]\((?!http)([^)#]+)", page.read_text("utf-8"))]
    assert len(links) >= 3
    assert [link for page, link in links if not (page.parent / link).exists()] == []


@pytest.mark.environment
def test_sdist_and_wheel_are_built_checked_and_installed_in_an_empty_environment(project, tmp_path):
    pytest.importorskip("build")
    pytest.importorskip("twine")
    command = [
        sys.executable,
        "-m",
        "build",
        "--no-isolation",
        "--outdir",
        str(tmp_path / "dist"),
        str(ROOT),
    ]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    sdist, wheel = sorted((tmp_path / "dist").iterdir(), key=lambda path: path.suffix)
    assert sdist.name == f"xcurves-{project['version']}.tar.gz"
    names = zipfile.ZipFile(wheel).namelist()
    assert {
        "xcurves/py.typed",
        "xcurves/data/tictactoe.nc",
        "xcurves/draw/paper.mplstyle",
    } <= set(names)
    assert {name.split("/")[0] for name in names} == {
        "xcurves",
        f"xcurves-{project['version']}.dist-info",
    }
    assert not [name for name in names if "experiments" in name]
    subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", str(sdist), str(wheel)],
        check=True,
    )
    venv.create(tmp_path / "empty", with_pip=True)
    python = str(tmp_path / "empty" / "bin" / "python")
    install = [
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--retries",
        "1",
        "--timeout",
        "10",
        str(wheel),
    ]
    if (done := subprocess.run(install, capture_output=True, text=True)).returncode:
        pytest.skip(f"no network, or nothing to install from: {done.stderr.strip().splitlines()[-1]}")
    code = (
        "import xcurves; print(xcurves.__version__, xcurves.tutorial.open_dataset('tictactoe')['score'].sizes['run'])"
    )
    shown = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown == f"{project['version']} 10\n"


def test_the_paper_has_its_sections_and_cites_what_its_bibliography_has():
    paper = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    sections = [
        "Summary",
        "Statement of need",
        "State of the field",
        "Software design",
        "Research impact statement",
    ]
    headings = [*sections, "AI usage disclosure", "Acknowledgements", "References"]
    assert re.findall(r"^# (.*)$", paper, re.MULTILINE) == headings
    listed = re.findall(
        r"^@\w+\{(.*),$",
        (ROOT / "docs" / "paper.bib").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert set(re.findall(r"@([a-z]+\d{4}\w+)", paper)) == set(listed)
    figures = re.findall(r"\]\(([^)]+\.(?:svg|png))\)", paper)
    assert figures
    assert [figure for figure in figures if not (ROOT / "docs" / figure).exists()] == []
    scripts = re.findall(r"`python (\S+\.py)`", paper)
    assert len(scripts) == len(figures)
    assert [script for script in scripts if not (ROOT / script).exists()] == []
