"""Lines in the forms that packages print: each number lands at its step, and no hostile line takes long."""

import time

import numpy as np
import pytest

from xcurves import readers

# The forms are those of fairseq/logging/progress_bar.py, mmcv/runner/hooks/logger/text.py,
# mmengine/runner/log_processor.py, llmc/logger.h of llm.c and train_gpt2.py of build-nanogpt; the numbers are made up.
CLOCK = "2026-01-02 03:04:05"
FAIRSEQ_TEXT = f"""\
{CLOCK} | INFO | fairseq_cli.train | task: LanguageModelingTask
{CLOCK} | INFO | fairseq.trainer | begin training epoch 1
{CLOCK} | INFO | train_inner | epoch 001:    100 / 200 loss=9.5, ppl=724.08, wps=51, num_updates=100, lr=0.01, wall=7
{CLOCK} | INFO | train_inner | epoch 001:    200 / 200 loss=9.0, ppl=512, wps=51, num_updates=200, lr=0.02, wall=14
{CLOCK} | INFO | valid | epoch 001 | valid on 'valid' subset | loss 8.5 | ppl 362.04 | wps 7 | num_updates 200
{CLOCK} | INFO | train | epoch 001 | loss 9.25 | ppl 608.87 | wps 51 | num_updates 200 | lr 0.02 | wall 16
{CLOCK} | INFO | valid | epoch 002 | valid on 'valid' subset | loss 7.5 | ppl 181.02 | num_updates 400 | best_loss 7.5
"""
FAIRSEQ_JSON = f"""\
{CLOCK} | INFO | train_inner | {{"epoch": 1, "update": 0.5, "loss": "9.5", "ppl": "724.08", "num_updates": "100"}}
{CLOCK} | INFO | train_inner | {{"epoch": 1, "update": 1.0, "loss": "9.0", "ppl": "512", "num_updates": "200"}}
{CLOCK} | INFO | valid | {{"epoch": 1, "valid_loss": "8.5", "valid_ppl": "362.04", "valid_num_updates": "200"}}
{CLOCK} | INFO | train | {{"epoch": 1, "train_loss": "9.25", "train_ppl": "608.87", "train_num_updates": "200"}}
{CLOCK} | INFO | valid | {{"epoch": 2, "valid_loss": "7.5", "valid_num_updates": "400", "valid_best_loss": "7.5"}}
"""
FAIRSEQ_OLD = """\
| epoch 001:    100 / 200 loss=9.5, nll_loss=10.1, ppl=724.08, wps=52922, num_updates=100, lr=8.9e-05, clip=0%
| epoch 001:    200 / 200 loss=9.0, nll_loss=10.1, ppl=512, wps=52922, num_updates=200, lr=8.9e-05, clip=0%
| epoch 001 | valid on 'valid' subset | valid_loss 8.5 | valid_ppl 362.04 | num_updates 200
| epoch 001 | train_loss 9.25 | num_updates 200
| epoch 002 | valid on 'valid' subset | valid_loss 7.5 | valid_ppl 181.02 | num_updates 400
"""
FAIRSEQ_FILE = "".join(line.rpartition(" | ")[2] + "\n" for line in FAIRSEQ_JSON.splitlines())
MMCV = f"""\
{CLOCK},877 - mmdet - INFO - workflow: [('train', 1)], max: 2 epochs
{CLOCK},877 - mmdet - INFO - Epoch [1][50/100]\tlr: 1.978e-03, eta: 3 days, 0:56:09, time: 0.3, memory: 50, loss: 1.5
{CLOCK},877 - mmdet - INFO - Epoch [1][100/100]\tlr: 3.976e-03, eta: 0:50:09, time: 0.2, memory: 50, loss: 1.25
{CLOCK},877 - mmdet - INFO - Epoch(val) [1][764]\tbbox_mAP: 0.0110, bbox_mAP_copypaste: 0.011 0.017 0.013, loss: 2.5
{CLOCK},877 - mmdet - INFO - Epoch [2][50/100]\tlr: 1.978e-03, eta: 0:06:09, time: 0.3, memory: 50, loss: 1.0
{CLOCK},877 - mmdet - INFO - Epoch(val) [2][764]\tbbox_mAP: 0.0220, loss: 2.0
"""
MMENGINE = """\
2026/01/02 03:04:05 - mmengine - INFO - Iter(train) [   50/1000]  lr: 1.0000e-03  eta: 0:18:23  time: 0.14  loss: 1.5
2026/01/02 03:04:05 - mmengine - INFO - Iter(train) [  100/1000]  lr: 1.0000e-03  eta: 0:11:29  time: 0.04  loss: 1.25
2026/01/02 03:04:05 - mmengine - INFO - Iter(val) [10/313]    eta: 0:00:03  time: 0.0122  data_time: 0.0047
2026/01/02 03:04:05 - mmengine - INFO - Iter(val) [313/313]    mIoU: 35.7000  data_time: 0.0047  time: 0.0122
"""
LLMC = "s:0 hel:0.24\ns:0 tel:11.0\ns:0 trl:10.5 lr:0.000001 norm:15.34\ns:250 eval:0.25\ns:250 tel:4.1\n"
NANOGPT = "0 val 10.9500\n0 hella 0.2463\n0 train 10.955029\n250 val 6.0100\n"


def read(tmp_path, text, name="run.log"):
    (tmp_path / name).write_text(text)
    return readers.read(tmp_path / name)


def at(frame, score, step):
    """Return the steps and values where there is a score."""
    rows = frame[[step, score]].dropna()
    return dict(zip(rows[step], rows[score], strict=True))


@pytest.mark.parametrize("text", [FAIRSEQ_TEXT, FAIRSEQ_OLD, FAIRSEQ_JSON, FAIRSEQ_FILE])
def test_fairseq(tmp_path, text):
    frame = read(tmp_path, text)
    assert frame.attrs["source"] == "fairseq logs in run.log"
    assert at(frame, "loss", "num_updates") == {100: 9.5, 200: 9.0}
    assert at(frame, "valid_loss", "num_updates") == {200: 8.5, 400: 7.5}
    assert at(frame, "train_loss", "num_updates") == {200: 9.25}
    assert at(frame, "valid_ppl", "num_updates") == {200: 362.04} | (
        {400: 181.02} if text in (FAIRSEQ_TEXT, FAIRSEQ_OLD) else {}
    )
    assert at(frame, "epoch", "num_updates")[400] == 2


def test_mmdet_by_epochs(tmp_path):
    frame = read(tmp_path, MMCV)
    assert readers.recognize(tmp_path / "run.log").name == "mmdet"
    assert at(frame, "loss", "step") == {50: 1.5, 100: 1.25, 150: 1.0}
    assert at(frame, "val/bbox_mAP", "step") == {100: 0.011, 200: 0.022}
    assert at(frame, "val/loss", "step") == {100: 2.5, 200: 2.0}
    assert at(frame, "epoch", "step") == {50: 1, 100: 1, 150: 2, 200: 2}
    assert not [name for name in frame if "eta" in name or "copypaste" in name]


def test_mmdet_by_iterations(tmp_path):
    frame = read(tmp_path, MMENGINE)
    assert at(frame, "loss", "step") == {50: 1.5, 100: 1.25}
    assert at(frame, "val/mIoU", "step") == {100: 35.7}
    assert [name for name in frame if name.startswith("val/")] == ["val/mIoU"]


def test_llmc(tmp_path):
    frame = read(tmp_path, LLMC, "main.log")
    assert frame.attrs["source"].startswith("llm.c logs")
    assert at(frame, "val_loss", "step") == {0: 11, 250: 4.1}
    assert at(frame, "train_loss", "step") == {0: 10.5}
    assert at(frame, "eval", "step") == {250: 0.25}
    assert at(frame, "hel", "step") == {0: 0.24}


def test_build_nanogpt(tmp_path):
    frame = read(tmp_path, NANOGPT, "log.txt")
    assert frame.attrs["source"].startswith("build-nanogpt logs")
    assert at(frame, "val_loss", "step") == {0: 10.95, 250: 6.01}
    assert at(frame, "train_loss", "step") == {0: 10.955029}
    assert at(frame, "hella", "step") == {0: 0.2463}


def test_a_time_and_a_level_may_stand_before_a_step(tmp_path):
    text = "".join(
        f"{before}step {step}: loss 0.{step}\n"
        for step, before in enumerate(
            [
                "",
                "12:30:01 ",
                "[2026-01-02 03:04:05,123] ",
                "2026-01-02T03:04:05Z INFO - ",
                "[12:30:01] [DEBUG] ",
                "| ",
            ],
            1,
        )
    )  # fmt: skip
    frame = read(tmp_path, text)
    np.testing.assert_array_equal(frame["step"], range(1, 7))
    np.testing.assert_allclose(frame["loss"], np.arange(1, 7) / 10)


HOSTILE = [
    ("22:" * 3330, "x"),
    ("12:12:12" * 1240, "x"),
    ("-" * 9_990, "x"),
    ("- " * 4_990, "x"),
    ("epoch 1" + " " * 9_980, "x"),
    ("step:1 " + "a " * 4_990, "!"),
    ("step:1 " + "9" * 9_980, "!"),
    ("step 1 | " + "a" * 9_980, "!"),
    ("step 1 " + "a 1.5 " * 1_660, "!"),
    ("step 1 " + "a1" * 4_980, "!"),
    ("{'step': 1, " + "'" * 9_980, "}"),
    ("Epoch [1][2/3]\t" + "a_" * 4_980, "!"),
    ("| epoch 001 | " + "INFO" * 2_480, "!"),
    ("2026-01-02 " * 900, "x"),
]


@pytest.mark.parametrize(("before", "after"), HOSTILE, ids=range(len(HOSTILE)))
def test_the_longest_hostile_line_is_read_in_a_second(tmp_path, before, after):
    """A doubling pattern takes hours here; a quadratic one some tens of seconds."""
    begun = time.process_time()
    frame = read(tmp_path, f"step:1 loss:2.5\n{before}{after}\nstep:2 loss:2\n")
    assert time.process_time() - begun < 1
    assert at(frame, "loss", "step") == {1: 2.5, 2: 2}


def test_a_line_beyond_10000_characters_says_nothing(tmp_path):
    long = "step:2 loss:2 " + "x" * 10_000
    frame = read(tmp_path, f"step:1 loss:2.5\n{long}\n")
    assert at(frame, "loss", "step") == {1: 2.5}
