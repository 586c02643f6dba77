"""The one table of public names: the module of each function, and whose `.curves` has it as a method.

`__init__.pyi` here and in `accessors`, which editors and type checkers read, are written from it by
``python tests/tools/stubs.py``. Tests compare the classes of `accessors` and the pages of the reference with it.
"""

from __future__ import annotations

from typing import NamedTuple

ONE_TASK, SEVERAL_TASKS = "one task", "several tasks"
CURVES, RESULT, TREE, FRAME = "DataArray", "Dataset", "DataTree", "DataFrame"


class Public(NamedTuple):
    """Where a public function is, and the types of objects whose `.curves` has it."""

    module: str
    objects: tuple[str, ...] = ()
    part: str = ""  # the name of its results in a whole analysis, if it takes part in one
    # of which curves its answer opens a report: which algorithm is better, by how much, or where
    opens: str = ""
    marked: str = ""  # the coordinate or attr that such curves have, without which it is no part


# The functions that make results, in the order of a report. Each has a module of its name, and its declaration is in
# the module `kinds` beside it.
KINDS = {
    "across_tasks": Public("multi_task.across_tasks", (CURVES,), "across_tasks", SEVERAL_TASKS),
    "profile_across_tasks": Public("multi_task.profile_across_tasks", (CURVES,), "profile_across_tasks", SEVERAL_TASKS),
    "randomized_anova": Public("anova.randomized_anova", (CURVES,), "anova"),
    "pairwise": Public("anova.pairwise", (CURVES,), "pairwise", ONE_TASK),
    "contrast": Public("anova.contrast", (CURVES,)),
    "ss_profile": Public("profile.ss_profile", (CURVES,), "profile", ONE_TASK),
    "sequential": Public("looks.sequential", (CURVES,), "sequential"),
    "gate": Public("looks.gate", (CURVES,)),
    "speedup": Public("target_times.speedup", (CURVES,), "speedup"),
    "mean_time_to_target": Public("target_times.mean_time_to_target", (CURVES,)),
    "performance_profile": Public("target_times.performance_profile", (CURVES,)),
    "fit_power_law": Public("learning_curves.fit_power_law", (CURVES,), "power_law"),
    "predict": Public("learning_curves.predict", (RESULT,)),
    "leave_one_size_out": Public("learning_curves.leave_one_size_out", (CURVES,)),
    "compare_learners": Public("learning_curves.compare_learners", (RESULT,)),
    "fit_scaling_law": Public(
        "learning_curves.fit_scaling_law", (CURVES,), "scaling_law", ONE_TASK, marked="model_size"
    ),
    "predict_loss": Public("learning_curves.predict_loss", (RESULT,)),
    "optimal_allocation": Public("learning_curves.optimal_allocation", (RESULT,)),
    "compare_scaling_laws": Public("learning_curves.compare_scaling_laws", (RESULT,)),
    "performance_cdf": Public("distributions.performance_cdf", (CURVES,), "distribution"),
    "compare_distributions": Public("distributions.compare_distributions", (CURVES,)),
    "tuning_curve": Public("distributions.tuning_curve", (CURVES,), "tuning_curve", ONE_TASK, marked="sampler"),
    "mean_curves": Public("means.mean_curves", (CURVES,)),
    "runs_needed": Public("planning.runs_needed", (CURVES,)),
}

# What prepares curves, and what all kinds of results have.
FUNCTIONS = {
    "align": Public("frames.align", (CURVES,)),
    "analyze": Public("analysis", (CURVES,)),
    "assign_looks": Public("looks.assign_looks", (CURVES,)),
    "bibtex": Public("reporting.paper", (RESULT, TREE)),
    "describe_methods": Public("reporting.paper", (RESULT,)),
    "drop_incomplete": Public("frames.incomplete", (CURVES,)),
    "dse": Public("distributions.dse"),
    "explore": Public("plotting.explore", (CURVES, RESULT)),
    "fill_failed": Public("frames.failed", (CURVES,)),
    "format_table": Public("reporting.paper", (RESULT,)),
    "normalize": Public("frames.normalize", (CURVES,)),
    "one_trial": Public("distributions.dse"),
    "pass_all": Public("frames.answers", (CURVES,)),
    "pass_at": Public("frames.answers", (CURVES,)),
    "plot": Public("plotting.dispatch", (CURVES, RESULT, TREE)),
    "plot_benchmark": Public("plotting.benchmark", (CURVES,)),
    "register_polars": Public("accessors"),
    "report": Public("reporting.page", (TREE,)),
    "run_trials": Public("distributions.saved_trials"),
    "summary": Public("results", (RESULT, TREE)),
    "table": Public("results", (RESULT, TREE)),
    "time_to_target": Public("target_times.time_to_target", (CURVES,)),
    "to_dataarray": Public("frames.to_curves", (FRAME,)),
    "to_dataset": Public("frames.to_dataset", (FRAME,)),
    "to_dict": Public("reporting.answer", (RESULT, TREE)),
    "to_frame": Public("results", (CURVES, RESULT)),
    "trials_needed": Public("distributions.trials"),
}

# What functions raise where a call or its data are refused.
ERRORS = {
    "Missing": Public("core.refusal"),
    "Refusal": Public("core.refusal"),
    "WrongType": Public("core.refusal"),
}

# Values that arguments take, by the module of each.
VALUES = {"FIND": "core.known"}

MODULES = ("archive", "readers", "tutorial")

# Functions of these, which are looked for here.
ELSEWHERE = {
    "open_dataset": "xcurves.tutorial.open_dataset or xcurves.archive.open_dataset",
    "read": "xcurves.readers.read for logs and tables, xcurves.archive.read for archives",
    "write": "xcurves.archive.write",
}


def methods_of(type_name: str) -> list[str]:
    """Return the names of the functions that are methods of `.curves` of objects of a type."""
    return sorted(name for name, public in (KINDS | FUNCTIONS).items() if type_name in public.objects)
