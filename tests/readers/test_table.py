import gzip
import io
import re

import pandas as pd
import pytest

from labelled import read
from refusals import refused
from xcurves.core.refusal import give

TEXT = "algorithm,run,step,return\nsac,1,0,1.5\nsac,1,10,2.5\n"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "returns.csv"


@pytest.mark.parametrize(
    "text",
    [TEXT, "\ufeff" + TEXT, TEXT.replace("sac", '"s,a"'), TEXT.replace("\n", "\r\n")],
)
def test_a_table_is_what_pandas_reads(path, text):
    path.write_text(text, encoding="utf-8", newline="")
    frame = read(path, source="table")
    pd.testing.assert_frame_equal(frame, pd.read_csv(path))
    assert list(frame) == ["algorithm", "run", "step", "return"]
    compressed = path.with_name("returns.csv.gz")
    compressed.write_bytes(gzip.compress(path.read_bytes()))
    pd.testing.assert_frame_equal(read(compressed, source="table"), frame)


@pytest.mark.parametrize(
    ("text", "reason", "cure"),
    [
        ("", "is empty", "Write it again, or name another"),
        (TEXT.replace("1.5\n", "1.5,\n"), "line 2 has 5 fields where the header names 4", "Correct the file"),
        (TEXT.replace("\nsac", "\n0,sac"), "line 2 has 5 fields where the header names 4", "Correct the file"),
        (TEXT.replace("sac,1,0", "sac,0"), "line 2 has 3 fields where the header names 4", "Correct the file"),
        (TEXT[:-5], "its last line, line 3, has 3 fields where the header names 4", "Write it again"),
        (TEXT.replace("run", "step"), "has 2 columns 'step'", "Rename all but one"),
        (TEXT.encode("latin-1") + b"\xe4,1,20,1\n", "is no text in UTF-8", "Save it as UTF-8"),
    ],
)
def test_a_table_that_would_be_misread_is_refused(path, text, reason, cure):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with refused("path", str(path), cure, names=reason):
        read(path, source="table")


def test_a_last_line_without_an_end_is_said(path):
    path.write_text(TEXT[:-2])
    with pytest.warns(UserWarning, match=r"returns\.csv: the last line.*be cut short: 'sac,1,10,2\.'"):
        assert read(path, source="table")["return"].tolist() == [1.5, 2.0]


def test_a_compressed_table_cut_short_is_refused(tmp_path):
    path = tmp_path / "returns.csv.gz"
    data = gzip.compress(TEXT.encode() * 50)
    for size in (1, 20, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:size])
        with refused("path", str(path), "Copy or write it again", names="is cut short or damaged: "):
            read(path, source="table")


def test_runs_01_and_1_are_two_and_numbers_written_in_one_way_are_numbers(path):
    path.write_text("run,step,return\n01,0,1\n1,0,2\n02,0,3\n")
    assert read(path, source="table")["run"].tolist() == ["01", "1", "02"]
    path.write_text("run,step,return\n01,0,1\n02,0,2\n10,0,3\n")
    assert read(path, source="table")["run"].tolist() == [1, 2, 10]


def test_a_file_for_each_run_below_a_folder(tmp_path):
    for algorithm in ("sac", "td3"):
        for run in ("01", "1"):
            folder = tmp_path / algorithm / run
            folder.mkdir(parents=True)
            (folder / "progress.csv").write_text("step,return\n0,1\n10,2\n")
    frame = read(tmp_path, source="table")
    assert frame[["algorithm", "run"]].drop_duplicates().to_numpy().tolist() == [
        *(["sac", "01"], ["sac", "1"], ["td3", "01"], ["td3", "1"])
    ]
    (tmp_path / "sac" / "1" / "other.csv").write_text("x\n1\n")
    with refused("path", cure=give(names="{algorithm}/{run}/other.csv")):
        read(tmp_path, source="table")


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_other_delimiters_are_read_as_commas_are(path, delimiter):
    path.write_text(TEXT.replace(",", delimiter))
    pd.testing.assert_frame_equal(read(path, source="table"), pd.read_csv(io.StringIO(TEXT)))


def test_what_is_compressed_is_seen_by_the_first_byte_and_a_name_in_capitals_is_a_name(
    tmp_path,
):
    plain, compressed = tmp_path / "a.csv.gz", tmp_path / "B.CSV"
    plain.write_text(TEXT)
    compressed.write_bytes(gzip.compress(TEXT.encode()))
    pd.testing.assert_frame_equal(read(plain, source="table"), read(compressed, source="table"))
    assert read(compressed).equals(read(plain))


def test_two_logs_in_one_file_are_refused(path):
    path.write_text(TEXT + TEXT)
    with refused("path", str(path), "Make a file of each", names="line 4 is the header again"):
        read(path, source="table")


def test_a_column_of_the_name_of_a_folder_is_refused(tmp_path):
    folder = tmp_path / "sac" / "0"
    folder.mkdir(parents=True)
    (folder / "progress.csv").write_text("step,return\n0,1\n")
    with refused(
        "",
        cure="Name that level of folders otherwise",
        names=r"has a column 'step' too\. Name that level of folders otherwise",
    ):
        read(tmp_path, folders=("algorithm", "step"), source="table")


def test_hidden_files_and_links_are_left_out(tmp_path):
    root = tmp_path / "logs"
    for name in (
        "sac/0/progress.csv",
        "sac/1/progress.csv",
        ".git/a.csv",
        "sac/0/._progress.csv",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("step,return\n0,1\n")
    (root / "sac" / "latest").symlink_to(root / "sac" / "1")
    (root / "sac" / "0" / "latest.csv").symlink_to(root / "sac" / "0" / "progress.csv")
    assert read(root)[["algorithm", "run"]].to_numpy().tolist() == [
        ["sac", 0],
        ["sac", 1],
    ]


def test_links_that_lead_elsewhere_are_named(tmp_path):
    root = tmp_path / "logs"
    for place in (root / "sac/0", root / "sac/1", tmp_path / "elsewhere"):
        place.mkdir(parents=True)
        (place / "progress.csv").write_text("step,return\n0,1\n")
    (root / "sac" / "2").symlink_to(tmp_path / "elsewhere")
    with pytest.warns(UserWarning, match=r"sac/2 is a link and is left out$"):
        assert set(read(root)["run"]) == {0, 1}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "sac/2 has no rows and is left out"),
        ("step,return\n", "sac/2 has no rows and is left out"),
        ("0,1.5\n1,2.5\n", "sac/2/progress.csv has no names of columns and is left out"),
    ],
)
def test_a_run_that_is_left_out_is_named(tmp_path, text, said):
    for run in "012":
        place = tmp_path / "sac" / run / "progress.csv"
        place.parent.mkdir(parents=True)
        place.write_text("step,return\n0,1\n")
    place.write_text(text)
    with pytest.warns(UserWarning, match=f"{re.escape(said)}$"):
        assert set(read(tmp_path)["run"]) == {0, 1}


def test_a_run_without_the_logs_of_evaluation_of_the_others_is_named(tmp_path):
    for place in ("sac/0/train", "sac/0/eval", "sac/1/train"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "progress.csv").write_text("step,return\n0,1\n")
    with pytest.warns(UserWarning, match="sac/1/train/progress.csv has no eval beside and is left out"):
        assert set(read(tmp_path)["run"]) == {0}


@pytest.mark.parametrize(
    "labels",
    [
        ["1.10", "1.1"],
        ["12e4567", "1e45678"],  # infinite as numbers
        ["1234567890123456789", "1234567890123456788", ""],
        ["20260101123456789012", "20260101123456789013"],  # beyond 64 bits
    ],
)
def test_labels_that_are_equal_as_numbers_stay_what_they_are(tmp_path, labels):
    path = tmp_path / "log.csv"
    path.write_text("agent,run_id,step,score\n" + "".join(f"a,{label},0,1.5\n" for label in labels))
    assert read(path)["run_id"].fillna("").astype(str).tolist() == labels


def test_labels_with_and_without_decimals_are_one(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("agent,seed,step,score\na,1,0,1.5\na,1.0,1,2.5\na,2.0,0,3.5\n")
    assert read(path)["seed"].tolist() == [1.0, 1.0, 2.0]


def test_a_first_row_of_scores_is_no_header(path):
    path.write_text("a,1,0,1.5\na,1,9,2.5\nb,1,0,1.5\nb,1,9,2.5\n")
    with refused("path", cure="Write names of columns in its first line"):
        read(path)


def test_levels_of_training_are_names(path):
    path.write_text("algo,seed,0,9\na,1,1.5,2.5\nb,1,2.5,3.5\n")
    assert list(read(path)) == ["algo", "seed", "0", "9"]
