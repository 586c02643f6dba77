"""Steps in matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xcurves.pictures.steps import StepsPicture
from xcurves.pictures.styles import SHADE

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_steps(ax: Axes, picture: StepsPicture) -> None:
    """Draw a line that steps for each distribution, with a shade between the ends of its band."""
    for rule in picture.rules:
        span = ax.axhline if rule.axis == "y" else ax.axvline
        span(rule.at, color=rule.color, linestyle=rule.linestyle, linewidth=rule.width)
    for line in picture.lines:
        color = line.style.color
        for part in line.stretches:
            ax.fill_between(line.x[part], line.low[part], line.high[part], step=line.steps, color=color,
                            alpha=SHADE, linewidth=0, gid="band")  # fmt: skip
        ax.plot(line.x, line.y, drawstyle=f"steps-{line.steps}", color=color, linestyle=line.style.linestyle,
                label=line.name or None, gid=line.flag)  # fmt: skip
    ax.set_xlabel(picture.x.label)
    ax.set_ylabel(picture.y.label)
    ax.set_xlim(picture.x.low, picture.x.high)
    ax.set_ylim(picture.y.low, picture.y.high)
