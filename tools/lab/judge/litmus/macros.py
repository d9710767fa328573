# SPDX-License-Identifier: GPL-2.0-only
"""The functions that a litmus test may call, from the kernel's linux-kernel.def.

Each says there which accesses and fences it is made of.
"""

import re

import expressions
from refused import Refused
from tokens import Tokens

# herd7 knows this one by itself; herd-representation.txt says what it is made of.
BUILT_IN = "atomic_add_unless(X,V,W) __atomic_add_unless{mb}(X,V,W)\n"
LINE = re.compile(r"(\w+)\(([\w, ]*)\)\s*(.+)")


class Macros:
    """Parameters and body by name."""

    def __init__(self, text, where):
        self.bodies = {}
        for line in expressions.COMMENT.sub("", text).splitlines():
            if line.strip():
                self._read(line.strip(), where)

    def _read(self, line, where):
        match = LINE.fullmatch(line)
        if not match:
            raise Refused(f"{where}: '{line}' is not understood")
        tokens = Tokens(match[3], expressions.TOKEN, where)
        if tokens.peek() == "{":
            body = ("block", expressions.block(tokens, self))
        else:
            body = expressions.expression(tokens, self)
        if tokens.peek():
            raise tokens.error()
        parameters = [name.strip() for name in match[2].split(",") if name.strip()]
        self.bodies[match[1]] = parameters, body

    def expand(self, tokens, name, arguments):
        if name not in self.bodies:
            raise tokens.error(f"{name}() is unknown")
        parameters, body = self.bodies[name]
        if len(parameters) != len(arguments):
            raise tokens.error(f"{name}() has {len(parameters)} parameters")
        return _replace(body, dict(zip(parameters, arguments)))


def _replace(tree, arguments):
    """A copy of a tree, or list of trees, with the arguments in place of the parameters' names."""
    if isinstance(tree, list):
        return [_replace(part, arguments) for part in tree]
    if not isinstance(tree, tuple):
        return tree
    if tree[0] == "name":
        return arguments.get(tree[1], tree)
    return tuple(_replace(part, arguments) for part in tree)


def load(directory):
    """tools/memory-model of a kernel source"""
    name = "linux-kernel.def"
    try:
        return Macros(BUILT_IN + (directory / name).read_text(), name)
    except OSError as error:
        raise Refused(str(error)) from None
