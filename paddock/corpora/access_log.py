"""The model `access-log`: visitors walk a web site, and every request is a document.

A browser's visit is a session: pages follow links, pages load their assets at once, and the referrer is the page
before. Crawlers, scanners and programs ask for one path after another without a referrer. Every path has one size,
every client one user agent. Some clients come again and again, others only once.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import Any

from paddock.corpora.draws import Draws, addresses, distinct, escaped, fill, shares, zipf_weights
from paddock.corpora.world import (
    ACTOR,
    DRAWN,
    NEW_ADDRESS,
    NEW_IPV4,
    NEW_IPV6,
    NEW_IPV6_BEGINNING,
    NOTHING,
    REMEMBERED,
    TIME,
    Piece,
    WorldBuilder,
)

_CLIENT, _USER_AGENT = 0, 1  # the columns of a visitor's attributes
_ATTACHED = 16  # assets that a page loads, a power of two
_TRIES = 8  # for each of them to be another one
_SCALE = 1 << 20  # keeps small parts of a share apart

_FIRST_NAMES = ("alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi", "ivan", "judy", "mallory", "olivia",
                "peggy", "rupert", "sybil", "trent", "victor", "walter", "yusuf", "zoe")  # fmt: skip
# The same fields by the names of the Elastic Common Schema, and the host of the one server that wrote them.
ECS_NAMES = {
    '{"@timestamp":': '{"host.name":"web-1","@timestamp":',
    '"clientip":': '"source.ip":',
    '"user":': '"user.name":',
    '"method":': '"http.request.method":',
    '"path":': '"url.path":',
    '"query":': '"url.query":',
    '"status":': '"http.response.status_code":',
    '"bytes":': '"http.response.body.bytes":',
    '"referrer":': '"http.request.referrer":',
    '"http_version":': '"http.version":',
    '"user_agent":': '"user_agent.original":',
}


class AccessLog:
    """Fills a WorldBuilder from a recipe of the model `access-log`."""

    def __init__(self, name: str, content: dict[str, Any], builder: WorldBuilder):
        self._name = name
        self._content = content
        self._words = content["words"]
        self._builder = builder
        # Each path of the site is an event: its number and its weight.
        self._groups: dict[str, list[tuple[int, int]]] = {}
        self._kinds: dict[str, list[tuple[int, int]]] = {"page": [], "asset": [], "action": [], "other": []}
        self._status_pools: dict[tuple[tuple[tuple[int, int], ...], int], int] = {}

    def fill(self) -> int:
        """Add paths, links and visitors; returns the pool of visitors."""
        query_pools = self._query_pools()
        for group in self._content["paths"]:
            self._add_paths(group, query_pools)
        self._link_pages()
        return self._add_visitors()

    def _query_pools(self) -> dict[str, int]:
        """One pool per set of query strings; "searches" is made from the words."""
        searches = self._content["searches"]
        draws = Draws(f"{self._name} searches")
        words = [word for key in ("thing", "adjective", "category") for word in self._words[key]]

        def search() -> str:
            text = draws.one_of(words)
            return f"q={text}" if draws.below(2) else f"q={text}+{draws.one_of(words)}"

        texts = distinct(search, searches["count"], "the words for searches give")
        made = dict(zip(texts, zipf_weights(len(texts), searches["exponent"]), strict=True))
        return {
            name: self._builder.texts([_field("query", text) for text in strings], list(strings.values()))
            for name, strings in {**self._content["queries"], "searches": made}.items()
        }

    def _add_paths(self, group: dict[str, Any], query_pools: dict[str, int]) -> None:
        """The events of one group of paths, the most popular first."""
        draws = Draws(f"{self._name} paths {group['pattern']}")
        paths = fill(group["pattern"], group["count"], self._words, draws)
        weights = shares([(group["share"], zipf_weights(len(paths), group["exponent"]))])
        is_page = group["kind"] == "page"
        for path, size, weight in zip(paths, _sizes(group, draws), weights, strict=True):
            pieces = [
                self._builder.fixed('{"@timestamp":"'),
                Piece(TIME),
                Piece(ACTOR, _CLIENT),
                Piece(NEW_ADDRESS),
                self._builder.fixed(f'","method":"{group["method"]}","path":"{escaped(path)}"'),
                *([Piece(DRAWN, query_pools[group["query"]])] if "query" in group else []),
                Piece(DRAWN, self._status_pool(tuple(group["status"].items()), size)),
                Piece(REMEMBERED),
                Piece(ACTOR, _USER_AGENT),
            ]
            memory = self._builder.fragment(_field("referrer", self._content["site"] + path)) if is_page else NOTHING
            event = (self._builder.event(pieces, memory, moves=is_page), weight)
            self._groups.setdefault(group["name"], []).append(event)
            self._kinds[group["kind"]].append(event)

    def _status_pool(self, status: tuple[tuple[int, int], ...], size: int) -> int:
        """The pool of status and bytes for a path of that size; paths with the same answers share one."""
        if (status, size) not in self._status_pools:
            # 206 answers a request for a range, here always for half of the resource.
            sizes = {206: size // 2, **self._content["sizes"]}
            sent = {code: sizes.get(code, size) for code, _ in status}
            # A server logs a hyphen where it has sent no body: the field is absent.
            texts = [f',"status":{code}' + (f',"bytes":{sent[code]}' if sent[code] else "") for code, _ in status]
            self._status_pools[status, size] = self._builder.texts(texts, [weight for _, weight in status])
        return self._status_pools[status, size]

    def _link_pages(self) -> None:
        """Every page leads to a few pages, assets and actions, the popular ones more often."""
        draws = Draws(f"{self._name} links")
        pages, assets = self._kinds["page"], self._kinds["asset"]
        rows: list[list[int]] = [[] for _ in pages]
        for kind, count in self._content["links"].items():
            events = self._kinds[kind.removesuffix("s")]
            chosen = draws.apportioned([weight for _, weight in events], count * len(pages))
            for number, row in enumerate(rows):
                row += [events[position][0] for position in chosen[number * count : (number + 1) * count]]
        bounds = list(accumulate(weight for _, weight in assets))
        for (page, _), row in zip(pages, rows, strict=True):
            # The popular ones first, more or less; none twice as long as there are others.
            loaded: dict[int, None] = {}
            for _ in range(_TRIES * _ATTACHED):
                loaded.setdefault(assets[bisect_right(bounds, draws.below(bounds[-1]))][0])
                if len(loaded) == _ATTACHED:
                    break
            attached = [list(loaded)[place % len(loaded)] for place in range(_ATTACHED)]
            self._builder.follow(page, row, attached)

    def _add_visitors(self) -> int:
        """Classes of visitors and the clients of each."""
        actors: list[int] = []
        parts = []
        taken: set[str] = set()
        for visitor in self._content["visitors"]:
            entries = [event for name in visitor["entries"] for event in self._groups[name]]
            entry = self._builder.pool(*zip(*entries, strict=True))
            referrers = visitor.get("referrers", {"": 1})
            memory = self._builder.texts([_field("referrer", text) for text in referrers], list(referrers.values()))
            of_class = self._builder.actor_class(
                entry, memory, visitor["follows_links"], visitor["stay"], visitor.get("at_once", 0)
            )
            clients = visitor["clients"]
            passing = clients.get("passing_percent", 0)
            agents, weights = self._agents(visitor)
            if passing < 100:
                regulars = self._regulars(visitor, of_class, agents, weights, taken)
                actors += regulars
                of_regulars = zipf_weights(len(regulars), clients["exponent"])
                parts.append((visitor["share"] * (100 - passing) * _SCALE, of_regulars))
            for version, address, beginning in (("ipv4", NEW_IPV4, ""), ("ipv6", NEW_IPV6, NEW_IPV6_BEGINNING)):
                share = visitor["share"] * passing * _SCALE * clients[version] // (clients["ipv4"] + clients["ipv6"])
                if share:
                    client = self._builder.fragment(f'Z","clientip":"{beginning}')
                    actors += [self._builder.actor(of_class, (client, agent), address) for agent in agents]
                    parts.append((share, weights))
        return self._builder.pool(actors, shares(parts))

    def _agents(self, visitor: dict[str, Any]) -> tuple[list[int], list[int]]:
        """The ends of lines of a class of visitors, each with a user agent and its HTTP version, and their weights."""
        draws = Draws(f"{self._name} user agents {visitor['name']}")
        agents: list[str] = []
        parts = []
        for group in visitor["user_agents"]:
            count = group.get("count", 1)
            agents += fill(group["pattern"], count, self._words, draws, agreeing=True)
            parts.append((group["share"], zipf_weights(count, group.get("exponent", 0))))
        versions = list(visitor["http_versions"].items())
        version_of = draws.apportioned([weight for _, weight in versions], len(agents))
        ends = [
            self._builder.fragment(f',"http_version":"{versions[number][0]}"{_field("user_agent", agent)}}}\n')
            for agent, number in zip(agents, version_of, strict=True)
        ]
        return ends, shares(parts)

    def _regulars(
        self, visitor: dict[str, Any], of_class: int, agents: list[int], weights: list[int], taken: set[str]
    ) -> list[int]:
        """The clients of a class that come again, the busiest first."""
        draws = Draws(f"{self._name} clients {visitor['name']}")
        clients = visitor["clients"]
        own = addresses(clients["ipv4"], clients["ipv6"], draws, taken, beside_new=True)
        actors = []
        for address, agent in zip(own, draws.apportioned(weights, len(own)), strict=True):
            user = ""
            if draws.below(100) < clients["users_percent"]:
                # The quotation mark that ends the last value is the next piece's.
                user = f'","user":"{draws.one_of(_FIRST_NAMES)}{draws.between(1, 99)}'
            client = self._builder.fragment(f'Z","clientip":"{address}{user}')
            actors.append(self._builder.actor(of_class, (client, agents[agent])))
        return actors


def _sizes(group: dict[str, Any], draws: Draws) -> list[int]:
    """The bytes of each path of a group: anything within its range, or by Zipf from the largest down."""
    least, most = group["bytes"]
    if "bytes_exponent" not in group:
        return [draws.between(least, most) for _ in range(group["count"])]
    weights = zipf_weights(group["count"], group["bytes_exponent"])
    return draws.shuffled([max(least, most * weight // weights[0]) for weight in weights])


def _field(name: str, text: str) -> str:
    """A field of a document; nothing where it would be empty."""
    return f',"{name}":"{escaped(text)}"' if text else ""
