"""Items that tests share: models, questions in passages, and one answer or several."""

import numpy as np
import xarray as xr
from scipy.special import expit, logit

from xcurves import kinds

KIND = kinds.kind("across_tasks")


def make_items(n_items=60, n_answers=1, accuracy=(0.5, 0.55, 0.7), seed=0):
    rng = np.random.default_rng(seed)
    easy = rng.normal(size=(1, n_items))
    chance = expit(easy + logit(np.array(accuracy))[:, np.newaxis])[..., np.newaxis]
    scores = rng.random((len(accuracy), n_items, n_answers)) < chance
    return xr.DataArray(
        scores.astype(float),
        {
            "algorithm": list("ABCDEFGH")[: len(accuracy)],
            "question_id": [f"q{n}" for n in range(n_items)],
            "passage": ("question_id", [f"p{n // 3}" for n in range(n_items)]),
            "run": range(n_answers),
        },
        ("algorithm", "question_id", "run"),
        name="accuracy",
    )


def compare(scores, **options):
    return scores.curves.across_tasks(task="question_id", rng=0, **options)
