"""docs/reference/chunkprep_*.md, from signatures and docstrings."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from docs.generate.markdown import code, fence, page, prose, table
from docs.generate.source import Found, Function, docs, find, lineage, offered, text, tree, unparse

WIDTH = 88  # characters of a signature on one line


class Part(NamedTuple):
    """Names that one module offers, and what to say of them all."""

    module: str
    names: tuple[str, ...]


def package(title: str, parts: Iterable[Part]) -> str:
    """The page of a package."""
    listed = list(parts)
    return page(
        title, docs_of_module(title), *(section(title, part) for part in listed), types(listed)
    )


def docs_of_module(module: str) -> str:
    """What a module says of itself."""
    return prose(ast.get_docstring(tree(module)) or "")


def section(title: str, part: Part) -> str:
    """The names of one module, under its name where it is not the package itself."""
    own = part.module == title
    lead = [] if own else [f"## {part.module}", docs_of_module(part.module)]
    return "\n\n".join([*lead, *(entry(found, name) for name, found in public(part))])


def public(part: Part) -> list[tuple[str, Found]]:
    """The names of a part and where each is defined."""
    names = part.names or tuple(offered(part.module))
    return [(name, find(part.module, name)) for name in names]


def types(parts: Iterable[Part]) -> str:
    """The names in the signatures that stand for a longer type."""
    told = {
        name: alias for part in parts for _, found in public(part) for name, alias in aliases(found)
    }
    rows = [(code(name), code(plain(value)), said) for name, (value, said) in sorted(told.items())]
    return f"## Types\n\n{table(('name', 'stands for', 'what it is'), rows)}" if rows else ""


def aliases(found: Found) -> Iterator[tuple[str, tuple[ast.expr, str]]]:
    """Each of our type aliases that an entry's annotations name, with its value and docstring."""
    todo = list(named_types(found))
    for module, annotation in todo:
        for name in {each.id for each in ast.walk(annotation) if isinstance(each, ast.Name)}:
            try:
                alias = find(module, name)
            except LookupError:
                continue
            if isinstance(alias.node, ast.Assign) and not name.isupper():
                yield name, (alias.node.value, docs(alias.node, tree(alias.module).body))
                todo.append((alias.module, alias.node.value))


def named_types(found: Found) -> Iterator[tuple[str, ast.expr]]:
    """The types in an entry's fields and signatures, each with the module it is written in."""
    module, node = found
    if isinstance(node, ast.ClassDef):
        for owner in lineage(module, node):
            shown = [f for f in functions(owner.node) if f.name == "__init__" or f.name[0] != "_"]
            for function in shown:
                yield from ((owner.module, each) for each in of_function(function))
            yield from (
                (owner.module, each.annotation)
                for each in owner.node.body
                if isinstance(each, ast.AnnAssign)
            )
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield from ((module, each) for each in of_function(node))


def of_function(function: Function) -> list[ast.expr]:
    """The types in a signature."""
    given = function.args
    arguments = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    found = [each.annotation for each in arguments] + [function.returns]
    return [each for each in found if each is not None]


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
    makers = [
        f for each in lineage(module, node) for f in functions(each.node) if f.name == "__init__"
    ]
    if makers and len(lines) == 1:
        lines += ["    " + line for line in signature(makers[0]).splitlines()]
    return "\n".join(lines if len(lines) > 1 else [lines[0] + " ..."])


def fields(module: str, node: ast.ClassDef) -> list[ast.AnnAssign]:
    """The public fields that a class declares, after those of bases that are not public."""
    owners = [owner.node for owner in lineage(module, node)]
    hidden = [each for each in owners if each is node or each.name.startswith("_")]
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
        [owner] = [each.node for each in lineage(module, node) if field in each.node.body]
        said = docs(field, owner.body)
        if said:
            lines.append(f"- {code(unparse(field.target))}: {said}")
    return ["\n".join(lines)] if lines else []


def plain(annotation: ast.expr) -> str:
    """A type without what only validation needs."""
    if isinstance(annotation, ast.BinOp):
        return f"{plain(annotation.left)} | {plain(annotation.right)}"
    if not isinstance(annotation, ast.Subscript) or unparse(annotation.value) == "Literal":
        return unparse(annotation)
    held = annotation.slice
    parts = held.elts if isinstance(held, ast.Tuple) else [held]
    if unparse(annotation.value) == "Annotated":
        return plain(parts[0])
    return f"{unparse(annotation.value)}[{', '.join(map(plain, parts))}]"


def functions(node: ast.ClassDef) -> list[Function]:
    """The functions that a class defines itself."""
    return [each for each in node.body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))]


def members(module: str, node: ast.ClassDef) -> list[Function]:
    """The public methods and properties, its own first, each once."""
    found: dict[str, Function] = {}
    for owner in lineage(module, node):
        for each in functions(owner.node):
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
    awaited = isinstance(function, ast.AsyncFunctionDef) and not _streams(function)
    start = f"{'async ' if awaited else ''}def {function.name}"
    short = f"{start}({', '.join(arguments)}){returns}"
    if len(short) <= WIDTH:
        return short
    inner = "".join(f"    {each},\n" for each in arguments)
    return f"{start}(\n{inner}){returns}"


def _streams(function: Function) -> bool:
    """Whether it is called for an asynchronous iterator, and so not awaited."""
    return any(isinstance(each, ast.Yield) for each in ast.walk(function))


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
