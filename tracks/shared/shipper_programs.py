"""The shippers that can send a lap: what each is called, takes and cannot, and how it is checked and started.

What a shipper is told stands in a template of its own below ``shippers/``. Rsyslog and syslog-ng are raced by the
tests; of the others the configuration is rendered and, where the program is there, checked by the program itself.
"""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2

from shared.shipper_parsing import JSON, PLACES, lookup_table

if TYPE_CHECKING:
    from shared.shipper_settings import ShipperSettings

MEMORY, ASSISTED, DISK = QUEUES = ("memory", "disk-assisted", "disk")
TEMPLATES = Path(__file__).parent / "shippers"
# Where Debian's packages and those of the makers put programs that are in nobody's PATH.
_PLACES = ("/usr/sbin", "/sbin", "/usr/local/sbin", "/opt/fluent-bit/bin", "/usr/share/{name}/bin")
# Seconds; Logstash starts a JVM to say its version.
_PATIENCE = 60
# What an event is taken for where a queue is measured in bytes.
BYTES_PER_EVENT = 1000
# The longest document, in bytes: longer lines are cut or refused by most shippers.
LONGEST = 1024 * 1024
# What rsyslog alone has.
_OF_RSYSLOG: Mapping[str, str] = {
    **dict.fromkeys(("shipper_main_queue_size", "shipper_main_batch", "shipper_main_workers"), "has one queue"),
    "shipper_parsing": "passes documents through as they are",
}


class Shipper:
    """One shipper; what is empty here a shipper says of itself.

    :cvar program: the name of its program, ``module`` what it needs beside that, as it calls it itself.
    :cvar install: how it is installed.
    :cvar files: its configuration's file, and those beside it; each is a template.
    :cvar cannot: settings that it does not have, and why.
    :cvar one_worker: kinds of queues that one worker empties.
    :cvar least_queue: events that the queue behind its input has to hold.
    :cvar batches_per_worker: that a queue has to hold, for all workers to have a batch under way at once.
    :cvar logins: how it can log in to Elasticsearch: basic, api_key.
    :cvar starts_within: seconds until it takes documents.
    """

    name: str
    program: str
    install: str
    files: tuple[str, ...]
    module: str = ""
    queues: tuple[str, ...] = (MEMORY, DISK)
    inputs: tuple[str, ...] = ("tcp", "file")
    cannot: Mapping[str, str] = _OF_RSYSLOG
    one_worker: tuple[str, ...] = ()
    least_queue = 1
    batches_per_worker = 1
    logins: tuple[str, ...] = ("basic", "api_key")
    starts_within = 20.0

    @property
    def path(self) -> str | None:
        """Where its program is; None if it is not installed."""
        places = ":".join(place.format(name=self.name) for place in _PLACES)
        return shutil.which(self.program) or shutil.which(self.program, path=places)

    @property
    def version(self) -> str:
        """As the program tells it; empty if it does not."""
        told = _output([self.path or self.program, *self.version_words()])[1]
        found = re.search(r"\d+\.\d+(\.\d+)?", told)
        return found[0] if found else ""

    def missing(self) -> str | None:
        """One sentence of what is not installed; None if all is there."""
        if self.path is None:
            return f"The shipper {self.name} is not installed (there is no program {self.program}): {self.install}."
        if self.module and not self.has_module():
            return f"The shipper {self.name} lacks its module {self.module}: {self.install}."
        return None

    def has_module(self) -> bool:
        """Whether what it needs beside its program is there."""
        return True

    def version_words(self) -> list[str]:
        """The arguments that have it tell its version."""
        return ["--version"]

    def check_words(self, folder: Path) -> list[str]:
        """The arguments that have it check its configuration in that folder."""
        raise NotImplementedError

    def start_words(self, folder: Path) -> list[str]:
        """The arguments that start it in the foreground; what it keeps goes below that folder's ``state``."""
        raise NotImplementedError

    def render(self, folder: Path, settings: ShipperSettings, place: Any, fed_by: Mapping[str, Any]) -> dict[str, str]:
        """Its configuration, text by name of the file.

        :param place: where documents go (:class:`shared.shipper_place.Place`).
        :param fed_by: ``port`` of 127.0.0.1, or ``file``, an absolute path.
        """
        values = {
            "shipper": settings,
            "place": place,
            "folder": str(folder),
            "state": str(folder / "state"),
            "longest": LONGEST,
            "queue_bytes": settings.queue_size * BYTES_PER_EVENT,
            "for_ever": settings.retries < 0,
            "parses": settings.parsing in (JSON, PLACES),
            **fed_by,
        }
        return {name: _templates().get_template(name).render(values) for name in self.files}


class Rsyslog(Shipper):
    """Rsyslog with its Elasticsearch output."""

    name, program, module = "rsyslog", "rsyslogd", "omelasticsearch"
    install = "apt-get install rsyslog rsyslog-elasticsearch"
    files = ("rsyslog.conf",)
    queues = (MEMORY, ASSISTED, DISK)
    inputs = ("tcp", "imtcp", "imptcp", "file")
    cannot: Mapping[str, str] = {}
    one_worker = (DISK,)
    # Seen of 8.2302: it stood still with 1,200, and did not with 1,500, where it rested for seconds.
    least_queue = 2000
    # It fills 70 % of a queue, and batches under way are still in there: with room for 8, 5 of 8 workers had one.
    batches_per_worker = 2
    logins = ("basic",)

    def render(  # noqa: D102
        self, folder: Path, settings: ShipperSettings, place: Any, fed_by: Mapping[str, Any]
    ) -> dict[str, str]:
        database = {"places.json": lookup_table()} if settings.parsing == PLACES else {}
        return {**super().render(folder, settings, place, fed_by), **database}

    def has_module(self) -> bool:
        """Its modules are files in a folder of the distribution's choice."""
        places = ("/usr/lib/rsyslog", "/usr/lib64/rsyslog", "/usr/local/lib/rsyslog", "/usr/lib/*/rsyslog")
        return any(any(Path("/").glob(f"{place[1:]}/omelasticsearch.so")) for place in places)

    def version_words(self) -> list[str]:  # noqa: D102
        return ["-v"]

    def check_words(self, folder: Path) -> list[str]:  # noqa: D102
        return ["-N1", "-f", str(folder / "rsyslog.conf"), "-i", "NONE"]

    def start_words(self, folder: Path) -> list[str]:  # noqa: D102
        return ["-n", "-f", str(folder / "rsyslog.conf"), "-i", "NONE"]


class SyslogNg(Shipper):
    """Syslog-ng with its HTTP output, which sends bulks."""

    name, program, module = "syslog-ng", "syslog-ng", "http"
    install = "apt-get install syslog-ng-core syslog-ng-mod-http"
    files = ("syslog-ng.conf",)
    queues = (MEMORY, ASSISTED, DISK)

    def render(  # noqa: D102
        self, folder: Path, settings: ShipperSettings, place: Any, fed_by: Mapping[str, Any]
    ) -> dict[str, str]:
        # Between backticks it looks for names of variables, in quotes as well; its own template has none.
        texts = super().render(folder, settings, place, fed_by)
        return {name: text.replace("`", "``") for name, text in texts.items()}

    def has_module(self) -> bool:
        """It lists its modules itself."""
        told = re.search(r"Available-Modules: (.*)", _output([self.path or self.program, "--version"])[1])
        return told is not None and "http" in told[1].split(",")

    def check_words(self, folder: Path) -> list[str]:  # noqa: D102
        return ["--syntax-only", "--no-caps", *self._files(folder)]

    def start_words(self, folder: Path) -> list[str]:  # noqa: D102
        return ["--foreground", "--stderr", "--no-caps", *self._files(folder)]

    @staticmethod
    def _files(folder: Path) -> list[str]:
        state = folder / "state"
        files = {"cfgfile": folder / "syslog-ng.conf", "persist-file": state / "persist"}
        files |= {"pidfile": state / "pid", "control": state / "control"}
        return [f"--{name}={file}" for name, file in files.items()]


class Vector(Shipper):
    """Vector with its Elasticsearch sink."""

    name = program = "vector"
    install = "https://vector.dev/docs/setup/installation has its packages"
    files = ("vector.yaml",)
    queues = (MEMORY, ASSISTED, DISK)

    def check_words(self, folder: Path) -> list[str]:  # noqa: D102
        return ["validate", "--no-environment", str(folder / "vector.yaml")]

    def start_words(self, folder: Path) -> list[str]:  # noqa: D102
        return ["--config", str(folder / "vector.yaml")]


class FluentBit(Shipper):
    """Fluent Bit with its Elasticsearch output."""

    name = program = "fluent-bit"
    install = "https://docs.fluentbit.io/manual/installation has its packages"
    files = ("fluent-bit.conf", "fluent-bit-parsers.conf")
    cannot: Mapping[str, str] = {
        **_OF_RSYSLOG,
        "shipper_batch": "sends its chunks of up to 2 MB as they are, whatever documents they hold",
        "shipper_queue_size": "has no limit of events",
    }
    logins = ("basic",)

    def check_words(self, folder: Path) -> list[str]:  # noqa: D102
        return ["--dry-run", "--config", str(folder / "fluent-bit.conf")]

    def start_words(self, folder: Path) -> list[str]:  # noqa: D102
        return ["--config", str(folder / "fluent-bit.conf")]


class Filebeat(Shipper):
    """Filebeat with its Elasticsearch output."""

    name = program = "filebeat"
    install = "https://www.elastic.co/downloads/beats/filebeat has its packages"
    files = ("filebeat.yml",)
    cannot: Mapping[str, str] = {**_OF_RSYSLOG, "shipper_retries": "sends again for ever, whatever it is told"}

    def version_words(self) -> list[str]:  # noqa: D102
        return ["version"]

    def check_words(self, folder: Path) -> list[str]:  # noqa: D102
        return ["test", "config", *self._folders(folder)]

    def start_words(self, folder: Path) -> list[str]:  # noqa: D102
        return ["-e", *self._folders(folder)]

    @staticmethod
    def _folders(folder: Path) -> list[str]:
        state = str(folder / "state")
        return ["-c", str(folder / "filebeat.yml"), "--path.data", state, "--path.logs", state, "--strict.perms=false"]


class Logstash(Shipper):
    """Logstash with its Elasticsearch output."""

    name = program = "logstash"
    install = "https://www.elastic.co/downloads/logstash has its packages"
    files = ("logstash.conf", "logstash.yml")
    cannot: Mapping[str, str] = {**_OF_RSYSLOG, "shipper_retries": "sends again for ever"}
    starts_within = 120.0

    def check_words(self, folder: Path) -> list[str]:  # noqa: D102
        return ["--config.test_and_exit", *self._folders(folder)]

    def start_words(self, folder: Path) -> list[str]:  # noqa: D102
        return self._folders(folder)

    @staticmethod
    def _folders(folder: Path) -> list[str]:
        state = str(folder / "state")
        return [
            *("--path.settings", str(folder), "--path.data", state, "--path.logs", state),
            *("-f", str(folder / "logstash.conf")),
        ]


PROGRAMS: Mapping[str, Shipper] = {
    one.name: one for one in (Rsyslog(), SyslogNg(), Vector(), FluentBit(), Filebeat(), Logstash())
}


def refused(program: Shipper, folder: Path) -> str | None:
    """What the program says of a configuration that it does not take; None if it takes it.

    A file named as Logstash's settings wants to be the only one of its name in a folder; so all lie in the lap's own.
    """
    words = [program.path or program.program, *program.check_words(folder)]
    code, told = _output(words, cwd=folder)
    return None if code == 0 else _last_words(told) or f"exit code {code}"


def _output(words: list[str], **options: Any) -> tuple[int, str]:
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_PATIENCE,
            check=False,
            **options,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return -1, str(error)
    return done.returncode, done.stdout.decode("utf-8", "replace")


def _last_words(told: str, most: int = 300) -> str:
    """The lines that speak of an error, on one line; else the last line."""
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    errors = [line for line in lines if re.search(r"error|could not|invalid|unknown", line, re.IGNORECASE)]
    return " ".join(errors[:2] or lines[-1:])[:most]


@functools.cache
def _templates() -> jinja2.Environment:
    environment = jinja2.Environment(  # noqa: S701 - configurations, never HTML
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["quoted"] = _quoted
    environment.filters["dollars"] = lambda text: str(text).replace("$", "$$")
    return environment


def _quoted(text: Any) -> str:
    """A text between double quotes, with what stands for something else in there marked by a backslash."""
    return '"' + str(text).replace("\\", "\\\\").replace('"', '\\"') + '"'
