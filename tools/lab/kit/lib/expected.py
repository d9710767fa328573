# SPDX-License-Identifier: GPL-2.0-only
"""Results of kselftests that a kernel is known to fail: those of the table of aux_report.sh.

Any other failure is one.
"""

from fnmatch import fnmatchcase

from common import KIT, read

TABLE = KIT / "aux_defects"
# Results of which no row of "*" is: those of a program's end, and of the kernel
NAMED = ("comes to its end", "oops", "the kernel's log")


def rows(text):
    """(program, results, what is wrong) of each line."""
    for line in text.splitlines():
        fields = line.split(" | ")
        if not line.startswith("#") and len(fields) == 5:
            yield fields[0], fields[1], fields[4]


def reason(table, name):
    """Why a test of that name fails on a kernel without the series, by rows of the table, or ""."""
    program, _, test = name.partition(": ")
    for known, results, what in table:
        fits = test == results if test in NAMED else fnmatchcase(test, results)
        if program == known and fits:
            return what
    return ""


def mark(results, series):
    """The same results; a failure that is known of such a kernel is a difference."""
    table = [] if series else list(rows(read(TABLE)))
    for one in results:
        # A check that came to nothing has no results with names.
        why = reason(table, one.get("name", ""))
        if one["verdict"] == "fail" and why:
            one = dict(one, verdict="differs", reason="known without the series, %s: %s"
                       % (why, one["reason"]))
        yield one
