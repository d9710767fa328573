# SPDX-License-Identifier: GPL-2.0-only
"""What the program 'rounds' (aux-sample/rounds.c) does, from its disassembly and a round's number.

No address is passed twice in a round, so the number and the IP tell how far the round has come.
"""

import re
import subprocess
from dataclasses import dataclass

ROUNDS_A_PAGE = 4096
SYSTEM_CALL_AT = 2048
BITS = 18
FUNCTIONS = ("rounds", "rare", "often")
LINE = re.compile(r"^ +([0-9a-f]+):\t(\w+) *(?:([0-9a-f]+) <)?")
PLACE = re.compile(r"(\w+) (?:\+(\d+))?")
SYMBOL = re.compile(r"^([0-9a-f]+) <(\w+)>:$")
# A round begins behind the instruction that counts it.
COUNTS = "inc"


def faults(count):
    """How many pages are touched in so many rounds."""
    return count // ROUNDS_A_PAGE


def system_calls(count):
    return (count + SYSTEM_CALL_AT) // ROUNDS_A_PAGE


@dataclass
class Instruction:
    name: str
    target: int
    behind: int = 0


def build(source, program, count):
    """The Program, compiled. It is static, so that its code is where the file has it."""
    subprocess.run(["gcc", "-O1", "-Wall", "-Werror", "-static", "-no-pie", "-o", program, source],
                   check=True)
    return Program(program, count)


class Program:
    """The instructions of the three functions."""

    def __init__(self, path, count):
        self.count = count
        self.code, self.functions = {}, {}
        text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], capture_output=True,
                              text=True, check=True).stdout
        self._read(text)
        self.top = next(at for at, insn in self.code.items() if insn.name == COUNTS)
        self.system_call = next(at for at, insn in self.code.items() if insn.name == "syscall")
        self.touch = next(at for at, insn in self.code.items() if insn.name == "movb")

    def _read(self, text):
        name, before = "", None
        for line in text.splitlines():
            symbol, insn = SYMBOL.match(line), LINE.match(line)
            if symbol:
                name, before = symbol[2], None
                if name in FUNCTIONS:
                    self.functions[name] = [int(symbol[1], 16), 0]
            elif insn and name in FUNCTIONS:
                at = int(insn[1], 16)
                if before:
                    before.behind = at
                before = self.code[at] = Instruction(insn[2], int(insn[3] or "0", 16))
                self.functions[name][1] = at

    def address(self, text):
        """The address of a place in a chain of perf report: 'function +offset' or 0x...; 0 for those
        of no function here."""
        found = PLACE.match(text)
        if found and found[1] in self.functions:
            return self.functions[found[1]][0] + int(found[2] or "0")
        return int(text.split()[0], 16) if text.startswith("0x") else 0

    def function(self, ip):
        """The function that has this instruction; None if no one of the three has."""
        return next((name for name, (first, last) in self.functions.items()
                     if first <= ip <= last), None)

    def decisions(self, number):
        """Whether each conditional branch of a round is taken, in their order."""
        yield from (not number >> bit & 1 for bit in range(BITS))
        yield number % 4 != 0
        yield number % ROUNDS_A_PAGE != 0
        yield number % ROUNDS_A_PAGE != SYSTEM_CALL_AT
        yield number < self.count

    def path(self, number):
        """[(where a stretch without a taken branch begins, its last instruction, where that
        branches to)] of a round; the last stretch is the beginning of the next round."""
        found, returns, taken = [], [], self.decisions(number)
        begin = at = self.code[self.top].behind
        while at in self.code:
            insn, to = self.code[at], 0
            if insn.name == "ret":
                to = returns.pop() if returns else 0
            elif insn.name == "call":
                returns.append(insn.behind)
                to = insn.target
            elif insn.name == "jmp" or (insn.name.startswith("j") and next(taken)):
                to = insn.target
            if to:
                found.append((begin, at, to))
                begin = to
            if to == self.top or insn.name == "ret" and not to:
                break
            at = to or insn.behind
        return found + [(begin, begin, 0)]

    def place(self, number, ip):
        """(the branches of a round that came before an IP, where the stretch of the IP begins);
        None if the IP is not on the round's way."""
        before = []
        for begin, last, to in self.path(number):
            if begin <= ip <= last and ip in self.code:
                return before, begin
            before.append((last, to))
        return None

    def known_before(self, number, ip):
        """Whether it is known what came before an IP."""
        return (self.function(ip) is not None and 1 <= number <= self.count and
                self.place(number, ip) is not None)


class Backwards:
    """The way back from an IP; step() takes one entry of an LBR, newest first."""

    def __init__(self, program, number, ip):
        self.program, self.number, self.at = program, number, ip
        self.before, self.begin = program.place(number, ip)
        if not self.before:
            self.begin = program.top
        # The way is known this far.
        self.ended = False
        # A trace that began here has ended somewhere.
        self.resumed = False
        self.steps = 0

    def step(self, source, target):
        """What is wrong with an entry; an empty string if it is what came before."""
        self.steps += 1
        if self.ended:
            return ""
        if self.resumed or not target:
            return self._trace_end(source, target)
        if not source:
            return self._trace_begin(target)
        return self._branch(source, target)

    def _trace_end(self, source, target):
        """Tracing has ended at an IP, and goes on there or behind the system call."""
        self.resumed = False
        behind = self.program.system_call, self.program.code[self.program.system_call].behind
        if target or not (source == self.at or (source, self.at) == behind):
            return f"{source:#x}/{target:#x}, and the trace goes on at {self.at:#x}"
        self.at = source
        return ""

    def _trace_begin(self, target):
        if not self.begin <= target <= self.at or target not in self.program.code:
            return f"the trace begins at {target:#x}, and goes on from {self.begin:#x}"
        self.at, self.resumed = target, True
        return ""

    def _branch(self, source, target):
        if not self.before:
            self.number -= 1
            if not self.number:
                self.ended = True
                return ""
            path = self.program.path(self.number)
            self.before = [(last, to) for _, last, to in path[:-1]]
        wanted = self.before.pop()
        if (source, target) != wanted:
            return (f"{source:#x}/{target:#x} in round {self.number}, wanted "
                    f"{wanted[0]:#x}/{wanted[1]:#x}")
        self.at = source
        self.begin = self.before[-1][1] if self.before else self.program.top
        return ""
