# SPDX-License-Identifier: GPL-2.0-only
"""A call trace from perf script's branches: one line a call, depth by indentation.

perf has an indentation of its own (callindent); it is off by one after calls
and returns that have one time stamp, so the depth is found here from the
addresses: a return ends the innermost call whose next instruction it goes to.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

FIELDS = "comm,tid,time,event,flags,ip,addr,sym,dso"
# comm tid time: event: kind (interrupt flag) ip name (object) => address name (object)
BRANCH = re.compile(
    r"^\s*(?P<comm>.*?)\s+(?P<tid>-?\d+)\s+(?P<time>\d+\.\d+):\s+(?:branches\S*:\s+)?"
    r"(?P<kind>call|return)\s+"
    r"(?:\(\w*\)\s+)?(?P<ip>[0-9a-f]+) (?P<caller>.*?) \((?P<from>.*?)\s*\)"
    r" =>\s+(?P<addr>[0-9a-f]+) (?P<callee>.*?) \((?P<dso>.*?)\s*\)$")
# The probe of perf calltrace on the function that a trace begins with: comm tid time: event: ...
# address name (object). The branch that entered it may not be in the trace.
ENTRY = re.compile(
    r"^\s*(?P<comm>.*?)\s+(?P<tid>\d+)\s+(?P<time>\d+\.\d+):\s+calltrace_\d+:from\w*:\s+"
    r"(?:0\s+)?(?P<addr>[0-9a-f]+) (?P<callee>.*?) \((?P<dso>.*?)\s*\)$")
LONGEST_INSTRUCTION = 15
UNKNOWN = "[unknown]"


class Stack:
    """The calls of one thread that have not returned: (address, callee)."""

    def __init__(self, comm: str) -> None:
        self.comm = comm
        self.frames: list[tuple[int, str]] = []
        # the function that the branch before has called
        self.called = ""

    def call(self, address: int, caller: str, callee: str) -> int:
        """Enter a function; the result is the depth of its call."""
        self._leave_skipped(caller)
        self.frames.append((address, callee))
        return len(self.frames) - 1

    def _leave_skipped(self, caller: str) -> None:
        """Frames that longjmp() left, and functions that were jumped to."""
        names = [callee for _, callee in self.frames]
        if not names or caller.startswith(UNKNOWN) or names[-1] == caller:
            return
        if caller in names:
            while self.frames[-1][1] != caller:
                self.frames.pop()
        else:
            self.frames[-1] = (self.frames[-1][0], caller)

    def ret(self, target: int, callee: str = "") -> None:
        """Leave the innermost call that target follows; none if unseen."""
        for index in range(len(self.frames) - 1, -1, -1):
            if 0 < target - self.frames[index][0] <= LONGEST_INSTRUCTION:
                del self.frames[index:]
                return
        # The function that the trace began with was called from where no trace is.
        if self.frames and self.frames[0] == (0, callee):
            self.frames = []


def symbol(name: str, address: int) -> str:
    """A name without its version; the address where there is no name."""
    name = name.partition("@@")[0]
    return f"0x{address:x}" if name.startswith(UNKNOWN) else name


class Writer:
    """Writes calls to a file and remembers where the interesting ones begin."""

    def __init__(self, out: TextIO, landmarks: Sequence[str]) -> None:
        self.out, self.landmarks = out, landmarks
        self.calls = 0
        self.start: float | None = None
        self.stacks: dict[str, Stack] = {}
        self.found: dict[str, int] = {}

    def line(self, text: str) -> None:
        match = BRANCH.match(text) or ENTRY.match(text)
        if not match:
            return
        stack = self.stacks.get(match["tid"])
        if not stack or stack.comm != match["comm"]:
            # After exec() nothing of the old program returns.
            stack = self.stacks[match["tid"]] = Stack(match["comm"])
        callee = symbol(match["callee"], int(match["addr"], 16))
        if match.re is ENTRY:
            if stack.called != callee:
                stack.frames = []
                self._write(match, stack.call(0, "", callee), callee)
            stack.called = ""
            return
        if match["kind"] == "return":
            stack.called = ""
            stack.ret(int(match["addr"], 16), match["caller"].partition("@@")[0])
            return
        stack.called = callee
        caller = match["caller"].partition("@@")[0]
        self._write(match, stack.call(int(match["ip"], 16), caller, callee), callee)

    def _write(self, match: re.Match[str], depth: int, callee: str) -> None:
        time = float(match["time"])
        self.start = time if self.start is None else self.start
        mark = f"{match['comm']}/{match['tid']}  " if len(self.stacks) > 1 else ""
        self.out.write(f"{(time - self.start) * 1e6:12.2f}  {mark}{'  ' * depth}{callee}"
                       f"  ({Path(match['dso']).name})\n")
        if callee in self.landmarks:
            self.found.setdefault(callee, self.calls)
        self.calls += 1

    def first(self) -> int:
        """The line of the first landmark, in the order of their importance."""
        return next((self.found[n] for n in self.landmarks if n in self.found), 0)


def dedent(lines: Sequence[str]) -> list[str]:
    """Lines without the indentation that they share."""
    def body(line: str) -> str:
        return line[14:]
    common = min((len(body(li)) - len(body(li).lstrip()) for li in lines), default=0)
    return [line[:14] + body(line)[common:] for line in lines]
