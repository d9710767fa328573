# SPDX-License-Identifier: GPL-2.0-only
"""Build of perf from the base's tools/perf, for the host and the guest alike."""

import cache
import compiled
import guest
import paths
import proc
import sources
import stamp
from errors import LabError

# Left out is what neither a test nor the call trace needs; each costs build
# time or a library that a small machine lacks.
OPTIONS = """
    WERROR=0 BUILD_BPF_SKEL=0 NO_LIBBPF=1 NO_LIBPERL=1 NO_SLANG=1
    PYTHON=/usr/bin/python3 PYTHON_CONFIG=/usr/bin/python3-config
    NO_LIBUNWIND=1 NO_LIBNUMA=1 NO_LIBCRYPTO=1 NO_LIBBABELTRACE=1 NO_CAPSTONE=1
    NO_LZMA=1 NO_LIBCAP=1 NO_SDT=1 NO_JVMTI=1 NO_LIBPFM4=1 NO_LIBDEBUGINFOD=1
    NO_SHELLCHECK=1 NO_LIBZSTD=1 JEVENTS_MODEL=skylakex,skylake prefix=/usr
""".split()
# perf's libraries bring debug information, in which ccache leaves relative paths. No map of prefixes
# helps there: "../../include" is tools/include for one of them, and include for perf itself.
LINKING = {"LDFLAGS": "-Wl,--strip-debug"}
# How many objects a build from nothing makes: the progress line of the first build counts to it.
EXPECTED_OBJECTS = 429


def options():
    """make's variables; debug information names no place of this machine."""
    return [*OPTIONS, f"EXTRA_CFLAGS=-fdebug-prefix-map={paths.build_dir()}={paths.DEBUG_ROOT}"]


def build(step):
    version = stamp.read("version-linux")
    want = stamp.of_text(version, *options(), *LINKING.values())
    if stamp.is_current("perf", want) and paths.perf().exists():
        step.note = "up to date"
        return
    stamp.clear("perf")
    start_over(want)
    progress = compiled.Progress(step, "perf", paths.perf().parent, EXPECTED_OBJECTS)
    paths.perf().parent.mkdir(parents=True, exist_ok=True)
    proc.run(["make", "-C", sources.kernel() / "tools/perf", f"-j{proc.jobs()}",
              f"O={paths.perf().parent}", *options(), "perf"], paths.log_file("perf"),
             env={**cache.of_any_clone(*options()), **LINKING,
                  # The place of the object, which gets into nothing but the list of dependencies,
                  # and make's rules leave it out there.
                  "CCACHE_IGNOREOPTIONS": "-Wp,-MT,*"},
             on_line=progress.line, failed="cannot build perf")
    progress.complete()
    check_features()
    stamp.write("perf", want)
    step.note = "perf " + version.split("-")[0]


def start_over(want):
    """
    Remove what was built of another source or with other options.

    A build that was interrupted goes on. But some libraries of perf are compiled without fixdep,
    and their objects, where they come out of the cache, do not depend on headers.
    """
    if not stamp.is_current("perf-begun", want):
        guest.remove(paths.perf().parent)
        stamp.write("perf-begun", want)


def check_features():
    """perf drops what it finds no library for; these the lab cannot do without."""
    text = proc.output([paths.perf(), "version", "--build-options"])
    for feature in ("libelf", "dwarf", "auxtrace", "libtraceevent", "libpython"):
        line = next((li for li in text.splitlines() if li.split(":")[0].strip() == feature), "")
        if "[ on" not in line:
            raise LabError(f"perf was built without {feature}",
                           f"see the start of {paths.log_file('perf')}")
