"""Sources that are no more than names: which files a package leaves, in any format, and what its columns are.

To add one, add a declaration here and a case to `FORMS` of tests/readers/test_forms.py.
"""

from __future__ import annotations

import pandas as pd

from xcurves.readers.formats import RUN, SCORES, listed_of, names_of
from xcurves.readers.source import Source

_TOTALS = (
    "total_flos",
    "train_runtime",
    "train_samples_per_second",
    "train_steps_per_second",
)


def _without_totals(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the history of a Trainer without the row at its end that sums it up."""
    totals = [name for name in _TOTALS if name in rows]
    kept = rows[rows[totals].isna().all(axis=1)]
    if len(kept) == len(rows):
        return rows
    return kept.dropna(axis=1, how="all")


def _epochs_apart(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows of training, which have `iter`, and of validation, whose `step` may count epochs: it is `epoch` then.

    It counts epochs where it is never beyond the epoch of the training before, and somewhere is not its iteration.
    """
    if not {"step", "iter", "epoch"} <= set(rows):
        return rows
    of_validation = rows["iter"].isna()
    before = rows[["iter", "epoch"]].ffill()[of_validation]
    steps = rows.loc[of_validation, "step"]
    if steps.empty or (steps > before["epoch"]).any() or (steps == before["iter"]).all():
        return rows
    apart = rows.copy()
    apart.loc[of_validation, "epoch"] = steps
    apart["step"] = rows["step"].mask(of_validation)
    return apart


LIGHTNING = Source(
    "lightning",
    "Lightning metrics",
    "metrics.csv of Lightning",
    ("delimited",),
    files=("metrics.csv",),
    header=r"(?=(?:.*,)?epoch(?:,|$))(?=(?:.*,)?step(?:,|$)).*",
    step="step",
    units={"step": "steps"},
)
HUGGINGFACE = Source(
    "huggingface",
    "Hugging Face Trainer logs",
    "trainer_state.json",
    ("JSON",),
    files=("trainer_state.json",),
    within=r"checkpoint-\d+",
    records="log_history",
    prepared=_without_totals,
    furthest=True,
    step="step",
    units={"step": "steps"},
)
KERAS = Source(
    "keras",
    "Keras CSVLogger files",
    "files of Keras's CSVLogger (epoch, loss, ...)",
    ("delimited",),
    files=("*.csv", "*.log"),
    header=r"epoch,(?!(?:.*,)?(?:step|algorithm|run)(?:,|$))(?:.*,)?loss(?:,.*)?",
    step="epoch",
    units={"epoch": "epochs"},
    training="epoch",
)
DREAMER = Source(
    "dreamerv3",
    "DreamerV3 logs",
    "metrics.jsonl",
    ("JSON lines",),
    files=("metrics.jsonl",),
    line=r".{0,9999}\"episode/",
    step="step",
    value="episode/score",
)
SPINNINGUP = Source(
    "spinningup",
    "Spinning Up logs",
    "progress.txt, with tabs",
    ("delimited",),
    files=("progress.txt",),
    step="Epoch",
    training="TotalEnvInteracts",
    units={"TotalEnvInteracts": "steps", "Time": "s"},
)
TORCHRL = Source(
    "torchrl",
    "TorchRL CSV logs",
    "scalars/METRIC.csv of (step, value), without a header",
    ("delimited",),
    files=("scalars/*.csv",),
    within="scalars",
    headless=("step",),
    step="step",
    units={"step": "steps"},
)
D3RLPY = Source(
    "d3rlpy",
    "d3rlpy logs",
    "METRIC.csv of (epoch, step, value) beside params.json",
    ("delimited",),
    files=("*.csv",),
    beside="params.json",
    header=r"\d+,\d+,[^,]+",  # there is none: numbers in the first line
    headless=("epoch", "step"),
    step="step",
    units={"step": "steps", "epoch": "epochs"},
)
MMENGINE = Source(
    "mmengine",
    "MMEngine scalars",
    "vis_data/scalars.json",
    ("JSON lines",),
    files=("vis_data/scalars.json",),
    within=r"(?:\d{8}_\d{6}/)?vis_data",
    prepared=_epochs_apart,
    step="step",
    training=None,  # validation may have epochs alone
)
DETECTRON2 = Source(
    "detectron2",
    "Detectron2 metrics",
    "metrics.json of lines with iteration",
    ("JSON lines",),
    files=("metrics.json",),
    by_content=True,
    step="iteration",
    training="iteration",
)
CATBOOST = Source(
    "catboost",
    "CatBoost errors",
    "catboost_info/test_error.tsv",
    ("delimited",),
    files=("test_error.tsv",),
    within="catboost_info",
    step="iter",
    training="iter",
)
_TEXTS = ("*.txt", "*.log", "*.out")
FAIRSEQ = Source(
    "fairseq",
    "fairseq logs",
    "what fairseq prints with --log-format simple or json (.txt, .log, .out, .json)",
    ("text lines",),
    files=(*_TEXTS, "*.json", "*.jsonl"),
    line=r"(?:.{0,40}\| INFO \| \w{1,40} )?(?:\| (?:epoch \d|\{\"epoch\": )|\{\"epoch\": .*num_updates\")",
    step="num_updates",
    training="num_updates",
    units={"num_updates": "updates"},
)
OPENMMLAB = Source(
    "mmdet",
    "text logs of MMDetection and other OpenMMLab packages",
    "lines such as '... - mmdet - INFO - Epoch [1][50/7330]  lr: 1e-2, ..., loss: 1.1'",
    ("text lines",),
    files=_TEXTS,
    line=r".{0,80}- INFO - (?:Epoch|Iter)(?:\(\w{1,10}\))? {0,10}\[",
    within=r"\d{8}_\d{6}",
    step="step",
)
LLMC = Source(
    "llm.c",
    "llm.c logs",
    "main.log of lines 's:250 tel:4.1'",
    ("text lines",),
    files=_TEXTS,
    line=r"s:\d+ (?:tel|trl|eval|hel):",
    step="step",
    units={"step": "steps"},
)
NANOGPT = Source(
    "build-nanogpt",
    "build-nanogpt logs",
    "log.txt of lines '250 val 6.01'",
    ("text lines",),
    files=_TEXTS,
    line=r"\d+ (?:train|val|hella) [\d.]+\s*$",
    step="step",
    units={"step": "steps"},
)
TEXT = Source(
    "text",
    "text logs",
    "lines such as 'step:1 loss:2.5', one or more a step (.txt, .log, .out)",
    ("text lines",),
    files=_TEXTS,
    by_content=True,
    general=True,
    training=None,
)
TABLE = Source(
    "table",
    "CSV",
    "CSV files",
    ("delimited",),
    files=("*.csv",),
    general=True,
    training="training",
)
ROWS = Source(
    "rows",
    "rows of any format",
    f"{listed_of(SCORES)} with {SCORES}, {listed_of(RUN)} for each run",
    (*names_of(SCORES), *names_of(RUN)),
    by_content=True,
    general=True,
    training=None,
)
OF_PACKAGES = (
    LIGHTNING,
    HUGGINGFACE,
    KERAS,
    DREAMER,
    SPINNINGUP,
    TORCHRL,
    D3RLPY,
    MMENGINE,
    DETECTRON2,
    CATBOOST,
    FAIRSEQ,
    OPENMMLAB,
    LLMC,
    NANOGPT,
)
GENERAL = (TEXT, TABLE, ROWS)
