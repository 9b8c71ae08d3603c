"""supersede, withdraw, restore, set, erase: decisions about documents, by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from chunkprep_flows.console import print_json, talk
from chunkprep_flows.opened import now, opened
from chunkprep_flows.options import command, json_option, option, store_options
from chunkprep_flows.wording import counted
from chunkprep_ingest.lifecycle import iso

if TYPE_CHECKING:
    from chunkprep_store import Decided, Moved

reason_option = option("--reason", metavar="TEXT", help="Why; kept with the change.")


def done(as_json: bool, message: str, **facts: object) -> None:
    """Say what was done: a line of talk, or a JSON object."""
    if as_json:
        print_json(facts)
    else:
        talk(message)


def until(made: Decided) -> str:
    """Until when a document is in force, where another one supersedes it."""
    if made.superseded_by is None:
        return ""
    if made.effective_from is not None and made.effective_from == made.effective_to:
        return f", but is not in force: {made.superseded_by} supersedes it"
    return f"; {made.superseded_by} supersedes it from {iso(made.effective_to)} on"


def also(moved: Sequence[Moved]) -> str:
    """What else ends at another moment now."""
    return "".join(f"; {m.told}" for m in moved)


def listed(moved: Sequence[Moved]) -> list[dict[str, object]]:
    """The same for JSON."""
    return [{**m._asdict(), "effective_to": iso(m.effective_to)} for m in moved]


@command(example="chunkprep supersede policies/refund-2019.md policies/refund-2026.md")
@click.argument("old")
@click.argument("new")
@reason_option
@store_options
@json_option
def supersede(
    old: str, new: str, reason: str | None, store: str, collection: str, as_json: bool
) -> None:
    """Let document NEW replace document OLD, from when NEW comes into force."""
    with opened(store) as target:
        target.supersede(collection, old, new, now=now(), reason=reason)
    done(as_json, f"{new} supersedes {old}", action="supersede", old=old, new=new, reason=reason)


@command(example='chunkprep withdraw faq/offers.md --reason "offer has ended"')
@click.argument("document")
@option("--reason", metavar="TEXT", required=True, help="Why; kept with the change.")
@store_options
@json_option
def withdraw(document: str, reason: str, store: str, collection: str, as_json: bool) -> None:
    """Take a document out of force now. It stays out, also when ingested again, until `restore`."""
    with opened(store) as target:
        known = target.known(collection, [document]).get(document)
        before = target.versions(collection, document) if known and known.version else []
        made = target.withdraw(collection, document, now=now(), reason=reason)
    told, kept = f"{document} is withdrawn{also(made.moved)}", reason or None
    for info in before:
        if info.version == made.version and info.status == "withdrawn":
            why = f" with the reason {info.reason!r}" if info.reason else ""
            told = f"{document} was withdrawn already at {iso(info.withdrawn_at)}{why}"
            kept = info.reason
    facts = {"document": document, "reason": kept, "moved": listed(made.moved)}
    done(as_json, told, action="withdraw", **facts)


@command(example="chunkprep restore faq/offers.md")
@click.argument("document")
@option("--version", type=click.IntRange(1), metavar="N", help="Whose content (default: the last).")
@reason_option
@store_options
@json_option
def restore(
    document: str,
    version: int | None,
    reason: str | None,
    store: str,
    collection: str,
    as_json: bool,
) -> None:
    """Bring a document back: a new version with the content of an old one.

    Of an erased or pruned document nothing is left: it may be ingested again from then on.
    """
    with opened(store) as target:
        made = target.restore(collection, document, version=version, now=now(), reason=reason)
    told = f"{document} is restored as version {made.version}{until(made)}{also(made.moved)}"
    if made.version == 0:
        told = f"nothing is left of {document} (erased or pruned); ingest it again to store it anew"
    facts = {"document": document, "version": made.version, "reason": reason}
    facts |= {"superseded_by": made.superseded_by, "effective_to": iso(made.effective_to)}
    done(as_json, told, action="restore", **facts, moved=listed(made.moved))


@command(name="set", example="chunkprep set faq/offers.md review_by=2027-01-31 tags=offers,summer")
@click.argument("document")
@click.argument("values", nargs=-1, required=True, metavar="KEY=VALUE...")
@reason_option
@store_options
@json_option
def set_values(
    document: str,
    values: Sequence[str],
    reason: str | None,
    store: str,
    collection: str,
    as_json: bool,
) -> None:
    """Set metadata of a document by hand, over what its file says.

    A value holds for later versions too, until it is set again, or until the file (its front
    matter, sidecar or chunkprep.yaml) says something else of the same field than it did.
    """
    changes = dict(_pair(value) for value in values)
    with opened(store) as target:
        made = target.set_metadata(collection, document, changes, now=now(), reason=reason)
    told = f"{document}: {' '.join(values)}" + (until(made) if "status" in changes else "")
    told += also(made.moved)
    done(as_json, told, action="set", document=document, set=changes, moved=listed(made.moved))


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise click.UsageError(f"{text!r} is no KEY=VALUE; write for example review_by=2027-01-31")
    return key, value


@command(example="chunkprep erase mail/complaint-4711.eml --yes")
@click.argument("document")
@option("--yes", is_flag=True, help="Erase without asking.")
@store_options
@json_option
def erase(document: str, yes: bool, store: str, collection: str, as_json: bool) -> None:
    """Remove every trace of a document's text for good, leaving a tombstone."""
    if not yes:
        raise click.UsageError(f"this cannot be undone; add --yes to erase {document}")
    with opened(store) as target:
        gone = target.erase(collection, document, now=now())
        target.vacuum()
    what = f"{counted(gone.versions, 'version')}, {counted(gone.chunks, 'chunk')}"
    told = f"{document} is erased: {what}{also(gone.moved)}"
    if not gone.versions:
        told = f"nothing is left of {document}: it was erased already, or only its failure was here"
    removed = {**gone._asdict(), "moved": listed(gone.moved)}
    done(as_json, told, action="erase", document=document, removed=removed)
