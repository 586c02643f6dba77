"""The kind of result of mean curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xcurves.core.calls import later
from xcurves.core.labels import CI_BOUNDS
from xcurves.core.schema import ALONG, Drawing, ResultKind, Var, View
from xcurves.say.result_frames import captioned

if TYPE_CHECKING:
    from xcurves.means import plots, text
else:
    plots, text = later("xcurves.means", "plots", "text")

_CURVE = ("task", "algorithm", "training")

# What a caption says of each flag of a picture.
CURVES_CAPTION = {
    "run": "Each run is a thin line.",
    "mean": "Thick lines: the mean of an algorithm's runs.",
    "band": "Bands: t intervals of the mean, for each level by itself. Conclude from tests, not from bands.",
    "band simultaneous": "Bands: intervals of the mean that hold at all levels together.",
    "band sd": "Bands: the standard deviation of the runs.",
    "band se": "Bands: the standard error of the mean.",
}
# the same of scores without training
SCORES_CAPTION = {
    "score": "Dots: the score of each run.",
    "score mean": "Diamonds: their mean.",
    "score pointwise": "Lines: the t interval of the mean.",
    "score sd": "Lines: the standard deviation of the runs.",
    "score se": "Lines: the standard error of the mean.",
}

MEAN_CURVES = ResultKind(
    name="mean_curves",
    question="How good is each algorithm along training?",
    argument="curves",
    variables={
        "mean_curve": Var(_CURVE, "mean score of the runs", "score"),
        "mean_curve_ci": Var((*_CURVE, "ci_bound"), "end of the band around the mean", "score"),
        "level": Var(_CURVE, "training level", "training", when="own levels"),
        "n_runs": Var(("task", "algorithm"), "number of runs", dtype=np.int64),
    },
    coords={"ci_bound": CI_BOUNDS, "evaluation": ()},
    rows=("algorithm", "training", "evaluation"),
    references=("Student (1908), Biometrika 6, 1-25, doi:10.1093/biomet/6.1.1",),
    method=(
        "Curves are means of runs at the training levels that all runs of an algorithm have.",
        "runs are taken to be independent, their mean to be normally distributed",
    ),
    table=captioned(
        text.last_means,
        "The mean score of each algorithm at the last training level that all its runs have, with the ends of its "
        "band.",
    ),
    statements=text.mean_statements,
    views={"mean_curve": View(Drawing(picture=plots.picture, options=ALONG), CURVES_CAPTION)},
)
