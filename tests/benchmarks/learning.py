"""Learning curves beside what people use for them: `python tests/benchmarks/learning.py` prints the table.

1,000 curves of 5 sizes and up to 16 folds. A peer is a function of errors, shape (curve, run, size), that returns
α, η, γ of each. All but xarray's curvefit, which takes no weights, weigh folds as the paper does.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import numpy as np
import scipy.optimize

sys.path.insert(0, str(Path(__file__).parents[1]))

from strategies import simulate_errors
from xcurves.kernels import wls
from xcurves.kernels.learning import Model, Sizes

PEERS_DO = {"curve_fit bounded": 40, "curve_fit": 100, "xarray curvefit": 5, "99 pseudo-inverses": 10}
N_CURVES = 1_000


def make_curves(n_curves=N_CURVES):
    return simulate_errors(n_curves, 7)[0]


def call(errors):
    """Fit through the accessor, as users do: intervals, covariances and labels included."""
    return errors.curves.fit_power_law(prior_strength=0, asymptote="free")


def kernels(errors, weights="variance-folds"):
    """Go from the array of errors to the curves alone."""
    model = Model(errors.training.to_numpy(), strength=0.0, weights=weights)
    sizes = Sizes(*wls.size_statistics(errors.to_numpy()))
    return model.fit(np.full(len(sizes.folds), model.n[-1]), sizes).theta


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


def pseudo_inverses(errors):
    found = []
    for curve in errors:
        n, values, sd = folds_of(curve)
        best = None
        for gamma in wls.GAMMAS:
            design = np.column_stack([np.ones_like(n), n**gamma]) / sd[:, np.newaxis]
            theta = np.linalg.pinv(design) @ (values / sd)
            objective = ((values / sd - design @ theta) ** 2).sum()
            if best is None or objective < best[0]:
                best = objective, *theta, gamma
        found.append(best[1:])
    return np.array(found)


PEERS = {
    "curve_fit bounded": partial(curve_fit_loop, bounded=True),
    "curve_fit": partial(curve_fit_loop, bounded=False),
    "xarray curvefit": xarray_curvefit,
    "99 pseudo-inverses": pseudo_inverses,
}


def main() -> None:
    """Print times of 1,000 curves, peers' scaled from fewer, and ratios."""
    from table import print_machine, print_table, show, time_in_turn

    errors = make_curves()
    jobs = {name: partial(peer, errors[: PEERS_DO[name]]) for name, peer in PEERS.items()}
    times = time_in_turn({"call": partial(call, errors), "kernels": partial(kernels, errors), **jobs})
    medians = {name: float(np.median(each)) * N_CURVES / PEERS_DO.get(name, N_CURVES) for name, each in times.items()}
    rows = [
        [name, f"{ms:,.3g}", show(ms / medians["call"]), show(ms / medians["kernels"])] for name, ms in medians.items()
    ]
    print_table(["1,000 curves", "ms", "by call", "by kernels"], rows)
    many = make_curves(100_000)
    quick = time_in_turn({"100,000 curves": partial(call, many)})
    print(f"100,000 curves: {np.median(quick['100,000 curves']):,.0f} ms")
    print_machine()


if __name__ == "__main__":
    main()
