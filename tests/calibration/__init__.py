"""Whether every p-value and interval of this library does what it says, over simulated data sets.

`pytest tests/calibration` runs the short form; `cd tests && python -m calibration` the full one, which writes the
tables of docs/calibration.md.
"""
