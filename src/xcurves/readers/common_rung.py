"""The candidates of halving searches, which are tried on more and more resources: one rung after another."""

from __future__ import annotations

import numpy as np
import pandas as pd

OF_RUNG = ("iter", "n_resources")  # columns of a halving search that say the rung


def candidates(table: pd.DataFrame, settings: list[str]) -> pd.Series[int]:
    """Return the number of each row's candidate, the same on all rungs of a halving search: of a setting, and repeat.

    Without rungs each row is a candidate. `settings` begin with the column of the algorithm, if there is one.
    """
    algorithm = [name for name in settings if not name.startswith("param_")]
    one = pd.Series(0, table.index)
    of_algorithm = [table[name] for name in algorithm] or [one]
    resources = table.get("n_resources", one)
    if len(resources.unique()) < 2:
        return one.groupby(of_algorithm).cumcount()
    # A parameter may be the resource.
    settings = [name for name in settings if not table[name].equals(resources)]
    # What an algorithm has no setting of is missing in its rows.
    texts = [table[name].astype(object).map(repr) for name in settings] or [one.astype(str)]
    repeat = one.groupby([*texts, resources]).cumcount()
    first_row = pd.Series(np.arange(len(table)), table.index)
    first_row = first_row.groupby([*texts, repeat]).transform("first")
    number: pd.Series[int] = first_row.groupby(of_algorithm).rank("dense").astype(int)
    return number - 1
