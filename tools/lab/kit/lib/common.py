# SPDX-License-Identifier: GPL-2.0-only
"""What all parts of the kit share: where things are, how programs are run, errors."""

import os
import subprocess
from pathlib import Path

KIT = Path(__file__).resolve().parent.parent
PROGRAMS = KIT / "programs"
# For one program, on a slow machine.
LIMIT = 900
PT = Path("/sys/bus/event_source/devices/intel_pt")
BTS = Path("/sys/bus/event_source/devices/intel_bts")


class Refusal(Exception):
    """The kit cannot run here: what is wrong, and what to do."""


class Skip(Exception):
    """A part that this machine cannot do, with the reason."""


def environment(work):
    """Nothing of the user's own: no configuration of perf, no language, no debuginfod."""
    return {"PATH": os.environ.get("PATH", "/usr/sbin:/usr/bin:/sbin:/bin"), "LC_ALL": "C",
            "HOME": str(work)}


def read(path, default=""):
    try:
        return Path(path).read_text(errors="replace").strip()
    except OSError:
        return default


def run(argv, work, cpu=None, limit=LIMIT):
    """A program's (status, output, errors); 124 if it takes longer than its limit.

    All that it may have started is in a session of its own, and is ended with it.
    """
    process = start(argv, work, cpu, stdin=subprocess.DEVNULL)
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        end(process)
        out, err = process.communicate()
        return 124, out, err + "\ntook longer than %d s" % limit
    except BaseException:
        end(process)
        process.communicate()
        raise
    return process.returncode, out, err


def start(argv, work, cpu=None, **more):
    def prepare():
        os.setsid()
        if cpu is not None:
            os.sched_setaffinity(0, {cpu})
    return subprocess.Popen([str(arg) for arg in argv], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, universal_newlines=True, errors="replace",
                            env=environment(work), cwd=str(work), preexec_fn=prepare, **more)


def end(process):
    """End a program and all that is in its session."""
    try:
        os.killpg(process.pid, 9)
    except (ProcessLookupError, PermissionError):
        pass


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"
