"""A whole analysis of curves: every method that fits them, in one tree."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from math import prod
from typing import Any

import numpy as np
import xarray as xr

from xcurves import kinds
from xcurves.core import (
    direction,
    labels,
    matched_runs,
    provenance,
    run_checks,
    validation,
)
from xcurves.core.applicability import NotApplicableError
from xcurves.core.refusal import UNSAID, Cure, Refusal
from xcurves.core.schema import ResultKind
from xcurves.core.validation import check_curves
from xcurves.kernels.resampling import plans
from xcurves.public_names import ONE_TASK, SEVERAL_TASKS
from xcurves.results import by_reason


def answering(curves: xr.DataArray) -> list[str]:
    """Return the parts that answer first: over several tasks, or those of a single one."""
    several = prod(curves.sizes[dim] for dim in labels.extra_dims(curves)) > 1
    has_levels = curves.sizes.get("training", 1) > 1
    found = []
    for name, of_part in kinds.PARTS.items():
        if kinds.OPENS.get(of_part) != (SEVERAL_TASKS if several else ONE_TASK):
            continue
        if of_part in kinds.MARKS and kinds.MARKS[of_part] not in (*curves.coords, *curves.attrs):
            continue
        kind = kinds.kind(of_part)
        if kind.part is None or (kind.part.along and not has_levels):
            continue
        refused = _refusal(kind, curves)
        if refused is None or not refused.obvious:
            found.append(name)
    of_points = [name for name in found if name in _parts_of_points(curves)]
    if of_points or curves.sizes.get("algorithm", 1) > 1:
        return of_points or found
    # Nobody misses comparisons of a single algorithm where there is something else to say.
    of_one = [name for name in found if _refusal(kinds.kind(kinds.PARTS[name]), curves) is None]
    return of_one or found


def _parts_of_points(curves: xr.DataArray) -> list[str]:
    """Return the parts for runs that are points, such as of a law: their means tell nothing of algorithms."""
    return [name for name, kind in kinds.PARTS.items() if kinds.MARKS.get(kind) in curves.coords]


def _parts() -> dict[str, ResultKind]:
    """Return the kinds that take part in an analysis, by their groups."""
    return {name: kinds.kind(of_part) for name, of_part in kinds.PARTS.items()}


def _take_groups(parts: Iterable[str]) -> bool:
    """Return whether one of some parts compares in groups of tasks."""
    made = [kinds.kind(kinds.PARTS[name]) for name in parts]
    return any(kind.part is not None and "by" in kind.part.options for kind in made)


def _refusal(kind: ResultKind, curves: xr.DataArray) -> NotApplicableError | None:
    """Return why a part does not apply to curves, None if it does."""
    assert kind.part is not None  # of the kinds that are parts
    try:
        kind.part.select(curves)
    except NotApplicableError as why:
        return why
    return None


def analyze(
    curves: xr.DataArray,
    *,
    include: Sequence[str] | None = None,
    paired: bool | None = None,
    reference: Hashable | None = None,
    by: str | None = None,
    n_resamples: int | None = None,
    confidence_level: float = 0.95,
    progress: bool | None = None,
    rng: validation.Rng = None,
) -> xr.DataTree:
    """Make a whole analysis: the curves and the results of every method that fits them, in one tree.

    Parameters
    ----------
    curves : DataArray, dims (..., algorithm, run, training)
        Scores. Those without training, dims (..., algorithm, run), are taken as they are: extra dims of them are called
        task, dataset, env and the like, or have labels of text.
    include : sequence of str, optional
        The parts to make, by the names of their groups; by default all but those that can only compare with one
        algorithm. The message for an unknown part lists all.
    paired : bool, optional
        Whether run ``j`` is matched over algorithms; for anova, pairwise, profile and comparisons over tasks. None:
        where ``curves.run.attrs["matched"]`` says by what, as `to_dataarray` does of the folds of a data set.
    reference : hashable, optional
        An algorithm: pairs are those with it only, "other - reference". None: all pairs, and for parts that can only
        compare with one the algorithm that ``curves.attrs["reference"]`` names, else the first.
    by : str, optional
        As of `across_tasks`: the coordinate of the tasks whose labels are groups, such as suites, in each of which
        pairs are compared too.
    n_resamples : int, optional
        Largest number of reassignments, for anova, pairwise and profile.
    confidence_level : float, default 0.95
        Confidence level of every part.
    progress : bool, optional
        Show a tqdm bar (extra ``progress``); by default in a terminal or notebook, if the call will take more than 5 s.
        Of dask-backed curves use dask's own.
    rng : int, Generator or None
        Seed of all random reassignments. Each part has a stream of its own, whose seed is in its ``attrs["rng"]``.

    Returns
    -------
    DataTree
        In group ``curves`` a Dataset of the curves, and a group for each part, what its method returns.
        ``distribution`` is of the scores at the last training level that all runs of a task have: its coordinate
        `training`, and its ``attrs["final"]``. The root has attrs only: the options, and in ``left_out`` which parts
        are missing and why. If tasks of a group were left out (NaN), its own ``left_out`` says which and why.

    Raises
    ------
    ValueError, TypeError
        If dims, coordinates or options are not as described, if scores are infinite, or if no part applies.

    Warns
    -----
    UserWarning
        If anova, pairwise, profile or distribution are left out, whole or for some tasks; and those of each method.

    Notes
    -----
    Anova, pairwise and profile need two algorithms with runs, one of them with two runs, and all runs at all levels of
    their task; a profile also needs two training levels. Each task is checked by itself. Of more than 200 tasks along
    one dim, as of questions, these and the distribution are made only where `include` names them: the answer is one
    over all tasks. So is the distribution of tasks in which each algorithm has a single run. A power law is fitted only
    to scores that are called errors by their name, long_name or standard_name. Which end of the scores is better is
    what ``attrs["higher_is_better"]`` or else their name says, as for each part by itself.

    Dask-backed curves are computed for each part, and stay as they are in the tree.

    References
    ----------
    .. [1] Piater, J. H. & Cohen, P. R. A randomized ANOVA procedure for comparing performance curves.
    .. [2] Hoiem, D., Gupta, T., Li, Z. & Shlapentokh-Rothman, M. (2021). Learning curves for analysis of deep networks.
       Proc. 38th Int. Conf. on Machine Learning, PMLR 139, 4287-4296.
    .. [3] Jordan, S. M., Cohen, D. & Thomas, P. S. Using cumulative distribution based performance analysis to
       benchmark models.

    Examples
    --------
    >>> import xcurves
    >>> scores = xcurves.tutorial.open_dataset("tictactoe")["score"]
    >>> tree = scores.curves.analyze(n_resamples=999, rng=0)
    >>> sorted(tree)
    ['anova', 'curves', 'distribution', 'pairwise', 'profile']
    >>> print(tree.attrs["left_out"])
    power_law: scores are not called an error by their name, long_name or standard_name
    >>> tree["distribution"].attrs["final"]
    '8,000 games'
    """
    curves = check_curves(validation.with_training(curves))
    wanted: Sequence[Any] = [include]
    if include is None:
        wanted = [name for name, kind in _parts().items() if kind.part and not kind.part.on_request]
        wanted = _parts_of_points(curves) or wanted
    elif isinstance(include, list | tuple):
        wanted = include
    for name in wanted:
        validation.check_choice("include", name, list(kinds.PARTS))
    if not wanted:
        raise Refusal("include", UNSAID, "names no part", "Leave it out for all")
    with_slash = [str(dim) for dim in curves.dims if "/" in str(dim)]
    if with_slash:
        renamed = {with_slash[0]: with_slash[0].replace("/", " ")}
        reason = f"has a dim {with_slash[0]!r}, and a DataTree takes no names with a slash"
        raise Refusal("curves", UNSAID, reason, f"Rename it: curves.rename({renamed})")
    run_checks.check_scored(curves)
    curves = direction.settled(curves, "analyze")
    of_parts = curves
    if reference is not None:
        labels.algorithm_pairs(curves, reference)  # refuses one that is not there
        # where parts that can only compare with one find it
        of_parts = curves.assign_attrs(reference=reference)
    entropy = validation.check_rng(rng)
    validation.check_confidence_level(confidence_level)
    if paired is not None:
        validation.check_flag("paired", paired)
    given: dict[str, Any] = {
        "n_resamples": validation.check_count("n_resamples", n_resamples),
        "paired": matched_runs.resolved(curves, paired),
        "reference": reference,
        "by": by,
        "confidence_level": confidence_level,
    }
    for_some = {"progress": progress}
    validation.check_progress(progress)
    results: dict[str, xr.Dataset] = {}
    refused: dict[str, NotApplicableError] = {}
    drawn = False
    for name, kind_of_part in kinds.PARTS.items():
        if name not in wanted:
            continue
        try:
            with plans.watched() as watch:
                results[name] = _make(
                    kinds.kind(kind_of_part),
                    of_parts,
                    {**given, **for_some},
                    entropy,
                    asked=include is not None,
                )
        except NotApplicableError as why:
            refused[name] = why
            continue
        drawn |= watch.drawn
        if rng is None and not watch.drawn:
            # any seed gives the same, so that of its stream is not stated
            results[name].attrs["rng"] = "0"
    if rng is None and not drawn:
        entropy = 0
    left_out = {name: str(why) for name, why in refused.items() if not why.obvious or include is not None}
    if by is not None and not _take_groups(results):
        raise Refusal("by", by, "is for scores of several tasks", "Leave it out")
    if not results:
        raise _refused({name: refused[name] for name in left_out})
    # Those that nobody would expect are no reason to warn.
    unexpected = {name: str(why) for name, why in refused.items() if not why.expected}
    unexpected |= {name: made.attrs["left_out"] for name, made in results.items() if "left_out" in made.attrs}
    if unexpected:
        provenance.warn(f"left out of the analysis: {_reasons_said(unexpected)}")
    references = provenance.references_of(results.values())
    asked = ", ".join(name for name in kinds.PARTS if name in results or name in left_out)
    attrs = provenance.result_attrs("analyze", curves, references, entropy, include=asked, **given)
    if left_out:
        attrs["left_out"] = "\n".join(f"{name}: {why}" for name, why in left_out.items())
    # a tree takes a slash for a group
    curves = direction.named(curves)
    name = str(curves.name).replace("/", "_")
    return xr.DataTree.from_dict(
        {
            "/": xr.Dataset(attrs=attrs),
            "/curves": curves.to_dataset(name=name),
            **results,
        }
    )


def _make(
    kind: ResultKind,
    curves: xr.DataArray,
    given: dict[str, Any],
    entropy: int,
    *,
    asked: bool,
) -> xr.Dataset:
    """Return the result of one part, computed; refuse curves to which it does not apply."""
    part = kind.part
    assert part is not None  # of the kinds that are parts
    options = {name: given[name] for name in (*part.options, "confidence_level")}
    if part.stream is not None:
        # Each part has its own stream, which does not depend on the other parts.
        child = np.random.SeedSequence(entropy, spawn_key=(part.stream,))
        options["rng"] = int(child.generate_state(1, np.uint64)[0] >> np.uint64(1))
    try:
        select = part.select
        if asked and part.select_asked is not None:
            select = part.select_asked
        taken, found, attrs = select(curves)
        result: xr.Dataset = kinds.function(kind.name)(taken, **found, **options).compute()
    except ValueError as error:
        if part.refuses:
            if isinstance(error, Refusal):
                raise NotApplicableError(error.problem, error.cure) from error
            raise NotApplicableError(str(error)) from error
        raise
    return result.assign_attrs(attrs)


def _refused(why: dict[str, NotApplicableError]) -> Refusal:
    """Return that no part fits curves; where all parts have one cure, that is the cure."""
    cures = {str(each.cure): each.cure for each in why.values()}
    reasons = {name: str(each) for name, each in why.items()}
    (*_, cure) = cures.values()
    if len(cures) == 1:
        reasons = {name: each.reason for name, each in why.items()}
    else:
        cure = Cure()
    reason = f"no part of the analysis fits curves: {_reasons_said(reasons)}"
    return Refusal("curves", UNSAID, reason, cure)


def _reasons_said(left_out: dict[str, str]) -> str:
    """Say why parts are left out: those with one reason together, the first of many tasks."""
    lines = {part: why.splitlines() for part, why in left_out.items()}
    more = {part: f" (and {len(why) - 1} more tasks)" if why[1:] else "" for part, why in lines.items()}
    return "; ".join(by_reason((part, why[0] + more[part]) for part, why in lines.items()))
