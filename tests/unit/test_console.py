"""What goes to a terminal: names of files may hold what a terminal obeys."""

from __future__ import annotations

import pytest

from chunkprep_flows.console import print_table, talk, visible

NAME = "esc\x1b[31mred\x07\u202egnp.md"


def test_control_characters_of_a_name_are_shown_and_not_obeyed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_table(["document"], [[NAME], ["two\nlines.md"], ["caf\u00e9 \u65e5\u672c.md"]])
    talk(f"{NAME}: unreadable\nsecond line")
    out, err = capsys.readouterr()
    assert [line.rstrip() for line in out.splitlines()[1:]] == [
        r"esc\x1b[31mred\x07\u202egnp.md", r"two\nlines.md", "café 日本.md",
    ]  # fmt: skip
    assert err == "esc\\x1b[31mred\\x07\\u202egnp.md: unreadable\nsecond line\n"


def test_what_is_printable_stays() -> None:
    assert visible("naïve 👩‍👩‍👧 a\tb", keep="\t") == "naïve 👩‍👩‍👧 a\tb"
