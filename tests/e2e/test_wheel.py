"""What is published works elsewhere: the wheel and the sdist, away from this checkout."""

from __future__ import annotations

import email
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from tests.e2e.conftest import ROOT

PAGES = "chunkprep_packer/pages/templates"

PACKAGES = ("chunkprep_flows", "chunkprep_ingest", "chunkprep_packer", "chunkprep_store")


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist of this checkout."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(folder)],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def elsewhere(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of an environment that holds nothing but the wheel and what it requires."""
    folder = tmp_path_factory.mktemp("elsewhere")
    pins = folder / "pins.txt"
    pins.write_text("\n".join(pinned((ROOT / "requirements.lock").read_text())))
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    binaries = folder / "venv" / "bin"
    [wheel] = dist.glob("*.whl")
    pip = [str(binaries / "python"), "-m", "pip", "install", "--quiet", "--no-compile"]
    subprocess.run(
        [*pip, "--disable-pip-version-check", "-c", str(pins), f"{wheel}[ingest]"], check=True
    )
    return binaries


def pinned(lock: str) -> list[str]:
    """The versions of a lock file, without the hashes."""
    return [line.removesuffix(" \\") for line in re.findall(r"^\S+==.*$", lock, re.MULTILINE)]


def test_the_wheel_holds_the_packages_the_migrations_and_the_samples(dist: Path) -> None:
    [wheel] = dist.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == set(PACKAGES)
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(names)
    pages = {path.name for path in (ROOT / "packer" / PAGES).iterdir()}
    assert "pages.css" in pages
    assert {f"{PAGES}/{name}" for name in pages} <= set(names)
    for path in [*ROOT.glob("migrations/versions/*.py"), *ROOT.glob("samples/**/*.md")]:
        place, _, rest = path.relative_to(ROOT).as_posix().partition("/")
        home = {"migrations": "chunkprep_store", "samples": "chunkprep_flows"}[place]
        assert f"{home}/{place}/{rest}" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_sdist_holds_what_building_and_testing_need(dist: Path) -> None:
    [sdist] = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "Makefile", "requirements.lock"} <= names
    assert "tests/e2e/test_wheel.py" in names
    assert not [name for name in names if name.startswith((".venv", "demo/"))]


def test_a_wheel_built_from_the_sdist_holds_the_same(dist: Path, tmp_path: Path) -> None:
    [sdist] = dist.glob("*.tar.gz")
    [wheel] = dist.glob("*.whl")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    [source] = tmp_path.iterdir()
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "again")],
        cwd=source, check=True, capture_output=True,
    )  # fmt: skip
    [again] = (tmp_path / "again").iterdir()
    assert zipfile.ZipFile(again).namelist() == zipfile.ZipFile(wheel).namelist()


def test_the_metadata_say_what_the_changelog_and_the_licence_say(dist: Path) -> None:
    [wheel] = dist.glob("*.whl")
    archive = zipfile.ZipFile(wheel)
    [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
    told = email.message_from_bytes(archive.read(name))
    released = re.findall(r"^## \[(\d[^\]]*)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert told["Version"] == released[0]
    assert told["License-Expression"] == "Apache-2.0"
    assert "Apache License" in (ROOT / "LICENSE").read_text()
    assert told["Requires-Python"] == ">=3.11"
    classifiers = told.get_all("Classifier") or []
    assert "Typing :: Typed" in classifiers
    assert {f"Programming Language :: Python :: 3.{n}" for n in (11, 12, 13)} <= set(classifiers)


@pytest.mark.prefect
@pytest.mark.slow
def test_the_demo_runs_from_the_wheel_in_an_empty_environment(
    elsewhere: Path, prefect_api: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [str(elsewhere / "chunkprep"), "demo"],
        cwd=tmp_path,
        env={"PATH": os.defpath, "HOME": str(tmp_path), "PREFECT_API_URL": prefect_api},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "audit: 0 errors" in done.stdout
    called = elsewhere / "chunkprep"
    assert done.stdout.splitlines()[-1] == f"  {called} docs --store sqlite:///demo/chunkprep.db"
