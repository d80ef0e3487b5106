#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random programs whose races a model knows are run under `--check races`: none missed, none false.

Usage: oracle.py TOMBOLO PROGRAM [--first SEED] [--count N] [--ops N] [--random] [--reduce]
PROGRAM is tests/check/oracle.c. A program is a list of operations of 3 ranks; an operation waits
only for those above it, so that no program hangs. Even seeds run in the order of the list (file of
turns), odd ones freely.

The model is oracle_model.py. A missing pair is excused when accesses that may stand in the shadow
in place of one of the two, or of both, are reported.
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
from pathlib import Path

from oracle_model import (ALL, BLOCKING, EVENT, FADD, GETS, IMPLICIT, LOCAL, MOST, OWN, PRIVATE,
                          PUTS, RANKS, READ, SEGMENT, SET, SIGNALS, Model, Op)


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
            count, what = dice.choice((2, 3, 4, 5, 9, 24)), dice.randrange(2)
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


# ---- comparison


def is_excused(model, reported, a, b, seen):
    """Whether others that may stand in the shadow in place of one of two, or of both, are reported.
    in seen: pairs that have been asked for."""
    for older, other in ((a, b), (b, a)):
        for c in model.accesses:
            pair = frozenset((c.op, other.op))
            if pair in seen or not model.hides(c, older, other):
                continue
            seen.add(pair)
            if pair in reported or is_excused(model, reported, c, other, seen):
                return True
    return False


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
        if is_excused(model, reported, a, b, {pair}):
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
