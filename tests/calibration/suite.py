"""All simulations."""

from __future__ import annotations

from calibration import learning, randomization, trials

SIMULATIONS = [*randomization.SIMULATIONS, *trials.SIMULATIONS, *learning.SIMULATIONS]
