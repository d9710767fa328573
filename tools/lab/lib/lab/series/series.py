# SPDX-License-Identifier: GPL-2.0-only
"""'lab series': the steps as patches that 'git am' takes onto the stock kernel.

Who sends them is their author: 'lab series --from'. Without it they have no Signed-off-by, and
whoever committed the newest change of a step is its author.

The first steps fix faults of the base. Each of them is written once more, into 'fixes', as a
patch that applies to the base alone: a distribution can take any of them and nothing else.

git makes them, from a repository that holds only the files which the steps
change: a patch says nothing of other files, so it is the same as one made in
the whole tree, without a minute's wait for 86000 files. Dates come from this
repository's history, so the same commit yields the same patches, byte by byte.
"""

import re
import shutil
import subprocess
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.assembling import assemble, layer as layer_mod, steps as steps_mod
from lab.base import bases, paths, proc, sources, stamp, trees, ui
from lab.series import distribution
from lab.base.errors import LabError

ABBREVIATION = 12
BASE_MESSAGE = "Linux {version}, as Debian has it"
SUBJECT_LIMIT = 75
LETTER_COLUMNS = 72
# A step, as the cover letter names it
NAMED = re.compile(r"\{([a-z0-9-]+)\}")
FORMAT = ["--zero-commit", "--no-signature", f"--abbrev={ABBREVIATION}", "--no-renames",
          "--diff-algorithm=histogram"]
# git must not write in a source that is another one's, run what its configuration names, or ask whose it is.
LOOKING = {"GIT_OPTIONAL_LOCKS": "0", "GIT_CONFIG_COUNT": "2", "GIT_CONFIG_KEY_0": "safe.directory",
           "GIT_CONFIG_VALUE_0": "*", "GIT_CONFIG_KEY_1": "core.fsmonitor", "GIT_CONFIG_VALUE_1": "false"}
SENDER = re.compile(r"([^<>\n]*[^<>\s]) <([^<>@\s]+@[^<>@\s]+)>")

Sender = tuple[str, str]
Content = tuple[bytes, bool]
Changes = dict[str, Content | None]


@dataclass(frozen=True)
class Target:
    """What a series of patches applies to, and where it is made."""

    # the stock source, and the subject of the commit that has it
    source: Path
    title: str
    repository: Path
    # where the patches go, and the cover letter's text
    out: Path
    cover: Path

    def git(self, *args: str | Path, env: dict[str, str] | None = None,
            text: str | None = None) -> str:
        return git(*args, where=self.repository, env=env, text=text)


More = Callable[[Target, list[steps_mod.Step], Path, Sender | None], None]


def kernel_target() -> Target:
    return Target(sources.kernel(), BASE_MESSAGE.format(version=stamp.read("version-linux")),
                  repository(), patches_dir(), bases.current().directory / "cover")


def patches_dir() -> Path:
    return paths.in_build(f"series-{paths.base_name()}")


def fixes_dir() -> Path:
    return patches_dir() / "fixes"


def repository() -> Path:
    return paths.in_build("series-git")


def git(*args: str | Path, where: Path, env: dict[str, str] | None = None,
        text: str | None = None) -> str:
    """git without the user's settings, so that they cannot change the patches."""
    done = subprocess.run(
        [proc.require("git"), "-C", str(where), *map(str, args)],
        env=proc.environment({"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1",
                              **(env or {})}),
        text=True, capture_output=True, check=False, input=text)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise LabError(f"git {args[0]} failed", reason)
    return done.stdout


def edited(tree: Path, files: Iterable[str]) -> list[str]:
    """Which of these files of a git tree are not as they were committed."""
    names = list(files)
    said = git("status", "--porcelain", "--no-renames", "-z", "--", *names, where=tree,
               env=LOOKING) if names else ""
    return [line[3:] for line in said.split("\0") if line]


def own_git(*args: str) -> str:
    """What the repository's own git says, with the user's settings; '' if nothing."""
    done = subprocess.run([proc.require("git"), "-C", str(paths.OVERLAY_DIR), *args],
                          env=proc.environment(), text=True, capture_output=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def last_change(files: Sequence[Path], form: str) -> str:
    """A field of the newest commit that touched one of the files, or of the newest at all."""
    found = own_git("log", "-1", f"--format={form}", "--", *map(str, files)) if files else ""
    return found or own_git("log", "-1", f"--format={form}")


def parse_sender(text: str) -> Sender | None:
    """(name, mail) of 'Name <address>'; None where nobody is named."""
    if not text:
        return None
    match = SENDER.fullmatch(text.strip())
    if not match:
        raise LabError(f"bad sender '{text}'", "write it as 'Name <address@example.org>'")
    return match[1], match[2]


def author(step: steps_mod.Step, sender: Sender | None) -> Sender:
    """(name, mail): who sends the patches, or who last committed what the step is made of."""
    if sender:
        return sender
    found = last_change(step.inputs(), "%an%x00%ae")
    found = found or f"{own_git('config', 'user.name')}\0{own_git('config', 'user.email')}"
    name, _, mail = found.partition("\0")
    if not name or not mail:
        raise LabError("the patches have no author", "set git's user.name and user.email")
    return name, mail


def identity(name: str, mail: str, date: str) -> dict[str, str]:
    return {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": mail, "GIT_AUTHOR_DATE": date,
            "GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": mail, "GIT_COMMITTER_DATE": date}


def date_of(files: Sequence[Path]) -> str:
    """In git's own form; without history, the beginning of time."""
    return f"@{last_change(files, '%at') or 0} +0000"


def commit(target: Target, message: str, env: dict[str, str], *options: str) -> None:
    target.git("add", "-A", "--force", ".")
    target.git("commit", "-q", "--allow-empty", "--cleanup=whitespace", "-F", "-", *options,
               env=env, text=message)


def content(file: Path) -> Content | None:
    """What git keeps of a file: bytes and whether it is a program; None for none."""
    return (file.read_bytes(), trees.is_executable(file)) if file.is_file() else None


def put(file: Path, what: Content | None) -> None:
    if what is None:
        file.unlink(missing_ok=True)
        return
    paths.to_write(file).write_bytes(what[0])
    file.chmod(0o755 if what[1] else 0o644)


def snapshots(found: list[steps_mod.Step], base: Path, work: Path, root: Path | None = None
              ) -> list[Changes]:
    """Apply the steps of a repository; [{path: content}] of what differs from the base after each."""
    assembly = assemble.Assembly(layer_mod.Layer(base, work), root or paths.OVERLAY_DIR)
    taken = []
    for step in found:
        assembly.apply(step)
        layer = assembly.layer
        taken.append({path: content(layer.file(path)) if layer.exists(path) else None
                      for path in layer.touched()})
    return taken


def commit_step(target: Target, step: steps_mod.Step, changed: Changes, first: Changes,
                sender: Sender | None) -> None:
    """Commit what differs from the base after a step; the files as first has them elsewhere."""
    for path, what in first.items():
        put(target.repository / path, changed.get(path, what))
    env = identity(*author(step, sender), date_of(step.inputs()))
    message = step.message
    if step.upstream:
        name, mail = step.upstream.author
        env |= {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": mail,
                "GIT_AUTHOR_DATE": step.upstream.date}
        message = step.upstream.message(sender[0] if sender else "")
    commit(target, message, env, *(["--signoff"] if sender else []))


def begin(target: Target, files: Iterable[str]) -> Changes:
    """The repository, with one commit of those files of the base that will change; what they are."""
    shutil.rmtree(target.repository, ignore_errors=True)
    target.repository.mkdir(parents=True)
    target.git("init", "-q", "-b", "series")
    first = {path: content(target.source / path) for path in files}
    for path, what in first.items():
        put(target.repository / path, what)
    commit(target, target.title, identity("base", "base", "@0 +0000"))
    target.git("tag", "base")
    return first


def commit_all(target: Target, found: list[steps_mod.Step], taken: list[Changes],
               sender: Sender | None) -> None:
    """The repository: one commit of the base's files that will change, one a step."""
    first = begin(target, set().union(*taken))
    for step, changed in zip(found, taken, strict=True):
        commit_step(target, step, changed, first, sender)


def commit_fixes(target: Target, found: list[steps_mod.Step], work: Path,
                 sender: Sender | None) -> None:
    """A branch for each step that fixes the base: the base with that step alone."""
    for number, step in enumerate(found, 1):
        if not step.is_fix:
            continue
        shutil.rmtree(work, ignore_errors=True)
        changed = snapshots([step], target.source, work)[0]
        target.git("checkout", "-q", "-b", step.name, "base")
        first = {path: content(target.source / path) for path in changed}
        commit_step(target, step, changed, first, sender)
        write_fix(target, step, number)
    target.git("checkout", "-q", "series")


def write_fix(target: Target, step: steps_mod.Step, number: int) -> None:
    target.git("format-patch", "-q", "-1", "-o", fixes_dir(), f"--start-number={number}",
               *FORMAT, step.name)


def check_cover(file: Path) -> str:
    """The cover letter's subject and text."""
    if not file.is_file():
        raise LabError(f"there is no {paths.shown(file)}",
                       "write the subject, a blank line and the text of the cover letter")
    subject, _, text = file.read_text().strip().partition("\n\n")
    if "\n" in subject or len(subject) > SUBJECT_LIMIT or not text.strip():
        raise LabError(f"{paths.shown(file)} is no cover letter",
                       f"write a subject of at most {SUBJECT_LIMIT} characters, a blank line, text")
    return f"{subject}\n\n{text.strip()}\n"


def numbered(cover: str, found: list[steps_mod.Step], file: Path | None = None) -> str:
    """The letter with the number of each step that it names as {step}, and wrapped for a mail."""
    numbers = {step.name: str(number) for number, step in enumerate(found, 1)}

    def number(match: re.Match[str]) -> str:
        if match[1] not in numbers:
            raise LabError(f"the cover letter names a step {match[1]}, and there is none",
                           f"correct {paths.shown(file or bases.current().directory / 'cover')}")
        return numbers[match[1]]
    paragraphs = cover.split("\n\n")
    for index, text in enumerate(paragraphs):
        if NAMED.search(text):
            paragraphs[index] = textwrap.fill(NAMED.sub(number, " ".join(text.split())),
                                              LETTER_COLUMNS, break_on_hyphens=False)
    return "\n\n".join(paragraphs).rstrip() + "\n"


def format_patches(target: Target, cover: str, found: list[steps_mod.Step],
                   sender: Sender | None) -> None:
    """Write the patches; the cover letter is the description of the branch."""
    shutil.rmtree(target.out, ignore_errors=True)
    target.out.mkdir(parents=True)
    target.git("config", "branch.series.description", cover)
    name, mail = author(found[-1], sender)
    every = [file for step in found for file in step.inputs()]
    target.git("format-patch", "-q", "-o", target.out, "--cover-letter",
               "--cover-from-description=subject", f"-{len(found)}", *FORMAT,
               env=identity(name, mail, date_of(every)))


def uncommitted(target: Target, found: list[steps_mod.Step]) -> int:
    """Of what patches are made of, how many files differ from the newest commit, are new or gone."""
    files = {file.resolve() for step in found for file in step.inputs()}
    # Steps, with what they have no more; the list of all; the letter and lists of the base
    places = {place.resolve() for step in found
              for place in (step.directory, step.own, step.directory.parent.parent)}
    places.add(target.cover.parent.resolve())
    top = Path(own_git("rev-parse", "--show-toplevel"))
    said = own_git("status", "--porcelain", "--no-renames", "--untracked-files=all", "-z")
    changed = {(top / line.split(maxsplit=1)[1]).resolve() for line in said.split("\0") if line}
    return sum(path in files or path.parent in places for path in changed)


def note_of(target: Target, found: list[steps_mod.Step], more: str = "") -> str:
    """What the line of 'lab series' says of the patches that were written."""
    count = uncommitted(target, found)
    return f"{len(found)} patches in {paths.shown(target.out)}{more}" \
        + (f"; made of {count} files that are not as they were committed" if count else "")


def write_steps(target: Target, found: list[steps_mod.Step], sender: Sender | None,
                then: Callable[[str, list[Changes], Path], None],
                adapt: Callable[[list[Changes]], None] | None = None) -> None:
    """The steps as patches; 'then' is called with the letter, the changes, and a work directory.

    'adapt' may change the changes before they become patches.
    """
    cover = numbered(check_cover(target.cover), found, target.cover)
    work = target.repository.with_name(f"{target.repository.name}.layer")
    shutil.rmtree(work, ignore_errors=True)
    try:
        taken = snapshots(found, target.source, work)
        if adapt:
            adapt(taken)
        commit_all(target, found, taken, sender)
        format_patches(target, cover, found, sender)
        then(cover, taken, work)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def write(step: ui.Step, sender: Sender | None, more: More | None = None) -> None:
    """All of 'lab series', and by 'more' its parts; the sender from parse_sender()."""
    found = steps_mod.read()
    left = steps_mod.unlisted(found)
    if left:
        raise LabError(f"no step brings {left[0]}" + (f" nor {len(left) - 1} other files"
                                                      if left[1:] else ""),
                       "list it in the 'files' of a step, or remove it")
    bases.check()
    assemble.check_edited(paths.SERIES)
    target = kernel_target()

    def for_distributions(cover: str, taken: list[Changes], work: Path) -> None:
        commit_fixes(target, found, work, sender)
        distribution.write(patches_dir(), cover.splitlines()[0], found, taken[-1])
        if more:
            more(target, found, work, sender)
    write_steps(target, found, sender, for_distributions)
    fixes = sum(one.is_fix for one in found)
    step.note = note_of(target, found, f", {fixes} of them fixes")
