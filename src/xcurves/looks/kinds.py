"""The kinds of results of methods that look again as runs come in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from xcurves.core.applicability import NotApplicableError, comparable
from xcurves.core.calls import later
from xcurves.core.labels import CI_BOUNDS
from xcurves.core.schema import PAIR_COORDS, Comparison, Drawing, Part, ResultKind, Var, View
from xcurves.say.result_frames import captioned

if TYPE_CHECKING:
    from xcurves.looks import for_programs, gate_text, plots, sequential_text
else:
    for_programs, gate_text, plots, sequential_text = later(
        "xcurves.looks", "for_programs", "gate_text", "plots", "sequential_text"
    )

_BY_LOOK = ("task", "pair", "look")
_INTERVAL = (*_BY_LOOK, "ci_bound")


def planned_looks(curves: xr.DataArray) -> tuple[xr.DataArray, dict[str, Any], dict[str, str]]:
    """Return the curves of the tasks that can be compared, if `assign_looks` says how many looks are planned."""
    if "look" not in curves.coords:
        raise NotApplicableError("runs have no coordinate look", obvious=True)
    if "n_looks" not in curves["look"].attrs:
        raise NotApplicableError(
            "the coordinate look does not say how many looks are planned: assign_looks(..., n_looks=6)", expected=True
        )
    taken, _, attrs = comparable(curves)
    return taken, {"n_looks": int(curves["look"].attrs["n_looks"])}, attrs


SEQUENTIAL = ResultKind(
    name="sequential",
    question="What is shown so far, and what is to be run next?",
    argument="curves",
    variables={
        "undecided": Var(("task", "pair"), "1 where more runs are needed, else 0", dtype=np.int64),
        "pvalue_adjusted": Var(_BY_LOOK, "sequential p-value adjusted over pairs"),
        "pvalue": Var(_BY_LOOK, "sequential p-value"),
        "rejected": Var(_BY_LOOK, "1 where the algorithms are shown to differ by this look, else 0", dtype=np.int64),
        "statistic": Var(_BY_LOOK, "studentized difference of means within batches"),
        "critical_value": Var(_BY_LOOK, "statistic from which a pair by itself is rejected at this look"),
        "pvalue_stagewise": Var(_BY_LOOK, "stagewise p-value, at the first rejection or the last look"),
        "difference": Var(_BY_LOOK, "difference of mean scores", "score"),
        "difference_ci_simultaneous": Var(
            _INTERVAL, "repeated interval of the difference, for all pairs together", "score", when="intervals"
        ),
        "difference_ci": Var(_INTERVAL, "repeated interval of the difference, by itself", "score", when="intervals"),
        "chance": Var(
            _BY_LOOK, "share of cases in which looks left show it, as uncertain as it is now", when="intervals"
        ),
        "chance_at_ci": Var(_INTERVAL, "that share if the difference is at an end of its interval", when="intervals"),
        "futile": Var(
            _BY_LOOK, "1 where the looks left are unlikely to show it, else 0", dtype=np.int64, when="intervals"
        ),
        "n_runs": Var(("task", "algorithm", "look"), "number of runs so far"),
        "n_runs_next": Var(("task", "algorithm"), "runs in the next batch, as in the latest; 0 if all is decided"),
        "n_assignments": Var(_BY_LOOK, "number of nested assignments evaluated"),
        "run_digest": Var(
            ("algorithm", "run"), "changes with the scores and the look of a run", dtype=np.int64, when="past"
        ),
    },
    coords={"pair": (), "look": (), "ci_bound": CI_BOUNDS, **PAIR_COORDS},
    rows=("pair", "look"),
    part=Part(7, planned_looks),
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
    comparison=Comparison(
        estimate="difference",
        interval="difference_ci_simultaneous",
        p="pvalue_adjusted",
        noun=sequential_text.mean_score,
        pair=sequential_text.at_latest_look,
        reasons="runs are missing",
        more=sequential_text.more_of_looks,
        caption="Pairs of algorithms at the latest look, {order}: the difference with its repeated interval for all "
        "pairs together, p adjusted over pairs, the look at which they were decided, as shown to differ, the "
        "statistic T with its boundary, which are undecided, and the chance that the looks left show it (the "
        "difference as uncertain as it is now).",
        columns=sequential_text.columns_of_looks,
    ),
    for_programs=for_programs.of_sequential,
    views={
        "boundary": View(
            Drawing(picture=plots.boundary, title=plots.one_pair),
            "The statistic of every pair at each look (dots) with the boundary of a pair by itself (dashed; arrows: "
            "nothing can be rejected yet). A filled star marks the look at which the pair was decided.",
            many=View(
                Drawing(picture=plots.states),
                "The look at which each pair was shown to differ; pairs without a number are not yet.",
            ),
            panels={"pair": 1},
        )
    },
)

_EACH = ("candidate",)

GATE = ResultKind(
    name="gate",
    question="Is the candidate kept?",
    argument="scores",
    variables={
        "decision": Var(_EACH, "decision about the candidate", dtype=np.int8),
        "difference": Var(_EACH, "difference of mean scores, candidate minus champion", "score"),
        "difference_ci": Var((*_EACH, "ci_bound"), "interval of the difference, at the last look", "score"),
        "pvalue": Var(_EACH, "one-sided p-value of a better candidate, at the last look"),
        "n_runs": Var(_EACH, "number of runs of the candidate that were compared", dtype=np.int64),
        "n_runs_champion": Var(_EACH, "number of runs of the champion that were compared", dtype=np.int64),
        "runs_to_make": Var(_EACH, "runs to make of the candidate", dtype=np.int64),
        "runs_to_make_champion": Var(_EACH, "runs to make of the champion", dtype=np.int64),
        "n_failed": Var(
            _EACH, "failed runs of the champion, made to run it again, that were passed over", dtype=np.int64
        ),
        "champion_mean": Var(_EACH, "mean score of the champion's runs that were compared", "score"),
        "same_scores": Var(_EACH, "1 where candidate and champion have the same scores, else 0", dtype=np.int8),
        "progress": Var((), "how much better the present champion is than the first, in runs of the audit", "score"),
        "progress_ci": Var(("ci_bound",), "interval of the progress", "score"),
        "champion_moved_pvalue": Var(
            (), "p-value of the first half of the present champion's runs of the audit against the rest"
        ),
        "n_runs_audit": Var(("which",), "number of runs that decided nothing", dtype=np.int64),
        "audit_mean": Var(("which",), "mean score of the runs that decided nothing", "score"),
        "audit_mean_ci": Var(("which", "ci_bound"), "interval of the mean of the audit", "score"),
        "run_digest": Var(("algorithm", "run"), "changes with the scores of a run", dtype=np.int64, when="past"),
    },
    coords={
        "candidate": (),
        "which": ("first", "present"),
        "ci_bound": CI_BOUNDS,
        "champion": Var(_EACH, "champion that the candidate met"),
    },
    rows=("candidate",),
    core=("algorithm", "run"),
    references=(
        "Maron & Moore (1994), Hoeffding races: accelerating model selection search for classification and function "
        "approximation, Advances in Neural Information Processing Systems (NeurIPS) 6, 59-66",
        "López-Ibáñez et al. (2016), The irace package: iterated racing "
        "for automatic algorithm configuration, Operations Research Perspectives 3, 43-58, "
        "doi:10.1016/j.orp.2016.09.002",
        "Janssen (1997), Studentized permutation tests for non-i.i.d. hypotheses and the generalized Behrens-Fisher "
        "problem, Statistics & Probability Letters 36, 9-21, doi:10.1016/S0167-7152(97)00043-6",
    ),
    method=(
        "Candidates were compared one after the other with the champion so far, after {looks} runs: dropped where the "
        "mean was not better, kept where a one-sided studentized permutation test at the last look had p of at most "
        "{level}.",
        "whole runs",
    ),
    table=captioned(
        gate_text.gate_table,
        "Candidates in their order: the decision, the champion that each met, the runs of both that were compared, "
        "the difference of means (of a kept candidate too large on average) with its interval, p, and runs to make.",
    ),
    comparison=Comparison(
        estimate="difference",
        interval="difference_ci",
        p="pvalue",
        noun=lambda _: "mean score",
        pair=gate_text.as_pairs,
    ),
    statements=gate_text.gate_statements,
    for_programs=for_programs.of_gate,
    views={
        "record": View(
            Drawing(picture=plots.record),
            {
                "": "Mean scores of the candidates in their order: those that were kept are joined, with the runs that "
                "they were kept for (selected: too high on average); small dots were not kept.",
                "band": "Diamonds with bands: the first and the present champion, in runs that decided nothing.",
            },
        )
    },
)
