"""Advice for curves whose dims have other names: what they are usually called, and how to rename them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import xarray as xr

from xcurves.core.labels import DIMS

SYNONYMS = {
    "algorithm": "agent agents algo algorithms alg classifier estimator learner method model optimizer policy",
    "run": "cv fold folds repeat repetition replicate rep runs seed seeds split trial trials",
    "training": "env_step env_steps episode epoch game games global_step iteration n_train step steps time timestep "
    "timesteps train_size train_sizes",
}
USUAL_EXTRAS = frozenset(["benchmark", "dataset", "env", "environment", "level", "metric", "task", "tasks"])


def cure_dims(curves: xr.DataArray, core: Sequence[str], needed: str) -> str:
    """Return the call that gives curves a core dim that they lack, for an error message."""
    if needed in curves.coords:
        label = repr(curves[needed].to_numpy().item())
        kept = "isel(training=[-1])" if needed == "training" else f"sel({needed}=[{label}, ...])"
        return f"A selection dropped it; keep it with a list: da.{kept}"
    missing = [name for name in core if name not in curves.dims]
    strange = [str(name) for name in curves.dims if name not in DIMS]
    renames = {s: name for name in missing for s in strange if s.lower() in SYNONYMS.get(name, "").split()}
    left = [s for s in strange if s not in renames and s.lower() not in USUAL_EXTRAS]
    unmet = [name for name in missing if name not in renames.values()]
    renames.update(zip(left, unmet, strict=False))
    if needed not in renames.values():
        example = -1 if needed == "training" else 0
        return f"Keep it when you select (da.isel({needed}=[{example}])) or add it: da.expand_dims({needed}=[0])"
    return f"Rename: {_say_rename({old: renames[str(old)] for old in curves.dims if str(old) in renames})}"


def _say_rename(names: Mapping[Hashable, str]) -> str:
    if all(isinstance(old, str) and old.isidentifier() for old in names):
        return "da.rename(" + ", ".join(f"{old}={new!r}" for old, new in names.items()) + ")"
    return f"da.rename({names!r})"
