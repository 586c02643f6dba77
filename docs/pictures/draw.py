"""Draw the pictures of docs/plots.md: `python docs/pictures/draw.py`, in half a minute."""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt

import xcurves

HERE = Path(__file__).parent


def save(axes, name):
    """Save a picture beside this file."""
    figure = axes.figure if hasattr(axes, "figure") else axes.flat[0].figure
    figure.savefig(HERE / f"{name}.png", dpi=80, metadata={"Software": None})
    plt.close(figure)


def main():
    """Draw every picture."""
    scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    save(scores.curves.plot(rng=0), "curves")
    save(scores.curves.randomized_anova(keep_null=True, rng=0).curves.plot(), "anova")
    save(scores.curves.pairwise(rng=0).curves.plot(), "pairs")
    save(scores.curves.contrast({"rate 0.1": 1, "rate 0.001": -1}, rng=0).curves.plot(), "contrast")
    final = scores.isel(training=-1)
    save(final.curves.performance_cdf().curves.plot("statistics"), "statistics")


if __name__ == "__main__":
    main()
