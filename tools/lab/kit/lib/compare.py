# SPDX-License-Identifier: GPL-2.0-only
"""Two reports side by side: of two kernels on one machine, say."""

import report as reports

WIDTH = 46


def title(report):
    kernel = report["kernel"]
    return "%s%s" % (kernel["release"], " (series)" if kernel["series"] else "")


def key(check):
    return check["part"], check["name"]


def row(label, one, other, more=""):
    return ("%-*s %18s %18s  %s" % (WIDTH, label[:WIDTH], one, other, more)).rstrip()


def number(value):
    return value["median"] if isinstance(value, dict) else value


def ratio(one, other):
    return "%.2f" % (other / one) if one and isinstance(one, (int, float)) and one > 0 else ""


def same_machine(one, other):
    """What differs that should not, if two kernels are compared."""
    pairs = [("kit", one["kit"], other["kit"])]
    for part, names in (("processor", ("name", "stepping", "microcode", "cpus", "emulated")),
                        ("perf", ("version", "program")), ("conditions", one["conditions"]),
                        ("run", ("only", "quick", "runs", "cpu", "core"))):
        pairs += [("%s: %s" % (part, name), one[part][name], other[part].get(name))
                  for name in names]
    for name, left, right in pairs:
        if left != right:
            yield "different %s: %s and %s" % (name, left, right)


def verdicts(one, other):
    """Checks with different verdicts, and how many are the same."""
    left, right = ({key(c): c for c in r["checks"]} for r in (one, other))
    names, same = list(left) + [name for name in right if name not in left], 0
    for name in names:
        pair = [side[name]["verdict"] if name in side else "-" for side in (left, right)]
        if pair[0] == pair[1]:
            same += 1
        else:
            yield row("%s: %s" % name, *pair)
    yield "%d checks with the same verdict" % same


def figures(one, other):
    left, right = ({key(c): c for c in r["checks"] if c["part"] == "costs"} for r in (one, other))
    for name in left:
        if name not in right:
            continue
        pair = left[name].get("figures", {}), right[name].get("figures", {})
        shared = [what for what in pair[0] if what in pair[1]]
        if shared:
            yield left[name]["what"]
        for what in shared:
            a, b = number(pair[0][what]), number(pair[1][what])
            yield row("    " + what, "%g" % a, "%g" % b, ratio(a, b))


def text(one, other):
    lines = [row("", title(one), title(other))]
    lines += list(same_machine(one, other))
    if one["processor"]["emulated"] or other["processor"]["emulated"]:
        lines.append(reports.EMULATED)
    lines += ["", "verdicts that differ", *verdicts(one, other), "",
              row("costs: medians", "", "", "ratio"), *figures(one, other)]
    return "\n".join(lines) + "\n"
