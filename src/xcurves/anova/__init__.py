"""Randomization tests: the ANOVA of curves, pairs of algorithms, contrasts, and what they stand on."""
