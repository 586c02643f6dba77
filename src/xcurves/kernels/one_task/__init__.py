"""Kernels of comparisons on one task."""
