"""Write what editors and type checkers read about the public names: ``python tests/tools/stubs.py``.

The names come from the table in `xcurves.public_names`, signatures and the first lines of docstrings from the
functions.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import xcurves
from xcurves import accessors, public_names

SOURCE = Path(__file__).parents[2] / "src" / "xcurves"
HEAD = "# Written by tests/tools/stubs.py from public_names.py."
# What the objects of each accessor are called in annotations.
OBJECTS = {
    public_names.CURVES: "xr.DataArray",
    public_names.RESULT: "xr.Dataset",
    public_names.TREE: "xr.DataTree",
    public_names.FRAME: "pd.DataFrame",
}
PLAIN = (bool, int, float, str, type(None))


def write() -> None:
    """Write both stubs, formatted as all code is."""
    for path, text in texts().items():
        path.write_text(formatted(text), "utf-8")


def texts() -> dict[Path, str]:
    """Return the text of each stub."""
    return {
        SOURCE / "__init__.pyi": package_stub(),
        SOURCE / "accessors" / "__init__.pyi": accessors_stub(),
    }


def formatted(text: str) -> str:
    """Return code as ruff writes it, with sorted imports."""
    for command in (["check", "--select=I", "--fix", "--quiet"], ["format"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, f"--stdin-filename={SOURCE}/stub.pyi", "-"],
            input=text,
            capture_output=True,
            text=True,
            check=True,
            cwd=SOURCE.parent,
        )
        text = done.stdout
    return text


# --- xcurves/__init__.pyi ---


def package_stub() -> str:
    """Return imports of all public names, from where they are."""
    lines = [f'"""{first_line(xcurves)}"""\n', HEAD]
    lines += [f"from xcurves import {name} as {name}" for name in public_names.MODULES]
    public = public_names.KINDS | public_names.FUNCTIONS | public_names.ERRORS
    lines += [f"from xcurves.{each.module} import {name} as {name}" for name, each in public.items()]
    lines += [f"from xcurves.{module} import {name} as {name}" for name, module in public_names.VALUES.items()]
    listed = "".join(f"    {name!r},\n" for name in xcurves.__all__)
    lines += ["__version__: str", f"__all__ = [\n{listed}]"]
    return "\n".join(lines) + "\n"


# --- xcurves/accessors/__init__.pyi ---


def accessors_stub() -> str:
    """Return the classes of `.curves`, each with its methods."""
    imports = {"import pandas as pd", "import xarray as xr"}
    classes = []
    for type_name, annotation in OBJECTS.items():
        accessor = getattr(accessors, f"{type_name}Curves")
        classes.append(f"class {accessor.__name__}:")
        classes.append(f'    """{first_line(accessor)}"""\n')
        classes.append(f"    def __init__(self, data: {annotation}) -> None: ...")
        for name in public_names.methods_of(type_name):
            function = inspect.unwrap(getattr(xcurves, name))
            imports.update(imports_of(function))
            classes.append(method_text(function))
    classes.append("def register_polars() -> None:")
    classes.append(f'    """{first_line(accessors.register_polars)}"""')
    lines = [f'"""{first_line(accessors)}"""\n', HEAD, *sorted(imports), *classes]
    return "\n".join(lines) + "\n"


def method_text(function: Any) -> str:
    """Return the definition of a method: the signature without its first parameter, and what it does."""
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())[1:]
    head = ["self"]
    is_keyword_only = False
    for each in parameters:
        if each.kind is each.KEYWORD_ONLY and not is_keyword_only:
            head.append("*")
            is_keyword_only = True
        head.append(parameter_text(each))
    return (
        f"    def {function.__name__}({', '.join(head)}) -> {signature.return_annotation}:\n"
        f'        """{first_line(function)}"""'
    )


def parameter_text(parameter: inspect.Parameter) -> str:
    """Return a parameter with its annotation and its default, where that is a plain value."""
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}
    text = f"{stars.get(parameter.kind, '')}{parameter.name}: {parameter.annotation}"
    if parameter.default is parameter.empty:
        return text
    if isinstance(parameter.default, PLAIN):
        return f"{text} = {parameter.default!r}"
    return f"{text} = ..."


def imports_of(function: Any) -> Iterator[str]:
    """Yield the imports that the annotations of a function need, as its module has them."""
    module = sys.modules[function.__module__]
    known = {}
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                known[alias.asname or alias.name] = f"import {ast.unparse(alias)}"
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                text = f"from {node.module} import {ast.unparse(alias)}"
                known[alias.asname or alias.name] = text
    for name in sorted(names_in_annotations(function)):
        if not hasattr(builtins, name):
            yield known.get(name, f"from {module.__name__} import {name}")


def names_in_annotations(function: Any) -> set[str]:
    """Return the names that annotations use, but for that of the first parameter."""
    signature = inspect.signature(function)
    annotations = [each.annotation for each in signature.parameters.values()][1:]
    return {
        node.id
        for annotation in (*annotations, signature.return_annotation)
        for node in ast.walk(ast.parse(annotation))
        if isinstance(node, ast.Name)
    }


def first_line(documented: Any) -> str:
    """Return the first line of a docstring."""
    return inspect.getdoc(documented).splitlines()[0]


if __name__ == "__main__":
    write()
