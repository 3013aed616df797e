"""A mistake in any file of a track is named with its file and line, though Rally renders all files as one text."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paddock import tracks
from paddock.errors import FileError
from paddock.paths import CHALLENGES, TRACKS

INGEST_TASKS = (CHALLENGES / "parts" / "ingest-tasks.json").read_text(encoding="utf-8").splitlines()


def replace(path: Path, old: str, new: str) -> int:
    """Replace the first occurrence; returns its line, counted from 1."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return text[: text.index(old)].count("\n") + 1


def failure(tracks_folder: Path) -> FileError:
    """What loading the track apache says."""
    with pytest.raises(FileError) as caught:
        tracks.load_track("apache", tracks_folder)
    return caught.value


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("apache/track.json", '"version": 2,', '"version": 2'),
        ("../challenges/ingest.json", '"default": true,', '"default": true;'),
        ("../challenges/ingest-and-search.json", '"iterations": {{', '"iterations" {{'),
        ("../challenges/parts/ingest-tasks.json", '"name": "settle",', '"name": settle,'),
        ("apache/operations/top-paths.json", '"size": 20', '"size": 2O'),
        ("apache/index.json", '"dynamic": "strict",', '"dynamic": strict,'),
    ],
)
def test_broken_json_is_located(tracks_copy: Path, file: str, old: str, new: str) -> None:
    """The file that was broken is named, and the line, or the next one where JSON misses a comma only there."""
    line = replace(tracks_copy / file, old, new)
    error = failure(tracks_copy)
    assert error.path == (tracks_copy / file).resolve()
    assert error.line in (line, line + 1)
    assert "not valid JSON" in error.problem


@pytest.mark.parametrize("file", ["../challenges/ingest-and-search.json", "shared/index-settings.json"])
def test_broken_template_is_located(tracks_copy: Path, file: str) -> None:
    """A Jinja tag that is never closed is named with its own file, not with the text that Rally assembled."""
    path = tracks_copy / file
    replace(path, "{%- endfor %}" if "search" in file else "{%- endfor -%}", "")
    error = failure(tracks_copy)
    assert error.path == path.resolve()
    assert error.line is not None
    assert "not a valid Jinja template" in error.problem


def test_missing_index_is_named(tracks_copy: Path) -> None:
    """A body that track.json names but nobody wrote."""
    (tracks_copy / "apache" / "index.json").unlink()
    assert "does not exist" in failure(tracks_copy).problem


def test_schema_violation_names_the_place(tracks_copy: Path) -> None:
    """What Rally's schema forbids is named by its place in the track."""
    replace(tracks_copy / "../challenges/ingest.json", '"name": "ingest",', '"name": 5,')
    assert re.search(r"at challenges\.\d+\.name: 5 is not", failure(tracks_copy).problem)


def test_what_rallys_reader_refuses(tracks_copy: Path) -> None:
    """Two default challenges pass the schema; Rally refuses them when it builds the track."""
    replace(tracks_copy / "../challenges/ingest-and-search.json", '"schedule"', '"default": true, "schedule"')
    assert "Rally refuses this track: " in failure(tracks_copy).problem


def test_error_while_rendering(tracks_copy: Path) -> None:
    """A template that fails only when rendered ends in a sentence as well."""
    replace(tracks_copy / "../challenges/ingest.json", '"ingest"', "{{ 1 / 'a' }}")
    assert "cannot be rendered" in failure(tracks_copy).problem


def test_broken_plugin(tracks_copy: Path) -> None:
    """A track.py that cannot be imported is named with the reason, which Rally's own sentence leaves out."""
    (tracks_copy / "apache" / "track.py").write_text("from shared.nowhere import register\n", encoding="utf-8")
    assert "No module named 'shared.nowhere'" in failure(tracks_copy).problem


def always_rendered() -> list[int]:
    """Lines of the ingest tasks (from 0) before which a stray word is always rendered: outside every condition."""
    depth, lines = 0, []
    for number, line in enumerate(INGEST_TASKS):
        if depth == 0 and number > 3 and "%" not in line:
            lines.append(number)
        depth += len(re.findall(r"{%-? if", line)) - len(re.findall(r"{%-? endif", line))
    return lines


@pytest.fixture(scope="module")
def shared_copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One copy of all tracks for many examples."""
    folder = tmp_path_factory.mktemp("tracks")
    shutil.copytree(CHALLENGES, folder / "challenges")
    shutil.copytree(TRACKS, folder / "tracks", ignore=shutil.ignore_patterns("__pycache__"))
    return folder / "tracks"


@given(number=st.sampled_from(always_rendered()), indent=st.integers(0, 9))
@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_a_stray_word_anywhere_is_found(shared_copy: Path, number: int, indent: int) -> None:
    """Wherever a stray line stands in a part that two challenges collect, exactly that line is named."""
    lines = [*INGEST_TASKS[:number], " " * indent + "stray", *INGEST_TASKS[number:]]
    path = shared_copy.parent / "challenges" / "parts" / "ingest-tasks.json"
    path.write_text("\n".join(lines), encoding="utf-8")
    error = failure(shared_copy)
    assert error.path == path.resolve()
    assert error.line == number + 1
