# SPDX-License-Identifier: GPL-2.0-only
"""The viewer of timelines, speedscope: a package of npm's, fetched once and checked.

It is chosen because it is one megabyte, needs no network and no server, runs from a file, and
reads Chrome's trace events. npm knows where its registry is; nothing here does.
"""

import base64
import re
import shutil
import tarfile
from dataclasses import dataclass

import cache
import paths
import proc
from errors import LabError

PACKAGE, VERSION = "speedscope", "1.25.0"
# SHA-256 of the package as npm delivers it
CHECKSUM = "2831f1e0d26df914b477e522d78b8485511495a6af81a0b88158f8b48f9e0d03"
RELEASE = "package/dist/release/"


@dataclass
class Viewer:
    """What a page needs: one script, one style sheet, and the text that goes with both."""

    script: str
    style: str
    licence: str


def _archive():
    return paths.in_build("dl", f"{PACKAGE}-{VERSION}.tgz")


def find_npm():
    """npm, wherever this machine has it, or None."""
    return shutil.which("npm")


def _fetch(archive):
    npm = find_npm()
    if not npm:
        raise LabError("cannot find the tool 'npm', which fetches the viewer of traces",
                       "install it with 'apt-get install npm'")
    proc.run([npm, "pack", "--silent", f"{PACKAGE}@{VERSION}", "--pack-destination",
              archive.parent], paths.log_file("viewer"), env={"PATH": _path_of(npm)},
             failed=f"npm cannot fetch {PACKAGE} {VERSION}")


def _path_of(npm):
    """npm is a script of node's, which may be beside it and nowhere else."""
    return f"{npm.rpartition('/')[0]}:{proc.SYSTEM_PATH}"


def fetch():
    """The archive, from the build directory, the cache, or the registry."""
    archive = paths.to_write(_archive())
    if archive.exists() and cache.checksum_of(archive) == CHECKSUM:
        return archive
    archive.unlink(missing_ok=True)
    cache.take(CHECKSUM, archive)
    if not archive.exists():
        _fetch(archive)
        found = cache.checksum_of(archive)
        if found != CHECKSUM:
            archive.unlink()
            raise LabError(f"{PACKAGE} {VERSION} is not what it was (SHA-256 {found})",
                           "do not use it; ask where you have got it from")
        cache.put(CHECKSUM, archive)
    return archive


def load():
    """The viewer's parts; the names of its files have a hash in them."""
    with tarfile.open(fetch()) as archive:
        files = {name: archive.extractfile(name).read() for name in archive.getnames()
                 if name == "package/LICENSE" or name.startswith(RELEASE)}

    def only(start, end):
        return next(text for name, text in files.items()
                    if name.startswith(RELEASE + start) and name.endswith(end))

    font = base64.b64encode(only("SourceCodePro-", ".woff2")).decode()
    style = only(f"{PACKAGE}-", ".css").decode().partition("/*# sourceMappingURL")[0]
    return Viewer(only(f"{PACKAGE}-", ".js").decode().partition("//# sourceMappingURL")[0],
                  re.sub(r"url\([^)]*\.woff2\W*\)", f"url(data:font/woff2;base64,{font})", style),
                  "\n".join((files["package/LICENSE"].decode(),
                             only("source-code-pro.LICENSE", "").decode())))
