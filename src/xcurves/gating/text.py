"""The sentences and the table about a gate: what to do now, what was kept, and by how much it is better."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from xcurves.core.schema import Statement, statements
from xcurves.core.tables import bounds
from xcurves.core.wording import (
    count,
    decimals_of,
    ends_of,
    estimated,
    listed,
    number,
    p_text,
    pvalue,
    rounded,
)
from xcurves.gating.replay import DECISIONS, DROPPED, KEPT, RUN_MORE, WAITING

Decisions = NDArray[np.int8]
MOVED = 0.01  # p below which the champion's scores are said to have changed
_LEAST_AUDIT = 2
_SELECTED = (
    "The difference of a kept candidate is no estimate of what it brings: those that were lucky are kept, so it is too "
    "large on average. Progress is measured by other runs."
)


def gate_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield what to do now; what was kept, and the progress; copies and changes of the champion."""
    decisions = result["decision"].to_numpy()
    answer = " ".join(
        [
            _say_candidate(result.isel(candidate=current(result))),
            *_say_waiting(decisions),
        ]
    )
    details = [_say_kept(result, decisions)]
    cautions = [*_say_copies(result), *_say_moved(result)]
    if (decisions == KEPT).any():
        cautions.append(_SELECTED)
    return statements(answer, details, cautions)


def current(result: xr.Dataset) -> int:
    """Return the place of the candidate that the answer is about: the open one, else the last."""
    decisions = result["decision"].to_numpy()
    is_open = np.flatnonzero(decisions == RUN_MORE)
    return int(is_open[0]) if is_open.size else len(decisions) - 1


def _say_candidate(one: xr.Dataset) -> str:
    """Return what to do with one candidate, and why."""
    name, champion = str(one["candidate"].item()), str(one["champion"].item())
    decision = one["decision"].item()
    if decision == RUN_MORE:
        return _say_more(
            name, champion, int(one["runs_to_make"]), int(one["runs_to_make_champion"])
        )
    if decision == WAITING:
        return f"{name} waits."
    if decision == KEPT:
        return f"Keep {name}: {_say_better(one, champion)}."
    return f"Drop {name}: {_say_dropped(one, champion)}."


def _say_more(name: str, champion: str, n: int, n_champion: int) -> str:
    if n and n_champion:
        return f"Run {name} {_times(n)}, {champion} {_times(n_champion)}."
    if n:
        return f"Run {name} {_times(n)}, {champion} no more."
    return f"Run {champion} {_times(n_champion)}, {name} no more."


def _times(n: int) -> str:
    return count(n, "more time")


def _say_better(one: xr.Dataset, champion: str) -> str:
    """Return by how much a kept candidate is better."""
    margin, better = _margin(one), "worse" if _improvement(one) < 0 else "better"
    said = f"{better} than {champion} by {_size(one)}"
    if margin < 0:
        said = f"not worse than {champion} by more than {number(-margin)} ({said})"
    elif margin > 0:
        said = f"{said}, shown to be more than {number(margin)}"
    return f"{said} (selected: likely smaller; {pvalue(one['pvalue'].item())})"


def _say_dropped(one: xr.Dataset, champion: str) -> str:
    """Return why a candidate is dropped."""
    n = int(one["n_runs"])
    if np.isinf(one["difference"].item()):
        return f"{'its run' if n == 1 else f'one of its {n} runs'} failed"
    after, beyond = f"after {count(n, 'run')}", _beyond(_margin(one))
    if np.isnan(one["pvalue"].item()):
        if not beyond:
            which = "below"
            if one["difference"].item() == 0:
                which = "equal to"
            elif _is_lower_better(one):
                which = "above"
            return f"{after} its mean is {which} {champion}'s"
        return f"{after} its mean is not better than {champion}'s{beyond}"
    level = p_text(one.attrs["level"]).rstrip("0")
    return (
        f"{after} it is not shown to be better than {champion}{beyond} (mean better by {_size(one)}; "
        f"{pvalue(one['pvalue'].item())}, above {level})"
    )


def _beyond(margin: float) -> str:
    """Return what a margin asks for beyond being better."""
    if margin > 0:
        return f" by more than {number(margin)}"
    return f" less {number(-margin)}" if margin < 0 else ""


def _margin(result: xr.Dataset) -> float:
    return float(result.attrs["margin"])


def _is_lower_better(result: xr.Dataset) -> bool:
    return not result.attrs["higher_is_better"]


def _improvement(one: xr.Dataset) -> float:
    """Return the difference, positive where the candidate is better."""
    difference = float(one["difference"].item())
    return -difference if _is_lower_better(one) else difference


def _size(one: xr.Dataset) -> str:
    """Return the size of the difference in as many decimals as its interval supports."""
    size = abs(_improvement(one))
    return rounded(size, decimals_of(*ends_of(one["difference_ci"]), size))


def _say_waiting(decisions: Decisions) -> Iterator[str]:
    n = int(np.count_nonzero(decisions == WAITING))
    if n:
        yield f"{count(n, 'later candidate')} {'waits' if n == 1 else 'wait'}."


def _say_kept(result: xr.Dataset, decisions: Decisions) -> str:
    """Return how many candidates were kept, who is the champion, and the progress."""
    champion = result.attrs["champion"]
    n_judged, n_kept = (
        int(np.isin(decisions, each).sum()) for each in ((DROPPED, KEPT), KEPT)
    )
    if not n_judged:
        return f"No candidate is judged yet; {champion} is the champion."
    if not n_kept:
        return f"Of {count(n_judged, 'candidate')} judged none was kept; {champion} is the champion. Progress: none."
    kept = count(n_kept, "was kept", "were kept")
    return f"Of {count(n_judged, 'candidate')} judged {kept}; {champion} is the champion. {_say_progress(result)}"


def _say_progress(result: xr.Dataset) -> str:
    """Return the progress since the first champion, or the runs that it takes to say it."""
    baseline, champion = (str(result.attrs[name]) for name in ("baseline", "champion"))
    if np.isnan(result["progress"].item()):
        sizes = result["n_runs_audit"].to_numpy().tolist()
        lacks = [
            (who, _LEAST_AUDIT - n)
            for who, n in zip((baseline, champion), sizes, strict=True)
        ]
        runs = listed([f"{who} {_times(n)}" for who, n in lacks if n > 0])
        return f"To state the progress since {baseline}, run {runs} beyond those that decide."
    progress = result["progress"].item()
    plus = "+" if progress > 0 else ""
    said = estimated(progress, *ends_of(result["progress_ci"]))
    return f"Progress since {baseline}, measured by runs that decided nothing: {plus}{said}."


def _say_copies(result: xr.Dataset) -> Iterator[str]:
    """Yield which candidates have the champion's scores."""
    for place in np.flatnonzero(result["same_scores"].to_numpy() == 1).tolist():
        one = result.isel(candidate=place)
        n, name, champion = (
            int(one["n_runs"]),
            one["candidate"].item(),
            one["champion"].item(),
        )
        if n > 1:
            yield f"{name} has the same scores as {champion} in all of its {n} runs: it was not a change."
        else:
            yield f"{name} has the same score as {champion} in its run: was it a change?"


def _say_moved(result: xr.Dataset) -> Iterator[str]:
    """Yield that the present champion's later runs differ from those that decided."""
    p = result["champion_moved_pvalue"].item()
    if p < MOVED:
        champion = result.attrs["champion"]
        yield (
            f"The scores of the champion {champion} are not what they were ({pvalue(p)}): machine, data or code have "
            "changed, or it was kept by luck."
        )


def gate_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each candidate, in their order."""
    decisions = [DECISIONS[int(each)] for each in result["decision"].to_numpy()]
    columns = {
        "decision": decisions,
        "champion": result["champion"].to_numpy(),
        "runs": result["n_runs"].to_numpy(),
        "champion's runs": result["n_runs_champion"].to_numpy(),
        "difference": result["difference"].to_numpy(),
        **{
            name: each.to_numpy()
            for name, each in bounds(result["difference_ci"]).items()
        },
        "p": result["pvalue"].to_numpy(),
        "to run": result["runs_to_make"].to_numpy(),
        "champion to run": result["runs_to_make_champion"].to_numpy(),
    }
    return pd.DataFrame(
        columns, index=pd.Index(result["candidate"].to_numpy(), name="candidate")
    )
