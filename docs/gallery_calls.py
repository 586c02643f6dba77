"""The calls that make the pictures of the gallery, from the curves that come with the package."""

from __future__ import annotations

from typing import Any

DATA = {
    "scores": 'scores = xcurves.tutorial.open_dataset("tictactoe")["score"]',
    "errors": 'errors = xcurves.tutorial.open_dataset("digits_learning")["error"]',
    "draws": 'trials = xcurves.tutorial.open_dataset("classifiers")["accuracy"]\n'
    'draws = trials.sel(dataset="moons", tuning="random")',
    "losses": 'losses = xcurves.tutorial.open_dataset("widths")["loss"]',
    "accuracy": 'accuracy = xcurves.tutorial.open_dataset("benchmark")["accuracy"]',
}
_TEST = "def test(data, rng):\n    return xcurves.randomized_anova(data, n_resamples=99, rng=rng)\n"
CALLS = {  # how a result of each kind with pictures is made, or for one view
    "across_tasks": ["result = accuracy.curves.across_tasks(rng=0)"],
    "profile_across_tasks": ["result = accuracy.curves.profile_across_tasks(rng=0)"],
    "randomized_anova": ["result = scores.curves.randomized_anova(keep_null=True, rng=0)"],
    "pairwise": ["result = scores.curves.pairwise(rng=0)"],
    "contrast": ['result = scores.curves.contrast({"rate 0.1": 1, "rate 0.001": -1}, rng=0)'],
    "ss_profile": ["result = scores.curves.ss_profile(rng=0)"],
    "sequential": [
        "looks = scores.curves.assign_looks(5, n_looks=3)",
        "result = looks.curves.sequential(n_looks=3)",
    ],
    "gate": ['result = scores.curves.gate(baseline="rate 0.001", looks=(1, 2, 5))'],
    "speedup": ['result = accuracy.curves.speedup(reference="5 neighbours", task="task")'],
    "speedup-curves": [
        "result = scores.curves.speedup(",
        '    reference="rate 0.001", target=70',
        ")",
    ],
    "mean_time_to_target": ["result = scores.curves.mean_time_to_target(70)"],
    "mean_curves": ["result = scores.curves.mean_curves()"],
    "performance_profile": [
        'most = accuracy.mean(["algorithm", "run"]).max("training")',
        "times = accuracy.curves.time_to_target(0.98 * most)",
        "result = times.curves.performance_profile(rng=0)",
    ],
    "fit_power_law": ["result = errors.curves.fit_power_law()"],
    "predict": [
        "fit = errors.curves.fit_power_law()",
        "result = fit.curves.predict([2560, 5120])",
    ],
    "compare_learners": [
        "fit = errors.curves.fit_power_law()",
        "result = fit.curves.compare_learners()",
    ],
    "fit_scaling_law": ["result = losses.curves.fit_scaling_law(compute=1e7)"],
    "performance_cdf": [
        "final = scores.isel(training=-1)",
        "result = final.curves.performance_cdf(scores_at=range(60, 101))",
    ],
    "performance_cdf-training": [
        'common = accuracy.dropna("training")',
        "result = common.curves.performance_cdf(",
        '    dim=("task", "run"), strata="task", interval="percentile",',
        '    simultaneous="training", rng=0,',
        ")",
    ],
    "compare_distributions": [
        "final = scores.isel(training=-1)",
        "result = final.curves.compare_distributions()",
    ],
    "tuning_curve": [
        'chosen = draws.sel(algorithm=["k-NN", "SVM", "NN"])',
        "result = chosen.curves.tuning_curve(n_trials=100, bounds=(0, 1))",
    ],
    "runs_needed": [
        _TEST,
        "result = xcurves.runs_needed(",
        "    scores, test=test, n_runs=[5, 10, 20], n_replications=100, rng=0",
        ")",
    ],
}


QUESTIONS = {  # twelve pictures of the first page: what each answers
    "profile_across_tasks-mean_curve": "Which one learns better over many tasks?",
    "across_tasks-forest": "By how much, and is it shown?",
    "across_tasks-places": "Who ranks where?",
    "curves": "How does each run go?",
    "pairwise-curve_difference": "Where along training do two differ?",
    "speedup-curves": "How much sooner is it there?",
    "performance_cdf-cdf": "How do runs spread?",
    "tuning_curve-best": "What does more tuning buy?",
    "fit_power_law-curve": "What would more data buy?",
    "fit_scaling_law-isoflop": "How large a model for my compute?",
    "sequential-boundary": "May I look, and stop early?",
    "runs_needed-rate": "How many runs do I need?",
}


def lines_of(name: str, view: str) -> list[str]:
    """Return the lines of code that make the result of a view."""
    call = CALLS.get(f"{name}-{view}", CALLS[name])
    data = [line for given, line in DATA.items() if any(given in each for each in call)]
    return ["import xcurves", "", *data, *call]


def run(code: str) -> dict[str, Any]:
    """Return the names that code gives."""
    names: dict[str, Any] = {}
    exec(code, names)
    return names
