# SPDX-License-Identifier: GPL-2.0-only
"""Applies a model in the cat language to one execution."""

import operator

from refused import Refused
from relations import Relation


class Evaluation:
    """Names and what they are worth: a set (int), a relation, a function or NOTHING."""

    # The value that 'let rec' begins with, where it is not yet known what it is of.
    NOTHING = object()

    def __init__(self, count, names):
        self.count = count
        self.universe = (1 << count) - 1
        self.names = names

    def relation(self, value):
        if value is self.NOTHING:
            return Relation([0] * self.count)
        if not isinstance(value, Relation):
            raise Refused("the model has a set where a relation belongs")
        return value

    def set(self, value):
        if value is self.NOTHING:
            return 0
        if not isinstance(value, int):
            raise Refused("the model has a relation where a set belongs")
        return value

    def alike(self, expressions, names):
        """The values of two operands, both sets or both relations."""
        values = [self.value(expression, names) for expression in expressions]
        if any(isinstance(value, Relation) for value in values):
            return [self.relation(value) for value in values]
        return [self.set(value) for value in values]

    def value(self, expression, names):
        """What an expression is worth where these names are defined."""
        return getattr(self, METHODS[expression[0]])(expression, names)

    def _name(self, expression, names):
        if expression[1] not in names:
            raise Refused(f"the model uses '{expression[1]}', which is not defined")
        return names[expression[1]]

    def _nothing(self, _expression, _names):
        return self.NOTHING

    def _call(self, expression, names):
        function = self._name(expression, names)
        if not callable(function):
            raise Refused(f"the model calls '{expression[1]}', which is no function")
        return function(self.value(expression[2], names))

    def _in(self, expression, names):
        _, recursive, definitions, body = expression
        return self.value(body, self.define(recursive, definitions, dict(names)))

    def _bitwise(self, expression, names):
        one, other = self.alike(expression[1:], names)
        return (operator.or_ if expression[0] == "|" else operator.and_)(one, other)

    def _without(self, expression, names):
        one, other = self.alike(expression[1:], names)
        return one - other if isinstance(one, Relation) else one & ~other

    def _then(self, expression, names):
        one, other = (self.relation(self.value(part, names)) for part in expression[1:])
        return one.then(other)

    def _product(self, expression, names):
        one, other = (self.set(self.value(part, names)) for part in expression[1:])
        return Relation.product(self.count, one, other)

    def _not(self, expression, names):
        return self.universe & ~self.set(self.value(expression[1], names))

    def _identity(self, expression, names):
        return Relation.identity(self.count, self.set(self.value(expression[1], names)))

    def _closure(self, expression, names):
        one = self.relation(self.value(expression[1], names))
        return {"closure+": one.closure, "closure?": one.optional, "closure^-1": one.inverse,
                "closure*": lambda: one.closure().optional()}[expression[0]]()

    def define(self, recursive, definitions, names):
        """Put the definitions among the names, which are returned."""
        if recursive:
            return self._fixpoint(definitions, names)
        names.update([(name, self._defined(parameter, body, names))
                      for name, parameter, body in definitions])
        return names

    def _defined(self, parameter, body, names):
        if parameter is None:
            return self.value(body, names)
        seen = dict(names)
        return lambda argument: self.value(body, {**seen, parameter: argument})

    def _fixpoint(self, definitions, names):
        names.update((name, self.NOTHING) for name, _, _ in definitions)
        # A definition that takes something away need not come to an end.
        for _ in range(2 * self.count * self.count + 2):
            found = {name: self.value(body, names) for name, _, body in definitions}
            if all(found[name] == names[name] for name in found):
                return names
            names.update(found)
        raise Refused("a recursive definition of the model comes to no end")

    def holds(self, kind, expression):
        value = self.value(expression, self.names)
        if kind == "empty":
            return not value or value is self.NOTHING
        value = self.relation(value)
        return value.is_acyclic() if kind == "acyclic" else value.is_irreflexive()


METHODS = {
    "name": "_name", "nothing": "_nothing", "call": "_call", "in": "_in",
    "|": "_bitwise", "&": "_bitwise", "\\": "_without", ";": "_then", "*": "_product", "~": "_not",
    "identity": "_identity",
    "closure+": "_closure", "closure?": "_closure", "closure*": "_closure",
    "closure^-1": "_closure",
}


def judge(model, evaluation):
    """(the name of the axiom that forbids the execution or None, names of the flags it raises)."""
    flags = []
    for statement in model.statements:
        if statement[0] == "let":
            evaluation.define(statement[1], statement[2], evaluation.names)
            continue
        _, kind, negated, is_flag, expression, name = statement
        good = evaluation.holds(kind, expression) != negated
        if is_flag and good:
            flags.append(name)
        elif not is_flag and not good:
            return name, []
    return None, flags
