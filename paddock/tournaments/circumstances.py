"""Under which circumstances a tournament was held: its machine, its software, the settings that were in force."""

from __future__ import annotations

from paddock.tournaments.journal import History

SETTINGS = "index settings in force"


def recorded_circumstances(history: History) -> dict[str, str]:
    """Everything that the journal says of them, name -> text; where starts differ, all of it."""
    found: dict[str, list[str]] = {}
    for attempt in history.attempts:
        for name, text in attempt.circumstances.items():
            if text not in found.setdefault(name, []):
                found[name].append(text)
    machine = {name: str(text) for name, text in history.header.get("circumstances", {}).items()}
    return {name: "; ".join(texts) for name, texts in found.items()} | machine | settings_in_force(history)


def settings_by_contender(history: History) -> dict[str, dict[str, str]]:
    """Index settings of each contender as the node itself told them, by full names."""
    return {
        record["level"]: record["settings"]
        for attempt in history.attempts
        for record in attempt.laps
        if record.get("settings")
    }


def settings_in_force(history: History) -> dict[str, str]:
    """The same as texts: those of all contenders together, then what each has of its own."""
    known = settings_by_contender(history)
    if not known:
        return {}
    each = [set(settings.items()) for settings in known.values()]
    common = set.intersection(*each)
    own = {name: set(settings.items()) - common for name, settings in sorted(known.items())}
    texts = {SETTINGS: _text(common)} | {f"{SETTINGS}, {name}": _text(settings) for name, settings in own.items()}
    return {name: text for name, text in texts.items() if text}


def _text(settings: set[tuple[str, str]]) -> str:
    return ", ".join(f"{name}: {value}" for name, value in sorted(settings))
