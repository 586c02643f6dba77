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
    "gating.gate",
    "target_times.speedup",
    "target_times.mean_time_to_target",
    "target_times.performance_profile",
    "learning_curves.fit_power_law",
    "learning_curves.predict",
    "learning_curves.leave_one_size_out",
    "learning_curves.compare_learners",
    "learning_curves.fit_scaling_law",
    "learning_curves.predict_loss",
    "learning_curves.optimal_allocation",
    "learning_curves.compare_scaling_laws",
    "distributions.performance_cdf",
    "distributions.compare_distributions",
    "distributions.tuning_curve",
    "simulation.type_i_error",
    "simulation.power",
    "simulation.runs_needed",
)
_FAMILIES = {
    name: family for family, _, name in (kind.partition(".") for kind in KINDS)
}
NAMES = tuple(_FAMILIES)
_REGISTERED: dict[str, ResultKind] = {}
_FUNCTIONS: dict[str, Callable[..., Any]] = {}  # of registered kinds


@cache
def kind(name: str) -> ResultKind:
    """Return the declaration of a kind."""
    if name in _REGISTERED:
        return _REGISTERED[name]
    module = import_module(f"xcurves.{_FAMILIES[name]}.kinds")
    declared: ResultKind = getattr(module, name.upper())
    return declared


def register(declared: ResultKind, function: Callable[..., Any] | None = None) -> None:
    """Add a kind that is declared outside this package: it has a table, a summary, pictures, archives and pages.

    Parameters
    ----------
    declared : ResultKind
        Its declaration. One with a `part` is a part of `analyze`.
    function : callable, optional
        What makes its results, which `analyze` calls; a kind with a part needs it.

    Raises
    ------
    ValueError
        If there is a kind of this name already, or a part without a function.
    """
    global NAMES
    if declared.name in NAMES:
        raise ValueError(
            f"there is a kind {declared.name!r} already. Give it another name"
        )
    if declared.part is not None and function is None:
        raise ValueError(
            f"kind {declared.name!r} is a part of analyze and has no function. Give it: function="
        )
    _REGISTERED[declared.name] = declared
    if function is not None:
        _FUNCTIONS[declared.name] = function
    NAMES = (*NAMES, declared.name)


def is_built_in(name: str) -> bool:
    """Return whether a name is that of a kind of this package, whose function is public."""
    return name in _FAMILIES


def function(name: str) -> Callable[..., Any]:
    """Return the public function of a kind, or that of a registered one."""
    if name in _FUNCTIONS:
        return _FUNCTIONS[name]
    module = import_module(f"xcurves.{_FAMILIES[name]}.{name}")
    public: Callable[..., Any] = getattr(module, name)
    return public
