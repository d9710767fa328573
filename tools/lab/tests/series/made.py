# SPDX-License-Identifier: GPL-2.0-only
"""Small made-up bases, repositories and steps for the tests of the series' tools."""

import os
import shutil
from pathlib import Path

import harness
from lab.assembling import assemble, layer, steps
from lab.base import bases, paths

CORE = """// SPDX-License-Identifier: GPL-2.0
#include "internal.h"

/* Old. */
int old(int a)
{
	return a;
}
EXPORT_SYMBOL_GPL(old);

static int helper(void)
{
	return old(1);
}

int main_part(void)
{
	return helper();
}
"""
MAINTAINERS = """List of maintainers

Maintainers List
----------------

ABC DRIVER
M:\tA <a@example.org>
F:\tdrivers/a/

OPEN DRIVER
M:\tO <o@example.org>
F:\tdrivers/o/

THE REST
F:\t*
"""
BASE = {"kernel/core.c": CORE, "kernel/internal.h": "int old(int a);\nint main_part(void);\n",
        "kernel/Makefile": "obj-y := core.o\n", "kernel/gone.c": "int unused;\n",
        "include/linux/b.h": "#define B 1\n", "MAINTAINERS": MAINTAINERS,
        "init/main.c": "int init;\n"}
HOOK = """--- a/kernel/Makefile
+++ b/kernel/Makefile
@@ -1 +1 @@
-obj-y := core.o
+obj-y := core.o new.o
"""
# The repository itself; the small ones of the cases take its place.
REAL = (paths.OVERLAY_DIR, paths.PATCHES_DIR)
PART_FILES = {"hooks": "hooks.patch", "grow": "grow.patch"}
PICK = """Commit: 0123456789abcdef0123456789abcdef01234567
From: Mae Inline <mae@example.org>
Date: Thu, 1 Jan 2026 01:02:03 +0100
Subject: part: Do what
 mainline does
Impact: any user; it warns; all processors; aux_x

It was so.

Fixes: 0123456789ab ("part: Begin")
Signed-off-by: Mae Inline <mae@example.org>
"""
NEW = "// SPDX-License-Identifier: GPL-2.0\nint old(int a)\n{\n\treturn a + 1;\n}\n"


def write(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def own_place():
    """A build directory of the test's own, of the default base, and where its small world is."""
    directory = harness.own_build_dir()
    os.environ.pop("LAB_BASE", None)
    return directory, Path(directory.name, "world")


def use_real():
    """Let the lab see the repository itself again."""
    paths.OVERLAY_DIR, paths.PATCHES_DIR = REAL


def git(place, *args, **env):
    """What git says to somebody who is nobody."""
    return harness.ran("git", "-C", place, "-c", "user.name=A Person", "-c",
                       "user.email=a@example.org", *args, check=True,
                       env={**os.environ, **env}).stdout


class Line:
    """A step's line that nobody sees."""

    note = ""

    def progress(self, text):
        pass


def commit_all(place, message, **env):
    git(place, "init", "-q")
    git(place, "add", "-A")
    git(place, "commit", "-q", "-m", message, **env)


class World:
    """A base, a repository and the directory of its steps, all below one place."""

    def __init__(self, place, base=None):
        self.place = Path(place)
        shutil.rmtree(self.place, ignore_errors=True)
        self.base, self.root = self.place / "base", self.place / "repo"
        self.patches = self.root / "patches"
        self.steps = self.patches / "steps"
        self.steps.mkdir(parents=True)
        self.is_base("6.12")
        write(self.base, BASE if base is None else base)
        self.said = []

    def own(self, **files):
        """Files of the repository, / written as __."""
        write(self.root, {name.replace("__", "/").replace("_c", ".c"): text
                          for name, text in files.items()})

    def is_base(self, name, **fields):
        """A base that the repository knows."""
        fields = {"package": f"linux-source-{name}", "suites": "trixie", **fields}
        write(self.patches / name, {"base": "".join(f"{one}  {text}\n"
                                                    for one, text in fields.items())})

    def step(self, name, only="", first=False, **parts):
        """
        A step; parts are message or upstream, drop, files, hooks and grow. It is last in the list, or
        where it was, or the first one; 'only' names the bases that take it.
        """
        if "upstream" not in parts:
            parts = {"message": f"part: {name}\n\nWords.\n", **parts}
        write(self.steps / name, {PART_FILES.get(part, part): text
                                  for part, text in parts.items()})
        listed = self.patches / "series"
        lines = listed.read_text().splitlines() if listed.exists() else []
        lines = [line for line in lines if line[0] == "[" or (self.steps / line.split()[0]).is_dir()]
        if name not in (line.split()[0] for line in lines):
            lines.insert(0 if first else len(lines), f"{name} {only}".rstrip())
        listed.write_text("".join(f"{line}\n" for line in lines))

    def of_base(self, base, name, **parts):
        """What a base has of a step in another form, or alone."""
        write(self.patches / base / name, {PART_FILES.get(part, part): text
                                           for part, text in parts.items()})

    def read(self, base="6.12"):
        paths.PATCHES_DIR = self.patches
        return steps.read(bases.read(base), self.root)

    def assemble(self, base="6.12"):
        """The layer after all the steps."""
        shutil.rmtree(self.place / "layer", ignore_errors=True)
        made = assemble.Assembly(layer.Layer(self.base, self.place / "layer"), self.root,
                                 self.said.append)
        for step in self.read(base):
            made.apply(step)
        return made.layer

    def text(self, path):
        return self.assemble().file(path).read_text()

    def use(self):
        """Let the lab's verbs see this repository, with this base as its source."""
        paths.OVERLAY_DIR, paths.PATCHES_DIR = self.root, self.patches
        os.environ["LAB_BUILD"] = str(self.place / "build")
        write(self.place / "build", {"stamps/version-linux": "6.12.1-1"})
        (self.place / "build/src").mkdir()
        (self.place / "build/src/linux-stock").symlink_to(self.base)

    def commit(self, date="2026-01-02T03:04:05+0000"):
        """The repository's history, of which the patches take author and date."""
        commit_all(self.root, "all", GIT_AUTHOR_DATE=date, GIT_COMMITTER_DATE=date)


def replacing(place):
    """A world with one step that replaces old() by the repository's."""
    world = World(place)
    world.own(kernel__new_c=NEW)
    world.step("new-old", drop="kernel/core.c: old\n", hooks=HOOK, files="kernel/new.c\n")
    return world


def to_send(place):
    """A world with two steps and a cover letter, which the lab's verbs see."""
    world = replacing(place)
    (world.patches / "6.12/cover").write_text("part: New things\n\nWhat they are.\n")
    world.step("go", drop="kernel/gone.c: *\n")
    world.use()
    return world
