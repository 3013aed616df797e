"""Events of application logs: loggers, messages, stack traces.

A flow (a request, a message, a job) belongs to one application; its steps are message templates, each with its
logger, level and source line, so that these always go together. The flow's user, order and request ids stay the
same from its first document to its last. Errors end flows, with one of the application's stack traces.
"""

from __future__ import annotations

from typing import Any

from paddock.corpora.integers import Draws, shares, zipf_weights
from paddock.corpora.patterns import escaped, fill_one, split_at_slots
from paddock.corpora.world import ACTOR, DATE, DRAWN, NOTHING, TIME, Piece, WorldBuilder


def stack_trace(
    settings: dict[str, Any], application: dict[str, Any], methods: list[str], thread_kind: str, draws: Draws
) -> str:
    """One trace, lines separated by newlines, the outermost exception first.

    :param settings: the recipe's section `stack_traces`.
    :param application: the application whose classes appear.
    :param thread_kind: decides where the trace ends.
    """
    failure = draws.one_of(settings["failures"])
    own = [_own_frame(application, methods, draws) for _ in range(draws.between(*settings["own_frames"]))]
    bottom = settings["bottom_frames"][thread_kind]
    lines = [_headline(failure, draws)]
    lines += [f"\tat {frame}" for frame in [*failure["frames"], *own, *bottom]]
    for _ in range(draws.between(*settings["causes"])):
        cause = draws.one_of(settings["failures"])
        lines.append(f"Caused by: {_headline(cause, draws)}")
        lines += [f"\tat {frame}" for frame in [*cause["frames"], _own_frame(application, methods, draws)]]
        lines.append(f"\t... {len(own) + len(bottom) - 1} common frames omitted")
    return "\n".join(lines)


def _headline(failure: dict[str, Any], draws: Draws) -> str:
    return f"{draws.one_of(failure['exceptions'])}: {draws.one_of(failure['texts'])}"


def _own_frame(application: dict[str, Any], methods: list[str], draws: Draws) -> str:
    name = draws.one_of(application["classes"])
    return f"{application['package']}.{name}.{draws.one_of(methods)}({name}.java:{draws.between(31, 480)})"


_THREAD, _PROCESS = 0, 1  # the columns of a thread's attributes
_SUCCESSORS = 8
_TRACES_PER_MESSAGE = 4
_TRIES = 200


class ApplicationLog:
    """Fills a WorldBuilder from a recipe of the model `application-log`."""

    def __init__(self, name: str, content: dict[str, Any], builder: WorldBuilder):
        self._name = name
        self._content = content
        self._builder = builder
        self._slots: dict[str, Piece] = {}
        self._empty = builder.texts([""], [1])

    def fill(self) -> int:
        """Add messages, flows, processes and threads; returns the pool of threads."""
        self._slots = {name: self._slot(name, slot) for name, slot in self._content["slots"].items()}
        actors: list[int] = []
        parts: list[tuple[int, list[int]]] = []
        for application in self._content["applications"]:
            classes = self._add_flows(application)
            self._add_threads(application, classes, actors, parts)
        return self._builder.pool(actors, shares(parts))

    def _slot(self, name: str, slot: dict[str, Any]) -> Piece:
        """The piece for a slot: values drawn per document, or held by the flow."""
        draws = Draws(f"{self._name} slot {name}")
        least = slot.get("least", 1)
        texts = []
        for number in range(least, least + slot["count"]):
            text = slot["pattern"].replace("{number}", str(number))
            texts.append(fill_one(text, {}, draws, largest_number=1))
        # Small counts and durations are the usual ones; an id's number says nothing about how often it comes.
        if slot.get("held"):
            texts = draws.shuffled(texts)
        pool = self._builder.texts(texts, zipf_weights(len(texts), slot["exponent"]))
        return self._builder.held(pool) if slot.get("held") else Piece(DRAWN, pool)

    def _add_flows(self, application: dict[str, Any]) -> dict[str, int]:
        """The flows of an application; returns the class of actors for each kind of thread."""
        draws = Draws(f"{self._name} flows {application['name']}")
        words = self._words(application)
        taken: set[str] = set()
        entries: dict[str, list[int]] = {kind: [] for kind in self._content["threads"]}
        weights: dict[str, list[tuple[int, list[int]]]] = {kind: [] for kind in self._content["threads"]}
        traces = {kind: self._traces(application, kind, draws) for kind in self._content["threads"]}
        for shape in self._content["flows"]:
            kind = shape["thread"]
            weights[kind].append((shape["share"], zipf_weights(shape["count"], self._content["flow_exponent"])))
            for _ in range(shape["count"]):
                steps = [self._message(application, step, words, taken, traces[kind], draws) for step in shape["steps"]]
                entries[kind].append(steps[0])
                self._link(steps)
        return {
            kind: self._builder.actor_class(
                self._builder.pool(entries[kind], shares(weights[kind])), self._empty, linked=True, stay_percent=100
            )
            for kind in entries
        }

    def _link(self, steps: list[int]) -> None:
        """Steps follow one another; now and then one is repeated or left out. The last one is never left out."""
        for position, step in enumerate(steps):
            later = [*steps[position + 1 :], NOTHING]
            row = [later[0]] * _SUCCESSORS
            if 0 < position < len(steps) - 1:
                row[0] = step
            if position < len(steps) - 2:
                row[1] = later[1]
            self._builder.follow(step, row)

    def _words(self, application: dict[str, Any]) -> dict[str, list[str]]:
        """The recipe's words and the application's own, each also with a capital letter for beginnings."""
        words = {**self._content["words"], "noun": application["nouns"]}
        words["partner"] = [partner for partner in words["partner"] if partner != application["name"]]
        return words | {name.capitalize(): [word[0].upper() + word[1:] for word in of] for name, of in words.items()}

    def _message(
        self,
        application: dict[str, Any],
        step: str,
        words: dict[str, list[str]],
        taken: set[str],
        traces: list[int],
        draws: Draws,
    ) -> int:
        """A new message template of the application as an event."""
        group = self._content["messages"][step]
        for _ in range(_TRIES):
            text = fill_one(draws.one_of(group["patterns"]), words, draws, largest_number=1)
            if text not in taken:
                break
        taken.add(text)
        logger = group.get("logger") or f"{application['package']}.{draws.one_of(application['classes'])}"
        name = logger.rpartition(".")[2]
        source = (
            f'"source":{{"class":"{logger}","method":"{draws.one_of(self._content["methods"])}",'
            f'"file":"{name}.java","line":{draws.between(31, 480)}}},"message":"'
        )
        build = self._builder
        pieces = [
            build.fixed('{"@timestamp":"'),
            Piece(TIME),
            build.fixed(f'Z","level":"{group["level"]}","logger":"{logger}","thread":"'),
            Piece(ACTOR, _THREAD),
            Piece(ACTOR, _PROCESS),
            Piece(DATE),
        ]
        parts = split_at_slots(text)
        literals = [escaped(part) for part in parts[::2]]
        literals[0] = '"},' + source + literals[0]
        for literal, slot in zip(literals, parts[1::2], strict=False):
            pieces += [build.fixed(literal), self._slots[slot]]
        if group.get("stack_trace"):
            chosen = draws.shuffled(traces)[:_TRACES_PER_MESSAGE]
            pieces.append(build.fixed(literals[-1] + '","stack_trace":"'))
            pieces.append(Piece(DRAWN, build.pool(chosen, zipf_weights(len(chosen), 1))))
            pieces.append(build.fixed('"}\n'))
        else:
            pieces.append(build.fixed(literals[-1] + '"}\n'))
        return build.event(pieces)

    def _traces(self, application: dict[str, Any], kind: str, draws: Draws) -> list[int]:
        """Fragments of the stack traces that the application's threads of one kind leave."""
        settings = self._content["stack_traces"]
        count = settings["per_application"] // len(self._content["threads"])
        return [
            self._builder.fragment(escaped(stack_trace(settings, application, self._content["methods"], kind, draws)))
            for _ in range(count)
        ]

    def _add_threads(
        self,
        application: dict[str, Any],
        classes: dict[str, int],
        actors: list[int],
        parts: list[tuple[int, list[int]]],
    ) -> None:
        """The processes of an application and their threads."""
        draws = Draws(f"{self._name} threads {application['name']}")
        name = application["name"]
        environments = self._content["environments"]
        of_instance = draws.apportioned(list(environments.values()), application["instances"])
        for instance, environment in enumerate(sorted(of_instance), start=1):
            environment_name = list(environments)[environment]
            process = self._builder.fragment(
                f'","host":"{name}-{environment_name}-{instance:02d}","pid":{draws.between(300, 32767)},'
                f'"application":"{name}","tags":{{"application":"{name}","environment":"{environment_name}","run_date":"'
            )
            for kind, thread in self._content["threads"].items():
                threads = [thread["pattern"].replace("{number}", str(n)) for n in range(1, thread["count"] + 1)]
                actors += [
                    self._builder.actor(classes[kind], [self._builder.fragment(text), process]) for text in threads
                ]
                share = application["share"] * thread["share"] * list(environments.values())[environment]
                parts.append((share, zipf_weights(len(threads), thread["exponent"])))
