"""Draw the picture of the first page: ``python docs/front_picture.py`` writes docs/front_picture.svg."""

from pathlib import Path


def draw(path: Path) -> None:
    """Draw the mean curves of five classifiers over sixteen tasks, and beside them two of them in each task."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    import xcurves

    accuracy = xcurves.tutorial.open_dataset("benchmark")["accuracy"]
    profile = accuracy.curves.profile_across_tasks(rng=0)
    pair = accuracy.sel(algorithm=["random forest", "decision tree"]).curves.across_tasks(rng=0)
    with plt.rc_context({"svg.hashsalt": "xcurves", "svg.fonttype": "none", "font.size": 10}):
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.2), width_ratios=[3, 2], layout="constrained")
        profile.curves.plot("mean_curve", ax=left)
        left.set(
            title="over 16 tasks, 5 runs each", ylabel="mean accuracy (%)", xlabel="share of training examples (%)"
        )
        pair.curves.plot("forest", ax=right)
        right.set(title="in each task")
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).with_suffix(".svg"))
