"""Office files as what they are: zip archives of XML parts, opened with care.

Sizes are checked against what the archive claims before anything is expanded, and against what
its members really hold while they are: an archive that lies about them is corrupt.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from dataclasses import dataclass

from lxml import etree

from chunkprep_ingest.errors import ReadError
from chunkprep_ingest.readers.options import ReadOptions

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_ENCRYPTED_FLAG = 0x1
_MEDIA = re.compile(r"(?:^|/)(?:media|embeddings|fonts)/", re.IGNORECASE)
_DEFLATED = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})


@dataclass(slots=True)
class Package:
    """The parts of an Office file by name; pictures and other embedded files are left empty."""

    parts: dict[str, bytes]

    def names(self, pattern: str) -> list[str]:
        """Part names that match, in the order of the numbers in them."""
        found = [name for name in self.parts if re.fullmatch(pattern, name)]
        return sorted(found, key=_by_number)

    def tree(self, name: str) -> etree._Element | None:
        """The XML of a part, None where there is no such part. Raises ReadError (corrupt)."""
        data = self.parts.get(name)
        return None if data is None else parse_xml(data, name)

    def put(self, name: str, tree: etree._Element) -> None:
        """Replace a part by the XML given."""
        self.parts[name] = etree.tostring(tree, encoding="UTF-8", xml_declaration=True)

    def to_bytes(self) -> bytes:
        """The archive, uncompressed."""
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
            for name, data in self.parts.items():
                archive.writestr(zipfile.ZipInfo(name), data)
        return out.getvalue()


def open_package(data: bytes, name: str, main: str, options: ReadOptions) -> Package:
    """The parts of the Office file in `data`, whose main part is `main`.

    Raises ReadError: needs_password, unsupported_type, too_large or corrupt.
    """
    if data.startswith(_OLE):
        raise _ole_failure(data, name)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check(archive, name, options)
            members = archive.namelist()
            if main not in members:
                raise ReadError("unsupported_type", f"{name} is a zip archive without {main}")
            parts = {
                member: b"" if _MEDIA.search(member) else archive.read(member)
                for member in members
                if not member.endswith("/")
            }
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError) as error:
        raise ReadError("corrupt", f"{name} is a damaged archive: {error}") from error
    except NotImplementedError as error:
        raise ReadError("corrupt", f"{name}: {error}") from error
    return Package(parts)


def parse_xml(data: bytes, name: str) -> etree._Element:
    """The root of an XML text; entities stay unexpanded. Raises ReadError (corrupt)."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    try:
        return etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        if wants_memory(error):
            raise MemoryError from error
        raise ReadError("corrupt", f"{name} holds damaged XML: {error}") from error


def wants_memory(error: Exception) -> bool:
    """Whether lxml gave up on an XML text for want of memory."""
    code = getattr(error, "code", None)  # which an XMLSyntaxError has
    return code is not None and code == etree.ErrorTypes.ERR_NO_MEMORY


def _check(archive: zipfile.ZipFile, name: str, options: ReadOptions) -> None:
    members = archive.infolist()
    if len(members) > options.max_members:
        raise ReadError(
            "too_large", f"{name} holds {len(members)} files; the limit is {options.max_members}"
        )
    expanded = sum(member.file_size for member in members)
    if expanded > options.max_expanded_bytes:
        raise ReadError(
            "too_large",
            f"{name} expands to {expanded} bytes; the limit is {options.max_expanded_bytes}",
        )
    for member in members:
        if member.flag_bits & _ENCRYPTED_FLAG:
            raise ReadError("needs_password", f"{name}: {member.filename} is encrypted")
        if member.compress_type not in _DEFLATED:
            raise ReadError("corrupt", f"{name}: {member.filename} is packed in an unusual way")


def _ole_failure(data: bytes, name: str) -> ReadError:
    if _ENCRYPTED in data:
        return ReadError("needs_password", f"{name} is encrypted")
    return ReadError(
        "unsupported_type",
        f"{name} is a file of Office 2003 or older under a new suffix",
        "save it in the current format",
    )


def _by_number(name: str) -> tuple[int, str]:
    digits = re.search(r"(\d+)\.\w+$", name)
    return (int(digits.group(1)) if digits else 0, name)
