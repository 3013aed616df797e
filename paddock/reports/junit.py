"""A result as JUnit XML, so that a pipeline shows verdicts where it shows tests."""

from __future__ import annotations

import re
from xml.etree import ElementTree as Tree

from paddock.reports import figures, numbers, sentences
from paddock.tournaments.model import SLOWER, UNDECIDED, Result, Verdict

# What XML 1.0 cannot hold, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def result_as_junit(result: Result) -> str:
    """One test case per verdict of the main metric, and one per void start.

    Worse than the baseline, by more than the margin: failure. Undecided: skipped. A void start: error.
    """
    suite = Tree.Element("testsuite", name=_text(f"tournament {result.tournament.name}"))
    suite.set("timestamp", numbers.moment(result.began)[:16].replace(" ", "T") + ":00")
    properties = Tree.SubElement(suite, "properties")
    for name, text in (("result", result.id), ("seed", result.seed), *result.circumstances.items()):
        Tree.SubElement(properties, "property", name=_text(str(name)), value=_text(str(text)))
    counts = {"failure": 0, "skipped": 0, "error": 0}
    for verdict in result.main.verdicts:
        case = _case(suite, result, f"{verdict.contender} against {result.tournament.baseline}")
        kind = _kind(result, verdict)
        sentence = _text(sentences.of_verdict(result.main, verdict, result.tournament.baseline))
        if kind:
            counts[kind] += 1
            Tree.SubElement(case, kind, message=sentence)
        else:
            Tree.SubElement(case, "system-out").text = sentence
    given_up = {start.number: start.reason for start in result.void_starts}
    for start, reason in sorted({**figures.void_starts(result), **given_up}.items()):
        counts["error"] += 1
        Tree.SubElement(
            _case(suite, result, f"start {start}"), "error", message=_text(f"Start {start} is void: {reason}")
        )
    suite.set("tests", str(sum(1 for _ in suite.iter("testcase"))))
    suite.set("failures", str(counts["failure"]))
    suite.set("errors", str(counts["error"]))
    suite.set("skipped", str(counts["skipped"]))
    suite.set("time", f"{result.seconds:.3f}")
    root = Tree.Element("testsuites")
    root.append(suite)
    Tree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Tree.tostring(root, encoding="unicode") + "\n"


def _case(suite: Tree.Element, result: Result, name: str) -> Tree.Element:
    return Tree.SubElement(suite, "testcase", classname=_text(f"tournament.{result.tournament.name}"), name=_text(name))


def _kind(result: Result, verdict: Verdict) -> str | None:
    if verdict.verdict == UNDECIDED:
        return "skipped"
    beyond = sentences.beyond_margin(result.main.metric, verdict, result.tournament.margin)
    return "failure" if verdict.verdict == SLOWER and beyond else None


def _text(text: str) -> str:
    return _FORBIDDEN.sub("?", text)
