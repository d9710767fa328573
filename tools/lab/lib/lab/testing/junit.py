# SPDX-License-Identifier: GPL-2.0-only
"""The results of tests as JUnit XML, which continuous integration and editors show."""

import re
import xml.etree.ElementTree as xml
from collections.abc import Iterable
from typing import TYPE_CHECKING

from lab.testing import tap

if TYPE_CHECKING:
    from lab.testing import tests

# XML cannot say these at all.
NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def said(text: str) -> str:
    return NO_XML.sub("?", text)


def suite_of(result: "tests.Result") -> xml.Element:
    """One test file; its counts are those of the line that the lab prints of it."""
    report, rows = result.report, list(result.report.tests)
    if report.problems and not report.failed:
        rows.append(tap.Test("; ".join(report.problems), False))
    suite = xml.Element("testsuite", name=result.name, tests=str(len(rows)),
                        failures=str(result.failed), skipped=str(len(report.skipped)),
                        time=f"{result.seconds:.1f}")
    for row in rows:
        case = xml.SubElement(suite, "testcase", classname=result.name, name=said(row.name))
        if not row.passed:
            xml.SubElement(case, "failure", message=f"its output is in {result.output}")
        elif row.skip:
            xml.SubElement(case, "skipped", message=said(row.skip))
    return suite


def write(file: str, results: "Iterable[tests.Result]") -> None:
    top = xml.Element("testsuites")
    top.extend(map(suite_of, results))
    xml.ElementTree(top).write(file, encoding="utf-8", xml_declaration=True)
