"""The kind of results of profiles."""

from __future__ import annotations

from functools import partial

import numpy as np

from xcurves.core.applicability import comparable
from xcurves.core.labels import EFFECTS
from xcurves.core.provenance import PIATER
from xcurves.core.schema import Part, ResultKind, Var, View
from xcurves.profile import plots, tables, text

_BY_LEVEL = ("task", "effect", "training")
_LEVEL = ("task", "training")
_INTERVAL = ("task", "interval")
_LEVEL_OF_SMALL_P = "training level with an adjusted p-value of at most 1 - confidence_level"

SS_PROFILE = ResultKind(
    name="ss_profile",
    question="Where along training do they differ?",
    argument="curves",
    variables={
        "fraction": Var(_BY_LEVEL, "fraction of the sum of squares at the level"),
        "fraction_corrected": Var(
            ("task", "training"),
            "fraction of the simple sum of squares at the level, less what noise adds",
            when="inference",
        ),
        "cumulative_fraction": Var(_BY_LEVEL, "fraction of the sum of squares up to the level"),
        "ss": Var(_BY_LEVEL, "sum of squares at the level", "score^2"),
        "pvalue_adjusted": Var(_LEVEL, "randomization p-value adjusted over levels", when="inference"),
        "pvalue": Var(_LEVEL, "randomization p-value of the level by itself", when="inference"),
        "f": Var(_LEVEL, "F ratio of the level", when="inference"),
        "cluster": Var(_LEVEL, "number of the cluster of levels", when="inference"),
        "cluster_pvalue": Var(_LEVEL, "randomization p-value of the mass of the cluster", when="inference"),
        "ss_null_upper": Var(
            _LEVEL, "critical value of the simple sum of squares at the level by itself", "score^2", when="inference"
        ),
        "ss_null_upper_simultaneous": Var(
            _LEVEL, "critical value of the simple sum of squares at all levels together", "score^2", when="inference"
        ),
        "first_significant": Var(("task",), f"first {_LEVEL_OF_SMALL_P}", "training", when="inference"),
        "last_significant": Var(("task",), f"last {_LEVEL_OF_SMALL_P}", "training", when="inference"),
        "interval_fraction": Var(
            ("task", "effect", "interval"), "fraction of the sum of squares in the interval", when="intervals"
        ),
        "interval_pvalue": Var(
            _INTERVAL, "randomization p-value of the simple sum of squares in the interval", when="interval tests"
        ),
        "interval_pvalue_adjusted": Var(
            _INTERVAL, "randomization p-value adjusted over intervals", when="interval tests"
        ),
        "equivalent": Var(_LEVEL, "1 where every pairwise difference is shown to be within the margin", when="margin"),
        "n_runs": Var(("task", "algorithm"), "number of runs", dtype=np.int64),
        "n_resamples": Var(("task",), "number of reassignments evaluated", dtype=np.int64),
        "n_assignments": Var(("task",), "number of distinct assignments"),
    },
    coords={"effect": ("simple", *EFFECTS), "interval": ()},
    coord_vars={
        "interval_left": Var(("interval",), "left end of the interval", "training"),
        "interval_right": Var(("interval",), "right end of the interval", "training"),
    },
    rows=("effect", "training"),
    references=(
        *PIATER,
        "Westfall & Young (1993), Resampling-Based Multiple Testing, Wiley",
        "Maris & Oostenveld (2007), J. Neurosci. Methods 164, 177-190, doi:10.1016/j.jneumeth.2007.03.024",
    ),
    method="The levels of training at which algorithms differ were found from the simple sums of squares of the split-"
    "plot analysis of variance, with p-values from reassigning whole runs, adjusted over levels by the maximum of "
    "the shuffled statistics.",
    unit="whole runs",
    table=tables.profile_table,
    table_caption="Training levels: simple sum of squares, its share of the whole and the cumulative share, F, p of "
    "the level by itself and adjusted over levels.",
    sentences=text.profile_sentences,
    answer=text.profile_answer,
    caution=text.profile_caution,
    digest=tables.profile_digest,
    part=Part("profile", 2, partial(comparable, least_levels=2), ("n_resamples", "paired", "progress"), opens=True),
    views={
        "fraction": View(
            plots.draw_fraction,
            "Share of each training level in the observed difference; grey is what chance gives, and a bar at the "
            "bottom marks levels that differ.",
            plots.say_fraction,
            many=View(
                plots.draw_fraction_of_tasks,
                "Share of each training level in the observed difference, a row of cells for each task; a dot marks "
                "levels that differ.",
                plots.say_fraction_of_tasks,
                rows=plots.n_rows,
                columns=plots.n_levels,
            ),
        ),
        "cumulative": View(
            plots.draw_cumulative,
            "Cumulative shares of the three profiles: simple, algorithm and interaction.",
            plots.say_cumulative,
            many=View(
                plots.draw_cumulative_of_tasks,
                "Cumulative share of the simple profile, a row of cells for each task.",
                plots.say_cumulative_of_tasks,
                rows=plots.n_rows,
                columns=plots.n_levels,
            ),
        ),
    },
)
