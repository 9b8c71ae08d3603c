"""The base install, played by refusing to import what only the extras bring."""

from __future__ import annotations

EXTRAS = (
    "bs4", "distributed", "docx", "fastapi", "httpx", "langchain_core", "llama_index", "lxml",
    "jinja2", "pygal",
    "numpy", "openpyxl", "pandas", "pathspec", "pptx", "prefect", "prefect_dask",
    "prometheus_client", "psycopg", "pypdfium2", "pyromark", "rensa",
    "starlette", "tokenizers", "unstructured", "uvicorn", "yaml",
)  # fmt: skip
"""Modules that no requirement of the base install brings."""

BLOCK = f"""
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {EXTRAS!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocked())
"""
"""A script's first lines."""
