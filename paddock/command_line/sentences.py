"""What a user writes behind a task becomes values, options listed once; failures become a sentence and an exit code."""

from __future__ import annotations

import copy
import functools
import inspect
import math
import os
import re
import sys
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields
from inspect import Parameter
from typing import Any

import invoke
from invoke import Collection, Exit
from invoke.exceptions import ParseError
from invoke.parser import Parser

from paddock.errors import PaddockError, UsageError, nearest
from paddock.files import full_disk
from paddock.paths import PROJECT, rally_folder
from paddock.plain_values import separated

_TAKES_FILES = ("corpus.import", "queries.import")
# Tasks with a name behind them that may be left out, for which Invoke has no word.
_MAY_NAME = ("studies",)
_HELP = {"--help", "-h"}


class _Option(typing.NamedTuple):
    """One field of a dataclass of options: ``name: Annotated[kind, help, least, most] = default``."""

    name: str
    kind: Any
    help: str
    limits: tuple[Any, ...]
    default: Any

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")

    @property
    def written(self) -> Any:
        """The default as a user would write it: for Invoke everything is a text, or a flag."""
        if isinstance(self.default, bool) or not self.default:
            return self.default if isinstance(self.default, bool) else None
        return ",".join(self.default) if isinstance(self.default, tuple) else str(self.default)

    def value(self, text: Any) -> Any:
        """What the user wrote as a value of the option's kind; nothing is the default."""
        if text is None or text == self.written:
            return self.default
        kinds = {typing.get_origin(kind) or kind for kind in (self.kind, *typing.get_args(self.kind))}
        if int in kinds:
            return whole_number(self.flag, text, *self.limits)
        if float in kinds:
            return positive_number(self.flag, text)
        if Mapping in kinds:
            from paddock.rally.request import parse_pairs

            return parse_pairs(text, self.flag)
        if tuple in kinds:
            if names := tuple(separated(text)):
                return names

            wants = f"{self.flag} wants names with commas between them"
            raise UsageError(f"{wants}, not '{text}': name one, or leave it out.")
        return text


def _options(kind: type) -> Iterator[_Option]:
    """The options in a dataclass; fields without an annotation of their help are not for the command line."""
    hints = typing.get_type_hints(kind, include_extras=True)
    for field in fields(kind):
        if typing.get_origin(hints[field.name]) is typing.Annotated:
            inner, said, *limits = typing.get_args(hints[field.name])
            default = field.default if field.default_factory is MISSING else field.default_factory()
            yield _Option(field.name, inner, said, tuple(limits), default)


def helps(kind: type, **others: str) -> dict[str, str]:
    """What Invoke's ``help`` says of the options in a dataclass, and of a task's other parameters."""
    said = {option.name: option.help for option in _options(kind)} | others
    return {name.replace("_", "-"): text for name, text in said.items()}


def takes(kind: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a task the options in a dataclass: it is called with an object of it as ``options``."""
    listed = tuple(_options(kind))

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            values = {one.name: one.value(kwargs.pop(one.name)) for one in listed if one.name in kwargs}
            return function(*args, options=kind(**values), **kwargs)

        own = [one for one in inspect.signature(function).parameters.values() if one.name != "options"]
        given = [Parameter(one.name, Parameter.POSITIONAL_OR_KEYWORD, default=one.written) for one in listed]
        required = sum(one.default is Parameter.empty for one in own)
        signature = inspect.Signature([*own[:required], *given, *own[required:]])
        run.__signature__ = signature  # type: ignore[attr-defined]
        return run

    return decorated


def check_words(namespace: Collection) -> None:
    """Say what Invoke will not understand of the command line, which it would say in a parser's words.

    :raises Exit: if there is no such task or option, or a task lacks what it needs.
    """
    from invoke.main import program

    core = getattr(program, "core", None)
    if core is None:  # the tasks are read by somebody else
        return
    if core.unparsed[:1] and core.unparsed[0] in _MAY_NAME and not (core.unparsed[1:2] or ["-"])[0].startswith("-"):
        core.unparsed.insert(1, "--name")
    contexts = copy.deepcopy(namespace).to_contexts()  # which take the texts of help out of the tasks
    if core.unparsed[:1] and core.unparsed[0] in _TAKES_FILES:  # the second file may have the name of a task
        contexts = [each for each in contexts if each.name == core.unparsed[0]]
    try:
        Parser(initial=program.initial_context, contexts=contexts).parse_argv(core.unparsed)
    except ParseError as error:
        if error.context is not None and error.context.name and _HELP & set(core.unparsed):
            _show_help(error.context.name)
            raise Exit(None, 0) from None
        raise Exit(_not_understood(error, [str(each.name) for each in contexts]), 2) from None


def _show_help(task: str) -> None:
    from invoke.main import program

    program.run(["invoke", "--search-root", str(PROJECT), "--help", task], exit=False)


def _not_understood(error: ParseError, tasks: list[str]) -> str:
    """A parser's error as a sentence with a remedy."""
    asked, text = error.context, str(error)
    found = re.search(r"No idea what '(.*)' is!|<Argument: ([\w-]+)|arguments: '(\w+)'", text)
    if asked is None or not found:
        return f"{text} './inv --list' shows the tasks."
    word, valueless, lacking = found.groups()
    known = f"'./inv --help {asked.name}' shows what it takes."
    if lacking:
        return f"The task {asked.name} lacks its {lacking.upper()}: {asked.args[lacking].help}. {known}"
    if valueless:
        return f"The option --{valueless.replace('_', '-')} needs a value behind it. {known}"
    names = [name for name in asked.flags if name.startswith("--")] if word.startswith("-") else tasks
    near = nearest(word, names, 1)
    guess = f" Did you mean {near[0]}?" if near else ""
    if word.startswith("-"):
        whose = f"The task {asked.name} has" if asked.name else "There is"
        return f"{whose} no option {word}.{guess} {known if asked.name else './inv --help shows them.'}"
    if not asked.name:
        return f"There is no task '{word}'.{guess} './inv --list' shows them all."
    if asked.name not in _TAKES_FILES:
        return f"The task {asked.name} takes no '{word}'. {known}"
    both = f"There is more than one file ('{asked.args['file'].value}', '{word}')"
    return f"{both}: put a pattern in quotes, or the further files after -- at the end."


# Letters that Invoke picks mean another option in every task.
task = functools.partial(invoke.task, auto_shortflags=False)


def command(function: Callable[..., Any]) -> Callable[..., Any]:
    """End in one sentence and an exit code where something is wrong; with --debug in a traceback."""
    defaults = inspect.signature(function).parameters

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:

        try:
            if _HELP & {value for value in kwargs.values() if isinstance(value, str)}:
                # Invoke takes it for the task's first argument.
                _show_help(function.__name__.replace("_", ".", 1))
                return None
            for name, value in kwargs.items():
                if isinstance(value, str) and not value.strip() and value != defaults[name].default:
                    raise UsageError(
                        f"--{name.replace('_', '-')} is empty, as where a variable of the shell is not set: give it a "
                        f"value, or leave it out."
                    )
            return function(*args, **kwargs)
        except (Exit, SystemExit):
            raise
        except BaseException as error:
            if {"-d", "--debug"} & set(sys.argv) or os.environ.get("PADDOCK_DEBUG"):
                raise
            if isinstance(error, OSError):
                error = full_disk(error, error.filename2 or error.filename or f"A file in {rally_folder()}") or error
            if isinstance(error, PaddockError):
                raise Exit(str(error), error.exit_code) from None
            if isinstance(error, KeyboardInterrupt):
                raise Exit("Stopped.", 130) from None
            sentence = f"Paddock itself failed ({type(error).__name__}: {error}): call again with --debug to see where."
            raise Exit(sentence, 70) from None

    return run


def whole_number(option: str, text: str | None, least: int = 1, most: int | None = None) -> int | None:
    """What the user wrote behind an option that counts something; None if nothing.

    Invoke's own numbers end in a traceback where there is none, and cannot tell 0 from nothing.

    :raises UsageError: if it is no whole number from ``least`` to ``most``.
    """
    span = f"from {least} on" if most is None else f"from {least} to {most}"
    number = _number(option, text, int, f"a whole number {span}", least, math.inf if most is None else most)
    return None if number is None else int(number)


def positive_number(option: str, text: str | None) -> float | None:
    """The same for an amount, such as minutes.

    :raises UsageError: if it is no number above 0.
    """
    return _number(option, text, float, "a number above 0", math.ulp(0.0), sys.float_info.max)


def _number(option: str, text: str | None, kind: type[float], wanted: str, least: float, most: float) -> float | None:
    if text is None:
        return None
    try:
        number = kind(text)
    except ValueError:
        number = math.nan
    if least <= number <= most:
        return number

    raise UsageError(f"{option} wants {wanted}, not '{text}': correct it, or leave it out.")
