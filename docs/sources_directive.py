"""The directive `xcurves-sources`: the table of all logs that can be read, made from their declarations."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from xcurves.readers import SOURCES, listing


class Sources(SphinxDirective):
    """A row for each source: its name, what wrote it, which files, and the command."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        return [nodes.raw("", listing.as_html(SOURCES), format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive to the build."""
    app.add_directive("xcurves-sources", Sources)
    return {"parallel_read_safe": True}
