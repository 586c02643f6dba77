"""Where along training algorithms differ."""

from typing import TYPE_CHECKING

if (
    TYPE_CHECKING
):  # the public functions; `xcurves` imports them when they are first used
    from xcurves.profile.ss_profile import ss_profile as ss_profile
