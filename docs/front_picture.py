"""Draw the picture of the first page: ``python docs/front_picture.py`` writes docs/front_picture.svg."""

from pathlib import Path


def draw(path: Path) -> None:
    """Draw the mean curves of five classifiers over sixteen tasks, and beside them every pair with its interval."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    import xcurves

    accuracy = xcurves.tutorial.open_dataset("benchmark")["accuracy"]
    profile = accuracy.curves.profile_across_tasks(rng=0)
    answer = accuracy.curves.across_tasks(rng=0)
    letters = {
        "svg.hashsalt": "xcurves",
        "svg.fonttype": "none",
        "font.size": 10,
        "axes.labelsize": 10,
    }
    with plt.style.context(["xcurves.draw.paper", letters]):
        figure, (left, right) = plt.subplots(1, 2, figsize=(11.5, 4.4), width_ratios=[4, 3], layout="constrained")
        profile.curves.plot("mean_curve", ax=left)
        left.set(
            ylabel="mean accuracy over 16 tasks (%)",
            xlabel="share of training examples (%)",
        )
        answer.curves.plot("forest", ax=right)
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).with_suffix(".svg"))
