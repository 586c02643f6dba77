"""Experiments that make real performance curves; `command` is what they share."""
