"""./inv race and ./inv doctor."""

from __future__ import annotations

from invoke import Context, Exit, task

from paddock.command_line.sentences import LARGEST_PORT, command, whole_number


@task(
    help={
        "track": "what is indexed (./inv tracks); apache, or the track of the corpus that --corpus names",
        "challenge": "what is done with it (./inv challenges); the track's default is ingest",
        "car": "the node's configuration, a heap car and mixins: 1gheap,index-buffer-30 (./inv cars)",
        "params": "track parameters, name:value,... or JSON or a .json file (./inv track NAME)",
        "car-params": "car variables, written like --params",
        "version": "the Elasticsearch version (8.8.2)",
        "engine": "embedded, official (Rally downloads Elastic's tarball) or the path of a .tar.gz",
        "java": "a Java's folder, a release such as 17, or embedded; otherwise JAVA_HOME where it fits",
        "target-hosts": "race against this cluster (host:port,...) instead of starting a node",
        "client-options": "a .json file with Rally's client options (TLS, passwords) for --target-hosts",
        "corpus": "a recipe of the track or an imported corpus (./inv corpora); the track's own by default",
        "documents": "how many documents the corpus has (1,000,000)",
        "seed": "the corpus's seed",
        "test-mode": "1,000 documents, to see that everything works",
        "port": "HTTP port of the node that is started (39200)",
        "data-path": "put the node's data into a folder of its own in this one, to compare disks",
        "on-error": "abort, continue or continue-on-network",
        "user-tags": "name:value,... kept with the result",
        "race-id": "Rally's race id",
        "rally-args": "further arguments for esrally",
        "dry-run": "print the esrally command line and do nothing",
        "json": "print the summary as JSON",
    }
)
@command
def race(
    _context: Context,
    track: str | None = None,
    challenge: str | None = None,
    car: str = "1gheap",
    params: str | None = None,
    car_params: str | None = None,
    version: str | None = None,
    engine: str | None = None,
    java: str | None = None,
    target_hosts: str | None = None,
    client_options: str | None = None,
    corpus: str | None = None,
    documents: str | None = None,
    seed: str | None = None,
    test_mode: bool = False,
    port: str = "39200",
    data_path: str | None = None,
    on_error: str = "abort",
    user_tags: str | None = None,
    race_id: str | None = None,
    rally_args: str | None = None,
    dry_run: bool = False,
    json: bool = False,
) -> None:
    """Run one race, whatever has to be set up first.

    Examples:
      ./inv race
      ./inv race --track app-logs --challenge ingest-and-search --car 1gheap,index-buffer-30
      ./inv race --params refresh_interval:30s,bulk_size:5000
      ./inv race --target-hosts es1:9200,es2:9200 --client-options cluster.json
      ./inv race --dry-run
    """
    from paddock.console import print_result, say, stdout_has_colours, terminal_width, warn
    from paddock.race.options import RaceOptions, prepare
    from paddock.rally.leftovers import racing

    options = RaceOptions(
        track=track,
        challenge=challenge,
        car=car,
        params=params,
        car_params=car_params,
        version=version,
        engine=engine,
        java=java,
        target_hosts=target_hosts,
        client_options=client_options,
        corpus=corpus,
        documents=whole_number("--documents", documents),
        seed=whole_number("--seed", seed, least=0),
        test_mode=test_mode,
        port=whole_number("--port", port, most=LARGEST_PORT) or 0,
        data_path=data_path,
        on_error=on_error,
        user_tags=user_tags,
        race_id=race_id,
        rally_args=rally_args,
    )
    if not dry_run:
        # Nothing is made beside somebody else's race; the race itself takes the lock again.
        with racing() as cleared:
            for sentence in cleared:
                say(sentence)
    prepared = prepare(options, fetch=not dry_run)
    if dry_run:
        from paddock.rally.command import printable

        for note in prepared.notes:
            warn(note)
        print_result(printable(prepared.request))
        return
    from paddock.console import as_json
    from paddock.errors import RaceError
    from paddock.race import run as races

    say(f"Racing {prepared.track.name}, challenge {prepared.request.challenge}, race id {prepared.request.race_id} ...")
    finished = races.run(prepared)
    if json:
        print_result(as_json(races.as_json_object(finished)))
    else:
        print_result(races.render(finished, terminal_width(), stdout_has_colours()))
    if finished.outcome.error_rates:
        failed = ", ".join(f"{task} {100 * rate:.1f} %" for task, rate in finished.outcome.error_rates.items())
        raise RaceError(f"Requests failed in this race ({failed}), so its figures are void: see rally.log.")


@task(help={"json": "for machines"})
@command
def doctor(_context: Context, json: bool = False) -> None:
    """Say what this machine can run and what to change."""
    from dataclasses import asdict

    from paddock import doctor as examination
    from paddock.console import as_json, print_result, stdout_has_colours

    findings = examination.examine()
    if json:
        print_result(as_json([asdict(finding) for finding in findings]))
    else:
        print_result(examination.render(findings, stdout_has_colours()))
    if any(finding.state == examination.BAD for finding in findings):
        raise Exit("No race can run here before the lines marked BAD are dealt with.", 3)
