"""Remote sources by fsspec URL: a real S3 server, a real web server, memory and an archive."""

from __future__ import annotations

import io
import os
import sys
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from tests.e2e.conftest import Cli

from chunkprep_store import Store

REFUND = "# Refunds\n\nFourteen days.\n"
BAGS = "# Bags\n\nOne bag of 20 kg.\n"


@pytest.fixture(autouse=True)
def _mirrors(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CHUNKPREP_MIRROR", str(tmp_path / "mirrors"))


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A bucket named `docs` on moto's S3 server, and its client; requests are in `seen`."""
    import boto3  # type: ignore[import-untyped]
    import s3fs  # type: ignore[import-untyped]
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    client = boto3.client("s3", endpoint_url=f"http://{host}:{port}", region_name="us-east-1")
    client.create_bucket(Bucket="docs")
    yield client
    for name in [key["Key"] for key in client.list_objects(Bucket="docs").get("Contents", [])]:
        client.delete_object(Bucket="docs", Key=name)
    s3fs.S3FileSystem.clear_instance_cache()
    client.close()
    server.stop()


def put(client: Any, **texts: str) -> None:
    for name, text in texts.items():
        client.put_object(Bucket="docs", Key=f"policies/{name}.md", Body=text.encode())


def uri(cli: Cli, document: str) -> str | None:
    """Where a stored document came from."""
    with Store.open(f"sqlite:///{cli.folder / 'chunkprep.db'}") as store:
        return store.known("default", [document])[document].uri


def downloads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the objects that are downloaded from now on."""
    from chunkprep_ingest import remote

    seen: list[str] = []
    real = remote._download

    def recorded(system: Any, name: str, root: Path, relative: str) -> None:
        seen.append(relative)
        real(system, name, root, relative)

    monkeypatch.setattr(remote, "_download", recorded)
    return seen


def test_a_bucket_is_ingested_and_only_what_changed_is_downloaded_again(
    cli: Cli, bucket: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = downloads(monkeypatch)
    put(bucket, refund=REFUND, bags=BAGS)
    bucket.put_object(Bucket="docs", Key="policies/bags.md.meta.yaml", Body=b"edition: '7'\n")
    first = cli.ingest("s3://docs/policies")
    assert (first["new"], first["failed"]) == (2, 0)
    stored = {doc["document"]: doc for doc in cli.lines("docs")}
    assert stored["bags.md"]["edition"] == "7"
    assert uri(cli, "refund.md") == "s3://docs/policies/refund.md"
    assert sorted(seen) == ["bags.md", "bags.md.meta.yaml", "refund.md"]
    seen.clear()
    assert cli.ingest("s3://docs/policies")["unchanged"] == 2
    assert seen == []
    put(bucket, refund=REFUND.replace("Fourteen", "Twenty"))
    assert cli.ingest("s3://docs/policies")["updated"] == 1
    assert seen == ["refund.md"]


def test_a_bucket_gives_the_chunks_of_the_same_files(cli: Cli, bucket: Any) -> None:
    put(bucket, refund=REFUND, bags=BAGS)
    folder = cli.folder / "policies"
    folder.mkdir()
    (folder / "refund.md").write_text(REFUND)
    (folder / "bags.md").write_text(BAGS)
    cli.ingest("s3://docs/policies", "--store", "sqlite:///remote.db")
    cli.ingest("policies", "--store", "sqlite:///local.db")
    for document in ("refund.md", "bags.md"):
        there = cli.lines("chunks", document, "--store", "sqlite:///remote.db")
        assert there == cli.lines("chunks", document, "--store", "sqlite:///local.db")


def test_sync_withdraws_an_object_that_is_gone(cli: Cli, bucket: Any) -> None:
    put(bucket, refund=REFUND, bags=BAGS)
    cli.ingest("s3://docs/policies")
    bucket.delete_object(Bucket="docs", Key="policies/bags.md")
    assert cli.ingest("s3://docs/policies", "--sync")["withdrawn"] == 1
    put(bucket, bags=BAGS)
    assert cli.ingest("s3://docs/policies", "--sync")["revived"] == 1


def test_sync_leaves_an_object_that_a_filter_leaves_out(cli: Cli, bucket: Any) -> None:
    put(bucket, refund=REFUND, bags=BAGS, fees=BAGS + "And fees.\n")
    cli.ingest("s3://docs/policies")
    bucket.put_object(Bucket="docs", Key="policies/.chunkprepignore", Body=b"fees.md\n")
    assert cli.ingest("s3://docs/policies", "--sync", "--exclude", "bags.md")["withdrawn"] == 0
    bucket.delete_object(Bucket="docs", Key="policies/bags.md")
    assert cli.ingest("s3://docs/policies", "--sync", "--exclude", "bags.md")["withdrawn"] == 1
    statuses = {d["document"]: d["status"] for d in cli.lines("docs")}
    assert statuses == {"bags.md": "withdrawn", "fees.md": "active", "refund.md": "active"}


def test_the_audit_compares_with_a_bucket(
    cli: Cli, bucket: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(cli.folder / "cache"))
    put(bucket, refund=REFUND, bags=BAGS)
    cli.ingest("s3://docs/policies")
    assert not cli.lines("audit", "--sources", "s3://docs/policies")
    put(bucket, refund=REFUND.replace("Fourteen", "Twenty"))
    bucket.delete_object(Bucket="docs", Key="policies/bags.md")
    found = cli.lines("audit", "--sources", "s3://docs/policies", "--fail-on", "never")
    checks = {(finding["check"], finding["document"]) for finding in found}
    assert checks == {("source_changed", "refund.md"), ("source_missing", "bags.md")}


def test_the_audit_uses_the_mirror_of_the_ingest(
    cli: Cli, bucket: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CHUNKPREP_MIRROR")
    put(bucket, refund=REFUND, bags=BAGS)
    here = ("--mirror", cli.folder / "here", "--exclude", "bags.md")
    cli.ingest("s3://docs/policies", *here)
    seen = downloads(monkeypatch)
    assert not cli.lines("audit", "--sources", "s3://docs/policies", *here)
    assert seen == []


def test_a_glob_in_a_url_takes_what_matches(
    cli: Cli, bucket: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = downloads(monkeypatch)
    put(bucket, refund=REFUND, bags=BAGS)
    bucket.put_object(Bucket="docs", Key="policies/old/fees.md", Body=b"# Fees\n")
    bucket.put_object(Bucket="docs", Key="policies/old/fees.csv", Body=b"a,b\n1,2\n")
    bucket.put_object(Bucket="docs", Key="policies/bags.md.meta.yaml", Body=b"edition: '7'\n")
    deep = cli.ingest("s3://docs/**/*.md", "--store", "sqlite:///deep.db")
    names = {d["document"] for d in deep["documents"]}
    assert names == {"policies/refund.md", "policies/bags.md", "policies/old/fees.md"}
    stored = cli.lines("docs", "--store", "sqlite:///deep.db")
    assert {d["edition"] for d in stored if d["document"] == "policies/bags.md"} == {"7"}
    assert "policies/old/fees.csv" not in seen
    flat = cli.ingest("s3://docs/policies/[br]*.md", "--store", "sqlite:///flat.db")
    assert {d["document"] for d in flat["documents"]} == {"refund.md", "bags.md"}
    none = cli.ingest("s3://docs/policies/*.docx", "--store", "sqlite:///none.db", code=1)
    assert none["documents"][0]["error"]["code"] == "unreadable"
    assert "no file matches" in none["documents"][0]["error"]["message"]


def test_an_object_whose_name_looks_like_a_glob_is_that_object(cli: Cli, bucket: Any) -> None:
    bucket.put_object(Bucket="docs", Key="policies/a[1].md", Body=REFUND.encode())
    bucket.put_object(Bucket="docs", Key="policies/a1.md", Body=BAGS.encode())
    report = cli.ingest("s3://docs/policies/a[1].md")
    assert [d["document"] for d in report["documents"]] == ["a[1].md"]


def test_a_failed_object_is_tried_again_where_it_is(cli: Cli, bucket: Any) -> None:
    put(bucket, refund=REFUND)
    for name in ("broken", "gone"):
        bucket.put_object(Bucket="docs", Key=f"policies/{name}.docx", Body=b"no archive")
    assert cli.ingest("s3://docs/policies", code=1)["failed"] == 2
    assert len(cli.lines("failures", "--retry", code=1)) == 2
    bucket.put_object(Bucket="docs", Key="policies/broken.docx", Body=docx())
    bucket.delete_object(Bucket="docs", Key="policies/gone.docx")
    assert cli.lines("failures", "--retry") == []
    assert {d["document"] for d in cli.lines("docs")} == {"refund.md", "broken.docx"}
    assert uri(cli, "broken.docx") == "s3://docs/policies/broken.docx"


def docx() -> bytes:
    """A small Word document."""
    import docx as word

    document, out = word.Document(), io.BytesIO()
    document.add_paragraph("Mended.")
    document.save(out)
    return out.getvalue()


@pytest.mark.parametrize("cloud", ["gs", "abfs"])
def test_other_clouds_take_the_same_way_up_to_their_driver(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, cloud: str
) -> None:
    """Where gcsfs and adlfs are not at hand, memory stands in their place."""
    import fsspec  # type: ignore[import-untyped]
    from fsspec.implementations.memory import MemoryFileSystem  # type: ignore[import-untyped]
    from fsspec.registry import _registry  # type: ignore[import-untyped]

    class StandIn(MemoryFileSystem):  # type: ignore[misc]
        protocol = cloud
        store: ClassVar[dict[str, Any]] = {}

        @classmethod
        def _strip_protocol(cls, path: str) -> str:
            return "/" + path.removeprefix(f"{cloud}://").strip("/")

    monkeypatch.setitem(_registry, cloud, StandIn)
    fsspec.filesystem(cloud).pipe("/docs/policies/refund.md", REFUND.encode())
    report = cli.ingest(f"{cloud}://docs/policies")
    assert report["new"] == 1
    assert uri(cli, "refund.md") == f"{cloud}://docs/policies/refund.md"
    assert not cli.lines("audit", "--sources", f"{cloud}://docs/policies")


def test_a_bucket_that_is_not_there_fails_and_withdraws_nothing(cli: Cli, bucket: Any) -> None:
    put(bucket, refund=REFUND, bags=BAGS)
    cli.ingest("s3://docs/policies")
    bucket.delete_object(Bucket="docs", Key="policies/refund.md")
    report = cli.ingest("s3://docs/policies", "s3://elsewhere/x", "--sync", code=1)
    assert (report["failed"], report["withdrawn"]) == (1, 0)
    [failed] = [d for d in report["documents"] if d["error"]]
    assert failed["error"]["code"] == "unreadable"


def test_filters_spare_the_download(cli: Cli, bucket: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = downloads(monkeypatch)
    put(bucket, refund=REFUND, bags=BAGS)
    assert cli.ingest("s3://docs", "--exclude", "bags.md")["new"] == 1
    assert seen == ["policies/refund.md"]


def test_a_page_of_a_web_server(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "served").mkdir()
    (tmp_path / "served" / "refund.md").write_text(REFUND)
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "served"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_port}"
        assert cli.ingest(f"{base}/refund.md")["new"] == 1
        signed = base.replace("//", "//reader:hush@") + "/refund.md?signature=hush"
        assert cli.ingest(signed)["unchanged"] == 1
        parts = [f"{base}/refund.md#{part}" for part in ("days", "fees")]
        assert cli.ingest(*parts)["unchanged"] == 1
        gone = cli.ingest(f"{base}/gone.md", code=1)
        server.shutdown()
    assert uri(cli, "refund.md") == f"{base}/refund.md"
    assert gone["documents"][0]["error"]["code"] == "unreadable"
    with Store.open(f"sqlite:///{cli.folder / 'chunkprep.db'}") as store:
        asked = [run.settings for run in store.runs("default")]
    assert [f"{base}/refund.md"] in [settings["sources"] for settings in asked]
    assert "hush" not in str(asked)


class Refusing(BaseHTTPRequestHandler):
    """Answers with the status that the path begins with."""

    def do_GET(self) -> None:
        self.send_response(int(self.path[1:4]))
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def test_a_page_that_cannot_be_had_says_why(cli: Cli) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_port}"
        for status, reason in {404: "Not Found", 401: "Unauthorized", 503: "Service"}.items():
            said = cli("ingest", f"{base}/{status}.md?signature=hush", "--direct", code=1).stderr
            assert f"unreadable: HTTP {status} {reason}" in said
            assert "hush" not in said
        server.shutdown()
    refused = cli("ingest", f"{base}/x.md", "--direct", code=1).stderr
    assert "Connection refused" in refused


def test_memory_and_an_archive(cli: Cli, tmp_path: Path) -> None:
    import fsspec

    memory = fsspec.filesystem("memory")
    memory.pipe("/team/a.md", REFUND.encode())
    with zipfile.ZipFile(tmp_path / "docs.zip", "w") as archive:
        archive.writestr("rules/b.md", BAGS)
    report = cli.ingest("memory://team", f"zip://::{tmp_path / 'docs.zip'}")
    memory.rm("/team", recursive=True)
    assert {d["document"] for d in report["documents"]} == {"a.md", "rules/b.md"}
    assert report["new"] == 2


@pytest.mark.parametrize(("module", "url", "extra"), [
    ("s3fs", "s3://docs/policies", "s3"),
    ("fsspec", "memory://docs", "remote"),
    ("gcsfs", "gs://docs/**/*.md", "gcs"),
    ("adlfs", "abfs://docs", "azure"),
])  # fmt: skip
def test_a_missing_library_is_named_with_its_extra(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, module: str, url: str, extra: str
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    if "fsspec" in sys.modules and module != "fsspec":
        sys.modules["fsspec.registry"]._registry.pop(url.partition(":")[0], None)
    said = cli("ingest", url, "--direct", code=2).stderr.strip()
    assert f"pip install 'chunkprep[{extra}]'" in said
    assert len(said.splitlines()) == 1


def test_an_unknown_protocol_is_refused_on_one_line(cli: Cli) -> None:
    said = cli("ingest", "carrier-pigeon://docs", "--direct", code=2).stderr.strip()
    assert "carrier-pigeon" in said
    assert os.linesep not in said


def test_a_web_server_that_is_down_changes_nothing_that_is_stored(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "served").mkdir()
    (tmp_path / "served" / "refund.md").write_text(REFUND)
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "served"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/refund.md"
        cli.ingest(url)
        server.shutdown()
    report = cli.ingest(url, "--sync", code=1)
    assert [(d["document"], d["outcome"]) for d in report["documents"]] == [(url, "failed")]
    assert report["warnings"] == []
    assert uri(cli, "refund.md") == url
    assert [d["status"] for d in cli.lines("docs")] == ["active"]


def test_of_a_bucket_that_is_away_nothing_is_read_from_the_mirror(cli: Cli, bucket: Any) -> None:
    put(bucket, refund=REFUND)
    cli.ingest("s3://docs/policies")
    bucket.delete_object(Bucket="docs", Key="policies/refund.md")
    report = cli.ingest("s3://docs/policies", "--sync", "--cap", "128", code=1)
    assert [d["outcome"] for d in report["documents"]] == ["failed"]
    assert [d["status"] for d in cli.lines("docs")] == ["active"]


class Typed(BaseHTTPRequestHandler):
    """Answers each path with the type that it declares, and a text of that type."""

    def do_GET(self) -> None:
        kind, body = {
            "/": ("text/html; charset=utf-8", b"<h1>Front</h1><p>Welcome."),
            "/page": ("text/html", b"<h1>Fees</h1><p>Nine euros."),
            "/notes": ("text/plain", b"Nine euros."),
            "/blob": ("application/octet-stream", b"Nine euros."),
        }[self.path]
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def test_a_page_without_a_suffix_is_read_as_the_type_that_its_server_declares(cli: Cli) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Typed) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_port}"
        assert cli.ingest(f"{base}/", f"{base}/page", f"{base}/notes")["new"] == 3
        assert cli.ingest(f"{base}/", f"{base}/page", f"{base}/notes")["unchanged"] == 3
        assert uri(cli, "index.html") == base
        assert uri(cli, "page.html") == f"{base}/page"
        assert uri(cli, "notes.txt") == f"{base}/notes"
        assert "Nine euros." in cli.lines("chunks", "page.html")[0]["text"]
        [failed] = cli.ingest(f"{base}/blob", code=1)["documents"]
        assert failed["error"]["code"] == "unsupported_type"
        assert len(cli.lines("failures", "--retry", code=1)) == 1
        assert cli.lines("failures", "--dismiss", "blob") == []
        server.shutdown()


def test_one_file_of_an_archive_is_read(cli: Cli, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "docs.zip", "w") as archive:
        archive.writestr("rules/b.md", BAGS)
    source = f"zip://rules/b.md::{tmp_path / 'docs.zip'}"
    assert cli.ingest(source)["new"] == 1
    assert uri(cli, "b.md") == source
