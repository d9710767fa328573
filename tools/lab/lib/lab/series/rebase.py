# SPDX-License-Identifier: GPL-2.0-only
"""'lab rebase': another release of the base, and what it has changed in what the series drops.

The hooks of a step say themselves whether they still apply. What has changed in a definition that
goes does not show, and may be a fix that ours needs as well. So each such change is shown, and the
release is taken only when all of them are acknowledged in patches/<base>/reviewed.
"""

import difflib
import os
import re
import shutil
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path

from lab.assembling import assemble, definitions, steps as steps_mod
from lab.base import apt, bases, host, paths, sources, stamp, ui
from lab.base.errors import LabError, for_base


def reviewed_file() -> Path:
    return bases.current().directory / "reviewed"


def not_as_compared(dropped: list[definitions.Definition]) -> list[definitions.Definition]:
    """Those of the definitions that the list has otherwise, or not."""
    _, known = definitions.read_reviewed(reviewed_file())
    return [one for one in dropped if known.get(one.key) != one.hash]


def unreviewed(found: list[steps_mod.Step], base: Path) -> list[definitions.Definition]:
    """Of what the steps drop from this source, what is not as it was compared."""
    return not_as_compared(definitions.of_steps(found, base))


def remark(found: list[steps_mod.Step]) -> str:
    """A line about a source that is not the one which was compared, or ''."""
    release, _ = definitions.read_reviewed(reviewed_file())
    version = stamp.read("version-linux")
    if not release or version == release:
        return ""
    changed = len(unreviewed(found, sources.kernel()))
    return for_base(f"{version} has changed {changed} definitions that the series drops, since "
                    f"{release}: 'lab rebase' shows them") if changed else ""


def new_tree() -> Path:
    return paths.in_build("src", "linux-new")


def fetch(release: str, step: ui.Step) -> tuple[str, Path]:
    """(version, tree) of a release, the newest without a name, beside the source that is built."""
    base = bases.current()
    private = apt.Apt(host.codename())
    private.refresh(step)
    version = private.newest(base.package, re.escape(release) + "(-.*)?" if release else ".*",
                             base.suites)
    step.note = version
    if version == stamp.read("version-linux"):
        return version, sources.kernel()
    if version != stamp.read("version-linux-new") or not new_tree().exists():
        stamp.clear("version-linux-new")
        sources.unpack_kernel(private, version, new_tree(), step)
        stamp.write("version-linux-new", version)
    return version, new_tree()


def diff_of(old: definitions.Definition | None, new: definitions.Definition) -> str:
    """What has changed in a definition, as a unified diff."""
    before = old.text.splitlines() if old else []
    return "\n".join(difflib.unified_diff(before, new.text.splitlines(), f"a/{new.path}",
                                          f"b/{new.path}", lineterm=""))


def is_meant(one: definitions.Definition, patterns: list[str]) -> bool:
    return any(fnmatchcase(f"{one.path}:{one.name}", pattern) or one.name == pattern
               for pattern in patterns)


def acknowledge(found: list[definitions.Definition], version: str,
                patterns: list[str]) -> list[definitions.Definition]:
    """
    Write down that changes with these names were compared; the changes that are left.

    With none left, the list is one of this release.
    """
    release, known = definitions.read_reviewed(reviewed_file())
    changed = not_as_compared(found)
    for pattern in patterns:
        if not any(is_meant(one, [pattern]) for one in changed):
            raise LabError(f"nothing that has changed is called '{pattern}'",
                           "name it as PATH:NAME, as this command shows it")
    left = [one for one in changed if not is_meant(one, patterns)]
    hashes = {one.key: one.hash for one in found if one not in left}
    hashes.update({one.key: known[one.key] for one in left if one.key in known})
    if patterns or not left:
        reviewed_file().write_text(definitions.as_list(release if left else version, hashes))
    return left


def version_of(tree: Path) -> str:
    """The release that a tree's Makefile names."""
    text = (tree / "Makefile").read_text() if (tree / "Makefile").is_file() else ""
    numbers = re.findall(r"^(?:VERSION|PATCHLEVEL|SUBLEVEL) = (\d+)$", text, re.MULTILINE)
    if len(numbers) != 3:
        raise LabError(f"{tree} is no source of a kernel", "give a release, or an unpacked source")
    return ".".join(numbers)


def take(version: str) -> None:
    """The new source in the place of the one that is built."""
    shutil.rmtree(sources.kernel(), ignore_errors=True)
    os.rename(new_tree(), sources.kernel())
    stamp.clear("version-linux-new")
    stamp.write("version-linux", version)
    stamp.write("src-linux", "1")


def misfit_of(found: list[steps_mod.Step], tree: Path) -> LabError | None:
    """The error of the first step that does not apply to the tree; hooks with fuzz are named."""
    work = paths.in_build("src", "linux-new.layer")
    shutil.rmtree(work, ignore_errors=True)
    try:
        assemble.assemble(found, tree, work)
    except LabError as error:
        return error
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return None


def show(changed: list[definitions.Definition],
         old: dict[str, definitions.Definition]) -> None:
    for one in changed:
        print(f"\n{one.path}:{one.name} (dropped by {one.step})")
        print(diff_of(old.get(one.key), one) or "not compared yet, and the same as in the source "
              "that is built", flush=True)


def find(release: str, get: Callable[[str, ui.Step], tuple[str, Path]]) -> tuple[str, Path]:
    """(version, tree) of what is asked for; a directory is taken as it is."""
    if release and Path(release).is_dir():
        return version_of(Path(release)), Path(release)
    with ui.step("Fetching the release") as step:
        return get(release, step)


def count_of(left: list[definitions.Definition], fresh: list[definitions.Definition]) -> str:
    return f"\nNot as compared: {len(left)} of {len(fresh)}."


def say_left(release: str, left: list[definitions.Definition],
             fresh: list[definitions.Definition]) -> None:
    """How many are to be compared, and how they are acknowledged then."""
    stable = paths.shown(bases.current().directory / "stable")
    again = for_base(f"'lab rebase {release}".rstrip())
    print(f"{count_of(left, fresh)} Compare each with what ours does in its place. What fixes "
          f"something\nis also a line of {stable}. Then: {again} --acknowledge PATH:NAME'", flush=True)


def run(release: str, patterns: list[str],
        get: Callable[[str, ui.Step], tuple[str, Path]] = fetch) -> int:
    """All of 'lab rebase'; the exit status."""
    # Of a directory nothing is taken, and nothing is written down.
    looked_at = bool(release) and Path(release).is_dir()
    if looked_at and patterns:
        raise LabError(f"{release} is only looked at, so nothing is acknowledged",
                       "name a release to take: 'lab rebase RELEASE --acknowledge PATH:NAME'")
    found = steps_mod.read()
    if not sources.kernel().exists():
        raise LabError(f"there is no source of {bases.current().name} to compare with",
                       "run 'lab build'")
    bases.check()
    assemble.check_edited(paths.SERIES)
    version, tree = find(release, get)
    misfit = misfit_of(found, tree)
    old = {one.key: one for one in definitions.of_steps(found, sources.kernel())}
    fresh = definitions.of_steps(found, tree)
    for key in old.keys() - {one.key for one in fresh}:
        ui.say(f"  {key} is not there any more")
    if misfit:
        # What the release has changed is what whoever makes the steps fit wants to see.
        show(not_as_compared(fresh), old)
        raise misfit
    left = not_as_compared(fresh) if looked_at else acknowledge(fresh, version, patterns)
    show(left, old)
    if left and looked_at:
        print(count_of(left, fresh), flush=True)
    elif left:
        say_left(release, left, fresh)
    if left:
        return 1
    taken = tree == new_tree() and not looked_at
    if taken:
        take(version)
    ui.say(for_base(f"  {version} fits" + ("; 'lab build' builds it" if taken else "")))
    return 0
