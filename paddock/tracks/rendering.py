"""Rendering a track exactly as Rally does, and finding the place of a mistake in it.

Rally renders all parts of a track as one text and names lines of that text only. Here, when that text is no JSON, it is
rendered once more with invisible marks that say which line of which file each piece of it comes from.
"""

from __future__ import annotations

import functools
import hashlib
import io
import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from paddock.errors import FileError, UsageError
from paddock.files import files_below

# Control characters cannot occur in JSON, so a mark is never mistaken for contents.
_MARK = re.compile("\x01([0-9]+):([0-9]+)\x02")
_COLLECTED = re.compile(r'rally\.collect\(parts="([^"]+)"\)')


def render_specification(folder: Path, params: Mapping[str, Any]) -> tuple[dict[str, Any], set[str]]:
    """The rendered ``track.json`` of a track's folder, checked against Rally's own schema.

    Rally takes up to half a second for it; what has been rendered with the same values from the same files is kept.

    :returns: the specification, and the names of the parameters that Rally finds in the track's templates.
    :raises FileError: if a file is wrong: a template that cannot be rendered, no JSON, not what Rally's schema allows.
    :raises UsageError: if a parameter is used nowhere in the track, which Rally refuses too.
    """
    text, names = _rendered(folder, json.dumps(params), _contents(folder))
    return json.loads(text), set(names)


def index_mappings(folder: Path) -> dict[str, Any]:
    """The mapping of the index of a track's folder, with every parameter left at its default."""
    from esrally.track import loader

    text = _checked_text(folder / "index.json", {}, loader.CompleteTrackParams())
    mappings: dict[str, Any] = json.loads(text)["mappings"]
    return mappings


def challenges_naming(folder: Path, parameters: Iterable[str]) -> dict[str, set[str]]:
    """The challenges whose templates name each parameter; all of them if that is what they share, such as the index.

    :returns: parameter -> names of challenges, which are those of their files.
    """
    files = sorted((folder.parent.parent / "challenges").glob("*.json"))
    shared = [
        *folder.glob("*.json"),
        *(folder / "operations").glob("*.json"),
        *(folder.parent / "shared").glob("*.json"),
    ]
    everywhere = "".join(file.read_text(encoding="utf-8") for file in shared)
    texts = {file.stem: everywhere + _with_parts(file) for file in files}
    return {
        name: {challenge for challenge, text in texts.items() if re.search(rf"\b{re.escape(name)}\b", text)}
        for name in parameters
    }


def _with_parts(file: Path) -> str:
    """A template and, behind it, those that it collects."""
    text = file.read_text(encoding="utf-8")
    collected = [one for pattern in _COLLECTED.findall(text) for one in sorted(file.parent.glob(pattern))]
    return "".join([text, *(_with_parts(one) for one in collected)])


def _contents(folder: Path) -> str:
    """A checksum of every file that a track may consist of: its own, and what the tracks share."""
    digest = hashlib.blake2b()
    for file in (*files_below(folder.parent, ".json"), *files_below(folder.parent.parent / "challenges", ".json")):
        digest.update(f"{file}\0".encode() + file.read_bytes())
    return digest.hexdigest()


@functools.lru_cache(maxsize=64)
def _rendered(folder: Path, params_text: str, _contents: str) -> tuple[str, frozenset[str]]:
    """The specification as JSON, so that nobody changes another's, and the names of its parameters."""
    from esrally.track import loader

    params = json.loads(params_text)
    names = loader.CompleteTrackParams(user_specified_track_params=dict(params))
    text = _checked_text(folder / "track.json", params, names)
    specification: dict[str, Any] = json.loads(text)
    _check_schema(folder / "track.json", specification)
    bodies = [index["body"] for index in specification.get("indices", []) if "body" in index]
    for body in (*bodies, *(template["template"] for template in specification.get("composable-templates", []))):
        if not (folder / body).is_file():
            raise FileError(folder / body, "track.json names this file, but it does not exist.")
        _checked_text(folder / body, params, names)
    unused = sorted(names.unused_user_defined_track_params())
    if unused:
        raise UsageError(f"The track '{folder.name}' does not use the parameter {', '.join(unused)}: leave it out.")
    return text, frozenset(names.track_defined_params)


def _checked_text(path: Path, params: Mapping[str, Any], names: Any) -> str:
    """The JSON that Rally makes of a template; ``names`` takes in the parameters in it.

    :raises FileError: if it cannot be rendered, or is no JSON then; with the place.
    """
    import jinja2
    from esrally.track import loader

    try:
        text: str = loader.render_template_from_file(str(path), dict(params), complete_track_params=names)
        json.loads(text)
    except (jinja2.TemplateError, json.JSONDecodeError, loader.TrackSyntaxError, TypeError, AttributeError) as error:
        raise _located(path, params, error) from error
    return text


def build_track(
    folder: Path, params: Mapping[str, Any], specification: dict[str, Any], challenge: str | None, test_mode: bool
) -> Any:
    """Rally's own Track object for one challenge, with every parameter source made once, as before a race.

    :raises FileError: if Rally refuses the track or one of the parameter sources refuses its parameters.
    """
    import esrally.config
    import esrally.exceptions
    from esrally.track import loader
    from esrally.utils import modules

    path = folder / "track.json"
    names = loader.CompleteTrackParams(user_specified_track_params=dict(params))
    reader = loader.TrackSpecificationReader(dict(params), names, challenge)
    try:
        # A copy: Rally completes operations in place.
        track = reader(folder.name, json.loads(json.dumps(specification)), str(folder), str(path))
        configuration = esrally.config.Config()
        configuration.add(esrally.config.Scope.application, "track", "test.mode.enabled", test_mode)
        loader.TestModeTrackProcessor(configuration).on_after_load_track(track)
        plugins = modules.ComponentLoader(root_path=str(folder), component_entry_point="track")
        for module in plugins.load() if plugins.can_load() else ():
            module.register(_ParameterSourcesOnly())
        for task in track.selected_challenge_or_default.schedule:
            for leaf in task:
                loader.operation_parameters(track, leaf)
                _ = (leaf.target_throughput, leaf.ignore_response_error_level)  # properties that check their texts
    except (esrally.exceptions.RallyError, TypeError, ValueError, KeyError, AttributeError) as error:
        # Rally wraps what goes wrong in track.py in a sentence without its cause.
        cause = f" ({_one_line(error.__context__)})" if isinstance(error.__context__, Exception) else ""
        if (problem := getattr(error, "problem", None)) is not None:
            # A mistake in a file that a parameter names (shared.query_log.BadQueryLog), which says where it is.
            raise FileError(getattr(error, "path", path), problem, getattr(error, "line", None)) from error
        raise FileError(path, f"Rally refuses this track: {_one_line(error)}{cause}") from error
    return track


class _ParameterSourcesOnly:
    """Stands in for Rally's plugin registry where nothing is going to be run."""

    def register_param_source(self, name: str, source: Any) -> None:
        from esrally.track import params

        params.register_param_source_for_name(name, source)

    def register_runner(self, *_: Any, **__: Any) -> None:
        """Neither runners nor schedules nor what prepares a corpus are needed to check a track."""

    register_scheduler = register_track_processor = register_runner


def _check_schema(path: Path, specification: Any) -> None:
    import esrally
    import jsonschema

    schema = json.loads((Path(esrally.__file__).parent / "resources" / "track-schema.json").read_text(encoding="utf-8"))
    try:
        jsonschema.validate(specification, schema)
    except jsonschema.exceptions.ValidationError as error:
        place = ".".join(map(str, error.absolute_path)) or "the top"
        raise FileError(path, f"Rally's schema for tracks does not allow this, at {place}: {error.message}.") from None


def _located(path: Path, params: Mapping[str, Any], error: Exception) -> FileError:
    """The error again, with the file and the line that it comes from as exactly as they can be known."""
    import jinja2
    from esrally.track import loader

    sources: list[Path] = []
    try:
        marked = loader.render_template(
            template_source=_assembled_with_marks(path, sources),
            template_vars=dict(params),
            template_internal_vars=loader.default_internal_template_vars(),
            loader=jinja2.FileSystemLoader(str(path.parent)),
        )
    except FileError as found:
        return found
    except (jinja2.TemplateError, TypeError, AttributeError) as problem:
        return FileError(path, f"this template cannot be rendered: {_one_line(problem)}")
    text, origins = _without_marks(marked)
    try:
        json.loads(text)
    except json.JSONDecodeError as problem:
        place = bisect_right([offset for offset, _, _ in origins], problem.pos) - 1
        _, source, line = origins[max(place, 0)]
        return FileError(sources[source], f"rendered, this is not valid JSON: {problem.msg}.", line)
    return FileError(path, f"this template cannot be rendered: {_one_line(error)}")


def _assembled_with_marks(path: Path, sources: list[Path]) -> str:
    """The template and all that it collects, marked; ``sources`` gets the files in the order of their numbers."""
    from esrally.track import loader

    def marked(name: str, *_: Any, **__: Any) -> io.StringIO:
        """Opens a collected part, as Rally's FileSource does, and marks it."""
        return io.StringIO(_with_marks(Path(name), sources))

    source = loader.TemplateSource(str(path.parent), path.name, source=marked)
    source.load_template_from_string(_with_marks(path, sources))
    assembled: str = source.assembled_source
    return assembled


def _with_marks(path: Path, sources: list[Path]) -> str:
    """The text of a template in which every line outside Jinja's tags begins with a mark."""
    import jinja2

    environment = jinja2.Environment()  # noqa: S701 - renders JSON, never HTML
    path = path.resolve()
    text = path.read_text(encoding="utf-8")
    try:
        environment.parse(text)
    except jinja2.TemplateSyntaxError as error:
        raise FileError(path, f"this is not a valid Jinja template: {error.message}.", error.lineno) from None
    number = len(sources)
    sources.append(path)
    pieces = []
    for line, kind, value in environment.lex(text):
        if kind == "data":
            marked = (f"\x01{number}:{at}\x02{piece}" for at, piece in enumerate(str(value).split("\n"), start=line))
            pieces.append("\n".join(marked))
        else:
            pieces.append(str(value))
    return "".join(pieces)


def _without_marks(marked: str) -> tuple[str, list[tuple[int, int, int]]]:
    """The text alone, and for every mark its offset in it, the number of the file and the line."""
    pieces, origins, length, end = [], [], 0, 0
    for mark in _MARK.finditer(marked):
        pieces.append(marked[end : mark.start()])
        length += len(pieces[-1])
        origins.append((length, int(mark[1]), int(mark[2])))
        end = mark.end()
    pieces.append(marked[end:])
    return "".join(pieces), origins or [(0, 0, 1)]


def _one_line(error: Exception) -> str:
    return " ".join(str(getattr(error, "message", None) or error).split())
