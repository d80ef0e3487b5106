#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 100
"""Test of the test network: hosts reach each other as they should, and nothing outlives a lab."""

import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from lab import SSHD, USER, Lab, confine  # noqa: E402

# Sends argv[2] datagrams of 1000 bytes to argv[1]:7000, or receives: until 300 ms of silence once
# argv[2] have come, else until 2 s, for a busy machine stops all for longer. Prints how many came,
# and the nanoseconds from the first to the last, when the kernel got them: the program may be late.
SEND = """
import socket, sys
s = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
for i in range(int(sys.argv[2])):
    s.sendto(i.to_bytes(4, "little") + bytes(996), (sys.argv[1], 7000))
"""
RECEIVE = """
import socket, struct, sys
s = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, 33, 1 << 24)  # SO_RCVBUFFORCE
s.setsockopt(socket.SOL_SOCKET, 35, 1)  # SO_TIMESTAMPNS
s.bind((sys.argv[1], 7000))
print("bound", flush=True)
times = []
s.settimeout(20)
try:
    while True:
        _, ((_, _, stamp),), _, _ = s.recvmsg(2000, 256)
        seconds, nanoseconds = struct.unpack("qq", stamp)
        times.append(1000000000 * seconds + nanoseconds)
        s.settimeout(0.3 if len(times) >= int(sys.argv[2]) else 2)
except socket.timeout:
    pass
print(len(times), times[-1] - times[0] if times else 0)
"""


def stream(lab, address, count):
    """Sends datagrams from host 0 to an address of host 1. Returns how many came, in how long."""
    command = ["python3", "-c", RECEIVE, address, str(count)]
    sink = lab.hosts[1].start(command, stdout=subprocess.PIPE, text=True)
    sink.stdout.readline()
    lab.hosts[0].run(["python3", "-c", SEND, address, str(count)], check=True)
    came, nanoseconds = sink.communicate(timeout=60)[0].split()
    return int(came), int(nanoseconds) / 1e9


class LabTest(unittest.TestCase):
    """One lab for each case: they must not disturb each other."""

    def test_families_and_rails(self):
        with Lab(hosts=3, rails=2, family="46") as lab:
            for rail in range(2):
                for family in "46":
                    self.assertEqual(stream(lab, lab.address(1, rail, family), 5)[0], 5)
            names = lab.hosts[2].run(["hostname"], capture_output=True, text=True).stdout
            self.assertEqual(names, "host2\n")

    def test_rate(self):
        with Lab(hosts=2, rate="20mbit") as lab:
            came, seconds = stream(lab, lab.address(1), 400)
        self.assertEqual(came, 400)
        # What the bucket does not hold at once, at its rate.
        self.assertGreater(seconds, (400 * 1000 - 2 * 65536 - 1000) * 8 / 20e6 * 0.95)

    def test_cut(self):
        with Lab(hosts=2) as lab:
            stream(lab, lab.address(1), 1)  # the hosts know each other's hardware address then
            lab.cut(1)
            sink = lab.hosts[1].start(["python3", "-c", RECEIVE, lab.address(1), "3"],
                                      stdout=subprocess.PIPE, text=True)
            sink.stdout.readline()
            send = ["python3", "-c", SEND, lab.address(1)]
            lab.hosts[0].run([*send, "5"], stderr=subprocess.DEVNULL)
            time.sleep(0.1)
            lab.cut(1, joined=True)
            self.assertEqual(sink.poll(), None)
            lab.hosts[0].run([*send, "3"], check=True)
            self.assertEqual(int(sink.communicate(timeout=60)[0].split()[0]), 3)

    @unittest.skipUnless(any(map(os.path.exists, SSHD)), "no sshd")
    def test_ssh(self):
        with Lab(hosts=2, sshd=True) as lab:
            for name, (uid, home) in lab.ssh.accounts.items():
                user = None if name == "root" else name
                done = lab.hosts[0].run(["ssh", "host1", "id -u; hostname; echo $HOME"], user,
                                        env={**os.environ, "HOME": str(home)},
                                        capture_output=True, text=True)
                self.assertEqual((done.stdout, done.returncode), (f"{uid}\nhost1\n{home}\n", 0))
            self.assertEqual(lab.leftovers(), [])

    def test_host_lost_orphan(self):
        with Lab(hosts=2) as lab:
            entered = lab.hosts[1].start(["sleep", "1000"])
            while lab.leftovers(0) != [("host1", "sleep 1000")]:
                time.sleep(0.01)
            entered.kill()
            self.assertEqual(entered.wait(timeout=40), -9)
            lab.hosts[1].kill()

    def test_host_lost(self):
        with Lab(hosts=2) as lab:
            sleeper = lab.hosts[1].start(["sleep", "1000"])
            while lab.leftovers(0) != [("host1", "sleep 1000")]:
                self.assertIsNone(sleeper.poll())
                time.sleep(0.01)
            self.assertEqual(lab.hosts[1].processes()[0][1], "sleep 1000")
            lab.hosts[1].kill()
            self.assertNotEqual(sleeper.wait(timeout=40), 0)
            self.assertIn(lab.port(0, 0), links())
            deadline = time.monotonic() + 10
            while lab.port(1, 0) in links() and time.monotonic() < deadline:
                time.sleep(0.01)
            self.assertNotIn(lab.port(1, 0), links())

    def test_killed(self):
        """A lab inside this one, killed at once: nothing of it is left."""
        script = Path(__file__).resolve().parent / "lab.py"
        words = [sys.executable, str(script), "--hosts", "3", "--", "sleep", "4711"]
        for number in (signal.SIGKILL, signal.SIGTERM):
            lab = subprocess.Popen(words)
            while count_processes("sleep\x004711") == 0:
                self.assertIsNone(lab.poll())
                time.sleep(0.01)
            lab.send_signal(number)
            lab.wait()
            deadline = time.monotonic() + 10
            while count_processes("lab.py\0--hosts\x003") and time.monotonic() < deadline:
                time.sleep(0.01)
            self.assertEqual(count_processes("sleep\x004711"), 0)
            self.assertEqual(count_processes("lab.py\0--hosts\x003"), 0)


def links():
    """The interfaces of the lab."""
    done = subprocess.run(["ip", "-br", "link"], capture_output=True, text=True, check=True)
    return done.stdout


def count_processes(words):
    """How many processes have these words in their command line."""
    count = 0
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            count += words.encode() in entry.read_bytes()
        except OSError:
            pass
    return count


if __name__ == "__main__":
    confine()
    unittest.main()
