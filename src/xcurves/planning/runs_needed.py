"""How many runs to plan for, from pilot curves."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Literal

import numpy as np
import xarray as xr

from xcurves.anova.randomized_anova import randomized_anova
from xcurves.core import (
    labels,
    magnitudes,
    provenance,
    run_checks,
    task_dims,
    validation,
)
from xcurves.core.refusal import UNSAID, Refusal, Verbatim, WrongType, shown
from xcurves.core.validation import check_curves
from xcurves.kernels.distributions import ecdf
from xcurves.multi_task.across_tasks import many_pvalues
from xcurves.planning import kinds, pilots
from xcurves.planning.replications import (
    CurvesGenerator,
    Replications,
    Test,
    count_rejections,
    rates,
    replications,
    warn_of_missing,
)

_TIMES = (1, 1.5, 2, 3, 4, 6, 8)  # the pilots, that are tried by default
_MOST = 8  # times the pilots, of which drawn runs still say something
_ASSURANCE = 0.8
_MANY = 100  # runs of each task, with which power is limited by the tasks
_ENOUGH = 10  # pilots of each algorithm, for the assurance to hold


def runs_needed(
    curves: xr.DataArray,
    *,
    test: Test | Literal["across_tasks"] | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
    n_runs: Sequence[int] | None = None,
    n_replications: int = 1000,
    progress: bool | None = None,
    confidence_level: float = 0.95,
    rng: validation.Rng = None,
) -> xr.Dataset:
    r"""Say from pilot curves how many runs per algorithm it takes to detect their difference.

    Parameters
    ----------
    curves : DataArray, dims (..., algorithm, run, training)
        Pilot curves of two algorithms or more, complete; a run that an algorithm does not have is NaN along all of
        `training`. Dask-backed ones are loaded. For a difference not seen yet, put it beside the pilots of one:
        ``xr.concat([a, 1.1 * a], "algorithm")`` plans for scores that are 10 % higher.
    test : function, optional
        What takes data sets, curves with a dim ``replication`` in front, and returns their p-values, alone or as
        `pvalue` of a Dataset: any test here, as in ``partial(pairwise, n_resamples=199)``. It is called once for a
        block of 250 data sets, with another seed if it takes an `rng` that is not given yet. By default
        `randomized_anova` with 399 random reassignments; "across_tasks" is that function with as many, over the only
        further dim of the curves: how many runs of each task a benchmark needs. Of a test that is looked at several
        times (`sequential`), l runs are the most that it takes.
    power : float, default 0.8
        How often the difference is to be detected.
    alpha : float, default 0.05
        The nominal level of the test.
    n_runs : sequence of int, optional
        Numbers of runs per algorithm, l, to try, rising, at most eight times the pilot curves (of the algorithm with
        fewest). By default from their number up to that.
    n_replications : int, default 1000
        Data sets drawn for each of them.
    progress : bool, optional
        Show a tqdm bar (extra ``progress``); by default in a terminal or notebook, if the call will take more than 5 s.
    confidence_level : float, default 0.95
        Of `rate_ci` and `runs_needed_ci`.
    rng : int, Generator or None
        Seed of draws and test.

    Returns
    -------
    Dataset
        On (n_runs) after the p-value's dims (effect, error_term by default): `rate`, the power with so many runs,
        `rate_ci` (ci_bound), of the draws, `n_replications`. Without n_runs: `runs_needed`, the smallest number tried
        from which on the power is reached; `runs_needed_assured`, the number that reaches it with assurance 0.8, in
        view of how few pilots there are; `runs_needed_ci` (ci_bound), over pilots. Infinite: not reached by any number
        tried; NaN: the test gives no p-value. Over tasks `power_at_many_runs`: the power for tasks like these with 100
        runs of each task or more, which so many tasks limit; NaN of the claim for these tasks. If it is the smallest
        number tried, fewer runs may do. For a test that is looked at several times `expected_runs` (n_runs), the mean
        number of runs per algorithm, each stopped once all its pairs are decided.

    Raises
    ------
    ValueError, TypeError
        If there is one algorithm, or an algorithm has one pilot curve; if more runs are asked for than eight times the
        pilots; if options are not as described, or the test returns no p-value for each data set.
    ImportError
        If `progress` is asked for and tqdm is not installed.

    Warns
    -----
    UserWarning
        If there are fewer than ten pilots of an algorithm; if the power is reached by no number tried; if p-values are
        NaN in some data sets, which are then not counted.

    Notes
    -----
    For each l, l of every algorithm's pilot curves are drawn with replacement, `n_replications` times, and tested. With
    :math:`\text{rate}_l` the share of them in which the test rejects,

    .. math:: \text{runs needed} = \min\{l : \text{rate}_{l'} \ge \text{power for all } l' \ge l\}

    The difference between the pilot curves is taken for the true one. If pilots are few and were chosen because they
    differ, it is too large and the answer too small: plan for the smallest difference that matters.

    Residuals about the mean curve of the p pilots of an algorithm are multiplied by :math:`\sqrt{p/(p-1)}`, so that
    drawn runs vary as much as new ones do on average.

    *Over tasks* the claim for tasks like these is about new tasks: as many tasks are drawn with replacement with their
    runs. Their means differ as the pilots' do less the variance that is due to the pilots' runs.

    *Other pilots* would have given another answer. So 200 sets of pilots are drawn with replacement, their residuals
    multiplied likewise, and runs needed are found from ten data sets of each set, for each l; rates that fall with l
    are first made level, by least squares. `runs_needed_assured` is the 0.8 quantile of the 200 numbers, and
    `runs_needed_ci` goes from their 0.025 to their 0.975 quantile (at 0.95). Ten pilots of each algorithm leave the
    number open by a factor of four or more as a rule. Pilots of one algorithm beside the same, all times one number or
    all more by one number, leave it open by less: the difference is known, and a set has the same runs of both.

    References
    ----------
    .. [1] Piater, J. H. & Cohen, P. R. A randomized ANOVA procedure for comparing performance curves, Section 4.2.
    .. [2] Efron, B. (1979). Bootstrap methods: another look at the jackknife. Ann. Stat. 7, 1-26.
       doi:10.1214/aos/1176344552

    Examples
    --------
    >>> import xarray as xr, xcurves
    >>> a = xcurves.tutorial.open_dataset("tictactoe")["score"].sel(algorithm="rate 0.001", drop=True)
    >>> pilots = xr.concat([a, 2 * a], "algorithm")
    >>> plan = pilots.curves.runs_needed(n_runs=[4, 5], n_replications=250, rng=0)
    >>> plan.rate.dims
    ('effect', 'error_term', 'n_runs')
    """
    over_tasks = isinstance(test, str)
    tested_dim = None
    curves = _of_several(curves)
    named: frozenset[str] = frozenset()
    if over_tasks and isinstance(curves, xr.DataArray):
        named = _dim_of_tasks(curves)
    curves = check_curves(
        validation.with_training(curves, named),
        reserved=kinds.RUNS_NEEDED.reserved(),
        named=named,
    ).load()
    if isinstance(test, str):
        test, curves, tested_dim = _across_tasks(curves, test)
        _refuse_single_runs(curves, tested_dim)
    power = validation.check_share("power", power, "0.8")
    available = _check_pilots(curves)
    wanted = _check_runs(n_runs, available)
    bar = validation.check_progress(progress, "data sets")
    error = validation.check_confidence_level(confidence_level)
    total = validation.check_total("n_replications", n_replications)
    given = pilots.pilots(curves)
    together = pilots.are_one(given)
    if test is None:
        test = partial(randomized_anova, n_resamples=399)
        given = pilots.in_fewer_levels(given)
    simulation = replications(given, test, "pvalue", alpha, rng)
    counted = count_rejections(simulation, {"n_runs": wanted}, total, bar)
    new_tasks = None
    if over_tasks:
        new_tasks = pilots.of_tasks_like_these(given)
        of_new = count_rejections(_drawing(simulation, new_tasks), {"n_runs": wanted}, total, bar)
        counted = of_new.where(of_new["task_effect"] == "random", counted)
    warn_of_missing(counted.where(counted["tried"] > 0, 0))
    measured = rates(counted.transpose(..., "n_runs"), error)
    lead = measured["rate"].dims[:-1]
    stream = np.random.default_rng(np.random.SeedSequence(simulation.entropy, spawn_key=(0,)))
    of_sets = pilots.rates_of_sets(simulation, pilots.redrawn(given, stream, together=together), wanted, bar)
    more: dict[str, xr.Variable] = {}
    if new_tasks is not None:
        of_new_sets = pilots.redrawn(new_tasks, stream, together=together)
        random = (counted["task_effect"] == "random").to_numpy()
        place = lead.index("task_effect")
        new_rates = np.moveaxis(pilots.rates_of_sets(simulation, of_new_sets, wanted, bar), place + 1, -1)
        of_sets = np.moveaxis(
            np.where(random, new_rates, np.moveaxis(of_sets, place + 1, -1)),
            -1,
            place + 1,
        )
        many = count_rejections(
            _drawing(simulation, new_tasks),
            {"n_runs": [max(_MANY, *wanted)]},
            total,
            bar,
        )
        ceiling = (many["rejected"] / many["tried"].where(many["tried"] > 0)).isel(n_runs=0)
        more["power_at_many_runs"] = ceiling.where(ceiling["task_effect"] == "random").transpose(*lead).variable
    possible = ecdf.first_reaching(ecdf.isotonic(of_sets), power, wanted)
    ends = [ecdf.quantile(possible, share) for share in (error / 2, 1 - error / 2)]
    needed = {
        "runs_needed": xr.Variable(lead, ecdf.first_reaching(measured["rate"].to_numpy(), power, wanted)),
        "runs_needed_assured": xr.Variable(lead, ecdf.quantile(possible, _ASSURANCE)),
        "runs_needed_ci": xr.Variable((*lead, "ci_bound"), np.stack(ends, axis=-1)),
    }
    options = {
        "n_replications": total,
        "alpha": simulation.alpha,
        "power": power,
        "task": tested_dim,
    }
    attrs = kinds.RUNS_NEEDED.attrs(curves, simulation.entropy, confidence_level, **options)
    result = kinds.RUNS_NEEDED.dataset(
        needed | more | measured,
        counted.coords,
        attrs | {"pilot_runs": available},
        curves,
    )
    result["n_runs"].attrs = {"long_name": "runs per algorithm", "units": "1"}
    if available < _ENOUGH:
        provenance.warn(
            f"an algorithm has {available} pilot runs; of fewer than {_ENOUGH} the number with assurance "
            f"{_ASSURANCE:g} is too small in more than {1 - _ASSURANCE:.1f} of studies. Run more pilots"
        )
    if not bool(np.isfinite(result["runs_needed"]).any()):
        cure = f"Try more: n_runs=[{_MOST * available}]"
        if wanted[-1] == _MOST * available:
            cure = "Run more pilots, or plan for a larger difference"
        provenance.warn(f"power {power:g} is reached with none of {wanted} runs. {cure}")
    return result


def _drawing(simulation: Replications, generator: CurvesGenerator) -> Replications:
    """Return the same test of data sets of another generator."""
    return dataclasses.replace(simulation, generator=generator)


def _dim_of_tasks(curves: xr.DataArray) -> frozenset[str]:
    """Return the only further dim of curves, which a test over tasks takes for them."""
    extra = labels.extra_dims(curves)
    if len(extra) != 1:
        return frozenset()
    return task_dims.named_dims(extra)


def _of_several(curves: xr.DataArray) -> xr.DataArray:
    """Return curves of two algorithms or more."""
    if not isinstance(curves, xr.DataArray) or curves.sizes.get("algorithm", 1) > 1:
        return curves
    a = "a = curves"
    if "algorithm" in curves.dims:
        a = 'a = curves.squeeze("algorithm", drop=True)'
    elif "algorithm" in curves.coords:
        a = 'a = curves.drop_vars("algorithm")'
    raise Refusal(
        "curves",
        Verbatim("one"),
        "must be of two algorithms or more, whose difference is planned for",
        f'Put the difference beside it, of 10 % here: {a}; xr.concat([a, 1.1 * a], "algorithm")',
    )


def _across_tasks(curves: xr.DataArray, test: str) -> tuple[Test, xr.DataArray, str]:
    """Return the comparison over the only further dim of curves, of the mean of each curve, and that dim."""
    validation.check_choice("test", test, ("across_tasks",))
    extra = labels.extra_dims(curves)
    if len(extra) != 1:
        raise Refusal(
            "test",
            "across_tasks",
            f"needs one dim of tasks; curves have {tuple(curves.dims)}",
            "Select along the others",
        )
    task = str(extra[0])
    means = curves.mean("training", keepdims=True).assign_coords(training=[0.0])
    magnitudes.check_size(means.transpose(task, ...).to_numpy(), labels.task_names(curves), limit=1e70)
    # All data sets at once take a hundredth of the time of `across_tasks` of each.
    return partial(many_pvalues, task=task, n_resamples=399), means, task


def _refuse_single_runs(curves: xr.DataArray, task: str) -> None:
    """Refuse tasks in which every algorithm has one run, as items with one answer are: what lacks are tasks."""
    if int(curves.notnull().sum("run").max()) > 1:
        return
    noun = labels.noun(task)
    raise Refusal(
        "curves",
        UNSAID,
        f"every {noun} has one run of an algorithm, so that how runs vary is not known, and no "
        "number of runs can be planned",
        f"Run each {noun} twice, or ask how many {noun}s it takes: .curves.across_tasks(task={task!r}).tasks_to_show",
    )


def _check_pilots(curves: xr.DataArray) -> int:
    """Return the number of pilot curves of the algorithm that has fewest, two at least; refuse incomplete ones."""
    flat = curves.transpose(..., *labels.DIMS)
    has = flat.notnull()
    counts = has.sum("training") + flat.where(abs(flat) == np.inf).sum("training")
    n_levels = has.any(["algorithm", "run"]).sum("training").to_numpy().ravel()
    words = [labels.words(curves[dim]) for dim in ("algorithm", "run")]
    present = run_checks.check_runs(counts.to_numpy(), n_levels, labels.task_names(curves), *words)
    available = int(present.sum(axis=-1).min())
    if available < 2:
        raise Refusal(
            "curves",
            Verbatim(available),
            "pilot curves must be two at least of every algorithm, to show how runs vary",
            "Run more, or select algorithms that have more",
        )
    return available


def _check_runs(n_runs: Sequence[int] | None, available: int) -> list[int]:
    """Return rising numbers of runs that the pilot curves allow."""
    if n_runs is None:
        n_runs = [int(np.ceil(times * available)) for times in _TIMES]
    if isinstance(n_runs, str) or not isinstance(n_runs, Iterable):
        got = shown(n_runs)
        raise WrongType(
            "n_runs",
            Verbatim(f"{got}"),
            "must be a list of numbers of runs",
            f"Try [{got}]",
        )
    wanted = [validation.check_total("n_runs", size, "3 to 50", least=2) for size in n_runs]
    if wanted != sorted(set(wanted)) or not wanted:
        raise Refusal("n_runs", Verbatim(wanted), "must rise", "Sort them")
    if wanted[-1] > _MOST * available:
        raise Refusal(
            "n_runs",
            Verbatim(wanted[-1]),
            f"must be at most {_MOST * available}, eight times the pilot curves of an algorithm",
            f"Ask for fewer: n_runs=[{_MOST * available}], or run more pilots",
        )
    return wanted
