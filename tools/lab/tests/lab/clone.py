# SPDX-License-Identifier: GPL-2.0-only
"""Second checkouts for tests: what they share with this one, and what they know of it."""

import os
import shutil
import subprocess

from lab.base import paths

# What a build fetches, and the stamps that say so.
SOURCES = ("src/linux-stock", "src/qemu-stock", "meson", "libipt", "firmware")
STAMPS = ("src-*", "version-*")
KEPT = ("LAB_CACHE", "LAB_PATIENCE")


def seed(build):
    """The sources in a build directory as they are once fetched and checked: by hard links."""
    for part in SOURCES:
        paths.to_write(build / part)
        subprocess.run(["cp", "-al", paths.in_build(part), build / part], check=True)
    for pattern in STAMPS:
        for file in paths.in_build("stamps").glob(pattern):
            shutil.copy(file, paths.to_write(build / "stamps" / file.name))


def environment():
    """That of somebody who has a clone: next to nothing of what the lab has told the test."""
    return {name: value for name, value in os.environ.items()
            if name in KEPT or not name.startswith(("LAB", "MAKE", "CCACHE"))}
