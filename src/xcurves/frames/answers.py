"""Several answers to each question as one number: how often one of k is right, and how often all of k are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core import direction, labels, provenance, validation
from xcurves.core.driver import is_lazy
from xcurves.core.refusal import Cure, Refusal, Verbatim, call, give
from xcurves.say.numbers import listed, number

_MOST_NAMED = 3  # algorithms that lack answers


def pass_at(scores: xr.DataArray, k: int, *, higher_is_better: bool | None = None) -> xr.DataArray:
    r"""Estimate for each item the chance that at least one of k answers is right.

    Parameters
    ----------
    scores : DataArray, dims (..., run)
        1 where an answer is right and 0 where it is wrong; of errors the other way round. A run is an answer; NaN where
        there is none.
    k : int
        Number of answers that are taken together.
    higher_is_better : bool, optional
        Which end of the scores is better. None: as ``attrs["higher_is_better"]`` or else the name of the scores says
        (of a loss, an error or a time the lower); higher where neither does.

    Returns
    -------
    DataArray, dims (..., run)
        As `scores`, with one run; higher is better. NaN where an algorithm has fewer than `k` answers to an item. Lazy
        if the scores are. ``attrs["metric"]`` is "pass@3" of three answers, and ``attrs["history"]`` says how many
        items lack answers.

    Raises
    ------
    TypeError
        If `scores` are no numbers, or `k` is no whole number.
    ValueError
        If there is no dim `run`; if a score is neither 0 nor 1; if `k` is less than 1 or no item has so many answers.

    Warns
    -----
    UserWarning
        If an algorithm has fewer than `k` answers to some items.

    See Also
    --------
    pass_all : The chance that all of k answers are right.
    across_tasks : Compares algorithms over items; by one number an item, on items like these only.

    Notes
    -----
    Of ``s`` answers of which ``c`` are right

    .. math:: \mathrm{pass@}k = 1 - \binom{s - c}{k} / \binom{s}{k},

    the share of all choices of ``k`` of them that hold a right one, which has no bias (Chen et al. 2021).

    References
    ----------
    .. [1] Chen, M. et al. (2021). Evaluating large language models trained on code. arXiv:2107.03374

    Examples
    --------
    >>> import xarray as xr, xcurves
    >>> answers = xr.DataArray([[1, 0, 0, 0], [1, 1, 1, 0]], {"question": ["q1", "q2"]}, ("question", "run"))
    >>> answers.curves.pass_at(2).values.tolist()
    [[0.5], [1.0]]
    """
    return _reduced("pass_at", "pass@", scores, k, higher_is_better, _one_of_k)


def pass_all(scores: xr.DataArray, k: int, *, higher_is_better: bool | None = None) -> xr.DataArray:
    r"""Estimate for each item the chance that all of k answers are right.

    Parameters
    ----------
    scores : DataArray, dims (..., run)
        Answers, as for `pass_at`.
    k : int
        Number of answers that are taken together.
    higher_is_better : bool, optional
        As for `pass_at`.

    Returns
    -------
    DataArray, dims (..., run)
        As `pass_at` returns it; ``attrs["metric"]`` is "pass^3" of three answers.

    Raises
    ------
    TypeError, ValueError
        As `pass_at`.

    Warns
    -----
    UserWarning
        As `pass_at`.

    See Also
    --------
    pass_at : The chance that at least one of k answers is right.
    across_tasks : Compares algorithms over items; by one number an item, on items like these only.

    Notes
    -----
    Of ``s`` answers of which ``c`` are right

    .. math:: \mathrm{pass}^k = \binom{c}{k} / \binom{s}{k},

    the share of all choices of ``k`` of them that are all right, which has no bias (Yao et al. 2024).

    References
    ----------
    .. [1] Yao, S., Shinn, N., Razavi, P. & Narasimhan, K. (2024). tau-bench: A benchmark for tool-agent-user
       interaction in real-world domains. arXiv:2406.12045

    Examples
    --------
    >>> import xarray as xr, xcurves
    >>> answers = xr.DataArray([[1, 0, 0, 0], [1, 1, 1, 0]], {"question": ["q1", "q2"]}, ("question", "run"))
    >>> answers.curves.pass_all(2).values.tolist()
    [[0.0], [0.5]]
    """
    return _reduced("pass_all", "pass^", scores, k, higher_is_better, _all_of_k)


def _reduced(
    name: str,
    metric: str,
    scores: xr.DataArray,
    k: int,
    higher_is_better: bool | None,
    estimate: Callable[..., Floats],
) -> xr.DataArray:
    """Return one number for each item from its numbers of answers and of right ones, as one run."""
    scores = validation.check_array("scores", scores)
    k = validation.check_total("k", k, "3")
    if "run" not in scores.dims:
        last = next((str(dim) for dim in scores.dims[::-1]), "answer")
        raise Refusal(
            "scores",
            Verbatim(tuple(map(str, scores.dims))),
            "must have a dim 'run', whose runs are answers",
            f"Rename the dim of answers: da.rename({last}='run')",
        )
    validation.check_not_empty("scores", scores)
    higher = direction.find(scores, higher_is_better).higher
    scores = scores.astype(np.float64)
    _refuse_other_scores(scores)
    n_answers = scores.notnull().sum("run")
    n_right = (scores == float(higher)).sum("run")
    n_wrong = (scores == float(not higher)).sum("run")
    outcome = _few_answers(n_answers, scores, k)
    passed = xr.apply_ufunc(
        estimate,
        n_right.where(n_right + n_wrong == n_answers),  # of lazy scores others are seen late
        n_answers,
        kwargs={"k": k},
        dask="parallelized",
        output_dtypes=[np.float64],
    )
    passed = passed.expand_dims(run=[0]).transpose(*scores.dims).rename(metric + str(k))
    attrs = scores.attrs | {
        "metric": f"{metric}{k}",
        "units": "1",
        direction.HIGHER: 1,
    }
    attrs.pop("long_name", None)
    return provenance.record(passed.assign_attrs(attrs), f"{name}({k}): {outcome}")


def _refuse_other_scores(scores: xr.DataArray) -> None:
    """Refuse scores other than 0, 1 and NaN, which are no answers that are right or wrong."""
    if is_lazy(scores):
        return
    values = scores.to_numpy()
    other = values[~(np.isnan(values) | (values == 0) | (values == 1))]
    if not other.size:
        return
    cure = Cure("Say from where on an answer is right: (scores >= 0.5).where(scores.notnull())")
    if np.isinf(other).any():
        cure = Cure("A run that failed counts as a wrong answer with ", call(".curves.fill_failed", 0.0))
    raise Refusal(
        "scores",
        Verbatim(f"{other[0].item():g}"),
        "must be 0 or 1, an answer wrong or right",
        cure,
    )


def _few_answers(n_answers: xr.DataArray, scores: xr.DataArray, k: int) -> str:
    """Return how many items lack answers, with one warning; refuse `k` if no item has so many."""
    most = scores.sizes["run"]
    if not is_lazy(scores):
        most = int(n_answers.max())
    if k > most:
        raise Refusal(
            "k",
            Verbatim(f"{k}, and no item has more than {most}"),
            "must be at most the number of answers to an item",
            Cure("Take at most ", give(k=max(1, most))),
        )
    if is_lazy(scores):
        return f"NaN where there are fewer than {k} answers"
    lacking = n_answers < k
    items = [dim for dim in n_answers.dims if dim != "algorithm"]
    over = [dim for dim in n_answers.dims if dim == "algorithm"]
    n_lacking = int(lacking.any(over).sum())
    n_items = int(np.prod([n_answers.sizes[dim] for dim in items]))
    noun = "item"
    if len(items) == 1:
        noun = labels.noun(str(items[0]))
    if not n_lacking:
        return f"all {number(n_items)} {noun}s have {k} answers"
    said = f"{number(n_lacking)} of {number(n_items)} {noun}s lack {k} answers"
    if over:
        said += f" of an algorithm ({_who_lacks(lacking.sum(items))})"
    said += " and are left out there"
    fewest = int(n_answers.min())
    cure = ""
    if fewest:
        cure = f". All have {fewest}: {give(k=fewest)}"
    provenance.warn(said + cure)
    return said


def _who_lacks(counts: xr.DataArray) -> str:
    """Return which algorithms lack answers to how many items, those to most first."""
    names = np.atleast_1d(counts["algorithm"].to_numpy()).tolist()
    each = [
        (int(n), f"{name} in {number(n)}") for name, n in zip(names, np.atleast_1d(counts.to_numpy()), strict=True) if n
    ]
    each.sort(key=lambda pair: -pair[0])
    return listed([text for _, text in each], _MOST_NAMED)


def _one_of_k(n_right: Floats, n_answers: Floats, *, k: int) -> Floats:
    """Return the share of choices of k answers that hold a right one."""
    return 1.0 - _all_of_k(n_answers - n_right, n_answers, k=k)


def _all_of_k(n_right: Floats, n_answers: Floats, *, k: int) -> Floats:
    """Return the share of choices of k answers that are all right, NaN of fewer answers."""
    # a product of k shares: binomial coefficients overflow
    share = np.ones(np.shape(n_answers))
    for chosen in range(k):
        left = np.maximum(n_answers - chosen, 1)
        share *= np.maximum(n_right - chosen, 0) / left
    return np.where(np.asarray(n_answers) >= k, share, np.nan)
