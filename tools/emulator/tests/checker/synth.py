# SPDX-License-Identifier: GPL-2.0-or-later
"""Hand-made inputs of the checkers: PT packets, perf.data files, oracle logs.

Everything is written from the formats' definitions, not with the checkers' own code, so that a
misreading on one side shows.
"""

import struct

# perf's clock and the TSC are the same here: mult 1, shift 0, zero 0.
PMU_TYPE = 8
CONFIG_TSC, CONFIG_MTC, CONFIG_BRANCH = 1 << 10, 1 << 9, 1 << 13
NO_CPU = 0xFFFFFFFF

SAMPLE_TID, SAMPLE_TIME, SAMPLE_CPU, SAMPLE_IDENTIFIER = 1 << 1, 1 << 2, 1 << 7, 1 << 16
SAMPLE_TYPE = SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU | SAMPLE_IDENTIFIER
ATTR_SIZE = 128
ATTR_SAMPLE_ID_ALL = 1 << 18

MMAP2, FORK, COMM, AUX, SWITCH_CPU_WIDE, TEXT_POKE = 10, 7, 3, 11, 15, 20
AUXTRACE_INFO, AUXTRACE, COMPRESSED = 70, 71, 81
MISC_USER, MISC_EXEC, MISC_SWITCH_OUT = 2, 1 << 13, 1 << 13
AUX_TRUNCATED = 1


def u64(*values):
    return struct.pack(f"<{len(values)}Q", *(v & (1 << 64) - 1 for v in values))


def u32(*values):
    return struct.pack(f"<{len(values)}I", *values)


def padded(data):
    return data + bytes(-len(data) % 8)


# --- Intel PT packets ---

PAD = b"\x00"
PSB = b"\x02\x82" * 8
PSBEND = b"\x02\x23"
OVF = b"\x02\xf3"
MODE_EXEC_64 = b"\x99\x01"
BAD_OPCODE = b"\x02\xff"
MNT = b"\x02\xc3\x88" + bytes(8)

_IP_FULL = 6 << 5


def tsc(value):
    return b"\x19" + u64(value)[:7]


def _ip(opcode, ip):
    return bytes([opcode | _IP_FULL]) + u64(ip)


def tip(ip):
    return _ip(0x0D, ip)


def pge(ip):
    return _ip(0x11, ip)


def pgd():
    return b"\x01"


def fup(ip):
    return _ip(0x1D, ip)


def pip(cr3):
    return b"\x02\x43" + u64(cr3 >> 5 << 1)[:6]


def tnt(bits):
    """A short TNT; bits is a string such as '1101', oldest first."""
    assert 1 <= len(bits) <= 6
    return bytes([int("1" + bits, 2) << 1])


def psb_plus(time):
    return PSB + tsc(time) + MODE_EXEC_64 + PSBEND


# --- perf.data ---


class PerfData:
    """Collects records; write() makes the file."""

    def __init__(self, snapshot=False, tsc_on=True, per_cpu=True):
        self.records = []
        config = CONFIG_BRANCH | (CONFIG_TSC if tsc_on else 0)
        self.attr = struct.pack("<IIQQQQQ", PMU_TYPE, ATTR_SIZE, config, 1, SAMPLE_TYPE, 0,
                                ATTR_SAMPLE_ID_ALL).ljust(ATTR_SIZE, b"\0")
        priv = u64(PMU_TYPE, 0, 1, 0, 1, CONFIG_TSC, 1 << 11, 1, snapshot, per_cpu, CONFIG_MTC,
                   0xF << 14, 216, 2, 2, 20, 0)
        self.raw(AUXTRACE_INFO, u32(1, 0) + priv)

    def raw(self, kind, body, misc=0, tail=b""):
        self.records.append(struct.pack("<IHH", kind, misc, 8 + len(body)) + body + tail)

    def kernel(self, kind, body, time, tid=100, cpu=0, misc=MISC_USER, pid=None):
        sample = u32(tid if pid is None else pid, tid) + u64(time) + u32(cpu, 0) + u64(1)
        self.raw(kind, padded(body) + sample, misc)

    def mmap(self, addr, size, name, time, pid=100, pgoff=0):
        body = u32(pid, pid) + u64(addr, size, pgoff) + bytes(24) + u32(5, 2)
        self.kernel(MMAP2, body + name.encode() + b"\0", time, tid=pid)

    def fork(self, pid, parent, time):
        self.kernel(FORK, u32(pid, parent, pid, parent) + u64(time), time, tid=parent)

    def execute(self, pid, time):
        self.kernel(COMM, u32(pid, pid) + b"prog\0\0\0\0", time, tid=pid,
                    misc=MISC_USER | MISC_EXEC)

    def switch_to(self, pid, time, cpu=0):
        self.kernel(SWITCH_CPU_WIDE, u32(0, 0), time, tid=pid, cpu=cpu, misc=0)

    def switch_from(self, pid, successor, time, cpu=0):
        self.kernel(SWITCH_CPU_WIDE, u32(successor, successor), time, tid=pid, cpu=cpu,
                    misc=MISC_SWITCH_OUT)

    def poke(self, addr, old, new, time):
        self.kernel(TEXT_POKE, u64(addr) + struct.pack("<HH", len(old), len(new)) + old + new,
                    time)

    def aux(self, offset, size, flags=0, time=1, cpu=0):
        self.kernel(AUX, u64(offset, size, flags), time, cpu=cpu)

    def trace(self, data, offset=0, cpu=0, tid=0, idx=None):
        idx = (cpu if cpu != NO_CPU else tid) if idx is None else idx
        self.raw(AUXTRACE, u64(len(data), offset, 0) + u32(idx, tid, cpu, 0), tail=data)

    def write(self, path, finished=True):
        data = b"".join(self.records)
        attr_size = ATTR_SIZE + 16
        attrs_at = 104
        ids_at = attrs_at + attr_size
        data_at = ids_at + 8
        header = b"PERFILE2" + u64(104, attr_size, attrs_at, attr_size, data_at,
                                   len(data) if finished else 0, 0, 0, 0, 0, 0, 0)
        path.write_bytes(header + self.attr + u64(ids_at, 8) + u64(1) + data)


def elf_core(addr, code):
    """An ELF core file with one segment."""
    ehdr = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    ehdr += struct.pack("<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    phdr = struct.pack("<IIQQQQQQ", 1, 5, 120, addr, 0, len(code), len(code), 0)
    return ehdr + phdr + code


# --- the oracle's log and ptwalk's instruction file ---

PARTIAL, MSR, CR3, ENTRY, END, MOVED = (0x80 + n << 24 for n in range(1, 7))
EXCEPTION, INTERRUPT = 0, 1
INSN_REP, INSN_BRANCH, INSN_SOFTINT = 1, 2, 4
RTIT_CTL, CR3_MATCH, ADDR0_A, ADDR0_B = 0x570, 0x572, 0x580, 0x581
CTL_ON, CTL_OS, CTL_USR, CTL_CR3, CTL_BRANCH = 1, 1 << 2, 1 << 3, 1 << 7, 1 << 13
CTL_ALL = CTL_ON | CTL_OS | CTL_USR | CTL_BRANCH
CTL_RANGE0 = 1 << 32


class OracleLog:
    """Blocks and what each vCPU did; write() makes the directory."""

    def __init__(self, cpus=1):
        self.blocks = []
        self.words = [[] for _ in range(cpus)]
        self.sequence = 0

    def block(self, *insns):
        """Each instruction is (address, length[, flags]). Returns the block's id."""
        self.blocks.append(insns)
        return len(self.blocks) - 1

    def put(self, *words, cpu=0):
        self.words[cpu] += words

    def tag64(self, tag, value, cpu=0):
        self.put(tag, value & 0xFFFFFFFF, value >> 32 & 0xFFFFFFFF, cpu=cpu)

    def msr(self, value, msr=RTIT_CTL, index=0, cpu=0):
        self.put(MSR | index, msr, self.sequence, 0, value & 0xFFFFFFFF, value >> 32, 0, cpu=cpu)
        self.sequence += 1

    def write(self, directory, complete=True):
        directory.mkdir(exist_ok=True)
        data = b"PTORAB1\n"
        for number, insns in enumerate(self.blocks):
            data += u32(number, len(insns))
            for insn in insns:
                addr, size, flags = insn if len(insn) == 3 else (*insn, 0)
                data += u64(addr) + bytes([size, flags]) + bytes(6)
        (directory / "blocks").write_bytes(data)
        for cpu, words in enumerate(self.words):
            end = [END] if complete else []
            (directory / f"cpu{cpu}").write_bytes(b"PTORAC1\n" + u32(*words, *end))


def insn_file(path, *streams, branches=(), tid=0):
    """Each stream is (cpu, [ip | (ip, cr3) | 'lost']); branches are the addresses of some."""
    data = b"PTINSN1\n"

    def record(kind, ip, cr3=0):
        return struct.pack("<QIBBBB", ip, cr3 >> 12, kind, 3, 0, ip in branches)

    for cpu, items in streams:
        data += record(2, tid << 32 | cpu)
        for item in items:
            if item == "lost":
                data += record(4, 0)
            else:
                data += record(1, *(item if isinstance(item, tuple) else (item,)))
    path.write_bytes(data)
