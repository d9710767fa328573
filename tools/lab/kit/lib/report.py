# SPDX-License-Identifier: GPL-2.0-only
"""The report: JSON for programs, text for people; and what must not be in it.

Facts of the machine are a list (machine.py). Reasons of failures are texts of other programs, so
names of the machine, of its users and of its directories are taken out of them.
"""

import json
import os
import pwd
import re
import textwrap
from pathlib import Path

from common import KIT, read

FORMAT, VERSION = "perf-aux-kit report", 2
INCOMPLETE = "The kit was stopped: this is what it had done until then."
STOPPED = "'%s' was running when the kit, or the machine, stopped the last time."
EMULATED = "the processor is emulated: figures say nothing of a real one"
MARKS = {"pass": "ok  ", "measured": "    ", "fail": "FAIL",
         "differs": "diff", "skip": "skip"}
NOBODY = 65534
# A letter is not a name.
SHORTEST_NAME = 2


def caller():
    """Who has called the kit, also one whom only a directory service knows."""
    for uid in (os.environ.get("SUDO_UID", ""), read("/proc/self/loginuid")):
        try:
            if int(uid) > 0:
                yield pwd.getpwuid(int(uid))
        except (ValueError, KeyError, OverflowError):
            # Nobody has logged in.
            pass


def names_of_users():
    """Of people, not of services, and of who has called the kit."""
    people = [user for user in pwd.getpwall() if user.pw_uid >= 1000 and user.pw_uid != NOBODY]
    for user in [*people, *caller()]:
        yield user.pw_name
        yield from user.pw_gecos.split(",")
        yield user.pw_dir
    yield os.environ.get("SUDO_USER", "")


def private_texts(work):
    """What must not be in a report, the longest first."""
    node = os.uname().nodename
    found = {str(work), str(KIT), node, node.partition(".")[0], read("/etc/machine-id"),
             os.environ.get("HOME", "")}
    found.update(names_of_users())
    for pattern in ("/sys/class/net/*/address", "/sys/class/dmi/id/*serial*",
                    "/sys/class/dmi/id/*uuid*"):
        found.update(read(file) for file in Path("/").glob(pattern[1:]))
    return sorted((text for text in found if len(text) >= SHORTEST_NAME
                   and text not in ("/root", "root")), key=len, reverse=True)


def clean_all(facts, private):
    """Facts of the machine, all of whose texts are cleaned: a release may have a name in it."""
    if isinstance(facts, dict):
        return {key: clean_all(value, private) for key, value in facts.items()}
    return clean(facts, private) if isinstance(facts, str) else facts


def clean(text, private):
    """One line without them, and without what looks like an address of a network card."""
    for one in private:
        text = re.sub(r"(?<!\w)%s(?!\w)" % re.escape(one), "...", text)
    text = re.sub(r"\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b", "...", text, flags=re.IGNORECASE)
    return " ".join(text.split())[:400]


def make(facts, version, checks, settings, complete):
    count = {verdict: sum(one["verdict"] == verdict for one in checks) for verdict in MARKS}
    return dict(format=FORMAT, version=VERSION, kit=version, complete=complete, **facts,
                checks=checks, settings=settings, summary=count)


def heading(report):
    """What was measured on what."""
    processor, kernel = report["processor"], report["kernel"]
    lines = ["perf-aux-kit %s" % report["kit"],
             "processor  %(name)s, family %(family)d, model %(model)d, stepping %(stepping)d, "
             "microcode %(microcode)s, %(cpus)d CPUs" % processor]
    if processor["emulated"]:
        lines.append("           " + EMULATED)
    caps = processor["pt"]["caps"]
    lines += textwrap.wrap(" ".join("%s=%s" % item for item in sorted(caps.items())), 96,
                           initial_indent="Intel PT   ", subsequent_indent=" " * 11)
    lines.append("kernel     %s, %s, lockdown: %s, tainted: %s" % (
        kernel["release"], "the series" if kernel["series"] else "not the series",
        kernel["lockdown"], kernel["tainted"]))
    lines.append("perf       %(version)s (%(program)s)" % report["perf"])
    run = report["run"]
    lines.append("run        %s, %d times, on CPU %d %s%s%s" % (
        run["date"], run["runs"], run["cpu"], run["core"], ", --quick" if run["quick"] else "",
        ", --only " + run["only"] if run["only"] else ""))
    lines += textwrap.wrap("; ".join("%s: %s" % item for item in report["conditions"].items()), 96,
                           initial_indent="conditions ", subsequent_indent=" " * 11)
    return [line.rstrip() for line in lines]


def figure(value):
    if not isinstance(value, dict):
        return str(value)
    return "%(median)g (%(least)g to %(most)g, %(runs)d runs)" % value


def lines_of(check):
    line = "  %s %s" % (MARKS[check["verdict"]], check.get("what", check["name"]))
    if check.get("what") and check["verdict"] == "fail":
        line += " (%s)" % check["name"]
    yield line + (": " + check["reason"] if check["reason"] else "")
    figures = check.get("figures", {})
    if check["part"] == "costs":
        for name, value in figures.items():
            yield "         %-20s %s" % (name, figure(value))
    elif figures:
        yield "         " + ", ".join("%s %s" % item for item in figures.items())


def text(report):
    lines = heading(report)
    if not report["complete"]:
        lines += ["", INCOMPLETE]
    if report["stopped-in"]:
        lines += ["", STOPPED % report["stopped-in"]]
    part = None
    for check in report["checks"]:
        if check["part"] != part:
            part = check["part"]
            lines += ["", part]
        lines += lines_of(check)
    settings = report["settings"]
    lines += ["", "settings changed meanwhile: %s" % (", ".join(
        "%s (was %s)" % item for item in sorted(settings["changed"].items())) or "none"),
              "not as they were before: %s" % (", ".join(settings["not-put-back"]) or "none"), "",
              "%(pass)d passed, %(measured)d measured, %(fail)d failed, "
              "%(differs)d differ as known, %(skip)d skipped" % report["summary"]]
    return "\n".join(lines) + "\n"


def write(directory, report):
    """report.json and report.txt; which are there in whole or not at all."""
    for name, content in (("report.json", json.dumps(report, indent=1) + "\n"),
                          ("report.txt", text(report))):
        new = Path(directory, name + ".new")
        new.write_text(content)
        new.rename(Path(directory, name))


def load(path):
    """A report that was written, or ValueError."""
    report = json.loads(Path(path).read_text())
    if not isinstance(report, dict) or report.get("format") != FORMAT:
        raise ValueError("no report of the kit")
    if report.get("version") != VERSION:
        raise ValueError("a report of version %s, and this kit reads version %d"
                         % (report.get("version"), VERSION))
    return report
