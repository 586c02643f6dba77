import base64
import re
import subprocess
import sys
import warnings
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib import pyplot as plt

import xcurves
from layers import slow
from refusals import refused
from strategies import absent, make_curves, simulate_errors
from xcurves import results
from xcurves.core.refusal import call
from xcurves.means.kinds import CURVES_CAPTION
from xcurves.reporting import markup, pictures
from xcurves.say.tables import Column, columns_of

VOID = {"meta", "img", "source", "br", "link", "input", "hr"}


class Page(HTMLParser):
    """Tags with their attributes, the text under each, and what was not closed."""

    def __init__(self, source):
        super().__init__()
        self.tags, self.open, self.texts = [], [], {}
        self.feed(source)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data.replace("\u00a0", " "))

    def attrs_of(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


@pytest.fixture(scope="module")
def tree():
    return xcurves.tutorial.open_dataset("tictactoe")["score"].curves.analyze(n_resamples=199, rng=0)


@pytest.fixture(scope="module")
def source(tree, tmp_path_factory):
    return tree.curves.report(tmp_path_factory.mktemp("report") / "r.html").read_text(encoding="utf-8")


def limits_of(cell):
    """Return the limits that a cell says, NaN where it says none."""
    if cell == "unbounded":
        return [-np.inf, np.inf]
    found = re.fullmatch(r"(?:(at least|at most) )?(−?[\d,.]+)(?: to (−?[\d,.]+))?", cell)
    words = found.groups() if found else (None, None, None)
    low, high = (float(end.replace("−", "-").replace(",", "")) if end else np.nan for end in words[1:])
    return {"at least": [low, np.inf], "at most": [-np.inf, low], None: [low, high]}[words[0]]


@pytest.mark.slow
def test_every_sentence_and_number_of_the_summaries_is_there(tree, source):
    page = Page(source)
    said = page.texts["li"] + page.texts["p"]
    for part in ("anova", "pairwise", "profile", "distribution"):
        for sentence in tree[part].to_dataset().curves.summary().splitlines():
            assert sentence in said
        table = tree[part].to_dataset().curves.table()
        cells = page.texts["td"]
        for column in columns_of(table):
            # a blank cell has no text
            assert column.role in ("label", "interval") or all(text == "" or text in cells for text in column.texts)
        if "lower" in table:
            ends = np.array([limits_of(cell) for cell in cells])
            for limits in table[["lower", "upper"]].dropna().to_numpy():
                half = (limits[1] - limits[0]) / 2  # whose two digits the cell supports
                assert (
                    np.isclose(
                        ends,
                        limits,
                        rtol=0,
                        atol=0.051 * half if np.isfinite(half) else 0.051,
                    )
                    .all(1)
                    .any()
                )
    assert tree.attrs["left_out"].replace("_", " ") in said
    assert "Scores at the last training level that all runs have: 8,000 games." in said


def section(source, anchor):
    """Return the HTML of a section."""
    return source.split(f'<section id="{anchor}"')[1].split("</section>")[0].replace("\u00a0", " ")


def test_the_page_opens_with_the_verdict_and_its_curves(tree, source):
    answer = section(source, "answer")
    verdict = results.prepare(tree["pairwise"].to_dataset())[0].answer(tree["pairwise"].to_dataset())
    assert f'<p class="verdict">{verdict}</p>' in answer
    assert answer.count("<img") == 2  # curves, then differences
    assert "<table" not in answer  # of a single task, the picture says it all
    sections = re.findall('<section id="([^"]+)"', source)
    assert sections[0] == "answer"
    assert sections[-3:] == ["methods", "numbers", "missing"]
    assert all("<details>" in section(source, anchor) for anchor in sections[1:])


@pytest.mark.slow
def test_the_scores_of_tasks_stand_open_with_the_best_in_bold(tmp_path):
    values = np.array([0.0, 5.0, 9.0])[:, None, None] + np.random.default_rng(0).normal(size=(6, 3, 5, 4))
    values[3] += 100
    curves = make_curves(values, task=[f"<{each}>" for each in "stuvwx"])
    tree = curves.curves.analyze(include=["across_tasks", "profile_across_tasks"], rng=0)
    source = tree.curves.report(tmp_path / "scores.html").read_text(encoding="utf-8")
    answer = section(source, "answer")
    assert answer.count("<img") == 2
    rows = re.findall('<tr><th scope="row"><a href="#(.*?)">(.*?)</a></th>(.*?)</tr>', answer)
    assert [row[:2] for row in rows] == [(f"task-{n}", f"&lt;{each}&gt;") for n, each in enumerate("stuvwx", 1)]
    means = values.mean(axis=(2, 3))
    for row, own in zip(rows, means, strict=True):
        cells = re.findall("<td.*?>(.*?)</td>", row[2])
        assert [bool(re.match("<b>", cell)) for cell in cells] == [False, False, True]
        assert [float(re.search(r"[\d.]+", cell)[0]) for cell in cells] == pytest.approx(np.abs(own), abs=0.051)
    for anchor, _, _ in rows:  # where each name leads
        assert f'<h3 id="{anchor}">' in section(source, "tasks")
    assert section(source, "tasks").count('<svg class="small"') == 6
    assert section(source, "tasks").count("<polygon") == 18  # a band for each algorithm


@pytest.mark.parametrize(
    ("include", "tasks"),
    [
        slow(["pairwise"], ["pong"]),
        slow(["anova"], ["pong", "qbert"]),
        slow(None, ["pong", "qbert"]),
    ],
)
@pytest.mark.filterwarnings("ignore:.*so few")
def test_a_table_and_a_picture_stand_once(include, tasks, tmp_path):
    curves = make_curves(np.random.default_rng(0).normal(size=(len(tasks), 3, 5, 4)), task=tasks)
    tree = curves.curves.analyze(include=include, n_resamples=99, rng=0)
    once(tree.curves.report(tmp_path / "page.html").read_text(encoding="utf-8"))


def test_a_table_and_a_picture_of_one_task_stand_once(source):
    once(source)


def once(page):
    sources = [attrs["src"] for attrs in Page(page).attrs_of("img")]
    tables = re.findall("<table.*?</table>", page, re.DOTALL)
    assert len(tables) >= 2
    assert len(set(tables)) == len(tables)
    assert len(set(sources)) == len(sources)


def test_a_page_is_one_file_without_network_or_script(source):
    page = Page(source)
    assert not {"script", "link", "iframe", "object", "embed", "video"} & {tag for tag, _ in page.tags}
    for tag, attrs in page.tags:
        assert not [name for name in attrs if name.startswith("on")]
        for name in {"src", "srcset"} & set(attrs):
            assert attrs[name].startswith("data:image/")
        if tag == "a":
            assert attrs["href"].startswith(("#", "https://doi.org/10."))
    assert "url(" not in source
    assert "@import" not in source


@pytest.mark.slow
def test_pictures_say_what_they_show(tree, source):
    alternatives = [attrs["alt"] for attrs in Page(source).attrs_of("img")]
    assert alternatives[0].endswith(
        " wins minus losses in 100 games: 30 runs of 3 algorithms, training (games) 0 to 8,000."
    )
    expected = []
    for part in ("anova", "pairwise", "profile", "distribution"):
        kind, result = results.prepare(tree[part].to_dataset())
        for name, view in kind.views.items():
            if view.default or part == "pairwise":  # the verdict, with all its pictures
                axes = result.curves.plot(name)
                said = {"": view.caption} if isinstance(view.caption, str) else view.caption
                gids = [str(each.get_gid()) for ax in np.ravel([axes]) for each in ax.figure.findobj()]
                shown = {flag for gid in gids for flag in gid.split("; ")}
                sentences = [words for flag, words in said.items() if not flag or flag in shown]
                expected.append(" ".join([*sentences, kind.answer(result)]))
    plt.close("all")
    assert sorted(alternatives[1:]) == sorted(expected)


@pytest.mark.slow
def test_the_same_tree_gives_the_same_bytes(tree, source, tmp_path):
    assert tree.curves.report(tmp_path / "again.html").read_text(encoding="utf-8") == source
    back = xcurves.archive.read(xcurves.archive.write(tree, tmp_path / "archive"))
    assert back.curves.report(tmp_path / "back.html").read_text(encoding="utf-8") == source


def test_settings_and_references_are_there(tree, source):
    page = Page(source)
    settings = " ".join(page.texts["li"])
    for said in (
        "Confidence level: 0.95",
        tree["profile"].attrs["rng"],
        f"numpy {np.__version__}",
    ):
        assert said in settings
    linked = [attrs["href"] for attrs in page.attrs_of("a") if attrs["href"].startswith("https:")]
    papers = [each for name in ("profile", "distribution") for each in tree[name].attrs["references"].split("; ")]
    assert linked == [f"https://doi.org/{each.split('doi:')[1]}" for each in papers if "doi:" in each]


@pytest.mark.slow
def test_labels_that_look_like_html_or_formulas_stay_text(tree, tmp_path):
    names = ["<b>x</b>", "\"a\" & 'b' $\\frac$ $x$", "_hidden"]
    scores = tree["curves"]["score"].assign_coords(algorithm=names).rename("<script>")
    nasty = scores.assign_attrs(long_name="</style><i>", units="<u>", history="a\n<img src=x>")
    page = nasty.curves.analyze(n_resamples=9, rng=0, confidence_level=0.5).curves.report(tmp_path / "n.html")
    source = page.read_text(encoding="utf-8")
    parsed = Page(source)
    assert parsed.texts["title"] == ["Comparison of " + f"{names[0]}, {names[1]} and {names[2]}"]
    for name in names:
        assert name in parsed.texts["th"]
    assert not {"b", "i", "u", "script"} & {tag for tag, _ in parsed.tags}
    assert len(parsed.attrs_of("img")) == 8
    for attrs in parsed.attrs_of("img"):
        assert set(attrs) == {"src", "alt"}


@pytest.mark.slow
def test_pictures_take_names_as_they_are_and_change_nothing():
    curves = make_curves(np.random.default_rng(0).normal(size=(3, 3, 4))).assign_attrs(units="$", long_name="$\\bad$")
    curves = curves.assign_coords(algorithm=["$x_{$", "_a", "long " * 20])
    before, pairs = (
        curves.copy(deep=True),
        curves.curves.pairwise(n_resamples=9, rng=0, confidence_level=0.001),
    )
    of_pairs = pairs.copy(deep=True)
    for drawing in pictures.draw(curves, CURVES_CAPTION)[:2]:
        assert drawing.startswith("data:image/svg+xml;base64,")
        assert b"<svg" in base64.b64decode(drawing.split(",")[1])
    assert pictures.draw(pairs, "Pairs.").caption == "Pairs."
    assert curves.identical(before)
    assert pairs.identical(of_pairs)


@pytest.mark.slow
@pytest.mark.filterwarnings(
    # on a slow machine
    "ignore:Creating legend with loc:UserWarning"
)
def test_large_drawings_are_dots(monkeypatch):
    monkeypatch.setattr("xcurves.reporting.pictures._LARGE", 10_000)
    curves = make_curves(np.random.default_rng(0).normal(size=(2, 10, 300)))
    for drawing in pictures.draw(curves, CURVES_CAPTION)[:2]:
        assert drawing.startswith("data:image/png;base64,")
        assert len(drawing) < 600_000


@pytest.mark.filterwarnings("ignore:.*(no run has a value|p is NaN|no trial)")
@pytest.mark.slow
def test_many_tasks_have_short_tables(tmp_path):
    curves = make_curves(
        np.random.default_rng(0).normal(size=(4, 5, 3, 6, 5)),
        metric=list("abcd"),
        task=[*"vwxyz"],
    )
    curves = curves.where((curves.metric != "a") | (curves.task != "v") | (curves.algorithm == "a0"))
    with pytest.warns(UserWarning, match="left out of the analysis"):
        tree = curves.curves.analyze(n_resamples=99, rng=0)
    source = tree.curves.report(tmp_path / "many.html").read_text(encoding="utf-8")
    page = Page(source)
    drawn = [attrs["aria-label"] for attrs in page.attrs_of("svg") if "aria-label" in attrs]
    assert drawn[0] == "score against training: means of runs on metric 'a', task 'v'."
    assert len(drawn) == 20
    anchors = [attrs["id"] for attrs in page.attrs_of("h3") if "id" in attrs]
    assert anchors == [f"task-{place}" for place in range(1, 21)]
    assert "<details>" not in section(source, "tasks")  # the only curves of the page
    numbers = section(source, "numbers")
    assert numbers.split("</table>")[0].count("<tr>") == 1 + 20
    assert "metric &#x27;a&#x27;, task &#x27;v&#x27;: only algorithm" in source
    (_, written, *_) = columns_of(tree["pairwise"].sel(metric="d", task="z").curves.table())
    assert all(f">{each}</td>" in source for each in written.texts)
    p = tree["anova"]["pvalue"].sel(error_term="split_plot", effect="algorithm").values.ravel()
    count = f"In {np.count_nonzero(p <= 0.05)} of 19 tasks the algorithms&#x27; mean scores over training differ"
    assert count in source
    assert "(nothing can be said of 1 more)" in source
    assert "Without any difference 0.95 of 19 tasks would show one by chance, for each effect" in source


@pytest.mark.slow
def test_a_page_of_sixty_tasks_has_less_than_two_megabytes(tmp_path):
    rng = np.random.default_rng(0)
    curves = make_curves(
        rng.normal(size=(60, 10, 5, 200)) + np.arange(10)[:, None, None],
        task=[f"task {i}" for i in range(60)],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = curves.curves.analyze(n_resamples=199, rng=0)
        page = tree.curves.report(tmp_path / "sixty.html")
    assert page.stat().st_size < 2e6


@pytest.mark.slow
def test_a_selected_task_has_the_page_of_a_single_one_and_is_named(tmp_path):
    curves = make_curves(10 * np.arange(3)[:, None, None] + np.random.default_rng(0).normal(size=(3, 5, 4)))
    answers = []
    for given in (curves, curves.expand_dims(task=["dog <b>"])):
        source = given.curves.analyze(rng=0).curves.report(tmp_path / "one.html").read_text(encoding="utf-8")
        assert (" on task &#x27;dog &lt;b&gt;&#x27;, training 0 to 300." in source) == ("task" in given.dims)
        assert source.count("<img ") == 8
        answers.append(section(source, "answer"))
    assert answers[0] == answers[1]
    assert re.search(r"a2 has the highest mean score over training, \d+(\.\d+)?", answers[0])


@pytest.mark.slow
def test_too_few_runs_are_said_first(undrawn, tmp_path):
    curves = make_curves(np.random.default_rng(0).normal(size=(3, 2, 4)))
    with pytest.warns(UserWarning):
        tree = curves.curves.analyze(rng=0)
    answer = tree.curves.report(tmp_path / "few.html").read_text(encoding="utf-8").split('<section id="methods"')[0]
    # 2, 2 and 2 runs: 15 assignments; of a pair 3, times 3 pairs
    assert "Runs are so few that p cannot be below 0.0667, whatever the scores." in answer
    assert "With 2 runs a side no adjusted p of these 3 pairs can be below 1: run more: 5 a side are enough." in answer
    assert "reference=" not in answer  # its readers have no Python


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:left out of the analysis")
def test_errors_have_their_learning_curves(undrawn, tmp_path):
    errors, _ = simulate_errors(2, seed=1)
    errors = errors.rename(task="algorithm").assign_coords(algorithm=["a", "b"])
    tree = errors.curves.analyze(rng=0)
    source = tree.curves.report(tmp_path / "errors.html").read_text(encoding="utf-8")
    assert "What would more data buy?" in Page(source).texts["h2"]
    assert (
        re.findall(
            "<td>(.*?)</td>",
            section(source, "numbers").split("Runs and training levels")[2],
        )[2]
        == "5"
    )
    assert "<li>anova, pairwise, profile: algorithm &#x27;a&#x27;, run 1 lacks 1 of 5" in source


def test_absent_runs_are_named(undrawn, tree, tmp_path):
    scores = absent(tree["curves"]["score"], [10, 8, 10])
    page = scores.curves.analyze(include=["anova"], n_resamples=99, rng=0).curves.report(tmp_path / "a.html")
    compared = section(page.read_text(encoding="utf-8"), "numbers").split("Runs and training levels")[2]
    row = compared.split("rate 0.8")[1].split("</tr>")[0]
    assert re.findall("<td>(.*?)</td>", row)[:3] == ["8", "8 and 9", "8"]


def test_a_tree_without_curves_can_be_reported(undrawn, tree, tmp_path):
    alone = xr.DataTree.from_dict({"/mine": tree["pairwise"].to_dataset()})
    source = alone.curves.report(tmp_path / "alone.html").read_text(encoding="utf-8")
    assert "Runs and training levels" not in source
    assert "<h1>Comparison of algorithms</h1>" in source
    assert tree["pairwise"].curves.summary() == alone.curves.summary()


@pytest.mark.slow
def test_one_group_can_be_reported(tree, tmp_path):
    drawn = Page(tree["anova"].curves.report(tmp_path / "one.html").read_text()).attrs_of("img")
    assert len(drawn) == 1


def test_a_tree_that_is_no_analysis_is_told(tmp_path):
    other = xr.DataTree.from_dict({"/a": xr.Dataset({"x": 1}), "/b": xr.Dataset()})
    said = r"^this DataTree is no analysis: none of its groups \(a, b\) is a result of xcurves"
    for method in (
        other.curves.summary,
        other.curves.plot,
        lambda: other.curves.report(tmp_path / "r.html"),
    ):
        with refused("", cure=call("curves.curves.analyze"), names=said):
            method()
    with refused("tree", "Dataset", kind=xcurves.WrongType):
        xcurves.report(xr.Dataset(), tmp_path / "r.html")
    assert not list(tmp_path.iterdir())


def test_a_dataset_that_only_looks_like_a_result_is_refused(tmp_path):
    result = make_curves(np.random.default_rng(0).normal(size=(3, 5, 4))).curves.pairwise(rng=0)
    fake = xr.DataTree.from_dict({"/pairwise": xr.Dataset({"x": ("a", [1.0, 2.0])}, attrs=result.attrs)})
    with refused(
        "result",
        cure="It was dropped; keep it in the selection",
        names=r"^report of a result of pairwise needs the variable 'pvalue_adjusted'",
    ):
        fake.curves.report(tmp_path / "r.html")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_page_of_one_part_shows_its_table_once(tmp_path):
    result = make_curves(np.random.default_rng(0).normal(size=(3, 5, 4))).curves.pairwise(rng=0)
    tree = xr.DataTree.from_dict({"/pairwise": result})
    assert tree.curves.report(tmp_path / "r.html").read_text(encoding="utf-8").count("<table") == 1


@pytest.mark.slow
def test_a_page_is_replaced_whole_or_not_at_all(undrawn, tree, tmp_path, monkeypatch):
    path = tmp_path / "r.html"
    tree.curves.report(path)
    old = path.read_text()

    def fail(self, text, **_):
        self.write_bytes(text[:100].encode())
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", fail)
    with pytest.raises(OSError, match=r"^path '.*r\.html' cannot be.*left on device\."):
        tree.curves.report(path)
    assert path.read_text() == old
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(NotADirectoryError, match="there is no folder"):
        tree.curves.report(tmp_path / "gone" / "r.html")


@pytest.mark.slow
def test_the_core_alone_reports_without_pictures(tmp_path):
    code = """
import sys
sys.modules.update(dict.fromkeys(["matplotlib", "netCDF4", "h5netcdf", "zarr", "dask", "tqdm"]))
import xcurves
tree = xcurves.tutorial.open_dataset("tictactoe")["score"].curves.analyze(n_resamples=9, rng=0, confidence_level=0.5)
print(tree.curves.report("r.html").read_text(encoding="utf-8"))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Pictures are left out: they need matplotlib" in done.stdout
    assert "<img" not in done.stdout


def test_summary_of_a_tree_has_those_of_its_parts(tree):
    said = tree.curves.summary()
    for part in ("anova", "pairwise", "profile", "distribution"):
        kind, result = results.prepare(tree[part].to_dataset())
        assert kind.question in said
        assert kind.answer(result) in said
    assert len(said.split("\n")) <= 30
    assert said.startswith("Do the algorithms differ?\nThe algorithms' mean scores over training ")
    assert said.endswith("Not in this analysis:\n" + tree.attrs["left_out"])


@pytest.mark.slow
def test_plot_of_a_tree_draws_a_group(tree):
    assert tree.curves.plot(rng=0).get_ylabel() == tree["curves"]["score"].curves.plot(rng=0).get_ylabel()
    of_tree, of_part = (
        tree.curves.plot("pairwise"),
        tree["pairwise"].to_dataset().curves.plot(),
    )
    assert [ax.get_xlabel() for ax in of_tree] == [ax.get_xlabel() for ax in of_part]
    with refused("view", "t", names="must be 'curves', 'anova', "):
        tree.curves.plot("t")


@pytest.mark.parametrize(
    ("value", "written"),
    [(pd.NA, "<td>–"), (-np.inf, '<td data-order="-inf">−∞'), (-1.23456, '<td data-order="-1.23456">−1.23'),
     (8000.0, '<td data-order="8000">8,000'), (7, "<td>7"), (True, "<td>yes"), ("", "<td>"), ("a", "<td>a")],
)  # fmt: skip
def test_cells_are_written_to_be_read_and_sorted(value, written):
    assert f"{written}</td>" in markup.html_table(pd.DataFrame({"x": [value]}), "")


def test_long_tables_take_each_column_once(monkeypatch):
    taken, texts = [], Column.texts.fget
    monkeypatch.setattr(Column, "texts", property(lambda column: taken.append(column.name) or texts(column)))
    frame = pd.DataFrame({"x": range(20)}, index=pd.Index(range(20), name="task"))
    markup.html_table(frame, "", {(task,): f"task-{task}" for task in frame.index})
    assert len(taken) <= 3
