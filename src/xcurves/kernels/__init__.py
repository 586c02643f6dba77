"""Numerical kernels: numpy and scipy only, core axes last, input trusted."""
