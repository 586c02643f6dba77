"""The kind of results of profiles."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from xcurves.core.applicability import comparable
from xcurves.core.calls import later
from xcurves.core.labels import CI_BOUNDS, EFFECTS
from xcurves.core.provenance import PIATER
from xcurves.core.schema import ALONG, MOST_BANDS, PAIR_COORDS, Drawing, Part, ResultKind, Var, View
from xcurves.say.pairs import ALONG_TRAINING, IN_BAND
from xcurves.say.result_frames import captioned, table_of_variables

if TYPE_CHECKING:
    from xcurves.pictures import pair_curves
    from xcurves.profile import plots, text
else:
    plots, text = later("xcurves.profile", "plots", "text")
    (pair_curves,) = later("xcurves.pictures", "pair_curves")

_BY_LEVEL = ("task", "effect", "training")
_LEVEL = ("task", "training")
_INTERVAL = ("task", "interval")
_PAIR = ("task", "pair", "training")
_SMALL_P = "training level with an adjusted p-value of at most 1 - confidence_level"
_of_level = partial(Var, _LEVEL, when="inference")

SS_PROFILE = ResultKind(
    name="ss_profile",
    question="Where along training do they differ?",
    argument="curves",
    variables={
        "fraction": Var(_BY_LEVEL, "fraction of the sum of squares at the level"),
        "fraction_corrected": _of_level("fraction of the simple sum of squares at the level, less what noise adds"),
        "cumulative_fraction": Var(_BY_LEVEL, "fraction of the sum of squares up to the level"),
        "ss": Var(_BY_LEVEL, "sum of squares at the level", "score^2"),
        "pvalue_adjusted": _of_level("randomization p-value adjusted over levels"),
        "pvalue": _of_level("randomization p-value of the level by itself"),
        "f": _of_level("F ratio of the level"),
        "cluster": _of_level("number of the cluster of levels"),
        "cluster_pvalue": _of_level("randomization p-value of the mass of the cluster"),
        "ss_null_upper": _of_level("critical value of the simple sum of squares at the level by itself", "score^2"),
        "ss_null_upper_simultaneous": _of_level(
            "critical value of the simple sum of squares at all levels together", "score^2"
        ),
        "first_significant": Var(("task",), f"first {_SMALL_P}", "training", when="inference"),
        "last_significant": Var(("task",), f"last {_SMALL_P}", "training", when="inference"),
        "interval_fraction": Var(
            ("task", "effect", "interval"), "fraction of the sum of squares in the interval", when="intervals"
        ),
        "interval_pvalue": Var(
            _INTERVAL, "randomization p-value of the simple sum of squares in the interval", when="interval tests"
        ),
        "interval_pvalue_adjusted": Var(
            _INTERVAL, "randomization p-value adjusted over intervals", when="interval tests"
        ),
        "curve_difference": Var(_PAIR, "difference of mean scores", "score", when="few pairs"),
        "curve_difference_band": Var(
            (*_PAIR, "ci_bound"), "band of the difference for all pairs and levels together", "score", when="few pairs"
        ),
        "equivalent": Var(_LEVEL, "1 where every pairwise difference is shown to be within the margin", when="margin"),
        "n_runs": Var(("task", "algorithm"), "number of runs", dtype=np.int64, coord=True),
        "n_resamples": Var(("task",), "number of reassignments evaluated", dtype=np.int64, coord=True),
        "n_assignments": Var(("task",), "number of distinct assignments", coord=True),
    },
    coords={
        "effect": ("simple", *EFFECTS),
        "interval": (),
        "pair": (),
        "ci_bound": CI_BOUNDS,
        **PAIR_COORDS,
        "interval_left": Var(("interval",), "left end of the interval", "training"),
        "interval_right": Var(("interval",), "right end of the interval", "training"),
    },
    rows=("effect", "training"),
    references=(
        *PIATER,
        "Westfall & Young (1993), Resampling-Based Multiple Testing, Wiley",
        "Maris & Oostenveld (2007), J. Neurosci. Methods 164, 177-190, doi:10.1016/j.jneumeth.2007.03.024",
    ),
    method=(
        "The levels of training at which algorithms differ were found from the simple sums of squares of the split-"
        "plot analysis of variance, with p-values from reassigning whole runs, adjusted over levels by the maximum of "
        "the shuffled statistics.",
        "whole runs",
    ),
    table=captioned(
        text.profile_table,
        "Training levels: simple sum of squares, the fraction that it is of the whole, cumulative and corrected for "
        "noise, F, p of the level by itself and adjusted over levels, and which are equivalent within the margin.",
    ),
    statements=text.profile_statements,
    part=Part(
        2,
        partial(comparable, least_levels=2, few_tasks=True),
        ("n_resamples", "paired", "progress"),
        select_asked=partial(comparable, least_levels=2),
        along=True,
        digest=captioned(
            table_of_variables(
                {"first level that differs": "first_significant", "last level that differs": "last_significant"}
            ),
            "First and last training level at which the curves are shown to differ, adjusted over levels; a row for "
            "each task.",
        ),
    ),
    views={
        "curve_difference": View(
            Drawing(
                picture=pair_curves.differences_along_training,
                suits=pair_curves.suits_along_training,
                options=ALONG,
            ),
            {"": ALONG_TRAINING, "band": f"The band holds for all pairs and levels together: {IN_BAND}"},
            panels={"pair": MOST_BANDS},
        ),
        "fraction": View(
            Drawing(picture=plots.fraction, options=frozenset({"xscale"})),
            {
                "": "Share of each training level in the observed difference.",
                "chance": "Grey is what chance gives.",
                "bars": "A bar at the bottom marks levels that differ.",
            },
            many=View(
                Drawing(picture=plots.fraction_of_tasks),
                {
                    "": "Share of each training level in the observed difference, a row of cells for each task.",
                    "bold": "A dot marks levels that differ.",
                },
            ),
        ),
        "cumulative": View(
            Drawing(picture=plots.cumulative, options=frozenset({"xscale"})),
            "Cumulative shares of the three profiles: simple, algorithm and interaction.",
            many=View(
                Drawing(picture=plots.cumulative_of_tasks),
                "Cumulative share of the simple profile, a row of cells for each task.",
            ),
        ),
    },
)
