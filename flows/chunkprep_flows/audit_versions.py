"""The Prefect flow `audit_versions`: the audit on a schedule, with artifacts to show.

Deploy it by its module entry point, `chunkprep_flows.audit_versions.audit_versions`.
"""

from __future__ import annotations

from prefect import flow, get_run_logger
from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.runtime import deployment

from chunkprep_flows.audit_report import (
    AuditFailedError,
    AuditReport,
    collect,
    finding_rows,
    summary,
)
from chunkprep_flows.audit_settings import AuditSettings
from chunkprep_flows.auditing import AUDITED, findings, sources_listed
from chunkprep_flows.flow_control import tag_collection, to_its_end
from chunkprep_flows.interrupt import breakable
from chunkprep_flows.opened import is_there, now, opened
from chunkprep_flows.served_runs import told_when_served
from chunkprep_flows.step_tasks import step_as_task
from chunkprep_flows.steps import Step, at_once
from chunkprep_ingest.listing import Listing

FINDINGS = "chunkprep-audit-findings"
SUMMARY = "chunkprep-audit"
SHOWN = 500
"""Most rows of the findings artifact, worst first; the summary counts them all."""


@flow(name="audit-versions", persist_result=False)
def audit_versions(settings: AuditSettings) -> AuditReport:
    """Audit a collection, leave a table of findings and a summary, and fail where it is told to.

    Raises AuditFailedError where a finding is as severe as `fail_on`, or worse. A run that is
    stopped is Cancelled; calling it raises StoppedError.
    """
    returned: AuditReport = to_its_end(lambda _: _audit_and_show(settings))
    return returned


def _audit_and_show(settings: AuditSettings) -> tuple[AuditReport, str]:
    tag_collection(settings.collection)
    with told_when_served("audit-versions") as told:
        if deployment.id is not None and not is_there(settings.store):
            report = collect((), collection=settings.collection, at=now())
            told.say("nothing to audit yet: there is no store before the first ingest")
            return report, told.headline
        report = run_audit(settings, step_as_task)
        told.say(report.headline)
        create_table_artifact(
            key=FINDINGS,
            table=finding_rows(report),
            description=f"Audit of collection `{report.collection}`: {report.headline}.",
        )
        create_markdown_artifact(key=SUMMARY, markdown=summary(report))
        get_run_logger().info("audit of %s: %s", report.collection, report.headline)
        if report.fails(settings.fail_on):
            raise AuditFailedError(
                f"the audit of {report.collection} found {report.headline}; see the artifact "
                f"{FINDINGS}"
            )
    return report, report.headline


def run_audit(settings: AuditSettings, step: Step = at_once) -> AuditReport:
    """The audit itself: sources listed, and then compared with the store."""
    listing = sources_listed(settings, step)
    return step("audit-collection", lambda: _audited(settings, listing))


def _audited(settings: AuditSettings, listing: Listing | None) -> AuditReport:
    moment = now()
    with breakable(AUDITED), opened(settings.store) as store:
        found = findings(
            store,
            settings.collection,
            now=moment,
            listing=listing,
            index_ids=settings.index_ids,
            recount=settings.recount,
            checks=settings.checks,
        )
        return collect(found, collection=settings.collection, at=moment, most=SHOWN)
