"""The accessors: one line per method, full signatures, no logic and no state."""

from xcurves.accessors.curves import DataArrayCurves as DataArrayCurves
from xcurves.accessors.frames import DataFrameCurves as DataFrameCurves
from xcurves.accessors.results import DatasetCurves as DatasetCurves
from xcurves.accessors.results import DataTreeCurves as DataTreeCurves
