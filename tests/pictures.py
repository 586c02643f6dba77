"""What is wrong with a picture: its size, texts over each other, texts outside, legends over data."""

import re
from pathlib import Path

import numpy as np
import xarray as xr
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.image import imsave
from matplotlib.legend import Legend
from matplotlib.transforms import Bbox

LARGEST = 14.0
SMALLEST = 4.4  # points of a letter
TALL = 5.0  # largest ratio of the sides of a figure
WIDEST = 3000  # pixels of a page of pictures
SMALL_PANEL = 0.45  # inches
SLACK = 1.0  # pixels that boxes may share


def faults(figure, at_least=SMALL_PANEL, *, sized=False):
    """Return what is wrong with a figure, in words; panels have so many inches at least; its size may be given."""
    figure.draw_without_rendering()
    width, height = figure.get_size_inches()
    found = []
    if not sized and (max(width, height) > LARGEST + 1e-6 or not 1 / TALL <= width / height <= TALL):
        found.append(f"size {width:.1f} × {height:.1f} in")
    texts = [text for text in drawn_texts(figure) if text.get_visible() and text.get_text().strip()]
    boxes = np.array([corners(text) for text in texts]).reshape(-1, 4, 2)
    for one, other in near(boxes):
        if overlap(boxes[one], boxes[other]):
            found.append(f"{texts[one].get_text()!r} over {texts[other].get_text()!r}")
    for mark in marks(figure):
        for text, box in zip(texts, boxes, strict=True):
            (x0, y0), (x1, y1) = box.min(axis=0), box.max(axis=0)
            if min(mark.x1, x1) - max(mark.x0, x0) > SLACK < min(mark.y1, y1) - max(mark.y0, y0):
                found.append(f"{text.get_text()!r} on a mark")
    for text, box in zip(texts, boxes, strict=True):
        if (box < -2).any() or (box > np.array(figure.bbox.size) + 2).any():
            found.append(f"{text.get_text()!r} outside")
        if text.get_size() < SMALLEST:
            found.append(f"{text.get_text()!r} in {text.get_size():.1f} points")
    panels = [ax for ax in figure.axes if ax.get_label() != "<colorbar>"]
    extents = [ax.get_window_extent() for ax in panels]
    for legend in figure.findobj(Legend):
        box = legend.get_window_extent()
        if any(min(box.x1, a.x1) - max(box.x0, a.x0) > SLACK < min(box.y1, a.y1) - max(box.y0, a.y0) for a in extents):
            found.append("legend over a panel")
    small = [extent for extent in extents if min(extent.width, extent.height) < at_least * figure.dpi]
    return found + [f"a panel of {each.width / figure.dpi:.2f} × {each.height / figure.dpi:.2f} in" for each in small]


def curve_names(ax):
    """Return how the curves of a figure are named: by its legend, or at their ends."""
    legends = [each for each in (ax.get_legend(), *ax.figure.legends) if each]
    return [text.get_text().split("  ")[0] for text in (legends[0].get_texts() if legends else ax.texts)]


def draw(shown, view, **options):
    """Return the figure of a view, or the words with which it is refused."""
    options |= {} if isinstance(shown, xr.Dataset) else {"rng": 0, "n_resamples": 99}
    try:
        axes = shown.curves.plot(view, **options)
    except ValueError as error:
        return str(error)
    return np.ravel([axes])[0].figure


def draw_as_told(shown, view, refusal, *, resized=False, **options):
    """Return the figure of what a refusal says to select, or to ask for where a size was asked."""
    assert ".curves.table()" in refusal or ".curves.to_frame()" in refusal
    if resized and (larger := figsize_in(refusal)):
        return draw(shown, view, **larger)
    few = re.search(r"elect at most (\d+) \w+: \.sel\((\w+)=\[...\]\)[;,]", refusal)
    slices = re.search(r"elect \.isel\((.*?\))\)[;,]", refusal)
    assert [few, slices].count(None) == 1, refusal
    if few:
        return draw(shown.isel({few[2]: slice(int(few[1]))}), view, **options)
    first = {dim: slice(int(n)) for dim, n in re.findall(r"(\w+)=slice\((\d+)\)", slices[1])}
    return draw(shown.isel(first), view, **options)


def figsize_in(refusal):
    """Return the options that a refusal names, none if there are none."""
    named = re.search(r"ive figsize=\((\S+), (\S+)\)(?:, col_wrap=(\d+))?", refusal)
    if not named:
        return {}
    wrapped = {"col_wrap": int(named[3])} if named[3] else {}
    return {"figsize": (float(named[1]), float(named[2])), **wrapped}


def drawn_texts(figure):
    """Return titles, labels of axes and of the ticks in view, annotations and entries of legends."""
    texts = list(figure.texts)
    for ax in (
        *figure.axes,
        *(inner for outer in figure.axes for inner in outer.child_axes),
    ):
        texts += [ax.title, ax._left_title, ax._right_title, *ax.texts]
        for axis in (ax.xaxis, ax.yaxis) if ax.axison else ():
            ticks = axis._update_ticks()  # those that are drawn
            texts += [
                axis.label,
                axis.offsetText,
                *(label for tick in ticks for label in (tick.label1, tick.label2)),
            ]
    return texts + [text for legend in figure.findobj(Legend) for text in legend.get_texts()]


def marks(figure):
    """Return the extents of the marks of legends and of the bars in strips."""
    found = [handle.get_window_extent() for legend in figure.findobj(Legend) for handle in legend.legend_handles]
    for bars in figure.findobj(lambda artist: artist.get_gid() == "bars" and hasattr(artist, "get_segments")):
        ends = [bars.get_transform().transform(segment) for segment in bars.get_segments()]
        found += [Bbox([each.min(axis=0) - 1, each.max(axis=0) + 1]) for each in ends]
    return found


def near(boxes):
    """Return the pairs of boxes whose upright hulls share more than a pixel."""
    low, high = boxes.min(axis=1), boxes.max(axis=1)
    shared = np.minimum(high[:, None], high) - np.maximum(low[:, None], low)
    return np.argwhere(np.triu((shared > SLACK).all(axis=-1), 1))


def corners(text):
    """Return the corners of a text, shape (4, 2), in pixels."""
    box = text.get_window_extent()
    angle = text.get_rotation() % 180
    if angle in (0, 90):
        return np.array([[box.x0, box.y0], [box.x1, box.y0], [box.x1, box.y1], [box.x0, box.y1]])
    turned = np.deg2rad(angle)
    text.set_rotation(0)
    flat = text.get_window_extent()
    text.set_rotation(angle)
    half = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * [
        flat.width / 2,
        flat.height / 2,
    ]
    turn = np.array([[np.cos(turned), np.sin(turned)], [-np.sin(turned), np.cos(turned)]])
    return half @ turn + [(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2]


def overlap(a, b):
    """Return whether two convex polygons share more than a pixel, by the separating axes of their sides."""
    for polygon in (a, b):
        sides = np.roll(polygon, -1, axis=0) - polygon
        for x, y in sides[:2]:
            length = np.hypot(x, y)
            if length == 0:
                continue
            normal = np.array([-y, x]) / length
            p, q = a @ normal, b @ normal
            if min(p.max(), q.max()) - max(p.min(), q.min()) <= SLACK:
                return False
    return True


def page(figures, folder, name):
    """Write figures on one page, side by side in rows, if a folder is given."""
    if folder is None:
        return
    images = []
    for figure in figures:
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        images.append(np.asarray(canvas.buffer_rgba())[..., :3])
    rows, width = [[]], 0
    for image in images:
        if width + image.shape[1] > WIDEST and rows[-1]:
            rows.append([])
            width = 0
        rows[-1].append(image)
        width += image.shape[1]
    high = [max(image.shape[0] for image in row) + 10 for row in rows]
    whole = np.full(
        (sum(high), max(sum(image.shape[1] + 10 for image in row) for row in rows), 3),
        200,
        np.uint8,
    )
    for top, row in zip(np.cumsum([0, *high]), rows, strict=False):
        left = 0
        for image in row:
            whole[top : top + image.shape[0], left : left + image.shape[1]] = image
            left += image.shape[1] + 10
    Path(folder).mkdir(parents=True, exist_ok=True)
    imsave(Path(folder) / f"{name}.png", whole)
