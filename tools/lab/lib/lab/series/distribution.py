# SPDX-License-Identifier: GPL-2.0-only
"""What a distribution takes of the series beside the patches for 'git am'.

    NAME.mbox    all of them as one mailbox
    quilt/       for debian/patches: features/NAME/*.patch with DEP-3 headers, and lines for 'series'
    kconfig      the options that the series brings, as a distribution wants them
    changelog    an entry for debian/changelog
    impact       of a part of fixes: which CVEs it ends, and what any user or others can cause
    manifest     what goes from the base, what has its place, and what stable releases fixed there
"""

import email.utils
import re
import textwrap
from collections.abc import Iterable
from pathlib import Path

from lab.assembling import definitions, steps as steps_mod
from lab.base import bases, paths, sources, stamp
from lab.compiling import kconfig
from lab.base.errors import LabError
from lab.base.lists import without_comments

NAME = "perf-aux"
COLUMNS = 76
OPTION = re.compile(r"^(?:menu)?config (\w+)$")
PROMPT = re.compile(r"\s+(?:bool|tristate|prompt) \"(.*?)\"")
# Who can cause what a fix ends, in the words of its message
ANYBODY = "any user"
FIXED_IN = re.compile(r"(\S+)\s+(\S.*?)\s+->\s+(\S+)")
PREFIX = re.compile(r"^Subject: \[PATCH[^]]*\] ", re.MULTILINE)
# Whom a mail is for, on one line or several
FOR = re.compile(r"^(?:To|Cc): .*(?:\n\s+.*)*\n?", re.MULTILINE)
# A pick of mainline, see upstream.py
MAINLINE = re.compile(r"^\[ Upstream commit ([0-9a-f]{40}) \]$", re.MULTILINE)
ADAPTED = re.compile(r"^\[ (?:.*: )?adapted: ", re.MULTILINE)
CVE = re.compile(r"\bCVE-\d{4}-\d{4,}\b")
COMMITS = "https://git.kernel.org/linus/"


def mailbox(patches: Iterable[Path]) -> str:
    """All patches as 'git am' takes them at once; the cover letter changes nothing."""
    return "".join(file.read_text() for file in patches)


def with_dep3(patch: str) -> str:
    """A patch with the header fields that Debian's patches have, in place of git's own."""
    head, blank, rest = patch.partition("\n\n")
    head = FOR.sub("", PREFIX.sub("Subject: ", head.partition("\n")[2])).rstrip("\n")
    message = rest.partition("\n---\n")[0]
    same = MAINLINE.search(message)
    kind = "backport" if ADAPTED.search(message) else "upstream"
    origin = f"{kind}, {COMMITS}{same[1]}" if same else "other"
    forwarded = "not-needed" if same else "no"
    date = email.utils.parsedate_to_datetime(re.findall(r"^Date: (.*)$", head, re.MULTILINE)[0])
    return (f"{head}\nOrigin: {origin}\nForwarded: {forwarded}\n"
            f"Last-Update: {date:%Y-%m-%d}{blank}{rest}")


def patches_of(place: Path) -> list[Path]:
    """The patches in a directory, but for the letter."""
    return [file for file in sorted(place.glob("*.patch")) if not file.name.startswith("0000-")]


def write_quilt(place: Path, patches: Iterable[Path], kind: str = "features") -> None:
    """For debian/patches, where what is new and what is a fix are apart."""
    lines = []
    for file in patches:
        path = f"{kind}/{NAME}/{file.name}"
        paths.to_write(place / path).write_text(with_dep3(file.read_text()))
        lines.append(f"{path}\n")
    (place / "series").write_text("".join(lines))


def prompts(text: str) -> dict[str, str]:
    """{symbol: prompt} of a Kconfig file's options that have one."""
    found, symbol = {}, ""
    for line in text.splitlines():
        if match := OPTION.match(line):
            symbol = match[1]
        elif re.match(r"\s+help$|\S", line):
            # Words of the help text are no prompt.
            symbol = ""
        elif symbol and (match := PROMPT.match(line)):
            found[symbol] = match[1]
    return found


def options(changed: dict[str, tuple[bytes, bool] | None], base: Path) -> dict[str, str]:
    """{symbol: prompt} of the options that a user can choose and that the base does not have."""
    found = {}
    for path, what in changed.items():
        if "Kconfig" not in path.rpartition("/")[2] or what is None:
            continue
        before = (base / path).read_text() if (base / path).is_file() else ""
        known = prompts(before)
        found.update({symbol: prompt for symbol, prompt in prompts(what[0].decode()).items()
                      if symbol not in known})
    return found


def fragment(found: dict[str, str]) -> str:
    """What the packages of 'make deb' have; tests within the kernel are for a kernel of one's own.

    Not what the lab's kernels have: some of these are built with the tests.
    """
    wanted = kconfig.merge(kconfig.packaged())
    lines = []
    for symbol, prompt in sorted(found.items()):
        value = wanted.get(f"CONFIG_{symbol}")
        lines += [f"# {prompt}", f"CONFIG_{symbol}={value}" if value
                  else f"# CONFIG_{symbol} is not set"]
    return "\n".join(lines) + "\n"


def changelog(title: str, steps: list[steps_mod.Step]) -> str:
    """An entry as those of Debian's kernel: a line for the whole, one for each patch below it."""
    lines = textwrap.wrap(f"{title}:", COLUMNS, initial_indent="  * ", subsequent_indent="    ")
    for step in steps:
        lines += textwrap.wrap(step.subject, COLUMNS, initial_indent="    - ",
                               subsequent_indent="      ", break_on_hyphens=False)
    return "\n".join(lines) + "\n"


def impact(steps: list[steps_mod.Step]) -> str:
    """A row for each fix: those of a CVE first, then what any user can cause."""
    rows = []
    for step in steps:
        who, what, *_ = [*step.impact, "", ""]
        rows.append((", ".join(dict.fromkeys(CVE.findall(step.message))) or "-", who, what,
                     step.subject))
    rows.sort(key=lambda row: (row[0] == "-", row[1] != ANYBODY))
    return "\n".join(table(("CVE", "who", "what happens", "patch that ends it"), rows)) + "\n"


def stable_fixes(file: Path) -> list[tuple[str, str, str]]:
    """[(release, subject, place)] of what stable releases changed in code that goes."""
    found = []
    for number, line in without_comments(file):
        match = FIXED_IN.fullmatch(line)
        if not match or not (paths.OVERLAY_DIR / match[3]).exists():
            raise LabError(f"{paths.shown(file)}:{number}: '{line}' is not a line of the list",
                           "write 'RELEASE SUBJECT -> PATH', a path of ours")
        found.append((match[1], match[2], match[3]))
    return found


def table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Columns as wide as what is in them, under a line of their heads."""
    widths = [max(map(len, column)) for column in zip(heads, *rows)]
    return [" ".join(f"{cell:<{width}}" for cell, width in zip(row, widths)).rstrip()
            for row in (heads, *rows)]


def manifest(steps: list[steps_mod.Step], base: Path) -> str:
    package, version = bases.current().package, stamp.read("version-linux")
    gone = [(one.key, one.step, one.place or "nothing")
            for one in definitions.of_steps(steps, base)]
    whole = sorted(path for step in steps for path, names in step.drops.items() if names is None)
    stable = stable_fixes(bases.current().directory / "stable")
    lines = [f"What the series takes out of {package} {version}, and what has its place.", "",
             "Files that go as a whole", "------------------------", "", *(whole or ["none"]), "",
             "Definitions that go", "-------------------", "",
             *table(("file: name", "step", "in its place"), gone), "",
             "What stable releases have changed in them", "-" * 41, "",
             *(table(("release", "subject", "in ours"), stable) if stable else ["none is known"])]
    return "\n".join(lines) + "\n"


def write(place: Path, title: str, steps: list[steps_mod.Step],
          changed: dict[str, tuple[bytes, bool] | None]) -> None:
    """All of it into the directory of the patches; changed is {path: what series.content() says}."""
    patches = patches_of(place)
    (place / f"{NAME}.mbox").write_text(mailbox(patches))
    write_quilt(place / "quilt", patches)
    (place / "kconfig").write_text(fragment(options(changed, sources.kernel())))
    (place / "changelog").write_text(changelog(title, steps))
    (place / "manifest").write_text(manifest(steps, sources.kernel()))


def write_fixes(place: Path, name: str, title: str, steps: list[steps_mod.Step]) -> None:
    """What it takes of a part that fixes the base, which brings no option and takes nothing out."""
    patches = patches_of(place)
    (place / f"{name}.mbox").write_text(mailbox(patches))
    write_quilt(place / "quilt", patches, "bugfix")
    (place / "changelog").write_text(changelog(title, steps))
    (place / "impact").write_text(impact(steps))
