# SPDX-License-Identifier: GPL-2.0-only
"""Programs of the tests of Intel PT that print TAP in a guest."""

import subprocess

import recording

from lab.base import paths

NATIVE = recording.TESTS / "native"
SELFTESTS = paths.ROOT / "tools/testing/selftests/perf_events"
# The kernel knows by the model whether PT and last branch records can be on together.
COEXIST = ("--cpu", "Icelake-Server")
# NMIs that are emulated take longer than real ones: nobody shall be throttled for that.
UNTHROTTLED = "echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent; "
# The kernel's own detector has an event on each CPU then. It interrupts after 2.5 billion cycles,
# which is no part of this: pinned events with shorter periods do.
WATCH = ("cd /proc/sys/kernel; echo 1 >watchdog_thresh; echo 1 >nmi_watchdog; "
         "dmesg | grep -q 'NMI watchdog: Enabled' || exit 1; ")


def has_debug_kernel():
    return paths.vmlinux(paths.default_kernel(), debug=True).exists()


def compile_all(sources, target):
    """A static program of files of this directory, and of what the kselftests share."""
    files = [recording.TESTS / "pt" / name for name in sources]
    recording.compile_c(files[0], target, "-O2", "-static", f"-I{NATIVE}",
                        f"-I{SELFTESTS}", *map(str, files[1:]), str(NATIVE / "points.c"),
                        str(NATIVE / "partner.c"), str(SELFTESTS / "aux_util.c"))
    return target


def relay(tap, command, *options, prefix="", timeout=120):
    """Run it; its results, and one more: that it came to its end without a complaint."""
    done = subprocess.run([recording.LAB, "run", "--timeout", str(timeout), *map(str, options),
                           "--", *map(str, command)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                          errors="replace", check=False)
    lines = done.stdout.splitlines()
    count, failed, plan = tap.relay(lines, prefix)
    tap.result(count and plan == count and done.returncode == (1 if failed else 0),
               f"{prefix}the program reaches its end, and the kernel has no complaint",
               *lines[-25:])
