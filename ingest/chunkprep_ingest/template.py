"""How a chunk is dressed for the model: header, delimiter, cut marker, ordinal.

A block is header + body + delimiter. Every block starts with the same printable character other
than "/" and ends with a line break, so that block costs add in any order (docs/exactness.md).
"""

from __future__ import annotations

import functools
import json
import re
from dataclasses import asdict, dataclass

from chunkprep_ingest.errors import ProfileError
from chunkprep_ingest.model import Substitution

PATH_SEPARATOR = " > "
MAX_ORDINAL = 999
"""The largest ordinal whose token cost is constant in cl100k_base and o200k_base."""

_BLANKS = r"\s*"
_FULLWIDTH = 0xFEE0  # U+0021..U+007E have full-width twins at +0xFEE0 (Unicode block FF00)


@dataclass(frozen=True, slots=True)
class Template:
    """The fixed strings around a body.

    header = opening + before_label + label + after_label; with an ordinal n,
    opening + ordinal_before + n + ordinal_after comes first. `marker` is what a cut block says.
    """

    name: str
    opening: str
    before_label: str
    after_label: str
    delimiter: str
    marker: str
    ordinal_before: str = " "
    ordinal_after: str = ""

    def __post_init__(self) -> None:
        """Refuse a template whose blocks could not be told apart or priced."""
        first = self.opening[:1]
        if not first or first.isspace() or first == "/" or not first.isprintable():
            raise ProfileError(
                f"template {self.name!r}: a block must start with a printable character other "
                f"than '/', not {first!r}; two blocks' costs would not add up otherwise"
            )
        if not self.after_label.endswith("\n"):
            raise ProfileError(f"template {self.name!r}: the header must end with a line break")
        if not self.delimiter.startswith("\n") or not self.delimiter.strip():
            raise ProfileError(
                f"template {self.name!r}: the delimiter must start on a line of its own and hold "
                f"a visible text, not {self.delimiter!r}"
            )
        if not self.delimiter.endswith("\n") or self.delimiter[-2:].isspace():
            raise ProfileError(
                f"template {self.name!r}: the delimiter must end with exactly one line break, not "
                f"{self.delimiter[-4:]!r}"
            )
        start = self.marker[:1]
        if not start or start.isspace() or start == "/" or "\n" in self.marker:
            raise ProfileError(
                f"template {self.name!r}: the cut marker must be one line that starts with a "
                f"printable character other than '/', not {self.marker!r}"
            )

    def header(self, label: str) -> str:
        """The header line for a label that `clean_label` has made safe."""
        return self.opening + self.before_label + label + self.after_label

    def with_ordinal(self, header: str, ordinal: int) -> str:
        """The same header, numbered (1 to MAX_ORDINAL)."""
        at = len(self.opening)
        return f"{header[:at]}{self.ordinal_before}{ordinal}{self.ordinal_after}{header[at:]}"

    def marker_at(self, text: str, offset: int) -> str:
        """The marker as it stands after text[:offset]: after a line as it is, else spaced."""
        return self.marker if text[offset - 1 : offset] == "\n" else " " + self.marker

    def cut(self, text: str, offset: int) -> str:
        """The body of a block that is cut at `offset`."""
        return text[:offset] + self.marker_at(text, offset)

    def to_json(self) -> str:
        """Stable JSON, for fingerprints and for the store."""
        return json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Template:
        """The template that `to_json` wrote. Raises ProfileError for anything else."""
        try:
            return cls(**json.loads(text))
        except (TypeError, ValueError) as error:
            raise ProfileError(f"not a template: {error}; see docs/exactness.md") from error


_MARKER = "[truncated: rest omitted]"

TEMPLATES: dict[str, Template] = {
    "markdown": Template("markdown", "[Source", ": ", "]\n", "\n\n***\n", _MARKER),
    "xml": Template(
        "xml", "<source", ' title="', '">\n', "\n</source>\n",
        "<truncated>rest omitted</truncated>", ' n="', '"',
    ),
    "plain": Template("plain", "Source", ": ", "\n", "\n\n-----\n", _MARKER),
}  # fmt: skip
"""The templates that need no file, by name."""


def clean_label(template: Template, label: str) -> str:
    """One line, no control characters, and nothing that would end the header early."""
    if not label.isprintable():
        label = "".join(c if c.isprintable() else " " for c in label)
    line = " ".join(label.split())
    if template.after_label.startswith('"'):
        line = line.replace('"', "'").replace("<", "\uff1c").replace("&", "\uff06")
    return line or "untitled"


def fullwidth(char: str) -> str:
    """The full-width twin of a visible ASCII character: it looks alike and forges nothing."""
    return chr(ord(char) + _FULLWIDTH)


def _loose(text: str) -> str:
    """A pattern for `text` in any case, with any spacing between its words and signs.

    A sign at its start stays a literal, which `re` finds fastest.
    """
    parts: list[str] = [re.escape(part) for part in re.findall(r"\w+|[^\w\s]", text)]
    if text[0].isalnum():
        return rf"(?i:{_BLANKS.join(parts)})"
    return parts[0] + rf"(?i:{_BLANKS.join(['', *parts[1:]])})"


@functools.cache
def forgery_patterns(template: Template) -> tuple[re.Pattern[str], ...]:
    """What a document may not contain as it stands: openings, delimiter lines, cut markers.

    A match begins with a visible ASCII character, for which `fullwidth` has a twin.
    """
    opening = _loose(template.opening)
    if template.opening[0].isalnum():  # a plain word: only where it could start a block
        opening = rf"(?<![^\n]){opening}\s*(?:\d+\s*)?{_loose(template.before_label)}"
    else:
        opening += r"\b"
    delimiter = template.delimiter.strip()
    ends = _loose(delimiter)
    if not any(c.isalnum() for c in delimiter):  # a rule of signs: only as a whole line
        ends = rf"{re.escape(delimiter)}(?<![^\n]{re.escape(delimiter)})(?![^\n])"
    marker = _loose(template.marker[: max(8, template.marker.find(":") + 1)])
    return tuple(re.compile(pattern) for pattern in (opening, ends, marker))


def neutralise(template: Template, text: str) -> tuple[str, tuple[Substitution, ...]]:
    """`text` with each forgery's first character made full-width, and what stood there.

    Length and offsets stay; `restore` undoes it.
    """
    places = {
        match.start()
        for pattern in forgery_patterns(template)
        for match in pattern.finditer(text)
        if "!" <= text[match.start()] <= "~"
    }
    if not places:
        return text, ()
    found = [Substitution(at, text[at]) for at in sorted(places)]
    return substitute(text, [(s.offset, fullwidth(s.original)) for s in found]), tuple(found)


def restore(text: str, substitutions: tuple[Substitution, ...]) -> str:
    """`text` with every substituted character back as the document has it."""
    return substitute(text, list(substitutions)) if substitutions else text


def substitute(text: str, changes: list[tuple[int, str]] | list[Substitution]) -> str:
    """`text` with one character replaced at each offset."""
    chars = list(text)
    for offset, char in changes:
        chars[offset] = char
    return "".join(chars)
