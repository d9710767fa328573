# SPDX-License-Identifier: GPL-2.0-only
"""A recording that was made elsewhere: whether it can be decoded here, and if not, why."""

import platform
import struct
from pathlib import Path
from typing import IO

from lab.base import paths, proc
from lab.tracing import perfdata, perffile
from lab.base.errors import LabError

# After what perffile.FILE_HEADER has: the old place of event types, and a bit for each feature
FEATURES_AT, FEATURE_BITS = 72, 256
VERSION, ARCH = 5, 6
SECTION = struct.Struct("<QQ")
TEXT = struct.Struct("<I")
INTEL_PT = 1
OTHER_ORDER = perffile.MAGIC[::-1]


def find(name: str) -> tuple[Path, Path | None]:
    """(recording, directory of build IDs or None) of what --out has kept, or of a perf.data file."""
    path = Path(name).resolve()
    if (path / "perf.data").exists():
        path = path / "perf.data"
    elif not path.exists() or (path.is_dir() and not (path / "data").exists()):
        raise LabError(f"there is no recording {name}",
                       "name a perf.data, or a directory that --out has filled")
    buildids = path.parent / "buildid"
    check(path)
    return path, buildids if buildids.is_dir() else None


def check(path: Path) -> None:
    """Refuse what perf here cannot decode, in one line."""
    file = perffile.file_of(path)
    try:
        with open(file, "rb") as data:
            check_whole(path, data)
            texts = features(data)
    except OSError as error:
        raise LabError(f"cannot read {file} ({error.strerror})", "copy it again") from None
    except (struct.error, ValueError):
        raise LabError(f"the recording {path} is cut off or damaged", "copy it again") from None
    if texts.get(ARCH, platform.machine()) != platform.machine():
        raise LabError(f"{path} was recorded on {texts[ARCH]}", "decode it on such a machine")
    if not has_intel_pt(path):
        raise LabError(f"{path} has no trace of Intel PT", "record with -e intel_pt//")
    log = paths.log_file("evlist")
    try:
        proc.run([paths.perf(), "evlist", "-f", "-i", path], log, failed="perf evlist failed")
    except LabError:
        raise LabError(f"perf does not open {path}, which is of perf {texts.get(VERSION, '')}",
                       f"decode it with that one, if it is newer; see {log}") from None


def check_whole(path: Path, data: IO[bytes]) -> None:
    magic = data.read(len(perffile.MAGIC))
    if magic == OTHER_ORDER:
        raise LabError(f"{path} is of a machine of another byte order", "decode it on such a machine")
    if magic != perffile.MAGIC:
        raise LabError(f"{path} is no recording of perf", "name a perf.data")
    position, size = perffile.header(data)[4:]
    if not size:
        raise LabError(f"perf record did not end, so {path} is not whole", "record again")
    data.seek(0, 2)
    if data.tell() < position + size:
        raise LabError(f"{path} is cut off", "copy it again")


def features(data: IO[bytes]) -> dict[int, str]:
    """{feature: text} of those that are texts."""
    end = sum(perffile.header(data)[4:])
    data.seek(FEATURES_AT)
    bits = int.from_bytes(data.read(FEATURE_BITS // 8), "little")
    found = {}
    for number, feature in enumerate(n for n in range(FEATURE_BITS) if bits >> n & 1):
        data.seek(end + number * SECTION.size)
        at, _ = SECTION.unpack(data.read(SECTION.size))
        if feature in (VERSION, ARCH):
            data.seek(at)
            length, = TEXT.unpack(data.read(TEXT.size))
            found[feature] = data.read(length).rstrip(b"\0").decode()
    return found


def has_intel_pt(path: Path) -> bool:
    return any(kind == perffile.RECORD_AUXTRACE_INFO and TEXT.unpack_from(body)[0] == INTEL_PT
               for kind, body in perfdata.records(path))


def noted(path: Path, what: str) -> str:
    """What perf calltrace has noted of it beside the recording; an empty text if nothing."""
    about = path.parent / "about"
    lines = about.read_text(errors="replace").splitlines() if about.is_file() else []
    start = f"{what}: "
    return next((line.removeprefix(start) for line in lines if line.startswith(start)), "")


def status_of(path: Path) -> int | None:
    """The exit status of the command; None if it is not known."""
    status = noted(path, "status")
    return int(status) if status.isdecimal() else None


def command_of(path: Path) -> str:
    """The command, or the name of the recording."""
    return noted(path, "command") or str(path)
