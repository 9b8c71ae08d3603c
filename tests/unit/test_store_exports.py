"""The store's public door."""

from __future__ import annotations

import chunkprep_store


def test_every_public_name_exists_and_is_sorted() -> None:
    assert chunkprep_store.__all__ == sorted(chunkprep_store.__all__)
    assert all(hasattr(chunkprep_store, name) for name in chunkprep_store.__all__)


def test_what_other_packages_rely_on_is_there() -> None:
    methods = (
        "open close url dialect schema profile template put_profile put_policy known write_version "
        "start_run finish_run record_failure failures supersede withdraw restore set_metadata "
        "lookup successors search documents versions chunks parsed audit changes write_packs packs "
        "impact prune erase vacuum put_prices unpriced snapshot"
    )
    missing = [name for name in methods.split() if not hasattr(chunkprep_store.Store, name)]
    assert missing == []
