"""Claims of the tests that shuffle whole curves, of all their levels together."""

from __future__ import annotations

from functools import partial

import xcurves
from calibration.claims import EXACT, Claim, Simulation, fails, near
from experiments import studies

RESAMPLES = 199  # 200 with the observed one: a p of exactly .05 exists
BLOCK = 50  # few data sets share reassignments where these are few: their counts would vary more than binomial ones
MAIN, SHAPE = 10.0, 5.0
EFFECTS, TERMS = ("algorithm", "interaction"), ("pooled", "split_plot")
simulated = studies.autoregressive


def anova(data, *, rows, n_resamples=RESAMPLES, paired=False, rng=None):
    """The randomized ANOVA's p of the rows "effect, error term"."""
    p = xcurves.randomized_anova(data, n_resamples=n_resamples, paired=paired, rng=rng).pvalue
    return {row: p.sel(dict(zip(("effect", "error_term"), row.split(", "), strict=True)), drop=True) for row in rows}


def by_rank(data, *, rng=None):
    """The paper's p, by the rank of the closest null value."""
    p = xcurves.randomized_anova(data, n_resamples=RESAMPLES, keep_null=True, rng=rng).pvalue_rank
    return {row: p.sel(dict(zip(("effect", "error_term"), row.split(", "), strict=True)), drop=True) for row in ALL}


def conventional(data, *, rng=None):
    """The F distribution's p: both terms of both effects."""
    p = xcurves.randomized_anova(data, n_resamples=1, rng=rng).pvalue_parametric
    return {
        f"{effect}, {term}": p.sel(effect=effect, error_term=term, drop=True) for effect in EFFECTS for term in TERMS
    }


def _anova(setting, generator, claims, **options):
    return Simulation(
        "Randomized ANOVA",
        setting,
        generator,
        partial(anova, rows=list(claims), **options),
        claims,
        short=2_000,
    )


ALL = {f"{effect}, {term}": EXACT for effect in EFFECTS for term in TERMS}
SPLIT_PLOT = {f"{effect}, split_plot": EXACT for effect in EFFECTS}


def real(name, variable, n_runs):
    """A generator that deals the real curves of one algorithm to two."""
    curves = xcurves.tutorial.open_dataset(name)[variable].isel(algorithm=[0])
    return partial(studies.resampled, curves=curves, n_runs=n_runs, shuffled=True)


def modified_and_shuffled(case, factor):
    """The conference paper's Section 5.1: curves and modified curves in one pool."""
    curves = xcurves.tutorial.open_dataset("chess")["accuracy"].isel(algorithm=[0])
    return partial(
        studies.resampled,
        curves=curves,
        n_runs=20,
        modification=case,
        factor=factor,
        shuffled=True,
    )


ANOVAS = [
    _anova("no effect, 10 v 10", partial(simulated, n_runs=10), ALL),
    _anova("no effect, 15 v 5", partial(simulated, n_runs=(15, 5)), ALL),
    _anova("no effect, random walks", partial(simulated, correlation=1, offset=0), ALL),
    _anova("no effect, 6 v 6 v 6", partial(simulated, n_runs=6, n_algorithms=3), ALL),
    _anova(
        "no effect, 5 v 5, all 126 assignments: 6/126 is the level",
        partial(simulated, n_runs=5),
        dict.fromkeys(ALL, Claim(6 / 126, 6 / 126)),
        n_resamples=None,
    ),
    *(
        _anova(f"{name}, shuffled", real(name, variable, n), ALL)
        for name, variable, n in (
            ("chess", "accuracy", 10),
            ("endgame", "accuracy", 10),
            ("tictactoe_100", "score", 10),
        )
    ),
    _anova("chess and M_b of it, f = 9, shuffled", modified_and_shuffled("b", 9), ALL),
    *(
        _anova(
            f"a real algorithm effect, {sizes[0]} v {sizes[1]}",
            partial(simulated, n_runs=sizes, algorithm_effect=MAIN),
            {"interaction, split_plot": EXACT, "interaction, pooled": fails(0.5)},
        )
        for sizes in ((10, 10), (15, 5), (5, 15))
    ),
    *(
        _anova(
            f"a real interaction, {sizes[0]} v {sizes[1]}",
            partial(simulated, n_runs=sizes, interaction_effect=SHAPE),
            {"algorithm, split_plot": EXACT, "algorithm, pooled": fails(0.06)},
        )
        for sizes in ((10, 10), (15, 5), (5, 15))
    ),
    _anova(
        "no effect, 8 matched runs",
        partial(simulated, n_runs=8, shared=4),
        SPLIT_PLOT,
        paired=True,
    ),
    _anova(
        "no effect, 8 matched runs, pooled",
        partial(simulated, n_runs=8, shared=4),
        {f"{effect}, pooled": EXACT for effect in EFFECTS},
        paired=True,
    ),
    _anova(
        "a real algorithm effect, 8 matched runs",
        partial(simulated, n_runs=8, shared=4, algorithm_effect=MAIN),
        {"interaction, split_plot": EXACT, "interaction, pooled": fails(0.1)},
        paired=True,
    ),
    _anova(
        "a real interaction, 8 matched runs",
        partial(simulated, n_runs=8, shared=4, interaction_effect=SHAPE),
        {"algorithm, split_plot": EXACT},
        paired=True,
    ),
    _anova(
        "no effect, spread 1 v 4, 10 v 10",
        partial(simulated, noise=(1, 4)),
        {
            "algorithm, split_plot": near(0.05, 0.08),
            "interaction, split_plot": near(0.05, 0.1),
        },
    ),
    _anova(
        "no effect, spread 1 v 4, 15 v 5",
        partial(simulated, noise=(1, 4), n_runs=(15, 5)),
        {"algorithm, split_plot": fails(0.15), "interaction, split_plot": fails(0.15)},
    ),
    _anova(
        "no effect, spread 1 v 4, 5 v 15",
        partial(simulated, noise=(1, 4), n_runs=(5, 15)),
        {
            "algorithm, split_plot": near(0, 0.02),
            "interaction, split_plot": near(0, 0.02),
        },
    ),
]
RANKS = [
    Simulation(
        "Randomized ANOVA",
        "no effect, 10 v 10, the paper's p by rank",
        partial(simulated, n_runs=10),
        by_rank,
        dict.fromkeys(ALL, near(0.045, 0.06)),
    )
]
CONVENTIONAL = [
    Simulation(
        "Conventional ANOVA",
        "no effect, 10 v 10 (F distribution)",
        partial(simulated, n_runs=10),
        conventional,
        {
            "algorithm, pooled": fails(0.2),
            "algorithm, split_plot": EXACT,
            "interaction, pooled": near(0, 0.03),
            "interaction, split_plot": fails(0.06),
        },
    )
]


def folds_of_one_data_set(n_datasets, *, rng):
    """Folds that share data: algorithms differ from data set to data set by more than folds say."""
    curves = simulated(n_datasets, n_runs=10, rng=rng)
    return curves + rng.normal(scale=1.0, size=(n_datasets, 2, 1, 1))


FOLDS = [
    Simulation(
        "Randomized ANOVA",
        "folds of one data set, for all data sets",
        folds_of_one_data_set,
        partial(anova, rows=["algorithm, split_plot"]),
        {"algorithm, split_plot": fails(0.08)},
    )
]


SIMULATIONS = [*CONVENTIONAL, *ANOVAS, *RANKS, *FOLDS]
