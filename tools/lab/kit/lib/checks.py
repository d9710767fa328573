# SPDX-License-Identifier: GPL-2.0-only
"""A check of the kit: it has results whatever happens in it, and they are on the disk at once."""

import json
import os

from common import Skip, read

# What is said when a check of a part begins
BEGINS = {"selftests": "selftest", "recordings": "recording", "costs": "measuring"}
# Bits of /proc/sys/kernel/tainted by which the kernel says that it has oopsed or warned
DIED, WARNED = 1 << 7, 1 << 9


class Check:
    """
    run() gives the results: {"verdict": ..., "reason": ...}, and "name" where there are more.

    mark() may change a verdict, where a result is known of this kernel.
    """

    def __init__(self, part, name, what, run, mark=list):
        self.part, self.name, self.what, self.run, self.mark = part, name, what, run, mark

    def title(self):
        return "%s: %s" % (BEGINS[self.part], self.what or self.name)


def chosen(checks, wanted):
    """Those whose names are wanted; () is all of them."""
    return [check for check in checks if not wanted or check.name in wanted]


def tainted():
    return int(read("/proc/sys/kernel/tainted", "0") or 0)


def outcome(check):
    """The results of a check. An error that nobody has thought of is that check's failure."""
    before = tainted()
    try:
        found = check.run()
    except Skip as skip:
        found = [{"verdict": "skip", "reason": str(skip)}]
    except Exception as error:
        kind = "" if isinstance(error, RuntimeError) else type(error).__name__ + ": "
        found = [{"verdict": "fail", "reason": kind + str(error)}]
    new = tainted() & ~before & (DIED | WARNED)
    for bit, name, did in ((DIED, "oops", "oopsed"), (WARNED, "the kernel's log", "warned")):
        if new & bit:
            found.append({"name": "%s: %s" % (check.name, name), "verdict": "fail", "reason":
                          "the kernel has %s meanwhile: dmesg tells of what" % did})
    what = {"what": check.what} if check.what else {}
    return [dict({"part": check.part, "name": check.name}, **dict(what, **one))
            for one in check.mark(found)]


class Progress:
    """A file of lines of JSON: what was started, and what came of it."""

    def __init__(self, directory):
        self.path = directory / "progress.jsonl"
        self.earlier = directory / "progress-earlier.jsonl"
        self.file = None

    def stopped_in(self):
        """The check in which an earlier run came to no end, "" if it did; its lines are kept."""
        if not self.path.exists():
            return ""
        os.replace(self.path, self.earlier)
        started = ""
        for line in read(self.earlier).splitlines():
            try:
                started = json.loads(line).get("started", started)
            except ValueError:
                # The machine stopped while it was written.
                pass
        return started or "its start"

    def note(self, what):
        try:
            self.file = self.file or open(self.path, "w")
            self.file.write(json.dumps(what) + "\n")
            self.file.flush()
            os.fsync(self.file.fileno())
        except OSError:
            # A full disk, which the report may find as well, does not end what goes on.
            pass

    def finish(self):
        """The report has all of it."""
        if self.file:
            self.file.close()
            self.path.unlink()


def run_all(checks, progress, say, clean):
    """(the results of all, whether it came to the end): Ctrl-C leaves those that there are.

    Reasons are texts of other programs: clean() takes names out of them.
    """
    results = []
    try:
        for check in checks:
            say(check.title())
            progress.note({"started": check.name})
            for one in outcome(check):
                one["reason"] = clean(one["reason"])
                results.append(one)
                progress.note(one)
                if one["reason"]:
                    say("  %(verdict)s %(name)s: %(reason)s" % one)
    except KeyboardInterrupt:
        return results, False
    return results, True
