# SPDX-License-Identifier: GPL-2.0-only
"""How far a build by make is: how many files are compiled, of how many.

make does not say how much there is to do. But kbuild, and perf's own build,
leave a file .NAME.o.cmd beside each object that they have made. The files that
are there when a build begins are counted as done. How many there are in all is
known from the last complete build here, or else is a number in the source.
"""

import os
import re
from pathlib import Path

from lab.base import stamp, ui

# The tables of symbols that vmlinux is linked with again and again keep no such file.
OBJECT = re.compile(r"\s+(?:HOST)?(?:CC|CXX|AS|LD)\s+(?:\[M\]\s+)?(?!\.tmp_)\S+\.o$")


def there(directory: Path) -> int:
    """How many objects a build has made so far; it may be going on, and remove directories."""
    return sum(name.startswith(".") and name.endswith(".o.cmd")
               for _, _, names in os.walk(directory) for name in names)


class Progress:
    """Shows, with a step, each object that is made.

    'expected' is how many there are if no build has been completed here. If all of them are
    there already, it is not known how many will be made again: there is no total.
    """

    def __init__(self, step: ui.Step, key: str, directory: Path, expected: int) -> None:
        self.step, self.key, self.directory = step, key, directory
        known = stamp.read(f"objects-{key}")
        self.total = int(known) if known.isdecimal() else expected
        self.done = there(directory)
        if self.done >= self.total:
            self.done, self.total = 0, 0

    def line(self, line: str) -> None:
        if OBJECT.match(line):
            self.done += 1
        self.step.count(self.done, self.total, line.strip())

    def complete(self) -> None:
        """Note how many there are in all; later there may be those of modules beside them."""
        if self.total:
            stamp.write(f"objects-{self.key}", str(there(self.directory)))
