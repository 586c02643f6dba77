"""Performance distributions and their comparison."""
