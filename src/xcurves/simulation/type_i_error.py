"""How often a test rejects a null hypothesis that is true."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import xarray as xr

from xcurves.core import validation
from xcurves.core.named_options import names_options
from xcurves.core.schema import ResultKind
from xcurves.simulation.kinds import TYPE_I_ERROR
from xcurves.simulation.replications import (
    CurvesGenerator,
    Replications,
    Test,
    check_settings,
    count_rejections,
    rates,
    warn_of_missing,
)


@names_options
def type_i_error(
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
    r"""Measure how often a test rejects a null hypothesis that is true.

    Parameters
    ----------
    generator : function
        ``generator(n_datasets, *, rng, **settings)`` returns a DataArray of data sets in which the null hypothesis is
        true, with a dim ``replication`` of that size: `autoregressive`, `resampled` with ``shuffled=True`` and its
        `curves` given by `functools.partial`, or your own.
    test : function
        What takes such an array and returns a Dataset with p-values, or the p-values themselves: any test here, as in
        ``partial(randomized_anova, n_resamples=399)``. It is called once for each block of 250 data sets, with another
        seed if it takes an `rng` that is not given yet.
    n_replications : int
        Data sets for every setting.
    settings : mapping of str to sequence, optional
        Values of the generator's keywords, as in ``{"n_runs": [5, 10], "factor": [0, 4]}``: each name becomes a dim,
        and every combination is measured. Values that are no numbers, like the sizes (15, 5), get labels like 15/5.
    alpha : float, default 0.05
        The nominal level: a p-value at most this rejects.
    pvalue : str, default "pvalue"
        Which variable of the test's result is meant. Its dims other than ``replication`` are carried; of several looks
        (`sequential`) the last counts.
    progress : bool, optional
        Show a tqdm bar (extra ``progress``); by default in a terminal or notebook, if the call will take more than 5 s.
    confidence_level : float, default 0.95
        Of `rate_ci`.
    rng : int, Generator or None
        Seed of generator and test. Every block has a stream of its own, which depends on its setting and number only.

    Returns
    -------
    Dataset
        On the settings' dims and those of the p-value: `rate`, `rate_ci` (ci_bound) and `n_replications`, all without
        unit. For a test that is looked at several times also `expected_runs`, the mean number of runs per algorithm,
        each stopped once all its pairs are decided.

    Raises
    ------
    ValueError, TypeError
        If `alpha` is not between 0 and 1; if the test returns no p-value of that name, none for each data set, or
        other dims or labels in one block than in another.
    ImportError
        If `progress` is asked for and tqdm is not installed.

    Warns
    -----
    UserWarning
        If p-values are NaN; those data sets are not in `n_replications`.

    Notes
    -----
    Of B data sets with p-values :math:`p_b`,

    .. math:: \text{rate} = \frac{\#\{b: p_b \le \alpha\}}{B}

    The interval is Clopper and Pearson's, for independent data sets. Those of one block share the random reassignments
    of a test: where these are few, counts vary more than binomial ones.

    References
    ----------
    .. [1] Piater, J. H., Cohen, P. R., Zhang, X. & Atighetchi, M. (1998). A randomized ANOVA procedure for comparing
       performance curves. Proc. 15th Int. Conf. on Machine Learning, Section 5.1.
    .. [2] Clopper, C. J. & Pearson, E. S. (1934). The use of confidence or fiducial limits illustrated in the case of
       the binomial. Biometrika 26(4), 404-413. doi:10.1093/biomet/26.4.404

    Examples
    --------
    >>> from functools import partial
    >>> import xcurves
    >>> test = partial(xcurves.randomized_anova, n_resamples=99)
    >>> found = xcurves.simulation.type_i_error(
    ...     xcurves.simulation.autoregressive, test, n_replications=500, settings={"n_runs": [5, 10]}, rng=0
    ... )
    >>> found.rate.dims
    ('n_runs', 'effect', 'error_term')
    >>> bool((abs(found.rate.to_series().dropna() - 0.05) < 0.05).all())
    True
    """
    simulation = replications(generator, test, pvalue, alpha, rng)
    return measure_rates(
        TYPE_I_ERROR, simulation, n_replications, settings, progress, confidence_level
    )


def replications(
    generator: CurvesGenerator,
    test: Test,
    pvalue: str,
    alpha: float,
    rng: validation.Rng,
) -> Replications:
    """Check what makes data sets and tests them."""
    validation.check_function("generator", generator)
    validation.check_function("test", test)
    return Replications(
        generator,
        test,
        pvalue,
        validation.check_share("alpha", alpha),
        validation.check_rng(rng),
    )


def measure_rates(
    kind: ResultKind,
    simulation: Replications,
    n_replications: int,
    settings: Mapping[str, Sequence[Any]] | None,
    progress: bool | None,
    confidence_level: float,
) -> xr.Dataset:
    """Return the rates of rejections over the grid of settings, with their intervals."""
    error = validation.check_confidence_level(confidence_level)
    total = validation.check_total("n_replications", n_replications)
    bar = validation.check_progress(progress, "data sets")
    counted = count_rejections(simulation, check_settings(settings), total, bar)
    warn_of_missing(counted)
    options = {
        "n_replications": total,
        "alpha": simulation.alpha,
        "pvalue": simulation.pvalue,
    }
    attrs = kind.attrs(xr.Dataset(), simulation.entropy, confidence_level, **options)
    return kind.dataset(
        rates(counted, error), counted.coords, attrs, counted["rejected"]
    )
