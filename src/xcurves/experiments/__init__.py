"""Experiments that make real performance curves."""
