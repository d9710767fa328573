# SPDX-License-Identifier: GPL-2.0-only
"""'lab bench [NAME]': runs the executables tools/lab/bench/*.bench."""

import os
import subprocess

import paths
import tests
from errors import LabError


def discover():
    return sorted(f for f in paths.BENCH_DIR.glob("*.bench") if os.access(f, os.X_OK))


def run(name):
    files = [f for f in discover() if not name or f.stem == name]
    if not files:
        raise LabError(f"no benchmark '{name}'" if name else "no benchmarks yet",
                       "'lab list' names those that there are")
    status = 0
    for file in files:
        done = subprocess.run([str(file)], cwd=paths.ROOT, env=tests.environment(), check=False)
        status = status or done.returncode
    return min(status, 1)
