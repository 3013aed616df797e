"""What the documents look like: fields and types as promised, and the statistics of real logs."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import datetime
from ipaddress import ip_address, ip_network
from itertools import groupby, pairwise
from operator import and_
from pathlib import Path
from statistics import fmean, median
from typing import Any

import pytest

from paddock.corpora.generate import write_corpus
from paddock.corpora.recipe import load_recipe, read_recipe
from paddock.inspection import inspect
from paddock.paths import RECIPES

Documents = list[dict[str, Any]]

NOBODYS_IPV4 = ("10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16", "198.18.0.0/15", "203.0.113.0/24",
                "198.51.100.0/24", "240.0.0.0/4")  # fmt: skip
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")

APACHE = {
    "@timestamp": str, "clientip": str, "user": str, "method": str, "path": str, "query": str, "http_version": str,
    "status": int, "bytes": int, "referrer": str, "user_agent": str,
}  # fmt: skip
APACHE_OPTIONAL = {"user", "query", "bytes", "referrer", "user_agent"}
APP_LOGS = {
    "@timestamp": str, "level": str, "logger": str, "thread": str, "host": str, "pid": int, "application": str,
    "tags.application": str, "tags.environment": str, "tags.run_date": str,
    "source.class": str, "source.method": str, "source.file": str, "source.line": int,
    "message": str, "stack_trace": str,
}  # fmt: skip
APP_LOGS_OPTIONAL = {"stack_trace"}
WEB_EVENTS = {
    "@timestamp": str, "server_ip": str, "webserver": str, "method": str, "query": str, "protocol": str,
    "response": int, "user_class": str, "username": str, "user_ip": str,
}  # fmt: skip
SYSLOG = {"@timestamp": str, "host": str, "severity": str, "facility": str, "syslogtag": str, "message": str}
LOGS = {"@timestamp": str, "message": str}


def made(name: str, documents: int, folder: Path) -> Documents:
    """The documents of a corpus, parsed; a key that stands twice is an error."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len(dict(items)) == len(items)
        return dict(items)

    write_corpus(load_recipe(name), documents, 1, folder / name)
    with (folder / name).open(encoding="utf-8") as lines:
        return [json.loads(line, object_pairs_hook=pairs) for line in lines]


@pytest.fixture(scope="module")
def apache(tmp_path_factory: pytest.TempPathFactory) -> Documents:
    """More than a day of the access log."""
    return made("apache", 130_000, tmp_path_factory.mktemp("apache"))


@pytest.fixture(scope="module")
def app_logs(tmp_path_factory: pytest.TempPathFactory) -> Documents:
    """More than a day of the application logs."""
    return made("app-logs", 130_000, tmp_path_factory.mktemp("app-logs"))


@pytest.fixture(scope="module")
def web_events(tmp_path_factory: pytest.TempPathFactory) -> Documents:
    """More than a day of the web servers' events."""
    return made("web-events", 130_000, tmp_path_factory.mktemp("web-events"))


@pytest.fixture(scope="module")
def syslog(tmp_path_factory: pytest.TempPathFactory) -> Documents:
    """More than a day of syslog."""
    return made("syslog", 130_000, tmp_path_factory.mktemp("syslog"))


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Documents:
    """Some hours of log lines of 0.5 to 5 kB."""
    return made("logs", 20_000, tmp_path_factory.mktemp("logs"))


def flat(document: dict[str, Any]) -> dict[str, Any]:
    """Fields of objects under dotted names, as Elasticsearch calls them."""
    result: dict[str, Any] = {}
    for name, value in document.items():
        if isinstance(value, dict):
            result |= {f"{name}.{inner}": inner_value for inner, inner_value in value.items()}
        else:
            result[name] = value
    return result


@pytest.mark.parametrize(
    ("corpus", "fields", "optional"),
    [
        ("apache", APACHE, APACHE_OPTIONAL),
        ("app_logs", APP_LOGS, APP_LOGS_OPTIONAL),
        ("web_events", WEB_EVENTS, set()),
        ("syslog", SYSLOG, set()),
        ("logs", LOGS, set()),
    ],
)
def test_fields_and_types_are_the_promised_ones(
    corpus: str, fields: dict[str, type], optional: set[str], request: pytest.FixtureRequest
) -> None:
    """Strict mappings refuse anything else; optional fields are left out, never null, and do occur."""
    seen: set[str] = set()
    for document in map(flat, request.getfixturevalue(corpus)):
        assert set(fields) - optional <= set(document) <= set(fields)
        assert all(type(value) is fields[name] for name, value in document.items())
        seen |= set(document)
    assert seen == set(fields)


@pytest.mark.parametrize("corpus", ["apache", "app_logs", "web_events", "syslog"])
def test_time_never_goes_back(corpus: str, request: pytest.FixtureRequest) -> None:
    """Timestamps are well formed, in order, and begin with the recipe's day."""
    times = [document["@timestamp"] for document in request.getfixturevalue(corpus)]
    assert all(TIMESTAMP.fullmatch(time) for time in times)
    assert times == sorted(times)
    assert times[0].startswith("2026-01-05T00:0")
    assert datetime.fromisoformat(times[-1][:-1]) > datetime(2026, 1, 6)


@pytest.mark.parametrize("corpus", ["apache", "app_logs"])
def test_the_day_has_a_rhythm(corpus: str, request: pytest.FixtureRequest) -> None:
    """The evening's busiest hour sees more than three times what the quietest of the night does."""
    hours = Counter(document["@timestamp"][11:13] for document in request.getfixturevalue(corpus) if
                    document["@timestamp"].startswith("2026-01-05"))  # fmt: skip
    assert len(hours) == 24
    busiest, quietest = hours.most_common()[0], hours.most_common()[-1]
    assert busiest[0] in ("19", "20")
    assert quietest[0] in ("02", "03", "04")
    assert busiest[1] > 3 * quietest[1]


def test_clients_and_paths_have_a_head_and_a_tail(apache: Documents) -> None:
    """The busiest ones make up a large part, and there are thousands that hardly ever come."""
    for field, head, distinct in (("clientip", 0.15, 15_000), ("path", 0.3, 3000)):
        counts = [count for _, count in Counter(document[field] for document in apache).most_common()]
        assert len(counts) > distinct
        assert sum(counts[:100]) > head * len(apache)
        assert counts[0] < 0.2 * len(apache)
        assert sum(count <= 5 for count in counts) > 500


def test_addresses_are_valid_and_of_both_kinds(apache: Documents) -> None:
    """Elasticsearch's ip type takes every address; IPv6 is not the exception."""
    versions = Counter(ip_address(document["clientip"]).version for document in apache)
    assert versions[4] > versions[6] > 0.1 * len(apache)


def test_requests_hang_together(apache: Documents) -> None:
    """A client keeps its browser, a path its size, and most referrers are pages that were asked for before."""
    agents = {(document["clientip"], document.get("user_agent")) for document in apache}
    assert len(agents) == len({client for client, _ in agents})
    sizes = {
        (document["path"], document["method"], document.get("bytes"))
        for document in apache
        if document["status"] == 200
    }
    assert len(sizes) == len({(path, method) for path, method, _ in sizes})
    paths = {document["path"] for document in apache}
    site = "https://www.example.com"
    internal = [d["referrer"].removeprefix(site) for d in apache if d.get("referrer", "").startswith(site)]
    assert len(internal) > 0.5 * len(apache)
    assert all(path in paths for path in internal)
    assert not any("bytes" in document for document in apache if document["status"] in (204, 304))
    assert not any("bytes" in document for document in apache if document["method"] == "HEAD" and
                   document["status"] == 200)  # fmt: skip
    assert all(document.get("bytes") != 0 for document in apache)


def test_files_come_at_once_with_their_page(apache: Documents) -> None:
    """A file that a client asks for right after a page has that page as its referrer; pages with files are many."""
    site = "https://www.example.com"
    after_page = [
        (page, file)
        for page, file in pairwise(apache)
        if page["clientip"] == file["clientip"] and page.get("referrer") and file["path"].startswith("/static/")
        and page["path"].startswith(("/products/", "/articles/"))
    ]  # fmt: skip
    assert len(after_page) > 0.03 * len(apache)
    assert sum(file.get("referrer") == site + page["path"] for page, file in after_page) > 0.99 * len(after_page)
    runs = [len(list(run)) for _, run in groupby(apache, key=lambda document: document["clientip"])]
    assert sum(length >= 5 for length in runs) > 0.1 * len(runs)


@pytest.mark.parametrize("seed", [1, 7])
def test_an_access_log_is_like_a_real_one(seed: int, tmp_path: Path) -> None:
    """As inspections see it: 10,000 lines beside 10,000 of a public access log, whose figures are in the comments."""
    file = tmp_path / "apache.json"
    write_corpus(load_recipe("apache"), 10_000, seed, file)
    found = inspect(str(file))
    fields = {field.name: field for field in found.fields}
    assert 450 < fields["user_agent"].distinct < 650  # 557
    assert 1500 < fields["clientip"].distinct < 2000  # 1,753
    assert 0.92 < fields["bytes"].share < 0.945  # 93 %
    assert 0.97 < fields["user_agent"].share < 0.995  # 98 %
    ratio = inspect(str(file), combined=True).compression.first_10000_lines
    assert ratio
    assert 11 < ratio < 13  # 12.15
    documents = [json.loads(line) for line in file.read_bytes().splitlines()]
    sizes = [document["bytes"] for document in documents if "bytes" in document]
    assert 200_000 < fmean(sizes) < 400_000  # 294 kB
    assert 10_000 < median(sizes) < 30_000
    assert 60_000_000 < max(sizes) < 75_000_000  # 69 MB
    clients = [document["clientip"] for document in documents]
    assert 0.54 < sum(one == other for one, other in pairwise(clients)) / len(clients) < 0.61  # 57 %
    counts = Counter(clients)
    assert 0.35 < sum(count == 1 for count in counts.values()) / len(counts) < 0.44  # 39 %


def test_clients_keep_coming_and_programs_do_not(tmp_path: Path) -> None:
    """A hundred times the lines have nearly as many times the clients, but only about three times the user agents."""
    file = tmp_path / "data"
    write_corpus(load_recipe("apache"), 1_000_000, 1, file)
    clients: set[str] = set()
    agents: set[str] = set()
    growth = []
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            clients.add(line[line.index('"clientip":"') :].split('"', 4)[3])
            agents.add(line.partition('"user_agent":')[2])
            if number in (10_000, 500_000, 1_000_000):
                growth.append((len(clients), len(agents)))
    assert growth[2][0] > 100_000 > 30 * growth[0][0]
    assert growth[2][0] > 1.8 * growth[1][0]
    assert growth[1][1] < growth[2][1] < 1.02 * growth[1][1] < 2000
    assert len({ip_address(client) for client in clients}) == len(clients)


def test_recipes_ask_for_absent_fields_and_runs(tmp_path: Path) -> None:
    """A field is absent from so many per cent of documents, each by itself; a visitor's documents come at once."""
    recipe = tmp_path / "web-events.yml"
    text = (RECIPES / "web-events.yml").read_text(encoding="utf-8")
    text = re.sub(r"stay: \d+,", r"\g<0> at_once: 75,", text)
    recipe.write_text(f"{text}\nabsent: {{protocol: 30, user_ip: 10}}\n", encoding="utf-8")
    write_corpus(read_recipe(recipe), 20_000, 1, tmp_path / "data")
    documents = [json.loads(line) for line in (tmp_path / "data").read_bytes().splitlines()]
    protocol, address = ([name in document for document in documents] for name in ("protocol", "user_ip"))
    assert sum(protocol) / 20_000 == pytest.approx(0.7, abs=0.02)
    assert sum(address) / 20_000 == pytest.approx(0.9, abs=0.02)
    assert sum(map(and_, protocol, address)) / 20_000 == pytest.approx(0.63, abs=0.02)
    same = sum(one["username"] == other["username"] for one, other in pairwise(documents)) / 20_000
    assert same == pytest.approx(0.75, abs=0.05)


def test_most_requests_succeed(apache: Documents) -> None:
    """A status mix like that of a healthy site, with every class of trouble in it."""
    classes = Counter(document["status"] // 100 for document in apache)
    assert 0.8 < classes[2] / len(apache) < 0.95
    assert 0.05 < classes[3] / len(apache) < 0.2
    assert 0.01 < classes[4] / len(apache) < 0.08
    assert 0.0005 < classes[5] / len(apache) < 0.01


def test_levels_are_those_of_a_working_system(app_logs: Documents) -> None:
    """Mostly INFO; errors are rare, fatal ones rarer, and both come with a stack trace."""
    levels = Counter(document["level"] for document in app_logs)
    assert levels["INFO"] > 0.7 * len(app_logs)
    assert 0.005 < levels["ERROR"] / len(app_logs) < 0.03
    assert 0 < levels["FATAL"] < 0.001 * len(app_logs)
    for document in app_logs:
        assert ("stack_trace" in document) == (document["level"] in ("ERROR", "FATAL"))


def test_log_events_hang_together(app_logs: Documents) -> None:
    """A source line always logs the same level, a host has one pid, and class, file and logger agree."""
    hosts, levels = {}, {}
    for document in app_logs:
        source = document["source"]
        assert source["class"] == document["logger"]
        assert source["file"] == document["logger"].rpartition(".")[2] + ".java"
        assert document["tags"]["application"] == document["application"]
        assert document["tags"]["run_date"] == document["@timestamp"][:10]
        assert document["host"].startswith(f"{document['application']}-{document['tags']['environment']}-")
        assert hosts.setdefault(document["host"], document["pid"]) == document["pid"]
        template = (document["application"], source["class"], source["method"], source["line"], document["message"][:8])
        assert levels.setdefault(template, document["level"]) == document["level"]


def test_stack_traces_are_whole(app_logs: Documents) -> None:
    """An exception first, frames below, newlines and tabs as such, nothing cut off at the end."""
    traces = {document["stack_trace"] for document in app_logs if "stack_trace" in document}
    assert 100 < len(traces) < 500
    for trace in traces:
        first, *frames = trace.split("\n")
        assert re.match(r"[\w.$]+(Exception|Error|Unavailable): .", first)
        assert all(re.match(r"\tat [\w.$/]+\([\w.: ]+\)$|\t\.\.\. \d+ common|Caused by: ", frame) for frame in frames)
        assert len(frames) > 8


def test_users_and_servers_hang_together(web_events: Documents) -> None:
    """A user has one address and one class, a server one kind of software; users are many, servers a fixed list."""
    users, servers = {}, {}
    for document in web_events:
        user = (document["user_ip"], document["user_class"])
        assert users.setdefault((document["username"], document["user_class"]), user)[1] == document["user_class"]
        assert servers.setdefault(document["server_ip"], document["webserver"]) == document["webserver"]
        assert ip_address(document["server_ip"]) in ip_network("192.0.2.0/24")
    assert len(servers) == 12
    assert len(users) > 8000
    assert len({address for address, _ in users.values()}) > 8000
    networks = [ip_network(block) for block in (*NOBODYS_IPV4, "2001:db8::/32")]
    for address, _ in users.values():
        ip = ip_address(address)
        assert any(ip in network for network in networks if network.version == ip.version), address


def test_web_events_are_those_of_a_working_site(web_events: Documents) -> None:
    """Most answers are good; writes are rarer than reads; every listed value occurs."""
    responses = Counter(document["response"] // 100 for document in web_events)
    assert 0.8 < responses[2] / len(web_events) < 0.95
    assert 0.001 < responses[5] / len(web_events) < 0.01
    methods = Counter(document["method"] for document in web_events)
    assert methods["GET"] > 5 * methods["POST"] > 5 * methods["PUT"] > 0
    assert {document["protocol"] for document in web_events} == {"HTTP/1.0", "HTTP/1.1", "HTTP/2"}
    assert {document["user_class"] for document in web_events} == {"guest", "customer", "partner", "staff"}
    assert len({document["query"] for document in web_events}) > 500


def test_syslog_lines_hang_together(syslog: Documents) -> None:
    """A program has one facility; the kernel and programs without a process number have none in the tag."""
    facilities: dict[str, set[str]] = {}
    for document in syslog:
        assert re.fullmatch(r"[\w/]+(\[\d+\])?:", document["syslogtag"])
        program = re.split(r"[\[:]", document["syslogtag"])[0]
        facilities.setdefault(program, set()).add(document["facility"])
        assert re.fullmatch(r"(web|mx|db|gw)-\d+", document["host"])
        assert "<" not in re.sub(r"=<[^<>]+>", "", document["message"])
        assert "{" not in document["message"]
    assert all(len(of_program) == 1 for of_program in facilities.values())
    assert {"sshd", "CRON", "systemd", "kernel", "postfix/smtpd", "named"} <= set(facilities)
    severities = Counter(document["severity"] for document in syslog)
    assert severities["info"] > 0.5 * len(syslog)
    assert 0.002 < (severities["err"] + severities["crit"]) / len(syslog) < 0.02


def test_a_session_keeps_its_process_number(syslog: Documents) -> None:
    """Lines with the same process number on a host come in succession, as those of one daemon's child do."""
    tags: dict[tuple[str, str], int] = Counter((document["host"], document["syslogtag"]) for document in syslog
                                               if document["syslogtag"].startswith("postfix/smtpd"))  # fmt: skip
    assert sum(count > 1 for count in tags.values()) > 0.3 * len(tags)


def test_lines_of_prescribed_size_are_realistic_text(logs: Documents) -> None:
    """Words and numbers of logs in whole lines, hardly a text twice, and templates filled in to the last slot."""
    messages = [document["message"] for document in logs]
    assert len(set(messages)) == len(messages)
    for message in messages:
        first, *others = message.split("\n")
        assert re.match(r"(DEBUG|INFO|WARN|ERROR) \[http-nio-8080-exec-\d+\] com\.example\.[\w.]+ - \S", first)
        assert all(re.match(r"\s+\S", line) for line in others[:-1])
        assert not re.search(r"<\w+>|\{\w+\}", message)
    # Frames of stack traces are the same again and again in real logs, too.
    lines = Counter(line for message in messages for line in message.split("\n")[1:-1] if line[:4] != "\tat ")
    assert max(lines.values()) < 0.02 * sum(lines.values())


def test_terms_of_large_lines_grow_slowly(logs: Documents) -> None:
    """New words keep coming, ever more slowly: neither a closed vocabulary nor random letters."""
    word = re.compile(r"\w+")
    seen: set[str] = set()
    growth, words = [], 0
    for number, document in enumerate(logs, start=1):
        found = word.findall(document["message"])
        words += len(found)
        seen.update(found)
        if number % 5000 == 0:
            growth.append(len(seen))
    steps = [growth[0], *(later - earlier for earlier, later in pairwise(growth))]
    assert all(500 < later < earlier for earlier, later in pairwise(steps))
    assert growth[-1] < 0.01 * words


def test_terms_do_not_explode(tmp_path: Path) -> None:
    """A million log events have few distinct terms, and the second half brings far fewer new ones than the first."""
    file = tmp_path / "data"
    write_corpus(load_recipe("app-logs"), 1_000_000, 1, file)
    word = re.compile(r"\w+")
    terms: set[str] = set()
    growth = []
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            terms.update(word.findall(line, line.index('"message":')))
            if number % 500_000 == 0:
                growth.append(len(terms))
    assert growth[1] < 130_000
    assert growth[1] - growth[0] < 0.5 * growth[0]
