"""Variables that kinds of learning curves and of scaling laws share."""

from __future__ import annotations

import numpy as np

from xcurves.core.schema import Var
from xcurves.core.variables import one_where, with_interval

TASK = ("task",)
OF_PARAM = "that of param"
OF_BOTH = "that of param times that of cov_param"


def unfit(thing: str, reasons: dict[int, str]) -> Var:
    """Return the variable that says why a curve, or a law, is not fitted."""
    codes = ", ".join(f"{code} {why}" for code, why in reasons.items())
    return Var(TASK, f"why the {thing} is not fitted: 0 fitted, {codes}", dtype=np.int8, coord=True)


def predicted(
    dims: tuple[str, ...], words: str, units: str, given: str, far: str, when: str | None = None
) -> dict[str, Var]:
    """Return the variables of predicted errors or losses: with intervals, also if the law is `given`."""
    of_law = Var((*dims, "ci_bound"), f"confidence interval of the {words}, {given}", units, when=when)
    return {
        **with_interval("prediction", dims, words, units, when),
        "prediction_ci_given_law": of_law,
        "extrapolated": one_where(dims, far, when),
    }
