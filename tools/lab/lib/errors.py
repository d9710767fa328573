# SPDX-License-Identifier: GPL-2.0-only
"""The one kind of error that a user sees: a line with its remedy."""

import paths


def for_base(remedy):
    """A remedy that builds something builds it for the base of this command."""
    name = paths.base_name()
    return remedy if name == paths.DEFAULT_BASE else \
        remedy.replace("'lab build", f"'lab --base {name} build")


class LabError(Exception):
    """Printed as 'lab: MESSAGE: REMEDY', exit status 1, no traceback."""

    def __init__(self, message, remedy, log=None):
        super().__init__(f"{message}: {for_base(remedy)}" if remedy else message)
        self.log = log
