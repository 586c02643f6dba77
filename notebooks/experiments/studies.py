"""Studies of a test: how often it rejects data sets of a generator, as in the papers of Piater, Cohen and others.

A generator is ``generator(n_datasets, *, rng, **settings)``: here real curves, resampled or modified, or noise.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels, validation
from xcurves.core.refusal import shown
from xcurves.core.validation import check_curves
from xcurves.planning.pilots import pool_of
from xcurves.planning.replications import (
    REPLICATION,
    CurvesGenerator,
    Replications,
    Test,
    count_rejections,
    label,
    rates,
    replications,
    warn_of_missing,
)
from xcurves.say.result_frames import bounds, frame_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Case = Literal["a", "b", "c", "d"]
PerAlgorithm = float | Sequence[float]
_MOST = 10**6  # algorithms, runs or levels of a data set
_TAKEN = labels.RESERVED | {
    "rate",
    "rate_ci",
    "n_replications",
    "expected_runs",
    "effect",
    "error_term",
    "pair",
    "rng",
    REPLICATION,
    "n_datasets",
}


def rejection_rates(
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
    r"""Measure how often a test rejects: its level where the null hypothesis is true, else its power.

    Parameters
    ----------
    generator : function
        ``generator(n_datasets, *, rng, **settings)`` returns a DataArray of data sets, with a dim ``replication`` of
        that size: `autoregressive`, `resampled` with its `curves` given by `functools.partial`, or your own.
    test : function
        What takes such an array and returns a Dataset with p-values, or the p-values themselves. It is called once for
        each block of 250 data sets, with another seed if it takes an `rng` that is not given yet.
    n_replications : int
        Data sets for every setting.
    settings : mapping of str to sequence, optional
        Values of the generator's keywords, as in ``{"n_runs": [5, 10], "factor": [0, 4]}``: each name becomes a dim,
        and every combination is measured. Values that are no numbers, like the sizes (15, 5), get labels like 15/5.
    alpha : float, default 0.05
        The nominal level: a p-value at most this rejects.
    pvalue : str, default "pvalue"
        Which variable of the test's result is meant. Of several looks (`sequential`) the last counts.
    progress : bool, optional
        Show a tqdm bar.
    confidence_level : float, default 0.95
        Of `rate_ci`.
    rng : int, Generator or None
        Seed of generator and test. Every block has a stream of its own, which depends on its setting and number only.

    Returns
    -------
    Dataset
        On the settings' dims and those of the p-value: `rate`, `rate_ci` (ci_bound), `n_replications`, the number of
        data sets that have a p-value. For a test that is looked at several times also `expected_runs`, the mean number
        of runs per algorithm, each stopped once all its pairs are decided. The attr `alpha` is the level.

    Notes
    -----
    The interval is Clopper and Pearson's, for independent data sets. Those of one block share the random reassignments
    of a test: where these are few, counts vary more than binomial ones.

    References
    ----------
    .. [1] Piater, J. H., Cohen, P. R., Zhang, X. & Atighetchi, M. (1998). A randomized ANOVA procedure for comparing
       performance curves. Proc. 15th Int. Conf. on Machine Learning, Sections 5.1 and 5.2.
    .. [2] Clopper, C. J. & Pearson, E. S. (1934). The use of confidence or fiducial limits illustrated in the case of
       the binomial. Biometrika 26(4), 404-413. doi:10.1093/biomet/26.4.404

    Examples
    --------
    >>> from functools import partial
    >>> import xcurves
    >>> test = partial(xcurves.randomized_anova, n_resamples=99)
    >>> found = rejection_rates(autoregressive, test, n_replications=500, settings={"n_runs": [5, 10]}, rng=0)
    >>> found.rate.dims
    ('n_runs', 'effect', 'error_term')
    >>> bool((abs(found.rate.to_series().dropna() - 0.05) < 0.05).all())
    True
    """
    simulation = replications(generator, test, pvalue, alpha, rng)
    return measured_rates(simulation, n_replications, settings, progress, confidence_level)


def measured_rates(
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
    counted = count_rejections(simulation, _check_settings(settings), total, bar)
    warn_of_missing(counted)
    coords = {name: each.variable for name, each in counted.coords.items()}
    return xr.Dataset(
        rates(counted, error),
        {**coords, "ci_bound": list(labels.CI_BOUNDS)},
        {"alpha": simulation.alpha},
    )


def rates_table(result: xr.Dataset) -> pd.DataFrame:
    """Return rates with their intervals, a row for each setting and p-value."""
    columns = {"rate": result["rate"], **bounds(result["rate_ci"])}
    columns["n"] = result["n_replications"]
    if "expected_runs" in result:
        columns["expected runs"] = result["expected_runs"].broadcast_like(result["rate"])
    return frame_of(columns)


def draw_rates(result: xr.Dataset, along: str, ax: Axes, *, level: float | None = None) -> None:
    """Draw rates along a setting, a line with its intervals for each label of all other dims; dotted: the level."""
    others = [dim for dim in result["rate"].dims if dim != along]
    settings = result[along].to_numpy()
    numeric = settings.dtype.kind in "iuf"
    lines = product(*(result[dim].to_numpy().tolist() for dim in others))
    for number, names in enumerate(lines):
        line = result.sel(dict(zip(others, names, strict=True)))
        rate = line["rate"].to_numpy()
        if np.isnan(rate).all():
            continue
        places = settings
        if not numeric:
            places = np.arange(rate.size) + 0.1 * number
        arms = abs(line["rate_ci"].transpose("ci_bound", along).to_numpy() - rate)
        style = "-" if numeric else "none"
        name = ", ".join(map(str, names))
        ax.errorbar(places, rate, arms, linestyle=style, marker="o", label=name)
    if not numeric:
        ax.set_xticks(np.arange(settings.size), list(map(str, settings)))
    ax.axhline(level or result.attrs["alpha"], color="0.4", linestyle=":")
    ax.set(xlabel=along, ylabel="share of rejections")
    if others:
        ax.legend(fontsize="small")


def draw_panels(result: xr.Dataset, along: str, panels: str, *, level: float | None = None) -> None:
    """Draw rates along a setting, a panel for each label of another dim."""
    from matplotlib import pyplot as plt

    names = result[panels].to_numpy()
    size = 3.4 * len(names), 3.4
    _, axes = plt.subplots(1, len(names), figsize=size, dpi=80, layout="constrained", sharey=True)
    for ax, name in zip(np.atleast_1d(axes), names, strict=True):
        draw_rates(result.sel({panels: name}), along, ax, level=level)
        ax.set_title(f"{panels} {name}")
    ax.set_ylim(bottom=0)  # of all panels, once all rates are in them


def _check_settings(
    settings: Mapping[str, Sequence[Any]] | None,
) -> dict[str, list[Any]]:
    """Return the settings as lists of distinct values, under names that can be dims."""
    if settings is None:
        return {}
    if not isinstance(settings, Mapping):
        raise TypeError(f"settings must map names to lists of values; got {shown(settings)}. Try {{'n_runs': [5, 10]}}")
    for name, values in settings.items():
        if name in _TAKEN:
            raise ValueError(
                f"settings must not have the name {name!r}, which results use. Rename the generator's keyword"
            )
        if isinstance(values, str) or np.ndim(np.asarray(values, dtype=object)) == 0:
            raise TypeError(f"settings[{name!r}] must be a list of values; got {shown(values)}. Try a list")
        known = list(map(label, values))
        if not known or len(set(known)) < len(known):
            raise ValueError(f"settings[{name!r}] must be different values, at least one; got {known}")
    return {str(name): list(values) for name, values in settings.items()}


def resampled(
    n_datasets: int,
    *,
    curves: xr.DataArray,
    n_runs: int | Sequence[int],
    shuffled: bool = False,
    replace: bool = False,
    modification: Case | None = None,
    factor: float = 0.0,
    stretch: float = 1.0,
    rng: np.random.Generator,
) -> xr.DataArray:
    """Draw data sets from real curves, as the papers do: a generator for `rejection_rates`.

    Parameters
    ----------
    n_datasets : int
        Number of data sets.
    curves : DataArray, dims (..., algorithm, run, training) or (..., run, training)
        Real curves. Those of a single algorithm stand for two: the second are the same curves, modified and stretched.
    n_runs : int or sequence of int
        Curves per algorithm, l, or one number for each algorithm.
    shuffled : bool, default False
        Assign curves to algorithms from one pool of all, so that the null hypothesis is true. Otherwise each algorithm
        has its own.
    replace : bool, default False
        Draw with replacement. Otherwise all curves of a data set (of an algorithm, if not `shuffled`) are distinct.
    modification : {"a", "b", "c", "d"}, optional
        How the second algorithm's curves are made from those of a single one, see `modified`.
    factor : float, default 0
        How much they are modified, f.
    stretch : float, default 1
        What they are multiplied with, s.
    rng : Generator
        Source of the draws.

    Returns
    -------
    DataArray, dims (replication, ..., algorithm, run, training)
        In the units of `curves`. Where `n_runs` differ, the runs that an algorithm does not have are NaN.

    Raises
    ------
    ValueError, TypeError
        If there are fewer curves than asked, `replace` being False; if curves of several algorithms are to be modified.

    Notes
    -----
    A single algorithm's curves ``shuffled``: Section 3 of the conference paper, with a modification its Section 5.1
    (the pool is L and L' together). Not shuffled: Section 5.2, with ``stretch`` Section 4.2 of the report.

    Examples
    --------
    >>> import xcurves
    >>> score = xcurves.tutorial.open_dataset("tictactoe")["score"].sel(algorithm=["rate 0.1"])
    >>> drawn = resampled(100, curves=score, n_runs=5, shuffled=True, rng=np.random.default_rng(0))
    >>> drawn.sizes["replication"], drawn.sizes["algorithm"], drawn.sizes["run"]
    (100, 2, 5)
    """
    curves, names = _of_two(curves, modification, factor, stretch, shuffled=shuffled)
    pool, owners = pool_of(curves)
    sizes = _sizes(n_runs, len(names))
    if shuffled:
        places = _draw(rng, n_datasets, len(owners), sum(sizes), "in all", replace=replace)
        drawn = np.split(places, np.cumsum(sizes)[:-1], axis=1)
    else:
        members = [np.flatnonzero(owners == i) for i in range(len(names))]
        drawn = [
            own[
                _draw(
                    rng,
                    n_datasets,
                    len(own),
                    size,
                    f"of algorithm {name!r}",
                    replace=replace,
                )
            ]
            for own, size, name in zip(members, sizes, names, strict=True)
        ]
    shape = (n_datasets, *pool.shape[:-2], len(names), max(sizes), pool.shape[-1])
    values = np.full(shape, np.nan)
    data = pool.to_numpy()
    for place, chosen in enumerate(drawn):
        values[..., place, : chosen.shape[1], :] = np.moveaxis(data[..., chosen, :], -3, 0)
    coords = {**pool.coords, "algorithm": names, "run": np.arange(max(sizes))}
    return xr.DataArray(
        values,
        coords,
        (REPLICATION, *pool.dims[:-2], *labels.DIMS),
        name=curves.name,
        attrs=dict(curves.attrs),
    )


def autoregressive(
    n_datasets: int,
    *,
    n_runs: int | Sequence[int] = 10,
    n_algorithms: int = 2,
    n_levels: int = 8,
    correlation: float = 0.7,
    offset: PerAlgorithm = 2.0,
    noise: PerAlgorithm = 1.0,
    shared: float = 0.0,
    algorithm_effect: float = 0.0,
    interaction_effect: float = 0.0,
    rng: np.random.Generator,
) -> xr.DataArray:
    r"""Make data sets of curves with carryover effects: a generator for `rejection_rates`.

    Parameters
    ----------
    n_datasets : int
        How many data sets to make.
    n_runs : int or sequence of int, default 10
        Curves per algorithm, l, or one number for each algorithm.
    n_algorithms, n_levels : int, default 2 and 8
        Numbers of algorithms, m, and of training levels, k.
    correlation : float, default 0.7
        What a score keeps of the one before, ρ; 1 makes random walks.
    offset : float or sequence of float, default 2
        Standard deviation of the runs' offsets, in units of `noise`.
    noise : float or sequence of float, default 1
        Standard deviation of the innovations, or one for each algorithm: unequal variances.
    shared : float, default 0
        Standard deviation of what the runs j of all algorithms have in common at each level, for paired tests.
    algorithm_effect, interaction_effect : float, default 0
        What the first algorithm has more at every level; what it has less at the first half and more at the others.
    rng : Generator
        Source of the noise.

    Returns
    -------
    DataArray, dims (replication, algorithm, run, training)
        Scores without unit. Where `n_runs` differ, the runs that an algorithm does not have are NaN.

    Raises
    ------
    ValueError, TypeError
        If a number for each algorithm is given for more or fewer of them; if a number of runs or levels is below 1.

    Notes
    -----
    .. math:: y_{ijh} = \sigma_i (\omega u_{ij} + x_{ijh}) + \text{effects}, \quad x_{ij1} = e_{ij1}, \;
              x_{ijh} = \rho x_{ij,h-1} + e_{ijh}, \quad u, e \sim N(0, 1)

    `interaction_effect` is never an algorithm effect too: with an odd number of levels its mean is subtracted.

    Examples
    --------
    >>> walks = autoregressive(3, n_runs=(15, 5), correlation=1, rng=np.random.default_rng(0))
    >>> walks.notnull().any("training").sum("run").values[0].tolist()
    [15, 5]
    """
    m = validation.check_total("n_algorithms", n_algorithms, "2", least=2, most=_MOST)
    k = validation.check_total("n_levels", n_levels, "8", most=_MOST)
    given = {"correlation": correlation, "shared": shared}
    given |= {
        "algorithm_effect": algorithm_effect,
        "interaction_effect": interaction_effect,
    }
    for name, value in given.items():
        validation.check_number(name, value)
    sizes = _sizes(n_runs, m)
    spread, offsets = _each("noise", noise, m), _each("offset", offset, m)
    shape = (n_datasets, m, max(sizes))
    innovations = rng.normal(size=(*shape, k))
    lags = np.subtract.outer(np.arange(k), np.arange(k))
    carried = innovations @ np.where(lags >= 0, correlation ** np.abs(lags), 0.0).T
    of_runs = offsets[:, None, None] * rng.normal(size=(*shape, 1))
    values = spread[:, None, None] * (of_runs + carried)
    if shared:
        values += shared * rng.normal(size=(n_datasets, 1, max(sizes), k))
    half = np.where(np.arange(k) < k // 2, -1.0, 1.0)
    values[:, 0] += algorithm_effect + interaction_effect * (half - half.mean())
    values[:, np.arange(max(sizes)) >= np.array(sizes)[:, None]] = np.nan
    names = [f"a{i + 1}" for i in range(m)]
    coords = {
        "algorithm": names,
        "run": np.arange(max(sizes)),
        "training": np.arange(1.0, k + 1),
    }
    return xr.DataArray(values, coords, (REPLICATION, *labels.DIMS), name="score")


def modified(curves: xr.DataArray, case: Case, factor: float) -> xr.DataArray:
    r"""Change every curve in one of the papers' four ways.

    Parameters
    ----------
    curves : DataArray, dims (..., training)
        Curves L; at least two training levels, for ``"b"`` an even number.
    case : {"a", "b", "c", "d"}
        Parallel to the old curve (algorithm effect only), steeper or flatter about the same mean (interaction only),
        towards another end, or different in the middle only (both effects).
    factor : float
        How much, f; 0 leaves the curves as they are.

    Returns
    -------
    DataArray
        Modified curves, `training` the last dim; units as before.

    Raises
    ------
    ValueError, TypeError
        If the case is unknown or does not suit the number of levels, or the factor is not finite.

    Notes
    -----
    With levels i = 1, ..., k and :math:`r = L_k - L_1` of the curve itself [1]_,

    .. math::

       M_a:\; L_i + f r / 80 \qquad M_b:\; L_i + f r (k/2 - i + 1) / 100 \text{ if } i \le k/2,\;
       L_i - f r (i - k/2) / 100 \text{ else}

       M_c:\; L_i + f (L_i - L_1) (i - 1) / 100 \qquad M_d:\; L_i + f r (i - 1) / 100 \text{ if } i \le k/2,\;
       L_i + f r (k - i) / 100 \text{ else}

    M_b adds nothing to a curve's mean if k is even, and only then.

    References
    ----------
    .. [1] Piater, J. H., Cohen, P. R., Zhang, X. & Atighetchi, M. (1998). A randomized ANOVA procedure for comparing
       performance curves. Proc. 15th Int. Conf. on Machine Learning, appendix.

    Examples
    --------
    >>> import xcurves
    >>> score = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> changed = modified(score, "b", 8)
    >>> bool(abs(changed.mean("training") - score.mean("training")).max() < 1e-9)
    True
    """
    curves = check_curves(curves, core=("training",))
    k = curves.sizes["training"]
    validation.check_choice("case", case, ("a", "b", "c", "d"))
    factor = validation.check_number("factor", factor)
    if case == "b" and k % 2:
        cure = "Leave one out: curves.isel(training=slice(1, None))"
        raise ValueError(f"case 'b' needs an even number of training levels; got {k}. {cure}")
    values = curves.data
    first = values[..., :1]
    rise = values[..., -1:] - first
    i = np.arange(1, k + 1)
    early = i <= k / 2
    change = {
        "a": rise / 80,
        "b": rise * np.where(early, k / 2 - i + 1, k / 2 - i) / 100,
        "c": (values - first) * (i - 1) / 100,
        "d": rise * np.where(early, i - 1, k - i) / 100,
    }
    return curves.copy(data=values + factor * change[case])


def _of_two(
    curves: xr.DataArray,
    modification: Case | None,
    factor: float,
    stretch: float,
    *,
    shuffled: bool,
) -> tuple[xr.DataArray, list[Hashable]]:
    """Return curves and the algorithms that data sets have: those of a single one are two, modified and stretched."""
    if "algorithm" not in curves.dims:
        curves = curves.drop_vars("algorithm", errors="ignore").expand_dims(algorithm=["original"])
    curves = check_curves(curves)
    names = curves["algorithm"].to_numpy().tolist()
    factor = validation.check_number("factor", factor)
    stretch = validation.check_number("stretch", stretch)
    changes = modification is not None or stretch != 1
    if len(names) > 1:
        if changes:
            raise ValueError(
                f"curves to modify must be of one algorithm; got {len(names)}. Select: curves.sel(algorithm=[...])"
            )
        return curves, names
    second = "modified" if changes else "again"
    # Without a modification a shuffled pool is that of the one algorithm, with each curve in it once.
    if changes or not shuffled:
        other = curves
        if modification is not None:
            other = modified(curves, modification, factor)
        other = other.copy(data=other.data * stretch).assign_coords(algorithm=[second])
        curves = xr.concat([curves, other], "algorithm")
    return curves, [names[0], second]


def _draw(
    rng: np.random.Generator,
    n_datasets: int,
    n_there: int,
    n_wanted: int,
    whose: str,
    *,
    replace: bool,
) -> NDArray[np.intp]:
    """Return places of curves, shape (replication, curve), distinct in each data set unless `replace`."""
    if replace:
        return rng.integers(n_there, size=(n_datasets, n_wanted))
    if n_wanted > n_there:
        raise ValueError(
            f"n_runs asks for {n_wanted} distinct curves; there are {n_there} {whose}. "
            "Ask for fewer, or draw with replace=True"
        )
    return np.argsort(rng.random((n_datasets, n_there)), axis=1)[:, :n_wanted]


def _sizes(n_runs: int | Sequence[int], n_algorithms: int) -> list[int]:
    """Return the number of runs of each algorithm."""
    if isinstance(n_runs, Sequence | np.ndarray):
        given: list[Any] = list(n_runs)
    else:
        given = [n_runs for _ in range(n_algorithms)]
    if len(given) != n_algorithms:
        raise ValueError(f"n_runs must be one number or one for each of {n_algorithms} algorithms; got {n_runs}")
    return [validation.check_total("n_runs", size, "10", most=_MOST) for size in given]


def _each(name: str, given: PerAlgorithm, n_algorithms: int) -> NDArray[np.float64]:
    """Return one number for each algorithm."""
    values = validation.numbers_of(given)
    if values is None or values.shape not in ((), (n_algorithms,)) or not (np.isfinite(values) & (values >= 0)).all():
        raise ValueError(
            f"{name} must be a finite number from 0, or one for each of {n_algorithms} algorithms; got {given!r}"
        )
    return np.broadcast_to(values, n_algorithms).copy()
