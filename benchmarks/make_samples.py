"""Makes the binary documents of samples/ (DOCX, PDF, PPTX, XLSX), byte for byte the same each time.

    python benchmarks/make_samples.py [FOLDER]

They are committed as files; run this only to change them. Office files are zip archives whose
members and core properties carry a moment: `normalise` sets it to a fixed one.
"""

from __future__ import annotations

import io
import re
import sys
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from docx import Document
from fpdf import FPDF
from fpdf.enums import XPos, YPos
from openpyxl import Workbook
from pptx import Presentation

MOMENT = datetime(2026, 1, 1, 9, 0, tzinfo=UTC)

COMPLAINTS = [
    (1, "Complaints and appeals"),
    (
        0,
        "How Quillhaven Travel deals with complaints, from the first message to the answer of the "
        "travel ombuds office. A complaint is any sign that a customer is not content, in any "
        "channel, whether or not the word is used.",
    ),
    (2, "Receiving a complaint"),
    (
        0,
        "Whoever hears a complaint first owns it until somebody else has said yes to taking it "
        "over. The owner writes down what the customer wants, in the customer's words, and gives "
        "a day on which the customer will hear from us. The day is never more than five working "
        "days away, even if all we can say then is that we are not finished.",
    ),
    (
        0,
        "Complaints about a refund go to the refunds desk together with the calculation: the "
        "price of each item, the row of the cancellation scale, the taxes, and the date from "
        "which the days were counted. A complaint without the calculation is sent back.",
    ),
    (2, "Appeals against a refund"),
    (
        0,
        "An appeal is decided by somebody who had no part in the first decision. The refunds desk "
        "answers within 10 days. It may confirm the refund, correct it, or give more than the "
        "scale does when the scale leads to a result that nobody would call fair. The last of "
        "these is rare, and each case is written down, because the next edition of the policy "
        "is made from them.",
    ),
    (0, "The answer to an appeal has four parts, in this order:"),
    (-1, "the decision and the amount, in the first sentence;"),
    (-1, "the calculation, line by line, with the row of the scale;"),
    (-1, "what the customer can do next, with the address of the ombuds office;"),
    (-1, "the name of the desk, never only of a person."),
    (
        0,
        "If the appeal succeeds, the difference is paid within 7 days together with interest of "
        "0.5 % for each full week since the cancellation. Interest is paid even when the mistake "
        "was not ours, because the customer waited all the same.",
    ),
    (2, "Deadlines"),
    (
        "table",
        [
            ("Step", "Who", "Within"),
            ("First answer", "owner", "2 working days"),
            ("Answer to a complaint", "owner", "5 working days"),
            ("Answer to an appeal", "refunds desk", "10 days"),
            ("Payment after a successful appeal", "accounts", "7 days"),
            ("Statement to the ombuds office", "legal", "21 days"),
        ],
    ),
    (2, "The ombuds office"),
    (
        0,
        "A customer may turn to the travel ombuds office after our answer to an appeal, or when 30 "
        "days have passed without one. We follow its decisions up to 5,000 euros. Above that the "
        "legal team decides within 14 days, and says no only in writing and with reasons.",
    ),
]
"""(level, text): 1 and 2 are headings, 0 a paragraph, -1 a list item, "table" rows."""

RIGHTS = [
    (1, "Passenger rights at a glance"),
    (
        0,
        "This leaflet is handed out in shops. It sums up what the law gives to passengers; the "
        "policies of Quillhaven Travel give more in several places, and never less.",
    ),
    (2, "When a flight is cancelled"),
    (
        0,
        "You choose between your money back and another flight. If you take your money back, it "
        "must reach you within seven days, for the parts of the journey that you did not fly and "
        "for those that have become useless. If you take another flight, meals, a hotel where a "
        "night is needed, and two telephone calls are free.",
    ),
    (
        0,
        "A payment comes on top when you were told less than 14 days ahead: 250 euros for up to "
        "1,500 km, 400 euros for up to 3,500 km, 600 euros beyond. It is not owed for weather, "
        "closed air space or strikes of air traffic control.",
    ),
    (2, "When a flight is late"),
    (
        0,
        "From two hours on you have a right to meals and drinks, from five hours on to your money "
        "back if you no longer want to travel. If you arrive three hours late or more, the same "
        "payments are owed as for a cancellation.",
    ),
    (2, "When a train is late"),
    (
        0,
        "From 60 minutes on, a quarter of the ticket price is paid back; from 120 minutes on, "
        "half. If a delay of 60 minutes or more is to be expected before you leave, you may give "
        "the ticket back for the full price or travel later at no cost.",
    ),
    (2, "When a package journey changes"),
    (
        0,
        "The organiser must tell you about every important change in writing. You may then cancel "
        "at no cost and get all payments back within 14 days. Price rises above 8 % count as an "
        "important change; in the last 20 days before departure no price may rise at all.",
    ),
    (2, "When luggage is lost"),
    (
        0,
        "Report lost luggage before you leave the hall, and damage within seven days. The airline "
        "is liable up to about 1,600 euros for each passenger. Keep the label and all receipts.",
    ),
    (2, "How to claim"),
    (
        0,
        "Open your booking in the app, choose Claim, and answer four questions. We send the claim "
        "to the carrier, remind it, and pass on all of the money. Claims can be made for at least "
        "two years after the journey. Shops help you with the form at no cost.",
    ),
]

SLIDES = [
    (
        "Refunds in 2026: what changes",
        [
            "Training for agents, 40 minutes",
            "The refund policy of 2019 ended on 31 December 2025",
            "Every booking since then follows the policy of 2026",
        ],
    ),
    (
        "The refund window is 14 days",
        [
            "Full price back, no reason needed, departure at least 7 days away",
            "It was 30 days with departure more than 60 days away",
            "Groups of ten or more: 21 days",
            "Extras booked later have a window of their own",
        ],
    ),
    (
        "The scale is kinder close to departure",
        [
            "Package 8 to 14 days ahead: 40 %, it was 20 %",
            "Package 3 to 7 days ahead: 20 %, it was nothing",
            "Taxes that were not incurred always come back in full",
            "Hard cases move two rows up, it was one",
        ],
    ),
    (
        "Money goes back the way it came",
        [
            "Same card, account or wallet within 7 days",
            "14 days where a carrier has to confirm",
            "No cheques, and no vouchers unless the customer asks",
            "Late refunds earn 0.5 % interest for each full week",
        ],
    ),
    (
        "What to say",
        [
            "Say what goes back before you say what is kept",
            "Name the row and the share",
            "Old bookings: we compare both policies and pay the higher amount",
            "Mention the refunds desk before the customer asks",
        ],
    ),
]

JOURNEYS = [
    ("Code", "Journey", "Nights", "Season", "Basic (EUR)", "Flexible (EUR)", "Deposit (EUR)"),
    ("LIS-04", "Lisbon city break", 4, "April to June", 389, 449, 50),
    ("LIS-04S", "Lisbon city break", 4, "July to September", 459, 529, 50),
    ("AZO-09", "Azores walking week", 9, "May to October", 1180, 1340, 150),
    ("DOL-07", "Dolomites hut to hut", 7, "June to September", 940, 1075, 120),
    ("LOF-08", "Lofoten by ferry and bus", 8, "June to August", 1390, 1560, 180),
    ("CRE-10", "Crete coast and gorge", 10, "April to October", 1095, 1230, 150),
    ("EDI-03", "Edinburgh weekend", 3, "all year", 299, 359, 50),
    ("TAL-05", "Tallinn and the islands", 5, "May to September", 520, 610, 75),
    ("SLO-06", "Slovenia by train", 6, "all year", 610, 690, 75),
    ("NIG-02", "Night train to Vienna", 2, "all year", 219, 289, 30),
]

SURCHARGES = [
    ("Item", "Applies to", "Amount (EUR)", "Refunded"),
    ("Single room", "all packages, each night", 32, "by scale"),
    ("Sea view", "Crete, each night", 18, "by scale"),
    ("Half board", "Dolomites, Slovenia, each day", 27, "by scale"),
    ("Bicycle", "trains and ferries, each leg", 14, "by scale"),
    ("Holiday period", "20 December to 6 January", 90, "with the journey"),
]


def complaints() -> bytes:
    """A DOCX with headings, a list and a table."""
    document = Document()
    document.core_properties.title = "Complaints and appeals"
    signed(document.core_properties)
    for level, content in COMPLAINTS:
        if level == "table":
            table = document.add_table(rows=0, cols=3, style="Table Grid")
            for row in content:
                for cell, text in zip(table.add_row().cells, row, strict=True):
                    cell.text = text
        elif level == -1:
            document.add_paragraph(content, style="List Number")
        elif level == 0:
            document.add_paragraph(content)
        else:
            document.add_heading(content, level)
    return normalise(saved(document.save))


def rights() -> bytes:
    """A PDF with headings in larger type."""
    pdf = FPDF(format="A4")
    pdf.set_creation_date(MOMENT)
    pdf.set_title("Passenger rights at a glance")
    pdf.set_margin(16)
    pdf.add_page()
    for level, text in RIGHTS:
        pdf.set_font("helvetica", "B" if level else "", {0: 10, 1: 20, 2: 14}[level])
        pdf.multi_cell(0, {0: 5, 1: 10, 2: 8}[level], text, new_x=XPos.LMARGIN, new_y=YPos.NEXT)
        pdf.ln(2)
    return bytes(pdf.output())


def training() -> bytes:
    """A PPTX deck: a title and points on each slide."""
    deck = Presentation()
    deck.core_properties.title = SLIDES[0][0]
    signed(deck.core_properties)
    for title, points in SLIDES:
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = "\n".join(points)
    return normalise(saved(deck.save))


def journeys() -> bytes:
    """An XLSX with two sheets."""
    book = Workbook()
    book.properties.creator = "Quillhaven Travel"
    book.properties.title = "Journeys and prices 2026"
    sheet = book.active
    sheet.title = "Journeys"
    for row in JOURNEYS:
        sheet.append(row)
    other = book.create_sheet("Surcharges")
    for row in SURCHARGES:
        other.append(row)
    return normalise(saved(book.save))


def signed(properties: Any) -> None:
    """The company as author in place of what the library's own template says."""
    properties.created = properties.modified = MOMENT
    properties.author = properties.last_modified_by = "Quillhaven Travel"
    properties.comments = ""


def saved(save: Callable[[io.BytesIO], None]) -> bytes:
    """The bytes that a library's `save` writes."""
    buffer = io.BytesIO()
    save(buffer)
    return buffer.getvalue()


def normalise(data: bytes) -> bytes:
    """The same archive with fixed member times, and openpyxl's moments set to MOMENT."""
    out = io.BytesIO()
    stamp = MOMENT.strftime("%Y-%m-%dT%H:%M:%SZ").encode()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for info in old.infolist():
            member = zipfile.ZipInfo(info.filename, (2026, 1, 1, 9, 0, 0))
            member.compress_type = zipfile.ZIP_DEFLATED
            content = old.read(info)
            if info.filename == "docProps/core.xml":
                content = with_moment(content, stamp)
            new.writestr(member, content)
    return out.getvalue()


def with_moment(core: bytes, stamp: bytes) -> bytes:
    """Core properties with every W3CDTF moment replaced."""
    return re.sub(rb"(W3CDTF\">)[^<]*(<)", rb"\g<1>" + stamp + rb"\g<2>", core)


FILES = {
    "handbook/complaints.docx": complaints,
    "policies/passenger-rights.pdf": rights,
    "training/refunds-2026.pptx": training,
    "prices/journeys.xlsx": journeys,
}


def main(folder: Path) -> None:
    """Write each file below `folder`."""
    for name, make in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(make())


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "samples"))
