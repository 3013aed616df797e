"""Chain files: what they come to, and what bad ones are told."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
import yaml

from paddock.cars import combine, known_cars
from paddock.chains import ChainOptions
from paddock.chains.carrying import carried_into
from paddock.chains.command import TUNE, chain_for
from paddock.chains.definitions import final_content, read_step, tournament_options
from paddock.chains.files import chain_names, find_chain_file, read_chain
from paddock.chains.model import FINAL, Settings
from paddock.errors import FileError, UsageError
from paddock.race import RaceOptions
from paddock.structured_files import load_schema, read_yaml

Write = Callable[..., Path]


@pytest.fixture
def chain_file(tmp_path: Path) -> Write:
    """Writes a chain file of these steps."""

    def write(*steps: dict[str, Any], **more: Any) -> Path:
        file = tmp_path / "own.yml"
        file.write_text(yaml.safe_dump({"question": "Which?", "budget_minutes": 90, "steps": list(steps), **more}))
        return file

    return write


@pytest.mark.parametrize("name", [one for one in chain_names() if not one.startswith("study-")])
def test_shipped_chains_are_read(name: str) -> None:
    """Each with its last tournament, for any track."""
    for track in (None, "app-logs", "logs"):
        chain, _ = read_chain(name, ChainOptions(track=track))
        assert chain.final is not None
        assert {one.content["track"] for one in chain.steps} == {track or "apache"}
    quick, _ = read_chain(name, ChainOptions(quick=True))
    for told, step in zip(read_yaml(find_chain_file(name), "chain")["steps"], quick.steps, strict=True):
        if "contenders" in told:  # whether or not the quick form of its tournament has them
            assert [one["name"] for one in step.content["contenders"]] == told["contenders"]


def test_tune_takes_the_chain_for_its_minutes() -> None:
    """A coffee, an hour, a night."""
    assert [chain_for(one) for one in (1, 10, 39, 40, 60, 299, 300, 480)] == [
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
        ([HEAP, {**HEAP, "name": "again"}], {}, r"own\.yml:\d+: the steps 'heap' and 'again' both vary .* and the car"),
        ([{**HEAP, "contenders": ["1 GiB", "3 GiB"]}], {}, r"no contender '3 GiB'"),
        ([{**HEAP, "grid": {"clients": [1]}}], {}, r"no factor 'clients'"),
        ([{"tournament": "study-refresh-interval", "quick": True, "changes": {"blocks": 0}}], {}, r"blocks"),
        ([{**HEAP, "changes": {"colour": "red"}}], {}, r"The step 'heap': .*colour"),
        ([{**HEAP, "changes": {"baseline": "1 MiB"}}], {}, r"The step 'heap': the baseline is none"),
        ([{"race": {}, "quick": {"nodes": 1}}], {}, r"own\.yml:\d+: only a study's race has a quick form of its own"),
        ([{**HEAP, "quick": {"nodes": 1}}], {}, r"own\.yml:\d+: .* and 'quick' of a tournament is true or false"),
        ([{"race": {}, "quick": True}], {"study": "A"}, r"own\.yml:\d+: 'quick' of a study's race is what its quick"),
        ([{**HEAP, "quick": True}], {"study": "A"}, r"own\.yml:\d+: a study's tournaments .* has quick here"),
        ([{**HEAP, "minutes": 4}], {}, r"own\.yml:\d+: the key 'minutes' needs the key 'race' beside it"),
        ([{"race": {"chalenge": "ingest"}}], {}, r"own\.yml:\d+: .*'chalenge' is not known here; perhaps 'challenge'"),
        ([{"race": {"race_id": "mine"}}], {}, r"own\.yml:\d+: the key 'race_id' is not known here"),
        ([{"race": {"challenge": 5}}], {}, r"own\.yml:\d+: 'challenge' must be a text"),
        ([{"race": {"car": [5]}}], {}, r"own\.yml:\d+: '0' must be a text"),
        ([{"race": {"car": {"a": "b"}}}], {}, r"own\.yml:\d+: 'car' must be a text or a list"),
        ([{"race": {"params": "bulk_size:5"}}], {}, r"own\.yml:\d+: 'params' must be an object"),
        ([{"race": {"car_params": ["a"]}}], {}, r"own\.yml:\d+: 'car_params' must be an object"),
        ([{"race": {"documents": "many"}}], {}, r"own\.yml:\d+: 'documents' must be a whole number"),
        ([{"race": {"nodes": 9}}], {}, r"own\.yml:\d+: 'nodes' must be at most 8, but is 9"),
        ([{"race": {"test_mode": "maybe"}}], {}, r"own\.yml:\d+: 'test_mode' must be true or false"),
        ([{"race": {}, "minutes": math.inf}], {}, r"own\.yml:\d+: 'minutes' must be at most 100000, but is inf"),
        ([{**HEAP, "weight": math.nan}], {}, r"own\.yml: nan is no number to reckon with.*'steps\.0\.weight'"),
        ([{**HEAP, "changes": {"margin": math.inf}}], {}, r"own\.yml: inf is no number.*'steps\.0\.changes\.margin'"),
        ([HEAP], {"budget_minutes": math.inf}, r"own\.yml:\d+: 'budget_minutes' must be at most 100000, but is inf"),
        ([HEAP], {"budget_minutes": math.nan}, r"own\.yml: nan is no number"),
        ([HEAP], {"final": {"weight": math.inf}}, r"own\.yml:\d+: 'weight' must be at most 1000, but is inf"),
        ([HEAP], {"corpus": "nobody"}, r"There is no corpus 'nobody'"),
        ([{**HEAP, "changes": {"corpus": "nobody"}}], {}, r"There is no corpus 'nobody'"),
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


def test_folders_are_for_chains_that_compare_some(tmp_path: Path) -> None:
    """--data-paths beside a study that compares none would be left out without a word."""
    options = ChainOptions(quick=True, data_paths={"nfs": str(tmp_path)})
    with pytest.raises(UsageError, match="'study-refresh-interval' compares none: leave it out, or hold the study"):
        read_chain("study-refresh-interval", options)
    assert read_chain("study-storage", options)[0].steps


def test_the_schema_knows_the_options_of_a_race() -> None:
    """All of them, with the numbers that they may be, but for those that the chain sets itself."""
    known = load_schema("chain")["definitions"]["race"]["properties"]
    hints = get_type_hints(RaceOptions, include_extras=True)
    assert set(known) == set(hints) - {"race_id", "user_tags"}
    for name, told in known.items():
        _kind, _help, least, most = (*get_args(hints[name]), None, None)[:4]
        assert (told.get("minimum"), told.get("maximum")) == (least, most)


def test_a_corpus_brings_its_track(chain_file: Write) -> None:
    """In the file as with --corpus."""
    chain, _ = read_chain(str(chain_file(HEAP, corpus="app-logs")))
    assert (chain.steps[0].content["corpus"], chain.steps[0].content["track"]) == ("app-logs", "app-logs")


def compared(tournament: str, name: str, **told: Any) -> dict[str, Any]:
    """A step that compares two values, each a contender."""
    ((key, values),) = told.items()
    contenders = [{"name": one, key: value} for one, value in zip("ab", values, strict=True)]
    return {"tournament": tournament, "name": name, "changes": {"baseline": "a", "contenders": contenders}}


HEAP_SIZES = compared("heap", "own", car_params=[{"heap_size": "1g"}, {"heap_size": "2g"}])
REFRESHES = compared("refresh-interval", "own", track_params=[{"refresh_interval": "1s"}, {"refresh_interval": "30s"}])
OTHER_SETTINGS = [{"index_settings": {"index.refresh_interval": one}} for one in ("1s", "30s")]


@pytest.mark.parametrize(
    ("first", "second", "what"),
    [
        (HEAP_SIZES, "heap", "car variable heap_size"),
        (REFRESHES, "refresh-interval", "index.refresh_interval"),
        (compared("refresh-interval", "own", track_params=OTHER_SETTINGS), "refresh-interval", "index.refresh"),
        (compared("bulk-size", "own", track_params=[{"bulk_size": 10}, {"bulk_size": 20}]), "bulk-size", "bulk_size"),
    ],
)
def test_the_same_factor_twice_is_refused_however_it_is_written(
    chain_file: Write, first: dict[str, Any], second: str, what: str
) -> None:
    """A car or a car variable, a level or a track parameter: the winner could not be in all contenders after it."""
    for steps in ((first, {"tournament": second}), ({"tournament": second}, first)):
        with pytest.raises(FileError, match=f"both vary {what}"):
            read_chain(str(chain_file(*steps)))


def test_a_codec_is_not_carried_into_modes_of_which_one_takes_it_away(chain_file: Write) -> None:
    """The other way round it is: a codec is told apart in the mode that won."""
    codecs = compared("heap", "codecs", level=[{"codec": "default"}, {"codec": "best_compression"}])
    modes = compared("heap", "modes", level=[{"mode": "standard"}, {"mode": "logsdb"}])
    with pytest.raises(FileError, match=r"both vary index\.codec"):
        read_chain(str(chain_file(codecs, modes)))
    read_chain(str(chain_file(modes, codecs)))


def test_a_profile_whose_limits_contenders_would_lose_is_refused(chain_file: Write) -> None:
    """A heap that wins because it is held without the default's limits has gained nothing; as variables they stay."""
    step = {**HEAP, "contenders": ["512 MiB", "1 GiB"]}
    file = str(chain_file(step, {"tournament": "index-buffer"}))
    told = (
        r"--car has m1-small, whose place .* '512 MiB' in the step 'heap', which set no processors and no limit_cores"
    )
    with pytest.raises(UsageError, match=told):
        read_chain(file, ChainOptions(car=("m1-small",)))
    limits = {"processors": 1, "limit_cores": 1, "limit_memory": "1740m"}
    chain, _ = read_chain(file, ChainOptions(car_params=limits))
    asked = tournament_options(ChainOptions())
    last = final_content(chain, Settings(cars=("512mheap",)))
    for one, content in ((chain.steps[0], chain.steps[0].content), (chain.final, last)):
        assert one is not None
        held = read_step(one, carried_into(content, chain.default), asked)
        made = [combine(held.cars_of(each), known_cars(), held.car_params_of(each)) for each in held.contenders]
        assert {(each.limits.cores, each.limits.memory_bytes, each.processors) for each in made} == {(1, 1740 << 20, 1)}
        assert len({each.heap_bytes for each in made}) == 2


def test_a_profile_stays_in_both_contenders_of_the_last_tournament(chain_file: Write) -> None:
    """What won beside it changes nothing of its limits."""
    chain, _ = read_chain(str(chain_file({"tournament": "index-buffer"})), ChainOptions(car=("m1-small",)))
    assert chain.final is not None
    content = carried_into(final_content(chain, Settings(cars=("index-buffer-40",))), chain.default)
    held = read_step(chain.final, content, tournament_options(ChainOptions()))
    assert [held.cars_of(one) for one in held.contenders] == [("m1-small",), ("m1-small", "index-buffer-40")]


@pytest.mark.parametrize(
    ("options", "left_out"),
    [
        (ChainOptions(), []),
        (ChainOptions(params={"refresh_interval": "30s"}), []),
        (ChainOptions(car=("2gheap", "index-buffer-40")), []),
        (ChainOptions(car=("4gheap",)), [("heap", "cars 4gheap", "1 GiB")]),
        (ChainOptions(car=("index-buffer-20",)), [("index-buffer", "cars index-buffer-20", "10 %")]),
        (
            ChainOptions(params={"bulk_size": 5000}),
            [("bulk-size-and-clients", "bulk_size 5000", "bulk size 1000, clients 8")],
        ),
        (ChainOptions(params={"bulk_size": 500, "bulk_indexing_clients": 2}), []),
    ],
)
def test_a_default_that_no_contender_is_is_said(options: ChainOptions, left_out: list[tuple[str, str, str]]) -> None:
    """In the notes, which preview and page show: a step that varies what --car and --params set compares without it."""
    plain, _ = read_chain("tune-hour")
    chain, _ = read_chain("tune-hour", options)
    told = [
        f"No contender of '{step}' is the default configuration ({default}): the step compares with {baseline}, and "
        f"the last tournament alone compares with that."
        for step, default, baseline in left_out
    ]
    assert list(chain.notes) == [*plain.notes, *told]
    assert len(plain.notes) == 1


def test_a_profile_that_all_contenders_of_a_step_have_is_not_replaced_by_a_winner(chain_file: Write) -> None:
    """The step's own cars bring limits; a heap that won before would take them away."""
    bound = {"tournament": "refresh-interval", "changes": {"cars": ["m1-small"]}}
    with pytest.raises(FileError, match=r"take the place of what sets limit_cores and limit_memory and processors"):
        read_chain(str(chain_file(HEAP, bound)))
    read_chain(str(chain_file(HEAP, {**bound, "winners_of": []})))


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
        (",", ChainOptions(), r"Which tournaments\?"),
        ("tune-hour", ChainOptions(budget=0), r"--budget wants minutes, more than 0 and at most 100,000, not 0"),
        ("tune-hour", ChainOptions(budget=math.nan), r"--budget wants minutes.* not nan"),
        ("tune-hour", ChainOptions(budget=math.inf), r"--budget wants minutes.* not inf"),
        ("tune-hour", ChainOptions(car=("4gheep",)), r"no car '4gheep'\. Did you mean '4gheap'"),
    ],
)
def test_bad_words_are_told_what_is_wrong(name: str, options: ChainOptions, sentence: str) -> None:
    """Names, tracks and options."""
    with pytest.raises((UsageError, FileError), match=sentence):
        read_chain(name, options)
