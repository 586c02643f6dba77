"""Scores without training are told no story about it: in no sentence, table, picture, page or warning."""

from __future__ import annotations

import html
import re
import warnings

import numpy as np
import pytest
import xarray as xr

import xcurves
from layers import slow
from xcurves import kinds, results

_STORY = re.compile(r"training|levels\b|undefined|interaction|of shape", re.IGNORECASE)
_TOLD = re.compile(r"training|F is undefined|interaction|of shape", re.IGNORECASE)


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


_WEIGHTS = {"svm": 1.0, "knn": -0.5, "tree": -0.5}


def _answers() -> xr.DataArray:
    """Return the answers of three algorithms to questions, 1 where right, of a single run."""
    right = np.random.default_rng(3).uniform(size=(40, 3, 1)) < np.array([0.8, 0.5, 0.5])[:, np.newaxis]
    return xr.DataArray(
        right.astype(float),
        {"question": range(40), "algorithm": ["svm", "knn", "tree"], "run": [0]},
        ["question", "algorithm", "run"],
        name="accuracy",
    )


def _one() -> xr.DataArray:
    return _scores(1).isel(dataset=0, drop=True)


def _in_looks(scores: xr.DataArray) -> xr.DataArray:
    return xcurves.assign_looks(scores, {run: 1 + run // 3 for run in range(6)})


def _pairs_of(scores: xr.DataArray) -> xr.Dataset:
    return xcurves.pairwise(scores, n_resamples=19, rng=0)


BARE = {
    "pairwise": lambda: _pairs_of(_one()),
    "pairwise: tasks": lambda: _pairs_of(_scores(3)),
    "contrast": lambda: xcurves.contrast(_one(), _WEIGHTS, n_resamples=99, rng=0),
    "contrast: tasks": lambda: xcurves.contrast(_scores(3), _WEIGHTS, margin=0.01, n_resamples=99, rng=0),
    "across_tasks": lambda: xcurves.across_tasks(_scores(8), rng=0),
    "across_tasks: answers": lambda: xcurves.across_tasks(_answers(), task="question", rng=0),
    "sequential": lambda: xcurves.sequential(_in_looks(_one()), n_looks=3, n_resamples=99),
    "sequential: tasks": lambda: xcurves.sequential(_in_looks(_scores(3)), n_looks=3, n_resamples=99, task="dataset"),
    "gate": lambda: xcurves.gate(_one(), baseline="knn"),
    "gate: tasks": lambda: xcurves.gate(_scores(3), baseline="knn", task="dataset"),
    "performance_cdf": lambda: xcurves.performance_cdf(_one()),
    "compare_distributions": lambda: xcurves.compare_distributions(_one(), rng=0),
    "compare_distributions: tasks": lambda: xcurves.compare_distributions(_scores(3), rng=0),
    "tuning_curve": lambda: xcurves.tuning_curve(_one(), n_trials=3),
    "speedup": lambda: xcurves.speedup(_one(), reference="knn"),
    "runs_needed": lambda: xcurves.runs_needed(_one(), n_runs=[3, 4], test=_pairs_of, n_replications=4, rng=0),
}


@pytest.mark.plain(3)
@pytest.mark.filterwarnings("default::UserWarning")
@pytest.mark.parametrize("name", [name if ":" not in name else slow(name) for name in BARE])
def test_no_method_that_takes_scores_tells_of_training(name: str) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        result = BARE[name]()
    kind, prepared = results.prepare(result)
    frame = xcurves.table(result)
    method, _, _ = xcurves.describe_methods(result).partition("\n\n")
    texts = {
        "warnings": " ".join(str(each.message) for each in warned),
        "sentences": " ".join(each.text for each in kind.every_statement(prepared)),
        "table": frame.reset_index().to_string() + str(frame.attrs["caption"]),
        "methods": method,
        "JSON": str(
            {key: value for key, value in xcurves.to_dict(result).items() if key not in ("settings", "ledger")}
        ),
    }
    if kind.views:
        axes = np.ravel([xcurves.plot(result)])
        figure = axes[0].figure
        drawn = figure.findobj(lambda artist: hasattr(artist, "get_text"))
        texts["picture"] = " ".join(text.get_text() for text in drawn)
        pyplot.close(figure)
    assert {where: said for where, said in texts.items() if _TOLD.search(said)} == {}
