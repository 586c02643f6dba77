"""Real published curves, and answers that slow independent code gave; skipped where these files are not at hand."""

import json

import numpy as np
import pandas as pd
import pytest

import xcurves
from places import SHARED
from refusals import refused
from xcurves.core.doubts import Doubtful
from xcurves.core.refusal import call

pytestmark = pytest.mark.skipif(
    not SHARED.exists(),
    reason=f"no reference data in {SHARED.name}/ beside the repository",
)

CASES = [
    "tianshou_HalfCheetah_sac_td3",
    "tianshou_Hopper_ddpg_td3_sac",
    "tianshou_Hopper_td3_sac_8levels",
    "tianshou_Swimmer_ddpg_td3_sac_8levels",
    "tianshou_Ant_ppo_reinforce",
    "tianshou_Hopper_td3_sac_8levels_unequal",
    "tdmpc2_cheetah-run_tdmpc2_tdmpc_sac",
    "tdmpc2_cheetah-run_tdmpc2_tdmpc",
    "tdmpc2_walker-run_all4",
]
SOURCES = ["interaction", "algorithm", "training", "error", "total"]
EFFECTS = ["algorithm", "interaction"]


@pytest.fixture(scope="module")
def tianshou():
    frame = pd.read_csv(SHARED / "data" / "tianshou_mujoco.csv.gz")
    return frame.curves.to_dataarray("return", run="seed", training="env_step", extra="task")


@pytest.fixture(scope="module")
def tdmpc2_frame():
    return pd.read_csv(SHARED / "data" / "tdmpc2_results.csv.gz")


def reference(name):
    return json.loads((SHARED / "reference" / name).read_text())


@pytest.fixture(scope="module")
def cases():
    return {case["name"]: case for case in reference("dev_anova.json")["cases"]}


@pytest.fixture(scope="module")
def strata():
    return reference("dev_strata.json")["cases"]


def curves_of(case, tianshou, tdmpc2_frame):
    """Select a case's task, algorithms, runs and levels from the published curves."""
    source, task = case["name"].split("_")[:2]
    if source == "tianshou":
        (task,) = [name for name in tianshou.task.values if name.startswith(f"{task}-")]
        curves = tianshou.sel(task=task, algorithm=case["algorithms"])
    else:
        rows = tdmpc2_frame[(tdmpc2_frame.task == task) & tdmpc2_frame.algorithm.isin(case["algorithms"])]
        curves = rows.curves.to_dataarray("reward", run="seed", training="step")
    curves = (
        curves.dropna("training", how="all")
        .curves.align("intersection", runs_short="cut")
        .sel(training=case["training"])
    )
    for algorithm, run in case["dropped_runs"]:
        curves = curves.where((curves.algorithm != algorithm) | (curves.run != int(run)))
    return curves


@pytest.fixture(scope="module")
def analysed(cases, tianshou, tdmpc2_frame):
    done = {}

    def analyse(name):
        if name not in done:
            curves = curves_of(cases[name], tianshou, tdmpc2_frame)
            done[name] = xcurves.randomized_anova(curves, rng=20261121, confidence_level=0.8)
        return done[name]

    return analyse


@pytest.mark.plain(2)
@pytest.mark.parametrize("name", CASES)
def test_tables_agree(name, cases, analysed):
    case, result = cases[name], analysed(name)
    ss, total = case["anova"]["SS"], case["anova"]["SS"]["total"]
    np.testing.assert_allclose(result.ss, [ss[source] for source in SOURCES], atol=1e-9 * total, rtol=0)
    assert result.df.values.tolist() == [case["anova"]["df"][source] for source in SOURCES]
    np.testing.assert_allclose(
        result.f.sel(error_term="pooled"),
        [case["anova"]["F"][effect] for effect in EFFECTS],
        rtol=1e-8,
    )
    assert result.n_levels == case["k"]
    assert result.n_runs.sel(algorithm=case["algorithms"]).values.tolist() == [
        len(case["runs"][algorithm]) for algorithm in case["algorithms"]
    ]


@pytest.mark.plain(2)
@pytest.mark.parametrize("name", CASES)
def test_pooled_p_values_agree(name, cases, analysed):
    random, result = cases[name]["randomization"], analysed(name)
    pooled = result.pvalue.sel(error_term="pooled")
    exact = random.get("exact") or cases[name].get("exact")
    for effect in EFFECTS:
        p = pooled.sel(effect=effect).item()
        if exact:
            assert round(p * exact["assignments"], 6) == exact[f"count_ge_{effect}"]
            assert result.n_resamples == exact["assignments"]
        else:
            z, expected = int(result.n_resamples), random[effect]["p_plus_one"]
            assert abs(p - expected) <= 4 * np.sqrt(p * (1 - p) * (1 / z + 1 / 20000)) + 1 / z


@pytest.mark.parametrize("name", CASES)
def test_split_plot_terms_agree(name, strata, analysed):
    expected, result = strata[name], analysed(name)
    split_plot = result.sel(error_term="split_plot")
    for effect, source in (("algorithm", "runs"), ("interaction", "runs_x_training")):
        here = split_plot.sel(effect=effect)
        np.testing.assert_allclose(here.f, expected["F"][effect], rtol=1e-8)
        np.testing.assert_allclose(here.error_ss, expected["SS"][source], rtol=1e-9)
        assert here.error_df == expected["df"][source]
        if "exact" in expected:
            np.testing.assert_allclose(here.pvalue, expected["exact"][f"p_{effect}"], rtol=1e-12)
        else:
            p, other, z = (
                here.pvalue.item(),
                expected["random"][f"p_{effect}"],
                int(result.n_resamples),
            )
            assert abs(p - other) <= 4 * np.sqrt(p * (1 - p) * (1 / z + 1 / 20000)) + 1 / z


@pytest.mark.slow
def test_the_chain_of_the_readme_gives_the_published_figures():
    frame = pd.read_csv(SHARED / "data" / "tianshou_mujoco.csv.gz")
    returns = frame.curves.to_dataarray("return", run="seed", training="env_step", extra="task")
    levels = [0, 50_000, 100_000, 200_000, 400_000, 600_000, 800_000, 1_000_000]
    result = returns.sel(task="Hopper-v3", algorithm=["td3", "sac"], training=levels).curves.randomized_anova()
    pooled = result.sel(error_term="pooled")
    np.testing.assert_allclose(pooled.f, [108.3488486, 13.7380687], rtol=1e-8)
    np.testing.assert_array_equal(pooled.pvalue, 2 / 92378)
    np.testing.assert_allclose(
        result.ss.values[:4],
        [26542067.92, 29904416.65, 236426839.61, 39744178.65],
        rtol=1e-9,
    )


def test_pooled_and_split_plot_interaction_differ_on_half_cheetah(analysed):
    p = analysed("tianshou_HalfCheetah_sac_td3").pvalue.sel(effect="interaction")
    assert round(p.sel(error_term="pooled").item(), 4) == 0.0811
    assert round(p.sel(error_term="split_plot").item(), 4) == 0.3163


def test_all_tasks_at_once_agree(tianshou):
    expected = reference("dev_anova.json")["all_tasks_td3_sac"]["tasks"]
    levels = [50_000, 100_000, 200_000, 400_000, 600_000, 800_000, 1_000_000]
    result = tianshou.sel(algorithm=["td3", "sac"], training=levels).curves.randomized_anova()
    assert set(expected) == set(result.task.values)
    for task, values in expected.items():
        here = result.sel(task=task, error_term="pooled")
        np.testing.assert_allclose(here.f, [values["F"][effect] for effect in EFFECTS], rtol=1e-8)
        for effect in EFFECTS:
            p, other = here.pvalue.sel(effect=effect).item(), values[f"p_{effect}"]
            assert abs(p - other) <= 4 * np.sqrt(p * (1 - p) / 20000) + 1 / 20000, (
                task,
                effect,
            )


def test_the_pendulum_whose_interaction_is_the_same_for_every_assignment(tianshou):
    levels = [50_000, 100_000, 200_000, 400_000, 600_000, 800_000, 1_000_000]
    curves = tianshou.sel(task="InvertedPendulum-v2", algorithm=["td3", "sac"], training=levels)
    assert curves.curves.randomized_anova().pvalue.sel(effect="interaction", error_term="pooled") == 1


def test_a2c_and_ppo_share_their_first_level_only(tianshou):
    hopper = tianshou.sel(task="Hopper-v3", algorithm=["a2c", "ppo"])
    with refused("on", cure=call(".curves.align", 20, relative_to="budget")):
        hopper.curves.align("intersection")


def test_td3_without_step_0_loses_it_on_alignment(tianshou):
    cheetah = tianshou.sel(task="HalfCheetah-v3", algorithm=["td3", "sac"]).dropna("training", how="all")
    with refused("curves", ("'td3'", "0"), cure=call(".curves.align", "intersection")):
        cheetah.curves.randomized_anova()
    aligned = cheetah.curves.align("intersection")
    assert aligned.sizes["training"] == 250
    assert "kept 250 of 251 training levels, dropped 1: 0" in aligned.attrs["history"]


def test_restarted_runs_are_refused_and_counted(tdmpc2_frame):
    again = call(
        "frame.curves.to_dataarray", value="reward", run="seed", training="step", extra="task", duplicates="purge"
    )
    with refused("frame", cure=again, names=r"'step' falls in 23 runs, first .* their first level", kind=Doubtful):
        tdmpc2_frame.curves.to_dataarray("reward", run="seed", training="step", extra="task")


def test_tasks_of_another_metric_are_absent_tasks(tdmpc2_frame):
    curves = tdmpc2_frame.curves.to_dataarray("reward", run="seed", training="step", extra="task", duplicates="last")
    assert curves.notnull().any(["algorithm", "run", "training"]).sum() == 39
    some = curves.sel(task=["cheetah-run", "mw-assembly"], algorithm=["sac", "tdmpc2"]).curves.align("intersection")
    with pytest.warns(UserWarning, match="task 'mw-assembly': no run has a value; the result is NaN"):
        result = some.curves.randomized_anova(confidence_level=0.9)
    assert result.pvalue.sel(task="cheetah-run", error_term=["pooled", "split_plot"]).notnull().all()


@pytest.mark.plain(3)
@pytest.mark.parametrize("name", CASES)
def test_profiles_are_those_of_the_reference(name, cases, tianshou, tdmpc2_frame):
    case = cases[name]
    profile = curves_of(case, tianshou, tdmpc2_frame).curves.ss_profile(n_resamples=0)
    total = case["anova"]["SS"]["total"]
    for effect, reference_name in (
        ("simple", "level_simple_alg"),
        ("interaction", "level_int"),
    ):
        found = profile.ss.sel(effect=effect)
        np.testing.assert_allclose(found, case["profiles"][reference_name], rtol=0, atol=1e-10 * total)


def test_the_share_of_hopper_up_to_200_000_steps(tianshou):
    levels = [50_000, 100_000, 200_000, 400_000, 600_000, 800_000, 1_000_000]
    hopper = tianshou.sel(task="Hopper-v3", algorithm=["td3", "sac"], training=[0, *levels])
    share = hopper.curves.ss_profile(n_resamples=0).cumulative_fraction.sel(effect="simple", training=200_000)
    np.testing.assert_allclose(share, 49290532.95 / 56446484.57, rtol=1e-9)


# --- performance distributions ---


@pytest.mark.plain(3)
@pytest.mark.parametrize("name", CASES)
def test_quantiles_and_both_cvars_of_final_scores_agree(name, cases):
    for final in cases[name]["final"].values():
        trials = pd.Series(final["sorted"]).rename_axis("run").to_xarray()
        p = [float(probability) for probability in final["quantile_inverse_ecdf"]]
        upper, literal = (
            xcurves.performance_cdf(
                trials,
                cvar_level=[0.5, 0.9],
                cvar=cvar,
                probabilities=p,
                scores_at=trials,
            )
            for cvar in ("tail-mean", "conditional")
        )
        assert upper.score_quantile.values.tolist() == list(final["quantile_inverse_ecdf"].values())
        np.testing.assert_allclose(np.c_[upper.score, upper.cdf], final["ecdf"], rtol=1e-14)
        np.testing.assert_allclose(upper.score_mean, final["mean"], rtol=1e-14)
        np.testing.assert_allclose(upper.cvar, [final["cvar_upper_0.5"], final["cvar_upper_0.9"]], rtol=1e-14)
        literals = [
            final["cvar_literal_conditional_0.5"],
            final["cvar_literal_conditional_0.9"],
        ]
        np.testing.assert_allclose(literal.cvar, literals, rtol=1e-14)


@pytest.fixture(scope="module")
def rliable():
    return reference("dev_rliable.json")


@pytest.fixture(scope="module")
def normalized(rliable, tianshou):
    at_a_million = tianshou.sel(training=1e6, task=rliable["tasks"], algorithm=["sac", "td3", "ddpg"], drop=True)
    low, high = (pd.Series(rliable[name]).rename_axis("task").to_xarray() for name in ("low", "high"))
    return at_a_million.curves.normalize(low=low, high=high)


POOL = {"dim": ("task", "run"), "strata": "task"}


@pytest.fixture(scope="module")
def pooled(rliable, normalized):
    tau = rliable["profile"]["tau"]
    return normalized.curves.performance_cdf(**POOL, scores_at=tau, target=1.0, interval="percentile", rng=0)


# of rliable's four; its median is one of task means
STATISTICS = {0: "score_mean", 2: "iqm", 3: "optimality_gap"}


def test_point_values_are_rliables(rliable, normalized, pooled):
    for algorithm, point in rliable["point"].items():
        here = pooled.sel(algorithm=algorithm)
        np.testing.assert_allclose(
            [here[name] for name in STATISTICS.values()],
            [point[i] for i in STATISTICS],
            rtol=1e-12,
        )
        of_means = normalized.sel(algorithm=algorithm).mean("run").median("task")
        np.testing.assert_allclose(of_means, point[1], rtol=1e-12)
        np.testing.assert_allclose(1 - here.cdf, rliable["profile"]["point"][algorithm], atol=1e-12)


def test_intervals_are_rliables_within_monte_carlo_error(rliable, pooled):
    for algorithm, (low, high) in rliable["interval"].items():
        for place, name in STATISTICS.items():
            interval = pooled.statistic_ci.sel(algorithm=algorithm, param=name)
            width = high[place] - low[place]
            # percentiles of 9,999 draws: standard error about 0.012 of the width; those of 50,000 add little
            np.testing.assert_allclose(interval, [low[place], high[place]], atol=4 * 0.013 * width)


def test_profile_bands_are_rliables_within_monte_carlo_error(rliable, normalized, pooled):
    """Its ends are multiples of 1/90; with 2,000 replicates they may be the next one."""
    for algorithm, (low, high) in rliable["profile"]["interval"].items():
        band = 1 - pooled.cdf_ci.sel(algorithm=algorithm, ci_bound=["upper", "lower"])
        np.testing.assert_allclose(band, np.transpose([low, high]), atol=1.01 / 90)


def test_probabilities_of_improvement_are_rliables(rliable, normalized):
    result = normalized.curves.compare_distributions(**POOL, rng=0)
    by_task = normalized.curves.compare_distributions()
    for names, point in rliable["improvement"]["point"].items():
        pair = names.replace(",", " - ")
        np.testing.assert_allclose(result.prob_greater.sel(pair=pair), point, rtol=1e-12)
        np.testing.assert_allclose(by_task.prob_greater.sel(pair=pair).mean("task"), point, rtol=1e-12)
        low, high = rliable["improvement"]["interval"][names]
        interval = result.prob_greater_ci.sel(pair=pair)
        np.testing.assert_allclose(interval, [low, high], atol=4 * 0.02 * (high - low) + 0.5 / 900)
