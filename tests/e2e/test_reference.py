"""docs/reference/ is what the generator makes of the code, and the code explains all it offers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import click
import pytest
from docs.generate.command_line import walk
from docs.generate.pages import FLOWS, FOLDER, INGEST, PACKER, PAGES, STORE
from docs.generate.python_api import members
from docs.generate.source import docs, find, offered, tree

from chunkprep_flows.cli import main
from chunkprep_packer import PackRequest
from chunkprep_packer.service.shapes import SearchRequest
from chunkprep_store.columns import MEANING
from chunkprep_store.tables import metadata

PARTS = (*PACKER, *STORE, *INGEST, *FLOWS)


@pytest.mark.parametrize("name", PAGES)
def test_what_is_committed_is_what_the_generator_makes(name: str) -> None:
    made = PAGES[name]()
    assert (FOLDER / name).read_text(encoding="utf-8") == made, "run `make reference`"
    assert PAGES[name]() == made


def test_no_other_page_lies_among_the_reference() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(PAGES)


def test_every_link_within_a_page_leads_somewhere() -> None:
    for name, make in PAGES.items():
        page = make()
        headings = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
        anchors = {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}
        assert set(re.findall(r"\]\(#([^)]*)\)", page)) <= anchors, name


def test_every_command_option_and_argument_is_explained() -> None:
    for command, at in walk(main, click.Context(main, info_name="chunkprep")):
        assert command.help, at.command_path
        assert getattr(command, "example", ""), at.command_path
        options = [p for p in command.params if isinstance(p, click.Option)]
        assert [o.opts for o in options if not o.help] == []


def public() -> Iterator[tuple[str, str, ast.stmt]]:
    for part in PARTS:
        for name in part.names or offered(part.module):
            found = find(part.module, name)
            yield found.module, name, found.node


def test_every_public_class_function_and_method_has_a_docstring() -> None:
    silent = []
    for module, name, node in public():
        if isinstance(node, ast.ClassDef):
            told = [(f"{name}.{f.name}", f) for f in members(module, node)]
            silent += [where for where, function in told if not ast.get_docstring(function)]
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) and not docs(node, tree(module).body):
            silent.append(name)
    assert silent == []


@pytest.mark.parametrize("model", [PackRequest, SearchRequest])
def test_every_field_of_a_request_is_explained(model: type[PackRequest | SearchRequest]) -> None:
    assert [name for name, field in model.model_fields.items() if not field.description] == []


def test_every_table_and_column_is_explained() -> None:
    for table in metadata.tables.values():
        assert table.info[MEANING], table.name
        assert [column.name for column in table.columns if not column.doc] == [], table.name
