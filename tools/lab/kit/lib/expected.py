# SPDX-License-Identifier: GPL-2.0-only
"""Results of kselftests that a kernel is known to fail: those of the table of aux_report.sh.

Any other failure is one.
"""

from fnmatch import fnmatchcase

from common import KIT, PT, read

TABLE = KIT / "aux_defects"
# Results of which no row of "*" is: those of a program's end, and of the kernel
NAMED = ("comes to its end", "oops", "the kernel's log")


def rows(text):
    """(program, results, since, what is wrong) of each line that is about this PMU."""
    for line in text.splitlines():
        fields = line.split(" | ")
        if not line.startswith("#") and len(fields) == 6 and fnmatchcase(PT.name, fields[1]):
            yield fields[0], fields[2], fields[3], fields[5]


def reason(table, name, series, aux_action):
    """Why a test of that name fails on this kernel, by rows of the table, or ""."""
    program, _, test = name.partition(": ")
    for known, results, since, what in table:
        # What no commit began is what a kernel lacks that is older than aux_action.
        lacks = not aux_action if since == "none" else not series
        fits = test == results if test in NAMED else fnmatchcase(test, results)
        if lacks and program == known and fits:
            return what
    return ""


def mark(results, series, aux_action):
    """The same results; a failure that is known of such a kernel is a difference."""
    table = list(rows(read(TABLE)))
    for one in results:
        # A check that came to nothing has no results with names.
        why = reason(table, one.get("name", ""), series, aux_action)
        if one["verdict"] == "fail" and why:
            one = dict(one, verdict="differs", reason="known without the series, %s: %s"
                       % (why, one["reason"]))
        yield one
