# SPDX-License-Identifier: GPL-2.0-only
"""Reads memory models in the cat language: as much of it as linux-kernel.bell and .cat use.

An expression becomes a tuple, its kind first; evaluate.py says what it is worth.
"""

import re
from dataclasses import dataclass, field

from refused import Refused
from tokens import Tokens

TOKEN = r"\"[^\"]*\"|'[A-Za-z][\w-]*|[A-Za-z_][A-Za-z0-9_-]*|\^-1|\|\||[=|&;\\*+?~(){}\[\],]|\d+"
COMMENT = re.compile(r"\(\*.*?\*\)|//[^\n]*", re.DOTALL)
KEYWORDS = {"let", "rec", "and", "in", "acyclic", "irreflexive", "empty", "flag", "as", "include",
            "enum", "instructions", "with", "show", "try", "map", "from", "if", "then", "else"}
CHECKS = {"acyclic", "irreflexive", "empty"}
# From the weakest to the strongest; all of them take their operands from the left.
INFIX = ["|", ";", "\\", "&", "*"]
# The model says of this file that tests without locks do without it: the coherence orders that it
# would make are enumerated anyway.
FOR_LOCKS = '"lock.cat"'
# The second version of the model: both halves of a read-modify-write have the tag of the operation,
# and the model says what it orders. In the first version herd7 puts fences around it.
TAGGED = '"lkmmv2"'


@dataclass
class Model:
    """Statements in their order: ("let", recursive, definitions) and
    ("check", kind, negated, is a flag, expression, name); the tags that accesses may have; and
    the variants of herd7 that the model asks for."""

    statements: list = field(default_factory=list)
    tags: set = field(default_factory=set)
    variants: set = field(default_factory=set)

    @property
    def tagged(self):
        return TAGGED in self.variants


def read(text, where, model):
    """Append a file's statements to a model."""
    tokens = Tokens(COMMENT.sub(" ", text), TOKEN, where)
    if tokens.peek().startswith('"'):
        tokens.take()
    while tokens.peek():
        _statement(tokens, model)


def _statement(tokens, model):
    word = tokens.take()
    if word == "let":
        model.statements.append(_let(tokens, model))
    elif word in CHECKS or word == "flag":
        model.statements.append(_check(tokens, word, model))
    elif word == "include":
        if tokens.take() != FOR_LOCKS:
            raise tokens.error("an unknown file is included")
    elif word == "enum":
        tokens.name()
        tokens.expect("=")
        model.tags.update(_tags(tokens, "||"))
    elif word == "instructions":
        tokens.name()
        tokens.expect("[")
        if tokens.accept("{"):
            _tags(tokens, ",")
            tokens.expect("}")
        else:
            tokens.name()
        tokens.expect("]")
    else:
        raise tokens.error(f"'{word}' is no statement")


def _tags(tokens, separator):
    found = set()
    while True:
        word = tokens.take()
        if not word.startswith("'"):
            raise tokens.error(f"'{word}' is no tag")
        found.add(word[1:])
        if not tokens.accept(separator):
            return found


def _let(tokens, model):
    recursive = tokens.accept("rec")
    definitions = [_definition(tokens, model)]
    while tokens.accept("and"):
        definitions.append(_definition(tokens, model))
    return ("let", recursive, definitions)


def _definition(tokens, model):
    name, parameter = tokens.name(), None
    if tokens.accept("("):
        parameter = tokens.name()
        tokens.expect(")")
    tokens.expect("=")
    return name, parameter, _expression(tokens, model)


def _check(tokens, word, model):
    is_flag = word == "flag"
    negated = is_flag and tokens.accept("~")
    kind = tokens.take() if is_flag else word
    if kind not in CHECKS:
        raise tokens.error(f"'{kind}' is no check")
    expression = _expression(tokens, model)
    tokens.expect("as")
    return ("check", kind, negated, is_flag, expression, tokens.name())


def _expression(tokens, model, level=0):
    if level == len(INFIX):
        return _prefixed(tokens, model)
    if tokens.accept("let"):
        _, recursive, definitions = _let(tokens, model)
        tokens.expect("in")
        return ("in", recursive, definitions, _expression(tokens, model))
    if tokens.accept("if"):
        return _variant(tokens, model)
    left = _expression(tokens, model, level + 1)
    while tokens.accept(INFIX[level]):
        left = (INFIX[level], left, _expression(tokens, model, level + 1))
    return left


def _variant(tokens, model):
    """What an expression is with the variant of herd7 that it asks for."""
    variant = tokens.take()
    if variant != TAGGED:
        raise tokens.error(f"{variant} is no known variant")
    model.variants.add(variant)
    tokens.expect("then")
    found = _expression(tokens, model)
    tokens.expect("else")
    _expression(tokens, model)
    return found


def _prefixed(tokens, model):
    if tokens.accept("~"):
        return ("~", _prefixed(tokens, model))
    return _postfixed(tokens, model)


def _begins_operand(word):
    return word in ("(", "[", "~") or bool(re.match(r"[A-Za-z_]", word)) and word not in KEYWORDS


def _postfixed(tokens, model):
    found = _operand(tokens, model)
    while True:
        if tokens.peek() == "*" and not _begins_operand(tokens.peek(1)):
            tokens.take()
            found = ("closure*", found)
        elif tokens.peek() in ("+", "?", "^-1"):
            found = ("closure" + tokens.take(), found)
        else:
            return found


def _operand(tokens, model):
    if tokens.accept("("):
        found = _expression(tokens, model)
        tokens.expect(")")
        return found
    if tokens.accept("0"):
        return ("nothing",)
    if tokens.accept("["):
        found = _expression(tokens, model)
        tokens.expect("]")
        return ("identity", found)
    name = tokens.name()
    if name in KEYWORDS:
        raise tokens.error(f"'{name}' is not understood here")
    if tokens.accept("("):
        argument = _expression(tokens, model)
        tokens.expect(")")
        return ("call", name, argument)
    return ("name", name)


def load(directory):
    """The kernel's model: tools/memory-model of a kernel source."""
    model = Model()
    for name in ("linux-kernel.bell", "linux-kernel.cat"):
        try:
            read((directory / name).read_text(), name, model)
        except OSError as error:
            raise Refused(str(error)) from None
    return model
