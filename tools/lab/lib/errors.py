# SPDX-License-Identifier: GPL-2.0-only
"""The one kind of error that a user sees: a line with its remedy."""


class LabError(Exception):
    """Printed as 'lab: MESSAGE: REMEDY', exit status 1, no traceback."""

    def __init__(self, message, remedy, log=None):
        super().__init__(f"{message}: {remedy}" if remedy else message)
        self.log = log
