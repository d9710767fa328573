# SPDX-License-Identifier: GPL-2.0-only
"""'lab dist': the series for all bases, with its parts and range-diffs, as one archive of a release.

Of the same commit and sender, it is the same byte by byte.
"""

import shutil
from pathlib import Path

from lab.base import bases, paths, ui
from lab.building import build
from lab.packaging import kit
from lab.series import series

NAME = "perf-aux-series"
# What says how it is used, and under which licence
PAGES = ("Documentation/lab/series.rst", "NEWS.rst", "COPYING")


def write(sender: series.Sender | None) -> dict[str, Path]:
    """{base: directory of its patches}, of all bases unless one is chosen."""
    found, chosen = {}, paths.base_name()
    for name in bases.names() if chosen == paths.DEFAULT_BASE else [chosen]:
        with bases.chosen(name):
            build.patches(sender, changes=True)
            found[name] = series.patches_dir()
    return found


def make(sender: series.Sender | None) -> Path:
    """build/dist/perf-aux-series-VERSION.tar.xz; its path."""
    directory = paths.in_build("dist")
    place = directory / f"{NAME}-{kit.version()}"
    archive = directory / f"{place.name}.tar.xz"
    found = write(sender)
    with build.locked("dist"), ui.step("Packing the series") as step:
        shutil.rmtree(directory, ignore_errors=True)
        for name, patches in found.items():
            shutil.copytree(patches, place / name)
        for page in PAGES:
            shutil.copy(paths.ROOT / page, place)
        kit.pack(place, archive, kit.time_of_commit())
        step.note = f"{paths.shown(archive)}, {archive.stat().st_size >> 10} KiB"
    return archive
