"""Options that know their environment twin, and those that many commands share.

The order of precedence is click's own: command line, environment, file (`default_map`), default.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

import click

ENVIRONMENT_PREFIX = "CHUNKPREP_"
DEFAULT_STORE = "sqlite:///chunkprep.db"
DEFAULT_COLLECTION = "default"

Command = TypeVar("Command", bound=Callable[..., Any])


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


def option(*declarations: str, **attrs: Any) -> Callable[[Command], Command]:
    """`click.option` with an environment twin."""
    return click.option(*declarations, cls=Option, **attrs)


@overload
def stacked(*decorators: Callable[[Command], Command]) -> Callable[[Command], Command]: ...
@overload
def stacked(*decorators: Callable[[Any], Any]) -> Callable[[Any], Any]: ...
def stacked(*decorators: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Several option decorators as one, in the order in which help shows them."""

    def decorate(command: Any) -> Any:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


store_option = option(
    "--store",
    metavar="URL",
    default=DEFAULT_STORE,
    help="The store: sqlite:///FILE or postgresql://USER@HOST/DATABASE.",
)
collection_option = option(
    "--collection", metavar="NAME", default=DEFAULT_COLLECTION, help="The set of documents."
)
store_options = stacked(store_option, collection_option)
json_option = option("--json", "as_json", is_flag=True, help="Print data as JSON.")
as_of_option = option(
    "--as-of", "as_of", metavar="TIME", help="What was in force then (ISO 8601; default: now)."
)
encoding_option = option(
    "--encoding", metavar="NAME", default="o200k_base", help="The tokenizer that prices blocks."
)
