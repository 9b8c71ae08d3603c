"""docs/reference/command-line.md, from the commands themselves."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import cleandoc

import click
from docs.generate.markdown import anchor, code, fence, page, table

from chunkprep_flows.cli import main

PROGRAM = "chunkprep"


def command_line() -> str:
    """The page: every command with its arguments, options and example."""
    context = click.Context(main, info_name=PROGRAM)
    found = list(walk(main, context))
    overview = [
        (
            f"[`{at.command_path}`](#{anchor(at.command_path)})",
            cleandoc(one.help or "").split("\n\n")[0],
        )
        for one, at in found[1:]
    ]
    return page(
        "Command line", described(main, context), table(("command", "does"), overview),
        *(f"## {at.command_path}\n\n{described(one, at)}" for one, at in found[1:]),
    )  # fmt: skip


def walk(
    command: click.Command, at: click.Context
) -> Iterator[tuple[click.Command, click.Context]]:
    """A command and those below it, in the order of their help."""
    yield command, at
    if isinstance(command, click.Group):
        for name in command.list_commands(at):
            below = command.commands[name]
            yield from walk(below, click.Context(below, info_name=name, parent=at))


def described(command: click.Command, at: click.Context) -> str:
    """What a command does, how it is called, and its options."""
    usage = " ".join([at.command_path, *command.collect_usage_pieces(at)])
    options = [p for p in command.get_params(at) if isinstance(p, click.Option)]
    rows = [row(option, at) for option in options if "--help" not in option.opts]
    example = getattr(command, "example", "")
    return "\n\n".join(
        part
        for part in (
            cleandoc(command.help or ""),
            fence("text", usage),
            table(("option", "default", "what it is for"), rows),
            fence("sh", example) if example else "",
        )
        if part
    )


def row(option: click.Option, at: click.Context) -> tuple[str, str, str]:
    """An option: how it is written, what holds without it, and what it is for."""
    names = ", ".join(code(name) for name in option.opts)
    if option.secondary_opts:
        names += " / " + ", ".join(code(name) for name in option.secondary_opts)
    value = "" if option.is_flag else f" {code(option.make_metavar(at))}"
    extra = option.get_help_extra(at)
    default = "required" if option.required else code(str(extra.get("default", "")))
    limits = f" ({code(extra['range'])})" if "range" in extra else ""
    return names + value, default, (option.help or "") + limits
