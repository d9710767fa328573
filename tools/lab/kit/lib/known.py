# SPDX-License-Identifier: GPL-2.0-only
"""The program 'known': which branches it makes, and how often, and which of them were decoded.

What is counted is strict: a branch of the part that is known, which ends at a place where it cannot
end, is as wrong as one that is missing.
"""

import re

# perf's decoder numbers its errors. These two tell of a loss: the processor was faster than its
# trace, which a packet (OVF) says, and the kernel had no room, which a record says.
ERROR = re.compile(r"instruction trace error type \d+ .*? pid (-?\d+) .*?(code \d+: .*)")
BRANCH = re.compile(r"^ *([0-9a-f]+) +=> +([0-9a-f]+) *$")
USER_END = 1 << 47
OVERFLOW, LOST_DATA = "code 7:", "code 8:"


class Known:
    """What the program says of itself; its output is that of one run."""

    def __init__(self, output):
        self.pid = int(re.search(r"^pid (\d+)$", output, re.MULTILINE).group(1))
        times = dict(re.findall(r"^times (\S+) (\d+)$", output, re.MULTILINE))
        # {(from, to): times in each call}
        self.branches = {(int(source, 16), int(target, 16)): int(times[name])
                         for name, source, target
                         in re.findall(r"^known (\S+) (\S+) (\S+)$", output, re.MULTILINE)}
        self.at = {name: int(text, 16) for name, text
                   in re.findall(r"^at (\S+) (\S+)$", output, re.MULTILINE)}

    def per_call(self):
        return sum(self.branches.values())


class Decoded:
    """What perf script --itrace=be -F ip,addr has of the program."""

    def __init__(self, known):
        self.known = known
        self.count = {}
        self.foreign = 0
        self.entries = {"span": 0, "other": 0}
        self.syscalls = self.sysreturns = 0
        self.overflows = self.losses = 0
        self.errors = []
        # Of programs that ran beside it, whose code may have been gone when it was decoded.
        self.errors_of_others = 0

    def take(self, lines):
        """Count what is in these lines, which are read one by one: there may be millions."""
        for line in lines:
            branch = BRANCH.match(line)
            if branch:
                self._branch(*(int(text, 16) for text in branch.groups()))
                continue
            error = ERROR.search(line)
            if error:
                self._error(*error.groups())

    def _error(self, pid, text):
        if int(pid) != self.known.pid:
            self.errors_of_others += 1
        elif text.startswith(OVERFLOW):
            self.overflows += 1
        elif text.startswith(LOST_DATA):
            self.losses += 1
        else:
            self.errors.append(text)

    def _branch(self, source, target):
        at = self.known.at
        if target == at["visit"] and source:
            self.entries["span" if source == at["span-call"] else "other"] += 1
        elif source == at["syscall"]:
            self.syscalls += 1
        elif target == at["syscall-return"] and source:
            self.sysreturns += 1
        elif at["visit"] <= source < at["end"] and 0 < target < USER_END and source != at["return"]:
            if (source, target) in self.known.branches:
                self.count[source, target] = self.count.get((source, target), 0) + 1
            else:
                self.foreign += 1

    def branches(self):
        return sum(self.count.values())

    def problem(self, calls):
        """'' if there is each branch of so many calls and no other."""
        if self.errors:
            return "%d decoder errors, the first: %s" % (len(self.errors), self.errors[0])
        if self.foreign:
            return "%d branches that the program does not have" % self.foreign
        if calls is None:
            return "" if self.count else "no branch of the program was decoded"
        wanted = calls * self.known.per_call()
        for branch, times in self.known.branches.items():
            if self.count.get(branch, 0) != times * calls:
                return "%d branches decoded, %d wanted" % (self.branches(), wanted)
        return ""
