"""Rally's output as events, however it is cut into pieces."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from paddock.rally.process import Note, OutputReader, TaskProgress, seconds_left

# As Rally 2.13 draws to a terminal of 120 columns.
PRINTED = (
    "\r\n    ____        ____\r\n   / __ \\____ _/ / /_  __\r\n\r\n"
    "[INFO] Race id is [abc]\r\n"
    "[INFO] Preparing for race ...\r\n"
    "Running delete-index                                                           [  0% done]"
    "\x1b[90D\x1b[0KRunning delete-index                                               [100% done]\r\n"
    "Running index-append                                                           [ 42% done]"
    "\x1b[90D\x1b[0KRunning index-append                                               [100% done]\r\n"
    "[WARNING] No throughput metrics available for [x].\r\n"
    "[INFO] SUCCESS (took 61 seconds)\r\n"
)
EVENTS = [
    Note("INFO", "Race id is [abc]"),
    Note("INFO", "Preparing for race ..."),
    TaskProgress("delete-index", 0),
    TaskProgress("delete-index", 100),
    TaskProgress("index-append", 42),
    TaskProgress("index-append", 100),
    Note("WARNING", "No throughput metrics available for [x]."),
    Note("INFO", "SUCCESS (took 61 seconds)"),
]


def test_the_output_is_read_as_events() -> None:
    """Tasks, percentages, notes; the banner is no event."""
    assert OutputReader().feed(PRINTED) == EVENTS


@given(st.lists(st.integers(0, len(PRINTED)), max_size=20))
def test_pieces_may_end_anywhere(cuts: list[int]) -> None:
    """The same events come out however the terminal cuts the output."""
    reader, places, events = OutputReader(), [0, *sorted(cuts), len(PRINTED)], []
    for begin, end in itertools.pairwise(places):
        events += reader.feed(PRINTED[begin:end])
    assert events == EVENTS


@given(st.text())
def test_any_text_is_survived(text: str) -> None:
    """Whatever a program prints, reading it raises nothing."""
    OutputReader().feed(text)


def test_time_left_is_said_when_enough_is_known() -> None:
    """Half done after 10 s leaves 10 s; the first moments say nothing."""
    assert seconds_left(50, 10) == 10
    assert seconds_left(100, 10) == 0
    assert seconds_left(1, 10) is None
    assert seconds_left(50, 0.5) is None
