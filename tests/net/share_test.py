#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 60
"""Hosts that are namespaces of one machine share its processors: ranks which outnumber these do not
spin as if each had one (tests/inside/hosts_share.c)."""

import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "lib")]
from confine import confine  # noqa: E402
from lab import Lab, build_folder  # noqa: E402
from launch import start  # noqa: E402

PROGRAM = str(build_folder() / "tests/inside/hosts_share")
PLUGIN = str(build_folder() / "lib/tombolo/tombolo-net-udp.so")


class Share(unittest.TestCase):
    """One rank on each host."""

    def test_policy(self):
        """Two ranks on one processor know that they share it."""
        with Lab(hosts=2, sshd=True) as lab:
            process = start(lab, "--hosts", "host0:1,host1:1", PROGRAM,
                            TOMBOLO_NET_PLUGIN=PLUGIN)
            out, err = process.communicate(timeout=30)
            self.assertEqual((process.returncode, out), (0, "ranks here: 1\n"), out + err)


if __name__ == "__main__":
    confine()
    unittest.main()
