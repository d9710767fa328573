# SPDX-License-Identifier: GPL-2.0-only
"""What all parts of the kit share: where things are, how programs are run, errors."""

import os
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

KIT = Path(__file__).resolve().parent.parent
PROGRAMS = KIT / "programs"
# In seconds: for one program, on a slow machine; for an answer; for what is killed to end.
LIMIT, ANSWER_LIMIT, END_LIMIT = 900, 120, 10
# What stops the kit.
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
PT = Path("/sys/bus/event_source/devices/intel_pt")
BTS = Path("/sys/bus/event_source/devices/intel_bts")


class Refusal(Exception):
    """The kit cannot run here: what is wrong, and what to do."""


class Skip(Exception):
    """A part that this machine cannot do, with the reason."""


class Late(RuntimeError):
    """What was waited for did not come in time."""


@contextmanager
def answering(what, limit=None):
    """What is waited for in it comes in time, or there is an error."""
    limit = limit or ANSWER_LIMIT

    def late(*_):
        raise Late("%s gives no answer in %d s" % (what, limit))
    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(limit)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def environment(work):
    """Nothing of the user's own: no configuration of perf, no language, no debuginfod."""
    return {"PATH": os.environ.get("PATH", "/usr/sbin:/usr/bin:/sbin:/bin"), "LC_ALL": "C",
            "HOME": str(work)}


def say(text):
    """Where a terminal or a pipe is gone, all goes on without it."""
    try:
        print(text, flush=True)
    except OSError:
        pass


def read(path, default=""):
    try:
        return Path(path).read_text(errors="replace").strip()
    except OSError:
        return default


def handle_signals():
    """Each of them is a Ctrl-C, also where a shell has had SIGINT ignored. nohup is nohup."""
    for number in SIGNALS:
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, interrupted)


def interrupted(*_):
    """A second one is not to keep the first one's end from putting all back."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def run(argv, work, cpus=(), limit=LIMIT, errors=subprocess.PIPE):
    """A program's (status, output, errors); 124 if it takes longer than its limit. () is any CPU.

    All that it may have started is in a session of its own, and is ended with it. With
    errors=STDOUT, its errors are among its output, and None is in their place.
    """
    process = start(argv, work, cpus, stdin=subprocess.DEVNULL, stderr=errors)
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        out, err = rest(process)
        return 124, out, (err or "") + "\ntook longer than %d s" % limit
    except BaseException:
        close(process)
        raise
    return process.returncode, out, err


def start(argv, work, cpus=(), **more):
    def prepare():
        os.setsid()
        if cpus:
            os.sched_setaffinity(0, cpus)
    more.setdefault("stderr", subprocess.PIPE)
    return subprocess.Popen([str(arg) for arg in argv], stdout=subprocess.PIPE,
                            universal_newlines=True, errors="replace", env=environment(work),
                            cwd=str(work), preexec_fn=prepare, **more)


def session(number):
    """The processes of a session that have not ended."""
    for file in Path("/proc").glob("[0-9]*/stat"):
        fields = read(file).rpartition(")")[2].split()
        if len(fields) > 3 and fields[3] == str(number) and fields[0] not in "ZX":
            yield int(file.parent.name)


def end(process):
    """End a program and all of its session: they may be in other groups, and may start more."""
    last = time.monotonic() + END_LIMIT
    left = set(session(process.pid)) | ({process.pid} if process.returncode is None else set())
    while left and time.monotonic() < last:
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        process.poll()
        left = list(session(process.pid))
        time.sleep(0.01 if left else 0)


def rest(process):
    """(output, errors) of a program that is ended."""
    end(process)
    try:
        return process.communicate(timeout=END_LIMIT)
    except subprocess.TimeoutExpired:
        # Somebody in another session has its pipes, or the kernel does not let it go.
        close(process)
        return "", ""


def close(process):
    """End it, and close what it was spoken to by."""
    end(process)
    try:
        process.wait(timeout=END_LIMIT)
    except subprocess.TimeoutExpired:
        # The kernel does not let it go.
        pass
    for file in (process.stdin, process.stdout, process.stderr):
        try:
            if file:
                file.close()
        except OSError:
            # What was written, and not read by anyone.
            pass


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"
