"""Frames in and out, alignment, grids and normalization."""
