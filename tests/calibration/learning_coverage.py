"""How often default intervals of learning curves hold the truth: `python tests/learning_coverage.py` prints a table."""

from __future__ import annotations

import warnings

import numpy as np

import xcurves
from strategies import make_errors

N = np.array([25.0, 50, 100, 200, 400])
PAPER = (16, 8, 4, 2, 1)
NAMES = ("error_at_n", "data_reliance", "gamma")


def simulate(folds, sd_at_infinity=0.02**0.5, n_curves=1000, seed=0):
    """Draw folds around power laws; return errors on (task, run, training) and the true e_N, β_N, γ."""
    rng = np.random.default_rng(seed)
    gamma, error, reliance, slope = rng.uniform([-0.8, 15, 2, 5], [-0.2, 60, 20, 130], (n_curves, 4)).T
    ratio = (N / 400) ** gamma[:, np.newaxis]
    mean = error[:, np.newaxis] - (reliance / gamma)[:, np.newaxis] * (ratio - 1) / 2
    sd = np.sqrt(sd_at_infinity**2 + slope[:, np.newaxis] / N)
    values = mean[:, np.newaxis] + sd[:, np.newaxis] * rng.normal(size=(n_curves, max(folds), len(N)))
    values[:, np.arange(max(folds))[:, np.newaxis] >= np.array(folds)] = np.nan
    return make_errors(values, N, task=np.arange(n_curves)), np.column_stack([error, reliance, gamma])


def coverage(folds, sd_at_infinity=0.02**0.5, n_curves=1000, **options):
    """Return the shares of 95 % intervals of e_N, β_N, γ that hold the truth."""
    errors, truth = simulate(folds, sd_at_infinity, n_curves)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        bounds = xcurves.fit_power_law(errors, **options).estimate_ci.sel(param=list(NAMES))
    low, high = (bounds.sel(ci_bound=bound).to_numpy() for bound in ("lower", "upper"))
    return ((low <= truth) & (truth <= high)).mean(axis=0)


def main():
    """Print Markdown: equal folds with the remedies of the prior's bias, then a wrong sigma0_sq with its remedy."""
    print("| folds at every size | options | e_400 | β_400 | γ |\n|---|---|---|---|---|")
    for count in (5, 10, 20, 30):
        remedies = ({}, {"prior_strength": 0}, {"prior_strength": 5 / count}, {"weights": "variance"})
        for options in remedies:
            _row(count, options, coverage((count,) * 5, **options))
    print("\n| true sd at infinite size | options | e_400 | β_400 | γ |\n|---|---|---|---|---|")
    for sd in (0.3, 0.5, 1.0):
        for options in ({}, {"sigma0_sq": sd**2}):
            _row(sd, options, coverage(PAPER, sd, **options))


def _row(first, options, shares):
    said = ", ".join(f"{name}={value!r}" for name, value in options.items()) or "default"
    print(f"| {first} | {said} | " + " | ".join(f"{share:.3f}".lstrip("0") for share in shares) + " |")


if __name__ == "__main__":
    main()
