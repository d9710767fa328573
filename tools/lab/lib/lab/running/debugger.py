# SPDX-License-Identifier: GPL-2.0-only
"""'lab gdb': gdb on a guest that stops before its kernel's first instruction."""

import os
import subprocess
import tempfile
import time
from pathlib import Path

from lab.base import paths, proc, ui
from lab.base.errors import LabError

SOCKET_TRIES = 100
SECTION = ".debug_info"


def check_symbols(image: str) -> None:
    """gdb without debug information is of little use: say how to have it."""
    if SECTION not in proc.output(["readelf", "-SW", image]):
        raise LabError(f"{image} has no debug information",
                       "build one that has with 'lab build --debug' and use 'lab gdb --debug'")


def wait_for(socket: str, guest: subprocess.Popen[bytes], log: Path) -> None:
    """QEMU makes the socket before it starts the machine."""
    for _ in range(SOCKET_TRIES):
        if os.path.exists(socket):
            return
        if guest.poll() is not None:
            break
        time.sleep(0.1)
    raise LabError("the guest did not start", f"see {log}", log=log)


def attach(kernel: str, run_options: list[str], command: list[str]) -> int:
    """gdb in the foreground, the guest behind it; gdb's end ends the guest."""
    gdb = proc.require("gdb")
    check_symbols(kernel)
    log = paths.log_file("gdb")
    with tempfile.TemporaryDirectory(prefix="lab.") as directory, open(log, "wb") as out:
        socket = os.path.join(directory, "gdb")
        guest = subprocess.Popen(
            [paths.LAB_DIR / "lab", "run", *run_options, "--gdb-socket", socket, "--", *command],
            stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)
        try:
            wait_for(socket, guest, log)
            ui.say(f"lab: the guest's output goes to {log}")
            sources = f"set substitute-path {paths.DEBUG_ROOT} {paths.build_dir()}"
            return subprocess.call([gdb, "-q", "-ex", sources, "-ex", f"target remote {socket}",
                                    kernel])
        finally:
            guest.terminate()
            guest.wait()
