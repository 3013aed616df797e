"""./inv race and ./inv doctor."""

from __future__ import annotations

from invoke import Context, Exit

from paddock.command_line.sentences import command, helps, takes, task
from paddock.race import RaceOptions


@task(
    help=helps(RaceOptions, dry_run="print the esrally command line and do nothing", json="print the summary as JSON")
)
@command
@takes(RaceOptions)
def race(_context: Context, options: RaceOptions, dry_run: bool = False, json: bool = False) -> None:
    """Run one race, whatever has to be set up first.

    Examples:
      ./inv race
      ./inv race --track app-logs --challenge ingest-and-search --car 1gheap,index-buffer-30
      ./inv race --params refresh_interval:30s,bulk_size:5000
      ./inv race --target-hosts es1:9200,es2:9200 --client-options cluster.json
      ./inv race --dry-run
    """
    from paddock.console import print_result, say, stdout_has_colours, terminal_width, warn
    from paddock.race.options import prepare
    from paddock.rally.leftovers import racing

    if not dry_run:
        # Nothing is made beside somebody else's race; the race itself takes the lock again.
        with racing() as cleared:
            for sentence in cleared:
                say(sentence)
    prepared = prepare(options, fetch=not dry_run)
    if dry_run:
        from paddock.rally.request import printable

        for note in prepared.notes:
            warn(note)
        print_result(printable(prepared.request))
        return
    from paddock.console import as_json
    from paddock.errors import RaceError
    from paddock.race import run as races

    say(f"Racing {prepared.track.name}, challenge {prepared.request.challenge}, race id {prepared.request.race_id} ...")
    record = races.run(prepared)
    if json:
        print_result(as_json(record.as_json()))
    else:
        print_result(races.render(record, terminal_width(), stdout_has_colours()))
    if record.error_rates:
        failed = ", ".join(f"{task} {100 * rate:.1f} %" for task, rate in record.error_rates.items())
        raise RaceError(f"Requests failed in this race ({failed}), so its figures are void: see rally.log.")


@task(help={"json": "for machines"})
@command
def doctor(_context: Context, json: bool = False) -> None:
    """Say what this machine can run and what to change."""
    from dataclasses import asdict

    from paddock.command_line import doctor as examination
    from paddock.console import as_json, print_result, stdout_has_colours

    findings = examination.examine()
    if json:
        print_result(as_json([asdict(finding) for finding in findings]))
    else:
        print_result(examination.render(findings, stdout_has_colours()))
    if any(finding.state == examination.BAD for finding in findings):
        raise Exit("No race can run here before the lines marked BAD are dealt with.", 3)
