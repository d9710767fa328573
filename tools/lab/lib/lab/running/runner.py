# SPDX-License-Identifier: GPL-2.0-only
"""One run of a guest, from its start to the verdict.

The verdict is 'failed' until three things are known: the guest reported how
its command ended, it powered off by itself, and its kernel's console holds no
splat. A boot that hangs silently before the guest's init is tried once more,
because emulated timers make it fail now and then on a busy host; anything
later is final.
"""

import ctypes
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from lab.base import host, tier, ui
from lab.compiling import arches, coverage, guest
from lab.running import machine as machine_mod, relay, splats
from lab.base.errors import LabError

LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1

BOOT_LIMIT = 60
BOOT_TRIES = 2
OFF_LIMIT = 20
# Of the console, which is in memory, so many bytes at most
MOST_CONSOLE = 256 << 20
TAIL_LINES = 40
ESCAPES = 3

EXIT_FAILED = 1
EXIT_TIMEOUT = 124
EXIT_SIGNAL = 128
KILLED = "the command was killed by "
ON_SIGNAL = re.compile(r"terminating on signal (\d+)")
KILLED_FOR_MEMORY = ": if the machine's memory was used up, 'dmesg' says so"


@dataclass
class Run:
    """One command and how it is to be run."""

    machine: machine_mod.Machine
    command: list[str]
    cwd: str
    user: str = "root"
    env: dict[str, str] = field(default_factory=dict)
    timeout: float = 0
    boot_limit: float = BOOT_LIMIT
    allowed: list[str] = field(default_factory=list)
    verbose: bool = False
    tty: bool = False
    console_copy: str = ""
    # the one of the shares to which the kernel's counters of its code go, if it counts
    counters: str = ""


@dataclass
class Outcome:
    """What became of a guest."""

    reports: list[str]
    problem: str = ""
    booted: bool = False
    console: str = ""

    def command_status(self) -> int | None:
        for line in self.reports:
            word, _, value = line.partition(" ")
            if word == "exit":
                return int(value)
            if word == "signal":
                return EXIT_SIGNAL + int(value)
        return None

    def killed_by(self) -> str:
        """The name of the signal that the command died of, or an empty string."""
        numbers = [int(line.split()[1]) for line in self.reports if line.startswith("signal ")]
        return signal_name(numbers[0]) if numbers else ""


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def die_with_parent() -> None:
    """However the lab ends, its guest does not stay behind."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


class Guest:
    """A QEMU process with its ports; watch() runs it to its end."""

    def __init__(self, run: Run, directory: str, winsize: tuple[int, int] | None) -> None:
        self.run, self.winsize = run, winsize
        # A file in memory: a disk that becomes full hides no splat.
        self.console = os.memfd_create("console")
        self.errors = Path(directory) / "qemu.err"
        user = guest.find_user(run.user)
        items = guest.spec_items(run.command, run.cwd, user, run.machine.shares,
                                 guest.environment(user, run.env), winsize, run.counters)
        self.initrd = guest.initramfs(Path(directory) / "initrd", self._init(), items)
        self.ports = relay.Ports(("ctl", "tty") if run.tty else ("ctl", "in", "out", "err"))

    def _init(self) -> Path:
        arch = self.run.machine.arch
        return arches.build_init(arch) if arch else guest.build_init()

    def command_line(self) -> list[str]:
        return machine_mod.command_line(self.run.machine, self.initrd,
                                        f"/proc/self/fd/{self.console}", self.ports.descriptors())

    def watch(self) -> Outcome:
        with open(self.errors, "wb") as errors:
            process = subprocess.Popen(
                self.command_line(), stdin=subprocess.DEVNULL, stdout=errors, stderr=errors,
                pass_fds=(self.console, *self.ports.descriptors().values()),
                start_new_session=True, preexec_fn=die_with_parent)
        self.ports.handed_over()
        try:
            return self._watch(process)
        finally:
            _stop(process)
            self.close()

    def close(self) -> None:
        self.ports.close()
        os.close(self.console)

    def _watch(self, process: subprocess.Popen[bytes]) -> Outcome:
        loop = relay.Relay(self.ports, relay.standard_input(), self.run.tty)
        if self.run.tty:
            signal.signal(signal.SIGWINCH, lambda *_: loop.resize(*terminal_size()))
        clock = Clock(self.run)
        copied = 0
        problem = ""
        while loop.step(0.2) or process.poll() is None:
            problem = clock.exceeded(loop.reports())
            if problem:
                # If the lab was stopped meanwhile, it has not read what the guest has said.
                loop.step(0)
                problem = clock.exceeded(loop.reports())
            copied = self._show_console(copied)
            if loop.escape_hits >= ESCAPES:
                problem = "ended with Ctrl-]"
            elif os.fstat(self.console).st_size > MOST_CONSOLE:
                problem = f"the kernel printed more than {MOST_CONSOLE >> 20} MiB"
            if problem:
                break
        _stop(process)
        while not problem and loop.step(0):
            pass
        self._show_console(copied)
        return self._outcome(loop.reports(), problem, process.returncode)

    def _console_from(self, start: int) -> bytes:
        """What the kernel has said from a byte of its console on."""
        size = os.fstat(self.console).st_size
        return os.pread(self.console, size - start, start)

    def _show_console(self, start: int) -> int:
        """With --verbose, what has come since so many bytes were shown; how many are shown now."""
        if not self.run.verbose:
            return start
        text = self._console_from(start)
        sys.stderr.write(text.decode(errors="replace").replace("\r", ""))
        sys.stderr.flush()
        return start + len(text)

    def _outcome(self, reports: list[str], problem: str, returncode: int) -> Outcome:
        outcome = Outcome(reports, problem, booted="boot" in reports,
                          console=self._console_from(0).decode(errors="replace"))
        failed = [line for line in reports if line.startswith("fail ")]
        if failed:
            outcome.problem = failed[0].removeprefix("fail ")
        elif not problem and returncode:
            outcome.problem = self._qemu_error(returncode)
        elif not problem and "off" not in reports and (number := self._ended_by()):
            outcome.problem = f"QEMU was ended by {signal_name(number)}"
        elif not problem and not outcome.booted:
            outcome.problem = "the guest's kernel ended before its init ran"
        elif not problem and outcome.command_status() is None:
            outcome.problem = "the guest died before its command ended"
        elif not problem and "off" not in reports:
            outcome.problem = "the guest died after its command had ended"
        return outcome

    def _ended_by(self) -> int | None:
        """The signal on which QEMU has ended itself, with the status 0, or None."""
        match = ON_SIGNAL.search(self.errors.read_text(errors="replace"))
        return int(match[1]) if match else None

    def _qemu_error(self, returncode: int) -> str:
        if returncode < 0:
            return (f"QEMU was killed by {signal_name(-returncode)}"
                    + (KILLED_FOR_MEMORY if returncode == -signal.SIGKILL else ""))
        lines = self.errors.read_text(errors="replace").strip().splitlines()
        return f"QEMU failed (status {returncode}): {lines[-1] if lines else 'no message'}"


class Clock:
    """The time limits: for the boot, for the command, for the power-off."""

    def __init__(self, run: Run) -> None:
        self.run, self.patience = run, tier.patience()
        self.start = self.phase_start = time.monotonic()
        self.phase = "boot"

    def _enter(self, phase: str) -> None:
        if phase != self.phase:
            self.phase, self.phase_start = phase, time.monotonic()

    def exceeded(self, reports: list[str]) -> str:
        """The problem if a limit has passed, else an empty string."""
        if any(line.startswith(("exit ", "signal ")) for line in reports):
            self._enter("off")
        elif "boot" in reports:
            self._enter("command")
        spent = (time.monotonic() - self.phase_start) / self.patience
        if self.run.machine.gdb:
            return ""
        if self.phase == "boot" and spent > self.run.boot_limit:
            return f"no boot within {self.run.boot_limit:g} s"
        if self.phase == "off" and spent > OFF_LIMIT:
            return f"no power-off within {OFF_LIMIT} s"
        # A lab that was stopped learns late of a guest that has ended in time.
        if "off" not in reports and self.run.timeout and \
                time.monotonic() - self.start > self.run.timeout * self.patience:
            return f"timeout after {self.run.timeout:g} s"
        return ""


def terminal_size() -> tuple[int, int]:
    size = os.get_terminal_size(0)
    return size.lines, size.columns


def tail(console: str, splat: str = "") -> list[str]:
    """The lines that explain a failure: from the first splat on, or the last."""
    lines = [line.rstrip("\r") for line in console.splitlines()]
    if splat:
        first = next(i for i, line in enumerate(lines) if splat in line)
        return lines[max(0, first - 2):first - 2 + TAIL_LINES]
    return lines[-TAIL_LINES:]


def show_console(outcome: Outcome, splat: str = "") -> None:
    lines = tail(outcome.console, splat)
    what = "from the complaint on" if splat else f"the last {len(lines)} lines"
    ui.say(f"lab: console of the guest, {what}:")
    for line in lines or ["(nothing was printed)"]:
        ui.say(f"  | {line}")


def _complaints(run: Run, outcome: Outcome) -> list[str]:
    """The lines in which the guest's kernel complains, without those that are allowed."""
    return splats.find(outcome.console, splats.compile_allowed(run.allowed))


def verdict(run: Run, outcome: Outcome) -> int:
    """The exit status of the run; says why if it is not the command's."""
    found = _complaints(run, outcome)
    if outcome.problem:
        ui.say(f"lab: {outcome.problem}")
    elif outcome.killed_by():
        ui.say(f"lab: {KILLED}{outcome.killed_by()}")
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        ui.say(f"lab: the kernel complained: {found[0]}{more}")
    if outcome.problem or found:
        show_console(outcome, found[0] if found else "")
    if outcome.problem.startswith("timeout"):
        return EXIT_TIMEOUT
    if outcome.problem:
        return EXIT_FAILED
    return outcome.command_status() or (EXIT_FAILED if found else 0)


def _counting(run: Run, directory: str) -> Run:
    """The same run, with a directory for what its kernel counts."""
    counters = os.path.join(directory, "counters")
    os.mkdir(counters)
    machine = replace(run.machine, shares=[*run.machine.shares, counters])
    return replace(run, machine=machine, counters=counters)


def _count(run: Run, outcome: Outcome, kernel: Path) -> None:
    """A guest whose counters cannot be added has failed, if it has not anyway."""
    try:
        with host.told_if_full():
            coverage.add(run.counters, kernel)
    except LabError as error:
        if not _complaints(run, outcome):
            outcome.problem = outcome.problem or str(error)


def _once(run: Run, winsize: tuple[int, int] | None) -> Outcome:
    kernel = Path(run.machine.kernel).parent
    with tempfile.TemporaryDirectory(prefix="lab.") as directory:
        if coverage.is_counting(kernel):
            run = _counting(run, directory)
        # The files that fill the disk are still there.
        with host.told_if_full():
            outcome = Guest(run, directory, winsize).watch()
        if run.counters and "off" in outcome.reports:
            _count(run, outcome, kernel)
    if run.console_copy:
        Path(run.console_copy).write_text(outcome.console)
    return outcome


def execute(run: Run) -> int:
    """Run to the verdict; the result is the exit status for the caller."""
    splats.compile_allowed(run.allowed)
    winsize = terminal_size() if run.tty else None
    for left in reversed(range(BOOT_TRIES)):
        outcome = _once(run, winsize)
        silent = not outcome.booted and outcome.problem.startswith("no boot")
        if not silent or not left:
            break
        ui.say(f"lab: {outcome.problem}, trying once more")
    return verdict(run, outcome)


def dry_run(run: Run) -> int:
    """Print the command line that execute() would start."""
    with tempfile.TemporaryDirectory(prefix="lab.") as directory:
        one = Guest(run, directory, (24, 80) if run.tty else None)
        print(shlex.join(one.command_line()))
        one.close()
    return 0
