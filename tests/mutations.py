"""Mutated lines of kernels, and how many the plain tests catch: `python tests/mutations.py`.

Each mutation changes one line in a copy of the package. It is caught if the tests of its folders fail. A line that is
not found any more is an error: put another in its place.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
ANOVA = ("tests/anova", "tests/kernels")
TASKS = ("tests/multi_task", "tests/kernels")
LEARNING = ("tests/learning_curves", "tests/kernels")
TRIALS = ("tests/distributions", "tests/kernels")
TIMES = ("tests/target_times", "tests/kernels")
LOOKS = ("tests/group_sequential", "tests/kernels")
MUTATIONS = [  # module, part of a line, what it becomes, tests
    ("plans", "if n_assignments <= most:", "if n_assignments < most:", ANOVA),
    ("plans", "todo = todo[(high[:, last - 1] == high[:, last]).any(axis=-1)]", "todo = todo[:0]", ANOVA),
    ("plans", "sizes[0] if labelled else sizes[0] - 1", "sizes[0] - 1 if labelled else sizes[0]", ANOVA),
    ("plans", "= keys > last[:, np.newaxis]", "= keys >= last[:, np.newaxis]", ANOVA),
    ("engine", "np.floor(alpha * plan.n_total + 1e-9)", "np.ceil(alpha * plan.n_total + 1e-9)", ANOVA),
    ("engine", "[..., np.newaxis] - TIE", "[..., np.newaxis] + TIE", ANOVA),
    ("engine", "axis=-1) > self.most", "axis=-1) >= self.most", ANOVA),
    ("engine", "gap |= (~kept & (at < inside)).any(axis=0)", "gap |= (~kept & (at > inside)).any(axis=0)", ANOVA),
    ("sums", "between = n_groups - 1", "between = n_groups", ANOVA),
    ("sums", "else n_curves - n_groups", "else n_curves - n_groups - 1", ANOVA),
    ("sums", "n_levels - 1, df_error[0, 0]", "n_levels, df_error[0, 0]", ANOVA),
    ("welch", ".sum(axis=1) / (m - 1)", ".sum(axis=1) / m", ANOVA),
    ("welch", "df = (m * m - 1) / (3 * spread)", "df = (m * m) / (3 * spread)", ANOVA),
    ("welch", "spread = ((1 - share) ** 2 / (size - 1))", "spread = ((1 - share) ** 2 / size)", ANOVA),
    ("contrasts", "len(w), weights**2 / (sizes * (sizes - 1))", "len(w), weights**2 / (sizes * sizes)", ANOVA),
    ("contrasts", "~(shuffled < t - slack)", "~(shuffled < t + slack)", ANOVA),
    ("engine", "np.maximum.accumulate(raised, axis=-1), 1.0)", "np.maximum.accumulate(raised, axis=-1), 2.0)", ANOVA),
    ("task_flips", "// (1 + plan.exact) for alpha", "for alpha", TASKS),
    ("task_effects", "of_a, of_b = 1 / (m * (m - 1))", "of_a, of_b = 1 / (m * m)", TASKS),
    ("task_ranks", "(self.first + self.last + 1) / 2", "(self.first + self.last) / 2", TASKS),
    (
        "bootstrap",
        "own = (residual**2).sum(axis=1) / (n * (n - 1))",
        "own = (residual**2).sum(axis=1) / (n * n)",
        TASKS,
    ),
    ("group_sequential", "inside = (cells.tasks >= tasks.start)", "inside = (cells.tasks > tasks.start)", LOOKS),
    ("group_sequential", "c_a, c_b = (1 / (n * (n - 1))", "c_a, c_b = (1 / (n * n)", LOOKS),
    ("wls", "np.where(folds > 1, (folds - 1) * spread, 0.0)", "np.where(folds > 1, folds * spread, 0.0)", LEARNING),
    ("wls", "np.maximum(slope, 0.0)", "np.maximum(slope, -1.0)", LEARNING),
    ("learning", "total - self.n_parameters + bound", "total - self.n_parameters - bound", LEARNING),
    ("learning", "by_folds = total - (folds > 0).sum(axis=1)", "by_folds = total - (folds > 1).sum(axis=1)", LEARNING),
    (
        "refits",
        "horizon = np.maximum(octave, _LEAST_HORIZON)",
        "horizon = np.minimum(octave, _LEAST_HORIZON)",
        LEARNING,
    ),
    ("compare", "np.where(before * after < 0", "np.where(before * after > 0", LEARNING),
    (
        "engine",
        "inverse(successes + 1, np.maximum(trials - successes, 1), 1 - alpha / 2)",
        "inverse(successes + 1, np.maximum(trials - successes, 1), 1 - alpha)",
        TRIALS,
    ),
    ("ecdf", "ppf(1 - alpha, n, share)", "ppf(1 - 2 * alpha, n, share)", TRIALS),
    ("bootstrap", "np.minimum(below + 1, drawn.shape[1] - 1)", "np.minimum(below, drawn.shape[1] - 1)", TRIALS),
    ("bootstrap", "cumulative < tail - _TIE", "cumulative <= tail + _TIE", TRIALS),
    ("summaries", "quarter = np.floor(n / 4)", "quarter = np.ceil(n / 4)", TRIALS),
    ("twosample", "left = m + n - step + 1", "left = m + n - step", TRIALS),
    ("twosample", "(np.abs((step - k) * m - k * n) >= gap", "(np.abs((step - k) * m - k * n) > gap", TRIALS),
    ("ecdf", "is_lower = np.arange(2 * n) < n", "is_lower = np.arange(2 * n) <= n", TRIALS),
    ("mean_curves", "u = u[(u >= first) & (u <= last)]", "u = u[(u > first) & (u <= last)]", TIMES),
    ("mean_curves", "reached = track.d >= 0", "reached = track.d > 0.01", TIMES),
]


def mutated(folder, module, part, other):
    """Copy the package into a folder, with one line changed."""
    shutil.copytree(ROOT / "src", folder / "src")
    path = folder / "src" / "xcurves" / "kernels" / f"{module}.py"
    text = path.read_text(encoding="utf-8")
    assert part in text, f"{module}: {part!r} is not there; put another line in its place"
    path.write_text(text.replace(part, other, 1), encoding="utf-8")


def is_caught(module, part, other, tests):
    """Return whether the plain tests of some folders fail."""
    with tempfile.TemporaryDirectory() as name:
        mutated(Path(name), module, part, other)
        options = ["-q", "-x", "-n", "2", "-p", "no:cacheprovider"]
        environment = {**os.environ, "PYTHONPATH": str(Path(name) / "src")}
        command = [sys.executable, "-m", "pytest", *options, *tests]
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False).returncode > 0


def main(words):
    chosen = [each for each in MUTATIONS if not words or each[0] in words]
    caught = 0
    for each in chosen:
        found = is_caught(*each)
        caught += found
        print("caught" if found else "NOT CAUGHT", *each[:3], sep=" | ", flush=True)
    print(f"{caught} of {len(chosen)} caught")


if __name__ == "__main__":
    main(sys.argv[1:])
