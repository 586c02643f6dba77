"""The kind of results of a gate."""

from __future__ import annotations

import numpy as np

from xcurves.core.labels import CI_BOUNDS
from xcurves.core.schema import Drawing, ResultKind, Var, View, captioned
from xcurves.gating import plots, text

_EACH = ("candidate",)

GATE = ResultKind(
    name="gate",
    question="Is the candidate kept?",
    argument="scores",
    variables={
        "decision": Var(_EACH, "decision about the candidate", dtype=np.int8),
        "difference": Var(
            _EACH, "difference of mean scores, candidate minus champion", "score"
        ),
        "difference_ci": Var(
            (*_EACH, "ci_bound"),
            "interval of the difference, at the last look",
            "score",
        ),
        "pvalue": Var(
            _EACH, "one-sided p-value of a better candidate, at the last look"
        ),
        "n_runs": Var(
            _EACH, "number of runs of the candidate that were compared", dtype=np.int64
        ),
        "n_runs_champion": Var(
            _EACH, "number of runs of the champion that were compared", dtype=np.int64
        ),
        "runs_to_make": Var(_EACH, "runs to make of the candidate", dtype=np.int64),
        "runs_to_make_champion": Var(
            _EACH, "runs to make of the champion", dtype=np.int64
        ),
        "n_failed": Var(
            _EACH,
            "failed runs of the champion, made to run it again, that were passed over",
            dtype=np.int64,
        ),
        "champion_mean": Var(
            _EACH, "mean score of the champion's runs that were compared", "score"
        ),
        "same_scores": Var(
            _EACH,
            "1 where candidate and champion have the same scores, else 0",
            dtype=np.int8,
        ),
        "progress": Var(
            (),
            "how much better the present champion is than the first, in runs of the audit",
            "score",
        ),
        "progress_ci": Var(("ci_bound",), "interval of the progress", "score"),
        "champion_moved_pvalue": Var(
            (),
            "p-value of the first half of the present champion's runs of the audit against the rest",
        ),
        "n_runs_audit": Var(
            ("which",), "number of runs that decided nothing", dtype=np.int64
        ),
        "audit_mean": Var(
            ("which",), "mean score of the runs that decided nothing", "score"
        ),
        "audit_mean_ci": Var(
            ("which", "ci_bound"), "interval of the mean of the audit", "score"
        ),
        "run_digest": Var(
            ("algorithm", "run"),
            "changes with the scores of a run",
            dtype=np.int64,
            when="past",
        ),
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
        text.gate_table,
        "Candidates in their order: the decision, the champion that each met, the runs of both that were compared, "
        "the difference of means (of a kept candidate too large on average) with its interval, p, and runs to make.",
    ),
    statements=text.gate_statements,
    views={
        "record": View(
            Drawing(plots.draw_record),
            {
                "": "Mean scores of the candidates in their order: those that were kept are joined, with the runs that "
                "they were kept for (selected: too high on average); small dots were not kept.",
                "band": "Diamonds with bands: the first and the present champion, in runs that decided nothing.",
            },
        )
    },
)
