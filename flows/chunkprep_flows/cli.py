"""The command line: `chunkprep`.

Data goes to stdout, talk to stderr. Exit 0: done; 1: the command ran and found trouble; 2: wrong
usage or configuration. Commands import what they need when they run, so that `--help` is quick and
works on the base install.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, NoReturn

import click
from click.core import ParameterSource
from pydantic import ValidationError

from chunkprep_flows import commands
from chunkprep_flows.configuration import FILE_NAME, read_defaults
from chunkprep_flows.console import escape_the_unwritable, talk
from chunkprep_flows.interrupt import StoppedError, terminated_as_interrupted
from chunkprep_flows.options import Group, Option
from chunkprep_ingest.errors import ChunkprepError, ConflictError, DiskError, UnavailableError

FOUND_TROUBLE = 1
WRONG_USAGE = 2
EXTRAS = {
    "unstructured": "ingest",
    "prefect": "ingest",
    "pyromark": "ingest",
    "pypdfium2": "ingest",
    "yaml": "ingest",
    "rensa": "ingest",
    "docx": "ingest",
    "bs4": "ingest",
    "lxml": "ingest",
    "pathspec": "ingest",
    "psycopg": "postgres",
    "numpy": "diversity",
    "jinja2": "report",
    "markupsafe": "report",
    "pygal": "report",
    "fastapi": "serve",
    "prometheus_client": "serve",
    "starlette": "serve",
    "uvicorn": "serve",
    "prefect_dask": "dask",
    "distributed": "dask",
}
"""Which extra brings a module that a command may miss."""


class Chunkprep(Group):
    """The root command: turns every error into one line and an exit code."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command line; in standalone mode end the process with its exit code."""
        escape_the_unwritable()
        try:
            with terminated_as_interrupted():
                code = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        except click.ClickException as error:
            talk(f"chunkprep: {usage_line(error)}")
            code = WRONG_USAGE
        except click.Abort:
            talk("chunkprep: interrupted")
            code = FOUND_TROUBLE
        if standalone_mode:
            sys.exit(code or 0)
        return code

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. Errors become one line on stderr; -v adds the traceback."""
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, click.Abort, click.ClickException, BrokenPipeError):
            raise
        except Exception as error:
            self.tell(ctx, error)

    def tell(self, ctx: click.Context, error: Exception) -> NoReturn:
        """Say what went wrong, and exit."""
        if ctx.params.get("verbose"):
            traceback.print_exception(error, file=sys.stderr)
        talk(f"chunkprep: {one_line(error)}")
        ctx.exit(exit_code(error))


def usage_line(error: click.ClickException) -> str:
    """A usage error on one line, with where to look."""
    message = " ".join(error.format_message().split()).rstrip(".")
    if "--help`" in message:
        return message
    if isinstance(error, click.BadParameter):
        message += written_where(error)
    if isinstance(error, click.UsageError) and error.ctx is not None:
        return f"{message}; see `{error.ctx.command_path} --help`"
    return message


def written_where(error: click.BadParameter) -> str:
    """Where a value that is no option on the command line was found."""
    if error.ctx is None or error.param is None or error.param.name is None:
        return ""
    source = error.ctx.get_parameter_source(error.param.name)
    if source is ParameterSource.ENVIRONMENT:
        return f" (from the environment: {error.param.envvar})"
    if source is ParameterSource.DEFAULT_MAP:
        return f" (from {error.ctx.find_root().params.get('config') or FILE_NAME})"
    return ""


def one_line(error: Exception) -> str:
    """What is wrong and what to do, on one line."""
    if isinstance(error, ChunkprepError):
        return " ".join(str(error).split())
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}, not {first['input']!r}"
    if isinstance(error, UnicodeEncodeError):
        return f"{error.object!r} is not UTF-8, as names of documents and collections have to be"
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    extra = EXTRAS.get((missing or "").partition(".")[0])
    if extra:
        return f"this needs {missing}: run `pip install 'chunkprep[{extra}]'`"
    return f"unexpected {type(error).__name__}: {' '.join(str(error).split())}; -v shows where"


def exit_code(error: Exception) -> int:
    """2 for what the caller can put right in the command or its configuration, else 1."""
    usage = (ChunkprepError, ModuleNotFoundError, ValidationError, UnicodeEncodeError)
    ran = (ConflictError, DiskError, UnavailableError, StoppedError)
    return WRONG_USAGE if isinstance(error, usage) and not isinstance(error, ran) else FOUND_TROUBLE


@click.group(
    cls=Chunkprep,
    context_settings={"help_option_names": ["-h", "--help"]},
    example="""\
chunkprep ingest docs/
chunkprep search "refund window" --json | chunkprep pack --budget 2000 --candidates -""",
)
@click.version_option(metadata.version("chunkprep"), prog_name="chunkprep")
@click.option(
    "--config",
    cls=Option,
    type=click.Path(path_type=Path, dir_okay=False),
    help="A file of defaults (default: chunkprep.toml in the working directory, if there is one).",
)
@click.option("-v", "--verbose", cls=Option, is_flag=True, help="Show tracebacks and more talk.")
@click.pass_context
def main(ctx: click.Context, config: Path | None, verbose: bool) -> None:
    """Prepare document chunks at ingestion time, so that packing is one lookup and a greedy fill.

    Every option may also come from the environment (--store is CHUNKPREP_STORE) or from
    chunkprep.toml; the order is option, environment, file, default.
    """
    ctx.obj = {"verbose": verbose}
    ctx.default_map = read_defaults(config, main)


for command in commands.COMMANDS:
    main.add_command(command)

if __name__ == "__main__":
    main()
