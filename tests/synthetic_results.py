"""Results of any size, filled from the declarations of their kinds instead of computed."""

import re

import numpy as np
import xarray as xr

import xcurves
from strategies import make_curves
from xcurves import kinds
from xcurves.core.labels import CI_BOUNDS

ALGORITHMS = [f"{name}{turn}" for turn in ("", "-large", "-small", "-tuned") for name in
              ("SAC", "TD3", "PPO", "DrQ-v2", "DreamerV3", "TD-MPC2", "REDQ")]  # fmt: skip
_MOVES = (
    "run",
    "walk",
    "stand",
    "spin",
    "flip",
    "jump",
    "turn-easy",
    "turn-hard",
    "swing-up",
    "hop",
)
_BODIES = ("walker", "cheetah", "finger", "hopper", "humanoid", "quadruped")
TASKS = [f"{body}-{move}" for body in _BODIES for move in _MOVES]
LEVELS = np.linspace(0, 1e6, 20)
SIZES = np.array([25, 50, 100, 200, 400, 800])
# Kinds whose results are not filled at random: their pictures need numbers that fit together.
REAL = {
    "gate",
    "speedup",
    "mean_time_to_target",
    "performance_profile",
    "fit_scaling_law",
    "tuning_curve",
}
VIEWS_OF_RESULTS = [(name, view) for name in kinds.NAMES if name not in REAL for view in kinds.kind(name).views]
# of whose pairs a result has what a view shows
MOST_ALGORITHMS = {"curve_difference": 4, "task_differences": 10}
PARAMS = {
    "performance_cdf": ["score_mean", "score_median", "score_std", "iqm", "cvar 0.5", "cvar 0.9", "cvar_lower 0.5",
                        "cvar_lower 0.9", "optimality_gap"],
}  # fmt: skip
OPTIONAL = {
    "per_task",
    "inference",
    "scores_at",
    "scores_at, interval='exact'",
    "target",
    "no strata",
}
FEW_PAIRS = 8
OF_ALGORITHMS = ("performance_cdf", "fit_power_law")  # where algorithms are extra dims
WHOLE = {
    "unfit": 0,
    "at_extrapolated": 0,
    "asymptote_at_bound": 0,
    "undecided": 1,
    "futile": 0,
    "dominance": 0,
}


def synthetic_curves(n_tasks, n_algorithms, n_runs=5):
    """Return learning curves that rise to levels of their own."""
    rng = np.random.default_rng(n_tasks * 100 + n_algorithms)
    top = rng.uniform(300, 900, (n_tasks, n_algorithms, 1, 1)) + rng.normal(
        scale=40, size=(n_tasks, n_algorithms, n_runs, 1)
    )
    speed = rng.uniform(2, 8, (n_tasks, n_algorithms, 1, 1))
    noise = rng.normal(scale=15, size=(n_tasks, n_algorithms, n_runs, len(LEVELS)))
    values = top * (1 - np.exp(-speed * LEVELS / 1e6)) + noise
    curves = make_curves(values, LEVELS, task=TASKS[:n_tasks]).assign_coords(algorithm=ALGORITHMS[:n_algorithms])
    curves.attrs = {"long_name": "episode return", "units": "points"}
    curves.training.attrs = {"long_name": "environment steps", "units": "steps"}
    return curves if n_tasks > 1 else curves.isel(task=0, drop=True)


def named_with(data, letters):
    """Return curves or a result whose algorithms have names of so many letters."""
    names = {name: f"{chr(97 + place)}{'bcdefghijklmnopqrstuvwxyz'[: letters - 2]}{place}"[-letters:]
             for place, name in enumerate(ALGORITHMS)}  # fmt: skip
    coords = {}
    for name in ("algorithm", "algorithm_a", "algorithm_b"):
        if name in data.coords:
            coords[name] = data[name].copy(data=[names[str(each)] for each in data[name].values])
    if "pair" in data.coords:
        coords["pair"] = [" - ".join(names[each] for each in pair.split(" - ")) for pair in data["pair"].values]
    found = data.assign_coords(coords)
    if found.attrs.get("reference") in names:
        found.attrs["reference"] = names[found.attrs["reference"]]
    return found


def synthetic_errors(n_tasks, n_algorithms):
    """Return errors that follow power laws."""
    rng = np.random.default_rng(n_tasks * 100 + n_algorithms)
    slope = rng.uniform(80, 250, (n_tasks, n_algorithms, 1, 1))
    values = (
        rng.uniform(2, 12, slope.shape)
        + slope * SIZES**-0.5
        + rng.normal(scale=0.3, size=(n_tasks, n_algorithms, 3, 6))
    )
    errors = make_curves(values, SIZES, task=TASKS[:n_tasks]).assign_coords(algorithm=ALGORITHMS[:n_algorithms])
    errors.attrs = {"long_name": "test error", "units": "%"}
    return errors if n_tasks > 1 else errors.isel(task=0, drop=True)


def synthetic_result(name, n_tasks, n_algorithms, along=None):
    """Return a result of a kind, of so many tasks and algorithms, a single one without a dim; or along another dim."""
    if name == "mean_curves":
        return xcurves.mean_curves(synthetic_curves(n_tasks, n_algorithms))
    if name == "fit_power_law":
        return xcurves.fit_power_law(synthetic_errors(n_tasks, n_algorithms))
    if name == "predict":
        return xcurves.predict(synthetic_result("fit_power_law", n_tasks, n_algorithms), [1600, 3200])
    if name == "compare_learners":
        return xcurves.compare_learners(synthetic_result("fit_power_law", n_tasks, n_algorithms))
    kind = kinds.kind(name)
    curves = synthetic_curves(n_tasks, n_algorithms)
    rng = np.random.default_rng(len(name))
    labels = _labels(name, curves, n_algorithms)
    sizes = {dim: np.size(values) for dim, values in labels.items()}
    tasks = _task_dims(name, n_tasks) if along is None else (along, "algorithm")
    filled, optional = (
        {},
        OPTIONAL | ({"few pairs"} if sizes["pair"] <= FEW_PAIRS else set()),
    )
    for each, var in kind.variables.items():
        if var.when is not None and var.when not in optional:
            continue
        dims = tuple(d for dim in var.dims for d in _dims_of(dim, tasks))
        shape = tuple(sizes[dim] for dim in dims)
        filled[each] = xr.Variable(dims, _values(each, var, shape, dims, filled, rng))
    used = {dim for variable in filled.values() for dim in variable.dims}
    coords = {dim: values for dim, values in labels.items() if dim in used}
    if "pair" in used:
        pairs = [(a, b) for i, a in enumerate(ALGORITHMS[:n_algorithms]) for b in ALGORITHMS[i + 1 : n_algorithms]]
        coords |= {"pair": [f"{a} - {b}" for a, b in pairs], "algorithm_a": ("pair", [a for a, _ in pairs]),
                   "algorithm_b": ("pair", [b for _, b in pairs])}  # fmt: skip
    attrs = {
        "xcurves_result": name,
        "references": "; ".join(kind.references),
        "confidence_level": 0.95,
        "rng": "0",
    }
    attrs |= {"task": "task"} if name in ("across_tasks", "profile_across_tasks") else {}
    result = kind.dataset(filled, coords, attrs, curves)
    if "training" in used:
        result["training"].attrs = curves["training"].attrs
    return result


def _labels(name, curves, n_algorithms):
    of_kind = {dim: list(values) for dim, values in kinds.kind(name).own_dims().items() if values}
    return {
        "ci_bound": list(CI_BOUNDS),
        "task": curves["task"].to_numpy().tolist() if "task" in curves.dims else TASKS[:1],
        "algorithm": ALGORITHMS[:n_algorithms],
        "pair": range(n_algorithms * (n_algorithms - 1) // 2),
        "training": LEVELS,
        "budget_fraction": np.linspace(0.05, 1, 20),
        "look": np.arange(1, 7),
        "tau": np.linspace(1, 4, 20),
        "trials": np.arange(1, 21),
        "param": PARAMS.get(name, []),
        "cvar_level": [0.5, 0.9],
        "probability": np.linspace(0.01, 0.99, 50),
        "score": np.linspace(-3, 3, 50),
        "n_runs": np.arange(4, 13, 2),
        "effect": ["algorithm", "interaction"],
        "error_term": ["pooled", "split_plot", "welch"],
        **of_kind,
    }


def _task_dims(name, n_tasks):
    tasks = ("task",) if n_tasks > 1 else ()
    if name in OF_ALGORITHMS:
        return (*tasks, "algorithm")
    return () if name in ("across_tasks", "profile_across_tasks", "runs_needed") else tasks


def _dims_of(dim, tasks):
    return {"task": tasks, "joined_task": ("task",)}.get(dim, (dim,))


def _values(name, var, shape, dims, filled, rng):
    """Return values that such a variable can have."""
    if np.issubdtype(var.dtype, np.integer):
        if name == "rejected":
            return (np.cumsum(rng.uniform(size=shape) < 0.1, axis=-1) > 0).astype(var.dtype)
        return np.full(shape, WHOLE.get(name, 10), var.dtype)
    base = re.sub("_(ci|band)$", "", name)
    if base != name and base in filled and set(filled[base].dims) <= set(dims[:-1]):
        middle = filled[base].set_dims(dict(zip(dims[:-1], shape[:-1], strict=True))).transpose(*dims[:-1]).values
        return _around(middle, rng, share=np.ptp(middle) <= 1)
    if name == "statistic_ci":
        of = [filled[each.split()[0]] for each in PARAMS["performance_cdf"][:-1]]
        middle = [each.isel({dim: 0 for dim in ("cvar_level",) if dim in each.dims}).values for each in of]
        return _around(np.stack([*middle, 100 * rng.normal(size=middle[0].shape)], axis=-1), rng)
    if name in ("cumulative_fraction", "cdf"):
        grown = np.cumsum(rng.uniform(size=shape), axis=-1)
        return grown / grown[..., -1:]
    if name in ("mean_curve", "score_quantile"):
        return np.cumsum(rng.uniform(5, 60, size=shape), axis=-1)
    if name in ("fraction", "fraction_corrected"):
        drawn = rng.uniform(size=shape)
        return drawn / drawn.sum(axis=-1, keepdims=True)
    if "pvalue" in name or name in ("prob_greater", "rate") or name.startswith("share_infinite"):
        return rng.uniform(size=shape) ** (3 if "pvalue" in name else 1)
    if name.startswith("ss_null_upper"):
        return np.full(shape, 0.08 if name.endswith("upper") else 0.12)
    if name == "ss":
        return rng.uniform(size=shape) / 10
    if name == "rank_mean":
        return 1 + 0.9 * rng.permutation(shape[-1])
    if name in ("f", "critical_value", "statistic", "sd_ratio", "sd_ratio_limit"):
        return np.exp(rng.normal(size=shape)) + 0.5
    return 100 * rng.normal(size=shape)


def _around(values, rng, share=False):
    """Return intervals around values."""
    width = (0.15 if share else 80) * rng.uniform(0.3, 1, size=values.shape)
    ends = np.stack([values - width, values + width], axis=-1)
    return np.clip(ends, 0, 1) if share and values.min() >= 0 else ends
