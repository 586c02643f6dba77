"""Sources of data sets, ``generator(n_datasets, *, rng, **settings)``: real curves, resampled or modified, or noise."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels, validation
from xcurves.core.named_options import names_options
from xcurves.core.validation import check_curves

Case = Literal["a", "b", "c", "d"]
PerAlgorithm = float | Sequence[float]
REPLICATION = "replication"
_MOST = 10**6  # algorithms, runs or levels of a data set


@names_options
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
    """Draw data sets from real curves, as the papers do: a generator for `type_i_error` and `power`.

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
    >>> import numpy as np, xcurves
    >>> score = xcurves.tutorial.open_dataset("tictactoe")["score"].sel(algorithm=["rate 0.1"])
    >>> drawn = xcurves.simulation.resampled(100, curves=score, n_runs=5, shuffled=True, rng=np.random.default_rng(0))
    >>> drawn.sizes["replication"], drawn.sizes["algorithm"], drawn.sizes["run"]
    (100, 2, 5)
    """
    pool, names, owners = pool_of(
        curves, modification, factor, stretch, shuffled=shuffled
    )
    sizes = _sizes(n_runs, len(names))
    if shuffled:
        places = _draw(
            rng, n_datasets, len(owners), sum(sizes), "in all", replace=replace
        )
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
        values[..., place, : chosen.shape[1], :] = np.moveaxis(
            data[..., chosen, :], -3, 0
        )
    coords = {**pool.coords, "algorithm": names, "run": np.arange(max(sizes))}
    return xr.DataArray(
        values,
        coords,
        (REPLICATION, *pool.dims[:-2], *labels.DIMS),
        name=curves.name,
        attrs=dict(curves.attrs),
    )


@names_options
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
    r"""Make data sets of curves with carryover effects: a generator for `type_i_error` and `power`.

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
    >>> import numpy as np, xcurves
    >>> walks = xcurves.simulation.autoregressive(3, n_runs=(15, 5), correlation=1, rng=np.random.default_rng(0))
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


@names_options
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
    >>> changed = xcurves.simulation.modified(score, "b", 8)
    >>> bool(abs(changed.mean("training") - score.mean("training")).max() < 1e-9)
    True
    """
    curves = check_curves(curves, core=("training",))
    k = curves.sizes["training"]
    validation.check_choice("case", case, ("a", "b", "c", "d"))
    factor = validation.check_number("factor", factor)
    if case == "b" and k % 2:
        cure = "Leave one out: curves.isel(training=slice(1, None))"
        raise ValueError(
            f"case 'b' needs an even number of training levels; got {k}. {cure}"
        )
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


@names_options
def stretched(curves: xr.DataArray, factor: float) -> xr.DataArray:
    """Multiply every score by a factor, as the papers' report does to get curves that grow faster.

    Parameters
    ----------
    curves : DataArray
        Scores; any dims.
    factor : float
        The stretch s; 1 leaves the curves as they are, 1.1 puts scores 10 % higher.

    Returns
    -------
    DataArray
        Stretched curves, in the same units.

    Raises
    ------
    ValueError
        If the factor is not finite.

    Examples
    --------
    >>> import xcurves
    >>> score = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> float(xcurves.simulation.stretched(score, 1.1).max() / score.max())
    1.1
    """
    return curves.copy(data=curves.data * validation.check_number("stretch", factor))


def with_algorithm(curves: xr.DataArray) -> xr.DataArray:
    """Return curves with a dim `algorithm`, those of a single one under the label "original"."""
    if not isinstance(curves, xr.DataArray) or "algorithm" in curves.dims:
        return curves
    return curves.drop_vars("algorithm", errors="ignore").expand_dims(
        algorithm=["original"]
    )


def pool_of(
    curves: xr.DataArray,
    modification: Case | None,
    factor: float,
    stretch: float,
    *,
    shuffled: bool,
) -> tuple[xr.DataArray, list[Hashable], NDArray[np.intp]]:
    """Return the curves that are there, dims (..., _curve, training), the algorithms, and whose each curve is."""
    curves = check_curves(with_algorithm(curves))
    names = curves["algorithm"].to_numpy().tolist()
    factor, stretch = (
        validation.check_number("factor", factor),
        validation.check_number("stretch", stretch),
    )
    changes = modification is not None or stretch != 1
    if changes and len(names) > 1:
        raise ValueError(
            f"curves to modify must be of one algorithm; got {len(names)}. Select: curves.sel(algorithm=[...])"
        )
    if len(names) == 1:
        other = curves
        second_name = "again"
        if changes:
            second_name = "modified"
        if modification is not None:
            other = modified(curves, modification, factor)
        names = [names[0], second_name]
        # Without a modification a shuffled pool is that of the one algorithm, with each curve in it once.
        if changes or not shuffled:
            second = stretched(other, stretch).assign_coords(algorithm=[second_name])
            curves = xr.concat([curves, second], "algorithm")
    present = curves.notnull().any("training")
    others = [dim for dim in present.dims if dim not in ("algorithm", "run")]
    if not bool((present.any(others) == present.all(others)).all()):
        raise ValueError(
            "curves must have the same runs in every task; got others. Select one task"
        )
    flat = curves.transpose(..., *labels.DIMS).stack(
        _curve=("algorithm", "run"), create_index=False
    )
    flat = flat.drop_vars(
        [name for name, coord in flat.coords.items() if "_curve" in coord.dims]
    )
    flat = flat.transpose(..., "_curve", "training")
    there = np.flatnonzero(present.any(others).transpose("algorithm", "run").to_numpy())
    return flat.isel(_curve=there), names, there // curves.sizes["run"]


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
        raise ValueError(
            f"n_runs must be one number or one for each of {n_algorithms} algorithms; got {n_runs}"
        )
    return [validation.check_total("n_runs", size, "10", most=_MOST) for size in given]


def _each(name: str, given: PerAlgorithm, n_algorithms: int) -> NDArray[np.float64]:
    """Return one number for each algorithm."""
    values = validation.numbers_of(given)
    if (
        values is None
        or values.shape not in ((), (n_algorithms,))
        or not (np.isfinite(values) & (values >= 0)).all()
    ):
        raise ValueError(
            f"{name} must be a finite number from 0, or one for each of {n_algorithms} algorithms; got {given!r}"
        )
    return np.broadcast_to(values, n_algorithms).copy()
