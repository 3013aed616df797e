"""Anonymising: nothing of the originals is left, and what was equal stays equal."""

from __future__ import annotations

import json
import re
import time
import tracemalloc
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.imports.anonymise import Anonymiser
from paddock.imports.shape import track_shape
from paddock.imports.summary import Audit
from tests.imports.samples import access_log, parsed

KEY = b"a key of the tests, 32 bytes lon"
ANONYMISER = Anonymiser(KEY)


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        ("Failed password for invalid user margaret from 198.51.100.77 port 4711 ssh2", ["margaret", "198.51.100.77"]),
        ("Accepted publickey for margaret from 2001:db8:77::1 port 22", ["margaret", "2001:db8:77::1"]),
        ("session opened for user margaret by (uid=0)", ["margaret"]),
        ("session opened for user root by margaret(uid=1000)", ["margaret"]),
        ("order by margaret.hill@shop.example confirmed", ["margaret", "hill", "shop.example"]),
        ("GET /search?q=red+lamps&name=margaret%20hill HTTP/1.1", ["lamps", "margaret", "hill"]),
        ("https://margaret:hunter22@shop.example/x", ["margaret", "hunter22", "shop.ex"]),
        ("mail to margaret%40shop.example bounced", ["margaret", "shop.example"]),
        ("cannot open /home/margaret/report.txt", ["margaret"]),
        ("moved /tmp/hadoop-yarn/staging/margaret/.staging/job_1", ["margaret"]),
        ("GET /~margaret/cv.html HTTP/1.1", ["margaret"]),
        (r"cannot open C:\\Users\\margaret\\report.txt", ["margaret"]),
        ("login='margaret' rejected by 203.0.113.200.", ["margaret", "203.0.113.200"]),
        ('user="margaret hill" rejected', ["margaret", "hill"]),
        ("peer ::ffff:203.0.113.200 reset", ["203.0.113.200"]),
        ("at 12:34:56 2001:db8:77::1 and at 12:34:203.0.113.200", ["203.0.113.200", "2001:db8:77::1"]),
        ("from 2001:db8:77::1: reset", ["2001:db8:77::1"]),
        ("from 2001:db8:77::1:56789", ["2001:db8:77::1"]),
        ("from [2001:db8:77::1]:56789", ["2001:db8:77::1"]),
        ("query ?q=%D0%BC%D0%B0%D1%80%D0%B8%D1%8F done", ["%D0%BC%D0%B0%D1%80"]),
        ("margaret : TTY=pts/0 ; PWD=/home/margaret ; USER=root ; COMMAND=/bin/ls", ["margaret"]),
        ("sudo: margaret : 3 incorrect password attempts ; TTY=pts/0", ["margaret"]),
        ("(margaret) CMD (run-parts /etc/cron.hourly)", ["margaret"]),
        ("From: Margaret Hill <margaret@shop.example>", ["Margaret", "Hill", "margaret@"]),
        ('"Margaret Hill" <margaret@shop.example> wrote', ["Margaret", "Hill", "margaret@"]),
        ("connect from 195-154-37-122.rev.example [195.154.37.122]", ["195-154-37-122", "195.154.37.122"]),
        ("node ip-10-77-20-248 joined", ["10-77-20-248"]),
        ("logname= uid=0 euid=0 tty=ssh ruser= rhost=203.0.113.200 user=margaret", ["203.0.113.200", "margaret"]),
        ("user name=margaret is gone", ["margaret"]),
        ("password=hunter22 token=abcd1234==", ["hunter22", "abcd1234"]),
        ("passwd: hunter22", ["hunter22"]),
        ("Authorization: Bearer abcd1234efgh", ["abcd1234efgh"]),
        ("Authorization: Basic bWFyZ2FyZXQ6eA==", ["bWFyZ2FyZXQ6eA"]),
        ("got Bearer abcd1234efgh", ["abcd1234efgh"]),
        ("Cookie: sid=abcd1234; theme=hunter22", ["abcd1234", "hunter22"]),
        ("session=abcd1234; PHPSESSID=hunter22", ["abcd1234", "hunter22"]),
        ("GET /callback#access_token=abcd1234&state=hunter22", ["abcd1234", "hunter22"]),
        ("GET /password-reset/abcd1234efgh HTTP/1.1", ["abcd1234efgh"]),
        ("wlan0: associated with 00:1b:44:11:3a:b7 (BSSID 00-1B-44-11-3A-B8)", ["00:1b:44:11:3a:b7", "44-11-3A-B8"]),
        ("session 123e4567-e89b-12d3-a456-426614174000 closed", ["123e4567", "426614174000"]),
        ("key AbCdEf0123456789GhIjKl9876 used", ["AbCdEf0123456789GhIjKl9876"]),
        ("TCP_MISS/200 812 CONNECT shop.example:443 - HIER_DIRECT/203.0.113.200", ["shop.example", "203.0.113.200"]),
        ("TCP_MISS/200 812 GET http://margaret.shop.example/x - NONE/-", ["margaret", "shop.example"]),
        ("CONNECT margaret-pc:443 refused", ["margaret"]),
        ('got {"user": {"name": "margaret", "id": 4711}, "password": "hunter22"}', ["margaret", "4711", "hunter22"]),
        (r"got {\"user\":\"margaret\",\"password\":\"hunter22\"}", ["margaret", "hunter22"]),
        ("PUT /v1/users/margaret/orders", ["margaret"]),
        ("GET /api/v1/accounts/margaret HTTP/1.1", ["margaret"]),
        ("imap-login: Login: user=<margaret>, method=PLAIN, rip=203.0.113.200", ["margaret", "203.0.113.200"]),
        ("12 Connect margaret@localhost on crm", ["margaret"]),
        ("ssh margaret@web-1 done", ["margaret", "web-1"]),
        ("ugi=margaret (auth:SIMPLE)\tip=/203.0.113.200", ["margaret", "203.0.113.200"]),
        ('got {"principalName":"margaret"}', ["margaret"]),
        (r"user SHOP\margaret logged on", ["margaret", "SHOP"]),
        ("uid=margaret,ou=people cn=hill", ["margaret", "hill"]),
        ("java -Dpassword=hunter2 -Duser.name=margaret", ["hunter2"]),
        ("crm --user margaret --password hunter2", ["margaret", "hunter2"]),
        ("pwd:hunter2 sessionId:abcd1234 user:margaret", ["hunter2", "abcd1234", "margaret"]),
        ("bad password 'hunter2' given", ["hunter2"]),
        ('Parameters: {"user"=>{"email"=>"margaret"}, "password"=>"hunter2"}', ["margaret", "hunter2"]),
        ("password => hunter2", ["hunter2"]),
        ("<password>hunter2 x7</password> <userName>margaret</userName>", ["hunter2", "x7", "margaret"]),
        ("got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.SflKxwRJSMeKKF2QT4fw_adQssw5c", ["eyJzdWIi", "adQssw5c"]),
    ],
)  # fmt: skip
def test_nothing_of_the_originals_is_left(text: str, secrets: list[str]) -> None:
    """Names, addresses, secrets and values go wherever they stand; the text stays as long."""
    anonymous = ANONYMISER.text(text)
    assert len(anonymous) == len(text)
    for secret in secrets:
        assert secret.lower() not in anonymous.lower()


@pytest.mark.parametrize(
    "text",
    ["", "started in 12:34:56.789", "Chrome 131 at 10:20:30", "org.example.Service::run", "a ratio of 1.5.2",
     "org.apache.hadoop.Bar@1a2b3c", "version 300.1.2.3 of it", "GET /wp-login.php HTTP/1.1", "/user/login",
     "user not found", "session opened", "pam_unix(sshd:session): session closed", "logname= uid=0 euid=0",
     "imap-login: Login: user=", "account number 12", "sshd:session", "User::find", "user:", "uid=0 cn=7",
     "at org.apache.Line.read(Line.java:7)", "Failed password", "10:20:30:400", "std::vector", "blk_38865049064139660",
     "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/131.0.0.0 Safari/537.36 Edg/131.0.2903.86"],
)  # fmt: skip
def test_what_only_looks_like_it_stays(text: str) -> None:
    """Times, versions of browsers, classes, pages, sentences about users, empty values and the keys behind them."""
    assert ANONYMISER.text(text) == text


def test_keys_stay_and_values_go() -> None:
    """An empty value does not make the next name its own."""
    line = "authentication failure; logname= uid=0 euid=0 tty=ssh ruser= rhost=203.0.113.200 user=margaret"
    anonymous = ANONYMISER.text(line)
    assert re.sub(r"=\S+", "=", anonymous) == re.sub(r"=\S+", "=", line)


def test_names_agree_wherever_they_stand() -> None:
    """The user of a field is the user of a sentence, a path and a query; an address that of a host's name."""
    document = ANONYMISER.document(
        {"user": "margaret", "message": "user margaret logged in: /home/margaret", "query": "name=margaret",
         "path": "/x?name=margaret", "client": "195.154.37.122", "peer": "195-154-37-122.rev.example"}
    )  # fmt: skip
    name = document["user"]
    assert document["message"] == f"user {name} logged in: /home/{name}"
    assert document["query"] == f"name={name}"
    assert document["path"] == f"/x?name={name}"
    assert document["peer"].startswith(document["client"].replace(".", "-"))


@pytest.mark.parametrize(
    "name",
    ["user", "user.name", "user.id", "user-name", "client_user", "displayName", "userId", "user_id", "owner", "e-mail",
     "password", "api_key", "session.id", "X-Auth-Token", "http.request.headers.cookie", "accessToken"],
)  # fmt: skip
@pytest.mark.parametrize(
    "value", ["margaret hill", 123456, ["margaret", 123456], {"name": "margaret", "ids": [123456]}]
)
def test_values_of_telling_names_go_whole(name: str, value: object) -> None:
    """On any part of a dotted name; texts, numbers, lists and objects."""
    text = json.dumps(ANONYMISER.document({name: value}))
    assert not re.search(r"margaret|hill|123456", text)
    assert f'"{name}"' in text


def test_other_values_stay() -> None:
    """At any depth: numbers, levels, versions; a user agent is no user."""
    document = {"n": 12345, "level": "INFO", "user_agent": {"name": "Chrome", "version": "131.0"}, "ok": True}
    assert ANONYMISER.document(document) == document


def test_the_hosts_of_a_proxy_go() -> None:
    """What was connected to is the path."""
    document = ANONYMISER.document({"method": "CONNECT", "path": "margaret.internal.zone:443"})
    assert "margaret" not in document["path"]
    assert document["path"].endswith(":443")


@given(st.text(max_size=200))
def test_any_text_keeps_its_length(text: str) -> None:
    """Whatever is in it."""
    assert len(ANONYMISER.text(text)) == len(text)


@pytest.mark.parametrize(
    "lines",
    [
        ("authorization: bearer", "hello world"), ("accepted for user", "carol from here"),
        ("accepted for carol", "from 203.0.113.200"), ("(carol)", "CMD x"), ("Alice Smith", "<a@shop.example> x"),
        ("carol", "=user carol x"), ("x : ", "y"), ('{":]', '[":cookie a=b'), ('user: "carol ', 'x" y'),
    ],
)  # fmt: skip
def test_a_line_tells_nothing_of_the_next(lines: tuple[str, str]) -> None:
    """Many messages at once, each as if it were alone: what ends one says nothing of what begins another."""
    assert ANONYMISER.text("\n".join(lines)) == "\n".join(map(ANONYMISER.text, lines))


FRAGMENTS = ["user", "bob", "for ", "from ", "invalid ", '"', "'", "(", ")", "{", "}", ":", "=", " : ", "<", "a@b.com",
             "bearer ", "authorization:", "password=", "cookie ", " CMD", "(uid=0)", "sudo: ", "\\", "connect ", "[",
             "h:443", '"user":"', " ", "Alice ", "?a=b", "\t", ",", '{"user":{', "1.2.3.4", "user="]  # fmt: skip


@given(st.lists(st.lists(st.sampled_from(FRAGMENTS), max_size=7).map("".join), max_size=4))
def test_no_line_tells_anything_of_another(lines: list[str]) -> None:
    """As above, whatever the lines."""
    assert ANONYMISER.text("\n".join(lines)) == "\n".join(map(ANONYMISER.text, lines))


def test_short_values_of_several_lines_stay_whole() -> None:
    """A value with ends of lines in it loses nothing."""
    assert ANONYMISER.document({"thread": "a\nb\nc", "x": ["d\n"]}) == {"thread": "a\nb\nc", "x": ["d\n"]}


def test_objects_within_objects_go_as_a_whole() -> None:
    """What a user's object holds, to its end, and no more."""
    text = ANONYMISER.text('got {"user": {"a": {"b": "carol"}, "c": "dave"}, "level": "info", "owner": {}, "d": "on"}')
    assert "carol" not in text
    assert "dave" not in text
    assert text.endswith('}, "level": "info", "owner": {}, "d": "on"}')


def test_what_neighbours_gave_away_is_not_counted_as_kept() -> None:
    """However often a short value comes."""
    anonymiser = Anonymiser(KEY)
    for _ in range(3):
        anonymiser.document({"thread": "user margaret is"})
    assert anonymiser.kept() == {"user": 3, "is": 3}


PIECES = ["a", "A", "1", "a@", "@a", "a.", "1.", "1-", "a=", "=", "%40", "/home/", "/a", "a:", ":", "1:", "?a=", "&a",
          "user ", "user=", "host=", "for user ", "Cookie ", "Cookie: ", "<a@b.c>", "A <", " : ", '"', 'user="', "(",
          "a(uid=", "~", "Bearer ", "0:", "::", "\\", "{", '{"user":{', '"user":{"a":', "a_b-", "1a",
          ") CMD (", "user:", "eyJ.", "eyJa.", "--user ", "<user>", "user\\", '"user"=>']  # fmt: skip


@pytest.mark.parametrize("piece", PIECES)
def test_no_rule_is_worse_than_linear(piece: str) -> None:
    """200 kB of one piece, alone and before an address: a quadratic rule takes minutes, a linear one a second."""
    began = time.process_time()
    text = piece * (200_000 // len(piece))
    for tail in ("", "\n", "@shop.example", "\x00 <a@shop.example>"):
        assert len(Anonymiser(KEY).text(text + tail)) == len(text) + len(tail)
    assert time.process_time() - began < 60


def test_frequencies_are_kept() -> None:
    """An anonymised log has as many clients, users and paths, as often as the log."""
    lines = access_log(2000)
    shape = track_shape("apache")
    plain = [json.loads(line) for line in parsed("apache-combined", lines, shape).data.splitlines()]
    anonymous = [json.loads(line) for line in parsed("apache-combined", lines, shape, KEY).data.splitlines()]
    assert len(plain) == len(anonymous) == 2000
    for name in ("user", "path", "user_agent"):
        before = Counter(document.get(name) for document in plain)
        after = Counter(document.get(name) for document in anonymous)
        assert sorted(before.values()) == sorted(after.values())
    originals = {document["clientip"] for document in plain}
    assert not originals & {document["clientip"] for document in anonymous}
    for name in ("@timestamp", "status", "bytes", "method"):
        assert [document.get(name) for document in plain] == [document.get(name) for document in anonymous]


def test_what_stays_is_counted() -> None:
    """Words that are the same before and after, the parts of those that are not; nothing that was replaced."""
    anonymiser = Anonymiser(KEY)
    for _ in range(3):
        anonymiser.text("user margaret opened /srv/margaret/x?id=4711 on build7.zone, 5 times")
    kept = anonymiser.kept()
    assert kept["opened"] == kept["build7.zone"] == kept["5"] == kept["srv"] == 3
    assert kept["margaret"] == 3  # as a folder, not as the user
    assert "4711" not in kept
    assert anonymiser.kept() == Counter()


@pytest.mark.parametrize("quick", [True, False])
def test_numbers_that_stay_are_counted(quick: bool) -> None:
    """Those of fields too, in bulk and line by line: an order's number may be somebody's."""
    kept = parsed("apache-combined", access_log(20), track_shape("apache"), KEY, quick=quick).kept
    assert kept["200"] == 18
    assert kept["101"] == 1
    assert parsed("json-lines", ['{"time":1714566896,"order":4711,"x":true}'], key=KEY, quick=quick).kept == {"4711": 1}


def test_the_audit_sorts_what_stays() -> None:
    """Words, hosts, numbers and tokens, the most frequent first."""
    audit = Audit()
    audit.add(Counter({"opened": 7, "closed": 9, "build7.zone": 3, "4711": 2, "blk_3886504": 1}))
    audit.add(Counter({"4712": 5}))
    assert audit.most_frequent() == {
        "words": {"closed": 9, "opened": 7}, "hosts": {"build7.zone": 3}, "numbers": {"4712": 5, "4711": 2},
        "tokens": {"blk_3886504": 1},
    }  # fmt: skip


@pytest.mark.parametrize("field", ["query", "path", "message"])
def test_what_is_remembered_does_not_grow_without_end(field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long values that never come again are forgotten in time, whatever their field: as text and as a whole value."""
    monkeypatch.setattr("paddock.imports.anonymise.CACHED_CHARACTERS", 50_000, raising=False)
    monkeypatch.setattr("paddock.imports.words.CACHED_CHARACTERS", 50_000, raising=False)
    anonymiser = Anonymiser(KEY)
    sizes = []
    tracemalloc.start()
    for block in range(12):
        lines = [
            f'{{"@timestamp":"2026-01-05T10:00:00.000Z","x":"y","{field}":"a{block}_{number}{"_b" * 500}"}}\n'
            for number in range(50)
        ]
        anonymiser.lines("".join(lines))
        anonymiser.kept()
        sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert max(sizes[4:]) < max(sizes[:4]) + 250_000


def test_the_audit_does_not_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond a number of texts the rarest are forgotten, and that is known."""
    monkeypatch.setattr("paddock.imports.summary.MOST_COUNTED", 100)
    audit = Audit()
    for number in range(50):
        audit.add(Counter({f"w{number}x{each}": 1 for each in range(10)} | {"often": 1}))
    assert audit.forgotten >= 350
    assert audit.most_frequent()["words"]["often"] == 50
