"""Types of arrays, for annotations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Index = NDArray[np.intp]
Bools = NDArray[np.bool_]
Reals = NDArray[np.floating[Any]]  # of single or of double precision
