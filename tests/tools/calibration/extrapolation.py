"""Predictions of published scaling curves: `cd tests/tools && python -m calibration.extrapolation`.

Each curve is fitted up to N, the largest size that leaves four times as much, at the sizes nearest to N / 2^(j / p)
over four octaves, p = 1, 2, 8 sizes an octave, and predicted at 2N and 4N. Beside: a straight line of logarithms, and
a power law with a constant fitted in logarithms.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import scipy.optimize
import xarray as xr

import xcurves
from places import SHARED

FILE = SHARED / "data" / "scaling_curves.csv.gz"
OCTAVES = 4
FEWEST = 5
TIMES = np.array([2, 4])


def cases(per_octave):
    """Yield the fitted and the later sizes of each curve with their errors, and whether errors are rates."""
    frame = pd.read_csv(FILE, comment="#").sort_values("n")
    for key, curve in frame.groupby(["domain", "task", "model", "measure"]):
        n, error = curve["n"].to_numpy(float), curve["error"].to_numpy()
        at = n[n <= n[-1] / 4][-1]
        have = n[n <= at]
        wanted = at / 2 ** (np.arange(OCTAVES * per_octave + 1) / per_octave)
        places = sorted({int(np.abs(np.log(have / size)).argmin()) for size in wanted})
        later = [int(np.abs(np.log(n / (times * at))).argmin()) for times in TIMES]
        if len(places) >= FEWEST:
            yield n[places], error[places], n[later], error[later], key[-1] == "error"


def library(n, error, later, *, is_rate):
    """Return prediction, interval and interval by the law alone."""
    errors = xr.DataArray(error, {"training": n}, ["training"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = xcurves.fit_power_law(errors, units="fraction" if is_rate else "loss")
    found = xcurves.predict(fit, later)
    return (
        found.prediction.to_numpy(),
        found.prediction_ci.to_numpy(),
        found.prediction_ci_given_law.to_numpy(),
    )


def line(n, error, later):
    """Return what a straight line of logarithms predicts."""
    return np.exp(np.polyval(np.polyfit(np.log(n), np.log(error), 1), np.log(later)))


def in_logs(n, error, later):
    """Return what a power law with a constant of 0 or more predicts, fitted in logarithms."""

    def curve(p, sizes):
        return p[0] ** 2 + np.exp(p[1] + p[2] * np.log(sizes / n[-1]))

    found = []
    for share in (0.0, 0.5, 0.9):
        slope, height = np.polyfit(np.log(n / n[-1]), np.log(error - share * error.min()), 1)
        start = [np.sqrt(share * error.min()), height, slope]
        found.append(scipy.optimize.least_squares(lambda p: np.log(curve(p, n) / error), start))
    return curve(min(found, key=lambda fit: fit.cost).x, later)


def measure(per_octave):
    """Return a row of numbers at 2N and at 4N, shape (time,) each, and the number of curves."""
    rows = []
    for n, error, later, truth, is_rate in cases(per_octave):
        prediction, interval, law = library(n, error, later, is_rate=is_rate)
        peers = line(n, error, later), in_logs(n, error, later)
        rows.append(
            [
                *(((each[:, 0] <= truth) & (truth <= each[:, 1])).astype(float) for each in (interval, law)),
                np.log(interval[:, 1] / interval[:, 0]),
                *(np.log(each / truth) for each in (prediction, *peers)),
            ]
        )
    values = np.array(rows)
    held, law, width = (
        values[:, 0].mean(axis=0),
        values[:, 1].mean(axis=0),
        np.median(values[:, 2], axis=0),
    )
    return [held, law, width, *np.sqrt((values[:, 3:] ** 2).mean(axis=0))], len(values)


def main():
    """Print the table of docs/learning-curves.md."""
    for per_octave in (1, 2, 8):
        row, n_curves = measure(per_octave)
        said = [", ".join(f"{value:.3f}" for value in pair) for pair in row]
        print(f"| {OCTAVES * per_octave + 1} | {n_curves} | {' | '.join(said)} |")


if __name__ == "__main__":
    main()
