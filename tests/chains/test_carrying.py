"""What a winner brings, and how it gets into later steps, the last tournament, and options to copy."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared import levels

from paddock import cars
from paddock.chains import carrying
from paddock.chains.model import Settings
from paddock.structured_files import read_yaml
from paddock.tournaments import TournamentOptions
from paddock.tournaments.files import find_file, read_tournament
from paddock.tournaments.model import Tournament

SHORT_FORMS = {
    "refresh-interval": ["1s", "30s"],
    "translog-flush": ["request", "async", "30s", "32mb"],
    "store-type": ["hybridfs", "niofs"],
    "shards": [1, 4],
    "replicas": [0, 1],
    "bulk-size": [100, 5000],
    "bulk-clients": [1, 8],
    "mapping-cost": ["full", "nothing-stored"],
    "index-mode": ["standard", "logsdb", "logsdb-synthetic"],
    "shipper": ["rally", "rsyslog"],
    "codec-and-sort": ["default", "best_compression by host, @timestamp desc"],
}


def shipped(name: str, **options: Any) -> Tournament:
    """A tournament of the project."""
    return read_tournament(find_file(name), TournamentOptions(**options), sampled=False)


@pytest.mark.parametrize("challenge", SHORT_FORMS)
def test_short_forms_mean_what_the_track_makes_of_them(challenge: str) -> None:
    """A level as an object is the same level to the lap runner as its short form."""
    for value in SHORT_FORMS[challenge]:
        (short,) = levels.read_levels(challenge, [value])
        (long,) = levels.read_levels("settings", [{"name": short.name, **carrying.level_of(challenge, value)}])
        assert long == short


def test_every_short_form_and_mode_of_the_tracks_is_known() -> None:
    """A new factor of tracks/shared/levels.py needs a line here and in carrying.level_of."""
    assert set(SHORT_FORMS) == set(levels.FACTORS) - {"settings"}
    assert carrying.MODES == levels.MODES


def test_a_heap_that_won_is_in_all_contenders_of_the_index_buffer() -> None:
    """Each keeps the mixin that it differs by, and gets the car that won."""
    won = carrying.won(shipped("heap"), "2 GiB")
    assert won == Settings(cars=("2gheap",))
    content = carrying.carried_into(read_yaml(find_file("index-buffer"), "tournament"), won)
    assert [one["cars"] for one in content["contenders"]] == [
        ["2gheap", "index-buffer-10"],
        ["2gheap", "index-buffer-30"],
        ["2gheap", "index-buffer-40"],
    ]
    both = carrying.combined(won, carrying.won(shipped("index-buffer"), "40 %"))
    assert both.cars == ("2gheap", "index-buffer-40")


def test_what_contenders_have_in_common_is_nobodys_gain() -> None:
    """The index buffer's winner brings its mixin, not the heap that all of them have."""
    assert carrying.won(shipped("index-buffer"), "40 %").cars == ("index-buffer-40",)
    assert carrying.varied(shipped("index-buffer")) == {"car variable index_buffer_size"}
    assert carrying.varied(shipped("heap")) == {"the car", "car variable heap_size"}


def test_a_cell_that_won_becomes_track_parameters() -> None:
    """Bulk size and clients of a grid's cell, under the names that any race understands."""
    won = carrying.won(shipped("grid-bulk-size-clients"), "bulk size 5000, clients 4")
    assert won.level == {"bulk_size": 5000, "clients": 4}
    assert carrying.track_parameters(won) == {"bulk_size": 5000, "bulk_indexing_clients": 4}
    content = carrying.carried_into(read_yaml(find_file("bulk-size"), "tournament"), won)
    assert content["track_params"] == {"bulk_size": 5000, "bulk_indexing_clients": 4}


@pytest.mark.parametrize(
    ("tournament", "winner", "parameters"),
    [
        ("refresh-interval", "30s", {"refresh_interval": "30s"}),
        ("translog-flush", "async", {"translog_durability": "async"}),
        ("translog-flush", "32mb", {"translog_flush_threshold_size": "32mb"}),
        ("shards", "4", {"number_of_shards": 4}),
        ("store-type", "niofs", {"store_type": "niofs"}),
    ],
)
def test_index_settings_that_won_become_track_parameters(
    tournament: str, winner: str, parameters: dict[str, Any]
) -> None:
    """By the tracks' own names where there are any."""
    assert carrying.track_parameters(carrying.won(shipped(tournament), winner)) == parameters


def test_other_index_settings_are_told_by_their_full_names() -> None:
    """Modes and orders have no parameter of their own; nothing stands for a setting that is taken away."""
    level = {"mode": "logsdb", "sort": "host, @timestamp desc", "settings": {"index.codec": "best_compression"}}
    assert carrying.track_parameters(Settings(level=level)) == {
        "codec": "best_compression",
        "index_settings": {
            "index.mode": "logsdb",
            "index.mapping.source.mode": "stored",
            "index.sort.field": ["host", "@timestamp"],
            "index.sort.order": ["asc", "desc"],
        },
    }


def test_what_the_default_has_anyway_is_nothing_found() -> None:
    """A step whose baseline is worse than the default finds the default, which is no news."""
    parameters = {"bulk_size": 1000, "bulk_indexing_clients": 8, "refresh_interval": "1s"}
    found = Settings(("1gheap",), {}, {"bulk_size": 1000, "clients": 2, "settings": {"index.refresh_interval": "1s"}})
    left = carrying.without_defaults(found, Settings(), parameters)
    assert left == Settings(level={"clients": 2})
    assert not carrying.without_defaults(found, Settings(track_params={"bulk_indexing_clients": 2}), parameters)
    assert carrying.without_defaults(found, Settings(("4gheap",)), parameters).cars == ("1gheap",)


def test_the_last_tournament_compares_nodes_and_levels_side_by_side() -> None:
    """Index and load settings as a level, so that both can be alive at once; the default's own cars in both."""
    tuned = Settings(("2gheap",), {}, {"bulk_size": 5000})
    default, ours = carrying.final_contenders(tuned, Settings(("index-buffer-20",)))
    assert default == {"name": "default", "cars": ["1gheap", "index-buffer-20"]}
    assert ours == {"name": "tuned", "level": {"bulk_size": 5000}, "cars": ["index-buffer-20", "2gheap"]}
    assert carrying.final_contenders(Settings(level={"clients": 2}), Settings()) == [
        {"name": "default"},
        {"name": "tuned", "level": {"clients": 2}},
    ]


def test_what_won_takes_the_place_of_the_defaults_wherever_that_stands() -> None:
    """A winner's bulk size stands in its level, the user's among the track parameters, where it would win."""
    default = Settings(
        track_params={"bulk_size": 20, "refresh_interval": "5s", "index_settings": {"codec": "default", "hidden": True}}
    )
    won = Settings(level={"bulk_size": 1000, "codec": "best_compression", "settings": {"refresh_interval": "30s"}})
    assert carrying.track_parameters(carrying.combined(default, won)) == {
        "bulk_size": 1000,
        "refresh_interval": "30s",
        "codec": "best_compression",
        "index_settings": {"hidden": True},
    }
    again = Settings(track_params={"bulk_size": 5, "index_settings": {"index.codec": "default"}})
    assert carrying.track_parameters(carrying.combined(won, again)) == {
        "bulk_size": 5,
        "refresh_interval": "30s",
        "index_settings": {"index.codec": "default"},
    }


def test_options_to_copy() -> None:
    """A car always, because it is a default of its own; JSON where a value is no plain word."""
    tuned = Settings(("index-buffer-40",), {}, {"bulk_size": 5000, "clients": 2})
    assert carrying.applied(tuned, Settings()) == {
        "--car": "1gheap,index-buffer-40",
        "--params": "bulk_size:5000,bulk_indexing_clients:2",
    }
    settings = Settings(level={"settings": {"index.queries.cache.enabled": False}})
    assert carrying.applied(settings, Settings()) == {
        "--params": '{"index_settings": {"index.queries.cache.enabled": false}}'
    }
    assert carrying.applied(Settings(), Settings(("4gheap",))) == {}


def test_a_mapping_is_not_carried() -> None:
    """It changes what can be searched."""
    assert "mapping" in str(carrying.unbearable(shipped("mapping-cost")))
    assert carrying.unbearable(shipped("heap")) is None


def test_limits_are_not_carried() -> None:
    """The last tournament would compare two machines."""
    assert "other hardware" in str(carrying.unbearable(shipped("hardware")))


ALL_CARS = cars.load_cars()
# Which heaps fit into which memory is no matter of what won: a step whose node cannot be says so.
LEFT_OUT = {"data_paths", "limit_memory"}
MIXINS = [name for name, car in ALL_CARS.items() if not car.bases and not LEFT_OUT & set(car.variables)]
HEAPS = [name for name, car in ALL_CARS.items() if car.bases and set(car.variables) == {"heap_size"}]


@given(st.lists(st.sampled_from([*MIXINS, *HEAPS]), max_size=6))
def test_winners_of_any_cars_can_be_started_together(names: list[str]) -> None:
    """Whatever won before, one after the other: the cars that come out of it do not contradict each other."""
    chosen: tuple[str, ...] = ("1gheap",)
    for name in names:
        chosen = carrying.with_cars(chosen, (name,))
        assert name in chosen
    cars.combine(chosen, ALL_CARS)
