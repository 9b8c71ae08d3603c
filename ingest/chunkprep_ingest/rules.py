"""Metadata that stands beside the documents: sidecars and folder rules, and what wins.

Front matter over the sidecar `NAME.meta.yaml` over a rules file the user names over the nearest
folder's `chunkprep.yaml`, field by field. A rules file reads:

    rules:
      - match: "policies/**"        # as in .gitignore, relative to the file's folder
        authority: 80
        tags: [policy]
      - match: ["*.csv", "*.xlsx"]  # a later rule wins over an earlier one
        source: finance
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pathspec import GitIgnoreSpec

from chunkprep_ingest.errors import MetadataError
from chunkprep_ingest.front_matter import parse_yaml
from chunkprep_ingest.ids import bytes_hash, digest
from chunkprep_ingest.metadata import METADATA_FIELDS, Metadata, parse_metadata
from chunkprep_ingest.regular_file import read_regular
from chunkprep_ingest.source_filters import RULES_FILE, SIDECAR_SUFFIX

_MATCH = "match"


class Rule(NamedTuple):
    """The values for files whose path, relative to the rules file's folder, matches."""

    match: GitIgnoreSpec
    values: Mapping[str, object]


class _Rules(NamedTuple):
    """The rules of one file, whose patterns are relative to `folder`."""

    folder: Path
    rules: tuple[Rule, ...]


@dataclass(slots=True)
class RuleBook:
    """The metadata beside the files below one source folder; each rules file is read once.

    `extra` is a rules file that the user names: its patterns are relative to `root`.
    """

    root: Path
    extra: Path | None = None
    _read: dict[Path, tuple[Rule, ...]] = field(default_factory=dict)
    _folders: dict[str, tuple[_Rules, ...]] = field(default_factory=dict)

    def beside(self, path: Path | str) -> dict[str, object]:
        """The raw values that folder rules and the sidecar give the file at `path`.

        Raises MetadataError (bad_metadata) naming the file that is wrong.
        """
        values: dict[str, object] = {}
        for there in self._rules_for(os.path.dirname(path)):  # noqa: PTH120 - asked for each file
            relative = Path(path).relative_to(there.folder).as_posix()
            for rule in there.rules:
                if rule.match.match_file(relative):
                    values |= rule.values
        return values | _sidecar(path)

    def digest(self, path: Path) -> str:
        """Moves with every byte of the files that may give the file at `path` its metadata."""
        files = [file for _, file in self._files_for(path.parent)]
        files.append(path.with_name(path.name + SIDECAR_SUFFIX))
        return digest(*map(_raw, files))

    def metadata(self, path: Path | str, front_matter: Mapping[str, object]) -> Metadata:
        """The metadata of the document at `path`, whose front matter is given.

        Raises MetadataError (bad_metadata) naming the field and where its value was written.
        """
        values = self.beside(path) | dict(front_matter)
        return parse_metadata(values, Path(path).name) if values else _NOTHING_SAID

    def _rules_for(self, folder: str) -> tuple[_Rules, ...]:
        """The rules that may match a folder's files, the strongest last; most folders have none."""
        found = self._folders.get(folder)
        if found is None:
            books = [_Rules(at, self._rules(file)) for at, file in self._files_for(Path(folder))]
            found = self._folders[folder] = tuple(book for book in books if book.rules)
        return found

    def _files_for(self, folder: Path) -> Iterator[tuple[Path, Path]]:
        """The rules files from the source folder down to this one, and the user's, each with the
        folder that its patterns are relative to.
        """
        for above in [*folder.parents[::-1], folder]:
            if above.is_relative_to(self.root):
                yield above, above / RULES_FILE
        if self.extra is not None:
            yield self.root, self.extra

    def _rules(self, file: Path) -> tuple[Rule, ...]:
        if file not in self._read:
            self._read[file] = _rules(file, required=file == self.extra)
        return self._read[file]


_NOTHING_SAID = Metadata()


def _sidecar(path: Path | str) -> dict[str, object]:
    if not os.path.lexists(f"{path}{SIDECAR_SUFFIX}"):  # most files have none: ask cheaply
        return {}
    file = Path(f"{path}{SIDECAR_SUFFIX}")
    text = _text(file)
    return {} if text is None else _known(parse_yaml(text, file.name), file.name)


def _rules(file: Path, *, required: bool = False) -> tuple[Rule, ...]:
    text = _text(file)
    if text is None:
        if required:
            raise MetadataError("bad_metadata", f"{file}: no such rules file")
        return ()
    content = parse_yaml(text, file.name)
    entries = content.get("rules")
    if set(content) - {"rules"} or not isinstance(entries, list):
        raise MetadataError("bad_metadata", f"{file.name} must hold one list named `rules`")
    return tuple(_rule(entry, f"{file.name}: rule {at}") for at, entry in enumerate(entries, 1))


def _rule(entry: Any, where: str) -> Rule:
    if not isinstance(entry, dict) or _MATCH not in entry:
        raise MetadataError("bad_metadata", f"{where} has no `match`")
    patterns = entry[_MATCH]
    patterns = [patterns] if isinstance(patterns, str) else patterns
    if not isinstance(patterns, list) or not all(isinstance(p, str) for p in patterns):
        raise MetadataError("bad_metadata", f"{where}: match = {patterns!r} is no pattern")
    try:
        match = GitIgnoreSpec.from_lines(patterns)
    except ValueError as error:
        raise MetadataError("bad_metadata", f"{where}: {error}") from error
    values = _known({key: entry[key] for key in entry if key != _MATCH}, where)
    parse_metadata({key: values[key] for key in values}, where)
    return Rule(match, values)


def _known(values: dict[str, object], where: str) -> dict[str, object]:
    """The same values; a file of ours may hold our fields only, so that a slip is found."""
    unknown = sorted(str(key) for key in set(values) - METADATA_FIELDS)
    if unknown:
        raise MetadataError(
            "bad_metadata",
            f"{where}: {unknown[0]!r} is no field",
            f"use one of {', '.join(sorted(METADATA_FIELDS))}",
        )
    return values


def _raw(file: Path) -> str:
    """The hash of a file's bytes, or why it has none."""
    try:
        return bytes_hash(read_regular(file))
    except OSError as error:
        return str(error.errno)


def _text(file: Path) -> str | None:
    """The text of a file of ours, None where there is none. Raises MetadataError."""
    try:
        return read_regular(file).decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise MetadataError("bad_metadata", f"{file.name} cannot be read: {error}") from error
