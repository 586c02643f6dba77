"""What the randomized ANOVA papers say of their curves, on those that come with the package."""

import numpy as np
import pytest
import scipy
import xarray as xr

import xcurves

N_SPLITS = 600
CASES = {
    "rate 0.001": ("tictactoe_100", "score", 50),
    "rate 0.1": ("tictactoe_100", "score", 50),
    "rate 0.8": ("tictactoe_100", "score", 50),
    "entropy": ("chess", "accuracy", 10),
    "entropy, 5 per leaf": ("endgame", "accuracy", 10),
}


def halves(algorithm):
    """One algorithm's runs split in two at random, many times."""
    dataset, variable, size = CASES[algorithm]
    curves = xcurves.tutorial.open_dataset(dataset)[variable].sel(algorithm=algorithm, drop=True)
    rng = np.random.default_rng(1998)
    places = [rng.permutation(2 * size).reshape(2, size) for _ in range(N_SPLITS)]
    split = curves.isel(run=xr.DataArray(np.stack(places), dims=["split", "algorithm", "run"]))
    return split.drop_vars("run").assign_coords(algorithm=["a", "b"], run=np.arange(size))


@pytest.mark.plain(2)
@pytest.mark.parametrize("algorithm", CASES)
def test_shuffling_finds_no_difference_in_one_algorithm_where_the_f_test_does(
    algorithm,
):
    result = halves(algorithm).curves.randomized_anova(n_resamples=199, rng=0)
    low, high = scipy.stats.binom.interval(0.999, N_SPLITS, 0.05)
    found = (result.pvalue <= 0.05).sum("split")
    # Welch's statistic is of the algorithm effect alone
    gap = {"effect": "interaction", "error_term": "welch"}
    assert result.pvalue.sel(gap).isnull().all()
    assert result.pvalue.isnull().sum() == N_SPLITS
    tested = result.pvalue.notnull().all("split")
    assert ((low <= found) & (found <= high)).where(tested, True).all()
    f_test = (result.pvalue_parametric.sel(error_term="pooled") <= 0.05).sum("split")
    # its runs differ hardly more than scores wiggle within one
    if algorithm == "rate 0.8":
        assert low <= f_test.sel(effect="algorithm") <= high
    else:
        assert f_test.sel(effect="algorithm") > high
    if CASES[algorithm][0] == "chess":
        assert f_test.sel(effect="interaction") < low
    # why: scores wiggle less within a run than the pooled error says
    if CASES[algorithm][0] != "tictactoe_100":
        square = (result.error_ss / result.error_df).sel(effect="interaction").mean("split")
        assert square.sel(error_term="split_plot") < 0.9 * square.sel(error_term="pooled")


def test_table_4_has_the_paper_s_sums_of_squares_on_any_curves():
    scores = xcurves.tutorial.open_dataset("tictactoe")["score"].isel(algorithm=[0])
    v = xr.DataArray(np.arange(-7.0, 8, 2), {"training": scores.training})
    both = xr.concat([scores, (scores + v).assign_coords(algorithm=["shifted"])], "algorithm")
    result = both.curves.randomized_anova(n_resamples=1000, rng=0)
    np.testing.assert_allclose(result.ss.sel(source=["interaction", "algorithm"]), [840, 0], atol=1e-9)
    assert (result.pvalue.sel(effect="algorithm") > 0.9).all()


def test_a_hundred_runs_show_what_ten_do_not():
    """0.8 is told from 0.001 and 0.1 is not, as in the paper."""
    hundred = xcurves.tutorial.open_dataset("tictactoe_100")["score"]
    few, many = (
        scores.curves.pairwise(rng=0).sel(effect="algorithm") for scores in (hundred.isel(run=slice(10)), hundred)
    )
    assert (few.pvalue_adjusted > 0.05).all()
    assert (many.pvalue_adjusted <= 0.05).values.tolist() == [True, False, False]
    assert many.difference_ci.isel(pair=0).min() > 0
