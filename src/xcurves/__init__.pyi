"""Compare machine-learning algorithms by their performance curves."""

# Written by tests/tools/stubs.py from public_names.py.
from xcurves import archive as archive
from xcurves import readers as readers
from xcurves import tutorial as tutorial
from xcurves.accessors import register_polars as register_polars
from xcurves.analysis import analyze as analyze
from xcurves.anova.contrast import contrast as contrast
from xcurves.anova.pairwise import pairwise as pairwise
from xcurves.anova.randomized_anova import randomized_anova as randomized_anova
from xcurves.core.known import FIND as FIND
from xcurves.core.refusal import Missing as Missing
from xcurves.core.refusal import Refusal as Refusal
from xcurves.core.refusal import WrongType as WrongType
from xcurves.distributions.compare_distributions import compare_distributions as compare_distributions
from xcurves.distributions.dse import dse as dse
from xcurves.distributions.dse import one_trial as one_trial
from xcurves.distributions.performance_cdf import performance_cdf as performance_cdf
from xcurves.distributions.saved_trials import run_trials as run_trials
from xcurves.distributions.trials import trials_needed as trials_needed
from xcurves.distributions.tuning_curve import tuning_curve as tuning_curve
from xcurves.frames.align import align as align
from xcurves.frames.answers import pass_all as pass_all
from xcurves.frames.answers import pass_at as pass_at
from xcurves.frames.failed import fill_failed as fill_failed
from xcurves.frames.incomplete import drop_incomplete as drop_incomplete
from xcurves.frames.normalize import normalize as normalize
from xcurves.frames.to_curves import to_dataarray as to_dataarray
from xcurves.frames.to_dataset import to_dataset as to_dataset
from xcurves.learning_curves.compare_learners import compare_learners as compare_learners
from xcurves.learning_curves.compare_scaling_laws import compare_scaling_laws as compare_scaling_laws
from xcurves.learning_curves.fit_power_law import fit_power_law as fit_power_law
from xcurves.learning_curves.fit_scaling_law import fit_scaling_law as fit_scaling_law
from xcurves.learning_curves.leave_one_size_out import leave_one_size_out as leave_one_size_out
from xcurves.learning_curves.optimal_allocation import optimal_allocation as optimal_allocation
from xcurves.learning_curves.predict import predict as predict
from xcurves.learning_curves.predict_loss import predict_loss as predict_loss
from xcurves.looks.assign_looks import assign_looks as assign_looks
from xcurves.looks.gate import gate as gate
from xcurves.looks.sequential import sequential as sequential
from xcurves.means.mean_curves import mean_curves as mean_curves
from xcurves.multi_task.across_tasks import across_tasks as across_tasks
from xcurves.multi_task.profile_across_tasks import profile_across_tasks as profile_across_tasks
from xcurves.planning.runs_needed import runs_needed as runs_needed
from xcurves.plotting.benchmark import plot_benchmark as plot_benchmark
from xcurves.plotting.dispatch import plot as plot
from xcurves.plotting.explore import explore as explore
from xcurves.profile.ss_profile import ss_profile as ss_profile
from xcurves.reporting.answer import to_dict as to_dict
from xcurves.reporting.page import report as report
from xcurves.reporting.paper import bibtex as bibtex
from xcurves.reporting.paper import describe_methods as describe_methods
from xcurves.reporting.paper import format_table as format_table
from xcurves.results import summary as summary
from xcurves.results import table as table
from xcurves.results import to_frame as to_frame
from xcurves.target_times.mean_time_to_target import mean_time_to_target as mean_time_to_target
from xcurves.target_times.performance_profile import performance_profile as performance_profile
from xcurves.target_times.speedup import speedup as speedup
from xcurves.target_times.time_to_target import time_to_target as time_to_target

__version__: str
__all__ = [
    "FIND",
    "Missing",
    "Refusal",
    "WrongType",
    "across_tasks",
    "align",
    "analyze",
    "archive",
    "assign_looks",
    "bibtex",
    "compare_distributions",
    "compare_learners",
    "compare_scaling_laws",
    "contrast",
    "describe_methods",
    "drop_incomplete",
    "dse",
    "explore",
    "fill_failed",
    "fit_power_law",
    "fit_scaling_law",
    "format_table",
    "gate",
    "leave_one_size_out",
    "mean_curves",
    "mean_time_to_target",
    "normalize",
    "one_trial",
    "optimal_allocation",
    "pairwise",
    "pass_all",
    "pass_at",
    "performance_cdf",
    "performance_profile",
    "plot",
    "plot_benchmark",
    "predict",
    "predict_loss",
    "profile_across_tasks",
    "randomized_anova",
    "readers",
    "register_polars",
    "report",
    "run_trials",
    "runs_needed",
    "sequential",
    "speedup",
    "ss_profile",
    "summary",
    "table",
    "time_to_target",
    "to_dataarray",
    "to_dataset",
    "to_dict",
    "to_frame",
    "trials_needed",
    "tuning_curve",
    "tutorial",
]
