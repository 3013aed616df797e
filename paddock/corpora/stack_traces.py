"""Java stack traces put together from an application's classes and the frames of well-known libraries."""

from __future__ import annotations

from typing import Any

from paddock.corpora.integers import Draws


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
