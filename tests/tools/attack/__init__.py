"""Every public function called with whatever there is: a result, or an error of the package that says what to do."""

import sys
from pathlib import Path

# for `python -m attack`: pytest has this folder on its path
sys.path.insert(0, str(Path(__file__).parents[2]))
