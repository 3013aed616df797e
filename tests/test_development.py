"""./inv validate on a copy of this checkout in which something has been broken."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from paddock.paths import PROJECT

PARTS = ("tasks.py", "paddock", "benchmarks", "tracks", "challenges", "cars", "corpora")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what validate looks at."""
    for name in PARTS:
        source = PROJECT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, tmp_path / name)
    return tmp_path


def validate(checkout: Path) -> subprocess.CompletedProcess[str]:
    """Run it on that copy."""
    invoke = Path(sys.executable).with_name("invoke")
    return subprocess.run(
        [str(invoke), "--search-root", str(checkout), "validate"],
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    )


# What is broken with what the sentence about it must say; together only what is looked at even so.
BROKEN = {
    "recipes, a car, an index": [
        ("corpora/apache.yml", "documents: ", "documents: many # ", r"corpora/apache\.yml:\d+: .*many"),
        (
            "corpora/app-logs.yml",
            "description:",
            "\tdescription:",
            r"corpora/app-logs\.yml:\d+: this is not valid YAML",
        ),
        ("cars/v1/2gheap.ini", "[variables]", "[variables", r"cars/v1/2gheap\.ini:\d+: "),
        ("tracks/apache/index.json", '"mappings"', "mappings", r"tracks/apache/index\.json"),
    ],
    "a challenge": [("challenges/ingest.json", '"schedule": [', '"schedule" [', r"challenges/ingest\.json:\d+: ")],
    "parameters": [("tracks/shared/parameters.yml", "name:", "nane:", r"parameters\.yml:\d+: ")],
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_named_with_its_line(checkout: Path, broken: list[tuple[str, str, str, str]]) -> None:
    """Every kind of file: the sentence names it, where the format allows with its line, and the exit code says so."""
    for file, before, after, _ in broken:
        path = checkout / file
        text = path.read_text()
        assert before in text
        path.write_text(text.replace(before, after, 1))
    result = validate(checkout)
    assert result.returncode == 2, result.stdout
    for *_, sentence in broken:
        assert re.search(sentence, result.stdout), result.stdout
    assert "Traceback" not in result.stdout + result.stderr
    assert re.search(r"\d+ of \d+ checks failed", result.stderr)


def test_every_folder_is_described() -> None:
    """What the repository holds is told in docs/architecture.md; what somebody's measuring left behind is not in it."""
    if not (PROJECT / ".git").exists():
        pytest.skip("this copy of the project is no repository")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=PROJECT, capture_output=True, text=True, check=True).stdout
    folders = {name.split("/", 1)[0] for name in listed.split("\0") if "/" in name}
    described = (PROJECT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert [name for name in sorted(folders) if f"`{name}/" not in described and f" {name}/ " not in described] == [
        ".ci"
    ]
