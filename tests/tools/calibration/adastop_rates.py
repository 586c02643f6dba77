"""How often AdaStop, and `sequential`, say that two equal algorithms differ.

`cd tests/tools && python -m calibration.adastop_rates` prints it. AdaStop is another package, so docs/calibration.md
has no table of it.
"""

from __future__ import annotations

import argparse
from importlib.metadata import version

import numpy as np
from scipy import stats

import xcurves
from calibration.claims import ALPHA
from calibration.group_sequential import last, runs, sequential

BATCH, LOOKS = 5, 6


def by_adastop(pair, seed):
    """Whether AdaStop finds a difference between two algorithms, numbers of shape (algorithm, run)."""
    from adastop import MultipleAgentsComparator

    test = MultipleAgentsComparator(n=BATCH, K=LOOKS, B=10_000, alpha=ALPHA, seed=seed)
    while not test.is_finished:
        n_runs = BATCH * (test.k + 1)
        test.partial_compare(
            {name: each[:n_runs] for name, each in zip("ab", pair, strict=True)},
            verbose=False,
        )
    return any(decision != "equal" for decision in test.decisions.values())


def counts(n_datasets):
    """How many data sets without a difference each test rejects."""
    data = runs(
        n_datasets,
        sizes=(BATCH,) * LOOKS,
        shifts=(0.0, 0.0),
        rng=np.random.default_rng(0),
    )
    theirs = sum(by_adastop(pair, seed) for seed, pair in enumerate(data.isel(training=0).to_numpy()))
    blocks = [data.isel(replication=slice(start, start + 50)) for start in range(0, n_datasets, 50)]
    every = [last(sequential(block, LOOKS, seed, spending="linear")) for seed, block in enumerate(blocks)]
    return {
        f"adastop {version('adastop')}": theirs,
        f"xcurves {xcurves.__version__}": sum(int((p <= ALPHA + 1e-12).sum()) for p in every),
    }


def main():
    """Print the rates with exact 95 % intervals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1000, help="number of data sets")
    n_datasets = parser.parse_args().n
    for name, count in counts(n_datasets).items():
        low, high = stats.binomtest(count, n_datasets).proportion_ci()
        print(f"{name}: {count / n_datasets:.3f} ({low:.3f} to {high:.3f}) of {n_datasets}, nominal {ALPHA:g}")


if __name__ == "__main__":
    main()
