# SPDX-License-Identifier: GPL-2.0-only
"""What a perf.data file says of its AUX area: how much, and what was lost.

perf script shows this only as a dump of every packet, which is many times
the size of the trace, so the few records that count are read here.
"""

import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from lab.tracing import perffile
from lab.base.errors import LabError
from lab.tracing.perffile import (AUX_BODY, AUX_PARTIAL, AUX_TRUNCATED, AUXTRACE_BODY, RECORD_AUX,
                      RECORD_AUXTRACE, RECORD_ID_INDEX, RECORD_LOST, RECORD_LOST_SAMPLES)

# The packet with which a decoder can begin (SDM: "Packet Stream Boundary")
PSB = b"\x02\x82" * 8
# What a rude processor puts before it, and how far to look behind that.
PADDED = "rude" in os.environ.get("LAB_PT", "")
PAD, MNT, MNT_LENGTH = b"\0", b"\x02\xc3\x88", 11
TRACE_HEAD = 512

LOST_BODY = struct.Struct("<QQ")
ONE_U64 = struct.Struct("<Q")
# offset and size
ID_SECTION = struct.Struct("<QQ")
# id of an event, its area, CPU, thread
ID_INDEX_ENTRY = struct.Struct("<QQQQ")


@dataclass
class AuxSummary:
    """Counts over a whole recording."""

    trace_bytes: int = 0
    aux_records: int = 0
    truncated: int = 0
    partial: int = 0
    lost_records: int = 0
    # Times that perf did not go on reading where it had ended. In full-trace mode the hardware has
    # then written over data that was not read; in snapshot mode that is as it should be.
    gaps: int = 0
    # Times that a trace went on after it was cut off, and those of them that began without PSB.
    resumed: int = 0
    resumed_blind: int = 0
    # AUX records that tell of a loss, and of no data, where the whole area was free
    empty: int = 0
    # AUX records that do not begin where the one before ended; so it is in snapshot mode.
    misplaced: int = 0
    # {event: where its AUX record before ended}
    told: dict[int, int] = field(default_factory=dict)
    # AUX records as they are: perf reads the end of its buffer's data twice, and writes what came
    # meanwhile to the file again.
    seen: set[bytes] = field(default_factory=set)
    # {area: where the part read last ends}
    ends: dict[int, int] = field(default_factory=dict)
    # {event: its area}; there is but one where perf does not say
    areas: dict[int, int] = field(default_factory=dict)
    # where traces were cut off: areas and positions
    cuts: set[tuple[int, int]] = field(default_factory=set)

    def lost(self) -> int:
        return self.truncated + self.partial + self.lost_records


def summarize(path: Path) -> AuxSummary:
    """The summary of a perf.data file or of a directory that holds one."""
    summary = AuxSummary()
    with _opened(path) as data:
        for kind, _, body in perffile.records(data):
            _account(summary, kind, body, data)
    return summary


def is_complete(path: Path) -> bool:
    """Whether there is a recording that perf has finished: it writes the size of its data last."""
    try:
        with _opened(path) as data:
            return perffile.header(data)[5] > 0
    except (OSError, LabError, struct.error):
        return False


def records(path: Path) -> Iterator[tuple[int, bytes]]:
    """(type, body) of each record."""
    with _opened(path) as data:
        for kind, _, body in perffile.records(data):
            yield kind, body


def _entries(data: IO[bytes]) -> Iterator[tuple[bytes, int, int]]:
    """(attr, where its identifiers are, their bytes) of each event."""
    _, entry, position, size = perffile.header(data)[:4]
    data.seek(position)
    section = data.read(size)
    for end in range(entry, size + entry, entry):
        behind = end - ID_SECTION.size
        where, length = ID_SECTION.unpack_from(section, behind)
        yield section[end - entry:behind], where, length


def attrs(path: Path) -> list[bytes]:
    """attr of each event, as its bytes are in the file."""
    with _opened(path) as data:
        return [attr for attr, _, _ in _entries(data)]


def auxtraces(path: Path) -> list[int]:
    """The size of each piece of AUX area data, as perf has read them one by one."""
    with _opened(path) as data:
        return [AUXTRACE_BODY.unpack_from(body)[0] for kind, _, body in perffile.records(data)
                if kind == RECORD_AUXTRACE]


def attrs_by_event(path: Path) -> dict[int, bytes]:
    """{event's identifier: its attr}"""
    found = {}
    with _opened(path) as data:
        for attr, where, size in _entries(data):
            data.seek(where)
            found.update({one: attr for one, in ONE_U64.iter_unpack(data.read(size))})
    return found


def pad(path: Path, parts: Sequence[tuple[int, int, int]]) -> None:
    """Overwrite parts of the trace by PAD packets; a part is (area, position in it, bytes)."""
    with _opened(path, "r+b") as data:
        for kind, _, body in perffile.records(data):
            if kind == RECORD_AUXTRACE:
                _pad_piece(data, body, parts)


def _pad_piece(data: IO[bytes], body: bytes, parts: Sequence[tuple[int, int, int]]) -> None:
    start = data.tell()
    length, offset, _, area = AUXTRACE_BODY.unpack_from(body)
    for where, position, size in parts:
        begin, end = max(position, offset), min(position + size, offset + length)
        if where == area and begin < end:
            data.seek(start + begin - offset)
            data.write(bytes(end - begin))


@contextmanager
def _opened(path: Path, mode: str = "rb") -> Iterator[IO[bytes]]:
    """The file; whatever is wrong with it is an error of the lab's."""
    file = perffile.file_of(path)
    try:
        with open(file, mode) as data:
            yield data
    except (OSError, ValueError, struct.error) as error:
        raise LabError(f"cannot read the recording {file} ({error})",
                       "record it again") from None


def _begin(data: IO[bytes]) -> bytes:
    """What a trace begins with; on a rude processor but for PAD and MNT."""
    head = data.read(TRACE_HEAD)
    while PADDED and (head[:1] == PAD or head.startswith(MNT)):
        head = head[1 if head[:1] == PAD else MNT_LENGTH:]
    return head


def _account(summary: AuxSummary, kind: int, body: bytes, data: IO[bytes]) -> None:
    """Count one record, behind which data stands."""
    if kind == RECORD_AUX:
        _account_aux(summary, body)
    elif kind == RECORD_LOST:
        summary.lost_records += LOST_BODY.unpack_from(body)[1]
    elif kind == RECORD_LOST_SAMPLES:
        summary.lost_records += ONE_U64.unpack_from(body)[0]
    elif kind == RECORD_ID_INDEX:
        summary.areas.update(_areas(body))
    elif kind == RECORD_AUXTRACE:
        length, offset, _, area = AUXTRACE_BODY.unpack_from(body)
        if (area, offset) in summary.cuts:
            summary.resumed += 1
            summary.resumed_blind += not _begin(data).startswith(PSB)
        # The length is rounded up, so the end may lie behind the next offset.
        summary.gaps += offset > summary.ends.get(area, offset)
        summary.ends[area] = offset + length
        summary.trace_bytes += length


def _areas(body: bytes) -> dict[int, int]:
    """{event: area} of a record that has a number, and so many entries; newer perf adds others."""
    count, = ONE_U64.unpack_from(body)
    entries = body[ONE_U64.size:][:count * ID_INDEX_ENTRY.size]
    return {entry[0]: entry[1] for entry in ID_INDEX_ENTRY.iter_unpack(entries)}


def _account_aux(summary: AuxSummary, body: bytes) -> None:
    if body in summary.seen:
        return
    summary.seen.add(body)
    offset, size, flags = AUX_BODY.unpack_from(body)
    # Where there are several events, their records end with an identifier.
    event = int.from_bytes(body[AUX_BODY.size:][-ONE_U64.size:], "little")
    summary.aux_records += 1
    if flags & AUX_TRUNCATED:
        summary.cuts.add((summary.areas.get(event, 0), offset + size))
    summary.truncated += bool(flags & AUX_TRUNCATED)
    summary.partial += bool(flags & AUX_PARTIAL)
    summary.empty += bool(flags & AUX_TRUNCATED and not offset + size)
    summary.misplaced += offset != summary.told.get(event, offset)
    summary.told[event] = offset + size
