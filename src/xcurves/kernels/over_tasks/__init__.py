"""Kernels of comparisons over tasks."""
