"""The commands of `chunkprep`, one module for each group of them, in the order of their help."""

from __future__ import annotations

import click

from chunkprep_flows.commands.audit import audit, impact
from chunkprep_flows.commands.changes import changes
from chunkprep_flows.commands.demo import demo
from chunkprep_flows.commands.documents import chunks, docs, versions
from chunkprep_flows.commands.failures import failures
from chunkprep_flows.commands.ingest import ingest
from chunkprep_flows.commands.keys import keys
from chunkprep_flows.commands.lifecycle import erase, restore, set_values, supersede, withdraw
from chunkprep_flows.commands.pack import pack, search, slot
from chunkprep_flows.commands.prune import prune
from chunkprep_flows.commands.recount import recount
from chunkprep_flows.commands.replay import replay
from chunkprep_flows.commands.report import report
from chunkprep_flows.commands.resplit import resplit
from chunkprep_flows.commands.schedule import schedule
from chunkprep_flows.commands.schema import db
from chunkprep_flows.commands.serve import serve
from chunkprep_flows.commands.status import status

COMMANDS: tuple[click.Command, ...] = (
    demo,
    ingest,
    docs,
    versions,
    chunks,
    search,
    pack,
    slot,
    supersede,
    withdraw,
    restore,
    set_values,
    erase,
    audit,
    impact,
    changes,
    recount,
    resplit,
    failures,
    status,
    replay,
    report,
    serve,
    keys,
    schedule,
    prune,
    db,
)
