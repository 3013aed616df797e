"""The compiled loop, on worlds small enough to know every byte of the result."""

from __future__ import annotations

import calendar
import datetime
import os
import re
import shutil
import subprocess
import sys
from ipaddress import ip_address, ip_network
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from paddock.corpora.generate import MINUTES_PER_WEEK, minute_weights
from paddock.corpora.kernel import _write_ipv4, new_buffer, write_block
from paddock.corpora.world import (
    ACTOR,
    DATE,
    DOCUMENTS_PER_BLOCK,
    DRAWN,
    NEW_ADDRESS,
    NEW_IPV4,
    NEW_IPV6,
    NOTHING,
    REMEMBERED,
    TIME,
    Piece,
    Sizes,
    World,
    WorldBuilder,
)
from paddock.paths import PROJECT


def written(world: World, documents: int, block: int = 0, seed: int = 1) -> list[str]:
    """The lines of a block."""
    buffer = new_buffer(world, documents)
    size = write_block(world, np.uint64(seed), np.uint64(block), documents, buffer)
    return bytes(buffer[:size]).decode().splitlines()


def small_world(day: datetime.date, per_week: int, pieces: list[Piece], builder: WorldBuilder) -> World:
    """One actor, one event, a steady rate."""
    event = builder.event([*pieces, builder.fixed("\n")])
    builder.follow(event, [event])
    nothing = builder.texts([""], [1])
    of_class = builder.actor_class(builder.pool([event], [1]), nothing, linked=True, stay_percent=100)
    actors = builder.pool([builder.actor(of_class, [builder.fragment("me")])], [1])
    return builder.build(actors, 1, [1] * MINUTES_PER_WEEK, per_week, calendar.timegm(day.timetuple()))


@pytest.mark.parametrize("start", ["1999-12-27", "2000-02-28", "2024-02-26", "2025-02-24", "2026-12-28", "2100-02-22"])
def test_dates_are_those_of_the_calendar(start: str) -> None:
    """Leap days, ends of years and centuries: one document per minute of a week, compared with datetime."""
    first = datetime.datetime.fromisoformat(start)
    world = small_world(first.date(), MINUTES_PER_WEEK, [Piece(TIME), Piece(DATE)], WorldBuilder())
    for minute, line in enumerate(written(world, DOCUMENTS_PER_BLOCK)):
        expected = first + datetime.timedelta(minutes=minute)
        assert line[:17] == expected.isoformat()[:17]
        assert line[23:] == expected.date().isoformat()
        assert 0 <= float(line[17:23]) < 60


def test_weeks_follow_one_another() -> None:
    """A document's number alone decides its week, so later blocks and later weeks fit."""
    day = datetime.date(2026, 1, 5)
    world = small_world(day, 1000, [Piece(DATE)], WorldBuilder())
    assert written(world, 1, block=0) == ["2026-01-05"]
    assert written(world, 1, block=1) == [(day + datetime.timedelta(weeks=10)).isoformat()]
    assert written(world, 1001)[-1] == "2026-01-12"


@pytest.mark.parametrize("length", [0, 1, 31, 32, 33, 64, 65, 1000])
def test_fragments_of_every_length_are_whole(length: int) -> None:
    """Copying 32 bytes at a time neither loses the end of a fragment nor leaves what was copied too much."""
    builder = WorldBuilder()
    text = "".join(chr(97 + position % 26) for position in range(length))
    pieces = [builder.fixed("<"), builder.fixed(text), Piece(ACTOR, 0), builder.fixed(">")]
    world = small_world(datetime.date(2026, 1, 5), 1000, pieces, builder)
    assert written(world, 3) == [f"<{text}me>"] * 3
    assert world.longest == length + 5


def test_sessions_follow_links_hold_values_and_remember() -> None:
    """Within a session the second event comes after the first, the held value stays, and the first leaves its mark."""
    builder = WorldBuilder()
    numbers = builder.texts([str(number) for number in range(1000)], [1] * 1000)
    held, end = builder.held(numbers), builder.fixed("\n")
    second = builder.event([builder.fixed("second "), held, Piece(REMEMBERED), end])
    memory = builder.fragment(" after first")
    first = builder.event([builder.fixed("first "), held, Piece(REMEMBERED), end], memory=memory)
    builder.follow(first, [second, second])
    builder.follow(second, [NOTHING, NOTHING])
    entry = builder.pool([first], [1])
    of_class = builder.actor_class(entry, builder.texts([" new"], [1]), linked=True, stay_percent=100)
    actors = builder.pool([builder.actor(of_class, [0])], [1])
    world = builder.build(actors, 1, [1] * MINUTES_PER_WEEK, 1000, 0)
    lines = written(world, 1000)
    for opening, closing in zip(lines[::2], lines[1::2], strict=True):
        value = opening.removeprefix("first ").removesuffix(" new")
        assert 0 <= int(value) < 1000
        assert closing == f"second {value} after first"
    assert len(set(lines[::2])) > 300


def visiting_world(address: int, before: str) -> World:
    """Visits of a page and 2 files that come at once 3 times of 4; the next page follows when the turn comes again."""
    builder = WorldBuilder()
    client = [Piece(ACTOR, 0), Piece(NEW_ADDRESS)]
    page, *files = (
        builder.event([*client, builder.fixed(f" {name}\n")], moves=name == "page") for name in ("page", "one", "two")
    )
    builder.follow(page, [page, page, page, page], files)
    nothing = builder.texts([""], [1])
    of_class = builder.actor_class(builder.pool([page], [1]), nothing, True, stay_percent=50, at_once_percent=75)
    actors = builder.pool([builder.actor(of_class, [builder.fragment(before)], address)], [1])
    return builder.build(actors, 64, [1] * MINUTES_PER_WEEK, 1000, 0)


@pytest.mark.parametrize(
    ("kind", "before", "network"), [(NEW_IPV4, "", "240.0.0.0/4"), (NEW_IPV6, "2001:db8", "2001:db8::/32")]
)
def test_a_visit_s_documents_come_at_once_and_share_an_address(kind: int, before: str, network: str) -> None:
    """After a page its files in their order; no two visits have the same address, in this block or the next."""
    world = visiting_world(kind, before)
    lines = [line.split() for block in (0, 1) for line in written(world, DOCUMENTS_PER_BLOCK, block)]
    following: dict[str, list[str]] = {}
    for address, name in lines:
        following.setdefault(address, []).append(name)
    for address, names in following.items():
        assert str(ip_address(address)) == address
        assert ip_address(address) in ip_network(network)
        for visit in " ".join(names).split("page")[1:]:
            assert visit.split() == (["one", "two"] * len(names))[: len(visit.split())]
        assert names[0] == "page"
    same = sum(one[0] == other[0] for one, other in pairwise(lines)) / len(lines)
    assert same == pytest.approx(0.75, abs=0.02)
    # A visit has 4 documents at a time and 2 times on average, so that there are about 2,500 of them.
    assert 2200 < len(following) < 2800


def test_addresses_are_as_many_as_visits() -> None:
    """Consecutive numbers have different addresses over a million documents, and other seeds other ones."""
    buffer = np.zeros(64, dtype=np.uint8)

    def address(number: int) -> bytes:
        return bytes(buffer[: _write_ipv4(buffer, 0, np.uint64(number))])

    assert len({address(number) for number in range(1_000_000)}) == 1_000_000
    assert address(5) == address(5 + (1 << 28)) != address(6)
    worlds = [written(visiting_world(NEW_IPV4, ""), 1000, seed=seed) for seed in (1, 2)]
    assert not {line.split()[0] for line in worlds[0]} & {line.split()[0] for line in worlds[1]}


def sized_world(sizes: list[int], shortest: int, closings: int) -> World:
    """Documents "(...)" of those sizes with details "a" and "bbb"; closings are dots, a bracket and a newline."""
    builder = WorldBuilder()
    head = builder.event([builder.fixed("(")])
    details = [builder.event([builder.fixed(text)]) for text in ("a", "bbb")]
    texts = ["." * (length - 2) + ")\n" for length in range(shortest, shortest + closings)]
    builder.sizes = Sizes(
        pool=builder.pool(sizes, [1] * len(sizes)),
        details=builder.pool(details, [1, 1]),
        closings=[builder.texts([text], [1]) for text in texts],
        shortest_closing=shortest,
    )
    nothing = builder.texts([""], [1])
    of_class = builder.actor_class(builder.pool([head], [1]), nothing, linked=False, stay_percent=0)
    actors = builder.pool([builder.actor(of_class, [])], [1])
    return builder.build(actors, 1, [1] * MINUTES_PER_WEEK, 1000, 0)


def test_documents_have_the_prescribed_sizes() -> None:
    """To the byte, from the smallest possible on; details are whole, and the closing takes what is left."""
    world = sized_world([4, 5, 6, 7, 50], shortest=3, closings=4)
    lines = written(world, 1000)
    assert {len(line) + 1 for line in lines} == {4, 5, 6, 7, 50}
    for line in lines:
        assert re.fullmatch(r"\((a|bbb)*\.{1,3}\)", line), line
    assert any("a" in line and "bbb" in line for line in lines)
    assert world.longest == 50


def test_sizes_that_cannot_be_filled_are_refused() -> None:
    """Too small a document, or no closing for what the longest detail leaves, is noticed before anything is written."""
    with pytest.raises(ValueError, match="documents of 3 bytes are too small: fields and first line take up to 4"):
        sized_world([3, 50], shortest=3, closings=4)
    with pytest.raises(ValueError, match="no closing for every number of bytes"):
        sized_world([4, 50], shortest=3, closings=2)


def test_draws_keep_their_weights() -> None:
    """A pool's items come as often as they should, the rarest among them."""
    builder = WorldBuilder()
    pool = builder.texts(["a", "b", "c"], [8990, 1000, 10])
    lines = written(small_world(datetime.date(2026, 1, 5), 1000, [Piece(DRAWN, pool)], builder), 10_000)
    assert 8800 < lines.count("a") < 9700
    assert 900 < lines.count("b") < 1250
    assert 1 <= lines.count("c") < 35


def test_minutes_follow_hours_and_days() -> None:
    """The rate at noon and at midnight, on the busiest and the quietest day, is in proportion to the recipe's."""
    hours = [10] * 12 + [100] * 12
    days = [100, 100, 100, 100, 100, 50, 50]
    wednesday = datetime.date(2026, 1, 7)
    weights = minute_weights(hours, days, wednesday, "test")
    of_day = [sum(weights[day * 1440 : (day + 1) * 1440]) for day in range(7)]
    assert of_day[3] / of_day[0] == pytest.approx(0.5, abs=0.05)  # the fourth day after a Wednesday is a Saturday
    assert of_day[5] / of_day[0] == pytest.approx(1, abs=0.05)
    assert sum(weights[840:1320]) / sum(weights[0:480]) == pytest.approx(10, rel=0.1)


@pytest.mark.parametrize("home_is_writable", [True, False])
def test_works_where_the_cache_cannot_be_written(tmp_path: Path, home_is_writable: bool) -> None:
    """A package folder without write permission, with and without a home: compiled anyway, with the same result."""
    copy = tmp_path / "package"
    shutil.copytree(PROJECT / "paddock", copy / "paddock", ignore=shutil.ignore_patterns("__pycache__"))
    home = tmp_path / "cache-home"
    home.mkdir()
    if not home_is_writable:
        home = Path("/proc/no-such-folder")
    # A file where the folder should be keeps even root from writing.
    (copy / "paddock" / "corpora" / "__pycache__").write_text("")
    program = (
        "import numpy as np; from paddock.corpora import kernel; "
        "print(kernel._mix(np.uint64(1234567) + np.uint64(0x9E3779B97F4A7C15)))"
    )
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_CACHE_HOME": str(home)}
    result = subprocess.run(
        [sys.executable, "-B", "-c", program], cwd=copy, env=environment, capture_output=True, text=True, check=False
    )
    assert result.stdout.strip() == "6457827717110365317", result.stderr
    assert any(home.rglob("*.nbc")) == home_is_writable
