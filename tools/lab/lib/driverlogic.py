# SPDX-License-Identifier: GPL-2.0-only
"""Tests of a driver's logic in user space, and whether they notice faults in its files.

The files of the driver are compiled as they are, under the address and undefined-behaviour
sanitizers, by the Makefile of a directory of tests (DRIVER=). Then operators, constants and
statements of them are altered in turn, and each time the tests must fail.
"""

import os
import queue
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import mutation
from points import bail_out


@dataclass
class Driver:
    """Where it is, how it is tested, and which faults in it are none."""

    directory: Path
    tests: Path
    # its files that are altered
    altered: list
    # what is altered, and into what
    faults: list
    # so many faults there are at least, and so many are drawn in the tier 'check'
    minimum: int
    drawn: int
    # faults that are none: nothing changes, or nothing that is promised; by the altered line
    harmless: set = field(default_factory=set)
    # statements without which nothing changes
    unneeded: set = field(default_factory=set)
    # seconds
    limit: int = 60
    # enough to find each fault; the tests of the driver itself take more
    few_steps: str = "1000"


def check_driver(tap, driver, directory):
    """The results of the program on the driver as it is."""
    done = mutation.make(driver.tests, directory, f"DRIVER={driver.directory}")
    if done.returncode:
        for line in done.stdout.splitlines()[-15:]:
            print(f"# {line}")
        bail_out("the test does not build; gcc, libasan and libubsan are needed")
    return mutation.check_program(tap, directory / "logic", driver.limit)


class Altered:
    """Copies of the driver, in each of which one file at a time is altered: the rest is built."""

    def __init__(self, driver, directory):
        self.driver = driver
        self.free = queue.Queue()
        for number in range(mutation.WORKERS):
            place = directory / str(number)
            shutil.copytree(driver.directory, place / "driver")
            self.free.put(place)

    def is_noticed(self, _, file, text):
        """Whether the tests fail with an altered file, or None if it does not even compile."""
        place = self.free.get()
        try:
            if file:
                (place / "driver" / file).write_text(text)
            if mutation.make(self.driver.tests, place / "build", f"DRIVER={place}/driver",
                             "SANITIZE=-w").returncode:
                return None
            return mutation.fails(place / "build/logic", self.driver.few_steps,
                                  limit=self.driver.limit)
        finally:
            if file:
                text = (self.driver.directory / file).read_text()
                (place / "driver" / file).write_text(text)
            self.free.put(place)


def is_harmless(driver, lines, number, line):
    """By what has become of the line, or of the statement that it was."""
    return line in driver.harmless or (line == ";" and
                                       lines[number - 1].strip() in driver.unneeded)


def wanted(driver):
    """All faults that can be made, but for those that are none."""
    found = []
    for file in driver.altered:
        text = (driver.directory / file).read_text()
        found += [(file, *fault) for fault in mutation.faults(text, driver.faults)
                  if not is_harmless(driver, text.splitlines(), *fault[:2])]
    return found


def check(tap, driver):
    """The driver's own results, then that each fault costs one."""
    with tempfile.TemporaryDirectory(prefix="logic.", dir=os.environ.get("LAB_BUILD")) as name:
        directory = Path(name)
        if check_driver(tap, driver, directory / "own"):
            mutation.check_faults(tap, wanted(driver), driver.minimum, driver.drawn,
                                  Altered(driver, directory).is_noticed)
        else:
            print("# nothing is altered while the driver itself is wrong")
