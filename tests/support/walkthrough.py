"""A page of the docs as steps that can be run: files to write, and commands with their exit code.

A fenced block whose info string names a file after the language is that file. In a `console` block
every line that starts with `$ ` is a command; `# exit N` behind it says that it exits so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_BLOCK = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE)
_EXIT = re.compile(r"\s+# exit (\d+)$")


@dataclass(frozen=True, slots=True)
class File:
    """A file to write, its path relative to the folder of the walk."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """A line of shell, and the exit code that it has to end with."""

    line: str
    code: int = 0


def steps(page: str) -> list[File | Command]:
    """The steps of a page, in order."""
    found: list[File | Command] = []
    for block in _BLOCK.finditer(page):
        language, _, path = block["info"].partition(" ")
        if path:
            found.append(File(path, block["body"]))
        elif language == "console":
            lines = [line for line in block["body"].splitlines() if line.startswith("$ ")]
            found += map(_command, lines)
    return found


def _command(line: str) -> Command:
    code = _EXIT.search(line)
    return Command(
        line=_EXIT.sub("", line).removeprefix("$ "), code=int(code.group(1)) if code else 0
    )
