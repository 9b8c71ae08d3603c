"""Chunks made again from stored elements, under another policy; files are not read."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace

from chunkprep_flows.ingest_report import DocumentOutcome, IngestReport, failed, summed
from chunkprep_flows.interrupt import stop_asked
from chunkprep_flows.opened import now
from chunkprep_flows.pipeline import Progress
from chunkprep_flows.recipe import Recipe, keep_profile, recorded_recipe
from chunkprep_flows.split_settings import SplitSettings
from chunkprep_flows.unfinished import recorded_end
from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.metadata import Metadata
from chunkprep_ingest.model import PreparedVersion
from chunkprep_ingest.prepare import prepare_version
from chunkprep_ingest.template import Template
from chunkprep_store import Store, VersionInfo

_AS_IT_IS = SplitSettings()
OUT_OF_FORCE = "out of force; it is split again when it comes back"


def resplit_collection(
    store: Store,
    collection: str,
    progress: Progress,
    *,
    split: SplitSettings = _AS_IT_IS,
    template: Template | None = None,
) -> IngestReport:
    """A new version of each text in force that the settings split, or the template dresses,
    otherwise; both become the collection's own. Raises PolicyError for what cannot work.
    """
    started = time.perf_counter()
    recipe = recorded_recipe(store, collection)
    recipe = replace(recipe, policy=split.applied(recipe.policy))
    if template is not None:
        recipe = replace(recipe, template=template)
    profile = recipe.profile()  # refuses a cap that header and delimiter would fill
    store.put_policy(recipe.policy)
    keep_profile(store, profile)
    store.set_primary(
        collection, policy=recipe.policy.fingerprint, profile=profile.fingerprint, now=now()
    )
    settings = {**asdict(recipe.policy), "template": recipe.template.name}
    run_id = store.start_run(collection, now=now(), kind="resplit", settings=settings)
    bench = _Bench(store, collection, recipe, run_id)
    with recorded_end(store, run_id):
        outcomes = bench.all(progress)
    report = summed(
        outcomes,
        run_id=run_id,
        collection=collection,
        seconds=time.perf_counter() - started,
        stopped=stop_asked(),
    )
    summary = {**asdict(report), "documents": len(outcomes)}
    store.finish_run(run_id, now=now(), summary=summary)
    return report


@dataclass(frozen=True, slots=True)
class _Bench:
    """What splitting one document again takes."""

    store: Store
    collection: str
    recipe: Recipe
    run_id: str

    def all(self, progress: Progress) -> list[DocumentOutcome]:
        """Every document, until a stop is asked for."""
        keys = [info.document for info in self.store.documents(self.collection)]
        progress.started(len(keys))
        outcomes: list[DocumentOutcome] = []
        for key in keys:
            if stop_asked():
                break
            outcomes.append(self.one(key))
            progress.done(outcomes[-1:])
        return outcomes

    def one(self, document: str) -> DocumentOutcome:
        """One document: every version of it that is in force, still to come, or a draft."""
        found = self.store.open_versions(self.collection, document, at=now())
        try:
            done = [self.recut(info) for info in found]
        except ReadError as error:
            return failed(document, error)
        if not done:
            return DocumentOutcome(document, None, "skipped", warnings=(OUT_OF_FORCE,))
        return next((d for d in reversed(done) if d.outcome == "updated"), done[-1])

    def recut(self, info: VersionInfo) -> DocumentOutcome:
        """One version split again. Raises ReadError where a character does not fit the cap."""
        prepared = self.prepare(info)
        done = self.store.recut(
            self.collection, prepared, version=info.version, now=now(), run_id=self.run_id
        )
        return DocumentOutcome(
            document=info.document,
            version=done.version,
            outcome=done.outcome,
            chunks=len(prepared.chunks),
            coverage=prepared.parsed.coverage,
            warnings=prepared.warnings,
            written=done.chunks,
            tokens=done.tokens,
        )

    def prepare(self, info: VersionInfo) -> PreparedVersion:
        """The version's text in chunks of the recipe."""
        return prepare_version(
            self.store.parsed(self.collection, info.document, info.version),
            document=info.document,
            uri=info.uri,
            data_hash=info.bytes_hash,
            metadata=Metadata.model_validate_json(info.metadata_json),
            policy=self.recipe.policy,
            profile=self.recipe.profile(),
            counter=self.recipe.counter(),
        )
