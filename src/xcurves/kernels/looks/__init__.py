"""Kernels of methods that look again as runs come in."""
