"""Pictures of many comparisons: a cell for each task, pair or level, or differences of curves with their bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from xcurves.array_types import Floats
from xcurves.core.labels import each_of, task_dims
from xcurves.core.refusal import UNSAID, Refusal
from xcurves.core.validation import is_without_training
from xcurves.plotting.drawn_names import longest_line, wrapped
from xcurves.plotting.look import bounds_of, fill_band, style_in
from xcurves.plotting.ticks import scale_training
from xcurves.say.numbers import label_of
from xcurves.say.pairs import MOST_PAIRS, pairs_by_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

_TASKS = 4
MOST_ROWS = 45  # pairs that have a row each
DIVERGING = "RdBu_r"
_LETTERS = 6  # width of a number with a space, in letters
_POINTS = 72
_LEAST = 4.5  # points of a number that can be read
_DARK = 0.45  # lightness of cells whose text is white
_LIGHTNESS = (0.299, 0.587, 0.114)  # of red, green and blue
_NARROW = 5.5  # points of names of columns in two lines
_LEANING = 17  # letters in a line of the name of a column
_LETTER = 0.6  # width of a letter, of its height
_FEW = 20  # rows whose labels have the usual size


def draw_cells(
    ax: Axes,
    values: Floats,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    limits: tuple[float, float],
    said: str,
    marked: NDArray[np.bool_] | None = None,
    steps: Mapping[float, str] | None = None,
    cmap: str | Colormap = "viridis",
    form: str | None = None,
) -> None:
    """Draw a cell for each value, shape (row, column), with its number where it has a form and room, else as colour.

    Marked cells are bold or have a dot; `said` names the colour scale, and `steps` its values where they are few.
    """
    image = ax.imshow(
        values,
        cmap=cmap,
        vmin=limits[0],
        vmax=limits[1],
        aspect="auto",
        interpolation="none",
        gid="cells",
    )
    if marked is None:
        marked = np.zeros(values.shape, bool)
    size = _font(ax, values.shape)
    if form is not None and size >= _LEAST:
        _write_numbers(ax, values, marked, form, image.to_rgba(values), size)
    else:
        y, x = np.nonzero(marked)
        if len(x):
            ax.plot(x, y, "o", color="black", markersize=min(3, size / 2), gid="bold")
        bar = ax.figure.colorbar(image, ax=ax, aspect=30)
        letters_in_line = max(1, int(_letters(ax, ax.get_window_extent().height)))
        bar.set_label(fill(said, letters_in_line), fontsize="small")
        if steps:
            bar.set_ticks(list(steps), labels=list(steps.values()))
    _name_cells(ax, rows, columns, size)


def _name_cells(ax: Axes, rows: Sequence[str], columns: Sequence[str], size: float) -> None:
    """Write the names of rows and columns, those of columns upright where they have no room side by side."""
    of_rows: dict[str, Any] = {"fontsize": "small"}
    if len(rows) > _FEW:
        of_rows["fontsize"] = min(8.0, max(size, 5.5))
    ax.set_yticks(range(len(rows)), rows, **of_rows)

    names = [_wrapped_once(name) for name in columns]
    of_columns = dict(of_rows)
    if any("\n" in name for name in names):
        of_columns["fontsize"] = _NARROW
    beside = longest_line(rows) + len(columns) * (longest_line(columns) + 1)
    if beside > _letters(ax, ax.get_window_extent().width):
        of_columns["rotation"] = 90
    ax.set_xticks(range(len(columns)), names, **of_columns)
    ax.tick_params(length=0)


def _wrapped_once(name: str) -> str:
    """Return the name of a column in lines, unless it has lines already."""
    if "\n" in name:
        return name
    return wrapped(name, _LEANING)


def draw_pairs(
    ax: Axes,
    result: xr.Dataset,
    value: Floats,
    other: Floats,
    shown: NDArray[np.bool_],
    said: str,
    **options: Any,
) -> None:
    """Draw a cell for each two algorithms, that of the row less, or against, that of the column; bold where shown."""
    names, matrix = _pair_matrix(result, value, other)
    _, marked = _pair_matrix(result, shown.astype(float), shown.astype(float))
    top = float(np.abs(matrix[np.isfinite(matrix)]).max(initial=0.0)) or 1.0
    given = {"limits": (-top, top), "cmap": DIVERGING, "form": "{:.3g}", **options}
    draw_cells(ax, matrix, names, names, said=said, marked=marked == 1, **given)


def draw_probabilities(ax: Axes, result: xr.Dataset, shown: NDArray[np.bool_]) -> None:
    """Draw a cell for the probability that the algorithm of the row scores higher than that of the column."""
    p = result["prob_greater"].to_numpy()
    options: dict[str, Any] = {"limits": (0.0, 1.0), "form": "{:.2f}"}
    draw_pairs(
        ax,
        result,
        p,
        1 - p,
        shown,
        "probability that the first scores higher",
        **options,
    )
    ax.set_xlabel("than this")
    ax.set_ylabel("probability that\nthis scores higher")


def draw_signs(ax: Axes, difference: xr.DataArray, shown: Floats | NDArray[np.bool_]) -> None:
    """Draw a cell for each task and pair: which one scores higher, and whether it is shown, shape (task, pair)."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    steps = {
        -2.0: "second, shown",
        -1.0: "second",
        0.0: "neither",
        1.0: "first",
        2.0: "first, shown",
    }
    colours = colormaps[DIVERGING]([0.1, 0.33, 0.5, 0.67, 0.9])
    values = np.where(shown, 2.0, 1.0) * np.sign(by_task(difference, "pair"))
    draw_cells(
        ax,
        values,
        task_labels(difference, ["pair"]),
        difference["pair"].to_numpy().tolist(),
        limits=(-2.5, 2.5),
        said="which one scores higher",
        steps=steps,
        cmap=ListedColormap(colours),
    )


def task_labels(variable: xr.DataArray, core: Sequence[str]) -> list[str]:
    """Return the labels of the tasks of a variable, in C order."""
    dims = task_dims(variable, core)
    return [", ".join(map(str, each)) for each in product(*(variable[dim].to_numpy().tolist() for dim in dims))]


def by_task(variable: xr.DataArray, dim: str) -> Floats:
    """Return values of all tasks, shape (task, dim)."""
    return np.asarray(variable.transpose(..., dim).to_numpy().reshape(-1, variable.sizes[dim]))


def n_pair_rows(result: xr.Dataset) -> float:
    """Return the number of rows of a picture of pairs: pairs, or algorithms where pairs are many."""
    n_pairs = result.sizes["pair"]
    if n_pairs > MOST_ROWS:
        return len(_algorithms_of(result))
    # A name in two lines takes more room.
    if any("\n" in str(name) for name in result["pair"].to_numpy()):
        return 1.5 * n_pairs
    return 1.0 * n_pairs


def n_pair_columns(result: xr.Dataset) -> float:
    """Return the number of columns of a picture of pairs: none, or algorithms where pairs are many."""
    if result.sizes["pair"] <= MOST_ROWS:
        return 0
    return len(_algorithms_of(result))


def _letters(ax: Axes, pixels: float) -> float:
    """Return how many small letters fit into so many pixels of a panel."""
    return pixels / ax.figure.dpi * _POINTS / (_LETTER * 0.833 * float(ax.xaxis.label.get_fontsize()))


def _font(ax: Axes, shape: tuple[int, ...]) -> float:
    """Return the size of a number that fits into a cell, in points."""
    box = ax.get_window_extent()
    high, wide = (each / ax.figure.dpi * _POINTS for each in (box.height / shape[0], box.width / shape[1]))
    return float(min(8.5, 0.75 * high, wide / (_LETTER * _LETTERS)))


def _write_numbers(
    ax: Axes,
    values: Floats,
    bold: NDArray[np.bool_],
    form: str,
    colours: Floats,
    size: float,
) -> None:
    """Write the number of each cell, white on dark ones."""
    lightness = colours[..., :3] @ np.array(_LIGHTNESS)
    for row, column in np.argwhere(np.isfinite(values)):
        look: dict[str, Any] = {"fontsize": size, "color": "black"}
        if lightness[row, column] < _DARK:
            look["color"] = "white"
        if bold[row, column]:
            look |= {"gid": "bold", "fontweight": "bold"}
        text = form.format(values[row, column]).replace("0.", ".", 1)
        ax.text(column, row, text, ha="center", va="center", **look)


def _algorithms_of(result: xr.Dataset) -> list[Any]:
    """Return the algorithms of a result of pairs."""
    if "algorithm" in result.coords and result["algorithm"].ndim:
        return list(result["algorithm"].to_numpy().tolist())
    return list(
        dict.fromkeys(
            [
                *result["algorithm_a"].to_numpy().tolist(),
                *result["algorithm_b"].to_numpy().tolist(),
            ]
        )
    )


def _pair_matrix(result: xr.Dataset, value: Floats, other: Floats) -> tuple[list[str], Floats]:
    """Return the algorithms of the pairs of a result, and a matrix with a value of each pair and of its reverse."""
    names = _algorithms_of(result)
    matrix = np.full((len(names), len(names)), np.nan)
    a, b = ([names.index(each) for each in result[side].to_numpy()] for side in ("algorithm_a", "algorithm_b"))
    matrix[a, b], matrix[b, a] = value, other
    return [str(name) for name in names], matrix


def suits_along_training(result: xr.Dataset) -> bool:
    """Return whether differences along training are drawn where nobody asked for them: of few tasks."""
    if is_without_training(result):
        return False
    known = result.get("curve_difference")
    return known is not None and {"pair", "training"} <= set(known.dims) and known[..., 0, 0].size <= _TASKS


def draw_along_training(result: xr.Dataset, ax: Axes) -> None:
    """Draw the difference of every pair along training, with its band."""
    if "curve_difference" not in result:
        raise Refusal(
            "result",
            UNSAID,
            f"more than {MOST_PAIRS} pairs have no curves here",
            "Select algorithms before comparing them",
        )
    here = result.isel(training=result["curve_difference"].notnull().any("pair").to_numpy())
    scale_training(ax, result["training"])
    draw_pairs_along(
        here,
        ax,
        here["training"].to_numpy(),
        "curve_difference",
        "curve_difference_band",
    )


def draw_pairs_along(result: xr.Dataset, ax: Axes, x: Floats, difference: str, band: str) -> None:
    """Draw the difference of every pair with its band, turned so that its mean is positive, the largest first."""
    name_as_given = str(result["pair"].values.flat[0])
    if "pair" in result.dims:
        size = result[difference].mean([dim for dim in result[difference].dims if dim != "pair"])
        result = pairs_by_size(result, size, [difference, band])
    ax.axhline(0, color="0.6", linewidth=1)
    for pair in each_of(result, "pair"):
        style = style_in(pair, "pair")
        fill_band(ax, x, bounds_of(pair[band]), style.color)
        look: dict[str, Any] = {"color": style.color, "linestyle": style.linestyle}
        if np.isfinite(pair[difference]).sum() == 1:
            look["marker"] = "."
        if result.sizes["pair"] > 1:
            look["label"] = str(pair["pair"].item())
        ax.plot(x, pair[difference], **look)

    # The only pair is named in the title, if it is there, or beside the axis.
    label = label_of(result[difference])
    if result.sizes["pair"] == 1:
        name = str(result["pair"].item())
        title = ax.get_title()
        if name_as_given in title:
            ax.set_title(title.replace(name_as_given, name))
        else:
            label += f"\n{name}"
    ax.set_ylabel(wrapped(label))
