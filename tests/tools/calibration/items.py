"""Items of an evaluation: the claims of this package about models that answer the same questions, and three wrong ways.

Models are right on an item with the chance Φ(easiness of the item + what suits the model + its lead), all normal, so
that the true accuracy of a model over all items that there are is known. The wrong ways are written anew: answers as
independent runs (Welch's t), clusters that are ignored, and a test of each item, combined or by itself.
"""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np
import xarray as xr
from scipy import optimize, stats

import xcurves
from calibration.claims import EXACT, Simulation, fails, labelled, missed, near, outside

RESAMPLES = 499
POWER = 0.8  # of `smallest_to_show`
EASINESS, SUITED, SHARED = 1.0, 0.6, 0.5  # standard deviations: of items, of items for a model, of clusters for a model
LARGEST = 20  # models


def accuracy(usual, lead=0.0, at_least_one_of=1, clustered=False):
    """Return the share of all items that a model answers, or answers at least once of several times."""
    spread = EASINESS**2 + SUITED**2 + clustered * SHARED**2
    mean = stats.norm.ppf(usual) * np.sqrt(1 + spread)
    if at_least_one_of == 1:
        return float(stats.norm.cdf((mean + lead) / np.sqrt(1 + spread)))
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    wrong = stats.norm.sf(mean + lead + np.sqrt(spread) * nodes) ** at_least_one_of
    return float(1 - wrong @ weights / weights.sum())


def easiness(n_datasets, n_items, n_models, usual, sizes=None, *, suited=SUITED, rng):
    """Return how easy items are for models, shape (data set, item, model, 1), of which a share `usual` is right."""
    spread = EASINESS**2 + SUITED**2
    if sizes is not None:
        spread += SHARED**2
    at = np.full((n_datasets, n_items, n_models, 1), stats.norm.ppf(usual) * np.sqrt(1 + spread))
    at += EASINESS * rng.normal(size=(n_datasets, n_items, 1, 1))
    at += suited * rng.normal(size=at.shape)
    if sizes is not None:
        of_clusters = SHARED * rng.normal(size=(n_datasets, len(sizes), n_models, 1))
        at += np.repeat(of_clusters, sizes, axis=1)
    return at


def lead_on_these(n_items, n_models, usual, lead):
    """Return by how much of the same items of all data sets a model with a lead answers more."""
    at = easiness(1, n_items, n_models, usual, suited=0.0, rng=np.random.default_rng(7))[0, :, -1, 0]
    return float((stats.norm.cdf(at + lead) - stats.norm.cdf(at)).mean())


def answers(
    n_datasets,
    *,
    n_models=4,
    n_items=100,
    n_answers=1,
    usual=0.6,
    sizes=None,
    lead=0.0,
    gaps=0.0,
    same_items=False,
    rng,
):
    """Answers of 0 and 1; items of clusters of these sizes; the last model has a `lead`.

    The first two models lack a share `gaps` of the items. `same_items`: the same in all data sets, and they suit no
    model more than another.
    """
    if sizes is not None:
        n_items = sum(sizes)
    if same_items:
        at = easiness(1, n_items, n_models, usual, suited=0.0, rng=np.random.default_rng(7))
    else:
        at = easiness(n_datasets, n_items, n_models, usual, sizes, rng=rng)
    at[:, :, -1] += lead
    scores = (rng.normal(size=(n_datasets, n_items, n_models, n_answers)) < at).astype(float)
    if gaps:
        scores[rng.random((n_datasets, n_items)) < gaps, :2] = np.nan
    return _of_models(scores)


def rare(n_datasets, *, n_models, n_items, share, rng):
    """All models give the same answers, but for the last, which is wrong on a share of items where the others are not.

    Its differences have one sign only.
    """
    scores = np.repeat((rng.random((n_datasets, n_items, 1, 1)) < 0.5).astype(float), n_models, axis=2)
    differ = rng.random((n_datasets, n_items)) < share
    scores[differ] = 1.0
    scores[differ, -1] = 0.0
    return _of_models(scores)


def points(n_datasets, *, n_models=20, n_items, shape="normal", scales=0.0, sizes=None, rng):
    """Points of models that are equal over all items, of any shape; items have scales exp(`scales` normal)."""
    size = (n_datasets, n_items, n_models, 1)
    values = rng.normal(size=size)
    if shape == "exponential":
        values = rng.exponential(size=size)
    if shape == "t, 3 df":
        values = rng.standard_t(3, size=size)
    if sizes is not None:
        of_clusters = SHARED * rng.normal(size=(n_datasets, len(sizes), n_models, 1))
        values += np.repeat(of_clusters, sizes, axis=1)
    values *= np.exp(scales * rng.normal(size=(n_datasets, n_items, 1, 1)))
    return _of_models(values)


def _of_models(scores):
    names = [f"m{number:02d}" for number in range(LARGEST)]
    coords = {"item": np.arange(scores.shape[1]), "algorithm": names[: scores.shape[2]]}
    return labelled(scores[..., np.newaxis], **coords, run=np.arange(scores.shape[3]), training=[1.0])


def compared(data, *, sizes=None, rng=None, n_resamples=RESAMPLES):
    """The comparison over items, by clusters if there are some."""
    groups = None
    if sizes is not None:
        groups = np.repeat(np.arange(len(sizes)), sizes)
    return xcurves.across_tasks(
        data, task="item", task_groups=groups, per_task=False, n_resamples=n_resamples, higher_is_better=True, rng=rng
    )


def held(found, ahead, claim="random"):
    """Whether an interval of any pair misses the truth, and any place; the last model is `ahead`, in its score."""
    last = found.algorithm[-1].item()
    is_last = (found.algorithm_b == last).drop_vars(found.pair.coords)
    intervals = found.difference_ci_simultaneous.sel(task_effect=claim, drop=True)
    low, high = (found.place_ci.sel(task_effect=claim, ci_bound=bound, drop=True) for bound in ("lower", "upper"))
    n = found.sizes["algorithm"]
    first, final = xr.full_like(low[0], 1.0), xr.full_like(low[0], float(n))  # of models that are equal
    if ahead > 0:
        first = first.where(found.algorithm == last, 2.0)
        final = final.where(found.algorithm != last, 1.0)
    if ahead < 0:
        first = first.where(found.algorithm != last, float(n))
        final = final.where(found.algorithm == last, n - 1.0)
    return {
        # one without ends, of few clusters, misses nothing
        "interval of any pair": missed(intervals, -ahead * is_last).min("pair"),
        "any place": outside(((low > first) | (high < final)).any("algorithm")),
    }


def levels(data, *, sizes=None, claim="random", n_resamples=RESAMPLES, rng=None):
    """The p of one pair, the smallest adjusted one, and what is held, of equal models."""
    found = compared(data, sizes=sizes, n_resamples=n_resamples, rng=rng)
    p, adjusted = (found[name].sel(task_effect=claim, drop=True) for name in ("pvalue", "pvalue_adjusted"))
    return {"a pair": p.isel(pair=0, drop=True), "any pair, adjusted": adjusted.min("pair")} | held(found, 0.0, claim)


def coverage(data, *, ahead, sizes=None, claim="random", rng=None):
    """What is held of models of which the last is ahead."""
    return held(compared(data, sizes=sizes, rng=rng), ahead, claim)


def passed(data, *, k, ahead=0.0, rng=None):
    """The same of the chance that at least one of k answers is right."""
    found = compared(xcurves.pass_at(data, k, higher_is_better=True), rng=rng)
    if ahead:
        return held(found, ahead)
    p = found.pvalue.sel(task_effect="random", drop=True).isel(pair=0, drop=True)
    adjusted = found.pvalue_adjusted.sel(task_effect="random", drop=True).min("pair")
    return {"a pair": p, "any pair, adjusted": adjusted} | held(found, 0.0)


def studies(n_datasets, *, rng, **options):
    """A first study and a second one, side by side."""
    both = [points(n_datasets, rng=rng, **options) for _ in range(2)]
    return xr.concat(both, "study").transpose("replication", ...)


def shown_as_said(data, *, sizes=None, rng=None):
    """The p in a second study of the difference that the first said so many items show."""
    first, second = (data.isel(study=number, drop=True) for number in (0, 1))
    said = compared(first, sizes=sizes, rng=rng).smallest_to_show.isel(pair=0, drop=True)
    second = second + said * (second.algorithm == second.algorithm[0])
    return shown(second, pair=0, sizes=sizes, rng=rng)


@lru_cache
def said_lead(n_items, usual):
    """Return the lead of the last model that is the mean `smallest_to_show` of 200 studies of equal models."""
    data = answers(200, n_items=n_items, usual=usual, rng=np.random.default_rng(5))
    said = float(compared(data, rng=5).smallest_to_show.mean())
    return optimize.brentq(lambda lead: accuracy(usual, lead) - accuracy(usual) - said, 0.0, 3.0)


def with_said_lead(n_datasets, *, n_items, usual, rng):
    """Answers of models of which the last is as far ahead as studies of this size say they show."""
    return answers(n_datasets, n_items=n_items, usual=usual, lead=said_lead(n_items, usual), rng=rng)


def shown(data, *, pair=-1, sizes=None, rng=None):
    """The p of a pair of which one model is ahead of all others: by itself times the number of pairs, and adjusted."""
    found = compared(data, sizes=sizes, rng=rng).sel(task_effect="random", drop=True).isel(pair=[pair])
    n_pairs = data.sizes["algorithm"] * (data.sizes["algorithm"] - 1) / 2
    alone = np.minimum(n_pairs * found.pvalue, 1.0)
    return {"at 0.05 / 6": alone.min("pair"), "shown": found.pvalue_adjusted.min("pair")}


def answers_as_runs(data, *, rng=None):
    """The p of one pair of equal models whose answers are read as runs, or whose items are tested one by one."""
    right = data.isel(training=0).transpose("replication", "algorithm", "item", "run").to_numpy()[:, :2]
    n_sets, _, _, n_answers = right.shape
    runs = right.reshape(n_sets, 2, -1)
    shares = right.mean(axis=-1)
    usual = shares.mean(axis=1)
    error = np.sqrt(2 * usual * (1 - usual) / n_answers)
    z = np.zeros(usual.shape)
    np.divide(shares[:, 0] - shares[:, 1], error, out=z, where=error > 0)
    combined = z.sum(axis=1) / np.sqrt(np.count_nonzero(error, axis=1))
    known = {
        "answers as independent runs": stats.ttest_ind(runs[:, 0], runs[:, 1], axis=1, equal_var=False).pvalue,
        "a test of each item, combined": 2 * stats.norm.sf(np.abs(combined)),
        "a test of each item, any": 2 * stats.norm.sf(np.abs(z).max(axis=1)),
    }
    found = {name: xr.DataArray(p, dims="replication") for name, p in known.items()}
    return found | {"items as tasks": _of_first_pair(compared(data, rng=rng))}


def clusters_ignored(data, *, sizes, rng=None):
    """The p of one pair of equal models whose items are taken one by one, and by their clusters."""
    return {
        "clusters ignored": _of_first_pair(compared(data, rng=rng)),
        "by clusters": _of_first_pair(compared(data, sizes=sizes, rng=rng)),
    }


def _of_first_pair(found):
    return found.pvalue.sel(task_effect="random", drop=True).isel(pair=0, drop=True)


def unlike(n_clusters):
    """Return sizes of clusters, 1 : 1/2 : 1/3 : …, of which the largest has 60 items."""
    return tuple(int(np.ceil(60 / (number + 1))) for number in range(n_clusters))


LEVELS = {
    "a pair": near(0.03, 0.055),
    "any pair, adjusted": near(0.03, 0.06),
    "interval of any pair": near(0.02, 0.06),
    "any place": near(0.03, 0.06),
}
STRICT = dict.fromkeys(LEVELS, near(0.0, 0.06))
HELD = {"interval of any pair": near(0.02, 0.07), "any place": near(0.0, 0.06)}
LOOSE = {"interval of any pair": near(0.0, 0.08), "any place": near(0.0, 0.06)}
# Step-down shows more than a pair by itself at 0.05 / 6, the level that `smallest_to_show` is for.
POWERS = {"at 0.05 / 6": near(POWER - 0.04, POWER + 0.05), "shown": near(POWER, 1.0)}
FULL = 1_000


def _levels(setting, claims, *, claim="random", n_resamples=RESAMPLES, short=100, full=FULL, block=50, **options):
    name = "Items like these, equal models"
    if claim == "fixed":
        name = "These items, equal models"
    return Simulation(
        name,
        setting,
        partial(answers, **options),
        partial(levels, sizes=options.get("sizes"), claim=claim, n_resamples=n_resamples),
        claims,
        short,
        full,
        block,
    )


def _coverage(setting, claims, *, lead=0.4, short=100, full=FULL, block=50, **options):
    usual, sizes = options.get("usual", 0.6), options.get("sizes")
    ahead = accuracy(usual, lead, clustered=sizes is not None) - accuracy(usual, clustered=sizes is not None)
    return Simulation(
        "Items like these, one model better",
        setting,
        partial(answers, lead=lead, **options),
        partial(coverage, ahead=ahead, sizes=sizes),
        claims,
        short,
        full,
        block,
    )


SIMULATIONS = [
    _levels("4 models × 100 items", LEVELS),
    _levels("4 × 1,000", LEVELS, n_items=1_000),
    _levels("4 × 200, 2 % right", STRICT, n_items=200, usual=0.02),
    _levels("4 × 1,000, 98 % right", STRICT, n_items=1_000, usual=0.98),
    _levels("4 × 200, four answers", LEVELS, n_items=200, n_answers=4),
    _levels("4 × 300 in 30 clusters of 10", LEVELS, sizes=(10,) * 30),
    _levels("4 × 300 in 10 clusters of 30", LEVELS, sizes=(30,) * 10),
    _levels("4 × 177 in 10 clusters of unlike size", STRICT, sizes=unlike(10)),
    _levels("4 × 290 in 50 clusters of unlike size", LEVELS, sizes=unlike(50)),
    _levels("8 × 500", LEVELS, n_models=8, n_items=500),
    _levels("20 × 500", LEVELS, n_models=20, n_items=500, block=20, full=500, short=40),
    _levels("4 × 300, of which two models lack a fifth", LEVELS, n_items=300, gaps=0.2, block=25),
    *(
        Simulation(
            "Items like these, points of equal models",
            setting,
            partial(points, **options),
            levels,
            LEVELS,
            40,
            500,
            20,
        )
        for setting, options in (
            ("20 models × 12, scales exp N(0, 1)", {"n_items": 12, "scales": 1.0}),
            ("20 × 20, exponential", {"n_items": 20, "shape": "exponential"}),
            ("20 × 41, t with 3 df", {"n_items": 41, "shape": "t, 3 df"}),
        )
    ),
    _coverage("4 models × 100 items", HELD),
    _coverage("4 × 200, 2 % right", LOOSE, n_items=200, usual=0.02),
    _coverage("4 × 300 in 30 clusters of 10", HELD, sizes=(10,) * 30),
    _coverage("4 × 177 in 10 clusters of unlike size", LOOSE, sizes=unlike(10)),
    _coverage("20 × 500", HELD, n_models=20, n_items=500, lead=0.2, block=20, full=500, short=40),
    *(
        Simulation(
            "Items like these, models that rarely differ",
            f"{n_models} × {n_items:,}, one differs on {share:.1%} of items, one way",
            partial(rare, n_models=n_models, n_items=n_items, share=share),
            partial(coverage, ahead=-share),
            {"interval of any pair": claim, "any place": near(0.0, 0.05)},
            100,
            FULL,
            50,
        )
        for n_models, n_items, share, claim in (
            (4, 100, 0.02, near(0.0, 0.06)),
            (4, 100, 0.01, near(0.0, 0.06)),
            (4, 500, 0.005, near(0.0, 0.06)),
            (6, 1_000, 0.01, near(0.0, 0.07)),
        )
    ),
    _levels("4 models × 200 items, four answers", STRICT, claim="fixed", n_items=200, n_answers=4, same_items=True),
    _levels(
        "4 × 200, four answers, 2 % right",
        STRICT,
        claim="fixed",
        n_items=200,
        n_answers=4,
        usual=0.02,
        same_items=True,
    ),
    _levels("8 × 500, two answers", STRICT, claim="fixed", n_models=8, n_items=500, n_answers=2, same_items=True),
    Simulation(
        "These items, one model better",
        "4 models × 200 items, four answers",
        partial(answers, n_items=200, n_answers=4, lead=0.2, same_items=True),
        partial(coverage, ahead=lead_on_these(200, 4, 0.6, 0.2), claim="fixed"),
        LOOSE,
        100,
        FULL,
        50,
    ),
    Simulation(
        "Items like these, at least one of three answers right",
        "4 models × 200 items, five answers, equal models",
        partial(answers, n_items=200, n_answers=5),
        partial(passed, k=3),
        LEVELS,
        100,
        FULL,
        50,
    ),
    Simulation(
        "Items like these, at least one of three answers right, one model better",
        "4 models × 200 items, five answers",
        partial(answers, n_items=200, n_answers=5, lead=0.4),
        partial(passed, k=3, ahead=accuracy(0.6, 0.4, 3) - accuracy(0.6, 0.0, 3)),
        HELD,
        100,
        FULL,
        50,
    ),
    *(
        Simulation(
            "Items, `smallest_to_show`: its power (0.8 by design)",
            setting,
            partial(studies, n_models=4, **options),
            partial(shown_as_said, sizes=options.get("sizes")),
            POWERS,
            100,
            1_000,
            50,
            bold_above=1.0,
            bold_below=POWER,
        )
        for setting, options in (
            ("4 models × 100 items of normal points", {"n_items": 100}),
            ("4 × 300 in 30 clusters of 10", {"n_items": 300, "sizes": (10,) * 30}),
        )
    ),
    *(
        Simulation(
            "Items, `smallest_to_show` of 0 and 1: its power (0.8 by design)",
            f"4 models × {n_items} items, {usual:.0%} right",
            partial(with_said_lead, n_items=n_items, usual=usual),
            shown,
            POWERS,
            100,
            500,
            50,
            bold_above=1.0,
            bold_below=POWER,
        )
        for n_items, usual in ((200, 0.6), (500, 0.6))
    ),
    Simulation(
        "Items, three wrong ways",
        "no difference, 2 models × 200 items, four answers",
        partial(answers, n_models=2, n_items=200, n_answers=4),
        answers_as_runs,
        {
            "answers as independent runs": fails(0.06),
            "a test of each item, combined": fails(0.1),
            "a test of each item, any": fails(0.5),
            "items as tasks": EXACT,
        },
        400,
        1_000,
        50,
    ),
    Simulation(
        "Items, three wrong ways",
        "no difference, 2 × 300 in 30 clusters of 10",
        partial(answers, n_models=2, sizes=(10,) * 30),
        partial(clusters_ignored, sizes=(10,) * 30),
        {"clusters ignored": fails(0.06), "by clusters": EXACT},
        400,
        1_000,
        50,
    ),
]
