# SPDX-License-Identifier: GPL-2.0-only
"""The user's terminal in raw mode while a guest's shell has it."""

import sys
import termios
import tty
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def with_raw_terminal(call: Callable[[], T]) -> T:
    """Keys such as Ctrl-C go to the guest; the old mode comes back in any case."""
    fd = sys.stdin.fileno()
    saved = termios.tcgetattr(fd)
    tty.setraw(fd)
    try:
        return call()
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, saved)
