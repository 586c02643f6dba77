"""Whether every p-value and interval of this library does what it says, over simulated data sets.

`pytest tests/calibration` runs the short form; `cd tests && python -m calibration` the full one, which writes the
tables of docs/calibration.md.
"""

import sys
from pathlib import Path

# for `python -m calibration` in tests, where a folder of tests has the name of the package `experiments`
sys.path.insert(0, str(Path(__file__).parents[2] / "notebooks"))
