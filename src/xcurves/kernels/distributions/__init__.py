"""Empirical distribution functions of scores, what is computed from them, and their intervals."""
