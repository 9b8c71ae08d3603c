"""Which files of a folder count as documents: patterns, ignore files, and files of ours."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pathspec import GitIgnoreSpec

from chunkprep_ingest.decode import decode
from chunkprep_ingest.errors import ChunkprepError
from chunkprep_ingest.regular_file import regular_bytes

IGNORE_FILE = ".chunkprepignore"
RULES_FILE = "chunkprep.yaml"
SIDECAR_SUFFIX = ".meta.yaml"


@dataclass(frozen=True, slots=True)
class Filter:
    """Which files of a folder count: patterns as in .gitignore, relative to the source folder."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    _included: GitIgnoreSpec = field(init=False, repr=False, compare=False)
    _excluded: GitIgnoreSpec = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Compile the patterns. Raises ChunkprepError for one that is none."""
        object.__setattr__(self, "_included", _spec(self.include, "--include"))
        object.__setattr__(self, "_excluded", _spec(self.exclude, "--exclude"))

    def takes(self, relative: str) -> bool:
        """Whether the file at this path relative to its source folder counts."""
        if self.include and not self._included.match_file(relative):
            return False
        return not self._excluded.match_file(relative)


class Ignored:
    """The .chunkprepignore files from a source folder down to the folder at hand."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.specs: dict[Path, GitIgnoreSpec] = {}

    def load(self, folder: Path) -> None:
        """Read the folder's own file, where it has one. Raises ReadError where that cannot be read:
        what it names is not to be guessed.
        """
        file = folder / IGNORE_FILE
        if os.path.lexists(file):
            lines = decode(regular_bytes(file)).text.splitlines()
            self.specs[folder] = _spec(lines, str(file))

    def covers(self, path: Path, directory: bool) -> bool:
        """Whether a file leaves this path out."""
        if not self.specs:
            return False
        return any(
            spec.match_file(path.relative_to(folder).as_posix() + ("/" if directory else ""))
            for folder, spec in self._above(path)
        )

    def _above(self, path: Path) -> Iterator[tuple[Path, GitIgnoreSpec]]:
        for folder in path.parents:
            spec = self.specs.get(folder)
            if spec is not None:
                yield folder, spec
            if folder == self.root:
                return


def says_of_others(name: str) -> bool:
    """Whether a file of this name is one of ours, which gives documents their metadata."""
    return name == RULES_FILE or name.endswith(SIDECAR_SUFFIX)


def hidden(relative: str) -> bool:
    """Whether a path below a source folder has a part that starts with a dot."""
    return any(part.startswith(".") for part in relative.split("/"))


def _spec(lines: Sequence[str], where: str) -> GitIgnoreSpec:
    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError as error:
        raise ChunkprepError(f"{where}: {error}; patterns are written as in .gitignore") from error
