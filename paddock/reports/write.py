"""A tournament's report in all its forms, on disk."""

from __future__ import annotations

import json
from pathlib import Path

from paddock.errors import FileError
from paddock.files import replacing
from paddock.reports.as_csv import laps_as_csv
from paddock.reports.as_json import result_as_json, result_from_json
from paddock.reports.build import build
from paddock.reports.html import render_html
from paddock.reports.junit import result_as_junit
from paddock.reports.markdown import render_markdown
from paddock.tournaments.model import Result

RESULT_FILE = "result.json"


def write_report(result: Result, folder: Path) -> dict[str, Path]:
    """Write the report; each file is whole or not there. The result itself comes first, so that it outlives a mishap.

    :returns: "json", "csv", "junit", "markdown", "html" -> path.
    """
    paths = {
        "json": folder / RESULT_FILE,
        "csv": folder / "laps.csv",
        "junit": folder / "junit.xml",
        "markdown": folder / "report.md",
        "html": folder / "report.html",
    }
    _write(paths["json"], json.dumps(result_as_json(result), indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    _write(paths["csv"], laps_as_csv(result))
    _write(paths["junit"], result_as_junit(result))
    report = build(result)
    _write(paths["markdown"], render_markdown(report))
    _write(paths["html"], render_html(report))
    return paths


def read_result(path: Path) -> Result:
    """The result in that file.

    :raises FileError: if there is none or it cannot be understood.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as mishap:
        raise FileError(
            path, f"This result cannot be read ({mishap.strerror}); list results to find another."
        ) from None
    try:
        value = json.loads(text)
    except ValueError as mishap:
        raise FileError(path, f"This result is no JSON ({mishap}); run the tournament with --resume.") from None
    return result_from_json(value)


def _write(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
