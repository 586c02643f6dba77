"""All simulations."""

from __future__ import annotations

from calibration import (
    bounded,
    comparisons,
    contrasts,
    distributions,
    learning,
    profiles,
    randomization,
    simulations,
    unlike_spread,
)

SIMULATIONS = [
    *randomization.SIMULATIONS,
    *contrasts.SIMULATIONS,
    *unlike_spread.SIMULATIONS,
    *profiles.SIMULATIONS,
    *distributions.SIMULATIONS,
    *comparisons.SIMULATIONS,
    *learning.SIMULATIONS,
    *bounded.SIMULATIONS,
    *simulations.SIMULATIONS,
]
