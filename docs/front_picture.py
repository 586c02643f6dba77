"""Draw the picture of the first page: ``python docs/front_picture.py`` writes docs/front_picture.svg."""

from pathlib import Path


def draw(path: Path) -> None:
    """Draw the curves of ten runs of two learners, and beside them the p-values of three tests."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt
    import scipy.stats

    import xcurves

    score = xcurves.tutorial.open_dataset("pendulum")["score"].isel(run=slice(10))
    first, second = (score.sel(algorithm=name) for name in score.algorithm.values)
    anova = score.curves.randomized_anova(rng=0)
    tests = {
        "t-test, last score": scipy.stats.ttest_ind(first[:, -1], second[:, -1]).pvalue,
        "t-test, mean score": scipy.stats.ttest_ind(first.mean("training"), second.mean("training")).pvalue,
        "xcurves, whole curves": anova.pvalue.sel(effect="interaction", error_term="split_plot").item(),
    }
    with plt.rc_context({"svg.hashsalt": "xcurves", "svg.fonttype": "none", "font.size": 11}):
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.6), width_ratios=[3, 2], layout="constrained")
        score.curves.plot(ax=left, rng=0)
        left.set(title="10 runs each, means and 95 % bands", xlabel="training (episodes)", ylabel="mean return")
        for place, (name, p) in enumerate(tests.items()):
            right.plot(p, -place, "o", color="#0072B2" if p <= 0.05 else "0.5", markersize=9)
            right.annotate(f"{name}: p = {p:.3f}", (p, -place), (0, 11), textcoords="offset points", ha="center")
        right.axvline(0.05, color="0.4", linestyle="--", linewidth=1)
        right.text(0.05, 0.62, " .05", color="0.4", va="top")
        right.set(xscale="log", xlim=(0.0008, 3), ylim=(-2.5, 0.65), yticks=[], title="do the curves differ?")
        right.set_xticks([0.001, 0.01, 0.1, 1], ["0.001", "0.01", "0.1", "1"])
        right.set_xlabel("p-value")
        right.spines[["left", "top", "right"]].set_visible(False)
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).with_suffix(".svg"))
