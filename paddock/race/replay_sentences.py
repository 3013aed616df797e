"""What a replay came to in words, for the terminal and for reports."""

from __future__ import annotations

from paddock import numbers
from paddock.console import styled, wrapped
from paddock.race.replay import NAMED, QUERIES, Lateness, Replay

_QUERIES_NAMED = 4


def told(replay: Replay) -> list[tuple[str, str]]:
    """What a terminal and a report say of it: names, and a few words each."""
    span = f"{replay.origin} to {replay.until}, {replay.factor:g} times as fast as recorded"
    facts = [("replayed", span)]
    sent = f"{replay.answered:,} of {replay.scheduled:,} documents, {replay.indexed:,} indexed"
    asked = sum(one.items for one in (*replay.streams, *replay.warm_up) if one.kind == QUERIES)
    if replay.scheduled_queries:
        sent += f"; {asked:,} of {replay.scheduled_queries:,} queries"
    facts.append(("sent", sent))
    facts.append(("rate asked", f"{numbers.figure(replay.scheduled / replay.due if replay.due else None)} docs/s"))
    reached = replay.indexed / replay.ended if replay.ended else None
    facts.append(("rate reached", f"{numbers.figure(reached)} docs/s, until the last answer"))
    facts.append(
        (
            "behind",
            f"{numbers.figure(replay.furthest)} s at most when sending; the last answer came "
            f"{numbers.figure(max(replay.behind, 0.0))} s after the last request was due",
        )
    )
    facts += [(f"latency of {one.label}", lateness_text(one.latency)) for one in replay.streams]
    facts += [
        (f"... in the first {replay.warmup:g} s", f"{one.name}: {lateness_text(one.latency)}") for one in replay.warm_up
    ]
    facts += [
        ("failed", f"{one.failed:,} {one.name}")
        for one in (*replay.warm_up, *replay.streams)
        if one.failed and one.kind != NAMED
    ]
    return facts


def lateness_text(one: Lateness) -> str:
    """All four, in milliseconds."""
    shown = (("p50", one.p50), ("p95", one.p95), ("p99", one.p99), ("max", one.maximum))
    return ", ".join(f"{name} {numbers.figure(value)}" for name, value in shown) + " ms"


def decisions(replay: Replay) -> list[str]:
    """What had to be decided about times that say too little, a sentence each."""
    found = []
    if replay.bulk_wait:
        found.append(
            f"Documents waited up to {numbers.figure(1000 * replay.bulk_wait)} ms until the last one of their bulk was "
            f"due; that is a shipper's time and not in their latency (bulks_per_second)."
        )
    if replay.disordered:
        found.append(
            f"{replay.disordered:,} documents of the file are older than one before them; all were sent in the order "
            f"of their times."
        )
    if replay.without_time:
        found.append(
            f"{replay.without_time:,} documents of the file have no time that can be read; each was due with the one "
            f"before it."
        )
    if replay.whole_seconds:
        found.append("Times are no finer than a second; the documents of a second were spread evenly over it.")
    if replay.of_today:
        found.append(
            f"{replay.of_today:,} queries have 'now' where it could not be replaced by the time at which they were "
            f"asked, so there it was the time of the replay."
        )
    if replay.empty and replay.empty.found_before:
        names = ", ".join(replay.empty.names[:_QUERIES_NAMED])
        more = len(replay.empty.names) - _QUERIES_NAMED
        found.append(
            f"{replay.empty.found_before:,} of {replay.empty.answered:,} queries found nothing here and had found "
            f"documents when they were recorded ({names}{f' and {more} more' if more > 0 else ''}): an answer without "
            f"hits is fast, so their latency says little. Look whether the corpus has the fields and values that they "
            f"ask for."
        )
    elif replay.empty and replay.empty.queries == replay.empty.answered:
        found.append(
            f"None of the {replay.empty.answered:,} queries found anything: an answer without hits is fast, so their "
            f"latency says little."
        )
    if replay.left_out:
        found.append(
            f"{replay.left_out:,} queries of the query log were left out: they were asked before or after the "
            f"documents were logged."
        )
    return found


def render_replay(replay: Replay, width: int = 100, colours: bool = False) -> str:
    """What a replay came to against its own times, and its restore proof."""
    facts = told(replay)
    room = max(len(name) for name, _ in facts) + 4
    lines = [wrapped(text, width, f"  {name:<{room - 2}}", " " * room) for name, text in facts]
    lines += [wrapped(text, width, "  ", "  ") for text in decisions(replay)]
    found = [f"{styled('Replay, latency from when something was due', 'bold', colours)}", *lines]
    if replay.proof:
        sentence = wrapped(replay.proof.sentence, width, "  ", "  ")
        found += [
            "",
            styled("Restore proof", "bold", colours),
            styled(sentence, "red", colours) if replay.proof.problem else sentence,
        ]
    return "\n".join(found)
