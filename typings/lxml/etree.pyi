# lxml.etree is compiled and ships no types; everything in it is Any, as for mypy.
from typing import Any

def __getattr__(name: str) -> Any: ...
