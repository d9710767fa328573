# SPDX-License-Identifier: GPL-2.0-only
"""Recordings of perf: what their records tell of the trace and of what is missing."""

import os
import struct
from pathlib import Path

MAGIC = b"PERFILE2"
LOST, SAMPLE, AUX, AUXTRACE = 2, 9, 11, 71
TRUNCATED, PARTIAL = 1, 4


class Summary:
    """Counts of one recording."""

    def __init__(self):
        self.trace_bytes = self.samples = self.snapshots = 0
        # times that the area was full, that the trace has gaps, that records were lost
        self.truncated = self.partial = self.lost = 0

    def missing(self):
        return self.truncated + self.partial + self.lost


def records(path):
    """(type, body, bytes behind it that are no record) of each record."""
    path = Path(path)
    with open(path / "data" if path.is_dir() else path, "rb") as file:
        header = file.read(56)
        if len(header) < 56 or header[:8] != MAGIC:
            raise ValueError("no recording of perf")
        at, size = struct.unpack_from("<QQ", header, 40)
        end = min(at + size, os.fstat(file.fileno()).st_size) if size else 0
        if not end:
            raise ValueError("a recording that was cut off")
        while at + 8 <= end:
            file.seek(at)
            kind, _, length = struct.unpack("<IHH", file.read(8))
            if length < 8:
                raise ValueError("a damaged recording")
            body = file.read(length - 8)
            behind = struct.unpack_from("<Q", body)[0] if kind == AUXTRACE else 0
            yield kind, body, behind
            at += length + behind


def summarize(path):
    found = Summary()
    for kind, body, behind in records(path):
        if kind == AUX:
            flags = struct.unpack_from("<QQQ", body)[2]
            found.truncated += bool(flags & TRUNCATED)
            found.partial += bool(flags & PARTIAL)
        elif kind == LOST:
            found.lost += 1
        elif kind == SAMPLE:
            found.samples += 1
        elif kind == AUXTRACE:
            found.trace_bytes += behind
            found.snapshots += 1
    return found
