# SPDX-License-Identifier: GPL-2.0-only
"""Recordings of perf: what their records tell of the trace and of what is missing."""

import perffile
from perffile import AUX_PARTIAL, AUX_TRUNCATED


class Summary:
    """Counts of one recording."""

    def __init__(self):
        self.trace_bytes = self.samples = self.snapshots = 0
        # times that the area was full, that the trace has gaps, that records were lost
        self.truncated = self.partial = self.lost = 0

    def missing(self):
        return self.truncated + self.partial + self.lost


def summarize(path):
    found = Summary()
    with open(str(perffile.file_of(path)), "rb") as data:
        for kind, _, body in perffile.records(data):
            account(found, kind, body)
        # perf writes the size of its data last.
        if not perffile.header(data)[5]:
            raise ValueError("a recording that was cut off")
    return found


def account(found, kind, body):
    if kind == perffile.RECORD_AUX:
        flags = perffile.AUX_BODY.unpack_from(body)[2]
        found.truncated += bool(flags & AUX_TRUNCATED)
        found.partial += bool(flags & AUX_PARTIAL)
    elif kind == perffile.RECORD_LOST:
        found.lost += 1
    elif kind == perffile.RECORD_SAMPLE:
        found.samples += 1
    elif kind == perffile.RECORD_AUXTRACE:
        found.trace_bytes += perffile.AUXTRACE_BODY.unpack_from(body)[0]
        found.snapshots += 1
