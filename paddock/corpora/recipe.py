"""Recipes: the YAML files in corpora/ that say what the documents of a corpus look like."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paddock.corpora.draws import placeholders, split_at_slots
from paddock.errors import FileError, unknown
from paddock.paths import RECIPES
from paddock.structured_files import read_yaml

_SUCCESSORS = 16  # places in a page's row of links
_TIMES, TEXT = ("time", "date"), "text"  # slots that every recipe of templates has; TEXT is an event's own text


@dataclass(frozen=True)
class Recipe:
    """A recipe that has been checked."""

    name: str
    description: str
    path: Path
    track: str  # the track whose documents these are; unless the file names one, that of the recipe's name
    model: str
    documents: int  # how many a corpus has unless told otherwise
    seed: int
    first_day: datetime.date
    checksum: str  # sha256 of the contents; comments and layout do not count
    content: dict[str, Any] = field(repr=False, hash=False)  # as in the file; its meaning is the model's


def recipe_names() -> list[str]:
    """The names of all recipes, sorted."""
    return sorted(path.stem for path in RECIPES.glob("[!.]*.yml"))


def load_recipe(name: str) -> Recipe:
    """The recipe of that name.

    :raises UsageError, FileError: if there is none, with the nearest names; if the file is wrong.
    """
    if name not in recipe_names():
        raise unknown("recipe", name, recipe_names(), "./inv corpora")
    return read_recipe(RECIPES / f"{name}.yml")


def read_recipe(path: Path) -> Recipe:
    """The recipe in that file; raises FileError if it breaks the schema or names something that it does not define."""
    content = _with_basis(path, [])
    # What a schema cannot say: names that point nowhere, numbers that do not fit together.
    problems = {
        "access-log": _access_log_problems,
        "application-log": _application_log_problems,
        "template-log": _template_log_problems,
    }
    if problem := next(problems[content["model"]](content), None):
        raise FileError(path, problem)
    try:
        first_day = datetime.date.fromisoformat(content["rhythm"]["start"])
    except ValueError:
        raise FileError(path, f"rhythm.start is no day of the calendar: {content['rhythm']['start']}.") from None
    # Not sorted: the order of keys decides in which order tables are filled.
    canonical = json.dumps(content).encode("ascii")
    return Recipe(
        name=path.stem,
        description=content["description"],
        path=path,
        track=content.get("track", path.stem),
        model=content["model"],
        documents=content["documents"],
        seed=content["seed"],
        first_day=first_day,
        checksum=hashlib.sha256(canonical).hexdigest(),
        content=content,
    )


def _with_basis(path: Path, variants: list[Path]) -> dict[str, Any]:
    """The contents of a recipe; what a variant leaves out is that of the recipe it is based on.

    :param variants: those that led here, to notice a circle.
    """
    content: dict[str, Any] = read_yaml(path, "recipe")
    if "based_on" not in content:
        return content
    if "model" in content:
        raise FileError(path, "a variant has the model of the recipe that it is based on: leave out 'model'.")
    basis = path.with_name(f"{content.pop('based_on')}.yml")
    if basis in [*variants, path]:
        raise FileError(path, f"based_on leads in a circle, by way of '{basis.stem}'.")
    if not basis.exists():
        raise FileError(path, f"based_on names '{basis.stem}', but there is no {basis}.")
    of_basis = _with_basis(basis, [*variants, path])
    if of_basis["model"] == "template-log" and "fields" in content:
        raise FileError(path, "'fields' is for variants of other models: a template names its fields under 'document'.")
    changed = sorted(set(content) - {"description", "track", "fields", "documents", "seed", "rhythm"})
    if of_basis["model"] != "template-log" and changed:
        raise FileError(
            path,
            f"a variant of '{basis.stem}' may change its fields, documents, seed and rhythm, but not '{changed[0]}'.",
        )
    return {"track": basis.stem, **of_basis, **content}


def _access_log_problems(content: dict[str, Any]) -> Iterator[str]:
    if sum(content["links"].values()) != _SUCCESSORS:
        yield f"the numbers under 'links' add up to {sum(content['links'].values())}, but must add up to {_SUCCESSORS}."
    groups = {group["name"] for group in content["paths"]}
    for kind in ("page", "asset", "action"):
        if all(group["kind"] != kind for group in content["paths"]):
            yield f"'paths' has no group of the kind '{kind}': a site needs pages, assets and actions."
    pages = {group["name"] for group in content["paths"] if group["kind"] == "page"}
    for visitor in content["visitors"]:
        whose = f"the visitors '{visitor['name']}'"
        allowed, what = (pages, "pages") if visitor["follows_links"] else (groups, "paths")
        for entry in visitor["entries"]:
            if entry not in allowed:
                yield f"{whose} enter at '{entry}', which is no group of {what}."
        if not visitor["clients"]["ipv4"] + visitor["clients"]["ipv6"]:
            yield f"{whose} have no clients: one of 'ipv4' and 'ipv6' must be above 0."
        yield from _lost(
            f"the user agents of {whose}", [agent["pattern"] for agent in visitor["user_agents"]], content["words"]
        )
    for group in content["paths"]:
        if group.get("query", "searches") not in {*content["queries"], "searches"}:
            yield f"the paths '{group['name']}' take the query '{group['query']}', which 'queries' does not define."
        if group["bytes"][0] > group["bytes"][1]:
            yield f"the bytes of the paths '{group['name']}' are no range: the smaller number comes first."
        yield from _lost(f"the paths '{group['name']}'", [group["pattern"]], content["words"])


def _application_log_problems(content: dict[str, Any]) -> Iterator[str]:
    words = {"noun", *content["words"]}
    words |= {word.capitalize() for word in words}
    for name, group in content["messages"].items():
        yield from _lost(f"the messages '{name}'", group["patterns"], words, content["slots"])
    kinds = set(content["threads"])
    for flow in content["flows"]:
        for step in flow["steps"]:
            if step not in content["messages"]:
                yield f"a flow has the step '{step}', which 'messages' does not define."
        if flow["thread"] not in kinds:
            yield f"a flow runs on the thread '{flow['thread']}', which 'threads' does not define."
    for kind in sorted(kinds - {flow["thread"] for flow in content["flows"]}):
        yield f"the threads '{kind}' have no flow."
    for kind in sorted(kinds - set(content["stack_traces"]["bottom_frames"])):
        yield f"stack_traces.bottom_frames has no frames for the threads '{kind}'."


def _template_log_problems(content: dict[str, Any]) -> Iterator[str]:
    words, slots_known, fields = set(content["words"]), set(content["slots"]), content["document"]
    of_actors = [set(group["values"]) for group in content["actors"]]
    for name in sorted(set.union(*of_actors)):
        if name in {*slots_known, *_TIMES, TEXT} or not all(name in values for values in of_actors):
            yield f"the actors' value '{name}' must be one of all groups of actors, and no slot besides."
    for group in content["actors"]:
        for event in group["events"]:
            if event not in content["events"]:
                yield f"the actors '{group['name']}' have the event '{event}', which 'events' does not define."
        yield from _lost(f"the actors '{group['name']}'", group["values"].values(), words | {"address"})
    own = {*slots_known, *_TIMES}.union(*of_actors)
    for name, group in content["events"].items():
        values, whose = group.get("values", {}), f"the event '{name}'"
        yield from _lost(whose, group.get("patterns", []), words | set(values), own)
        yield from _lost(whose, values.values(), words, own)
        yield from _lost(whose, fields.values(), values, own | {TEXT})
    for name, slot in content["slots"].items():
        yield from _lost(f"the slot '{name}'", [slot.get("pattern", "")], words | {"address"})
    if ("size" in content) != ("details" in content):
        yield "'size' and 'details' go together: documents of prescribed size are filled with details."
    details = content.get("details", {"patterns": []})
    yield from _lost("a detail", details["patterns"], words | set(details.get("values", {})), slots_known)
    if "size" in content and f"<{TEXT}>" in " ".join(fields.values()).removesuffix(f"<{TEXT}>"):
        yield f"in a document of prescribed size <{TEXT}> may only stand at the very end."
    names = list(fields)
    needed = [names[0], names[-1]] if "size" in content else names[:1]
    for section in ("absent", "numbers"):
        for name in content.get(section, []):
            if name not in fields:
                yield f"'{section}' has '{name}', which is no field of the document."
            elif section == "absent" and name in needed:
                yield f"'absent' has '{name}', but a document cannot be without {' or '.join(map(repr, needed))}."


def _lost(whose: str, patterns: Iterable[str], words: Container[str], of_slots: Container[str] = ()) -> Iterator[str]:
    """Sentences about the words and slots that patterns need and have not."""
    for pattern in patterns:
        for word in placeholders(pattern):
            if word not in words:
                yield f"the text '{pattern}' of {whose} needs the words '{word}', which 'words' has not."
        for slot in split_at_slots(pattern)[1::2]:
            if slot not in of_slots:
                yield f"the text '{pattern}' of {whose} needs the slot '{slot}', which 'slots' has not."
