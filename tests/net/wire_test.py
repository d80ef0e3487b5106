#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 100
"""Test of the emulated link: what two programs see through it is what was asked for.

Its decisions have a unit test (wire/model_test.c); here are sockets, frames and the real clock, so
that times have lower limits only, and an upper one for the best of many.
"""

import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from lab import Lab, confine  # noqa: E402
from lab_test import stream  # noqa: E402

ECHO = """
import socket, sys
s = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
s.bind((sys.argv[1], 7001))
print("bound", flush=True)
while True:
    data, peer = s.recvfrom(2000)
    s.sendto(data, peer)
"""
# argv: address, round trips, ms between; prints the least round trip in ns, how many came back
# whole, damaged, twice, and out of order.
PING = """
import random, socket, sys, time
s = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
s.connect((sys.argv[1], 7001))
count, pause = int(sys.argv[2]), float(sys.argv[3]) / 1000
body = bytes(range(256))
seen, least, damaged, order = {}, 1 << 60, 0, 0
def take(wait):
    global least, damaged, order
    s.settimeout(wait)
    try:
        while True:
            data = s.recv(2000)
            now = time.monotonic_ns()
            number = int.from_bytes(data[:8], "little")
            if data[8:] != body or number >= count:
                damaged += 1
                continue
            order += bool(seen) and number < max(seen)
            if number not in seen:
                least = min(least, now - sent[number])
            seen[number] = seen.get(number, 0) + 1
            s.settimeout(wait)
    except (socket.timeout, BlockingIOError):
        pass
sent = []
for i in range(count):
    sent.append(time.monotonic_ns())
    s.send(i.to_bytes(8, "little") + body)
    take(max(pause, 1e-9))
take(0.5)
if len(seen) < count:  # lost, or late on a busy machine
    take(3)
print(least, len(seen), damaged, sum(n > 1 for n in seen.values()), order)
"""


def ping(lab, count, pause_ms, family=None):
    """Round trips between host 0 and host 1, as PING prints them."""
    address = lab.address(1, 0, family)
    echo = lab.hosts[1].start(["python3", "-c", ECHO, address], stdout=subprocess.PIPE, text=True)
    echo.stdout.readline()
    done = lab.hosts[0].run(["python3", "-c", PING, address, str(count), str(pause_ms)],
                            stdout=subprocess.PIPE, text=True, check=True)
    for pid, _ in lab.hosts[1].processes():
        os.kill(pid, signal.SIGKILL)
    echo.communicate()
    return [int(word) for word in done.stdout.split()]


class WireTest(unittest.TestCase):
    """One lab for each case."""

    def test_delay(self):
        with Lab(hosts=2, wire=["delay=3ms"], family="46") as lab:
            for family in "46":
                least, came, damaged, twice, order = ping(lab, 50, 7, family)
                self.assertEqual((came, damaged, twice, order), (50, 0, 0, 0))
                self.assertGreaterEqual(least, 6e6)
                self.assertLess(least, 10e6)

    def test_rate(self):
        with Lab(hosts=2, wire=["rate=20mbit"]) as lab:
            stream(lab, lab.address(1), 1)  # few wait where the neighbour is not known
            came, seconds = stream(lab, lab.address(1), 300)
            counts = lab.wire.counts()
        self.assertEqual(came, 300)
        self.assertEqual(counts["overflowed"], 0)
        # 1042 bytes on the line each; the receiver may be late for the first
        self.assertGreater(seconds, 299 * 1042 * 8 / 20e6 * 0.9)

    def test_loss(self):
        """As many are lost as wire says."""
        with Lab(hosts=2, wire=["seed=5"]) as lab:
            stream(lab, lab.address(1), 1)
            for h in range(2):  # no frames but ours
                words = ["ip", "neigh", "replace", lab.address(1 - h), "lladdr"]
                words += [hardware_address(lab, 1 - h), "dev", "eth0"]
                lab.hosts[h].run(words, check=True)
            before = lab.wire.counts()
            lab.wire.ask("set 0 loss=20%")
            came, _ = stream(lab, lab.address(1), 1000)
            lost = lab.wire.counts()["lost"] - before["lost"]
        self.assertEqual(came, 1000 - lost)
        self.assertTrue(120 < lost < 280, lost)

    def test_worse(self):
        """Duplicates, frames out of order and damage reach the program."""
        settings = ["duplicate=10%", "reorder=10%", "hold=20ms", "corrupt=5%", "seed=11"]
        with Lab(hosts=2, wire=settings) as lab:
            _, came, damaged, twice, order = ping(lab, 400, 1)
            counts = lab.wire.counts()
        self.assertGreater(came, 300)
        self.assertGreater(damaged, 3)
        self.assertGreater(twice, 20)
        self.assertGreater(order, 5)
        for name in ("duplicated", "reordered", "corrupted"):
            self.assertGreater(counts[name], 10)

    def test_cut(self):
        with Lab(hosts=3, wire=[]) as lab:
            self.assertEqual(stream(lab, lab.address(1), 3)[0], 3)
            lab.cut(1)
            self.assertEqual(ping_lost(lab), True)
            lab.cut(1, joined=True)
            time.sleep(0.05)
            self.assertEqual(stream(lab, lab.address(1), 3)[0], 3)
            with self.assertRaises(ValueError):
                lab.wire.ask("cut 3")
            with self.assertRaises(ValueError):
                lab.wire.ask("set loss=2 delay=1ms")


def hardware_address(lab, h):
    """Ethernet address of eth0 of a host."""
    done = lab.hosts[h].run(["ip", "-o", "link", "show", "eth0"], capture_output=True, text=True)
    return done.stdout.split("link/ether ")[1].split()[0]


def ping_lost(lab):
    """Whether a datagram to host 1 gets no answer."""
    return ping(lab, 2, 1)[1] == 0


if __name__ == "__main__":
    confine()
    unittest.main()
