"""The packages' source as syntax trees: what is written is what the reference shows, whatever
is installed and whichever Python reads it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
FOLDERS = {f"chunkprep_{name}": ROOT / name for name in ("flows", "packer", "store", "ingest")}

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Found(NamedTuple):
    """A definition, and the module that holds it."""

    module: str
    node: ast.stmt


@cache
def text(module: str) -> str:
    """The source of one of our modules."""
    path = FOLDERS[module.partition(".")[0]].joinpath(*module.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return file.read_text(encoding="utf-8")


@cache
def tree(module: str) -> ast.Module:
    """The syntax tree of one of our modules."""
    return ast.parse(text(module))


def unparse(node: ast.AST) -> str:
    """A node as source, its strings in the quotes that this project writes."""
    return re.sub(r"""'([^'"\\]*)'""", r'"\1"', ast.unparse(node))


def find(module: str, name: str) -> Found:
    """Where a name that a module offers is defined. Raises LookupError for a name that is not."""
    for node in tree(module).body:
        if name in _defined(node):
            return Found(module, node)
        if isinstance(node, ast.ImportFrom) and node.module in _ours(node):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return find(str(node.module), alias.name)
    raise LookupError(f"{module} defines no {name}")


def _ours(node: ast.ImportFrom) -> tuple[str, ...]:
    name = node.module or ""
    return (name,) if name.partition(".")[0] in FOLDERS else ()


def _defined(node: ast.stmt) -> tuple[str, ...]:
    if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        return (node.name,)
    if isinstance(node, ast.Assign):
        return tuple(target.id for target in node.targets if isinstance(target, ast.Name))
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return (node.target.id,)
    return ()


def offered(module: str) -> list[str]:
    """The names in a module's `__all__`."""
    found = find(module, "__all__").node
    assert isinstance(found, ast.Assign)
    names: list[str] = ast.literal_eval(found.value)
    return names


class Owner(NamedTuple):
    """A class, and the module that holds it."""

    module: str
    node: ast.ClassDef


def lineage(module: str, node: ast.ClassDef) -> Iterator[Owner]:
    """A class and those of ours that it inherits from, the nearest first."""
    yield Owner(module, node)
    for base in node.bases:
        if isinstance(base, ast.Name):
            try:
                found = find(module, base.id)
            except LookupError:
                continue
            if isinstance(found.node, ast.ClassDef):
                yield from lineage(found.module, found.node)


def docs(node: ast.stmt, body: list[ast.stmt]) -> str:
    """The docstring of a definition: inside it, or below it where it is a plain value."""
    if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        return ast.get_docstring(node) or ""
    after = body[body.index(node) + 1 :][:1]
    for each in after:
        if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant):
            return " ".join(str(each.value.value).split())
    return ""
