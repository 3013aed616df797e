"""What Rally's own code makes of our cars: the files of a node, and where its archive comes from."""

from __future__ import annotations

import itertools
import os
import re
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from esrally import exceptions
from esrally.mechanic import supplier, team
from esrally.utils import net
from running_node import rally_provisioner

from paddock import paths
from paddock.cars import combine, load_cars
from paddock.engine.versions import embedded_java
from paddock.errors import UsageError

CARS = load_cars()
HEAP_CARS = [car.name for car in CARS.values() if car.kind == "car"]
MIXINS = [car.name for car in CARS.values() if car.kind == "mixin"]
# The grammar of Elasticsearch's jvm.options: an option, for some versions of Java only if numbers stand before it.
JVM_OPTION = re.compile(r"(\d+(-\d*)?:)?-\S.*")


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """The least that Rally takes for a distribution: one whose own configuration it deletes."""
    path = tmp_path / "elasticsearch.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("elasticsearch-8.8.2/config/elasticsearch.yml", "to.be: deleted\n")
        archive.writestr("elasticsearch-8.8.2/bin/elasticsearch", "#!/bin/sh\n")
        archive.writestr("elasticsearch-8.8.2/bin/elasticsearch-env", "#!/bin/bash\n\nset -e -o pipefail\n")
    return path


class Rendered:
    """The configuration that Rally's provisioner has written for a node."""

    def __init__(self, archive: Path, names: list[str], address: str = "127.0.0.1", **parameters: Any):
        root = archive.parent / "-".join([*names, address.replace(":", "_")])
        configuration = rally_provisioner(root, names, parameters, address=address).prepare(
            {"elasticsearch": str(archive)}
        )
        self.home = Path(configuration.binary_path)
        self.data_paths = configuration.data_paths
        self.settings_text = (self.home / "config" / "elasticsearch.yml").read_text()
        self.settings: dict[str, Any] = yaml.safe_load(self.settings_text)
        lines = (self.home / "config" / "jvm.options").read_text().splitlines()
        self.jvm = [line for line in lines if line and not line.startswith("#")]

    def check(self) -> None:
        """No key twice, no template left over, nothing that Elasticsearch's parsers would refuse."""
        keys = [key.value for key, _ in yaml.compose(self.settings_text, Loader=yaml.SafeLoader).value]
        assert len(keys) == len(set(keys))
        assert all(value is not None for value in self.settings.values())
        assert not re.search(r"[{]{2}|[{]%|[{]#", self.settings_text)
        assert all(JVM_OPTION.fullmatch(line) for line in self.jvm)
        heap = [line for line in self.jvm if line.startswith(("-Xms", "-Xmx"))]
        assert len(heap) == 2
        assert heap[0].removeprefix("-Xms") == heap[1].removeprefix("-Xmx")
        assert sum(bool(re.fullmatch(r"-XX:\+Use\w+GC", line)) for line in self.jvm) == 1


def combinations() -> list[list[str]]:
    """Every car with every mixin, and every pair of mixins on one car, as far as they go together."""
    every = [[car] for car in HEAP_CARS]
    every += [[car, mixin] for car in HEAP_CARS for mixin in MIXINS]
    every += [["1gheap", *pair] for pair in itertools.combinations(MIXINS, 2)]
    every.append(
        ["2gheap", "index-buffer-30", "gc-z", "mmap-forbidden", "processors-4", "memory-lock", "data-path-shm"]
    )
    possible = []
    for names in every:
        try:
            combine(names, CARS)
        except UsageError:
            continue
        possible.append(names)
    return possible


def test_every_combination_renders(archive: Path) -> None:
    """All that ``combine`` accepts renders, through Rally, to files with the very settings that it promises."""
    possible = combinations()
    assert len(possible) > 200
    for names in possible:
        rendered = Rendered(archive, names)
        rendered.check()
        promised = combine(names, CARS)
        assert f"-Xmx{promised.variables['heap_size']}" in rendered.jvm
        assert rendered.settings["bootstrap.memory_lock"] is promised.memory_lock
        assert rendered.settings["indices.memory.index_buffer_size"] == promised.variables["index_buffer_size"]
        assert rendered.settings["node.store.allow_mmap"] is (promised.variables["allow_mmap"] == "true")
        counts = [line for line in rendered.jvm if "ActiveProcessorCount" in line]
        assert counts == ([f"-XX:ActiveProcessorCount={promised.processors}"] if promised.processors else [])
        collector = {"g1": "G1", "parallel": "Parallel", "z": "Z"}[promised.garbage_collector]
        assert f"-XX:+Use{collector}GC" in rendered.jvm
        assert [Path(path) for path in rendered.data_paths if promised.data_paths] == list(promised.data_paths)


def test_the_distributions_own_configuration_is_gone(archive: Path) -> None:
    """Nothing of the archive's elasticsearch.yml remains below ours."""
    assert "to.be" not in Rendered(archive, ["defaults"]).settings


def java(folder: Path, *modules: str) -> Path:
    """The folder of a Java with those modules, as far as our hook looks at it."""
    folder.mkdir(parents=True)
    (folder / "release").write_text(f'JAVA_VERSION="21.0.8"\nMODULES="java.base {" ".join(modules)}"\n')
    return folder


def elastics_options(root: Path, version: str, java_home: Path | None, jdk: Path | None = None) -> list[str]:
    """The further JVM options of a node of that version after Rally has provisioned it.

    :param java_home: the Java that Rally has found.
    :param jdk: the one that the archive brings.
    """
    archive = root / f"elasticsearch-{version}.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr(f"elasticsearch-{version}/config/elasticsearch.yml", "")
        file.writestr(f"elasticsearch-{version}/lib/elasticsearch-core-1.2.3.jar", "")
        file.writestr(f"elasticsearch-{version}/lib/elasticsearch-{version}.jar", "")
        if jdk:
            file.write(jdk / "release", f"elasticsearch-{version}/jdk/release")
    provisioner = rally_provisioner(root / version, ["1gheap"], {}, java_home=java_home)
    home = Path(provisioner.prepare({"elasticsearch": str(archive)}).binary_path)
    options = (home / "config" / "jvm.options.d" / "elastic.options").read_text().splitlines()
    assert all(JVM_OPTION.fullmatch(line) for line in options)
    return options


VECTOR = "--add-modules=jdk.incubator.vector"
READ_ADVICE = "-Dorg.apache.lucene.store.defaultReadAdvice=normal"
ARENAS = "-Dorg.apache.lucene.store.MMapDirectory.sharedArenaMaxPermits=1"


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("8.8.2", set()),
        ("8.9.0", {f"20:{VECTOR}"}),
        ("8.10.4", {f"20:{VECTOR}"}),
        ("8.11.0", {f"20-:{VECTOR}"}),
        ("8.12.2", {f"20-:{VECTOR}", "exclude"}),
        ("8.13.0", {f"20-:{VECTOR}"}),
        ("8.16.0", {f"20-:{VECTOR}", "dontinline"}),
        ("8.19.4", {f"20-:{VECTOR}", "dontinline"}),
        ("8.19.5", {f"20-:{VECTOR}", "dontinline", ARENAS}),
        ("9.0.0", {f"20-:{VECTOR}", "dontinline", READ_ADVICE}),
        ("9.0.8", {f"20-:{VECTOR}", "dontinline", READ_ADVICE, ARENAS}),
        ("9.1.0", {f"20-:{VECTOR}", "dontinline", READ_ADVICE}),
        ("9.1.5", {f"20-:{VECTOR}", "dontinline", READ_ADVICE, ARENAS}),
        ("9.2.0-SNAPSHOT", {f"20-:{VECTOR}", "dontinline", READ_ADVICE, ARENAS}),
        ("10.0.0", {f"20-:{VECTOR}", "dontinline", READ_ADVICE, ARENAS}),
    ],
)
def test_each_version_gets_what_elastics_distribution_sets(tmp_path: Path, version: str, expected: set[str]) -> None:
    """As read in the jvm.options of Elastic's distributions; the vector module only where the Java has it."""

    def short(line: str) -> str:
        return next((word for word in ("exclude", "dontinline") if f"={word}," in line), line)

    (tmp_path / "with").mkdir()
    (tmp_path / "without").mkdir()
    full = elastics_options(tmp_path / "with", version, java(tmp_path / "jdk", "jdk.incubator.vector", "jdk.jdi"))
    assert {short(line) for line in full} == expected
    assert len(full) == len(set(full)) == len(expected) + len(expected & {"exclude", "dontinline"})
    # A module whose name only begins like it is another one.
    small = elastics_options(tmp_path / "without", version, java(tmp_path / "jre", "jdk.incubator.vector2"))
    assert small == [line for line in full if VECTOR not in line]


def test_the_jdk_inside_the_archive_counts_where_rally_names_none(tmp_path: Path) -> None:
    """`--runtime-jdk=bundled`: Rally gives no JAVA_HOME, and the node takes the JDK in its own folder."""
    (tmp_path / "bundled").mkdir()
    jdk = java(tmp_path / "jdk", "jdk.incubator.vector")
    assert f"20-:{VECTOR}" in elastics_options(tmp_path / "bundled", "9.2.0", None, jdk)
    (tmp_path / "none").mkdir()
    assert f"20-:{VECTOR}" not in elastics_options(tmp_path / "none", "9.2.0", None)


def test_the_embedded_jre_lacks_the_vector_module(tmp_path: Path) -> None:
    """With the line no node would start on it."""
    assert f"20-:{VECTOR}" not in elastics_options(tmp_path, "9.2.0", embedded_java().home)


def test_an_installation_without_a_version_is_left_alone(archive: Path) -> None:
    """Whatever it is, nothing is guessed about it."""
    assert not (Rendered(archive, ["defaults"]).home / "config" / "jvm.options.d").exists()


def test_scripts_of_a_zip_can_run(archive: Path) -> None:
    """Rally's unpacking loses the permissions; the hook of the base configuration gives them back."""
    assert os.access(Rendered(archive, ["defaults"]).home / "bin" / "elasticsearch", os.X_OK)


def test_scripts_run_in_utf8_only_where_a_folder_needs_it(archive: Path, tmp_path: Path) -> None:
    """A data path or an installation with letters beyond ASCII; everywhere else the locale stays as it is."""
    needed = "#!/bin/bash\nexport LC_ALL=C.UTF-8\n\nset -e -o pipefail\n"
    beyond = tmp_path / "höme" / archive.name
    beyond.parent.mkdir()
    beyond.write_bytes(archive.read_bytes())
    for rendered in (Rendered(beyond, ["defaults"]), Rendered(archive, ["1gheap"], data_paths="/mnt/dätä")):
        assert (rendered.home / "bin" / "elasticsearch-env").read_text().startswith(needed)
    plain = Rendered(archive, ["defaults"]).home / "bin" / "elasticsearch-env"
    assert plain.read_text().startswith("#!/bin/bash\n\nset -e -o pipefail\n")


def test_a_single_node(archive: Path) -> None:
    """It listens where Rally says, elects itself, and keeps its data and logs where Rally looks for them."""
    rendered = Rendered(archive, ["1gheap"])
    settings = rendered.settings
    assert settings["network.host"] == "127.0.0.1"
    assert (settings["http.port"], settings["transport.port"]) == (39200, 39300)
    assert settings["cluster.initial_master_nodes"] == ["rally-node-0"] == [settings["node.name"]]
    assert settings["path.data"] == rendered.data_paths[0] == str(rendered.home / "data")
    assert settings["path.logs"] == str(rendered.home.parents[1] / "logs" / "server")
    assert settings["xpack.security.enabled"] is False
    assert f"-XX:HeapDumpPath={rendered.home.parents[1] / 'heapdump'}" in rendered.jvm


def test_a_data_path_of_ones_own(archive: Path) -> None:
    """Race and node get a folder inside it, so that nothing of a killed race is taken up again."""
    rendered = Rendered(archive, ["1gheap"], data_paths="/mnt/nvme/node")
    assert rendered.settings["path.data"] == "/mnt/nvme/node/a-race-rally-node-0"
    assert rendered.data_paths == ["/mnt/nvme/node"]


def test_parameters_as_rally_parses_them(archive: Path) -> None:
    """Rally hands true and 4 to the templates as Python values; they come out as YAML and JVM options all the same."""
    rendered = Rendered(archive, ["1gheap"], memory_lock=True, allow_mmap=False, processors=4)
    rendered.check()
    assert rendered.settings["bootstrap.memory_lock"] is True
    assert rendered.settings["node.store.allow_mmap"] is False
    assert "-XX:ActiveProcessorCount=4" in rendered.jvm


def install(root: Path, archive: Path, names: list[str], node: str, ips: list[str]) -> dict[str, Any]:
    """The settings of a node that was installed with these --master-nodes and --seed-hosts."""
    provisioner = rally_provisioner(root, ["1gheap"], {})
    installer = provisioner.es_installer
    installer.node_name, installer.all_node_names, installer.all_node_ips = node, names, ips
    configuration = provisioner.prepare({"elasticsearch": str(archive)})
    return yaml.safe_load((Path(configuration.binary_path) / "config" / "elasticsearch.yml").read_text())


def test_three_nodes(tmp_path: Path, archive: Path) -> None:
    """`esrally install` of one node among three: it looks for the others where --seed-hosts says."""
    seeds = ["127.0.0.1:39300", "127.0.0.1:39301", "127.0.0.1:39302"]
    settings = install(tmp_path, archive, ["one", "two", "three"], "two", seeds)
    assert settings["cluster.initial_master_nodes"] == ["one", "two", "three"]
    assert settings["discovery.seed_hosts"] == seeds
    assert settings["node.name"] == "two"


def test_one_master_of_several_nodes(tmp_path: Path, archive: Path) -> None:
    """One name only does not mean one node only: the second one joins, it does not elect itself."""
    settings = install(tmp_path, archive, ["one"], "two", ["127.0.0.1:39300"])
    assert settings["cluster.initial_master_nodes"] == ["one"]
    assert "discovery.type" not in settings


def test_install_without_master_nodes(tmp_path: Path, archive: Path) -> None:
    """Rally then gives one empty name, and the node is its own cluster."""
    settings = install(tmp_path, archive, [""], "alone", [""])
    assert settings["cluster.initial_master_nodes"] == ["alone"]
    assert settings["discovery.seed_hosts"] == []


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_loopback_is_open(archive: Path, address: str) -> None:
    """Without security, a node may listen where nobody else can reach it."""
    assert Rendered(archive, ["1gheap"], address).settings["network.host"] == address


@pytest.mark.parametrize("address", ["10.0.0.1", "0.0.0.0", "192.168.1.5", "::", "search.example.org"])  # noqa: S104
def test_beyond_loopback_is_refused(archive: Path, address: str) -> None:
    """Rally stops with a sentence before such a node starts, unless the user has said that it is intended."""
    with pytest.raises(exceptions.SystemSetupError, match="can be reached from other machines: use a loopback"):
        Rendered(archive, ["1gheap"], address)
    allowed = Rendered(archive, ["2gheap"], address, unprotected_network=True)
    assert allowed.settings["network.host"] == address


def repository(version: str) -> supplier.DistributionRepository:
    """Rally's idea of where a distribution comes from, for our default car."""
    variables = team.load_car(str(paths.PROJECT), ["defaults"]).variables
    return supplier.DistributionRepository(
        "release", variables, supplier.TemplateRenderer(version, os_name="linux", arch="x86_64")
    )


def test_the_name_in_rallys_cache() -> None:
    """It is ours, not the one of Elastic's tarball, and Rally keeps what it has."""
    assert repository("8.8.2").file_name == "paddock-elasticsearch-8.8.2.tar.gz"
    assert repository("8.8.2").cache is True


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, list[str]]]:
    """A web server's address, and the request lines that it has got."""
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.path)
            self.send_response(200)
            self.send_header("Content-Length", "7")
            self.end_headers()
            self.wfile.write(b"tarball")

        def log_message(self, *_arguments: Any) -> None:
            """Say nothing."""

    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setattr(net, "_HTTP", None)
    monkeypatch.setattr(net, "_HTTPS", None)
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", seen
        server.shutdown()
        thread.join()
    for manager in (net._HTTP, net._HTTPS):
        if manager is not None:
            manager.clear()


def test_the_server_never_sees_our_name(tmp_path: Path, server: tuple[str, list[str]]) -> None:
    """Rally's own download of our URL asks for Elastic's path and stores it under our name."""
    address, seen = server
    source = repository("8.15.0")
    source.cfg["jdk.bundled.release_url"] = source.cfg["jdk.bundled.release_url"].replace(
        "https://artifacts.elastic.co", address
    )
    supplied = supplier.ElasticsearchDistributionSupplier(source, "8.15.0", str(tmp_path / "distributions"))
    supplied.fetch()
    elastics = "/downloads/elasticsearch/elasticsearch-8.15.0-linux-x86_64.tar.gz"
    assert [path.split("?")[0] for path in seen] == [elastics]
    assert "paddock" not in seen[0]
    ours = tmp_path / "distributions" / "paddock-elasticsearch-8.15.0.tar.gz"
    assert ours.read_bytes() == b"tarball"

    supplied.fetch()  # now it lies in the cache, as the embedded engine does
    assert len(seen) == 1


def test_rally_says_that_it_holds_no_limits(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever takes such a car without Paddock learns it; who takes the limits out, or has none, is not bothered."""
    said: list[str] = []
    monkeypatch.setattr("esrally.utils.console.warn", lambda text, **_: said.append(text))
    for names in (["1gheap"], ["m1-small", "no-limits"]):
        Rendered(archive, names)
    assert said == []
    Rendered(archive, ["m1-small"])
    (sentence,) = said
    assert re.search(
        r"Rally itself holds none of the limits .*\(limit_cores, limit_memory\): './inv race' does", sentence
    )
