"""The tables that the generator's kernel reads: byte fragments, what is drawn from them, who logs, and what comes next.

A document is written by an *actor* (a client, a thread) who is in a *session* (a visit, a request being handled).
Each document is one *event*; an event is a list of pieces, and each piece is a fragment of bytes that is either
fixed, drawn from a pool, the actor's own, drawn once per session, remembered from the event before, or the time.
Documents of one session may come at once, before any other session's: a page and what it loads.
Where sizes are prescribed, a document goes on with further events (details) until one no longer fits, and ends with a
closing of exactly the bytes that are left. Models fill a WorldBuilder; kernel.py knows nothing but these tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import NamedTuple

import numpy as np

# The kinds of pieces.
FIXED = 0  # the fragment itself
DRAWN = 1  # a fragment of a pool, drawn anew for each document
ACTOR = 2  # a column of the actor's attributes
HELD = 3  # a fragment that was drawn when the session began
REMEMBERED = 4  # the fragment that the session's last event left behind
TIME = 5  # 2026-01-05T08:00:00.123
DATE = 6  # 2026-01-05
NEW_ADDRESS = 7  # the session's own address, or nothing where the actor has the same in all sessions

# What NEW_ADDRESS is for an actor: nothing, since the address is among its attributes, or another in each session.
SAME_ADDRESS, NEW_IPV4, NEW_IPV6 = 0, 4, 6
NEW_IPV6_BEGINNING = "2001:db8"  # stands before a new IPv6 address, which is its last six groups
MOST_OF_ADDRESS = 30  # bytes that NEW_ADDRESS can take; not more than OVERCOPY

CLASS, ADDRESS, ATTRIBUTES = 0, 1, 2  # where an actor's class, its kind of address and its attributes stand in its row

OVERCOPY = 32  # the kernel copies so many bytes at once, so tables and buffers end with as many spare ones
TIME_LENGTH, DATE_LENGTH = 23, 10
NOTHING = -1
THRESHOLD_BITS = 32
DOCUMENTS_PER_BLOCK = 10_000  # divides the 50,000 lines of Rally's offset tables, as the next one does
DOCUMENTS_PER_SIZED_BLOCK = 1_000  # those documents are larger, and a block should not be


class World(NamedTuple):
    """The finished tables; a NamedTuple because compiled code takes one as it is."""

    blob: np.ndarray  # uint8: all fragments, one after another
    fragment_start: np.ndarray  # int64, one more than there are fragments
    pool_start: np.ndarray  # int64: first column of each pool in `columns`
    pool_size: np.ndarray  # uint64
    columns: np.ndarray  # uint32, columns x 4: a threshold, what to take below it, what else (alias method), nothing
    event_start: np.ndarray  # int32: first piece of each event, one more than there are events
    pieces: np.ndarray  # int32, pieces x 2: kind and argument
    event_memory: np.ndarray  # int32: the fragment that the session remembers afterwards, or NOTHING
    event_moves: np.ndarray  # uint8: whether the session goes on from this event
    successors: np.ndarray  # int32, events x a power of two: equally likely next events, NOTHING ends the session;
    # and further columns for what comes at once after the event, in this order, and over again
    attached: int  # how many columns those are, a power of two
    actor_rows: np.ndarray  # int32, actors x columns: class, address (as above), and the fragments of its attributes
    class_entry: np.ndarray  # int32: the pool of a session's first event
    class_memory: np.ndarray  # int32: the pool of what a session remembers at first
    class_linked: np.ndarray  # uint8: 1: events follow `successors`; 0: each is drawn from `class_entry`
    class_stay: np.ndarray  # uint64: the session goes on if 16 random bits are below it
    class_at_once: np.ndarray  # uint64: its next document is the corpus's next one if 16 random bits are below it
    held_pools: np.ndarray  # int32: pools drawn once per session
    event_longest: np.ndarray  # int64: the most bytes that each event can take
    size_pool: int  # the pool of the documents' sizes in bytes, or NOTHING: they are as long as their event
    detail_pool: int  # the pool of events that a document of prescribed size goes on with
    closing_pool: int  # the pool of endings of ``shortest_closing`` bytes; the next pool's have one byte more
    shortest_closing: int
    documents_per_block: int
    actors: int  # the pool of actors
    sessions: int  # how many sessions are open at a time, a power of two
    longest: int  # the most bytes that a document can have
    minutes: np.ndarray  # int64: cumulative weight of the minutes of a week
    documents_per_week: int
    start: int  # the first document's earliest time, seconds since 1970 UTC


@dataclass(frozen=True)
class Piece:
    """One part of an event: its kind and the fragment, pool or column that it means."""

    kind: int
    argument: int = 0


@dataclass(frozen=True)
class Sizes:
    """How documents of prescribed size are filled: pools of sizes and of details, and of closings by length."""

    pool: int = NOTHING
    details: int = NOTHING
    closings: Sequence[int] = (NOTHING,)  # pools with consecutive numbers; each one's fragments are one byte longer
    shortest_closing: int = 0  # bytes


@dataclass
class _Event:
    pieces: Sequence[Piece]
    memory: int
    moves: bool
    successors: Sequence[int] = ()
    attached: Sequence[int] = ()


class WorldBuilder:
    """Collects fragments, pools, events, actors and classes, and turns them into a World.

    Whatever it is given gets a number, which is how the rest refers to it.

    :ivar sizes: set it where documents have prescribed sizes; else they are as long as their event.
    """

    def __init__(self, names: Mapping[str, str] | None = None) -> None:
        # Names of fields as they stand in fragments, with quotation marks and colon. In a value's text a quotation
        # mark has a backslash before it, so that no text is taken for a name. The longest one wins.
        self._names = names or {}
        longest_first = sorted(map(re.escape, self._names), key=len, reverse=True)
        self._name = re.compile("|".join(longest_first)) if longest_first else None
        self.sizes = Sizes()
        self._fragments: dict[bytes, int] = {}
        self._pools: list[Sequence[int]] = []
        self._columns: list[np.ndarray] = []
        self._events: list[_Event] = []
        self._actors: list[tuple[int, int, Sequence[int]]] = []  # class, address, attributes
        self._classes: list[tuple[int, int, bool, int, int]] = []  # as ``actor_class`` has them
        self._held: list[int] = []

    def fragment(self, text: str) -> int:
        """A fragment; the same text has the same number. Names of fields become those that the builder was told."""
        if self._name:
            text = self._name.sub(lambda match: self._names[match[0]], text)
        return self._fragments.setdefault(text.encode("utf-8"), len(self._fragments))

    def fixed(self, text: str) -> Piece:
        """A piece that is always the same."""
        return Piece(FIXED, self.fragment(text))

    def pool(self, items: Sequence[int], weights: Sequence[int]) -> int:
        """A pool of fragments, events or actors, drawn in proportion to integer weights."""
        self._pools.append(items)
        self._columns.append(alias_columns(items, weights))
        return len(self._pools) - 1

    def texts(self, texts: Sequence[str], weights: Sequence[int]) -> int:
        """A pool of fragments given as texts."""
        return self.pool([self.fragment(text) for text in texts], weights)

    def held(self, pool: int) -> Piece:
        """A piece drawn from ``pool`` once per session; each pool keeps one value per session."""
        if pool not in self._held:
            self._held.append(pool)
        return Piece(HELD, self._held.index(pool))

    def event(self, pieces: Sequence[Piece], memory: int = NOTHING, moves: bool = True) -> int:
        """A kind of document."""
        self._events.append(_Event(pieces, memory, moves))
        return len(self._events) - 1

    def follow(self, event: int, successors: Sequence[int], attached: Sequence[int] = ()) -> None:
        """What may come after ``event`` in a session, all equally likely; as many for all events, a power of two.

        :param attached: what comes at once after it, in this order; counted likewise.
        """
        self._events[event].successors, self._events[event].attached = successors, attached

    def actor_class(self, entry: int, memory: int, linked: bool, stay_percent: int, at_once_percent: int = 0) -> int:
        """A class of actors: a pool of first events and one of first memories.

        :param linked: events follow ``follow``; else each is drawn from ``entry``.
        :param stay_percent: how often a session goes on when its turn comes again.
        :param at_once_percent: how often its next document is the corpus's next one, whatever ``stay_percent`` says.
        """
        self._classes.append((entry, memory, linked, stay_percent, at_once_percent))
        return len(self._classes) - 1

    def actor(self, of_class: int, attributes: Sequence[int], address: int = SAME_ADDRESS) -> int:
        """Someone who logs, with a fragment for each attribute; NEW_IPV4 or NEW_IPV6: somebody else in each session."""
        self._actors.append((of_class, address, attributes))
        return len(self._actors) - 1

    def build(self, actors: int, sessions: int, minutes: Sequence[int], documents_per_week: int, start: int) -> World:
        """The tables; ``actors`` is the pool of actors, ``minutes`` the weights of the minutes of a week.

        :raises ValueError: if the smallest of the ``sizes`` leaves no room for the longest event and a closing.
        """
        longest = self.longest(range(len(self._events)))
        sizes, sized = self.sizes, self.sizes.pool != NOTHING
        if sized:
            self._check_sizes(sizes, longest)
        pieces = [(piece.kind, piece.argument) for event in self._events for piece in event.pieces]
        attached = _rows([event.attached for event in self._events])
        entries, memories, linked, stay, at_once = zip(*self._classes, strict=True)
        return World(
            blob=np.frombuffer(b"".join(self._fragments) + bytes(OVERCOPY), dtype=np.uint8),
            fragment_start=_starts(map(len, self._fragments), np.int64),
            pool_start=_starts(map(len, self._pools), np.int64),
            pool_size=np.array([len(pool) for pool in self._pools], dtype=np.uint64),
            columns=np.concatenate(self._columns),
            event_start=_starts([len(event.pieces) for event in self._events], np.int32),
            pieces=np.array(pieces, dtype=np.int32),
            event_memory=np.array([event.memory for event in self._events], dtype=np.int32),
            event_moves=np.array([event.moves for event in self._events], dtype=np.uint8),
            successors=np.hstack([_rows([event.successors for event in self._events]), attached]),
            attached=attached.shape[1],
            # Side by side like the pools' columns: a session that begins waits for memory once.
            actor_rows=np.array([(*actor, *attributes) for *actor, attributes in self._actors], dtype=np.int32),
            class_entry=np.array(entries, dtype=np.int32),
            class_memory=np.array(memories, dtype=np.int32),
            class_linked=np.array(linked, dtype=np.uint8),
            class_stay=_of_16_bits(stay),
            class_at_once=_of_16_bits(at_once),
            held_pools=np.array(self._held, dtype=np.int32),
            event_longest=np.array(longest, dtype=np.int64),
            size_pool=sizes.pool,
            detail_pool=sizes.details,
            closing_pool=sizes.closings[0],
            shortest_closing=sizes.shortest_closing,
            documents_per_block=DOCUMENTS_PER_SIZED_BLOCK if sized else DOCUMENTS_PER_BLOCK,
            actors=actors,
            sessions=sessions,
            longest=max(self._pools[sizes.pool] if sized else longest),
            minutes=_starts(minutes, np.int64),
            documents_per_week=documents_per_week,
            start=start,
        )

    def longest(self, events: Sequence[int]) -> list[int]:
        """The most bytes that each of the events can take."""
        lengths = [len(fragment) for fragment in self._fragments]
        pieces = {piece for event in events for piece in self._events[event].pieces}
        most = {piece: self._most(piece, lengths) for piece in pieces}
        return [sum(most[piece] for piece in self._events[event].pieces) for event in events]

    def _check_sizes(self, sizes: Sizes, longest: Sequence[int]) -> None:
        """Whatever is drawn must fit: the kernel does not look whether there is room."""
        details = set(self._pools[sizes.details])
        least = max(length for event, length in enumerate(longest) if event not in details) + sizes.shortest_closing
        smallest = min(self._pools[sizes.pool])
        if smallest < least:
            raise ValueError(
                f"documents of {smallest} bytes are too small: fields and first line take up to {least} bytes"
            )
        if len(sizes.closings) < max(longest[event] for event in details):
            raise ValueError("there is no closing for every number of bytes that the longest detail can leave")

    def _most(self, piece: Piece, lengths: Sequence[int]) -> int:
        """The most bytes that a piece can take, of fragments with these lengths."""
        if piece.kind in (TIME, DATE, NEW_ADDRESS):
            return {TIME: TIME_LENGTH, DATE: DATE_LENGTH, NEW_ADDRESS: MOST_OF_ADDRESS}[piece.kind]
        fragments: Iterable[int] = [piece.argument]
        if piece.kind == DRAWN:
            fragments = self._pools[piece.argument]
        elif piece.kind == ACTOR:
            fragments = (attributes[piece.argument] for *_, attributes in self._actors)
        elif piece.kind == HELD:
            fragments = self._pools[self._held[piece.argument]]
        elif piece.kind == REMEMBERED:
            first = (fragment for _, memory, *_ in self._classes for fragment in self._pools[memory])
            fragments = chain(first, (event.memory for event in self._events if event.memory != NOTHING))
        return max(lengths[fragment] for fragment in fragments)


def alias_columns(items: Sequence[int], weights: Sequence[int]) -> np.ndarray:
    """Vose's alias method in exact integers: the columns of a pool, as World has them.

    Every item keeps its probability to within 2^-32 of a column, so rare ones do appear.
    """
    count, total = len(items), sum(weights)
    scaled = [weight * count for weight in weights]
    small = [index for index, weight in enumerate(scaled) if weight < total]
    large = [index for index, weight in enumerate(scaled) if weight >= total]
    # A column with one item has it twice, which makes the threshold indifferent.
    other = list(items)
    threshold = [(1 << THRESHOLD_BITS) - 1] * count
    while small and large:
        little, big = small.pop(), large[-1]
        other[little] = items[big]
        threshold[little] = (scaled[little] << THRESHOLD_BITS) // total
        scaled[big] -= total - scaled[little]
        if scaled[big] < total:
            small.append(large.pop())
    # Side by side, so that a draw from a large pool waits for memory once.
    table = np.zeros((count, 4), dtype=np.uint32)
    table[:, 0], table[:, 1], table[:, 2] = threshold, items, other
    return table


def _of_16_bits(percents: Sequence[int]) -> np.ndarray:
    """Below which 16 random bits are in so many per cent of the cases."""
    return np.array(percents, dtype=np.uint64) * (1 << 16) // 100


def _rows(rows: Sequence[Sequence[int]]) -> np.ndarray:
    """A table of events with a row for each event; NOTHING where it has none."""
    width = max(1, *map(len, rows))
    return np.array([row or [NOTHING] * width for row in rows], dtype=np.int32)


def _starts(lengths: Iterable[int], kind: type) -> np.ndarray:
    """Where each of several consecutive parts begins, and where the last one ends."""
    return np.array(list(accumulate(lengths, initial=0)), dtype=kind)
