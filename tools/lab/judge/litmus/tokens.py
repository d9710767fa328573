# SPDX-License-Identifier: GPL-2.0-only
"""Words and marks of a text, one after the other, for the parsers."""

import re

from refused import Refused


class Tokens:
    """A text cut by a regular expression; anything that it does not match is refused."""

    def __init__(self, text, pattern, where):
        self.where = where
        self.found = []
        self.position = 0
        at = 0
        for match in re.finditer(pattern, text):
            self._blank(text[at:match.start()])
            self.found.append(match[0])
            at = match.end()
        self._blank(text[at:])

    def _blank(self, text):
        if text.strip():
            raise Refused(f"{self.where}: '{text.split()[0]}' is not understood")

    def error(self, what=None):
        near = " ".join(self.found[max(0, self.position - 4):self.position + 2])
        return Refused(f"{self.where}: {what or 'not understood'}, near '{near}'")

    def peek(self, ahead=0):
        """The next word, or '' at the end."""
        at = self.position + ahead
        return self.found[at] if at < len(self.found) else ""

    def take(self):
        word = self.peek()
        if not word:
            raise self.error("it ends too early")
        self.position += 1
        return word

    def accept(self, word):
        """Whether the next word is this one, which is then taken."""
        if self.peek() != word:
            return False
        self.position += 1
        return True

    def expect(self, word):
        if not self.accept(word):
            raise self.error(f"'{word}' expected")

    def name(self):
        word = self.take()
        if not re.fullmatch(r"[A-Za-z_][\w-]*", word):
            raise self.error(f"'{word}' is no name")
        return word

    def number(self):
        negative = self.accept("-")
        word = self.take()
        if not word.isdigit():
            raise self.error(f"'{word}' is no number")
        return -int(word) if negative else int(word)
