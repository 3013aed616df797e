"""Fills blocks of documents from the tables of a World: compiled.

Fragments are copied 32 bytes at a time: most are shorter than that, and copying more than is needed and moving on by
the right length is several times faster than a loop or a call of memcpy with a length known only at run time.

It runs without Python's global lock, so several threads can fill several buffers. What it writes depends on
the World, the seed and the number of the block alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from paddock.compilation import compiled
from paddock.corpora.draws import GOLDEN, MULTIPLIERS
from paddock.corpora.world import (
    ACTOR,
    ADDRESS,
    ATTRIBUTES,
    CLASS,
    DATE_LENGTH,
    DRAWN,
    FIXED,
    HELD,
    NEW_ADDRESS,
    NEW_IPV4,
    NEW_IPV6,
    NOTHING,
    OVERCOPY,
    REMEMBERED,
    TIME,
    TIME_LENGTH,
    World,
)


@intrinsic
def copy_32(typing_context: Any, target: Any, target_at: Any, source: Any, source_at: Any) -> Any:
    """Copy 32 bytes from ``source[source_at:]`` to ``target[target_at:]``; both must have that many left."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        chunk = ir.VectorType(ir.IntType(8), OVERCOPY).as_pointer()

        def place(number: int) -> Any:
            array = context.make_array(signature.args[number])(context, builder, arguments[number])
            return builder.bitcast(builder.gep(array.data, [arguments[number + 1]]), chunk)

        loaded = builder.load(place(2))
        loaded.align = 1
        builder.store(loaded, place(0)).align = 1
        return context.get_dummy_value()

    return types.void(target, types.int64, source, types.int64), generate


# numba turns int64 + uint64 into a float, hence a typed constant for every number that meets a random one.
_GOLDEN = np.uint64(GOLDEN)
_FIRST, _SECOND = (np.uint64(multiplier) for multiplier in MULTIPLIERS)
_27, _30, _31, _32, _48 = (np.uint64(shift) for shift in (27, 30, 31, 32, 48))
_LOW_32, _LOW_16 = np.uint64(0xFFFFFFFF), np.uint64(0xFFFF)

_JITTER_BITS = 10  # a document falls on a random 1/1024 of its share of the week
_ZERO = ord("0")

# New addresses are those of addresses.py that nobody else has.
_28_BITS = (1 << 28) - 1
_FIRST_OCTET = 240
# "0." to "255.", the shorter ones filled up, and how long they are; copied four bytes at a time.
_OCTETS = np.array([list(f"{octet}.".ljust(4).encode()) for octet in range(256)], dtype=np.uint8)
_OCTET_LENGTHS = np.array([len(f"{octet}.") for octet in range(256)], dtype=np.int64)
_DIGITS = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)


@compiled
def _mix(value):  # type: ignore[no-untyped-def]  # compiled: numba infers the types
    """The finalizer of SplitMix64, as draws.mix."""
    value = (value ^ (value >> _30)) * _FIRST
    value = (value ^ (value >> _27)) * _SECOND
    return value ^ (value >> _31)


@compiled
def _draw(world, pool, state):  # type: ignore[no-untyped-def]
    """The generator's next state and, with its random bits, an item of a pool.

    The upper 32 bits choose the column, the lower ones between its two items.
    """
    state += _GOLDEN
    random = _mix(state)
    column = world.pool_start[pool] + np.int64(((random >> _32) * world.pool_size[pool]) >> _32)
    own = (random & _LOW_32) < world.columns[column, 0]
    return state, np.int64(world.columns[column, 1] if own else world.columns[column, 2])


@compiled
def _append(world, fragment, out, at):  # type: ignore[no-untyped-def]
    """Copy a fragment to ``out[at:]``; returns where it ends."""
    start = world.fragment_start[fragment]
    length = world.fragment_start[fragment + 1] - start
    for done in range(0, length, OVERCOPY):
        copy_32(out, at + done, world.blob, start + done)
    return at + length


@compiled
def _write_number(target, at, value, digits):  # type: ignore[no-untyped-def]
    """A number with leading zeros."""
    for place in range(at + digits - 1, at - 1, -1):
        target[place] = _ZERO + value % 10
        value //= 10


@compiled
def _write_ipv4(target, at, number):  # type: ignore[no-untyped-def]
    """An address of the reserved block 240.0.0.0/4: another one for each of 2^28 consecutive numbers; returns its end.

    Odd factors and shifted exclusive-ors can be undone, so no two numbers meet.
    """
    host = np.int64(number) & _28_BITS
    for factor in (0x9E3779B, 0x5BD1E99):
        host = (host * factor) & _28_BITS
        host ^= host >> 14
    host |= _FIRST_OCTET << 24
    for shift in (24, 16, 8, 0):
        octet = (host >> shift) & 255
        for place in range(4):
            target[at + place] = _OCTETS[octet, place]
        at += _OCTET_LENGTHS[octet]
    return at - 1


@compiled
def _write_ipv6(target, at, number):  # type: ignore[no-untyped-def]
    """The last six groups of an address, each of four digits without a leading zero; returns its end."""
    for random in (_mix(number), _mix(number + _GOLDEN)):
        for shift in (0, 16, 32):
            group = np.int64((random >> np.uint64(shift)) & _LOW_16)
            if group < 0x1000:
                group += 0x1000
            target[at] = ord(":")
            for place in range(4):
                target[at + 1 + place] = _DIGITS[(group >> (12 - 4 * place)) & 15]
            at += 5
    return at


@compiled
def _write_date(target, days):  # type: ignore[no-untyped-def]
    """YYYY-MM-DD of a day counted from 1970-01-01 (Howard Hinnant's civil_from_days)."""
    shifted = days + 719468
    era = shifted // 146097
    of_era = shifted - era * 146097
    year_of_era = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted_month = (5 * of_year + 2) // 153
    month = shifted_month + 3 if shifted_month < 10 else shifted_month - 9
    _write_number(target, 0, year_of_era + era * 400 + (1 if month <= 2 else 0), 4)
    _write_number(target, 5, month, 2)
    _write_number(target, 8, of_year - (153 * shifted_month + 2) // 5 + 1, 2)


@compiled
def write_block(world, seed, block, documents, out):  # type: ignore[no-untyped-def]
    """Write the first ``documents`` documents of a block into ``out``; returns the number of bytes.

    :param seed: a uint64; other seeds give other documents.
    :param block: the block's number from 0, a uint64; a block has world.documents_per_block documents.
    :param out: bytes, at least documents * world.longest + OVERCOPY.
    """
    state = _mix(_mix(seed + _GOLDEN) + block)
    slots = np.uint64(world.sessions - 1)
    width = np.int64(world.successors.shape[1] - world.attached)
    steps = np.uint64(width - 1)
    attached_steps = np.int64(world.attached - 1)
    actor_of = np.full(world.sessions, NOTHING, dtype=np.int64)
    place_of = np.full(world.sessions, NOTHING, dtype=np.int64)
    memory_of = np.full(world.sessions, NOTHING, dtype=np.int64)
    held_of = np.zeros((world.sessions, world.held_pools.size), dtype=np.int64)
    loaded_of = np.zeros(world.sessions, dtype=np.int64)  # how many of those attached to its place it has had
    addresses = np.zeros(world.sessions * OVERCOPY, dtype=np.uint8)  # of those who have a new one in each session
    address_length = np.zeros(world.sessions, dtype=np.int64)
    first_address = _mix(seed + _GOLDEN)

    time_text = np.zeros(OVERCOPY, dtype=np.uint8)
    for place, character in ((4, 45), (7, 45), (10, 84), (13, 58), (16, 58), (19, 46)):  # "-", "-", "T", ":", ":", "."
        time_text[place] = character
    total_weight = world.minutes[world.minutes.size - 1]
    scale = world.documents_per_week << _JITTER_BITS
    week, minute, written_minute, written_day = -1, 0, -1, -1

    at = 0
    slot = np.int64(0)
    at_once_below = np.uint64(0)
    for position in range(documents):
        state += _GOLDEN
        random = _mix(state)
        at_once = (random >> _48) < at_once_below
        if not at_once:
            slot = np.int64((random >> np.uint64(10)) & slots)

        # When: the document's share of the week's weight, then its place within that minute.
        number = np.int64(block) * world.documents_per_block + position
        if number // world.documents_per_week != week:
            week = number // world.documents_per_week
            minute = 0
        jitter = np.int64(random & np.uint64((1 << _JITTER_BITS) - 1))
        weight = (((number - week * world.documents_per_week) << _JITTER_BITS) + jitter) * total_weight
        while world.minutes[minute + 1] * scale <= weight:
            minute += 1
        minute_weight = (world.minutes[minute + 1] - world.minutes[minute]) * scale
        milliseconds = (weight - world.minutes[minute] * scale) * 60000 // minute_weight
        absolute_minute = world.start // 60 + week * 10080 + minute
        if absolute_minute != written_minute:
            written_minute = absolute_minute
            if absolute_minute // 1440 != written_day:
                written_day = absolute_minute // 1440
                _write_date(time_text, written_day)
            _write_number(time_text, 11, absolute_minute // 60 % 24, 2)
            _write_number(time_text, 14, absolute_minute % 60, 2)
        _write_number(time_text, 17, milliseconds // 1000, 2)
        _write_number(time_text, 20, milliseconds % 1000, 3)

        # Who and what: the next event of an open session, or the first of a new one.
        event = np.int64(NOTHING)
        if actor_of[slot] != NOTHING:
            of_class = world.actor_rows[actor_of[slot], CLASS]
            if at_once or ((random >> np.uint64(20)) & _LOW_16) < world.class_stay[of_class]:
                if world.class_linked[of_class] == 0:
                    state, event = _draw(world, world.class_entry[of_class], state)
                elif place_of[slot] != NOTHING:
                    step = np.int64((random >> np.uint64(36)) & steps)
                    if at_once:
                        step = width + (loaded_of[slot] & attached_steps)
                        loaded_of[slot] += 1
                    event = np.int64(world.successors[place_of[slot], step])
        if event == NOTHING:
            state, actor_of[slot] = _draw(world, world.actors, state)
            of_class = world.actor_rows[actor_of[slot], CLASS]
            state, event = _draw(world, world.class_entry[of_class], state)
            state, memory_of[slot] = _draw(world, world.class_memory[of_class], state)
            place_of[slot] = NOTHING
            for column in range(world.held_pools.size):
                state, held_of[slot, column] = _draw(world, world.held_pools[column], state)
            address = slot * OVERCOPY
            if world.actor_rows[actor_of[slot], ADDRESS] == NEW_IPV4:
                address_length[slot] = _write_ipv4(addresses, address, first_address + np.uint64(number)) - address
            elif world.actor_rows[actor_of[slot], ADDRESS] == NEW_IPV6:
                address_length[slot] = _write_ipv6(addresses, address, first_address + np.uint64(number)) - address
            else:
                address_length[slot] = 0

        end = at  # of the document, where its size is prescribed
        if world.size_pool != NOTHING:
            state, size = _draw(world, world.size_pool, state)
            end = at + size
        part = event
        while part != NOTHING:
            following = np.int64(NOTHING)
            following_longest = np.int64(0)
            if world.size_pool != NOTHING:
                # Drawn before it is known whether it fits: its tables arrive while this part is being copied.
                state, following = _draw(world, world.detail_pool, state)
                following_longest = world.event_longest[following]
            for piece in range(world.event_start[part], world.event_start[part + 1]):
                kind = world.pieces[piece, 0]
                argument = np.int64(world.pieces[piece, 1])
                if kind == FIXED:
                    fragment = argument
                elif kind == DRAWN:
                    state, fragment = _draw(world, argument, state)
                elif kind == ACTOR:
                    fragment = np.int64(world.actor_rows[actor_of[slot], ATTRIBUTES + argument])
                elif kind == HELD:
                    fragment = held_of[slot, argument]
                elif kind == REMEMBERED:
                    fragment = memory_of[slot]
                elif kind == NEW_ADDRESS:
                    copy_32(out, at, addresses, slot * OVERCOPY)
                    at += address_length[slot]
                    continue
                else:
                    copy_32(out, at, time_text, 0)
                    at += TIME_LENGTH if kind == TIME else DATE_LENGTH
                    continue
                at = _append(world, fragment, out, at)
            part = following
            if world.size_pool != NOTHING:
                spare = end - at - world.shortest_closing
                if following_longest > spare:
                    part = np.int64(NOTHING)
                    state, closing = _draw(world, world.closing_pool + spare, state)
                    at = _append(world, closing, out, at)

        if world.event_moves[event] != 0 and world.class_linked[of_class] != 0:
            place_of[slot] = event
            loaded_of[slot] = 0
            if world.event_memory[event] != NOTHING:
                memory_of[slot] = world.event_memory[event]
        at_once_below = world.class_at_once[of_class]
    return at


def new_buffer(world: World, documents: int) -> np.ndarray:
    """A buffer that ``documents`` documents fit into; memory that is never touched costs nothing."""
    return np.empty(documents * world.longest + OVERCOPY, dtype=np.uint8)
