"""What makes a page interactive: curves as a figure of Plotly, tables that sort and filter, all within the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import xarray as xr

from xcurves.core.refusal import UNSAID, Refusal
from xcurves.reporting import markup

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

POLICY = "script-src 'unsafe-inline' blob:; img-src data: blob:;"  # scripts of the page itself, and nothing else
_BUNDLE = "dt_bundle"
_MANY = 8  # rows of a table that can be filtered
_STARTED = """
const curves = document.getElementById("curves");
if (curves) Plotly.Plots.resize(curves).catch(() => {});  // it was drawn before the page had its width
const source = document.getElementById("tables").textContent;
const address = URL.createObjectURL(new Blob([source], {type: "text/javascript"}));
const {default: DataTable} = await import(address);
URL.revokeObjectURL(address);
for (const table of document.querySelectorAll(".box table"))
  new DataTable(table, {paging: false, info: false, order: [], autoWidth: false,
    layout: {topStart: table.tBodies[0].rows.length > MANY ? "search" : null, topEnd: null,
      bottomStart: null, bottomEnd: null}});
document.documentElement.dataset.scripts = "ready";
"""


def check_installed() -> None:
    """Refuse where a package of the extra is missing."""
    try:
        import itables
        import plotly  # noqa: F401
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"an interactive page needs {error.name}. Install it: pip install 'xcurves[interactive]'"
        ) from None
    assert itables


def curves_figure(data: xr.DataArray, caption: str) -> str:
    """Return curves as a figure of the page, with plotly.js."""
    from xcurves.plotting.explore import explore  # which a page without scripts does without

    figure: Figure = explore(data)
    drawn = figure.to_html(
        full_html=False,
        include_plotlyjs=True,
        include_mathjax=False,
        div_id="curves",
        default_height="34rem",
        config={"displaylogo": False, "responsive": True},
    )
    return f'<figure class="plot">{drawn}<figcaption>{markup.text(caption)}</figcaption></figure>'


def tables_script() -> str:
    """Return the styles and scripts that let the tables of a page be sorted and filtered."""
    from itables.utils import read_package_file

    script, style = (read_package_file(f"html/{_BUNDLE}.{kind}") for kind in ("js", "css"))
    if "</script" in script or "</style" in style:
        raise Refusal(
            "",
            UNSAID,
            "the files of itables cannot stand in a page",
            "Install another version: pip install -U itables",
        )
    return (
        f"<style>{style}</style>\n"
        f'<script type="text/plain" id="tables">{script}</script>\n'
        f'<script type="module">{_STARTED.replace("MANY", str(_MANY))}</script>'
    )
