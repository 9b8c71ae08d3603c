"""A store that shows all that the pages can: an edit, a hostile document, a failure, packs."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from chunkprep_flows.opened import now
from chunkprep_packer import Candidate, Packer, PackRequest
from chunkprep_store import Store

DAY = 86_400_000_000
EVIL = "<script>document.title='owned'</script><img src=//evil.example/x onerror=alert(1)>"
EVIL_NAME = "evil<svg onload=alert(2)>'\"&#x3c;.md"
QUERY = (1.0, 0.2, 0.6, 0.1, 0.4)
BUDGETS = (60, 300, 700, 1200)


def fill(folder: Path, ingest: Callable[..., object], run: Callable[..., object]) -> str:
    """Add to the samples that are stored in `folder`; returns the store's URL. `ingest` and `run`
    are the command line's.
    """
    policy = folder / "samples" / "policies" / "refund-2026.md"
    text = policy.read_text(encoding="utf-8").replace("within 14 days", "within 21 days")
    policy.write_text(text, encoding="utf-8")
    ingest("samples")
    (folder / EVIL_NAME).write_text(_evil(), encoding="utf-8")
    (folder / "broken<b>.docx").write_bytes(b"PK\x03\x04 no archive")
    ingest(EVIL_NAME)
    ingest("broken<b>.docx", code=1)
    run("set", "policies/booking-changes.md", "review_by=2020-01-01")
    url = f"sqlite:///{(folder / 'chunkprep.db').as_posix()}"
    _pack(url)
    return url


def _evil() -> str:
    """Markup wherever a document may put text: title, metadata, headings, words."""
    paragraph = f"Refund after the window: {EVIL} {'word ' * 60}"
    return (
        f'---\ntitle: "{EVIL}"\nsource: "{EVIL}"\nedition: "<b>"\ntags: ["<i>"]\n---\n'
        f"# {EVIL}\n\n{paragraph}\n\n## </textarea></style></title>{EVIL}\n\n{paragraph}\n"
    )


def _pack(url: str) -> None:
    """Packs on four days: on the last one with vectors, and with the hostile document."""
    with Store.open(url, create=False) as store:
        moment = now()
        keys = [info.document for info in store.documents("default")]
        ids = [row.chunk_id for key in keys for row in store.chunks("default", key)]
        evil = [row.chunk_id for row in store.chunks("default", EVIL_NAME)]
        for days, budget in enumerate(reversed(BUDGETS)):
            at = moment - (len(BUDGETS) - days) * DAY
            with Packer(store, clock=lambda at=at: at, log="sync") as packer:  # type: ignore[misc]
                packer.pack(PackRequest(budget=budget, as_of=moment, candidates=_ranked(ids[:12])))
        with Packer(store, clock=lambda: moment, log="sync") as packer:
            found = _ranked([*evil, *ids[:10]])
            packer.pack(PackRequest(budget=900, mmr=0.9, query_vector=QUERY, candidates=found))


def _ranked(ids: list[str]) -> list[Candidate]:
    """Candidates with vectors that point apart, the first one's as the query's."""
    dice = random.Random(7)
    vectors = [QUERY, *(tuple(dice.random() for _ in QUERY) for _ in ids)]
    return [
        Candidate(name, 1 - n / 50, vector=vector)
        for n, (name, vector) in enumerate(zip(dict.fromkeys(ids), vectors, strict=False))
    ]
