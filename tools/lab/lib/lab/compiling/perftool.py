# SPDX-License-Identifier: GPL-2.0-only
"""Build of perf from tools/perf of the series or of the base, for the host and the guest alike."""

from lab.assembling import assemble
from lab.base import cache, paths, proc
from lab.compiling import compiled, kernel
import shutil
from pathlib import Path
from lab.base import stamp, ui
from lab.base.errors import LabError

# Left out is what neither a test nor the call trace needs; each costs build
# time or a library that a small machine lacks. What a version of perf does not
# know, its Makefile ignores.
OPTIONS = """
    WERROR=0 BUILD_BPF_SKEL= NO_LIBBPF=1 NO_LIBPERL=1 NO_SLANG=1
    PYTHON=/usr/bin/python3 PYTHON_CONFIG=/usr/bin/python3-config
    NO_LIBUNWIND=1 NO_LIBNUMA=1 NO_LIBCRYPTO=1 NO_LIBBABELTRACE=1 NO_CAPSTONE=1
    NO_LZMA=1 NO_LIBCAP=1 NO_SDT=1 NO_JVMTI=1 NO_LIBPFM4=1 NO_LIBDEBUGINFOD=1
    NO_SHELLCHECK=1 NO_LIBZSTD=1 NO_LIBLLVM=1 NO_BABELTRACE2=1 NO_RUST=1
    JEVENTS_MODEL=skylakex,skylake prefix=/usr
""".split()
# perf's libraries bring debug information, in which ccache leaves relative paths. No map of prefixes
# helps there: "../../include" is tools/include for one of them, and include for perf itself.
LINKING = {"LDFLAGS": "-Wl,--strip-debug"}
# How many objects a build from nothing makes, for each base: the progress line of the first build
# counts to it.
EXPECTED_OBJECTS = {"6.1": 434, "6.12": 431, "7.x": 506}
# perf drops what it finds no library for; these the lab cannot do without.
FEATURES = ("libelf", "dwarf", "auxtrace", "libtraceevent", "libpython")
# Of these, a version that cannot be built without says nothing: newer ones have the AUX area in any
# case, and 6.1, which calls it by another name, has a libtraceevent of its own.
NOT_LISTED = {"auxtrace", "libtraceevent"}
# What is below tools/ and in no object of perf.
NOT_COMPILED = ("tools/testing/", "tools/perf/Documentation/", "tools/perf/dlfilters/",
                "tools/perf/tests/shell/")


def options() -> list[str]:
    """make's variables; debug information names no place of this machine."""
    return [*OPTIONS, f"EXTRA_CFLAGS=-fdebug-prefix-map={paths.build_dir()}={paths.DEBUG_ROOT}"]


def expected_objects() -> int:
    """Of a base that was never counted, about as many as of the default one."""
    return EXPECTED_OBJECTS.get(paths.base_name(), EXPECTED_OBJECTS[paths.DEFAULT_BASE])


def is_compiled(path: str) -> bool:
    """Whether a file of the kernel's tree may be part of perf; others' changes rebuild nothing."""
    return path.startswith("tools/") and not path.startswith(NOT_COMPILED)


def changes(name: str) -> list[str]:
    """A line for each file of perf that the series changes: its path, and a hash if it is there."""
    if name != paths.SERIES:
        return []
    files = {path: assemble.tree(name) / path for path in assemble.changed_paths(name)
             if is_compiled(path)}
    return [f"{path} {stamp.of_files([file] if file.exists() else [])}"
            for path, file in files.items()]


def wanted(name: str) -> str:
    """The stamp of what perf is to be made of."""
    return stamp.of_text(stamp.read("version-linux"), *options(), *LINKING.values(), *changes(name))


def build(step: ui.Step, name: str = paths.SERIES) -> None:
    """Build perf of the series, whose tree is assembled, or that of the base."""
    program, want = paths.perf(name), wanted(name)
    directory = program.parent
    key = directory.name
    if stamp.is_current(key, want) and program.exists():
        step.note = "up to date"
        return
    stamp.clear(key)
    start_over(directory, want)
    progress = compiled.Progress(step, key, directory, expected_objects())
    directory.mkdir(parents=True, exist_ok=True)
    proc.run(["make", "-C", kernel.source(name) / "tools/perf", f"-j{proc.jobs()}",
              f"O={directory}", *options(), "perf"], paths.log_file(key),
             env={**cache.of_any_clone(*options()), **LINKING,
                  # The place of the object, which gets into nothing but the list of dependencies,
                  # and make's rules leave it out there.
                  "CCACHE_IGNOREOPTIONS": "-Wp,-MT,*"},
             on_line=progress.line, failed="cannot build perf")
    progress.complete()
    check_features(program)
    stamp.write(key, want)
    step.note = "perf " + stamp.read("version-linux").split("-")[0]


def start_over(directory: Path, want: str) -> None:
    """
    Remove what was built of another source or with other options.

    A build that was interrupted goes on. But some libraries of perf are compiled without fixdep,
    and their objects, where they come out of the cache, do not depend on headers.
    """
    begun = f"{directory.name}-begun"
    if not stamp.is_current(begun, want):
        shutil.rmtree(directory, ignore_errors=True)
        stamp.write(begun, want)


def check_features(program: Path) -> None:
    """What perf says that it was built with has all that the lab needs."""
    text = proc.output([program, "version", "--build-options"])
    listed = {name.strip(): state for name, _, state in
              (line.partition(":") for line in text.splitlines())}
    for feature in FEATURES:
        if feature in NOT_LISTED and feature not in listed:
            continue
        if "[ on" not in listed.get(feature, ""):
            raise LabError(f"perf was built without {feature}",
                           f"see the start of {paths.log_file(program.parent.name)}")
