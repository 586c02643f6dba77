"""What the page says and draws of the curves themselves: what was compared, each task, and how many runs there are."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from xcurves.core import direction, labels
from xcurves.core.refusal import escape_controls
from xcurves.core.validation import is_without_training
from xcurves.means.mean_curves import mean_curves
from xcurves.means.plots import pictures_of, with_plain_names
from xcurves.reporting import markup
from xcurves.reporting.small_pictures import levels_drawn, small_legend, small_picture
from xcurves.say.numbers import count, label_of, listed, span

_ABSENT, _NAMED = 8, 5  # runs and algorithms that are named


def title_of(curves: xr.DataArray) -> str:
    """Return what was compared, as the title of the page."""
    algorithms = list(map(str, curves["algorithm"].to_numpy()))
    what = "Comparison" if len(algorithms) > 1 else "Curves"
    return f"{what} of {listed(algorithms, _NAMED)}"


def lead_of(curves: xr.DataArray, tasks: Sequence[str]) -> str:
    """Return by how many runs of how many algorithms, on which tasks, along which levels."""
    n_runs = int(curves.notnull().any("training").sum())
    runs = f"{n_runs} runs of {count(curves.sizes['algorithm'], 'algorithm')}"
    if len(tasks) > 1:
        runs += f" on {len(tasks)} tasks"
    elif tasks[0]:
        runs += f" on {tasks[0]}"

    lead = f"{label_of(curves)}: {runs}{_levels_of(curves)}."
    if not direction.find(curves).higher:
        lead += " Low scores are better."
    assumed = direction.assumed_in(curves)
    if assumed:
        lead += f" {assumed}."
    return lead


def _levels_of(curves: xr.DataArray) -> str:
    """Return along which levels curves are; nothing of scores without training."""
    if is_without_training(curves):
        return ""
    training = curves["training"]
    others = [dim for dim in curves.dims if dim != "training"]
    levels = span(training.to_numpy()[curves.notnull().any(others)], 4) or "none"
    return f", {label_of(training)} {levels}"


def gallery_of_tasks(curves: xr.DataArray) -> str:
    """Return the curves of each task, small, below one legend."""
    panels = pictures_of(with_plain_names(mean_curves(curves)))
    dims = labels.extra_dims(curves)
    if len(dims) == 1:
        tasks = curves[dims[0]].to_numpy().tolist()
        names = [escape_controls(str(task)) for task in tasks]
        panels = [replace(panel, title=name) for panel, name in zip(panels, names, strict=True)]

    what = f"{label_of(curves)} against {label_of(curves['training'])}"
    most = levels_drawn(panels)
    figures = []
    for anchor, panel in zip(anchors(curves).values(), panels, strict=True):
        drawing = small_picture(panel, f"{what}: means of runs on {panel.title}.", most)
        heading = f'<h3 id="{anchor}">{markup.text(panel.title)}</h3>'
        figures.append(f"<figure>{heading}{drawing}</figure>")

    lines = {line.place: line for panel in panels for line in panel.lines}
    legend = small_legend([lines[place] for place in sorted(lines)])
    caption = markup.paragraph(
        f"{what}: means of runs and their 95 % t intervals at each level, each task on its own axes."
    )
    return f'{caption}{legend}<div class="gallery">{"".join(figures)}</div>'


def anchors(curves: xr.DataArray) -> dict[tuple[Hashable, ...], str]:
    """Return the anchor of each task on a page, by its labels along the extra dims, in C order."""
    values = [curves[dim].to_numpy().tolist() for dim in labels.extra_dims(curves)]
    return {key: f"task-{place}" for place, key in enumerate(product(*values), 1)}


def counts(curves: xr.DataArray) -> pd.DataFrame:
    """Return a row for each task and algorithm: its runs and those that are absent, and its training levels."""
    dims = [dim for dim in labels.extra_dims(curves) if curves.sizes[dim] > 1]
    dims.append("algorithm")
    runs, training = curves["run"].to_numpy(), curves["training"].to_numpy()

    has_score = curves.notnull().transpose(..., *labels.DIMS).to_numpy()
    has_score = has_score.reshape(-1, len(runs), len(training))
    present = np.asarray(has_score.any(axis=2))
    levels = [training[at_level] for at_level in np.asarray(has_score.any(axis=1))]
    columns = {
        "runs": present.sum(axis=1),
        "absent runs": [listed(runs[~each], _ABSENT) or "none" for each in present],
    }
    if not is_without_training(curves):
        columns |= _of_levels(levels)
    index = pd.MultiIndex.from_product([pd.Index(curves[dim].to_numpy(), dtype=object) for dim in dims], names=dims)
    return pd.DataFrame(columns, index)


def _of_levels(levels: Sequence[NDArray[Any]]) -> dict[str, list[Any]]:
    """Return how many training levels each row has, its first and its last."""
    return {
        "training levels": list(map(len, levels)),
        "from": [each[0] if len(each) else np.nan for each in levels],
        "to": [each[-1] if len(each) else np.nan for each in levels],
    }


def counts_over_tasks(curves: xr.DataArray) -> pd.DataFrame:
    """Return a row for each algorithm: in how many tasks it has runs, and how many; its training levels."""
    has_score = curves.notnull()
    n_runs = has_score.any("training").sum("run").transpose(..., "algorithm").to_numpy()
    n_runs = n_runs.reshape(-1, curves.sizes["algorithm"])
    columns = {
        "tasks": np.count_nonzero(n_runs, axis=0),
        "absent tasks": np.count_nonzero(n_runs == 0, axis=0),
        "runs": n_runs.sum(axis=0),
        "fewest in a task": np.where(n_runs > 0, n_runs, n_runs.max()).min(axis=0),
        "most": n_runs.max(axis=0),
    }
    if not is_without_training(curves):
        at_level = has_score.any(["run", *labels.extra_dims(curves)]).transpose("algorithm", "training").to_numpy()
        levels = [curves["training"].to_numpy()[each] for each in at_level]
        columns |= _of_levels(levels)
    return pd.DataFrame(columns, pd.Index(curves["algorithm"].to_numpy(), dtype=object, name="algorithm"))
