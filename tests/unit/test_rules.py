from __future__ import annotations

from pathlib import Path

import pytest

from chunkprep_ingest.errors import MetadataError
from chunkprep_ingest.metadata import Metadata
from chunkprep_ingest.rules import RuleBook


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(
        tmp_path / "chunkprep.yaml",
        'rules:\n- match: "*.md"\n  authority: 10\n  tags: [all]\n'
        '- match: "policies/**"\n  authority: 50\n  source: intranet\n',
    )
    write(tmp_path / "policies/chunkprep.yaml", "rules:\n- {match: refund*, authority: 80}\n")
    return tmp_path


def metadata(root: Path, name: str, front: dict[str, object] | None = None) -> Metadata:
    return RuleBook(root).metadata(root / name, front or {})


def test_the_nearest_folder_wins_field_by_field(root: Path) -> None:
    found = metadata(root, "policies/refund.md")
    assert (found.authority, found.source, found.tags) == (80, "intranet", ("all",))
    assert metadata(root, "policies/other.md").authority == 50
    assert metadata(root, "a.txt") == Metadata()


def test_a_sidecar_wins_over_folders_and_front_matter_over_both(root: Path) -> None:
    write(root / "policies/refund.md.meta.yaml", "authority: 90\nvalid_from: 2026-03-01\n")
    assert metadata(root, "policies/refund.md").authority == 90
    assert metadata(root, "policies/refund.md").valid_from == 1_772_323_200_000_000
    assert metadata(root, "policies/refund.md", {"authority": 99}).authority == 99


def test_a_named_rules_file_stands_between_folders_and_sidecar(root: Path) -> None:
    extra = write(root / "extra.yaml", 'rules:\n- match: "policies/"\n  authority: 85\n')
    book = RuleBook(root, extra)
    assert book.metadata(root / "policies/refund.md", {}).authority == 85
    write(root / "policies/refund.md.meta.yaml", "authority: 90\n")
    assert book.metadata(root / "policies/refund.md", {}).authority == 90


def test_keys_of_others_in_front_matter_are_left_alone(root: Path) -> None:
    assert metadata(root, "a.txt", {"layout": "post", "title": "T"}).title == "T"


@pytest.mark.parametrize(
    ("sidecar", "message"),
    [
        ("authority: 900", r"a\.md: authority = 900"),
        ("autority: 9", r"a\.md\.meta\.yaml: 'autority' is no field"),
        ("valid_to: soon", "valid_to = 'soon'"),
        ("a: [", "is no YAML"),
        ("- a", "must hold `key: value` lines"),
        ("valid_from: 2026-02-01\nvalid_to: 2026-01-01", "valid_to"),
    ],
)
def test_a_wrong_sidecar_is_bad_metadata(tmp_path: Path, sidecar: str, message: str) -> None:
    write(tmp_path / "a.md.meta.yaml", sidecar)
    with pytest.raises(MetadataError, match=message) as caught:
        metadata(tmp_path, "a.md")
    assert caught.value.code == "bad_metadata"


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("rules: {}", "must hold one list named `rules`"),
        ("rule: []", "must hold one list named `rules`"),
        ("rules: [{authority: 1}]", "rule 1 has no `match`"),
        ("rules: [{match: 5}]", "rule 1: match = 5 is no pattern"),
        ("rules: [{match: '*', autority: 5}]", "rule 1: 'autority' is no field"),
        ("rules: [{match: x, authority: high}]", "rule 1: authority = 'high'"),
    ],
)
def test_wrong_folder_rules_are_bad_metadata(tmp_path: Path, rules: str, message: str) -> None:
    write(tmp_path / "chunkprep.yaml", rules)
    with pytest.raises(MetadataError, match=message):
        metadata(tmp_path, "a.md")


def test_a_named_rules_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(MetadataError, match="no such rules file"):
        RuleBook(tmp_path, tmp_path / "none.yaml").metadata(tmp_path / "a.md", {})
