# SPDX-License-Identifier: GPL-2.0-only
"""TAP for tests in Python: cases are functions, a failed assertion is 'not ok'."""

import contextlib
import os
import pty
import re
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
LAB_DIR = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(LAB_DIR / "lib"))

from lab.base import paths, tier
from lab.testing.points import Points

ROOT = LAB_DIR.parent.parent
LAB = os.environ.get("LAB") or str(LAB_DIR / "lab")
CASES = []


class Skip(Exception):
    """Raised by a case that this machine does not allow; says why."""


def case(function):
    """Decorator: register a case; its first doc line is its name."""
    CASES.append(function)
    return function


def long_case(function):
    """A case of the tier 'all'."""
    return case(function) if tier.is_all() else function


def case_of(name, call, *args):
    """Register a call as a case with this name: a row of a table."""
    def one():
        call(*args)
    one.__name__ = one.__doc__ = name
    return case(one)


def equal(found, wanted, what=""):
    if found != wanted:
        raise AssertionError(f"{what + ': ' if what else ''}wanted {wanted!r}, found {found!r}")


def contains(text, part):
    if part not in text:
        raise AssertionError(f"wanted {part!r} in {text!r}")


def raises(kind, part, call, *args, **kwargs):
    """The call must fail with this kind of error, its text holding the part."""
    try:
        call(*args, **kwargs)
    except kind as error:
        contains(str(error), part)
        return error
    raise AssertionError(f"no {kind.__name__} from {call.__name__}")


def ran(*command, **options):
    """A command when it has ended, with what it has said as text; its status may be any."""
    options = {"capture_output": True, "text": True, "check": False, **options}
    if "input" not in options:
        options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(command, **options)


class Terminal:
    """A command on a terminal of its own. What it writes there is in text, its end in status."""

    def __init__(self, *command, cwd=".", env=os.environ, **variables):
        self.text, self.answered, self.status = "", 0, None
        self.pid, self.master = pty.fork()
        if not self.pid:
            os.chdir(cwd)
            os.execvpe(command[0], command, {**env, **variables})

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        while not kind and self.read():
            pass
        os.close(self.master)
        self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def read(self):
        """More text; nothing where the command has closed the terminal."""
        try:
            got = os.read(self.master, 4096).decode(errors="replace")
        except OSError:
            got = ""
        self.text += got
        return got

    def answer(self, wanted, typed):
        """Wait for a text, behind those that had an answer, then type."""
        end = time.monotonic() + 120 * tier.patience()
        while not re.search(wanted, self.text[self.answered:]):
            assert time.monotonic() < end and self.read(), f"no {wanted} in {self.text}"
        self.answered = len(self.text)
        time.sleep(0.3)
        os.write(self.master, typed.encode())


def refused(done, *parts, status=1):
    """The status, and one line of the lab's that has the parts; no traceback."""
    lines = [line for line in done.stderr.splitlines() if line.startswith("lab:")]
    equal((done.returncode, len(lines)), (status, 1), done.stderr[-600:])
    for part in parts:
        contains(lines[0], part)
    assert "Traceback" not in done.stderr, done.stderr


@contextlib.contextmanager
def variables(**given):
    """Environment variables for a while; None for none."""
    with mock.patch.dict(os.environ):
        for name, value in given.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        yield


# Other attributes of a module or an object for a while: replaced(host, GIB=1)
replaced = mock.patch.multiple


def script(file, text):
    """A shell script in the place of a program."""
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return file


def as_user(**more):
    """
    The environment of a user of 'make run', which boots the small kernel. If that is not built, or
    if another kernel than that of the series is tested, it is the environment of the tests.
    """
    env = {**os.environ, **more}
    if env.get("LAB_KERNEL") == paths.SERIES and paths.image(paths.SMALL).exists():
        del env["LAB_KERNEL"]
    return env


def has_ended(pid, seconds=10):
    """Whether a process ends in time; its reaper, which a container may lack, is not waited for."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.1)
    return False


def own_build_dir():
    """A build directory of the test's own, so that the real one is safe."""
    directory = tempfile.TemporaryDirectory(prefix="lab-test.")
    os.environ["LAB_BUILD"] = directory.name
    # Kernels that count have other names and options.
    os.environ.pop("LAB_COVERAGE", None)
    return directory


def name_of(function):
    return (function.__doc__ or function.__name__).splitlines()[0].rstrip(".")


def both_names(function):
    return f"{name_of(function)}\n{function.__name__}"


def main(drawn=None, kept=(), chained=False):
    """Run the cases that arguments name, or all; the status is 1 if one failed.

    With a number, the tier 'check' has that many of them, drawn, beside those that are kept. Where
    each case goes on from those before it, they are chained: these run, too.
    """
    tap = Points()
    others = [function for function in CASES if function not in kept]
    chosen = tier.asked(kept, name=both_names) + tier.asked(others, drawn, both_names)
    if chained and chosen:
        chosen = CASES[:CASES.index(chosen[-1]) + 1]
    for function in chosen:
        name, start = name_of(function), time.monotonic()
        try:
            function()
            tap.result(True, name)
        except Skip as reason:
            tap.skip(name, reason)
        except Exception:
            tap.result(False, name, traceback.format_exc())
        print(f"# {time.monotonic() - start:.1f} s", flush=True)
    tap.leave()
