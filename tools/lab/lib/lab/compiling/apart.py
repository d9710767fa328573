# SPDX-License-Identifier: GPL-2.0-only
"""A build directory of a test's own, so that the lab's kernel is never what a test has made."""

import os
from pathlib import Path

from lab.base import paths, sources, stamp


def build_below(name: str) -> Path:
    """
    Build below this directory of the lab's build directory from here on; the lab's own directory.

    The tree and its objects are at the same paths from there, so that whatever they have in common
    with the lab's kernel comes out of the cache.
    """
    lab = paths.build_dir()
    os.environ["LAB_BUILD"] = str(lab / name)
    stock = paths.to_write(sources.kernel())
    stock.unlink(missing_ok=True)
    stock.symlink_to(lab / "src" / stock.name)
    stamp.write("version-linux", (lab / "stamps/version-linux").read_text())
    return lab
