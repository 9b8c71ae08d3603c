"""Documents made of what breaks splitters: the pieces of many bug reports, put together at random.

`nasty_document(seed)` is the same on every machine, so that a failure can be named by its number.
"""

from __future__ import annotations

import random

from chunkprep_ingest.model import Element, ElementKind, ParsedDocument

_PLAIN_WORDS = (
    "Refund the a policy of travel 12 3.50 \u00e9t\u00e9 na\u00efve /etc/hosts // <|endoftext|> "
    "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 \U0001f680 \u98df\u3079\u7269 "
    "a\u0308 \u0915\u093f \u0e44\u0e17\u0e22\u0e20\u0e32\u0e29\u0e32 </source> *** Context: e.g. "
    "Mr. (see below) \"quoted.\" don't it's word I"
)
WORDS = (
    *_PLAIN_WORDS.split(),
    *("[Source 3]", "[Source:", "<source title=", "\u2028", "\u00a0", "\t", "x" * 7),
    "base64" + "QUJDREVGR0g=" * 3,
)
ENDS = (". ", "! ", "? ", "\u3002", "\u0964  ", ".\n", "\n", ".  ", "\u2026 ", " . ", ": ")
KINDS: tuple[ElementKind, ...] = (
    "title", "paragraph", "paragraph", "list_item", "table", "code",
)  # fmt: skip
_ODD_CHARACTERS = ((97, 122), (0x4E00, 0x4E20), (0x300, 0x303), (0x1F600, 0x1F610), (0x200D,) * 2)


def nasty_document(seed: int) -> ParsedDocument:
    """Up to a dozen elements of every kind, between white space of every kind."""
    rng = random.Random(seed)
    parts: list[str] = []
    elements: list[Element] = []
    at = 0
    for _ in range(rng.randint(1, 12)):
        kind = rng.choice(KINDS)
        depth, text = _element(rng, kind)
        if not text.strip():
            continue
        if at:
            listed = kind == "list_item" and elements[-1].kind == "list_item"
            parts.append("\n" if listed else rng.choice(["\n\n", "\n\n", "\n", "\n\n\n"]))
            at += len(parts[-1])
        elements.append(Element(kind, at, at + len(text), depth))
        parts.append(text)
        at += len(text)
    return ParsedDocument("".join(parts), tuple(elements), "nasty/1")


def _element(rng: random.Random, kind: ElementKind) -> tuple[int, str]:
    if kind == "title":
        depth = rng.randint(1, 4)
        return depth, _tidy("#" * depth + " " + _words(rng))
    if kind == "list_item":
        depth = rng.randint(0, 3)
        return depth, _tidy("  " * depth + "- " + _prose(rng))
    if kind == "table":
        return 0, _table(rng)
    if kind == "code":
        return 0, _code(rng)
    return 0, _tidy(_prose(rng))


def _tidy(text: str) -> str:
    """Without blank lines, which would end the element, and without white space at its end."""
    return "\n".join(line for line in text.split("\n") if line.strip()).strip("\n").rstrip()


def _words(rng: random.Random) -> str:
    return " ".join(_word(rng) for _ in range(rng.randint(1, 14)))


def _word(rng: random.Random) -> str:
    if rng.random() < 0.8:
        return rng.choice(WORDS)
    return "".join(chr(rng.randint(*rng.choice(_ODD_CHARACTERS))) for _ in range(rng.randint(1, 9)))


def _prose(rng: random.Random) -> str:
    odd = rng.random()
    if odd < 0.05:
        return "a" * rng.randint(1, 3000)
    if odd < 0.08:
        return "\u98df" * rng.randint(1, 900)
    if odd < 0.10:
        return "\U0001f469\u200d\U0001f469\u200d\U0001f467" * rng.randint(1, 60)
    if odd < 0.12:
        return "a" + " " * rng.randint(1, 3000) + "b"
    if odd < 0.15:
        return "\n".join(f"w{n}" for n in range(rng.randint(1, 300)))
    return "".join(_words(rng) + rng.choice(ENDS) for _ in range(rng.randint(1, 12)))


def _table(rng: random.Random) -> str:
    columns = rng.randint(1, 4)

    def row() -> str:
        cells = (_words(rng).replace("\n", " ")[: rng.randint(1, 200)] for _ in range(columns))
        return "| " + " | ".join(cells) + " |"

    rows = [row() for _ in range(rng.randint(0, 12))]
    return _tidy("\n".join([row(), "|" + "---|" * columns, *rows]))


def _code(rng: random.Random) -> str:
    fence = rng.choice(["```", "~~~", "````", ""])
    lines = [
        " " * rng.randint(0, 6) + _words(rng).replace("\n", " ") if rng.random() < 0.85 else ""
        for _ in range(rng.randint(1, 20))
    ]
    if fence:
        return f"{fence}js\n" + "\n".join(lines) + f"\n{fence}"
    return "\n".join("    " + line for line in lines).strip("\n").rstrip()
