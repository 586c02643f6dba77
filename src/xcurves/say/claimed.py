"""What a kind compares in pairs, by each of its claims: the parts of a result, and what verdicts are made of."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan
from typing import NamedTuple

import xarray as xr

from xcurves.core.direction import HIGHER
from xcurves.core.labels import CI_BOUNDS
from xcurves.core.schema import About, Claim, Comparison
from xcurves.say.compared_pairs import Compared, Reasons, means_of, named
from xcurves.say.numbers import units_of
from xcurves.say.pairs import PairRow, displayed_pairs, lower_is_better, rows_of, sides_of, verdict_rows


class Claimed(NamedTuple):
    """What is said of one task, or benchmark, by one claim."""

    claim: Claim
    part: xr.Dataset
    about: About
    made: Compared
    is_apart: bool  # whether it has estimates of its own, and so a verdict

    @property
    def is_tested(self) -> bool:
        """Whether any pair that the verdict is about was tested."""
        return any(not isnan(row.p) for row in self.made.own_rows)


def paired_of(comparison: Comparison, result: xr.Dataset) -> xr.Dataset:
    """Return what is compared in pairs of a result, by all claims; attrs say which end is good."""
    paired = comparison.pair(result).assign_attrs({HIGHER: int(comparison.direction(result) == "higher")})
    if comparison.interval in paired:
        return paired
    ends = xr.full_like(paired[comparison.estimate], nan).expand_dims(ci_bound=list(CI_BOUNDS), axis=-1)
    return paired.assign({comparison.interval: ends})


def by_claim(paired: xr.Dataset, claim: Claim) -> xr.Dataset:
    """Return the part that is about a claim."""
    if claim.dim in paired.dims:
        return paired.sel({claim.dim: claim.label})
    return paired


def tested_claims(comparison: Comparison, paired: xr.Dataset) -> list[Claim]:
    """Return the claims of which there are p, that of the verdict first; if of none, the last."""
    claims = list(comparison.claims(paired))
    if len(claims) == 1:
        return claims
    tested = comparison.p or comparison.interval
    return [claim for claim in claims if by_claim(paired, claim)[tested].notnull().any()] or claims[-1:]


def part_of(comparison: Comparison, result: xr.Dataset) -> xr.Dataset:
    """Return the part of a result that the claim of the verdict is about."""
    paired = paired_of(comparison, result)
    return by_claim(paired, tested_claims(comparison, paired)[0])


def displayed(comparison: Comparison, part: xr.Dataset) -> xr.Dataset:
    """Return the pairs of a comparison as they are shown everywhere, their amounts as the scale reads them."""
    estimate, interval = comparison.estimate, comparison.interval
    read = {name: comparison.scale.read(part[name]) for name in (estimate, interval)}
    p = None
    if comparison.p:
        p = part[comparison.p]
    return displayed_pairs(part[[estimate, interval]].assign(read), estimate, interval, p)


def claimed(comparison: Comparison, paired: xr.Dataset) -> list[Claimed]:
    """Return what is said of one task, or benchmark, by each claim."""
    dims = paired[comparison.estimate].dims
    return [
        _claimed(comparison, by_claim(paired, claim), claim, is_apart=claim.dim in dims)
        for claim in comparison.claims(paired)
    ]


def _claimed(comparison: Comparison, part: xr.Dataset, claim: Claim, *, is_apart: bool) -> Claimed:
    """Return what is said of one task by one claim."""
    shown = displayed(comparison, part)
    rows = verdict_rows(shown)
    if "reference" in part.attrs and comparison.mean not in part:
        rows = rows_of(shown)
    about, made = compared(comparison, part, claim, rows)
    return Claimed(claim, part, about, made, is_apart)


def _says_intervals(comparison: Comparison, part: xr.Dataset) -> bool:
    """Return whether intervals are said: there are some, or nothing differs, which is why there are none."""
    return bool(part[comparison.interval].notnull().any() or (part[comparison.estimate] == 0).all())


def compared(comparison: Comparison, part: xr.Dataset, claim: Claim, rows: Sequence[PairRow]) -> tuple[About, Compared]:
    """Return what a verdict about displayed pairs of one task, by one claim, is about and made of."""
    names = list(dict.fromkeys(name for row in rows for name in row[:2]))
    may_be_best = [name for name in names if not any(row.shown and row.other == name for row in rows)]
    if "algorithm" in part.dims:
        names = [str(label) for label in part["algorithm"].to_numpy().tolist()]
    means = None
    if comparison.mean in part:
        means = means_of(part, comparison.mean)
    if "may_be_best" in part:
        may_be_best = named(part, part["may_be_best"])
    about = comparison.about(part) or About()
    if about.algorithms is not None:
        names = list(about.algorithms)
    made = Compared(
        rows=rows,
        algorithms=names,
        may_be_best=may_be_best,
        score=comparison.noun(part),
        units=_unit(comparison, part),
        means=means,
        among=about.among,
        over=about.over,
        on=claim.on,
        lower_is_better=lower_is_better(part),
        has_limits=about.has_limits and _says_intervals(comparison, part),
        has_p=bool(comparison.p),
        scale=comparison.scale,
        reasons=reasons_of(comparison, part),
    )
    return about, made


def reasons_of(comparison: Comparison, part: xr.Dataset) -> Reasons:
    """Return why pairs of one task have no p, if they have none."""
    if callable(comparison.reasons):
        return comparison.reasons(part)
    return dict.fromkeys(map(frozenset, sides_of(part)), comparison.reasons)


def _unit(comparison: Comparison, part: xr.Dataset) -> str:
    """Return the unit of what is compared."""
    if comparison.unit is not None:
        return comparison.unit(part)
    return units_of(part[comparison.estimate])
