"""A profile: an encoding and a template whose block prices provably add up.

Prices depend on nothing else, so the profile's fingerprint moves with the vocabulary, the
library that counts, and every string of the template.
"""

from __future__ import annotations

from dataclasses import dataclass

from chunkprep_ingest.counting import EXACT_ENCODINGS, Counter, is_seam
from chunkprep_ingest.errors import PolicyError, ProfileError
from chunkprep_ingest.ids import fingerprint
from chunkprep_ingest.policy import Policy
from chunkprep_ingest.template import MAX_ORDINAL, Template

PRICING_VERSION = "1"
"""Raise it with every change that can move a price or a boundary."""

_LABELS = ("a", "Refund policy", "42", "'s", "/etc", "\u4f60\u597d", "\u00e9t\u00e9", "(x)")
_BODIES = ("A line.", "/etc/hosts", "- item\n  - item", "\u6b21\u3002", "    code()", "word")
_LEAST_TEXT = 6  # tokens that a cap must leave for text beside the shortest header

_TAILS = ("word", "Word.", "12", "]", '">', "x)", "\u00e9", "\u3002", "it's", "end  ", "\u2019s")
_JOINERS = ("\n", "\n\n", "\n    ", "\n\t", " ", "  ", " \t")
_HEADS = (*(chr(c) for c in range(0x21, 0x7F)), "word", "Word", "\u00e9t\u00e9", "\u6b21", "  x")


@dataclass(frozen=True, slots=True)
class Profile:
    """What prices depend on. Costs are in tokens of `encoding`.

    `exact` says that block costs add up to the token. Where they do not, `margin` tokens are part
    of every price, so that a sum is never below the count. `seams` says that the rules of
    `chunkprep_ingest.counting` hold inside a text, so that pieces' counts may be added.

    `ordinal_tokens` is what a number from 1 to 999 adds to a header, None where that is not
    constant. `line_marker_tokens` and `space_marker_tokens` are the marker together with the
    delimiter, after a line break and after a sentence; `delimiter_tokens` the delimiter alone;
    `shortest_header_tokens` a header whose label is one ellipsis.
    """

    encoding: str
    template: Template
    fingerprint: str
    exact: bool
    seams: bool
    margin: int
    delimiter_tokens: int
    line_marker_tokens: int
    space_marker_tokens: int
    shortest_header_tokens: int
    ordinal_tokens: int | None


def make_profile(counter: Counter, template: Template) -> Profile:
    """The profile of a counter and a template.

    Raises ProfileError where an encoding whose counts add up elsewhere does not add up with this
    template, naming the counter-example. An encoding whose counts do not add up at all gives a
    profile that is not exact, with the largest difference measured as its margin.
    """
    seams = counter.encoding in EXACT_ENCODINGS or broken_seam(counter) is None
    worst, example = _junctions(counter, template)
    if worst and seams:
        raise ProfileError(
            f"template {template.name!r} cannot be priced in {counter.encoding}: {example}; use "
            f"another template or encoding (docs/exactness.md)"
        )
    spaced = " " + template.marker + template.delimiter
    return Profile(
        encoding=counter.encoding,
        template=template,
        fingerprint=fingerprint(
            "profile", PRICING_VERSION, counter.fingerprint, template.to_json()
        ),
        exact=not worst,
        seams=seams,
        margin=max(0, *worst) if worst else 0,
        delimiter_tokens=counter.count(template.delimiter),
        line_marker_tokens=counter.count(template.marker + template.delimiter),
        space_marker_tokens=counter.count(spaced),
        shortest_header_tokens=counter.count(template.header("\u2026")),
        ordinal_tokens=_ordinal_tokens(counter, template),
    )


def broken_seam(counter: Counter) -> tuple[str, str] | None:
    """Two texts whose counts do not add at a seam of `chunkprep_ingest.counting`, if any is found.

    Tries some seven thousand junctions of every kind; none found is evidence, not proof, which is
    why docs/exactness.md derives the rules for the encodings that are shipped.
    """
    pairs = [
        (tail + joiner[:at], joiner[at:] + head)
        for tail in _TAILS
        for joiner in _JOINERS
        for head in _HEADS
        for at in ((joiner.rfind("\n") + 1) if "\n" in joiner else 0,)
        if is_seam(tail + joiner + head, len(tail) + at)
    ]
    left = counter.counts([pair[0] for pair in pairs])
    right = counter.counts([pair[1] for pair in pairs])
    whole = counter.counts(["".join(pair) for pair in pairs])
    for pair, a, b, both in zip(pairs, left, right, whole, strict=True):
        if a + b != both:
            return pair
    return None


def _junctions(counter: Counter, template: Template) -> tuple[list[int], str]:
    """How much more two blocks cost together than apart, where they do not add up, and an example.

    Blocks of every kind are tried, and header and body where that is a seam.
    """
    blocks = [
        template.header(label) + body + template.delimiter for label in _LABELS for body in _BODIES
    ]
    heads = [template.header(label) for label in _LABELS]
    pairs = [(left, right) for left in blocks for right in blocks[:: len(_BODIES)]]
    pairs += [(head, "A line") for head in heads]
    apart, example = [], ""
    for left, right in pairs:
        parts = counter.count(left) + counter.count(right)
        whole = counter.count(left + right)
        if parts != whole:
            apart.append(whole - parts)
            example = example or (
                f"{left[-24:]!r} and {right[:24]!r} cost {parts} tokens apart and {whole} together"
            )
    return apart, example


def _ordinal_tokens(counter: Counter, template: Template) -> int | None:
    """What a number adds to a header, where it is the same for 1 to MAX_ORDINAL."""
    header = template.header(_LABELS[1])
    plain = counter.count(header)
    numbered = counter.counts([template.with_ordinal(header, n) for n in range(1, MAX_ORDINAL + 1)])
    added = {cost - plain for cost in numbered}
    return added.pop() if len(added) == 1 else None


def check_policy(policy: Policy, profile: Profile) -> None:
    """Refuse a cap that header and delimiter alone would fill; names the smallest that works."""
    least = profile.shortest_header_tokens + profile.delimiter_tokens + _LEAST_TEXT
    if policy.cap < least:
        raise PolicyError(
            f"cap {policy.cap} is too small for the template {profile.template.name!r} in "
            f"{profile.encoding}; use at least {least}"
        )
