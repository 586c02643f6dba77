"""How often a test rejects, over data sets from a generator and a grid of settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

import xarray as xr

from xcurves import labels, outcomes
from xcurves.study import counts
from xcurves.study.grid import cells_of, check_settings
from xcurves.study.replications import Generator, Replications, Test, run


def type_i_error(
    generator: Generator,
    test: Test,
    *,
    n_replications: int,
    settings: Mapping[str, Sequence[Any]] | None = None,
    alpha: float = 0.05,
    pvalue: str = "pvalue",
    block: int = 250,
    archive: str | Path | None = None,
    dask: bool = False,
    progress: bool = False,
    confidence_level: float = 0.95,
    rng: labels.Rng = None,
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
        ``partial(randomized_anova, n_resamples=399)``. It is called once for each block of data sets. If it takes an
        `rng` that is not given yet, it gets another seed for every block.
    n_replications : int
        Data sets for every setting.
    settings : mapping of str to sequence, optional
        Values of the generator's keywords, as in ``{"n_runs": [5, 10], "factor": [0, 4]}``: each name becomes a dim,
        and every combination is measured. Values that are no numbers, like the sizes (15, 5), get labels like 15/5.
    alpha : float, default 0.05
        The nominal level: a p-value at most this rejects.
    pvalue : str, default "pvalue"
        Which variable of the test's result is meant. Its dims other than ``replication`` are carried.
    block : int, default 250
        Data sets that are made and tested at once.
    archive : str or Path, optional
        A folder that keeps the finished blocks: a study that was interrupted, or that gets more settings or
        replications, goes on from there. One made with another generator, test or option is refused; what functions
        of your own do is not compared, only their names and what `functools.partial` gave them.
    dask : bool, default False
        Compute blocks on dask's current scheduler (extra ``dask``); changes no number.
    progress : bool, default False
        Show a tqdm bar (extra ``progress``).
    confidence_level : float, default 0.95
        Of `rate_ci`.
    rng : int, Generator or None
        Seed of generator and test. Every block has a stream of its own, which depends on its setting and number only.

    Returns
    -------
    Dataset
        On the settings' dims and those of the p-value: `rate`, `rate_ci` (ci_bound) and `n_replications`, all without
        unit.

    Raises
    ------
    ValueError, TypeError
        If `alpha` is not between 0 and 1; if the generator returns other dims or sizes in one block than in another;
        if the test returns no p-value of that name, or none for each data set.
    ImportError
        If `dask` or `progress` is asked for and the package that it needs is not installed.

    Warns
    -----
    UserWarning
        If p-values are NaN; those data sets are not in `n_replications`.

    Notes
    -----
    Of B data sets with p-values :math:`p_b`,

    .. math:: \text{rate} = \frac{\#\{b: p_b \le \alpha\}}{B}

    The interval is Clopper and Pearson's: it holds the true rate with at least the confidence level whatever the number
    of data sets, if these are independent. The random reassignments of a test are shared by the data sets of one block
    and differ between blocks: where they are few and of few runs, counts vary more than binomial ones, and a smaller
    `block` or more reassignments make that go away.

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
    >>> found = xcurves.study.type_i_error(
    ...     xcurves.study.autoregressive, test, n_replications=500, settings={"n_runs": [5, 10]}, rng=0
    ... )
    >>> found.rate.dims
    ('n_runs', 'effect', 'error_term')
    >>> bool((abs(found.rate - 0.05) < 0.05).all())
    True
    """
    study = Replications(generator, test, pvalue, labels.check_alpha(alpha), seed_of(rng, archive))
    return _measure("type_i_error", study, n_replications, settings, block, archive, dask, progress, confidence_level)


def power(
    generator: Generator,
    test: Test,
    *,
    n_replications: int,
    settings: Mapping[str, Sequence[Any]] | None = None,
    alpha: float = 0.05,
    pvalue: str = "pvalue",
    block: int = 250,
    archive: str | Path | None = None,
    dask: bool = False,
    progress: bool = False,
    confidence_level: float = 0.95,
    rng: labels.Rng = None,
) -> xr.Dataset:
    """Measure how often a test rejects where there is a difference.

    Parameters
    ----------
    generator : function
        ``generator(n_datasets, *, rng, **settings)`` returns data sets in which there is a difference.
    test : function
        As for `type_i_error`.
    n_replications : int
        As for `type_i_error`.
    settings : mapping of str to sequence, optional
        As for `type_i_error`.
    alpha : float, default 0.05
        As for `type_i_error`.
    pvalue : str, default "pvalue"
        As for `type_i_error`.
    block : int, default 250
        As for `type_i_error`.
    archive : str or Path, optional
        As for `type_i_error`.
    dask : bool, default False
        As for `type_i_error`.
    progress : bool, default False
        As for `type_i_error`.
    confidence_level : float, default 0.95
        As for `type_i_error`.
    rng : int, Generator or None
        As for `type_i_error`.

    Returns
    -------
    Dataset
        As of `type_i_error`; `rate` is the power.

    Raises
    ------
    ValueError, TypeError
        As `type_i_error`.

    Warns
    -----
    UserWarning
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
    >>> found = xcurves.study.power(
    ...     partial(xcurves.study.resampled, curves=scores, n_runs=8),
    ...     partial(xcurves.randomized_anova, n_resamples=99),
    ...     n_replications=100,
    ...     settings={"stretch": [1, 1.5]},
    ...     rng=0,
    ... )
    >>> algorithm = found.rate.sel(effect="algorithm", error_term="stratum")
    >>> bool(algorithm.sel(stretch=1.5) > algorithm.sel(stretch=1))
    True
    """
    study = Replications(generator, test, pvalue, labels.check_alpha(alpha), seed_of(rng, archive))
    return _measure("power", study, n_replications, settings, block, archive, dask, progress, confidence_level)


def _measure(
    name: str,
    study: Replications,
    n_replications: int,
    settings: Mapping[str, Sequence[Any]] | None,
    block: int,
    archive: str | Path | None,
    dask: bool,
    progress: bool,
    confidence_level: float,
) -> xr.Dataset:
    """Count rejections over the grid and put rates with their intervals into a result."""
    error = labels.check_confidence_level(confidence_level)
    total = int(labels.check_count("n_replications", n_replications) or 0)
    most = int(labels.check_count("block", block) or 0)
    grid = check_settings(settings)
    flags = {"dask": labels.check_flag("dask", dask), "progress": labels.check_flag("progress", progress)}
    counted = counts.on_grid(run(study, cells_of(grid), total, most, archive, **flags), grid)
    attrs = outcomes.provenance(
        name,
        xr.Dataset(),
        counts.REFERENCES,
        study.entropy,
        confidence_level,
        n_replications=total,
        alpha=study.alpha,
        pvalue=study.pvalue,
        block=most,
    )
    counts.warn_of_missing(counted)
    return xr.Dataset(counts.rates(counted, error), attrs=attrs)


def seed_of(rng: labels.Rng, archive: str | Path | None) -> int:
    """Return the seed of a study; one that is to go on needs a known one."""
    if archive is not None and not isinstance(rng, Integral):
        raise ValueError(f"an archive needs rng, a whole number, so that the study can go on; got {rng!r}. Try rng=0")
    return labels.check_rng(rng)
