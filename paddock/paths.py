"""Where things lie: the project's own folders and Rally's, as RALLY_HOME and rally.ini say."""

from __future__ import annotations

import configparser
import os
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
TRACKS = PROJECT / "tracks"
CHALLENGES = PROJECT / "challenges"
CARS = PROJECT / "cars" / "v1"
RECIPES = PROJECT / "corpora"
SCHEMAS = Path(__file__).resolve().parent / "schemas"


def rally_folder() -> Path:
    """Rally's configuration folder: $RALLY_HOME/.rally, or ~/.rally (as esrally/paths.py decides it)."""
    return Path(os.environ.get("RALLY_HOME") or Path.home()).absolute() / ".rally"


def _rally_setting(section: str, key: str, default: Path) -> Path:
    """A folder from the user's rally.ini, or the default that Rally itself would write there."""
    ini = rally_folder() / "rally.ini"
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read(ini, encoding="utf-8")
        value = parser.get(section, key)
    except (configparser.Error, OSError):
        return default
    return Path(os.path.expandvars(value.replace("${CONFIG_DIR}", str(rally_folder())))).expanduser()


def benchmarks_folder() -> Path:
    """Rally's root for races and distributions (rally.ini: node / root.dir)."""
    return _rally_setting("node", "root.dir", rally_folder() / "benchmarks")


def distributions_folder() -> Path:
    """Where Rally looks for an archive before it downloads one."""
    return benchmarks_folder() / "distributions"


def races_folder() -> Path:
    """Where Rally keeps one folder per race: race.json, the node's installation, its logs."""
    return benchmarks_folder() / "races"


def data_folder(corpus_name: str) -> Path:
    """Where Rally looks for the documents of a corpus (rally.ini: benchmarks / local.dataset.cache)."""
    return _rally_setting("benchmarks", "local.dataset.cache", rally_folder() / "benchmarks" / "data") / corpus_name


def rally_log() -> Path:
    """Rally's own log."""
    return rally_folder() / "logs" / "rally.log"


def state_folder() -> Path:
    """Paddock's own records, beside Rally's: race ledgers, samples, downloads."""
    return rally_folder() / "paddock"
