"""Scaling laws beside the search of Besiroglu et al.: SciPy's BFGS from every point of a grid of 4,500 starts.

Rows of `goals.py`. The peer's objective is Hoffmann's, Huber's loss of log residuals that turns linear at 0.001, of
(ln A, ln B, ln E, α, β).
"""

from itertools import product

import numpy as np
import scipy.optimize
import xarray as xr
from scipy.special import logsumexp

import xcurves

DELTA = 1e-3
STARTS = list(product(*[np.arange(0, 30, 5)] * 2, np.linspace(-1, 1, 5), *[np.linspace(0, 2, 5)] * 2))
SOME = STARTS[:: len(STARTS) // 20]


def runs(n_laws=1, n_sizes=15, n_tokens=16):
    """Losses of laws on a grid of sizes and tokens, with 1 % of noise."""
    size, tokens = np.meshgrid(np.geomspace(1e7, 1e10, n_sizes), np.geomspace(1e9, 1e11, n_tokens))
    n, d = size.ravel(), tokens.ravel()
    noise = np.exp(0.01 * np.random.default_rng(0).normal(size=(n_laws, len(n))))
    losses = (1.8 + 400 * n**-0.34 + 2000 * d**-0.37) * noise
    return xr.DataArray(losses, {"model_size": ("run", n), "tokens": ("run", d)}, ["validation", "run"])


def call(losses, **options):
    return xcurves.fit_scaling_law(losses, **options)


def from_starts(losses, starts=SOME):
    """The best minimum of the objective from some of the starts, and where it is."""
    logs = [np.log(losses[name].to_numpy()) for name in ("model_size", "tokens")]
    measured = np.log(losses.to_numpy()[0])

    def objective(p):
        a, b, e, alpha, beta = p
        terms = np.stack([a - alpha * logs[0], b - beta * logs[1], np.full(len(measured), e)])
        return scipy.special.huber(DELTA, logsumexp(terms, axis=0) - measured).sum()

    tried = [scipy.optimize.minimize(objective, start, method="BFGS") for start in starts]
    found = min(tried, key=lambda each: each.fun)
    return found.fun, found.x
