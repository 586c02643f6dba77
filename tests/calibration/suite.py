"""All simulations."""

from __future__ import annotations

from calibration import learning, profiles, randomization, studies, trials

SIMULATIONS = [
    *randomization.SIMULATIONS,
    *profiles.SIMULATIONS,
    *trials.SIMULATIONS,
    *learning.SIMULATIONS,
    *studies.SIMULATIONS,
]
