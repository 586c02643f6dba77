"""Tables as text: whole, aligned at the point, one column an interval."""

import re

import numpy as np
import pandas as pd
import pytest

import xcurves
from xcurves.cli.terminal import aligned, as_text


def test_points_stand_below_each_other():
    assert aligned(["1.5", "−12", "100.25", ""]) == [
        "  1.5 ",
        "−12   ",
        "100.25",
        "      ",
    ]
    assert aligned([]) == []


def test_a_pair_table_has_one_column_for_an_interval():
    table = pd.DataFrame(
        {
            "difference": [7.576, 1.2],
            "lower": [0.0, -3.836],
            "upper": [15.917, 7.362],
            "p": [0.0429, 0.767],
        },
        index=pd.Index(["a over b", "c over d"], name="pair"),
    )
    table.attrs |= {"interval": "95 %, all pairs together", "note": "More than 0: by the test."}
    assert as_text(table).splitlines() == [
        "pair      difference  95 %, all pairs together     p",
        "a over b         7.6     more than 0   to 15.9  .043",
        "c over d         1.2              −3.8 to  7.4  .767",
        "More than 0: by the test.",
    ]


def test_an_end_of_0_is_open_only_where_a_test_set_it():
    table = pd.DataFrame({"share": [0.3], "lower": [0.0], "upper": [0.7]})
    assert "0.00 to 0.70" in as_text(table)
    assert "more than" not in as_text(table)


@pytest.mark.parametrize(
    ("lower", "upper", "said"),
    [
        (-np.inf, np.inf, "unbounded"),
        (-np.inf, 5.0, "at most 5.0"),
        (1.0, np.inf, "at least 1.0"),
        (np.nan, np.nan, ""),
        (1.0, 4.0, "1.0 to 4.0"),
    ],
)
def test_intervals_without_an_end(lower, upper, said):
    table = pd.DataFrame({"difference": [3.0], "lower": [lower], "upper": [upper]})
    last = as_text(table).splitlines()[-1].split(maxsplit=1)
    assert (last[1].strip() if last[1:] else "") == said


def test_no_column_is_left_out_and_no_label_cut():
    wide = pd.DataFrame(np.arange(60.0).reshape(2, 30), columns=[f"column_{i}" for i in range(30)])
    wide.index = pd.MultiIndex.from_tuples([("x" * 80, "a"), ("x" * 80, "b")], names=["task", "pair"])
    lines = as_text(wide).splitlines()
    assert lines[0].split() == [
        "task",
        "pair",
        *[word for i in range(30) for word in ("column", str(i))],
    ]
    assert lines[1].split()[0] == "x" * 80
    assert "..." not in "".join(lines)
    assert lines[2].split()[0] == "b"  # a task stands once


def test_controls_in_labels_are_escapes():
    table = pd.DataFrame({"x\x1b": ["a\nb"]}, index=pd.Index(["p\x07"], name="pair"))
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", as_text(table))
    assert len(as_text(table).splitlines()) == 2


def test_every_number_of_a_table_can_be_read_back():
    rng = np.random.default_rng(0)
    for _ in range(50):
        low = rng.normal(scale=10.0 ** rng.integers(-3, 4), size=5)
        width = np.exp(rng.normal(size=5)) * 10.0 ** rng.integers(-3, 4)
        table = pd.DataFrame({"difference": low + width / 2, "lower": low, "upper": low + width})
        for row, line in enumerate(as_text(table).splitlines()[1:]):
            said = [float(word.replace("−", "-").replace(",", "")) for word in line.replace(" to ", " ").split()]
            np.testing.assert_allclose(said, table.iloc[row], atol=0.051 * width[row] / 2)


def test_yes_stands_for_true_and_nothing_for_false():
    table = pd.DataFrame(
        {"mean": [0.5, 0.25], "may_be_best": [True, False]},
        index=pd.Index(["a", "b"], name="who"),
    )
    assert as_text(table).splitlines() == [
        "who   mean  may be best",
        "a    0.500  yes",
        "b    0.250",
    ]


def test_the_verdicts_pairs_are_those_of_the_table():
    curves = xcurves.tutorial.open_dataset("benchmark")["accuracy"].isel(task=slice(6))
    result = curves.curves.across_tasks(n_resamples=99, rng=0)
    from xcurves.kinds import kind
    from xcurves.say.comparing import pairs_of

    pairs, table = pairs_of(kind("across_tasks"))(result), result.curves.table()
    pd.testing.assert_index_equal(pairs.index, table.index)
    for mine, its in (
        ("difference", "difference"),
        ("lower", "random_lower"),
        ("p", "random_p"),
    ):
        np.testing.assert_array_equal(pairs[mine], table[its])
    assert pairs["shown"].tolist() == (table["random_p"] <= 0.05).tolist()
