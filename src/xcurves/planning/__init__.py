"""How many runs to plan for, from pilot runs."""
