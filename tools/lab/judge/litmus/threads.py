# SPDX-License-Identifier: GPL-2.0-only
"""Runs one process of a litmus test in all ways: once for each choice of what its reads return.

What an access depends on is known while it is made: each value comes with the reads that it was
computed from, and an arm of an 'if' with those of its condition. As tools/memory-model's
explanation.txt has it, what comes after the 'if' does not depend on the condition. A read of a
read-modify-write is ordered before its write because both are of one location.
"""

import operator
from dataclasses import dataclass, field

from refused import Refused

NONE = frozenset()
# A model has them, but the checker does not.
SRCU = ("srcu-lock", "srcu-unlock")
OPERATIONS = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt,
              "<=": operator.le, ">=": operator.ge, "+": operator.add, "-": operator.sub,
              "&": operator.and_, "|": operator.or_, "^": operator.xor,
              "&~": lambda one, other: one & ~other}


@dataclass
class Event:
    """A read, a write or a fence; dependencies are numbers of reads in the same process."""

    kind: str
    tag: str = None
    location: str = None
    value: object = None
    atomic: bool = False
    data: frozenset = NONE
    addr: frozenset = NONE
    ctrl: frozenset = NONE


@dataclass
class Trace:
    """One way through a process."""

    events: list = field(default_factory=list)
    rmw: list = field(default_factory=list)
    registers: dict = field(default_factory=dict)


def compute(mark, one, other):
    """The value of an operation."""
    if mark not in ("==", "!=") and (isinstance(one, str) or isinstance(other, str)):
        raise Refused(f"'{mark}' of an address")
    return int(OPERATIONS[mark](one, other))


class _Unchosen(Exception):
    """A read whose value has not been chosen yet."""

    def __init__(self, location):
        super().__init__(location)
        self.location = location


class _Run:
    """The process with a choice made for its first reads."""

    def __init__(self, parameters, model, choices):
        self.parameters = set(parameters)
        self.model = model
        self.choices = list(choices)
        self.trace = Trace()
        self.known = {}
        self.ctrl = NONE

    def statements(self, found):
        for statement in found:
            getattr(self, f"_{statement[0]}")(*statement[1:])

    def _set(self, name, expression):
        if name in self.parameters:
            raise Refused(f"a parameter, {name}, is assigned to")
        self.known[name] = self.value(expression)
        self.trace.registers[name] = self.known[name][0]

    def _store(self, address, expression):
        location, addr = self.location(address)
        value, data = self.value(expression)
        self.add("W", None, location, value, addr=addr, data=data)

    def _do(self, expression):
        self.value(expression)

    def _if(self, condition, then, other):
        value, reads = self.value(condition)
        before, self.ctrl = self.ctrl, self.ctrl | reads
        self.statements(then if value else other)
        self.ctrl = before

    def add(self, kind, tag, location=None, value=None, **more):
        """A new event; its number."""
        if tag is not None and tag not in self.model.tags:
            raise Refused(f"the model knows no '{tag}'")
        self.trace.events.append(Event(kind, tag, location, value, ctrl=self.ctrl, **more))
        return len(self.trace.events) - 1

    def choose(self, location):
        if not self.choices:
            raise _Unchosen(location)
        return self.choices.pop(0)

    def value(self, expression):
        """(value, reads that it depends on)"""
        kind = expression[0]
        if kind == "int":
            return expression[1], NONE
        if kind == "name":
            return self.named(expression[1])
        if kind == "deref":
            return self.load(None, expression)
        if kind == "not":
            value, reads = self.value(expression[1])
            return int(not value), reads
        if kind == "op":
            return self.operation(*expression[1:])
        if kind == "primitive":
            return self.primitive(*expression[1:])
        raise Refused(f"an expression of kind '{kind}' is out of place")

    def named(self, name):
        if name in self.known:
            return self.known[name]
        if name in self.parameters:
            return name, NONE
        raise Refused(f"'{name}' is used before it has a value")

    def operation(self, mark, one, other):
        (one, reads), (other, more) = self.value(one), self.value(other)
        return compute(mark, one, other), reads | more

    def location(self, expression):
        location, reads = self.value(expression)
        if not isinstance(location, str):
            raise Refused(f"{location} is used as an address")
        return location, reads

    def place(self, expression):
        """The location of an lvalue, and the reads that it depends on."""
        if expression[0] != "deref":
            raise Refused("an access to what is not in memory")
        return self.location(expression[1])

    def load(self, tag, place):
        location, addr = self.place(place)
        value = self.choose(location)
        return value, frozenset([self.add("R", tag, location, value, addr=addr)])

    def primitive(self, name, tag, arguments):
        if name == "__fence":
            self.add("F", tag)
            return 0, NONE
        if name == "__load" and len(arguments) == 1 and tag not in SRCU:
            return self.load(tag, arguments[0])
        if name == "__store" and len(arguments) == 2 and tag not in SRCU:
            location, addr = self.place(arguments[0])
            value, data = self.value(arguments[1])
            self.add("W", tag, location, value, addr=addr, data=data)
            return 0, NONE
        if name == "__xchg":
            address, new = arguments
            return self.modify(tag, address, lambda _: self.value(new))[0]
        if name == "__cmpxchg":
            return self.compare_and_exchange(tag, *arguments)
        if name == "__atomic_add_unless":
            return self.add_unless(tag, *arguments)
        if name in ("__atomic_op", "__atomic_op_return", "__atomic_fetch_op"):
            return self.arithmetic(name, tag or "noreturn", *arguments)
        raise Refused(f"{name}{{{tag}}} is not implemented")

    def modify(self, tag, address, change, wanted=lambda old: True):
        """A read-modify-write: what it has read and written, each with its reads.

        One that finds another value than is wanted is a read without any order.
        """
        location, addr = self.location(address)
        old = self.choose(location)
        if not wanted(old):
            read = self.add("R", tag if self.model.tagged else "once", location, old, atomic=True,
                            addr=addr)
            return ((old, frozenset([read])),) * 2
        new, data = change(old)
        before, after = (tag, tag) if self.model.tagged else (
            tag if tag in ("acquire", "noreturn") else "once",
            tag if tag == "release" else "once")
        self.full_fence(tag)
        read = self.add("R", before, location, old, atomic=True, addr=addr)
        write = self.add("W", after, location, new, atomic=True, addr=addr, data=data)
        self.full_fence(tag)
        self.trace.rmw.append((read, write))
        reads = frozenset([read])
        return (old, reads), (new, data | reads)

    def full_fence(self, tag):
        if tag == "mb" and not self.model.tagged:
            self.add("F", "mb")

    def compare_and_exchange(self, tag, address, expected, new):
        wanted, _ = self.value(expected)
        return self.modify(tag, address, lambda _: self.value(new),
                           lambda old: old == wanted)[0]

    def add_unless(self, tag, address, operand, unless):
        """Whether it was added."""
        (amount, data), (unwanted, _) = self.value(operand), self.value(unless)
        (old, reads), _ = self.modify(tag, address, lambda old: (compute("+", old, amount), data),
                                      lambda old: old != unwanted)
        return int(old != unwanted), reads

    def arithmetic(self, name, tag, address, mark, operand):
        amount, reads = self.value(operand)
        old, new = self.modify(tag, address, lambda old: (compute(mark[1], old, amount), reads))
        return new if name == "__atomic_op_return" else old


def traces(process, model, values):
    """All traces of a process; values has those that may be read, by location."""
    parameters, statements = process
    found, unfinished = [], [()]
    while unfinished:
        choices = unfinished.pop()
        run = _Run(parameters, model, choices)
        try:
            run.statements(statements)
            found.append(run.trace)
        except _Unchosen as read:
            unfinished += [choices + (value,) for value in values[read.location]]
    return found
