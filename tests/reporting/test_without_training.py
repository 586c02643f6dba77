"""Scores without training are told no story about it: in no sentence, table, picture, page or warning."""

from __future__ import annotations

import html
import re
import warnings

import numpy as np
import pytest
import xarray as xr

import xcurves
from xcurves import kinds

_STORY = re.compile(r"training|levels\b|undefined|interaction|of shape", re.IGNORECASE)


def _scores(n_tasks: int) -> xr.DataArray:
    """Return accuracies of three algorithms, one of them better, in some data sets."""
    rng = np.random.default_rng(7)
    values = rng.normal(0.6, 0.03, (n_tasks, 3, 6)) + np.array([0.1, 0.0, 0.0])[:, np.newaxis]
    scores = xr.DataArray(
        values,
        dims=("dataset", "algorithm", "run"),
        coords={"dataset": [f"d{task}" for task in range(n_tasks)], "algorithm": ["svm", "knn", "tree"]},
        name="accuracy",
    )
    return scores.assign_coords(run=range(6))


def _page_text(path) -> str:
    """Return what a reader of a page sees, and its alternative texts."""
    page = path.read_text(encoding="utf-8")
    body = re.sub(r"<(script|style).*?</\1>", "", page[page.index("<body") :], flags=re.DOTALL)
    body = re.sub(r'src="data:[^"]*"|class="[^"]*"', "", body)
    return html.unescape(body)


@pytest.fixture(scope="module", params=[1, 6], ids=["one task", "six tasks"])
def tree(request: pytest.FixtureRequest) -> xr.DataTree:
    """Return the whole analysis of scores without training; it warns of nothing."""
    scores = _scores(request.param)
    if request.param == 1:
        scores = scores.isel(dataset=0, drop=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return scores.curves.analyze(n_resamples=999, rng=0)


def test_an_analysis_has_no_part_and_no_reason_about_training(tree: xr.DataTree) -> None:
    assert "left_out" not in tree.attrs
    assert not {"profile", "profile_across_tasks", "power_law"} & set(tree)


@pytest.mark.plain(1)
def test_no_sentence_of_any_part_tells_of_training(tree: xr.DataTree) -> None:
    for name in set(tree) - {"curves"}:
        result = tree[name].to_dataset()
        said = [each.text for each in kinds.kind(result.attrs["xcurves_result"]).every_statement(result)]
        assert said
        assert not [text for text in said if _STORY.search(text)]
        assert not _STORY.search(xcurves.summary(result))


def test_no_table_has_rows_or_columns_about_training(tree: xr.DataTree) -> None:
    for name in set(tree) - {"curves"}:
        frame = xcurves.table(tree[name].to_dataset())
        words = frame.reset_index().to_string() + str(frame.attrs["caption"])
        assert not _STORY.search(words), name


def test_no_methods_paragraph_tells_of_training(tree: xr.DataTree) -> None:
    for name in set(tree) - {"curves"}:
        described, _, _ = xcurves.describe_methods(tree[name].to_dataset()).partition("\n\n")
        assert not _STORY.search(described), name


@pytest.mark.slow
def test_the_page_tells_of_no_training_and_has_no_dead_links(tree: xr.DataTree, tmp_path) -> None:
    text = _page_text(tree.curves.report(tmp_path / "page.html"))
    assert not _STORY.search(text)
    anchors = set(re.findall(r'href="#([^"]+)"', text))
    assert anchors <= set(re.findall(r'id="([^"]+)"', text))


@pytest.mark.plain(1)
def test_pictures_of_parts_have_no_words_about_training(tree: xr.DataTree) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    for name in set(tree) - {"curves"}:
        axes = np.ravel([xcurves.plot(tree[name].to_dataset())])
        figure = axes[0].figure
        words = " ".join(text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text")))
        assert not _STORY.search(words), name
        pyplot.close(figure)


def test_the_analysis_of_accuracies_is_that_of_curves_with_one_level(tree: xr.DataTree) -> None:
    scores = _scores(6)
    if "across_tasks" not in tree:
        scores = scores.isel(dataset=0, drop=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        of_curves = scores.expand_dims(training=[5.0], axis=-1).curves.analyze(n_resamples=999, rng=0)
    p = tree["pairwise"]["pvalue_adjusted"].sel(effect="algorithm")
    xr.testing.assert_equal(p, of_curves["pairwise"]["pvalue_adjusted"].sel(effect="algorithm"))
