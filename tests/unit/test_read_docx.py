from __future__ import annotations

import io
import zipfile
from typing import Any

import docx
import pytest
from lxml import etree

from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.model import ParsedDocument
from chunkprep_ingest.readers import ReadOptions, read

NAMESPACES = " ".join(
    f'xmlns:{prefix}="http://schemas.{host}"'
    for prefix, host in {
        "w": "openxmlformats.org/wordprocessingml/2006/main",
        "m": "openxmlformats.org/officeDocument/2006/math",
        "mc": "openxmlformats.org/markup-compatibility/2006",
        "wps": "microsoft.com/office/word/2010/wordprocessingShape",
    }.items()
)


def save(document: Any) -> bytes:
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def with_body(*blocks: str) -> bytes:
    document = docx.Document()
    for block in blocks:
        node = etree.fromstring(f"<root {NAMESPACES}>{block}</root>")[0]
        document.element.body.insert(len(document.element.body) - 1, node)
    return save(document)


def parse(data: bytes, options: ReadOptions | None = None) -> ParsedDocument:
    return read(data, "a.docx", options)


def shape(data: bytes) -> list[tuple[str, int, str]]:
    document = parse(data)
    assert document.coverage == 1.0
    return [(e.kind, e.depth, document.text[e.start : e.end]) for e in document.elements]


def texts(data: bytes) -> list[str]:
    return [text for _, _, text in shape(data)]


def code_of(data: bytes, options: ReadOptions | None = None) -> str:
    with pytest.raises(ReadError) as caught:
        parse(data, options)
    return caught.value.code


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def test_headings_lists_tables_and_code_by_their_styles() -> None:
    document = docx.Document()
    document.add_heading("Handbook", 0)
    document.add_heading("Start", 1)
    document.add_paragraph("Short text")
    document.add_paragraph("bullet", style="List Bullet")
    document.add_paragraph("deeper", style="List Bullet 2")
    document.add_paragraph("first", style="List Number")
    document.add_paragraph("second", style="List Number")
    document.add_heading("More", 2)
    document.add_paragraph("def f():", style="macro")
    document.add_paragraph("    pass", style="macro")
    table = document.add_table(3, 3)
    table.cell(0, 0).merge(table.cell(0, 1)).text = "AB"
    table.cell(0, 2).text = "C"
    table.cell(1, 0).text = "x\ny"
    table.cell(1, 2).merge(table.cell(2, 2)).text = "down"
    assert shape(save(document)) == [
        ("title", 1, "# Handbook"),
        ("title", 1, "# Start"),
        ("paragraph", 0, "Short text"),
        ("list_item", 0, "- bullet"),
        ("list_item", 1, "  - deeper"),
        ("list_item", 0, "1. first"),
        ("list_item", 0, "2. second"),
        ("title", 2, "## More"),
        ("code", 0, "```\ndef f():\n    pass\n```"),
        ("table", 0, "| AB | AB | C |\n| --- | --- | --- |\n| x y |  | down |\n|  |  | down |"),
    ]
    assert parse(save(document)).title == "Handbook"


def test_tracked_insertions_stay_and_deletions_go() -> None:
    block = f"""<w:p>{run("Pay ")}<w:ins w:id="1">{run("40")}</w:ins>
        <w:del w:id="2"><w:r><w:delText>30</w:delText></w:r></w:del></w:p>"""
    assert texts(with_body(block)) == ["Pay 40"]


def test_content_controls_of_blocks_and_of_runs() -> None:
    inline = f"<w:p><w:sdt><w:sdtContent>{run('inline')}</w:sdtContent></w:sdt></w:p>"
    block = f"<w:sdt><w:sdtContent><w:p>{run('block')}</w:p></w:sdtContent></w:sdt>"
    field = f"<w:p><w:fldSimple w:instr='X'>{run('field')}</w:fldSimple></w:p>"
    assert texts(with_body(inline, block, field)) == ["inline", "block", "field"]


def test_text_boxes_follow_their_paragraph_once() -> None:
    box = f"<w:txbxContent><w:p>{run('boxed')}</w:p><w:p>{run('twice')}</w:p></w:txbxContent>"
    block = f"""<w:p>{run("host")}<w:r><mc:AlternateContent>
        <mc:Choice Requires="wps"><w:drawing><wps:txbx>{box}</wps:txbx></w:drawing></mc:Choice>
        <mc:Fallback><w:pict>{box}</w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>"""
    assert texts(with_body(block, f"<w:p>{run('after')}</w:p>")) == [
        "host",
        "boxed",
        "twice",
        "after",
    ]


def test_formulas_are_text() -> None:
    block = f"<w:p>{run('so ')}<m:oMath><m:r><m:t>E=mc</m:t></m:r></m:oMath></w:p>"
    assert texts(with_body(block)) == ["so E=mc"]


def test_headers_and_footers_are_read_or_left_out_on_request() -> None:
    document = docx.Document()
    document.add_paragraph("body")
    document.sections[0].header.paragraphs[0].text = "top line"
    document.sections[0].footer.paragraphs[0].text = "bottom"
    assert texts(save(document)) == ["top line", "body", "bottom"]
    without = parse(save(document), ReadOptions(keep_boilerplate=False))
    assert (without.text, without.coverage) == ("body", 1.0)
    assert without.warnings == ("boilerplate: 3 words of headers and footers were left out",)


def test_a_long_paragraph_and_many_empty_ones() -> None:
    long = "lorem ipsum dolor. " * 230_000
    assert texts(with_body(f"<w:p>{run(long)}</w:p>")) == [long.strip()]
    assert texts(with_body(*["<w:p/>"] * 20_000, f"<w:p>{run('end')}</w:p>")) == ["end"]


def test_damaged_files_are_corrupt() -> None:
    data = with_body(f"<w:p>{run('x' * 5000)}</w:p>")
    assert code_of(data[: len(data) // 2]) == "corrupt"
    assert code_of(data[:5000] + b"zzzzzzzz" + data[5008:]) == "corrupt"
    assert code_of(b"PK\x03\x04") == "corrupt"
    assert code_of(b"no archive at all") == "corrupt"


def archive(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return out.getvalue()


def test_a_zip_under_another_name_is_unsupported() -> None:
    assert code_of(archive({"a.txt": b"x"})) == "unsupported_type"


def test_old_and_encrypted_office_files_are_told_apart() -> None:
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500)
    assert code_of(ole) == "unsupported_type"
    assert code_of(ole + "EncryptedPackage".encode("utf-16-le")) == "needs_password"


def test_archives_that_expand_too_far_are_too_large() -> None:
    bomb = archive({"word/document.xml": b" " * 10_000_000})
    assert code_of(bomb, ReadOptions(max_expanded_bytes=9_999_999)) == "too_large"
    crowd = archive({f"word/{at}.xml": b"" for at in range(200)} | {"word/document.xml": b""})
    assert code_of(crowd, ReadOptions(max_members=100)) == "too_large"


def test_an_archive_that_lies_about_its_sizes_is_corrupt() -> None:
    data = bytearray(archive({"word/document.xml": b" " * 1_000_000}))
    size = (1_000_000).to_bytes(4, "little")
    at = data.rindex(size)
    data[at : at + 4] = (10).to_bytes(4, "little")
    assert code_of(bytes(data)) == "corrupt"


def test_entities_are_not_expanded() -> None:
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">]><w:document xmlns:w="urn:w">&a;</w:document>'
    assert code_of(archive({"word/document.xml": bomb})) in {"corrupt", "empty"}


def test_a_document_without_text_is_empty() -> None:
    assert code_of(save(docx.Document())) == "empty"
