#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 120
"""A transfer of conduit udp and one of TCP (CUBIC) over one link of a token bucket at the same
time: each gets 35 to 65 % of what both get.

Usage: fair_test.py [RATE] [SECONDS]
"""

import re
import subprocess
import sys
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "lib")]
from confine import confine  # noqa: E402
from lab import Lab, build_folder  # noqa: E402
from launch import start  # noqa: E402

FLOOD = str(build_folder() / "tests/net/flood")
PORT = 5001
TAKE = f"""
import socket, sys, threading
s = socket.create_server(("", {PORT}))
print("ready", flush=True)
c, _ = s.accept()
total = 0
def run():
    global total
    while True:
        n = len(c.recv(1 << 20))
        if not n: break
        total += n
threading.Thread(target=run, daemon=True).start()
for _ in sys.stdin: print(total, flush=True)
"""
GIVE = f"""
import socket, sys
s = socket.socket()
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
s.connect((sys.argv[1], {PORT}))
block = bytes(1 << 20)
while True: s.sendall(block)
"""


def sent_by(host):
    """Bytes that have left host's eth0."""
    text = host.run(["cat", "/proc/net/dev"], text=True, capture_output=True).stdout
    return int(re.search(r"eth0:(.*)", text)[1].split()[8])


def share(rate, seconds):
    """(share of udp, rate of both in Mbit/s) after a time to settle."""
    with Lab(hosts=2, rate=rate, sshd=True) as lab:
        pipes = {"text": True, "stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        taker = lab.hosts[1].start([sys.executable, "-c", TAKE], **pipes)
        taker.stdout.readline()

        def taken():
            taker.stdin.write("\n")
            taker.stdin.flush()
            return int(taker.stdout.readline())

        flood = start(lab, "--hosts", "host0:1,host1:1", FLOOD, str(seconds + 4),
                      TOMBOLO_PROGRESS_SHARE="100")
        assert "begins" in flood.stdout.readline()
        giver = lab.hosts[0].start([sys.executable, "-c", GIVE, lab.address(1)],
                                   stderr=subprocess.DEVNULL)
        time.sleep(2)
        before, began = (sent_by(lab.hosts[0]), taken()), time.monotonic()
        time.sleep(seconds)
        after, took = (sent_by(lab.hosts[0]), taken()), time.monotonic() - began
        flood.communicate(timeout=30)
        taker.stdin.close()  # it ends, and with it the connection
        taker.wait()
        giver.wait()
        all_bytes, tcp = after[0] - before[0], (after[1] - before[1]) * 1514 / 1448
        return 1 - tcp / all_bytes, 8e-6 * all_bytes / took


class Fair(unittest.TestCase):
    """Shares of a link."""

    def test_share(self):
        """Over the whole measurement."""
        rate = sys.argv[1] if len(sys.argv) > 1 else "200mbit"
        seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 8
        part, both = share(rate, seconds)
        print(f"{rate}: udp has {part:.2f} of {both:.0f} Mbit/s")
        self.assertTrue(0.35 <= part <= 0.65, part)


if __name__ == "__main__":
    confine()
    unittest.main(argv=[sys.argv[0]])
