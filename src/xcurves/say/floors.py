"""What is too few for a small p, as text, with the cure that lifts it on these data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr

from xcurves.array_types import Floats
from xcurves.core.provenance import significant
from xcurves.core.refusal import Verbatim, give
from xcurves.core.schema import Floor, Needed
from xcurves.kernels.resampling.assignments import count_assignments
from xcurves.say.numbers import counts, number, span
from xcurves.say.pairs import sides_of

MOST_RUNS = 200  # a side that a cure may ask for
RunsOfPair = tuple[tuple[int, int], ...]  # of both algorithms in every task


def floor_sentences(
    least: Floats, p: Floats, alpha: float, few: str, cure: str, needed: Needed | None = None
) -> Iterator[Floor]:
    """Yield what it takes where adjusted p could not be small enough; `least` is the smallest there could be.

    `few` is what is too few, such as "5 runs a side", `cure` what lifts it.
    """
    tested = ~np.isnan(p)
    beyond = tested & ~significant(least, alpha)
    n_tested, n_beyond = int(np.count_nonzero(tested)), int(np.count_nonzero(beyond))
    if not n_beyond:
        return
    smallest = number(least[beyond].min())
    if n_tested == 1:
        yield Floor(f"With {few} no p can be below {smallest}: {cure}.", needed)
        return
    which = f"{number(n_beyond)} of {number(n_tested)} pairs"
    if n_beyond == n_tested:
        which = f"these {number(n_tested)} pairs"
    yield Floor(f"With {few} no adjusted p of {which} can be below {smallest}: {cure}.", needed)


def fewest_flips(alpha: float, n_pairs: int = 1) -> int:
    """Return the fewest signs whose flips give a p of at most `alpha`, or intervals of so many pairs with both ends."""
    # Of n signs the smallest p is 2 / 2^n: n >= 1 - log2 α. Less a little, as a logarithm of a power of two rounds.
    return math.ceil(1 - math.log2(alpha / n_pairs) - 1e-9)


def fewest_reassignments(alpha: float, n_pairs: int = 1) -> int:
    """Return the fewest random reassignments of which a p, times a number of pairs, is at most `alpha`."""
    return math.ceil(n_pairs / alpha - 1e-9) - 1


def cure_of_flips(alpha: float, things: str, n_algorithms: int, n_pairs: int, *, tied: bool = False) -> str:
    """Return how many things, tasks or families of them, flips need: the floor does not depend on the pairs."""
    fewest = fewest_flips(alpha)
    of_intervals = fewest_flips(alpha, n_pairs)
    cure = f"add {things}: {fewest}"
    if tied:
        cure += " without ties"
    cure += " are the fewest"
    if of_intervals > fewest:
        cure += f", {of_intervals} for intervals of {n_algorithms} algorithms"
    return cure


@dataclass(frozen=True)
class RunsOfPairs:
    """The numbers of runs of all pairs of one task, or of one benchmark, and how p are adjusted over pairs."""

    sides: Sequence[tuple[str, str]]
    runs: Sequence[RunsOfPair]
    adjust: Callable[[Floats], Floats]
    paired: bool = False
    has_reference: bool = False

    def least(self, at_least: int = 0) -> Floats:
        """Return the smallest p of each pair, if all runs were reassigned; with so many runs of each at least."""
        return np.array([self._least_of(runs, at_least) for runs in self.runs])

    def _least_of(self, runs: RunsOfPair, at_least: int) -> float:
        """Return the smallest p of a pair, NaN where it has none: without runs, or with a single one."""
        used = [(max(a, at_least), max(b, at_least)) for a, b in runs if min(a, b) > 0]
        if not used or min(map(min, used)) < 2:
            return math.nan
        n_ways = math.prod(count_assignments(sizes, paired=self.paired, labelled=True) for sizes in used)
        # An assignment and its mirror differ by the same amount.
        if self.paired or all(a == b for a, b in used):
            return 2 / n_ways
        return 1 / n_ways

    def references_that_reach(self, alpha: float) -> list[str]:
        """Return the references with which all pairs can reach `alpha`; none where that is no cure."""
        if self.has_reference or len(self.sides) < 3:
            return []
        least = self.least()
        is_beyond = ~np.isnan(least) & ~significant(self.adjust(least), alpha)
        names = list(dict.fromkeys(name for pair in self.sides for name in pair))
        found = []
        for name in names:
            own = np.array([name in pair for pair in self.sides])
            adjusted = self.adjust(least[own])
            reached = significant(adjusted[~np.isnan(adjusted)], alpha)
            if reached.all() and (own & is_beyond).any():
                found.append(name)
        return found

    def fewest_runs(self, alpha: float) -> int | None:
        """Return how many runs of each algorithm are enough for all pairs to reach `alpha`."""
        for n_runs in range(2, MOST_RUNS):
            adjusted = self.adjust(self.least(n_runs))
            if significant(adjusted[~np.isnan(adjusted)], alpha).all():
                return n_runs
        return None


def runs_of_pairs(compared: xr.Dataset, adjust: Callable[[Floats], Floats]) -> RunsOfPairs:
    """Return the numbers of runs of all pairs of one task, or of one benchmark."""
    names = [str(name) for name in compared["algorithm"].to_numpy().tolist()]
    n_runs = compared["n_runs"].transpose(..., "algorithm").to_numpy().reshape(-1, len(names))
    of_name = dict(zip(names, n_runs.astype(int).T.tolist(), strict=True))
    sides = sides_of(compared)
    return RunsOfPairs(
        sides=sides,
        runs=[tuple(zip(of_name[a], of_name[b], strict=True)) for a, b in sides],
        adjust=adjust,
        paired=bool(compared.attrs.get("paired", 0)),
        has_reference="reference" in compared.attrs,
    )


def floor_of_runs(
    every: Sequence[RunsOfPairs], least: Floats, p: Floats, alpha: float, drawn: Floats, asked: int | None
) -> Iterator[Floor]:
    """Yield what it takes where runs, or random reassignments of them, are too few for a small p.

    `drawn` are the numbers of reassignments that may not be all, `asked` what they were limited to by the call.
    """
    reachable = np.concatenate([each.adjust(each.least()) for each in every])
    fewest = fewest_reassignments(alpha, len(every[0].sides))
    if drawn.size and significant(reachable[~np.isnan(reachable)], alpha).all():
        few = f"{span(np.unique(drawn).tolist())} reassignments"
        yield from floor_sentences(least, p, alpha, few, f"make more: {give(n_resamples=fewest)} is enough")
        return
    few = runs_a_side([n for each in every for pair in each.runs for both in pair for n in both])
    cure, enough = _cure_of_runs(every, alpha)
    if asked is not None and asked < fewest:
        cure += "; and leave n_resamples out"
    needed = Needed("runs", "runs of each", math.nan, enough, enough) if enough else None
    yield from floor_sentences(least, p, alpha, few, cure, needed)


def _cure_of_runs(every: Sequence[RunsOfPairs], alpha: float) -> tuple[str, int]:
    """Return what lifts a floor of whole runs in every task: fewer pairs where that is enough, and more runs.

    And how many runs a side are enough, 0 where no number is known.
    """
    parts = []
    able = [set(of_task.references_that_reach(alpha)) for of_task in every]
    names = list(dict.fromkeys(name for pair in every[0].sides for name in pair))
    common = [name for name in names if all(name in each for each in able)]
    if common == names:
        parts.append(f"compare fewer with {give(reference=Verbatim(''))}, or")
    elif common:
        parts.append(f"compare fewer with {give(reference=common[0])}, or")
    parts.append("run more")
    enough = [of_task.fewest_runs(alpha) for of_task in every]
    if not all(enough):
        return " ".join(parts), 0
    most = max(filter(None, enough))
    return f"{' '.join(parts)}: {most} a side are enough", most


def runs_a_side(numbers: Iterable[float]) -> str:
    """Return numbers of runs as text: "5 runs a side"."""
    return f"{counts({n for n in numbers if n > 0} or {0}, 'run')} a side"
