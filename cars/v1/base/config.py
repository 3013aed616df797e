"""Rally's hooks for this base configuration: scripts that run, in any folder, and no open node by mistake.

Rally calls ``register`` when it loads the car and the hooks once the node is installed, before it starts.
"""

import ipaddress
from pathlib import Path

from esrally import exceptions


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


def register(handler):
    """Called by Rally when it loads this base configuration."""
    handler.register("post_install", refuse_unprotected_network)
    handler.register("post_install", make_scripts_executable)
    handler.register("post_install", speak_utf8)
