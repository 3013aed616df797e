"""Chain files: what they come to, and what bad ones are told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from paddock.chains import ChainOptions
from paddock.chains.command import TUNE, chain_for
from paddock.chains.files import chain_names, read_chain
from paddock.chains.model import FINAL
from paddock.errors import FileError, UsageError

Write = Callable[..., Path]


@pytest.fixture
def chain_file(tmp_path: Path) -> Write:
    """Writes a chain file of these steps."""

    def write(*steps: dict[str, Any], **more: Any) -> Path:
        file = tmp_path / "own.yml"
        file.write_text(yaml.safe_dump({"question": "Which?", "budget_minutes": 90, "steps": list(steps), **more}))
        return file

    return write


@pytest.mark.parametrize("name", [name for name in chain_names() if not name.startswith("study-")])
def test_shipped_chains_are_read(name: str) -> None:
    """Each with its last tournament, for any track."""
    for track in (None, "app-logs", "logs"):
        chain, _ = read_chain(name, ChainOptions(track=track))
        assert chain.final is not None
        assert {one.content["track"] for one in chain.steps} == {track or "apache"}


def test_tune_takes_the_chain_for_its_minutes() -> None:
    """A coffee, an hour, a night."""
    assert [chain_for(one) for one in (1, 10, 29, 30, 60, 299, 300, 480)] == [
        *["tune-coffee"] * 3,
        *["tune-hour"] * 3,
        *["tune-night"] * 2,
    ]
    assert set(TUNE) <= set(chain_names())


def test_the_last_tournament_measures_what_all_steps_do(chain_file: Write) -> None:
    """Where all of them are about disk, so is the last one."""
    disk = {"tournament": "logsdb", "name": "modes"}
    chain, _ = read_chain(str(chain_file(disk)))
    assert chain.final is not None
    assert (chain.final.content["metric"], chain.final.content["force_merge"]) == ("bytes/doc", True)
    chain, _ = read_chain(str(chain_file(disk, {"tournament": "heap"})))
    assert chain.final is not None
    assert "metric" not in chain.final.content


def test_names_with_commas_are_a_chain() -> None:
    """Each step builds on all before it; the budget is theirs and an hour for the last tournament."""
    chain, file = read_chain("heap,index-buffer")
    assert file is None
    assert [one.name for one in chain.steps] == ["heap", "index-buffer"]
    assert chain.steps[1].winners_of == ("heap",)
    assert chain.final is not None
    assert chain.final.winners_of == ("heap", "index-buffer")
    assert chain.budget_minutes == 180


def test_a_step_may_be_a_part_of_a_tournament(chain_file: Write) -> None:
    """The quick form, some contenders, some values of a grid, and any other change."""
    file = chain_file(
        {"tournament": "heap", "quick": True, "changes": {"blocks": 9}},
        {"tournament": "gc", "contenders": ["G1", "ZGC"]},
        {"tournament": "grid-bulk-size-clients", "grid": {"bulk size": [1000, 5000]}},
    )
    heap, gc, grid = read_chain(str(file))[0].steps
    assert [one["name"] for one in heap.content["contenders"]] == ["512 MiB", "1 GiB"]
    assert (heap.content["lap_documents"], heap.content["blocks"]) == (100_000, 9)
    assert [one["name"] for one in gc.content["contenders"]] == ["G1", "ZGC"]
    assert [one["values"] for one in grid.content["grid"]] == [[1000, 5000], [1, 2, 4]]


HEAP: dict[str, Any] = {"tournament": "heap"}


@pytest.mark.parametrize(
    ("steps", "more", "sentence"),
    [
        ([{"tournament": "heep"}], {}, r"no tournament 'heep'\. Did you mean 'heap'"),
        ([HEAP, HEAP], {}, r"the name 'heap' is that of an earlier step"),
        ([{**HEAP, "name": FINAL}], {}, r"is that of the last tournament"),
        ([{**HEAP, "needs": ["gc"]}], {}, r"'gc' in needs, which is no step before it"),
        ([HEAP, {"tournament": "gc", "winners_of": ["gc"]}], {}, r"name one of heap"),
        ([HEAP, {**HEAP, "name": "again"}], {}, r"own\.yml:\d+: the steps 'heap' and 'again' both vary the car"),
        ([{**HEAP, "contenders": ["1 GiB", "3 GiB"]}], {}, r"no contender '3 GiB'"),
        ([{**HEAP, "grid": {"clients": [1]}}], {}, r"no factor 'clients'"),
        ([{"tournament": "study-refresh-interval", "quick": True, "changes": {"blocks": 0}}], {}, r"blocks"),
        ([{**HEAP, "changes": {"colour": "red"}}], {}, r"The step 'heap': .*colour"),
        ([{**HEAP, "changes": {"baseline": "1 MiB"}}], {}, r"The step 'heap': the baseline is none"),
        ([{**HEAP, "minutes": 4}], {}, r"own\.yml:\d+: 'race' is a dependency of 'minutes'"),
        ([{"race": {"chalenge": "ingest"}}], {}, r"no option of a race 'chalenge'\. Did you mean 'challenge'"),
        ([{"race": {}, "tournament": "heap"}], {}, r"own\.yml:\d+"),
        ([], {}, r"own\.yml:\d+"),
        ([HEAP], {"on_failure": "panic"}, r"own\.yml:\d+: .*panic"),
        ([HEAP], {"final": {"challenge": "shards"}}, r"own\.yml:\d+: .*at 'final'"),
    ],
)
def test_bad_files_are_told_what_is_wrong(
    chain_file: Write, steps: list[dict[str, Any]], more: dict[str, Any], sentence: str
) -> None:
    """One sentence each, before anything is started."""
    with pytest.raises(UsageError, match=sentence):
        read_chain(str(chain_file(*steps, **more)))


def test_the_same_factor_twice_is_allowed_where_neither_builds_on_the_other(chain_file: Write) -> None:
    """Two heap tournaments beside each other, for two tracks say."""
    file = chain_file(HEAP, {**HEAP, "name": "again", "winners_of": []})
    assert read_chain(str(file))[0].steps[1].winners_of == ()


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("tune-our", ChainOptions(), r"no chain 'tune-our'\. Did you mean 'tune-hour'.*\./inv chains"),
        ("heap", ChainOptions(), r"'heap' is a tournament, not a chain"),
        ("nowhere.yml", ChainOptions(), r"there is no such file"),
        ("tune-hour", ChainOptions(track="apach"), r"no track 'apach'"),
        ("tune-hour", ChainOptions(params={"bulk_sice": 1}), r"bulk_sice.*bulk_size"),
        ("heap,versions", ChainOptions(version="8.8.2"), r"--version would change"),
    ],
)
def test_bad_words_are_told_what_is_wrong(name: str, options: ChainOptions, sentence: str) -> None:
    """Names, tracks and options."""
    with pytest.raises((UsageError, FileError), match=sentence):
        read_chain(name, options)
