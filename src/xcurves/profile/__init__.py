"""Where along training algorithms differ."""

from typing import TYPE_CHECKING

# the public functions; `xcurves` imports them when they are first used
if TYPE_CHECKING:
    from xcurves.profile.ss_profile import ss_profile as ss_profile
