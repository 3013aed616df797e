"""The archive formats that Rally can unpack on this Python, and repacking into them."""

from __future__ import annotations

import io
import shutil
import tarfile
import zipfile
from pathlib import Path

from paddock.errors import MachineError

# Rally unpacks tar files with an extraction filter (esrally/utils/io.py), which Python has from 3.10.12 and 3.11.4 on.
# On an older one, Debian 12's own 3.11.2 for example, it can unpack nothing but zip files.
TAR_WORKS = hasattr(tarfile, "data_filter")


def suffix() -> str:
    """The kind of archive for Rally on this Python: ".tar.gz" or ".zip"."""
    return ".tar.gz" if TAR_WORKS else ".zip"


def pack(zipped: Path, archive: Path, kind: str) -> None:
    """Write the contents of Elastic's zip to ``archive``, as that kind of archive.

    :raises MachineError: if the zip is damaged or reaches out of its folder.
    """
    if kind == ".zip":
        # Rally's unpacking loses the permissions; the cars' install hook makes the scripts executable again.
        shutil.copyfile(zipped, archive)
    else:
        repack(zipped, archive)


def repack(zipped: Path, tarball: Path) -> None:
    """Write the contents of ``zipped`` to ``tarball``.

    The launch scripts become executable, which a tar file keeps. Level 1, because the jars are compressed already.

    :raises MachineError: if the zip is damaged or reaches out of its folder.
    """
    try:
        with zipfile.ZipFile(zipped) as source, tarfile.open(tarball, "w:gz", compresslevel=1) as target:
            for entry in source.infolist():
                if entry.filename.startswith("/") or ".." in Path(entry.filename).parts:
                    raise MachineError(f"The archive {zipped} names a file outside itself ({entry.filename}).")
                target.addfile(*_member(source, entry))
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        raise MachineError(f"The archive {zipped} cannot be repacked: {error}.") from None


def _member(source: zipfile.ZipFile, entry: zipfile.ZipInfo) -> tuple[tarfile.TarInfo, io.BytesIO | None]:
    member = tarfile.TarInfo(entry.filename.rstrip("/"))
    if entry.is_dir():
        member.type, member.mode = tarfile.DIRTYPE, 0o755
        return member, None
    content = source.read(entry)
    member.size = len(content)
    member.mode = 0o755 if "bin" in Path(entry.filename).parts[:-1] else 0o644
    return member, io.BytesIO(content)
