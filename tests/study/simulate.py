#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`tombolo sim`: times that can be computed by hand, bytes that all arrive, clear errors.

Needs $TOMBOLO. Skipped (77) where the simulator is not built.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOMBOLO = os.environ["TOMBOLO"]
ROOT = Path(__file__).resolve().parent.parent.parent
SIMPLE = {  # costs that add up to round numbers
    "cores_per_node": 1, "flops_per_core": 1e9, "fft_fraction": 1, "memory_bytes_per_s": 1e12,
    "near_latency_s": 1e-7, "near_bytes_per_s": 1e9, "link_bytes_per_s": 1e8,
    "link_latency_s": 1e-5, "node_latency_s": 0, "put_overhead_s": 1e-6, "put_done_s": 2e-6,
    "signal_overhead_s": 3e-6, "am_send_s": 1e-6, "am_receive_s": 1e-6, "copy_bytes_per_s": 1e9,
    "message_send_s": 1e-6, "message_receive_s": 1e-6, "match_entry_s": 0, "eager_bytes_max": 1000,
    "rendezvous_s": 5e-6,
}
WIRE_S = 2e-5  # to the switch and on
HAND_S = 1.01e-7  # from what serves the network to the rank


def simulate(*words):
    """Runs the command. Returns (code, what it printed, its errors)."""
    done = subprocess.run([TOMBOLO, "sim", *map(str, words)], text=True, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout, done.stderr


class Simulate(unittest.TestCase):
    """One machine of two links to a switch, and the described ones."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def machine(self, topology="switch", **changes):
        """Writes a machine file; a parameter of None is left out."""
        values = {**SIMPLE, **changes}
        path = Path(self.folder.name) / "machine.json"
        path.write_text(json.dumps({
            "name": "m", "title": "t", "topology": topology,
            "parameters": {k: {"value": v, "source": "test"} for k, v in values.items()
                           if v is not None}}))
        return path

    def run_one(self, *words, machine=None):
        """The result of a simulation that must work."""
        code, out, err = simulate(*words, "--machine", machine or self.machine(), "--json", "-")
        self.assertEqual(code, 0, err)
        return json.loads(out)

    def test_by_hand(self):
        expected = {
            ("put", 8): 1e-6 + WIRE_S + 8e-8 + WIRE_S + 1e-8 + 2e-6,
            ("put", 100000): 1e-6 + WIRE_S + 1e-3 + WIRE_S + 1e-8 + 2e-6,
            ("signal", 100000): 3e-6 + WIRE_S + 1e-3,
            # send, copy, wire, receive, copy; and the empty answer, one byte on the wire
            ("message", 1000): 1e-6 + 1e-6 + WIRE_S + 1e-5 + 1e-6 + 1e-6 + 2e-6 + WIRE_S + 1e-8,
            # rendezvous: a notice of 64 bytes each way and its handling before the data
            ("message", 100000): (2e-6 + 2 * (WIRE_S + 64e-8) + 5e-6 + WIRE_S + 1e-3
                                  + 2e-6 + WIRE_S + 1e-8),
        }
        for (way, size), seconds in expected.items():
            got = self.run_one("message", "--way", way, "--bytes", size)["seconds"]
            self.assertAlmostEqual(got, seconds, delta=seconds * 1e-6, msg=f"{way} {size}")

    def test_schedule_by_hand(self):
        """A broadcast to one other rank: handed over, sent, taken."""
        for end in (0, 1e-4):
            got = self.run_one("collective", "--kind", "broadcast", "--bytes", 1000, "--ranks", 2,
                               machine=self.machine(node_latency_s=end))
            seconds = 1e-6 + 1e-6 + 2 * end + WIRE_S + 1e-5 + 1e-6 + 1e-6
            self.assertEqual(got["algorithm"], "knomial")
            self.assertAlmostEqual(got["seconds"], seconds, delta=seconds * 1e-6)

    def test_window_by_hand(self):
        """A window of two packets: the third waits for the acknowledgement of the first; and the
        processors' work for their bytes."""
        words = ("collective", "--kind", "broadcast", "--bytes", 5600, "--ranks", 2)
        ends = 2 * (1e-6 + 5.6e-6) + HAND_S
        for window, work, seconds in (
                (2800, 0, ends + 3 * WIRE_S + 3 * 1.4e-5),
                (5600, 0, ends + WIRE_S + 5.6e-5),
                # The root's copy to its destination is first; then half of two packets' work, which
                # leave together, and half of one before the third leaves and after the first and
                # the last have come.
                (2800, 1e-9, ends + 5.6e-6 + 5 * 7e-7 + 3 * WIRE_S + 3 * 1.4e-5)):
            got = self.run_one(*words, machine=self.machine(
                window_bytes=window, shared_processors=1, host_s_per_byte=work))
            self.assertAlmostEqual(got["seconds"], seconds,
                                   delta=seconds * (6e-3 if work else 1e-3))
        # ... and for each message.
        got = self.run_one(*words, machine=self.machine(
            window_bytes=5600, shared_processors=2, host_s_per_message=1e-4))
        seconds = ends + WIRE_S + 5.6e-5 + 1e-4 + 5.6e-6  # the root's copy is done first
        self.assertAlmostEqual(got["seconds"], seconds, delta=seconds * 1e-2)
        # One processor ends what it has begun: both messages leave before either is taken.
        got = self.run_one("collective", "--kind", "broadcast", "--algorithm", "flat", "--bytes", 8,
                           "--ranks", 3, machine=self.machine(
                               window_bytes=5600, shared_processors=1, host_s_per_message=1e-4))
        self.assertAlmostEqual(got["seconds"], 2e-4 + 4e-6, delta=1e-6)
        # The window that one collective has opened serves the next.
        warm = self.run_one(*words, "--warm", 2, machine=self.machine(window_bytes=2800))
        self.assertLess(warm["seconds"], ends + WIRE_S * 2 + 5.6e-5)

    def test_wakes_by_hand(self):
        """A message alone: each who has to do with it is woken, and so for its acknowledgement."""
        words = ("collective", "--kind", "broadcast", "--bytes", 8, "--ranks", 2)
        costs = {"host_s_per_frame": 1e-5, "host_s_per_sleep": 2e-5, "line_s_per_frame": 4e-5,
                 "line_s_per_sleep": 8e-5}
        plain, busy, acked = (self.run_one(*words, machine=self.machine(
            window_bytes=5600, shared_processors=1, **more))
            for more in ({}, costs, costs | {"ack_delay_s": 1e-3}))
        self.assertAlmostEqual(busy["seconds"] - plain["seconds"],
                               1e-5 + 2e-5 + 4e-5 + 2 * 8e-5, delta=2.1e-6)
        self.assertEqual((busy["sleeps"], busy["line_sleeps"]), (1, 2))
        # Later its receiver wakes to acknowledge it, and the sender to take that.
        self.assertEqual((acked["sleeps"], acked["line_sleeps"]), (3, 4))
        self.assertAlmostEqual(acked["seconds"], busy["seconds"], 9)
        # It finds the processor standing still.
        halts = self.run_one(*words, machine=self.machine(
            window_bytes=5600, shared_processors=1, host_s_per_halt=1e-4, **costs))
        self.assertAlmostEqual(halts["seconds"] - busy["seconds"], 1e-4, 6)
        # Who spins is not woken before it sleeps.
        got = self.run_one(*words, machine=self.machine(
            window_bytes=5600, shared_processors=1, wake_after_s=1, **costs))
        self.assertEqual(got["sleeps"], 0)
        # Messages back take acknowledgements along: only those of the last two go alone.
        got = self.run_one("collective", "--kind", "allreduce", "--bytes", 8, "--ranks", 2,
                           "--times", 10, machine=self.machine(
                               window_bytes=5600, shared_processors=2, ack_delay_s=1,
                               **costs | {"line_s_per_frame": 0, "line_s_per_sleep": 0}))
        self.assertEqual(got["sleeps"], 2 * 10 + 2 * 2)
        # What comes while a rank has its turn needs no second one: of two messages at once.
        got = self.run_one("collective", "--kind", "reduce", "--algorithm", "flat", "--bytes", 8,
                           "--ranks", 3, machine=self.machine(
                               window_bytes=5600, shared_processors=2, host_s_per_sleep=1e-3))
        self.assertEqual(got["sleeps"], 1)

    def test_packets_by_hand(self):
        """Short messages to one rank share a packet while another one is in flight; a short window
        asks for more acknowledgements."""
        def seconds(size, algorithm, **more):
            return self.run_one("collective", "--kind", "broadcast", "--bytes", size, "--algorithm",
                                algorithm, "--ranks", 2, machine=self.machine(
                                    window_bytes_max=1 << 20, shared_processors=1, **more))
        frame = {"window_bytes": 1 << 20, "host_s_per_frame": 1e-3}
        # The first leaves alone: as many packets with two messages as with six.
        two, six = (seconds(48, f"chain:2:{part}", **frame) for part in (24, 8))
        self.assertAlmostEqual(six["seconds"], two["seconds"], delta=1e-4)
        self.assertGreater(two["seconds"], 2e-3)
        # Of twenty packets each asks where the window has four, less as it opens. In a wide one
        # the sixteenth is acknowledged, and the last four later.
        more, less = (seconds(28000, "flat", ack_delay_s=1, window_bytes=window)
                      for window in (5600, 1 << 20))
        self.assertGreater(more["answers"], 8)
        self.assertEqual(less["answers"], 2)
        self.assertEqual((more["packets"], less["packets"]), (20, 20))

    def test_turns_by_hand(self):
        """What a window allows is handed over in one turn; acknowledgements of one turn are one
        frame and open the window; processors do not work for longer than the time that passes."""
        words = ("collective", "--kind", "broadcast", "--bytes", 5600, "--ranks", 2)
        got = self.run_one(*words, machine=self.machine(
            window_bytes=5600, shared_processors=1, line_s_per_sleep=8e-5))
        self.assertEqual((got["packets"], got["line_sleeps"]), (4, 2))
        # Each of four packets asks. They come while their receiver is woken for the first.
        got = self.run_one(*words, machine=self.machine(
            window_bytes=5600, shared_processors=1, host_s_per_sleep=1e-3, host_s_per_frame=1e-5,
            ack_delay_s=1e-2))
        self.assertEqual((got["packets"], got["answers"]), (4, 1))
        # A full window opens when the acknowledgement comes, which takes a turn of either end.
        narrow = {"window_bytes": 1400, "shared_processors": 2, "host_s_per_frame": 1e-4}
        at_once, answered = (self.seconds(*words, **narrow, **more)
                             for more in ({}, {"ack_delay_s": 1}))
        self.assertAlmostEqual(answered - at_once, 3 * 1e-4, delta=2e-6)
        got = self.run_one("collective", "--kind", "exchange", "--bytes", 16384, "--ranks", 16,
                           machine=self.machine(
                               cores_per_node=2, window_bytes=14600, shared_processors=2,
                               host_s_per_frame=1e-5, host_s_per_sleep=4e-5, line_s_per_frame=5e-6,
                               line_s_per_sleep=1e-5, ack_delay_s=2e-4, wake_after_s=1e-5))
        self.assertLessEqual(got["work_s"] + got["line_work_s"], 2 * got["seconds"])
        self.assertGreater(got["work_s"] + got["line_work_s"], got["seconds"])

    def test_begin_by_hand(self):
        """Where ranks share processors a clock wakes all of them before the first collective that
        counts, and each takes its turn. The root goes on when those that wait have had theirs."""
        words = ("collective", "--kind", "broadcast", "--algorithm", "flat", "--bytes", 8)
        for ranks, processors, turns in ((2, 1, 2), (6, 1, 6), (6, 6, 1)):
            work = {"window_bytes": 5600, "shared_processors": processors, "link_latency_s": 0.1,
                    "host_s_per_sleep": 1e-3}
            cold, warm, own = (self.seconds(*words, "--ranks", ranks, *more, **work, **costs)
                               for more, costs in (((), {}), (("--warm", 1), {}),
                                                   (("--warm", 1), {"cores_per_node": ranks})))
            self.assertAlmostEqual(warm - cold, turns * 1e-3, delta=2e-5)
            self.assertLess(own, 0.1)  # also where no message leaves its node
        free = [self.seconds(*words, "--ranks", 6, *more, window_bytes=5600, host_s_per_sleep=1e-3)
                for more in ((), ("--warm", 1))]
        self.assertAlmostEqual(*free, delta=2e-5)  # each rank has its own processor

    def test_processors_by_hand(self):
        """Who spins gives its processor to who wants it; who has yielded it to a rank of its own
        node has not slept."""
        words = ("collective", "--kind", "broadcast", "--algorithm", "flat", "--bytes", 8)
        got = self.run_one(*words, "--ranks", 3, machine=self.machine(
            window_bytes=5600, shared_processors=1, host_s_per_frame=1e-5, wake_after_s=1))
        self.assertLess(got["seconds"], 1e-3)
        # ... unless it spins without a yield: rank 1 waits for the root's spin, rank 2 for both.
        got = self.run_one(*words, "--ranks", 3, machine=self.machine(
            window_bytes=5600, shared_processors=1, host_s_per_frame=1e-5, wake_after_s=1e-2,
            spin_holds=1))
        self.assertAlmostEqual(got["seconds"], 2e-2, delta=1e-3)
        sleeps = [self.run_one(*words, "--ranks", 4, "--times", 4, machine=self.machine(
            cores_per_node=4, window_bytes=5600, shared_processors=count, wake_after_s=1e-5,
            host_s_per_near_message=1e-4, host_s_per_wake=1e-3))["sleeps"] for count in (1, 4)]
        self.assertEqual(sleeps[0], sleeps[1])
        # Each rank waits for the processor that it had. The root has the first one for 16 ms.
        # Rank 2 waits there from 8 ms on, though the other one is free after 11 ms; then rank 4.
        # So none of them finds it standing still.
        got = self.run_one(*words, "--ranks", 5, machine=self.machine(
            window_bytes=5600, shared_processors=2, host_s_per_message=8e-3,
            host_s_per_sleep=3e-3, host_s_per_halt=1e-3))
        self.assertAlmostEqual(got["seconds"], 16e-3 + 2 * 7e-3, delta=1e-4)

    def test_line_by_hand(self):
        """A node's messages leave whole, in order: the next root has the data after the first of
        two of them, while the other is on its way."""
        got = self.run_one("collective", "--kind", "broadcast", "--algorithm", "flat", "--bytes",
                           2800, "--ranks", 3, "--times", 2,
                           machine=self.machine(window_bytes=28000))
        self.assertAlmostEqual(2 * got["seconds"], 2 * WIRE_S + 3 * 2.8e-5, delta=2e-5)

    def seconds(self, *words, **changes):
        return self.run_one(*words, machine=self.machine(**changes))["seconds"]

    def test_events_by_hand(self):
        put = 1e-6 + WIRE_S + 8e-8 + WIRE_S + 2e-6  # until its sender knows that it is complete
        expected = {
            "signal": 3e-6 + WIRE_S + 8e-8,
            "flag": put + 1e-6 + WIRE_S + 8e-8,
            "atomic": put + 1e-6 + WIRE_S + 8e-8 + 1e-6,  # the owner's processor adds
            "queue": put + 1e-6 + WIRE_S + 64e-8 + 1e-6,
            "message": 1e-6 + 8e-9 + WIRE_S + 8e-8 + 1e-6 + 8e-9,
        }
        for way, seconds in expected.items():
            got = self.seconds("event", "--way", way, "--bytes", 8)
            self.assertAlmostEqual(got, seconds, delta=seconds * 1e-6, msg=way)
        nic = self.seconds("event", "--way", "atomic", "--bytes", 8, nic_atomic_s=5e-7)
        self.assertAlmostEqual(nic, expected["atomic"] - 1e-6 + 5e-7, delta=1e-11)
        code, _, err = simulate("event", "--machine", "torus", "--way", "smoke")
        self.assertEqual(code, 2)
        self.assertIn("--way smoke: give sync-all", err)

    def test_pipeline_by_hand(self):
        """Two ranks, two columns each, two rows to compute: 40 ns a row."""
        words = ("pipeline", "--rows", 3, "--columns", 4, "--way")
        row, signal, short = 4e-8, WIRE_S + 8e-8, 1e-6 + WIRE_S + 64e-8 + 1e-6
        put = 1e-6 + signal + WIRE_S + 2e-6
        expected = {
            # both rows of rank 0 with their starts, in flight, last row of rank 1, corner home
            "signal": 2 * (row + 3e-6) + signal + row + 3e-6 + signal,
            # Rank 0 is always the later one: it has rank 1's notice when it enters a barrier, and
            # goes on 2 us later. The last but one barrier waits for rank 1, the last one for home.
            "sync-all": 3 * row + 3 * put + 2 * 2e-6 + 2 * short,
            # the sender waits for its own message's being taken; the receiver is there before
            "sync-images": (row + put + 2e-6) + (row + put + short) + row + put + short,
        }
        for way, seconds in expected.items():
            self.assertAlmostEqual(self.seconds(*words, way), seconds, delta=seconds * 1e-4,
                                   msg=way)
        code, _, err = simulate("pipeline", "--machine", "torus", "--ranks", 9, "--columns", 17)
        self.assertEqual(code, 2)
        self.assertIn("give at least 18", err)

    def test_halo_by_hand(self):
        """Two ranks of 10 x 2 points, 2 us to compute; a halo of 80 bytes."""
        words = ("stencil", "--rows", 10, "--columns", 4, "--width", 1, "--grid", "1d", "--way")
        way = WIRE_S + 8e-7
        for name, overlap, seconds in (
                ("signal", 0, 2e-6 + 3e-6 + way), ("signal", 1, 1e-6 + 3e-6 + way),
                # put, complete, flag; the other half is computed while it is in flight
                ("flag", 1, 1e-6 + 1e-6 + way + WIRE_S + 2e-6 + 1e-6 + WIRE_S + 8e-8)):
            got = self.seconds(*words, name, "--overlap", overlap)
            self.assertAlmostEqual(got, seconds, delta=seconds * 1e-4, msg=f"{name} {overlap}")
        # Each blocking put is waited for: the next neighbour gets its own later.
        got = self.seconds(*words, "flag", "--blocking", 1)
        self.assertAlmostEqual(got, 2e-6 + 1e-6 + way + WIRE_S + 2e-6 + 1e-6 + 2 * (WIRE_S + 4e-8)
                               + 2e-6, delta=1e-9)
        # Of both ways to divide, hydro takes the one with the shorter side; of equal ones lines,
        # which need no packing.
        for rows, columns, cells in ((20, 8, 8), (8, 20, 8), (10, 10, 10)):
            got = self.run_one("hydro", "--rows", rows, "--columns", columns,
                               machine=self.machine(copy_bytes_per_s=1e3 if rows == 10 else 1e9))
            self.assertEqual(got["message_bytes"], cells * 5 * 2 * 8)
            self.assertLess(got["seconds"], 1e-2)
        # Alone: the operations of a step, 440 a cell.
        self.assertAlmostEqual(self.seconds("hydro", "--ranks", 1, "--rows", 10, "--columns", 10),
                               440e-6, delta=1e-9)
        step = [self.seconds("hydro", "--ranks", 6, "--rows", 60, "--columns", 60, "--way", name)
                for name in ("signal", "flag", "sync-all")]
        self.assertEqual(step, sorted(step))

    def crowd(self, *words, **changes):
        """Two ranks that share processors exchange halos of 80 bytes; 1 ms of each link."""
        return self.run_one("stencil", "--rows", 10, "--columns", 4, "--width", 1, "--grid", "1d",
                            *words, machine=self.machine(**{
                                "link_latency_s": 1e-3, "shared_processors": 2, "ack_delay_s": 1,
                                "window_bytes": 14600} | changes))

    def test_crowd_by_hand(self):
        """Who sleeps, who is woken, and when acknowledgements go, where ranks share processors."""
        way = 2e-3 + 8e-7 + 64e-8  # two links, data, what else is in the packet
        work = {"host_s_per_frame": 2e-5, "host_s_per_sleep": 3e-5}
        # Compute, send, wake, take. Each is woken twice: when the barrier before it is done, too.
        got = self.crowd("--way", "signal", **work)
        self.assertAlmostEqual(got["seconds"], 2e-6 + 1e-5 + way + 3e-5 + 1e-5, delta=2e-8)
        self.assertEqual((got["sleeps"], got["looks"], got["frames"]), (4, 0, 2))
        # What nothing goes back for is acknowledged alone: three messages an iteration.
        alone, along = (self.run_one(
            "pipeline", "--rows", 2, "--columns", 60, "--ranks", 3, "--times", 20, "--way",
            "signal", machine=self.machine(link_latency_s=1e-3, shared_processors=3,
                                           flops_per_core=1e6, ack_delay_s=delay,
                                           window_bytes=14600)) for delay in (2e-4, 1))
        self.assertAlmostEqual(alone["frames"], 6, delta=0.3)
        self.assertAlmostEqual(along["frames"], 3, delta=0.1)
        self.assertGreater(alone["sleeps"], along["sleeps"] + 2)
        # Who spins until the message comes is not woken.
        got = self.crowd("--way", "signal", **work | {"wake_after_s": 3e-3})
        self.assertEqual(got["sleeps"], 0)
        # A blocking put ends with its acknowledgement; then a short message, and the other's comes
        # that much later: 20, 20, 40, ... 640 us are seven looks, the next is after 2.56 ms.
        got = self.crowd("--way", "queue")
        self.assertAlmostEqual(got["seconds"], 2e-6 + 3 * way, delta=4e-6)
        self.assertEqual((got["looks"], got["frames"]), (14, 6))
        # On one processor the acknowledgement waits until the target has computed.
        slow = {"flops_per_core": 1e6, **work}
        one, two = (self.crowd("--way", "queue", shared_processors=n, **slow)["seconds"]
                    for n in (1, 2))
        self.assertGreater(one - two, 1e-3)
        # Inside a host a signal wakes the target; a flag is found by polling.
        near = {"cores_per_node": 2, "host_s_per_wake": 1e-5}
        got = self.crowd("--way", "signal", **near)
        self.assertEqual((got["looks"], got["frames"]), (0, 0))
        got = self.crowd("--way", "flag", **near, flops_per_core=1e6, shared_processors=1)
        self.assertGreater(got["looks"], 0)
        # Rows of a pipeline share a packet while the first one is in flight; then the corner.
        got = self.run_one("pipeline", "--rows", 9, "--columns", 4, "--way", "signal",
                           machine=self.machine(link_latency_s=1e-3, shared_processors=2,
                                                ack_delay_s=1, window_bytes=14600))
        self.assertEqual(got["frames"], 3)
        code, _, err = simulate("stencil", "--way", "message", "--machine",
                                self.machine(shared_processors=1))
        self.assertEqual(code, 2)
        self.assertIn("share processors: give sync-all", err)

    def test_fetch_add_by_hand(self):
        """The later of two ranks decides: rank 1 over the network."""
        way = WIRE_S + 8e-8
        for means, seconds in (("nic", 1e-6 + way + 1e-6 + way + 2e-6),
                               ("owner", 1e-6 + way + 2e-6 + way + 1e-6)):
            got = self.run_one("fetch-add", "--algorithm", means, "--count", 1,
                               machine=self.machine(nic_atomic_s=1e-6))
            self.assertAlmostEqual(got["operations_per_s"] * seconds / 2, 1, 6, means)
        # Many on one word: as fast as the adapter is.
        got = self.run_one("fetch-add", "--algorithm", "nic", "--count", 20, "--ranks", 200,
                           machine=self.machine(nic_atomic_s=1e-6))
        self.assertAlmostEqual(got["operations_per_s"] / 1e6, 1, delta=0.02)
        code, _, err = simulate("fetch-add", "--machine", "torus", "--algorithm", "nic")
        self.assertEqual(code, 2)
        self.assertIn("nic_atomic_s is 0", err)

    def test_start_by_hand(self):
        """Ranks of one host by turns; on 34 hosts a second level of agents, and six rounds."""
        costs = {"process_s": 1e-3, "join_s": 2e-3, "join_peer_s": 1e-4, "rank_bytes": 1000,
                 "peer_bytes": 10, "shared_processors": 2, "cores_per_node": 8}
        got = self.run_one("start", "--ranks", 8, machine=self.machine(**costs))
        self.assertAlmostEqual(got["processes_s"], 4 * 3.8e-3, 9)
        self.assertEqual((got["agents_s"], got["cards_s"], got["memory_bytes"]), (0, 0, 1080))
        far = self.machine(**costs | {"shared_processors": 0, "cores_per_node": 1, "agent_s": 0.5,
                                      "card_bytes": 0})
        got = self.run_one("start", "--ranks", 34, machine=far)
        self.assertAlmostEqual(got["agents_s"], 1.0, 9)
        self.assertAlmostEqual(got["processes_s"], 6.4e-3, 9)
        self.assertAlmostEqual(got["cards_s"], 2 * 6 * (1e-6 + WIRE_S + 64e-8 + 1e-6), 9)
        self.assertAlmostEqual(got["seconds"], sum(got[n] for n in (
            "agents_s", "processes_s", "cards_s", "barrier_s")), 12)
        code, _, err = simulate("start", "--machine", "torus", "--ranks", 64)
        self.assertEqual(code, 2)
        self.assertIn("process_s is 0", err)

    def test_barrier_by_hand(self):
        short = 1e-6 + WIRE_S + 64e-8 + 1e-6
        for name, seconds in (("dissemination", short), ("nodes", short), ("binomial", 2 * short)):
            self.assertAlmostEqual(self.seconds("barrier", "--algorithm", name), seconds, 10, name)
        # Two nodes of four: hand-overs to and from the leaders, or one processor wakes six ranks.
        node, hand = {"cores_per_node": 4}, 1e-7
        self.assertAlmostEqual(self.seconds("barrier", "--ranks", 8, **node), short + 2 * hand, 12)
        self.assertAlmostEqual(
            self.seconds("barrier", "--ranks", 8, **node, shared_processors=1,
                         host_s_per_wake=1e-5), short + hand + 6e-5, 12)
        # The same dissemination as the library's schedule, message by message.
        words = ("--machine", "torus", "--ranks", 64)
        ours, steps = (json.loads(simulate(*w, *words, "--json", "-")[1])["seconds"] for w in (
            ("barrier", "--algorithm", "dissemination"),
            ("collective", "--kind", "sync", "--levels", 1)))
        self.assertAlmostEqual(ours / steps, 1, delta=0.2)

    def test_native_by_hand(self):
        tree = {"tree_bytes_per_s": 1e8, "tree_latency_s": 1e-5}
        for kind, seconds in (("broadcast", 1e-6 + 1e-5 + 1e-5 + 2e-6),
                              ("allreduce", 1e-6 + 2e-5 + 1e-5 + 2e-6)):
            got = self.seconds("native", "--kind", kind, "--algorithm", "tree", "--bytes", 1000,
                               **tree)
            self.assertAlmostEqual(got, seconds, 10, kind)

    def test_dense_by_hand(self):
        """Two steps on 2 x 2 ranks. The longest way: both panels of step 0 to rank 2, then its
        two products."""
        words = ("matmul", "--ranks", 4, "--rows", 4, "--block", 2, "--way")
        panel, work = WIRE_S + 32e-8, 2e-8
        self.assertAlmostEqual(self.seconds(*words, "hand"), 6e-6 + panel + 2 * work, 10)
        times = [self.seconds("cholesky", "--ranks", 4, "--rows", 64, "--block", 4, "--way", way)
                 for way in ("hand", "library")]
        self.assertEqual(times, sorted(times))

    def test_algorithm(self):
        words = ("collective", "--ranks", 64, "--bytes", 65536)
        for name, means in (("tree", "tree"), ("tree:2:8192", "tree"), ("knomial:8", "knomial")):
            self.assertEqual(self.run_one(*words, "--algorithm", name,
                                          machine="torus")["algorithm"], means)
        for name in ("tree:2:0", "tree:1", "tree:x", "bush"):
            code, _, err = simulate(*words, "--machine", "torus", "--algorithm", name)
            self.assertEqual(code, 2, name)
            self.assertIn("NAME[:radix[:segment]]", err)

    def test_ft_by_hand(self):
        """Two ranks, one dimension, nothing overlaps: packed by messages."""
        m = self.machine(copy_bytes_per_s=1e18, message_send_s=0, message_receive_s=0,
                         rendezvous_s=0, memory_bytes_per_s=1e15)
        got = self.run_one("ft", "--points", "64x64x64", "--ranks", 2, "--grid", "1x2", "--way",
                           "packed2", machine=m)
        points = 64**3
        seconds = 5 * points * 18 / 2 / 1e9 + points / 4 * 16 / 1e8 + 3 * WIRE_S
        self.assertAlmostEqual(got["seconds"], seconds, delta=seconds * 1e-3)

    def test_conservation(self):
        cases = [("ft", "--points", "64x64x64", "--way", way, "--ranks", 16, "--flows", flows)
                 for way in ("slabs", "packed2", "slabs2") for flows in ("each", "share")]
        cases += [("collective", "--kind", kind, "--bytes", size, "--ranks", ranks)
                  for kind in ("broadcast", "exchange", "allreduce") for ranks in (13, 16)
                  for size in (8, 100000)]
        for words in cases:
            got = self.run_one(*words, machine="torus")
            self.assertGreater(got["exchanged_bytes"], 0)
            self.assertAlmostEqual(got["delivered_bytes"] / got["exchanged_bytes"], 1, 6, words)

    def test_one_and_share(self):
        """A node with its share of the network stands for all of them."""
        words = ("ft", "--points", "128x128x128", "--ranks", 64, "--way", "packed2", "--flows")
        each, share = (self.run_one(*words, flows, machine="torus")["seconds"]
                       for flows in ("each", "share"))
        self.assertAlmostEqual(share / each, 1, delta=0.05)

    def test_ranks(self):
        for ranks in (1, 7):
            got = self.run_one("collective", "--kind", "allreduce", "--bytes", 8, "--ranks", ranks,
                               machine="torus")
            self.assertGreater(got["seconds"], 0)
        self.assertEqual(self.run_one("ft", "--ranks", 1, machine="torus")["exchanged_bytes"], 0)
        code, out, err = simulate("ft", "--machine", "torus", "--ranks", 0)
        self.assertEqual((code, out), (2, ""))
        self.assertIn("--ranks 0: give a whole number from 1", err)
        code, _, err = simulate("ft", "--machine", "torus", "--ranks", 7)
        self.assertEqual(code, 2)
        self.assertIn("--ranks 7: no grid", err)

    def test_same_again(self):
        words = ("collective", "--kind", "exchange", "--bytes", 3000, "--ranks", 24)
        first, second = (simulate(*words, "--machine", "torus", "--json", "-") for _ in range(2))
        self.assertEqual(first, second)

    def test_machines(self):
        for path in sorted((ROOT / "tools/sim/machines").glob("*.json")):
            got = self.run_one("machine", machine=path.stem)
            self.assertEqual(got["machine"], path.stem)
            self.run_one("collective", "--kind", "sync", "--ranks", 130, machine=path.stem)

    def refused(self, machine, *parts):
        """The file is refused, with all these words."""
        code, out, err = simulate("message", "--machine", machine)
        self.assertEqual((code, out), (2, ""), err)
        for part in parts:
            self.assertIn(part, err)

    def test_nothing_given(self):
        """The first words of a new user: all experiments and machines are named."""
        code, _, err = simulate()
        self.assertEqual(code, 2)
        self.assertIn("no experiment: give ft, collective, links, message, machine, pipeline", err)
        for words, said in ((["nosuch"], "no experiment 'nosuch': give ft, collective"),
                            (["ft", "--mchine=torus"], "did you mean --machine?"),
                            (["ft", "--nosuch", "1"], "no option --nosuch; see"),
                            (["ft", "--machine"], "option --machine needs a value")):
            code, _, err = simulate(*words)
            self.assertEqual(code, 2)
            self.assertIn(said, err)
        code, _, err = simulate("ft")
        self.assertEqual(code, 2)
        for path in (ROOT / "tools/sim/machines").glob("*.json"):
            self.assertIn(path.stem, err)

    def test_bad_files(self):
        self.refused(self.machine(put_overhead_s=-1), "put_overhead_s: -1", "from 0 to 1")
        self.refused(self.machine(put_overhead_s=None), "put_overhead_s is missing", "add it")
        self.refused(self.machine(put_overhaed_s=1), "put_overhaed_s is no parameter",
                     "did you mean put_overhead_s?")
        self.refused(self.machine(put_overhead_s="fast"), "put_overhead_s", "no number")
        self.refused(self.machine("ring"), "topology: ring", "torus, fat-tree, dragonfly or switch")
        names = [p.stem for p in (ROOT / "tools/sim/machines").glob("*.json")]
        self.refused("nowhere", "--machine nowhere", "give torus", *names)
        path = Path(self.folder.name) / "broken"
        path.write_text('{"name": "x",\n')
        self.refused(path, "broken:", "give a machine file")

    def test_settings(self):
        code, _, err = simulate("message", "--machine", "torus", "--set", "rails=many")
        self.assertEqual(code, 2)
        self.assertIn("--set rails=many: give NAME=NUMBER", err)
        one = self.run_one("message", "--bytes", 1000000)["seconds"]
        two = self.run_one("message", "--bytes", 1000000, "--set", "rails=2")["seconds"]
        self.assertAlmostEqual((one - two) / 5e-3, 1, 3)

    def test_measured(self):
        """Parameters that `tombolo bench loggp --json` wrote."""
        names = {"put_overhead": 700, "signal_overhead": 800, "message_overhead": 900,
                 "message_gap": 1000, "signal_latency": 50800}
        path = Path(self.folder.name) / "loggp"
        path.write_text(json.dumps({"figures": [{"group": "loggp_far", "name": k, "median": v}
                                                for k, v in names.items()]}))
        got = self.run_one("machine", "--loggp", path, "--far")
        self.assertAlmostEqual(got["put_overhead_s"], 7e-7)
        self.assertAlmostEqual(got["signal_overhead_s"], 8e-7)
        code, _, err = simulate("machine", "--machine", "torus", "--loggp", path)
        self.assertEqual(code, 2)
        self.assertIn("put_overhead is missing", err)


if __name__ == "__main__":
    if simulate("--help")[0] == 127:
        print("skipped: the simulator is not built (package libsimgrid-dev)")
        sys.exit(77)
    unittest.main()
