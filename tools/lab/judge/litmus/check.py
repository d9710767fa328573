#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Says of litmus tests what the Linux kernel memory model allows, as herd7 does.

usage: check.py MEMORY-MODEL FILE...

MEMORY-MODEL is tools/memory-model of a kernel source, from which the model itself is taken. Tests
may have marked and plain accesses, fences, atomic operations, RCU and 'if'; neither locks nor SRCU,
loops or filters.
"""

import sys
from pathlib import Path

import cat
import executions
import macros
import program
from refused import Refused


class Checker:
    """The model of one kernel source."""

    def __init__(self, directory):
        self.model = cat.load(Path(directory))
        self.macros = macros.load(Path(directory))

    def check(self, text, where):
        """(Program, Verdict) of a test's text, or Refused."""
        found = program.read(text, where, self.macros)
        try:
            return found, executions.run(found, self.model)
        except Refused as error:
            raise Refused(f"{where}: {error}") from None


def main(directory, *files):
    bad = 0
    try:
        checker = Checker(directory)
    except Refused as error:
        sys.exit(f"check.py: {error}")
    for file in files:
        try:
            found, verdict = checker.check(Path(file).read_text(), Path(file).name)
        except (Refused, OSError) as error:
            print(f"Refused {error}")
            bad = 1
            continue
        print(f"Observation {found.name} {verdict.result} {verdict.positive} {verdict.negative}",
              *[f"flag:{flag}" for flag in sorted(verdict.flags)])
    return bad


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
