"""The randomized ANOVA of curves, pairs of algorithms, and contrasts."""
