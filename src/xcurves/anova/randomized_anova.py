"""The randomized two-way analysis of variance of performance curves."""

from __future__ import annotations

import numpy as np
import xarray as xr

from xcurves.anova.anova_block import AnovaBlock
from xcurves.anova.kinds import RANDOMIZED_ANOVA
from xcurves.anova.reduction import apply_to_moments
from xcurves.core import labels, provenance, validation
from xcurves.core.chunking import in_memory
from xcurves.core.packing import Layout
from xcurves.core.progress import progress_bar
from xcurves.core.task_blocks import block_options, in_given_order, in_label_order
from xcurves.core.validation import check_curves
from xcurves.kernels import shuffles


def randomized_anova(
    curves: xr.DataArray,
    *,
    n_resamples: int | None = None,
    paired: bool = False,
    confidence_level: float = 0.95,
    keep_null: bool = False,
    batch: int | None = None,
    progress: bool = False,
    rng: validation.Rng = None,
) -> xr.Dataset:
    r"""Test whether algorithms differ in level and in shape, by shuffling whole curves.

    Parameters
    ----------
    curves : DataArray, dims (..., algorithm, run, training)
        Scores. A run that an algorithm does not have is NaN along all of `training`; any further dims (tasks)
        broadcast, each task with its own runs, algorithms and training levels.
    n_resamples : int, optional
        Largest number of reassignments: all distinct ones, each once, if there are no more than this, else
        this many random ones. By default all up to a million, else 9,999 random ones.
    paired : bool, default False
        Whether run ``j`` is matched over algorithms (same fold, seed or data). Then algorithms are permuted within
        each run. Never inferred from equal labels.
    confidence_level : float, default 0.95
        One minus the significance level of `critical_value`.
    keep_null : bool, default False
        Return the F ratio of every reassignment too. With dask-backed curves this means random shuffles.
    batch : int, optional
        Largest number of reassignments evaluated at once; changes no p-value. For `critical_value` the largest F ratios
        are kept too, twice the share ``1 - confidence_level`` of all.
    progress : bool, default False
        Show a tqdm bar (extra ``progress``); for dask-backed curves use dask's own.
    rng : int, Generator or None
        Seed of the random reassignments. An int gives the same ones each time; from a Generator the seed is drawn.

    Returns
    -------
    Dataset
        With the extra dims of `curves` in front. On (effect, error_term), with effects ``algorithm`` and
        ``interaction`` and error terms ``pooled``, ``split_plot`` and ``welch``: `pvalue`, `f`, `critical_value`,
        `pvalue_stderr`, `pvalue_parametric`, `eta_sq_partial`, `omega_sq_partial`, `eta_sq_generalized` (the same for
        both terms), `error_ss`, `error_df`. ``welch`` has only the algorithm effect of unpaired runs, without sums of
        squares and effect sizes; the rest is NaN. If an algorithm has one run, all of ``welch`` is NaN. On (source):
        `ss` (in squared score units) and `df` of interaction, algorithm, training, error and total. On (algorithm):
        `n_runs`. Scalars: `sd_ratio`, the largest over the smallest standard deviation of the algorithms' curve means,
        and `sd_ratio_limit`, its 0.95 quantile under equal normal spread (NaN if paired); `n_levels`, `n_resamples`,
        `n_assignments`. With `keep_null` also `null_distribution` (effect, error_term, resample) and the paper's
        `pvalue_rank`.

    Raises
    ------
    ValueError, TypeError
        If dims, coordinates or options are not as described; if a run lacks some of its task's levels or is
        infinite; if fewer than two algorithms have runs, or none has two; if `paired` and runs do not match.
    ImportError
        If `progress` is asked for and tqdm is not installed.

    Warns
    -----
    UserWarning
        If so few assignments exist that no p-value can reach ``1 - confidence_level``; if an F ratio is 0 / 0 or a
        task has no runs. Not for dask-backed curves, where these are facts in the result.

    Notes
    -----
    The shuffled unit is the whole curve, so dependence along training is preserved [1]_. With ``l_i`` of ``N``
    curves and ``k`` levels,

    .. math:: F_{alg} = \frac{k \sum_i l_i (\bar y_i - \bar y)^2 / (m - 1)}{SS_{error} / df_{error}}, \quad
              F_{int} = \frac{\sum_{ih} l_i (\bar y_{ih} - \bar y_i - \bar y_h + \bar y)^2 / ((m-1)(k-1))}
              {SS_{error} / df_{error}}

    *Two error terms.* The paper's ``pooled`` error, ``k (N - m)`` df, mixes differences between runs with changes
    within runs. Shuffling tests the joint null of no effect at all; with the pooled error a real effect of one kind
    can make the test of the other reject. ``split_plot`` is the split-plot error: runs within algorithms for the
    algorithm effect, runs by training within algorithms for the interaction. Conclusions should rest on it. If
    paired, they are algorithm by run, and algorithm by run by training.

    *Unequal spread.* ``welch`` is Welch's statistic [4]_ of curve means, recomputed in every reassignment. If spreads
    differ, F rejects too often with three algorithms or more and with unequal numbers; ``welch`` is nearer to its
    level, at the price of power where spreads are equal. Read it where `sd_ratio` exceeds `sd_ratio_limit`.

    *Effect sizes.* Partial omega squared is
    :math:`df (F - 1) / (df (F - 1) + n)`, the share of the effect's variance in its sum with that of its error [2]_.
    The values that vary are N means of curves for the algorithm effect by ``split_plot``, so that n = N, and otherwise
    N k scores. Its mean is about 0 without an effect, where that of eta squared is (m - 1) / (N - 1) for the algorithm
    effect by ``split_plot``, unpaired: 4 / 14 for five algorithms of three runs.

    *p-values.* Exact: the share of distinct assignments, the observed one included, whose F is at least the observed.
    Random: ``(1 + count) / (1 + n_resamples)``. Ties count as at least the observed: sums of squares are tied if they
    agree within 1e-10 of the sum of squares of the effect and its own error.

    References
    ----------
    .. [1] Piater, J. H., Cohen, P. R., Zhang, X. & Atighetchi, M. (1998). A randomized ANOVA procedure for comparing
       performance curves. Proc. 15th Int. Conf. on Machine Learning, 430-438.
    .. [2] Olejnik, S. & Algina, J. (2003). Generalized eta and omega squared statistics.
       Psychological Methods 8(4), 434-447. doi:10.1037/1082-989X.8.4.434
    .. [3] Phipson, B. & Smyth, G. K. (2010). Permutation p-values should never be zero.
       Stat. Appl. Genet. Mol. Biol. 9(1). doi:10.2202/1544-6115.1585
    .. [4] Welch, B. L. (1951). On the comparison of several mean values: an alternative approach.
       Biometrika 38, 330-336. doi:10.1093/biomet/38.3-4.330

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> result = scores.curves.randomized_anova(rng=0)
    >>> result.pvalue.dims
    ('effect', 'error_term')
    >>> int(result.n_resamples)
    9999
    """
    given, curves = curves, check_curves(curves, levels=False, reserved=RANDOMIZED_ANOVA.reserved())
    ordered = in_label_order(curves)
    lazy = not in_memory(curves)
    keep_null = validation.check_flag("keep_null", keep_null)
    options = block_options(curves, ordered, n_resamples, paired, confidence_level, rng)
    # A lazy result keeps random reassignments, so that their number is known beforehand.
    n_kept = (options["n_resamples"] or shuffles.DEFAULT_RESAMPLES) if keep_null else 0
    sizes = {"effect": 2, "error_term": 3, "source": 5, "algorithm": curves.sizes["algorithm"], "resample": n_kept}
    block = AnovaBlock(
        RANDOMIZED_ANOVA.layout(sizes, *["keep_null"] * keep_null),
        **options,
        keep_null=keep_null,
        lazy=lazy,
        batch=validation.check_count("batch", batch),
        progress=progress_bar(validation.check_flag("progress", progress) and not lazy),
    )
    packed = apply_to_moments(block, ordered, given)
    variables = _layout_of(packed, block.layout, keep_null).unpack(packed)
    variables["n_runs"] = in_given_order(variables["n_runs"], ordered, curves)
    attrs = RANDOMIZED_ANOVA.attrs(
        curves,
        block.entropy,
        confidence_level,
        n_resamples=n_resamples,
        paired=paired,
    )
    result = RANDOMIZED_ANOVA.dataset(variables, {**packed.coords, "algorithm": curves["algorithm"]}, attrs, curves)
    if not lazy:
        _warn(result, block)
        provenance.record_exact_rng(result, rng)
    return result


def _layout_of(packed: xr.DataArray, layout: Layout, keep_null: bool) -> Layout:
    """Return the layout of packed results: of an eager call with as many null values as were evaluated."""
    if not keep_null:
        return layout
    fixed = layout.resized(resample=0).length
    return layout.resized(resample=(packed.sizes["_packed"] - fixed) // 6)


def _warn(result: xr.Dataset, block: AnovaBlock) -> None:
    """Warn once of each thing in a computed result that a reader would not expect, and name the first task."""
    n_tasks, found = len(block.names), result.variables
    n_levels = found["n_levels"].to_numpy().ravel()
    sizes = found["n_runs"].to_numpy().reshape(n_tasks, -1)
    exact = provenance.is_exact(result).ravel()
    smallest = provenance.smallest_reachable(result).ravel()
    f = found["f"].to_numpy().reshape(n_tasks, 2, 3)[..., :2]
    undefined = np.isnan(f) & (n_levels[:, np.newaxis] > np.array([0, 1]))[..., np.newaxis]

    def unreachable(task: int) -> str:
        runs = " v ".join(str(size) for size in sizes[task] if size)
        count = found["n_assignments"].to_numpy().ravel()[task]
        few = f"{runs} runs allow {count:g} assignments" if exact[task] else "n_resamples is small"
        return f"{few}; no p below {smallest[task]:.3g} exists"

    def zero_by_zero(task: int) -> str:
        effects = " and ".join(np.array(labels.EFFECTS)[undefined[task].any(axis=-1)])
        return f"differences and error are both zero: F is 0 / 0 and p is NaN ({effects})"

    cases = (
        (n_levels == 0, lambda _: "no run has a value; the result is NaN"),
        (undefined.any(axis=(1, 2)), zero_by_zero),
        (~provenance.significant(smallest, block.alpha) & (n_levels > 0), unreachable),
    )
    for affected, say in cases:
        provenance.warn_of(affected, block.names, say)
