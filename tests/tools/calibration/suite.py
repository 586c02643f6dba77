"""All simulations."""

from __future__ import annotations

from calibration import (
    across,
    bounded,
    chances,
    comparisons,
    contrasts,
    curve_bands,
    distributions,
    failures,
    gating,
    group_sequential,
    items,
    learning,
    profiles,
    published,
    randomization,
    scaling,
    simulations,
    target_times,
    unlike_spread,
)

SIMULATIONS = [
    *randomization.SIMULATIONS,
    *contrasts.SIMULATIONS,
    *unlike_spread.SIMULATIONS,
    *profiles.SIMULATIONS,
    *group_sequential.SIMULATIONS,
    *chances.SIMULATIONS,
    *gating.SIMULATIONS,
    *distributions.SIMULATIONS,
    *failures.SIMULATIONS,
    *comparisons.SIMULATIONS,
    *learning.SIMULATIONS,
    *across.SIMULATIONS,
    *items.SIMULATIONS,
    *curve_bands.SIMULATIONS,
    *published.SIMULATIONS,
    *bounded.SIMULATIONS,
    *target_times.SIMULATIONS,
    *scaling.SIMULATIONS,
    *simulations.SIMULATIONS,
]
