"""A profile: an encoding and a template whose block prices provably add up.

Prices depend on nothing else, so the profile's fingerprint moves with the vocabulary, the
library that counts, and every string of the template.
"""

from __future__ import annotations

from dataclasses import dataclass

from chunkprep_ingest.counting import EXACT_ENCODINGS, Counter
from chunkprep_ingest.errors import PolicyError, ProfileError
from chunkprep_ingest.ids import fingerprint
from chunkprep_ingest.policy import Policy
from chunkprep_ingest.template import MAX_ORDINAL, Template

PRICING_VERSION = "1"
"""Raise it with every change that can move a price or a boundary."""

_LABELS = ("a", "Refund policy", "42", "'s", "/etc", "\u4f60\u597d", "\u00e9t\u00e9", "(x)")
_LEAST_TEXT = 6  # tokens that a cap must leave for text beside the shortest header


@dataclass(frozen=True, slots=True)
class Profile:
    """What prices depend on. Costs are in tokens of `encoding`.

    `ordinal_tokens` is what a number from 1 to 999 adds to a header, None where that is not
    constant. `line_marker_tokens` and `space_marker_tokens` are the marker together with the
    delimiter, after a line break and after a sentence; `delimiter_tokens` the delimiter alone;
    `shortest_header_tokens` a header whose label is one ellipsis.
    """

    encoding: str
    template: Template
    fingerprint: str
    exact: bool
    delimiter_tokens: int
    line_marker_tokens: int
    space_marker_tokens: int
    shortest_header_tokens: int
    ordinal_tokens: int | None


def make_profile(counter: Counter, template: Template) -> Profile:
    """The profile of a counter and a template.

    Raises ProfileError where two blocks' costs would not add up, with the counter-example.
    """
    _check_blocks_add(counter, template)
    spaced = " " + template.marker + template.delimiter
    return Profile(
        encoding=counter.encoding,
        template=template,
        fingerprint=fingerprint(
            "profile", PRICING_VERSION, counter.fingerprint, template.to_json()
        ),
        exact=counter.encoding in EXACT_ENCODINGS,
        delimiter_tokens=counter.count(template.delimiter),
        line_marker_tokens=counter.count(template.marker + template.delimiter),
        space_marker_tokens=counter.count(spaced),
        shortest_header_tokens=counter.count(template.header("\u2026")),
        ordinal_tokens=_ordinal_tokens(counter, template),
    )


def _check_blocks_add(counter: Counter, template: Template) -> None:
    """Try the junction of two blocks, and of header and body, on bodies of every kind."""
    for label in _LABELS:
        header = template.header(label)
        block = header + "A line.\n" + label + template.delimiter
        pairs = [(block, block), (header, "A line"), (block + block, header)]
        for left, right in pairs:
            apart = counter.count(left) + counter.count(right)
            together = counter.count(left + right)
            if apart != together:
                raise ProfileError(
                    f"template {template.name!r} cannot be priced in {counter.encoding}: "
                    f"{left[-24:]!r} and {right[:24]!r} cost {apart} tokens apart and {together} "
                    f"together; use another template or encoding (docs/exactness.md)"
                )


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
