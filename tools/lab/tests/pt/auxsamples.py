# SPDX-License-Identifier: GPL-2.0-only
"""AUX samples (PERF_SAMPLE_AUX) as they are in a recording, without perf's help.

Layout: perf_event_open(2), PERF_RECORD_SAMPLE and struct perf_event_attr.
"""

import struct
from dataclasses import dataclass, field

from lab.tracing import perfdata, perffile
from lab.base.errors import LabError

IDENTIFIER, AUX = 1 << 16, 1 << 20
# (bit of sample_type, name, format) of the fields in front, in the order of a record
FIELDS = ((IDENTIFIER, "event", "Q"), (1 << 0, "ip", "Q"), (1 << 1, "pid_tid", "Q"),
          (1 << 2, "time", "Q"), (1 << 3, "addr", "Q"), (1 << 6, "id", "Q"),
          (1 << 9, "stream", "Q"), (1 << 7, "cpu", "Q"), (1 << 8, "period", "Q"))
RAW, REGS_USER = 1 << 10, 1 << 12
KNOWN = sum(bit for bit, _, _ in FIELDS) | RAW | REGS_USER | AUX
# Offsets in attr
SAMPLE_TYPE, REGS_USER_MASK, AUX_SAMPLE_SIZE = 24, 80, 112
U32, U64 = struct.Struct("<I"), struct.Struct("<Q")
# Numbers of registers (PERF_REG_X86_*)
REG_IP, REG_R12 = 8, 20


@dataclass
class Sample:
    """One sample with AUX data."""

    # 0 if there is none
    time: int
    ip: int
    # size of the AUX data that was asked for
    asked: int
    aux: bytes
    # {number: value}
    regs: dict = field(default_factory=dict)


def read(path):
    """All samples with AUX data, by time, or as in the file if they have none."""
    attrs = perfdata.attrs_by_event(path)
    found = []
    for kind, body in perfdata.records(path):
        if kind != perffile.RECORD_SAMPLE:
            continue
        attr = attrs[U64.unpack_from(body)[0]]
        if U64.unpack_from(attr, SAMPLE_TYPE)[0] & AUX:
            found.append(_sample(attr, body))
    return sorted(found, key=lambda sample: sample.time)


def _sample(attr, body):
    kind, = U64.unpack_from(attr, SAMPLE_TYPE)
    if kind & ~KNOWN or not kind & IDENTIFIER:
        raise LabError(f"samples have fields that are not known (sample_type {kind:#x})",
                                "record without the options that ask for them")
    values, at = {}, 0
    for bit, name, form in FIELDS:
        if kind & bit:
            values[name], = struct.unpack_from(f"<{form}", body, at)
            at += 8
    if kind & RAW:
        at += U32.size + U32.unpack_from(body, at)[0]
    regs = {}
    if kind & REGS_USER:
        regs, at = _registers(body, at, U64.unpack_from(attr, REGS_USER_MASK)[0])
    size, = U64.unpack_from(body, at)
    aux = body[at + U64.size:]
    if len(aux) != size:
        raise LabError(f"a sample says {size} bytes of AUX data and has {len(aux)}",
                                "record it again")
    return Sample(values.get("time", 0), values["ip"], U32.unpack_from(attr, AUX_SAMPLE_SIZE)[0], aux, regs)


def _registers(body, at, mask):
    """({number: value}, where they end); a thread without user code has none."""
    abi, = U64.unpack_from(body, at)
    at += U64.size
    if not abi:
        return {}, at
    numbers = [number for number in range(mask.bit_length()) if mask >> number & 1]
    values = struct.unpack_from(f"<{len(numbers)}Q", body, at)
    return dict(zip(numbers, values)), at + U64.size * len(numbers)
