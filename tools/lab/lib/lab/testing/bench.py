# SPDX-License-Identifier: GPL-2.0-only
"""'lab bench [NAME]': runs the executables *.bench of tools/lab/bench and tools/emulator/bench."""

import os
import subprocess
from pathlib import Path

from lab.base import paths
from lab.testing import tests
from lab.base.errors import LabError


def discover() -> list[Path]:
    places = (paths.BENCH_DIR, paths.EMULATOR_DIR / "bench")
    return sorted((file for place in places for file in place.glob("*.bench")
                   if os.access(file, os.X_OK)), key=lambda file: file.stem)


def run(name: str) -> int:
    files = [f for f in discover() if not name or f.stem == name]
    if not files:
        raise LabError(f"no benchmark '{name}'" if name else "no benchmarks yet",
                       "'lab list' names those that there are")
    status = 0
    for file in files:
        done = subprocess.run([str(file)], cwd=paths.ROOT, env=tests.environment(), check=False)
        status = status or done.returncode
    return min(status, 1)
