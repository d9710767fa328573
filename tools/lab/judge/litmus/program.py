# SPDX-License-Identifier: GPL-2.0-only
"""Reads a litmus test: initial values, processes, and the state that is asked for."""

import re
from dataclasses import dataclass

import expressions
from refused import Refused
from tokens import Tokens

RESULT = re.compile(r"^ \* Result: (\w+)", re.MULTILINE)


@dataclass
class Program:
    """A litmus test.

    initial: value of each location, an int or the name of another location
    processes: [(names of its parameters, statements)]
    condition: ("and", C, C), ("or", C, C), ("not", C) or ("is", process or None, name, value)
    result: what its comment expects, or None
    """

    name: str
    initial: dict
    processes: list
    condition: tuple
    result: str


def read(text, where, macros):
    """The Program that a text is."""
    result = RESULT.search(text)
    head, _, body = expressions.COMMENT.sub(" ", text).partition("\n")
    kind, _, name = head.strip().partition(" ")
    if kind != "C":
        raise Refused(f"{where}: it is not a test in C")
    tokens = Tokens(body, expressions.TOKEN, where)
    initial = _initial(tokens)
    processes = []
    while re.fullmatch(r"P\d+", tokens.peek()):
        processes.append(_process(tokens, len(processes), macros, initial))
    if tokens.accept("locations"):
        while tokens.take() != "]":
            pass
    if not tokens.accept("exists"):
        raise tokens.error("'exists' expected")
    condition = _condition(tokens, "\\/")
    if tokens.peek():
        raise tokens.error()
    _check_names(tokens, condition, initial, [set(_registers(statements))
                                              for _, statements in processes])
    return Program(name.strip(), initial, processes, condition, result and result[1])


def _initial(tokens):
    found = {}
    tokens.expect("{")
    while not tokens.accept("}"):
        if expressions.is_declaration(tokens):
            name, _ = expressions.declared_name(tokens)
        else:
            name = tokens.name()
        found[name] = _initial_value(tokens) if tokens.accept("=") else 0
        tokens.expect(";")
    # A variable whose name is a value exists, and is 0.
    for value in [value for value in found.values() if isinstance(value, str)]:
        found.setdefault(value, 0)
    return found


def _initial_value(tokens):
    if tokens.accept("ATOMIC_INIT"):
        tokens.expect("(")
        value = tokens.number()
        tokens.expect(")")
        return value
    if tokens.accept("&"):
        return tokens.name()
    return _constant(tokens)


def _constant(tokens):
    if tokens.peek() == "-" or tokens.peek().isdigit():
        return tokens.number()
    return tokens.name()


def _process(tokens, number, macros, initial):
    if tokens.take() != f"P{number}":
        raise tokens.error(f"P{number} expected")
    tokens.expect("(")
    parameters = []
    while not tokens.accept(")"):
        if parameters:
            tokens.expect(",")
        if not expressions.is_declaration(tokens):
            raise tokens.error("a parameter has an unknown type")
        name, pointer = expressions.declared_name(tokens)
        if not pointer:
            raise tokens.error(f"parameter {name} is no pointer")
        parameters.append(name)
        initial.setdefault(name, 0)
    return parameters, expressions.block(tokens, macros)


def _condition(tokens, mark):
    """Alternatives, of conjunctions, of terms."""
    part = (lambda: _condition(tokens, "/\\")) if mark == "\\/" else (lambda: _term(tokens))
    left = part()
    while tokens.accept(mark):
        left = ("or" if mark == "\\/" else "and", left, part())
    return left


def _term(tokens):
    if tokens.accept("~"):
        return ("not", _term(tokens))
    if tokens.accept("("):
        found = _condition(tokens, "\\/")
        tokens.expect(")")
        return found
    process = None
    if tokens.peek().isdigit():
        process = tokens.number()
        tokens.expect(":")
    name = tokens.name()
    tokens.expect("=")
    return ("is", process, name, _constant(tokens))


def _registers(statements):
    """The names that statements set."""
    for statement in statements:
        if statement[0] == "set":
            yield statement[1]
        elif statement[0] == "if":
            yield from _registers(statement[2] + statement[3])


def _check_names(tokens, condition, initial, registers):
    """A name that is misspelt would be a state that never comes."""
    if condition[0] != "is":
        for part in condition[1:]:
            _check_names(tokens, part, initial, registers)
        return
    _, process, name, value = condition
    if process is None and name not in initial:
        raise tokens.error(f"there is no location {name}")
    if process is not None and process >= len(registers):
        raise tokens.error(f"there is no P{process}")
    if process is not None and name not in registers[process]:
        raise tokens.error(f"P{process} sets no {name}")
    if isinstance(value, str) and value not in initial:
        raise tokens.error(f"there is no location {value}")


def satisfied(condition, registers, memory):
    """Whether a final state is the one asked for; a register that was never set is 0."""
    kind = condition[0]
    if kind == "and":
        return all(satisfied(part, registers, memory) for part in condition[1:])
    if kind == "or":
        return any(satisfied(part, registers, memory) for part in condition[1:])
    if kind == "not":
        return not satisfied(condition[1], registers, memory)
    _, process, name, value = condition
    return value == (memory[name] if process is None else registers[process].get(name, 0))
