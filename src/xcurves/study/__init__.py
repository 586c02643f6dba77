"""How often a test rejects: error rates and power over data sets from a generator, and how many runs to plan for."""

from xcurves.study.generators import autoregressive, resampled
from xcurves.study.modifications import modified, stretched
from xcurves.study.planning import runs_needed
from xcurves.study.rates import power, type_i_error

__all__ = ["autoregressive", "modified", "power", "resampled", "runs_needed", "stretched", "type_i_error"]
