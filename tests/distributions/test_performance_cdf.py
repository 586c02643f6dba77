import re
import warnings

import dask
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import oracles_distribution as oracles
import xcurves
from layers import slow
from lazy import refuse_to_compute
from places import SHARED
from refusals import refused
from strategies import make_scores
from xcurves.core.refusal import give

SIZES = {"task": 3, "algorithm": 2, "run": 9}


def quiet(scores, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return xcurves.performance_cdf(scores, **{"rng": 0, "n_resamples": 99, "interval": "percentile", **options})


@pytest.fixture
def scores():
    """Three tasks, two algorithms, up to nine runs; ties, and one group without any."""
    values = np.random.default_rng(0).integers(0, 12, tuple(SIZES.values())).astype(float)
    scores = make_scores(values, task=["x", "y", "none"], algorithm=["a", "b"], run=np.arange(9))
    scores.loc[{"task": "none", "algorithm": "b"}] = np.nan
    scores.loc[{"task": "y", "algorithm": "a", "run": [2, 5]}] = np.nan
    return scores


ASKED = {
    "scores_at": [0, 3, 7.5, 20],
    "probabilities": [0.1, 0.3, 0.5, 0.9, 1],
    "cvar_level": [0, 0.5, 0.9],
    "threshold": [4, 6],
    "target": 10,
    "bounds": (0, 12),
}


def test_only_what_was_asked_for_is_there(scores):
    result = xcurves.performance_cdf(scores.isel(task=0))
    assert not {
        "cdf",
        "cdf_ci",
        "cdf_band",
        "prob_above",
        "partial_mean_above",
        "optimality_gap",
    } & set(result)
    np.testing.assert_allclose(result.probability, np.linspace(0.01, 0.99, 99))


@pytest.mark.slow
def test_every_group_has_the_statistics_of_a_loop(scores):
    with pytest.warns(UserWarning, match="task 'none', algorithm 'b': no trial; the result is NaN$"):
        result = xcurves.performance_cdf(scores, **ASKED)
    for task in scores.task.values:
        for algorithm in scores.algorithm.values:
            group = result.sel(task=task, algorithm=algorithm)
            trials = scores.sel(task=task, algorithm=algorithm).dropna("run").values.tolist()
            assert group.n_trials == len(trials)
            if not trials:
                assert all(group[name].isnull().all() for name in group)
                continue
            expected = oracles.statistics(trials, ASKED["cvar_level"], ASKED["threshold"], ASKED["target"])
            found = [
                *(group[name].item() for name in ("score_mean", "score_median", "score_std", "iqm")),
                *group.cvar.values,
                *group.cvar_lower.values,
                *group.partial_mean_above.values,
                *group.prob_above.values,
                group.optimality_gap.item(),
            ]
            np.testing.assert_allclose(found, expected, rtol=1e-12)
            quantiles = [oracles.inverse_cdf(trials, oracles.decimal(p)) for p in ASKED["probabilities"]]
            assert group.score_quantile.values.tolist() == quantiles
            cdf = [np.mean(np.array(trials) <= z) for z in ASKED["scores_at"]]
            np.testing.assert_allclose(group.cdf, cdf)
            for z in ASKED["scores_at"]:
                k = int(np.count_nonzero(np.array(trials) <= z))
                ci = stats.binomtest(k, len(trials)).proportion_ci(method="exact")
                np.testing.assert_allclose(group.cdf_ci.sel(score=z), [ci.low, ci.high], atol=1e-12)
                band = [ends[k] for ends in oracles.band(len(trials), 0.05)]
                np.testing.assert_allclose(group.cdf_band.sel(score=z), band, rtol=1e-7)


def test_intervals_say_what_they_are(scores):
    exact = xcurves.performance_cdf(scores.isel(task=0), **ASKED)
    assert exact.attrs["interval"] == "exact"
    assert "Clopper-Pearson" in exact.cdf_ci.attrs["interval"]
    assert "order statistics" in exact.score_quantile_ci.attrs["interval"]
    assert "equal local levels" in exact.cdf_band.attrs["interval"]
    assert "integral of the band of the CDF" in exact.statistic_ci.attrs["interval"]
    drawn = quiet(scores.isel(task=0), scores_at=[3])
    assert drawn.attrs["interval"] == "percentile"
    assert drawn.attrs["n_resamples"] == 99
    assert "limit of infinitely many resamples" in drawn.cdf_ci.attrs["interval"]
    assert drawn.statistic_ci.attrs["interval"] == "percentile bootstrap"
    assert "cdf_band" not in drawn
    units = quiet(scores, dim=("task", "run"), unit="run", scores_at=[3])
    assert "whole units" in units.cdf_ci.attrs["interval"]
    assert "whole units" in units.statistic_ci.attrs["interval"]


@pytest.mark.slow
def test_several_dims_are_one_pool(scores):
    pooled = xcurves.performance_cdf(scores, dim=("task", "run"), strata=(), **ASKED)
    stacked = scores.stack(trial=("task", "run")).drop_vars(["task", "run", "trial"]).rename(trial="run")
    alone = xcurves.performance_cdf(stacked, **ASKED)
    xr.testing.assert_allclose(pooled.drop_attrs(), alone.drop_attrs())
    assert pooled.n_trials.values.tolist() == [25, 18]
    independent = xcurves.performance_cdf(scores, dim=("task", "run"), unit=("task", "run"), **ASKED)
    xr.testing.assert_equal(independent, pooled)
    assert independent.attrs["unit"] == "task, run"
    drawn = quiet(scores, dim=("task", "run"), unit=("run", "task"))
    xr.testing.assert_equal(drawn, quiet(scores, dim=("task", "run"), strata=()))
    for result in (pooled, independent, drawn):
        assert "all trials along task, run are taken for independent ones" in result.curves.summary()
    assert "taken for independent" not in quiet(scores, dim=("task", "run"), strata="task").curves.summary()


@pytest.mark.filterwarnings("ignore:.*few for a bootstrap", "ignore:.*no trial")
@pytest.mark.parametrize("interval", ["exact", "percentile"])
def test_several_dims_need_strata_or_units_and_both_cures_work(scores, interval):
    options = {
        "interval": interval,
        "rng": 0,
        **({} if interval == "exact" else {"n_resamples": 9}),
    }
    with refused("dim", cure=give(unit=("task", "run"))) as caught:
        xcurves.performance_cdf(scores, dim=("task", "run"), **options)
    said = str(caught.value)
    cures = re.findall(r"((?:strata|unit)=.*?)(?: if|$)", said.split("Give ")[1])
    assert [cure.split("=")[0] for cure in cures] == ["strata", "unit"]
    for cure in cures:
        given = options | eval(f"dict({cure})")
        assert xcurves.performance_cdf(scores, dim=("task", "run"), **given).score_mean.notnull().any()


def test_units_of_several_dims_are_resampled_whole():
    """Units of two dims are those of one dim with all their labels."""
    values = np.random.default_rng(0).normal(size=(6, 7, 3))
    scores = make_scores(values, task=np.arange(6), draw=np.arange(7), run=np.arange(3))
    options = {
        "interval": "percentile",
        "n_resamples": 99,
        "rng": 0,
        "scores_at": [0.0],
    }
    both = xcurves.performance_cdf(scores, dim=("task", "draw", "run"), unit=("task", "draw"), **options)
    flat = make_scores(values.reshape(42, 3), draw=np.arange(42), run=np.arange(3))
    xr.testing.assert_equal(both, xcurves.performance_cdf(flat, dim=("draw", "run"), unit="draw", **options))


def test_lower_is_better_mirrors_the_scores(scores):
    scores = scores.isel(task=0)
    plain = xcurves.performance_cdf(-scores, cvar_level=[0.3, 0.9], threshold=-4, target=-2, bounds=(-12, 0))
    mirror = xcurves.performance_cdf(
        scores,
        cvar_level=[0.3, 0.9],
        threshold=4,
        target=2,
        bounds=(0, 12),
        higher_is_better=False,
    )
    for name in ("score_mean", "score_median", "iqm", "cvar", "cvar_lower"):
        np.testing.assert_allclose(mirror[name], -plain[name])
    for name in ("prob_above", "partial_mean_above"):
        sign = 1 if name == "prob_above" else -1
        np.testing.assert_allclose(mirror[name].squeeze("threshold"), sign * plain[name].squeeze("threshold"))
    np.testing.assert_allclose(mirror.optimality_gap, plain.optimality_gap)
    means = [param for param in plain.param.values if param.startswith(("score_me", "iqm", "cvar"))]
    ci = plain.statistic_ci.sel(param=means)
    np.testing.assert_allclose(mirror.statistic_ci.sel(param=means), -ci.sel(ci_bound=["upper", "lower"]))
    gap = {"param": "optimality_gap"}
    np.testing.assert_allclose(mirror.statistic_ci.sel(gap), plain.statistic_ci.sel(gap))
    assert (mirror.cvar <= mirror.cvar_lower).all()


@pytest.mark.parametrize("options", [{}, {"dim": ("task", "run"), "strata": "task"}])
def test_order_of_runs_changes_nothing(scores, options):
    plain, mixed = (
        quiet(each, scores_at=[3], **options) for each in (scores, scores.isel(run=[4, 1, 0, 2, 8, 3, 5, 7, 6]))
    )
    xr.testing.assert_allclose(plain, mixed)


@pytest.mark.plain(1)
@pytest.mark.parametrize("interval", ["percentile", "bca"])
@pytest.mark.parametrize(
    "design",
    [
        {},
        {"strata": "task"},
        slow({"unit": "run"}),
        slow({"unit": "task"}),
        {"strata": "seed", "unit": "run"},
    ],
)
def test_chunks_and_neighbours_change_no_interval(scores, design, interval):
    more = xr.concat([scores, scores.copy(data=scores.values[::-1] + 0.5)], "seed").fillna(3.0)
    dim = ("run",) if not design else ("run", "task", "seed")
    options = {"dim": dim, "scores_at": [3], "interval": interval, **design}
    whole = quiet(more, **options)
    extra = [name for name in more.dims if name not in dim]
    lazy = more.chunk(dict.fromkeys(extra, 1) | {"run": 2})
    with dask.config.set(scheduler=refuse_to_compute):
        result = xcurves.performance_cdf(lazy, rng=0, n_resamples=99, **options)
    xr.testing.assert_identical(result.compute(scheduler="threads"), whole)
    xr.testing.assert_identical(quiet(more, **options), whole)
    alone = quiet(more.isel(algorithm=[1]), **options)
    xr.testing.assert_identical(alone, whole.isel(algorithm=[1]))
    assert (quiet(more, **options, rng=1).statistic_ci != whole.statistic_ci).any()


def test_errors_in_the_graph_name_the_task(scores):
    scores.loc[{"task": "y", "algorithm": "b", "run": 3}] = np.inf
    lazy = xcurves.performance_cdf(scores.chunk(task=1))
    with refused("scores", cure=give(higher_is_better=False)):
        lazy.compute(scheduler="synchronous")
    cure = "Give bounds that contain all possible scores, or leave them out"
    with refused("curves", cure=cure, names=r"task 'y', algorithm 'b':.*score of 12\."):
        xcurves.performance_cdf(scores.where(~np.isinf(scores), 12), bounds=(0, 11))


def test_few_trials_are_warned_of_once(scores):
    with pytest.warns(UserWarning) as caught:
        xcurves.performance_cdf(scores, interval="percentile", n_resamples=9, rng=0)
    said = [str(warning.message) for warning in caught]
    assert len(said) == 2
    assert said[1].startswith("task 'x', algorithm 'a': 9 trials are few for a bootstrap")
    assert said[1].endswith("(in 5 groups)")


BAD = [
    (
        {"threshold": "high"},
        "threshold must be numbers; got 'high'. Give a number or a list of them",
    ),
    ({"bounds": 3}, "bounds must be two numbers; got 3. Try bounds=(0, 1)"),
    ({"dim": 3.5}, "dim must name dims; got 3.5. Try dim='run'"),
    ({"dim": ("run", 1)}, "dim must name dims; got 1. Try dim='run'"),
    (
        {"tolerance": 90},
        "tolerance must lie between 0 and 1; got 90. Usual: 0.9, nine in ten trials",
    ),
    (
        {"tolerance": 0.9, "interval": "percentile"},
        "interval must be 'exact'; got 'percentile'",
    ),
    (
        {"cvar_level": 1},
        "cvar_level must lie in [0, 1); got 1. 0.9 is the best tenth of trials",
    ),
    (
        {"cvar_level": [0.5, -0.1]},
        "cvar_level must lie in [0, 1); got -0.1. 0.9 is the best tenth of trials",
    ),
    ({"cvar_level": [0.5, 0.2, 0.5]}, "cvar_level names 0.5 twice. Give each once"),
    ({"threshold": [0.5, 0.2, 0.5]}, "threshold names 0.5 twice. Give each once"),
    (
        {"threshold": np.nan},
        "threshold must be finite; got nan. At most 1e+140 in size",
    ),
    (
        {"scores_at": [0, np.inf]},
        "scores_at must be finite; got inf. At most 1e+140 in size",
    ),
    (
        {"probabilities": [0.5, 1.2]},
        "probabilities must lie between 0 and 1; got 1.2. The median is at 0.5",
    ),
    (
        {"target": np.nan},
        "target must be a finite number; got nan. At most 1e+140 in size",
    ),
    (
        {"bounds": (1, 0)},
        "bounds must be a smaller and a larger score; got (1, 0). Try bounds=(0, 1)",
    ),
    (
        {"interval": "exakt"},
        "interval must be 'exact', 'percentile' or 'bca'; got 'exakt'. Did you mean 'exact'?",
    ),
    ({"cvar": "upper"}, "cvar must be 'tail-mean' or 'conditional'; got 'upper'"),
    (
        {"strata": "task", "interval": "percentile"},
        "strata must be of the dims of trials, dim=('run',); got 'task'. Pool it too: dim=('task', 'run'), "
        "strata='task'",
    ),
    (
        {"strata": "run", "interval": "percentile"},
        "strata=('run',) leave nothing to resample of dim=('run',). Leave a dim out",
    ),
    (
        {"unit": "draw", "interval": "bca"},
        "unit must be of the dims of trials, dim=('run',), and no stratum; got 'draw'. Pool it too: "
        "dim=('draw', 'run'), unit='draw'",
    ),
    (
        {"n_resamples": 99},
        "interval='exact' is for independent trials of one distribution and resamples nothing; got n_resamples=99. "
        "Use interval='percentile' or 'bca'",
    ),
    ({"dim": ()}, "dim must name one or more dims, each once; got (). Try dim='run'"),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_bad_options_say_what_to_do(scores, options, message):
    with pytest.raises((TypeError, ValueError)) as caught:
        xcurves.performance_cdf(scores, **options)
    assert str(caught.value) == message


def test_options_that_are_no_numbers_or_names_are_refused(scores):
    ragged = [[1], [1, 2]]
    with refused("threshold", ragged, "Give a number or a list of them", kind=xcurves.WrongType):
        xcurves.performance_cdf(scores, threshold=ragged)
    with refused("interval", names="must be 'exact', 'percentile' or 'bca'"):
        xcurves.performance_cdf(scores, interval=np.ones(2))


def test_trials_needed_is_the_least_number_that_makes_the_band_narrow():
    assert xcurves.trials_needed(0.1) == 738
    for width in (0.03, 0.1, 0.5, 0.9):
        for level in (0.8, 0.99):
            n = xcurves.trials_needed(width, confidence_level=level)
            wide = [2 * np.sqrt(np.log(2 / (1 - level)) / (2 * size)) for size in (n, max(n - 1, 1e-9))]
            assert wide[0] <= width < wide[1]
    for width in (0, 1, "narrow", np.nan):
        with refused("width", width, "Usual: 0.1", names="must lie between 0 and 1"):
            xcurves.trials_needed(width)
    with refused("confidence_level", 2, cure="Usual: 0.95"):
        xcurves.trials_needed(0.1, confidence_level=2)


def test_the_band_is_a_fifth_wider_than_trials_needed_says_in_the_middle_and_half_as_wide_in_the_tails():
    n = xcurves.trials_needed(0.2)
    scores = make_scores(np.arange(n), run=np.arange(n))
    low, high = xcurves.performance_cdf(scores, scores_at=[n / 20, n / 2]).cdf_band.transpose("ci_bound", ...)
    assert (high - low <= [0.13, 0.24]).all()


def strata_scores(*runs):
    """Tasks u, v, ... with so many runs each."""
    values = np.random.default_rng(0).normal(size=(len(runs), max(runs)))
    scores = make_scores(values, task=list("uvwxyz"[: len(runs)]), run=np.arange(max(runs)))
    return scores.where(scores.run < xr.DataArray(list(runs), dims="task"))


POOL = {
    "dim": ("task", "run"),
    "strata": "task",
    "interval": "percentile",
    "n_resamples": 19,
    "rng": 0,
}


@pytest.mark.slow
def test_a_stratum_that_an_algorithm_lacks_is_left_out_for_all_and_named():
    scores = xr.concat([strata_scores(20, 20, 20), strata_scores(20, 0, 20)], "algorithm").assign_coords(
        algorithm=["a", "b"]
    )
    with pytest.warns(UserWarning, match="left out for all") as caught:
        result = xcurves.performance_cdf(scores, **POOL, scores_at=[0])
    said = str(caught[0].message)
    assert said.startswith(
        "strata='task': left out for all algorithms: 'v' (no trial of 'b'). To keep them, leave these algorithms out: "
        ".drop_sel(algorithm=['b'])"
    )
    both = quiet(scores.sel(task=["u", "w"]), **POOL, scores_at=[0])
    xr.testing.assert_allclose(result, both, rtol=1e-12)
    np.testing.assert_allclose(result.score_mean, scores.sel(task=["u", "w"]).mean(["task", "run"]))
    assert result.attrs["left_out"] == "'v' (no trial of 'b')"
    summary = result.curves.summary()
    assert "Left out for all algorithms, of task: 'v' (no trial of 'b')." in summary
    lazy = xcurves.performance_cdf(scores.chunk(algorithm=1), **POOL, scores_at=[0])
    xr.testing.assert_identical(lazy.compute().drop_attrs(), result.drop_attrs())

    # the cure: all tasks of the others
    alone = quiet(scores.drop_sel(algorithm=["b"]), **POOL)
    np.testing.assert_allclose(alone.score_mean, [scores.sel(algorithm="a").mean()])
    assert "left_out" not in alone.attrs


def test_no_common_stratum_is_no_result():
    scores = xr.concat([strata_scores(12, 0), strata_scores(0, 12)], "algorithm").assign_coords(algorithm=["a", "b"])
    with pytest.warns(UserWarning) as caught:
        result = xcurves.performance_cdf(scores, **POOL, scores_at=[0])
    assert "'u' (no trial of 'b') and 'v' (no trial of 'a')" in str(caught[0].message)
    assert "no trial; the result is NaN" in str(caught[1].message)
    assert result.score_mean.isnull().all()
    assert result.curves.summary()


def test_an_algorithm_without_any_trial_takes_no_stratum_from_others():
    scores = xr.concat([strata_scores(20, 20), strata_scores(20, 20) * np.nan], "algorithm").assign_coords(
        algorithm=["a", "b"]
    )
    with pytest.warns(UserWarning, match="no trial; the result is NaN"):
        result = xcurves.performance_cdf(scores, **POOL)
    assert result.n_trials.values.tolist() == [40, 0]
    assert "left_out" not in result.attrs


OF_STRATA = {
    "cvar_level": [0.3, 0.9],
    "threshold": [0.0, 0.5],
    "target": 1.0,
    "scores_at": [-1.0, 0.0, 0.5],
    "probabilities": [0, 0.1, 1 / 3, 0.5, 0.75, 1],
}


@pytest.mark.plain(3)
@pytest.mark.parametrize("conditional", [False, True])
@pytest.mark.parametrize("runs", [(4, 12, 6), (1, 2), (1, 5, 3, 7), (2, 4)])
def test_strata_weigh_alike(runs, conditional):
    """Every number is that of a sample in which trials are repeated until all strata are equally long."""
    scores = strata_scores(*runs).round(1)
    strata = [scores[task, :n].values.tolist() for task, n in enumerate(runs)]
    how = "tail-mean"
    if conditional:
        how = "conditional"
    found = quiet(scores, **{**POOL, **OF_STRATA, "cvar": how})
    expected = oracles.statistics_of_strata(strata, [0.3, 0.9], [0.0, 0.5], 1.0, conditional=conditional)
    named = dict(zip(found.param.values.tolist(), expected, strict=True))
    for name in ("score_mean", "score_median", "score_std", "iqm", "optimality_gap"):
        np.testing.assert_allclose(found[name], named[name], atol=1e-12)
    for name in ("cvar", "cvar_lower", "partial_mean_above", "prob_above"):
        of_name = [value for key, value in named.items() if key.split()[0] == name]
        np.testing.assert_allclose(found[name], of_name, atol=1e-12)
    np.testing.assert_allclose(found.score_mean, np.mean([np.mean(s) for s in strata]))

    sample = oracles.repeated(strata)
    np.testing.assert_allclose(found.cdf, [np.mean([z <= at for z in sample]) for at in OF_STRATA["scores_at"]])
    quantiles = [oracles.inverse_cdf(sample, oracles.decimal(p)) for p in OF_STRATA["probabilities"]]
    np.testing.assert_allclose(found.score_quantile, quantiles)
    assert found.strata_unlike == 1
    said = "have unlike numbers of trials and weigh alike; in the IQM trials at the quartiles count in part"
    assert said in found.curves.summary()

    # lower is better: the same numbers of the negative, whose best are the others' best
    lower = {
        **POOL,
        **OF_STRATA,
        "cvar": how,
        "threshold": [-0.0, -0.5],
        "target": -1.0,
        "higher_is_better": False,
    }
    mirrored = quiet(-scores, **lower)
    for name in ("score_mean", "score_median", "iqm", "cvar", "cvar_lower"):
        np.testing.assert_allclose(mirrored[name], -found[name], atol=1e-12)
    for name in ("score_std", "prob_above", "optimality_gap"):
        np.testing.assert_allclose(mirrored[name], found[name], atol=1e-12)


def test_strata_of_equal_size_are_described_as_one_pool(scores):
    """Equal weights change no number, and trials are cut off whole as rliable does."""
    full = scores.fillna(3.0)
    stratified = quiet(full, **{**POOL, **ASKED})
    pooled = quiet(full, dim=("task", "run"), strata=(), **ASKED)
    estimates = [name for name in pooled if not name.endswith("_ci")]
    xr.testing.assert_equal(stratified[estimates].drop_vars(["n_units", "strata_unlike"]), pooled[estimates])
    assert (stratified.strata_unlike == 0).all()
    np.testing.assert_allclose(
        stratified.iqm,
        stats.trim_mean(full.stack(every=["task", "run"]).values, 0.25, axis=-1),
    )
    assert "weigh alike" not in stratified.curves.summary()


def test_published_scores_of_unlike_tasks_weigh_alike():
    """Scores of 4, 12, 6 and of 12, 4, 6 runs: pooled they are .664 and .405, though no task differs so much."""
    file = SHARED / "data" / "readings" / "t" / "unequal.csv"
    if not file.exists():
        pytest.skip(f"{file} is not here")
    frame = pd.read_csv(file).set_index(["task", "algorithm", "run"])
    scores = frame["score"].to_xarray()
    found = quiet(scores, **POOL)
    assert found.score_mean.round(3).values.tolist() == [0.533, 0.527]
    expected = frame["score"].groupby(["algorithm", "task"]).mean()
    np.testing.assert_allclose(found.score_mean, expected.groupby("algorithm").mean())


@pytest.mark.parametrize("design", [{}, {"unit": "run"}])
def test_failed_trials_of_unlike_strata_weigh_alike(design):
    scores = strata_scores(4, 12, 6)
    scores[0, 1] = scores[1, 2] = scores[1, 5] = -np.inf
    strata = [scores[task, :n].values.tolist() for task, n in enumerate((4, 12, 6))]
    found = quiet(scores, **{**POOL, **OF_STRATA, **design})
    sample = oracles.repeated(strata)
    assert found.score_mean.isnull()
    assert found.iqm.notnull()
    np.testing.assert_allclose(found.score_median, np.median(sample))
    np.testing.assert_allclose(found.prob_above, [np.mean([z >= at for z in sample]) for at in (0, 0.5)])
    bounded = quiet(scores, **{**POOL, **design}, bounds=(-5, 5))
    floored = [[max(z, -5.0) for z in stratum] for stratum in strata]
    expected = oracles.statistics_of_strata(floored, [0.5], [], 0)
    np.testing.assert_allclose(bounded.score_mean, expected[0])
    np.testing.assert_allclose(bounded.cvar_lower, [expected[5]])


@pytest.mark.slow
def test_the_bootstrap_of_unlike_strata_covers_the_mean_of_their_means():
    """Ten and forty runs of tasks whose means differ: pooled, the interval of .5 misses it nearly always."""
    rng = np.random.default_rng(11)
    values = rng.normal(size=(400, 2, 40)) + np.array([0.0, 1.0])[:, np.newaxis]
    values[:, 0, 10:] = np.nan
    scores = make_scores(values, sample=np.arange(400), task=["u", "v"], run=np.arange(40))
    ends = quiet(scores, **{**POOL, "n_resamples": 399}, probabilities=0.5).statistic_ci.sel(param="score_mean")
    covered = (ends.sel(ci_bound="lower") <= 0.5) & (ends.sel(ci_bound="upper") >= 0.5)
    # ten trials: .92 of the percentile interval, 99.9 % limits of 400
    low, high = stats.binom.interval(0.999, 400, 0.925)
    assert low <= covered.sum() <= high


BY_DRAW = {
    "dim": ("task", "run"),
    "unit": "task",
    "interval": "percentile",
    "n_resamples": 9,
    "rng": 0,
}
ALONE = BY_DRAW | {"strata": (), "unit": None}
NO_SPREAD = "one trial in the smallest stratum shows no spread; the intervals are NaN"


@pytest.mark.parametrize(
    ("runs", "options", "n_units", "said"),
    [
        ((300, 3), POOL, 3, "3 trials in the smallest stratum are few"),
        ((9,) * 5, POOL, 9, "9 trials in the smallest stratum are few"),
        ((10, 10), POOL, 10, "10 trials in the smallest stratum are few"),
        ((40, 1), POOL, 1, NO_SPREAD),
        ((1,), ALONE, 1, "one trial shows no spread; the intervals are NaN"),
        (
            (1,),
            ALONE | {"interval": "bca"},
            1,
            "one trial shows no spread; the intervals are NaN",
        ),
        ((50,) * 6, BY_DRAW, 6, "6 units are few"),
        # those without trials are not counted
        ((6, 6, 6, 6, 6, 0), BY_DRAW, 5, "5 units are few"),
        ((50,) * 6, ALONE, 300, None),
    ],
)
def test_what_is_warned_of_is_the_smallest_stratum_or_the_number_of_units(runs, options, n_units, said):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = xcurves.performance_cdf(strata_scores(*runs), **options, scores_at=[0])
    assert [str(each.message).split(" for a bootstrap")[0] for each in caught] == [said] * (said is not None)
    assert result.get("n_units", result.n_trials) == n_units
    intervals = [name for name in result if name.endswith("_ci")]
    assert all(result[name].isnull().all() == (n_units == 1) for name in intervals)
    assert not result.score_mean.isnull()


@pytest.mark.slow
def test_levels_and_thresholds_that_are_nearly_the_same_have_names_of_their_own():
    levels, thresholds = [0.5, 0.9999999, 0.99999990001], [10_000_003, 10_000_004]
    result = xcurves.performance_cdf(
        make_scores(np.arange(2_000.0) + 1e7, run=np.arange(2_000)),
        cvar_level=levels,
        threshold=thresholds,
    )
    table = result.curves.table()["value"]
    assert len(set(table.index)) == len(table)
    assert table["cvar 0.9999999"] == result.cvar.sel(cvar_level=0.9999999)
    for threshold in thresholds:
        assert table[f"prob_above {float(threshold)!r}"] == result.prob_above.sel(threshold=threshold)
    assert "mean of the best 1 × 10⁻⁵ %" in result.curves.summary()
    assert "share of scores at least 10000004" in result.curves.summary()


@pytest.mark.parametrize("interval", ["exact", "percentile", "bca"])
@pytest.mark.parametrize("scale", [1e-12, 1e9])
def test_intervals_scale_with_scores_however_small(interval, scale):
    values = np.random.default_rng(0).exponential(size=40)
    values[5:15] = values[5]
    plain, scaled = (
        xcurves.performance_cdf(
            make_scores(values * by, run=np.arange(40)),
            interval=interval,
            rng=0,
            n_resamples=None if interval == "exact" else 999,
            target=1.5 * by,
        )
        for by in (1, scale)
    )
    for name in ("statistic_ci", "score_quantile_ci", "optimality_gap", "cvar"):
        np.testing.assert_allclose(scaled[name] / scale, plain[name], rtol=1e-6)


def test_a_large_offset_leaves_the_tail_as_it_is():
    values = np.random.default_rng(0).normal(size=100_000)
    plain, moved = (
        xcurves.performance_cdf(
            make_scores(values + by, run=np.arange(100_000)),
            cvar_level=0.9999,
            target=by + 1,
        )
        for by in (0, 1e9)
    )
    assert moved.cvar <= (values + 1e9).max()
    np.testing.assert_allclose(moved.cvar - 1e9, plain.cvar, atol=5e-7)
    np.testing.assert_allclose(moved.optimality_gap, plain.optimality_gap, atol=5e-7)


def test_quantiles_beyond_all_trials_end_at_the_bounds():
    scores = make_scores([0.2, 0.5, 0.9], run=np.arange(3))
    ci = xcurves.performance_cdf(scores, bounds=(0, 1), probabilities=[0.01, 0.5, 0.99]).score_quantile_ci
    free = xcurves.performance_cdf(scores, probabilities=[0.01, 0.5, 0.99]).score_quantile_ci
    np.testing.assert_array_equal(free.values[:, 0], [-np.inf, -np.inf, 0.5])
    np.testing.assert_array_equal(free.values[:, 1], [0.5, np.inf, np.inf])
    np.testing.assert_array_equal(ci, np.clip(free, 0, 1))


@pytest.mark.slow
def test_many_trials_have_the_intervals_of_large_samples():
    """Means of 20,000 and of 200,000 trials: normal limits; neighbours and chunks change none."""
    values = np.random.default_rng(0).normal(size=(2, 200_000))
    values[1, 20_000:] = np.nan
    scores = xr.DataArray(values, {"algorithm": ["a", "b"]}, ("algorithm", "run"))
    options = {"interval": "percentile", "n_resamples": 2_000, "rng": 0}
    found = scores.curves.performance_cdf(**options)
    for place, n in enumerate((200_000, 20_000)):
        width = np.diff(found.statistic_ci.sel(param="score_mean").isel(algorithm=place)).item()
        expected = 2 * 1.959964 * np.nanstd(values[place]) / np.sqrt(n)
        assert width == pytest.approx(expected, rel=0.1)
        alone = scores.isel(algorithm=[place]).curves.performance_cdf(**options)
        np.testing.assert_array_equal(found.statistic_ci.isel(algorithm=[place]), alone.statistic_ci)
    lazy = scores.chunk(algorithm=1).curves.performance_cdf(**options)
    np.testing.assert_array_equal(lazy.statistic_ci, found.statistic_ci)


WIDTHS = [  # methods: mean widths of 95 % intervals between 0 and 1 of the mean, and of the best and the worst tenth
    (stats.uniform(), 100, (0.245, 0.128, 0.125)),
    (stats.uniform(), 400, (0.127, 0.066, 0.066)),
    (stats.beta(0.5, 0.5), 100, (0.274, 0.052, 0.052)),
    (stats.beta(5, 2), 100, (0.168, 0.097, None)),
]


@pytest.mark.parametrize(("scores", "n", "expected"), WIDTHS)
def test_intervals_between_bounds_are_as_narrow_as_those_of_exact_bands(scores, n, expected):
    drawn = make_scores(scores.rvs((500, n), random_state=0), task=np.arange(500), run=np.arange(n))
    found = xcurves.performance_cdf(drawn, bounds=(0, 1), cvar_level=0.9, probabilities=0.5)
    widths = found.statistic_ci.diff("ci_bound").mean("task").squeeze()
    for param, width in zip(["score_mean", "cvar 0.9", "cvar_lower 0.9"], expected, strict=True):
        if width is not None:
            np.testing.assert_allclose(widths.sel(param=param), width, atol=0.01)


@pytest.mark.parametrize("n", [10, 29, 45, 46, 93, 200])
def test_tolerance_is_the_shortest_span_of_order_statistics_that_holds(n):
    """Its content is a beta variable; here by the binomial: at most w - 1 of n uniform scores below the share."""
    scores = make_scores(np.random.default_rng(n).normal(size=n), run=np.arange(n))
    x = np.sort(scores.values)
    found = xcurves.performance_cdf(scores, tolerance=0.9)
    assert found.tolerance_n == 46
    held = [w for w in range(1, n + 1) if 1 - stats.binom.cdf(w - 1, n, 0.9) <= 0.05 + 1e-12]
    if n < 46:
        assert found.tolerance.isnull().all()
    else:
        r = (n + 1 - held[0]) // 2
        np.testing.assert_array_equal(found.tolerance, [x[r - 1], x[r + held[0] - 1]])
    if n < 29:
        assert found.tolerance_lower.isnull()
    else:
        assert found.tolerance_lower == x[n - held[0]]
        mirror = xcurves.performance_cdf(-scores, tolerance=0.9, higher_is_better=False)
        assert mirror.tolerance_lower == -found.tolerance_lower


def test_tolerance_holds_the_share_as_often_as_it_says():
    scores = make_scores(
        np.random.default_rng(0).exponential(size=(4_000, 60)),
        task=range(4_000),
        run=range(60),
    )
    found = xcurves.performance_cdf(scores, tolerance=0.8, confidence_level=0.9, probabilities=0.5)
    low, high = (stats.expon.cdf(found.tolerance.sel(ci_bound=end)) for end in ("lower", "upper"))
    for content in (high - low, 1 - stats.expon.cdf(found.tolerance_lower)):
        assert 0.9 - 3 * np.sqrt(0.09 / 4_000) <= (content >= 0.8).mean() < 0.95
