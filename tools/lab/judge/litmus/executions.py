# SPDX-License-Identifier: GPL-2.0-only
"""Enumerates the executions of a litmus test, and asks the model about each.

They differ in what reads read from, and in which order the writes of a location took place.
"""

import itertools
from dataclasses import dataclass, field

from refused import Refused
from evaluate import Evaluation, judge
from program import satisfied
from relations import Relation, bits
from threads import Event, traces

# More than a test of a few lines can have.
MOST_VALUES = 32
# Events of locks: the checker has none.
NO_EVENTS = ("LKR", "LKW", "UL", "LF", "RL", "RU")


@dataclass
class Verdict:
    """What became of a test: how many allowed executions have the state asked for, or have not."""

    positive: int = 0
    negative: int = 0
    flags: set = field(default_factory=set)
    forbidden_by: set = field(default_factory=set)

    @property
    def result(self):
        if not self.positive:
            return "Never"
        return "Sometimes" if self.negative else "Always"


def run(program, model):
    """The Verdict on a test."""
    verdict = Verdict()
    values = _values(program, model)
    ways = [traces(process, model, values) for process in program.processes]
    for chosen in itertools.product(*ways):
        for execution in _executions(program, model, chosen):
            axiom, flags = judge(model, Evaluation(execution.count, execution.names()))
            asked = satisfied(program.condition, execution.registers, execution.memory())
            if axiom:
                if asked:
                    verdict.forbidden_by.add(axiom)
                continue
            verdict.flags.update(flags)
            verdict.positive += asked
            verdict.negative += not asked
    return verdict


def _values(program, model):
    """What the reads of each location may return: what is written to it in any execution.

    Also what is written only if something else is read that depends on it: whether this can be is
    for the model to say. So constants count wherever they are, as long as there are no addresses.
    """
    values = _written(program, model, {location: {value} for location, value
                                      in program.initial.items()})
    found = set.union(*values.values())
    numbers = {value for value in found if isinstance(value, int)} | \
        set(_constants([statements for _, statements in program.processes]))
    for location, known in values.items():
        numeric = all(isinstance(value, int) for value in known)
        values[location] = known | (numbers if numeric else found - numbers)
    return _written(program, model, values)


def _constants(tree):
    """The numbers in statements and expressions."""
    if isinstance(tree, tuple) and tree[0] == "int":
        yield tree[1]
    elif isinstance(tree, (tuple, list)):
        for part in tree:
            yield from _constants(part)


def _written(program, model, values):
    """By location, these values and all that are written where these are read, and so on."""
    for done in itertools.count():
        ways = [traces(process, model, values) for process in program.processes]
        new = {(event.location, event.value) for way in ways for trace in way
               for event in trace.events if event.kind == "W"}
        # Each write carries a value one step; where it is added to, there would be no end.
        most = sum(max(_writes(trace) for trace in way) for way in ways)
        if done > most or all(value in values[location] for location, value in new):
            return values
        values = {location: known | {value for place, value in new if place == location}
                  for location, known in values.items()}
        if any(len(known) > MOST_VALUES for known in values.values()):
            raise Refused("its variables have too many values")
    return values


def _writes(trace):
    return sum(event.kind == "W" for event in trace.events)


class Execution:
    """Events of all processes by number, those that set the initial values first."""

    def __init__(self, program, model, chosen):
        self.tags = model.tags
        self.events = [Event("W", None, location, value)
                       for location, value in program.initial.items()]
        self.initial = len(self.events)
        self.process = [None] * self.initial
        self.registers = [trace.registers for trace in chosen]
        self.first = []
        self.rmw = []
        for number, trace in enumerate(chosen):
            self.first.append(len(self.events))
            self.rmw += [(self.first[-1] + one, self.first[-1] + other)
                         for one, other in trace.rmw]
            self.events += trace.events
            self.process += [number] * len(trace.events)
        self.count = len(self.events)
        # What is the same for all that can be read from and ordered.
        self.fixed = self._fixed_names()
        self.rf = self.co = ()

    def where(self, wanted):
        """The set of events of a certain kind."""
        return sum(1 << number for number, event in enumerate(self.events) if wanted(number, event))

    def related(self, wanted):
        """The relation between pairs of numbers of events."""
        return Relation.of_pairs(self.count, [
            pair for pair in itertools.product(range(self.count), repeat=2) if wanted(*pair)])

    def _dependencies(self, kind):
        return Relation.of_pairs(self.count, [
            (self.first[self.process[number]] + read, number)
            for number, event in enumerate(self.events) for read in getattr(event, kind)])

    def _fixed_names(self):
        events, process = self.events, self.process
        names = {name: 0 for name in NO_EVENTS}
        for kind in ("R", "W", "F"):
            names[kind] = self.where(lambda _, event, kind=kind: event.kind == kind)
        for tag in self.tags:
            names[tag[0].upper() + tag[1:]] = self.where(lambda _, event, tag=tag: event.tag == tag)
        names["_"] = (1 << self.count) - 1
        names["M"] = names["R"] | names["W"]
        names["RMW"] = self.where(lambda _, event: event.atomic)
        names["IW"] = (1 << self.initial) - 1
        names["id"] = Relation.identity(self.count, (1 << self.count) - 1)
        names["rmw"] = Relation.of_pairs(self.count, self.rmw)
        for kind in ("data", "addr", "ctrl"):
            names[kind] = self._dependencies(kind)
        names["int"] = self.related(lambda one, other: process[one] == process[other])
        names["ext"] = self.related(lambda one, other: process[one] != process[other])
        names["po"] = self.related(lambda one, other: one < other and process[one] is not None
                                   and process[one] == process[other])
        names["loc"] = self.related(lambda one, other: events[one].location is not None
                                    and events[one].location == events[other].location)
        names["po-loc"] = names["po"] & names["loc"]
        names["domain"] = lambda value: value.domain() if isinstance(value, Relation) else 0
        names["range"] = lambda value: value.range() if isinstance(value, Relation) else 0
        names["fencerel"] = lambda kinds: names["po"].then(
            Relation.identity(self.count, kinds)).then(names["po"])
        names["different-values"] = self._different_values
        return names

    def _different_values(self, relation):
        return Relation.of_pairs(self.count, [
            (one, other) for one, other in relation.pairs()
            if self.events[one].value != self.events[other].value])

    def names(self):
        """All that the model may refer to."""
        names = dict(self.fixed)
        names["rf"] = Relation.of_pairs(self.count, self.rf)
        names["co"] = Relation.of_pairs(self.count, self.co)
        names["fr"] = names["rf"].inverse().then(names["co"]) - names["id"]
        for name in ("rf", "co", "fr"):
            names[name + "i"] = names[name] & names["int"]
            names[name + "e"] = names[name] & names["ext"]
        return names

    def memory(self):
        """The last value of each location."""
        followed = {one for one, _ in self.co}
        return {event.location: event.value for number, event in enumerate(self.events)
                if event.kind == "W" and number not in followed}

    def all_rf(self):
        """All choices of one write for each read, of the same value."""
        writes = self.where(lambda _, event: event.kind == "W")
        found = []
        for number, event in enumerate(self.events):
            if event.kind == "R":
                found.append([(write, number) for write in bits(writes)
                              if self.events[write].location == event.location
                              and self.events[write].value == event.value])
        return itertools.product(*found)

    def all_co(self):
        """All orders of the writes of each location; one process's own are in its order."""
        orders = []
        for first in range(self.initial):
            writes = [number for number in range(self.initial, self.count)
                      if self.events[number].kind == "W"
                      and self.events[number].location == self.events[first].location]
            orders.append([(first, *order) for order in itertools.permutations(writes)
                           if self._in_order(order)])
        for chosen in itertools.product(*orders):
            yield [pair for order in chosen for pair in itertools.combinations(order, 2)]

    def _in_order(self, order):
        return not any(self.process[one] == self.process[other] and one > other
                       for one, other in itertools.combinations(order, 2))


def _executions(program, model, chosen):
    """One object, which is another execution each time."""
    execution = Execution(program, model, chosen)
    orders = None
    for rf in execution.all_rf():
        execution.rf = rf
        orders = orders or list(execution.all_co())
        for co in orders:
            execution.co = co
            yield execution
