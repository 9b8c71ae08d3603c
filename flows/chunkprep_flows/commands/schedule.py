"""schedule: the ingest flow, and the audit beside it, as Prefect deployments."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from chunkprep_flows.audit_settings import AuditSettings, Level
from chunkprep_flows.commands.ingest import source_options
from chunkprep_flows.console import talk
from chunkprep_flows.ingest_settings import IngestSettings, refuse_unshared_store
from chunkprep_flows.named_sources import refuse_missing
from chunkprep_flows.options import command, option, store_options
from chunkprep_flows.stored_secrets import secret_warnings


@command(
    example="""\
chunkprep schedule docs/ --every 3600 --sync
chunkprep schedule docs/ --cron "0 3 * * *" --audit-cron "0 5 * * *\""""
)
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@option("--cron", metavar="EXPR", help='When, as a cron expression: "0 3 * * *".')
@option("--every", type=click.IntRange(1), metavar="SECONDS", help="Or how often.")
@option("--audit-cron", metavar="EXPR", help="Also audit, on this cron expression.")
@option("--audit-every", type=click.IntRange(1), metavar="SECONDS", help="Or this often.")
@option(
    "--audit-fail-on",
    type=click.Choice(["info", "warning", "error", "never"]),
    default="error",
    help="From which severity on an audit's run fails.",
)
@option("--name", default="ingest", metavar="NAME", help="The deployments' name.")
@source_options
@store_options
@click.pass_context
def schedule(
    ctx: click.Context,
    /,
    sources: tuple[str, ...],
    cron: str | None,
    every: int | None,
    audit_cron: str | None,
    audit_every: int | None,
    audit_fail_on: Level,
    name: str,
    **options: Any,
) -> None:
    """Serve the ingest flow on a schedule until interrupted, and the audit with --audit-cron or
    --audit-every.

    The audit compares what is stored with the same sources.
    Runs against the Prefect API that is configured (PREFECT_API_URL), else against a private one
    that ends with this command. Each run that ends is a line on stderr.
    The schedule stays active when this command stops: of the runs
    that are due then, the next start makes one, and skips the others.
    """
    if (cron is None) == (every is None):
        raise click.UsageError("give either --cron or --every")
    if audit_cron is not None and audit_every is not None:
        raise click.UsageError("give either --audit-cron or --audit-every")
    audited = audit_cron is not None or audit_every is not None
    refuse_unused_level(ctx, audited=audited)
    refuse_missing(sources)
    settings = IngestSettings(sources=sources, **options).absolute()
    refuse_unshared_store(settings)
    audit = audit_of(settings, audit_fail_on) if audited else None
    from chunkprep_flows.prefect_session import prefect_session, prepare_environment
    from chunkprep_flows.prefect_talk import api_reached

    for warning in secret_warnings(settings):
        talk(warning)
    verbose = ctx.obj["verbose"]
    prepare_environment(verbose=verbose)
    refuse_bad_name(name)
    for name_of_option, expression in (("--cron", cron), ("--audit-cron", audit_cron)):
        refuse_bad_cron(name_of_option, expression)
    with (
        prefect_session(verbose=verbose, say=talk, schedules=True) as session,
        api_reached(),
    ):
        from chunkprep_flows.scheduling import serve_flows

        names = f"ingest-documents/{name}" + (f" and audit-versions/{name}" if audit else "")
        serve_flows(
            settings,
            name=name,
            cron=cron,
            interval=every,
            audit=audit,
            audit_cron=audit_cron,
            audit_interval=audit_every,
            begun=lambda: talk(f"serving {names} at {session.api}; Ctrl-C ends it"),
        )


def refuse_unused_level(ctx: click.Context, *, audited: bool) -> None:
    """Raises click.UsageError where --audit-fail-on is written, and nothing is audited."""
    written = ctx.get_parameter_source("audit_fail_on") is ParameterSource.COMMANDLINE
    if written and not audited:
        raise click.UsageError("--audit-fail-on needs --audit-cron or --audit-every")


def refuse_bad_name(name: str) -> None:
    """Raises click.UsageError for what Prefect takes for no deployment's name."""
    from prefect.types.names import BANNED_CHARACTERS

    if not name.strip() or any(character in name for character in BANNED_CHARACTERS):
        raise click.UsageError(
            f"--name {name!r} is no deployment's name; write some letters, without any of "
            f"{' '.join(BANNED_CHARACTERS)}"
        )


def refuse_bad_cron(name: str, expression: str | None) -> None:
    """Raises click.UsageError for what is no cron expression."""
    if expression is None:
        return
    from prefect.client.schemas.schedules import CronSchedule

    try:
        CronSchedule(cron=expression)
    except ValueError:
        raise click.UsageError(
            f"{name} {expression!r} is no cron expression; write five fields such as '0 3 * * *'"
        ) from None


def audit_of(settings: IngestSettings, fail_on: Level) -> AuditSettings:
    """An audit of the same collection that compares it with the same files, the same mirror."""
    return AuditSettings(
        store=settings.store,
        collection=settings.collection,
        sources=settings.sources,
        include=settings.include,
        exclude=settings.exclude,
        mirror=settings.mirror,
        fail_on=fail_on,
    )
