from __future__ import annotations

import pytest

from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.readers import read

BOOK = b"""<?xml version="1.0"?>
<!DOCTYPE book [<!ELEMENT book ANY>]>
<book><!-- not seen --><title>Travel rules</title>
<chapter><title>Refunds</title><para>Paid within <b>14</b> days.</para>
<itemizedlist><listitem><para>One</para></listitem><listitem><para>Two</para></listitem>
</itemizedlist><programlisting language="python">x = 1
  y = 2</programlisting>
<section><title>Late</title><para><![CDATA[Not if a < b & c.]]></para></section></chapter></book>
"""


def test_titles_paragraphs_items_and_code_keep_their_order_and_level() -> None:
    document = read(BOOK, "a.xml")
    assert document.text == (
        "# Travel rules\n\n## Refunds\n\nPaid within 14 days.\n\n- One\n- Two\n\n"
        "```python\nx = 1\n  y = 2\n```\n\n### Late\n\nNot if a < b & c."
    )
    assert (document.title, document.coverage) == ("Travel rules", 1.0)


def test_records_become_one_paragraph_for_each_field() -> None:
    data = b"<rows><row><name>Ann</name><price>3</price></row><row><name>Bo</name></row></rows>"
    assert read(data, "a.xml").text == "Ann\n\n3\n\nBo"


def test_the_declared_encoding_counts() -> None:
    data = "<?xml version='1.0' encoding='iso-8859-1'?><a>Caf\u00e9</a>".encode("latin-1")
    assert read(data, "a.xml").text == "Caf\u00e9"
    assert read("<a>Caf\u00e9</a>".encode("utf-16"), "a.xml").text == "Caf\u00e9"


def test_nothing_is_fetched_and_no_entity_is_expanded() -> None:
    data = b'<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>before &e; after</a>'
    text = read(data, "a.xml").text
    assert text.startswith("before")
    assert text.endswith("after")
    assert "root:" not in text


def test_nesting_costs_nothing() -> None:
    assert read(b"<a>" * 2000 + b"deep" + b"</a>" * 2000, "a.xml").text == "deep"


@pytest.mark.parametrize(
    ("data", "code"), [(b"<a>", "corrupt"), (b"no xml", "corrupt"), (b"<a> <b/></a>", "empty")]
)
def test_what_is_no_xml_or_holds_no_text_fails(data: bytes, code: str) -> None:
    with pytest.raises(ReadError) as caught:
        read(data, "a.xml")
    assert caught.value.code == code
