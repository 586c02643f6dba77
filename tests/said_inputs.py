"""About sixty small results whose every sentence and table stands in `said.txt`; seeded, of all kinds."""

import warnings

import numpy as np
import xarray as xr

import xcurves
from strategies import absent, make_curves, make_errors, make_scores
from xcurves import results
from xcurves.cli.terminal import as_text

SIZES = np.array([50, 100, 200, 400, 800])
TASKS = ["ant", "cheetah", "finger", "hopper", "humanoid", "pendulum", "reacher", "swimmer", "walker", "worm"]


def curves(effects, n_runs=4, n_tasks=1, n_levels=3, seed=0, spread=1.0):
    """Return curves that rise to 10 and an effect of each algorithm; a single task has no dim."""
    rng = np.random.default_rng(seed)
    effects = np.asarray(effects, float)[:, np.newaxis, np.newaxis]
    rise = np.linspace(5, 10, n_levels)
    of_task = rng.normal(scale=0.5, size=(n_tasks, len(effects), 1, 1))
    noise = rng.normal(scale=spread, size=(n_tasks, len(effects), n_runs, n_levels))
    values = rise + effects + of_task + noise
    names = ["ours", "sac", "td3", "ppo", "redq", "drq"][: len(effects)]
    found = make_curves(values, task=TASKS[:n_tasks]).assign_coords(algorithm=names)
    found.attrs = {"units": "points", "long_name": "episode return", "higher_is_better": 1}
    found["training"].attrs = {"units": "steps"}
    if n_tasks == 1:
        return found.isel(task=0, drop=True)
    return found


def final(found):
    """Return scores without training."""
    return found.isel(training=-1, drop=True)


def equal(found):
    """Return curves that are all as the first one."""
    return found.copy(data=np.broadcast_to(found[0, 0], found.shape))


def losses(effects, **options):
    """Return curves of which low scores are good."""
    found = curves(effects, **options)
    return found.assign_attrs(long_name="loss", units="nats", higher_is_better=0)


def items(n_items=60, seed=1):
    """Return answers of three models to questions, 1 where right."""
    rng = np.random.default_rng(seed)
    right = rng.uniform(size=(n_items, 3, 1)) < np.array([0.8, 0.6, 0.55])[:, np.newaxis]
    coords = {"question": np.arange(n_items), "algorithm": ["large", "small", "tiny"], "run": [0]}
    attrs = {"long_name": "accuracy", "higher_is_better": 1}
    return xr.DataArray(right.astype(float), coords, list(coords), name="score", attrs=attrs)


def uneven():
    """Return curves of which one algorithm has five tasks of ten."""
    found = curves([2, 0, 0.5], n_tasks=10)
    lacks = (found["algorithm"] == "td3") & found["task"].isin(TASKS[5:])
    return found.where(~lacks)


def learning_errors(seed=1):
    """Return errors of two learners that follow power laws."""
    law = 5 + np.array([150, 220])[:, np.newaxis, np.newaxis] * SIZES**-0.5
    values = law + np.random.default_rng(seed).normal(scale=0.3, size=(2, 3, 5))
    return make_errors(values, SIZES, algorithm=["plain", "augmented"])


def law_losses():
    """Return losses of 36 sizes and amounts of tokens of two architectures."""
    size, tokens = (each.ravel() for each in np.meshgrid(np.geomspace(1e7, 1e9, 6), np.geomspace(1e9, 1e11, 6)))
    law = 1.8 + 400 * size**-0.34 + 2000 * tokens**-0.37
    noise = np.exp(0.01 * np.random.default_rng(4).normal(size=(2, 36)))
    coords = {"algorithm": ["plain", "new"], "model_size": ("run", size), "tokens": ("run", tokens)}
    values = law * noise * np.array([1.0, 0.9])[:, np.newaxis]
    return xr.DataArray(values, coords, ["algorithm", "run"], attrs={"units": "nats"})


def trials(effects=(0, 0, 2), n_runs=9, seed=2, n_tasks=1):
    """Return final scores of trials."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n_tasks, len(effects), n_runs)) + np.asarray(effects, float)[:, np.newaxis]
    names = ["ours", "sac", "td3", "ppo"][: len(effects)]
    found = make_scores(values, task=TASKS[:n_tasks], algorithm=names, run=np.arange(n_runs))
    return found if n_tasks > 1 else found.isel(task=0, drop=True)


def looks(effects, **options):
    """Return curves of two of three looks, of three runs each."""
    found = curves(effects, n_runs=6, **options)
    return xcurves.assign_looks(found, {run: 1 + run // 3 for run in range(6)})


def one_run(found, name):
    """Return curves of which an algorithm has a single run."""
    return found.where((found["algorithm"] != name) | (found["run"] == 0))


def _anova(found, **options):
    return xcurves.randomized_anova(found, n_resamples=99, rng=0, **options)


def _pairs(found, **options):
    return xcurves.pairwise(found, n_resamples=999, rng=0, **options)


def _contrast(found, weights=None, **options):
    return xcurves.contrast(found, weights or {"ours": 1, "sac": -1}, n_resamples=999, rng=0, **options)


def _across(found, **options):
    return xcurves.across_tasks(found, n_resamples=999, rng=0, **options)


def _sequential(found, **options):
    return xcurves.sequential(found, n_looks=3, n_resamples=99, **options)


def _law():
    return xcurves.fit_power_law(learning_errors())


def _surface():
    return xcurves.fit_scaling_law(law_losses(), predict_at=[(7e9, 1.4e11)], compute=[1e20, 1e22])


def _speedup(found, **options):
    return xcurves.speedup(found, reference="sac", target=8.5, **options)


TESTS = {"test": lambda found: xcurves.randomized_anova(found, n_resamples=19, rng=0), "n_replications": 20, "rng": 0}
CASES = {
    "randomized_anova: three algorithms, one better": lambda: _anova(curves([3, 0, 0])),
    "randomized_anova: no difference": lambda: _anova(curves([0, 0])),
    "randomized_anova: three tasks": lambda: _anova(curves([3, 0], n_tasks=3)),
    "randomized_anova: unequal numbers of runs": lambda: _anova(absent(curves([3, 0, 0], n_runs=6), [6, 4, 3])),
    "randomized_anova: matched runs": lambda: _anova(curves([3, 0]), paired=True),
    "randomized_anova: two runs": lambda: _anova(curves([3, 0], n_runs=2)),
    "pairwise: two, one better": lambda: _pairs(curves([3, 0])),
    "pairwise: two, nothing shown": lambda: _pairs(curves([0, 0])),
    "pairwise: three, one better": lambda: _pairs(curves([3, 0, 0], n_runs=6)),
    "pairwise: five, all unlike": lambda: _pairs(curves([8, 6, 4, 2, 0], n_runs=6)),
    "pairwise: four and a reference": lambda: _pairs(curves([3, 0, 0, 5], n_runs=6), reference="ours"),
    "pairwise: two and a reference": lambda: _pairs(curves([3, 0]), reference="ours"),
    "pairwise: a loss": lambda: _pairs(losses([0, 3, 4], n_runs=6)),
    "pairwise: three runs": lambda: _pairs(curves([3, 0, 0], n_runs=3)),
    "pairwise: three tasks": lambda: _pairs(curves([3, 0], n_tasks=3)),
    "pairwise: three tasks and a reference": lambda: _pairs(curves([3, 0, 1], n_runs=6, n_tasks=3), reference="ours"),
    "pairwise: scores without training": lambda: _pairs(final(curves([3, 0, 0], n_runs=6))),
    "pairwise: an algorithm has a single run": lambda: _pairs(one_run(curves([3, 0, 0]), "td3")),
    "pairwise: equal scores": lambda: _pairs(equal(curves([0, 0]))),
    "contrast: shown": lambda: _contrast(curves([3, 0])),
    "contrast: not shown, at the end": lambda: _contrast(curves([0, 0, 0]), training_weights="final"),
    "contrast: one side and a margin": lambda: _contrast(curves([3, 0]), alternative="greater", margin=0.5),
    "contrast: three algorithms of a loss": lambda: _contrast(losses([0, 3, 3]), {"ours": 1, "sac": -0.5, "td3": -0.5}),
    "contrast: three tasks": lambda: _contrast(curves([3, 0], n_tasks=3)),
    "contrast: runs that do not differ": lambda: _contrast(curves([3, 0]).isel(run=[0, 0]).assign_coords(run=[0, 1])),
    "across_tasks: two, one better": lambda: _across(curves([3, 0], n_tasks=8)),
    "across_tasks: two, nothing shown": lambda: _across(curves([0.3, 0], n_tasks=8)),
    "across_tasks: three": lambda: _across(curves([3, 0, 0], n_tasks=10)),
    "across_tasks: five of a loss": lambda: _across(losses([0, 0.5, 2, 3, 4], n_tasks=8)),
    "across_tasks: three and a reference": lambda: _across(curves([3, 0, 0], n_tasks=8), reference="ours"),
    "across_tasks: four tasks": lambda: _across(curves([3, 0, 0], n_tasks=4)),
    "across_tasks: answers to questions": lambda: _across(items(), task="question"),
    "across_tasks: an algorithm without half of the tasks": lambda: _across(uneven()),
    "across_tasks: families": lambda: _across(curves([3, 0, 0], n_tasks=10), task_groups=list("aabbccddee")),
    "across_tasks: suites": lambda: _across(
        curves([1, 0, 0], n_tasks=8).assign_coords(suite=("task", list("aaabbbcc"))), by="suite"
    ),
    "across_tasks: scores without training, a margin": lambda: _across(
        final(curves([3, 0], n_tasks=8)), reference="sac", margin=0.5
    ),
    "profile_across_tasks: two": lambda: xcurves.profile_across_tasks(
        curves([3, 0], n_tasks=8, n_levels=5), fractions=4, n_resamples=99, rng=0
    ),
    "ss_profile: two": lambda: xcurves.ss_profile(
        curves([3, 0], n_levels=5), n_resamples=99, intervals=[0, 200, 400], margin=9.0, rng=0
    ),
    "sequential: two of three looks": lambda: _sequential(looks([3, 0, 0])),
    "sequential: a reference, nothing shown": lambda: _sequential(looks([0, 0, 0]), reference="ours"),
    "sequential: over tasks": lambda: _sequential(looks([3, 0], n_tasks=3), task="task"),
    "gate: three candidates": lambda: xcurves.gate(trials((0, 0, 2, -1)), baseline="ours"),
    "gate: over tasks": lambda: xcurves.gate(trials((0, 0, 2), n_tasks=3), baseline="ours", task="task"),
    "speedup: one task": lambda: _speedup(curves([3, 0], n_levels=6)),
    "speedup: over tasks": lambda: _speedup(curves([2, 0, 0], n_tasks=8, n_levels=6), task="task"),
    "mean_time_to_target: two": lambda: xcurves.mean_time_to_target(curves([2, 0], n_levels=6), 8.5),
    "performance_profile: three": lambda: xcurves.performance_profile(
        xcurves.time_to_target(curves([2, 0, 0], n_tasks=8, n_levels=6), 8.5), rng=0
    ),
    "fit_power_law: two": _law,
    "predict: two sizes": lambda: xcurves.predict(_law(), [1600, 3200]),
    "leave_one_size_out: two": lambda: xcurves.leave_one_size_out(learning_errors()),
    "compare_learners: two": lambda: xcurves.compare_learners(_law(), reference="plain"),
    "fit_scaling_law: two": _surface,
    "predict_loss: two amounts": lambda: xcurves.predict_loss(_surface(), model_size=7e9, tokens=[1.4e11, 1e12]),
    "optimal_allocation: two budgets": lambda: xcurves.optimal_allocation(_surface(), [1e20, 1e22]),
    "compare_scaling_laws: two": lambda: xcurves.compare_scaling_laws(
        _surface(), at_size_and_tokens=(7e9, 1.4e11), compute=1e21
    ),
    "performance_cdf: one task": lambda: xcurves.performance_cdf(trials(), scores_at=[0.0, 1.0]),
    "performance_cdf: strata": lambda: xcurves.performance_cdf(
        trials(n_tasks=3), dim=("task", "run"), strata="task", interval="percentile", n_resamples=99, rng=0
    ),
    "compare_distributions: three": lambda: xcurves.compare_distributions(trials(), rng=0),
    "compare_distributions: two, nothing shown": lambda: xcurves.compare_distributions(trials((0, 0)), rng=0),
    "compare_distributions: three tasks": lambda: xcurves.compare_distributions(trials((0, 2), n_tasks=3), rng=0),
    "compare_distributions: strata": lambda: xcurves.compare_distributions(
        trials((0, 2), n_tasks=3), dim=("task", "run"), strata="task", rng=0
    ),
    "tuning_curve: three": lambda: xcurves.tuning_curve(trials(n_runs=12), n_trials=6, bounds=(-9, 9)),
    "tuning_curve: two": lambda: xcurves.tuning_curve(trials((0, 0)), n_trials=6),
    "mean_curves: two": lambda: xcurves.mean_curves(curves([2, 0])),
    "runs_needed: two": lambda: xcurves.runs_needed(curves([2, 0]), n_runs=[3, 4], **TESTS),
}


def made(name):
    """Return the result of a case."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return CASES[name]()


def written(name, result):
    """Return everything that is said of a result: each sentence, which of them the summary has, and the table."""
    kind, prepared = results.prepare(result)
    said = kind.every_statement(prepared)
    lines = [f"== {name}", kind.question]
    numbered = {}
    for role in ("answer", "detail", "caution"):
        texts = [each.text for each in said if each.role == role]
        for place, text in enumerate(texts, start=1):
            numbered[text] = f"{role} {place}"
            lines.append(f"{role} {place}: {text}")
    summary = [numbered[line] for line in result.curves.summary().split("\n")]
    lines.append(f"summary: {', '.join(summary)}")
    table = result.curves.table()
    lines += [f"caption: {table.attrs['caption']}", as_text(table)]
    return "\n".join(lines)
