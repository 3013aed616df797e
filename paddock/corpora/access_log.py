"""The model `access-log`: visitors walk a web site, and every request is a document.

A browser's visit is a session: pages follow links, pages load their assets, and the referrer is the page before.
Crawlers, scanners and programs ask for one path after another without a referrer. Every path has one size,
every client one user agent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from paddock.corpora.addresses import addresses
from paddock.corpora.integers import Draws, shares, zipf_weights
from paddock.corpora.patterns import escaped, fill
from paddock.corpora.world import ACTOR, DRAWN, NOTHING, REMEMBERED, TIME, Piece, WorldBuilder

_CLIENT, _USER_AGENT = 0, 1  # the columns of a visitor's attributes

_FIRST_NAMES = ("alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi", "ivan", "judy", "mallory", "olivia",
                "peggy", "rupert", "sybil", "trent", "victor", "walter", "yusuf", "zoe")  # fmt: skip


@dataclass(frozen=True)
class _Event:
    """One path of the site as an event of the World."""

    number: int
    weight: int


class AccessLog:
    """Fills a WorldBuilder from a recipe of the model `access-log`."""

    def __init__(self, name: str, content: dict[str, Any], builder: WorldBuilder):
        self._name = name
        self._content = content
        self._builder = builder
        self._groups: dict[str, list[_Event]] = {}
        self._kinds: dict[str, list[_Event]] = {"page": [], "asset": [], "action": [], "other": []}
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
        pools = {}
        for name, strings in self._content["queries"].items():
            pools[name] = self._builder.texts([_query(text) for text in strings], list(strings.values()))
        searches = self._content["searches"]
        draws = Draws(f"{self._name} searches")
        words = [word for key in ("thing", "adjective", "category") for word in self._content["words"][key]]
        texts: dict[str, None] = {}
        while len(texts) < searches["count"]:
            text = draws.one_of(words)
            texts.setdefault(text if draws.below(2) else f"{text}+{draws.one_of(words)}")
        weights = zipf_weights(len(texts), searches["exponent"])
        pools["searches"] = self._builder.texts([_query(f"q={text}") for text in texts], weights)
        return pools

    def _add_paths(self, group: dict[str, Any], query_pools: dict[str, int]) -> None:
        """The events of one group of paths, the most popular first."""
        draws = Draws(f"{self._name} paths {group['pattern']}")
        paths = fill(group["pattern"], group["count"], self._content["words"], draws)
        weights = shares([(group["share"], zipf_weights(len(paths), group["exponent"]))])
        for path, weight in zip(paths, weights, strict=True):
            request = f'{group["method"]}","path":"{escaped(path)}"'
            pieces = [
                self._builder.fixed('{"@timestamp":"'),
                Piece(TIME),
                Piece(ACTOR, _CLIENT),
                self._builder.fixed(request),
            ]
            if "query" in group:
                pieces.append(Piece(DRAWN, query_pools[group["query"]]))
            pieces.append(Piece(DRAWN, self._status_pool(group, draws.between(*group["bytes"]))))
            pieces += [Piece(REMEMBERED), Piece(ACTOR, _USER_AGENT)]
            is_page = group["kind"] == "page"
            memory = self._builder.fragment(_referrer(self._content["site"] + path)) if is_page else NOTHING
            event = _Event(self._builder.event(pieces, memory=memory, moves=is_page), weight)
            self._groups.setdefault(group["name"], []).append(event)
            self._kinds[group["kind"]].append(event)

    def _status_pool(self, group: dict[str, Any], size: int) -> int:
        """The pool of status and bytes for a path of that size; paths with the same answers share one."""
        status = tuple(group["status"].items())
        if (status, size) not in self._status_pools:
            # 206 answers a request for a range, here always for half of the resource.
            sizes = {206: size // 2, **self._content["sizes"]}
            texts = [f',"status":{code},"bytes":{sizes.get(code, size)}' for code, _ in status]
            self._status_pools[status, size] = self._builder.texts(texts, [weight for _, weight in status])
        return self._status_pools[status, size]

    def _link_pages(self) -> None:
        """Every page leads to a few pages, assets and actions, the popular ones more often."""
        counts = self._content["links"]
        draws = Draws(f"{self._name} links")
        pages = self._kinds["page"]
        targets = []
        for kind in ("page", "asset", "action"):
            events = self._kinds[kind]
            chosen = draws.apportioned([event.weight for event in events], counts[f"{kind}s"] * len(pages))
            targets.append([events[position].number for position in chosen])
        for number, page in enumerate(pages):
            row = []
            for (_, count), of_kind in zip(counts.items(), targets, strict=True):
                row += of_kind[number * count : (number + 1) * count]
            self._builder.follow(page.number, row)

    def _add_visitors(self) -> int:
        """Classes of visitors and the clients of each."""
        actors: list[int] = []
        parts = []
        taken: set[str] = set()
        for visitor in self._content["visitors"]:
            entries = [event for name in visitor["entries"] for event in self._groups[name]]
            entry = self._builder.pool([event.number for event in entries], [event.weight for event in entries])
            referrers = visitor.get("referrers", {"": 1})
            memory = self._builder.texts([_referrer(text) for text in referrers], list(referrers.values()))
            of_class = self._builder.actor_class(entry, memory, visitor["follows_links"], visitor["stay"])
            attributes = self._clients(visitor, taken)
            actors += [self._builder.actor(of_class, row) for row in attributes]
            parts.append((visitor["share"], zipf_weights(len(attributes), visitor["clients"]["exponent"])))
        return self._builder.pool(actors, shares(parts))

    def _clients(self, visitor: dict[str, Any], taken: set[str]) -> list[tuple[int, int]]:
        """The attribute fragments of the clients of a class, the busiest first."""
        draws = Draws(f"{self._name} clients {visitor['name']}")
        clients = visitor["clients"]
        client_addresses = addresses(clients["ipv4"], clients["ipv6"], draws, taken)
        agents = visitor["user_agents"]
        of_client = draws.apportioned(zipf_weights(len(agents), 1), len(client_addresses))
        versions = list(visitor["http_versions"])
        version_of = draws.apportioned(list(visitor["http_versions"].values()), len(agents))
        rows = []
        for address, agent in zip(client_addresses, of_client, strict=True):
            user = ""
            if draws.below(100) < clients["users_percent"]:
                user = f',"user":"{draws.one_of(_FIRST_NAMES)}{draws.between(1, 99)}"'
            client = f'Z","clientip":"{address}"{user},"method":"'
            rest = f',"http_version":"{versions[version_of[agent]]}","user_agent":"{escaped(agents[agent])}"}}\n'
            rows.append((self._builder.fragment(client), self._builder.fragment(rest)))
        return rows


def _query(text: str) -> str:
    return f',"query":"{escaped(text)}"' if text else ""


def _referrer(url: str) -> str:
    return f',"referrer":"{escaped(url)}"' if url else ""
