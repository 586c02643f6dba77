"""Performance distributions and their comparison."""

from typing import TYPE_CHECKING

# the public functions; `xcurves` imports them when they are first used
if TYPE_CHECKING:
    from xcurves.distributions.compare_distributions import (
        compare_distributions as compare_distributions,
    )
    from xcurves.distributions.performance_cdf import performance_cdf as performance_cdf
    from xcurves.distributions.trials import trials_needed as trials_needed
    from xcurves.distributions.tuning_curve import tuning_curve as tuning_curve
