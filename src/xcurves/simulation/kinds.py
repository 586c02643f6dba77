"""The kinds of results of simulations.

The variables have the dims of the p-value of the test; listed are those of `randomized_anova`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import xarray as xr

from xcurves.core.labels import CI_BOUNDS
from xcurves.core.provenance import PIATER
from xcurves.core.schema import ResultKind, Var, View, captioned
from xcurves.core.tables import bounds, frame_of
from xcurves.simulation import plots, text

REFERENCES = (
    *PIATER,
    "Clopper & Pearson (1934), Biometrika 26, 404-413, doi:10.1093/biomet/26.4.404",
)
EFRON_1979 = "Efron (1979), Ann. Stat. 7, 1-26, doi:10.1214/aos/1176344552"
_OF_PVALUE = ("task", "effect", "error_term")
_COORDS: dict[str, tuple[str, ...]] = {
    "effect": (),
    "error_term": (),
    "pair": (),
    "ci_bound": CI_BOUNDS,
}


def _rates(*over: str) -> dict[str, Var]:
    """Return the variables that a study has for each p-value, and perhaps over further dims."""
    dims, looks = (*_OF_PVALUE, *over), "a test that is looked at several times"
    return {
        "rate": Var(dims, "share of data sets in which the test rejects"),
        "rate_ci": Var((*dims, "ci_bound"), "exact binomial interval of the rate"),
        "n_replications": Var(
            dims, "number of data sets with a p-value", dtype=np.int64
        ),
        "expected_runs": Var(
            ("task", *over),
            "mean number of runs per algorithm until all its pairs are decided",
            when=looks,
        ),
    }


def _rate_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each setting and p-value."""
    return _table(
        result,
        {
            "rate": result["rate"],
            **bounds(result["rate_ci"]),
            "n": result["n_replications"],
        },
    )


def _plan_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each number of runs."""
    columns = {"power": result["rate"], **bounds(result["rate_ci"])}
    for column, name in (("needed", "runs_needed"), ("assured", "runs_needed_assured")):
        columns[column] = result[name].expand_dims(n_runs=result["n_runs"])
    return _table(result, columns, "n_runs")


def _table(
    result: xr.Dataset, columns: dict[str, xr.DataArray], *last: str
) -> pd.DataFrame:
    """Join columns, and that of a test that is looked at several times."""
    if "expected_runs" in result:
        columns["expected runs"] = result["expected_runs"].broadcast_like(
            result["rate"]
        )
    return frame_of(columns, last)


TYPE_I_ERROR = ResultKind(
    name="type_i_error",
    question="How often does the test reject a true null hypothesis?",
    argument="generator",
    variables=_rates(),
    coords=_COORDS,
    rows=("effect", "error_term", "pair"),
    core=(),
    references=REFERENCES,
    method=(
        "The share of simulated data sets without a difference in which the test rejects at the level {alpha} was "
        "measured, with exact binomial intervals.",
        "simulated data sets",
    ),
    table=captioned(
        _rate_table,
        "Share of data sets in which the test rejects, its interval, and the number n of data sets.",
    ),
    statements=text.level_statements,
    views={
        "rate": View(
            plots.draw_rates,
            "Share of data sets in which the test rejects a true null hypothesis, with exact intervals; dotted: the "
            "nominal level.",
        )
    },
    overlaid=plots.overlaid,
)

POWER = replace(
    TYPE_I_ERROR,
    name="power",
    question="How often does the test detect the difference?",
    method=(
        TYPE_I_ERROR.method[0].replace("without a difference", "with a difference"),
        TYPE_I_ERROR.method[1],
    ),
    statements=text.power_statements,
    views={
        "rate": View(
            plots.draw_rates,
            "Share of data sets in which the test detects the difference, with exact intervals; dotted: the nominal "
            "level.",
        )
    },
)

RUNS_NEEDED = ResultKind(
    name="runs_needed",
    question="How many runs does it take?",
    argument="curves",
    variables={
        "runs_needed": Var(_OF_PVALUE, "runs per algorithm for the power wanted"),
        "runs_needed_assured": Var(
            _OF_PVALUE, "runs per algorithm that reach the power with assurance 0.8"
        ),
        "runs_needed_ci": Var(
            (*_OF_PVALUE, "ci_bound"), "interval of the runs needed, over pilots"
        ),
        "power_at_many_runs": Var(
            _OF_PVALUE,
            "power for tasks like these with any number of runs",
            when="the test across_tasks",
        ),
        **_rates("n_runs"),
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
        "Power by number of runs per algorithm, its interval (of the draws), the smallest number tried from "
        "which on the power wanted is reached, and the number that reaches it with assurance 0.8.",
    ),
    statements=text.plan_statements,
    views={
        "rate": View(
            plots.draw_rates,
            "Power against runs per algorithm, with exact intervals; dotted: the power wanted.",
        )
    },
    overlaid=plots.overlaid,
)
