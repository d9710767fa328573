# SPDX-License-Identifier: GPL-2.0-only
"""Running of tools: output to a log file, a failure as one line that names it."""

import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lab.base import cache, ui
from lab.base.errors import LabError

# A stray PATH entry (pyenv, conda, wrappers of compilers) must not change what is built: only the
# distribution's tools are used, and the lab's cache calls the distribution's compilers.
SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
PACKAGE_OF = {
    "apt-get": "apt", "apt-cache": "apt", "apt-config": "apt",
    "dpkg-query": "dpkg", "dpkg-source": "dpkg-dev", "dpkg-deb": "dpkg",
    "gcc": "gcc", "make": "make", "ninja": "ninja-build", "patch": "patch",
    "flex": "flex", "bison": "bison", "gdb": "gdb", "tar": "tar", "xz": "xz-utils",
    "ctags": "universal-ctags", "git": "git",
}


# Those that run() has started, in any thread; once they are stopped none is started any more.
RUNNING: set[subprocess.Popen[bytes]] = set()
STOPPED = threading.Event()
LOCK = threading.Lock()


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    env = {key: value for key, value in os.environ.items()
           if key in ("HOME", "TERM", "TMPDIR", "http_proxy", "https_proxy", "no_proxy")}
    env.update(LC_ALL="C.UTF-8", PYTHONDONTWRITEBYTECODE="1", **cache.environment(SYSTEM_PATH))
    env.update(extra or {})
    return env


def require(tool: str) -> str:
    """The path of a tool, or the error that names its package."""
    path = shutil.which(tool, path=SYSTEM_PATH)
    if not path:
        package = PACKAGE_OF.get(tool, tool)
        raise LabError(f"cannot find the tool '{tool}'",
                       f"install it with 'apt-get install {package}'")
    return path


def _words(argv: Sequence[str | Path]) -> list[str]:
    """A command as strings; its tool is there."""
    words = [str(word) for word in argv]
    if "/" not in words[0]:
        require(words[0])
    return words


def jobs() -> str:
    return str(len(os.sched_getaffinity(0)))


def run(argv: Sequence[str | Path], log: Path, cwd: Path | None = None,
        env: Mapping[str, str] | None = None, on_line: Callable[[str], None] | None = None,
        failed: str | None = None, whole: bool = False) -> None:
    """Run argv with its output in the file log; raise LabError if it fails.

    on_line is called with each line of output; failed is the message of the
    error, "cannot run ..." by default. stop() leaves alone what must not end in
    the middle, as installing packages. If the cache of objects fails, not what
    is run, argv is run once more without it: make and ninja know what is done.
    """
    said: list[str] = []

    def note(line: str) -> None:
        if "ccache: error:" in line:
            said.append(line)
        if on_line:
            on_line(line)
    try:
        _run(argv, log, cwd, env, note, failed, whole)
    except LabError:
        if not cache.has_failed("\n".join(said)):
            raise
        ui.say(f"lab: the cache fails ({said[0]}), going on without it: "
               "'lab clean --cache' empties it, LAB_CACHE=off turns it off")
        _run(argv, log, cwd, env, on_line, failed, whole)


def _run(argv: Sequence[str | Path], log: Path, cwd: Path | None, env: Mapping[str, str] | None,
         on_line: Callable[[str], None] | None, failed: str | None, whole: bool) -> None:
    words = _words(argv)
    with open(log, "ab", buffering=0) as out:
        out.write(f"$ {' '.join(words)}\n".encode())
        process = _start(words, whole, cwd=cwd, env=environment(env),
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT)
        try:
            assert process.stdout
            for line in process.stdout:
                out.write(line)
                if on_line:
                    on_line(line.decode(errors="replace").rstrip())
        except BaseException:
            process.terminate()
            raise
        finally:
            status = wait(process)
    if status:
        raise LabError(failed or f"cannot run {os.path.basename(words[0])}",
                       f"see the end of {log}", log=log)


def _start(argv: list[str], whole: bool, **options: Any) -> subprocess.Popen[bytes]:
    with LOCK:
        if STOPPED.is_set():
            raise LabError("stopped", "run the command again")
        process = subprocess.Popen(argv, **options)
        RUNNING.update([] if whole else [process])
    return process


def wait(process: subprocess.Popen[bytes]) -> int:
    """Wait for a command; what it used of the CPUs is its step's, whatever else runs meanwhile."""
    _, status, usage = os.wait4(process.pid, 0)
    with LOCK:
        RUNNING.discard(process)
        process.returncode = os.waitstatus_to_exitcode(status)
    ui.spent(usage.ru_utime + usage.ru_stime)
    return process.returncode


def call(argv: Sequence[str | Path], **options: Any) -> int:
    """The status of a command that is ended with us, and has its output where the options say."""
    with subprocess.Popen(argv, **options) as process:
        try:
            return wait(process)
        except BaseException:
            process.terminate()
            raise


def stop() -> None:
    """End what runs in all threads, for one that has failed or for the user."""
    with LOCK:
        STOPPED.set()
        for process in RUNNING:
            process.terminate()


def output(argv: Sequence[str | Path], env: Mapping[str, str] | None = None,
           cwd: Path | None = None) -> str:
    """Standard output of a short command that must succeed."""
    words = _words(argv)
    done = subprocess.run(words, env=environment(env), cwd=cwd, text=True,
                          capture_output=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise LabError(f"cannot run {' '.join(words[:3])}", reason)
    return done.stdout
