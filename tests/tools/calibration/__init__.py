"""Whether every p-value and interval of this library does what it says, over simulated data sets.

`pytest tests/calibration` runs the short form; `cd tests/tools && python -m calibration` the full one, which writes the
tables of docs/calibration.md.
"""

import sys
from pathlib import Path

# for `python -m calibration`: pytest has both folders on its path
sys.path[:0] = [str(Path(__file__).parents[3] / name) for name in ("notebooks", "tests")]
