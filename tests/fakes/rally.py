"""Stands in for Rally: prints what Rally prints and writes its race.json, with no Elasticsearch and in no time.

FAKE_RALLY holds JSON:
  result       "success" (default), "error" (says so, no results), "silent" (exit code 0, no results)
  error_rate   of the bulk task, 0 to 1
  message      what it says for "error"
  node_log     text that the node is to have logged
  seconds      how long the bulk task takes
  node         true: also start a process that looks like a node and does not end by itself
  stubborn     true: ignore Ctrl-C, and say so
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def main():
    behaviour = json.loads(os.environ.get("FAKE_RALLY", "{}"))
    options = dict(word[2:].partition("=")[::2] for word in sys.argv[1:] if word.startswith("--"))
    race_id = options["race-id"]
    folder = Path(os.environ["RALLY_HOME"]) / ".rally" / "benchmarks" / "races" / race_id
    install = folder / "rally-node-0" / "install" / "elasticsearch-8.8.2"
    install.mkdir(parents=True)
    race = {"race-id": race_id, "challenge": options["challenge"], "car": options.get("car", "").split(",")}
    (folder / "race.json").write_text(json.dumps(race))
    (folder / "arguments.json").write_text(json.dumps({"arguments": sys.argv[1:], "uid": os.getuid()}))
    if "client-options" in options:
        # Not the contents, of which nothing may be left behind.
        file = Path(options["client-options"])
        seen = {
            "file": str(file),
            "mode": oct(file.stat().st_mode & 0o777),
            "clusters": list(json.loads(file.read_text())),
        }
        (folder / "client-options.json").write_text(json.dumps({**seen, "environment": sorted(os.environ)}))
    if behaviour.get("node"):
        pretend_to_be_a_node(behaviour["python"], install)
    if behaviour.get("stubborn"):
        signal.signal(signal.SIGINT, lambda *_: os.write(1, b"[INFO] Ctrl-C is ignored\n"))
    if "node_log" in behaviour:
        log = folder / "rally-node-0" / "logs" / "server" / "rally-benchmark.log"
        log.parent.mkdir(parents=True)
        log.write_text(behaviour["node_log"])
    print("\n    ____        ____\n   / __ \\____ _/ / /_  __\n")
    print(f"[INFO] Race id is [{race_id}]", flush=True)
    try:
        bulk(behaviour.get("seconds", 0.2))
    except KeyboardInterrupt:
        print("[INFO] Interrupted", flush=True)
        sys.exit(130)
    result = behaviour.get("result", "success")
    if result == "error":
        print(f"[ERROR] Cannot race. {behaviour.get('message', 'Something is wrong')}\n")
        print("Getting further help:\n*********************\n* Check the log files.")
        sys.exit(64)
    if result == "success":
        race["results"] = {"op_metrics": [{"task": "index-append", "error_rate": behaviour.get("error_rate", 0.0)}]}
        (folder / "race.json").write_text(json.dumps(race))
    print("[INFO] SUCCESS (took 1 seconds)", flush=True)


def bulk(seconds):
    steps = 10
    for step in range(steps + 1):
        line = f"Running index-append{' ' * 60}[{10 * step:3d}% done]"
        sys.stdout.write(f"\x1b[{len(line)}D{line}" if step else line)
        sys.stdout.flush()
        time.sleep(seconds / steps)
    print()


def pretend_to_be_a_node(python, install):
    subprocess.Popen(
        ["java", "-c", "import time; time.sleep(600)", f"-Des.path.home={install}"],
        executable=python,
        env={"PATH": os.environ["PATH"]},
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


main()
