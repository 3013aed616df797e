"""What tournament files say of published studies, how that is compared, and contenders that the command line places."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from paddock.errors import FileError, UsageError
from paddock.tournaments import TournamentOptions
from paddock.tournaments.files import find_file, read_tournament
from paddock.tournaments.model import EQUIVALENT, FASTER, SLOWER, UNDECIDED, Verdict
from paddock.tournaments.published import claimed
from paddock.tournaments.studies import (
    NO_EFFECT,
    NO_EFFECT_IN_EITHER,
    NOT_MEASURED,
    ONLY_HERE,
    OPEN,
    OPPOSITE,
    SAME,
    agreement,
    compared,
    finding,
)
from tests.reports.results import study

Write = Callable[..., Path]
_THREE = [{"name": "a"}, {"name": "b", "level": {"clients": 2}}, {"name": "c", "level": {"clients": 4}}]


def test_figures_and_ratios_are_ratios_to_the_baseline() -> None:
    """Ratios that were published as such stand as they are; without a figure of the baseline there are no others."""
    assert claimed({"a": 2000, "b": 3400}, {"c": 0.24}, "a") == {"a": 1.0, "b": 1.7, "c": 0.24}
    assert claimed({"b": 3400}, {"c": 0.24}, "a") == {"c": 0.24}
    assert claimed({"a": 2000, "b": 3400}, {"c": 0.24}, "a", ["a", "c"]) == {}


def test_several_metrics_are_read_and_narrowed(definition: Write) -> None:
    """What the quick form leaves out is in no metric; its own deviations come after those of the whole form."""
    published = {
        "source": "A study",
        "unit": "docs/s",
        "figures": {"a": 10, "b": 20, "c": 30},
        "others": [{"metric": "bytes/doc", "ratios": {"b": 1, "c": 0.5}, "said": "hardly"}],
        "statements": ["Memory did not differ."],
        "deviations": ["One node."],
    }
    quick = {"contenders": ["a", "b"], "blocks": 6, "deviations": ["Shorter."], "car_params": {"limit_cores": 1}}
    file = definition(challenge="settings", baseline="a", contenders=_THREE, published=published, quick=quick)
    whole, short = read_tournament(file), read_tournament(file, TournamentOptions(quick=True))
    assert whole.published is not None
    assert short.published is not None
    assert whole.published.others[0].ratios == {"b": 1, "c": 0.5}
    assert whole.published.deviations == ("One node.",)
    assert short.published.figures == {"a": 10, "b": 20}
    assert short.published.others[0].ratios == {"b": 1}
    assert short.published.deviations == ("One node.", "Shorter.")
    assert (whole.car_params, short.car_params) == ({}, {"limit_cores": 1})


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"figures": {"a": 1, "z": 2}}, r"published names 'z', which is no contender"),
        ({"others": [{"metric": "bytes/doc", "ratios": {"z": 2}}]}, r"published names 'z', which is no contender"),
        ({"ratios": {"b": 3}}, r"both a figure and a ratio of 'b', and figures tell ratios: leave one of them out"),
        ({"others": [{"metric": "bytes/doc", "figures": {"a": 1, "b": 2}, "ratios": {"b": 2}}]}, r"both a figure and"),
        ({"figures": {"a": 1, "b": math.nan}}, r"nan is no number to reckon with: .* \(at 'published\.figures\.b'\)"),
        ({"figures": {"a": 1, "b": math.inf}}, r"inf is no number to reckon with"),
        ({"others": [{"metric": "bites", "ratios": {"a": 2}}]}, r"figures in the metric 'bites', which is none"),
        ({"others": [{"metric": "bytes/doc"}]}, r"own\.yml:\d+"),
        ({"ratios": {"b": 0}}, r"own\.yml:\d+"),
    ],
)
def test_what_cannot_have_been_published_is_refused(
    definition: Write, changed: dict[str, object], sentence: str
) -> None:
    """With a sentence that says what is wrong."""
    published = {"source": "A study", "unit": "docs/s", "figures": {"a": 1, "b": 2}, **changed}
    file = definition(challenge="settings", baseline="a", contenders=_THREE, published=published)
    with pytest.raises(FileError, match=sentence.replace("own", file.stem)):
        read_tournament(file)


@pytest.mark.parametrize(
    ("verdict", "ratio", "published", "expected"),
    [
        (FASTER, 1.2, 1.7, SAME),
        (SLOWER, 0.8, 0.2, SAME),
        (SLOWER, 0.8, 1.7, OPPOSITE),
        (UNDECIDED, 1.5, 1.7, OPEN),
        (EQUIVALENT, 1.0, 1.7, NO_EFFECT),
        (EQUIVALENT, 1.0, 1.02, NO_EFFECT_IN_EITHER),
        (FASTER, 1.2, 0.99, ONLY_HERE),
        (UNDECIDED, None, 1.7, NOT_MEASURED),
    ],
)
def test_findings_say_what_was_measured(verdict: str, ratio: float | None, published: float, expected: str) -> None:
    """A published effect never makes an undecided interval agree, however large the measured ratio is."""
    one = Verdict("b", verdict, ratio, 0.9, 1.6, 0.95, 10, 0.5, "for this JVM")
    assert finding(one, published, 0.03) == expected
    assert finding(None, published, 0.03) == NOT_MEASURED


def test_every_published_ratio_is_compared_but_the_misprint() -> None:
    """The baseline is with nobody compared, what is excluded is in no sentence."""
    found = compared(study())
    assert [one.contender for one in found] == ["refresh 5s", "refresh 30s"]
    assert [one.claimed for one in found] == [1.25, 1.7]
    assert agreement(found).startswith("Of 2 published ratios that can be compared: ")
    assert agreement([]) == ""


def test_further_data_paths_are_contenders(tmp_path: Path) -> None:
    """In both forms; a tournament that compares none refuses them."""
    asked = {"loop": str(tmp_path)}
    for quick in (False, True):
        tournament = read_tournament(find_file("study-storage"), TournamentOptions(quick=quick, data_paths=asked))
        assert [(one.name, one.data_path) for one in tournament.contenders] == [
            *[("disk", None), ("memory", "/dev/shm"), ("loop", str(tmp_path))],  # noqa: S108 - none is used
        ]
        assert tournament.drop_caches
        alone = read_tournament(find_file("study-storage"), TournamentOptions(quick=quick))
        assert tournament.budget_minutes >= 1.5 * alone.budget_minutes
    with pytest.raises(UsageError, match="'heap' compares none"):
        read_tournament(find_file("heap"), TournamentOptions(data_paths=asked))


def test_a_folder_is_one_contender_alone(tmp_path: Path) -> None:
    """Under two names it would be compared with itself; what differs in more than its folder is none of these."""
    asked = {"a": str(tmp_path), "b": f"{tmp_path}/."}
    with pytest.raises(UsageError, match="--data-paths has one folder twice, as 'a' and as 'b'"):
        read_tournament(find_file("study-storage"), TournamentOptions(data_paths=asked))
    with pytest.raises(UsageError, match="'study-shipper-settings' compares none"):
        read_tournament(find_file("study-shipper-settings"), TournamentOptions(data_paths={"a": str(tmp_path)}))


@pytest.mark.parametrize("folder", ["", 5, ["x"], "/etc/passwd", "/nowhere/at/all"])
def test_what_is_no_folder_is_no_data_path(folder: object) -> None:
    """Nothing, another kind of value, a file, a folder that is not there: said before anything is planned."""
    with pytest.raises(UsageError, match="--data-paths wants a folder that can be written to for 'a', and "):
        read_tournament(find_file("study-storage"), TournamentOptions(data_paths={"a": folder}))


def test_the_steps_of_a_study_are_held_on_clusters_that_are_there(tmp_path: Path) -> None:
    """Those that the file names, with their levels and none of what would build a node; all blocks in one start."""
    hosts = tmp_path / "clusters.yml"
    hosts.write_text(
        yaml.safe_dump({"micro": {"target_hosts": "a:9200"}, "4 nodes": {"target_hosts": "b:9200,c:9200"}})
    )
    whole = read_tournament(find_file("study-scale-out"))
    there = read_tournament(find_file("study-scale-out"), TournamentOptions(contender_hosts=str(hosts)))
    assert there.is_there
    assert [(one.name, one.target_hosts) for one in there.contenders] == [
        ("micro", "a:9200"),
        ("4 nodes", "b:9200,c:9200"),
    ]
    assert there.contenders[1].level == whole.contenders[4].level
    assert (there.starts, there.blocks) == (1, whole.starts * whole.blocks)
    assert not any(one.cars or one.car_params or one.nodes for one in there.contenders)
    assert there.published is not None
    assert there.published.figures == {"micro": 316, "4 nodes": 4396}
    assert "--contender-hosts" in there.published.deviations[-1]


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ([1, 2], r"no contender of 'study-scale-out' called '1'"),
        (["micro", "one server each"], r"each' on one cluster \(a:9200\), and they differ in nothing"),
        (["micro", "5 nodes"], r"no contender of 'study-scale-out' called '5 nodes'\. Did you mean '4 nodes'"),
        (["4 nodes", "4 parsers"], r"has to name the baseline of 'study-scale-out', micro"),
    ],
)
def test_hosts_of_others_are_refused(tmp_path: Path, names: list[object], sentence: str) -> None:
    """A name that is no contender's, a comparison without its baseline, or of a cluster with itself."""
    hosts = tmp_path / "clusters.yml"
    hosts.write_text(yaml.safe_dump({name: {"target_hosts": "a:9200"} for name in names}))
    with pytest.raises(UsageError, match=sentence):
        read_tournament(find_file("study-scale-out"), TournamentOptions(contender_hosts=str(hosts)))
