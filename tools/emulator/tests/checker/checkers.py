# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the checkers and workloads are, and how they are built and run."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
LAB = ROOT / "tools/lab"
sys.path.insert(0, str(LAB / "lib"))

from lab.base import paths
from lab.building import build
from lab.running import plugin
from lab.testing import points
from lab.base.errors import LabError

BUILD = Path(os.environ.get("LAB_BUILD") or ROOT / "build").resolve()
CHECKER_DIR = BUILD / "checker"
WORKLOAD_DIR = BUILD / "workloads"
# With LAB_QEMU, no QEMU of this build directory is assembled. The header is in what was fetched, too.
QEMU_SRC = next((place for place in (BUILD / "src/qemu", BUILD / "src/qemu-stock")
                 if place.exists()), BUILD / "src/qemu")
# Processors with all the manners that the SDM permits, by seed; one of them runs in 'check'.
RUDE_SEEDS = [1, 2, 3]


def work_directory(name):
    """An empty directory below the build directory; it stays for a look after a failure."""
    path = BUILD / "checker-work" / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


def symbols(program):
    """{name: address} of what a program defines."""
    text = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    return {line.split()[2]: int(line.split()[0], 16) for line in text.splitlines()
            if len(line.split()) == 3}


def run(main):
    """Run a test program; what is not its matter becomes one line and exit status 1."""
    try:
        main()
    except (Failure, LabError) as failure:
        points.bail_out(failure)


class Failure(Exception):
    """A step outside of the matter under test did not work."""


def _make(source, target, *words):
    with build.locked(source.name):
        done = subprocess.run(["make", "-s", "-C", str(source), f"O={target}", *words],
                              capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"make in {source}: {done.stdout}{done.stderr}")


def build_checkers(plugin=False):
    words = [f"QEMU_SRC={QEMU_SRC}"] if plugin else []
    if os.environ.get("LIBIPT"):
        words.append(f"LIBIPT={os.environ['LIBIPT']}")
    _make(paths.EMULATOR_DIR / "checker", CHECKER_DIR, *words)


def build_workloads():
    _make(paths.WORKLOADS_DIR, WORKLOAD_DIR)


def no_m32():
    """Why there are no 32-bit programs, or an empty string."""
    reason = WORKLOAD_DIR / "no-m32"
    return reason.read_text().strip() if reason.exists() else ""


def checker(program, *args):
    """(exit status, output) of a checker."""
    done = subprocess.run([str(CHECKER_DIR / program), *map(str, args)], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def value(output, key, word=None):
    """The number after 'key:' in a checker's output; with word, the one that stands before it."""
    for line in output.splitlines():
        if line.startswith(key + ":"):
            rest = line[len(key) + 1:]
            found = re.search(rf"(\d+) {word}" if word else r"(\d+)", rest)
            return int(found.group(1)) if found else 0
    raise Failure(f"no '{key}' in: {output}")


# --- the guest ---

SYSTEM_MAP = Path(os.environ.get("LAB_VMLINUX") or
                  paths.vmlinux(paths.SERIES)).with_name("System.map")
GUEST_TIMEOUT = 420


def kernel_range(function):
    """FIRST-LAST of a function of the kernel; perf's filters end where the next symbol begins."""
    symbols = sorted((int(addr, 16), name) for addr, _, name in
                     map(str.split, SYSTEM_MAP.read_text().splitlines()))
    first = next(addr for addr, name in symbols if name == function)
    behind = next(addr for addr, _ in symbols if addr > first)
    return f"{first:#x}-{behind - 1:#x}"


def _qemu():
    return os.environ.get("LAB_QEMU") or str(BUILD / "qemu" / "qemu-system-x86_64")


def _with_plugin(share, out, options):
    oracle = f"{CHECKER_DIR}/oracle.so,out={out},map={SYSTEM_MAP}{options}"
    script = plugin.stand_in(share / "qemu-with-oracle", _qemu(), oracle)
    return {**os.environ, "LAB_QEMU": str(script)}


def guest(share, script, cpus=2, pt="", oracle=None, oracle_options="", memory=None):
    """Run a shell script in a guest; (exit status, output). share is writable there."""
    path = share / "script.sh"
    path.write_text(f"cd {share}\nPATH={WORKLOAD_DIR}:$PATH\n{script}")
    env = _with_plugin(share, oracle, oracle_options) if oracle else None
    words = [str(LAB / "lab"), "run", "--cpus", str(cpus), "--share", str(share),
             "--timeout", str(GUEST_TIMEOUT), *(["--pt", pt] if pt else []),
             *(["--memory", memory] if memory else []), "--", "sh", str(path)]
    done = subprocess.run(words, text=True, check=False, env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout


DUMP_VDSO = "vdsodump vdso64\ntest ! -x \"$(command -v vdsodump32)\" || vdsodump32 vdso32\n"


def walk(share, name, *options):
    """ptwalk over a recording in share, with the vdso that its guest dumped."""
    vdso = ["--replace", f"/init={BUILD}/guest/init"]
    for option, file in (("--vdso", "vdso64"), ("--vdso32", "vdso32")):
        if (share / file).exists():
            vdso += [option, share / file]
    return checker("ptwalk", *vdso, *options, share / name)
