#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 200
"""`tombolo why` and `ps` for a job on hosts of a lab: asked on each of them, a hang is named with
the hosts; where a link is cut, the peer that does not answer is named and no hang is claimed."""

import os
import re
import signal
import shutil
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from lab import Lab, build_folder, confine, skip  # noqa: E402

TOMBOLO = os.environ.get("TOMBOLO", str(build_folder() / "bin/tombolo"))
HANGS = str(build_folder() / "tests/fault/hangs")
HANG, BUSY = 3, 4


def environment(lab):
    """That of root in the lab, without settings of the caller's."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("TOMBOLO_", "GASNET_"))}
    return {**env, "HOME": str(lab.ssh.accounts["root"][1])}


def start(lab, how):
    """A job of one rank on each host, once all ranks are there."""
    command = [TOMBOLO, "run", "--hosts", lab.host_list(), HANGS, how]
    process = lab.hosts[0].start(command, text=True, stdin=subprocess.DEVNULL, cwd="/",
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 env=environment(lab))
    for _ in range(lab.size):
        line = process.stdout.readline()
        assert line.startswith("ready"), line or process.communicate(timeout=20)
    return process


def end(lab, process):
    """Ends the job: what was started on the host is a program around the launcher."""
    for pid, words in lab.hosts[0].processes():
        if "tombolo run --hosts" in words:
            os.kill(pid, signal.SIGTERM)
    process.communicate(timeout=20)


def ask(lab, h, *words):
    """(code, text) of a command of `tombolo` on a host."""
    done = lab.hosts[h].run([TOMBOLO, *words], text=True, capture_output=True, timeout=30, cwd="/",
                            env=environment(lab))
    return done.returncode, done.stdout + done.stderr


class Why(unittest.TestCase):
    """Questions to a running job."""

    def settle(self, lab, h, wanted, pattern):
        """Asks on host h until the answer is the wanted one."""
        until = time.monotonic() + 25
        while True:
            code, text = ask(lab, h, "why")
            if code == wanted and re.search(pattern, text):
                return text
            self.assertLess(time.monotonic(), until, f"{code}: {text}")

    def test_hang(self):
        with Lab(hosts=3, sshd=True) as lab:
            process = start(lab, "barrier")
            for h in range(3):
                self.settle(lab, h, HANG, r"ranks 0-1 wait in barrier \d+ of all ranks, which rank "
                                          r"2 has not called; rank 2 on host2 waits")
                code, text = ask(lab, h, "ps", "--ranks")
                self.assertEqual(code, 0)
                for r in range(3):
                    self.assertRegex(text, rf"(?m)^  {r} +host{r} +\d+ .* wait$")
            end(lab, process)
            self.assertEqual(lab.leftovers(), [])

    def test_cut(self):
        with Lab(hosts=3, sshd=True) as lab:
            process = start(lab, "barrier")
            self.settle(lab, 0, HANG, r"which rank 2 has not called")
            end(lab, process)
            process = start(lab, "circle")
            self.settle(lab, 1, HANG, r"in a circle: rank 0")
            lab.cut(2)
            self.settle(lab, 0, BUSY, r"rank 2 +host2: is on another machine, which has not")
            end(lab, process)

    def test_traffic(self):
        """Ranks exchange messages; then host2 is cut off, wholly or in one direction. It is the one
        that is named, with the direction, although it loses the others as they lose it."""
        if not shutil.which("iptables"):
            self.skipTest("no iptables")
        pair = (r"(2 hosts get|rank [01] on host[01] gets) no answer from (rank 2 on )?host2 for "
                r"\S+ s: ")
        for chain, end_of_link, pattern in (
            ("INPUT", "-i", "what is sent to it is lost in the network; what it sends arrives"),
            ("OUTPUT", "-o", "what it sends is lost in the network; what is sent to it arrives"),
            (None, None, "it answers nobody"),
        ):
            with self.subTest(chain), Lab(hosts=3, sshd=True) as lab:
                process = start(lab, "traffic")
                time.sleep(0.5)
                if chain:
                    rule = f"-A {chain} {end_of_link} eth0 -p udp -j DROP"
                    lab.hosts[2].run(["iptables", *rule.split()], check=True)
                else:
                    lab.cut(2)
                time.sleep(1)
                for h in (0, 1):
                    text = self.settle(lab, h, BUSY, pair + pattern)
                    self.assertNotRegex(text, r"answer from .*host[01]")
                end(lab, process)


if __name__ == "__main__":
    if not os.path.exists(HANGS):
        skip(f"no {HANGS}: build the tests")
    confine()
    unittest.main(verbosity=2)
