# SPDX-License-Identifier: GPL-2.0-only
"""The records of a perf.data file, for the lab, its tests and the kit, whose Python may be 3.6.

Layout: tools/perf/Documentation/perf.data-file-format.txt and perf_event_open(2).
"""

import struct
from pathlib import Path
from typing import IO, Iterator, Tuple, Union

MAGIC = b"PERFILE2"
# size, attr_size, attrs {offset, size}, data {offset, size}
FILE_HEADER = struct.Struct("<QQQQQQ")
RECORD_HEADER = struct.Struct("<IHH")
AUX_BODY = struct.Struct("<QQQ")
# size, offset, reference, idx
AUXTRACE_BODY = struct.Struct("<QQQI")

RECORD_LOST = 2
RECORD_SAMPLE = 9
RECORD_AUX = 11
RECORD_LOST_SAMPLES = 13
RECORD_SWITCH_CPU_WIDE = 15
RECORD_ID_INDEX = 69
RECORD_AUXTRACE_INFO = 70
RECORD_AUXTRACE = 71

AUX_TRUNCATED = 1 << 0
AUX_PARTIAL = 1 << 2


def file_of(path: Union[str, Path]) -> Path:
    """The file itself, which is in a directory if perf recorded with --kcore."""
    path = Path(path)
    return path / "data" if path.is_dir() else path


def header(data: IO[bytes]) -> Tuple[int, ...]:
    """What FILE_HEADER has."""
    data.seek(len(MAGIC))
    return FILE_HEADER.unpack(data.read(FILE_HEADER.size))


def records(data: IO[bytes]) -> Iterator[Tuple[int, int, bytes]]:
    """(type, where its body begins, body) of each record; what follows it is then read next."""
    data.seek(0)
    if data.read(len(MAGIC)) != MAGIC:
        raise ValueError("it is no perf.data file")
    at, size = header(data)[4:]
    end = at + size
    while at < end:
        data.seek(at)
        kind, _, length = RECORD_HEADER.unpack(data.read(RECORD_HEADER.size))
        if length < RECORD_HEADER.size:
            raise ValueError("it has a record of no length")
        body = data.read(length - RECORD_HEADER.size)
        yield kind, at + RECORD_HEADER.size, body
        at += length
        if kind == RECORD_AUXTRACE:
            at += AUXTRACE_BODY.unpack_from(body)[0]
