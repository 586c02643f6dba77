"""The list of all kinds of results.

A kind "family.name" is the public function `name` in the module ``xcurves.family.name``, and its declaration `NAME` in
the module ``xcurves.family.kinds``. Nothing is imported before it is used.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xcurves.core.schema import ResultKind

KINDS = (  # in the order of a report
    "multi_task.across_tasks",
    "multi_task.profile_across_tasks",
    "anova.randomized_anova",
    "anova.pairwise",
    "anova.contrast",
    "profile.ss_profile",
    "group_sequential.sequential",
    "learning_curves.fit_power_law",
    "learning_curves.predict",
    "learning_curves.leave_one_size_out",
    "learning_curves.compare_learners",
    "distributions.performance_cdf",
    "distributions.compare_distributions",
    "simulation.type_i_error",
    "simulation.power",
    "simulation.runs_needed",
)
_FAMILIES = {name: family for family, _, name in (kind.partition(".") for kind in KINDS)}
NAMES = tuple(_FAMILIES)


@cache
def kind(name: str) -> ResultKind:
    """Return the declaration of a kind."""
    found: ResultKind = getattr(import_module(f"xcurves.{_FAMILIES[name]}.kinds"), name.upper())
    return found


def function(name: str) -> Callable[..., Any]:
    """Return the public function of a kind."""
    found: Callable[..., Any] = getattr(import_module(f"xcurves.{_FAMILIES[name]}.{name}"), name)
    return found
