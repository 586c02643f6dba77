"""What is said of logs that cannot be read as they lie: the cure that is named works."""

import gzip
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import labelled
from refusals import refused
from xcurves import readers
from xcurves.__main__ import main
from xcurves.readers import listing, logs
from xcurves.readers.source import Source

RUNS = [(algorithm, run) for algorithm in ("slow", "fast") for run in range(3)]


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def lines(offset, steps=(10, 20, 30)):
    return "".join(f"step {step}: loss {offset + step / 100}\n" for step in steps)


def table(offset, score="loss"):
    return f"step,{score}\n" + "".join(f"{step},{offset + step / 100}\n" for step in (10, 20, 30))


@pytest.mark.plain(3)
@pytest.mark.parametrize("ending", ["csv", "log"])
@pytest.mark.parametrize(
    "place",
    [
        "{algorithm}/{run}",
        "{algorithm}_seed{run}",
        "task/{algorithm}/{run}",
        "x/y/{algorithm}/{run}",
    ],
)
def test_two_logs_in_one_folder_get_the_pattern_that_reads_one(tmp_path, place, ending):
    text = table if ending == "csv" else lines
    for number, (algorithm, run) in enumerate(RUNS):
        home = tmp_path / place.format(algorithm=algorithm, run=run)
        write(home / f"a.{ending}", text(number))
        write(home / f"b.{ending}", text(number + 100))
    with refused(
        "path",
        cure="Name the one that is meant, or say",
        names=r"holds 2 logs, a\.\w+ and b\.\w+, 'loss' in both: a run has one",
    ) as caught:
        labelled.read(tmp_path)
    assert len(str(caught.value).replace(str(tmp_path), "")) <= 300
    names = re.search(r"names='([^']*)'", str(caught.value))[1]
    with pytest.warns(UserWarning, match="6 logs do not match and are left out"):
        frame = labelled.read(tmp_path, names=names)
    assert sorted(map(tuple, frame[["algorithm", "run"]].drop_duplicates().to_numpy())) == sorted(RUNS)
    assert frame["loss"].max() < 10


@pytest.mark.parametrize(
    "place",
    [
        "{algorithm}/{part}/{run}",
        "{part}/{algorithm}/{run}",
        "{part}/{algorithm}/logs/{run}",
        "{algorithm}/{run}/{part}/logs",
        "{algorithm}/{run}/logs/{part}",
    ],
)
@pytest.mark.parametrize("runs", [RUNS, RUNS[:2], [("logs", 0), ("logs", 1), ("sac", 0)]])
def test_the_pattern_of_a_part_of_the_data_has_the_labels_of_runs(tmp_path, place, runs):
    for number, (algorithm, run) in enumerate(runs):
        for part, more in (("eval", 0), ("test", 100)):
            write(tmp_path / place.format(algorithm=algorithm, run=run, part=part) / "a.csv", table(number + more))
    names = place.replace("{part}", "eval")
    with refused("path", cure=f"names={names!r}", names="logs of several data"):
        labelled.read(tmp_path)
    with pytest.warns(UserWarning, match=f"{len(runs)} logs do not match and are left out"):
        frame = labelled.read(tmp_path, names=names)
    assert sorted(map(tuple, frame[["algorithm", "run"]].drop_duplicates().to_numpy())) == sorted(runs)
    assert frame["loss"].max() < 10


def test_logs_of_other_metrics_in_one_folder_are_joined_by_step(tmp_path):
    for number, (algorithm, run) in enumerate(RUNS):
        write(tmp_path / algorithm / str(run) / "train.csv", table(number))
        write(tmp_path / algorithm / str(run) / "eval.csv", table(number, "return"))
    frame = labelled.read(tmp_path)
    assert list(frame) == ["algorithm", "run", "step", "return", "loss"]
    assert (frame["loss"] == frame["return"]).all()
    assert len(frame) == 3 * len(RUNS)


def test_a_text_log_that_begins_again_is_said_with_its_line(tmp_path):
    write(tmp_path / "a.log", lines(0) + "again\n\n" + lines(5))
    said = r"a\.log: line 6 begins again at step 10, two logs in one file.*duplicates='last'$"
    with pytest.warns(UserWarning, match=said):
        frame = labelled.read(tmp_path / "a.log")
    curves = frame.assign(run=0).curves.to_dataarray("loss", training="step", algorithm=None, duplicates="last")
    assert curves.squeeze().to_numpy().tolist() == [5.1, 5.2, 5.3]


@pytest.mark.parametrize(
    "text",
    [
        lines(0) + lines(5, (30, 40)),
        lines(0) + "step 10: acc 3\n",
        "step 1: loss 1\nstep 1: loss 2\n",
    ],
)
def test_a_log_that_goes_on_is_one(tmp_path, text):
    write(tmp_path / "a.log", text)
    assert len(labelled.read(tmp_path / "a.log"))


def mmengine(every=50, by_epoch=True, better=0):
    """Return scalars as MMEngine writes them: of training with epoch, iter and step, of validation with step alone."""
    rows = []
    for step in range(10, 151, 10):
        epoch = (step - 1) // 50 + 1
        rows.append({"lr": 0.1, "loss": 10 / step, "epoch": epoch, "iter": step, "step": step})
        if step % every == 0:
            rows.append(
                {
                    "accuracy/top1": 50 + better + step / 10,
                    "time": 0.5,
                    "step": epoch if by_epoch else step,
                }
            )
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_steps_of_validation_that_count_epochs_are_no_iterations(tmp_path):
    path = tmp_path / "fast" / "0" / "20260101_101010" / "vis_data" / "scalars.json"
    write(path, mmengine())
    frame = labelled.read(tmp_path)
    assert len(frame) == 18
    validated = frame.dropna(subset="accuracy/top1")
    assert validated["epoch"].tolist() == [1, 2, 3]
    assert validated["step"].isna().all()
    assert frame.dropna(subset="loss")["step"].tolist() == list(range(10, 151, 10))
    curves = validated.curves.to_dataarray("accuracy/top1", training="epoch")
    assert curves.squeeze().to_numpy().tolist() == [55, 60, 65]
    write(path, mmengine(by_epoch=False))
    frame = labelled.read(tmp_path)
    assert frame.dropna(subset="accuracy/top1")["step"].tolist() == [50, 100, 150]
    assert len(frame) == 15
    between = re.sub(r'"time": 0.5, "step": (\d+)0', r'"time": 0.5, "step": \g<1>5', mmengine(by_epoch=False))
    write(path, between)
    assert labelled.read(tmp_path).dropna(subset="accuracy/top1")["step"].tolist() == [55, 105, 155]


@pytest.mark.plain(1)
@pytest.mark.parametrize("form", ["mmengine", "text"])
def test_a_score_by_epochs_is_answered_where_training_is_by_iterations(tmp_path, form, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for algorithm, run in RUNS:
        home = tmp_path / "logs" / algorithm / str(run)
        better = 30 * (algorithm == "fast") + run / 10
        if form == "mmengine":
            text = mmengine(better=better)
            write(home / "20260101_101010" / "vis_data" / "scalars.json", text)
        else:
            both = [f"iter {10 * i}: loss {1 / i}\nepoch {i}: val acc {better + i}\n" for i in range(1, 4)]
            write(home / "out.log", "".join(both))
    assert main(["logs", "--n-resamples", "99"]) == 0
    out, err = capsys.readouterr()
    assert "training = epoch" in out + err
    assert "\nfast has the higher mean " in out


LOOKS = {
    "lines of words": (
        "a.jsonl",
        '{"a": "b"}\n{"a": "c"}\n',
        "JSON lines without a number",
        "'mmengine'",
    ),
    "a setting": (
        "a.json",
        '{"lr": 0.1, "layers": [1, 2]}',
        "JSON without records",
        "'huggingface'",
    ),
    "a table of words": (
        "a.data",
        "a,b\nc,d\n",
        "a table with rows of unlike lengths or without",
        "'monitor'",
    ),
    "prose": (
        "a.data",
        "To train, run this.\nThen look.\n",
        "text without a line such as 'step 1: loss 2.5'",
        "'text'",
    ),
    "a database": (
        "a.bin",
        "SQLite format 3\0",
        "a database of another program",
        "'mlflow-database'",
    ),
    "bytes": ("a.csvx", "\0\1\2", "no text", "'text'"),
    "nothing": ("a.log", "", "an empty file", "'text'"),
}


@pytest.mark.parametrize(("name", "text", "look", "near"), LOOKS.values(), ids=LOOKS)
@pytest.mark.parametrize("below", [False, True])
def test_what_is_nearest_is_said_by_content_and_not_by_name(tmp_path, name, text, look, near, below):
    path = tmp_path / name
    path.write_text(text)
    given = tmp_path if below else path
    looks_like = f"{name if below else 'It'} looks like {look}"
    with refused("path", str(given), f"Nearest: {near}", names=looks_like) as caught:
        labelled.read(given)
    assert len(str(caught.value)) - len(str(given)) <= 300


def test_every_error_of_a_long_name_is_short(tmp_path):
    path = tmp_path / ("x" * 200 + ".bin")
    path.write_bytes(b"\0" * 10)
    said = str(listing.nothing_found(tmp_path, [path], readers.SOURCES))
    assert len(said) - len(str(tmp_path)) <= 300


def test_a_damaged_parquet_file_ends_in_one_line(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1" + b"\1" * 100)
    with refused("path", str(path), "Copy it again, or remove it", names="damaged or no parquet: ") as caught:
        labelled.read(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) - len(str(path)) <= 300


LONG = "x" * 5000
HOSTILE = {
    "a column twice": ("a.csv", f"step,{LONG},{LONG}\n1,2,3\n"),
    "no fields": ("a.csv", f"step,a\n1,2,{LONG}\n1,2\n"),
    "a header": ("monitor.csv", f"{LONG}\n1,2\n"),
    "a chart": ("chart.csv", f"Step,a - b,{LONG}\n1,2,3\n"),
    "lines": ("a.jsonl", '{"step": 1, "a": 2}\n{"step": "' + LONG + "\n{}\n"),
    "a list": (
        "trainer_state.json",
        '{"log_history": [{"step": 1, "' + LONG[:300] + '": [1]}]}',
    ),
    "a value": ("progress.txt", f"Epoch\t{LONG}\n1\t2\t3\n1\n"),
}


@pytest.mark.parametrize(("name", "text"), HOSTILE.values(), ids=HOSTILE)
def test_errors_are_short_whatever_the_file_holds(tmp_path, name, text):
    write(tmp_path / name, text)
    sources = {
        "monitor.csv": ["monitor"],
        "a.csv": ["table"],
        "chart.csv": ["wandb-chart"],
        "progress.txt": ["spinningup"],
    }
    for source in sources.get(name, [None]):
        with refused("path", names=re.escape(str(tmp_path))) as caught:
            labelled.read(tmp_path / name, source=source)
        assert caught.value.cure
        assert len(str(caught.value)) - len(str(tmp_path / name)) <= 300
        assert "\n" not in str(caught.value)


def test_a_source_that_there_is_not_is_refused_in_few_words(tmp_path):
    for given in ("tensorbord", LONG):
        with refused("source", names=r"^source must be one that help\(xcurves\.readers\.read\) lists") as caught:
            labelled.read(tmp_path, source=given)
        assert len(str(caught.value)) <= 300


NEW = Source(
    "ours",
    "our logs",
    "trace.out, a table of (tick, gain)",
    ("delimited",),
    files=("trace.out",),
    within="traces",
    training="tick",
    units={"tick": "frames"},
)


def test_a_source_of_one_table_is_one_declaration(tmp_path):
    for algorithm, run in RUNS:
        write(
            tmp_path / algorithm / str(run) / "traces" / "trace.out",
            "tick;gain\n0;1.5\n5;2.5\n",
        )
    assert [NEW.has(path) for path in logs.files_below(tmp_path)] == [True] * len(RUNS)
    frame = logs.read_each_run(tmp_path, NEW)
    assert frame.iloc[0].tolist() == ["fast/0", 0, 1.5]
    assert len(frame) == 2 * len(RUNS)
    assert frame.attrs["units"] == {"tick": "frames"}


def test_only_one_module_opens_files():
    """There, the limit of expansion holds."""
    room = Path(readers.__file__).parent
    opening = re.compile(r"\.read_bytes\(|\.read_text\(|(?<!\w)open\(|\.open\(|ZipFile\(|np\.load\(|sqlite3\.connect\(")
    assert opening.search("with path.open() as file")
    found = {path.name for path in room.rglob("*.py") if opening.search(path.read_text())}
    assert found == {"open_files.py"}


@pytest.mark.plain(2)
@pytest.mark.parametrize("name", ["log.csv.gz", "metrics.jsonl.gz", "out.log.gz", "a.npz"])
def test_the_option_that_lifts_the_limit_of_expansion_is_named(tmp_path, name, monkeypatch, capsys):
    rows = [(algorithm, run, step) for algorithm, run in RUNS for step in range(400)]
    frame = pd.DataFrame(rows, columns=["algorithm", "run", "step"])
    frame["score"] = frame["run"] / 10 + 5.0 * (frame["algorithm"] == "fast")
    path = tmp_path / name
    if name == "a.npz":
        text = {column: frame[column].to_numpy(str if column == "algorithm" else None) for column in frame}
        np.savez_compressed(path, **text)
    elif name == "out.log.gz":
        said = [f"step {step}: loss {step / 7}, score {step / 9}\n" for step in range(1000)]
        path.write_bytes(gzip.compress("".join(said).encode()))
    else:
        text = frame.to_csv(index=False) if name == "log.csv.gz" else frame.to_json(orient="records", lines=True)
        path.write_bytes(gzip.compress(text.encode()))
    with refused("path", str(path), "max_expanded=100000", names="expands to more than 10000 bytes"):
        labelled.read(path, max_expanded=1e4)
    assert len(labelled.read(path, max_expanded=1e6))
    if name == "out.log.gz":  # who each run is, no text says
        return
    monkeypatch.chdir(tmp_path)
    assert main([name, "--max-expanded", "1e4", "--n-resamples", "99"]) == 2
    err = capsys.readouterr().err
    assert f"Type: python -m xcurves {name} --max-expanded 1e4 --n-resamples 99 --max-expanded 100000" in err or (
        "--max-expanded 100000, or decompress it" in err
    )
    assert main([name, "--max-expanded", "1e6", "--n-resamples", "99"]) == 0
