"""Event files that real writers wrote."""

import numpy as np
import pytest

import labelled
from event_files import event_writer
from refusals import refused


@pytest.fixture
def logs(tmp_path):
    rng = np.random.default_rng(0)
    written = {}
    for algorithm, run in [("sac", 1), ("sac", 2), ("td3", 1)]:
        scores = rng.normal(size=50).astype(np.float32)
        with event_writer(tmp_path / algorithm / str(run)) as writer:
            for i, score in enumerate(scores):
                writer.add_scalar("eval/return", score, i * 100)
                if i % 10 == 0:
                    writer.add_scalar("loss", score**2, i * 100)
            writer.add_text("note", "no scalar", 0)
        written[algorithm, run] = scores
    return tmp_path, written


def test_all_scalars_of_all_runs_are_read(logs):
    root, written = logs
    frame = labelled.read(root, source="tensorboard")
    assert list(frame) == ["algorithm", "run", "tag", "step", "wall_time", "value"]
    assert frame.groupby("tag").size().to_dict() == {"eval/return": 150, "loss": 15}
    returns = frame[frame.tag == "eval/return"].curves.to_dataarray("value", training="step")
    for (algorithm, run), scores in written.items():
        np.testing.assert_array_equal(returns.sel(algorithm=algorithm, run=run), scores)
    assert returns.training.attrs["units"] == "steps"
    assert returns.attrs["source"] == f"TensorBoard event files below {root.name}"


@pytest.mark.slow
def test_nothing_is_sampled(tmp_path):
    with event_writer(tmp_path / "sac" / "1") as writer:
        for i in range(12_000):
            writer.add_scalar("return", i, i)
    assert labelled.read(tmp_path, source="tensorboard").value.tolist() == list(range(12_000))


def test_a_restarted_run_keeps_what_it_repeats(tmp_path):
    folder = str(tmp_path / "sac" / "1")
    for suffix, (start, stop) in enumerate([(0, 6), (3, 8)]):
        with event_writer(folder, filename_suffix=f".{suffix}") as writer:
            for i in range(start, stop):
                writer.add_scalar("return", 100 * suffix + i, i)
    frame = labelled.read(tmp_path, source="tensorboard")
    assert len(frame) == 11
    last = frame.curves.to_dataarray("value", training="step")
    assert "1 run restarted at a lower level, which leaves out 3 rows" in last.attrs["history"]
    np.testing.assert_array_equal(last.squeeze(), [0, 1, 2, 103, 104, 105, 106, 107])


def test_scalars_written_as_tensors_are_scalars(tmp_path):
    """As TensorFlow 2 writes them."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.plugins.scalar import metadata
    from tensorboard.summary.writer.event_file_writer import EventFileWriter
    from tensorboard.util.tensor_util import make_tensor_proto

    writer = EventFileWriter(str(tmp_path / "sac" / "1"))
    about = metadata.create_summary_metadata(display_name="", description="")
    for i in range(3):
        value = Summary.Value(tag="return", tensor=make_tensor_proto(np.float32(i / 2)), metadata=about)
        writer.add_event(Event(step=i, wall_time=1e9 + i, summary=Summary(value=[value])))
    writer.close()
    frame = labelled.read(tmp_path, source="tensorboard")
    assert frame[["tag", "step", "value"]].to_numpy().tolist() == [["return", i, i / 2] for i in range(3)]


def test_an_event_file_cut_short_gives_its_whole_events(logs):
    root, _ = logs
    (path,) = (root / "td3" / "1").iterdir()
    path.write_bytes(path.read_bytes()[:-700])
    with pytest.warns(UserWarning, match=r"td3/1/.*tfevents.*: \d+ records are.*last \d+ bytes, cut"):
        frame = labelled.read(root, source="tensorboard")
    cut = frame[(frame.algorithm == "td3") & (frame.tag == "eval/return")]
    assert 0 < len(cut) < 50
    assert cut.step.tolist() == [100 * i for i in range(len(cut))]


def test_a_run_without_scalars_is_left_out_and_said(logs):
    root, _ = logs
    (path,) = (root / "td3" / "1").iterdir()
    path.write_bytes(b"")
    with pytest.warns(UserWarning, match=r"td3/1 has no rows and is left out$"):
        frame = labelled.read(root, source="tensorboard")
    assert frame.algorithm.unique().tolist() == ["sac"]
    assert frame.value.dtype == float


def test_folders_without_scalars_are_said(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"holds no event files \(\*tfevents\*\)"):
        labelled.read(tmp_path, source="tensorboard")
    with event_writer(tmp_path / "sac" / "1") as writer:
        writer.add_text("note", "no scalar", 0)
    with refused("path", cure="Check what was logged", names=r"event files .* have no rows. Check what was logged"):
        labelled.read(tmp_path, source="tensorboard")


def records(data):
    """Return where each record of an event file begins, by the lengths alone."""
    starts = [0]
    while starts[-1] < len(data):
        starts.append(starts[-1] + 16 + int.from_bytes(data[starts[-1] : starts[-1] + 8], "little"))
    return starts


def test_a_flipped_byte_loses_one_record_and_the_file_and_number_are_said(logs):
    root, written = logs
    (path,) = (root / "td3" / "1").iterdir()
    data = bytearray(path.read_bytes())
    starts = records(data)
    whole = labelled.read(root, source="tensorboard")
    data[starts[30] + 14] ^= 1
    path.write_bytes(data)
    said = rf"^{path}: {len(starts) - 2} records are read; left out: 1 damaged record$"
    with pytest.warns(UserWarning, match=said) as caught:
        frame = labelled.read(root, source="tensorboard")
    assert len(caught) == 1
    assert len(frame) == len(whole) - 1
    assert set(frame.value) < set(whole.value)


def test_after_a_flipped_length_the_rest_of_the_file_is_said_to_be_lost(logs):
    root, _ = logs
    (path,) = (root / "td3" / "1").iterdir()
    data = bytearray(path.read_bytes())
    starts = records(data)
    data[starts[30]] ^= 1
    path.write_bytes(data)
    with pytest.warns(
        UserWarning,
        match=rf"30 records are read; left out: the last {len(data) - starts[30]} bytes, cut",
    ):
        labelled.read(root, source="tensorboard")


def test_all_is_read_that_the_package_s_own_reader_reads(logs):
    from tensorboard.backend.event_processing import event_accumulator

    root, _ = logs
    frame = labelled.read(root, source="tensorboard")
    for (algorithm, run), rows in frame.groupby(["algorithm", "run"]):
        own = event_accumulator.EventAccumulator(str(root / algorithm / str(run)), {"scalars": 0})
        own.Reload()
        for tag, mine in rows.groupby("tag"):
            theirs = [(event.step, event.wall_time, event.value) for event in own.Scalars(tag)]
            assert list(mine[["step", "wall_time", "value"]].itertuples(index=False, name=None)) == theirs
