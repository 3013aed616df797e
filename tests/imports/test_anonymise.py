"""Anonymising: nothing of the originals is left, and what was equal stays equal."""

from __future__ import annotations

import json
import re
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from paddock.imports.anonymise import Anonymiser
from paddock.imports.audit import Audit
from paddock.imports.pseudonyms import Pseudonyms
from paddock.imports.shape import track_shape
from paddock.imports.text import to_json
from paddock.imports.words import Words, kind_of_word
from tests.imports.samples import ANY_SHAPE, access_log, counted, parsed

KEY = b"a key of the tests, 32 bytes lon"
ANONYMISER = Anonymiser(KEY)
TIME = "2026-01-05T10:00:00.000Z"


def anonymous_documents(documents: list[dict[str, Any]], anonymiser: Anonymiser = ANONYMISER) -> list[dict[str, Any]]:
    """Documents, replaced at once."""
    data = b"".join(to_json({"@timestamp": TIME, **document}) + b"\n" for document in documents)
    replaced = anonymiser.lines(data)
    assert len(replaced) == len(data)
    found = [json.loads(line) for line in replaced.decode("utf-8").split("\n")[:-1]]
    assert all(document.pop("@timestamp") == TIME for document in found)
    return found


def anonymous(text: str, anonymiser: Anonymiser = ANONYMISER) -> str:
    """A message, replaced."""
    replaced: str = anonymous_documents([{"message": text}], anonymiser)[0]["message"]
    return replaced


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
        ("peer 195-154-37-122::203.0.113.200", ["195-154-37-122", "203.0.113.200"]),
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
    replaced = anonymous(text)
    assert len(replaced) == len(text)
    for secret in secrets:
        assert secret.lower() not in replaced.lower()


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
    assert anonymous(text) == text


def test_keys_stay_and_values_go() -> None:
    """An empty value does not make the next name its own."""
    line = "authentication failure; logname= uid=0 euid=0 tty=ssh ruser= rhost=203.0.113.200 user=margaret"
    assert re.sub(r"=\S+", "=", anonymous(line)) == re.sub(r"=\S+", "=", line)


def test_names_agree_wherever_they_stand() -> None:
    """The user of a field is the user of a sentence, a path and a query; an address that of a host's name."""
    [document] = anonymous_documents([
        {"user": "margaret", "message": "user margaret logged in: /home/margaret", "query": "name=margaret",
         "path": "/x?name=margaret", "client": "195.154.37.122", "peer": "195-154-37-122.rev.example"}
    ])  # fmt: skip
    name = document["user"]
    assert document["message"] == f"user {name} logged in: /home/{name}"
    assert document["query"] == f"name={name}"
    assert document["path"] == f"/x?name={name}"
    assert document["peer"].startswith(document["client"].replace(".", "-"))


@pytest.mark.parametrize(
    "name",
    ["user", "user.name", "user.id", "user-name", "client_user", "displayName", "userId", "user_id", "owner", "e-mail",
     "password", "api_key", "session.id", "X-Auth-Token", "http.request.headers.cookie", "accessToken",
     "first_name", "surname", "phoneNumber", "home.address", "streetAddress", "zip_code", "IBAN", "creditCardNumber",
     "card_number", "cvv", "birthday", "date_of_birth", "taxId", "passportNumber"],
)  # fmt: skip
@pytest.mark.parametrize(
    "value", ["margaret hill", 123456, -1234.56, ["margaret", 123456], {"name": "margaret", "ids": [123456]}]
)
def test_values_of_telling_names_go_whole(name: str, value: object) -> None:
    """On any part of a dotted name; texts, numbers, lists and objects."""
    text = json.dumps(anonymous_documents([{name: value}])[0])
    assert not re.search(r"margaret|hill|123456|1234|\.56", text)
    assert f'"{name}"' in text


def test_other_values_stay() -> None:
    """At any depth: numbers, levels, versions; a user agent is no user."""
    document = {"n": 12345, "level": "INFO", "user_agent": {"name": "Chrome", "version": "131.0"}, "ok": True}
    assert anonymous_documents([document]) == [document]


def test_the_hosts_of_a_proxy_go() -> None:
    """What was connected to is the path; of that document, wherever it is in it."""
    documents = [
        {"method": "CONNECT", "path": "margaret:443"}, {"method": "OPTIONS", "path": "/margaret"},
        {"path": "margaret:443", "status": 200, "method": "CONNECT"}, {"method": "CONNECT"}, {"path": "margaret"},
    ]  # fmt: skip
    first, options, second, none, other = anonymous_documents(documents)
    assert first["path"] == second["path"] != "margaret:443"
    assert first["path"].endswith(":443")
    assert (options, none, other) == (documents[1], documents[3], documents[4])
    inner = [{"path": "margaret:443", "http": {"method": "CONNECT"}}]
    assert anonymous_documents(inner, Anonymiser(KEY)) == inner


@pytest.mark.parametrize("field", ["message", "user"])
@pytest.mark.parametrize("other", [lambda text: f"{text}x", lambda text: text[1:], lambda text: ""])
def test_a_pseudonym_of_another_length_is_an_error(
    field: str, other: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would move all that is behind it, whole or within a text, by its form or by what stands before it."""
    monkeypatch.setattr(Pseudonyms, "word", lambda _, text: other(text))
    for text in ("a@b.example", "user margaret is"):
        with pytest.raises(ValueError, match="different"):
            anonymous_documents([{field: text}], Anonymiser(KEY))


def test_pseudonyms_that_are_as_long_together_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """One too long and one too short are not made up for by each other."""
    becomes = {"alice": "alice1", "margaret": "margare"}
    monkeypatch.setattr(Pseudonyms, "word", lambda _, text: becomes[text])
    with pytest.raises(ValueError, match="different"):
        anonymous_documents([{"message": "user alice and user margaret"}], Anonymiser(KEY))


def test_a_name_of_many_fields_may_be_long() -> None:
    """Their paths are not kept in full: 2,000 fields within one of 200 kB take no 400 MB."""
    data = to_json({"@timestamp": TIME, "a" * 200_000: {f"f{each}": each for each in range(2000)}}) + b"\n"
    tracemalloc.start()
    anonymiser = Anonymiser(KEY)
    assert anonymiser.lines(data) == data
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert used < 200_000_000


def test_a_short_text_of_several_lines_is_kept_whole() -> None:
    """No line of it is lost, nor is one mistaken for the next text."""
    documents = [{"note": "ready\nsteady\ngo", "level": "INFO"}, {"note": "\n", "level": "user"}, {"note": "from"}]
    assert anonymous_documents(documents) == documents


@given(st.text(max_size=200))
def test_any_text_keeps_its_length(text: str) -> None:
    """Whatever is in it, in characters and in bytes."""
    assert len(anonymous(text)) == len(text)


PIECE = st.sampled_from(
    ["user ", "for ", "from", "bob", " : ", "sudo: ", "name=", '"', "\n", "\\", "<", "a@b.example", ">", "10.0.0.1",
     "(", "uid=0)", "Cookie: ", "x=1", "{", "}", ":", "=", " ", "é", "\x08", "\x1c", "\u2003", "A", "7", "::1",
     "/home/"]
)  # fmt: skip


@given(st.lists(st.lists(PIECE, max_size=9).map("".join), max_size=12))
def test_texts_do_not_depend_on_their_neighbours(texts: list[str]) -> None:
    """Many at once become what each becomes alone, whatever stands before it, behind it or was seen earlier."""
    at_once = anonymous_documents([{"message": text} for text in texts], Anonymiser(KEY))
    assert [document["message"] for document in at_once] == [anonymous(text) for text in texts]


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
    assert anonymous("\n".join(lines)) == "\n".join(map(anonymous, lines))


FRAGMENTS = ["user", "bob", "for ", "from ", "invalid ", '"', "'", "(", ")", "{", "}", ":", "=", " : ", "<", "a@b.com",
             "bearer ", "authorization:", "password=", "cookie ", " CMD", "(uid=0)", "sudo: ", "\\", "connect ", "[",
             "h:443", '"user":"', " ", "Alice ", "?a=b", "\t", ",", '{"user":{', "1.2.3.4", "user="]  # fmt: skip


@given(st.lists(st.lists(st.sampled_from(FRAGMENTS), max_size=7).map("".join), max_size=4))
def test_no_line_tells_anything_of_another(lines: list[str]) -> None:
    """As above, whatever the lines."""
    assert anonymous("\n".join(lines)) == "\n".join(map(anonymous, lines))


def test_short_values_of_several_lines_stay_whole() -> None:
    """A value with ends of lines in it loses nothing."""
    documents = [{"thread": "a\nb\nc", "x": ["d\n"]}]
    assert anonymous_documents(documents) == documents


def test_objects_within_objects_go_as_a_whole() -> None:
    """What a user's object holds, to its end, and no more."""
    text = anonymous('got {"user": {"a": {"b": "carol"}, "c": "dave"}, "level": "info", "owner": {}, "d": "on"}')
    assert "carol" not in text
    assert "dave" not in text
    assert text.endswith('}, "level": "info", "owner": {}, "d": "on"}')


def test_what_neighbours_gave_away_is_not_counted_as_kept() -> None:
    """However often a short value comes."""
    anonymiser = Anonymiser(KEY)
    for _ in range(3):
        anonymous_documents([{"thread": "user margaret is"}], anonymiser)
    assert counted(anonymiser.kept()) == {"user": 3, "is": 3}


GAPS = r"\s\"'()\[\]{},;|<>\\"
SEPARATOR = re.compile(rf"([{GAPS}]+(?:(?<!\n)[:=](?![:=])(?:(?!\n)[{GAPS}])*)?)")


SPACE = st.sampled_from([*"\t\x0b\x1f\x85\xa0\u1680\u180e\u2003\u200b\u2028\u205f\u3000\u3001"])


@given(st.lists(st.one_of(PIECE, SPACE, st.characters(codec="utf-8"))).map("".join))
def test_words_are_cut_as_the_rule_says(text: str) -> None:
    """At every kind of space, quotes and brackets, with a single : or = behind them; the empty ones are not counted."""
    anonymiser = Anonymiser(KEY)
    words: Counter[str] = Counter()
    anonymiser._becomes = lambda _words, _domain, word: word  # type: ignore[method-assign]  # what stays is what was cut
    anonymiser._put_by_context = lambda *_: None  # type: ignore[assignment, method-assign]
    anonymous(text, anonymiser)
    for word in SEPARATOR.split(text)[::2]:
        words[word.strip(".:=!?-*#/")] += 1
    del words[""]
    assert counted(anonymiser.kept()) == words


# A colon behind a space belongs to the gap, so no word begins with one.
ALIKE = st.from_regex(r"(?:[a-z]{1,7}|[0-9a-f]{1,6}|[-_./])(?:[a-z]{1,7}|[0-9a-f]{1,6}|[-_./:=]){0,8}", fullmatch=True)


@given(ALIKE, st.randoms(use_true_random=False))
def test_words_that_differ_in_digits_fare_alike(word: str, random: Random) -> None:
    """A word that is not looked at because one like it stayed would have stayed."""
    other = re.sub(r"\d", lambda _: str(random.randrange(10)), word)
    both = anonymous(f"{word} {other}", Anonymiser(KEY)).split(" ")
    assert both == [anonymous(word, Anonymiser(KEY)), anonymous(other, Anonymiser(KEY))]


# Pieces of addresses, hosts, mail, paths, parameters, ids and tokens.
FORMED = st.sampled_from(
    ["10.20.30.40", "300.1.2.3", "1.2.3", "ip-10-77-20-248", "_1_2_3_4", "host12", ".example.net", ".x7.io", "a7",
     "@", "bob3", "=", "user=", "id=", "cn=", "?", "&", "#", "q=5", ":", ":8080", "/", "//", "http://", "/home/", "~",
     "reset/", "12345678", "3f2a", "a3b9c8d7", "4e45.1.2.3.4a5", "2001:db8:7::1", "fe80::1a2b:3", "::", "-", "--", "_",
     "00:1b:44:11:3a:b7", "00-1B-44-11-3A-B8", "0011.2233.44aB", "123e4567-e89b-12d3-a456-426614174000", "%40", "%D0",
     "AbCdEf0123456789GhIjKl9876", "eyJh1.eyJz2.Sf3", "Chrome/131.0.1.2", "9", "09", "255", "256", "x", "A", ".", "+"]
)  # fmt: skip
WORDS = st.lists(FORMED, min_size=1, max_size=5).map("".join)


@example(["~/300.1.2.3"], Random(7))
@example(["0011.2233.44aB_1_2_3_4", "0011.2233.4455_1_2_3"], Random(7))
@given(st.lists(WORDS, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_what_is_alike_becomes_what_it_would_become_alone(words: list[str], random: Random) -> None:
    """Compiled code puts the pseudonyms that the rules of words.py would put, into words and values as a whole."""
    like = [re.sub(r"\d", lambda _: str(random.randrange(10)), word) for word in words]
    hexadecimal = [re.sub(r"[\da-f]", lambda _: random.choice("0123456789abcdef"), word) for word in words]
    anonymiser, rules = Anonymiser(KEY), Words(Pseudonyms(KEY))
    every = [*words, *like, *hexadecimal]
    documents = [{"user": word, "password": word, "query": word, "host": word} for word in every]
    for word, document in zip(every, anonymous_documents(documents, anonymiser), strict=True):
        expected = {"user": rules.user(word), "password": rules.secret(word), "host": rules.host(word)}
        assert document == {**expected, "query": rules.whole["query"](word)}
    documents = [{"message": f"x {word} x"} for word in every if not word.startswith((":", "="))]
    for before, after in zip(documents, anonymous_documents(documents, anonymiser), strict=True):
        assert after["message"].split(" ")[1] == rules.word(before["message"].split(" ")[1])


@given(
    WORDS, st.sampled_from(["user {}", "x for {} from y", "for invalid user {} from z", "login {}, then", "User {}"])
)
def test_names_behind_a_space_become_what_they_are_elsewhere(word: str, text: str) -> None:
    """They are found by compiled code where nothing else in the text may say otherwise."""
    rules = Words(Pseudonyms(KEY))
    replaced = anonymous(text.format(word))
    if word.startswith((":", "=")) or (" from " not in text and ("=" in word or kind_of_word(word))):
        return  # a sign, or the name of a value
    assert replaced == text.format(rules.user(word))


def test_short_addresses_that_meet_themselves_are_judged_again() -> None:
    """One of ten thousand; as the name of a user it is replaced as a name."""
    rules = Words(Pseudonyms(KEY))
    short = [f"_{number // 1000}_{number // 100 % 10}_{number // 10 % 10}_{number % 10}" for number in range(10_000)]
    for word, document in zip(short, anonymous_documents([{"user": word} for word in short]), strict=True):
        assert document["user"] == rules.user(word) != word


def test_values_are_no_ids_because_of_ones_like_them() -> None:
    """In a directory cn=7 is a number that stays, cn=a7 is somebody; whichever of them comes first."""
    for text in ("cn=7 cn=a7", "cn=a7 cn=7"):
        assert "cn=7" in anonymous(text, Anonymiser(KEY)).split(" ")
        assert "cn=a7" not in anonymous(text, Anonymiser(KEY))


def test_memory_stays_constant(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table begins anew when it is full; replacements and counts are the same as without an end."""
    documents = [{"message": f"job{number} of user u{number % 50} at 10.0.{number % 90}.7"} for number in range(2000)]
    endless = Anonymiser(KEY)
    expected, kept = anonymous_documents(documents, endless), counted(endless.kept())
    monkeypatch.setattr("paddock.imports.anonymise._PIECE", 2000)
    monkeypatch.setattr("paddock.imports.anonymise._MOST_ENTRIES", 100)
    limited = Anonymiser(KEY)
    assert anonymous_documents(documents, limited) == expected
    assert int(limited._table.used[0]) < 300
    assert counted(limited.kept()) == kept


def test_a_document_may_be_longer_than_the_table_has_room() -> None:
    """It grows for a text of a megabyte of words."""
    text = " ".join(f"w{number}" for number in range(300_000))
    assert anonymous(text) == text


PIECES = ["a", "A", "1", "a@", "@a", "a.", "1.", "1-", "a=", "=", "%40", "/home/", "/a", "a:", ":", "1:", "?a=", "&a",
          "user ", "user=", "host=", "for user ", "Cookie ", "Cookie: ", "<a@b.c>", "A <", " : ", '"', 'user="', "(",
          "a(uid=", "~", "Bearer ", "0:", "::", "\\", "{", '{"user":{', '"user":{"a":', "a_b-", "1a",
          ") CMD (", "user:", "eyJ", "eyJ.", "eyJa.", "--user ", "<user>", "user\\", '"user"=>']  # fmt: skip


@pytest.mark.parametrize("piece", PIECES)
def test_no_rule_is_worse_than_linear(piece: str) -> None:
    """200 kB of one piece, alone and before an address: a quadratic rule takes minutes, a linear one a second."""
    began = time.process_time()
    text = piece * (200_000 // len(piece))
    for tail in ("", "\n", "@shop.example", "\x00 <a@shop.example>"):
        assert len(anonymous(text + tail, Anonymiser(KEY))) == len(text) + len(tail)
    assert time.process_time() - began < 60


def test_frequencies_are_kept() -> None:
    """An anonymised log has as many clients, users and paths, as often as the log."""
    lines = access_log(2000)
    shape = track_shape("apache")
    plain = [json.loads(line) for line in parsed("apache-combined", lines, shape).data.splitlines()]
    changed = [json.loads(line) for line in parsed("apache-combined", lines, shape, KEY).data.splitlines()]
    assert len(plain) == len(changed) == 2000
    for name in ("user", "path", "user_agent"):
        before = Counter(document.get(name) for document in plain)
        after = Counter(document.get(name) for document in changed)
        assert sorted(before.values()) == sorted(after.values())
    originals = {document["clientip"] for document in plain}
    assert not originals & {document["clientip"] for document in changed}
    for name in ("@timestamp", "status", "bytes", "method"):
        assert [document.get(name) for document in plain] == [document.get(name) for document in changed]


def test_what_stays_is_counted() -> None:
    """Words that are the same before and after, the parts of those that are not; nothing that was replaced."""
    anonymiser = Anonymiser(KEY)
    for _ in range(3):
        anonymous("user margaret opened /srv/margaret/x?id=4711 on build7.zone, 5 times", anonymiser)
    kept = counted(anonymiser.kept())
    assert kept["opened"] == kept["build7.zone"] == kept["5"] == kept["srv"] == 3
    assert kept["margaret"] == 3  # as a folder, not as the user
    assert "4711" not in kept
    assert counted(anonymiser.kept()) == Counter()


@pytest.mark.parametrize("quick", [True, False])
def test_numbers_that_stay_are_counted(quick: bool) -> None:
    """Those of fields too, in bulk and line by line, but for fields that are numbers to the track, such as status."""
    kept = counted(parsed("apache-combined", access_log(20), track_shape("apache"), KEY, quick=quick).kept)
    assert not {"200", "101"} & kept.keys()
    kept = counted(parsed("apache-combined", access_log(20), ANY_SHAPE, KEY, quick=quick).kept)
    assert {"200", "101"} <= kept.keys()
    text = parsed("json-lines", ['{"time":1714566896,"status":404,"path":"404 5"}'], track_shape("apache"), KEY)
    assert counted(text.kept) == {"404": 1, "5": 1}
    text = parsed("json-lines", ['{"time":1714566896,"order":4711,"x":true}'], key=KEY, quick=quick)
    assert counted(text.kept) == {"4711": 1}


def test_names_in_the_object_of_a_user_are_counted() -> None:
    """They stay, so a person has to look at them; what they name goes."""
    anonymiser = Anonymiser(KEY)
    anonymous('got {"user": {"bob": "margaret"}}', anonymiser)
    assert counted(anonymiser.kept()) == {"got": 1, "user": 1, "bob": 1}


def add(audit: Audit, texts: Counter[str]) -> None:
    """Count texts."""
    audit.add("\n".join(texts).encode("utf-8"), np.array([*texts.values()], np.int64))


def test_the_audit_sorts_what_stays() -> None:
    """Words, hosts, numbers and tokens, the most frequent first."""
    audit = Audit()
    add(audit, Counter({"opened": 7, "closed": 9, "build7.zone": 3, "4711": 2, "blk_3886504": 1}))
    add(audit, Counter({"4712": 5}))
    assert audit.most_frequent() == {
        "words": {"closed": 9, "opened": 7}, "hosts": {"build7.zone": 3}, "numbers": {"4712": 5, "4711": 2},
        "tokens": {"blk_3886504": 1},
    }  # fmt: skip


@pytest.mark.parametrize("field", ["query", "path", "message"])
def test_what_is_remembered_does_not_grow_without_end(field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long values that never come again are forgotten in time, whatever their field: as text and as a whole value."""
    monkeypatch.setattr("paddock.imports.anonymise._MOST_BYTES", 50_000)
    anonymiser = Anonymiser(KEY)
    sizes = []
    tracemalloc.start()
    for block in range(12):
        lines = [
            f'{{"@timestamp":"2026-01-05T10:00:00.000Z","x":"y","{field}":"a{block}_{number}{"_b" * 500}"}}\n'
            for number in range(50)
        ]
        anonymiser.lines("".join(lines).encode())
        anonymiser.kept()
        sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert max(sizes[4:]) < max(sizes[:4]) + 250_000


def test_the_audit_does_not_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond a number of texts the rarest are forgotten, and that is known."""
    monkeypatch.setattr("paddock.imports.audit.MOST_COUNTED", 100)
    audit = Audit()
    for number in range(50):
        add(audit, Counter({f"w{number}x{each}": 1 for each in range(10)} | {"often": 1}))
    assert audit.forgotten >= 350
    assert audit.most_frequent()["words"]["often"] == 50
