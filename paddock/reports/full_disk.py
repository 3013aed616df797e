"""The part of a race's report on a disk that became full: documents taken, what the client saw, recovery, the proof."""

from __future__ import annotations

from paddock import numbers
from paddock.race.full_disk import FullDisk
from paddock.reports.document import Section, Table

# Ericsson / BME, 2022, Table II: shards -> documents taken of those generated, into nodes of 100 and of 400 GB.
PUBLISHED = (("1 shard", 1_424_547, 2_000_000), ("12 shards", 5_000_000, 5_000_000))


def full_disk_headline(found: FullDisk) -> str:
    """What it came to, in two or three sentences."""
    share = f"{found.taken:,} of {found.offered:,} documents were taken ({numbers.share(found.taken / found.offered)})"
    if not found.stopped:
        return f"{share}: no disk stopped the load. {_proof(found)}"
    back = "none was taken again after space was freed"
    if not found.freed:
        back = "no space could be freed, because the cluster deleted nothing any more"
    if found.recovery is not None:
        back = f"{numbers.figure(found.recovery)} s after space was freed documents were taken again"
    if not found.full:
        return f"{share} before the load stopped, but nothing tells of a full disk; {back}. {_proof(found)}"
    return f"{share} before a full disk stopped the load; {back}. {_proof(found)}"


def full_disk_section(found: FullDisk) -> Section:
    """Figures, errors in their own words, the nodes' disks, and what was published."""
    facts = [("taken", f"{found.taken:,} of {found.offered:,} documents, the last after {found.last_taken:.1f} s")]
    if found.first_refusal is not None:
        facts.append(
            ("first refusal", f"after {found.first_refusal:.1f} s and {found.taken_before_refusal or 0:,} documents")
        )
    if found.stopped:
        how = "none" if found.freed else "none: the cluster deleted nothing any more"
        if found.recovery is not None:
            how = f"{found.recovery:.1f} s, by {found.recovered_by}"
        facts.append(("recovery after space was freed", how))
    facts.append(("proof", _proof(found)))
    disk = "the nodes' file systems" if found.room is None else f"watermarks {' '.join(numbers.size(found.room))} away"
    text = (
        f"What is full was decided by {disk}. Documents have ids and are sent again until they are taken, as a shipper "
        "does. Space is freed by deleting an index that has a part on every node."
    )
    shared = "" if found.room is None else "Whatever others wrote to the same disk meanwhile counts, too. "
    caution = (
        f"{shared}Published figures are of other disks and documents: whether the load stops is what can be compared."
    )
    tables = [_refusals(found), _disks(found), _published()]
    return Section("Full disk", (text, caution), tables=tuple(one for one in tables if one.rows), facts=tuple(facts))


def _proof(found: FullDisk) -> str:
    return found.problem or f"All {found.acknowledged:,} acknowledged documents are in the index, found by their ids."


def _refusals(found: FullDisk) -> Table:
    rows = tuple(
        (str(one.status or "none"), one.kind, one.reason, f"{one.documents:,}", f"{one.first:.1f}", f"{one.last:.1f}")
        for one in found.refusals
    )
    headers = ("status", "error", "in its own words", "refused, times documents", "from second", "to second")
    return Table("What the client sees", headers, rows, (3, 4, 5))


def _disks(found: FullDisk) -> Table:
    rows = tuple(
        (str(number), " ".join(numbers.size(total)), numbers.share(1 - free / total))
        for number, (total, free) in enumerate(found.disks, 1)
        if total
    )
    return Table("The nodes' disks when the load had ended", ("node", "size", "used"), rows, (1, 2))


def _published() -> Table:
    rows = tuple((name, f"{taken:,} of {sent:,}", numbers.share(taken / sent)) for name, taken, sent in PUBLISHED)
    return Table(
        "Published (Ericsson / BME, 2022): one full node stopped the cluster", ("", "taken", "share"), rows, (1, 2)
    )
