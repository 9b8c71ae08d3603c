"""Outlook messages made by code: a small writer of OLE compound files and of MSG in them."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

_SECTOR, _MINI, _CUTOFF = 512, 64, 4096
_NONE, _END, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_STORAGE, _STREAM, _ROOT = 1, 2, 5

Tree = Mapping[str, "bytes | Tree"]


@dataclass
class _Entry:
    name: str
    kind: int
    data: bytes = b""
    right: int = _NONE
    child: int = _NONE
    start: int = _END
    chain: list[int] = field(default_factory=list)


def compound(tree: Tree) -> bytes:
    """A compound file with these streams and storages."""
    entries = [_Entry("Root Entry", _ROOT)]
    entries[0].child = _add(entries, tree)
    mini, mini_fat = _mini_stream(entries)
    entries[0].data = mini
    sectors: list[bytes] = []
    fat: list[int] = []
    for entry in entries:
        if entry.kind == _ROOT or len(entry.data) >= _CUTOFF:
            entry.start = _store(entry.data, sectors, fat)
    mini_start = _store(struct.pack(f"<{len(mini_fat)}I", *mini_fat), sectors, fat)
    mini_sectors = -(-len(mini_fat) * 4 // _SECTOR)
    directory = _store(b"".join(map(_packed, entries)), sectors, fat)
    fat_at, fat_sectors = len(sectors), 1
    while (len(sectors) + fat_sectors) * 4 > fat_sectors * _SECTOR:
        fat_sectors += 1
    fat += [_FAT] * fat_sectors
    fat += [_NONE] * (fat_sectors * _SECTOR // 4 - len(fat))
    header = struct.pack(
        "<8s16xHHHHH6xIIIIIIIII",
        bytes.fromhex("d0cf11e0a1b11ae1"), 0x3E, 3, 0xFFFE, 9, 6, 0,
        fat_sectors, directory, 0, _CUTOFF, mini_start, mini_sectors, _END, 0,
    )  # fmt: skip
    where = [fat_at + n for n in range(fat_sectors)]
    header += struct.pack("<109I", *where, *[_NONE] * (109 - fat_sectors))
    return header + b"".join(sectors) + struct.pack(f"<{len(fat)}I", *fat)


def _add(entries: list[_Entry], tree: Tree) -> int:
    """Add the entries of a storage, each the right sibling of the one before; the first's id."""
    ids = []
    for name, content in sorted(tree.items(), key=lambda item: (len(item[0]), item[0].upper())):
        ids.append(len(entries))
        if isinstance(content, bytes):
            entries.append(_Entry(name, _STREAM, content))
        else:
            entry = _Entry(name, _STORAGE)
            entries.append(entry)
            entry.child = _add(entries, content)
    for left, right in pairwise(ids):
        entries[left].right = right
    return ids[0] if ids else _NONE


def _mini_stream(entries: list[_Entry]) -> tuple[bytes, list[int]]:
    pieces: list[bytes] = []
    fat: list[int] = []
    for entry in entries:
        if entry.kind == _STREAM and 0 < len(entry.data) < _CUTOFF:
            entry.start = _store(entry.data, pieces, fat, _MINI)
    return b"".join(pieces), fat


def _store(data: bytes, sectors: list[bytes], fat: list[int], size: int = _SECTOR) -> int:
    if not data:
        return _END
    start = len(sectors)
    pieces = [data[at : at + size].ljust(size, b"\0") for at in range(0, len(data), size)]
    sectors += pieces
    fat += [*range(start + 1, start + len(pieces)), _END]
    return start


def _packed(entry: _Entry) -> bytes:
    name = entry.name.encode("utf-16-le") + b"\0\0"
    return struct.pack(
        "<64sHBBIII16xI8x8xIQ",
        name, len(name), entry.kind, 1, _NONE, entry.right, entry.child, 0,
        entry.start, len(entry.data),
    )  # fmt: skip


def properties(values: Mapping[int, str | bytes], header: int) -> dict[str, bytes]:
    """The streams of MAPI properties: text or bytes by property id."""
    streams: dict[str, bytes] = {}
    table = bytes(header)
    for pid, value in values.items():
        kind, data = (0x1F, value.encode("utf-16-le")) if isinstance(value, str) else (0x102, value)
        streams[f"__substg1.0_{pid:04X}{kind:04X}"] = data
        size = len(data) + 2 * isinstance(value, str)
        table += struct.pack("<HHIII", kind, pid, 6, size, 0)
    return streams | {"__properties_version1.0": table}


def message(
    *,
    subject: str = "",
    body: str = "",
    html: bytes = b"",
    sender: tuple[str, str] | None = None,
    to: tuple[str, str] | None = None,
    attachments: Mapping[str, bytes] | None = None,
) -> bytes:
    """An Outlook message."""
    own: dict[int, str | bytes] = {0x001A: "IPM.Note", 0x0037: subject, 0x1000: body}
    if html:
        own[0x1013] = html
    if sender:
        own |= {0x0C1A: sender[0], 0x5D01: sender[1]}
    tree: dict[str, bytes | Tree] = dict(properties(own, 32))
    if to:
        tree["__recip_version1.0_#00000000"] = properties({0x3001: to[0], 0x39FE: to[1]}, 8)
    for at, (name, data) in enumerate((attachments or {}).items()):
        tree[f"__attach_version1.0_#{at:08X}"] = properties({0x3707: name, 0x3701: data}, 8)
    return compound(tree)
