# SPDX-License-Identifier: GPL-2.0-only
"""Sets and relations of an execution's events, as bits of integers.

A set is an int whose bit N stands for event N; a relation has one such set for each event: those
that it leads to.
"""


def bits(events):
    """The numbers of the events in a set."""
    while events:
        lowest = events & -events
        yield lowest.bit_length() - 1
        events ^= lowest


class Relation:
    """Pairs of events; what it is compared and combined with is of the same execution."""

    def __init__(self, rows):
        self.rows = list(rows)

    @classmethod
    def of_pairs(cls, count, pairs):
        rows = [0] * count
        for one, other in pairs:
            rows[one] |= 1 << other
        return cls(rows)

    @classmethod
    def identity(cls, count, events):
        """[events] of the cat language."""
        return cls(events & 1 << number for number in range(count))

    @classmethod
    def product(cls, count, ones, others):
        return cls(others if ones >> number & 1 else 0 for number in range(count))

    def pairs(self):
        return [(one, other) for one, row in enumerate(self.rows) for other in bits(row)]

    def __eq__(self, other):
        return isinstance(other, Relation) and self.rows == other.rows

    def __bool__(self):
        return any(self.rows)

    def __or__(self, other):
        return Relation(a | b for a, b in zip(self.rows, other.rows))

    def __and__(self, other):
        return Relation(a & b for a, b in zip(self.rows, other.rows))

    def __sub__(self, other):
        return Relation(a & ~b for a, b in zip(self.rows, other.rows))

    def then(self, other):
        """Those pairs between which there is an event, led to by this, that other leads on from."""
        rows = []
        for row in self.rows:
            reached = 0
            for middle in bits(row):
                reached |= other.rows[middle]
            rows.append(reached)
        return Relation(rows)

    def inverse(self):
        rows = [0] * len(self.rows)
        for one, other in self.pairs():
            rows[other] |= 1 << one
        return Relation(rows)

    def optional(self):
        """With every event's pair with itself."""
        return Relation(row | 1 << number for number, row in enumerate(self.rows))

    def closure(self):
        """One step or more."""
        rows = list(self.rows)
        for middle, _ in enumerate(rows):
            for one, row in enumerate(rows):
                if row >> middle & 1:
                    rows[one] |= rows[middle]
        return Relation(rows)

    def domain(self):
        return sum(1 << number for number, row in enumerate(self.rows) if row)

    def range(self):
        reached = 0
        for row in self.rows:
            reached |= row
        return reached

    def is_irreflexive(self):
        return not any(row >> number & 1 for number, row in enumerate(self.rows))

    def is_acyclic(self):
        return self.closure().is_irreflexive()
