"""Readers of what other packages log: each returns a tidy frame for `xcurves.to_dataarray`."""
