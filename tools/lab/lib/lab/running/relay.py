# SPDX-License-Identifier: GPL-2.0-only
"""Copies between the lab's own standard files and the guest's ports.

Each port is one end of a socket pair whose other end QEMU holds. Input is
framed (see tools/lab/guest/relay.c); output is copied as it is.
"""

import os
import selectors
import socket
import struct
import sys
from collections.abc import Iterable

CHUNK = 65536
STARTED = b"start\n"
FRAME = struct.Struct("<I")


class Ports:
    """Socket pairs: ours in .own, QEMU's descriptors in .theirs, by name."""

    def __init__(self, names: Iterable[str]) -> None:
        self.own: dict[str, socket.socket] = {}
        self.theirs: dict[str, socket.socket] = {}
        for name in names:
            own, theirs = socket.socketpair()
            own.setblocking(False)
            self.own[name], self.theirs[name] = own, theirs

    def descriptors(self) -> dict[str, int]:
        return {name: sock.fileno() for name, sock in self.theirs.items()}

    def handed_over(self) -> None:
        """QEMU has its ends now; keeping them here would hide its exit."""
        for sock in self.theirs.values():
            sock.close()

    def close(self) -> None:
        self.handed_over()
        for sock in self.own.values():
            sock.close()


class Sender:
    """Bytes on their way to a port that may not take them at once."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.data = b""

    def queue(self, data: bytes) -> None:
        self.data += data

    def push(self) -> bool:
        """Send what goes; true when nothing is left."""
        while self.data:
            try:
                self.data = self.data[self.sock.send(self.data):]
            except BlockingIOError:
                return False
            except OSError:
                self.data = b""
        return True


def read_port(sock: socket.socket) -> bytes | None:
    """What has come, None at the end of the guest."""
    try:
        return sock.recv(CHUNK) or None
    except BlockingIOError:
        return b""
    except OSError:
        return None


def write_out(fd: int, data: bytes) -> None:
    """All of it, even where standard output is a slow pipe."""
    while data:
        data = data[os.write(fd, data):]


class Relay:
    """The event loop of one run: step() handles what is ready."""

    def __init__(self, ports: Ports, stdin_fd: int, tty: bool = False) -> None:
        self.ports, self.tty = ports, tty
        self.selector = selectors.DefaultSelector()
        self.sinks = {"out": 1, "err": 2, "tty": 1}
        self.control = b""
        self.sender = Sender(ports.own["tty" if tty else "in"])
        self.control_sender = Sender(ports.own["ctl"])
        self.input_open = False
        self.escape_hits = 0
        for name, sock in ports.own.items():
            self.selector.register(sock, selectors.EVENT_READ, name)
        self.stdin_fd, self.pollable, self.input_begun = stdin_fd, False, False

    def _begin_input(self) -> None:
        """Only once the command runs: a boot that failed has eaten nothing."""
        if self.input_begun or STARTED not in self.control:
            return
        self.input_begun = self.input_open = True
        try:
            self.selector.register(self.stdin_fd, selectors.EVENT_READ, "stdin")
            self.pollable = True
        except PermissionError:
            # epoll refuses ordinary files, which are always ready.
            self.pollable = False

    def step(self, timeout: float) -> bool:
        """One round; false when the guest has closed all its ports."""
        self._begin_input()
        file_input = self.input_open and not self.pollable
        if file_input and not self.sender.data:
            self._read_stdin()
        self._wait_for_room()
        if file_input and not self.sender.data:
            timeout = 0
        for key, mask in self.selector.select(timeout):
            if mask & selectors.EVENT_READ:
                self._readable(key.data)
            if mask & selectors.EVENT_WRITE:
                self.sender.push()
        self.control_sender.push()
        return any(self._is_open(name) for name in self.ports.own)

    def _is_open(self, name: str) -> bool:
        return self.ports.own[name].fileno() in self.selector.get_map()

    def _wait_for_room(self) -> None:
        """While input waits for the guest, read no more of it."""
        name = "tty" if self.tty else "in"
        if not self._is_open(name):
            return
        blocked = not self.sender.push()
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if blocked else 0)
        self.selector.modify(self.ports.own[name], events, name)
        if self.input_open and self.pollable:
            listed = self.stdin_fd in self.selector.get_map()
            if blocked and listed:
                self.selector.unregister(self.stdin_fd)
            elif not blocked and not listed:
                self.selector.register(self.stdin_fd, selectors.EVENT_READ, "stdin")

    def _readable(self, name: str) -> None:
        if name == "stdin":
            self._read_stdin()
            return
        data = read_port(self.ports.own[name])
        if data is None:
            self.selector.unregister(self.ports.own[name])
        elif name == "ctl":
            self.control += data
        elif name in self.sinks:
            write_out(self.sinks[name], data)

    def _read_stdin(self) -> None:
        data = os.read(self.stdin_fd, CHUNK)
        if self.tty:
            self.sender.queue(data)
            self.escape_hits = self.escape_hits + 1 if data == b"\x1d" else 0
        else:
            self.sender.queue(FRAME.pack(len(data)) + data)
        if not data:
            self.input_open = False
            if self.pollable:
                self.selector.unregister(self.stdin_fd)

    def resize(self, rows: int, cols: int) -> None:
        self.control_sender.queue(f"winsize {rows} {cols}\n".encode())

    def reports(self) -> list[str]:
        """The control lines so far, those that are complete."""
        return self.control.decode(errors="replace").split("\n")[:-1]


def standard_input() -> int:
    """Our standard input, or the end of it where there is none."""
    try:
        return sys.stdin.fileno()
    except (AttributeError, ValueError, OSError):
        return os.open(os.devnull, os.O_RDONLY)
