"""How good the best of k trials of random search is, and how many trials one algorithm needs to match another."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from xcurves.array_types import Floats, Ints
from xcurves.core import direction, labels, validation
from xcurves.core.applicability import adaptive_sampler
from xcurves.core.driver import is_lazy, per_task
from xcurves.core.jobs import Group
from xcurves.core.refusal import UNSAID, Cure, Refusal, Verbatim, give
from xcurves.core.run_checks import within_budget
from xcurves.core.validation import check_curves
from xcurves.distributions import kinds, trial_checks
from xcurves.distributions.trial_checks import Dims
from xcurves.distributions.trials import (
    Failed,
    bounds_beside_failed,
    check_trials,
    difference_band,
    prefixes_of,
)
from xcurves.kernels.distributions import tuning

_MOST = 10_000  # numbers of trials, if they are not listed


def tuning_curve(
    scores: xr.DataArray,
    *,
    dim: Dims = "run",
    n_trials: int | Sequence[int] = 50,
    unit: Dims | None = None,
    select: xr.DataArray | None = None,
    bounds: tuple[float, float] | None = None,
    higher_is_better: bool | None = None,
    confidence_level: float = 0.95,
) -> xr.Dataset:
    r"""Estimate the best score of k trials drawn by random search, for every k, from the scores of some trials.

    Parameters
    ----------
    scores : DataArray, dims (..., algorithm, \*dim), or (..., \*dim) of one algorithm
        One score for each trial, NaN where there is none, -inf (+inf where lower is better) where it failed: a failed
        trial is a trial. Trials are independent draws of hyper-parameters (and of whatever else is random), as random
        search makes them. All dims but `algorithm` and `dim` broadcast.
    dim : str or sequence of str, default "run"
        What the trials are. With several dims `unit` says which of them are draws.
    n_trials : int or sequence of int, default 50
        Numbers k of trials: all up to this one, or these.
    unit : str or sequence of str, optional
        Dims of `dim` whose labels are draws; the mean over the others, such as seeds, is the score of a trial. All
        dims of `dim`: every trial is a draw.
    select : DataArray, optional
        Scores by which the best trial is chosen, with the dims and labels of `scores`: validation scores, where
        `scores` are test scores. There are no intervals then.
    bounds : tuple of float, optional
        Smallest and largest score that there can be: without them a mean has no band, and bands of the median are
        infinite where trials are too few. In means failed trials count as the worse of them; without it a mean that
        takes one in is NaN.
    higher_is_better : bool, optional
        Which end of the scores is better. None: as ``attrs["higher_is_better"]`` or else the name of the scores says
        (of a loss, an error or a time the lower); higher where neither does.
    confidence_level : float, default 0.95
        Of each interval, of the band of each algorithm as a whole, and of the band of each pair as a whole.

    Returns
    -------
    Dataset
        With the extra dims of `scores` in front, in score units: `best_median` (algorithm, trials), the median of the
        best score seen in k trials, NaN where only the best trial of all says how high it is; `best_median_ci` (...,
        ci_bound), for each k by itself, `best_median_band`, for all k together (it misses less often than it may:
        it reads a band of all quantiles at those of each k); `best_mean`, NaN for more trials than
        there are, and `best_mean_band`. With several algorithms, on (pair, trials): `difference` of the medians, first
        minus second, `difference_band`, and `difference_band_simultaneous`, for all pairs together;
        `trials_to_match`, a number of trials: how many of the first have as good a
        median best as k of the second, with its set of numbers, `trials_to_match_ci`; `trials_to_match_reversed`, the
        same of the second for k of the first; infinite: never. `n_trials` (algorithm), a count, is a coordinate.

    Raises
    ------
    ValueError, TypeError
        If dims or options are not as described, if there are several dims and no `unit`, if scores have the infinite
        value that is no failure or violate `bounds`, or if `scores` say that trials were not drawn independently: by
        their attr ``sampler`` another than Optuna's RandomSampler and GridSampler, or by ``n_pruned`` that trials were
        pruned.

    Notes
    -----
    The best of k independent trials has the distribution function :math:`F^k`, so that its median is

    .. math:: F^{-1}(2^{-1/k}), \quad F^{-1}(p) = \min\{z: F(z) \ge p\},

    with an exact pointwise interval of order statistics, and a band that inverts the exact band of F
    (`performance_cdf`). Beyond k = ln 2 / ln(n / (n - 1)), about .69 n, the estimate would stay at the best of all
    trials: it is NaN, and only the worse end of the interval stands. The mean is that over all samples of k of the n
    trials, without bias:

    .. math:: \sum_i \frac{\binom{i-1}{k-1}}{\binom{n}{k}} z_{(i)};

    its band integrates :math:`F^k` between `bounds`. Bands of a difference, and the sets of `trials_to_match`, are from
    both bands at half the error each.

    The best score *seen* contains selection on noise: of trials that differ by chance only, it still grows with k. With
    `select` the best is chosen by other scores than are reported.

    References
    ----------
    .. [1] Lourie, N., Cho, K. & He, H. (2023). Show your work with confidence: confidence bands for tuning curves.
       doi:10.48550/arXiv.2311.09480
    .. [2] Tang, R. et al. (2020). Showing your work doesn't always work. doi:10.48550/arXiv.2004.13705
    .. [3] Moscovich, A. & Nadler, B. (2017). Fast calculation of boundary crossing probabilities for Poisson
       processes. Stat. Probab. Lett. 123, 177-182. doi:10.48550/arXiv.1503.04363

    Examples
    --------
    >>> import xcurves
    >>> draws = xcurves.tutorial.open_dataset("classifiers")["accuracy"].sel(dataset="moons", tuning="random")
    >>> best = draws.curves.tuning_curve(n_trials=20, bounds=(0, 1))
    >>> best.best_median.dims
    ('algorithm', 'trials')
    >>> bool((best.best_median.diff("trials") >= 0).all())
    True
    """
    design = trial_checks.check_design(dim, None, unit, "unit={task!r} if its labels are draws", "unit={unit!r}")
    dims = ("algorithm", *design.dims)
    checked = check_curves(
        _with_algorithm(validation.check_array("scores", scores)),
        core=dims,
        name="scores",
        reserved=kinds.TUNING_CURVE.reserved(),
        named=design.dims,
    )
    _check_search(checked.attrs)
    checked, higher_is_better = direction.resolved(checked, higher_is_better)
    checked, budget = within_budget(checked, dims)
    pairs = np.zeros((0, 2), int)
    if checked.sizes["algorithm"] > 1:
        pairs = labels.pairs_in_label_order(checked)
    kernel = _Tuning(
        pairs=pairs,
        trials=_check_trials(n_trials),
        failed=Failed.of(budget, higher=higher_is_better),
        bounds=trial_checks.check_bounds(bounds),
        higher=higher_is_better,
        alpha=validation.check_confidence_level(confidence_level),
        selecting=select is not None,
    )

    draws = design.units or design.dims
    core: tuple[str, ...] = ("algorithm", *draws)
    trials = checked
    if select is not None:
        trials = _with_selection(checked, select, dims)
        core = (*core, "_selection")
    # Several scores of one draw are averaged.
    repeats = [name for name in design.dims if name not in draws]
    if repeats:
        trials = trials.mean(repeats)
    trials = trials.transpose(..., *core).assign_attrs(checked.attrs)

    numbers = ("trials", kernel.trials, {"long_name": labels.LONG_NAMES["trials"]})
    coords: dict[Hashable, Any] = {"trials": numbers}
    when = []
    if select is None:
        when.append("no select")
    if len(pairs):
        when.append("pairs")
        coords |= labels.pair_coords(checked)
    if len(pairs) and select is None:
        when.append("pairs, no select")
    attrs: dict[str, Any] = {
        **design.attrs,
        "select": None,
        "bounds": None,
        "higher_is_better": higher_is_better,
    }
    if select is not None:
        attrs["select"] = True
    if bounds is not None:
        attrs["bounds"] = " to ".join(map(trial_checks.as_digits, kernel.bounds))
    return per_task(
        kinds.TUNING_CURVE,
        kernel,
        trials,
        context=trial_checks.context_of(trials, core, confidence_level, kernel.alpha, 0),
        core=core,
        sizes={"trials": len(kernel.trials), "pair": len(pairs)},
        when=when,
        coords=coords,
        attrs=attrs,
        budget=budget,
    )


def _with_algorithm(scores: xr.DataArray) -> xr.DataArray:
    """Return scores with the dim algorithm; those of one algorithm, as of `dse`, may lack it."""
    if "algorithm" in scores.dims:
        return scores
    label = scores.name or "trials"
    if "algorithm" in scores.coords:
        label = scores["algorithm"].item()
    return scores.drop_vars("algorithm", errors="ignore").expand_dims(algorithm=[label])


def _check_trials(n_trials: int | Sequence[int]) -> Ints:
    """Return numbers of trials in ascending order."""
    if isinstance(n_trials, int | np.integer):
        most = validation.check_total("n_trials", n_trials, "50", most=_MOST)
        return np.arange(1, 1 + most)
    numbers = trial_checks.check_numbers("n_trials", n_trials)
    wrong = numbers[(numbers < 1) | (numbers % 1 > 0)]
    if wrong.size:
        raise Refusal(
            "n_trials",
            Verbatim(f"{wrong[0]:g}"),
            "must be whole numbers from 1",
            Cure("Try ", give(n_trials=[1, 5, 10, 50])),
        )
    return np.unique(numbers).astype(np.int64)


def _check_search(attrs: Mapping[Any, Any]) -> None:
    """Refuse trials of which their reader says that they are no independent draws."""
    adaptive = adaptive_sampler(attrs)
    if adaptive:
        raise Refusal(
            "scores",
            UNSAID,
            f"scores have sampler={attrs['sampler']!r}; the best of k trials needs independent draws, and {adaptive}"
            " chooses each trial by those before",
            "Search with optuna.samplers.RandomSampler()",
        )
    if int(attrs.get("n_pruned", 0)):
        raise Refusal(
            "scores",
            UNSAID,
            f"scores are of a search with {attrs['n_pruned']} pruned trials, which have no score; "
            "the others are no random sample",
            "Search without a pruner",
        )


def _with_selection(scores: xr.DataArray, select: xr.DataArray, core: Sequence[str]) -> xr.DataArray:
    """Return scores and those that select, last dim (_selection), each NaN where one of them is."""
    selecting = check_curves(
        _with_algorithm(validation.check_array("select", select)),
        core=core,
        name="select",
        named=core,
    )
    if selecting.sizes["algorithm"] == 1:
        selecting = selecting.assign_coords(algorithm=scores["algorithm"])
    try:
        first, second = xr.align(scores, selecting, join="exact")
        second = second.transpose(*first.dims)
    except ValueError:
        raise Refusal(
            "select",
            Verbatim(dict(selecting.sizes)),
            f"must have the dims and labels of scores, {dict(scores.sizes)}",
            "Try xr.align(scores, select)",
        ) from None

    # Where one of them is lazy both are, as one array.
    lazy = is_lazy(first) or is_lazy(second)
    if lazy and not is_lazy(first):
        first = first.chunk()
    if lazy and not is_lazy(second):
        second = second.chunk()
    both = [first.where(second.notnull()), second.where(first.notnull())]
    joined: xr.DataArray = xr.concat(both, "_selection", coords="minimal", compat="override")
    if lazy:
        return joined.chunk({"_selection": -1})
    return joined


@dataclass(frozen=True, kw_only=True)
class _Tuning:
    """How tuning curves are estimated, in rows of scores of which the highest is best."""

    pairs: Ints  # the indices of both algorithms of each pair
    trials: Ints
    failed: Failed
    bounds: tuple[float, float]
    higher: bool
    alpha: float
    selecting: bool

    def __call__(self, group: Group) -> dict[str, Any]:
        """Return curves of tasks, given trials, shape (task, algorithm, *core)."""
        n_tasks, n_algorithms = group.data[0].shape[:2]
        trials = group.data[0].reshape(n_tasks * n_algorithms, -1, 1 + self.selecting)
        n = np.count_nonzero(~np.isnan(trials[..., 0]), axis=-1)
        in_order = np.sort(trials[..., 0], axis=-1)
        check_trials(in_order, n, prefixes_of(group), self.failed, self.bounds)
        upward = trials
        if not self.higher:
            upward = -trials
        x = np.sort(upward[..., 0], axis=-1)
        if self.selecting:
            curves = self._selected(upward)
        else:
            curves = self._curves(x, n)

        # A mean that takes a failed trial in is none.
        if not self.failed.is_time:
            without = np.isinf(curves["best_mean"])
            for name in curves.keys() & {"best_mean", "best_mean_band"}:
                curves[name][without] = np.nan
        out = {name: values.reshape(n_tasks, n_algorithms, *values.shape[1:]) for name, values in curves.items()}
        if len(self.pairs):
            first_of_task = n_algorithms * np.arange(n_tasks)
            first, second = (np.add.outer(first_of_task, side).ravel() for side in self.pairs.T)
            of_pairs = self._of_pairs(curves["best_median"], x, n, first, second)
            for name, values in of_pairs.items():
                out[name] = values.reshape(n_tasks, -1, *values.shape[1:])
        if not self.higher:
            out = _turned_back(out)
        out["n_trials"] = n.reshape(n_tasks, n_algorithms)
        return out

    @property
    def _ends(self) -> tuple[float, float]:
        low, high = self.bounds
        if self.higher:
            return low, high
        return -high, -low

    def _selected(self, trials: Floats) -> dict[str, Floats]:
        """Return curves of the scores of trials that others select, shape (row, trial, both)."""
        scores, selecting = trials[..., 0], trials[..., 1]
        median, mean = tuning.selected(scores, selecting, self.trials, self._ends[0])
        return {"best_median": median, "best_mean": mean}

    def _curves(self, x: Floats, n: Ints) -> dict[str, Floats]:
        """Return curves and their limits, given sorted scores."""
        median, *pointwise = tuning.best_medians(x, n, self.trials, self.alpha, together=False)
        _, *band = tuning.best_medians(x, n, self.trials, self.alpha, together=True)
        mean, mean_band = tuning.best_means(x, n, self.trials, self.alpha, *self._ends)
        low, high = bounds_beside_failed(x, self._ends)
        return {
            "best_median": median,
            "best_mean": mean,
            "best_mean_band": mean_band,
            "best_median_ci": np.clip(np.stack(pointwise, axis=-1), low, high),
            "best_median_band": np.clip(np.stack(band, axis=-1), low, high),
        }

    def _of_pairs(self, median: Floats, x: Floats, n: Ints, first: Ints, second: Ints) -> dict[str, Floats]:
        """Return differences, their bands and trials to match, given sorted scores and the rows of each pair."""
        # Of two medians that are failures there is no difference.
        with np.errstate(invalid="ignore"):
            difference = median[first] - median[second]
        if self.selecting:
            return {"difference": difference}

        low, high = (ends[:, :, 0] for ends in bounds_beside_failed(x, self._ends))
        known = ((n[first] > 0) & (n[second] > 0))[:, np.newaxis, np.newaxis]

        def bands(alpha: float) -> tuple[Floats, Floats, Floats]:
            """Return the medians of both sides with their limits, half of alpha for each, and the band of these."""
            medians = tuning.best_medians(x, n, self.trials, alpha / 2, together=True)
            a = np.clip(medians[:, first], low[first], high[first])
            b = np.clip(medians[:, second], low[second], high[second])
            return a, b, np.where(known, difference_band(a[1:], b[1:]), np.nan)

        a, b, band = bands(self.alpha)
        *_, of_all_pairs = bands(self.alpha / len(self.pairs))
        needed, ci = tuning.trials_to_match(x[first], n[first], b, self.alpha / 2)
        reversed_needed, reversed_ci = tuning.trials_to_match(x[second], n[second], a, self.alpha / 2)
        return {
            "difference": difference,
            "difference_band": band,
            "difference_band_simultaneous": of_all_pairs,
            "trials_to_match": needed,
            "trials_to_match_ci": ci,
            "trials_to_match_reversed": reversed_needed,
            "trials_to_match_reversed_ci": reversed_ci,
        }


def _turned_back(values: dict[str, Floats]) -> dict[str, Floats]:
    """Return what was computed of scores with the other sign; numbers of trials have none."""
    turned = {}
    for name, of_turned in values.items():
        if "match" in name:
            turned[name] = of_turned
        elif name.endswith(("_ci", "_band", "_simultaneous")):
            turned[name] = -of_turned[..., ::-1]
        else:
            turned[name] = -of_turned
    return turned
