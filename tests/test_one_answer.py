"""Sentence, table, picture and p of a pair agree on whether it is shown, on its sign and on who stands first."""

import re

import numpy as np
import pytest

import xcurves
from layers import slow
from strategies import make_curves
from xcurves.say.verdict import MOST_WORDS

ALPHA = 0.05
N_SETS = 60  # for each number of algorithms; two of them in the plain run
ALGORITHMS = [2, slow(3), 4, slow(5), slow(8)]
SEEDS = [
    pytest.param(range(2), id="few"),
    pytest.param(range(2, N_SETS), id="many", marks=pytest.mark.slow),
]
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def random_curves(n_algorithms, seed, *, tasks=True):
    """Return curves of some equal and some unlike algorithms, in every second data set on unlike scales."""
    rng = np.random.default_rng([n_algorithms, seed])
    n_tasks = int(rng.integers(6, 12)) if tasks else 1
    effects = rng.choice([0.0, 0.0, 0.8, 2.0], n_algorithms)
    levels = effects + rng.normal(0, 0.5, (n_tasks, n_algorithms))
    values = levels[:, :, np.newaxis, np.newaxis] + rng.normal(size=(n_tasks, n_algorithms, 4, 3))
    if seed % 2:
        values = values * np.exp(1.2 * rng.normal(size=(n_tasks, 1, 1, 1)))
    names = [f"method_{letter}" for letter in "abcdefgh"[:n_algorithms]]
    curves = make_curves(values, task=[f"t{i}" for i in range(n_tasks)]).assign_coords(algorithm=names)
    return curves if tasks else curves.isel(task=0, drop=True)


def check_pairs(table, pairs, p, estimate, *, columns, lower_is_better=False):
    """Compare the rows of a table with the p-values and differences of the Dataset."""
    word = " below " if lower_is_better else " over "
    assert len(table) == len(pairs)
    sizes = []
    for label, row in table.iterrows():
        better, other = re.split(f"{word}| and ", label)
        key = f"{better} - {other}" if f"{better} - {other}" in pairs else f"{other} - {better}"
        place = pairs.index(key)
        d = estimate[place] if key.startswith(f"{better} - ") else -estimate[place]
        d = -d if lower_is_better else d
        assert d >= 0  # the better one is first
        np.testing.assert_allclose(row["difference"], d)
        sizes.append(d)
        low, high = (row[name] for name in columns)
        shown = p[place] <= ALPHA + 1e-12 and d > 0
        if shown:
            assert low >= 0 or np.isnan(low)
        else:
            assert np.isnan(low) or low <= 0 <= high
        assert np.isnan(low) or low <= d <= high
    assert sizes == sorted(sizes, reverse=True)


def check_verdict(said, one, p, estimate, *, lower_is_better=False):
    """Compare the verdict with p and signs: who may be the best, and over whom a difference is said to be shown."""
    pairs = one.pair.values.tolist()
    sign = -1 if lower_is_better else 1
    beaten = set()
    for pair, p_value, d in zip(pairs, p, estimate, strict=True):
        a, b = pair.split(" - ")
        if p_value <= ALPHA + 1e-12 and d != 0:
            beaten.add(b if sign * d > 0 else a)
    names = one.algorithm.values.tolist()
    candidates = [name for name in names if name not in beaten]
    best = re.search(r"(\S+) has the ", said)[1]
    # Those that are said to be worse are shown to be worse than the best itself.
    worse = "higher" if lower_is_better else "lower"
    below_best = {
        (set(pair.split(" - ")) - {best}).pop()
        for pair, p_value, d in zip(pairs, p, estimate, strict=True)
        if best in pair.split(" - ")
        and p_value <= ALPHA + 1e-12
        and sign * d * (1 if pair.startswith(f"{best} - ") else -1) > 0
    }
    for others in re.findall(rf"may be the best; ([^.]*?) (?:is|are) shown to be {worse} \(", said):
        named = set(re.findall(r"method_[a-h]", others))
        assert named
        assert named <= below_best
        assert named == below_best or " more" in others
    if len(names) == 2:
        assert ("either may be the better one" in said.lower()) == (len(candidates) == 2)
    elif "than all others" in said:
        assert candidates == [best]
    elif "any of the" in said.lower():
        assert len(candidates) == len(names)
    else:
        sentence = re.search(r"([^.]*) may be the best", said)[1]
        named = set(re.findall(r"method_[a-h]", sentence))
        assert named <= set(candidates)
        assert named == set(candidates) or sentence.endswith(" others")


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("n_algorithms", ALGORITHMS)
def test_over_tasks(n_algorithms, seeds):
    for seed in seeds:
        lower = seed % 3 == 0
        curves = random_curves(n_algorithms, seed)
        one = xcurves.across_tasks(curves, higher_is_better=not lower, n_resamples=2047, rng=seed)
        table, said = one.curves.table(), xcurves.kinds.kind("across_tasks").answer(one)
        estimate = one.difference.values
        for claim in ("random", "fixed"):
            p = one.pvalue_adjusted.sel(task_effect=claim).values
            columns = (f"{claim}_lower", f"{claim}_upper")
            check_pairs(
                table,
                one.pair.values.tolist(),
                p,
                estimate,
                columns=columns,
                lower_is_better=lower,
            )
        p = one.pvalue_adjusted.sel(task_effect="random").values
        check_verdict(
            said.split(" On these very tasks")[0],
            one,
            p,
            estimate,
            lower_is_better=lower,
        )
        assert len(said.split()) <= MOST_WORDS


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("n_algorithms", ALGORITHMS)
def test_in_one_task(n_algorithms, seeds):
    for seed in seeds:
        lower = seed % 3 == 0
        curves = random_curves(n_algorithms, seed, tasks=False)
        one = xcurves.pairwise(curves, higher_is_better=not lower, rng=seed)
        p = one.pvalue_adjusted.sel(effect="algorithm").values
        said = one.curves.summary().split("\n")[0]
        columns = ("lower", "upper")
        table = one.curves.table()
        check_pairs(
            table,
            one.pair.values.tolist(),
            p,
            one.difference.values,
            columns=columns,
            lower_is_better=lower,
        )
        check_verdict(said, one, p, one.difference.values, lower_is_better=lower)


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("n_algorithms", ALGORITHMS)
def test_along_the_budget(n_algorithms, seeds):
    for seed in seeds:
        profile = xcurves.profile_across_tasks(random_curves(n_algorithms, seed), fractions=3, n_resamples=1023, rng=0)
        table = profile.curves.table().reset_index()
        for _, row in table.iterrows():
            better, other = re.split(" over | and ", row["pair"])
            key = f"{better} - {other}"
            sign = 1 if key in profile.pair.values else -1
            key = key if sign == 1 else f"{other} - {better}"
            own = profile.sel(pair=key, budget_fraction=row["budget_fraction"])
            d, p = sign * own.difference.item(), own.pvalue_adjusted.item()
            if np.isnan(p):
                continue
            np.testing.assert_allclose([row["difference"], row["p"]], [d, p])
            shown = p <= ALPHA + 1e-12 and d != 0
            assert shown == (row["lower"] >= 0 if d > 0 else row["upper"] <= 0) or (
                not shown and 0 in tuple(row[["lower", "upper"]])
            )
        answer = xcurves.kinds.kind("profile_across_tasks").answer(profile)
        shown = ((profile.pvalue_adjusted <= ALPHA) & (profile.difference != 0)).any("budget_fraction").values
        shown |= profile.mean_pvalue_adjusted.values <= ALPHA
        for pair in profile.pair.values[~shown]:
            a, b = pair.split(" - ")
            assert f"{a} is higher than {b}" not in answer
            assert f"{b} is higher than {a}" not in answer
