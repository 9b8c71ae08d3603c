"""docs/reference/chunkprep_*.md, from signatures and docstrings."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple

from docs.generate.markdown import code, fence, page, prose
from docs.generate.source import Found, Function, docs, find, lineage, offered, text, tree, unparse

WIDTH = 88  # characters of a signature on one line


class Part(NamedTuple):
    """Names that one module offers, and what to say of them all."""

    module: str
    names: tuple[str, ...]


def package(title: str, parts: Iterable[Part]) -> str:
    """The page of a package."""
    return page(title, docs_of_module(title), *(section(title, part) for part in parts))


def docs_of_module(module: str) -> str:
    """What a module says of itself."""
    return prose(ast.get_docstring(tree(module)) or "")


def section(title: str, part: Part) -> str:
    """The names of one module, under its name where it is not the package itself."""
    own = part.module == title
    names = part.names or tuple(offered(part.module))
    lead = [] if own else [f"## {part.module}", docs_of_module(part.module)]
    return "\n\n".join([*lead, *(entry(find(part.module, name), name) for name in names)])


def entry(found: Found, name: str) -> str:
    """One name: a class with its members, a function, or a value."""
    node = found.node
    said = docs(node, tree(found.module).body)
    if isinstance(node, ast.ClassDef):
        parts = [fence("python", stub(found.module, node)), said, *fields_told(found.module, node)]
        parts += [member(name, each) for each in members(found.module, node)]
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        parts = [fence("python", signature(node)), said]
    else:
        parts = [fence("python", written(found)), said]
    return "\n\n".join(part for part in [f"### {name}", *parts] if part)


def written(found: Found) -> str:
    """A value as its source has it."""
    lines = text(found.module).splitlines()[found.node.lineno - 1 : found.node.end_lineno]
    return "\n".join(lines)


def stub(module: str, node: ast.ClassDef) -> str:
    """A class by its fields, or by how it is made."""
    bases = ", ".join(unparse(base) for base in node.bases)
    lines = [f"class {node.name}({bases}):" if bases else f"class {node.name}:"]
    for field in fields(module, node):
        value = "" if field.value is None else f" = {unparse(field.value)}"
        lines.append(f"    {unparse(field.target)}: {plain(field.annotation)}{value}")
    makers = [f for each in lineage(module, node) for f in functions(each) if f.name == "__init__"]
    if makers and len(lines) == 1:
        lines += ["    " + line for line in signature(makers[0]).splitlines()]
    return "\n".join(lines if len(lines) > 1 else [lines[0] + " ..."])


def fields(module: str, node: ast.ClassDef) -> list[ast.AnnAssign]:
    """The public fields that a class declares, after those of bases that are not public."""
    hidden = [each for each in lineage(module, node) if each is node or each.name.startswith("_")]
    found = [
        each
        for owner in reversed(hidden)
        for each in owner.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    ]
    return [
        each
        for each in found
        if not unparse(each.target).startswith("_")
        and not unparse(each.annotation).startswith("ClassVar")
    ]


def fields_told(module: str, node: ast.ClassDef) -> list[str]:
    """A line for each field that says more than its name and type."""
    lines = []
    for field in fields(module, node):
        [owner] = [each for each in lineage(module, node) if field in each.body]
        said = docs(field, owner.body)
        if said:
            lines.append(f"- {code(unparse(field.target))}: {said}")
    return ["\n".join(lines)] if lines else []


def plain(annotation: ast.expr) -> str:
    """A type without what only validation needs."""
    if isinstance(annotation, ast.Subscript) and unparse(annotation.value) == "Annotated":
        assert isinstance(annotation.slice, ast.Tuple)
        return plain(annotation.slice.elts[0])
    if isinstance(annotation, ast.BinOp):
        return f"{plain(annotation.left)} | {plain(annotation.right)}"
    if isinstance(annotation, ast.Subscript) and unparse(annotation.value) == "Sequence":
        return f"Sequence[{plain(annotation.slice)}]"
    return unparse(annotation)


def functions(node: ast.ClassDef) -> list[Function]:
    """The functions that a class defines itself."""
    return [each for each in node.body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))]


def members(module: str, node: ast.ClassDef) -> list[Function]:
    """The public methods and properties, its own first, each once."""
    found: dict[str, Function] = {}
    for owner in lineage(module, node):
        for each in functions(owner):
            if not each.name.startswith("_") and not _validates(each):
                found.setdefault(each.name, each)
    return sorted(found.values(), key=lambda each: "classmethod" not in _marks(each))


def _marks(function: Function) -> set[str]:
    return {unparse(each) for each in function.decorator_list}


def _validates(function: Function) -> bool:
    return any("validator" in unparse(each) for each in function.decorator_list)


def member(owner: str, function: Function) -> str:
    """A method or property below its class."""
    marks = _marks(function)
    if "property" in marks:
        assert function.returns is not None
        told = f"{function.name}: {unparse(function.returns)}"
    else:
        told = ("@classmethod\n" if "classmethod" in marks else "") + signature(function)
    parts = [f"#### {owner}.{function.name}", fence("python", told)]
    return "\n\n".join([*parts, ast.get_docstring(function) or ""]).rstrip()


def signature(function: Function) -> str:
    """How a function is called: on one line where it fits, else one argument a line."""
    returns = "" if function.returns is None else f" -> {unparse(function.returns)}"
    arguments = argument_list(function.args)
    short = f"def {function.name}({', '.join(arguments)}){returns}"
    if len(short) <= WIDTH:
        return short
    inner = "".join(f"    {each},\n" for each in arguments)
    return f"def {function.name}(\n{inner}){returns}"


def argument_list(given: ast.arguments) -> list[str]:
    """The arguments as written, without self and cls."""
    listed = [*given.posonlyargs, *given.args]
    bare: list[ast.expr | None] = [None] * (len(listed) - len(given.defaults))
    told = [_argument(a, d) for a, d in zip(listed, [*bare, *given.defaults], strict=True)]
    if listed and listed[0].arg in ("self", "cls"):
        told = told[1:]
    if given.vararg:
        told.append("*" + _argument(given.vararg, None))
    elif given.kwonlyargs:
        told.append("*")
    told += [_argument(a, d) for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    return [*told, "**" + _argument(given.kwarg, None)] if given.kwarg else told


def _argument(argument: ast.arg, default: ast.expr | None) -> str:
    kind = "" if argument.annotation is None else f": {unparse(argument.annotation)}"
    if default is None:
        return argument.arg + kind
    return f"{argument.arg}{kind}{' = ' if kind else '='}{unparse(default)}"
