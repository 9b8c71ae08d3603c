"""The base install, played by refusing to import what only the extras bring."""

from __future__ import annotations

from collections.abc import Iterable

EXTRAS = (
    "anyio", "bs4", "distributed", "docx", "fastapi", "httpx", "langchain_core", "llama_index",
    "lxml", "jinja2", "pygal",
    "numpy", "openpyxl", "pandas", "pathspec", "pptx", "prefect", "prefect_dask",
    "prometheus_client", "psycopg", "pypdfium2", "pyromark", "rensa",
    "starlette", "tokenizers", "unstructured", "uvicorn", "yaml",
)  # fmt: skip
"""Modules that no requirement of the base install brings."""

REPORT = ("jinja2", "pygal")
"""Those of the extra `report`."""


def without(modules: Iterable[str]) -> str:
    """A script's first lines: these modules are not installed."""
    return f"""
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {tuple(modules)!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocked())
"""


BLOCK = without(EXTRAS)
"""A script's first lines: only the base install is there."""
