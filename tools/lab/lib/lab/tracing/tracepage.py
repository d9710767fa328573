# SPDX-License-Identifier: GPL-2.0-only
"""build/run/trace.html: a trace as one file that any browser opens, offline.

The first page has the facts. Behind it is the timeline, in a viewer that is part of the file;
the data are compressed.
"""

import base64
import gzip
import html
import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lab.base import paths
from lab.building import viewer
from lab.tracing import timeline

PAGE_DIR = paths.LAB_DIR / "page"
REMEDIES = {
    "TRUNCATED": "the area was full: record with a larger -m, or less",
    "PARTIAL": "the trace was off for a while: the processor or the driver says so",
    "LOST": "perf was too slow to read: record with a larger -m, or less",
    "overflow": "the processor made packets faster than it could write them",
    "decoder error": "code that perf did not find, or packets that are wrong",
}


@dataclass
class About:
    """What is known beside the timeline: how a person sees the run."""

    command: str
    ending: str
    verdict: str
    complete: bool
    trace_bytes: int
    instructions: str


def _duration(microseconds: float) -> str:
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= size:
            return f"{microseconds / size:.3f} {unit}"
    return f"{microseconds:.3f} µs"


def _rows(rows: Iterable[Iterable[object]]) -> str:
    """Table rows; a number is to the right."""
    def cell(value: object) -> str:
        kind = "number" if isinstance(value, int) or str(value)[:1].isdigit() else "name"
        return f'<td class="{kind}">{html.escape(str(value))}</td>'
    return "\n".join("<tr>" + "".join(map(cell, row)) + "</tr>" for row in rows)


def _holes(facts: timeline.Facts) -> str:
    if not facts.holes:
        return "none"
    return "; ".join(f"{count} {why} ({REMEDIES[why]})" if why in REMEDIES else f"{count} {why}"
                     for why, count in facts.holes.items())


def _left_out(facts: timeline.Facts) -> str:
    if not facts.left_out:
        return ""
    some = f" Of those that are about as long as that, it shows each {facts.every}th." \
        if facts.every else ""
    return (f"<p>The timeline does not show {facts.left_out} slices of "
            f"{_duration(facts.threshold)} or less: with them it would be too large for a "
            f"browser.{some} The figures on this page count them.</p>")


def _facts(about: About, facts: timeline.Facts) -> str:
    rows = [("command", about.command), ("end", about.ending),
            ("traced for", _duration(facts.duration())), ("bytes of trace", about.trace_bytes),
            ("instructions", about.instructions), ("calls", facts.calls),
            ("holes", _holes(facts))]
    return "\n".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(str(value))}</td></tr>"
                     for name, value in rows)


def _compressed(path: Path, facts: timeline.Facts) -> str:
    """The timeline's events, compressed, in base64."""
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as out:
        timeline.coarse(path, facts, lambda text: out.write(text.encode()))
    return base64.b64encode(buffer.getvalue()).decode()


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def write(page: Path, events: Path, about: About, limit: int = timeline.LIMIT) -> timeline.Facts:
    """Write the page of a file of events; the facts are returned."""
    facts, parts = timeline.read(events, limit), viewer.load()
    fields = {
        "title": html.escape(f"Trace of {about.command}"),
        "verdict": html.escape(about.verdict),
        "class": "whole" if about.complete else "holes",
        "facts": _facts(about, facts),
        "disabled": "" if facts.calls else "disabled",
        "left-out": _left_out(facts),
        "own": _rows((name, where, _duration(time)) for (name, where), time in facts.busiest()),
        "longest": _rows((name, where, _duration(time), thread)
                         for time, name, where, thread in facts.longest),
        "viewer": f"{viewer.PACKAGE} {viewer.VERSION}",
        "licence": html.escape(parts.licence),
        "css": (PAGE_DIR / "page.css").read_text(),
        "js": (PAGE_DIR / "page.js").read_text(),
        "viewer-style": _base64(parts.style),
        "viewer-script": _base64(parts.script),
        "timeline": _compressed(events, facts),
    }
    text = (PAGE_DIR / "page.html").read_text()
    with open(page, "w", encoding="utf-8") as out:
        # What is inserted may hold what looks like a mark, so it is never looked at again.
        for number, part in enumerate(text.split("%%")):
            out.write(fields[part] if number % 2 else part)
    return facts
