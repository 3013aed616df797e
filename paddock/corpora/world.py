"""The tables that the generator's kernel reads: byte fragments, what is drawn from them, who logs, and what comes next.

A document is written by an *actor* (a client, a thread) who is in a *session* (a visit, a request being handled).
Each document is one *event*; an event is a list of pieces, and each piece is a fragment of bytes that is either
fixed, drawn from a pool, the actor's own, drawn once per session, remembered from the event before, or the time.
Documents of one session may come at once, before any other session's: a page and what it loads.
Where sizes are prescribed, a document goes on with further events (details) until one no longer fits, and ends with a
closing of exactly the bytes that are left. Models fill a WorldBuilder; kernel.py knows nothing but these tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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

    pool: int
    details: int
    closings: Sequence[int]  # pools with consecutive numbers; each one's fragments are one byte longer
    shortest_closing: int  # bytes


class WorldBuilder:
    """Collects fragments, pools, events, actors and classes, and turns them into a World."""

    def __init__(self) -> None:
        self._fragments: dict[bytes, int] = {}
        self._pools: list[list[int]] = []
        self._columns: list[tuple[list[int], list[int], list[int]]] = []
        self._events: list[list[Piece]] = []
        self._memories: list[int] = []
        self._moves: list[bool] = []
        self._successors: dict[int, Sequence[int]] = {}
        self._attached: dict[int, Sequence[int]] = {}
        self._actors: list[tuple[int, list[int], int]] = []
        self._classes: list[tuple[int, int, bool, int, int]] = []
        self._held: list[int] = []

    def fragment(self, text: str) -> int:
        """The number of a fragment; the same text has the same number."""
        return self._fragments.setdefault(text.encode("utf-8"), len(self._fragments))

    def fixed(self, text: str) -> Piece:
        """A piece that is always the same."""
        return Piece(FIXED, self.fragment(text))

    def pool(self, items: Sequence[int], weights: Sequence[int]) -> int:
        """A pool of fragments, events or actors, drawn in proportion to integer weights; returns its number."""
        self._pools.append(list(items))
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
        """A kind of document; returns its number."""
        self._events.append(list(pieces))
        self._memories.append(memory)
        self._moves.append(moves)
        return len(self._events) - 1

    def follow(self, event: int, successors: Sequence[int]) -> None:
        """What may come after ``event`` in a session, all equally likely; as many for all events, a power of two."""
        self._successors[event] = successors

    def attach(self, event: int, attached: Sequence[int]) -> None:
        """What comes at once after ``event`` in a linked session, in this order; counted as in ``follow``."""
        self._attached[event] = attached

    def actor_class(self, entry: int, memory: int, linked: bool, stay_percent: int, at_once_percent: int = 0) -> int:
        """A class of actors (pool of first events, pool of first memories); returns its number.

        :param linked: events follow ``follow`` and ``attach``; else each is drawn from ``entry``.
        :param stay_percent: how often a session goes on when its turn comes again.
        :param at_once_percent: how often its next document is the corpus's next one, whatever ``stay_percent`` says.
        """
        self._classes.append((entry, memory, linked, _of_16_bits(stay_percent), _of_16_bits(at_once_percent)))
        return len(self._classes) - 1

    def actor(self, of_class: int, attributes: Sequence[int], address: int = SAME_ADDRESS) -> int:
        """Someone who logs, with the fragments of each attribute column; returns the number.

        :param address: NEW_IPV4 or NEW_IPV6 for someone who is somebody else in each session.
        """
        self._actors.append((of_class, list(attributes), address))
        return len(self._actors) - 1

    def build(
        self,
        actors: int,
        sessions: int,
        minutes: Sequence[int],
        documents_per_week: int,
        start: int,
        sizes: Sizes | None = None,
    ) -> World:
        """The tables; ``actors`` is the pool of actors, ``minutes`` the weights of the minutes of a week.

        :raises ValueError: if the smallest of the ``sizes`` leaves no room for the longest event and a closing.
        """
        lengths = [len(fragment) for fragment in self._fragments]
        pieces = [piece for event in self._events for piece in event]
        most = {piece: self._most(piece, lengths) for piece in set(pieces)}
        longest = [sum(most[piece] for piece in event) for event in self._events]
        if sizes:
            self._check_sizes(sizes, longest)
        attached = _rows(self._attached, len(self._events))
        own, other, threshold = ([value for columns in self._columns for value in columns[part]] for part in range(3))
        # Side by side, so that a draw from a large pool waits for memory once. A threshold of 2^32 belongs to a
        # column with one item, which is right on either side of it.
        table = np.zeros((len(own), 4), dtype=np.uint32)
        table[:, 0] = np.minimum(np.array(threshold, dtype=np.uint64), (1 << THRESHOLD_BITS) - 1)
        table[:, 1], table[:, 2] = own, other
        return World(
            blob=np.frombuffer(b"".join(self._fragments) + bytes(OVERCOPY), dtype=np.uint8),
            fragment_start=_starts(lengths, np.int64),
            pool_start=_starts([len(pool) for pool in self._pools], np.int64),
            pool_size=np.array([len(pool) for pool in self._pools], dtype=np.uint64),
            columns=table,
            event_start=_starts([len(event) for event in self._events], np.int32),
            pieces=np.array([(piece.kind, piece.argument) for piece in pieces], dtype=np.int32),
            event_memory=np.array(self._memories, dtype=np.int32),
            event_moves=np.array(self._moves, dtype=np.uint8),
            successors=np.hstack([_rows(self._successors, len(self._events)), attached]),
            attached=attached.shape[1],
            # Side by side like the pools' columns: a session that begins waits for memory once.
            actor_rows=np.array([(of, address, *own) for of, own, address in self._actors], dtype=np.int32),
            class_entry=np.array([entry for entry, *_ in self._classes], dtype=np.int32),
            class_memory=np.array([memory for _, memory, *_ in self._classes], dtype=np.int32),
            class_linked=np.array([linked for _, _, linked, _, _ in self._classes], dtype=np.uint8),
            class_stay=np.array([stay for *_, stay, _ in self._classes], dtype=np.uint64),
            class_at_once=np.array([at_once for *_, at_once in self._classes], dtype=np.uint64),
            held_pools=np.array(self._held, dtype=np.int32),
            event_longest=np.array(longest, dtype=np.int64),
            size_pool=sizes.pool if sizes else NOTHING,
            detail_pool=sizes.details if sizes else NOTHING,
            closing_pool=sizes.closings[0] if sizes else NOTHING,
            shortest_closing=sizes.shortest_closing if sizes else 0,
            documents_per_block=DOCUMENTS_PER_SIZED_BLOCK if sizes else DOCUMENTS_PER_BLOCK,
            actors=actors,
            sessions=sessions,
            longest=max(self._pools[sizes.pool]) if sizes else max(longest),
            minutes=_starts(minutes, np.int64),
            documents_per_week=documents_per_week,
            start=start,
        )

    def longest_event(self, events: Sequence[int]) -> int:
        """The most bytes that any of the events can take."""
        lengths = [len(fragment) for fragment in self._fragments]
        pieces = {piece for event in events for piece in self._events[event]}
        most = {piece: self._most(piece, lengths) for piece in pieces}
        return max(sum(most[piece] for piece in self._events[event]) for event in events)

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
        """The most bytes that a piece can take."""
        if piece.kind == FIXED:
            return lengths[piece.argument]
        if piece.kind == DRAWN:
            return max(lengths[fragment] for fragment in self._pools[piece.argument])
        if piece.kind == ACTOR:
            return max(lengths[attributes[piece.argument]] for _, attributes, _ in self._actors)
        if piece.kind == NEW_ADDRESS:
            return MOST_OF_ADDRESS
        if piece.kind == HELD:
            return max(lengths[fragment] for fragment in self._pools[self._held[piece.argument]])
        if piece.kind == REMEMBERED:
            first = [fragment for _, memory, *_ in self._classes for fragment in self._pools[memory]]
            later = [fragment for fragment in self._memories if fragment != NOTHING]
            return max(lengths[fragment] for fragment in first + later)
        return TIME_LENGTH if piece.kind == TIME else DATE_LENGTH


def alias_columns(items: Sequence[int], weights: Sequence[int]) -> tuple[list[int], list[int], list[int]]:
    """Vose's alias method in exact integers: (own, other, threshold of 32 bits) for each column.

    Every item keeps its probability to within 2^-32 of a column, so rare ones do appear.
    """
    count, total = len(items), sum(weights)
    scaled = [weight * count for weight in weights]
    small = [index for index, weight in enumerate(scaled) if weight < total]
    large = [index for index, weight in enumerate(scaled) if weight >= total]
    other = list(items)
    threshold = [1 << THRESHOLD_BITS] * count
    while small and large:
        little, big = small.pop(), large[-1]
        other[little] = items[big]
        threshold[little] = (scaled[little] << THRESHOLD_BITS) // total
        scaled[big] -= total - scaled[little]
        if scaled[big] < total:
            small.append(large.pop())
    return list(items), other, threshold


def _of_16_bits(percent: int) -> int:
    """Below which 16 random bits are in so many per cent of the cases."""
    return percent * (1 << 16) // 100


def _rows(rows: dict[int, Sequence[int]], events: int) -> np.ndarray:
    """A table of events with a row for each event; NOTHING where it has none."""
    table = np.full((events, max(map(len, rows.values()), default=1)), NOTHING, dtype=np.int32)
    for event, row in rows.items():
        table[event] = row
    return table


def _starts(lengths: Sequence[int], kind: type) -> np.ndarray:
    """Where each of several consecutive parts begins, and where the last one ends."""
    starts = [0]
    for length in lengths:
        starts.append(starts[-1] + length)
    return np.array(starts, dtype=kind)
