# SPDX-License-Identifier: GPL-2.0-only
"""Reads expressions and statements of the C in which litmus tests are written.

Expressions are tuples, their kind first: ("int", N), ("name", N), ("deref", E), ("op", O, E, E),
("not", E), ("mark", O) for an operator as an argument, and ("primitive", NAME, TAG, ARGUMENTS): an
access or a fence, which the functions of linux-kernel.def are made of. Statements are ("set", NAME,
E), ("store", ADDRESS, E), ("do", E) and ("if", E, STATEMENTS, STATEMENTS).
"""

import re

TOKEN = (r"[A-Za-z_]\w*|\d+|==|!=|<=|>=|&&|&~|\|\||/\\|\\/|[-+*&|^!~=<>(){}\[\],;:]")
# In C, "(*name" is none of the comments of litmus tests.
COMMENT = re.compile(r"\(\*\s.*?\*\)|/\*.*?\*/|//[^\n]*", re.DOTALL)
TYPES = {"int", "long", "u64", "s64", "atomic_t", "intptr_t", "bool"}
# From the weakest to the strongest.
BINARY = [("==", "!=", "<", ">", "<=", ">="), ("+", "-")]
MARKS = ("+", "-", "&", "|", "^", "&~")


def expression(tokens, macros, level=0):
    if level == len(BINARY):
        return _unary(tokens, macros)
    left = expression(tokens, macros, level + 1)
    while tokens.peek() in BINARY[level]:
        mark = tokens.take()
        left = ("op", mark, left, expression(tokens, macros, level + 1))
    return left


def _unary(tokens, macros):
    if tokens.peek() in MARKS and tokens.peek(1) == ",":
        return ("mark", tokens.take())
    if tokens.accept("*"):
        return ("deref", _unary(tokens, macros))
    if tokens.accept("!"):
        return ("not", _unary(tokens, macros))
    if tokens.peek() == "(" and tokens.peek(1) == "void" and tokens.peek(2) == ")":
        tokens.position += 3
        return _unary(tokens, macros)
    if tokens.accept("("):
        found = expression(tokens, macros)
        tokens.expect(")")
        return found
    if tokens.peek() == "-" or tokens.peek().isdigit():
        return ("int", tokens.number())
    name = tokens.name()
    if name.startswith("__"):
        return _primitive(tokens, macros, name)
    if tokens.peek() == "(":
        return macros.expand(tokens, name, _arguments(tokens, macros))
    return ("name", name)


def _primitive(tokens, macros, name):
    tag = None
    if tokens.accept("{"):
        words = [tokens.name()]
        while tokens.accept("-"):
            words.append(tokens.name())
        tag = "-".join(words)
        tokens.expect("}")
    return ("primitive", name, tag, _arguments(tokens, macros) if tokens.peek() == "(" else [])


def _arguments(tokens, macros):
    tokens.expect("(")
    found = []
    while not tokens.accept(")"):
        if found:
            tokens.expect(",")
        found.append(expression(tokens, macros))
    return found


def is_declaration(tokens):
    return tokens.peek() in TYPES


def declared_name(tokens):
    """The name in a declaration of one variable, after its type; and whether it is a pointer."""
    tokens.take()
    pointer = False
    while tokens.accept("*"):
        pointer = True
    return tokens.name(), pointer


def block(tokens, macros):
    """The statements between braces."""
    tokens.expect("{")
    found = []
    while not tokens.accept("}"):
        found += statement(tokens, macros)
    return found


def statement(tokens, macros):
    """One statement, or several where a macro is several; a declaration alone is none."""
    if tokens.peek() == "{":
        return block(tokens, macros)
    if tokens.accept("if"):
        return [_if(tokens, macros)]
    if is_declaration(tokens):
        name, _ = declared_name(tokens)
        found = []
        if tokens.accept("="):
            found = [("set", name, expression(tokens, macros))]
    else:
        target = expression(tokens, macros)
        if target[0] == "block":
            found = target[1]
        elif not tokens.accept("="):
            found = [("do", target)]
        elif target[0] == "name":
            found = [("set", target[1], expression(tokens, macros))]
        elif target[0] == "deref":
            found = [("store", target[1], expression(tokens, macros))]
        else:
            raise tokens.error("nothing can be assigned to this")
    tokens.expect(";")
    return found


def _if(tokens, macros):
    tokens.expect("(")
    condition = expression(tokens, macros)
    tokens.expect(")")
    then = statement(tokens, macros)
    other = statement(tokens, macros) if tokens.accept("else") else []
    return ("if", condition, then, other)
