"""The randomized ANOVA of curves, pairs of algorithms, and contrasts."""

from typing import TYPE_CHECKING

# the public functions; `xcurves` imports them when they are first used
if TYPE_CHECKING:
    from xcurves.anova.contrast import contrast as contrast
    from xcurves.anova.pairwise import pairwise as pairwise
    from xcurves.anova.randomized_anova import randomized_anova as randomized_anova
