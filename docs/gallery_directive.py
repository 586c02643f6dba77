"""The directive `xcurves-gallery`: every picture that a kind of result declares, small, with the code that draws it."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from docutils import nodes
from gallery_calls import DATA, QUESTIONS, lines_of, run
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from xcurves import kinds
from xcurves.core.schema import caption_of


class Picture(NamedTuple):
    """A picture of the gallery: its file name, title, caption, code, and the Axes and text that drawing it gives."""

    name: str
    title: str
    caption: str
    code: str
    axes: Any
    alternative: str


def pictures() -> Iterator[Picture]:
    """Draw every view of every kind, after the curves themselves."""
    code = "\n".join(["import xcurves", "", DATA["scores"], "scores.curves.plot(rng=0)"])
    axes = run(code.replace("scores.curves.plot", "axes = scores.curves.plot"))["axes"]
    yield Picture(
        "curves",
        "curves",
        "Runs, their means and bands.",
        code,
        axes,
        "Curves of three learning rates",
    )
    for name in kinds.NAMES:
        kind = kinds.kind(name)
        if not kind.views:
            continue
        for view, declared in kind.views.items():
            made = "\n".join(lines_of(name, view))
            result = run(made)["result"]
            axes = result.curves.plot(view)
            said = caption_of(declared.caption, np.ravel(axes)[0].figure)
            yield Picture(
                f"{name}-{view}",
                f"{name}: {view}",
                said,
                f'{made}\nresult.curves.plot("{view}")',
                axes,
                said,
            )


class Gallery(SphinxDirective):
    """Draws the pictures into the built site, a card for each."""

    def run(self) -> list[nodes.Node]:
        """Return the cards."""
        import matplotlib as mpl

        mpl.use("Agg")
        from matplotlib import pyplot as plt

        folder = Path(self.env.app.outdir) / "_images"
        folder.mkdir(parents=True, exist_ok=True)
        up = "../" * self.env.docname.count("/")
        cards = nodes.container(classes=["gallery"])
        for picture in pictures():
            path = folder / f"gallery-{picture.name}.png"
            figure = np.ravel([picture.axes])[0].figure
            figure.savefig(path, dpi=90, bbox_inches="tight", metadata={"Software": None})
            plt.close(figure)
            source = f"{up}_images/{path.name}"
            image = f'<a href="{source}"><img src="{source}" alt="{escape(picture.alternative)}" loading="lazy"></a>'
            cards += nodes.container(
                "",
                nodes.raw("", image, format="html"),
                nodes.paragraph("", "", nodes.strong("", picture.title)),
                nodes.paragraph("", picture.caption),
                nodes.raw("", "<details><summary>Code</summary>", format="html"),
                nodes.literal_block(picture.code, picture.code, language="python"),
                nodes.raw("", "</details>", format="html"),
                classes=["card-of-gallery"],
                ids=[f"gallery-{picture.name}"],
            )
        return [cards]


class Questions(SphinxDirective):
    """Twelve pictures of the gallery with the question that each answers; each leads to its card."""

    def run(self) -> list[nodes.Node]:
        """Return the grid."""
        cards = []
        up = "../" * self.env.docname.count("/")
        for name, question in QUESTIONS.items():
            image = f'<img src="{up}_images/gallery-{name}.png" alt="" loading="lazy">'
            cards.append(f'<a href="plots.html#gallery-{name}">{image}<span>{escape(question)}</span></a>')
        return [nodes.raw("", f'<div class="questions">{"".join(cards)}</div>', format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive to the build."""
    app.add_directive("xcurves-gallery", Gallery)
    app.add_directive("xcurves-questions", Questions)
    return {"parallel_read_safe": True}
