#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests litmus.py and its memory model on programs whose outcomes are known from the literature.

Usage: litmus_test.py [-v]
Owns: the programs. Calls: litmus.py. The names of the programs are those of Alglave, Maranget and
Tautschnig, "Herding Cats", TOPLAS 2014, doi:10.1145/2627752.
"""

import sys
import tempfile
import unittest
from pathlib import Path

import litmus
import litmus_read


def is_possible(outcome, places, *threads, races=False):
    """Whether an outcome, or a race, can happen. Threads are t0, t1, ...; `;` ends a statement."""
    text = f"title: x: y\nplaces: {places}\nforbidden: {outcome}\nsometimes: True\n"
    for i, thread in enumerate(threads):
        text += f"thread t{i}\n" + "".join(f"  {s.strip(' ')}\n" for s in thread.split(";"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "p.litmus"
        path.write_text(text.replace("~", "  "), encoding="utf-8")
        return litmus.find(litmus_read.read_pattern(path), outcome, races)


class Quotes(unittest.TestCase):
    """Which operations a quoted line has."""

    def test_operations(self):
        for text, names in (
            ("tmb_load_acq(p) + tmb_cas_weak_rel(q, &e, 1)", {"load_acq", "cas_rel"}),
            ("__atomic_store_n(p, f(x), __ATOMIC_RELEASE)", {"store_rel"}),
            ("__atomic_exchange_n(p, 1, __ATOMIC_ACQ_REL)", {"xchg_acq_rel"}),
            ("__atomic_thread_fence(__ATOMIC_SEQ_CST); a = b;", {"fence_seq"}),
            ("__atomic_fetch_add(p, 1, __ATOMIC_RELAXED)", {"fetch_add_rlx"}),
            ("load(p, RELEASE)", set()),
        ):
            self.assertEqual(litmus.operations_in(text), names, text)


class Model(unittest.TestCase):
    """Outcomes that the memory model allows, and those that it forbids."""

    def allowed(self, *program):
        self.assertEqual(is_possible(*program), "outcome")

    def forbidden(self, *program):
        self.assertIsNone(is_possible(*program))

    def test_store_buffering(self):
        outcome, places = "t0.r == 0 and t1.r == 0", "x y"
        self.allowed(
            outcome, places, "store_rel x, 1;r = load_acq y", "store_rel y, 1;r = load_acq x"
        )
        self.forbidden(
            outcome, places, "store_seq x, 1;r = load_seq y", "store_seq y, 1;r = load_seq x"
        )
        self.forbidden(
            outcome,
            places,
            "store_rlx x, 1;fence_seq;r = load_rlx y",
            "store_rlx y, 1;fence_seq;r = load_rlx x",
        )
        self.allowed(
            outcome,
            places,
            "store_rlx x, 1;fence_seq;r = load_rlx y",
            "store_rlx y, 1;fence_acq_rel;r = load_rlx x",
        )
        self.forbidden(
            outcome,
            places,
            "store_rlx x, 1;membarrier;r = load_rlx y",
            "store_rlx y, 1;r = load_rlx x",
        )
        # Of three threads the two without a membarrier are not ordered with each other.
        self.allowed(
            "t0.r == 0 and t1.r == 0",
            "x y z",
            "store_rlx x, 1;r = load_rlx y",
            "store_rlx y, 1;r = load_rlx x",
            "membarrier",
        )

    def test_message_passing(self):
        outcome, places = "t1.a == 1 and t1.b == 0", "x y"
        self.forbidden(
            outcome, places, "store_rlx x, 1;store_rel y, 1", "a = load_acq y;b = load_rlx x"
        )
        self.forbidden(
            outcome,
            places,
            "store_rlx x, 1;fence_rel;store_rlx y, 1",
            "a = load_rlx y;fence_acq;b = load_rlx x",
        )
        for weak in (("store_rlx y, 1", "load_acq"), ("store_rel y, 1", "load_rlx")):
            self.allowed(
                outcome, places, f"store_rlx x, 1;{weak[0]}", f"a = {weak[1]} y;b = load_rlx x"
            )

    def test_load_buffering(self):
        outcome, places = "t0.r == 1 and t1.r == 1", "x y"
        self.allowed(
            outcome, places, "r = load_rlx x;store_rlx y, 1", "r = load_rlx y;store_rlx x, 1"
        )
        self.forbidden(
            outcome, places, "r = load_rlx x;store_rlx y, r", "r = load_rlx y;store_rlx x, r"
        )
        self.forbidden(
            outcome, places, "r = load_acq x;store_rel y, 1", "r = load_acq y;store_rel x, 1"
        )

    def test_independent_reads(self):
        outcome = "t2.a == 1 and t2.b == 0 and t3.a == 1 and t3.b == 0"
        for order, check in (("acq", self.allowed), ("seq", self.forbidden)):
            write = "seq" if order == "seq" else "rel"
            check(
                outcome,
                "x y",
                f"store_{write} x, 1",
                f"store_{write} y, 1",
                f"a = load_{order} x;b = load_{order} y",
                f"a = load_{order} y;b = load_{order} x",
            )

    def test_coherence(self):
        self.forbidden(
            "t1.a == 1 and t1.b == 0", "x", "store_rlx x, 1", "a = load_rlx x;b = load_rlx x"
        )
        self.forbidden(
            "t0.r == 0 and t1.r == 0", "x", "r = fetch_add_rlx x, 1", "r = fetch_add_rlx x, 1"
        )
        self.forbidden("t0.r == 0 and t1.r == 0", "x", "r = cas_rlx x, 0, 1", "r = cas_rlx x, 0, 2")

    def test_write_to_read_causality(self):
        outcome = "t1.a == 1 and t2.a == 1 and t2.b == 0"
        self.forbidden(
            outcome,
            "x y",
            "store_rlx x, 1",
            "a = load_acq x;store_rel y, 1",
            "a = load_acq y;b = load_rlx x",
        )
        self.allowed(
            outcome,
            "x y",
            "store_rlx x, 1",
            "a = load_rlx x;store_rel y, 1",
            "a = load_rlx y;b = load_rlx x",
        )

    def test_release_sequence(self):
        outcome = "t2.a == 2 and t2.b == 0"
        self.forbidden(
            outcome,
            "x y",
            "store_rlx x, 1;store_rel y, 1",
            "r = cas_rlx y, 1, 2",
            "a = load_acq y;b = load_rlx x",
        )
        self.allowed(
            outcome,
            "x y",
            "store_rlx x, 1;store_rel y, 1;store_rlx y, 2",
            "",
            "a = load_acq y;b = load_rlx x",
        )

    def test_futex(self):
        """A waker's change of the word and a sleeper that compares it never miss each other."""
        outcome = "t0.sleeps == 1 and t1.found == 0"
        self.forbidden(
            outcome, "x", "sleeps = futex_wait x, 0", "store_rlx x, 1;found = futex_wake x"
        )
        self.allowed(
            "t0.sleeps == 1 and t1.found == 1",
            "x",
            "sleeps = futex_wait x, 0",
            "store_rlx x, 1;found = futex_wake x",
        )

    def test_races(self):
        for order, want in (("rel", None), ("rlx", "race")):
            found = is_possible(
                "False",
                "x y",
                f"x = 1;store_{order} y, 1",
                "a = load_acq y;assume a == 1;b = x",
                races=True,
            )
            self.assertEqual(found, want)


class Files(unittest.TestCase):
    """What is refused in a pattern."""

    def test_weakening(self):
        text = (
            "title: x: y\nplaces: x y\nforbidden: q.a == 1 and q.b == 0\n"
            "sometimes: q.a == 1\nthread p\n  store_rlx x, 1\n  store_rel y, 1\n"
            "thread q\n  a = load_acq y\n  b = load_acq x\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "p.litmus"
            path.write_text(text, encoding="utf-8")
            wrong = litmus.try_pattern(litmus_read.read_pattern(path))
            self.assertEqual(len(wrong), 1)
            self.assertIn("'b = load_acq x' is stronger than needed", wrong[0])
            path.write_text(text.replace("acq x", "rlx x").replace("acq y", "acq y spare"))
            wrong = litmus.try_pattern(litmus_read.read_pattern(path))
            self.assertIn("'a = load_acq y' is needed", wrong[0])

    def test_quotes(self):
        statement = litmus_read.read_statement(
            "store_rel s, 1 @ near_am.c publish: tmb_store_rel((uint64_t *)(void *)slot",
            1,
            {"s": 0},
        )
        litmus.check_quote(statement, {})
        for old, new, want in (
            ("(void *)slot", "(void *)slots", "does not stand there"),
            ("publish", "unpublish", "defines no function"),
            ("near_am.c", "near_xy.c", "0 files"),
        ):
            quote = tuple(part.replace(old, new) for part in statement.quote)
            with self.assertRaisesRegex(litmus_read.Wrong, want):
                litmus.check_quote(litmus.replace(statement, quote=quote), {})
        source = litmus.find_source("ratomic/apply.c")
        self.assertIn("tmb_cas_seq(p, &seen, want)", litmus.body_of(source, "loop_S"))
        self.assertNotIn("tmb_cas_seq", litmus.body_of(source, "next_S"))
        with self.assertRaisesRegex(litmus_read.Wrong, "has no tmb_store_rlx"):
            litmus.check_quote(litmus.replace(statement, order="rlx"), {})


if __name__ == "__main__":
    sys.exit(unittest.main())
