#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 120
"""Two interfaces of each host used together: long puts over two links of a token bucket are nearly
twice as fast as over one; when one of them is cut in mid-run the job goes on and says so.

Usage: rails_test.py [--whole]   (--whole: also the rate, and IPv6)
"""

import re
import statistics
import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "lib")]
from confine import confine  # noqa: E402
from lab import Lab, build_folder  # noqa: E402
from launch import read_ready, run, start  # noqa: E402

TRAFFIC = str(build_folder() / "tests/fault/traffic")
BENCH = str(build_folder() / "bench/tombolo-bench-net")
WHOLE = "--whole" in sys.argv


class Rails(unittest.TestCase):
    """Jobs on two hosts with two interfaces each."""

    def cut_one(self, family, rail):
        """Cuts a rail under checked traffic, which ends well. Returns the messages.

        Cut before both ranks have looked for interfaces, the rail would be none of the job's: they
        take only interfaces that run.
        """
        with Lab(hosts=2, rails=3, family=family, sshd=True) as lab:  # eth0: for the agents
            process = start(lab, "--hosts", "host0:1,host1:1", TRAFFIC, "abort", "150", "10",
                            TOMBOLO_UDP_INTERFACES="eth1,eth2")
            read_ready(process, 2)
            lab._ip([f"link set {lab.port(1, 1 + rail)} down"])
            out, err = process.stdout.read(), process.stderr.read()
            process.wait()
            self.assertEqual((process.returncode, out.count("survived")), (0, 2), out + err)
            return err

    def test_shown(self):
        """`tombolo info` names the interfaces that long transfers share, and says why not."""
        with Lab(hosts=2, rails=2) as lab:
            lab._ip(["link set eth1 down"], lab.hosts[1])
            command = [str(build_folder() / "bin/tombolo"), "info"]
            text = [host.start(command, stdout=subprocess.PIPE).communicate()[0].decode()
                    for host in lab.hosts]
        self.assertIn("long transfers share eth0, eth1", text[0])
        self.assertNotIn("long transfers share", text[1])
        self.assertIn("down: 'ip link set eth1 up'", text[1])

    def test_cut_first(self):
        """The rail that short messages take."""
        self.assertIn("by rail 0", self.cut_one("4", 0))

    @unittest.skipUnless(WHOLE, "--whole")
    def test_cut_second(self):
        """The rail that only long transfers take."""
        self.cut_one("6", 1)

    @unittest.skipUnless(WHOLE, "--whole")
    def test_rate(self):
        """Puts of 1 MiB over one and over both of two links of 1 Gbit/s."""
        took = {}
        for names in ("eth0", "eth0,eth1"):
            with Lab(hosts=2, rails=2, rate="1gbit", sshd=True) as lab:
                code, out, err, _ = run(lab, "--hosts", "host0:1,host1:1", BENCH, "--mode", "loss",
                                        TOMBOLO_UDP_INTERFACES=names)
                self.assertEqual(code, 0, out + err)
                samples = re.search(r"put_flood bytes=1048576.*\nx (.*)", out)[1].split()
                took[names] = statistics.median(map(float, samples))
        print(took)
        self.assertGreater(took["eth0"] / took["eth0,eth1"], 1.7)


if __name__ == "__main__":
    confine()
    unittest.main(argv=[sys.argv[0]])
