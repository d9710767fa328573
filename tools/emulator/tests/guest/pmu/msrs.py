#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The reserved bits of PerfMon's and LBR's registers, through /dev/cpu/0/msr in the guest.

Prints a line for each rule that does not hold; the last line is "N rules".
"""

import os
import struct
import sys

GP = None
WIDTH = 1 << 48
GP_COUNTERS = 8
COUNTERS = (1 << GP_COUNTERS) - 1 | 7 << 32

PMC0, EVTSEL0, A_PMC0 = 0xC1, 0x186, 0x4C1
FIXED0, FIXED_CTRL = 0x309, 0x38D
STATUS, CTRL, RESET, SET, INUSE = 0x38E, 0x38F, 0x390, 0x391, 0x392
CAPABILITIES, DEBUGCTL = 0x345, 0x1D9
LBR_SELECT, LBR_TOS, LBR_FROM, LBR_TO, LBR_INFO = 0x1C8, 0x1C9, 0x680, 0x6C0, 0xDC0

LBR_FRZ, CTR_FRZ = 1 << 58, 1 << 59
COND_CHGD = 1 << 63

# Register, value written, value then read; GP where the write has to fail.
WRITES = [
    (EVTSEL0, 0xFFAFFFFF, 0xFFAFFFFF),      # all but INT and EN
    (EVTSEL0, 1 << 34, GP),
    (EVTSEL0 + GP_COUNTERS - 1, 0xC0, 0xC0),
    (PMC0, 0x80000000, WIDTH - 0x80000000),
    (PMC0, 0x1234567812345678, 0x12345678),
    (A_PMC0, WIDTH - 1, WIDTH - 1),
    (A_PMC0, WIDTH, GP),
    (FIXED0, WIDTH - 1, WIDTH - 1),
    (FIXED0 + 2, WIDTH, GP),
    (FIXED_CTRL, 0x444, 0x444),             # AnyThread of each
    (FIXED_CTRL, 0x1000, GP),
    (CTRL, COUNTERS, COUNTERS),
    (CTRL, 1 << GP_COUNTERS, GP),
    (CTRL, 1 << 35, GP),
    (STATUS, 0, GP),
    (RESET, COND_CHGD | COUNTERS, 0),
    (RESET, 1 << GP_COUNTERS, GP),
    (RESET, 1 << 35, GP),
    (RESET, 1 << 57, GP),
    (SET, COND_CHGD, GP),
    (SET, 1 << 35, GP),
    (INUSE, 0, GP),
    (CAPABILITIES, 0x2005, GP),
    (DEBUGCTL, 0x1802, 0x1802),
    (DEBUGCTL, 1 << 5, GP),
    (DEBUGCTL, 1 << 14, GP),
    (LBR_SELECT, 0x3FF, 0x3FF),
    (LBR_SELECT, 0x400, GP),
    (LBR_TOS, 31, 31),
    (LBR_TOS, 32, GP),
    (LBR_FROM, 0xFFFF800000000000, 0xFFFF800000000000),
    (LBR_FROM + 31, 1 << 56, GP),         # not canonical, whatever the address width
    (LBR_TO, 0x00007FFFFFFFFFFF, 0x00007FFFFFFFFFFF),
    (LBR_TO + 31, 0x8000000000000000, GP),
    (LBR_INFO + 31, 0xE00000000000FFFF, 0xE00000000000FFFF),
    (LBR_INFO, 1 << 16, GP),
]

problems = []
rules = 0


class Registers:
    def __init__(self):
        self.fd = os.open("/dev/cpu/0/msr", os.O_RDWR)

    def read(self, msr):
        return struct.unpack("<Q", os.pread(self.fd, 8, msr))[0]

    def write(self, msr, value):
        os.pwrite(self.fd, struct.pack("<Q", value), msr)


def rule(holds, text):
    global rules
    rules += 1
    if not holds:
        problems.append(text)


def check_write(regs, msr, value, wanted):
    name = f"{msr:#x} = {value:#x}"
    before = regs.read(msr)
    try:
        regs.write(msr, value)
    except OSError:
        rule(wanted is GP and regs.read(msr) == before, f"{name}: refused")
        return
    after = regs.read(msr)
    rule(after == wanted, f"{name}: reads {after:#x}" if wanted is not GP else f"{name}: accepted")
    if msr not in (RESET, SET):
        regs.write(msr, before)


def counts(regs):
    """Whether fixed counter 0 counts the kernel's instructions now."""
    first = regs.read(FIXED0)
    return regs.read(FIXED0) > first


def check_status(regs):
    regs.write(SET, COUNTERS)
    rule(regs.read(STATUS) == COUNTERS, "STATUS_SET does not set")
    rule(regs.read(SET) == 0, "STATUS_SET does not read as 0")
    regs.write(RESET, 1)
    rule(regs.read(STATUS) == COUNTERS - 1, "STATUS_RESET clears more or less than told")
    regs.write(RESET, COUNTERS)
    rule(regs.read(STATUS) == 0, "STATUS_RESET does not clear")


def check_inuse(regs):
    rule(regs.read(INUSE) == 0, "INUSE while nothing is")
    regs.write(EVTSEL0 + 1, 0xC0)
    regs.write(FIXED_CTRL, 0x801)
    rule(regs.read(INUSE) == 1 << 1 | 1 << 32 | COND_CHGD, f"INUSE: {regs.read(INUSE):#x}")
    regs.write(EVTSEL0 + 1, 0)
    regs.write(FIXED_CTRL, 0)


def check_counting(regs):
    """Enables, freezing, and overflow without an interrupt."""
    before = regs.read(CTRL)
    regs.write(CTRL, 1 << 32)
    regs.write(FIXED_CTRL, 1)
    rule(counts(regs), "FIXED_CTR0 does not count")
    regs.write(SET, CTR_FRZ)
    rule(not counts(regs), "FIXED_CTR0 counts while frozen")
    regs.write(RESET, CTR_FRZ)
    rule(counts(regs), "FIXED_CTR0 does not count after the freeze")
    regs.write(CTRL, 0)
    rule(not counts(regs), "FIXED_CTR0 counts although GLOBAL_CTRL says no")
    regs.write(FIXED0, WIDTH - 10)
    regs.write(CTRL, 1 << 32)
    regs.write(CTRL, 0)
    rule(regs.read(STATUS) == 1 << 32, f"status after overflow: {regs.read(STATUS):#x}")
    rule(regs.read(FIXED0) < WIDTH // 2, "the counter did not wrap")
    regs.write(RESET, 1 << 32)
    regs.write(FIXED_CTRL, 0)
    regs.write(CTRL, before)


def check_lbr(regs):
    """Recording, and its freeze."""
    regs.write(LBR_SELECT, 0)
    regs.write(DEBUGCTL, 1)
    first = regs.read(LBR_TOS), regs.read(LBR_FROM), regs.read(LBR_INFO)
    rule(any(first), "nothing recorded")
    regs.write(SET, LBR_FRZ)
    frozen = [regs.read(LBR_FROM + i) for i in range(32)]
    rule(all(frozen), "not all records are in use")
    rule(frozen == [regs.read(LBR_FROM + i) for i in range(32)], "records change while frozen")
    regs.write(RESET, LBR_FRZ)
    rule(frozen != [regs.read(LBR_FROM + i) for i in range(32)], "no records after the freeze")
    regs.write(DEBUGCTL, 0)


def main():
    os.sched_setaffinity(0, {0})
    regs = Registers()
    rule(regs.read(CAPABILITIES) == 0x2005, "PERF_CAPABILITIES")
    for write in WRITES:
        check_write(regs, *write)
    check_status(regs)
    check_inuse(regs)
    check_counting(regs)
    check_lbr(regs)
    print("\n".join(problems + [f"{rules} rules"]))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
