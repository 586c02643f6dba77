"""How soon algorithms reach a score."""

from typing import TYPE_CHECKING

# the public functions; `xcurves` imports them when they are first used
if TYPE_CHECKING:
    from xcurves.target_times.mean_time_to_target import (
        mean_time_to_target as mean_time_to_target,
    )
    from xcurves.target_times.performance_profile import (
        performance_profile as performance_profile,
    )
    from xcurves.target_times.speedup import speedup as speedup
    from xcurves.target_times.time_to_target import time_to_target as time_to_target
