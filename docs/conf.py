"""How the site is built: every page and notebook of the repository, executed, without network."""

from __future__ import annotations

import inspect
import os
import re
import sys
from pathlib import Path
from typing import Any

import sphinx_autosummary_accessors
from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from numpydoc.docscrape import NumpyDocString
from sphinx.application import Sphinx
from sphinx.util import logging

import xcurves

logger = logging.getLogger(__name__)
# docutils would set the index below the letter
ACCENTED = re.compile(r"\\(bar|hat|tilde) ?(\\[a-z]+|\w)(?=_)")

project = "xcurves"
author = "The xcurves developers"
copyright = author  # noqa: A001  # Sphinx's name
version = release = xcurves.__version__

# The source directory is the repository (`-c docs .`), so that links between pages and notebooks hold in both places.
root_doc = "docs/index"
include_patterns = ["docs/**", "notebooks/*.ipynb"]
exclude_patterns = [".*", "docs/_*", "docs/paper.md", "src", "tests", "build", "dist"]
suppress_warnings = ["config.cache"]  # the functions of this file
sys.path.insert(0, str(Path(__file__).parent))  # for the directives
extensions = [
    "gallery_directive",
    "sources_directive",
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_autosummary_accessors",
    "sphinx_design",
]
templates_path = [
    str(Path(__file__).parent / "_templates"),
    sphinx_autosummary_accessors.templates_path,
]
html_theme = "furo"
html_title = f"xcurves {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["answer.schema.json", "llms.txt"]  # for programs
html_math_renderer = "mathml"
html_show_sphinx = False

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "cache"  # what has not changed is not run again
nb_execution_in_temp = True  # a page may write files
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_merge_streams = True
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # of the pages' kernels
# where they find `experiments`
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(Path(__file__).parents[1] / "notebooks"), os.environ.get("PYTHONPATH", "")]
).rstrip(os.pathsep)
os.environ.pop("MPLBACKEND", None)  # which would keep their pictures out of the pages

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say the types
numpydoc_show_class_members = False


def describe_method(_app: Sphinx, _what: str, name: str, obj: Any, _options: Any, lines: list[str]) -> None:
    """Give an accessor's method the parameters, returns and examples of the function that it calls."""
    if ".curves." in name:
        function = inspect.unwrap(obj)
        doc = NumpyDocString(inspect.cleandoc(function.__doc__))
        first, *others = doc["Parameters"]
        doc["Parameters"] = others
        doc["Extended Summary"] = [
            f"Calls :func:`xcurves.{function.__name__}` with this object as ``{first.name}``; equations, errors and "
            "references stand there."
        ]
        for section in ("Raises", "Warns", "See Also", "Notes", "References"):
            doc[section] = []
        lines[:] = str(doc).splitlines()


def visit_math(self: Any, node: nodes.Element) -> None:
    """Write an equation as MathML, which needs no script and no network."""
    tex = ACCENTED.sub(r"{\\\1{\2}}{}", node.astext().replace(r"\dots", r"\ldots"))
    try:
        mathml = latex2mathml.tex2mathml(tex, as_block=isinstance(node, nodes.math_block))
        # which browsers draw through the letter
        self.body.append(mathml.replace(' accent="true"', ""))
    except MathError as error:
        logger.warning("%s: %s", error, tex, location=node)
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Add both to the build."""
    # before numpydoc
    app.connect("autodoc-process-docstring", describe_method, priority=1)
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math, None))
