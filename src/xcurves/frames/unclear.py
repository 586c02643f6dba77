"""What cannot be told of a frame, with all readings that fit, and what each would compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from xcurves.core.direction import HIGHER, are_turned, is_loss, looks_like_score, says_higher, turned_words
from xcurves.core.doubts import MOST, Choice, how_many, runs_each
from xcurves.core.known import Known
from xcurves.core.labels import noun
from xcurves.core.names import (
    TRIAL,
    compiled,
    confusable,
    dim_of,
    ending_of,
    is_clock,
    is_item,
    is_metric,
    is_step,
    words_of,
)
from xcurves.frames import roles
from xcurves.frames.columns import numbers
from xcurves.frames.find_training import first_stuck_run
from xcurves.frames.mixed_runs import doubt_of_rungs
from xcurves.frames.reading import (
    ROLES,
    Doubt,
    Found,
    as_list,
    compared,
    either,
    keys_of,
    repeats,
    unknown_words,
)
from xcurves.frames.roles import likeliest, n_labels
from xcurves.frames.unnamed import compared_as_read, doubt_of_factors, doubt_of_unnamed
from xcurves.frames.wide_columns import has_part, has_scores_of_levels, numbered_scores
from xcurves.frames.wide_tables import wide_pattern
from xcurves.say.numbers import listed as in_words

_MOST_COLUMNS = 6  # that a role could be
_STUCK = "has steps that never change within a run while scores do"
_WITH_NUMBER = r"\s*[-+~<>$]?\d[\d.,:/]*\s*\S{0,8}\s*$"
_MOSTLY = 0.9  # of the cells: of hashes 10 in 16 begin with a digit
_SHARED = 0.1  # of the rows have a time that another has, where each has its own


def doubt_of(found: Found, given: pd.DataFrame, told: Known) -> Doubt | None:
    """Return what cannot be told of the frame that was given, None if all can."""
    doubt = (
        _doubt_of_metrics(found, told)
        or _doubt_of_roles(found)
        or _doubt_of_likenesses(found, given)
        or _doubt_of_numbers(found, given)
        or _doubt_of_design(found, given, told)
        or _doubt_of_direction(found, given, told)
    )
    of_columns = _doubt_of_columns(found, given, is_asked=doubt is not None)
    if of_columns is not None and doubt is not None and doubt.choices and doubt.unknown:
        question = f"{unknown_words(doubt)}, or {of_columns.question}"
        return Doubt(doubt.unknown, (*doubt.choices[: MOST - 1], *of_columns.choices), question)
    if of_columns is not None or set(found.missing) != {"score"}:
        return of_columns or doubt
    from xcurves.frames.task_columns import doubt_of_task_columns  # which frames with a score do without

    return doubt_of_task_columns(found) or doubt


def _doubt_of_metrics(found: Found, told: Known) -> Doubt | None:
    """Return what to ask where a column says which score each row has: they are measured on no common scale."""
    typed = [name for role in (*ROLES, "passage", "coords") for name in as_list(found.typed.get(role))]
    names = as_list(told.metric)
    if str(found.roles.get("score")).casefold() in roles.OF_METRIC:
        names += [str(name) for name in found.frame if is_metric(name)]
    if found.items:
        names += [name for name in map(str, found.frame) if _names_metrics(found, name)]
    for name in names:
        if name in typed or name not in found.frame:
            continue
        labels = list(map(str, found.frame[name].dropna().unique()))
        if len(labels) < 2 or _is_of_tasks(found, name, labels):
            continue
        known = {role: column for role, column in found.roles.items() if column != name}
        known["tasks"] = [task for task in found.roles["tasks"] if task != name]
        choices = []
        for label in likeliest(labels)[:MOST]:
            part = found.frame[found.frame[name].astype(str) == label]
            words = compared_as_read(replace(found, frame=part), known)
            lacking = [column for column in keys_of(known, "algorithm", "run") if part[column].isna().all()]
            if lacking:  # of another experiment
                words = f"{len(part):,} rows without {in_words(lacking)}"
            choices.append(Choice({"select": (name, label)}, words))
        return Doubt({}, tuple(choices), f"has {len(labels)} {noun(name)}s ({either(labels)})")
    return None


def _is_of_tasks(found: Found, name: str, labels: Sequence[str]) -> bool:
    """Return whether each task has a metric of its own, and all have the same good end."""
    tasks = [task for task in found.keys("tasks") if task != name]
    if not tasks or len(set(map(says_higher, labels))) > 1:
        return False
    return not found.frame[[*tasks, name]].drop_duplicates().duplicated(tasks).any()


def _names_metrics(found: Found, name: str) -> bool:
    """Return whether a column says by which metric each row of an item has its score."""
    column = found.frame[name]
    if name in found.keys("algorithm", "run") or name in found.constant:
        return False
    if pd.api.types.is_numeric_dtype(column) or n_labels(column) > _MOST_COLUMNS:
        return False
    return is_metric(name) or all(looks_like_score(label) for label in column.dropna().unique())


def _doubt_of_columns(found: Found, given: pd.DataFrame, *, is_asked: bool) -> Doubt | None:
    """Return what to ask where columns seem to be scores of algorithms or runs, which may be other metrics too."""
    if "score" in found.typed or found.roles.get("score") not in (None, *map(str, given)):
        return None
    named = {role: found.typed[role] for role in (*ROLES, "passage", "coords") if role in found.typed}
    pattern, columns = wide_pattern(given, named)
    if pattern is None or not (is_asked or has_scores_of_levels(pattern) or has_part(pattern.text, "run")):
        return None
    matches = [match for name in columns if (match := compiled(pattern.text).fullmatch(str(name)))]
    dims = [dim for dim in ("algorithm", "run") if dim in matches[0].groupdict()]
    settles: dict[str, Any] = {"columns": pattern.text}
    if pattern.scores:
        settles["score"] = likeliest(pattern.scores)[0]
    compares = ", ".join(how_many(len({match[dim] for match in matches}), dim) for dim in dims)
    labels = found.roles.get("algorithm")
    if "algorithm" in dims and labels in given and "tasks" not in named:  # which are of something else then
        settles["tasks"] = [*found.roles["tasks"], labels]
        compares += f", {how_many(len(given[settles['tasks']].drop_duplicates()), 'task')}"
    things = " and ".join(f"{dim}s" for dim in dims)
    return Doubt({}, (Choice(settles, compares),), f"has columns that seem to be scores of {things}")


def _doubt_of_roles(found: Found) -> Doubt | None:
    if found.missing.get("training") == []:
        return _doubt_of_training(found)
    if found.missing:
        from xcurves.frames.fitting import choices_that_fit  # which frames whose columns are known do without

        return Doubt(dict(found.missing), tuple(choices_that_fit(found)))
    kinds = (
        _doubt_of_ends,
        _doubt_of_stuck,
        _doubt_of_ends_of_runs,
        _doubt_of_parts,
        _doubt_of_trials,
        _doubt_of_unnamed,
        _doubt_of_order,
        doubt_of_rungs,
        _doubt_of_rising,
        doubt_of_factors,
        _doubt_of_clock,
        _doubt_of_strangers,
        _doubt_of_answers,
    )
    return next((doubt for kind in kinds if (doubt := kind(found)) is not None), None)


def _doubt_of_trials(found: Found) -> Doubt | None:
    if TRIAL not in found.frame:
        return None
    from xcurves.frames.search_trials import doubt_of_settings  # which frames without trials do without

    return doubt_of_settings(found)


def _doubt_of_order(found: Found) -> Doubt | None:
    if not found.numbered or {"run", "training"} & {*found.typed}:
        return None
    from xcurves.frames.row_order import doubt_of_order  # which frames whose runs have names do without

    return doubt_of_order(found)


def _doubt_of_unnamed(found: Found) -> Doubt | None:
    if found.unnamed is None:
        return None
    return doubt_of_unnamed(found, found.unnamed)


def _doubt_of_design(found: Found, given: pd.DataFrame, told: Known) -> Doubt | None:
    """Return what to ask where the score is whole numbers that may be of what was tried: what was measured is beside.

    They are the same for each algorithm, or a column of text has numbers in it.
    """
    score, labels = found.roles.get("score"), found.keys("algorithm")
    if score is None or "score" in found.typed or score == told.score or score not in given or not labels:
        return None
    values = found.scored[score]
    if looks_like_score(score) or not pd.api.types.is_integer_dtype(values) or values.isin([0, 1]).all():
        return None
    each = [
        sorted(values_of) for _, values_of in values.groupby([found.scored[name] for name in labels], observed=True)
    ]
    is_alike = len(each) > 1 and all(values_of == each[0] for values_of in each)
    left = [str(name) for name in given if name not in (*found.used, score) and not is_step(name)]
    times = [name for name in left if is_alike and pd.api.types.is_float_dtype(given[name])]
    texts = [name for name in left if not pd.api.types.is_numeric_dtype(given[name]) and not is_clock(name)]
    measured = [name for name in texts if given[name].astype(str).str.match(_WITH_NUMBER).mean() > _MOSTLY]
    if not times and not measured:
        return None
    question = f"has no score but {score}, {'the same for each algorithm' if is_alike else 'whole numbers'}"
    if measured:
        cell = given[measured[0]].dropna().iloc[0]
        question += f"; {measured[0]} is text, first {cell!r}: write it as numbers if it is the score"
    choices = [Choice({"score": name}, compared(found.frame, found.roles)) for name in (*times, score)]
    return Doubt({}, tuple(choices[:MOST]), question)


def _doubt_of_numbers(found: Found, given: pd.DataFrame) -> Doubt | None:
    """Return what to ask where the score is the first of columns acc_0, acc_1, ...: runs, or other scores."""
    score = found.roles.get("score")
    if score is None or "score" in found.typed or score not in given or found.roles.get("run") is not None:
        return None
    pattern = numbered_scores([str(name) for name in given.select_dtypes("number")], score)
    if pattern is None:
        return None
    n_runs = sum(compiled(pattern).fullmatch(str(name)) is not None for name in given)
    without = compared(found.frame, found.roles | {"run": None}).rpartition(", ")[0]
    choices = (
        Choice(
            {"columns": pattern, "score": pattern.partition("{")[0][:-1]}, f"{without}, {runs_each(n_runs, n_runs)}"
        ),
        Choice({"score": score}, compared(found.frame, found.roles)),
    )
    return Doubt({}, choices, f"does not say whether columns such as {score} are runs")


def _doubt_of_direction(found: Found, given: pd.DataFrame, told: Known) -> Doubt | None:
    """Return what to ask where no score of a loss is above 0: its sign may have been turned."""
    score = found.roles.get("score")
    if score is None or found.typed.get(HIGHER) is not None or not is_loss(score):
        return None
    said = given.attrs.get(HIGHER)
    is_said = score in said if isinstance(said, Mapping) else said is not None
    is_told = score == told.score and told.lower_is_better is not None
    if is_said or is_told or not are_turned(numbers(found.scored[score])):
        return None
    what = compared(found.frame, found.roles)
    ends = {False: "lower", True: "higher"}
    choices = tuple(Choice({HIGHER: higher}, f"{what}, {end} is better") for higher, end in ends.items())
    return Doubt({}, choices, turned_words(score))


def _doubt_of_likenesses(found: Found, given: pd.DataFrame) -> Doubt | None:
    """Return what to ask where two algorithms, or two tasks, are called alike, and may be one."""
    for role, thing in (("algorithm", "algorithm"), ("tasks", "task")):
        for name in as_list(found.roles.get(role)):
            if role in found.typed or name not in given or is_item(name):
                continue
            pair = confusable(found.scored[name].dropna().unique())
            if pair is None:
                continue
            one, other = map(repr, pair)
            question = f"has {thing}s {one} and {other}, which differ in case, spaces, - and _ only"
            choice = Choice({role: found.roles[role]}, f"they are two {thing}s, {compared(found.frame, found.roles)}")
            return Doubt({}, (choice,), f"{question}. Rename one if they are one {thing}")
    return None


def _doubt_of_ends(found: Found) -> Doubt | None:
    """Return what to ask where runs were ended early, or nobody knows how: to leave them out may reward failing."""
    if found.state is None or found.typed.get("missing_scores") == "failed":
        return None
    states = found.frame[found.state].dropna().unique().tolist()
    endings = {state: ending_of(state) for state in states}
    finished = [state for state in states if endings[state] == "well"]
    strange = [state for state in states if endings[state] == "early"]
    if finished:
        strange += [state for state in states if endings[state] is None]
    if not strange:
        return None
    choices = []
    if "failed" not in endings.values():  # whose runs would be left out too
        for state in finished[: MOST - 1]:
            rest = found.frame[found.frame[found.state] == state]
            algorithms = found.keys("algorithm")
            if len(rest[algorithms].drop_duplicates()) < len(found.frame[algorithms].drop_duplicates()):
                continue
            choices.append(Choice({"select": (found.state, state)}, f"{compared(rest, found.roles)}, without those"))
    counts = {"missing_scores": "failed"}
    choices.append(Choice(counts, f"{compared(found.frame, found.roles)}, those failed"))
    return Doubt({}, tuple(choices), f"has runs that were {', '.join(sorted(map(str, strange)))}")


def _doubt_of_parts(found: Found) -> Doubt | None:
    """Return what to ask where scores of train and test stand below each other."""
    if not repeats(found.frame, found.roles):
        return None
    for name in map(str, found.frame.columns):
        if name in found.used or not roles.says_data(found.frame, name):
            continue
        choices = []
        for label in found.frame[name].dropna().unique().tolist():
            part = found.frame[found.frame[name] == label]
            if not repeats(part, found.roles):
                chosen = {"select": (name, label)}
                choices.append(Choice(chosen, compared(part, found.roles)))
        if choices:
            return Doubt(
                {},
                tuple(choices[:MOST]),
                f"has scores of several data: {name}",
            )
    return None


def _doubt_of_stuck(found: Found) -> Doubt | None:
    """Return what to ask where a step never changes within some of the runs."""
    if "training" in found.typed or found.typed.get("duplicates", "raise") != "raise":
        return None
    stuck = first_stuck_run(found)
    if not stuck:
        return None
    return _doubt_of_training(found, f"has runs whose {found.roles['training']} never changes, first {stuck}")


def _doubt_of_ends_of_runs(found: Found) -> Doubt | None:
    """Return what to ask where each run is one row and rows have unlike steps: those at which runs ended, or curves."""
    training = found.roles.get("training")
    if training is None or "training" in found.typed or not found.runs:
        return None
    is_row = not found.scored.duplicated(found.runs).any()
    if not is_row or n_labels(found.scored[training]) < 2:
        return None
    choices = [
        Choice({"training": column}, compared(found.frame, found.roles | {"training": column}))
        for column in (None, training)
    ]
    return Doubt(
        {}, tuple(choices), f"has one row of each run, at unlike {training}: where it ended, or a level of training"
    )


def _doubt_of_training(
    found: Found, question: str = "has steps that never change within a run while scores do"
) -> Doubt:
    """Return what to ask where a step never changes within a run and no clock says what came first."""
    kept = {
        "last": "the last row of each run",
        "mean": "the mean of the rows of each run",
    }
    known = found.roles | {"training": None}
    choices = [
        Choice(
            {"training": None, "duplicates": how},
            f"{compared(found.frame, known)}, {words}",
        )
        for how, words in kept.items()
    ]
    return Doubt({}, tuple(choices), question)


def _doubt_of_rising(found: Found) -> Doubt | None:
    """Return what to ask where numbers of unknown name rise within each run: steps, items or settings."""
    known = found.roles
    if known["training"] is not None or "training" in found.typed or not found.runs:
        return None
    is_joined = found.typed.get("duplicates", "raise") != "raise"
    if "tasks" in found.typed or is_joined or not repeats(found.frame, known):
        return None
    scored = found.scored
    for name in map(str, found.frame.columns):
        if name in found.used or name in roles.NO_NAME or dim_of(name) is not None or is_clock(name):
            continue
        if roles.numbers_rows(scored, name):
            continue
        if roles.rises_in_runs(scored, name, found.runs):
            return _question_of_rising(found, name)
    return None


def _question_of_rising(found: Found, name: str) -> Doubt:
    """Return the question what numbers that rise within each run are."""
    known = found.roles
    n_levels = found.scored[name].nunique()
    readings: dict[str, dict[str, Any]] = {"counts steps of training": {"training": name}}
    if not is_step(name):
        readings["names tasks"] = {"tasks": [*known["tasks"], name]}
    if known["algorithm"] is not None:
        readings["is a setting of the algorithm"] = {"algorithm": [*found.typed_or_found("algorithm"), name]}
    choices = []
    for chosen in readings.values():
        words = f"{compared(found.frame, known)}, at {n_levels:,} steps"
        if "training" not in chosen:
            words = compared(found.frame, known | found.inferred | chosen)
        choices.append(Choice(found.inferred | chosen, words))
    if words_of(name)[-1:] == ["id"] and not is_step(name):  # of requests, or of other parts of a run
        words = f"{compared(found.frame, known)}, the mean of the rows of each run"
        choices.append(Choice(found.inferred | {"duplicates": "mean"}, words))
    *first, last = readings
    what = f"{', '.join(first)} or {last}" if first else last
    return Doubt({}, tuple(choices), f"does not say whether {name} {what}")


def _doubt_of_clock(found: Found) -> Doubt | None:
    """Return what to ask where rows have a time each and nothing names runs: they are runs, or one measured again."""
    training = found.roles.get("training")
    keys = found.keys("tasks", "algorithm")
    if training is None or "training" in found.typed or not is_clock(training) or not keys:
        return None
    if "run" in found.typed or found.roles.get("run") is not None:
        return None
    rows = found.scored
    if not rows.duplicated(keys).any() or rows[training].duplicated().mean() > _SHARED:
        return None
    numbered = rows.assign(run=rows.groupby(keys, observed=True).cumcount())
    choices = (
        Choice({"training": None}, f"{compared(numbered, found.roles | {'run': 'run'})}, each row is a run"),
        Choice({"training": training}, f"{compared(rows, found.roles)}, {training} as training"),
    )
    return Doubt({}, choices, f"does not say whether rows are runs or {training} is training")


def _doubt_of_strangers(found: Found) -> Doubt | None:
    """Return what to ask where no two algorithms have the same items: nothing is compared item by item."""
    algorithm = found.roles.get("algorithm")
    if not found.numbered or algorithm is None:
        return None
    for item in map(str, found.frame.columns):
        if item in found.used or not is_item(item):
            continue
        pairs = found.scored[[item, algorithm]].drop_duplicates()
        n_each = pairs.groupby(item, observed=True).size()
        n_common = int((n_each > 1).sum())
        if n_common > 1 or pairs[algorithm].nunique() < 2:
            continue
        known = found.roles | {"run": item}
        choice = Choice({"run": item}, f"{compared(found.frame, known)}, compared as independent")
        things = f"{noun(item)}s"
        words = f"has {len(n_each):,} {things}, of which any two algorithms have {n_common} in common"
        return Doubt({}, (choice,), words)
    return None


def _doubt_of_answers(found: Found) -> Doubt | None:
    """Return what to ask where an algorithm with one answer to most items has several to some."""
    if not found.numbered or found.typed.get("duplicates") == "runs" or not found.has_few_repeats:
        return None
    rows = found.scored
    again = rows[rows.duplicated(found.keys("algorithm", "tasks"))]
    first = ", ".join(str(again[name].iloc[0]) for name in found.keys("algorithm", "tasks"))
    count = f"{len(again):,} further answers to items that have one"
    if len(again) == 1:
        count = "a second answer to an item"
    known = found.roles | {"run": None}
    choices = (
        Choice({"duplicates": "runs"}, f"{compared(found.frame, found.roles)}, all answers count"),
        Choice({"duplicates": "last"}, f"{compared(found.frame, known)}, the last answer counts"),
    )
    return Doubt({}, choices, f"has {count} ({first})")
