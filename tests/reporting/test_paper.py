"""What a paper takes from a result, of every kind."""

import io
import math
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import test_kinds
import xcurves
from layers import slow
from refusals import refused
from strategies import make_curves, make_scores
from xcurves import kinds

pytest.importorskip("jinja2")
pytest.importorskip("tabulate")
RNG = np.random.default_rng(0)
FEW = {"n_resamples": 199, "rng": 0}


@pytest.fixture(scope="module")
def curves():
    return make_curves(np.random.default_rng(0).normal(size=(3, 6, 4))).assign_coords(
        algorithm=["a_1 & b", "50 % | x", "<c>"]
    )


@pytest.fixture(scope="module")
def results(curves):
    errors = make_curves(
        50 * np.arange(1, 6.0) ** -0.5 + RNG.normal(size=(2, 1, 5)),
        training=100.0 * np.arange(1, 6),
    )
    fit = errors.isel(run=0, drop=True).assign_attrs(units="%").curves.fit_power_law()
    return [
        curves.curves.randomized_anova(**FEW),
        curves.curves.pairwise(**FEW),
        curves.curves.ss_profile(**FEW),
        curves.isel(training=-1).curves.performance_cdf(threshold=0.0),
        curves.isel(training=-1).curves.compare_distributions(),
        curves.curves.assign_looks(3).curves.sequential(n_looks=2),
        fit,
        fit.curves.predict([600]),
    ]


@pytest.mark.plain(1)
@pytest.mark.parametrize("to", ["latex", "markdown", "html"])
def test_every_table_has_its_numbers_and_no_gap_is_nan(results, to):
    for result in results:
        written = result.curves.format_table(to, precision=2)
        assert not re.search(r"\bnan\b", written, re.IGNORECASE)
        for name, column in result.curves.table().select_dtypes("float").items():
            if re.search(r"(^|_)p(_|$)", str(name)):
                continue
            for number in column[np.isfinite(column) & (abs(column) >= 0.005)]:
                # the sign of a pair that is turned is that of the table already
                said = f"{abs(number):,.2f}"
                assert said in written, (name, number)


@pytest.mark.parametrize("to", ["latex", "markdown", "html"])
def test_p_has_three_decimals_or_is_below_a_thousandth(to):
    values = RNG.normal(size=(2, 8, 1)) + np.array([0.0, 9.0])[:, np.newaxis, np.newaxis]
    pair = make_curves(values).assign_coords(algorithm=["low", "high"]).curves.pairwise(rng=0)
    assert pair["pvalue_adjusted"].sel(effect="algorithm").item() < 0.001
    written = pair.curves.format_table(to)
    below = {"latex": r"\textless{} .001", "markdown": r"\< .001", "html": "&lt; .001"}[to]
    assert below in written
    assert "lower" not in written
    assert ("$p$" in written) == (to == "latex")


@pytest.mark.plain(1)
@pytest.mark.parametrize("reference", [None, "low"])
@pytest.mark.parametrize("higher", [True, False])
def test_the_better_of_a_pair_or_the_reference_stands_first_and_variables_have_their_units(reference, higher):
    means = np.array([0.0, 4.0, 1.0])[:, np.newaxis, np.newaxis]
    values = RNG.normal(size=(8, 3, 5, 1)) + means
    tasks = make_curves(values, task=list("stuvwxyz")).assign_coords(algorithm=["low", "high", "middle"])
    tasks.attrs["units"] = "points"
    found = xcurves.across_tasks(tasks, reference=reference, n_resamples=999, rng=0, higher_is_better=higher)
    table, *note = found.curves.format_table("markdown", precision=2).split("\n\n")
    assert note == ["More than 0: by the test; the level is claimed for the interval without it."] * (
        "more than" in table
    )
    head, _, *rows = table.splitlines()
    assert "difference (points)" in head
    assert "SD over tasks (points)" in head
    assert "better) (" not in head
    if reference:
        pairs = ["low over high", "low over middle"]
    else:
        pairs = ["high over low", "high over middle", "middle over low"]
    if not higher:
        # low scores are better, so what is first is not, unless it is the reference
        pairs = [pair.replace(" over ", " below ") for pair in pairs]
        if not reference:
            pairs = [" below ".join(pair.split(" below ")[::-1]) for pair in pairs]
    scores = dict(zip(found["algorithm"].values.tolist(), found["score_mean"].values.tolist(), strict=True))
    for row, pair in zip(rows, pairs, strict=True):  # the largest difference first
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        first, second = re.split(" over | below ", pair)
        better_by = (scores[first] - scores[second]) * (1 if higher else -1)
        given = " - ".join([first, second])
        sign = 1 if given in found.pair.values else -1
        one = found.sel(pair=given if sign == 1 else f"{second} - {first}")
        sign *= 1 if higher else -1
        ends = sorted((sign * one.difference_ci_simultaneous.sel(task_effect="random")).values.tolist())
        shown = one.pvalue_adjusted.sel(task_effect="random") <= 0.05
        texts = [f"{end:.2f}".replace("-", "−") for end in ends]
        if shown and ends[0] <= 0 < better_by:
            texts[0] = "more than 0"
        if shown and ends[1] >= 0 > better_by:
            texts[1] = "less than 0"
        assert cells[:3] == [pair, f"{better_by:.2f}".replace("-", "−"), " to ".join(texts)]
        chance = one.prob_greater.item()
        assert cells[6] == f"{chance if sign == 1 else 1 - chance:.2f}"


@pytest.mark.slow
def test_csv_of_tasks_has_each_mean_and_its_spread():
    _, answer = tasks_table()
    read = pd.read_csv(io.StringIO(answer.curves.format_table("csv", rows="task", spread="sd", precision=6)))
    assert read.columns.tolist() == ["task", "a", "a ± sd", "b_1", "b_1 ± sd", "c", "c ± sd"]
    tasks = read.set_index("task").loc[list("stuvwx")]
    np.testing.assert_allclose(tasks[["a", "b_1", "c"]], answer["task_mean"].transpose("task", ...), atol=1e-6)
    assert tasks["a ± sd"].gt(0).all()
    assert read["task"].tolist()[6:] == ["mean", "mean rank"]
    called = tasks_table()[0].assign_coords(task=["mean", *"tuvwx"]).curves.across_tasks(rng=0)
    assert called.curves.format_table("csv", rows="task").count("\nmean,") == 2


def test_csv_has_the_numbers_of_the_table(results):
    for result in results:
        frame = result.curves.table()
        read = pd.read_csv(io.StringIO(result.curves.format_table("csv")))
        assert len(read) == len(frame)
        for name, column in frame.select_dtypes("float").items():
            if np.isfinite(column).any():
                np.testing.assert_allclose(read[str(name)], column, rtol=1e-12)


def tasks_table(lower=False, n_runs=5, reference=None):
    """Return scores of six tasks and three algorithms, and their result; c is far ahead, a is near b."""
    rng = np.random.default_rng(5)
    values = rng.normal(size=(6, 3, n_runs, 1)) + np.array([0.0, 0.1, 9.0])[:, None, None]
    values[2, 2] = values[2, 0] - 0.01  # here c is not ahead
    values = -values if lower else values
    curves = make_curves(values, task=list("stuvwx")).assign_coords(algorithm=["a", "b_1", "c"])
    return curves, xcurves.across_tasks(curves, higher_is_better=not lower, reference=reference, rng=0)


def cells_of(markdown):
    """Return the names and the cells of the rows of a table of Markdown."""
    _, _, head, _, *rows = markdown.splitlines()
    assert head.count("|") == 5
    found = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    return {name: cells for name, *cells in found}


@pytest.mark.plain(2)
@pytest.mark.parametrize("spread", ["ci", "sd", "se"])
@pytest.mark.parametrize("lower", [False, True])
def test_scores_of_tasks_have_mean_spread_and_marks_of_plain_loops(spread, lower):
    curves, answer = tasks_table(lower, n_runs=8)
    rows = cells_of(answer.curves.format_table("markdown", rows="task", spread=spread, precision=3))
    sides = answer.algorithm_a.values, answer.algorithm_b.values
    pairs = {frozenset(names): at for at, names in enumerate(zip(*sides, strict=True))}
    n_tied = 0
    for at, task in enumerate("stuvwx"):
        runs = curves.values[at, :, :, 0]
        means = runs.mean(axis=1)
        best = int(means.argmin() if lower else means.argmax())
        for place, name in enumerate(["a", "b_1", "c"]):
            error = runs[place].std(ddof=1)
            if spread != "sd":
                error /= np.sqrt(8)
            if spread == "ci":
                error *= stats.t.ppf(0.975, 7)
            cell = rows[task][place].replace("\u2007", "")
            written = f"{means[place]:.3f}".replace("-", "−")
            if place == best:
                written = f"**{written}**"
            else:
                p = answer.task_pvalue_adjusted[pairs[frozenset([name, ["a", "b_1", "c"][best]])]].sel(task=task).item()
                if p > 0.05:
                    written = f"<u>{written}</u>"
                    n_tied += 1
            assert cell == f"{written} ± {error:.3f}"
    assert 0 < n_tied < 12
    over_tasks = curves.mean(["task", "run", "training"])
    assert rows["mean"] == [f"{each:.3f}".replace("-", "−") for each in over_tasks.values]
    ranks = stats.rankdata((1 if lower else -1) * curves.mean(["run", "training"]), axis=1).mean(axis=0)
    assert rows["mean rank"] == [f"{each:.2f}" for each in ranks]


@pytest.mark.slow
def test_the_caption_says_what_stands_in_the_table():
    _, answer = tasks_table(n_runs=8)
    caption = answer.curves.format_table("markdown", rows="task").splitlines()[0]
    assert caption.startswith(
        "Score over training: mean of 8 runs ± half of the 95 % t interval. Bold: the best of a task. Underlined:"
    )
    few = tasks_table(n_runs=2)[1].curves.format_table("markdown", rows="task", spread="sd")
    assert "± the standard deviation." in few
    assert "2 runs: too few to show a difference in a single task, by p adjusted over tasks." in few
    assert "<u>" not in few
    assert "†" not in few
    beside = tasks_table(n_runs=8, reference="a")[1].curves.format_table("markdown", rows="task")
    assert "Compared with a alone: pairs of others have no mark." in beside
    own = answer.curves.format_table("latex", rows="task", caption="50 % & more", label="tab:mine")
    assert r"\caption{50 \% \& more}" in own
    assert r"\label{tab:mine}" in own
    assert r"b\_1" in own


def underlined(written, to):
    """Return the numbers that are underlined in a table."""
    pattern = {"latex": r"\\underline\{([^}]*)\}"}.get(to, r"<u>([^<]*)</u>")
    return re.findall(pattern, written)


def unlike_scores(n_runs):
    """Return scores of six tasks: a about 11, b and c about 340, with so many runs of each in each task."""
    rng = np.random.default_rng(7)
    values = np.full((6, 3, max(map(max, n_runs)), 1), np.nan)
    for task, of_task in enumerate(n_runs):
        for place, n in enumerate(of_task):
            mean, sd = ((11, 1), (340, 20), (341, 20))[place]
            values[task, place, :n, 0] = rng.normal(mean, sd, n)
    names = ["a", "b_1", "c"]
    return make_curves(values, task=list("stuvwx")).assign_coords(algorithm=names)


@pytest.mark.plain(1)
@pytest.mark.parametrize("to", ["latex", "markdown", "html"])
def test_three_runs_cannot_show_that_11_is_worse_than_340_and_it_has_no_mark(to):
    answer = xcurves.across_tasks(unlike_scores([(3, 3, 3)] * 6), rng=0)
    assert (answer.task_pvalue_adjusted > 0.05).all()
    written = answer.curves.format_table(to, rows="task")
    assert underlined(written, to) == []
    assert "†" not in written
    assert "dagger" not in written
    assert written.count("3 runs: too few to show a difference in a single task, by p adjusted over tasks.") == 1


@pytest.mark.plain(2)
@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("to", ["latex", "markdown", "html"])
def test_underlined_where_the_test_could_have_shown_it_and_a_dagger_elsewhere(to, paired):
    n_runs = [(3, 3, 3), (9, 9, 9), (9, 9, 9), (4, 4, 4), (10, 10, 10), (12, 12, 12)]
    answer = xcurves.across_tasks(unlike_scores(n_runs), paired=paired, rng=0)
    written = answer.curves.format_table(to, rows="task")
    rows = [line for line in written.splitlines() if re.search(r"±|\\pm", line)]
    # behind the caption, before mean and mean rank
    rows = [line for line in rows if "half of" not in line][:6]
    assert len(rows) == 6
    for at, row in enumerate(rows):
        n = n_runs[at][0]
        least = min(1.0, 6 * 2 / (2**n if paired else math.comb(2 * n, n)))
        marked = row.count("†") + row.count(r"$\dagger$")
        means = answer.task_mean.isel(task=at)
        best = int(means.values.argmax())
        p = {
            frozenset(label.split(" - ")): answer.task_pvalue_adjusted.isel(task=at).sel(pair=label).item()
            for label in answer.pair.values
        }
        names = answer.algorithm.values.tolist()
        not_shown = [name for name in names if name != names[best] and p[frozenset([name, names[best]])] > 0.05]
        if least <= 0.05:
            assert marked == 0
            assert len(underlined(row, to)) == len(not_shown)
        else:
            assert marked == len(not_shown) == 2
            assert underlined(row, to) == []
    dagger = r"$\dagger$" if to == "latex" else "†"
    assert f"{dagger} 3 to 4 runs: too few to show a difference, by p adjusted over tasks." in written


@pytest.mark.slow
def test_with_a_reference_only_compared_ones_have_marks():
    curves = unlike_scores([(3, 3, 3), *[(10, 10, 10)] * 5])
    answer = xcurves.across_tasks(curves, reference="b_1", rng=0)
    rows = cells_of(answer.curves.format_table("markdown", rows="task"))
    for at, task in enumerate("stuvwx"):
        means = answer.task_mean.sel(task=task).values
        best = int(means.argmax())
        a, b, c = rows[task]
        if at == 0:
            continue
        assert not re.search("†|<u>", a)  # shown to be worse than b_1, or not compared with c
        other = c if best == 1 else b
        assert "<u>" in other
    whole = answer.curves.format_table("markdown", rows="task")
    assert "Compared with b_1 alone: pairs of others have no mark." in whole


@pytest.mark.slow
def test_means_over_unlike_tasks_have_their_numbers():
    n_runs = [(3, 3, 3), *[(10, 10, 10)] * 4, (0, 10, 10)]
    curves = unlike_scores(n_runs)
    written = xcurves.across_tasks(curves, rng=0).curves.format_table("markdown", rows="task")
    rows = cells_of(written)
    assert rows["tasks of the mean"] == ["5", "6", "6"]
    expected = curves[:5, 0].mean("run").mean().item()
    assert float(rows["mean"][0]) == pytest.approx(expected, abs=0.6)


@pytest.mark.slow
def test_decimals_are_those_that_the_spread_supports():
    rng = np.random.default_rng(1)
    for size, decimals in ((0.02, 2), (0.8, 1), (30.0, 0)):
        values = 100 + size * rng.normal(size=(6, 2, 9, 1))
        answer = xcurves.across_tasks(make_curves(values, task=list("stuvwx")), rng=0)
        rows = cells_of_two(answer.curves.format_table("markdown", rows="task", spread="sd"))
        for cell in rows:
            assert len(re.sub(r"[*]|<.?u>", "", cell).split(" ")[0].partition(".")[2]) in (decimals, decimals + 1)


def cells_of_two(markdown):
    return [cell.strip() for row in markdown.splitlines()[4:10] for cell in row.strip("|").split("|")[1:]]


def test_only_results_over_tasks_have_scores_of_tasks(results):
    with refused("rows", "task", cure="Leave rows out"):
        results[1].curves.format_table(rows="task")
    with refused("spread", "iqr"):
        results[1].curves.format_table(rows="task", spread="iqr")
    _, answer = tasks_table()
    with refused(
        "result",
        cure="Take it of all: leave out the selection",
        names=r"^result has a single task, no table of tasks\. Take it of all",
    ):
        answer.isel(task=0).curves.format_table(rows="task")


def test_columns_without_a_finite_number_are_left_out():
    scores = make_scores(RNG.normal(size=(2, 4)), algorithm=["a", "b"], run=range(4))
    # of four runs: no quantile has an upper limit
    cdf = scores.curves.performance_cdf()
    frame = cdf.curves.table()
    infinite = [str(name) for name in frame if not np.isfinite(frame[name].astype(float)).any()]
    written = cdf.curves.format_table("markdown").splitlines()[0]
    assert not [name for name in infinite if f" {name} " in written]
    assert "value" in written


def test_labels_are_escaped(results):
    said = {to: results[1].curves.format_table(to) for to in ("latex", "markdown", "html")}
    assert r"50 \% | x over a\_1 \& b" in said["latex"]
    assert r"50 % \| x over a_1 & b" in said["markdown"]
    assert "&lt;c&gt; over a_1 &amp; b" in said["html"]
    assert said["latex"].splitlines()[0] == r"\begin{tabular}{lrrrr}"
    assert r"\toprule" in said["latex"]


def test_backslashes_of_labels_are_no_commands(curves):
    pair = curves.isel(algorithm=[0, 1]).assign_coords(algorithm=[r"\lr{1}", "~x^2"])
    written = pair.curves.pairwise(**FEW).curves.format_table("latex")
    assert r"\textasciitilde{}x\textasciicircum{}2 over \textbackslash{}lr\{1\} & " in written


@pytest.mark.skipif(
    shutil.which("pdflatex") is None,
    reason="needs pdflatex: apt-get install texlive-latex-recommended",
)
@pytest.mark.slow
def test_latex_compiles_for_every_kind_and_any_label(results, curves, tmp_path):
    nasty = ["$x_1^2$ & \\alpha", "{50 %} # ~é", '<c> \\ | "q" [2]']
    pairs = curves.assign_coords(algorithm=nasty).curves.pairwise(**FEW)
    final = curves.assign_coords(algorithm=nasty).isel(training=-1).curves.performance_cdf(higher_is_better=False)
    marked = final.curves.format_table(best="bold", ties="underline")
    assert r"\textbf" in marked
    assert r"\underline" in marked
    starts = curves.assign_coords(algorithm=["[1] {", " [2]", "*"]).curves.pairwise(**FEW)
    broken = curves.assign_coords(algorithm=["a\n\n\n*", "\x07\x1b\t\u202e", "\ud800"]).curves.pairwise(**FEW)
    written = [result.curves.format_table(precision=2) for result in [*results, *every_kind(), pairs, starts, broken]]
    scores = tasks_table(n_runs=8)[0].assign_coords(algorithm=nasty, task=["[1] {", " [2]", "*", *nasty])
    of_tasks = scores.curves.across_tasks(rng=0).curves.format_table(rows="task", caption=" ".join(nasty))
    tables = "\n\n".join([*written, marked, of_tasks])
    (tmp_path / "t.tex").write_text(
        "\\documentclass{article}\\usepackage{booktabs}\\usepackage[utf8]{inputenc}\\begin{document}\\tiny "
        f"{tables}\\end{{document}}",
        encoding="utf-8",
    )
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Missing character" not in done.stdout


@pytest.mark.plain(1)
@pytest.mark.parametrize("pattern", ["{}", "{} and more"])
@pytest.mark.parametrize("start", ["[", "[2]", "*", " [x]", "  *x"])
def test_no_row_of_latex_starts_with_an_argument(curves, start, pattern):
    label = pattern.format(start)
    # so that the label begins the rows of its pairs
    highest = curves + xr.DataArray([9, 0, 0], dims="algorithm")
    results = [
        highest.assign_coords(algorithm=[label, "y", "z"]).curves.pairwise(**FEW),
        curves.isel(training=-1).assign_coords(algorithm=[label, "y", "z"]).curves.performance_cdf(),
        curves.expand_dims(task=[label, "t"]).curves.randomized_anova(**FEW),
        curves.expand_dims({label: ["s", "t"]}).curves.randomized_anova(**FEW),
    ]
    for result in results:
        written = result.curves.format_table("latex")
        assert "{}" + label in written
        assert not re.search(r"(\\\\|rule)\s*[*\[]", written)


BROKEN = {
    "a\n\nb": "a\\n\\nb",
    "\x07\x1b[1m\u202ec": "\\x07\\x1b[1m\\u202ec",
    "\ud800d": "\\ud800d",
}


@pytest.mark.plain(1)
@pytest.mark.parametrize("to", ["markdown", "html", "notebook", "text"])
def test_controls_and_lone_surrogates_are_escaped_as_in_the_page(curves, to):
    # whose strings, those of pandas 3, hold no lone surrogate
    pytest.importorskip("pyarrow")
    odd = curves.assign_coords(algorithm=list(BROKEN))
    results = [
        odd.expand_dims(task=["\x00"]).curves.pairwise(**FEW),
        odd.isel(training=-1).curves.performance_cdf(),
    ]
    for result in results:
        if to == "notebook":
            written = result.curves._repr_html_()
        else:
            written = repr(result.curves) if to == "text" else result.curves.format_table(to)
        if to == "markdown":
            written = pytest.importorskip("markdown_it").MarkdownIt("commonmark").enable("table").render(written)
        text = written if to == "text" else " ".join(cell for row in Cells(written).rows for cell in row)
        assert all(label in text for label in BROKEN.values())
        assert not re.search("[\x00-\x09\x0b-\x1f\u202e\ud800]", written)


@pytest.mark.plain(1)
@pytest.mark.parametrize("dim", ["algorithm", "task"])
def test_lone_surrogates_reach_the_page_and_no_frame(curves, dim, here, undrawn):
    pytest.importorskip("pyarrow")
    odd = xr.concat(
        [curves, curves + RNG.normal(size=curves.shape)],
        pd.Index(["s", "t"], name="task"),
    )
    odd = odd.assign_coords({dim: [*(f"{dim}{i}" for i in range(1, odd.sizes[dim])), "\udc80"]})
    tree = odd.curves.analyze(include=["anova", "pairwise"], **FEW)
    assert "\\udc80" in xcurves.report(tree, "page.html").read_text(encoding="utf-8")
    cure = f"Number them: assign_coords({dim}=range({odd.sizes[dim]}))"
    with refused(dim, odd[dim].values.tolist(), cure, names="labels must be text that can be encoded"):
        tree["pairwise"].to_dataset().curves.to_frame()


@pytest.mark.parametrize("history", [{"history": ""}, {}])
def test_a_result_without_history_is_described_and_shown(curves, here, undrawn, history):
    tree = curves.curves.analyze(include=["anova", "profile"], **FEW)
    for node in (tree["anova"], tree["profile"]):
        node.attrs = {name: value for name, value in node.attrs.items() if name != "history"} | history
        assert f"`{node.attrs['xcurves_result']}` of xcurves" in node.to_dataset().curves.describe_methods()
    assert "with every number and how each part was made" in xcurves.report(tree, "page.html").read_text(
        encoding="utf-8"
    )


def every_kind():
    return [test_kinds.made(name) for name in kinds.NAMES]


class Cells(HTMLParser):
    """The text of each cell of the body, row by row."""

    def __init__(self, source):
        super().__init__(convert_charrefs=True)
        self.rows, self.inside = [], False
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        self.inside = tag in ("td", "th") or (self.inside and tag in ("b", "u", "i"))

    def handle_endtag(self, tag):
        self.inside = self.inside and tag not in ("td", "th")

    def handle_data(self, data):
        if self.inside:
            self.rows[-1][-1] += data


@pytest.mark.slow
@pytest.mark.parametrize("to", ["markdown", slow("html")])
def test_markdown_and_html_render_to_the_cells_of_the_table(curves, to):
    parser = pytest.importorskip("markdown_it").MarkdownIt("commonmark").enable("table")
    nasty = curves.assign_coords(algorithm=["a|b \\ `c`", "<b>x</b> &amp;", "*y* _z_ [l](m)"])
    for result in [
        *every_kind(),
        nasty.curves.pairwise(reference="*y* _z_ [l](m)", **FEW),
    ]:
        written = result.curves.format_table(to, precision=2)
        _, *rows = Cells(parser.render(written) if to == "markdown" else written).rows
        frame = result.curves.table()
        assert len(rows) == len(frame)
        labels = frame.index.to_frame(index=False).astype(str).to_numpy()
        for row, values, index in zip(rows, frame.to_numpy(dtype=object), labels, strict=True):
            assert all(cell.lower() != "nan" for cell in row)
            # the upper end of an interval stands beside the lower one
            n_joined = sum(str(name).endswith("upper") for name in frame)
            finite = [not (isinstance(value, float) and np.isinf(value)) for value in values]
            assert min(len(values), sum(finite)) - n_joined <= len(row) <= len(values) - n_joined + len(index)
            own = [str(value) for value in values if isinstance(value, str)]
            assert set(own) <= set(row)
            for cell, label in zip(row, index, strict=False):
                # numbers are rounded; the reference of pairs stands first
                ours_first = " over ".join(label.split(" - ")[::-1])
                assert cell in (label, ours_first) or re.fullmatch(r"[\d.]+(e\+\d+)?", label)


@pytest.mark.parametrize("higher", [True, False])
def test_the_best_is_marked_and_those_whose_intervals_overlap_are_ties(higher):
    values = np.stack([np.linspace(at, at + 1, 40) for at in (0, 0.2, 30)])
    scores = make_scores(
        values if higher else -values,
        algorithm=["low", "near", "far"],
        run=np.arange(40),
    )
    cdf = scores.isel(algorithm=slice(2)).curves.performance_cdf(higher_is_better=higher)
    lines = cdf.curves.format_table("markdown", best="bold", ties="underline").splitlines()
    median = {line.split("|")[1].strip(): line for line in lines if "score_median" in line}
    assert "**" in median["near"]
    assert "<u>" in median["low"]
    assert not any("**" in line or "<u>" in line for line in lines if "score_std" in line)
    every = scores.curves.performance_cdf(higher_is_better=higher).curves
    lines = every.format_table("latex", best="bold", ties="underline").splitlines()
    assert [r"\textbf" in line for line in lines if "median" in line] == [
        False,
        False,
        True,
    ]
    assert not any(r"\underline" in line for line in lines if "median" in line)


def test_what_cannot_be_marked_or_written_is_said(results, monkeypatch):
    with refused(
        "result",
        cure="Leave out best and ties",
        names=r"^this table has no value for each algorithm to mark\. Leave out best",
    ):
        results[1].curves.format_table(best="bold")
    with refused("to", "word"):
        results[1].curves.format_table("word")
    with refused("best and ties", "red"):
        results[3].curves.format_table(best="red")
    monkeypatch.setitem(sys.modules, "tabulate", None)
    with pytest.raises(ImportError, match=r"^format_table needs jinja2 and.*them: pip install 'xcu"):
        results[1].curves.format_table("markdown")


@pytest.mark.plain(10)
@pytest.mark.parametrize("name", kinds.NAMES)
def test_methods_are_described_with_all_that_repeats_them(name):
    result, kind = test_kinds.made(name), kinds.kind(name)
    paragraph, checklist = result.curves.describe_methods().split("\n\n")
    assert not set("{}") & set(paragraph)
    assert f"`{name}` of xcurves {result.attrs['xcurves_version']}" in paragraph
    for paper in result.attrs["references"].split("; "):
        author = re.match(r"[\w-]+", paper)[0]
        year = re.search(r"\((\d{4})\)", paper)
        assert re.search(rf"{author}[^;)]*{year[1] if year else ''}", paragraph)
    for variable in (each for each in kind.variables if each.startswith("n_") and each in result):
        named = kind.variables[variable].long_name
        most = f"{int(result[variable].max()):,}" if result[variable].max() > 0 else "none"
        assert not named.startswith("number") or re.search(rf"{re.escape(named)}: [^;]*{most}", checklist)
    assert checklist.startswith("Reproducibility: ")
    assert result.attrs["history"].split("\n")[-1] in checklist
    assert f"seed {result.attrs['rng']}; xcurves {result.attrs['xcurves_version']}." in checklist
    assert f"unit: {kind.method[1].split('{')[0]}" in checklist
    assert "95 %" in paragraph
    assert "how the hyper-parameters of each algorithm were chosen, and what crashed" in paragraph


def test_the_number_of_runs_is_that_of_each_algorithm(curves):
    """The counts of gappy tasks, in the order of the curves; a contrast counts the runs that it compares."""
    curves = curves.assign_coords(algorithm=["c", "a", "b"])
    fewer = xr.concat(
        [
            curves,
            curves.where((curves.algorithm != "a") | (curves.run < curves.run[4])),
        ],
        "task",
    )
    last = fewer.isel(training=-1)
    made = [
        (fewer.curves.pairwise(**FEW), "number of runs: 4 to 6"),
        (fewer.curves.ss_profile(rng=0), "number of runs: 4 to 6"),
        (last.curves.compare_distributions(), "number of trials: 4 to 6"),
        (
            fewer.curves.contrast({"c": 1, "b": -1}, rng=0),
            "number of runs of an algorithm with a weight: 6",
        ),
    ]
    for result, said in made:
        counts = result["n_trials" if "n_trials" in result else "n_runs"]
        rest = 0 if result.attrs["xcurves_result"] == "contrast" else [6, 4]
        assert counts.transpose("task", "algorithm").sel(algorithm=["c", "b"]).to_numpy().tolist() == [[6, 6], [6, 6]]
        assert (counts.sel(algorithm="a") == rest).all()
        assert counts.algorithm.to_numpy().tolist() == ["c", "a", "b"]
        assert all(said in part.lower() for part in result.curves.describe_methods().split("\n\n"))


def test_runs_of_an_absent_algorithm_are_no_part_of_the_range_of_counts():
    curves = make_curves(RNG.normal(size=(8, 2, 5, 4)), task=list("stuvwxyz"))
    curves[2, 1] = np.nan
    described = curves.curves.across_tasks(n_resamples=20, rng=0).curves.describe_methods()
    assert len(re.findall("umber of runs: 5[;.]", described)) == 2


def test_the_adjustment_is_that_of_the_call(curves):
    for correction, said in (
        ("holm", "Holm's step-down procedure"),
        ("bonferroni", "Bonferroni's correction"),
    ):
        pairs = curves.curves.pairwise(rng=0, correction=correction)
        assert (
            f"adjusted for the number of pairs by {said}; intervals hold for all pairs together ("
            in pairs.curves.describe_methods()
        )
    one = curves.curves.contrast({"a_1 & b": 1, "<c>": -1}, alternative="greater", rng=0)
    assert "mean scores (greater)" in one.curves.describe_methods()
    matched = curves.curves.randomized_anova(n_resamples=19, rng=0, paired=True)
    assert "Runs were matched over algorithms." in matched.curves.describe_methods()


def test_every_declared_reference_is_a_whole_entry():
    """In the entry: the authors, year, DOI and pages of the reference, and no field that BibTeX needs is missing."""
    needed = {
        "article": {"author", "title", "journal", "volume", "pages", "year"},
        "inproceedings": {"author", "title", "booktitle", "year"},
        "book": {"author", "title", "publisher", "year"},
        "misc": {"author", "title"},
        "unpublished": {"author", "title", "note"},
    }
    for paper in dict.fromkeys(each for name in kinds.NAMES for each in kinds.kind(name).references):
        (entry, software) = bibtex_of(paper)
        kind, fields = (
            re.match(r"@(\w+)\{", entry)[1],
            dict(re.findall(r"  (\w+) = \{(.*)\},?\n", entry)),
        )
        assert needed[kind] <= set(fields), paper
        head = re.split(r" \(\d{4}\)|, (?=Using|A Rand)", paper)[0]
        surnames = [author.split(",")[0] for author in fields["author"].split(" and ")]
        assert re.split(r", | & ", head.replace(" et al.", ", others")) == surnames
        year, doi, pages = (re.search(each, paper) for each in (r"\((\d{4})\)", r"doi:(\S+)", r"(\d+)-(\d+)(?=,|$)"))
        assert year is None or year[1] == fields["year"]
        assert doi is None or doi[1] == fields["doi"]
        assert pages is None or pages.expand(r"\1--\2") == fields["pages"]
        volume = re.search(r"(\d+), \d+-\d+(?=,|$)", paper)
        assert volume is None or volume[1] == fields["volume"]
        words = re.findall(r"\w{4,}", paper[len(head) :].split(" doi:")[0])
        text = re.sub(r"[{}\\]", "", entry).lower()
        known = [word for word in words if word.lower() in text]
        assert len(known) >= 0.5 * len(words), paper
        assert entry.count("{") == entry.count("}")
        assert software.startswith("@misc{xcurves,")


def bibtex_of(paper):
    result = test_kinds.made("pairwise")
    return result.assign_attrs(references=paper).curves.bibtex().split("\n\n")


def test_an_unknown_reference_is_a_note():
    entry, _ = bibtex_of("Someone & Other, 50 % of it")
    assert entry == "@misc{reference1,\n  note = {Someone \\& Other, 50 \\% of it}\n}"


def test_a_whole_analysis_has_its_references_once(curves):
    tree = curves.curves.analyze(include=["anova", "pairwise"], **FEW)
    assert tree.curves.bibtex() == xcurves.bibtex(tree)
    assert tree.curves.bibtex().count("Piater1998,") == 1


@pytest.mark.parametrize("odd", [pd.Series([1.0, 2.0]), np.ones((2, 2)), "", False, "bald"])
def test_marks_are_chosen_by_name(results, odd):
    with refused("best and ties", names=r"^best and ties must be 'bold', 'italic' or 'underline'; got "):
        xcurves.format_table(results[0], best=odd)


def test_a_table_has_so_many_digits(results):
    with refused("precision", 1000, cure="Leave it out for the default"):
        xcurves.format_table(results[0], precision=1000)


@pytest.mark.slow
def test_tables_have_other_names_and_another_order():
    _, answer = tasks_table(reference="b_1")
    head = answer.curves.format_table("csv", rows="task", labels={"b_1": "B (ours)"}, order=["c", "b_1"])
    assert head.splitlines()[0].split(",")[::2] == ["task", "c ± ci", "B (ours) ± ci", "a ± ci"]
    pairs = answer.curves.format_table("markdown", labels={"b_1": "B (ours)"})
    assert "B (ours) over c" in pairs
    assert "b_1" not in pairs
    with refused("labels"):
        answer.curves.format_table(labels={"b_2": "x"})
    with refused("labels", cure="Give each its own"):
        answer.curves.format_table(labels={"a": "x", "c": "x"})
    with refused("order", cure="Leave it out"):
        answer.curves.format_table(order=["a"])


def test_cells_without_a_spread_hold_only_their_number():
    """What makes room for a spread is drawn by the style of the table: it is neither read aloud nor copied."""
    scores = make_curves(np.random.default_rng(0).normal(50, 5, size=(6, 2, 5, 1)), task=list("abcdef"))
    html = scores.curves.across_tasks(n_resamples=99, rng=0).curves.format_table("html", rows="task")
    foot = html[html.index("<tfoot>") :]
    cells = re.findall(r"<td([^>]*)>(.*?)</td>", foot)
    assert len(cells) == 4
    for attribute, content in cells:
        assert attribute.startswith(' data-space=" ± ')
        assert "±" not in content
        assert re.sub("<.*?>", "", content).replace(".", "").isdigit()
    assert "td[data-space]::after { content: attr(data-space); visibility: hidden }" in html


@pytest.mark.slow
def test_a_table_of_latex_has_headings_in_lines_and_its_footnote_inside_the_float():
    curves = xcurves.tutorial.open_dataset("benchmark")["accuracy"].isel(training=-1, drop=True)
    made = curves.curves.across_tasks(rng=0).curves.format_table("latex", caption="Pairs")
    heads = made.split(r"\toprule")[1].split(r"\midrule")[0]
    assert r"\shortstack[r]{$p$, tasks like \\ these}" in heads
    assert max(len(line) for line in re.split(r" & | \\\\ |[{}]", heads)) <= 30
    assert "more than 0" in made
    below = made.split(r"\end{tabular}")[1]
    assert r"{\footnotesize More than 0: by the test" in below
    assert below.rstrip().endswith(r"\end{table}")
    assert r"\centering" in made
