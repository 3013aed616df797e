"""The model `application-log`: loggers, messages, stack traces.

A flow (a request, a message, a job) belongs to one application; its steps are message templates, each with its
logger, level and source line, so that these always go together. The flow's user, order and request ids stay the
same from its first document to its last. Errors end flows, with one of the application's stack traces.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from paddock.corpora.draws import Draws, escaped, fill_one, shares, split_at_slots, values, zipf_weights
from paddock.corpora.world import ACTOR, DATE, DRAWN, NOTHING, TIME, Piece, WorldBuilder

_THREAD, _PROCESS = 0, 1  # the columns of a thread's attributes
_SUCCESSORS = 8
_TRACES_PER_MESSAGE = 4
_TRIES = 200
# The same fields by the names of the Elastic Common Schema, dotted as its logging libraries write them.
ECS_NAMES = {
    '"level":': '"log.level":',
    '"logger":': '"log.logger":',
    '"thread":': '"process.thread.name":',
    '"host":': '"host.name":',
    '"pid":': '"process.pid":',
    '"application":': '"service.name":',
    '"tags":{"application":': '"labels":{"application":',
    '"source":{"class":': '"log.origin":{"class":',
    '"method":': '"function":',
    '"file":': '"file.name":',
    '"line":': '"file.line":',
    '"stack_trace":': '"error.stack_trace":',
}


class ApplicationLog:
    """Fills a WorldBuilder from a recipe of the model `application-log`."""

    def __init__(self, name: str, content: dict[str, Any], builder: WorldBuilder):
        self._name = name
        self._content = content
        self._builder = builder

    def fill(self) -> int:
        """Add messages, flows, processes and threads; returns the pool of threads."""
        slots = {name: self._slot(name, settings) for name, settings in self._content["slots"].items()}
        empty = self._builder.texts([""], [1])
        actors: list[int] = []
        parts = []
        for settings in self._content["applications"]:
            draws = Draws(f"{self._name} flows {settings['name']}")
            application = _Application(settings, self._content, self._builder, slots, draws)
            classes = {
                kind: self._builder.actor_class(entry, empty, linked=True, stay_percent=100)
                for kind, entry in application.add_flows().items()
            }
            for kind, share, threads in self._add_threads(settings, classes):
                actors += threads
                parts.append((share, zipf_weights(len(threads), self._content["threads"][kind]["exponent"])))
        return self._builder.pool(actors, shares(parts))

    def _slot(self, name: str, slot: dict[str, Any]) -> Piece:
        """The piece for a slot: values drawn per document, or held by the flow."""
        draws = Draws(f"{self._name} slot {name}")
        texts = values(draws, slot["pattern"], slot["count"], {}, slot.get("least", 1))
        # Small counts and durations are the usual ones; an id's number says nothing about how often it comes.
        if slot.get("held"):
            texts = draws.shuffled(texts)
        pool = self._builder.texts(texts, zipf_weights(len(texts), slot["exponent"]))
        return self._builder.held(pool) if slot.get("held") else Piece(DRAWN, pool)

    def _add_threads(
        self, application: dict[str, Any], classes: dict[str, int]
    ) -> Iterator[tuple[str, int, list[int]]]:
        """The threads of each process of an application, by kind: kind, share, actors."""
        name = application["name"]
        draws = Draws(f"{self._name} threads {name}")
        environments = list(self._content["environments"].items())
        of_instance = draws.apportioned([share for _, share in environments], application["instances"])
        for instance, number in enumerate(sorted(of_instance), start=1):
            environment, share = environments[number]
            process = self._builder.fragment(
                f'","host":"{name}-{environment}-{instance:02d}","pid":{draws.between(300, 32767)},'
                f'"application":"{name}","tags":{{"application":"{name}","environment":"{environment}","run_date":"'
            )
            for kind, thread in self._content["threads"].items():
                names = [thread["pattern"].replace("{number}", str(n)) for n in range(1, thread["count"] + 1)]
                threads = [
                    self._builder.actor(classes[kind], [self._builder.fragment(text), process]) for text in names
                ]
                yield kind, application["share"] * thread["share"] * share, threads


@dataclass
class _Application:
    """Adds the flows of one application."""

    settings: dict[str, Any]  # its own section of the recipe
    content: dict[str, Any]  # the recipe
    builder: WorldBuilder
    slots: dict[str, Piece]
    draws: Draws
    taken: set[str] = field(default_factory=set)  # texts of the messages that it has

    def __post_init__(self) -> None:
        # The recipe's words and the application's own, each also with a capital letter for beginnings.
        partners = [partner for partner in self.content["words"]["partner"] if partner != self.settings["name"]]
        words = {**self.content["words"], "noun": self.settings["nouns"], "partner": partners}
        capitals = {name.capitalize(): [word[0].upper() + word[1:] for word in of] for name, of in words.items()}
        self.words = words | capitals

    def add_flows(self) -> dict[str, int]:
        """The pool of first events for each kind of thread."""
        kinds = self.content["threads"]
        traces = {kind: self._traces(kind) for kind in kinds}
        entries: dict[str, list[int]] = {kind: [] for kind in kinds}
        weights: dict[str, list[tuple[int, list[int]]]] = {kind: [] for kind in kinds}
        for shape in self.content["flows"]:
            kind = shape["thread"]
            weights[kind].append((shape["share"], zipf_weights(shape["count"], self.content["flow_exponent"])))
            for _ in range(shape["count"]):
                steps = [self._message(self.content["messages"][step], traces[kind]) for step in shape["steps"]]
                entries[kind].append(steps[0])
                self._link(steps)
        return {kind: self.builder.pool(entries[kind], shares(weights[kind])) for kind in kinds}

    def _link(self, steps: list[int]) -> None:
        """Steps follow one another; now and then one is repeated or left out. The last one is never left out."""
        for position, step in enumerate(steps):
            later = [*steps[position + 1 :], NOTHING]
            row = [later[0]] * _SUCCESSORS
            if 0 < position < len(steps) - 1:
                row[0] = step
            if position < len(steps) - 2:
                row[1] = later[1]
            self.builder.follow(step, row)

    def _message(self, group: dict[str, Any], traces: list[int]) -> int:
        """A new message template as an event; one that the application does not have yet, if the words allow it."""
        draws, build = self.draws, self.builder
        for _ in range(_TRIES):
            text = fill_one(draws.one_of(group["patterns"]), self.words, draws)
            if text not in self.taken:
                break
        self.taken.add(text)
        logger = group.get("logger") or f"{self.settings['package']}.{draws.one_of(self.settings['classes'])}"
        pieces = [
            build.fixed('{"@timestamp":"'),
            Piece(TIME),
            build.fixed(f'Z","level":"{group["level"]}","logger":"{logger}","thread":"'),
            Piece(ACTOR, _THREAD),
            Piece(ACTOR, _PROCESS),
            Piece(DATE),
        ]
        before = (
            f'"}},"source":{{"class":"{logger}","method":"{draws.one_of(self.content["methods"])}",'
            f'"file":"{logger.rpartition(".")[2]}.java","line":{draws.between(31, 480)}}},"message":"'
        )
        for place, part in enumerate(split_at_slots(text)):
            if place % 2:
                pieces += [build.fixed(before), self.slots[part]]
                before = ""
            else:
                before += escaped(part)
        if group.get("stack_trace"):
            chosen = draws.shuffled(traces)[:_TRACES_PER_MESSAGE]
            pieces.append(build.fixed(before + '","stack_trace":"'))
            pieces.append(Piece(DRAWN, build.pool(chosen, zipf_weights(len(chosen), 1))))
            before = ""
        return build.event([*pieces, build.fixed(before + '"}\n')])

    def _traces(self, kind: str) -> list[int]:
        """Fragments of the stack traces that the application's threads of one kind leave."""
        count = self.content["stack_traces"]["per_application"] // len(self.content["threads"])
        return [self.builder.fragment(escaped(self._stack_trace(kind))) for _ in range(count)]

    def _stack_trace(self, kind: str) -> str:
        """One trace, lines separated by newlines, the outermost exception first; the kind of thread decides its end."""
        settings, draws = self.content["stack_traces"], self.draws
        failure = draws.one_of(settings["failures"])
        own = [self._own_frame() for _ in range(draws.between(*settings["own_frames"]))]
        bottom = settings["bottom_frames"][kind]
        lines = [self._headline(failure)]
        lines += [f"\tat {frame}" for frame in [*failure["frames"], *own, *bottom]]
        for _ in range(draws.between(*settings["causes"])):
            cause = draws.one_of(settings["failures"])
            lines.append(f"Caused by: {self._headline(cause)}")
            lines += [f"\tat {frame}" for frame in [*cause["frames"], self._own_frame()]]
            lines.append(f"\t... {len(own) + len(bottom) - 1} common frames omitted")
        return "\n".join(lines)

    def _headline(self, failure: dict[str, Any]) -> str:
        return f"{self.draws.one_of(failure['exceptions'])}: {self.draws.one_of(failure['texts'])}"

    def _own_frame(self) -> str:
        name, method = self.draws.one_of(self.settings["classes"]), self.draws.one_of(self.content["methods"])
        return f"{self.settings['package']}.{name}.{method}({name}.java:{self.draws.between(31, 480)})"
