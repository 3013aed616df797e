"""Repacks Elastic's zip as the .tar.gz that Rally expects, with the launch scripts executable."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

from paddock.errors import MachineError


def repack(zipped: Path, tarball: Path) -> None:
    """Write the contents of ``zipped`` to ``tarball``.

    Rally unpacks zip files without their permissions, so bin/elasticsearch would not run: a tar file keeps
    them. Level 1, because the jars inside are compressed already.

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
