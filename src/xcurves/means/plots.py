"""Pictures of mean curves: a line and a band for each algorithm, and its runs where the curves are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.core import labels
from xcurves.core.labels import CI_BOUNDS, EVALUATION
from xcurves.core.refusal import escape_controls
from xcurves.core.validation import is_without_training
from xcurves.kernels.one_task import level_means
from xcurves.pictures.curves import CurvesPicture, Line, Scale, of_one_kind, with_own_kind
from xcurves.pictures.rows import Mark, Row, RowsPicture
from xcurves.pictures.styles import Style, styled_parts, with_styles
from xcurves.say.compared_pairs import score_name
from xcurves.say.numbers import label_of, number, short_level

Run = tuple[Floats, Floats]  # levels and scores
_PITCH_OF_SCORES = 1.25  # height of a row of scores, of the usual one


class MeanLine(NamedTuple):
    """The mean of one algorithm in one task, at the levels where it is known."""

    x: Floats
    y: Floats
    low: Floats
    high: Floats
    n_runs: int


def mean_lines(means: xr.Dataset) -> list[list[MeanLine]]:
    """Return the mean of every algorithm in every task, tasks in C order over the extra dims."""
    along = EVALUATION if EVALUATION in means.dims else "training"
    ends = means["mean_curve_ci"].sel(ci_bound=list(CI_BOUNDS)).transpose("ci_bound", ..., "algorithm", along)
    y = means["mean_curve"].transpose(..., "algorithm", along).to_numpy()
    x = np.broadcast_to(_levels(means), y.shape)
    shape = (-1, *y.shape[-2:])
    x, y, low, high = (each.reshape(shape) for each in (x, y, *ends.to_numpy()))
    n_runs = means["n_runs"].transpose(..., "algorithm").to_numpy().reshape(-1, y.shape[1])
    found = []
    for task in range(len(n_runs)):
        lines = []
        for algorithm, n in enumerate(n_runs[task].tolist()):
            at = (task, algorithm, ~np.isnan(y[task, algorithm]))
            lines.append(MeanLine(x[at], y[at], low[at], high[at], n))
        found.append(lines)
    return found


def _levels(data: xr.Dataset | xr.DataArray) -> Floats:
    training = data["training"]
    if training.ndim == 1:
        return np.asarray(training.to_numpy())
    own = [dim for dim in ("algorithm", "run", EVALUATION) if dim in training.dims]
    return np.asarray(training.transpose(..., *own))


def runs_of(curves: xr.DataArray, smooth: float = 0.0) -> list[list[list[Run]]]:
    """Return the smoothed runs of every algorithm in every task, those that are there, at the levels that they have."""
    scores = curves.transpose(..., "algorithm", "run", curves.dims[-1]).to_numpy()
    levels = np.broadcast_to(_levels(curves), scores.shape)
    shape = (-1, *scores.shape[-3:])
    levels, scores = levels.reshape(shape), level_means.smoothed(scores, smooth).reshape(shape)
    known = ~np.isnan(scores)
    return [
        [
            [
                (levels[task, algorithm, run][there], scores[task, algorithm, run][there])
                for run, there in enumerate(known[task, algorithm])
                if there.any()
            ]
            for algorithm in range(shape[1])
        ]
        for task in range(len(scores))
    ]


def pictures_of(
    means: xr.Dataset,
    curves: xr.DataArray | None = None,
    *,
    runs: bool | None = None,
) -> list[CurvesPicture]:
    """Return a picture for each task, in C order, all with one kind of axis.

    `runs` says whether the runs of `curves` are seen; None: where there is no mean, or one run.
    """
    dims = labels.extra_dims(means["mean_curve"])
    known_runs: Sequence[Sequence[list[Run]]] | None = None
    if curves is not None:
        known_runs = runs_of(curves, float(means.attrs["smooth"]))
    looks = _looks(means)
    pictures = []
    for task, (name, in_task) in enumerate(zip(labels.task_prefixes(means, dims), mean_lines(means), strict=True)):
        lines = []
        for place, mean in enumerate(in_task):
            if not mean.n_runs:
                continue
            own = [] if known_runs is None else known_runs[task][place]
            algorithm, style = looks[place]
            lines.append(
                Line(
                    algorithm, style, mean.x, mean.y, mean.low, mean.high, flag="mean", marked="few", place=place,
                    n_runs=mean.n_runs, runs=own, shows_runs=_shows_runs(mean, runs) and bool(own),
                    grid=_grid(own, is_own=EVALUATION in means.dims),
                )
            )  # fmt: skip
        pictures.append(
            CurvesPicture(
                lines,
                Scale(label_of(means["training"])),
                Scale(_score_label(means, curves, of_means=any(len(line.x) for line in lines))),
                title=escape_controls(name.removesuffix(": ")),
                band=band_flag(means),
            )
        )
    return of_one_kind(list(map(with_own_kind, pictures)))


def _looks(means: xr.Dataset) -> list[tuple[str, Style]]:
    """Return the name and the style of each algorithm."""
    if "algorithm_style" not in means.coords:
        means = with_styles(means, {})
    return [(name, style) for style, _, name in styled_parts(means)]


def _shows_runs(mean: MeanLine, runs: bool | None) -> bool:
    if runs is None:
        return mean.n_runs == 1 or not len(mean.x)
    return runs


def _grid(runs: Sequence[Run], *, is_own: bool) -> Floats | None:
    """Return the levels by which the axis is scaled: runs with their own levels are on a linear one."""
    if not runs:
        return None
    if is_own:
        return np.linspace(min(levels[0] for levels, _ in runs), max(levels[-1] for levels, _ in runs), 3)
    return np.unique(np.concatenate([levels for levels, _ in runs]))


def band_flag(means: xr.Dataset) -> str:
    """Return what captions call the bands."""
    band = str(means.attrs["band"])
    if band in ("none", "pointwise"):
        return "band"
    return f"band {band}"


def _score_label(means: xr.Dataset, curves: xr.DataArray | None, *, of_means: bool) -> str:
    """Return the label of the scores, which says that they are means, over what, and how runs are smoothed."""
    scores = curves
    if scores is None:
        scores = means["mean_curve"].assign_attrs(long_name=score_name(means))
    label = label_of(scores)
    if of_means and means["n_runs"].max() > 1 and not label.startswith("mean "):
        label = f"mean {label}"
    if "over" in means.attrs:
        label = f"{label}, over {means.attrs['over']}"
    if means.attrs["smooth"]:
        label = f"{label}, smoothed by {number(means.attrs['smooth'])}"
    return label


def with_plain_names(means: xr.Dataset) -> xr.Dataset:
    """Return means whose algorithms have names without controls, as pages show them."""
    names = [escape_controls(str(name)) for name in means["algorithm"].to_numpy().tolist()]
    return with_styles(means, {}).assign_coords(algorithm=np.array(names, dtype=object))


def picture(means: xr.Dataset) -> CurvesPicture:
    """Return the picture of one task."""
    (only,) = pictures_of(means)
    return only


def has_no_mean(means: xr.Dataset) -> NDArray[np.bool_]:
    """Return which algorithms have runs but no mean, of each task in C order."""
    lacking = [[mean.n_runs > 0 and not len(mean.x) for mean in lines] for lines in mean_lines(means)]
    return np.array(lacking, bool).ravel()


def rows_of_scores(
    means: xr.Dataset, curves: xr.DataArray, *, runs: bool | None = None, xscale: str | None = None
) -> list[RowsPicture]:
    """Return a row for each algorithm at its only level, in a picture for each task: its runs, their mean, its band.

    Without `runs` those of algorithms without a band are seen.
    """
    looks = [(name, style._replace(marker="D")) for name, style in _looks(means)]
    label = label_of(curves)
    if not is_without_training(curves):
        label = f"{label} at {label_of(curves['training'])} {short_level(curves['training'].item())}"
    of_band = f"score {means.attrs['band']}"
    pictures = []
    for in_task, every_run in zip(mean_lines(means), runs_of(curves), strict=True):
        rows, flags = [], set()
        for (name, style), mean, own in zip(looks, in_task, every_run, strict=True):
            ends = zip(mean.y.tolist(), mean.low.tolist(), mean.high.tolist(), strict=True)
            marks = tuple(Mark(*each, style, flag="score mean") for each in ends)
            has_band = bool(np.isfinite(mean.low).any())
            points: tuple[float, ...] = ()
            if runs is not False or not has_band:
                points = tuple(float(scores[0]) for _, scores in own)
            rows.append(Row(name, marks, points=points, dots=style))
            shown = {"score": bool(points), "score mean": bool(marks), of_band: has_band}
            flags |= {flag for flag, is_shown in shown.items() if is_shown}
        scale: Literal["linear", "log"] = "log" if xscale == "log" else "linear"
        pictures.append(
            RowsPicture(tuple(rows), label, reference=None, scale=scale, flags=frozenset(flags), pitch=_PITCH_OF_SCORES)
        )
    return pictures
