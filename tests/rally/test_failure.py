"""Causes of failures, from outputs and logs as Rally and Elasticsearch write them."""

from __future__ import annotations

from pathlib import Path

from paddock import paths
from paddock.rally.run import explain, node_problem, rally_error

NODE_LOG = """[2026-01-01T00:00:00,000][INFO ][o.e.n.Node] [rally-node-0] version[8.8.2]
[2026-01-01T00:00:01,000][ERROR][o.e.b.Elasticsearch] [rally-node-0] fatal exception while booting Elasticsearch
org.elasticsearch.ElasticsearchException: Failed to bind service
\tat org.elasticsearch.node.Node.<init>(Node.java:1120)
Caused by: java.io.IOException: No space left on device
\tat java.base/sun.nio.ch.FileDispatcherImpl.write0(Native Method)
"""


def test_of_a_traceback_the_last_words_count() -> None:
    """An actor that fails sends Rally its whole traceback; a person gets the exception that ends it."""
    output = """[ERROR] Cannot race. Traceback (most recent call last):
      File "/x/esrally/actor.py", line 96, in guard
        return f(self, msg, sender)
               ^^^^^^^^^^^^^^^^^^^^
    esrally.exceptions.SystemSetupError: Track path /x/tracks/apache does not exist

    Getting further help:
    *********************
    """
    assert rally_error(output) == "esrally.exceptions.SystemSetupError: Track path /x/tracks/apache does not exist"


def test_rallys_error_is_read_with_its_continuation() -> None:
    """The cause may stand in the lines below; the advice on getting help is left out."""
    output = (
        "[INFO] Race id is [x]\n"
        "\x1b[31;1m[ERROR]\x1b[0m Cannot race. Error in race control\n\n"
        "\tUnknown car [2gheep].\n\n"
        "Getting further help:\n*********************\n* Check the log files\n"
    )
    assert rally_error(output) == "Error in race control Unknown car [2gheep]."


def test_output_without_an_error_has_none() -> None:
    """A good race is no failure."""
    assert rally_error("[INFO] SUCCESS (took 61 seconds)\n") is None


def test_the_innermost_cause_of_a_nodes_failure_is_told() -> None:
    """Elasticsearch wraps exceptions; the last "Caused by" is what happened."""
    assert node_problem(NODE_LOG) == "Caused by: java.io.IOException: No space left on device"


def test_a_healthy_nodes_log_has_no_problem() -> None:
    """INFO and WARN lines are no failures."""
    assert node_problem("[2026-01-01T00:00:00,000][WARN ][o.e.x] [n] index deleted\n") is None


def test_without_any_word_the_exit_code_is_told(tmp_path: Path) -> None:
    """Even a silent failure names a file to look into."""
    failure = explain("no-such-race", tmp_path / "output.txt", 137)
    assert failure.cause == "Rally ended with exit code 137 and without results"
    assert failure.log == tmp_path / "output.txt"


def test_rallys_error_comes_first_when_the_node_was_well(tmp_path: Path) -> None:
    """A wrong track is Rally's finding, whatever the node logged earlier."""
    log = paths.races_folder() / "race-7" / "rally-node-0" / "logs" / "server" / "rally-benchmark.log"
    log.parent.mkdir(parents=True)
    log.write_text(NODE_LOG)
    output = tmp_path / "output.txt"
    output.write_text("[ERROR] Cannot race. Could not load track.\n")
    assert explain("race-7", output, 64).cause == "Rally says: Could not load track."
    output.write_text("[ERROR] Cannot race. pid file not available after 60 seconds!\n")
    assert explain("race-7", output, 64).log == log
