"""One call of a public function: what came out, and whether it may."""

from __future__ import annotations

import inspect
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import xarray as xr

import xcurves
from attack import values
from xcurves import archive, results
from xcurves.core.doubts import Doubtful

mpl.use("Agg")
SOURCE = str(Path(xcurves.__file__).parent)
OURS = (ValueError, TypeError)
SAID = {  # as their docstrings say
    "plot": AttributeError, "report": FileExistsError, "to_dataarray": KeyError, "to_dataset": KeyError
}  # fmt: skip
FUNCTIONS = [name for name in xcurves.__all__ if inspect.isfunction(getattr(xcurves, name))]
CALLABLE = [name for name in FUNCTIONS if inspect.signature(getattr(xcurves, name)).parameters]


class Fault(AssertionError):
    """What a function must not do."""


def attempt(name: str, seed: int) -> str:
    """Call a public function with what a seed gives; return "result" or "refused", or raise a Fault."""
    positional, options = values.call(name, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        try:
            found = getattr(xcurves, name)(*positional, **options)
            found = found.compute() if isinstance(found, xr.Dataset | xr.DataArray) else found
            check(found, seed)
        except Exception as error:
            check_error(name, error, positional, options)
            return "refused"
        finally:
            if name in ("plot", "plot_benchmark", "report"):
                import matplotlib.pyplot as plt

                plt.close("all")
    return "result"


def check_error(name: str, error: Exception, positional: list[Any], options: dict[str, Any]) -> None:
    """Refuse an error that no `raise` of the package made, or that is of another kind or more than a line."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    allowed = (*OURS, SAID[name]) if name in SAID else OURS
    # numpy and Python raise in lines of ours that do something else
    raised = (where.line or "").startswith("raise ")
    is_ours = where.filename.startswith(SOURCE) and raised
    # A question lists calls, one a line.
    is_one_line = "\n" not in str(error) or isinstance(error, Doubtful)
    if not is_ours or not isinstance(error, allowed) or not is_one_line:
        said = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
        raise Fault(f"{name}(*{positional!r}, **{options!r})\n{said}") from error


def check(found: Any, seed: int) -> None:
    """Refuse a result that is not what was promised; some are written and read too."""
    if not isinstance(found, xr.Dataset) or "xcurves_result" not in found.attrs:
        return
    for variable, value in found.data_vars.items():
        if "pvalue" in str(variable) and value.dtype.kind == "f":
            known = value.to_numpy()[~np.isnan(value.to_numpy())]
            if ((known < 0) | (known > 1)).any():
                raise Fault(f"{variable} is no probability: {known}")
    if not isinstance(results.table(found), pd.DataFrame) or not results.summary(found):
        raise Fault("no table or no summary")
    if seed % 50 == 0:
        with tempfile.TemporaryDirectory() as folder:
            if not archive.read(archive.write(found, f"{folder}/a.nc")).identical(found):
                raise Fault("another result came back from its archive")
