# SPDX-License-Identifier: BSD-3-Clause
"""Operations of random programs, and the model of their races, for oracle.py.

The model is docs/CHECK.md, computed by brute force: an access lasts from its call to its
completion; calls that synchronise give edges from rank to rank; two accesses of which none is
before the other race. Where a run can go in several ways, there are two sets of edges. The sure
ones hold in each run: a pair that they order must not be reported. The possible ones are all that
the checker may assume: a pair that even these do not order must be reported. The checker is weaker
on purpose in these points, which the possible edges have:
  * a wait takes all that was given before to its signal, semaphore or rank (tags), though its
    count needs less; an atomic operation takes all that was given to its word;
  * a handler runs at any time after its message was sent, and takes all that look like it.
"""

from dataclasses import astuple, dataclass, field

KINDS = """PUT GET PUT_VAL GET_VAL LOAD STORE PRIVATE_LOAD PRIVATE_STORE ATOMIC WAIT WAIT_NBI
PUT_SIGNAL WAIT_SIGNAL POST PUT_POST WAIT_SEM MESSAGE LONG_MESSAGE ASK POLL PUT_TAG GET_TAG WAIT_TAG
BARRIER BARRIER_BLOCKING BROADCAST REDUCE REDUCE_ALL NOTIFY NOTIFY_WAIT REGION REGION_END
PUT_STRIDED GET_STRIDED""".split()
TRANSFERS = ("PUT", "GET", "PUT_SIGNAL", "PUT_TAG", "GET_TAG", "PUT_STRIDED", "GET_STRIDED")
QUIET = ("PUT", "GET", "PUT_VAL", "GET_VAL", "PUT_STRIDED", "GET_STRIDED", "LOAD", "STORE",
         "PRIVATE_LOAD", "PRIVATE_STORE", "WAIT", "WAIT_NBI", "REGION", "REGION_END", "POLL")
SIGNALS = 512  # place of the signals in a segment
ALL, PUTS, GETS, LOCAL = range(4)  # categories that WAIT_NBI waits for
RANKS, MOST = 3, 32  # MOST: operations of a program
BLOCKING, EVENT, IMPLICIT = range(3)
OWN, PRIVATE, SEGMENT = range(3)
FADD, SET, READ = range(3)


@dataclass
class Op:
    """One operation, with the fields of struct op in oracle.c."""

    rank: int
    kind: str
    peer: int = 0
    at: int = 0
    bytes: int = 8
    mode: int = BLOCKING
    lc: int = 0
    slot: int = 0
    where: int = OWN
    local: int = 0
    what: int = 0
    count: int = 0

    def line(self):
        """The operation as a line of the list."""
        return " ".join(str(KINDS.index(v) if isinstance(v, str) else v) for v in astuple(self))


@dataclass
class Access:
    """Bytes that an operation accesses, from a node until any of the nodes `ends`."""

    op: int
    owner: object
    at: int
    bytes: int
    write: bool
    atomic: bool = False
    own: bool = False  # by a load or store
    ends: list = field(default_factory=list)  # in each run
    may_end: list = field(default_factory=list)  # in some run

    def overlaps(self, other):
        """Whether both have a byte."""
        return (self.owner == other.owner and self.at < other.at + other.bytes
                and other.at < self.at + self.bytes)

    def overlaps_both(self, a, b):
        """Whether it has a byte that two others have."""
        begin, end = max(a.at, b.at), min(a.at + a.bytes, b.at + b.bytes)
        return self.owner == a.owner == b.owner and self.at < end and begin < self.at + self.bytes

    def conflicts(self, other):
        """Whether the two race if nothing orders them."""
        return (self.overlaps(other) and (self.write or other.write)
                and not (self.atomic and other.atomic))


class Model:
    """Which operations race, surely or possibly."""

    def __init__(self, ops, in_turn):
        self.ops, self.in_turn = ops, in_turn
        self.of = {r: [i for i, o in enumerate(ops) if o.rank == r] for r in range(RANKS)}
        self.nodes = 2 * len(ops)  # begin and end of each operation
        self.last = self.last_begins()
        self.sure = self.reach(self.program_order())
        edges = self.program_order() + self.collective_edges()
        while True:  # each order that is known may show another one
            self.sure = self.reach(edges)
            more = edges + [e for e in self.signals(False) if e not in edges]
            if len(more) == len(edges):
                break
            edges = more
        self.possible = self.reach(edges + self.signals(True))
        self.accesses = self.all_accesses()

    def begins(self, i):
        """The node of the begin of an operation."""
        return 2 * i

    def program_order(self):
        """Edges within ranks."""
        edges = [(2 * i, 2 * i + 1) for i in range(len(self.ops))]
        for mine in self.of.values():
            edges += [(2 * a + 1, 2 * b) for a, b in zip(mine, mine[1:])]
        return edges

    def reach(self, edges):
        """For each node the set, as bits, of those behind it."""
        behind = [0] * self.nodes
        for a, b in edges:
            behind[a] |= 1 << b
        for k in range(self.nodes):
            for a in range(self.nodes):
                if behind[a] >> k & 1:
                    behind[a] |= behind[k]
        return behind

    def calls(self, kinds, team):
        """Calls of a team's collectives, in the order of each rank: {number: {rank: index}}."""
        found, seen = {}, [0] * RANKS
        for i, o in enumerate(self.ops):
            if o.kind not in kinds or (o.what if o.kind.startswith("BARRIER") else 0) != team:
                continue
            found.setdefault(seen[o.rank], {})[o.rank] = i
            seen[o.rank] += 1
        return list(found.values())

    def collectives(self):
        """All collectives, as {rank: index}."""
        together = ("BARRIER", "BARRIER_BLOCKING", "BROADCAST", "REDUCE", "REDUCE_ALL")
        return (self.calls(together, 0) + self.calls(together, 1) + self.calls(together, 2)
                + self.calls(("NOTIFY",), 0))

    def last_begins(self):
        """Of an operation that meets others: the last of these in the list; else itself."""
        last = list(range(len(self.ops)))
        for members in self.collectives():
            for i in members.values():
                if self.ops[i].kind == "BARRIER_BLOCKING":
                    last[i] = max(members.values())
        return last

    def end_of(self, i):
        """The operation at whose end a non-blocking one is complete, or None."""
        o, region = self.ops[i], None
        if o.kind == "BARRIER_BLOCKING":
            return i
        for k in self.of[o.rank]:
            other = self.ops[k]
            if other.kind == "REGION" and k < i:
                region = k
            if other.kind == "REGION_END" and k < i:
                region = None
            if k <= i:
                continue
            if o.kind == "NOTIFY" and other.kind == "NOTIFY_WAIT":
                return k
            if o.mode == IMPLICIT and region is not None and other.kind == "REGION_END":
                return self.end_of(k)
            if (o.mode == IMPLICIT and region is None and other.kind == "WAIT_NBI"
                    and other.what in (ALL, self.category(o))):
                return k
            if o.slot and other.kind == "WAIT" and other.slot == o.slot:
                return k
        return None

    def category(self, o):
        """The category of an implicit operation; -1: of atomics that read and write."""
        if o.kind == "ATOMIC":
            return (-1, PUTS, GETS)[o.what]
        return PUTS if o.kind[:3] == "PUT" else GETS

    def lc_end_of(self, i):
        """The operation at whose end the source is free."""
        o, end = self.ops[i], self.completion(i)
        for k in self.of[o.rank]:
            if not i < k < (len(self.ops) if end is None else end):
                continue
            other = self.ops[k]
            if o.lc == 2 and other.kind == "WAIT" and other.slot == o.slot + 32:
                return k
            if (o.mode == IMPLICIT and o.kind[:3] == "PUT" and other.kind == "WAIT_NBI"
                    and other.what == LOCAL and not self.in_region(i)):
                return k
        return end

    def in_region(self, i):
        """Whether an operation is in an access region of its rank."""
        kinds = [self.ops[k].kind for k in self.of[self.ops[i].rank] if k < i]
        return kinds.count("REGION") > kinds.count("REGION_END")

    def collective_edges(self):
        """Edges in the direction of the data."""
        edges = []
        for members in self.collectives():
            for a, i in members.items():
                for b, k in members.items():
                    o, end = self.ops[i], self.end_of(k)
                    if a == b or end is None:
                        continue
                    if o.kind == "BROADCAST" and a != o.peer:
                        continue
                    if o.kind == "REDUCE" and b != o.peer:
                        continue
                    edges.append((2 * i, 2 * end + 1))
        return edges

    def could_be_before(self, i, k):
        """Whether operation i may begin before k ends."""
        if self.ops[i].rank == self.ops[k].rank:
            return i < k
        if self.in_turn:
            return i <= self.last[k]
        return not self.sure[2 * k + 1] >> 2 * i & 1

    def givers_of(self, k):
        """Operations that give what wait k takes, and how many of them it takes in all."""
        o, ops = self.ops[k], self.ops
        if o.kind == "WAIT_SIGNAL":
            return [i for i, g in enumerate(ops) if g.kind == "PUT_SIGNAL"
                    and (g.peer, g.what) == (o.rank, o.what)], o.count
        if o.kind == "POLL":
            return [i for i, g in enumerate(ops)
                    if (g.kind in ("MESSAGE", "LONG_MESSAGE") and g.peer == o.rank)
                    or (g.kind == "ASK" and g.rank == o.rank)], o.count
        waits = [w for w in self.of[o.rank] if w <= k and ops[w].kind == o.kind
                 and (o.kind == "WAIT_SEM" or (ops[w].peer, ops[w].what) == (o.peer, o.what))]
        count = sum(ops[w].count for w in waits)
        if o.kind == "WAIT_SEM":
            return [i for i, g in enumerate(ops) if g.kind in ("POST", "PUT_POST")
                    and g.peer == o.rank], count
        return [i for i, g in enumerate(ops) if g.kind in ("PUT_TAG", "GET_TAG")
                and (g.rank, g.peer, g.what) == (o.peer, o.rank, o.what)], count

    def takes(self, i, k, possible):
        """Whether wait k takes what i gives: in each run, or in some."""
        givers, count = self.givers_of(k)
        if possible and self.ops[k].kind == "WAIT_TAG":
            givers = [g for g, o in enumerate(self.ops) if o.kind in ("PUT_TAG", "GET_TAG")
                      and o.peer == self.ops[k].rank]
        if i not in givers or not self.could_be_before(i, k):
            return False
        if possible:
            return True
        if self.ops[k].kind == "WAIT_TAG":  # those of one rank come in order
            return sorted(givers).index(i) < count
        return sum(self.could_be_before(g, k) for g in givers if g != i) < count

    def signals(self, possible):
        """Edges of signals, semaphores, tags, messages and atomics."""
        edges = []
        waits = [k for k, o in enumerate(self.ops) if o.kind in ("WAIT_SIGNAL", "WAIT_SEM",
                                                                 "WAIT_TAG", "POLL")]
        for k in waits:
            for i, o in enumerate(self.ops):
                if not self.takes(i, k, possible):
                    continue
                edges.append((2 * i, 2 * k + 1))
                if o.kind == "ASK":
                    edges += self.answer(i, k, possible)
        if possible:
            edges += self.early_handlers()
        return edges + self.atomic_edges(possible)

    def answer(self, i, k, possible):
        """The answer to question i brings what the asked one did before its handler ran."""
        last = k if possible else i
        before = [n for n in self.of[self.ops[i].peer] if self.in_turn and self.last[n] < last]
        if possible and not self.in_turn:
            before = [n for n in self.of[self.ops[i].peer] if self.could_be_before(n, k)]
        edges = [(2 * n + (n in before), 2 * k + 1) for n in before[-1:]]
        if possible:  # handlers that the asked rank ran before, in whatever call
            edges += [(2 * g, 2 * k + 1) for g, o in enumerate(self.ops)
                      if g != i and o.kind in ("MESSAGE", "LONG_MESSAGE", "ASK")
                      and o.peer == self.ops[i].peer and self.could_be_before(g, k)]
        return edges

    def early_handlers(self):
        """A handler runs at any time after the message was sent."""
        edges = []
        for i, o in enumerate(self.ops):
            if o.kind not in ("MESSAGE", "LONG_MESSAGE", "ASK"):
                continue
            later = [k for k in self.of[o.peer] if self.could_be_before(i, k)]
            edges += [(2 * i, 2 * k + (k < i)) for k in later[:2]]
            if o.kind == "ASK":
                for k in [k for k in self.of[o.rank] if k > i]:
                    edges += self.answer(i, k, True)
                    edges += [(a, b - 1) for a, b in self.answer(i, k, True)]
        return edges

    def atomic_edges(self, possible):
        """An atomic operation takes what earlier ones gave to its word."""
        edges = []
        all_of = [i for i, o in enumerate(self.ops) if o.kind in ("ATOMIC", "PUT_SIGNAL")]
        for i in all_of:
            for k in all_of:
                a, b, end, ended = self.ops[i], self.ops[k], self.completion(k), self.completion(i)
                if end is None or i == k or b.kind != "ATOMIC":
                    continue
                if a.kind == "ATOMIC" and a.what != READ and (a.peer, a.at) == (b.peer, b.at):
                    surely = self.in_turn and ended is not None and ended < k
                    if surely or (possible and self.could_be_before(i, end)):
                        edges.append((2 * i, 2 * end + 1))
                elif possible and self.reads_signal(i, k) and self.could_be_before(i, end):
                    edges.append((2 * i, 2 * end + 1))
        return edges

    def reads_signal(self, i, k):
        """Whether atomic operation k reads the signal of put i."""
        a, b = self.ops[i], self.ops[k]
        return (a.kind == "PUT_SIGNAL" and b.kind == "ATOMIC" and a.peer == b.peer
                and b.at == SIGNALS + 64 * a.what)

    def completion(self, i):
        """The operation at whose end i is complete, or None."""
        return i if self.ops[i].mode == BLOCKING else self.end_of(i)

    def accepts(self, i, possible):
        """Nodes since which the put of i is ordered for the rank that took its signal."""
        nodes = [2 * k + 1 for k, o in enumerate(self.ops)
                 if o.kind in ("WAIT_SIGNAL", "WAIT_SEM", "WAIT_TAG", "POLL")
                 and self.takes(i, k, possible)]
        if possible and self.ops[i].kind == "LONG_MESSAGE":
            nodes += [b for a, b in self.early_handlers() if a == 2 * i]
        if possible:
            ends = [self.completion(k) for k in range(len(self.ops)) if self.reads_signal(i, k)]
            nodes += [2 * end + 1 for end in ends
                      if end is not None and self.could_be_before(i, end)]
        return nodes

    def all_accesses(self):
        """The accesses of all operations."""
        found = []
        for i, o in enumerate(self.ops):
            found += self.remote_of(i, o) + self.local_of(i, o)
        return [a for a in found if a.owner is not None]

    def ended(self, access, end, signals=False):
        """An access with its ends."""
        nodes = [] if end is None else [2 * end + 1]
        access.ends = nodes + (self.accepts(access.op, False) if signals else [])
        access.may_end = nodes + (self.accepts(access.op, True) if signals else [])
        return access

    def remote_of(self, i, o):
        """The side at the peer, and loads and stores."""
        if o.kind in ("LOAD", "STORE"):
            size = o.bytes * max(o.count, 1)
            return [self.ended(Access(i, o.rank, o.at, size, o.kind == "STORE", own=True), i)]
        if o.kind in ("PRIVATE_LOAD", "PRIVATE_STORE"):
            own = Access(i, ("private", o.rank), o.at, o.bytes, o.kind == "PRIVATE_STORE", own=True)
            return [self.ended(own, i)]
        if o.kind == "ATOMIC":
            return [self.ended(Access(i, o.peer, o.at, 8, o.what != READ, True),
                               self.completion(i))]
        if o.kind not in (*TRANSFERS, "PUT_VAL", "GET_VAL", "LONG_MESSAGE", "PUT_POST"):
            return []
        signals = o.kind in ("PUT_SIGNAL", "PUT_TAG", "GET_TAG", "LONG_MESSAGE", "PUT_POST")
        end = self.completion(i)
        if o.mode == BLOCKING and signals and o.kind != "GET_TAG":
            end = None  # it returns at local completion
        return [self.ended(Access(i, o.peer, at, o.bytes, o.kind[:3] != "GET"), end, signals)
                for at in self.pieces(o, o.at)]

    @staticmethod
    def pieces(o, at):
        """Places of the pieces of a side."""
        return [at, at + 16] if o.kind.endswith("STRIDED") else [at]

    def local_of(self, i, o):
        """The local side."""
        owner = {OWN: None, PRIVATE: ("private", o.rank), SEGMENT: o.rank}[o.where]
        if o.kind in ("LONG_MESSAGE", "PUT_POST"):
            return [self.read_at_once(i, owner)]
        if o.kind == "ATOMIC" and o.what != SET:
            return [self.ended(Access(i, owner, o.local, 8, True), self.completion(i))]
        if o.kind in TRANSFERS:
            is_get = o.kind[:3] == "GET"
            if not is_get and not o.lc:
                return [self.read_at_once(i, owner)]
            end = self.completion(i) if is_get else self.lc_end_of(i)
            return [self.ended(Access(i, owner, at, o.bytes, is_get), end)
                    for at in self.pieces(o, o.local)]
        if o.kind in ("BROADCAST", "REDUCE_ALL") or (o.kind == "REDUCE" and o.rank == o.peer):
            return [self.ended(Access(i, owner, o.local, 8, True), self.end_of(i))]
        return []

    def read_at_once(self, i, owner):
        """A source that is read before what the operation sends arrives."""
        o = self.ops[i]
        return Access(i, owner, o.local, o.bytes, False, ends=[2 * i], may_end=[2 * i])

    def before(self, a, b, possible):
        """Whether one access is complete before another begins."""
        behind = self.possible if possible else self.sure
        return any(n == 2 * b.op or behind[n] >> 2 * b.op & 1
                   for n in (a.may_end if possible else a.ends))

    def hides(self, newer, older, other):
        """Whether the checker may have one access in place of another that races with a third.

        It does so with one that may be ordered behind it, and with a load or store of the same
        rank, if the rank may not have synchronised between the two.
        """
        if newer.op in (older.op, other.op) or not newer.overlaps_both(older, other):
            return False
        return self.before(older, newer, True) or self.same_epoch(newer, older)

    def same_epoch(self, newer, older):
        """Whether an access is a load or store of a rank that may not have synchronised since."""
        first, last = sorted((newer.op, older.op))
        mine = self.of[self.ops[first].rank]
        return (newer.own and self.ops[last].rank == self.ops[first].rank
                and all(self.ops[k].kind in QUIET for k in mine if first < k < last))

    def pairs(self):
        """Pairs of accesses that may be reported, and whether they must be."""
        found = []
        for n, a in enumerate(self.accesses):
            for b in self.accesses[n + 1:]:
                if a.op == b.op or not a.conflicts(b):
                    continue
                if not self.before(a, b, False) and not self.before(b, a, False):
                    must = not self.before(a, b, True) and not self.before(b, a, True)
                    found.append((a, b, must))
        return found
