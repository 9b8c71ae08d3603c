"""Passwords and signatures in the URLs of sources: read from the environment, and never shown.

`${NAME}` in the place of a user, a password or in a query stands for a variable of the process that
opens the URL, so that what is stored of a run or a schedule holds no secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import parse_qsl, quote, unquote

from chunkprep_ingest.errors import RequestError

_REFERENCE = re.compile(r"\$\{(\w+)\}")
_WEB_USER = re.compile(
    r"(?:(?<=http)|(?<=https))://(?P<user>[^/:?#]*)(?::(?P<password>(?!\d+[/?#])[^/]*))?@(?=[^/@]*(?:/|$))",
    re.IGNORECASE,
)
"""In front of a web server: up to the last @ before the path. What looks like a port is one."""

_OTHER_USER = re.compile(
    r"(?<!http)(?<!https)://(?P<user>[^/@:]*)"
    r"(?::(?P<password>(?!:|\d+/)(?:[^/]*(?=@[^/@]*(?:/|$))|[^@]*)))?@",
    re.IGNORECASE,
)
"""In front of any other host. A secret key of S3 may hold slashes."""

_WEB = re.compile(r"(?:^|::)https?://", re.IGNORECASE)
"""Where a user alone may be a token, and a query a signature."""

_TELLING = re.compile(r"sig|token|secret|passw|key|cred|auth", re.IGNORECASE)
_HIDDEN = "***"
_LEAST = 4
"""Characters of a secret that is looked for in other text."""


def without_fragment(source: str) -> str:
    """The URL without the place in a page that it names: the server is not asked for that."""
    web = _WEB.search(source)
    if web is None:
        return source
    user = _WEB_USER.match(source, web.end() - len("://"))  # a password may hold a #
    host = user.end() if user else web.end()
    return source[:host] + source[host:].partition("#")[0]


def without_secrets(source: str) -> str:
    """The URL as documents are known by: without a password, a fragment, or a query, which may be a
    signature.
    """
    source = without_fragment(source)
    url = _WEB_USER.sub("://", source)
    url = _OTHER_USER.sub(lambda found: "://" if found["password"] else found[0], url)
    url = url.partition("?")[0] if _WEB.search(url) else url
    return url if url.endswith("://") else url.rstrip("/")


def as_recorded(source: str) -> str:
    """The URL as a run's record keeps it: with references, so that the source is found again, and
    without anything that may be a secret.
    """
    source = without_fragment(source)
    query = source.partition("?")[2] if _WEB.search(source) else ""
    literal = any(_literal(value) for _, value in _pairs(query)) or _literal_user(source)
    return without_secrets(source) if literal else source


def holds_secret(source: str) -> bool:
    """Whether a password, a token or a signature is written out in the URL."""
    query = source.partition("?")[2] if _WEB.search(source) else ""
    telling = (value for name, value in _pairs(query) if _TELLING.search(name))
    return _literal_user(source) or any(map(_literal, telling))


def expanded(source: str, environment: Mapping[str, str]) -> str:
    """The URL with what its references stand for; values are taken as they are, not quoted.

    Raises RequestError for a variable that is not set.
    """

    def value(found: re.Match[str]) -> str:
        if found[1] not in environment:
            raise RequestError(
                f"{without_secrets(source)}: ${{{found[1]}}} is not set in the environment of the "
                f"process that reads the source",
                "sources",
            )
        return environment[found[1]]

    def user(found: re.Match[str]) -> str:
        return _REFERENCE.sub(lambda one: quote(value(one), safe=""), found[0])

    address, mark, query = source.partition("?") if _WEB.search(source) else (source, "", "")
    address = _OTHER_USER.sub(user, _WEB_USER.sub(user, address))
    return address + mark + _REFERENCE.sub(value, query)


def hidden(text: str, url: str) -> str:
    """The text of an error without the secrets of the URL that it is about."""
    for secret in sorted(set(_secrets(url)), key=len, reverse=True):
        if len(secret) >= _LEAST:
            text = text.replace(secret, _HIDDEN)
    return text


def _secrets(url: str) -> Iterator[str]:
    for told in _told_users(url):
        yield from (told, unquote(told))
    query = url.partition("?")[2] if _WEB.search(url) else ""
    yield query
    for _, value in _pairs(query):
        yield from (value, quote(value, safe=""))


def _told_users(url: str) -> Iterator[str]:
    """What stands as a password, or as a user who may be a token."""
    for found in _WEB_USER.finditer(url):
        yield found["user"] if found["password"] is None else found["password"]
    for found in _OTHER_USER.finditer(url):
        yield found["password"] or ""


def _literal_user(source: str) -> bool:
    return any(map(_literal, _told_users(source)))


def _literal(text: str) -> bool:
    return bool(_REFERENCE.sub("", text))


def _pairs(query: str) -> list[tuple[str, str]]:
    return parse_qsl(query, keep_blank_values=True)
