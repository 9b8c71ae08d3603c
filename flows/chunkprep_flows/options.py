"""Options that know their environment twin, commands that show an example, and what they share.

The order of precedence is click's own: command line, environment, file (`default_map`), default.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

ENVIRONMENT_PREFIX = "CHUNKPREP_"
DEFAULT_STORE = "sqlite:///chunkprep.db"
DEFAULT_COLLECTION = "default"

F = TypeVar("F", bound=Callable[..., Any])


class Command(click.Command):
    """A command whose help ends with an example: a line, or several, of shell."""

    def __init__(self, name: str | None, *, example: str = "", **attrs: Any) -> None:
        super().__init__(name, **attrs)
        self.example = example

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the example as it stands."""
        write_example(self.example, formatter)
        super().format_epilog(ctx, formatter)


class Group(click.Group):
    """A group with an example; its commands are listed in the order in which they were added."""

    def __init__(self, name: str | None, *, example: str = "", **attrs: Any) -> None:
        super().__init__(name, **attrs)
        self.example = example

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of a document's life, not of the alphabet."""
        del ctx
        return list(self.commands)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the example as it stands."""
        write_example(self.example, formatter)
        super().format_epilog(ctx, formatter)


def write_example(example: str, formatter: click.HelpFormatter) -> None:
    """The example below a heading, its lines kept apart."""
    if example:
        formatter.write_paragraph()
        formatter.write("Example:\n")
        for line in example.splitlines():
            formatter.write(f"  {line}\n")


def command(*, example: str, name: str | None = None) -> Callable[[Callable[..., Any]], Command]:
    """`click.command` with an example."""
    return click.command(name, cls=Command, example=example)


class Option(click.Option):
    """An option that may also be given as CHUNKPREP_<NAME> in the environment."""

    def __init__(self, param_decls: Sequence[str] | None = None, **attrs: Any) -> None:
        attrs.setdefault("show_default", True)
        super().__init__(param_decls, **attrs)
        if self.envvar is None:
            self.envvar = ENVIRONMENT_PREFIX + twin_name(self.opts).upper()


def twin_name(opts: Sequence[str]) -> str:
    """The name that the environment and the file use: the longest option, "_" for "-"."""
    return max(opts, key=len).lstrip("-").replace("-", "_")


def option(*declarations: str, **attrs: Any) -> Callable[[F], F]:
    """`click.option` with an environment twin."""
    return click.option(*declarations, cls=Option, **attrs)


def stacked(*decorators: Callable[[Any], Any]) -> Callable[[F], F]:
    """Several option decorators as one, in the order in which help shows them."""

    def decorate(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def name_given(value: str) -> str:
    """A name that can be read and written: not empty, and without control characters."""
    if not value.strip() or not value.isprintable():
        raise click.BadParameter(f"{value!r} is no name")
    return value


store_option = option(
    "--store",
    metavar="URL",
    default=DEFAULT_STORE,
    help="The store: sqlite:///FILE or postgresql://USER@HOST/DATABASE.",
)
collection_option = option(
    "--collection",
    type=name_given,
    metavar="NAME",
    default=DEFAULT_COLLECTION,
    help="The set of documents.",
)
store_options = stacked(store_option, collection_option)
mirror_option = option(
    "--mirror",
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Where what URLs name is downloaded to (default: the user's cache).",
)
json_option = option("--json", "as_json", is_flag=True, help="Print data as JSON.")
as_of_option = option(
    "--as-of", "as_of", metavar="TIME", help="What was in force then (ISO 8601; default: now)."
)
