# SPDX-License-Identifier: GPL-2.0-only
"""Settings of the machine: each one that the kit changes is put back, however the kit ends.

What is changed is first written to a journal below /run. An end by SIGKILL leaves the journal,
and the next start puts back what it lists. The journal is locked, so that two kits do not run at a
time. /run is empty after a boot, and so are the changes gone.
"""

import fcntl
import glob
import json
import os
import re
import shutil
import signal
from pathlib import Path

from common import SIGNALS, Refusal, read, say

JOURNAL = "/run/perf-aux-kit.journal"
ALL_BACK = "all settings are put back"
SYSCTL = "/proc/sys/kernel/"
# What must be the same before and after, whether the kit or a kernel that it ran on has changed it.
WATCHED = [SYSCTL + name for name in (
    "perf_event_paranoid", "perf_event_mlock_kb", "perf_event_max_sample_rate",
    "perf_cpu_time_max_percent", "perf_event_max_stack", "nmi_watchdog", "watchdog",
    "watchdog_thresh", "kptr_restrict", "randomize_va_space", "ftrace_enabled")]
WATCHED += ["/sys/devices/system/cpu/online"]
# Before 6.7, the first use of tracing makes the machine's own buffer as large as it says, in whole
# pages of the buffer.
UNUSED = re.compile(r"^\d+ \(expanded: \d+\)$")
CPU_1, CONTROLLERS = "/sys/devices/system/cpu/cpu1/online", "/cgroup.subtree_control"
PARANOID = "perf_event_paranoid"
# Of the kselftests, those that take a CPU off line, that set the level of privilege, that make control
# groups, and that lower the sample rate. The last ones put it back even if they are killed.
SWITCH_CPU_1, SET_PARANOID = ("aux_hotplug_test",), ("aux_rights_test",)
MAKE_GROUPS, LIMIT_SAMPLES = ("aux_cgroup_test", "aux_memcg_test"), ("aux_throttle_test",)
# The kernel's own default
SAMPLE_RATE = 100000
WATCHED_TRACING = ("tracing_on", "current_tracer", "kprobe_events", "uprobe_events",
                   "set_event", "buffer_size_kb", "trace_clock")


def cgroup2():
    """Where the control groups are, "" without them."""
    for line in read("/proc/self/mounts").splitlines():
        place, kind = line.split()[1:3]
        if kind == "cgroup2":
            return place
    return ""


class Settings:
    """Use it by 'with': at its end all is put back."""

    def __init__(self, tracing, journal=JOURNAL):
        self.tracing = tracing
        self.path = journal
        self.file = None
        # [what, path, value]
        self.entries = []
        self.changed = {}
        self.before = {}
        self.groups = cgroup2()

    def __enter__(self):
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            self.file = os.fdopen(os.open(self.path, flags, 0o600), "r+")
        except OSError as error:
            raise Refusal("cannot write %s (%s), where it notes what is to be put back: make /run "
                          "writable" % (self.path, error.strerror))
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.file.close()
            raise Refusal("another kit is running on this machine: wait for its end")
        self._put_back_of_earlier()
        self.before = self.state()
        return self

    def __exit__(self, *_):
        # Another Ctrl-C is not to keep the first one's end from this.
        handlers = [signal.signal(number, signal.SIG_IGN) for number in SIGNALS]
        self.restore()
        if not self.entries:
            os.unlink(self.path)
        self.file.close()
        for number, handler in zip(SIGNALS, handlers):
            signal.signal(number, handler)

    def _put_back_of_earlier(self):
        text = self.file.read()
        if not text.strip():
            return
        try:
            self.entries = json.loads(text)
        except ValueError:
            self.entries = []
        say("kit: an earlier run was killed; what it had changed is put back")
        self.restore()

    def _note(self, *entry):
        self.entries.append(list(entry))
        self._write()

    def _write(self):
        self.file.seek(0)
        self.file.truncate()
        json.dump(self.entries, self.file)
        self.file.flush()
        os.fsync(self.file.fileno())

    def set(self, name, value):
        """Change a file of a setting; what it has now is put back at the end."""
        path = name if name.startswith("/") else SYSCTL + name
        old = read(path, None)
        if old is None or old == str(value):
            return
        self._note("file", path, old)
        self.changed.setdefault(path.rpartition("/")[2], old)
        try:
            with open(path, "w") as file:
                file.write(str(value))
        except OSError as error:
            raise Refusal("cannot write %s (%s): run the kit as root, outside of a container"
                          % (path, error.strerror))

    def number(self, name):
        text = read(SYSCTL + name)
        return int(text) if text.lstrip("-").isdigit() else 0

    def set_unthrottled(self):
        """
        Samples as often as the tests need them, which the kernel is not to lower as the kit has
        many interrupts. It takes a rate only where the percentage is neither 0 nor 100, also in
        the end.
        """
        rate, percent = SYSCTL + "perf_event_max_sample_rate", "perf_cpu_time_max_percent"
        if self.number(percent) in (0, 100):
            self.set(percent, 25)
        if self.number("perf_event_max_sample_rate") < SAMPLE_RATE:
            self.set(rate, SAMPLE_RATE)
        else:
            self.note(rate)
        self.set(percent, 0)

    def note(self, path):
        """What somebody else changes: it is put back as it is now."""
        if os.path.exists(path):
            self._note("file", path, read(path))

    def note_for(self, program):
        """What a kselftest changes and puts back itself, if it comes to its end."""
        if program in SWITCH_CPU_1:
            self.note(CPU_1)
        elif program in SET_PARANOID:
            self.note(SYSCTL + PARANOID)
        elif program in MAKE_GROUPS and self.groups:
            self._note("controllers", self.groups + CONTROLLERS, read(self.groups + CONTROLLERS))
            self._note("groups", self.groups + "/aux_test.*", "")

    def make_instance(self, name):
        """A trace buffer of the kit's own; the machine's own trace is left alone."""
        path = self.tracing / "instances" / name
        self._note("directory", str(path), "")
        self.changed["tracing instance"] = "none"
        path.mkdir()
        return path

    def remove_at_end(self, directory):
        """A directory of recordings, which a kit that is killed leaves behind."""
        self._note("tree", str(directory), "")

    def restore(self):
        """Put back in the reverse order; what cannot be stays in the journal, and is told."""
        left = []
        for entry in reversed(self.entries):
            try:
                self._put_back(*entry)
            except OSError as error:
                left.insert(0, entry)
                say("kit: cannot put back %s to '%s' (%s)" % (*entry[1:], error.strerror))
        self.entries = left
        self._write()

    @staticmethod
    def _put_back(what, path, value):
        if what == "tree":
            shutil.rmtree(path, ignore_errors=True)
        elif what == "directory":
            if os.path.isdir(path):
                os.rmdir(path)
        elif what == "groups":
            for group in glob.glob(path):
                os.rmdir(group)
        elif what == "controllers":
            # The file takes what is to be added or taken away.
            for word in set(read(path).split()) - set(value.split()):
                Path(path).write_text("-" + word)
        elif read(path) != value:
            with open(path, "w") as file:
                file.write(value)

    def told(self):
        """Whether all is put back, for the last line."""
        paths = ", ".join(path for _, path, _ in self.entries)
        return "not put back: %s; the next start tries again" % paths if paths else ALL_BACK

    def state(self):
        """{what: value} of all that is watched."""
        found = {path: read(path, "none") for path in WATCHED}
        if self.groups:
            found["control groups"] = read(self.groups + CONTROLLERS)
        if self.tracing:
            for name in WATCHED_TRACING:
                found["tracing/" + name] = read(self.tracing / name, "none")
            found["tracing/instances"] = " ".join(sorted(
                entry.name for entry in Path(self.tracing, "instances").glob("*")))
        return found

    def differences(self):
        """What is not as it was before; names only."""
        now = self.state()
        return sorted(key for key in now if now[key] != self.before.get(key)
                      and not UNUSED.match(self.before.get(key, "")))
