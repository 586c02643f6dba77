"""Who is best, over whom that is shown and by how much: the first sentence about pairs of algorithms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr

from xcurves.core.labels import CI_BOUNDS
from xcurves.core.provenance import significant
from xcurves.core.wording import interval, listed, number, pvalue
from xcurves.kernels.moments import Floats

_NAMED = 2  # algorithms over which the best is not shown to be better, by name
TOGETHER = "for all pairs together"
UNTESTED = "runs are missing or do not differ at all"


class Lead(NamedTuple):
    """By how much one algorithm is better than another, with interval and adjusted p."""

    other: str
    size: float
    low: float
    high: float
    p: float

    def said(self) -> str:
        """Return the size with its interval."""
        return f"{number(self.size)}, {interval(self.low, self.high)}"

    def shown(self) -> str:
        """Return the size with what shows it: an interval above 0, or else p, since a step-down shows more."""
        return self.said() if not self.low <= 0 else f"{number(self.size)}, {pvalue(self.p, name='adjusted p')}"


class Pairs(NamedTuple):
    """All pairs of one task: labels of both sides, differences, intervals, shape (pair, 2), and adjusted p."""

    first: Sequence[object]
    second: Sequence[object]
    difference: Floats
    bounds: Floats
    p: Floats

    @classmethod
    def of(cls, task: xr.Dataset, difference: str, bounds: str, p: xr.DataArray) -> Pairs:
        """Return the pairs of one task of a result, by the names of its variables."""
        both = task[bounds].sel(ci_bound=list(CI_BOUNDS)).transpose("pair", "ci_bound").to_numpy()
        sides = (task[side].to_numpy().tolist() for side in ("algorithm_a", "algorithm_b"))
        return cls(next(sides), next(sides), task[difference].to_numpy(), both, p.to_numpy())

    def turned(self) -> Pairs:
        """Return the pairs with the sign of every difference changed: low scores are better."""
        return self._replace(difference=-self.difference, bounds=-self.bounds[:, ::-1])

    def leads(self, name: object) -> list[Lead]:
        """Return by how much an algorithm leads each other one, the least first, unknown ones last."""
        found = []
        for a, b, d, (low, high), p in zip(*self[:3], self.bounds.tolist(), self.p.tolist(), strict=True):
            if name == a:
                found.append(Lead(str(b), float(d), low, high, p))
            elif name == b:
                found.append(Lead(str(a), -float(d), -high, -low, p))
        return sorted(found, key=lambda lead: (np.isnan(lead.size), lead.size))

    def best(self) -> object | None:
        """Return the algorithm with the largest mean difference to the others; None if no difference is known."""
        names = list(dict.fromkeys([*self.first, *self.second]))
        known = {name: [lead.size for lead in self.leads(name) if not np.isnan(lead.size)] for name in names}
        means = {name: float(np.mean(sizes)) for name, sizes in known.items() if sizes}
        return max(means, key=lambda name: means[name], default=None)


def value_of_best(task: xr.Dataset, pairs: Pairs, *, lower_is_better: bool) -> str:
    """Return the mean score of the best behind a comma, if it is known."""
    best = (pairs.turned() if lower_is_better else pairs).best()
    if best is None or "score_mean" not in task:
        return ""
    value = task["score_mean"].to_numpy()[task["algorithm"].to_numpy().tolist().index(best)]
    return f", {number(value)}" if np.isfinite(value) else ""


def say_best(
    pairs: Pairs, alpha: float, *, what: str, value: str = "", lower_is_better: bool = False, on: str = ""
) -> str:
    """Return who has the best mean, over how many that is shown and by how much, and over whom not."""
    pairs = pairs.turned() if lower_is_better else pairs
    best = pairs.best()
    if best is None:
        return f"No pair could be compared: {UNTESTED}."
    leads = pairs.leads(best)
    most, more = ("lowest", "lower") if lower_is_better else ("highest", "higher")
    known = [lead for lead in leads if not np.isnan(lead.p)]
    shown = [lead for lead in known if significant(lead.p, alpha) and lead.size > 0]
    rest = [lead for lead in known if lead not in shown]
    untested = [lead for lead in leads if lead not in known]
    mute = untested and all(np.isnan(lead.low) and not np.isnan(lead.size) for lead in untested)
    why = f": {UNTESTED}" if mute else ""
    if len(leads) == 1:
        (lead,) = leads
        verdict = f"shown {more}" if shown else f"not shown {more}" if known else "untested: whether it is higher"
        on = f"{on} " if on else ""
        p = pvalue(lead.p)
        return f"{best} has the {more} {what}{value}; {on}{verdict} than {lead.other} ({lead.said()}; {p}{why})."
    said = [f"{best} has the {most} {what}{value}"]
    if len(shown) == 1:
        said.append(f"shown {more} than {shown[0].other} ({shown[0].shown()})")
    elif shown:
        whom = f"all {len(leads)}" if len(shown) == len(leads) else f"{len(shown)} of {len(leads)}"
        near, far = shown[0], shown[-1]
        by = f"by {number(near.size)} (to {near.other}) … {number(far.size)} (to {far.other})"
        said.append(f"shown {more} than {whom} others, {by}")
    if rest:
        more_of = f" and {len(rest) - _NAMED} more" if len(rest) > _NAMED else ""
        named = " and ".join(f"{lead.other} ({lead.said()})" for lead in rest[:_NAMED])
        said.append(f"not shown {more} than {named}{more_of}, {TOGETHER}")
    if untested:
        said.append(f"untested beside {listed([lead.other for lead in untested], _NAMED)}{why}")
    said[1:2] = [f"{on} {each}" if on else each for each in said[1:2]]
    return f"{'; '.join(said)}."


def say_against(pairs: Pairs, alpha: float, *, what: str) -> str:
    """Return which algorithms differ from the reference, the last of every pair, and by how much."""
    reference = pairs.second[0]
    found = [lead._replace(size=-lead.size, low=-lead.high, high=-lead.low) for lead in pairs.leads(reference)]
    known = sorted((lead for lead in found if not np.isnan(lead.p)), key=lambda lead: -abs(lead.size))
    shown = [lead for lead in known if significant(lead.p, alpha)]
    said = []
    for word, leads in (
        ("higher", [lead for lead in shown if lead.size > 0]),
        ("lower", [lead for lead in shown if lead.size < 0]),
        ("not shown to differ", [lead for lead in known if lead not in shown]),
    ):
        if leads:
            named = listed([f"{lead.other} ({lead.said()})" for lead in leads], _NAMED)
            said.append(f"{named} {'is' if len(leads) == 1 else 'are'} {'shown ' if word[0] != 'n' else ''}{word}")
    if not said:
        return f"Nothing can be said beside {reference}: {UNTESTED}."
    return f"Beside {reference}, in {what}: {'; '.join(said)}{f', {TOGETHER}' if len(known) > 1 else ''}."


def say_floor(least: Floats, p: Floats, alpha: float, few: str, more: str = "run more") -> Iterator[str]:
    """Yield what it takes where adjusted p could not be small enough; `least` is the smallest there could be.

    `few` is what is too few, such as "5 runs a side", `more` the cure.
    """
    beyond = ~np.isnan(p) & ~significant(least, alpha)
    tested, n_beyond = (int(np.count_nonzero(each)) for each in (~np.isnan(p), beyond))
    if n_beyond:
        which = f"these {tested:,} pairs" if n_beyond == tested else f"{n_beyond:,} of {tested:,} pairs"
        adjusted, cure = (
            (f"adjusted p of {which}", f"compare fewer with reference=, or {more}") if tested > 1 else ("p", more)
        )
        yield f"With {few} no {adjusted} can be below {number(least[beyond].min())}: {cure}."
