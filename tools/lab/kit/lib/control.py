# SPDX-License-Identifier: GPL-2.0-only
"""perf, told by a pipe what to do; by another one it says that it has done it."""

import os
import subprocess

from common import answering, start


class Control:
    """Use it by 'with'. perf --control, started by start(), takes its orders."""

    def __init__(self, what):
        self.what = what
        self.to_perf, self.orders = os.pipe()
        self.answers, self.from_perf = os.pipe()
        self.option = "--control", "fd:%d,%d" % (self.to_perf, self.from_perf)
        self.held = [self.to_perf, self.from_perf]

    def start(self, argv, work, cpus=(), stdin=subprocess.DEVNULL):
        process = start(argv, work, cpus, stdin=stdin, pass_fds=(self.to_perf, self.from_perf))
        self._leave()
        return process

    def _leave(self):
        """perf has its ends: if it dies, there is nothing more to read."""
        while self.held:
            os.close(self.held.pop())

    def order(self, word):
        """Whether perf has done it; not if it is gone."""
        with answering(self.what):
            try:
                os.write(self.orders, (word + "\n").encode())
                return os.read(self.answers, 16).startswith(b"ack")
            except OSError:
                return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._leave()
        os.close(self.orders)
        os.close(self.answers)
