"""Both claims of a result over tasks: for these very tasks, and for tasks like these."""

from __future__ import annotations

import numpy as np
import xarray as xr

from xcurves.core import labels
from xcurves.core.schema import Claim
from xcurves.say.pairs import displayed_pairs

TASK_CLAIMS = ("fixed", "random")


def claims_of(result: xr.Dataset) -> list[str]:
    """Return the claims that a result has, in their order; one that was selected counts."""
    return [str(claim) for claim in np.atleast_1d(result["task_effect"].to_numpy()).tolist()]


def for_tasks_like_these(result: xr.Dataset) -> list[Claim]:
    """Return the claim of results that are about other tasks only."""
    return [Claim(on=f"on {labels.noun(str(result.attrs['task']))}s like these")]


def of_claim(result: xr.Dataset, claim: str) -> xr.Dataset:
    """Return the part of a result that is about one claim."""
    if "task_effect" not in result.dims:
        return result
    return result.sel(task_effect=claim)


def shown_of_claim(result: xr.Dataset, claim: str) -> xr.Dataset:
    """Return what is shown of pairs by one claim, as `displayed_pairs` has it."""
    part = of_claim(result, claim)
    return displayed_pairs(part, "difference", "difference_ci_simultaneous", part["pvalue_adjusted"])


def claim_of_verdict(result: xr.Dataset) -> str:
    """Return the claim that the verdict makes: for tasks like these, or for these where nothing is known of others."""
    claims = claims_of(result)
    tested = [claim for claim in claims if of_claim(result, claim)["pvalue_adjusted"].notnull().any()]
    if "random" in tested or "fixed" not in claims:
        return "random"
    return "fixed"
