"""What a paper takes from a result, of every kind."""

import re
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import xcurves
from strategies import make_curves, make_scores

pytest.importorskip("jinja2")
pytest.importorskip("tabulate")
RNG = np.random.default_rng(0)


@pytest.fixture(scope="module")
def curves():
    return make_curves(RNG.normal(size=(3, 6, 4))).assign_coords(algorithm=["a_1 & b", "50 % | x", "<c>"])


@pytest.fixture(scope="module")
def results(curves):
    errors = make_curves(50 * np.arange(1, 6.0) ** -0.5 + RNG.normal(size=(2, 1, 5)), training=100.0 * np.arange(1, 6))
    fit = errors.isel(run=0, drop=True).assign_attrs(units="%").curves.fit_power_law()
    return [
        curves.curves.randomized_anova(rng=0),
        curves.curves.pairwise(rng=0),
        curves.curves.ss_profile(rng=0),
        curves.isel(training=-1).curves.performance_cdf(threshold=0.0),
        curves.isel(training=-1).curves.compare_distributions(),
        curves.curves.assign_looks(3).curves.sequential(n_looks=2),
        fit,
        fit.curves.predict([600]),
    ]


@pytest.mark.parametrize("to", ["latex", "markdown", "html"])
def test_every_table_has_its_numbers_and_no_gap_is_nan(results, to):
    for result in results:
        written = result.curves.format_table(to, precision=2)
        assert not re.search(r"\bnan\b", written, re.IGNORECASE)
        frame = result.curves.table()
        numbers = frame.select_dtypes("float").to_numpy().ravel()
        for number in numbers[np.isfinite(numbers)]:
            said = f"{number:.2f}"
            assert (said if number == 0 or float(said) else f"{number:.0e}") in written


def test_labels_are_escaped(results):
    said = {to: results[1].curves.format_table(to) for to in ("latex", "markdown", "html")}
    assert r"a\_1 \& b - 50 \% | x" in said["latex"]
    assert r"a_1 & b - 50 % \| x" in said["markdown"]
    assert "a_1 &amp; b - &lt;c&gt;" in said["html"]
    assert said["latex"].splitlines()[0] == r"\begin{tabular}{lrrrrr}"
    assert r"\toprule" in said["latex"]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_latex_compiles(results, tmp_path):
    tables = "\n\n".join(result.curves.format_table("latex", precision=2) for result in results)
    (tmp_path / "t.tex").write_text(
        "\\documentclass{article}\\usepackage{booktabs}\\usepackage[utf8]{inputenc}\\begin{document}"
        f"{tables}\\end{{document}}"
    )
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "t.tex"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)


@pytest.mark.parametrize("higher", [True, False])
def test_the_best_is_marked_and_those_whose_intervals_overlap_are_ties(higher):
    values = np.stack([np.linspace(at, at + 1, 40) for at in (0, 0.2, 30)])
    scores = make_scores(values if higher else -values, algorithm=["low", "near", "far"], run=np.arange(40))
    cdf = scores.isel(algorithm=slice(2)).curves.performance_cdf(higher_is_better=higher)
    lines = cdf.curves.format_table("markdown", best="bold", ties="underline").splitlines()
    median = {line.split("|")[1].strip(): line for line in lines if "score_median" in line}
    assert "**" in median["near"]
    assert "<u>" in median["low"]
    assert not any("**" in line or "<u>" in line for line in lines if "score_std" in line)
    every = scores.curves.performance_cdf(higher_is_better=higher).curves
    lines = every.format_table("latex", best="bold", ties="underline").splitlines()
    assert [r"\textbf" in line for line in lines if "median" in line] == [False, False, True]
    assert not any(r"\underline" in line for line in lines if "median" in line)


def test_what_cannot_be_marked_or_written_is_said(results, monkeypatch):
    with pytest.raises(ValueError, match=r"^the table of pairwise.*algorithm\. Leave out best"):
        results[1].curves.format_table(best="bold")
    with pytest.raises(ValueError, match=r"^to must be 'latex', 'markdown' or 'html'; got 'word'"):
        results[1].curves.format_table("word")
    with pytest.raises(ValueError, match=r"^best and ties must.*or 'underline'; got 'red'"):
        results[3].curves.format_table(best="red")
    monkeypatch.setitem(sys.modules, "tabulate", None)
    with pytest.raises(ImportError, match=r"^format_table needs jinja2 and.*them: pip install 'xcu"):
        results[1].curves.format_table("markdown")


def test_methods_are_described_with_all_that_repeats_them(results):
    for result in results:
        paragraph, checklist = result.curves.describe_methods().split("\n\n")
        name = result.attrs["xcurves_result"]
        assert f"`{name}` of xcurves {result.attrs['xcurves_version']}" in paragraph
        assert all(paper in paragraph for paper in result.attrs["references"].split("; "))
        assert f"seed {result.attrs['rng']}" in checklist
        assert name in checklist
    anova, pairs = (each.curves.describe_methods() for each in results[:2])
    assert "runs: 6, levels: 4, resamples: 9,999" in anova
    assert "P-values are adjusted by Holm's step-down procedure." in pairs


def test_every_reference_is_an_entry(results):
    for result in results:
        entries = result.curves.bibtex().split("\n\n")
        papers = result.attrs["references"].split("; ")
        assert len(entries) == len(papers) + 1
        for paper, entry in zip(papers, entries, strict=False):
            key = re.match(r"@misc\{(\w+),", entry)[1]
            assert key.startswith(re.match(r"\w+", paper)[0][:5])
            doi = re.search(r"doi:(\S+)", paper)
            assert doi is None or f"doi = {{{doi[1]}}}" in entry
            assert entry.count("{") == entry.count("}")
    keys = re.findall(r"@misc\{(\w+),", results[0].curves.bibtex())
    assert len(set(keys)) == len(keys)


def test_a_whole_analysis_has_its_references_once(curves):
    tree = curves.curves.analyze(include=["anova", "pairwise"], rng=0)
    assert tree.curves.bibtex() == xcurves.bibtex(tree)
    assert tree.curves.bibtex().count("Piater1998,") == 1


@pytest.mark.parametrize("odd", [pd.Series([1.0, 2.0]), np.ones((2, 2)), "", False, "bald"])
def test_marks_are_chosen_by_name(results, odd):
    with pytest.raises(ValueError, match=r"^best and ties must be 'bold', 'italic' or 'underline'; got "):
        xcurves.format_table(results[0], best=odd)


def test_a_table_has_so_many_digits(results):
    with pytest.raises(ValueError, match=r"^precision must be at most 17; got 1000"):
        xcurves.format_table(results[0], precision=1000)
