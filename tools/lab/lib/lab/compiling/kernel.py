# SPDX-License-Identifier: GPL-2.0-only
"""Build of the lab's kernels, each in a build directory of its own."""

import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.assembling import assemble
from lab.base import cache, paths, proc, sources, stamp, ui
from lab.compiling import compiled, coverage, kconfig

# The configuration as the lab has it, beside .config, without what 'lab menuconfig' has saved.
OWN_CONFIG = "lab-own.config"
# How many objects a build from nothing makes: the progress line of the first build counts to it.
EXPECTED_OBJECTS = {"series": 1020, "series-debug": 1210, "series-small": 830}
# Two files run before KASAN has its shadow: gcc 14 makes memcmp() of a comparison of strings, and
# enlighten.c of platform/pvh is what the lab's machine enters first, which 6.1's own Makefile forgets.
# configs.o includes a file by .incbin, so ccache leaves it alone: it is compiled by its whole path,
# which KASAN would note.
DEBUG_VARIABLES = ["KASAN_SANITIZE_string.o=n", "KASAN_SANITIZE_enlighten.o=n",
                   "KASAN_SANITIZE_configs.o=n"]


def make(name: str, build: Path, args: Sequence[str], log: Path, env: dict[str, str] | None = None,
         **more: Any) -> None:
    """Run make for a kernel's source and a build directory: equal inputs make equal objects."""
    build.mkdir(parents=True, exist_ok=True)
    proc.run(["make", "-C", source(name), f"O={build}", f"-j{proc.jobs()}",
              *reproducible(name, build), *args], log, env=compiling(name, build, env), **more)


def compiling(name: str, build: Path, env: dict[str, str] | None = None) -> dict[str, str]:
    """Environment of such a make; the cache does not look at options that map paths."""
    env = env or {}
    return {**env, **cache.of_any_clone(_flags(name, build), env.get("CCACHE_NAMESPACE", ""))}


def _flags(name: str, build: Path) -> str:
    """
    Options of the compiler that keep the place of tree and build out of objects.

    With a cache the compiler is given relative paths, without one absolute paths. Both come out
    as below /lab in debug information, and as the kernel's own paths in messages.
    """
    tree = source(name)
    relative = os.path.relpath(tree, build)
    return " ".join((f"-fdebug-prefix-map={paths.build_dir()}={paths.DEBUG_ROOT}",
                     f"-fdebug-prefix-map={relative}={paths.DEBUG_ROOT}/src/{tree.name}",
                     f"-fmacro-prefix-map={relative}/="))


def reproducible(name: str, build: Path) -> list[str]:
    """Variables of make by which neither time, host nor place gets into what it makes."""
    flags = _flags(name, build)
    return [f"KCFLAGS={flags}", f"KAFLAGS={flags}", "KBUILD_BUILD_USER=lab",
            "KBUILD_BUILD_HOST=lab", "KBUILD_BUILD_VERSION=1",
            f"KBUILD_BUILD_TIMESTAMP={_date()}"]


def _date() -> str:
    """When Debian packed the base."""
    packed = time.gmtime((sources.kernel() / "Makefile").stat().st_mtime)
    return time.strftime("%a %b %e %H:%M:%S UTC %Y", packed)


def _make(name: str, debug: bool, args: Sequence[str], **more: Any) -> None:
    make(name, paths.kernel_dir(name, debug), [*args, *variables(name, debug)],
         log_file(name, debug), **more)


def variables(name: str, debug: bool) -> list[str]:
    """Variables of make that say how some objects of a kernel are compiled."""
    checking = coverage.race_words() if paths.finds_races(debug) else DEBUG_VARIABLES
    return [*([*checking, *coverage.kcov_words()] if debug else []),
            *(coverage.make_words() if paths.counts_coverage(name) else [])]


def wanted_config(name: str, debug: bool) -> dict[str, str | None]:
    """{symbol: value} of what the lab wants a kernel to have."""
    racing = kconfig.racing() if paths.finds_races(debug) else []
    counting = kconfig.counting() if paths.counts_coverage(name) else []
    return kconfig.merge([*kconfig.fragments(name, debug), *racing, *counting])


def source(name: str) -> Path:
    return sources.kernel() if name == "stock" else assemble.tree(paths.tree_name(name))


def log_file(name: str, debug: bool) -> Path:
    return paths.log_file(f"kernel-{paths.kernel_name(name, debug)}")


@dataclass(frozen=True)
class Plain:
    """A build in a configuration of the kernel's own with symbols set.

    It is not for the lab's machine: it shows that the source compiles, or boots on another
    processor (arches.py).
    """

    tree: str
    config: str
    symbols: dict[str, str | None]
    goals: tuple[str, ...] = ("vmlinux",)
    # what tells it from the others of this tree
    title: str = ""
    # what make gets in addition, and its environment
    words: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    # whether what an earlier source has left must not be there
    fresh: bool = False

    @property
    def label(self) -> str:
        names = [symbol.removeprefix("CONFIG_") for symbol in self.symbols]
        return "-".join([self.tree, *([self.title] if self.title else [self.config, *names])])

    @property
    def directory(self) -> Path:
        return paths.kernel_dir(self.label)

    @property
    def log(self) -> Path:
        return log_file(self.label, False)


def build_plain(step: ui.Step, plain: Plain) -> None:
    """Build the tree, or the parts of it that are the goals."""
    build, key = plain.directory, f"kernel-{plain.label}"
    want = stamp.of_text(plain.config, plain.symbols, plain.goals, plain.words, plain.env,
                         _version(), _flags(plain.tree, build), *_content(plain.tree))
    if stamp.is_current(key, want) and (build / ".config").exists():
        step.note = "up to date"
        return
    stamp.clear(key)
    if plain.fresh:
        shutil.rmtree(build, ignore_errors=True)
    build.mkdir(parents=True, exist_ok=True)
    (build / "lab.config").write_text(kconfig.as_text(plain.symbols))
    env = {"KCONFIG_ALLCONFIG": str(build / "lab.config"), **plain.env}
    for words in ([plain.config], plain.goals):
        make(plain.tree, build, [*plain.words, *words], plain.log, env=env,
             failed=f"cannot build {plain.label}", on_line=lambda line: step.progress(line.strip()))
        kconfig.check(plain.symbols, (build / ".config").read_text(), plain.log)
    stamp.write(key, want)


def check(step: ui.Step, name: str, objects: Sequence[str], words: Sequence[str] = ()) -> None:
    """Compile objects of a built kernel once more, with W=1 and sparse; what they say is logged."""
    for path in objects:
        (paths.kernel_dir(name) / path).unlink(missing_ok=True)
    compile_only(step, name, objects, ["W=1", "C=2", *words])


def compile_only(step: ui.Step, name: str, targets: Sequence[str],
                 words: Sequence[str] = ()) -> None:
    """Compile objects, or with a '/' at its end what is in a directory, and link no kernel."""
    configure(name, False)
    stamp.clear(f"kernel-{paths.kernel_name(name, False)}")
    _make(name, False, [*words, *targets], failed=f"cannot compile {' '.join([*words, *targets])}",
          on_line=lambda line: step.progress(line.strip()))


def configure(name: str, debug: bool) -> None:
    """Make .config again if a fragment, the saved options or the source have changed."""
    wanted = wanted_config(name, debug)
    for symbol in _not_yet(name, debug):
        del wanted[symbol]
    saved = kconfig.saved(name)
    build = paths.kernel_dir(name, debug)
    step = f"config-{paths.kernel_name(name, debug)}"
    want = stamp.of_text(kconfig.as_text(wanted), kconfig.as_text(saved), _version(),
                         *_options(name))
    if stamp.is_current(step, want) and (build / ".config").exists():
        return
    stamp.clear(step)
    build.mkdir(parents=True, exist_ok=True)
    _make_config(name, debug, wanted)
    kconfig.check(wanted, (build / ".config").read_text(), log_file(name, debug))
    shutil.copyfile(build / ".config", build / OWN_CONFIG)
    if saved:
        _make_config(name, debug, {**wanted, **saved})
        kconfig.check_saved(kconfig.merge(kconfig.needs(debug)), saved,
                            (build / ".config").read_text(), log_file(name, debug))
    stamp.write(step, want)


def configure_only(step: ui.Step, name: str = paths.SERIES) -> None:
    """The configuration, and no kernel."""
    configure(name, False)
    step.note = f"{len(kconfig.saved(name))} saved options" if kconfig.saved(name) else ""


def _make_config(name: str, debug: bool, wanted: dict[str, str | None]) -> None:
    merged = paths.kernel_dir(name, debug) / "lab.config"
    merged.write_text(kconfig.as_text(wanted))
    _make(name, debug, ["allnoconfig"], env={"KCONFIG_ALLCONFIG": str(merged)},
          failed="cannot configure the kernel")
    _make(name, debug, ["olddefconfig"], failed="cannot configure the kernel")


def _not_yet(name: str, debug: bool) -> list[str]:
    """Options of the series that a tree with its first steps only does not have yet."""
    if name == "stock" or \
            stamp.is_current(f"tree-{paths.tree_name(name)}", assemble.inputs_hash()):
        return []
    texts = [(source(name) / path).read_text() for path in _changed_kconfig(name)]
    return [symbol for symbol in kconfig.merge(kconfig.own_fragments(name, debug))
            if not any(kconfig.defines(text, symbol) for text in texts)]


def _version() -> str:
    return stamp.read("version-linux")


def _options(name: str) -> list[str]:
    """Hash of what a series changes in the Kconfig files of the base."""
    if name == "stock":
        return []
    return [stamp.of_files(source(name) / path for path in _changed_kconfig(name))]


def _changed_kconfig(name: str) -> list[str]:
    return [path for path in assemble.changed_paths(paths.tree_name(name))
            if "Kconfig" in path and (source(name) / path).exists()]


def _content(name: str) -> list[str]:
    """What the source of a kernel is made of, beside the base."""
    return [] if name == "stock" else [stamp.read(f"tree-{paths.tree_name(name)}")]


def expected_objects(name: str, debug: bool) -> int:
    """Of a kernel that was never counted, about as many as of that of the series."""
    kind = paths.DEBUG if debug else ""
    return EXPECTED_OBJECTS.get(name + kind, EXPECTED_OBJECTS[paths.SERIES + kind])


def build(step: ui.Step, name: str = paths.SERIES, debug: bool = False) -> None:
    """An interrupted build resumes: make knows what is done."""
    configure(name, debug)
    image = paths.vmlinux(name, debug)
    key = f"kernel-{paths.kernel_name(name, debug)}"
    want = stamp.of_text((paths.kernel_dir(name, debug) / ".config").read_text(), _version(),
                         _flags(name, image.parent), *variables(name, debug), *_content(name))
    if stamp.is_current(key, want) and image.exists():
        step.note = "up to date"
        return
    progress = compiled.Progress(step, key, image.parent, expected_objects(name, debug))
    stamp.clear(key)
    _make(name, debug, ["vmlinux"], on_line=progress.line, failed="cannot build the kernel")
    progress.complete()
    if coverage.is_counting(image.parent):
        coverage.built(image.parent)
    stamp.write(key, want)
    step.note = f"Linux {_version()}"
