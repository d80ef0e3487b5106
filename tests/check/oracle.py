#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random programs whose races a model knows are run under `--check races`: none missed, none false.

Usage: oracle.py TOMBOLO PROGRAM [--first SEED] [--count N] [--ops N] [--random] [--reduce]
PROGRAM is tests/check/oracle.c. A program is a list of operations of 3 ranks; an operation waits
only for those above it, so that no program hangs. Even seeds run in the order of the list (file of
turns), odd ones freely.

The model is docs/CHECK.md, computed by brute force: an access lasts from its call to its
completion; calls that synchronise give edges from rank to rank; two accesses of which none is
before the other race. Where a run can go in several ways, there are two sets of edges. The sure
ones hold in each run: a pair that they order must not be reported. The possible ones are all that
the checker may assume: a pair that even these do not order must be reported. The checker is weaker
on purpose in these points, which the possible edges have:
  * a wait takes all that was given before to its signal, semaphore or rank (tags), though its
    count needs less; an atomic operation takes all that was given to its word;
  * a handler runs at any time after its message was sent, and takes all that look like it.
A missing pair is excused when another access of the same bytes is reported with one of the two: the
shadow remembers the newest accesses of a word that do not hide each other.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass, field
from pathlib import Path

KINDS = """PUT GET PUT_VAL GET_VAL LOAD STORE PRIVATE_LOAD PRIVATE_STORE ATOMIC WAIT WAIT_NBI
PUT_SIGNAL WAIT_SIGNAL POST PUT_POST WAIT_SEM MESSAGE LONG_MESSAGE ASK POLL PUT_TAG GET_TAG WAIT_TAG
BARRIER BARRIER_BLOCKING BROADCAST REDUCE REDUCE_ALL NOTIFY NOTIFY_WAIT REGION REGION_END
PUT_STRIDED GET_STRIDED""".split()
TRANSFERS = ("PUT", "GET", "PUT_SIGNAL", "PUT_TAG", "GET_TAG", "PUT_STRIDED", "GET_STRIDED")
SIGNALS = 512  # place of the signals in a segment
ALL, PUTS, GETS, LOCAL = range(4)  # categories that WAIT_NBI waits for
TEAMS = ((0, 1, 2), None, (0, 1, 2))  # of the second, halves: 0 and 1, 2 alone
RANKS, MOST = 3, 32
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

    def conflicts(self, other):
        """Whether the two race if nothing orders them."""
        return (self.overlaps(other) and (self.write or other.write)
                and not (self.atomic and other.atomic))


# ---- programs


class Generator:
    """Makes a list of operations by a seed."""

    def __init__(self, seed, most, results=True):
        self.dice = random.Random(seed)
        self.result_dice = random.Random(seed + 0.5) if results else None
        self.ops, self.most, self.slot = [], most, 0
        self.open = {r: [] for r in range(RANKS)}  # slots of events
        self.given = {}  # of what a wait needs: (key) -> how many
        self.taken = {}
        self.region = [False] * RANKS
        self.places = self.dice.choice((2, 3, 6))

    def add(self, rank, kind, **more):
        """One more operation."""
        self.ops.append(Op(rank, kind, **more))

    def new_slot(self, rank, *also):
        """A slot for an event, which a later WAIT of the rank ends."""
        self.slot += 1
        self.open[rank].append(self.slot)
        self.open[rank] += [self.slot + 32 for _ in also]
        return self.slot

    def at(self, size):
        """A place in a segment."""
        dice = self.dice
        return 8 * dice.randrange(self.places) + (dice.randrange(0, 9 - size) if size < 8 else 0)

    def size(self):
        """Bytes of an access."""
        return self.dice.choice((1, 4, 8, 8, 8))

    def peer_of(self, rank):
        """Another rank, seldom the same."""
        return self.dice.choice([r for r in range(RANKS) if r != rank])

    def transfer(self, rank):
        """A put or get, also with a signal or a tag."""
        dice = self.dice
        kind = dice.choice(("PUT", "PUT", "GET", "GET", "PUT_SIGNAL", "PUT_SIGNAL", "PUT_TAG",
                            "GET_TAG", "PUT_STRIDED", "GET_STRIDED"))
        mode = dice.choice((BLOCKING, EVENT, EVENT, IMPLICIT))
        if self.region[rank]:
            mode = IMPLICIT
        peer, size = self.peer_of(rank), dice.choice((1, 4, 8, 8, 16))
        lc = dice.choice((0, 1, 2)) if kind[:3] == "PUT" and mode == EVENT else 0
        if kind[:3] == "PUT" and mode == IMPLICIT:
            lc = dice.randrange(2)
        if kind.endswith("STRIDED"):
            size, lc = 8, 1
        slot = self.new_slot(rank, *([1] if lc == 2 else [])) if mode == EVENT else 0
        what = dice.randrange(2)
        self.add(rank, kind, peer=peer, at=self.at(8), bytes=size, mode=mode, lc=lc, slot=slot,
                 where=dice.choice((OWN, OWN, PRIVATE, SEGMENT)), local=self.at(8), what=what)
        if kind == "PUT_SIGNAL":
            self.give("signal", peer, what)
        if kind.endswith("TAG"):
            self.give("tag", peer, rank, what)

    def give(self, *key):
        """One more of what a wait needs."""
        self.given[key] = self.given.get(key, 0) + 1

    def value(self, rank):
        """Loads, stores, transfers of a value, atomics."""
        dice = self.dice
        kind = dice.choice(("LOAD", "STORE", "LOAD", "STORE", "PRIVATE_LOAD", "PRIVATE_STORE",
                            "PUT_VAL", "GET_VAL", "ATOMIC", "ATOMIC"))
        size = 8 if kind == "ATOMIC" else self.size()
        mode = dice.choice((BLOCKING, EVENT)) if kind in ("PUT_VAL", "ATOMIC") else BLOCKING
        if self.region[rank]:
            mode = IMPLICIT if kind in ("PUT_VAL", "ATOMIC") else BLOCKING
        slot = self.new_slot(rank) if mode == EVENT else 0
        at, what = self.at(size), 0
        if kind == "ATOMIC":
            what = dice.choice((FADD, FADD, SET, READ))
            at = SIGNALS + 64 * dice.randrange(2) if what == READ and dice.random() < 0.7 else at
        count = 0
        if kind in ("LOAD", "STORE") and dice.random() < 0.4:
            count, what = dice.choice((2, 3, 9, 24)), dice.randrange(2)
        peer = dice.randrange(RANKS)
        where, local = self.result(rank, peer, at) if kind == "ATOMIC" else (OWN, 0)
        self.add(rank, kind, peer=peer, at=at, bytes=size, mode=mode, slot=slot, what=what,
                 where=where, local=local, count=count)

    def result(self, rank, peer, at):
        """Where an atomic operation puts what it fetches, seldom in memory that others use."""
        dice = self.result_dice
        if not dice or dice.random() < 0.5:
            return OWN, 0
        where, local = dice.choice((PRIVATE, SEGMENT)), 8 * dice.randrange(self.places)
        return PRIVATE if (rank, at) == (peer, local) else where, local

    def tell(self, rank):
        """A message, or a post."""
        dice = self.dice
        kind = dice.choice(("MESSAGE", "LONG_MESSAGE", "ASK", "POST", "PUT_POST"))
        peer = self.peer_of(rank)
        self.add(rank, kind, peer=peer, at=self.at(8), where=dice.choice((OWN, PRIVATE, SEGMENT)),
                 local=self.at(8), what=0 if dice.random() < 0.3 else len(self.ops) + 1)
        if kind in ("POST", "PUT_POST"):
            self.give("sem", peer)
        else:
            self.give("handled", rank if kind == "ASK" else peer)

    def wait(self, rank):
        """A wait for one thing that is there, if there is any."""
        dice = self.dice
        if self.open[rank] and not self.region[rank] and dice.random() < 0.5:
            slot = self.open[rank].pop(dice.randrange(len(self.open[rank])))
            both = {slot, slot + 32} if slot <= 32 else {slot}
            self.open[rank] = [s for s in self.open[rank] if s not in both]
            self.add(rank, "WAIT", slot=slot, what=dice.choice((0, 0, 1, 2, 3)))
            return
        keys = [k for k, n in self.given.items() if k[1] == rank and n > self.taken.get(k, 0)]
        if not keys or self.region[rank]:
            if not self.region[rank]:
                self.add(rank, "WAIT_NBI", what=dice.choice((ALL, ALL, PUTS, GETS, LOCAL)))
            return
        key = dice.choice(sorted(keys))
        most, least = self.given[key], self.taken.get(key, 0) + 1
        count = most if dice.random() < 0.75 else dice.randint(least, most)
        before, self.taken[key] = self.taken.get(key, 0), count
        if key[0] == "signal":
            self.add(rank, "WAIT_SIGNAL", what=key[2], count=count, mode=dice.randrange(3))
        elif key[0] == "sem":
            self.add(rank, "WAIT_SEM", count=count - before)
        elif key[0] == "handled":
            self.add(rank, "POLL", count=count)
        else:
            self.add(rank, "WAIT_TAG", peer=key[2], what=key[3], count=count - before)

    def collective(self):
        """All ranks begin it, and end it now or later."""
        dice = self.dice
        if any(self.region):
            return
        kind = dice.choice(("BARRIER", "BARRIER_BLOCKING", "BARRIER_BLOCKING", "BROADCAST",
                            "REDUCE", "REDUCE_ALL", "NOTIFY"))
        what = dice.choice((0, 0, 1, 2)) if kind.startswith("BARRIER") else 0
        ranks = [0, 1] if what == 1 else [0, 1, 2]
        dice.shuffle(ranks)
        root, where, local = dice.randrange(RANKS), dice.choice((OWN, SEGMENT)), self.at(8)
        slots = {}
        for rank in ranks:
            if kind not in ("BARRIER_BLOCKING", "NOTIFY"):
                slots[rank] = self.new_slot(rank)
            self.add(rank, kind, peer=root, slot=slots.get(rank, 0), what=what, where=where,
                     local=local)
            if dice.random() < 0.3 and kind != "NOTIFY":
                self.value(rank) if kind != "BARRIER_BLOCKING" else None
        dice.shuffle(ranks)
        for rank in ranks:
            if kind == "NOTIFY":
                self.add(rank, "NOTIFY_WAIT")
            elif rank in slots and dice.random() < 0.7 and slots[rank] in self.open[rank]:
                self.open[rank].remove(slots[rank])
                self.add(rank, "WAIT", slot=slots[rank])

    def regions(self, rank):
        """An access region begins or ends."""
        if self.region[rank]:
            self.add(rank, "REGION_END", slot=self.new_slot(rank))
        else:
            self.add(rank, "REGION")
        self.region[rank] = not self.region[rank]

    def finish(self):
        """Ends what must end."""
        for rank in range(RANKS):
            if self.region[rank]:
                self.regions(rank)
            for slot in sorted(self.open[rank], reverse=True):  # leaves first
                self.add(rank, "WAIT", slot=slot)
            self.add(rank, "WAIT_NBI")
            messages = self.given.get(("handled", rank), 0)
            if messages > self.taken.get(("handled", rank), 0):
                self.add(rank, "POLL", count=messages)

    def make(self):
        """The list."""
        while len(self.ops) < self.most:
            rank, what = self.dice.randrange(RANKS), self.dice.random()
            if what < 0.3:
                self.transfer(rank)
            elif what < 0.55:
                self.value(rank)
            elif what < 0.68:
                self.tell(rank)
            elif what < 0.88:
                self.wait(rank)
            elif what < 0.96:
                self.collective()
            else:
                self.regions(rank)
        self.finish()
        return self.ops


# ---- the model


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
        return [(2 * n + (n in before), 2 * k + 1) for n in before[-1:]]

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


# ---- comparison


def judge(ops, in_turn, reported):
    """What is wrong with the pairs that were reported, as lines; and counts."""
    model = Model(ops, in_turn)
    pairs = model.pairs()
    may = {frozenset((a.op, b.op)) for a, b, _ in pairs}
    wrong = [f"false: {show(ops, p)}" for p in reported if p not in may]
    missed = excused = 0
    for a, b, must in pairs:
        pair = frozenset((a.op, b.op))
        if not must or pair in reported:
            continue
        others = [c for c in model.accesses if c.op not in pair and c.overlaps(a) and c.overlaps(b)]
        pair_of = {c.op for c in others if c.own and c.write} | pair  # a load may be left out
        if any(frozenset((c.op, x)) in reported for c in others for x in pair_of):
            excused += 1
            continue
        wrong.append(f"missed: {show(ops, pair)}")
        missed += 1
    return list(dict.fromkeys(wrong)), len(reported), sum(m for _, _, m in pairs), excused


def show(ops, pair):
    """A pair of operations."""
    return " and ".join(f"{i} {ops[i].kind} of rank {ops[i].rank}" if 0 <= i < len(ops)
                        else f"line {i} of another place" for i in sorted(pair))


def execute(tombolo, program, ops, in_turn, first_line):
    """Runs a list. Returns the pairs that are reported, and None or what went wrong."""
    with tempfile.TemporaryDirectory() as folder:
        words = [os.path.join(folder, "ops")]
        Path(words[0]).write_text("\n".join(o.line() for o in ops) + "\n", encoding="utf-8")
        if in_turn:
            words.append(os.path.join(folder, "turn"))
            Path(words[1]).write_bytes(bytes(4096))
        out = os.path.join(folder, "found.json")
        done = subprocess.run([tombolo, "run", "-n", "3", "--timeout", "10", "--check", "races",
                               "--check-json", out, program, *words], capture_output=True,
                              text=True, check=False)
        if done.returncode not in (0, 66) or not os.path.exists(out):
            return set(), f"code {done.returncode}: {done.stdout}{done.stderr}"
        found = json.loads(Path(out).read_text(encoding="utf-8"))
    return {frozenset(a["line"] - first_line for a in f["accesses"]) for f in found}, None


def valid(ops, in_turn):
    """Whether a list without some operations can still run to its end."""
    slots, regions, nbi = set(), [False] * RANKS, {}
    for o in ops:
        if o.kind == "WAIT":
            if o.slot not in slots:
                return False
            slots.discard(o.slot)
        elif o.slot:
            slots.add(o.slot)
            if o.lc == 2:
                slots.add(o.slot + 32)
        if o.kind in ("REGION", "REGION_END"):
            if regions[o.rank] == (o.kind == "REGION"):
                return False
            regions[o.rank] = not regions[o.rank]
        if o.mode == BLOCKING and o.kind in ("NOTIFY", "NOTIFY_WAIT"):
            nbi[o.rank] = nbi.get(o.rank, 0) + (1 if o.kind == "NOTIFY" else -1)
            if nbi[o.rank] not in (0, 1):
                return False
    model = Model(ops, in_turn)
    meetings = model.collectives()
    if any(len(m) != (2 if ops[i].kind.startswith("BARRIER") and ops[i].what == 1 else RANKS)
           for m in meetings for i in list(m.values())[:1]):
        return False
    if any(len({ops[i].kind for i in m.values()}) > 1 for m in meetings) or slots or any(regions):
        return False
    for k, o in enumerate(ops):
        if o.kind in ("WAIT_SIGNAL", "WAIT_SEM", "WAIT_TAG", "POLL"):
            givers, count = model.givers_of(k)
            if sum(g < k for g in givers) < count:
                return False
    return not any(nbi.values())


class Runner:
    """Runs seeds."""

    def __init__(self, options):
        self.options = options
        source = Path(__file__).with_suffix(".c").read_text(encoding="utf-8").split("\n")
        self.first = source.index("STEP(0)") + 1

    def try_list(self, ops, in_turn):
        """What is wrong in a run of a list, and counts."""
        reported, failed = execute(self.options.tombolo, self.options.program, ops, in_turn,
                                   self.first)
        if failed:
            return [failed], 0, 0, 0
        return judge(ops, in_turn, reported)

    def reduce(self, ops, in_turn):
        """A shorter list with a fault."""
        at = len(ops) - 1
        while at >= 0:
            for size in (1, 2, 3):
                less = ops[:at] + ops[at + size:]
                same = {o.slot for o in ops[at:at + size] if o.slot}
                less = [o for o in less if o.kind != "WAIT" or o.slot % 32 not in
                        {s % 32 for s in same}]
                shorter = len(less) < len(ops) and valid(less, in_turn)
                if shorter and self.try_list(less, in_turn)[0]:
                    ops = less
                    break
            at -= 1
        return ops

    def seed(self, seed):
        """What is wrong with a seed, or a list of oracle.txt, as lines; and counts."""
        if not isinstance(seed, int):
            name, ops, in_turn = seed
            wrong, *counts = self.try_list(ops, in_turn)
            return ([f"{name}:", *wrong] if wrong else []), *counts
        ops = Generator(seed, self.options.ops).make()
        if len(ops) > MOST or max(o.slot for o in ops) > 31 + 32:
            return [], 0, 0, 0
        wrong, *counts = self.try_list(ops, seed % 2 == 0)
        if wrong:
            if self.options.reduce:
                ops = self.reduce(ops, seed % 2 == 0)
                wrong = self.try_list(ops, seed % 2 == 0)[0] or wrong
            head = [f"seed {seed} of {self.options.ops} operations:"]
            wrong = head + wrong + [f"  {i}: {o}" for i, o in enumerate(ops)]
        return wrong, *counts


def read_kept():
    """The lists of oracle.txt: (name, operations, in turn)."""
    found = []
    for block in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").split("\n\n")[1:]:
        head, *lines = block.strip().split("\n")
        ops = []
        for line in lines:
            rank, kind, *more = line.split()
            fields = {k: int(v) for k, v in (word.split("=") for word in more)}
            ops.append(Op(int(rank), kind, **fields))
        found.append((head.split()[0], ops, head.endswith(" turns")))
    return found


def main():
    """Runs the seeds, prints what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("tombolo")
    parser.add_argument("program")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--ops", type=int, default=16)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--reduce", action="store_true")
    parser.add_argument("--random", action="store_true", help="other seeds in each run")
    options = parser.parse_args()
    if not shutil.which("addr2line"):
        print("addr2line is not installed: lines cannot be compared")
        return 77
    if options.random:
        options.first = int(time.time()) % 1000000 * 1000
        print(f"seeds from {options.first} on", flush=True)
    runner, bad, sums = Runner(options), 0, [0, 0, 0]
    seeds = range(options.first, options.first + options.count)
    with ThreadPoolExecutor(options.jobs) as pool:
        for wrong, *counts in pool.map(runner.seed, read_kept() + list(seeds)):
            sums = [a + b for a, b in zip(sums, counts)]
            bad += bool(wrong)
            if wrong:
                print("\n".join(wrong), flush=True)
    print(f"{options.count} programs from seed {options.first} on: {sums[0]} pairs reported, "
          f"{sums[1]} must be ({sums[2]} of them excused), {bad} programs with faults")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
