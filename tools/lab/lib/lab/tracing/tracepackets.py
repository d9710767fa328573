# SPDX-License-Identifier: GPL-2.0-only
"""Reads the packets of a piece of an Intel PT trace (SDM 33.4), as far as tests need them.

What power events and PEBS have is an error, as is a packet that is cut.
"""

from collections.abc import Iterator

from lab.tracing.perfdata import PSB

# Bytes of an IP by IPBytes; 3 is sign-extended.
IP_BYTES = {0: 0, 1: 2, 2: 4, 3: 6, 4: 6, 6: 8}
TIP_KINDS = {0x0d: "tip", 0x11: "pge", 0x01: "pgd", 0x1d: "fup"}
# Length and name of packets that begin with 02H and this byte
EXTENDED = {0x82: (16, "psb"), 0x23: (2, "psbend"), 0xf3: (2, "ovf"), 0x03: (4, "cbr"),
            0x73: (7, "tma"), 0x43: (8, "pip"), 0xc8: (7, "vmcs"), 0x83: (2, "stop"),
            0xc3: (11, "mnt"), 0x13: (4, "cfe"), 0x53: (11, "evd")}
# The low bits of the second byte of PTW, and the size of the payload by the two bits above
PTW, PTW_BYTES = 0x12, {0: 4, 1: 8}
SHORT = {0x00: (1, "pad"), 0x19: (8, "tsc"), 0x59: (2, "mtc"), 0x99: (2, "mode")}


class Bad(Exception):
    """What is no packet."""


def _tnt(value: int) -> int:
    """How many branches a TNT packet has: the highest bit that is set marks the end."""
    return value.bit_length() - 1


def _extended(data: bytes, at: int) -> tuple[int, str, int | bytes | None]:
    second = data[at + 1]
    if second == 0xa3:
        return 8, "tnt", _tnt(int.from_bytes(data[at + 2:at + 8], "little"))
    if second & 0x1f == PTW and second >> 5 & 3 in PTW_BYTES:
        return 2 + PTW_BYTES[second >> 5 & 3], "ptw", None
    if second not in EXTENDED:
        raise Bad(f"02 {second:02x} at {at}")
    length, name = EXTENDED[second]
    return length, name, None


def _one(data: bytes, at: int) -> tuple[int, str, int | bytes | None]:
    """(length, name, value) of the packet at a position."""
    first = data[at]
    if first == 0x02:
        return _extended(data, at)
    if first in SHORT:
        length, name = SHORT[first]
        return length, name, None
    if not first & 1:
        # The lowest bit of a short TNT is 0, and belongs to its header.
        return 1, "tnt", _tnt(first >> 1)
    if first & 3 == 3:
        return _cyc(data, at), "cyc", None
    kind, size = first & 0x1f, first >> 5
    if kind not in TIP_KINDS or size not in IP_BYTES:
        raise Bad(f"{first:02x} at {at}")
    length = IP_BYTES[size]
    return 1 + length, TIP_KINDS[kind], data[at + 1:at + 1 + length]


def _cyc(data: bytes, at: int) -> int:
    length = 1
    more = data[at] & 4
    while more:
        more = data[at + length] & 1
        length += 1
    return length


def packets(data: bytes, start: int | None = None
            ) -> Iterator[tuple[int, str, int | bytes | None]]:
    """(position, name, value) of each packet from the first PSB on, or from one that begins at
    @start; of TNT the number of branches, of TIP, TIP.PGE, TIP.PGD and FUP the bytes of the IP,
    lowest first, that the packet has."""
    at = data.find(PSB) if start is None else start
    while 0 <= at < len(data):
        try:
            length, name, value = _one(data, at)
        except IndexError:
            raise Bad(f"a packet at {at} is cut") from None
        if at + length > len(data):
            # MTC packets have a byte of which a sample may have the first half.
            raise Bad(f"a packet at {at} is cut")
        yield at, name, value
        at += length
