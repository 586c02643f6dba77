"""The sentences and the table about a gate: what to do now, what was kept, and by how much it is better."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import labels
from xcurves.core.schema import Statement, statements
from xcurves.looks.gate_replay import DECISIONS, DROPPED, KEPT, RUN_MORE, WAITING
from xcurves.say.numbers import count, decimals_of, ends_of, estimated, listed, number, p_text, pvalue, rounded
from xcurves.say.result_frames import columns_of_variables, frame_of

Decisions = NDArray[np.int8]
MOVED = 0.01  # p below which the champion's scores are said to have changed
_LEAST_AUDIT = 2
_ENOUGH_AUDIT = 10  # of which, 5 v 5, the least p is .008
_SELECTED = (
    "The difference of a kept candidate is no estimate of what it brings: those that were lucky are kept, so it is too "
    "large on average. Progress is measured by other runs."
)


def gate_statements(result: xr.Dataset) -> Iterator[Statement]:
    """Yield what to do now; what was kept, and the progress; copies and changes of the champion."""
    decisions = result["decision"].to_numpy()
    judged = _say_candidate(result.isel(candidate=current(result)))
    answer = " ".join([judged, *_say_waiting(decisions)])
    details = [
        _say_kept(result, decisions),
        *say_tasks(result),
        *_say_luck(result),
        *_say_lacking(result),
        *_say_unused(result),
        *_say_failed(result),
    ]
    cautions = [*_say_copies(result), *_say_moved(result)]
    if (decisions == KEPT).any():
        cautions.append(_SELECTED)
    return statements(answer, details, cautions)


def as_pairs(result: xr.Dataset) -> xr.Dataset:
    """Return each candidate as its pair with the champion that it met."""
    candidates, champions = (result[name].to_numpy().astype(str) for name in ("candidate", "champion"))
    return result.rename(candidate="pair").assign_coords(
        pair=[f"{candidate} - {champion}" for candidate, champion in zip(candidates, champions, strict=True)],
        algorithm_a=("pair", candidates),
        algorithm_b=("pair", champions),
    )


def say_tasks(result: xr.Dataset) -> Iterator[str]:
    """Yield that a claim is about the tasks, or items, that scores are means over, if they are."""
    if "task" in result.attrs:
        noun = labels.noun(str(result.attrs["task"]))
        yield f"Each run counts by its mean over the {noun}s: the claim is about these {noun}s, not others like them."


def current(result: xr.Dataset) -> int:
    """Return the place of the candidate that the answer is about: the open one, else the last."""
    decisions = result["decision"].to_numpy()
    is_open = np.flatnonzero(decisions == RUN_MORE)
    if is_open.size:
        return int(is_open[0])
    return len(decisions) - 1


def _say_candidate(judged: xr.Dataset) -> str:
    """Return what to do with one candidate, and why."""
    name = str(judged["candidate"].item())
    champion = str(judged["champion"].item())
    decision = judged["decision"].item()
    if decision == RUN_MORE:
        return _say_more(judged, name, champion)
    if decision == WAITING:
        return f"{name} waits."
    if decision == KEPT:
        return f"Keep {name}: {_say_better(judged, champion)}."
    return f"Drop {name}: {_say_dropped(judged, champion)}."


def _say_more(judged: xr.Dataset, name: str, champion: str) -> str:
    """Return how often to run a candidate and the champion."""
    n = int(judged["runs_to_make"])
    n_champion = int(judged["runs_to_make_champion"])
    if n and n_champion:
        return f"Run {name} {_times(n)}, {champion} {_times(n_champion)}."
    if n:
        return f"Run {name} {_times(n)}, {champion} no more."
    return f"Run {champion} {_times(n_champion)}, {name} no more."


def _times(n: int) -> str:
    return count(n, "more time")


def _say_better(judged: xr.Dataset, champion: str) -> str:
    """Return by how much a kept candidate is better."""
    margin = _margin(judged)
    better = "better"
    if _improvement(judged) < 0:
        better = "worse"
    words = f"{better} than {champion} by {_size(judged)}"
    if margin < 0:
        words = f"not worse than {champion} by more than {number(-margin)} ({words})"
    elif margin > 0:
        words += f", shown to be more than {number(margin)}"
    return f"{words} (selected: likely smaller; {pvalue(judged['pvalue'].item())})"


def _say_dropped(judged: xr.Dataset, champion: str) -> str:
    """Return why a candidate is dropped: runs failed, its mean is no better, or that is not shown."""
    n = int(judged["n_runs"])
    if np.isinf(judged["difference"].item()):
        return _say_failing(n, judged.attrs["share_failed"])
    after = f"after {count(n, 'run')}"
    beyond = _beyond(_margin(judged))
    if not np.isnan(judged["pvalue"].item()):
        level = p_text(judged.attrs["level"]).rstrip("0")
        return (
            f"{after} it is not shown to be better than {champion}{beyond} (mean better by {_size(judged)}; "
            f"{pvalue(judged['pvalue'].item())}, above {level})"
        )
    if beyond:
        return f"{after} its mean is not better than {champion}'s{beyond}"
    side = "below"
    if judged["difference"].item() == 0:
        side = "equal to"
    elif _is_lower_better(judged):
        side = "above"
    return f"{after} its mean is {side} {champion}'s"


def _say_failing(n_runs: int, share_failed: float) -> str:
    """Return that more runs failed than may."""
    if n_runs == 1:
        return "its run failed"
    if share_failed:
        return f"of its {n_runs} runs more than a share of {number(share_failed)} failed"
    return f"one of its {n_runs} runs failed"


def _beyond(margin: float) -> str:
    """Return what a margin asks for beyond being better."""
    if margin > 0:
        return f" by more than {number(margin)}"
    if margin < 0:
        return f" less {number(-margin)}"
    return ""


def _margin(result: xr.Dataset) -> float:
    return float(result.attrs["margin"])


def _is_lower_better(result: xr.Dataset) -> bool:
    return not result.attrs["higher_is_better"]


def _improvement(judged: xr.Dataset) -> float:
    """Return the difference, positive where the candidate is better."""
    difference = float(judged["difference"].item())
    if _is_lower_better(judged):
        return -difference
    return difference


def _size(judged: xr.Dataset) -> str:
    """Return the size of the difference in as many decimals as its interval supports."""
    size = abs(_improvement(judged))
    return rounded(size, decimals_of(*ends_of(judged["difference_ci"]), size))


def _say_waiting(decisions: Decisions) -> Iterator[str]:
    """Yield how many candidates wait."""
    n = int(np.count_nonzero(decisions == WAITING))
    if n:
        yield f"{count(n, 'later candidate waits', 'later candidates wait')}."


def _say_kept(result: xr.Dataset, decisions: Decisions) -> str:
    """Return how many candidates were kept, who is the champion, and the progress."""
    champion = result.attrs["champion"]
    n_kept = int(np.count_nonzero(decisions == KEPT))
    n_judged = n_kept + int(np.count_nonzero(decisions == DROPPED))
    if not n_judged:
        return f"No candidate is judged yet; {champion} is the champion."
    if not n_kept:
        return f"Of {count(n_judged, 'candidate')} judged none was kept; {champion} is the champion. Progress: none."
    kept = count(n_kept, "was kept", "were kept")
    return f"Of {count(n_judged, 'candidate')} judged {kept}; {champion} is the champion. {_say_progress(result)}"


def _say_progress(result: xr.Dataset) -> str:
    """Return the progress since the first champion, or the runs that it takes to say it."""
    baseline, champion = (str(result.attrs[name]) for name in ("baseline", "champion"))
    progress = result["progress"].item()
    if np.isnan(progress):
        sizes = result["n_runs_audit"].to_numpy().tolist()
        runs = [
            f"{name} {_times(_LEAST_AUDIT - size)}"
            for name, size in zip((baseline, champion), sizes, strict=True)
            if size < _LEAST_AUDIT
        ]
        if not runs:
            return (
                f"The progress since {baseline} is not known: a run of {_failing(result)} failed that decided nothing. "
                "Say what failed runs count as (fill_failed)."
            )
        return f"To state the progress since {baseline}, run {listed(runs)} beyond those that decide."
    amount = estimated(progress, *ends_of(result["progress_ci"]))
    if progress > 0:
        amount = f"+{amount}"
    return f"Progress since {baseline}, measured by runs that decided nothing: {amount}."


def _say_copies(result: xr.Dataset) -> Iterator[str]:
    """Yield which candidates have the champion's scores."""
    for index in np.flatnonzero(result["same_scores"].to_numpy() == 1).tolist():
        judged = result.isel(candidate=index)
        name = judged["candidate"].item()
        champion = judged["champion"].item()
        n = int(judged["n_runs"])
        if n > 1:
            yield f"{name} has the same scores as {champion} in all of its {n} runs: it was not a change."
        else:
            yield f"{name} has the same score as {champion} in its run: was it a change?"


def _failing(result: xr.Dataset) -> str:
    """Return the champion of whose runs that decided nothing one failed."""
    first, present = np.isnan(result["audit_mean"].to_numpy()).tolist()
    if first and not present:
        return str(result.attrs["baseline"])
    return str(result.attrs["champion"])


def _say_moved(result: xr.Dataset) -> Iterator[str]:
    """Yield that the scores of the present champion have changed from its earlier to its later runs."""
    p = result["champion_moved_pvalue"].item()
    if p < MOVED:
        champion = result.attrs["champion"]
        yield (
            f"The scores of the champion {champion} are not what they were ({pvalue(p)}, of its runs that decided "
            "nothing, the first half against the rest): machine, data or code have changed."
        )


def _say_lacking(result: xr.Dataset) -> Iterator[str]:
    """Yield how many runs are lacking to show that the champion's scores have moved, once there are some."""
    n_runs = int(result["n_runs_audit"][-1])
    n_lacking = _ENOUGH_AUDIT - n_runs
    if n_runs and n_lacking > 0:
        champion = result.attrs["champion"]
        yield (
            f"To show whether the scores of {champion} have moved takes {_ENOUGH_AUDIT} runs that decided nothing: run "
            f"it {_times(n_lacking)}."
        )


def _say_luck(result: xr.Dataset) -> Iterator[str]:
    """Yield by how much the runs that the present champion was kept for are better than its others."""
    kept = np.flatnonzero(result["decision"].to_numpy() == KEPT)
    n_runs = int(result["n_runs_audit"][-1])
    if not kept.size or n_runs < _LEAST_AUDIT:
        return
    latest = result.isel(candidate=int(kept[-1]))
    deciding = latest["champion_mean"].item() + latest["difference"].item()
    luck = deciding - result["audit_mean"][-1].item()
    if _is_lower_better(result):
        luck = -luck
    if luck > 0:
        size = rounded(luck, decimals_of(*ends_of(result["audit_mean_ci"][-1]), luck))
        yield (
            f"The runs that {latest['candidate'].item()} was kept for are better by {size} on average than the "
            f"{n_runs} that decided nothing: so much was luck, as far as these show."
        )


def _say_unused(result: xr.Dataset) -> Iterator[str]:
    """Yield which runs no decision used: of dropped candidates, and of champions beyond those compared."""
    n_unused = _unused(result)
    baseline, champion = (str(result.attrs[name]) for name in ("baseline", "champion"))
    measuring = []
    if champion != baseline:
        measuring = [f"{n_unused.pop(name)} of {name}" for name in (baseline, champion) if name in n_unused]
    if n_unused:
        idle = listed([f"{n} of {name}" for name, n in n_unused.items()])
        yield f"Runs that no decision used: {idle}."
    if measuring:
        yield f"Runs that only measure the progress: {listed(measuring)}."


def _unused(result: xr.Dataset) -> dict[str, int]:
    """Return how many runs no decision used, of each algorithm that is judged or was a champion, if it has such."""
    # A selection may have left out the runs, or algorithms.
    if "run_digest" not in result or "algorithm" not in result["run_digest"].dims:
        return {}
    n_made = (result["run_digest"] != 0).sum("run").to_numpy().tolist()
    names = map(str, result["algorithm"].to_numpy())
    n_runs_made = dict(zip(names, n_made, strict=True))
    decisions = result["decision"].to_numpy()
    is_judged = (decisions == DROPPED) | (decisions == KEPT)
    candidates = map(str, result["candidate"].to_numpy()[is_judged])
    n_used = dict(zip(candidates, result["n_runs"].to_numpy()[is_judged].tolist(), strict=True))
    n_used[str(result.attrs["baseline"])] = result.attrs["start"]
    champions = np.array(list(map(str, result["champion"].to_numpy())))
    for name, n_runs in n_used.items():
        met = result.isel(candidate=np.flatnonzero(champions == name))
        n_compared = met["n_runs_champion"].to_numpy().max(initial=n_runs)
        n_used[name] = int(n_compared + met["n_failed"].sum())
    if (decisions == RUN_MORE).any():
        # Further runs of this champion may take part yet.
        del n_used[result.attrs["champion"]]
    return {name: n_runs_made[name] - n for name, n in n_used.items() if n_runs_made.get(name, 0) > n}


def _say_failed(result: xr.Dataset) -> Iterator[str]:
    """Yield which champions' runs failed and were passed over, and what failed runs count as where some may fail."""
    champions = np.array(list(map(str, result["champion"].to_numpy())))
    for name in dict.fromkeys(champions.tolist()):
        n_failed = int(result["n_failed"].to_numpy()[champions == name].sum())
        if n_failed:
            failed = count(n_failed, "run")
            yield f"{failed} of {name} failed where it was run again, and took no part."
    share = result.attrs["share_failed"]
    if share:
        yield (
            f"Up to a share of {number(share)} of the runs at a look may fail: these count as the worst of both sides "
            "there."
        )


def gate_table(result: xr.Dataset) -> pd.DataFrame:
    """Return a row for each candidate, in their order."""
    heads = {"champion": "champion", "runs": "n_runs", "champion's runs": "n_runs_champion", "difference": "difference",
             "p": "pvalue", "to run": "runs_to_make", "champion to run": "runs_to_make_champion"}  # fmt: skip
    decisions = result["decision"].copy(data=[DECISIONS[int(code)] for code in result["decision"].to_numpy()])
    return frame_of({"decision": decisions} | columns_of_variables(result, heads), ["candidate"])
