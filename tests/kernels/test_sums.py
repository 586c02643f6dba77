import numpy as np
import pytest

import oracles
from xcurves.kernels.resampling import moments, sums


def design_of(groups, paired=False, factored=False):
    curves = np.concatenate(groups)
    part = moments.measure_moments(curves[np.newaxis], factored=factored)
    sizes = tuple(map(len, groups))
    magnitude = np.array([(curves**2).sum()])
    within = None
    if paired:
        less = np.stack(groups) - np.mean(groups, axis=0)
        less = less.reshape(1, *curves.shape)
        within = moments.measure_moments(less, factored=factored)[-2:]
    design = sums.make_design(part.means, part.comoment, curves.shape[1], sizes, magnitude, within)
    return design, part.level_ss


def random_groups(sizes, k, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(loc=rng.normal(), size=(size, k)).cumsum(axis=1) for size in sizes]


@pytest.mark.parametrize(
    ("sizes", "k"),
    [((10, 10), 8), ((3, 5, 2), 4), ((1, 2), 3), ((4, 4, 4, 4), 30), ((6, 2), 1)],
)
def test_table_equals_plain_loops(sizes, k):
    groups = random_groups(sizes, k)
    design, level_ss = design_of(groups)
    found = sums.sums_of_squares_table(design, level_ss)
    expected = oracles.anova_sums(groups)
    order = ("interaction", "algorithm", "training", "error", "total")
    np.testing.assert_allclose(
        found["ss"][0],
        [expected[name] for name in order],
        atol=1e-12 * expected["total"],
    )
    n = sum(sizes)
    m = len(sizes)
    np.testing.assert_array_equal(found["df"][0], [(m - 1) * (k - 1), m - 1, k - 1, k * (n - m), k * n - 1])
    strata = [
        [expected["error"], expected["runs"]],
        [expected["error"], expected["runs_x_training"]],
    ]
    np.testing.assert_allclose(found["error_ss"][0], strata, atol=1e-12 * expected["total"])
    np.testing.assert_array_equal(found["error_df"][0], [[k * (n - m), n - m], [k * (n - m), (n - m) * (k - 1)]])


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize(("sizes", "k"), [((10, 10), 8), ((6, 6, 6), 4), ((40, 40), 2), ((3, 3), 1)])
def test_a_factor_of_the_comoments_gives_the_same(sizes, k, paired):
    groups = random_groups(sizes, k, seed=2)
    by_products, level_ss = design_of(groups, paired)
    by_factor, same_level_ss = design_of(groups, paired, factored=True)
    assert by_factor.comoment.shape == (1, sum(sizes), k - 1)
    np.testing.assert_array_equal(level_ss, same_level_ss)
    scale = by_products.totals.sum()
    products = by_factor.comoment @ by_factor.comoment.swapaxes(-1, -2)
    np.testing.assert_allclose(products, by_products.comoment, atol=1e-13 * scale)
    expected = sums.sums_of_squares_table(by_products, level_ss)
    for name, values in sums.sums_of_squares_table(by_factor, level_ss).items():
        np.testing.assert_allclose(values, expected[name], rtol=1e-10, atol=1e-13 * scale, err_msg=name)


@pytest.mark.parametrize(("m", "n_runs", "k"), [(2, 10, 8), (3, 4, 5), (4, 2, 3)])
def test_paired_strata_equal_plain_loops(m, n_runs, k):
    groups = random_groups((n_runs,) * m, k, seed=1)
    design, level_ss = design_of(groups, paired=True)
    found = sums.sums_of_squares_table(design, level_ss)
    expected = oracles.paired_strata(groups)
    scale = oracles.anova_sums(groups)["total"]
    np.testing.assert_allclose(found["error_ss"][0, 0, 1], expected["algorithm"], atol=1e-12 * scale)
    np.testing.assert_allclose(found["error_ss"][0, 1, 1], expected["interaction"], atol=1e-12 * scale)
    np.testing.assert_allclose(
        found["error_ss"][0, :, 0],
        oracles.anova_sums(groups)["error"],
        atol=1e-12 * scale,
    )
    within = (m - 1) * (n_runs - 1)
    np.testing.assert_array_equal(found["error_df"][0, :, 1], [within, within * (k - 1)])


def test_the_papers_first_table_follows_from_its_sums_of_squares():
    """Piater & Cohen, Table 1: df 7, 1, 144; F 1.16 and 10.31; conventional p .33 and .0016."""
    from scipy import stats

    f_interaction = (490.60 / 7) / (8714.40 / 144)
    f_algorithm = 624.10 / (8714.40 / 144)
    design, _ = design_of(random_groups((10, 10), 8))
    df, df_error = sums.degrees_of_freedom(design)
    np.testing.assert_array_equal(df.ravel(), [1, 7])
    np.testing.assert_array_equal(df_error[:, 0], 144)
    assert (round(f_interaction, 2), round(f_algorithm, 2)) == (1.16, 10.31)
    assert round(stats.f.sf(f_interaction, 7, 144), 2) == 0.33
    assert round(stats.f.sf(f_algorithm, df[0, 0], 144), 4) == 0.0016
    runs = 1000.0  # the pooled error is what both totals leave, however it is divided
    design = design._replace(totals=np.array([[[624.10 + runs]], [[490.60 + 8714.40 - runs]]]))
    f = sums.f_ratios(design, np.array([[[624.10]], [[490.60]]]))
    np.testing.assert_allclose(f[:, 0, 0, 0], [f_algorithm, f_interaction])


@pytest.mark.parametrize("seed", range(5))
def test_the_papers_fourth_table_needs_no_data(seed):
    """Adding v to a copy of ten 8-point curves gives SS_interaction 840 and SS_algorithm 0, whatever the curves."""
    curves = np.random.default_rng(seed).normal(scale=30, size=(10, 8)).cumsum(axis=1)
    v = np.array([-7, -5, -3, -1, 1, 3, 5, 7])
    design, level_ss = design_of([curves, curves + v])
    algorithm, interaction = sums.effect_sums(design)
    np.testing.assert_allclose(interaction, 840)
    np.testing.assert_array_equal(algorithm, 0)


def test_rounding_errors_are_no_error_term():
    groups = [np.full((4, 3), 0.1), np.full((4, 3), 0.7)]
    design, level_ss = design_of(groups)
    f = sums.sums_of_squares_table(design, level_ss)["f"][0]
    np.testing.assert_array_equal(f[0], np.inf)
    np.testing.assert_array_equal(f[1], np.nan)


def test_parametric_p_is_the_f_distributions():
    from scipy import stats

    design, level_ss = design_of(random_groups((5, 4, 3), 6))
    found = sums.sums_of_squares_table(design, level_ss)
    df = np.array([[2.0], [10.0]])
    np.testing.assert_allclose(
        found["pvalue_parametric"][0],
        stats.f.sf(found["f"][0], df, found["error_df"][0]),
    )


def test_effect_sizes_follow_from_the_sums():
    groups = random_groups((5, 4, 3), 6)
    ss = oracles.anova_sums(groups)
    design, level_ss = design_of(groups)
    found = sums.sums_of_squares_table(design, level_ss)
    for row, effect, stratum in (
        (0, "algorithm", "runs"),
        (1, "interaction", "runs_x_training"),
    ):
        partial = [
            ss[effect] / (ss[effect] + ss["error"]),
            ss[effect] / (ss[effect] + ss[stratum]),
        ]
        np.testing.assert_allclose(found["eta_sq_partial"][0, row], partial)
        np.testing.assert_allclose(found["eta_sq_generalized"][0, row], partial[0])
