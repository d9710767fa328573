# SPDX-License-Identifier: GPL-2.0-only
"""What mainline says of a step that is a pick of a commit of it: the file 'upstream' of the step.

It is a mail: the fields Commit, From, Date, Subject, Impact and, unless the change is the same, Adapted;
a blank line, and mainline's message with its trailers. The patch has mainline's author, title and text.
"""

import email
import email.utils
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

from lab.base import paths
from lab.base.errors import LabError

COLUMNS = 75
FIELDS = ("Commit", "From", "Date", "Subject", "Impact")
HASH = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class Upstream:
    """A commit of mainline's, and what is otherwise in the step."""

    commit: str
    author: tuple[str, str]
    date: str
    subject: str
    text: str
    # what is otherwise here, and on this base; empty for nothing
    adapted: str
    note: str
    impact: str

    def message(self, sender: str = "") -> str:
        """The commit message, as those of stable releases are; the sender says what he adapted."""
        said = [" ".join(one.split()) for one in (self.adapted, self.note) if one]
        by = f"{sender}: " if sender else ""
        marks = "".join("\n" + textwrap.fill(f"[ {by}adapted: {one} ]", COLUMNS, subsequent_indent="  ",
                                        break_on_hyphens=False, break_long_words=False)
                          for one in said)
        return f"{self.subject}\n\n[ Upstream commit {self.commit} ]\n\n{self.text}{marks}\n"


def read(file: Path, note: str) -> Upstream:
    """The commit that a file tells of, with the paragraph that a base adds."""
    mail = email.message_from_string(file.read_text())
    fields = {name: " ".join(str(value).split()) for name, value in mail.items()}
    text = str(mail.get_payload()).strip()
    author = email.utils.parseaddr(fields.get("From", ""))
    if set(fields) - {"Adapted"} != set(FIELDS) or not HASH.fullmatch(fields["Commit"]) or not all(author) \
            or not text:
        raise LabError(f"{paths.shown(file)} does not tell of a commit",
                       f"write the fields {', '.join(FIELDS)} and, if need be, Adapted, a blank line "
                       "and its message")
    return Upstream(fields["Commit"], author, fields["Date"], fields["Subject"], text,
                    fields.get("Adapted", ""), note, fields["Impact"])
