# SPDX-License-Identifier: GPL-2.0-only
"""The kselftests of AUX areas: they are built, and what they say is relayed."""

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from lab.base import paths
from lab.testing import tap as reader
from lab.base.errors import LabError
from lab.testing.points import Points, bail_out

SYNTHETIC = ("aux_synth", "aux_synth_large", "aux_synth_no_sg")
# The status of a program all of whose tests were skipped
NOTHING_RAN = 4
# Sets the level at which users without rights are refused. With BTS, they may trace up to level 1.
PARANOID = "echo {} >/proc/sys/kernel/perf_event_paranoid\n"
# With which a kselftest is skipped where an event is refused
NO_RIGHTS = ("needs CAP_PERFMON, and a kernel that is not locked down",
             "needs CAP_PERFMON, or a lower perf_event_paranoid")
# Why a test is skipped in the lab, as patterns
SKIPS = ("the processor's events have no aux_output", "the kernel is not locked down",
         "intel_bts is not paused, and not in samples", "intel_pt has address filters",
         "without CAP_PERFMON, nobody may open events of aux_synth",
         "the trace is of time, and the events count instructions",
         "what other tasks do counts as well",
         "a chunk, which is had as a whole, may be half of it", "the smaller ones tell it",
         "mapped in .* s, which is too quick to tell",
         "no size has more than 32 bits here", "no room for .* in an address space of 32 bits")
MAKEFILE = paths.TESTS_DIR / "aux/kselftest"
# The directory with the source of the module that has the PMUs without hardware
MODULE = "perf_aux_synth"


def source() -> Path:
    """tools/testing/selftests of the kernel's source, for its harness."""
    for tree in sorted(paths.in_build("src").glob("linux-*")):
        if (tree / "tools/testing/selftests/kselftest_harness.h").exists():
            return tree / "tools/testing/selftests"
    raise LabError(f"there is no kernel source in {paths.shown(paths.in_build('src'))}",
                   "run 'lab build'")


def build(directory: Path, what: str, *words: str, makefile: Path = MAKEFILE,
          env: dict[str, str] | None = None) -> list[str]:
    """Make all tests, or what WORDS say, in a directory; their names."""
    directory.mkdir(exist_ok=True)
    try:
        harness = source()
    except LabError as error:
        bail_out(str(error))
    done = subprocess.run(["make", "-s", "-C", makefile, f"O={directory}", f"KSELFTEST={harness}",
                           *words], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    if done.returncode:
        for line in done.stdout.splitlines()[-15:]:
            print(f"# {line}")
        bail_out(f"the kselftests do not build {what}")
    found = sorted(file.name for file in directory.glob("aux_*") if not file.suffix)
    return found or bail_out(f"there is no kselftest {what}")


def build_module(directory: Path, kernel: Path, *words: str) -> tuple[bool, list[str]]:
    """MODULE below a directory for the kernel of a build directory: whether it is made, what is said."""
    done = subprocess.run(["make", "-C", directory / MODULE, f"KDIR={kernel}", "W=1",
                           "KCFLAGS=-Werror", *words], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return not done.returncode, done.stdout.splitlines()[-20:]


def needs(*pmus: str) -> str:
    """Lines of a shell that ends if the machine has not all of these: tests would be skipped."""
    return "".join(f"test -d /sys/bus/event_source/devices/{pmu} || "
                   f"{{ echo there is no PMU {pmu}; exit 9; }}\n" for pmu in pmus)


def forget(directory: Path) -> None:
    """Remove the results of an earlier guest: one that does not get so far leaves none."""
    for file in directory.glob("*.tap"):
        file.unlink()


def by(user: str) -> str:
    """How a program is run as another user, for script()"""
    return f"su {user} -s /bin/sh -c './{{}}'"


def script(calls: Mapping[str, str], run: str = "./{}") -> str:
    """Run programs in a shell, each with 'run': {name: its arguments}; each leaves NAME.tap."""
    return "\n".join(f"{run.format(f'{name} {more}')} >{name}.tap 2>&1; echo status $? >>{name}.tap"
                     for name, more in calls.items())


def notes(lines: list[str], name: str) -> list[str]:
    """What the harness says between a test's begin and its end."""
    begin = next((i for i, line in enumerate(lines) if " RUN  " in line and f" {name} " in line),
                 len(lines))
    end = next((i for i in range(begin + 1, len(lines)) if lines[i].endswith(f" {name}")),
               len(lines))
    return [line.lstrip("# ") for line in lines[begin + 1:end]]


def read(name: str, directory: Path) -> tuple[list[str], reader.Report]:
    """What a program of script() said: its lines, and its report."""
    output = directory / f"{name}.tap"
    lines = (output.read_text(errors="replace") if output.exists() else "").splitlines()
    return lines, reader.parse("\n".join(line for line in lines if not line.startswith("status ")))


def relay(points: Points, name: str, directory: Path, prefix: str,
          reasons: Sequence[str] | None = None, may: bool = True) -> None:
    """
    The results of one program; the lines between them explain the next. A skip for another reason
    than these, which are patterns, is a failure: what a test needs is not there any more. MAY says
    that the program ran as root, on a kernel that is not locked down. Then a test that is skipped
    because the user has no right to do what it tests is a failure, too.
    """
    lines, report = read(name, directory)
    for test in report.tests:
        if test.skip and not (may and test.skip.endswith(NO_RIGHTS)) and (
                reasons is None or any(re.fullmatch(one, test.skip) for one in reasons)):
            points.skip(prefix + test.name, test.skip)
            continue
        # 6.1's harness gives a test that is skipped no name.
        points.result(test.passed and not test.skip, prefix + (test.name or name),
                      *([f"skipped: {test.skip}"] if test.skip else []), *notes(lines, test.name))
    status = (1 if any(not test.passed for test in report.tests) else
              NOTHING_RAN if all(test.skip for test in report.tests) else 0)
    points.result(report.tests and not report.problems and f"status {status}" in lines,
                  f"{prefix}{name} reaches its end", *report.problems, *lines[-5:])
