"""What a race came to: figures from Rally's race.json and from the samples taken beside it, as text and as JSON."""

from paddock.summary.model import BulkTask, Expectation, Missing, RequestTask, ServiceTimes, Summary, summary_as_json
from paddock.summary.render import render_summary
from paddock.summary.summarise import summarise

__all__ = [
    "BulkTask",
    "Expectation",
    "Missing",
    "RequestTask",
    "ServiceTimes",
    "Summary",
    "render_summary",
    "summarise",
    "summary_as_json",
]
