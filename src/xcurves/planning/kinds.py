"""The kind of result of a plan.

The variables have the dims of the p-value of the test; listed are those of `randomized_anova`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.core.calls import later
from xcurves.core.labels import CI_BOUNDS
from xcurves.core.provenance import PIATER
from xcurves.core.schema import Drawing, ResultKind, Var, View
from xcurves.say.result_frames import captioned, columns_of_variables, frame_of

if TYPE_CHECKING:
    from xcurves.planning import plots, text
else:
    plots, text = later("xcurves.planning", "plots", "text")

REFERENCES = (*PIATER, "Clopper & Pearson (1934), Biometrika 26, 404-413, doi:10.1093/biomet/26.4.404")
EFRON_1979 = "Efron (1979), Ann. Stat. 7, 1-26, doi:10.1214/aos/1176344552"
_OF_PVALUE = ("task", "effect", "error_term")
_COORDS: dict[str, tuple[str, ...]] = {"effect": (), "error_term": (), "pair": (), "ci_bound": CI_BOUNDS}


def _plan_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each number of runs."""
    result = text.about_effects(result)
    columns = columns_of_variables(result, {"power": "rate"})
    for column, name in (("needed", "runs_needed"), ("assured", "runs_needed_assured")):
        columns[column] = result[name].expand_dims(n_runs=result["n_runs"])
    if "expected_runs" in result:
        columns["expected runs"] = result["expected_runs"].broadcast_like(result["rate"])
    return frame_of(columns, ("n_runs",))


RUNS_NEEDED = ResultKind(
    name="runs_needed",
    question="How many runs does it take?",
    argument="curves",
    variables={
        "runs_needed": Var(_OF_PVALUE, "runs per algorithm for the power wanted"),
        "runs_needed_assured": Var(_OF_PVALUE, "runs per algorithm that reach the power with assurance 0.8"),
        "runs_needed_ci": Var((*_OF_PVALUE, "ci_bound"), "interval of the runs needed, over pilots"),
        "power_at_many_runs": Var(
            _OF_PVALUE, "power for tasks like these with any number of runs", when="the test across_tasks"
        ),
        "rate": Var((*_OF_PVALUE, "n_runs"), "share of data sets in which the test rejects"),
        "rate_ci": Var((*_OF_PVALUE, "n_runs", "ci_bound"), "exact binomial interval of the rate"),
        "n_replications": Var((*_OF_PVALUE, "n_runs"), "number of data sets with a p-value", dtype=np.int64),
        "expected_runs": Var(
            ("task", "n_runs"),
            "mean number of runs per algorithm until all its pairs are decided",
            when="a test that is looked at several times",
        ),
    },
    coords={**_COORDS, "n_runs": ()},
    rows=("effect", "error_term", "pair", "n_runs"),
    references=(*REFERENCES, EFRON_1979),
    method=(
        "The number of runs per algorithm that gives a power of {power} at the level {alpha} was found by drawing "
        "data sets from pilot curves.",
        "whole pilot runs",
    ),
    table=captioned(
        _plan_table,
        "Power by effect, error term and number of runs per algorithm, its interval (of the draws), the smallest "
        "number tried from which on the power wanted is reached (needed), and that which reaches it with assurance "
        "0.8 (assured).",
    ),
    statements=text.plan_statements,
    views={
        "rate": View(
            Drawing(picture=plots.power),
            "Power against runs per algorithm, with exact intervals; dotted: the power wanted.",
        )
    },
    overlaid=("effect", "error_term", "pair", "n_runs"),
)
