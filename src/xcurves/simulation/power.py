"""How often a test rejects where there is a difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import xarray as xr

from xcurves.core import validation
from xcurves.core.named_options import names_options
from xcurves.simulation.kinds import POWER
from xcurves.simulation.replications import CurvesGenerator, Test
from xcurves.simulation.type_i_error import measure_rates, replications


@names_options
def power(
    generator: CurvesGenerator,
    test: Test,
    *,
    n_replications: int,
    settings: Mapping[str, Sequence[Any]] | None = None,
    alpha: float = 0.05,
    pvalue: str = "pvalue",
    progress: bool | None = None,
    confidence_level: float = 0.95,
    rng: validation.Rng = None,
) -> xr.Dataset:
    """Measure how often a test rejects where there is a difference.

    Parameters
    ----------
    generator : function
        ``generator(n_datasets, *, rng, **settings)`` returns data sets in which there is a difference.
    test, n_replications, settings : function, int and mapping of str to sequence
        As for `type_i_error`.
    alpha, pvalue, progress, confidence_level, rng : float, str, bool, float, and int, Generator or None
        As for `type_i_error`.

    Returns
    -------
    Dataset
        As of `type_i_error`, with its warnings; `rate` is the power.

    Raises
    ------
    ValueError, TypeError
        As `type_i_error`.

    Notes
    -----
    Power says something only of a test that holds its level: see `type_i_error` first.

    References
    ----------
    .. [1] Piater, J. H., Cohen, P. R., Zhang, X. & Atighetchi, M. (1998). A randomized ANOVA procedure for comparing
       performance curves. Proc. 15th Int. Conf. on Machine Learning, Section 5.2.

    Examples
    --------
    >>> from functools import partial
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"].sel(algorithm=["rate 0.1"])
    >>> found = xcurves.simulation.power(
    ...     partial(xcurves.simulation.resampled, curves=scores, n_runs=8),
    ...     partial(xcurves.randomized_anova, n_resamples=99),
    ...     n_replications=100,
    ...     settings={"stretch": [1, 1.5]},
    ...     rng=0,
    ... )
    >>> algorithm = found.rate.sel(effect="algorithm", error_term="split_plot")
    >>> bool(algorithm.sel(stretch=1.5) > algorithm.sel(stretch=1))
    True
    """
    simulation = replications(generator, test, pvalue, alpha, rng)
    return measure_rates(
        POWER, simulation, n_replications, settings, progress, confidence_level
    )
