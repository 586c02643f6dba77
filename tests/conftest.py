"""Continuous integration draws the same examples every time; elsewhere hypothesis goes on looking for new ones."""

import os

from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None)
if os.environ.get("CI"):
    settings.load_profile("ci")
