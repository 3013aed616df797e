"""A certificate authority of the tests' own, and what it signs: certificates that hold, are over, or name others."""

from __future__ import annotations

import datetime
import ipaddress
from collections.abc import Sequence
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

_DAY = datetime.timedelta(days=1)


class Authority:
    """Signs certificates for servers; its own is ``certificate``, a file for ``ca_certs``."""

    def __init__(self, folder: Path, name: str = "Authority of a test"):
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _called(name)
        usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
        self._signed = (
            _certificate(self._name, self._name, self._key, -_DAY, _DAY)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
            .add_extension(usage, True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), False)
            .sign(self._key, hashes.SHA256())
        )
        self.certificate = folder / f"{name.lower().replace(' ', '-')}.pem"
        self.certificate.write_bytes(self._signed.public_bytes(serialization.Encoding.PEM))

    def sign(self, file: str, hosts: Sequence[str] = ("127.0.0.1", "localhost"), days: int = 1) -> tuple[Path, Path]:
        """A server's certificate for those names and addresses, and its key.

        :param days: for how many days it is valid from now on; negative if that has been over for so long.
        """
        key = ec.generate_private_key(ec.SECP256R1())
        names: list[x509.GeneralName] = []
        for host in hosts:
            try:
                names.append(x509.IPAddress(ipaddress.ip_address(host)))
            except ValueError:
                names.append(x509.DNSName(host))
        signed = (
            _certificate(_called(hosts[0]), self._name, key, -10 * _DAY, days * _DAY)
            .add_extension(x509.SubjectAlternativeName(names), False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), True)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), False)
            .sign(self._key, hashes.SHA256())
        )
        certificate, private = self._folder / f"{file}.crt", self._folder / f"{file}.key"
        certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
        private.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return certificate, private


def _called(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])


def _certificate(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    begins: datetime.timedelta,
    ends: datetime.timedelta,
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.timezone.utc)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + begins)
        .not_valid_after(now + ends)
    )
