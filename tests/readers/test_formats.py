"""From the bytes of a file to rows: any frame in any format comes back, and what is no log is none."""

import gzip
import io
import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import labelled
import xcurves
from layers import every
from refusals import refused
from xcurves.readers.cells import as_numbers
from xcurves.readers.formats import could_be_log, format_of, read_rows
from xcurves.readers.formats.json_rows import is_value
from xcurves.readers.open_files import HEAD

NAMES = st.from_regex(r"[a-z]{1,3}(_[a-z]{1,3})?", fullmatch=True)
NUMBERS = st.one_of(
    st.integers(-(10**9), 10**9).map(float),
    st.floats(-1e12, 1e12, allow_subnormal=False).map(lambda x: float(f"{x:.6g}")),
)
WORDS = st.sampled_from(["sac", "td3", "random forest", "a-b", "ä"])


@st.composite
def frames(draw):
    """Draw a frame: a step, one column of words, one to three columns of numbers."""
    n_rows = draw(st.integers(2, 12))
    names = draw(
        st.lists(NAMES, min_size=2, max_size=4, unique=True).filter(lambda each: not set(each) & {"step", "nan", "inf"})
    )
    columns = {"step": np.arange(n_rows) * draw(st.integers(1, 1000))}
    columns[names[0]] = [f"m{word}" for word in draw(st.lists(WORDS, min_size=n_rows, max_size=n_rows))]
    for name in names[1:]:
        columns[name] = draw(st.lists(NUMBERS, min_size=n_rows, max_size=n_rows))
    return pd.DataFrame(columns)


def delimited(delimiter, decimal=".", encoding="utf-8", end="\n", before=""):
    def write(frame):
        text = frame.to_csv(index=False, sep=delimiter, decimal=decimal, lineterminator=end)
        return (before + text).encode(encoding)

    return write


def padded(frame):
    lines = frame.to_csv(index=False).splitlines()
    return "\n".join(" , ".join(line.split(",")) for line in lines).encode() + b"\n"


def markdown(frame):
    lines = frame.to_csv(index=False, sep="|").splitlines()
    rule = "|---" * frame.shape[1] + "|"
    rows = [f"| {line.replace('|', ' | ')} |" for line in lines]
    return "\n".join([rows[0], rule, *rows[1:]]).encode() + b"\n"


def parquet(frame):
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False)
    return buffer.getvalue()


def npz(frame):
    buffer = io.BytesIO()
    np.savez(
        buffer,
        **{name: frame[name].to_numpy(str if frame[name].dtype.kind not in "if" else None) for name in frame},
    )
    return buffer.getvalue()


WRITERS = {
    "comma": ("delimited", delimited(",")),
    "tab": ("delimited", delimited("\t")),
    "semicolon": ("delimited", delimited(";")),
    "pipe": ("delimited", delimited("|")),
    "semicolon, decimal commas": ("delimited", delimited(";", decimal=",")),
    "tab, decimal commas": ("delimited", delimited("\t", decimal=",")),
    "BOM": ("delimited", delimited(",", encoding="utf-8-sig")),
    "UTF-16": ("delimited", delimited(",", encoding="utf-16")),
    "CRLF": ("delimited", delimited(",", end="\r\n")),
    "comments": (
        "delimited",
        delimited(",", before="# made by a script, on a Monday\n# seed: 3\n"),
    ),
    "padded": ("delimited", padded),
    "Markdown": ("delimited", markdown),
    "JSON lines": (
        "JSON lines",
        lambda frame: frame.to_json(orient="records", lines=True).encode(),
    ),
    "records": ("JSON", lambda frame: frame.to_json(orient="records").encode()),
    "pandas' JSON": ("JSON", lambda frame: frame.to_json().encode()),
    "lists": ("JSON", lambda frame: json.dumps(frame.to_dict(orient="list")).encode()),
    "split": (
        "JSON",
        lambda frame: frame.to_json(orient="split", index=False).encode(),
    ),
    "parquet": ("parquet", parquet),
    "npz": ("npz", npz),
}


@pytest.mark.plain(4)
@pytest.mark.parametrize(
    ("way", "compressed"),
    [*((way, False) for way in WRITERS), *every(6, [(way, True) for way in WRITERS])],
)
@settings(
    max_examples=6,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(frame=frames())
def test_a_frame_comes_back_from_every_format(way, compressed, tmp_path, frame):
    if way == "parquet":
        pytest.importorskip("pyarrow")
    name, write = WRITERS[way]
    if "decimal commas" in way:  # of 1,234 a comma may be of thousands
        frame = frame.round(2)
    data = write(frame)
    path = tmp_path / "log"
    path.write_bytes(gzip.compress(data) if compressed else data)
    assert format_of(path) == name
    read = as_numbers(read_rows(path, name).rows)
    pd.testing.assert_frame_equal(read, frame, check_dtype=False, check_column_type=False)


PROPERTY = settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.mark.parametrize("compressed", [False, True])
@PROPERTY
@given(
    metrics=st.integers(1, 9).flatmap(
        lambda size: st.dictionaries(
            st.tuples(NAMES, st.sampled_from(["auc", "logloss", "rmse"])),
            st.lists(NUMBERS, min_size=size, max_size=size),
            min_size=1,
            max_size=5,
        )
    )
)
def test_nested_metrics_come_back(tmp_path, compressed, metrics):
    nested = {}
    for (data, name), values in metrics.items():
        nested.setdefault(data, {})[name] = values
    text = json.dumps(nested).encode()
    path = tmp_path / "evals_result.json"
    path.write_bytes(gzip.compress(text) if compressed else text)
    assert format_of(path) == "JSON"
    rows = read_rows(path).rows
    assert rows.to_dict("list") == {"/".join(name): values for name, values in metrics.items()}


@pytest.mark.plain(1)
@pytest.mark.parametrize("compressed", [False, True])
@PROPERTY
@given(
    shape=st.tuples(st.integers(1, 5), st.integers(1, 6)).filter(lambda shape: shape[0] != shape[1]),
    names=st.lists(NAMES, min_size=3, max_size=4, unique=True).filter(lambda each: not {"run", "step"} & set(each)),
    seed=st.integers(0, 99),
)
def test_arrays_of_runs_and_steps_come_back(tmp_path, compressed, shape, names, seed):
    rng = np.random.default_rng(seed)
    of_steps, of_runs, *tables = names
    levels, labels = (
        np.sort(rng.integers(0, 10**6, shape[1])),
        rng.normal(size=shape[0]),
    )
    arrays = {name: rng.normal(size=shape) for name in tables}
    buffer = io.BytesIO()
    np.savez(buffer, **{of_steps: levels, of_runs: labels}, **arrays)
    path = tmp_path / "a.npz"
    path.write_bytes(gzip.compress(buffer.getvalue()) if compressed else buffer.getvalue())
    assert format_of(path) == "npz"
    rows = read_rows(path).rows
    assert len(rows) == shape[0] * shape[1]
    for _, row in rows.iterrows():
        run, step = int(row["run"]), np.searchsorted(levels, row[of_steps])
        assert labels[run] == row[of_runs]
        of_level = levels == levels[step]
        assert all(row[name] in array[run, of_level] for name, array in arrays.items())
    for name, array in arrays.items():
        assert rows[name].tolist() == array.ravel().tolist()


@pytest.mark.slow
@PROPERTY
@given(
    frame=frames(),
    head=st.sampled_from(["step {}:", "[{}]", "Epoch {}/99,", "iter={},", "it: {} |"]),
)
def test_numbers_of_printed_lines_come_back(tmp_path, frame, head):
    numbers = frame.select_dtypes("float")
    word = {"[{}]": "iteration"}.get(head, head.partition(" ")[0].partition("=")[0].rstrip(":"))
    lines = []
    for step, row in zip(frame["step"], numbers.itertuples(index=False), strict=True):
        said = ", ".join(f"{name}: {value!r}" for name, value in zip(numbers, row, strict=True))
        lines += [f"{head.format(step)} {said}", "some other words, 3 of them"]
    path = tmp_path / "out.log"
    path.write_text("\n".join(lines) + "\n")
    assert format_of(path) == "text lines"
    read = read_rows(path).rows
    assert read[word].tolist() == frame["step"].tolist()
    pd.testing.assert_frame_equal(read.drop(columns=word), numbers, check_dtype=False)
    assert read.attrs["n_lines_left_out"] == len(frame)


LINES = {  # a line as a package prints it, the step's word and number, and the metrics
    "step 100 loss 1.9148 lr 0.000909 time 1.3s": ("step", 100, {"loss": 1.9148, "lr": 0.000909, "time": 1.3}),
    "epoch 1 loss: 2.9": ("epoch", 1, {"loss": 2.9}),
    "step 250: train loss 3.9071, val loss 4.1022": (
        "step",
        250,
        {"train loss": 3.9071, "val loss": 4.1022},
    ),
    "iter 10: loss 4.1, time 30.5ms, mfu 3.1%": (
        "iter",
        10,
        {"loss": 4.1, "time": 30.5, "mfu": 3.1},
    ),
    "[10]\tvalid_0's binary_logloss: 0.353978": (
        "iteration",
        10,
        {"valid_0's binary_logloss": 0.353978},
    ),
    "[3]\tvalidation_0-auc:0.9\tvalidation_1-auc:0.8": (
        "iteration",
        3,
        {"validation_0-auc": 0.9, "validation_1-auc": 0.8},
    ),
    "{'loss': 2.3, 'learning_rate': 5e-05, 'epoch': 0.02}": (
        "epoch",
        0.02,
        {"loss": 2.3, "learning_rate": 5e-5},
    ),
    "0:\tlearn: 0.6\ttest: 0.67\tbest: 0.67 (0)\ttotal: 50ms": (
        *("iteration", 0),
        {"learn": 0.6, "test": 0.67, "best": 0.67, "total": 50},
    ),
    "2026-01-01 10:00:00,123 INFO - Epoch [1/10] loss: 0.5": (
        "Epoch",
        1,
        {"loss": 0.5},
    ),
    "Iteration 5, loss = 0.69314718": ("Iteration", 5, {"loss": 0.69314718}),
    "Epoch 3/10, loss: 0.5, acc=.8": ("Epoch", 3, {"loss": 0.5, "acc": 0.8}),
}


@pytest.mark.parametrize("line", LINES)
def test_lines_that_packages_print(tmp_path, line):
    word, step, metrics = LINES[line]
    path = tmp_path / "a.log"
    path.write_text(f"loading data\n{line}\nsaving 3 files\n")
    assert read_rows(path).rows.to_dict("records") == [{word: step, **metrics}]


def test_keras_says_its_epoch_in_the_line_before(tmp_path):
    bars = "1/2 ━━━━ 0s 5ms/step - accuracy: 0.1 - loss: 9\b\b\b\b\r2/2 ━━━━ 1s 5ms/step - accuracy: 0.75 - loss: 0.5"
    (tmp_path / "a.log").write_text(f"Epoch 1/2\n{bars}\nEpoch 2/2\n2/2 - 1s - 5ms/step - accuracy: 0.8 - loss: 0.4\n")
    rows = read_rows(tmp_path / "a.log").rows
    assert rows.to_dict("records") == [
        {"Epoch": 1, "accuracy": 0.75, "loss": 0.5},
        {"Epoch": 2, "accuracy": 0.8, "loss": 0.4},
    ]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("step\tloss\n0\t0.5\n12,000\t0.25\n", [[0, 0.5], [12000, 0.25]]),
        ('step,loss\n"1,000",0.5\n"999",0.25\n', [[1000, 0.5], [999, 0.25]]),
        ("step;loss\n1.000;0,500\n2.000;0,250\n", [[1, 0.5], [2, 0.25]]),
        ("step loss\n0   0.5\n10  0.25\n", [[0, 0.5], [10, 0.25]]),
        ("# step loss\n0 0.5\n10 0.25\n", [[0, 0.5], [10, 0.25]]),
        ("0,0.5\n10,0.25\n", [[0, 0.5], [10, 0.25]]),
    ],
)
def test_numbers_as_people_write_them(tmp_path, text, wanted):
    (tmp_path / "a").write_text(text)
    assert format_of(tmp_path / "a") == "delimited"
    rows = as_numbers(read_rows(tmp_path / "a").rows)
    assert rows.to_numpy().tolist() == wanted


def test_metrics_nested_in_mappings_are_columns(tmp_path):
    nested = {
        "valid_0": {"auc": [0.5, 0.7, 0.8], "logloss": [0.7, 0.6, 0.5]},
        "train": {"auc": [0.6, 0.8, 0.9]},
    }
    (tmp_path / "evals.json").write_text(json.dumps(nested))
    rows = read_rows(tmp_path / "evals.json").rows
    assert list(rows) == ["valid_0/auc", "valid_0/logloss", "train/auc"]
    assert rows["train/auc"].tolist() == [0.6, 0.8, 0.9]


def test_arrays_of_runs_and_steps_have_a_row_for_each(tmp_path):
    returns = np.arange(6.0).reshape(2, 3)
    np.savez(tmp_path / "a.npz", returns=returns, steps=[0, 10, 20])
    rows = read_rows(tmp_path / "a.npz").rows
    assert rows["returns"].tolist() == list(range(6))
    assert rows["steps"].tolist() == [0, 10, 20] * 2
    assert rows["run"].tolist() == [0, 0, 0, 1, 1, 1]


def test_a_line_that_is_being_written_is_left_out_and_said(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1, "loss": 2.0}\n{"step": 2, "lo')
    read = read_rows(path)
    assert read.rows.to_dict("records") == [{"step": 1, "loss": 2.0}]
    assert read.left_out == f'{path}: the last line is cut short and left out: \'{{"step": 2, "lo\''


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "{}",
        "numpy==1.26\nscipy>=1.11\n",
        "time: 12:30\nsee step: 3 of the guide\nloss:2 step:1\n",
        '{"lr": 0.1, "model": "mlp", "layers": [1, 2]}',
        "To train, run this, then that.\nStep 1, install it, first.\n",
        "step 3 of 10\nepoch 2 took 1.5s and then 3.2s\n",
        "\x00\x01\x02",
    ],
)
def test_what_is_no_log_is_of_no_format(tmp_path, text):
    path = tmp_path / "a"
    path.write_text(text)
    assert format_of(path) == ""
    with refused("path", str(path), names="has no rows that are known"):
        read_rows(path)


@pytest.mark.parametrize(
    ("name", "could"),
    [
        *[
            ("metrics.jsonl", True),
            ("test_error.tsv", True),
            ("evals.json.gz", True),
            ("README.md", False),
        ],
        *[
            ("requirements.txt", False),
            ("config.json", False),
            ("args.json", False),
            ("train.py", False),
        ],
        ("model.json", False),
    ],
)
def test_names_of_configurations_are_no_logs(tmp_path, name, could):
    assert could_be_log(tmp_path / name) is could


def said_of(path):
    """Return why a file is refused, nothing of one that is read."""
    try:
        read_rows(path)
    except ValueError as error:
        return str(error)
    return ""


@pytest.mark.plain(4)
@pytest.mark.parametrize("way", [name for name in WRITERS if name != "parquet"])
def test_mutated_files_are_read_or_refused_in_one_line(tmp_path, way):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"step": range(20), "agent": ["sac", "td3"] * 10, "loss": rng.normal(size=20)})
    whole = WRITERS[way][1](frame)
    n_refused = 0
    for trial in range(60):
        data = bytearray(whole)
        place = int(rng.integers(len(data)))
        if trial % 3 == 0:
            data[place] = int(rng.integers(256))
        elif trial % 3 == 1:
            data[place:place] = rng.bytes(int(rng.integers(1, 6)))
        else:
            del data[place:]
        path = tmp_path / "log"
        path.write_bytes(data)
        said = said_of(path)
        n_refused += bool(said)
        assert "\n" not in said
        assert not said or str(path) in said
    assert n_refused < 60


def test_one_value_of_json_is_known_whatever_its_size_and_only_with_numbers(tmp_path):
    path = tmp_path / "a.json"
    rows = [{"step": step, "loss": 1 / (1 + step)} for step in range(4000)]
    path.write_text(json.dumps(rows))
    assert path.stat().st_size > HEAD
    assert read_rows(path).rows["loss"].tolist() == [row["loss"] for row in rows]
    assert is_value('{"loss": [1.5, 2.5]}', path, whole=True)
    assert not is_value('{"loss": ["low", "high"]}', path, whole=True)
    assert not is_value('{"loss": []}', path, whole=True)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 100_000,
        '{"a": ' + "9" * 5000 + "}\n",
        '{"a": "\\ud800"}\n',
    ],
)
def test_hostile_json_ends_in_one_line(tmp_path, text):
    path = tmp_path / "a.jsonl"
    path.write_text(text)
    with refused("path", str(path), "Remove it") as caught:
        read_rows(path)
    assert "\n" not in str(caught.value)


LARGE = """
import sys, time
from xcurves import readers
began = time.process_time()
rows = len(readers.read(sys.argv[1]))
status = open("/proc/self/status").read()  # ru_maxrss would have the peak of the process that started this one
print(rows, time.process_time() - began, int(status.split("VmHWM:")[1].split()[0]) / 1024)
"""


@pytest.mark.slow
def test_a_million_and_a_half_lines_of_json_take_ten_seconds_and_a_gigabyte(tmp_path):
    rng = np.random.default_rng(0)
    path, n_rows = tmp_path / "log.jsonl", 1_500_000
    rows = pd.DataFrame(
        {
            "seed": np.arange(n_rows) % 20,
            "step": np.arange(n_rows) // 20,
            "loss": rng.normal(size=n_rows),
        }
    )
    rows.to_json(path, orient="records", lines=True)
    done = subprocess.run(
        [sys.executable, "-c", LARGE, str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    found, seconds, megabytes = map(float, done.stdout.split())
    assert found == n_rows
    assert seconds < 10
    assert megabytes < 1000


TWICE = {
    "a.json": '[{"step": 1, "loss": 0.5, "loss": 0.1}, {"step": 2, "loss": 0.4}]',
    "columns.json": '{"step": [1, 2], "loss": [0.5, 0.4], "loss": [0.1, 0.2]}',
    "a.jsonl": '{"step": 1, "loss": 0.5}\n{"step": 2, "loss": 0.4, "loss": 0.1}\n',
    "inner.jsonl": '{"step": 1, "eval": {"loss": 0.5, "loss": 0.1}}\n{"step": 2}\n',
}


def test_a_key_that_stands_twice_in_a_configuration_is_refused(tmp_path):
    """The algorithm is read from it: of two the last would be taken unseen."""
    for number, algorithm in enumerate("aabb"):
        folder = tmp_path / f"run{number}"
        folder.mkdir()
        (folder / "a.jsonl").write_text('{"step": 1, "loss": 0.5}\n{"step": 2, "loss": 0.4}\n')
        config = json.dumps({"algo": algorithm, "seed": number % 2})
        (folder / "config.json").write_text(config)
    assert set(labelled.read(tmp_path)["algorithm"]) == {"a", "b"}
    (folder / "config.json").write_text('{"algo": "a", ' + config[1:])
    with refused("path", cure="Rename or remove one", names=r"config\.json has the key 'algo' twice in one object"):
        xcurves.readers.read(tmp_path)


@pytest.mark.parametrize("name", TWICE)
def test_a_key_that_stands_twice_is_refused_by_name_and_file(tmp_path, name):
    """JSON's readers keep the last: a score would be lost unseen."""
    folder = tmp_path / "sgd" / "0"
    folder.mkdir(parents=True)
    path = folder / name
    path.write_text(TWICE[name])
    reason = f"{re.escape(name)}.* the key 'loss' twice in one object"
    with refused("path", cure="Rename or remove one", names=reason):
        xcurves.readers.read(tmp_path)
    # the cure: one of them is renamed
    path.write_text(TWICE[name].replace('"loss": 0.1', '"other": 0.1').replace('"loss": [0.1', '"other": [0.1'))
    frame = xcurves.readers.read(tmp_path)
    assert frame.filter(like="loss").iloc[:, 0].dropna().iloc[0] == 0.5
