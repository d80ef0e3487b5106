# SPDX-License-Identifier: BSD-3-Clause
"""Executions of small concurrent programs, and which of them the memory model of C allows.

Owns: events, their relations, the axioms. Called by litmus.py. Calls nothing.
The model is RC11 (Lahav et al., "Repairing Sequential Consistency in C/C++11", PLDI 2017,
doi:10.1145/3062341.3062352), weakened twice. Release sequences are those of C++20: only atomic
read-modify-writes go on with one. Loads may see stores that come later in program order unless a
dependency forbids it, because compilers and ARM and RISC-V processors do that. So what is forbidden
here is forbidden on each processor that compiles C11 atomics correctly (for ARM and RISC-V:
Podkopaev et al., POPL 2019, doi:10.1145/3290382).
A membarrier runs a sequentially consistent fence in every other thread, at some place between two
accesses; the call does not return before. All places are tried.
"""

import itertools
from dataclasses import dataclass, field

READS, WRITES = 1, 2
RELEASES = {"rel", "acq_rel", "seq"}
ACQUIRES = {"acq", "acq_rel", "seq"}


@dataclass(eq=False)
class Event:
    """One access or fence of an execution."""

    thread: int
    kind: int  # READS, WRITES, both, or 0: a fence
    order: str  # na, rlx, acq, rel, acq_rel, seq
    place: str = ""  # location
    read: int = 0  # the value read
    written: int = 0
    after: tuple = ()  # indices, in the thread, of the reads that it depends on
    barrier: bool = False  # the fence of a membarrier
    index: int = field(default=0)  # in the execution


def compose(left, right):
    """The relation left;right. A relation is a list: for each event a bit mask of successors."""
    out = []
    for row in left:
        mask = 0
        while row:
            low = row & -row
            mask |= right[low.bit_length() - 1]
            row ^= low
        out.append(mask)
    return out


def union(*relations):
    """The union of relations."""
    return [sum_bits(rows) for rows in zip(*relations)]


def sum_bits(rows):
    """Bitwise or of masks."""
    out = 0
    for row in rows:
        out |= row
    return out


def closure(relation):
    """Transitive closure."""
    out = list(relation)
    for k in range(len(out)):
        bit, via = 1 << k, out[k]
        for i, row in enumerate(out):
            if row & bit:
                out[i] = row | via
        via = out[k]
    return out


def cyclic(relation):
    """Whether the relation, closed, has a cycle."""
    return any(row >> i & 1 for i, row in enumerate(closure(relation)))


def inverse(relation):
    """The relation turned round."""
    out = [0] * len(relation)
    for i, row in enumerate(relation):
        while row:
            low = row & -row
            out[low.bit_length() - 1] |= 1 << i
            row ^= low
    return out


def keep(relation, sources, targets):
    """Only pairs from the mask `sources` to the mask `targets`."""
    return [row & targets if sources >> i & 1 else 0 for i, row in enumerate(relation)]


class Frame:
    """Events of one combination of threads' traces, and all that does not depend on who reads
    which store."""

    def __init__(self, traces, initial, barriers):
        """in traces: a list of events for each thread; initial: value of each place; barriers:
        for each membarrier (thread, position of its two fences) and each other thread the position
        at which its fence runs."""
        self.events = [
            Event(-1, WRITES, "na", place, 0, value) for place, value in sorted(initial.items())
        ]
        self.initials = len(self.events)
        size_of = []
        for trace in traces:
            size_of.append(len(self.events))
            self.events += trace
        # Fences that a membarrier runs in other threads stand behind all other events.
        inserted = []
        for (caller, first), where in barriers:
            for thread, position in where.items():
                fence = Event(thread, 0, "seq", barrier=True)
                inserted.append((fence, position, size_of[caller] + first))
                self.events.append(fence)
        for i, event in enumerate(self.events):
            event.index = i
        self.n = len(self.events)
        self.order_threads(traces, size_of, inserted)
        self.classify()

    def order_threads(self, traces, starts, inserted):
        """Program order, the edges of membarriers, and dependencies."""
        self.sb, self.dep = [0] * self.n, [0] * self.n
        for i in range(self.initials):
            self.sb[i] = sum_bits(1 << k for k in range(self.initials, self.n))
        for trace, start in zip(traces, starts):
            for i in range(len(trace)):
                for k in range(i + 1, len(trace)):
                    self.sb[start + i] |= 1 << start + k
                for k in trace[i].after:
                    self.dep[start + k] |= 1 << start + i
        self.extra = [0] * self.n
        for fence, position, first in inserted:
            start = starts[fence.thread]
            for i in range(len(traces[fence.thread])):
                if i < position:
                    self.sb[start + i] |= 1 << fence.index
                else:
                    self.sb[fence.index] |= 1 << start + i
            self.extra[first] |= 1 << fence.index
            self.extra[fence.index] |= 1 << first + 1
        for (one, at, _), (two, to, _) in itertools.permutations(inserted, 2):
            if one.thread == two.thread and (at, one.index) < (to, two.index):
                self.sb[one.index] |= 1 << two.index

    def classify(self):
        """Masks of kinds of events, and the stores to each place."""
        mask = lambda test: sum_bits(1 << e.index for e in self.events if test(e))  # noqa: E731
        self.fences = mask(lambda e: not e.kind)
        self.releasing = mask(lambda e: e.order in RELEASES)
        self.acquiring = mask(lambda e: e.order in ACQUIRES)
        self.seq = mask(lambda e: e.order == "seq")
        self.plain = mask(lambda e: e.order == "na")
        self.stores, self.same, self.others = {}, [0] * self.n, [0] * self.n
        for e in self.events:
            if e.kind & WRITES:
                self.stores.setdefault(e.place, []).append(e)
            for f in self.events:
                if e.place and e.place == f.place:
                    self.same[e.index] |= 1 << f.index
                elif e.place and f.place:
                    self.others[e.index] |= 1 << f.index
        self.loads = [e for e in self.events if e.kind & READS]
        full = (1 << self.n) - 1
        self.identity = [1 << i for i in range(self.n)]
        # [release];([F];sb)? to a store, and from a load (sb;[F])?;[acquire]
        atomic = full & ~self.plain & ~self.fences
        fence_first = keep(self.sb, self.fences & self.releasing, atomic)
        self.releases = union(keep(self.identity, self.releasing & atomic, full), fence_first)
        fence_last = keep(self.sb, atomic, self.fences & self.acquiring)
        self.acquires = union(keep(self.identity, self.acquiring & atomic, full), fence_last)

    def sources(self):
        """Each choice of the store that each load sees, with the relation rf."""
        choices = []
        for load in self.loads:
            found = [w for w in self.stores.get(load.place, ()) if w.written == load.read]
            found = [w for w in found if w is not load]
            if not found:
                return
            choices.append(found)
        for chosen in itertools.product(*choices):
            rf = [0] * self.n
            for load, store in zip(self.loads, chosen):
                rf[store.index] |= 1 << load.index
            if not cyclic(union(self.dep, rf)):
                yield rf

    def store_orders(self):
        """Each order of the stores to each place, as the relation mo."""
        places = []
        for stores in self.stores.values():
            orders = []
            for order in itertools.permutations(stores[1:]):
                line = (stores[0],) + order
                kept = all(
                    not self.sb[line[k].index] >> line[i].index & 1
                    for i in range(len(line))
                    for k in range(i + 1, len(line))
                )
                if kept:
                    orders.append(line)
            places.append(orders)
        for lines in itertools.product(*places):
            mo = [0] * self.n
            for line in lines:
                later = 0
                for store in reversed(line):
                    mo[store.index] = later
                    later |= 1 << store.index
            yield mo

    def happens_before(self, rf):
        """hb of a choice of sources; None if it has a cycle."""
        updates = sum_bits(1 << e.index for e in self.events if e.kind == READS | WRITES)
        full = (1 << self.n) - 1
        chain = union(self.identity, closure(keep(rf, full, updates)))
        sees = compose(compose(self.releases, chain), rf)
        hb = closure(union(self.sb, self.extra, compose(sees, self.acquires)))
        return None if any(row >> i & 1 for i, row in enumerate(hb)) else hb

    def is_allowed(self, rf, mo, hb):
        """Coherence, atomicity, and order of sequentially consistent events."""
        rb = [row & ~(1 << i) for i, row in enumerate(compose(inverse(rf), mo))]
        eco = closure(union(rf, mo, rb))
        if any(eco[i] >> i & 1 for i in range(self.n)):
            return False
        if any(row >> i & 1 for i, row in enumerate(compose(hb, eco))):
            return False
        between = compose(rb, mo)
        for e in self.events:  # no store comes between what an update reads and what it writes
            if e.kind == READS | WRITES and between[e.index] >> e.index & 1:
                return False
        return not cyclic(self.seq_order(hb, mo, rb, eco))

    def seq_order(self, hb, mo, rb, eco):
        """The partial order that sequentially consistent events must respect."""
        local = [row & same for row, same in zip(hb, self.same)]
        far = [row & others for row, others in zip(self.sb, self.others)]
        scb = union(self.sb, compose(compose(far, hb), far), local, mo, rb)
        strict = self.seq & self.fences
        full = (1 << self.n) - 1
        left = union(
            keep(self.identity, self.seq, self.seq), keep(union(self.identity, hb), strict, full)
        )
        right = union(
            keep(self.identity, self.seq, self.seq), keep(union(self.identity, hb), full, strict)
        )
        base = compose(compose(left, scb), right)
        among = union(hb, compose(compose(hb, eco), hb))
        return union(base, keep(among, strict, strict))

    def races(self, hb):
        """Whether two accesses of a place are unordered, one of them plain and one a store."""
        for one in self.events:
            for two in self.events[one.index + 1 :]:
                if one.thread == two.thread or -1 in (one.thread, two.thread):
                    continue
                if not one.place or one.place != two.place:
                    continue
                if "na" not in (one.order, two.order) or not (one.kind | two.kind) & WRITES:
                    continue
                if not (hb[one.index] >> two.index | hb[two.index] >> one.index) & 1:
                    return True
        return False
