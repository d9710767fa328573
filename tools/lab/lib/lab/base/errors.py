# SPDX-License-Identifier: GPL-2.0-only
"""The one kind of error that a user sees: a line with its remedy."""

import re
from pathlib import Path

from lab.base import paths


def for_base(remedy: str) -> str:
    """A remedy's commands are for the base of this one, each verb of the lab and target of make."""
    name = paths.base_name()
    if name == paths.DEFAULT_BASE:
        return remedy
    remedy = re.sub(r"'lab (?!--base )", f"'lab --base {name} ", remedy)
    return re.sub(r"'make ([a-z][a-z-]*)\b(?! BASE=)", rf"'make \1 BASE={name}", remedy)


class LabError(Exception):
    """Printed as 'lab: MESSAGE: REMEDY', exit status 1, no traceback."""

    def __init__(self, message: str, remedy: str, log: str | Path | None = None) -> None:
        super().__init__(f"{message}: {for_base(remedy)}" if remedy else message)
        self.log = log
