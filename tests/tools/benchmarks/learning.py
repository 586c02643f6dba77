"""Learning curves, and what people use for them.

1,000 curves of 5 sizes and up to 16 folds. A peer is a function of errors, shape (curve, run, size), that returns
α, η, γ of each. All but xarray's curvefit, which takes no weights, weigh folds as the paper does.
"""

from functools import partial

import numpy as np
import scipy.optimize

from strategies import simulate_errors
from xcurves.kernels.laws import wls

PEERS_DO = {"curve_fit bounded": 40, "curve_fit": 100, "xarray curvefit": 5}
N_CURVES = 1_000


def make_curves(n_curves=N_CURVES):
    return simulate_errors(n_curves, 7)[0]


def call(errors, weighting="variance-folds"):
    """Fit through the accessor, as users do: intervals, covariances and labels included."""
    return errors.curves.fit_power_law(prior_strength=0, asymptote="free", weighting=weighting)


def power_law(n, alpha, eta, gamma):
    return alpha + eta * n**gamma


def start(n, errors):
    return errors.min(), np.ptp(errors) * n.min() ** 0.5, -0.5


def folds_of(curve):
    """Sizes, errors and standard deviations that weigh them as 1 / (F_i σ_i²)."""
    n = curve.training.to_numpy()
    folds, _, spread = wls.size_statistics(curve.to_numpy()[np.newaxis])
    sd = np.sqrt(folds * wls.pooled_variance(n, folds, spread, 0.02, None))
    has = curve.notnull().to_numpy()
    return [np.broadcast_to(each, has.shape)[has] for each in (n, curve.to_numpy(), sd)]


def curve_fit_loop(errors, bounded):
    limits = ([-np.inf, -np.inf, -0.99], [np.inf, np.inf, -0.01]) if bounded else (-np.inf, np.inf)
    found = []
    for curve in errors:
        n, values, sd = folds_of(curve)
        p0 = start(n, values)
        found.append(scipy.optimize.curve_fit(power_law, n, values, p0, sigma=sd, bounds=limits, maxfev=5000)[0])
    return np.array(found)


def xarray_curvefit(errors):
    guess = start(errors.training.to_numpy(), errors.mean(["run", "task"]).to_numpy())
    p0 = {name: float(value) for name, value in zip(("alpha", "eta", "gamma"), guess, strict=True)}
    found = errors.curvefit("training", power_law, ["run"], p0=p0, bounds={"gamma": (-0.99, -0.01)})
    return found.curvefit_coefficients.to_numpy()


PEERS = {
    "curve_fit bounded": partial(curve_fit_loop, bounded=True),
    "curve_fit": partial(curve_fit_loop, bounded=False),
    "xarray curvefit": xarray_curvefit,
}
