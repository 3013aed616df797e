"""The report of a disk that became full: what is said when it stops the load, when it does not, and of what is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from paddock.race.full_disk import read_full_disk
from paddock.reports.document import render_html, render_markdown
from paddock.reports.race_report import build_race_report, find_out, headline, race_report_as_json
from tests.reports import races

# As a node with 256 MiB was seen to answer.
REFUSAL = {
    "status": 429,
    "kind": "cluster_block_exception",
    "reason": "index [paddock-app-logs] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark]",
    "documents": 158000,
    "first": 47.03,
    "last": 57.414,
}
RED = {
    "status": 503,
    "kind": "unavailable_shards_exception",
    "reason": "primary shard is not active",
    "documents": 9,
    "first": 1,
    "last": 9,
}
STOPPED: dict[str, Any] = {
    "kind": "full-disk",
    "offered": 600000,
    "taken": 376000,
    "stopped": True,
    "room": None,
    "first_refusal": 47.03,
    "taken_before_refusal": 376000,
    "last_taken": 46.935,
    "seconds": 57.415,
    "recovery": 9.966,
    "recovered_by": "itself",
    "refusals": [REFUSAL],
    "disks": [{"total": 268435456, "available": 35291136}],
    "acknowledged": 377000,
    "counted": 377000,
    "lost": 0,
}


def findings(folder: Path, **changes: Any) -> Any:
    """A race whose journal says so; an earlier load stands before it."""
    lines = ({**STOPPED, "taken": 1}, {**STOPPED, **changes})
    (folder / "load.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return find_out(races.plain(), folder)


def test_a_load_that_was_stopped(tmp_path: Path) -> None:
    """Documents taken, the error's own words, since when, recovery, the disk, the proof, and what was published."""
    found = findings(tmp_path)
    assert headline(found) == (
        "376,000 of 600,000 documents were taken (63 %) before a full disk stopped the load; 9.97 s after space was "
        "freed documents were taken again. All 377,000 acknowledged documents are in the index, found by their ids."
    )
    text = render_markdown(build_race_report(found))
    for words in (
        "after 47.0 s and 376,000 documents",
        "| 429 | cluster\\_block\\_exception | index \\[paddock-app-logs\\] blocked by",
        "| 1 | 256 MiB | 87 % |",
        "| 1 shard | 1,424,547 of 2,000,000 | 71 % |",
    ):
        assert words in text
    assert "Full disk" in render_html(build_race_report(found))
    assert race_report_as_json(found)["full_disk"]["refusals"][0]["status"] == 429


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"stopped": False, "taken": 600000, "recovery": None, "refusals": [], "first_refusal": None},
            "600,000 of 600,000 documents were taken (100 %): no disk stopped the load.",
        ),
        ({"recovery": None, "recovered_by": None}, "none was taken again after space was freed"),
        ({"recovery": None, "recovered_by": None, "freed": False}, "the cluster deleted nothing any more"),
        ({"lost": 3}, "3 of 377,000 acknowledged documents are lost."),
        ({"counted": 376990}, "10 of 377,000 acknowledged documents are lost."),
        (
            {"counted": None, "lost": 377000},
            "377,000 of 377,000 acknowledged documents are lost, or could not be counted",
        ),
        (
            {"refusals": [RED], "disks": [{"total": 100, "available": 90}]},
            "before the load stopped, but nothing tells of a full disk;",
        ),
        ({"refusals": [RED]}, "before a full disk stopped the load;"),  # which is that of the node, 87 % used
        ({"disks": []}, "before a full disk stopped the load;"),
    ],
)
def test_other_ends(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    """Nothing stopped it, nothing came back, something is lost."""
    assert words in headline(findings(tmp_path, **changes))


def test_no_such_load(tmp_path: Path) -> None:
    """A journal of another challenge, or none."""
    assert read_full_disk(tmp_path / "none.jsonl") is None
    assert read_full_disk(races.write(tmp_path / "load.jsonl", races.journal())) is None
