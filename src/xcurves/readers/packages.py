"""Sources whose logs take a function of their own: which files a package leaves, and what their columns are."""

from __future__ import annotations

from pathlib import Path

from xcurves.core.calls import later
from xcurves.readers.formats import format_of
from xcurves.readers.log_files import has_sqlite_rows, header
from xcurves.readers.open_files import beginning, read_text
from xcurves.readers.source import Source

# Type checkers do not import them either: some import this module, and the circle would hide their types.
clearml, hydra, inspect_ai = later(__package__, "clearml", "hydra", "inspect_ai")
keras_tuner, lm_eval, marl_eval = later(__package__, "keras_tuner", "lm_eval", "marl_eval")
mlflow, optimizers, optuna, optuna_storages = later(__package__, "mlflow", "optimizers", "optuna", "optuna_storages")
rliable, rllib, sacred, score_tables = later(__package__, "rliable", "rllib", "sacred", "score_tables")
searches, stable_baselines3 = later(__package__, "searches", "stable_baselines3")
tensorboard, timings, wandb = later(__package__, "tensorboard", "timings", "wandb")


def _with_columns(*names: str) -> str:
    """Return a regular expression of first lines that have columns with such names, in any order."""
    return "".join(rf"(?=(?:.*,)?(?:{name})(?:,|$))" for name in names) + ".*"


def _is_chart(path: Path) -> bool:
    """Return whether a table has the columns of a chart of Weights & Biases: each after the first is 'run - metric'."""
    head = header(path)
    return len(head) > 1 and all(" - " in column for column in head[1:])


HYDRA = Source(
    "hydra",
    "jobs of Hydra",
    ".hydra/overrides.yaml, with the logs of any source",
    ("YAML",),
    files=(".hydra/overrides.yaml",),
    hidden=".hydra",
    read_all=hydra.multirun,
)

RLLIB = Source(
    "rllib",
    "trials of RLlib or Ray Tune",
    "result.json or progress.csv beside params.json",
    ("JSON lines", "delimited"),
    files=("progress.csv", "result.json"),
    beside="params.json",
    read_all=rllib.read_trials,
    extra=("task",),
)

MLFLOW = Source(
    "mlflow",
    "MLflow's metrics",
    "a folder mlruns",
    ("YAML",),
    files=("meta.yaml",),
    is_log=mlflow.is_run,
    read_all=mlflow.metric_history,
    value="value",
    metric="metric",
)

MLFLOW_DATABASE = MLFLOW._replace(
    name="mlflow-database",
    logs="an SQLite file mlflow.db",
    formats=("SQLite",),
    files=(),
    is_log=lambda path: has_sqlite_rows(path, "experiments", "latest_metrics"),
    single=True,
)

MONITOR = Source(
    "monitor",
    "Stable-Baselines3 Monitor logs",
    "monitor.csv",
    ("delimited",),
    files=("*monitor.csv",),
    read_run=stable_baselines3.read_episodes,
    units={"step": "steps", "episode_length": "steps", "time": "s"},
    long_names={
        "return": "episode return",
        "step": "environment steps",
        "time": "time since the run began",
    },
    value="return",
    also_writes=("evaluations", "tensorboard"),
)

EVALUATIONS = Source(
    "evaluations",
    "Stable-Baselines3 evaluations",
    "evaluations.npz",
    ("npz",),
    files=("evaluations.npz",),
    read_run=stable_baselines3.read_evaluations,
    units={"step": "steps", "episode_length": "steps"},
    long_names={"return": "episode return", "step": "environment steps"},
    value="return",
)

SB3_TEXT = MONITOR._replace(
    name="sb3-text",
    what="tables that Stable-Baselines3 prints",
    logs="log.txt of its logger, where no progress.csv is beside",
    formats=("tables in text",),
    files=("log.txt",),
    header="",
    beside="",
    is_log=stable_baselines3.is_table,
    read_run=stable_baselines3.read_tables,
    value=None,
    step="",
    training="time/total_timesteps",
    units={"time/total_timesteps": "steps", "time/time_elapsed": "s"},
    long_names={},
    also_writes=("monitor", "evaluations", "tensorboard"),
)

SACRED = Source(
    "sacred",
    "runs of sacred",
    "metrics.json and info.json beside run.json of FileStorageObserver",
    ("JSON",),
    files=("metrics.json", "info.json"),
    beside="run.json",
    is_log=sacred.is_log,
    read_run=sacred.read_run,
    units={"step": "steps"},
)

TENSORBOARD = Source(
    "tensorboard",
    "TensorBoard event files",
    "event files (*tfevents*)",
    ("event files",),
    files=("*tfevents*",),
    read_run=tensorboard.read_run,
    units={"step": "steps", "wall_time": "s"},
    value="value",
    metric="tag",
)

CLEANRL = TENSORBOARD._replace(
    name="cleanrl",
    what="CleanRL runs",
    logs="event files in folders env__exp__seed__time",
    is_log=tensorboard.is_cleanrl,
    read_run=None,
    read_all=tensorboard.read_cleanrl,
    extra=("task",),
)

LM_EVAL = Source(
    "lm-eval",
    "results of lm-evaluation-harness",
    "results_TIME.json",
    ("JSON",),
    files=("results*.json",),
    is_log=lm_eval.is_results,
    read_all=lm_eval.read_scores,
    training=None,
    extra=("task",),
)

LM_EVAL_SAMPLES = LM_EVAL._replace(
    name="lm-eval-samples",
    what="samples of lm-evaluation-harness",
    logs="samples_BENCHMARK_TIME.jsonl, with results_TIME.json beside",
    formats=("JSON lines",),
    files=("samples_*.jsonl",),
    is_log=lm_eval.is_samples,
    also_writes=("lm-eval",),
    read_all=lm_eval.read_samples,
    extra=("item",),
)

INSPECT = Source(
    "inspect",
    "logs of Inspect",
    ".eval or .json of inspect_ai",
    ("zip", "JSON"),
    files=("*.eval", "*.json"),
    is_log=inspect_ai.is_log,
    read_all=inspect_ai.read_scores,
    training=None,
    extra=("item",),
)

IOH = Source(
    "iohprofiler",
    "IOHprofiler runs",
    "IOHprofiler_*.json, with .dat in folders beside",
    ("JSON",),
    files=("iohprofiler_*.json",),
    is_log=lambda path: b'"scenarios"' in beginning(path),
    read_all=optimizers.read_ioh,
    value="best_y",
    training="evaluations",
    extra=("task",),
)

COCO = IOH._replace(
    name="coco",
    what="COCO runs",
    logs="*.info of COCO, with .tdat or .dat in folders beside",
    formats=("COCO",),
    files=("*.info",),
    is_log=lambda path: b"funcId" in beginning(path, 1 << 12),
    read_all=optimizers.read_coco,
    value="gap",
)

KERAS_TUNER = Source(
    "keras-tuner",
    "trials of KerasTuner",
    "trial.json of each trial",
    ("JSON",),
    files=("trial.json",),
    is_log=keras_tuner.is_trial,
    read_run=keras_tuner.read_trial,
    step="step",
)

HPBANDSTER = Source(
    "hpbandster",
    "HpBandSter results",
    "results.json of lines, with configs.json beside",
    ("JSON lines",),
    files=("results.json",),
    beside="configs.json",
    is_log=lambda path: beginning(path, 200).startswith(b"[["),
    read_run=searches.read_hpbandster,
    value="loss",
    says="loss is that of each trial, not the best so far: of trials on one budget that is the value best_loss",
    training="trial_number",
)

SMAC = Source(
    "smac",
    "SMAC run histories",
    "runhistory.json of SMAC 1 or 2",
    ("JSON",),
    files=("runhistory.json",),
    read_run=searches.read_smac,
    units={"runtime": "s"},
    value="cost",
    says="cost is that of each trial, not the best so far: of trials on one budget that is the value best_cost",
    training="trial_number",
)

OPTUNA_CURVES = Source(
    "optuna",
    "values that trials of Optuna reported",
    "an SQLite or journal file",
    ("SQLite", "JSON lines"),
    is_log=optuna_storages.has_curves,
    read_all=optuna.intermediate_values,
    single=True,
    value="value",
)

OPTUNA_TRIALS = OPTUNA_CURVES._replace(
    name="optuna-trials",
    what="results of trials of Optuna",
    is_log=optuna_storages.has_trials,
    read_all=optuna.trials,
    training="trial_number",  # of searches that are runs
)

MARL_EVAL = Source(
    "marl-eval",
    "evaluations of marl-eval",
    "JSON files of its protocol",
    ("JSON",),
    files=("*.json",),
    is_log=lambda path: '"step_count"' in read_text(path, errors="replace"),
    read_all=marl_eval.read_metrics,
    extra=("env", "task"),
)

RLIABLE = Source(
    "rliable",
    "arrays of scores of rliable",
    "one .npz file, (runs, tasks) or (runs, tasks, frames) of each algorithm",
    ("npz",),
    files=("*.npz",),
    is_log=rliable.names_tasks,
    read_all=rliable.scores,
    single=True,
    value="score",
    training="frame",
    extra=("task",),
)

RLIABLE_CURVES = RLIABLE._replace(
    name="array-curves",
    what="arrays of curves",
    logs="one .npz file, (runs, steps) or (runs, steps, tasks) of each algorithm",
    is_log=lambda _: False,  # no file says so by itself
    read_all=rliable.read_curves,
    training="step",
)

RLIABLE_TURNED = RLIABLE_CURVES._replace(
    name="array-steps-first",
    logs="one .npz file, (steps, runs) of each algorithm",
    read_all=rliable.read_turned_curves,
)

RLIABLE_UNNAMED = RLIABLE._replace(
    name="arrays",
    what="arrays of several algorithms",
    logs="one .npz file of which it is asked whether the second axis are steps or tasks",
    is_log=lambda path: format_of(path) != "npz",
    read_all=rliable.ask,
)

RLIABLE_FILES = RLIABLE_UNNAMED._replace(
    name="array-files",
    what="an array of each algorithm",
    logs=".npy files of several axes, of which it is asked whether the second are steps or tasks",
    formats=("npy",),
    files=("*.npy",),
    is_log=rliable.has_axes,
    single=False,
)

WANDB_CHART = Source(
    "wandb-chart",
    "a chart of Weights & Biases",
    "exported as CSV",
    ("delimited",),
    files=("*.csv",),
    is_log=_is_chart,
    read_all=wandb.read_chart,
    single=True,
)

CLEARML = Source(
    "clearml",
    "scalars of ClearML",
    "JSON of Task.get_reported_scalars(): title, series, x and y",
    ("JSON",),
    files=("*.json",),
    is_log=clearml.is_log,
    read_run=clearml.read_run,
    units={"step": "steps"},
)

PYTEST_BENCHMARK = Source(
    "pytest-benchmark",
    "results of pytest-benchmark",
    "JSON of --benchmark-json, or the files that --benchmark-autosave leaves",
    ("JSON",),
    files=("*.json",),
    is_log=timings.is_benchmark,
    read_all=timings.read_times,
    value="time",
    training=None,
    units={"time": "s"},
)

HYPERFINE = PYTEST_BENCHMARK._replace(
    name="hyperfine",
    what="times of hyperfine",
    logs="JSON of --export-json",
    is_log=timings.is_hyperfine,
    read_all=None,
    read_run=timings.read_commands,
)

CV_RESULTS = Source(
    "cv-results",
    "results of a search of scikit-learn",
    "its cv_results as CSV, of several one for each algorithm",
    ("delimited",),
    files=("*.csv",),
    header=_with_columns("params", r"split\d+_(?:test|train)_[^,]+", r"mean_(?:test|train)_[^,]+"),
    read_all=score_tables.read_search,
    read_run=score_tables.read_search_of,
    training="n_resources",  # where a search has rungs
    example="cv_results.csv",
)

CV_RESULTS_LISTS = CV_RESULTS._replace(
    name="cv-results-lists",
    logs="results of a search as lists in JSON, of several searches one for each algorithm",
    formats=("JSON",),
    files=("*.json",),
    header="",
    is_log=score_tables.has_search,
    example="cv_results.json",
)

CROSS_VALIDATION = Source(
    "cross-validate",
    "scores of folds of scikit-learn",
    "what cross_validate returns as CSV, of several one for each algorithm",
    ("delimited",),
    files=("*.csv",),
    header=_with_columns("fit_time", "score_time", "test_[^,]+"),
    is_log=score_tables.has_folds_only,
    read_all=score_tables.read_cross_validation,
    read_run=score_tables.read_cross_validation_of,
    units={"fit_time": "s", "score_time": "s"},
    training=None,
    example="cross_validation.csv",
)

CROSS_VALIDATION_LISTS = CROSS_VALIDATION._replace(
    name="cross-validate-lists",
    logs="what cross_validate returns as lists in JSON, of several one for each algorithm",
    formats=("JSON",),
    files=("*.json",),
    header="",
    is_log=score_tables.has_validations,
    example="cross_validation.json",
)

OPTUNA_TABLE = Source(
    "optuna-table",
    "a table of trials of Optuna",
    "trials_dataframe() as CSV, of several one for each study",
    ("delimited",),
    files=("*.csv",),
    header=_with_columns("number", "value", "state", "(?:params|datetime)_[^,]+"),
    read_all=score_tables.read_trials,
    read_run=score_tables.read_study,
    value="value",
    training="trial_number",  # of searches that are runs
    example="trials.csv",
)

OPENML = Source(
    "openml",
    "evaluations of OpenML",
    "list_evaluations() as CSV: task_id, flow_name, value",
    ("delimited",),
    files=("*.csv",),
    header=_with_columns("task_id", "value", "flow_id|flow_name"),
    read_all=score_tables.read_evaluations,
    single=True,
    training=None,
    extra=("task",),
    example="evaluations.csv",
)
TABLES_OF_SCORES = (CV_RESULTS, CV_RESULTS_LISTS, CROSS_VALIDATION, CROSS_VALIDATION_LISTS, OPTUNA_TABLE, OPENML)
