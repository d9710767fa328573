# SPDX-License-Identifier: GPL-2.0-only
"""What the litmus checker says of a file that it does not understand."""


class Refused(Exception):
    """Nothing is known of a test or a model that cannot be read: it is not guessed."""
