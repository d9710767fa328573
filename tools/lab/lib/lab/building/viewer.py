# SPDX-License-Identifier: GPL-2.0-only
"""The viewer of timelines, speedscope: a package of npm's, fetched once and checked.

It is chosen because it is one megabyte, needs no network and no server, runs from a file, and
reads Chrome's trace events. npm knows where its registry is; nothing here does. A machine that
has no npm gets Debian's. Where the viewer cannot be had a trace is shown without its picture.
"""

import base64
import re
import shutil
import tarfile
from dataclasses import dataclass
from pathlib import Path

from lab.base import cache, host, paths, proc, ui
from lab.base.errors import LabError

PACKAGE, VERSION = "speedscope", "1.25.0"
# SHA-256 of the package as npm delivers it
CHECKSUM = "2831f1e0d26df914b477e522d78b8485511495a6af81a0b88158f8b48f9e0d03"
RELEASE = "package/dist/release/"
# It says what fails and no more, and without a network it does not try for minutes.
QUIET = ["--loglevel=error", "--fetch-retries=0", "--fetch-timeout=60000"]


class Absent(LabError):
    """There is no viewer here, and nothing else is wrong."""


@dataclass
class Viewer:
    """What a page needs: one script, one style sheet, and the text that goes with both."""

    script: str
    style: str
    licence: str


def archive() -> Path:
    """Where the package is kept."""
    return paths.in_build("dl", f"{PACKAGE}-{VERSION}.tgz")


def find_npm() -> str | None:
    """npm, wherever this machine has it, or None."""
    return shutil.which("npm")


def packages() -> list[str]:
    """What must be installed for the viewer to be fetched."""
    return [] if _at_hand() or find_npm() else ["npm"]


def prepare(step: ui.Step) -> None:
    """Have npm where that is needed, and the archive; if it cannot be had the line says why."""
    try:
        if missing := packages():
            host.install_packages(step, missing)
        fetch()
        step.note = f"{PACKAGE} {VERSION}"
    except LabError as error:
        # Who draws tries again, and says it once more.
        step.note = f"none: {error}"


def _fetch(file: Path) -> None:
    npm = find_npm()
    if not npm:
        raise Absent("cannot find the tool 'npm', which fetches the viewer of traces",
                     "install it with 'apt-get install npm'")
    try:
        proc.run([npm, "pack", *QUIET, f"{PACKAGE}@{VERSION}", "--pack-destination",
                  file.parent], paths.log_file("viewer"), env={"PATH": _path_of(npm)},
                 failed=f"npm cannot fetch {PACKAGE} {VERSION}")
    except LabError as error:
        raise Absent(str(error), "", log=error.log) from None


def _path_of(npm: str) -> str:
    """npm is a script of node's, which may be beside it and nowhere else."""
    return f"{npm.rpartition('/')[0]}:{proc.SYSTEM_PATH}"


def _at_hand() -> Path | None:
    """The archive out of the build directory or the cache, or None."""
    file = archive()
    if not file.exists() or cache.checksum_of(file) != CHECKSUM:
        file.unlink(missing_ok=True)
        cache.take(CHECKSUM, file)
    return file if file.exists() else None


def fetch() -> Path:
    """The archive, from the build directory, the cache, or the registry."""
    if file := _at_hand():
        return file
    file = paths.to_write(archive())
    _fetch(file)
    found = cache.checksum_of(file)
    if found != CHECKSUM:
        file.unlink()
        raise LabError(f"{PACKAGE} {VERSION} is not what it was (SHA-256 {found})",
                       "do not use it; ask where you have got it from")
    cache.put(CHECKSUM, file)
    return file


def load() -> Viewer:
    """The viewer's parts; the names of its files have a hash in them."""
    with tarfile.open(fetch()) as package:
        files = {name: file.read() for name in package.getnames()
                 if (name == "package/LICENSE" or name.startswith(RELEASE))
                 and (file := package.extractfile(name))}

    def only(start: str, end: str) -> bytes:
        return next(text for name, text in files.items()
                    if name.startswith(RELEASE + start) and name.endswith(end))

    font = base64.b64encode(only("SourceCodePro-", ".woff2")).decode()
    style = only(f"{PACKAGE}-", ".css").decode().partition("/*# sourceMappingURL")[0]
    return Viewer(only(f"{PACKAGE}-", ".js").decode().partition("//# sourceMappingURL")[0],
                  re.sub(r"url\([^)]*\.woff2\W*\)", f"url(data:font/woff2;base64,{font})", style),
                  "\n".join((files["package/LICENSE"].decode(),
                             only("source-code-pro.LICENSE", "").decode())))
