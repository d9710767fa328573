# SPDX-License-Identifier: GPL-2.0-only
"""Plugins of QEMU's TCG: how they are built, and how a guest gets one."""

from pathlib import Path

from lab.base import paths, proc
from lab.compiling import qemu


def header() -> Path:
    """Where qemu-plugin.h is; with LAB_QEMU it may be in nothing but the source as it was fetched."""
    places = (qemu.tree(), paths.in_build("src/qemu-stock"))
    return next((place for place in places if place.exists()), places[0]) / "include/qemu"


def make(source: Path, plugin: Path, log: Path) -> Path:
    glib = proc.output(["pkg-config", "--cflags", "--libs", "glib-2.0"]).split()
    proc.run(["gcc", "-std=gnu11", "-Wall", "-Wextra", "-O2", "-fPIC", "-shared", f"-I{header()}",
              "-o", paths.to_write(plugin), source, *glib], log,
             failed=f"cannot build {source.name}")
    return plugin


def stand_in(script: Path, emulator: str | Path, plugin: str) -> Path:
    """In the place of QEMU, it adds a plugin, with its arguments, to what the runner asks for."""
    script.write_text("#!/bin/sh\n"
                      'case "$*" in *,help*) plugin= ;; *) plugin=1 ;; esac\n'
                      f'exec "{emulator}" "$@" ${{plugin:+-plugin "{plugin}"}}\n')
    script.chmod(0o755)
    return script
