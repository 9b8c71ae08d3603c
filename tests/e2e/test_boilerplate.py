"""Navigation and repeated page headers and footers, kept out of the chunks on request."""

from __future__ import annotations

from pathlib import Path

from fpdf import FPDF
from tests.e2e.conftest import Cli

from chunkprep_store import Store


class Guide(FPDF):
    def header(self) -> None:
        self.set_font("helvetica", size=9)
        self.set_y(8)
        self.cell(0, 5, "Travel guide 2026")
        self.ln(15)

    def footer(self) -> None:
        self.set_y(-12)
        self.set_font("helvetica", size=9)
        self.cell(0, 5, f"Page {self.page_no()}")


def make(folder: Path) -> None:
    folder.mkdir()
    guide = Guide()
    for page in range(1, 5):
        guide.add_page()
        guide.set_font("helvetica", size=12)
        guide.multi_cell(0, 6, f"Rule {page} holds from its first day on.")
    (folder / "guide.pdf").write_bytes(bytes(guide.output()))
    markup = "<nav><a>Home</a> <a>Imprint</a></nav><h1>Refunds</h1><p>Paid within 14 days.</p>"
    (folder / "page.html").write_text(markup)
    (folder / "plain.md").write_text("# Plain\n\nNothing comes again.\n")


def texts(cli: Cli) -> str:
    names = ("guide.pdf", "page.html", "plain.md")
    return "\n".join(row["text"] for name in names for row in cli.lines("chunks", name))


def test_boilerplate_stays_unless_a_setting_keeps_it_out(cli: Cli) -> None:
    make(cli.folder / "docs")
    assert cli.ingest("docs")["new"] == 3
    text = texts(cli)
    assert all(phrase in text for phrase in ("Travel guide 2026", "Page 4", "Imprint"))


def test_what_is_left_out_is_counted_and_covered(cli: Cli) -> None:
    make(cli.folder / "docs")
    report = cli.ingest("docs", "--drop-boilerplate")
    told = {d["document"]: (d["warnings"], d["coverage"]) for d in report["documents"]}
    assert told == {
        "guide.pdf": (["boilerplate: 20 words of page headers and footers were left out"], 1.0),
        "page.html": (["boilerplate: 2 words of navigation were left out"], 1.0),
        "plain.md": ([], 1.0),
    }
    assert report["boilerplate_words"] == 22
    with Store.open(f"sqlite:///{cli.folder / 'chunkprep.db'}") as store:
        [run] = store.runs("default")
    assert (run.summary or {})["boilerplate_words"] == 22
    (cli.folder / "docs" / "page.html").write_text("<nav><a>Home</a></nav><p>Other.</p>")
    said = cli("ingest", "docs", "--drop-boilerplate", "--direct").stderr
    assert "left out 1 word of boilerplate" in said


def test_what_is_left_out_is_in_no_chunk(cli: Cli) -> None:
    make(cli.folder / "docs")
    cli.ingest("docs", "--drop-boilerplate")
    text = texts(cli)
    assert not [phrase for phrase in ("Travel guide", "Page", "Imprint") if phrase in text]
    assert "Rule 4 holds from its first day on." in text
    assert "Paid within 14 days." in text


def test_another_setting_reads_again_and_the_same_one_does_not(cli: Cli) -> None:
    make(cli.folder / "docs")
    cli.ingest("docs")
    changed = cli.ingest("docs", "--drop-boilerplate")
    assert (changed["updated"], changed["unchanged"]) == (2, 1)
    assert cli.ingest("docs", "--drop-boilerplate")["unchanged"] == 3
    assert cli.ingest("docs")["updated"] == 2
    assert "Imprint" in texts(cli)
