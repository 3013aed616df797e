"""What an inspection finds: plain values, sizes in bytes, times in seconds since 1970 (UTC)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Lengths:
    """The lengths of the lines, their ends not counted."""

    mean: float
    least: int
    most: int
    quantiles: dict[str, int]  # "p50" and the like
    percentiles: tuple[int, ...]  # 101 of them, from 0 % (the least) to 100 % (the most)


@dataclass(frozen=True)
class Compression:
    """How many times smaller zstd -3 makes it; None where there is not that much."""

    first_10000_lines: float | None
    first_250_kilobytes: float | None
    everything: float


@dataclass(frozen=True)
class Terms:
    """The terms of the text as a full-text index would see them; times are left out."""

    tokens: int
    unique: int
    exact: bool  # else `unique` is an estimate, within about half a per cent
    per_token: float
    per_token_of_250_kilobytes: float | None
    growth: tuple[tuple[int, int], ...]  # after so many documents, so many terms
    heaps_exponent: float | None  # None: too few documents to say
    per_million_documents: int | None
    per_million_measured: bool  # else reckoned from the end of the growth curve
    frequency_slope: float | None  # log frequency over log rank: -1 is Zipf's law
    ranks_fitted: int


@dataclass(frozen=True)
class Field:
    """One field of the documents."""

    name: str
    share: float  # of the documents that have it
    types: tuple[str, ...]
    distinct: int
    exact: bool  # else `distinct` is an estimate, within about two per cent


@dataclass(frozen=True)
class TimeRange:
    """The times of the lines."""

    where: str  # the field, or "line"
    share: float  # of the lines that have one
    first: float
    last: float
    has_year: bool
    has_zone: bool
    steps_back: int  # lines earlier than the one before
    largest_step_back: float


@dataclass(frozen=True)
class Inspection:
    """Everything that is found in one file."""

    source: str
    kind: str  # "JSON documents", "access log" or "text"
    lines: int
    bytes: int  # of these lines, uncompressed, their ends included
    whole: bool  # False: the file goes on
    empty_lines: int
    undecodable_lines: int  # no UTF-8
    misfits: int  # lines that are not of this kind
    lengths: Lengths
    compression: Compression
    terms: Terms
    fields: tuple[Field, ...]
    further_fields: int  # beyond those listed
    time: TimeRange | None
