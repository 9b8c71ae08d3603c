"""Writes every page of docs/reference/."""

from __future__ import annotations

from docs.generate.pages import FOLDER, PAGES

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, make in PAGES.items():
        (FOLDER / name).write_text(make(), encoding="utf-8")
        print(f"docs/reference/{name}")
