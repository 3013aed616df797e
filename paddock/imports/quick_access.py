"""Access logs in bulk: lines without anything unusual, which are most, go from text to JSON without a dictionary each.

What is unusual (escapes, bytes outside ASCII, an ident, requests that are no HTTP, clients without an address) is
handed back to be parsed line by line; both ways write the same documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from paddock.imports.anonymise import Anonymiser
from paddock.imports.formats.access import AccessLog
from paddock.imports.formats.catalogue import ACCESS_LOGS
from paddock.imports.shape import Fitter
from paddock.imports.times import IsoTimes, TimeRange

# Neither quotes nor backslashes nor control characters nor bytes outside ASCII: it is JSON as it stands.
_PLAIN = r'[^"\\\x00-\x1f\x7f-\xff]'
_PLAIN_WORD = r'[^ "\\\x00-\x1f\x7f-\xff]'
_TARGET = r'[^ "?\\\x00-\x1f\x7f-\xff]'
_HEAD = (
    rf"^([0-9A-Fa-f.:]+) - ({_PLAIN_WORD}+) \[([^\]\n]{{20,30}})\] "
    rf'"([A-Za-z]+) ({_TARGET}+)(?:\?({_PLAIN_WORD}*))? HTTP/(\d(?:\.\d)?)" (\d{{3}}) (\d{{1,18}}|-)'
)
_REFERRER_AND_AGENT = rf' "({_PLAIN}*)" "({_PLAIN}*)"'
_ENDINGS = {
    "apache-common": "()()",
    "apache-combined": _REFERRER_AND_AGENT,
    "nginx": _REFERRER_AND_AGENT,
}


@dataclass(frozen=True)
class Stretch:
    """Consecutive lines: documents and their times, or if there are none, lines to be parsed one by one.

    :param line: number of the first one within the block, from 0.
    """

    line: int
    documents: int
    data: bytes
    times: TimeRange = field(default_factory=TimeRange)


class CompiledAccessLog:
    """Compiled code for logs that are taken as they are."""

    def __init__(self, name: str):
        from paddock.imports import access_kernel  # numba takes a second to be imported

        self._kernel = access_kernel
        kinds = (access_kernel.COMMON, access_kernel.COMBINED, access_kernel.NGINX)
        self._kind = kinds[ACCESS_LOGS.index(name)]
        self._out = np.empty(0, np.uint8)
        self._state = np.zeros(8, np.int64)

    def stretches(self, data: bytes) -> Iterator[Stretch]:
        """The block in stretches, in order."""
        kernel, state = self._kernel, self._state
        room = len(data) + data.count(b"\n") * kernel.MOST_ADDED
        if self._out.size < room:
            self._out = np.empty(room, np.uint8)
        source = np.frombuffer(data, np.uint8)
        at = line = 0
        while at < len(data):
            kernel.write_documents(source, at, self._kind, self._out, state)
            documents = int(state[kernel.DOCUMENTS])
            if documents:
                yield Stretch(line, documents, self._out[: state[kernel.WRITTEN]].tobytes(), self._times())
                line += documents
                at = int(state[kernel.READ])
            end = data.find(b"\n", at) + 1 or len(data)
            if at < len(data):
                yield Stretch(line, 0, data[at:end])
                line += 1
                at = end

    def _times(self) -> TimeRange:
        kernel, state = self._kernel, self._state
        columns = (kernel.FIRST, kernel.LAST, kernel.EARLIEST, kernel.LATEST)
        first, last, earliest, latest = (int(state[column]) * 1000 for column in columns)
        return TimeRange(first, last, earliest, latest, int(state[kernel.BACKWARDS]))


class QuickAccessLog:
    """A regular expression over whole blocks, for logs that are anonymised or have times of another form."""

    def __init__(self, of: AccessLog, fitter: Fitter, anonymiser: Anonymiser | None, times: IsoTimes):
        self._pattern = re.compile(rf"{_HEAD}{_ENDINGS[of.name]}\r?\n", re.MULTILINE | re.ASCII)
        self._format = of
        self._fitter = fitter
        self._anonymiser = anonymiser
        self._times = times

    def stretches(self, data: bytes) -> Iterator[Stretch]:
        """The block in stretches, in order."""
        text = data.decode("latin-1")
        at = line = 0
        documents: list[str] = []
        add = documents.append
        known_time, time, milliseconds = "", "", 0
        seen = TimeRange()
        anonymiser = self._anonymiser
        is_address = self._fitter.is_address
        for found in self._pattern.finditer(text):
            client, user, when, method, path, query, version, status, size, referrer, agent = found.groups()
            if not is_address(client):
                continue
            if when != known_time:
                try:
                    milliseconds = self._format.clock.milliseconds(when)
                    time = self._times.text(milliseconds)
                except (ValueError, OverflowError):
                    known_time = ""
                    continue
                known_time = when
            if found.start() != at:
                if documents:
                    yield Stretch(line, len(documents), "".join(documents).encode("ascii"), seen)
                    line += len(documents)
                    documents.clear()
                    seen = TimeRange()
                slow = data[at : found.start()]
                yield Stretch(line, 0, slow)
                line += slow.count(b"\n")
            at = found.end()
            if milliseconds != seen.last:
                seen.saw(milliseconds)
            if anonymiser:
                client = anonymiser.host(client)
                user = user if user == "-" else anonymiser.user(user)
                path = anonymiser.host(path) if method == "CONNECT" else anonymiser.text(path)
                query = anonymiser.query(query) if query else query
                referrer = anonymiser.text(referrer) if referrer and referrer != "-" else referrer
                agent = anonymiser.text(agent) if agent and agent != "-" else agent
            add(
                '{"@timestamp":"' + time + '","clientip":"' + client
                + ('","method":"' if user == "-" else '","user":"' + user + '","method":"')
                + method + '","path":"' + path
                + ('","query":"' + query if query else "")
                + '","status":' + str(int(status))
                + ("" if size == "-" else ',"bytes":' + str(int(size)))
                + (',"referrer":"' + referrer + '"' if referrer and referrer != "-" else "")
                + ',"http_version":"' + version
                + ('","user_agent":"' + agent if agent and agent != "-" else "") + '"}\n'
            )  # fmt: skip
        if documents:
            yield Stretch(line, len(documents), "".join(documents).encode("ascii"), seen)
            line += len(documents)
        if at < len(data):
            yield Stretch(line, 0, data[at:])
