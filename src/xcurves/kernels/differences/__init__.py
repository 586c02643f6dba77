"""Tests and intervals of differences: of a number of every run, of levels, over tasks, look after look."""
