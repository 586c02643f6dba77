"""Rates against a plain loop, exact intervals against SciPy's, and bad input."""

from functools import partial

import numpy as np
import pytest
import xarray as xr
from matplotlib import pyplot as plt
from scipy import stats

import xcurves
from experiments import studies
from refusals import ANY, raises_other, refused
from xcurves.planning.replications import cell_number

ANOVA = partial(xcurves.randomized_anova, n_resamples=99)
SMALL = {"n_replications": 260, "rng": 3}


def coin(n_datasets, *, rng, share=0.3, sizes=(3, 3)):
    """Data sets whose one score is uniform."""
    return xr.DataArray(
        rng.random((n_datasets, *sizes)) * 0.05 / share,
        dims=("replication", "algorithm", "run"),
    )


def first_score(data):
    return data.isel(algorithm=0, run=0).clip(max=1)


@pytest.mark.slow
def test_rates_are_those_of_a_loop_over_data_sets_and_blocks():
    found = studies.rejection_rates(studies.autoregressive, ANOVA, settings={"n_runs": [4, 6]}, **SMALL)
    for place, size in enumerate([4, 6]):
        rejected, tried = np.zeros((2, 3)), np.zeros((2, 3))
        for number, block in enumerate([250, 10]):
            seeds = np.random.SeedSequence([3, cell_number({"n_runs": size}), number]).spawn(2)
            curves = studies.autoregressive(block, n_runs=size, rng=np.random.default_rng(seeds[0]))
            seed = int(seeds[1].generate_state(1, np.uint64)[0]) >> 1
            for data in curves:
                p = xcurves.randomized_anova(data, n_resamples=99, rng=seed).pvalue.to_numpy()
                rejected += p <= 0.05 + 1e-12
                tried += ~np.isnan(p)
        # Welch's statistic is of the algorithm effect alone
        assert tried.tolist() == [[260, 260, 260], [260, 260, 0]]
        np.testing.assert_array_equal(found.n_replications[place], tried)
        with np.errstate(invalid="ignore"):
            np.testing.assert_allclose(found.rate[place], rejected / tried, rtol=1e-14)
    assert found.rate.dims == ("n_runs", "effect", "error_term")


def test_intervals_are_scipy_s_exact_ones():
    found = studies.rejection_rates(
        coin,
        first_score,
        n_replications=400,
        settings={"share": [0.1, 0.5, 2.0]},
        rng=0,
    )
    for place in range(3):
        count = round(float(found.rate[place]) * 400)
        exact = stats.binomtest(count, 400).proportion_ci(0.95, "exact")
        np.testing.assert_allclose(found.rate_ci[place], [exact.low, exact.high], rtol=1e-9)
    assert float(found.rate_ci.sel(share=0.1, ci_bound="lower")) < 0.1 < float(found.rate_ci.sel(share=0.1)[1])
    assert float(found.rate.sel(share=2.0)) == 1


def test_a_rate_needs_no_setting_and_a_dataset_or_an_array_of_pvalues():
    for test in (first_score, lambda data: first_score(data).to_dataset(name="pvalue")):
        found = studies.rejection_rates(coin, test, n_replications=1000, rng=0)
        assert found.rate.dims == ()
        assert 0.25 < float(found.rate) < 0.35
        assert list(studies.rates_table(found).columns) == [
            "rate",
            "lower",
            "upper",
            "n",
        ]


def test_a_test_that_asks_for_a_seed_gets_another_one_for_every_block():
    seeds = []

    def needy(data, *, rng):
        seeds.append(rng)
        return first_score(data)

    studies.rejection_rates(coin, needy, n_replications=600, rng=0)
    assert len(set(seeds)) == 3


@pytest.mark.slow
def test_settings_that_are_no_numbers_have_labels_and_a_cell_keeps_its_stream_in_another_grid():
    sizes = [(6, 4), (5, 5)]
    grid = studies.rejection_rates(
        studies.autoregressive,
        ANOVA,
        settings={"n_runs": sizes, "noise": [(1, 4), 1]},
        **SMALL,
    )
    assert grid.n_runs.values.tolist() == ["6/4", "5/5"]
    assert grid.noise.values.tolist() == ["1/4", "1"]
    one = studies.rejection_rates(
        studies.autoregressive,
        ANOVA,
        settings={"n_runs": [(6, 4)], "noise": [(1, 4)]},
        **SMALL,
    )
    xr.testing.assert_equal(one, grid.sel(n_runs=["6/4"], noise=["1/4"]))


def test_a_test_without_any_pvalue_is_said_to_have_none():
    one_level = partial(studies.autoregressive, n_levels=1, n_runs=4)
    with pytest.warns(UserWarning, match="p is NaN"):
        found = studies.rejection_rates(one_level, ANOVA, **SMALL)
    none = found.sel(effect="interaction", error_term="split_plot")
    assert none.n_replications == 0
    assert bool(none.rate.isnull() & none.rate_ci.isnull().all())


@pytest.mark.parametrize("alpha", [0, 1, 5, -0.1, "0.05", True])
def test_alpha_must_be_a_level(alpha):
    with refused("alpha", cure="Usual: 0.05", names="alpha must lie between 0 and 1; got"):
        studies.rejection_rates(coin, first_score, n_replications=10, alpha=alpha)


@pytest.mark.parametrize(
    ("test", "value", "cure", "said"),
    [
        (
            lambda data: data.mean("run").to_dataset(name="score"),
            ANY,
            "Return a DataArray of them",
            "test returned no p-value 'pvalue'",
        ),
        (
            lambda data: first_score(data).to_dataset(name="ks_pvalue"),
            ANY,
            "Name one: pvalue='ks_pvalue'",
            "It has 'ks_pvalue'",
        ),
        (lambda data: 0.3, ANY, "Return a Dataset or a DataArray", "test returned no p-value; got float"),
        (
            lambda data: data.mean(),
            "dims ()",
            "Let it broadcast over further dims",
            "a p-value for each data set, on a dim 'replication'",
        ),
        (
            lambda data: first_score(data) * 50,
            ANY,
            "Return probabilities, and no statistics",
            "they must lie between 0 and 1",
        ),
    ],
)
def test_a_test_must_return_pvalues(test, value, cure, said):
    with refused("test", value, cure, names=said):
        studies.rejection_rates(coin, test, n_replications=20, rng=0)


@pytest.mark.parametrize(
    ("settings", "kind", "said"),
    [
        ({"share": 0.2}, TypeError, "must be a list of values; got 0.2"),
        ({"share": "ab"}, TypeError, "must be a list of values; got 'ab'"),
        ({"share": []}, ValueError, "at least one"),
        ({"share": [0.2, 0.2]}, ValueError, "must be different values"),
        ({"effect": [1]}, ValueError, "must not have the name 'effect'"),
        ([0.2], TypeError, "settings must map names to lists"),
    ],
)
def test_bad_settings_are_refused(settings, kind, said):
    with raises_other(kind, match=said):
        studies.rejection_rates(coin, first_score, n_replications=20, settings=settings, rng=0)


def test_labels_of_pvalues_must_not_depend_on_settings():
    with refused(
        "curves",
        cure="Simulate settings that differ in them one by one",
        names=r"^n_algorithms 3, n_runs 6: p-values must have the same dims and labels",
    ):
        studies.rejection_rates(
            studies.autoregressive,
            xcurves.pairwise,
            n_replications=5,
            settings={"n_algorithms": [2, 3], "n_runs": [6]},
            rng=0,
        )


def test_every_pair_has_a_rate_of_its_own():
    found = studies.rejection_rates(
        partial(studies.autoregressive, algorithm_effect=9),
        partial(xcurves.pairwise, n_resamples=59),
        pvalue="pvalue_adjusted",
        settings={"n_algorithms": [3], "n_runs": [6]},
        n_replications=30,
        rng=0,
    )
    assert found.rate.dims == ("n_algorithms", "n_runs", "effect", "pair")
    level = found.rate.sel(effect="algorithm").squeeze()
    assert level.sel(pair=["a1 - a2", "a1 - a3"]).min() > 0.9
    assert level.sel(pair="a2 - a3") < 0.3


def test_undefined_pvalues_are_counted_and_said_once():
    def halved(data):
        return first_score(data).where(np.arange(data.sizes["replication"]) % 2 == 0)

    with pytest.warns(UserWarning, match=r"p is NaN in 300 data sets, which are not counted") as caught:
        found = studies.rejection_rates(coin, halved, n_replications=600, settings={"share": [0.2, 0.3]}, rng=0)
    assert len(caught) == 1
    assert "(in 2 settings)" in str(caught[0].message)
    assert (found.n_replications == 300).all()


def test_a_bar_counts_the_blocks(capsys):
    studies.rejection_rates(coin, first_score, n_replications=600, progress=True, rng=0)
    assert "data sets:   0%|          | 0/3" in capsys.readouterr().err


def test_warnings_of_the_test_come_once():
    with pytest.warns(UserWarning, match=r"3 v 3 runs allow 10 assignments.*\(and 2 more warnings\)") as caught:
        studies.rejection_rates(
            studies.autoregressive,
            ANOVA,
            n_replications=600,
            settings={"n_runs": [3]},
            rng=0,
        )
    assert len(caught) == 1


def test_a_study_has_a_table_and_a_picture_of_its_rates():
    found = studies.rejection_rates(
        partial(studies.autoregressive),
        ANOVA,
        n_replications=60,
        settings={"n_runs": [(5, 4), 4], "noise": [1.0, 2.0]},
        rng=0,
    )
    table = studies.rates_table(found)
    assert table.index.names == ["n_runs", "noise", "effect", "error_term"]
    one = {"n_runs": "5/4", "noise": 2.0, "effect": "algorithm", "error_term": "pooled"}
    row = table.loc[tuple(one.values())]
    assert row["rate"] == found.rate.sel(one)
    assert [row["lower"], row["upper"]] == found.rate_ci.sel(one).values.tolist()
    figure, (numbers, words) = plt.subplots(1, 2)
    part = found.sel(effect="algorithm", error_term=["pooled", "split_plot"])
    studies.draw_rates(part.sel(n_runs="4"), "noise", numbers)
    studies.draw_rates(part.sel(noise=1.0), "n_runs", words, level=0.5)
    for ax, drawn in ((numbers, part.sel(n_runs="4")), (words, part.sel(noise=1.0))):
        for container, term in zip(ax.containers, part.error_term, strict=True):
            rates = drawn.rate.sel(error_term=term)
            np.testing.assert_array_equal(container.lines[0].get_ydata(), rates)
            ends = container.lines[2][0].get_segments()
            lows = [end[0][1] for end in ends]
            np.testing.assert_allclose(lows, drawn.rate_ci.sel(error_term=term, ci_bound="lower"))
        assert ax.get_legend_handles_labels()[1] == ["pooled", "split_plot"]
    assert [each.get_text() for each in words.get_xticklabels()] == ["5/4", "4"]
    assert numbers.lines[-1].get_ydata()[0] == 0.05
    assert words.lines[-1].get_ydata()[0] == 0.5
    plt.close(figure)
    studies.draw_panels(part.sel(noise=1.0), "n_runs", "error_term")
    panels = plt.gcf().axes
    assert [ax.get_title() for ax in panels] == [
        "error_term pooled",
        "error_term split_plot",
    ]
    # panels share their axis: every end of an interval is within it
    low, high = panels[0].get_ylim()
    assert (low, high) == panels[1].get_ylim()
    assert low == 0
    assert part.sel(noise=1.0).rate_ci.max() <= high
    plt.close()
