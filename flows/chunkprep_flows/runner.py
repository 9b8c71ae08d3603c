"""One ingest run as the command line starts it: through Prefect's flow, or directly."""

from __future__ import annotations

from contextlib import ExitStack

from chunkprep_flows.console import talk
from chunkprep_flows.ingest_report import IngestReport
from chunkprep_flows.ingest_settings import IngestSettings, refuse_unshared_store
from chunkprep_flows.interrupt import breakable, graceful_stop
from chunkprep_flows.prefect_talk import api_reached
from chunkprep_flows.progress import shown_progress
from chunkprep_flows.stored_secrets import secret_warnings


def run_directly(settings: IngestSettings) -> IngestReport:
    """Without Prefect."""
    from chunkprep_flows.direct import ingest_directly

    with shown_progress() as progress:
        return ingest_directly(settings, progress)


def run_in_session(settings: IngestSettings) -> IngestReport:
    """Through the flow, within `prefect_session`."""
    from prefect import tags

    from chunkprep_flows.flow_control import StoppedRunError
    from chunkprep_flows.ingest_documents import ingest_documents

    with shown_progress(), api_reached(), tags("chunkprep", f"collection:{settings.collection}"):
        try:
            report: IngestReport = ingest_documents(settings)
        except StoppedRunError as stopped:
            report = stopped.report
    return report


def run_flow(settings: IngestSettings, *, verbose: bool = False) -> IngestReport:
    """Through the flow, against the Prefect API that is configured or a private one."""
    from chunkprep_flows.prefect_session import prefect_session

    refuse_unshared_store(settings)  # before a server is started for nothing
    with graceful_stop(), ExitStack() as held:
        with breakable("a private Prefect server was started"):
            session = held.enter_context(prefect_session(verbose=verbose, say=talk))
        for warning in () if session.private else secret_warnings(settings):
            talk(warning)
        return run_in_session(settings)
