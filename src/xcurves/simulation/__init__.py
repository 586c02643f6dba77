"""How often a test rejects: error rates and power over data sets from a generator, and how many runs to plan for."""

from xcurves.simulation.generators import autoregressive, modified, resampled, stretched
from xcurves.simulation.power import power
from xcurves.simulation.runs_needed import runs_needed
from xcurves.simulation.type_i_error import type_i_error

__all__ = [
    "autoregressive",
    "modified",
    "power",
    "resampled",
    "runs_needed",
    "stretched",
    "type_i_error",
]
