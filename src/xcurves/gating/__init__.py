"""Keep or drop: a stream of candidates against a champion."""

from typing import TYPE_CHECKING

# the public functions; `xcurves` imports them when they are first used
if TYPE_CHECKING:
    from xcurves.gating.gate import gate as gate
