"""Numbers as people write them, per column over all files of a folder."""

import shlex

import numpy as np
import pandas as pd
import pytest

from refusals import refused
from xcurves import readers
from xcurves.__main__ import main
from xcurves.core.refusal import give
from xcurves.readers.cells import as_numbers, decimal_mark


def column(*cells, name="score", decimal=None):
    """Return a column of text as numbers, text where it is none."""
    with decimal_mark(decimal):
        read = as_numbers(pd.DataFrame({name: cells}))
    return read[name].tolist()


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        # both marks, or two commas of three digits: thousands
        (["1,234.5", "2,000"], [1234.5, 2000]),
        (["1,234,567", "2,000"], [1234567, 2000]),
        (["0.5", "1,234"], [0.5, 1234]),
        # a cell that is no group of threes: decimal
        (["0,912", "1,234"], [0.912, 1.234]),
        (["1,5", "1,234"], [1.5, 1.234]),
        ([".912", "64,64"], [0.912, 64.64]),
        (["12,3e-4", "-1,5"], [12.3e-4, -1.5]),
        (["1.234,5", "2.000"], [1234.5, 2000]),
        (["1.000.000", "2.000"], [1000000, 2000]),
        # a cell without a comma that a writer of three decimals would give one
        (["1,000", "999"], [1000, 999]),
        # marks of a gap
        (["0.5", "-", "n.a.", "NA"], [0.5, np.nan, np.nan, np.nan]),
        (["0,5", "--", "none", "nan"], [0.5, np.nan, np.nan, np.nan]),
        # one unit
        (["70.1ms", "3.7s", "1m 10s"], [0.0701, 3.7, 70]),
        (["0:05:30", "1:00:00"], [330, 3600]),
        (["5:30", "59.5s"], [330, 59.5]),
        (["900", "1.3K", "2M"], [900, 1300, 2e6]),
        (["90%", "91.5%"], [90, 91.5]),
    ],
)
def test_a_column_says_what_its_marks_are(cells, numbers):
    np.testing.assert_allclose(column(*cells), numbers, rtol=1e-12)


@pytest.mark.parametrize(
    "cells",
    [
        ["1,234,567", "0,912"],  # thousands and decimals
        ["1,234", "x"],
        ["1,", "2,5"],
        ["3.7s", "1.3K"],
        ["70ms", "90%"],
        ["01", "2"],
        ["2026-01-02", "2026-01-03"],
    ],
)
def test_what_is_not_one_kind_of_number_stays_text(cells):
    assert column(*cells) == cells


def test_three_digits_behind_every_comma_are_asked_and_both_answers_work():
    cells = ["1,234", "2,500"]
    with refused("decimal", cure=give(decimal=",")) as caught:
        column(*cells)
    options = [dict(call.options) for call in caught.value.cure.calls]
    assert options == [{"decimal": ","}, {"decimal": "."}]
    assert column(*cells, **options[0]) == [1.234, 2.5]
    assert column(*cells, **options[1]) == [1234, 2500]


def test_steps_are_counts():
    assert column("10,000", "20,000", name="env_step") == [10000, 20000]


@pytest.mark.parametrize("name", ["algorithm", "seed", "dataset"])
def test_labels_stay_what_they_are(name):
    assert column("none", "70M", name=name) == ["none", "70M"]
    assert column("1,234", "2,345", name=name) == ["1,234", "2,345"]


def test_few_sizes_are_labels_and_not_counts():
    assert column(*["70M", "160M"] * 4, name="variant") == ["70M", "160M"] * 4


def test_a_column_is_judged_over_all_files_and_others_never_count(tmp_path):
    for run, scores in enumerate((["1,234", "2,000"], ["1,5", "0,912"])):
        file = tmp_path / "a" / f"{run}.csv"
        file.parent.mkdir(exist_ok=True)
        rows = [f'{10 * place};"{score}";7.000' for place, score in enumerate(scores)]
        file.write_text("\n".join(["step;score;size", *rows]) + "\n")
    frame = readers.read(tmp_path, names="{algorithm}/{run}.csv")
    assert frame["score"].tolist() == [1.234, 2.0, 1.5, 0.912]
    assert frame["size"].tolist() == [7.0] * 4


def test_a_file_of_plain_numbers_beside_one_with_commas(tmp_path):
    for run, scores in enumerate((["0.5", "0.25"], ['"1,234"', '"2,000"'])):
        file = tmp_path / f"a_{run}.csv"
        rows = ["score,x", *(f"{each},1" for each in scores), ""]
        file.write_text("\n".join(rows))
    frame = readers.read(tmp_path, names="{algorithm}_{run}.csv")
    assert frame["score"].tolist() == [0.5, 0.25, 1234, 2000]


def test_words_for_nothing_are_labels_of_algorithms_and_gaps_of_scores(tmp_path):
    (tmp_path / "a.csv").write_text("algorithm,seed,score\nNone,0,NA\nNA,0,0.5\n")
    frame = readers.read(tmp_path / "a.csv")
    assert frame["algorithm"].tolist() == ["None", "NA"]
    np.testing.assert_array_equal(frame["score"], [np.nan, 0.5])


def test_units_are_said():
    read = as_numbers(pd.DataFrame({"time": ["70ms", "1s"], "loss": [1.0, 2.0]}))
    assert read.attrs["units"] == {"time": "s"}


@pytest.mark.slow
def test_both_decimal_marks_are_commands_of_their_own(tmp_path, capsys):
    rows = [f'{name},{seed},"{11 + seed},{824 + 7 * (name == "b")}"' for name in "ab" for seed in range(4)]
    path = tmp_path / "thousands.csv"
    path.write_text("\n".join(["method,seed,reward", *rows]) + "\n")
    assert main([str(path)]) == 2
    _, *lines = capsys.readouterr().err.splitlines()
    assert [line.partition("  # ")[2] for line in lines] == ["for 11.824", "for 11824"]
    for line in lines:
        assert main([*shlex.split(line.partition("  # ")[0])[3:], "--output", str(tmp_path / "a.nc")]) == 0
