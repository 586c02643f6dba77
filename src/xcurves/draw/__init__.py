"""Drawers of the shapes that pictures have."""
