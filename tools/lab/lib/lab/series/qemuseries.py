# SPDX-License-Identifier: GPL-2.0-only
"""'lab qemu-series': the models as patches that 'git am' takes onto Debian's source of QEMU.

What 'lab series' is for the kernel: tools/emulator/qemu/patches/ has a directory for each release of
QEMU that the steps fit, and the lab's own QEMU is the sum of the steps for the first of them.
"""

from pathlib import Path

from lab.base import apt, bases, paths, sources, stamp, ui
from lab.compiling import qemu
from lab.series import distribution, series
from lab.base.errors import LabError

MAILBOX = "qemu-perfmon.mbox"
# The models' entry in QEMU's MAINTAINERS; its person is who sends the patches.
ENTRY = b"\nX86 TCG trace and performance monitoring\n"


def releases() -> list[str]:
    return bases.names(qemu.home())


def check(release: str) -> None:
    """Refuse a release that there is none of, before anything is fetched."""
    if release not in releases():
        raise LabError(f"the patches are for no QEMU '{release}'",
                       f"use {' or '.join(releases())}")


def patches_dir(release: str) -> Path:
    return paths.in_build(f"qemu-series-{release}")


def target(release: str) -> series.Target:
    version = stamp.read(sources.qemu_key(release))
    return series.Target(sources.qemu_stock(release), f"QEMU {version}, as Debian has it",
                         paths.in_build(f"qemu-series-{release}.git"), patches_dir(release),
                         qemu.home() / "cover")


def suites(release: str) -> tuple[str, ...]:
    return bases.read(release, qemu.home()).suites


def fetch(step: ui.Step, release: str, codename: str) -> None:
    """Have the source of a release; without the network if it is there."""
    key = f"src-qemu-{release}"
    if release == sources.QEMU_RELEASE:
        return
    if stamp.is_current(key, "1") and sources.qemu_stock(release).exists():
        step.note = "up to date"
        return
    stamp.clear(key)
    for suite in suites(release):
        try:
            sources.fetch_qemu(apt.sources_of(suite, codename, step), step, release)
            break
        except LabError as error:
            # A mirror may have one of the suites only, or a release in it that has expired.
            if suite == suites(release)[-1]:
                raise
            ui.say(f"  {suite}: {error}")
    stamp.write(key, "1")


def with_person(text: bytes, sender: series.Sender | None) -> bytes:
    """QEMU's MAINTAINERS, with a person for the models' entry if there is one and somebody sends."""
    if not sender:
        return text
    return text.replace(ENTRY, ENTRY + "M: {} <{}>\n".format(*sender).encode())


def write(step: ui.Step, release: str, sender: series.Sender | None) -> None:
    """The patches, one mailbox of them, and the cover letter."""
    found = qemu.steps(release)
    left = qemu.unlisted(found) if release == qemu.RELEASE else []
    if left:
        raise LabError(f"no step of QEMU's brings {left[0]}",
                       "list it in the 'files' of a step, or remove it")
    qemu.check_edited(release)

    def mailbox(_cover: str, _taken: list[series.Changes], _work: Path) -> None:
        out = patches_dir(release)
        (out / MAILBOX).write_text(distribution.mailbox(distribution.patches_of(out)))

    def adapt(taken: list[series.Changes]) -> None:
        for changed in taken:
            text, program = changed.get("MAINTAINERS") or (b"", False)
            if ENTRY in text:
                changed["MAINTAINERS"] = with_person(text, sender), program
    series.write_steps(target(release), found, sender, mailbox, adapt)
    step.note = series.note_of(target(release), found)
