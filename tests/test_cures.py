"""Every cure that an error names is carried out, on the data that raised it, and changes no score.

A row is a name, what makes the data, the call that fails with its options, and how the cure is read from the message.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xcurves
from strategies import make_curves, make_scores
from xcurves.core.doubts import Doubtful

NAMES = ("da", "curves", "scores", "errors", "losses", "times", "frame", "df")
CODE = re.compile(rf"(?<![\w.'])(?:(?:{'|'.join(NAMES)})\b(?=[.\[ ])|pd\.|np\.|\.)")
Cure = Callable[["Row", Any, str], Any]


@dataclass(frozen=True)
class Row:
    """A call that fails, and how its cure is carried out."""

    make: Callable[[], Any]
    call: Callable[..., Any]
    cure: Cure
    options: dict[str, Any] = field(default_factory=dict)
    whole: Callable[[], Any] | None = None  # the data before a selection that the cure replaces
    # "scaled", "between" or "filled": how scores may differ afterwards.
    unlike: str = ""


def fragments(message: str) -> list[str]:
    """All code in a message, each up to where its brackets close."""
    found, start = [], 0
    while match := CODE.search(message, start):
        depth, place = 0, match.start()
        while place < len(message):
            letter = message[place]
            depth += (letter in "([{") - (letter in ")]}")
            rest = message[place:]
            ends = depth == 0 and (rest.startswith((", ", ". ", " or ", " with ", " (", "; ")) or depth < 0)
            if ends or depth < 0:
                break
            place += 1
        code = message[match.start() : place].rstrip(". ")
        if "(" in code or "[" in code:
            found.append(code)
        start = max(place, match.end())
    return found


def code(number: int = 0, *, contains: str = "") -> Cure:
    """The data are replaced by what one of the fragments of code in the message makes of them."""

    def carry_out(row: Row, data: Any, message: str) -> Any:
        said = [each for each in fragments(message) if contains in each]
        assert said, f"no code in: {message}"
        text = said[number]
        given = row.whole() if row.whole else data
        text = f"da{text}" if text.startswith(".") else text
        known = dict.fromkeys(NAMES, given) | {"np": np, "pd": pd, "xr": xr}
        fixed = eval(text, known)
        if isinstance(given, pd.DataFrame) and isinstance(fixed, pd.Series):
            fixed = given.assign(**{str(fixed.name): fixed})
        if isinstance(given, xr.DataArray) and isinstance(fixed, xr.DataArray):
            if set(fixed.dims) < set(given.dims) and fixed.name in given.coords:
                fixed = given.assign_coords({fixed.name: fixed})
            check_scores(row, given, fixed)
        return fixed if isinstance(fixed, xr.Dataset) else row.call(fixed, **row.options)

    return carry_out


def check_scores(row: Row, before: xr.DataArray, after: xr.DataArray) -> None:
    """No cure changes a score, but for what a row allows."""
    old, new = (np.asarray(each.to_numpy(), float).ravel() for each in (before, after))
    finite_old, finite_new = (each[np.isfinite(each)] for each in (old, new))
    if row.unlike == "scaled":
        np.testing.assert_allclose(
            finite_new * (np.abs(finite_old).max() / np.abs(finite_new).max()),
            finite_old,
        )
    elif row.unlike == "between":
        assert finite_new.min() >= finite_old.min() - 1e-12
        assert finite_new.max() <= finite_old.max() + 1e-12
    elif row.unlike == "filled":
        np.testing.assert_array_equal(new[np.isfinite(old)], finite_old)
        assert np.isfinite(new[np.isinf(old)]).all()
    else:
        assert np.isin(finite_new, finite_old).all()
    assert len(finite_new) > 0


def option(name: str, number: int = 0) -> Cure:
    """The call has an option as the message writes it: name=value."""

    def carry_out(row: Row, data: Any, message: str) -> Any:
        said = re.findall(
            rf"(?<!\w){name}=(\((?:[^()]*)\)|\[[^\]]*\]|'[^']*'|[\w.+-]+)",
            message.rpartition("; got ")[2],
        )
        assert said, f"no {name}= in: {message}"
        return row.call(data, **row.options | {name: eval(said[number].rstrip("."))})

    return carry_out


def both_options(*names: str) -> Cure:
    """The call has several options as the message writes them."""

    def carry_out(row: Row, data: Any, message: str) -> Any:
        changed = row
        for name in names[:-1]:
            said = re.findall(
                rf"(?<!\w){name}=(\((?:[^()]*)\)|'[^']*'|[\w.]+)",
                message.rpartition(". ")[2],
            )
            changed = Row(row.make, row.call, row.cure, changed.options | {name: eval(said[0])})
        return option(names[-1])(changed, data, message.rpartition(". ")[2])

    return carry_out


def value_of(name: str) -> Cure:
    """The option gets the value after "Usual:", "Try" or "Did you mean"."""

    def carry_out(row: Row, data: Any, message: str) -> Any:
        said = re.search(
            r"(?:Usual: |Try |Did you mean |Give the function itself: |At most )(.+?)\??$",
            message,
        )
        assert said, f"no value in: {message}"
        text = said[1].removeprefix(f"{name}=")
        text = text.split(", ")[0] if text[0] not in "([{" else text
        text = re.match(r"[\d.]+(?= to )", text)[0] if re.match(r"[\d.]+ to ", text) else text
        return row.call(data, **row.options | {name: eval(text, {"xcurves": xcurves})})

    return carry_out


def left_out(name: str) -> Cure:
    """The option is left out, as the message says."""

    def carry_out(row: Row, data: Any, message: str) -> Any:
        assert re.search(
            r"[Ll]eave (?:it|them|one|one of them|\w+(?:=\w*)?) out|[Ll]eave out|[Ll]eave \w+ out",
            message,
        ), message
        return row.call(data, **{each: value for each, value in row.options.items() if each != name})

    return carry_out


RNG = np.random.default_rng(0)
VALUES = RNG.normal(size=(3, 2, 4, 5))


def one() -> xr.DataArray:
    return make_curves(VALUES[0].copy())


def tasks() -> xr.DataArray:
    return make_curves(VALUES.copy(), task=["x", "y", "z"])


def trials() -> xr.DataArray:
    return make_scores(RNG.uniform(0.1, 0.9, size=(2, 40)), algorithm=["a", "b"], run=np.arange(40))


def episodes() -> xr.DataArray:
    return make_scores(
        RNG.uniform(size=(2, 6, 3)),
        algorithm=["a", "b"],
        run=range(6),
        episode=range(3),
    )


def with_score(value: float) -> xr.DataArray:
    curves = one()
    curves[1, 2, 3:] = value
    return curves


def lacking(*gaps: tuple[int, int, slice]) -> xr.DataArray:
    curves = one()
    for gap in gaps:
        curves[gap] = np.nan
    return curves


def tidy(**columns: Any) -> pd.DataFrame:
    frame = tasks().isel(task=0, drop=True).to_dataframe().reset_index()
    return frame.assign(**columns)


def own_levels() -> xr.DataArray:
    return tidy().curves.to_dataarray("score", levels="run")


def visits(first: tuple[float, ...] = (3.0, 6.0, 9.0, 12.0)) -> xr.DataArray:
    """Curves of few levels, those of the second algorithm one before those of the first."""
    levels = [*first, *(level - 1 for level in first)]
    curves = make_curves(np.random.default_rng(0).normal(size=(2, 3, len(levels))), training=levels)
    curves[0, :, len(first) :] = np.nan
    curves[1, :, : len(first)] = np.nan
    return curves.sortby("training")


def anova(data, **options):
    return xcurves.randomized_anova(data, **{"rng": 0, "n_resamples": 20} | options)


def pairwise(data, **options):
    return xcurves.pairwise(data, **{"rng": 0, "n_resamples": 20} | options)


def profile(data, **options):
    return xcurves.ss_profile(data, **{"rng": 0, "n_resamples": 20} | options)


def across(data, **options):
    return xcurves.across_tasks(data, **{"rng": 0, "n_resamples": 20} | options)


def cdf(data, **options):
    return xcurves.performance_cdf(data, **{"rng": 0} | options)


def compare(data, **options):
    return xcurves.compare_distributions(data, **{"rng": 0} | options)


def tuning(data, **options):
    return xcurves.tuning_curve(data, **options)


def framed(data, value="score", **options):
    return data.curves.to_dataarray(value, **options)


def errors() -> xr.DataArray:
    sizes = 25.0 * 2 ** np.arange(6)
    values = (10 + 100 * sizes**-0.5) + 0.1 * np.random.default_rng(1).normal(size=(2, 4, 6))
    return make_curves(values, sizes).rename("error").assign_attrs(units="%").isel(algorithm=0, drop=True)


def losses() -> xr.DataArray:
    rng = np.random.default_rng(2)
    n, d = (each.ravel() for each in np.meshgrid(10.0 ** np.arange(6, 10), 10.0 ** np.arange(8, 12)))
    values = 1.7 + 400 * n**-0.34 + 410 * d**-0.28 + 0.001 * rng.normal(size=16)
    coords = {"run": np.arange(16), "model_size": ("run", n), "tokens": ("run", d)}
    return xr.DataArray(values, coords, ("run",), name="loss")


def failed(data: xr.DataArray, value: float) -> xr.DataArray:
    data = data.copy()
    data[(0,) * (data.ndim - 1) + (2,)] = value
    return data


def task_trials() -> xr.DataArray:
    return episodes().rename(episode="task")


def averaged(row: Row, data: xr.DataArray, message: str) -> Any:
    """The mean over the dims that the message names, along the dim that it names."""
    (text,) = (each for each in fragments(message) if ".mean(" in each)
    dim = re.search(r"dim='(\w+)'", message)[1]
    return row.call(eval(text, {"scores": data}), dim=dim)


def each_call(row: Row, data: pd.DataFrame, message: str) -> Any:
    """Every call of a question reads the frame."""
    calls = message.split("\n")[1:]
    assert calls, message
    return [eval(call, {"frame": data}) for call in calls]


ROWS = {
    # dims and labels
    "dims of other names": Row(lambda: one().rename(algorithm="agent", run="seed"), anova, code()),
    "one dim of another name": Row(lambda: one().rename(run="seed"), anova, code()),
    "training called step": Row(lambda: one().rename(training="step"), anova, code()),
    "a dim whose name has a blank": Row(lambda: one().rename(algorithm="my agent"), anova, code()),
    "a dim without a meaning": Row(lambda: one().rename(run="try"), anova, code()),
    "a selected level": Row(lambda: one().isel(training=-1), anova, code(), whole=one),
    "a dropped level": Row(lambda: one().isel(training=-1, drop=True), anova, code()),
    "labels that repeat": Row(lambda: one().assign_coords(run=[0, 0, 1, 2]), anova, code()),
    "tasks that repeat": Row(lambda: tasks().assign_coords(task=["x", "x", "y"]), anova, code()),
    "mixed labels": Row(lambda: one().assign_coords(algorithm=np.array(["a", 1], object)), anova, code()),
    "missing labels": Row(lambda: one().assign_coords(run=[0.0, 1.0, 2.0, np.nan]), anova, code()),
    "labels of dates": Row(lambda: one().assign_coords(run=pd.date_range("2026", periods=4)), anova, code()),
    "a MultiIndex of runs": Row(
        lambda: one().assign_coords(
            xr.Coordinates.from_pandas_multiindex(pd.MultiIndex.from_product([[0, 1], [0, 1]], names=["p", "q"]), "run")
        ),
        anova,
        code(),
    ),
    "a reserved dim": Row(lambda: tasks().rename(task="pair"), pairwise, code()),
    "a reserved coordinate": Row(lambda: tasks().assign_coords(f=("task", [1, 2, 3])), anova, code()),
    "a dim that is a number": Row(lambda: tasks().drop_vars("task").rename({"task": 0}), anova, code()),
    "training that falls": Row(lambda: one().isel(training=[0, 2, 1, 3, 4]), anova, code()),
    "training that repeats": Row(lambda: one().isel(training=[0, 1, 1, 3, 4]), anova, code()),
    "training that is missing": Row(lambda: one().assign_coords(training=[0.0, 1, 2, np.nan, 4]), anova, code()),
    "training that is infinite": Row(lambda: one().assign_coords(training=[0.0, 1, 2, 3, np.inf]), anova, code()),
    "training of durations": Row(
        lambda: one().assign_coords(training=pd.to_timedelta(np.arange(5), unit="h")),
        anova,
        code(),
    ),
    "training of dates": Row(
        lambda: one().assign_coords(training=pd.date_range("2026", periods=5)),
        anova,
        code(),
    ),
    "scores that are objects": Row(lambda: one().astype(object), anova, code()),
    "scores that are text": Row(lambda: one().astype(str), anova, code(), unlike="between"),
    "a Dataset": Row(
        lambda: one().to_dataset(name="score"),
        anova,
        lambda row, data, message: picked(row, data, message),
    ),
    # sizes of scores
    "scores too large": Row(lambda: 1e200 * one(), anova, code(), unlike="scaled"),
    "scores too small": Row(lambda: 1e-200 * one(), anova, code(), unlike="scaled"),
    "scores of tasks too large": Row(lambda: 1e100 * tasks(), across, code(), unlike="scaled"),
    "trials too large": Row(lambda: trials() * 1e306, cdf, code(), unlike="scaled"),
    # failed runs
    "a failed run": Row(lambda: with_score(-np.inf), anova, code(), unlike="filled"),
    "a failed run where lower is better": Row(lambda: with_score(np.inf), anova, code(), unlike="filled"),
    "a failed run in pairs": Row(lambda: with_score(-np.inf), pairwise, code(), unlike="filled"),
    "a failed run in a profile": Row(lambda: with_score(-np.inf), profile, code(), unlike="filled"),
    "a failed run in speed-ups": Row(
        lambda: with_score(-np.inf),
        xcurves.speedup,
        code(),
        {"reference": "a0"},
        unlike="filled",
    ),
    "a failed run in means of times": Row(
        lambda: with_score(-np.inf),
        xcurves.mean_time_to_target,
        code(),
        {"target": 0.0},
        unlike="filled",
    ),
    "a failed run in a contrast": Row(
        lambda: with_score(-np.inf),
        xcurves.contrast,
        code(),
        {"weights": {"a0": 1, "a1": -1}},
        unlike="filled",
    ),
    "ranks of failed runs": Row(lambda: with_score(-np.inf), anova, code(contains="compare_distributions")),
    "ranks of failed runs where lower is better": Row(
        lambda: with_score(np.inf), anova, code(contains="compare_distributions")
    ),
    "a picture of failed runs": Row(lambda: with_score(-np.inf), xcurves.plot, code(), unlike="filled"),
    "a task in which all failed": Row(
        lambda: tasks().where(lambda da: da.task != "x", -np.inf),
        xcurves.fill_failed,
        code(),
        unlike="filled",
    ),
    "fractions of a misspelt whole": Row(
        lambda: with_score(-np.inf),
        xcurves.align,
        value_of("relative_to"),
        {"on": 4, "relative_to": "budgets"},
    ),
    "the wrong infinity of trials": Row(lambda: failed(trials(), np.inf), cdf, option("higher_is_better")),
    "the wrong infinity of pairs": Row(lambda: failed(trials(), np.inf), compare, option("higher_is_better")),
    "the wrong infinity of a search": Row(lambda: failed(trials(), np.inf), tuning, option("higher_is_better")),
    "the wrong infinity over tasks": Row(
        lambda: tasks().where(tasks() < tasks().max(), np.inf),
        across,
        option("higher_is_better"),
    ),
    "the wrong infinity to be filled": Row(lambda: with_score(np.inf), xcurves.fill_failed, option("higher_is_better")),
    "errors of a failed run": Row(lambda: failed(errors(), np.inf), xcurves.fit_power_law, code(), unlike="filled"),
    "losses of a failed run": Row(lambda: failed(losses(), np.inf), xcurves.fit_scaling_law, code()),
    "an interval that needs finite scores": Row(
        lambda: failed(trials(), -np.inf),
        cdf,
        lambda row, data, message: quoted("interval")(row, data, message),
        {"interval": "bca"},
    ),
    # runs that lack levels
    "a run that lacks levels": Row(lambda: lacking((0, 1, slice(3, None))), anova, code()),
    "a run that lacks levels, left out": Row(lambda: lacking((0, 1, slice(3, None))), anova, code(1)),
    "runs that share no two levels": Row(
        lambda: lacking((0, slice(None), slice(1, None, 2)), (1, slice(None), slice(0, 4, 2))),
        anova,
        code(),
        unlike="between",
    ),
    "runs that share one level": Row(
        lambda: lacking((0, slice(None), slice(2, None)), (1, slice(None), slice(0, 1))),
        anova,
        code(),
        unlike="between",
    ),
    "runs of four visits": Row(visits, anova, code(), unlike="between"),
    "runs of two late visits": Row(lambda: visits((90.0, 95.0)), anova, code(), unlike="between"),
    "runs with levels of their own": Row(own_levels, anova, code(), unlike="between"),
    "runs with levels of their own in pairs": Row(own_levels, pairwise, code(), unlike="between"),
    "trials along training that lack levels": Row(
        lambda: lacking((0, 1, slice(3, None))),
        cdf,
        code(),
        {
            "interval": "percentile",
            "simultaneous": "training",
            "n_resamples": 20,
            "probabilities": 0.5,
        },
    ),
    "a profile of one level": Row(lambda: one().isel(training=[0]), profile, code()),
    # dims of trials
    "episodes of runs": Row(episodes, cdf, both_options("unit", "interval"), {"dim": ("run", "episode")}),
    "episodes of runs, each by itself": Row(episodes, cdf, option("unit", 1), {"dim": ("run", "episode")}),
    "episodes of runs, pairs": Row(episodes, compare, averaged, {"dim": ("run", "episode")}),
    "episodes of runs, a search": Row(episodes, tuning, option("unit"), {"dim": ("run", "episode")}),
    "runs of tasks": Row(task_trials, cdf, both_options("strata", "interval"), {"dim": ("run", "task")}),
    "runs of tasks, pairs": Row(task_trials, compare, option("strata"), {"dim": ("run", "task")}),
    "runs of tasks, a search": Row(task_trials, tuning, option("unit"), {"dim": ("run", "task")}),
    "exact intervals of strata": Row(
        episodes,
        cdf,
        option("interval"),
        {"dim": ("run", "episode"), "strata": "run", "n_resamples": 20},
    ),
    "strata that are no dims of trials": Row(episodes, compare, both_options("dim", "strata"), {"strata": "episode"}),
    "resamples where nothing is random": Row(trials, compare, left_out("n_resamples"), {"n_resamples": 9}),
    "a bound below a score": Row(trials, cdf, left_out("bounds"), {"bounds": (0, 0.5)}),
    # options
    "a level of confidence": Row(one, anova, value_of("confidence_level"), {"confidence_level": 95}),
    "a seed that is text": Row(one, anova, value_of("rng"), {"rng": "a"}),
    "no resamples": Row(one, pairwise, left_out("n_resamples"), {"n_resamples": 0}),
    "resamples that are no count": Row(one, anova, left_out("n_resamples"), {"n_resamples": 9.5}),
    "a margin below 0": Row(tasks, across, value_of("margin"), {"margin": -1}),
    "a misspelt correction": Row(
        tasks,
        across,
        value_of("task_correction"),
        {"task_correction": "benjamini-hochber"},
    ),
    "a misspelt dim of tasks": Row(tasks, across, value_of("task"), {"task": "taks"}),
    "a misspelt reference": Row(tasks, across, value_of("reference"), {"reference": "a00"}),
    "bounds that are one number": Row(trials, cdf, value_of("bounds"), {"bounds": 3}),
    "bounds that fall": Row(trials, cdf, value_of("bounds"), {"bounds": (1, 0)}),
    "a tolerance that is no share": Row(trials, cdf, value_of("tolerance"), {"tolerance": 90}),
    "numbers of trials that are parts": Row(trials, tuning, value_of("n_trials"), {"n_trials": [0.5]}),
    "no dim of trials": Row(trials, cdf, value_of("dim"), {"dim": ()}),
    "a misspelt interval": Row(trials, cdf, value_of("interval"), {"interval": "percentil"}),
    "Welch's test of paired runs": Row(one, anova, left_out("level_test"), {"level_test": "welch", "paired": True}),
    "fractions beyond 1": Row(one, xcurves.align, value_of("on"), {"on": -3, "relative_to": "budget"}),
    "a method beside fractions": Row(
        one,
        xcurves.align,
        left_out("method"),
        {"on": 4, "relative_to": "budget", "method": "previous"},
    ),
    "a tolerance without a method": Row(one, xcurves.align, left_out("tolerance"), {"on": "union", "tolerance": 3.0}),
    "a figure of no size": Row(one, xcurves.plot, value_of("figsize"), {"figsize": (0, 4)}),
    "what failing counts as, misspelt": Row(
        one, xcurves.fill_failed, value_of("replacement"), {"replacement": "worts"}
    ),
    # frames
    "a misspelt column": Row(tidy, framed, value_of("value"), {"value": "scor"}),
    "a column that is an index": Row(lambda: tidy().set_index("run"), framed, code()),
    "rows without a label": Row(
        lambda: tidy().assign(run=lambda frame: frame["run"].where(frame.index > 0)), framed, code(contains="dropna")
    ),
    "scores that are all words": Row(
        lambda: tidy(label=["good", "bad"] * 20),
        lambda data, **options: framed(data, **{"value": "label"} | options),
        option("value"),
    ),
    "scores with a word": Row(lambda: tidy(score=["n/a", *map(str, range(39))]), framed, code()),
    "scores that are numbers as text": Row(lambda: tidy(score=list(map(str, range(40)))), framed, code()),
    "rows that repeat": Row(
        lambda: pd.concat([tidy(), tidy().assign(score=0)]).sort_values("training"),
        framed,
        each_call,
    ),
    "a tolerance without levels": Row(tidy, framed, both_options("on", "method"), {"tolerance": 3.0}),
    "a method without levels": Row(tidy, framed, option("on"), {"method": "linear"}),
    "what rows without a score mean, misspelt": Row(
        tidy, framed, value_of("missing_scores"), {"missing_scores": "failde"}
    ),
    "both ways to keep levels": Row(tidy, framed, left_out("on"), {"levels": "run", "on": "union"}),
}


def picked(row: Row, data: xr.Dataset, message: str) -> Any:
    """One variable is picked as the message says: ds['score']."""
    name = re.search(r"\['(\w+)'\]", message)
    assert name, message
    return row.call(data[name[1]])


def quoted(name: str) -> Cure:
    """The option gets the last value in quotes."""
    return lambda row, data, message: row.call(data, **row.options | {name: re.findall(r"'(\w+)'", message)[-1]})


def tried(row: Row, data: pd.DataFrame, message: str) -> Any:
    """All options after "Try" are given."""
    said = dict(re.findall(r"(\w+)='([^']*)'", message.rpartition("Try ")[2]))
    assert said, message
    return row.call(data, **row.options | said)


@pytest.mark.plain(34)
@pytest.mark.parametrize("name", ROWS)
def test_the_cure_that_an_error_names_works_on_its_data(name):
    row = ROWS[name]
    data = row.make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with pytest.raises((ValueError, TypeError, KeyError)) as caught:
            row.call(data, **row.options)
        message = str(caught.value)
        assert "\n" not in message or isinstance(caught.value, Doubtful)
        assert row.cure(row, data, message) is not None


def test_there_are_rows_for_many_errors():
    assert len(ROWS) >= 60
