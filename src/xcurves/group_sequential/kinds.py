"""The kind of results of group-sequential tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from xcurves.core.applicability import NotApplicableError, comparable
from xcurves.core.labels import CI_BOUNDS
from xcurves.core.schema import (
    PAIR_COORDS,
    Drawing,
    Part,
    ResultKind,
    Var,
    View,
    captioned,
)
from xcurves.group_sequential import plots, text

_BY_LOOK = ("task", "pair", "look")
_INTERVAL = (*_BY_LOOK, "ci_bound")


def planned_looks(
    curves: xr.DataArray,
) -> tuple[xr.DataArray, dict[str, Any], dict[str, str]]:
    """Return the curves of the tasks that can be compared, if `assign_looks` says how many looks are planned."""
    if "look" not in curves.coords:
        raise NotApplicableError("runs have no coordinate look", obvious=True)
    if "n_looks" not in curves["look"].attrs:
        raise NotApplicableError(
            "the coordinate look does not say how many looks are planned: assign_looks(..., n_looks=6)",
            expected=True,
        )
    taken, _, attrs = comparable(curves)
    return taken, {"n_looks": int(curves["look"].attrs["n_looks"])}, attrs


SEQUENTIAL = ResultKind(
    name="sequential",
    question="Are there enough runs?",
    argument="curves",
    variables={
        "undecided": Var(
            ("task", "pair"), "1 where more runs are needed, else 0", dtype=np.int64
        ),
        "pvalue_adjusted": Var(_BY_LOOK, "sequential p-value adjusted over pairs"),
        "pvalue": Var(_BY_LOOK, "sequential p-value"),
        "rejected": Var(
            _BY_LOOK,
            "1 where the algorithms are shown to differ by this look, else 0",
            dtype=np.int64,
        ),
        "statistic": Var(_BY_LOOK, "studentized difference of means within batches"),
        "critical_value": Var(
            _BY_LOOK, "statistic from which a pair by itself is rejected at this look"
        ),
        "pvalue_stagewise": Var(
            _BY_LOOK, "stagewise p-value, at the first rejection or the last look"
        ),
        "difference": Var(_BY_LOOK, "difference of mean scores", "score"),
        "difference_ci_simultaneous": Var(
            _INTERVAL,
            "repeated interval of the difference, for all pairs together",
            "score",
            when="intervals",
        ),
        "difference_ci": Var(
            _INTERVAL,
            "repeated interval of the difference, by itself",
            "score",
            when="intervals",
        ),
        "chance": Var(
            _BY_LOOK,
            "share of cases in which looks left show it, as uncertain as it is now",
            when="intervals",
        ),
        "chance_at_ci": Var(
            _INTERVAL,
            "that share if the difference is at an end of its interval",
            when="intervals",
        ),
        "futile": Var(
            _BY_LOOK,
            "1 where the looks left are unlikely to show it, else 0",
            dtype=np.int64,
            when="intervals",
        ),
        "n_runs": Var(("task", "algorithm", "look"), "number of runs so far"),
        "n_runs_next": Var(
            ("task", "algorithm"),
            "runs in the next batch, as in the latest; 0 if all is decided",
        ),
        "n_assignments": Var(_BY_LOOK, "number of nested assignments evaluated"),
        "run_digest": Var(
            ("algorithm", "run"),
            "changes with the scores and the look of a run",
            dtype=np.int64,
            when="past",
        ),
    },
    coords={"pair": (), "look": (), "ci_bound": CI_BOUNDS, **PAIR_COORDS},
    rows=("pair", "look"),
    part=Part("sequential", 7, planned_looks),
    references=(
        "Kim & DeMets (1987), Design and analysis of group sequential tests based on the type I error spending rate "
        "function, Biometrika 74, 149-154, doi:10.1093/biomet/74.1.149",
        "Liu & Anderson (2008), On adaptive extensions of group sequential trials for clinical investigations, "
        "J. Am. Stat. Assoc. 103, 1621-1630",
        "Holm (1979), A simple sequentially rejective multiple test procedure, Scand. J. Statist. 6, 65-70",
        "Ye, Li, Liu & Yao (2013), A group sequential Holm procedure with multiple primary endpoints, Stat. Med. 32, "
        "1112-1124",
        "Maurer & Bretz (2013), Multiple testing in group sequential trials using graphical approaches, Stat. "
        "Biopharm. Res. 5, 311-320, doi:10.1080/19466315.2013.807748",
    ),
    method=(
        "Algorithms were compared after each of {n_looks} planned batches of runs by a group sequential "
        "randomization test of every pair, with {spending} error spending and Holm's procedure over pairs at every "
        "look.",
        "whole runs",
    ),
    table=captioned(
        text.sequential_table,
        "Pairs of algorithms at the latest look, the better first: the difference with its repeated interval for all "
        "pairs together, p adjusted over pairs, the look at which they were shown to differ, and in which share of "
        "cases the looks left show it (the difference as uncertain as it is now).",
    ),
    statements=text.sequential_statements,
    views={
        "boundary": View(
            Drawing(plots.draw_boundary, title=plots.one_pair),
            "The statistic of every pair at each look (dots) with the boundary of a pair by itself (dashed; arrows: "
            "nothing can be rejected yet). A filled star marks the look at which the pair was decided.",
            many=View(
                Drawing(
                    plots.draw_states,
                    rows=plots.state_rows,
                    columns=plots.state_columns,
                ),
                "The look at which each pair was shown to differ; pairs without a number are not yet.",
            ),
            panels={"pair": 1},
        )
    },
)
