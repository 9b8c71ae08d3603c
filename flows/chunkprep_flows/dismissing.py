"""`failures --dismiss`: failures of what never became a document, taken off the list by hand."""

from __future__ import annotations

from collections.abc import Sequence

from chunkprep_flows.opened import now
from chunkprep_ingest.errors import NotFoundError, RequestError
from chunkprep_store import Failure, Store


def dismiss_failures(store: Store, collection: str, keys: Sequence[str]) -> list[Failure]:
    """Take the failures of these keys off the list, all or none; a run of the kind `dismiss` keeps
    what they were. Whatever meets the same file again tries it again.

    Raises NotFoundError where there is none, and RequestError where a version of the document
    stands: it may be out of date, and its failure is all that tells.
    """
    listed = {failure.document: failure for failure in store.failures(collection)}
    known = store.known(collection, keys)
    for key in keys:
        if key not in listed:
            raise NotFoundError(f"no failure of {key!r} is listed; see `chunkprep failures`")
        there = known[key]
        if there.version is not None and not there.erased and there.status != "withdrawn":
            raise RequestError(
                f"{key!r} is stored (version {there.version}), and may be out of date: mend its "
                f"file, or run `chunkprep withdraw {key}` first",
                "dismiss",
            )
    found = [listed[key] for key in dict.fromkeys(keys)]
    names = [failure.document for failure in found]
    asked = {"documents": names}
    run_id = store.start_run(collection, now=now(), kind="dismiss", settings=asked)
    for name in names:
        store.forget_failure(collection, name)
    dismissed = [{name: getattr(f, name) for name in ("document", "uri", "code")} for f in found]
    store.finish_run(run_id, now=now(), summary={"dismissed": dismissed})
    return found
