# SPDX-License-Identifier: GPL-2.0-only
"""The processes of tests: each ends with all that it has started, and all end with us.

A test has a session, and so a process group, of its own. A signal to us reaches none of them, and
only the main thread learns of it, while other threads wait for tests: end() is for the main one.
"""

import os
import signal
import subprocess
import threading
from typing import Any


class Ended(Exception):
    """No process is started any more."""


class Children:
    """
    Processes that are running. The lock is for 'alive' and 'ended': what is started either is seen
    by end() or is not started.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.alive: set[subprocess.Popen[Any]] = set()
        self.ended = False

    def start(self, *args: Any, **options: Any) -> subprocess.Popen[Any]:
        with self.lock:
            if self.ended:
                raise Ended
            process = subprocess.Popen(*args, start_new_session=True, **options)
            self.alive.add(process)
        return process

    def stop(self, process: subprocess.Popen[Any]) -> None:
        """Kill what is left of a process and of its group."""
        with self.lock:
            self.alive.discard(process)
        _kill(process)
        process.wait()

    def end(self) -> None:
        """Kill all; those who wait for one of them are woken by that."""
        with self.lock:
            self.ended = True
            for process in self.alive:
                _kill(process)


def _kill(process: subprocess.Popen[Any]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
